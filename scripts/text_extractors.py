"""The extractors of `collect_text`, one for each kind of file: from the bytes of a file to its paragraphs.

Each paragraph is one line of text; sentences are split later.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from xml.etree import ElementTree


def europarl(data: bytes, language: str) -> Iterator[str]:
    """Speeches of the European Parliament: `<p>`, without what was left in another language."""
    for paragraph in ElementTree.fromstring(data).iter("p"):
        # "(DE) Herr Präsident", "schriftlich. - Ich", "rapporteur. - Mr President"
        text = re.sub(r"^\s*(?:\([A-Z]{2}\)\s*)?(?:[^.]{1,80}\.\s*[-–−]\s+)?(?:\([A-Z]{2}\)\s*)?", "", _text(paragraph))
        if _is_prose(text) and guess_language(text) == language:
            yield text


def tei(data: bytes, language: str) -> Iterator[str]:
    """Novels in TEI: `<p>` of the text, without notes and stage directions."""
    root = ElementTree.fromstring(data)
    for body in root.iter(_tag(root, "body")):
        for paragraph in body.iter(_tag(root, "p")):
            text = _text(paragraph, without=("note", "stage", "speaker", "head"))
            if _is_prose(text):
                yield text


def debates(data: bytes, language: str) -> Iterator[str]:
    """Debates of the Bundestag in TEI; words that were hyphenated at the end of a line are joined."""
    for text in tei(data, language):
        yield re.sub(r"(?<=[a-zäöüß])-(?=[a-zäöüß]{2})", "", text)


def plays(data: bytes, language: str) -> Iterator[str]:
    """Plays in TEI: what one character says at a time; plays from before 1850 are left out."""
    years = [int(year) for year in re.findall(rb'<event[^>]*\bwhen="(\d{4})', data)]
    if not years or min(years) < 1850:
        return
    root = ElementTree.fromstring(data)
    for speech in root.iter(_tag(root, "sp")):
        text = _text(speech, without=("note", "stage", "speaker", "head"))
        if _is_prose(text):
            yield text


def corrected(data: bytes, language: str) -> Iterator[str]:
    """The Icelandic Error Corpus: sentences `<s>` of tokens, corrections in place of errors."""
    root = ElementTree.fromstring(data)
    for sentence in root.iter(_tag(root, "s")):
        yield _text(sentence, without=("original",), between=" ")


def laws_xml(data: bytes, language: str) -> Iterator[str]:
    """The Icelandic law collection: sentences `<sen>`."""
    for sentence in ElementTree.fromstring(data).iter("sen"):
        text = _text(sentence)
        if _is_prose(text):
            yield text


def laws_markdown(data: bytes, language: str) -> Iterator[str]:
    """Laws in Markdown: paragraphs, without the header, headings, tables and links."""
    text = re.sub(r"\A---\n.*?\n---\n", "", data.decode("utf-8", "replace"), flags=re.DOTALL)
    for block in re.split(r"\n\s*\n", text):
        block = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", block)
        block = _clean(re.sub(r"^\s*(?:[-*>]|\d+[a-z]?\.|[a-z]\.)\s+", "", block))
        if block[:1].isupper() and not set(block) & set("#|*_\\") and _is_prose(block):
            yield block


_MARKUP = re.compile(
    r"""(?s)\A---\n.*?\n---\n  # the header of a post
    |```.*?```|\{\{.*?\}\}|\{%.*?%\}|\{:[^}]*\}  # code, short codes, attributes
    |!\[[^]]*\]\([^)]*\)|<(?:script|style|table)\b.*?</(?:script|style|table)>|<[^>]*>  # pictures, HTML
    |\*\*|\*(?=\w)|(?<=[\w.,!?])\*|(?<!\w)_+|_+(?!\w)  # emphasis""",
    re.VERBOSE,
)


def posts(data: bytes, language: str) -> Iterator[str]:
    """Posts of a weblog in Markdown: paragraphs and items of lists, without headings, tables, code and markup."""
    text = _MARKUP.sub("", data.decode("utf-8", "replace").replace("\r", ""))
    text = re.sub(r"\[([^]]*)\](?:\([^)]*\)|\[[^]]*\])", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)", text):
        block = _clean(re.sub(r"^\s*(?:(?:[-*+>]|\d+\.)\s+)+", "", block))
        if block[:1].isalpha() and not set(block) & set("#|`\\[]") and _is_prose(block):
            yield block


def novels(data: bytes, language: str) -> Iterator[str]:
    """Plain text, paragraphs between blank lines; headings and titles are left out."""
    for block in re.split(r"\n\s*\n", data.decode("utf-8-sig", "replace").replace("\r", "")):
        text = _clean(block.replace("_", ""))
        if not text.upper().startswith("CHAPTER") and _is_prose(text):
            yield text


