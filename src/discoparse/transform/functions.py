"""Function tags: cut off the labels of bracketed treebanks (`NP-SBJ-1`) into edge labels, or removed."""

from __future__ import annotations

import re
from typing import NamedTuple

from discoparse.tree import Tree

# A category is what precedes the first - or =, but `-NONE-` and `-LRB-` are categories themselves. In the
# Penn-Helsinki treebanks the kind of a clause looks like a function, but is one category with it: `CP-REL`.
_CATEGORY = re.compile(r"-[^-\s]+-(?=[-=]|$)|[^-=]+|.[^-=]*", re.DOTALL)
_PART = re.compile(r"([-=])([^-=]*)")
_CLAUSE = re.compile(r"(IP|CP)-([A-Z]{3})(?=[-=]|$)")


class Label(NamedTuple):
    """A label of a bracketed treebank, taken apart."""

    category: str  # with the kind of a clause
    function: str | None  # all functions, the kind of a clause included, joined by hyphens
    coindex: int | None  # -N; the =N of gapping does not count


def split_label(label: str) -> Label:
    """Take a label apart.

    >>> split_label("NP-SBJ-1")
    Label(category='NP', function='SBJ', coindex=1)
    >>> split_label("CP-REL-SPE=2")
    Label(category='CP-REL', function='REL-SPE', coindex=None)
    >>> split_label("-LRB-").category, split_label("S=2").category
    ('-LRB-', 'S')
    """
    match = _CATEGORY.match(label)
    category = match.group() if match else label
    functions: list[str] = []
    coindex = None
    for sign, part in _PART.findall(label[len(category) :]):
        if part.isdecimal():
            coindex = int(part) if sign == "-" else coindex
        elif sign == "-" and part:
            functions.append(part)
    clause = _CLAUSE.match(label)
    if clause:
        category = clause.group()
    return Label(category, "-".join(functions) or None, coindex)


def join_label(category: str, function: str | None, coindex: int | None = None) -> str:
    """Put a label together; the inverse of `split_label`.

    >>> join_label("CP-REL", "REL-SPE"), join_label("NP", "SBJ", 3)
    ('CP-REL-SPE', 'NP-SBJ-3')
    """
    label = category
    if function is not None:
        clause = _CLAUSE.fullmatch(category)
        if clause and clause[2] == function.partition("-")[0]:
            label = clause[1]
        label += f"-{function}"
    return label if coindex is None else f"{label}-{coindex}"


def is_penn_helsinki(tree: Tree) -> bool:
    """Whether the tree has clauses in the scheme of the Penn-Helsinki treebanks (`IP-MAT`, `CP-REL`)."""
    return any(_CLAUSE.match(node.label) for node in tree.preorder())


def functions_to_edges(tree: Tree) -> Tree:
    """Cut labels to their categories; functions become edge labels of nodes that have none yet."""
    tree = tree.copy()
    for node in tree.preorder():
        category, function, _ = split_label(node.label)
        node.label = category
        node.edge = node.edge if node.edge is not None else function
    return tree


def remove_functions(tree: Tree) -> Tree:
    """Cut labels to their categories and drop all edge labels."""
    tree = tree.copy()
    for node in tree.preorder():
        node.label = split_label(node.label).category
        node.edge = None
    for token in tree.tokens:
        token.edge = None
    return tree
