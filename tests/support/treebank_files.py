"""Treebank files with a given content: what is read from them, and files in the XML formats."""

from __future__ import annotations

from pathlib import Path

from discoparse.errors import Problem
from discoparse.tree import Tree
from discoparse.treebank import Report, read_trees


def read(tmp_path: Path, text: str | bytes, format: str, **options) -> list[Tree]:
    """The trees of a file with this content."""
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_trees(path, format, **options))


def problems(tmp_path: Path, text: str | bytes, format: str, **options) -> tuple[list[Tree], list[Problem], Report]:
    """The trees, the problems and the report of a file with this content."""
    found: list[Problem] = []
    report = Report(on_problem=found.append)
    return read(tmp_path, text, format, report=report, **options), found, report


def tiger(*sentences: str) -> str:
    """A TIGER-XML file; its first sentence is in line 5."""
    return f'<?xml version="1.0"?>\n<corpus id="c">\n<head/>\n<body>\n{"".join(sentences)}</body>\n</corpus>\n'


def sentence(words: str, nodes: str, root: str) -> str:
    """A sentence of TIGER-XML with the words s1_1, s1_2, …"""
    terminals = "".join(f'<t id="s1_{k}" word="{w}" pos="T"/>\n' for k, w in enumerate(words.split(), 1))
    inner = f"<terminals>{terminals}</terminals>\n<nonterminals>{nodes}</nonterminals>"
    return f'<s id="s1"><graph root="{root}">\n{inner}</graph></s>\n'


def alpino(nodes: str, text: str) -> str:
    """A sentence in Alpino XML, with these nodes under the top node."""
    return (
        f'<alpino_ds version="1.3"><node cat="top" rel="top" begin="0" end="{len(text.split())}">{nodes}</node>'
        f"<sentence>{text}</sentence><comments><comment>a remark</comment></comments></alpino_ds>\n"
    )
