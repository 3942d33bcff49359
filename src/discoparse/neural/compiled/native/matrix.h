// Products of a matrix with many rows of input, close to the peak of a core.
//
// A matrix is kept in panels of PANEL outputs, so that a panel (or half of it) times ROWS inputs is summed up in registers.
//
// The large matrices of a stored model are whole numbers from -127 to 127 times a factor for each output. On x86, where
// an instruction multiplies twice as many 16-bit numbers as single-precision ones, such a matrix is multiplied as it is
// stored. Its inputs, which then must lie in -1..1, are rounded to 15 bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lanes.h"

constexpr float LARGEST = 127;  // of a stored whole number
constexpr int WIDTH = COLUMNS * LANES;  // outputs that are summed up in registers
constexpr int BLOCK = 16 * ROWS;  // inputs that are multiplied by all panels before the next ones are looked at

// A matrix by outputs, as it is put together from the parameters. A row of zeros stands for no output.
struct Outputs {
    int in;
    std::vector<float> weights;  // [outputs, in]
    std::vector<float> factors;  // [outputs] of the stored whole numbers, if that is what they are

    explicit Outputs(int in) : in(in) {}
    int count() const { return (int)factors.size(); }

    // Some inputs (`in` of them from `from` on) of a stored row with `width` in all, which have a factor in common.
    void add(const float* row, int64_t width, int64_t from) {
        float most = 0;
        for (int64_t k = 0; k < width; k++) most = std::max(most, std::fabs(row[k]));
        weights.insert(weights.end(), row + from, row + from + in);
        factors.push_back(most / LARGEST);
    }

    void add_zeros(int rows) {
        weights.resize(weights.size() + (size_t)rows * in);
        factors.resize(factors.size() + rows);
    }
};

class Matrix {
  public:
    Matrix() = default;

    // `bounded`: inputs will lie in -1..1.
    Matrix(Outputs outputs, bool bounded) : in(outputs.in) {
        outputs.add_zeros(padded(outputs.count(), PANEL) - outputs.count());
        panels = outputs.count() / PANEL;
#if HAS_PAIRS
        const float most_unit = std::min(32767.0f, std::floor(2147483000.0f / (LARGEST * in)));  // 32 bits hold sums
        if (bounded && most_unit >= 8192 && pack_whole(outputs)) {
            unit = most_unit;
            for (float& factor : factors) factor /= unit;
            return;
        }
#endif
        (void)bounded;
        weights.resize(outputs.weights.size());
        for (int o = 0; o < outputs.count(); o++)
            for (int k = 0; k < in; k++)
                weights[((size_t)(o / WIDTH) * in + k) * WIDTH + o % WIDTH] = outputs.weights[(size_t)o * in + k];
    }

    int size() const { return panels * PANEL; }  // of a row of outputs

    // Multiplies inputs 0..rows-1, of which input(r) points to the numbers, and passes the sums of each with each panel
    // on to store(r, panel, sums), where sums are four vectors.
    template <class Input, class Store>
    void multiply(int rows, Input input, Store store) const {
        std::vector<int16_t> rounded;
        for (int first = 0; first < rows; first += BLOCK) {
            const int count = std::min(BLOCK, rows - first);
            const float* block[BLOCK];
            for (int r = 0; r < count; r++) block[r] = input(first + r);
            if (unit) round_inputs(block, count, rounded);
            for (int panel = 0; panel < panels; panel++)
                for (int r = 0; r < count; r += ROWS)
                    some_rows<ROWS>(std::min(ROWS, count - r), panel, block + r, rounded.data() + (size_t)r * pairs() * 2,
                                    [&](int row, const Vector* sums) { store(first + r + row, panel, sums); });
        }
    }

    // The same with a bias [size()] for each output, into rows of `stride` numbers.
    template <class Input>
    void multiply(int rows, Input input, const float* bias, float* results, size_t stride) const {
        multiply(rows, input, [=](int r, int panel, const Vector* sums) {
            for (int j = 0; j < 4; j++) {
                const int o = panel * PANEL + j * LANES;
                save(results + r * stride + o, sums[j] + load(bias + o));
            }
        });
    }

  private:
    int in = 0, panels = 0;
    std::vector<float> weights;  // [size() / WIDTH, in, WIDTH]
    float unit = 0;  // what an input of 1 is rounded to, or 0: single precision
    std::vector<int16_t> whole;  // [size() / WIDTH, pairs of inputs, WIDTH, 2]
    std::vector<float> factors;  // [size()] of a sum of products of whole numbers

