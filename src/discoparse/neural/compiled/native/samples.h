// Many derivations of each sentence at once, sampled from the scorers, and the foci that they have.
//
// Derivations of a sentence have most of their configurations in common, so those of a step are kept as a set: each is
// scored once, whatever the number of derivations that go through it, and each pair of an item and a focus once in all.
#pragma once

#include <map>
#include <unordered_map>

#include "derivation.h"

class Samples {
  public:
    // A set of tokens that is the focus of some derivation.
    struct Focus {
        int sentence;
        std::vector<uint64_t> bits;  // its tokens
        Place place;  // rows of token vectors
        bool whole;  // the whole sentence
        int count = 0;  // samples that have it
    };
    std::vector<Focus> foci;
    std::vector<float> states;  // [foci, units] of the labeller
    std::vector<std::vector<int>> paths;  // the foci of each derivation, step by step

    // For each sentence the greedy derivation, of which `actions` [S] are the slots, and then the samples, each from
    // 2n - 1 `draws` from 0 to 1 (that of the first step is not used).
    Samples(const Scorers& scorers, const Sequences& sentences, int count, const float* tokens, int samples,
            double temperature, const float* draws, int32_t* actions)
        : sentences(sentences), scorers(scorers), first_layers(scorers, count, tokens), pairs(scorers) {
        std::vector<State> level(sentences.count());
        for (int s = 0; s < sentences.count(); s++) {
            first_focus.push_back((int)foci.size());
            known.emplace_back();
            for (int token = 0; token < sentences.length[s]; token++) add_focus(s, singleton(s, token));
            level[s] = {s, 1, first_focus[s], {}, {}, {}, {}, 0};
        }
        const int copies = samples + 1, rows = copies * sentences.count();
        paths.resize(rows);
        std::vector<int> at(rows);  // the state of each derivation
        for (int row = 0; row < rows; row++) at[row] = row / copies;
        for (int64_t step = 0; !level.empty(); step++) {
            score(level, temperature);
            std::vector<State> next;
            std::map<Key, int> there;
            for (int row = 0; row < rows; row++) {
                const int s = row / copies;
                if (step >= 2 * sentences.length[s] - 1) continue;
                State& state = level[at[row]];
                paths[row].push_back(state.focus);
                foci[state.focus].count += row % copies > 0;
                const int64_t first_step = 2 * sentences.start[s] - s;
                if (!step && row % copies == 0) actions[first_step] = 0;
                if (state.options.empty()) continue;
                int choice = state.best;
                if (row % copies) {
                    const int64_t steps = 2 * sentences.length[s] - 1;
                    choice = chosen(state, draws[first_step * samples + (row % copies - 1) * steps + step + 1]);
                } else {
                    actions[first_step + step + 1] = name(state, choice);
                }
                if (state.after[choice] < 0) state.after[choice] = follow(state, choice, next, there);
                at[row] = state.after[choice];
            }
            level = std::move(next);
        }
    }

  private:
    // A configuration, with what may follow. Items are foci by their numbers.
    struct State {
        int sentence, next, focus;
        std::vector<int> memory;  // in the order of their first tokens
        std::vector<int> options;  // items to combine with, then the next token
        std::vector<double> ladder;  // of the options: the sum of their shares and those before
        std::vector<int> after;  // of the options: the state that they lead to, -1 if nobody went there yet
        int best;  // option
    };
    using Key = std::vector<int>;  // the focus and the memory of a state: after the same number of steps, the rest follows

    const Sequences& sentences;
    const Scorers& scorers;
    Scorers::FirstLayers first_layers;
    Scorers::Pairs pairs;
    std::vector<int> first_focus;  // of each sentence: tokens come first
    std::vector<std::map<std::vector<uint64_t>, int>> known;  // the foci of each sentence by their tokens
    std::vector<float> item_parts, focus_parts;  // [foci, units] of the first layers
    std::unordered_map<uint64_t, float> pair_scores;  // by item and focus

    std::vector<uint64_t> singleton(int sentence, int token) const {
        std::vector<uint64_t> bits((sentences.length[sentence] + 63) / 64);
        bits[token / 64] = uint64_t(1) << token % 64;
        return bits;
    }

