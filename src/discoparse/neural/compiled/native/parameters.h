// The sizes of a network and its parameters, one after the other as `compiled/network.py` passes them.
#pragma once

#include <cstdint>
#include <stdexcept>

struct Sizes {
    int64_t words, characters, tags, labels;
    int64_t word_size, character_size, character_hidden, hidden, layers, scorer_hidden;
    int64_t chains;  // labels are given node by node, up to this many; 0: as one label
    int64_t tag_both;  // 1: the tagger reads h of the last layer beside h(1)
    int64_t encoder;  // 0: token vectors come from elsewhere
};

// Walks through the parameters, and refuses one that is not of the size that it must have.
class Parameters {
  public:
    Parameters(const float* const* tensors, const int64_t* counts, int64_t number)
        : tensors(tensors), counts(counts), number(number) {}

    const float* next(int64_t count) {
        if (position >= number || counts[position] != count || !tensors[position])
            throw std::invalid_argument("parameters");
        return tensors[position++];
    }

    void end() const {
        if (position != number) throw std::invalid_argument("parameters");
    }

  private:
    const float* const* tensors;
    const int64_t* counts;
    int64_t number, position = 0;
};
