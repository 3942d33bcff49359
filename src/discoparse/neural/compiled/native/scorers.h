// Sections 2 and 3.2 to 3.4: the greedy derivations of sentences from their token vectors, labels and tags.
//
// Shapes: M tokens, D token vector, H scorer hidden, S steps of all sentences (2n - 1 of each).
#pragma once

#include <limits>

#include "lstm.h"
#include "parameters.h"

// A sentence on its way through the transition system. An item of the memory is named by its first token.
class Configuration {
  public:
    int length, left = 0, next = 1;  // min(s_f); the paper's i
    std::vector<int> memory;  // items in order
    int gap_first = -1, gap_last = -1;  // of s_f

    explicit Configuration(int length) : length(length), owner(length) { std::iota(owner.begin(), owner.end(), 0); }

    bool done() const { return next == length && memory.empty(); }

    // SHIFT if `slot` is the next token, else COMBINE with the item of that name.
    void advance(int slot) {
        if (slot == next) {
            memory.insert(std::lower_bound(memory.begin(), memory.end(), left), left);
            left = slot;
            next++;
            gap_first = gap_last = -1;
            return;
        }
        memory.erase(std::lower_bound(memory.begin(), memory.end(), slot));
        const int name = std::min(left, slot);
        for (int token = name; token < next; token++)
            if (owner[token] == left || owner[token] == slot) owner[token] = name;
        left = name;
        for (gap_first = left; gap_first < next && owner[gap_first] == left;) gap_first++;
        for (gap_last = next - 1; gap_last > gap_first && owner[gap_last] == left;) gap_last--;
        if (gap_first == next) gap_first = gap_last = -1;
    }

  private:
    std::vector<int> owner;  // the item or focus that each token is part of
};

inline int best(const float* scores, int from, int to) {
    int found = from;
    for (int k = from + 1; k < to; k++)
        if (scores[k] > scores[found]) found = k;
    return found;
}

class Scorers {
  public:
    Scorers() = default;

    Scorers(const Sizes& sizes, Parameters& parameters) : sizes(sizes), units(padded((int)sizes.scorer_hidden, LANES)) {
        const int64_t size = 2 * sizes.hidden, hidden = sizes.scorer_hidden;
        const bool bounded = sizes.layers > 0;  // token vectors are states of LSTMs
        const float* nil = parameters.next(size);
        const float* pair = parameters.next(hidden * 8 * size);  // [H, item or focus, position, D]
        const float* pair_bias = parameters.next(hidden);
        pair_hidden = Layer(parameters, *this, hidden);
        output = spread(parameters.next(hidden));
        parameters.next(1);  // the same for all pairs
        const float* label = parameters.next(hidden * 4 * size);  // [H, position, D]
        const float* label_bias = parameters.next(hidden);
        label_hidden = Layer(parameters, *this, hidden);
        label_output = Layer(parameters, *this, sizes.labels);
        if (sizes.chains) {
            above_output = Layer(parameters, *this, sizes.labels);
            const float* given = parameters.next(sizes.labels * sizes.labels);
            above_given.assign(given, given + sizes.labels * sizes.labels);
        }
        // First layers: for each position, units of the item, of the focus and of the labeller, each padded.
        auto position_outputs = [&](int position, Outputs& outputs) {
            for (int part = 0; part < 3; part++) {
                for (int64_t h = 0; h < hidden; h++) {
                    if (part < 2)
                        outputs.add(pair + h * 8 * size, 8 * size, (part * 4 + position) * size);
                    else
                        outputs.add(label + h * 4 * size, 4 * size, position * size);
                }
                outputs.add_zeros(units - (int)hidden);
            }
        };
        Outputs both((int)size);
        position_outputs(0, both);
        position_outputs(1, both);
        ends = Matrix(std::move(both), bounded);
        no_gap.resize(3 * units);
        for (int end = 0; end < 2; end++) {
            Outputs outputs((int)size);
            position_outputs(2 + end, outputs);
            for (int o = 0; o < 3 * units; o++)
                for (int64_t k = 0; k < size; k++) no_gap[o] += outputs.weights[(size_t)o * size + k] * nil[k];
            gap[end] = Matrix(std::move(outputs), bounded);
        }
        bias.resize(3 * units);
        std::copy_n(pair_bias, hidden, bias.data() + units);
        std::copy_n(label_bias, hidden, bias.data() + 2 * units);
        const float* weights = parameters.next(sizes.tags * size);
        tagger = Layer(weights, parameters.next(sizes.tags), size, sizes.tags, bounded);
    }

