"""Continuous trees with traces from discontinuous ones: the inverse of `traces.reattach_traces`.

In every phrase with gaps one contiguous run of children stays; the others are raised to the first phrase
above that holds them without a gap, get a co-index, and leave a trace: `*T*` if they precede the run
that stays, `*ICH*` if they follow it.
"""

from __future__ import annotations

from itertools import count

from discoparse.transform.empty import EMPTY_TAG
from discoparse.transform.functions import join_label, split_label
from discoparse.transform.spelling import escape_word
from discoparse.transform.traces import MOVED
from discoparse.tree import Node, Token, Tree


def write_traces(tree: Tree) -> Tree:
    """A continuous tree of the same words. Edge labels of nodes become function tags (`NP-SBJ`).

    `reattach_traces` gives the tree back if its labels have no hyphen or equals sign, its edge labels are
    names and not numbers, and no word is escaped (`1\\/2`) already. A single moved word stands in a phrase
    `-MOVED-`.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(write_traces(parse_tree("(S (VP (NP (WP 0=what)) (VB 2=do)) (NP (PRP 1=you)))")))
    (S (NP-1 (WP 0=what)) (NP (PRP 1=you)) (VP (VB 2=do) (NP (-NONE- 3=*T*-1))))
    """
    tree = tree.copy()
    raiser = _Raiser(tree)
    for node in list(tree.postorder()):
        raiser.close_gaps(node)
    for token in tree.tokens:
        if token.tag != EMPTY_TAG:
            token.word = escape_word(token.word)
    raiser.finish()
    return tree


class _Raiser:
    """A tree whose phrases become continuous from the bottom up; traces are leaves with negative numbers."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.parents = tree.parents()
        self.spans: dict[Node, tuple[int, int]] = {}  # first and last token of the nodes that are continuous
        self.raised: dict[Node, int] = {}  # co-indexes
        self.traces: dict[Node, list[Node | int]] = {}  # what raised children leave in their parents
        self.trace_words: dict[int, str] = {}
        used = max(split_label(node.label).coindex or 0 for node in tree.preorder())
        self.indexes = count(used + 1)

    def span(self, child: Node | int) -> tuple[int, int]:
        return (child, child) if isinstance(child, int) else self.spans[child]

    def close_gaps(self, node: Node) -> None:
        """Raise all children but those of the main run; the children are continuous already."""
        node.children.sort(key=self.span)
        runs: list[list[Node | int]] = []
        for child in node.children:
            if runs and self.span(runs[-1][-1])[1] + 1 == self.span(child)[0]:
                runs[-1].append(child)
            else:
                runs.append([child])
        main = max(reversed(runs), key=self.weight)
        self.spans[node] = (self.span(main[0])[0], self.span(main[-1])[1])
        node.children = main
        for run in runs:
            if run is not main:
                kind = "T" if self.span(run[0]) < self.spans[node] else "ICH"
                for child in run:
                    self.raise_child(child, node, kind)

    def weight(self, run: list[Node | int]) -> tuple[bool, bool, int]:
        """What makes a run stay: children that belong here, a word of its own (a head), length."""
        own = any(child not in self.raised for child in run)
        return own, any(isinstance(child, int) for child in run), self.span(run[-1])[1] - self.span(run[0])[0]

    def raise_child(self, child: Node | int, node: Node, kind: str) -> None:
        """Attach a child to the parent of its parent; the first time, leave a trace."""
        if child not in self.raised:
            index = next(self.indexes)
            leaf = -1 - len(self.trace_words)
            self.trace_words[leaf] = f"*{kind}*-{index}"
            if isinstance(child, int):
                self.traces.setdefault(node, []).append(leaf)
                wrapper = Node(MOVED, [child])
                self.spans[wrapper] = self.span(child)
                child = wrapper
            else:
                self.traces.setdefault(node, []).append(Node(split_label(child.label).category, [leaf]))
            self.raised[child] = index
        parent = self.parents[node]
        parent.children.append(child)

    def finish(self) -> None:
        """Write functions and co-indexes into the labels, add the traces, and number all leaves in order."""
        for node in self.tree.preorder():
            node.label = join_label(node.label, node.edge, self.raised.get(node))
            node.edge = None
        for node, traces in self.traces.items():
            node.children = [*node.children, *traces]
        tokens: list[Token] = []
        numbers: dict[int, int] = {}
        stack: list[Node | int] = [self.tree.root]
        while stack:
            item = stack.pop()
            if isinstance(item, int):
                numbers[item] = len(tokens)
                trace = self.trace_words.get(item)
                tokens.append(self.tree.tokens[item] if trace is None else Token(trace, EMPTY_TAG))
            else:
                stack.extend(reversed(item.children))
        for node in self.tree.preorder():
            node.children = [numbers[c] if isinstance(c, int) else c for c in node.children]
        for edge in self.tree.secondary_edges:
            edge.child = numbers[edge.child] if isinstance(edge.child, int) else edge.child
            edge.parent = numbers[edge.parent] if isinstance(edge.parent, int) else edge.parent
        self.tree.tokens = tokens
