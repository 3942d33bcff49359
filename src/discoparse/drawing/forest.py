"""Continuous trees in the syntax of the LaTeX package `forest`, which a hand can edit."""

from __future__ import annotations

from typing import Any

from discoparse.drawing.latex import escape
from discoparse.drawing.options import Options
from discoparse.drawing.view import GAP, View, views_of
from discoparse.drawing.words import CLITIC, Word
from discoparse.errors import DiscoparseError, UsageError
from discoparse.files.widths import visible
from discoparse.tree import Node, Tree, blocks, gap_count

PACKAGE, LIBRARY = "forest", "[linguistics]"
_INDENT = "  "


def draw_forest(tree: Tree, **options: Any) -> str:
    """A forest environment for documents with \\usepackage[linguistics]{forest}; `options` are those of `Options`.

    >>> from discoparse.treebank.discbracket import parse_tree
    >>> print(draw_forest(parse_tree("(S (NP (PRP 0=I)) (VP (VBP 1=see) (NP (DT 2=a) (NN 3=dog))))"), roof=["NP"]))
    \\begin{forest}
      where n children=0{tier=word}{}
      [S
        [NP [I, roof]]
        [VP
          [VBP [see]]
          [NP [a dog, roof]]
        ]
      ]
    \\end{forest}
    """
    return forest_picture(tree, None, Options(**options))


def forest_picture(tree: Tree, compare: Tree | None, options: Options) -> str:
    """The picture of `draw_forest`; a tree with crossing branches is an error that names the node."""
    if compare is not None:
        raise UsageError("forest draws one tree: compare with --to tikz")
    (view,), _ = views_of(tree, None, options)
    _require_continuous(view)
    writer = _Writer(view, options)
    lines = [r"\begin{forest}", f"{_INDENT}where n children=0{{tier=word}}{{}}", *writer.lines(), r"\end{forest}"]
    if options.scale != 1:
        lines = [rf"\scalebox{{{options.scale:.4f}}}{{%", *lines[:-1], rf"{lines[-1]}}}"]
    return "\n".join(lines)


def _require_continuous(view: View) -> None:
    words = view.tree.words
    for node, mask in view.tree.masks().items():
        if gap_count(mask):
            shown = f" {GAP} ".join(" ".join(words[first : last + 1]) for first, last in blocks(mask))
            raise DiscoparseError(
                f"{node.label} over {shown!r} is discontinuous, and forest draws no crossing branches: use --to tikz"
            )


class _Writer:
    """Writes brackets, a line for each node, from the top."""

    def __init__(self, view: View, options: Options) -> None:
        self.view, self.options = view, options
        self.words: dict[int, Word] = {token: w for w in view.words for token in range(w.first, w.last + 1)}

    def lines(self) -> list[str]:
        lines: list[str] = []
        # What is still to be written, the next one last: a node or token, or the end of a node, and its depth.
        todo: list[tuple[Node | int | None, int]] = [(self.view.tree.root, 1)]
        while todo:
            item, depth = todo.pop()
            indent = _INDENT * depth
            if item is None:
                lines.append(f"{indent}]")
            elif isinstance(item, int):
                lines.append(f"{indent}{self._token(item)}")
            elif item in self.view.roofs:
                lines.append(f"{indent}[{self._label(item)} [{self._roof(item)}, roof]]")
            else:
                lines.append(f"{indent}[{self._label(item)}")
                todo.append((None, depth))
                todo += ((child, depth + 1) for child in reversed(item.children))
        return lines

    def _label(self, node: Node) -> str:
        if node is self.view.tree.root and self.view.rootless:
            return ", phantom"
        return _content(escape(visible(node.label))) + self._edge(node.edge)

    def _edge(self, function: str | None) -> str:
        if not self.options.functions or not function:
            return ""
        style = r"midway, fill=white, inner sep=1pt, font=\scriptsize\itshape"
        return f", edge label={{node[{style}]{{{escape(visible(function))}}}}}"

    def _token(self, token: int) -> str:
        tag, edge = self.view.tree.tokens[token].tag, self._edge(self.view.tree.tokens[token].edge)
        word = self._word(token)
        if not self.options.tags:
            return f"[{word}{edge}]"
        return f"[{_content(escape(visible(tag)))}{edge} [{word}]]"

    def _word(self, token: int) -> str:
        """The word of a token with its gloss; a part of a word that has several tokens, with hyphens."""
        word = self.words[token]
        text, gloss = word.text, word.gloss
        if word.first < word.last:
            own = self.view.tree.tokens[token].word
            text = own.removeprefix(CLITIC).removesuffix(CLITIC)
            text = "-" * (token > word.first) + text + "-" * (token < word.last)
            gloss = gloss if token == word.first else gloss and ""
        return self._with_gloss(escape(visible(text)), gloss)

    def _roof(self, node: Node) -> str:
        words = list(dict.fromkeys(self.words[token] for token in node.children if isinstance(token, int)))
        gloss = " ".join(filter(None, (word.gloss for word in words))) if self.options.gloss is not None else None
        return self._with_gloss(escape(visible(" ".join(word.text for word in words))), gloss)

    def _with_gloss(self, text: str, gloss: str | None) -> str:
        if gloss is None:
            return _content(text)
        return _content(rf"{text}\\{{\small {escape(visible(gloss))}}}") + ", align=center"


def _content(text: str) -> str:
    """In braces, unless there is nothing in it that forest could take for its own."""
    return text if text and all(c.isalnum() or c == " " for c in text) else f"{{{text}}}"
