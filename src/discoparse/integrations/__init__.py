"""The parser inside other libraries: spaCy, NLTK, pandas and Arrow.

Each module needs a library that is an extra of this package, so nothing is imported here: `spacy_component` (found by
spaCy itself), `nltk_parser`, `tables`.
"""

__all__: list[str] = []
