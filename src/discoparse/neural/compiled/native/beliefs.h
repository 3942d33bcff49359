// How likely label chains are for the foci of samples, and greedy trees as a whole (see marginals.py).
#pragma once

#include "samples.h"

// By which scores are divided.
struct Temperatures {
    double structure, labels, tags;
};

struct Beliefs {
    std::vector<Samples::Focus> foci;
    int labels;
    std::vector<int64_t> codes;  // [foci] of the best chain
    std::vector<float> probabilities;  // [foci] of that chain, at temperature 1
    std::vector<float> expected;  // [foci, labels] see Labeller::Scores

    // `greedy` [S] are the foci of greedy derivations, `trees` [sentences] the probabilities of their trees.
    Beliefs(Samples&& found, const Scorers& scorers, int samples, double temperature, int32_t* greedy, float* trees)
        : foci(std::move(found.foci)), labels(scorers.labeller.labels()), codes(foci.size()), probabilities(foci.size()),
          expected(foci.size() * labels) {
        Labeller::Scores scores(scorers.labeller, (int)foci.size(), found.states.data(), scorers.part_size());
        for (int f = 0; f < (int)foci.size(); f++) {
            double probability;
            codes[f] = scores.best_code(f, foci[f].whole, probability);
            probabilities[f] = (float)probability;
            scores.expected(f, foci[f].whole, temperature, expected.data() + (size_t)f * labels);
        }
        const size_t copies = samples + 1;
        for (size_t s = 0; s * copies < found.paths.size(); s++) {
            const std::vector<int>& tree = found.paths[s * copies];
            greedy = std::copy(tree.begin(), tree.end(), greedy);
            trees[s] = tree_probability(found, scores, s * copies, copies, temperature);
        }
    }

  private:
    // The mean over samples of the probability of labels that make them the greedy tree. One whose foci do not include all
    // constituents of that tree cannot become it.
    float tree_probability(const Samples& found, Labeller::Scores& scores, size_t first, size_t copies, double temperature) {
        std::map<int, int64_t> wanted;  // the constituents of the tree
        for (int focus : found.paths[first])
            if (codes[focus]) wanted[focus] = codes[focus];
        std::unordered_map<int, double> known;  // of each focus, how likely it has the label that it should have
        double sum = 0;
        for (size_t row = first + 1; row < first + copies; row++) {
            double product = 1;
            size_t there = 0;
            for (int focus : found.paths[row]) {
                const auto label = wanted.find(focus);
                there += label != wanted.end();
                const auto [entry, fresh] = known.try_emplace(focus);
                if (fresh)
                    entry->second = scores.probability(
                        focus, foci[focus].whole, label == wanted.end() ? 0 : label->second, temperature);
                product *= entry->second;
            }
            if (there == wanted.size()) sum += product;
        }
        return (float)(sum / (copies - 1));
    }
};
