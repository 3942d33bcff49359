// A linear layer of the scorers.
#pragma once

#include "matrix.h"
#include "parameters.h"

struct Layer {
    Matrix weights;
    std::vector<float> bias;

    Layer() = default;

    // `bounded`: inputs will lie in -1..1, as after a tanh.
    Layer(Parameters& parameters, int64_t in, int64_t out, bool bounded) {
        const float* stored = parameters.next(out * in);
        Outputs outputs((int)in);
        for (int64_t o = 0; o < out; o++) outputs.add(stored + o * in, in, 0);
        weights = Matrix(std::move(outputs), bounded);
        const float* stored_bias = parameters.next(out);
        bias.assign(stored_bias, stored_bias + out);
        bias.resize(weights.size());
    }

    size_t size() const { return weights.size(); }  // of a row of results

    template <class Input>
    void apply(int rows, Input input, float* results) const {
        weights.multiply(rows, input, bias.data(), results, weights.size());
    }
};

inline int best(const float* scores, int from, int to) {
    int found = from;
    for (int k = from + 1; k < to; k++)
        if (scores[k] > scores[found]) found = k;
    return found;
}

// The same among all `count` scores but that of `left_out`, which is not the first.
inline int best_but(const float* scores, int count, int left_out) {
    const int before = best(scores, 0, left_out), after = best(scores, left_out + 1, count);
    return left_out + 1 < count && scores[after] > scores[before] ? after : before;
}

// The softmax of one score among those from `from` to `to`, at a temperature.
inline double share(const float* scores, int from, int to, int chosen, double temperature = 1) {
    double sum = 0;
    for (int k = from; k < to; k++) sum += std::exp((double)(scores[k] - scores[chosen]) / temperature);
    return 1 / sum;
}
