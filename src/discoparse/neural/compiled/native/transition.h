// Section 2: sentences on their way through the transition system, and the constituents that a derivation must build.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

// The configuration of a sentence. An item of the memory is named by its first token.
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

// The constituents that the derivation of a sentence must build; of any two, one contains the other or they are disjoint.
//
// The complete oracle (docs/reference/oracle.md) allows COMBINE of two sets that lie inside the same constituents which
// are still to be built, and SHIFT if none of these ends before the next token. As constituents are nested, the smallest
// one around a set tells which others are around it.
class Required {
  public:
    // Adds a constituent: some tokens in ascending order. The first is the whole sentence; parts come after what they are
    // part of.
    void add(int length, const int32_t* tokens, int64_t size) {
        const int number = (int)sets.size();
        if (!number) around.assign(length, -1), sizes.assign(length, 1), open.assign(length, 0);
        if (size < 1 || size > length || (!number && size < length)) throw std::invalid_argument("size of a set");
        int parent = -1;
        for (int64_t k = 0; k < size; k++) {
            if (tokens[k] < 0 || tokens[k] >= length || (k && tokens[k] <= tokens[k - 1]))
                throw std::invalid_argument("tokens of a set");
            if (k && around[tokens[k]] != parent) throw std::invalid_argument("sets overlap");
            parent = around[tokens[k]];
        }
        if (number && size >= sets[parent].size) throw std::invalid_argument("the same set again, or one around it");
        for (int64_t k = 0; k < size; k++) around[tokens[k]] = number;
        sets.push_back({(int)size, tokens[size - 1], parent});
        open[tokens[size - 1]]++;
    }

    int count() const { return (int)sets.size(); }

    bool allows(const Configuration& c, int slot) const {
        return slot == c.next ? !open[slot - 1] : around[slot] == around[c.left];
    }

    // Follows an action, before the configuration does. The number of the constituent that the new focus is, or -1.
    int advance(const Configuration& c, int slot) {
        if (slot == c.next) return build(slot);
        sizes[std::min(c.left, slot)] = sizes[c.left] + sizes[slot];
        return build(std::min(c.left, slot));
    }

    // The same for the first SHIFT.
    int start() { return build(0); }

  private:
    struct Set {
        int size, last, parent;
    };
    std::vector<Set> sets;
    std::vector<int> around;  // of each item, the focus and each token of the buffer: the smallest set to be built, or -1
    std::vector<int> sizes;  // of each item and the focus
    std::vector<int> open;  // sets to be built that end with a token

    int build(int name) {
        const int number = around[name];
        if (number < 0 || sizes[name] < sets[number].size) return -1;
        open[sets[number].last]--;
        around[name] = sets[number].parent;
        return number;
    }
};