    int pairs() const { return unit ? (in + 1) / 2 : 0; }

    // Sums of `count` rows, at most M, with a panel; compiled for each number of rows.
    template <int M, class Store>
    void some_rows(int count, int panel, const float* const* x, const int16_t* rounded, Store store) const {
        if constexpr (M > 1) {
            if (count < M) return some_rows<M - 1>(count, panel, x, rounded, store);
        }
        Vector sums[M][4];
#if HAS_PAIRS
        if (unit)
            whole_sums<M>(panel, rounded, sums);
        else
#endif
            real_sums<M>(panel, x, sums);
        (void)rounded;
        for (int m = 0; m < M; m++) store(m, sums[m]);
    }

    template <int M>
    void real_sums(int panel, const float* const* x, Vector (&sums)[M][4]) const {
        for (int part = 0; part < 4; part += COLUMNS) {
            Vector sum[M][COLUMNS] = {};
            const float* w = weights.data() + ((size_t)panel * 4 + part) * LANES * in;
            for (int k = 0; k < in; k++, w += WIDTH) {
                Vector weight[COLUMNS];
                for (int j = 0; j < COLUMNS; j++) weight[j] = load(w + j * LANES);
                for (int m = 0; m < M; m++) {
                    const Vector input = all(x[m][k]);
                    for (int j = 0; j < COLUMNS; j++) sum[m][j] += input * weight[j];
                }
            }
            for (int m = 0; m < M; m++)
                for (int j = 0; j < COLUMNS; j++) sums[m][part + j] = sum[m][j];
        }
    }

#if HAS_PAIRS
    template <int M>
    void whole_sums(int panel, const int16_t* x, Vector (&sums)[M][4]) const {
        const int count = pairs();
        for (int part = 0; part < 4; part += COLUMNS) {
            Whole sum[M][COLUMNS] = {};
            const int16_t* w = whole.data() + ((size_t)panel * 4 + part) * LANES * count * 2;
            for (int k = 0; k < count; k++, w += 2 * WIDTH) {
                Whole weight[COLUMNS];
                for (int j = 0; j < COLUMNS; j++) weight[j] = load(w + 2 * j * LANES);
                for (int m = 0; m < M; m++) {
                    int32_t pair;
                    std::memcpy(&pair, x + 2 * ((size_t)m * count + k), sizeof pair);
                    const Whole input = pair - Whole{};
                    for (int j = 0; j < COLUMNS; j++) sum[m][j] = add_pairs(sum[m][j], input, weight[j]);
                }
            }
            for (int j = 0; j < COLUMNS; j++) {
                const Vector factor = load(factors.data() + panel * PANEL + (part + j) * LANES);
                for (int m = 0; m < M; m++) sums[m][part + j] = __builtin_convertvector(sum[m][j], Vector) * factor;
            }
        }
    }

    // Keeps the weights as whole numbers; false if they are not.
    bool pack_whole(const Outputs& outputs) {
        const int count = (in + 1) / 2;
        std::vector<int16_t> found((size_t)outputs.count() * count * 2);
        for (int o = 0; o < outputs.count(); o++)
            for (int k = 0; k < in; k++) {
                const float factor = outputs.factors[o], weight = outputs.weights[(size_t)o * in + k];
                const float number = factor > 0 ? std::nearbyint(weight / factor) : 0;
                if (!(std::fabs(weight - number * factor) <= 1e-4f * factor)) return false;
                found[(((size_t)(o / WIDTH) * count + k / 2) * WIDTH + o % WIDTH) * 2 + k % 2] = (int16_t)number;
            }
        whole = std::move(found);
        factors = outputs.factors;
        return true;
    }
#endif

    void round_inputs(const float* const* x, int count, std::vector<int16_t>& rounded) const {
        const int width = 2 * pairs();
        rounded.resize((size_t)BLOCK * width + LANES);  // the last vector of a row may be longer than the row
        for (int r = 0; r < count; r++) {
            int16_t* row = rounded.data() + (size_t)r * width;
            const int whole_vectors = in / LANES * LANES;
            for (int k = 0; k < whole_vectors; k += LANES) save_rounded(row + k, load(x[r] + k), unit);
            if (width > whole_vectors) {
                float rest[LANES] = {};
                std::copy(x[r] + whole_vectors, x[r] + in, rest);
                save_rounded(row + whole_vectors, load(rest), unit);
            }
        }
    }
};