def lines(data: bytes, language: str) -> Iterator[str]:
    """A sentence, or a part of one, a line."""
    for line in data.decode("utf-8", "replace").splitlines():
        yield _clean(line)


# Spaces of a tokenizer that splits at every sign: within numbers, words with hyphens and possessives, around marks.
_SPLIT = re.compile(r"(?<=\d) ([.,]) (?=\d)|(?<=\w) ([-/]) (?=\w)|(?<=\w) (') (?=s\b)|(?<=\S) ([.,;:!?)\]])|([(\[]) ")


def tagged(data: bytes, language: str) -> Iterator[str]:
    """Sentences of a file with a token and its tags a line, and a blank line after each, as running text."""
    for block in re.split(r"\r?\n\s*\r?\n", data.decode("utf-8", "replace")):
        sentence = " ".join(line.split("\t")[0] for line in block.splitlines())
        sentence = _clean(_SPLIT.sub(lambda found: "".join(filter(None, found.groups())), sentence))
        if _is_prose(sentence):
            yield sentence


def conllu(data: bytes, language: str) -> Iterator[str]:
    """Sentences of a treebank of Universal Dependencies, as they were written: `# text = …`."""
    for text in re.findall(r"^# text = (.*)", data.decode("utf-8", "replace"), re.MULTILINE):
        yield _clean(text)


LANGUAGE_CODES = {"de": "deu", "en": "eng", "is": "isl", "nl": "nld"}


def pairs(data: bytes, language: str) -> Iterator[str]:
    """Tatoeba: sentences and their translations, two columns with their languages before two with their texts."""
    for line in data.decode("utf-8", "replace").splitlines():
        columns = line.split("\t")
        for code, text in zip(columns[:2], columns[2:4], strict=False):
            if code == LANGUAGE_CODES[language]:
                yield _clean(text)


def _tag(root: ElementTree.Element, name: str) -> str:
    """The name in the namespace of the root."""
    return root.tag[: root.tag.find("}") + 1] + name


def _text(element: ElementTree.Element, *, without: Sequence[str] = (), between: str = "") -> str:
    """The text of an element but not of those named, on one line."""

    def pieces(node: ElementTree.Element) -> Iterator[str]:
        if node.tag.rpartition("}")[2] not in without:
            yield node.text or ""
            for child in node:
                yield from pieces(child)
                yield between + (child.tail or "")

    return _clean("".join(pieces(element)))


def _clean(text: str) -> str:
    return " ".join(html.unescape(text).replace("\u00ad", "").split())


def _is_prose(text: str) -> bool:
    """Whether a paragraph ends as sentences do; headings and items of lists end without punctuation."""
    return text.rstrip("\"'»«“”’‘)]›‹ ")[-1:] in tuple(".!?…:;,–—-") and not text.isupper()


# Frequent words that tell the languages of the European Parliament apart.
_FUNCTION_WORDS = {
    "de": "der die und das nicht ist wir zu den ich dass auf für eine ein mit auch von sie es im des dem werden",
    "nl": "de het van een en dat is niet zijn ik voor op aan met te we wij ook er deze worden om die naar",
    "en": "the of and to that is we for this it i be have on are with not which as by has will",
    "fr": "la le les et des du que une est pour dans qui nous pas sur au je il ce par vous",
    "es": "la el los y del que las una es para por con se no al lo como más su ha hay",
    "it": "il di che la e per un del è non della una con sono le i gli nel alla si ha",
    "pt": "o a que os e do da uma não para com as um em no dos por mais se ao é são",
    "da": "og at det er til af en den ikke for der som på med vi har et de jeg kan",
    "sv": "och att det är en som för inte på av den till med vi har de jag ett kan om",
    "fi": "ja on että ei se olen ovat mutta myös tämä joka kun hän ovat emme olemme tämän",
    "pl": "w i z na do nie że się jest to o dla oraz który jak są przez ale tym",
    "other": "a az hogy nem és je ve že na si de la pe să şi în και το της για των на за да се и li ta il",
}


@cache
def _languages_of_words() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for language, words in _FUNCTION_WORDS.items():
        for word in words.split():
            table.setdefault(word, []).append(language)
    return table


def guess_language(text: str) -> str:
    """The language whose frequent words a text has most of; empty where it has none.

    >>> guess_language("Ich danke der Kommission."), guess_language("Je remercie la Commission et les rapporteurs.")
    ('de', 'fr')
    """
    table = _languages_of_words()
    votes = Counter(language for word in re.findall(r"\w+", text.lower()) for language in table.get(word, ()))
    return max(votes, key=votes.__getitem__, default="")
