// Constraints on sentences: constituents that their derivations must build, with the labels that these must have.
#pragma once

#include "derivation.h"

// As `compiled/limits.py` passes them. Sets of tokens are in the order that `Required` wants.
struct Limits {
    const int64_t* sets;  // [sentences] how many each has; none if it is free
    int64_t set_count;  // of all sentences
    const int64_t* sizes;  // [sets]
    const int32_t* tokens;  // of all sets
    int64_t token_count;
    const int64_t* codes;  // [sets] of the label chain, if it is fixed, or 0
    const int64_t* wanted_counts;  // [sets] how many labels there are of which the chain must have one; none if any will do
    const int32_t* wanted;  // of all sets
    int64_t wanted_count;
};

class Within {
  public:
    std::vector<Required> required;  // of each sentence

    // Throws if the limits make no sense; none if they are null.
    Within(const Sequences& sentences, const Limits* limits, const Labeller& labeller)
        : required(sentences.count()), sentences(sentences) {
        if (!limits) return;
        const Limits& l = *limits;
        check(l.sets && l.sizes && l.tokens && l.codes && l.wanted_counts && l.wanted);
        int64_t set = 0, token = 0, label = 0;
        for (int s = 0; s < sentences.count(); s++) {
            first_rule.push_back((int)rules.size());
            check(0 <= l.sets[s] && l.sets[s] <= l.set_count - set);
            for (int64_t end = set + l.sets[s]; set < end; set++) {
                check(0 <= l.sizes[set] && l.sizes[set] <= l.token_count - token);
                required[s].add((int)sentences.length[s], l.tokens + token, l.sizes[set]);
                token += l.sizes[set];
                check(!l.codes[set] || labeller.is_code(l.codes[set]));
                check(0 <= l.wanted_counts[set] && l.wanted_counts[set] <= l.wanted_count - label);
                Rule rule{l.codes[set], {}};
                for (int64_t last = label + l.wanted_counts[set]; label < last; label++) {
                    check(1 <= l.wanted[label] && l.wanted[label] < labeller.labels());
                    rule.wanted.resize(labeller.labels());
                    rule.wanted[l.wanted[label]] = 1;
                }
                rules.push_back(std::move(rule));
            }
        }
        check(set == l.set_count && token == l.token_count && label == l.wanted_count);
    }

    // The codes of label chains and their probabilities [S]: the best chain of each focus. Where that does not have a
    // wanted label, it is the most probable one that has.
    void label(const Derivation& derivation, const Scorers& scorers, int64_t* codes, float* probabilities) const {
        const Labeller& labeller = scorers.labeller;
        const int steps = (int)derivation.built.size();
        Labeller::Scores scores(labeller, steps, derivation.states.data(), scorers.part_size());
        for (int s = 0; s < sentences.count(); s++)
            for (int64_t row = derivation.row(s, 0), end = derivation.row(s, 2 * sentences.length[s] - 1); row < end; row++) {
                const int focus = (int)row, built = derivation.built[row];
                const bool must = row == end - 1 || built >= 0;  // NO-LABEL is illegal at the end (Table 1)
                double probability;
                int64_t code = scores.best_code(focus, must, probability);
                if (built >= 0) {
                    const Rule& rule = rules[first_rule[s] + built];
                    const bool missing = !rule.wanted.empty() && !labeller.has_one(code, rule.wanted);
                    if (rule.code) code = rule.code;
                    else if (missing) code = scores.best_code_with(focus, rule.wanted);
                    if (rule.code || missing) probability = scores.probability(focus, must, code);
                }
                codes[row] = code;
                probabilities[row] = (float)probability;
            }
    }

  private:
    struct Rule {
        int64_t code;  // of the whole chain, or 0
        std::vector<char> wanted;  // [labels], or empty
    };
    const Sequences& sentences;
    std::vector<int> first_rule;  // of each sentence
    std::vector<Rule> rules;

    static void check(bool right) {
        if (!right) throw std::invalid_argument("limits");
    }
};
