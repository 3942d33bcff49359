// What Python calls, through ctypes. Nothing here trusts its caller: sizes are checked before anything is read.
//
// Every function returns 0, or what was wrong: 1 for sizes or parameters that do not fit, 2 for memory that ran out.
#include <memory>
#include <new>

#include "beliefs.h"
#include "encoder.h"
#include "limits.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int64_t LARGEST_SIZE = 1 << 24;
enum { FINE, WRONG, NO_MEMORY };

struct Network {
    Sizes sizes;
    Encoder encoder;
    Scorers scorers;
};

template <class Work>
int guarded(Work work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return NO_MEMORY;
    } catch (const std::exception&) {
        return WRONG;
    }
}

bool between(int64_t least, int64_t value, int64_t most) { return least <= value && value <= most; }

bool acceptable(const Sizes& s) {
    for (int64_t size : {s.tags, s.hidden, s.scorer_hidden})
        if (!between(1, size, LARGEST_SIZE)) return false;
    for (int64_t size : {s.word_size, s.character_size, s.layers, s.character_hidden, s.words, s.characters})
        if (!between(0, size, LARGEST_SIZE)) return false;
    if (!between(2, s.labels, LARGEST_SIZE) || !between(0, s.chains, 62)) return false;
    if (!between(0, s.tag_both, 1) || !between(0, s.encoder, 1)) return false;
    if (s.chains && s.chains * std::log2((double)s.labels + 1) > 63) return false;  // a code has 63 bits
    if (!s.encoder) return true;
    if (s.word_size && !s.words) return false;
    if (s.character_size && !(s.characters && s.character_hidden)) return false;
    return s.layers && (s.word_size || s.character_size);
}

// The number of tokens of sentences, or -1 if some length makes no sense.
int64_t tokens_in(int64_t sentences, const int64_t* lengths) {
    if (!between(1, sentences, LARGEST_SIZE) || !lengths) return -1;
    int64_t sum = 0;
    for (int64_t s = 0; s < sentences; s++) {
        if (!between(1, lengths[s], LARGEST_SIZE)) return -1;
        sum += lengths[s];
    }
    return sum <= LARGEST_SIZE ? sum : -1;
}

template <class Number>
bool all_between(Number least, const Number* values, int64_t count, Number most) {
    return values && std::all_of(values, values + count, [=](Number v) { return least <= v && v <= most; });
}

}  // namespace

// Changes with the functions below, so that a library from another version is not used.
EXPORT int discoparse_interface() { return 3; }

// Which of the libraries suits this CPU: plain 0, AVX2 1, AVX-512 with VNNI 2.
EXPORT int discoparse_cpu() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni"))
        return 2;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
#endif
    return 0;
}

// A network from parameters, each with its count of numbers, in the order of `compiled/network.py`.
EXPORT int discoparse_create(const Sizes* sizes, const float* const* parameters, const int64_t* counts, int64_t number,
                             Network** created) {
    return guarded([&] {
        if (!sizes || !parameters || !counts || !created || !acceptable(*sizes)) return (int)WRONG;
        auto network = std::make_unique<Network>();
        network->sizes = *sizes;
        Parameters left(parameters, counts, number);
        if (sizes->encoder) network->encoder = Encoder(*sizes, left);
        network->scorers = Scorers(*sizes, left);
        left.end();
        *created = network.release();
        return (int)FINE;
    });
}

EXPORT void discoparse_free(Network* network) { delete network; }

// Numbers in a row of what `discoparse_forms` makes of a word form.
EXPORT int64_t discoparse_form_size(const Network* network) { return network ? network->encoder.form_size() : 0; }

// Word forms: `spelled` has the characters of all, `lengths` how many each has; room for `room` rows of results.
EXPORT int discoparse_forms(const Network* network, int64_t count, const int32_t* spelled, int64_t characters,
                            const int64_t* lengths, const int32_t* words, float* results, int64_t room) {
    return guarded([&] {
        if (!network || !network->sizes.encoder || !results || count > room) return (int)WRONG;
        const Sizes& sizes = network->sizes;
        if (tokens_in(count, lengths) != characters) return (int)WRONG;
        if (sizes.character_size && !all_between<int32_t>(0, spelled, characters, (int32_t)sizes.characters - 1))
            return (int)WRONG;
        if (sizes.word_size && !all_between<int32_t>(0, words, count, (int32_t)sizes.words - 1)) return (int)WRONG;
        network->encoder.forms((int)count, spelled, lengths, words, results);
        return (int)FINE;
    });
}

// Token vectors of sentences, h(1) and h of the last layer [M, D], from the row of each token in a table of forms.
EXPORT int discoparse_encode(const Network* network, int64_t sentences, const int64_t* lengths, int64_t tokens,
                             const float* table, int64_t rows, const int64_t* forms, float* first, float* last) {
    return guarded([&] {
        if (!network || !network->sizes.encoder || !table || !first || !last) return (int)WRONG;
        if (tokens_in(sentences, lengths) != tokens || !all_between<int64_t>(0, forms, tokens, rows - 1))
            return (int)WRONG;
        network->encoder.tokens(Sequences(lengths, (int)sentences), (int)tokens, table, forms, first, last);
        return (int)FINE;
    });
}

