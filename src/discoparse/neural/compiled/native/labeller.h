// Section 3.3: label chains for foci, node by node from the lowest up; in other networks a chain is a single label.
//
// A chain is one number whose lowest digit is the lowest label (see codes.py). Label 0 is NO-LABEL, or the end of a chain.
#pragma once

#include "layer.h"

class Labeller {
  public:
    Labeller() = default;

    Labeller(const Sizes& sizes, Parameters& parameters)
        : count((int)sizes.labels), longest(sizes.chains ? (int)sizes.chains : 1) {
        const int64_t size = sizes.scorer_hidden;
        hidden = Layer(parameters, size, size, true);
        lowest = Layer(parameters, size, count, true);
        if (!sizes.chains) return;
        above = Layer(parameters, size, count, true);
        const float* stored = parameters.next((int64_t)count * count);
        given.assign(stored, stored + (size_t)count * count);
    }

    int labels() const { return count; }

    // Whether a number is the code of a chain of at least one label.
    bool is_code(int64_t code) const {
        for (int level = 0; level < longest && code > 0 && code % count; level++, code /= count)
            if (code < count) return true;
        return false;
    }

    // Whether a chain has one of the `wanted` labels [labels].
    bool has_one(int64_t code, const std::vector<char>& wanted) const {
        for (; code; code /= count)
            if (wanted[code % count]) return true;
        return false;
    }

    class Scores;

  private:
    int count = 0, longest = 1;
    Layer hidden, lowest, above;
    std::vector<float> given;  // [labels, labels] what a label adds to the scores of those above it
};

// What the labeller says of some foci, from their states after its first layer [F, stride]. In all of this, `must` says
// that a focus has a label.
class Labeller::Scores {
  public:
    Scores(const Labeller& labeller, int foci, const float* states, size_t stride)
        : labeller(labeller), count(labeller.count), higher(count) {
        const size_t width = labeller.hidden.size();
        std::vector<float> hidden(foci * width);
        labeller.hidden.apply(foci, [&](int f) { return states + f * stride; }, hidden.data());
        for (size_t h = 0; h < hidden.size(); h += LANES) save(hidden.data() + h, tanh_of(load(hidden.data() + h)));
        auto row = [&](int f) { return hidden.data() + f * width; };
        lowest.resize(foci * labeller.lowest.size());
        labeller.lowest.apply(foci, row, lowest.data());
        if (labeller.longest == 1) return;
        above.resize(lowest.size());
        labeller.above.apply(foci, row, above.data());
    }

    // The best lowest label, then the best above it, up to the end. A label that it puts above itself it would put there
    // for ever, since it knows only the label below: not more than MOST_ALIKE times (see codes.py).
    int64_t best_code(int focus, bool must, double& probability) {
        int label = best(at(lowest, focus), must, count);
        probability = share(at(lowest, focus), must, count, label);
        int64_t code = label, place = 1;
        int alike = 1;
        for (int level = 1; level < labeller.longest && label; level++) {
            const float* scores = above_of(focus, label);
            const int above = alike < MOST_ALIKE ? best(scores, 0, count) : best_but(scores, count, label);
            probability *= share(scores, 0, count, above);
            alike = above == label ? alike + 1 : 1;
            label = above;
            place *= count;
            code += label * place;
        }
        return code;
    }

    double probability(int focus, bool must, int64_t code, double temperature = 1) {
        int label = (int)(code % count);
        double product = share(at(lowest, focus), must, count, label, temperature);
        for (int level = 1; level < labeller.longest && label; level++) {
            code /= count;
            product *= share(above_of(focus, label), 0, count, (int)(code % count), temperature);
            label = (int)(code % count);
        }
        return product;
    }

