// Section 2: the greedy derivations of sentences, freely or with constituents that must be built.
//
// Shapes: M tokens, D token vector, S steps of all sentences (2n - 1 of each).
#pragma once

#include "lstm.h"
#include "scorers.h"
#include "transition.h"

class Derivation {
  public:
    std::vector<float> states;  // [S, units] of the labeller, for the focus of each step
    std::vector<int> built;  // [S] which required constituent of the sentence the focus is, or -1

    explicit Derivation(const Sequences& sentences) : sentences(sentences) {}

    // The step of a sentence among those of all.
    int64_t row(int sentence, int64_t step) const { return 2 * sentences.start[sentence] - sentence + step; }

    // Structural actions [S] as slots (see lockstep.py) from token vectors [M, D]. A sentence may have `required`
    // constituents; without any it is free.
    void derive(const Scorers& scorers, int count, const float* tokens, std::vector<Required>& required, int32_t* actions) {
        const size_t units = scorers.part_size(), three = scorers.first_size();
        const int64_t steps = 2 * (int64_t)count - sentences.count();
        states.resize(steps * units);
        built.assign(steps, -1);
        Scorers::FirstLayers first_layers(scorers, count, tokens);
        Scorers::Pairs pairs(scorers);
        // In the slot of each item of the memory its part of the first layer; at first, of the token as a singleton.
        std::vector<float> items(count * units);
        for (int row = 0; row < count; row++) first_layers.item(row, items.data() + row * units);
        std::vector<Configuration> all;
        for (int s = 0; s < sentences.count(); s++) {
            all.emplace_back((int)sentences.length[s]);
            actions[row(s, 0)] = 0;  // the first SHIFT
            if (required[s].count()) built[row(s, 0)] = required[s].start();
        }
        std::vector<float> first(sentences.count() * three);
        std::vector<int> choices, ends;  // slots to choose from, one sentence after the other
        int active = sentences.count();
        for (int step = 0;; step++) {
            while (active && 2 * sentences.length[sentences.order[active - 1]] - 1 <= step) active--;
            if (!active) return;
            first_layers(active, [&](int r) { return place(sentences.order[r], all); }, first.data());
            choices.clear();
            ends.clear();
            pairs.clear();
            for (int r = 0; r < active; r++) {
                const int s = sentences.order[r];
                const float* own = first.data() + r * three;
                scorers.label_state(own, states.data() + row(s, step) * units);
                const size_t before = choices.size();
                allowed(all[s], required[s], choices);
                if (choices.size() > before + 1)
                    for (size_t k = before; k < choices.size(); k++)
                        pairs.add(items.data() + (sentences.start[s] + choices[k]) * units, own + units);
                ends.push_back((int)choices.size());
            }
            const float* score = pairs.score().data();
            for (int r = 0, from = 0; r < active; from = ends[r++]) {
                const int s = sentences.order[r], options = ends[r] - from;
                Configuration& c = all[s];
                if (c.done()) continue;
                if (!options) throw std::logic_error("no action is allowed");
                const int slot = choices[from + (options > 1 ? best(score, 0, options) : 0)];
                if (options > 1) score += options;
                actions[row(s, step + 1)] = slot;
                if (slot == c.next)  // the focus goes to the memory
                    std::copy_n(first.data() + r * three, units, items.data() + (sentences.start[s] + c.left) * units);
                if (required[s].count()) built[row(s, step + 1)] = required[s].advance(c, slot);
                c.advance(slot);
            }
        }
    }

  private:
    const Sequences& sentences;

    Place place(int sentence, const std::vector<Configuration>& all) const {
        const Configuration& c = all[sentence];
        const int64_t start = sentences.start[sentence];
        if (c.gap_first < 0) return {start + c.left, start + c.next - 1, -1, -1};
        return {start + c.left, start + c.next - 1, start + c.gap_first, start + c.gap_last};
    }

    static void allowed(const Configuration& c, const Required& required, std::vector<int>& slots) {
        auto add = [&](int slot) {
            if (!required.count() || required.allows(c, slot)) slots.push_back(slot);
        };
        for (int slot : c.memory) add(slot);
        if (c.next < c.length) add(c.next);
    }
};