// The decisions for sentences: tags [M], from h(1) or from both levels, and from h of the last layer the slots of the
// structural actions, the codes of the labels and their probabilities, 2n - 1 for each sentence; within `limits`, unless
// that is null.
EXPORT int discoparse_decide(const Network* network, int64_t sentences, const int64_t* lengths, int64_t tokens,
                             const float* first, const float* last, const Limits* limits, int32_t* tags,
                             int32_t* actions, int64_t* codes, float* probabilities) {
    return guarded([&] {
        if (!network || !first || !last || !tags || !actions || !codes || !probabilities) return (int)WRONG;
        if (tokens_in(sentences, lengths) != tokens) return (int)WRONG;
        const Sequences sequences(lengths, (int)sentences);
        const Scorers& scorers = network->scorers;
        Within within(sequences, limits, scorers.labeller);
        scorers.tags((int)tokens, first, last, 1, tags, nullptr);
        Derivation derivation(sequences);
        derivation.derive(scorers, (int)tokens, last, within.required, actions);
        within.label(derivation, scorers, codes, probabilities);
        return (int)FINE;
    });
}

// Samples of the derivations of sentences: tags [M] with their probabilities, the slots of the greedy derivations [S] and
// their foci [S], the probability of each greedy tree [sentences], and the number of foci, which `discoparse_foci` gives.
// Each sentence takes `samples` times 2n - 1 of the draws.
EXPORT int discoparse_sample(const Network* network, int64_t sentences, const int64_t* lengths, int64_t tokens,
                             const float* first, const float* last, const Temperatures* temperatures, int64_t samples,
                             const float* draws, int64_t draw_count, int32_t* tags, float* tag_probabilities,
                             int32_t* actions, int32_t* foci, float* tree_probabilities, Beliefs** beliefs,
                             int64_t* count) {
    return guarded([&] {
        if (!network || !first || !last || !temperatures || !draws || !tags || !tag_probabilities || !actions || !foci ||
            !tree_probabilities || !beliefs || !count)
            return (int)WRONG;
        if (tokens_in(sentences, lengths) != tokens || !between(1, samples, LARGEST_SIZE)) return (int)WRONG;
        const int64_t steps = 2 * tokens - sentences;
        if (draw_count != samples * steps || (samples + 1) * steps > LARGEST_SIZE * 16) return (int)WRONG;
        for (double one : {temperatures->structure, temperatures->labels, temperatures->tags})
            if (!(one > 0)) return (int)WRONG;
        const Sequences sequences(lengths, (int)sentences);
        const Scorers& scorers = network->scorers;
        scorers.tags((int)tokens, first, last, temperatures->tags, tags, tag_probabilities);
        Samples found(scorers, sequences, (int)tokens, last, (int)samples, temperatures->structure, draws, actions);
        auto made = std::make_unique<Beliefs>(std::move(found), scorers, (int)samples, temperatures->labels, foci,
                                              tree_probabilities);
        *count = (int64_t)made->foci.size();
        *beliefs = made.release();
        return (int)FINE;
    });
}

EXPORT void discoparse_free_beliefs(Beliefs* beliefs) { delete beliefs; }

// What `discoparse_sample` found, for each of its foci: its sentence, how many samples have it, whether it has a gap, its
// tokens as bits (of `words` times 64), its best label chain with its probability, and how many nodes of each label it has
// on average [foci, labels].
EXPORT int discoparse_foci(const Beliefs* beliefs, int64_t room, int64_t words, int32_t* sentences, int32_t* counts,
                           uint8_t* gaps, uint64_t* bits, int64_t* codes, float* probabilities, float* expected) {
    return guarded([&] {
        if (!beliefs || !sentences || !counts || !gaps || !bits || !codes || !probabilities || !expected) return (int)WRONG;
        if ((int64_t)beliefs->foci.size() != room) return (int)WRONG;
        for (const Samples::Focus& focus : beliefs->foci) {
            if ((int64_t)focus.bits.size() > words) return (int)WRONG;
            *sentences++ = focus.sentence;
            *counts++ = focus.count;
            *gaps++ = focus.place.gap_first >= 0;
            std::fill_n(std::copy(focus.bits.begin(), focus.bits.end(), bits), words - focus.bits.size(), 0);
            bits += words;
        }
        std::copy(beliefs->codes.begin(), beliefs->codes.end(), codes);
        std::copy(beliefs->probabilities.begin(), beliefs->probabilities.end(), probabilities);
        std::copy(beliefs->expected.begin(), beliefs->expected.end(), expected);
        return (int)FINE;
    });
}
