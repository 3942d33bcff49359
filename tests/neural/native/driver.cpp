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
        add(s.tags, size);
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

void walk_once(bool whole) {
    Sizes s{};
    s.words = pick(1, 9), s.characters = pick(1, 9), s.tags = pick(1, 70), s.labels = pick(2, 70);
    s.word_size = pick(0, 20), s.character_size = s.word_size ? pick(0, 20) : pick(1, 20);
    s.character_hidden = pick(1, 40), s.hidden = pick(1, 70), s.layers = pick(1, 3), s.scorer_hidden = pick(1, 90);
    s.chains = pick(0, 3), s.encoder = pick(0, 3) > 0;
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
    auto decide = [&](int64_t sentences, int64_t all) {
        return discoparse_decide(network, sentences, lengths.data(), all, first.data(), last.data(), tags.data(),
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
    // Values that are not numbers make no sense, but no harm.
    std::fill(last.begin(), last.end(), std::numeric_limits<float>::quiet_NaN());
    first[0] = std::numeric_limits<float>::infinity();
    expect(decide(count, tokens) == FINE, "not numbers");
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