    // The best tag of each token from h(1) [M, D].
    void tags(int count, const float* tokens, int32_t* found) const {
        const int64_t size = 2 * sizes.hidden;
        std::vector<float> scores((size_t)count * tagger.weights.size());
        tagger.scores(count, [&](int row) { return tokens + row * size; }, scores.data());
        for (int row = 0; row < count; row++)
            found[row] = best(scores.data() + (size_t)row * tagger.weights.size(), 0, (int)sizes.tags);
    }

    // Structural actions [S] as slots (see lockstep.py) and the labeller's states after its first layer [S, units].
    void derive(const Sequences& sentences, int count, const float* tokens, int32_t* actions,
                std::vector<float>& label_states) const {
        const int64_t size = 2 * sizes.hidden;
        const size_t third = units, width = ends.size();
        std::vector<float> projected((size_t)count * width);  // [M, left or right end, item / focus / labeller, units]
        const std::vector<float> nothing(width);
        ends.multiply(count, [&](int row) { return tokens + row * size; }, nothing.data(), projected.data(), width);
        // In the slot of each item of the memory its part of the first layer; at first, of the token as a singleton.
        std::vector<float> items((size_t)count * third);
        for (int row = 0; row < count; row++)
            add_ends(projected.data() + row * width, projected.data() + row * width, 0, 1, items.data() + row * third);

        std::vector<Configuration> all;
        for (int s = 0; s < sentences.count(); s++) all.emplace_back((int)sentences.length[s]);
        std::vector<float> first((size_t)sentences.count() * 3 * third), pairs;
        std::vector<int> gapped, choices;  // sentences with a gap in the focus; slots to choose from
        std::vector<float> scores;
        int active = sentences.count();
        for (int step = 0;; step++) {
            while (active && 2 * sentences.length[sentences.order[active - 1]] - 1 <= step) active--;
            if (!active) return;
            gapped.clear();
            for (int r = 0; r < active; r++) {
                const Configuration& c = all[sentences.order[r]];
                const float* own = projected.data() + sentences.start[sentences.order[r]] * width;
                add_ends(own + c.left * width, own + (c.next - 1) * width, 0, 3, first.data() + r * 3 * third);
                if (c.gap_first >= 0) gapped.push_back(r);
            }
            for (int end = 0; end < 2; end++)
                gap[end].multiply(
                    (int)gapped.size(),
                    [&](int g) {
                        const int s = sentences.order[gapped[g]];
                        const int token = end ? all[s].gap_last : all[s].gap_first;
                        return tokens + (sentences.start[s] + token) * size;
                    },
                    [&](int g, int panel, const Vector* sums) {
                        float* row = first.data() + gapped[g] * 3 * third;
                        for (int j = 0, o = panel * PANEL; j < 4 && o < (int)(3 * third); j++, o += LANES)
                            save(row + o, load(row + o) + sums[j] - (end ? load(no_gap.data() + o) : Vector{}));
                    });
            choices.clear();
            pairs.clear();
            for (int r = 0; r < active; r++) {
                const int s = sentences.order[r];
                const Configuration& c = all[s];
                const float* row = first.data() + r * 3 * third;
                float* state = label_states.data() + (2 * sentences.start[s] - s + step) * third;
                for (size_t h = 0; h < third; h += LANES) save(state + h, tanh_of(load(row + 2 * third + h)));
                const size_t count_here = c.memory.size() + (c.next < c.length);
                if (count_here < 2) continue;
                for (size_t k = 0; k < count_here; k++) {
                    const int slot = k < c.memory.size() ? c.memory[k] : c.next;
                    const float* item = items.data() + (sentences.start[s] + slot) * third;
                    const size_t at = pairs.size();
                    pairs.resize(at + third);
                    for (size_t h = 0; h < third; h += LANES)
                        save(pairs.data() + at + h, tanh_of(load(item + h) + load(row + third + h)));
                }
            }
            pair_scores(pairs, scores);
            const float* score = scores.data();
            for (int r = 0; r < active; r++) {
                const int s = sentences.order[r];
                Configuration& c = all[s];
                if (!step) actions[2 * sentences.start[s] - s] = 0;  // the first SHIFT
                if (c.done()) continue;
                const int count_here = (int)c.memory.size() + (c.next < c.length);
                int k = 0;
                if (count_here > 1) {
                    k = best(score, 0, count_here);
                    score += count_here;
                }
                const int slot = k < (int)c.memory.size() ? c.memory[k] : c.next;
                actions[2 * sentences.start[s] - s + step + 1] = slot;
                if (slot == c.next)  // the focus goes to the memory
                    std::copy_n(first.data() + r * 3 * third, third, items.data() + (sentences.start[s] + c.left) * third);
                c.advance(slot);
            }
        }
    }

