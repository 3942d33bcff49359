"""Linguistic changes to trees, one concern a module; every transform takes a tree and returns a new one.

`punctuation` moves or removes punctuation; `traces` reattaches what left traces, `trace_writing` undoes that;
`empty` and `functions` know the empty elements and labels of bracketed treebanks; `unary` and `binarization`
change the shape without loss; `root` sets the top label; `prune` removes tokens; `pipeline` puts several
together.
"""
