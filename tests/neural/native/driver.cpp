// Runs the compiled network under sanitizers: random sizes, buffers of exactly the size that is asked for, and calls
// that must be refused. Exits with 1 at the first thing that is wrong.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "api.cpp"

namespace {

std::mt19937 chance(1);

int64_t pick(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(chance); }

void expect(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(1);
}

// The parameters of a network of some sizes, in the order of `Network.state_dict`.
struct Stored {
    std::vector<std::vector<float>> tensors;
    bool whole;  // as in a stored model: whole numbers times a factor

    void add(int64_t rows, int64_t width) {
        std::vector<float> tensor((size_t)(rows * width));
        for (float& value : tensor)
            value = whole ? 0.01f * (float)pick(-127, 127) : std::normal_distribution<float>(0, 0.5f)(chance);
        if (whole)
            for (int64_t row = 0; row < rows; row++) tensor[row * width] = 1.27f;
        tensors.push_back(tensor);
    }

    void layer(int64_t in, int64_t hidden) {
        for (int direction = 0; direction < 2; direction++) {
            add(4 * hidden, in);
            add(4 * hidden, hidden);
            add(4 * hidden, 1);
            add(4 * hidden, 1);
        }
    }

    Stored(const Sizes& s, bool whole) : whole(whole) {
        const int64_t size = 2 * s.hidden, h = s.scorer_hidden;
        if (s.encoder) {
            if (s.character_size) add(s.characters, s.character_size), layer(s.character_size, s.character_hidden);
            if (s.word_size) add(s.words, s.word_size);
            for (int64_t k = 0; k < s.layers; k++)
                layer(k ? size : (s.character_size ? 2 * s.character_hidden : 0) + s.word_size, s.hidden);
        }
        for (auto [rows, width] : {std::pair{int64_t(1), size}, {h, 8 * size}, {h, int64_t(1)}, {h, h}, {h, int64_t(1)},
                                   {int64_t(1), h}, {int64_t(1), int64_t(1)}, {h, 4 * size}, {h, int64_t(1)}, {h, h},
                                   {h, int64_t(1)}, {s.labels, h}, {s.labels, int64_t(1)}})
            add(rows, width);
        if (s.chains) add(s.labels, h), add(s.labels, 1), add(s.labels, s.labels);
        add(s.tags, (1 + s.tag_both) * size);
        add(s.tags, 1);
    }

    int create(const Sizes& sizes, Network** network, size_t number, int64_t off = 0) const {
        std::vector<const float*> pointers;
        std::vector<int64_t> counts;
        for (size_t k = 0; k < number; k++) pointers.push_back(tensors[k].data()), counts.push_back(tensors[k].size());
        counts[number / 2] += off;
        return discoparse_create(&sizes, pointers.data(), counts.data(), (int64_t)number, network);
    }
};

// Constraints on sentences, as `compiled/limits.py` packs them.
struct StoredLimits {
    std::vector<int64_t> sets, sizes, codes, wanted_counts;
    std::vector<int32_t> tokens, wanted;

    // Some tokens are parted into halves at random, and these again; some parts are required, the first in any case.
    void halve(std::vector<int32_t> some, const Sizes& s) {
        if (pick(0, 2) || sizes.size() == first) add(some, s);
        if (some.size() == 1) return;
        std::shuffle(some.begin(), some.end(), chance);
        const auto middle = some.begin() + (int64_t)some.size() / 2;
        halve({some.begin(), middle}, s);
        halve({middle, some.end()}, s);
    }

    void add(std::vector<int32_t> some, const Sizes& s) {
        std::sort(some.begin(), some.end());
        sizes.push_back((int64_t)some.size());
        tokens.insert(tokens.end(), some.begin(), some.end());
        codes.push_back(pick(0, 1) ? pick(1, s.labels - 1) : 0);
        if (codes.back() && s.chains > 1) codes.back() += s.labels * pick(0, s.labels - 1);
        wanted_counts.push_back(codes.back() ? 0 : pick(0, 2));
        for (int64_t k = 0; k < wanted_counts.back(); k++) wanted.push_back((int32_t)pick(1, s.labels - 1));
    }

    StoredLimits(const std::vector<int64_t>& lengths, const Sizes& s) {
        for (auto* numbers : {&sets, &sizes, &codes, &wanted_counts}) numbers->reserve(1);  // an address even if empty
        for (auto* numbers : {&tokens, &wanted}) numbers->reserve(1);
        for (int64_t length : lengths) {
            first = sizes.size();
            std::vector<int32_t> all((size_t)length);
            std::iota(all.begin(), all.end(), 0);
            if (pick(0, 3)) halve(all, s);
            sets.push_back((int64_t)(sizes.size() - first));
        }
    }

