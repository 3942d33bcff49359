"""What LaTeX needs to know: text that it prints as it is, and whole documents around pictures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# Glyphs that TeX takes for commands, or that its default fonts (OT1) lack or turn into something else.
_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}", "-": "{-}", "'": "{'}", "`": "{`}",
    "?": "{?}", "!": "{!}", ",": "{,}", "−": "$-$", "≠": r"$\neq$", "·": r"$\cdot$",
}  # fmt: skip
_LAST_KNOWN = "\xff"  # pdfLaTeX prints all characters up to this one, and only some of the others
_LATIN = re.compile("[\0-\u024f\u2010-\u2044]")  # what the main font of LuaLaTeX has
_FALLBACKS = {
    "DejaVu Sans": "mode=node;",
    "Noto Sans": "mode=node;",
    "Noto Sans CJK SC": "mode=node;",
    "Noto Color Emoji": "mode=harf;",
}


def escape(text: str) -> str:
    """`text` so that TeX prints it as it is; accents become one character with their letter where there is one.

    >>> escape("50% of R&D_x")
    '50\\\\% of R\\\\&D\\\\_x'
    """
    return "".join(_ESCAPES.get(character, character) for character in unicodedata.normalize("NFC", text))


def document(pictures: Sequence[str], package: str = "tikz", library: str = "") -> str:
    """A LaTeX document with one picture a page, which says what it needs.

    It can be compiled with LuaLaTeX, which takes characters that its fonts lack from others that are installed, and
    with pdfLaTeX, which shows the codes of characters that it does not know.
    """
    unknown = sorted({character for picture in pictures for character in _code(picture) if character > _LAST_KNOWN})
    engines = "lualatex; pdflatex shows the codes of characters that it lacks" if unknown else "pdflatex or lualatex"
    needed = ["standalone", "tikz (pgf)", *([package] if package != "tikz" else []), "iftex", "fontspec"]
    head = [
        f"% Compile with {engines}.",
        f"% Needs the LaTeX packages {', '.join(needed)}.",
        r"\documentclass[tikz, border=4pt]{standalone}",
        *([rf"\usepackage{library}{{{package}}}"] if package != "tikz" else []),
        r"\usepackage{iftex}",
        r"\ifPDFTeX",
        r"  \usepackage[T1]{fontenc}",
        *_codes_for_unknown(unknown),
        r"\else",
        r"  \usepackage{fontspec}",
        *([] if all(map(_LATIN.match, unknown)) else _fallback_fonts()),
        r"\fi",
        r"\begin{document}",
    ]
    return "\n".join([*head, *pictures, r"\end{document}", ""])


def _code(picture: str) -> str:
    """A picture without its comments, whose characters do not matter."""
    return "\n".join(line for line in picture.split("\n") if not line.startswith("%"))


def _codes_for_unknown(characters: Sequence[str]) -> list[str]:
    """For pdfLaTeX: boxes with the codes of those characters that it does not know."""
    if not characters:
        return []
    define = [
        r"  \newcommand\showcode[2]{\ifcsname u8:\detokenize{#1}\endcsname\else",
        r"    \DeclareUnicodeCharacter{#2}{{\setlength\fboxsep{1pt}\fbox{\resizebox{.8em}{!}{\ttfamily #2}}}}\fi}",
    ]
    return [*define, *(rf"  \showcode{{{character}}}{{{ord(character):04X}}}" for character in characters)]


def _fallback_fonts() -> list[str]:
    """For LuaLaTeX: fonts for characters that the main font lacks, as far as they are installed."""
    add = [rf"    \addfallback{{{font}}}{{{features}}}" for font, features in _FALLBACKS.items()]
    return [
        r"  \ifLuaTeX",
        r"    \newcommand\fallbackfonts{}",
        r'    \newcommand\addfallback[2]{\IfFontExistsTF{#1}{\edef\fallbackfonts{\fallbackfonts"#1:#2",}}{}}',
        *add,
        r'    \directlua{luaotfload.add_fallback("fallback", {\fallbackfonts})}',
        r"    \setmainfont{Latin Modern Roman}[RawFeature={fallback=fallback}]",
        r"  \fi",
    ]
