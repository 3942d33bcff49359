// Vectors of the widest kind that this compilation is for, and e^x, sigmoid and tanh on them.
//
// The vectors are GCC's and Clang's own, so the same code becomes AVX-512, AVX2, NEON or SSE instructions; the build
// compiles it once for each instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512VNNI__)
constexpr int LANES = 16, COLUMNS = 4;
#elif defined(__AVX2__)
constexpr int LANES = 8, COLUMNS = 2;
#elif defined(__aarch64__)
constexpr int LANES = 4, COLUMNS = 4;
#else
constexpr int LANES = 4, COLUMNS = 2;
#endif
constexpr int ROWS = 6;  // ROWS x COLUMNS sums, COLUMNS weights and an input fit into 32 or 16 registers
constexpr int PANEL = 4 * LANES;  // outputs of a matrix that are computed together; of an LSTM, the four gates

#define ALWAYS static inline __attribute__((always_inline))

typedef float Vector __attribute__((vector_size(4 * LANES)));
typedef int32_t Whole __attribute__((vector_size(4 * LANES)));
typedef uint32_t Bits __attribute__((vector_size(4 * LANES)));
typedef uint16_t HalfBits __attribute__((vector_size(2 * LANES)));

inline int padded(int size, int unit) { return (size + unit - 1) / unit * unit; }

ALWAYS Vector load(const float* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

ALWAYS Whole load(const int16_t* from) {
    Whole pairs;
    std::memcpy(&pairs, from, sizeof pairs);
    return pairs;
}

ALWAYS void save(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }

// The same number in all lanes. (x - 0 is x for the compiler, x + 0 is not.)
ALWAYS Vector all(float x) { return x - Vector{}; }

// Products of pairs of 16-bit numbers, added up in 32 bits: twice the products of an instruction for single precision.
#if defined(__SSE2__)
#define HAS_PAIRS 1
ALWAYS Whole add_pairs(Whole sum, Whole a, Whole b) {
#if defined(__AVX512VNNI__)
    return (Whole)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return sum + (Whole)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    return sum + (Whole)_mm_madd_epi16((__m128i)a, (__m128i)b);
#endif
}
#else
#define HAS_PAIRS 0  // on ARM they take as long
#endif

ALWAYS float total(Vector v) {
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += v[lane];
    return sum;
}

ALWAYS Vector clipped(Vector x, float most) {
    x = x > all(most) ? all(most) : x;
    return x < all(-most) ? all(-most) : x;
}

constexpr float ROUNDING = 12582912.0f;  // 1.5 x 2^23: adding it rounds to a whole number, left in the lowest bits

// x times `unit`, rounded, for x from -1 to 1.
ALWAYS void save_rounded(int16_t* to, Vector x, float unit) {
    const HalfBits rounded = __builtin_convertvector((Bits)(clipped(x, 1.0f) * unit + ROUNDING), HalfBits);
    std::memcpy(to, &rounded, sizeof rounded);
}

// e^x with a relative error of about 1e-7. x is clipped to -40..40: products of two results stay finite.
ALWAYS Vector exponential(Vector x) {
    x = clipped(x, 40.0f);
    const Vector shifted = x * 1.44269504f + ROUNDING;  // x = n ln 2 + r
    const Vector n = shifted - ROUNDING;
    const Vector r = x - n * 0.693145752f - n * 1.42860677e-6f;
    Vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    return (Vector)((Bits)p + ((Bits)shifted << 23));  // times 2^n
}

ALWAYS Vector sigmoid(Vector x) { return 1.0f / (1.0f + exponential(-x)); }

ALWAYS Vector tanh_of(Vector x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; }
