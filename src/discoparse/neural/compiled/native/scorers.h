// Sections 3.2 to 3.4: scores of actions and labels of sets of tokens, from token vectors; tags.
//
// Shapes: M tokens, D token vector, H scorer hidden; units are H, padded.
#pragma once

#include "labeller.h"

// A set of tokens by its ends and those of its gap, rows of token vectors; -1 where there is no gap.
struct Place {
    int64_t first, last, gap_first, gap_last;
};

class Scorers {
  public:
    Scorers() = default;

    Scorers(const Sizes& sizes, Parameters& parameters) : sizes(sizes), units(padded((int)sizes.scorer_hidden, LANES)) {
        const int64_t size = 2 * sizes.hidden, hidden = sizes.scorer_hidden;
        const bool bounded = sizes.layers > 0;  // token vectors are states of LSTMs
        const float* nil = parameters.next(size);
        const float* pair = parameters.next(hidden * 8 * size);  // [H, item or focus, position, D]
        const float* pair_bias = parameters.next(hidden);
        pair_hidden = Layer(parameters, hidden, hidden, true);
        output = spread(parameters.next(hidden));
        parameters.next(1);  // the same for all pairs
        const float* label = parameters.next(hidden * 4 * size);  // [H, position, D]
        const float* label_bias = parameters.next(hidden);
        labeller = Labeller(sizes, parameters);
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
        for (int o = 0; o < 3 * units; o++) bias[o] += no_gap[o];
        tagger = Layer(parameters, (1 + sizes.tag_both) * size, sizes.tags, bounded);
    }

    int first_size() const { return 3 * units; }  // of the first layers of a set: item, focus and labeller
    int part_size() const { return units; }  // of each of these

    // The best tag of each token, and its probability at a temperature unless `chances` is null, from h(1) [M, D] or
    // from that and h of the last layer [M, D] side by side.
    void tags(int count, const float* first, const float* last, double temperature, int32_t* found,
              float* chances) const {
        const int64_t size = 2 * sizes.hidden, tags = sizes.tags;
        std::vector<float> scores(count * tagger.size()), both;
        if (sizes.tag_both) {
            both.resize(count * 2 * size);
            for (int row = 0; row < count; row++) {
                float* beside = std::copy_n(first + row * size, size, both.data() + row * 2 * size);
                std::copy_n(last + row * size, size, beside);
            }
        }
        const float* tokens = sizes.tag_both ? both.data() : first;
        tagger.apply(count, [&](int row) { return tokens + row * (1 + sizes.tag_both) * size; }, scores.data());
        for (int row = 0; row < count; row++) {
            const float* own = scores.data() + row * tagger.size();
            found[row] = best(own, 0, (int)tags);
            if (chances) chances[row] = (float)share(own, 0, (int)tags, found[row], temperature);
        }
    }

    // First layers of sets of tokens, whose vectors are projected once.
    class FirstLayers {
      public:
        FirstLayers(const Scorers& scorers, int count, const float* tokens)
            : scorers(scorers), tokens(tokens), width(scorers.ends.size()), projected(count * width) {
            const int64_t size = 2 * scorers.sizes.hidden;
            const std::vector<float> nothing(width);
            scorers.ends.multiply(count, [&](int row) { return tokens + row * size; }, nothing.data(), projected.data(), width);
        }

        // Of a token as an item: [units].
        void item(int64_t token, float* result) const { add_ends(token, token, 1, result); }

        // Of sets at places (see Place): [sets, 3 units].
        template <class Places>
        void operator()(int sets, Places place, float* results) {
            const int three = scorers.first_size();
            gapped.clear();
            for (int k = 0; k < sets; k++) {
                add_ends(place(k).first, place(k).last, 3, results + (size_t)k * three);
                if (place(k).gap_first >= 0) gapped.push_back(k);
            }
            for (int end = 0; end < 2; end++)
                scorers.gap[end].multiply(
                    (int)gapped.size(),
                    [&](int g) {
                        const Place at = place(gapped[g]);
                        return tokens + (end ? at.gap_last : at.gap_first) * 2 * scorers.sizes.hidden;
                    },
                    [&](int g, int panel, const Vector* sums) {
                        float* row = results + (size_t)gapped[g] * three;
                        for (int j = 0, o = panel * PANEL; j < 4 && o < three; j++, o += LANES)
                            save(row + o, load(row + o) + sums[j] - (end ? load(scorers.no_gap.data() + o) : Vector{}));
                    });
        }

      private:
        const Scorers& scorers;
        const float* tokens;  // [M, D]
        size_t width;
        std::vector<float> projected;  // [M, left or right end, item / focus / labeller, units]
        std::vector<int> gapped;

        // A set without a gap: the first parts of its three.
        void add_ends(int64_t first, int64_t last, int parts, float* sum) const {
            const float *left = projected.data() + first * width, *right = projected.data() + last * width + 3 * scorers.units;
            for (int h = 0; h < parts * scorers.units; h += LANES)
                save(sum + h, load(left + h) + load(right + h) + load(scorers.bias.data() + h));
        }
    };

    // FF_s of pairs of an item and a focus, without the last bias, which all have in common.
    class Pairs {
      public:
        explicit Pairs(const Scorers& scorers) : scorers(scorers) {}

        void clear() { states.clear(); }

        // Adds a pair by both parts of its first layer.
        void add(const float* item, const float* focus) {
            const size_t at = states.size();
            states.resize(at + scorers.units);
            for (int h = 0; h < scorers.units; h += LANES)
                save(states.data() + at + h, tanh_of(load(item + h) + load(focus + h)));
        }

        // The scores of all pairs in the order in which they were added.
        const std::vector<float>& score() {
            const int rows = (int)(states.size() / scorers.units);
            const Layer& hidden = scorers.pair_hidden;
            scores.assign(rows, 0.0f);
            hidden.weights.multiply(
                rows, [&](int r) { return states.data() + (size_t)r * scorers.units; },
                [&](int r, int panel, const Vector* sums) {
                    Vector sum{};
                    for (int j = 0; j < 4; j++) {
                        const int o = panel * PANEL + j * LANES;
                        sum += tanh_of(sums[j] + load(hidden.bias.data() + o)) * load(scorers.output.data() + o);
                    }
                    scores[r] += total(sum);
                });
            return scores;
        }

      private:
        const Scorers& scorers;
        std::vector<float> states, scores;
    };

    // The labeller's state from its part of a focus's first layers.
    void label_state(const float* first, float* state) const {
        for (int h = 0; h < units; h += LANES) save(state + h, tanh_of(load(first + 2 * units + h)));
    }

    Labeller labeller;

  private:
    Sizes sizes{};
    int units = 0;  // scorer hidden, padded
    Matrix ends;  // [left or right end, item / focus / labeller, units]
    Matrix gap[2];  // first and last token of a gap: [item / focus / labeller, units]
    std::vector<float> no_gap;  // [3 units] what the vector of nil adds as both ends of a gap
    std::vector<float> bias;  // [3 units] of a set without a gap: with what nil adds
    Layer pair_hidden, tagger;
    std::vector<float> output;  // [units] of FF_s

    std::vector<float> spread(const float* stored) const {
        std::vector<float> values(padded(units, PANEL));
        std::copy_n(stored, sizes.scorer_hidden, values.data());
        return values;
    }
};