    Limits view() const {
        return {sets.data(),          (int64_t)sizes.size(), sizes.data(), tokens.data(),         (int64_t)tokens.size(),
                codes.data(), wanted_counts.data(),  wanted.data(), (int64_t)wanted.size()};
    }

  private:
    size_t first = 0;
};

// The focus after each step of a derivation.
std::vector<std::vector<bool>> foci_of(const int32_t* actions, int64_t length) {
    std::vector<std::vector<bool>> items((size_t)length), found;  // by first token
    std::vector<bool> focus;
    int64_t next = 0, left = 0;
    for (int64_t t = 0; t < 2 * length - 1; t++) {
        if (actions[t] == next) {
            if (t) items[left] = focus;
            focus.assign((size_t)length, false);
            focus[next] = true;
            left = next++;
        } else {
            expect(!items[actions[t]].empty(), "an item that is not there");
            for (int64_t k = 0; k < length; k++) focus[k] = focus[k] || items[actions[t]][k];
            items[actions[t]].clear();
            left = std::min<int64_t>(left, actions[t]);
        }
        found.push_back(focus);
    }
    return found;
}

template <class Decide>
void check_limits(const StoredLimits& stored, const std::vector<int64_t>& lengths, const Sizes& s,
                  const std::vector<int32_t>& actions, const std::vector<int64_t>& codes, Decide decide) {
    const Limits limits = stored.view();
    expect(decide(limits) == FINE, "limits");
    int64_t set = 0, step = 0;
    const int32_t* tokens = stored.tokens.data();
    for (size_t k = 0; k < lengths.size(); step += 2 * lengths[k++] - 1) {
        const std::vector<std::vector<bool>> foci = foci_of(actions.data() + step, lengths[k]);
        for (const int64_t end = set + stored.sets[k]; set < end; tokens += stored.sizes[set++]) {
            std::vector<bool> wanted((size_t)lengths[k]);
            for (int64_t t = 0; t < stored.sizes[set]; t++) wanted[tokens[t]] = true;
            const auto found = std::find(foci.begin(), foci.end(), wanted);
            expect(found != foci.end(), "what is required is built");
            const int64_t code = codes[step + (found - foci.begin())];
            expect(code > 0 && (!stored.codes[set] || code == stored.codes[set]), "its label");
        }
    }
    auto refused = [&](Limits wrong, const char* what) { expect(decide(wrong) == WRONG, what); };
    for (int change : {-1, 1}) {
        Limits wrong = limits;
        wrong.set_count += change;
        refused(wrong, "another number of sets");
        wrong = limits;
        wrong.token_count += change;
        refused(wrong, "another number of tokens");
        wrong = limits;
        wrong.wanted_count += change;
        refused(wrong, "another number of labels");
    }
    for (const int64_t value : {int64_t(-1), INT64_MAX, INT64_MIN}) {
        for (int field = 0; field < 4; field++) {
            StoredLimits wrong = stored;
            std::vector<int64_t>* fields[] = {&wrong.sets, &wrong.sizes, &wrong.codes, &wrong.wanted_counts};
            if (fields[field]->empty()) continue;
            fields[field]->back() = value;
            refused(wrong.view(), "a number that makes no sense");
        }
    }
    for (const int32_t value : {-1, INT32_MAX, (int32_t)s.labels + 1000}) {
        StoredLimits wrong = stored;
        if (!wrong.tokens.empty()) {
            wrong.tokens.back() = value;
            refused(wrong.view(), "a token that is not there");
        }
        wrong = stored;
        if (!wrong.wanted.empty()) {
            wrong.wanted.back() = value;
            refused(wrong.view(), "a label that is not there");
        }
    }
    refused({}, "nothing");
    if (!stored.sizes.empty() && stored.sizes[0] > 1) {
        StoredLimits wrong = stored;
        std::swap(wrong.tokens[0], wrong.tokens[1]);
        refused(wrong.view(), "tokens in another order");
    }
}

int sample_once(const Network* network, const Sizes& s, const std::vector<int64_t>& lengths, int64_t tokens,
                const std::vector<float>& first, const std::vector<float>& last, int64_t samples) {
    const int64_t count = (int64_t)lengths.size(), steps = 2 * tokens - count;
    std::vector<float> draws((size_t)(samples * steps)), tag_probabilities((size_t)tokens), trees((size_t)count);
    for (float& draw : draws) draw = std::uniform_real_distribution<float>(0, 1)(chance);
    if (!draws.empty()) draws[0] = 2, draws.back() = std::numeric_limits<float>::quiet_NaN();
    std::vector<int32_t> tags((size_t)tokens), actions((size_t)steps), index((size_t)steps);
    Beliefs* beliefs = nullptr;
    int64_t foci = 0;
    auto call = [&](int64_t number, double temperature) {
        const Temperatures temperatures{1, 0.7, temperature};
        return discoparse_sample(network, count, lengths.data(), tokens, first.data(), last.data(), &temperatures, samples,
                                 draws.data(), number, tags.data(), tag_probabilities.data(), actions.data(),
                                 index.data(), trees.data(), &beliefs, &foci);
    };
    expect(call((int64_t)draws.size() + 1, 1) == WRONG, "more draws");
    expect(call((int64_t)draws.size(), 0) == WRONG, "a temperature of zero");
    const int status = call((int64_t)draws.size(), 2);
    if (status != FINE) return status;
    const int64_t words = (*std::max_element(lengths.begin(), lengths.end()) + 63) / 64;
    std::vector<int32_t> sentences((size_t)foci), counts(sentences);
    std::vector<uint8_t> gaps((size_t)foci);
    std::vector<uint64_t> bits((size_t)(foci * words));
    std::vector<int64_t> codes((size_t)foci);
    std::vector<float> probabilities((size_t)foci), expected((size_t)(foci * s.labels));
    auto read = [&](int64_t room, int64_t width) {
        return discoparse_foci(beliefs, room, width, sentences.data(), counts.data(), gaps.data(), bits.data(),
                               codes.data(), probabilities.data(), expected.data());
    };
    expect(read(foci - 1, words) == WRONG && read(foci, words - 1) == WRONG, "no room");
    expect(read(foci, words) == FINE, "foci");
    int64_t total = 0;
    for (int32_t drawn : counts) total += drawn;
    expect(total == samples * steps, "every sample has a focus at every step");
    for (int64_t k = 0, step = 0; k < count; k++)
        for (int64_t t = 0; t < 2 * lengths[k] - 1; t++, step++)
            expect(index[step] >= 0 && index[step] < foci && sentences[index[step]] == k, "a focus of the sentence");
    discoparse_free_beliefs(beliefs);
    return FINE;
}

void walk_once(bool whole) {
    Sizes s{};
    s.words = pick(1, 9), s.characters = pick(1, 9), s.tags = pick(1, 70), s.labels = pick(2, 70);
    s.word_size = pick(0, 20), s.character_size = s.word_size ? pick(0, 20) : pick(1, 20);
    s.character_hidden = pick(1, 40), s.hidden = pick(1, 70), s.layers = pick(1, 3), s.scorer_hidden = pick(1, 90);
    s.chains = pick(0, 3), s.tag_both = pick(0, 1), s.encoder = pick(0, 3) > 0;
    const Stored stored(s, whole);
    Network* network = nullptr;
    expect(stored.create(s, &network, stored.tensors.size() - 1) == WRONG, "a parameter is missing");
    expect(stored.create(s, &network, stored.tensors.size(), pick(0, 1) ? 1 : -1) == WRONG, "a parameter of another size");
    Sizes other = s;
    other.hidden++;
    expect(stored.create(other, &network, stored.tensors.size()) == WRONG, "sizes of another network");
    expect(network == nullptr, "a network that was refused");
    expect(stored.create(s, &network, stored.tensors.size()) == FINE, "a network");

    std::vector<int64_t> lengths;
    for (int64_t k = pick(1, 20); k > 0; k--) lengths.push_back(pick(1, 30));
    if (!pick(0, 7)) lengths.push_back(pick(60, 70));
    const int64_t count = (int64_t)lengths.size(), tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
    std::vector<float> first((size_t)(tokens * 2 * s.hidden)), last(first);
    if (s.encoder) {
        const int64_t forms = pick(1, 40), size = discoparse_form_size(network);
        std::vector<int64_t> spelled_lengths;
        for (int64_t k = 0; k < forms; k++) spelled_lengths.push_back(pick(1, 15));
        std::vector<int32_t> spelled, words;
        for (int64_t k = std::accumulate(spelled_lengths.begin(), spelled_lengths.end(), int64_t(0)); k > 0; k--)
            spelled.push_back((int32_t)pick(0, s.characters - 1));
        for (int64_t k = 0; k < forms; k++) words.push_back((int32_t)pick(0, s.words - 1));
        std::vector<float> table((size_t)(forms * size));
        auto look = [&](int64_t number, int64_t characters, int64_t room) {
            return discoparse_forms(network, number, spelled.data(), characters, spelled_lengths.data(), words.data(),
                                    table.data(), room);
        };
        expect(look(forms, (int64_t)spelled.size(), forms) == FINE, "forms");
        expect(look(forms, (int64_t)spelled.size() - 1, forms) == WRONG, "fewer characters");
        expect(look(forms, (int64_t)spelled.size(), forms - 1) == WRONG, "no room");
        if (s.character_size) {
            const int32_t kept = spelled.back();
            spelled.back() = (int32_t)s.characters;
            expect(look(forms, (int64_t)spelled.size(), forms) == WRONG, "an unknown character");
            spelled.back() = kept;
        }
        std::vector<int64_t> rows;
        for (int64_t k = 0; k < tokens; k++) rows.push_back(pick(0, forms - 1));
        auto encode = [&](int64_t table_rows) {
            return discoparse_encode(network, count, lengths.data(), tokens, table.data(), table_rows, rows.data(),
                                     first.data(), last.data());
        };
        expect(encode(forms) == FINE, "token vectors");
        expect(encode(*std::max_element(rows.begin(), rows.end())) == WRONG, "a row beyond the table");
    } else {
        for (float& value : first) value = std::normal_distribution<float>(0, 2)(chance);
        last = first;
    }
    const size_t steps = (size_t)(2 * tokens - count);
    std::vector<int32_t> tags((size_t)tokens), actions(steps);
    std::vector<int64_t> codes(steps);
    std::vector<float> probabilities(steps);
    auto decide = [&](int64_t sentences, int64_t all, const Limits* limits = nullptr) {
        return discoparse_decide(network, sentences, lengths.data(), all, first.data(), last.data(), limits, tags.data(),
                                 actions.data(), codes.data(), probabilities.data());
    };
    expect(decide(count, tokens) == FINE, "decisions");
    expect(decide(count, tokens + 1) == WRONG, "more tokens than the sentences have");
    expect(decide(0, 0) == WRONG, "no sentences");
    for (int32_t tag : tags) expect(tag >= 0 && tag < s.tags, "a tag");
    for (size_t k = 0, step = 0; k < lengths.size(); k++) {
        int64_t shifts = 0;
        for (int64_t t = 0; t < 2 * lengths[k] - 1; t++, step++) {
            expect(actions[step] >= 0 && actions[step] <= shifts && actions[step] < lengths[k], "an action");
            shifts += actions[step] == shifts;
            expect(codes[step] >= 0 && probabilities[step] >= 0 && probabilities[step] <= 1.001f, "a label");
        }
        expect(shifts == lengths[k], "a sentence is shifted");
        expect(codes[step - 1] > 0, "the root has a label");
    }
    const StoredLimits stored_limits(lengths, s);
    check_limits(stored_limits, lengths, s, actions, codes, [&](const Limits& limits) { return decide(count, tokens, &limits); });
    auto sample = [&](int64_t samples) { return sample_once(network, s, lengths, tokens, first, last, samples); };
    expect(sample(pick(1, 12)) == FINE, "samples");
    expect(sample(0) == WRONG, "no samples");
    // Values that are not numbers make no sense, but no harm.
    std::fill(last.begin(), last.end(), std::numeric_limits<float>::quiet_NaN());
    first[0] = std::numeric_limits<float>::infinity();
    const Limits limits = stored_limits.view();
    expect(decide(count, tokens) == FINE && decide(count, tokens, &limits) == FINE, "not numbers");
    expect(sample(3) == FINE, "samples of what is not numbers");
    lengths.back() = -1;
    expect(decide(count, tokens) == WRONG, "a negative length");
    lengths.back() = INT64_MAX;
    expect(decide(count, tokens) == WRONG, "an endless sentence");
    discoparse_free(network);
}

}  // namespace

int main(int, char** arguments) {
    const int rounds = std::atoi(arguments[1]);
    for (int k = 0; k < rounds; k++) walk_once(k % 2);
    Sizes huge{};
    huge.words = huge.characters = huge.tags = huge.labels = huge.hidden = huge.scorer_hidden = huge.layers = INT64_MAX;
    Network* network = nullptr;
    const float* none = nullptr;
    const int64_t zero = 0;
    expect(discoparse_create(&huge, &none, &zero, 1, &network) == WRONG, "sizes without end");
    expect(discoparse_create(nullptr, nullptr, nullptr, 0, nullptr) == WRONG, "nothing");
    std::puts("fine");
}
