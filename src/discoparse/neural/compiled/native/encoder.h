// Section 3.1: characters and words to token vectors. Shapes as in network.py: U word forms, M tokens, D = 2 x hidden.
#pragma once

#include <array>

#include "lstm.h"
#include "parameters.h"

class Encoder {
  public:
    Encoder() = default;

    Encoder(const Sizes& sizes, Parameters& parameters) : sizes(sizes) {
        const int hidden = (int)sizes.hidden, form_size = (int)(sizes.character_size ? 2 * sizes.character_hidden : 0);
        if (sizes.character_size) {
            const float* embedding = parameters.next(sizes.characters * sizes.character_size);
            Layer layer(parameters, (int)sizes.character_size, (int)sizes.character_hidden, false);
            characters = layer.directions;
            character_products.resize((size_t)sizes.characters * layer.inputs.size());
            layer.products((int)sizes.characters, [&](int c) { return embedding + (int64_t)c * sizes.character_size; },
                           character_products.data());
        }
        if (sizes.word_size) {
            const float* embedding = parameters.next(sizes.words * sizes.word_size);
            words.assign(embedding, embedding + sizes.words * sizes.word_size);
        }
        for (int64_t k = 0; k < sizes.layers; k++)
            layers.emplace_back(parameters, k ? 2 * hidden : form_size + (int)sizes.word_size, hidden, k > 0);
    }

    // Of a row of what `forms` gives.
    int64_t form_size() const { return layers.empty() ? 0 : layers[0].inputs.size(); }

    // What the first layer makes of each word form, without its neighbours: characters one form after the other, the
    // number of each form's characters, and its word -> [U, form_size()].
    void forms(int count, const int32_t* spelled, const int64_t* lengths, const int32_t* word_ids, float* products) const {
        const int64_t ends = sizes.character_size ? 2 * sizes.character_hidden : 0, width = ends + sizes.word_size;
        std::vector<float> vectors((size_t)(count * width));  // [U, width] c(x), w(x)
        if (ends) {
            const Sequences sequences(lengths, count);
            const int64_t size = characters[0].size();
            for (int d = 0; d < 2; d++)
                characters[d].run(
                    sequences, d == 1,
                    [&](int64_t row) { return character_products.data() + spelled[row] * 2 * size + d * size; },
                    [&](int64_t, int form, bool last) {
                        return last ? vectors.data() + form * width + d * sizes.character_hidden : nullptr;
                    });
        }
        for (int u = 0; sizes.word_size && u < count; u++)
            std::copy_n(words.data() + word_ids[u] * sizes.word_size, sizes.word_size, vectors.data() + u * width + ends);
        layers[0].products(count, [&](int u) { return vectors.data() + u * width; }, products);
    }

    // h(1) and h of the last layer [M, D] of sentences, from the row of each token in what `forms` gave.
    void tokens(const Sequences& sentences, int count, const float* form_products, const int64_t* forms, float* first,
                float* last) const {
        const int64_t size = 2 * sizes.hidden;
        std::vector<float> products;
        for (size_t k = 0; k < layers.size(); k++) {
            float* states = k ? last : first;
            const int64_t width = layers[k].inputs.size();
            if (k) {
                const float* below = k == 1 ? first : last;
                products.resize((size_t)(count * width));
                layers[k].products(count, [&](int row) { return below + row * size; }, products.data());
            }
            for (int d = 0; d < 2; d++)
                layers[k].directions[d].run(
                    sentences, d == 1,
                    [&](int64_t row) {
                        const float* product = k ? products.data() + row * width : form_products + forms[row] * width;
                        return product + d * (width / 2);
                    },
                    [&](int64_t row, int, bool) { return states + row * size + d * sizes.hidden; });
        }
        if (layers.size() == 1) std::copy_n(first, count * size, last);
    }

  private:
    struct Layer {
        std::array<Direction, 2> directions;
        Matrix inputs;  // of both directions
        std::vector<float> bias;

        Layer(Parameters& parameters, int in, int hidden, bool bounded) {
            Outputs both(in);
            for (Direction& direction : directions) {
                const Outputs own = Direction::by_panels(parameters.next(4ll * hidden * in), hidden, in);
                both.weights.insert(both.weights.end(), own.weights.begin(), own.weights.end());
                both.factors.insert(both.factors.end(), own.factors.begin(), own.factors.end());
                const float* recurrent = parameters.next(4ll * hidden * hidden);
                const float* input_bias = parameters.next(4ll * hidden);
                direction = Direction(recurrent, input_bias, parameters.next(4ll * hidden), hidden);
                bias.insert(bias.end(), direction.bias().begin(), direction.bias().end());
            }
            inputs = Matrix(std::move(both), bounded);
        }

        template <class Input>
        void products(int rows, Input input, float* results) const {
            inputs.multiply(rows, input, bias.data(), results, inputs.size());
        }
    };

    Sizes sizes{};
    std::array<Direction, 2> characters;
    std::vector<float> character_products;  // [characters, 2, gates] of either direction's input with each character
    std::vector<float> words;  // [words, word size]
    std::vector<Layer> layers;
};
