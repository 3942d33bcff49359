// The recurrence of a bi-LSTM over sequences of any lengths, without padding.
#pragma once

#include <numeric>

#include "matrix.h"

// Sequences of rows that stand one after the other. They are worked on in order of length, the longest first, so that
// those that are not over yet are the first ones at any time.
struct Sequences {
    std::vector<int64_t> start, length;
    std::vector<int> order;

    Sequences(const int64_t* lengths, int count) : start(count), length(lengths, lengths + count), order(count) {
        int64_t rows = 0;
        for (int s = 0; s < count; s++) start[s] = rows, rows += length[s];
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return length[a] > length[b]; });
    }

    int count() const { return (int)order.size(); }
};

// One direction of a layer. Gates are in the order of PyTorch: input, forget, cell, output.
class Direction {
  public:
    Direction() = default;

    Direction(const float* recurrent, const float* input_bias, const float* bias, int hidden)
        : hidden(hidden), states(padded(hidden, LANES)), weights(by_panels(recurrent, hidden), true) {
        for (int row : gate_rows(hidden)) biases.push_back(row < 0 ? 0 : input_bias[row] + bias[row]);
    }

    // The weights of the inputs, with outputs in the order that `run` takes them.
    static Outputs by_panels(const float* weights, int hidden, int64_t width = 0) {
        width = width ? width : hidden;
        Outputs outputs((int)width);
        for (int row : gate_rows(hidden)) {
            if (row < 0)
                outputs.add_zeros(1);
            else
                outputs.add(weights + row * width, width, 0);
        }
        return outputs;
    }

    int size() const { return (int)biases.size(); }  // of a row of input products
    const std::vector<float>& bias() const { return biases; }

    // Reads all sequences. inputs(row) points to the products of an element's input with the weights and biases; the
    // state after an element goes to result(row, sequence, last) if that is not null.
    template <class Inputs, class Result>
    void run(const Sequences& sequences, bool backward, Inputs inputs, Result result) const {
        int active = sequences.count();
        std::vector<float> before((size_t)active * states), after(before.size()), cells(before.size());
        std::vector<const float*> products(active);
        std::vector<float*> results(active);
        for (int64_t t = 0;; t++) {
            while (active && sequences.length[sequences.order[active - 1]] <= t) active--;
            if (!active) return;
            for (int r = 0; r < active; r++) {
                const int s = sequences.order[r];
                const int64_t last = sequences.length[s] - 1, row = sequences.start[s] + (backward ? last - t : t);
                products[r] = inputs(row);
                results[r] = result(row, s, t == last);
            }
            weights.multiply(
                active, [&](int r) { return before.data() + (size_t)r * states; },
                [&](int r, int panel, const Vector* sums) {
                    const float* product = products[r] + (size_t)panel * PANEL;
                    float* cell = cells.data() + (size_t)r * states + panel * LANES;
                    const Vector in = exponential(-(sums[0] + load(product)));
                    const Vector forget = exponential(-(sums[1] + load(product + LANES)));
                    const Vector fresh = exponential(-2.0f * (sums[2] + load(product + 2 * LANES)));
                    const Vector out = exponential(-(sums[3] + load(product + 3 * LANES)));
                    // sigmoid(a) tanh(b) = (1 - e^-2b) / ((1 + e^-a) (1 + e^-2b)): one division
                    const Vector c =
                        load(cell) / (1.0f + forget) + (1.0f - fresh) / ((1.0f + in) * (1.0f + fresh));
                    const Vector shown = exponential(-2.0f * c);
                    save(cell, c);
                    save(after.data() + (size_t)r * states + panel * LANES,
                         (1.0f - shown) / ((1.0f + out) * (1.0f + shown)));
                });
            for (int r = 0; r < active; r++)
                if (results[r]) std::memcpy(results[r], after.data() + (size_t)r * states, hidden * sizeof(float));
            std::swap(before, after);
        }
    }

  private:
    int hidden = 0, states = 0;  // `states` is `hidden`, padded
    Matrix weights;
    std::vector<float> biases;  // [size()]

    // Which row of a stored matrix [4 x hidden, ...] each output is: a panel has the four gates of LANES units.
    static std::vector<int> gate_rows(int hidden) {
        std::vector<int> rows;
        for (int unit = 0; unit < hidden; unit += LANES)
            for (int gate = 0; gate < 4; gate++)
                for (int lane = unit; lane < unit + LANES; lane++)
                    rows.push_back(lane < hidden ? gate * hidden + lane : -1);
        return rows;
    }
};