    // Codes of the best labels or chains (see labelling.py) and their probabilities [S] from what `derive` gave.
    void labels(const Sequences& sentences, const std::vector<float>& states, int64_t* codes, float* probabilities) const {
        const int rows = (int)(states.size() / units);
        std::vector<float> hidden((size_t)rows * label_hidden.weights.size());
        label_hidden.scores(rows, [&](int r) { return states.data() + (size_t)r * units; }, hidden.data());
        for (size_t h = 0; h < hidden.size(); h += LANES) save(hidden.data() + h, tanh_of(load(hidden.data() + h)));
        auto hidden_row = [&](int r) { return hidden.data() + (size_t)r * label_hidden.weights.size(); };
        const size_t width = label_output.weights.size();
        std::vector<float> scores(rows * width), above;
        label_output.scores(rows, hidden_row, scores.data());
        if (sizes.chains) {
            above.resize(rows * width);
            above_output.scores(rows, hidden_row, above.data());
        }
        std::vector<bool> final(rows);
        for (int s = 0; s < sentences.count(); s++)
            final[2 * (sentences.start[s] + sentences.length[s]) - s - 2] = true;
        const int count = (int)sizes.labels;
        std::vector<float> higher(count);
        for (int r = 0; r < rows; r++) {
            const float* own = scores.data() + r * width;
            int label = best(own, final[r] ? 1 : 0, count);  // NO-LABEL is illegal at the end (Table 1)
            double probability = share(own, final[r] ? 1 : 0, count, label);
            int64_t code = label, place = 1;
            for (int64_t level = 1; level < sizes.chains && label; level++) {
                for (int k = 0; k < count; k++) higher[k] = above[r * width + k] + above_given[(size_t)label * count + k];
                label = best(higher.data(), 0, count);
                probability *= share(higher.data(), 0, count, label);
                place *= count;
                code += label * place;
            }
            codes[r] = code;
            probabilities[r] = (float)probability;
        }
    }

    int state_size() const { return units; }

  private:
    struct Layer {
        Matrix weights;
        std::vector<float> bias;

        Layer() = default;

        Layer(const float* stored, const float* stored_bias, int64_t in, int64_t out, bool bounded) {
            Outputs outputs((int)in);
            for (int64_t o = 0; o < out; o++) outputs.add(stored + o * in, in, 0);
            weights = Matrix(std::move(outputs), bounded);
            bias.assign(stored_bias, stored_bias + out);
            bias.resize(weights.size());
        }

        // Of the scorers: after a layer with tanh.
        Layer(Parameters& parameters, const Scorers& scorers, int64_t out) {
            const int64_t in = scorers.sizes.scorer_hidden;
            const float* stored = parameters.next(out * in);
            *this = Layer(stored, parameters.next(out), in, out, true);
        }

        template <class Input>
        void scores(int rows, Input input, float* results) const {
            weights.multiply(rows, input, bias.data(), results, weights.size());
        }
    };

    Sizes sizes{};
    int units = 0;  // scorer hidden, padded
    Matrix ends;  // [left or right end, item / focus / labeller, units]
    Matrix gap[2];  // first and last token of a gap: [item / focus / labeller, units]
    std::vector<float> no_gap;  // [3 units] what the vector of nil adds as both ends of a gap
    std::vector<float> bias;  // [3 units]
    Layer pair_hidden, label_hidden, label_output, above_output, tagger;
    std::vector<float> output;  // [units] of FF_s
    std::vector<float> above_given;  // [labels, labels]

    std::vector<float> spread(const float* stored) const {
        std::vector<float> values(padded(units, PANEL));
        std::copy_n(stored, sizes.scorer_hidden, values.data());
        return values;
    }

    // The first layers of a set without a gap, or some of its three parts, from its ends' rows.
    void add_ends(const float* left, const float* right, int from, int to, float* sum) const {
        for (int h = from * units; h < to * units; h += LANES)
            save(sum + h, load(left + h) + load(right + 3 * units + h) + load(bias.data() + h) + load(no_gap.data() + h));
    }

    // FF_s after its first layer, without the last bias: [P, units] -> [P].
    void pair_scores(const std::vector<float>& pairs, std::vector<float>& scores) const {
        const int rows = (int)(pairs.size() / units);
        scores.assign(rows, 0.0f);
        pair_hidden.weights.multiply(
            rows, [&](int r) { return pairs.data() + (size_t)r * units; },
            [&](int r, int panel, const Vector* sums) {
                Vector sum{};
                for (int j = 0; j < 4; j++) {
                    const int o = panel * PANEL + j * LANES;
                    sum += tanh_of(sums[j] + load(pair_hidden.bias.data() + o)) * load(output.data() + o);
                }
                scores[r] += total(sum);
            });
    }

    // The softmax of one score among those from `from` to `to`, which is the highest.
    static double share(const float* scores, int from, int to, int chosen) {
        double sum = 0;
        for (int k = from; k < to; k++) sum += std::exp((double)(scores[k] - scores[chosen]));
        return 1 / sum;
    }
};