    // The number of a focus; its first layers are computed by `score`.
    int add_focus(int sentence, std::vector<uint64_t> bits) {
        const auto [entry, fresh] = known[sentence].try_emplace(bits, (int)foci.size());
        if (!fresh) return entry->second;
        auto has = [&](int64_t token) { return bits[token / 64] >> token % 64 & 1; };
        const int64_t length = sentences.length[sentence], start = sentences.start[sentence];
        int64_t first = 0, last = length - 1;
        while (!has(first)) first++;
        while (!has(last)) last--;
        int64_t gap_first = first, gap_last = last;
        while (gap_first <= last && has(gap_first)) gap_first++;
        while (gap_last >= first && has(gap_last)) gap_last--;
        const bool gap = gap_first < last;
        const Place place{start + first, start + last, gap ? start + gap_first : -1, gap ? start + gap_last : -1};
        foci.push_back({sentence, std::move(bits), place, !gap && last - first + 1 == length});
        return entry->second;
    }

    void add_first_layers() {
        const size_t units = scorers.part_size(), done = item_parts.size() / units, fresh = foci.size() - done;
        std::vector<float> first(fresh * scorers.first_size());
        first_layers((int)fresh, [&](int k) { return foci[done + k].place; }, first.data());
        for (std::vector<float>* table : {&item_parts, &focus_parts, &states}) table->resize(foci.size() * units);
        for (size_t k = 0; k < fresh; k++) {
            const float* own = first.data() + k * scorers.first_size();
            std::copy_n(own, units, item_parts.data() + (done + k) * units);
            std::copy_n(own + units, units, focus_parts.data() + (done + k) * units);
            scorers.label_state(own, states.data() + (done + k) * units);
        }
    }

    // Finds the options of states, and their shares at a temperature.
    void score(std::vector<State>& level, double temperature) {
        add_first_layers();
        const size_t units = scorers.part_size();
        std::vector<uint64_t> fresh;
        pairs.clear();
        for (State& state : level) {
            state.options = state.memory;
            if (state.next < sentences.length[state.sentence])
                state.options.push_back(first_focus[state.sentence] + state.next);
            state.after.assign(state.options.size(), -1);
            for (int item : state.options) {
                if (!pair_scores.try_emplace(pair(item, state.focus), 0.0f).second) continue;
                fresh.push_back(pair(item, state.focus));
                pairs.add(item_parts.data() + item * units, focus_parts.data() + state.focus * units);
            }
        }
        const std::vector<float>& scores = pairs.score();
        for (size_t k = 0; k < fresh.size(); k++) pair_scores[fresh[k]] = scores[k];
        for (State& state : level) {
            std::vector<float> own;
            for (int item : state.options) own.push_back(pair_scores[pair(item, state.focus)]);
            state.best = best(own.data(), 0, (int)own.size());
            double sum = 0;
            for (float one : own) state.ladder.push_back(sum += std::exp((one - own[state.best]) / temperature));
        }
    }

    static uint64_t pair(int item, int focus) { return (uint64_t)item << 32 | (uint32_t)focus; }

    static int chosen(const State& state, double draw) {
        int k = 0;
        while (k + 1 < (int)state.ladder.size() && state.ladder[k] <= draw * state.ladder.back()) k++;
        return k;
    }

    // The slot of an option: the first token of the item, or the next token.
    int name(const State& state, int option) const {
        return (int)(foci[state.options[option]].place.first - sentences.start[state.sentence]);
    }

    // The number of the state that an option leads to.
    int follow(const State& state, int option, std::vector<State>& next, std::map<Key, int>& there) {
        State after{state.sentence, state.next, state.options[option], state.memory, {}, {}, {}, 0};
        if (option == (int)state.memory.size()) {  // SHIFT
            auto starts_later = [&](int focus, int item) { return foci[focus].place.first < foci[item].place.first; };
            after.memory.insert(
                std::upper_bound(after.memory.begin(), after.memory.end(), state.focus, starts_later), state.focus);
            after.next++;
        } else {
            after.memory.erase(after.memory.begin() + option);
            std::vector<uint64_t> bits = foci[state.focus].bits;
            for (size_t k = 0; k < bits.size(); k++) bits[k] |= foci[after.focus].bits[k];
            after.focus = add_focus(state.sentence, std::move(bits));
        }
        Key key{after.focus};
        key.insert(key.end(), after.memory.begin(), after.memory.end());
        const auto [entry, fresh] = there.try_emplace(std::move(key), (int)next.size());
        if (fresh) next.push_back(std::move(after));
        return entry->second;
    }
};
