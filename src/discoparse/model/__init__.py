"""Models on disk: parameters, vocabulary, card."""
