"""Linguistic changes to trees, one concern per module; every transform takes a tree and returns a new one.

`punctuation` moves or removes punctuation; `traces` reattaches what left traces, `trace_writing` undoes that; `empty`
and `functions` know the empty elements and labels of bracketed treebanks; `unary` and `shape` change the shape of
trees; `spelling` knows how words are written; `pipeline` combines several transforms.
"""

from discoparse.transform.empty import has_empty, remove_empty, spell_out_empty
from discoparse.transform.functions import functions_to_edges, join_label, remove_functions, split_label
from discoparse.transform.pipeline import FUNCTIONS, PUNCT, TRACES, TransformNotes, Transforms, transform_trees
from discoparse.transform.punctuation import is_punctuation, move_punctuation, remove_punctuation
from discoparse.transform.shape import binarize, ensure_root, remove_tokens, unbinarize
from discoparse.transform.spelling import escape_word, penn_brackets, plain_word, unescape_word
from discoparse.transform.trace_writing import write_traces
from discoparse.transform.traces import reattach_traces
from discoparse.transform.unary import Chain, chain_label, chain_labels, chains_of, collapse_unaries, expand_unaries

__all__ = [
    "FUNCTIONS",
    "PUNCT",
    "TRACES",
    "Chain",
    "TransformNotes",
    "Transforms",
    "binarize",
    "chain_label",
    "chain_labels",
    "chains_of",
    "collapse_unaries",
    "ensure_root",
    "escape_word",
    "expand_unaries",
    "functions_to_edges",
    "has_empty",
    "is_punctuation",
    "join_label",
    "move_punctuation",
    "penn_brackets",
    "plain_word",
    "reattach_traces",
    "remove_empty",
    "remove_functions",
    "remove_punctuation",
    "remove_tokens",
    "spell_out_empty",
    "split_label",
    "transform_trees",
    "unbinarize",
    "unescape_word",
    "write_traces",
]
