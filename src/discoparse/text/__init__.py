"""Raw text in, sentences of tokens out, by the conventions of each language's treebanks."""

from discoparse.text.sentence import Sentence, TextToken, read_pretokenized
from discoparse.text.split import segment_words, segments, split_segment, split_stream, split_text

__all__ = [
    "Sentence",
    "TextToken",
    "read_pretokenized",
    "segment_words",
    "segments",
    "split_segment",
    "split_stream",
    "split_text",
]