    // The most probable chain that has one of the `wanted` labels [labels], of which there is at least one.
    int64_t best_code_with(int focus, const std::vector<char>& wanted) {
        std::vector<double> steps((size_t)count * count);  // [below, above]
        for (int label = 1; label < count && labeller.longest > 1; label++)
            shares(above_of(focus, label), 0, 1, steps.data() + (size_t)label * count);
        // The best chain so far with each label on top: without a wanted label [0], and with one [1].
        std::vector<double> chances[2] = {std::vector<double>(count), std::vector<double>(count)}, first(count);
        std::vector<int64_t> codes[2] = {std::vector<int64_t>(count), std::vector<int64_t>(count)};
        shares(at(lowest, focus), 1, 1, first.data());
        for (int label = 1; label < count; label++) {
            chances[(int)wanted[label]][label] = first[label];
            codes[(int)wanted[label]][label] = label;
        }
        double most = -1;
        int64_t answer = std::find(wanted.begin(), wanted.end(), 1) - wanted.begin(), place = 1;
        for (int level = 1;; level++) {
            const bool full = level == labeller.longest;
            for (int label = 1; label < count; label++) {
                const double chance = chances[1][label] * (full ? 1 : steps[(size_t)label * count]);
                if (codes[1][label] && chance > most) most = chance, answer = codes[1][label];
            }
            if (full) return answer;
            place *= count;
            std::vector<double> grown[2] = {std::vector<double>(count), std::vector<double>(count)};
            std::vector<int64_t> spelled[2] = {std::vector<int64_t>(count), std::vector<int64_t>(count)};
            for (int has = 0; has < 2; has++)
                for (int below = 1; below < count; below++)
                    for (int label = 1; label < count; label++) {
                        const double chance = chances[has][below] * steps[(size_t)below * count + label];
                        const int now = has || wanted[label];
                        if (chance <= grown[now][label]) continue;
                        grown[now][label] = chance;
                        spelled[now][label] = codes[has][below] + label * place;
                    }
            for (int has = 0; has < 2; has++) chances[has].swap(grown[has]), codes[has].swap(spelled[has]);
        }
    }

    // How many nodes of each label a focus has on average [labels]; for NO-LABEL, how often it has none.
    void expected(int focus, bool must, double temperature, float* total) {
        std::vector<double> level(count), next(count), step(count);
        shares(at(lowest, focus), must, temperature, level.data());
        for (int k = 0; k < count; k++) total[k] = (float)level[k];
        for (int depth = 1; depth < labeller.longest; depth++) {
            std::fill(next.begin(), next.end(), 0.0);
            bool longer = false;
            for (int label = 1; label < count; label++) {
                if (!(level[label] > NEGLIGIBLE)) continue;
                longer = true;
                shares(above_of(focus, label), 0, temperature, step.data());
                for (int k = 1; k < count; k++) next[k] += level[label] * step[k];
            }
            if (!longer) return;
            for (int k = 1; k < count; k++) total[k] += (float)next[k];
            level.swap(next);
        }
    }

  private:
    static constexpr int MOST_ALIKE = 2;
    static constexpr double NEGLIGIBLE = 1e-4;  // chains that go on from a label of less probability are not followed
    const Labeller& labeller;
    const int count;
    std::vector<float> lowest, above, higher;

    const float* at(const std::vector<float>& scores, int focus) const {
        return scores.data() + focus * labeller.lowest.size();
    }

    // Scores of what stands above a label; they hold until the next call.
    const float* above_of(int focus, int label) {
        const float *own = at(above, focus), *added = labeller.given.data() + (size_t)label * count;
        for (int k = 0; k < count; k++) higher[k] = own[k] + added[k];
        return higher.data();
    }

    // The softmax of scores from `from` on, 0 for those before.
    void shares(const float* scores, int from, double temperature, double* results) const {
        const float most = scores[best(scores, from, count)];
        double sum = 0;
        for (int k = 0; k < count; k++) {
            results[k] = k < from ? 0 : std::exp((float)((scores[k] - most) / temperature));
            sum += results[k];
        }
        for (int k = 0; k < count; k++) results[k] /= sum;
    }
};
