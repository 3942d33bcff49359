"""XML treebanks as streams of sentences, each parsed on its own, so one bad sentence is one problem.

Memory holds one sentence. Nothing outside the file is ever fetched, and entities that a DOCTYPE defines are unknown
inside sentences, so they cannot expand without end. Time grows with the length of a file, however damaged it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO
from xml.parsers import expat
from xml.sax.saxutils import escape as escape_text
from xml.sax.saxutils import quoteattr

from discoparse.treebank.lines import MOST_CHARACTERS
from discoparse.treebank.report import ATTRIBUTE, Defect, Reading, Report, bad_bytes

CHUNK = 1 << 16  # characters read at a time
LONGEST_DECLARATION = 1 << 20  # characters after which a DOCTYPE that does not end is given up
# A name that can be written: of the prefixes only `xml` needs no declaration, and those of others are not kept.
_NAME = re.compile(r"(xml:)?[^\W\d][\w.-]*$", re.ASCII)
_DECLARATION = re.compile(r"<\?xml|<!DOCTYPE")
_PROLOG = re.compile(r"<\?xml[^>]*\?>|<!DOCTYPE[^>\[]*(\[[^\]]*\]\s*)?>")
_NOT_MARKUP = {"<!--": "-->", "<![CDATA[": "]]>"}  # where tags are text
_MARKUP = re.compile(r"=\s*[\"']|/>")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0 has no way to write these


@dataclass(slots=True)
class Element:
    """An XML element and the line on which it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""
    text_line: int | None = None  # where the text begins, after blanks
    with_text: Sequence[Element] = ()  # of a sentence: all elements in it that have text

    def find(self, tag: str) -> Element | None:
        """The first child of that name."""
        for child in self.children:
            if child.tag == tag:
                return child
        return None


def parse_element(text: str, line: int) -> Element:
    """The element that is this whole text; raises `expat.ExpatError`."""
    top = Element("", {}, line)
    stack = [top]
    with_text: list[Element] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, line + parser.CurrentLineNumber - 1)
        stack[-1].children.append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        element = stack[-1]
        element.text += data
        if element.text_line is None and not data.isspace():  # the parser stands behind the text
            begin = len(data) - len(data.lstrip())
            element.text_line = line + parser.CurrentLineNumber - 1 - data.count("\n", begin)
            with_text.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(text, True)
    (element,) = top.children
    element.with_text = with_text
    return element


class Sentences:
    """The elements `tag` of a file, at any depth; `inner` are elements that occur only inside them."""

    def __init__(self, stream: TextIO, tag: str, inner: Collection[str], reading: Reading) -> None:
        self.stream, self.tag, self.reading = stream, tag, reading
        self.frame = _Frame(tag, inner, reading)

    @property
    def is_wrapped(self) -> bool:
        """Whether an outer element stood around what was read so far."""
        return self.frame.has_elements

    def __iter__(self) -> Iterator[Element]:
        blank = True
        for line, text, complete in _Sections(self.stream, self.tag, self.frame):
            blank = False
            damaged = bad_bytes(text, line)
            if damaged is not None:
                self.reject(damaged.message, line, damaged.line, text)
            elif not complete:
                message = f"<{self.tag}> is not closed by </{self.tag}>: the file may be cut off"
                self.reject(message, line, line, text)
            else:
                try:
                    element = parse_element(text, line)
                except expat.ExpatError as error:
                    message = f"the XML is not well-formed ({expat.ErrorString(error.code)})"
                    self.reject(message, line, line + error.lineno - 1, text)
                else:
                    yield element
        self.frame.close()
        if blank and not self.frame.has_elements:
            self.frame.tell("the file has no XML in it: it may be cut off", 1)

    def reject(self, message: str, start: int, line: int | None, text: str) -> None:
        """Report a sentence that cannot be parsed: where it starts, and in which line the problem is."""
        name = _id_in(text)
        self.reading.sentence(name, start)
        self.reading.skip(message, line, name)


def damaged_tags(sentence: Element, elements: Collection[str]) -> list[Defect]:
    """Text that was markup, in elements that hold no text: `;edge idref="s1_2"/>` instead of `<edge idref="s1_2"/>`.

    Other text in them is harmless: the Potsdam Commentary Corpus has a `+` between two terminals.
    """
    return [
        Defect(f"<{element.tag}> has a damaged tag in it: {element.text.strip()[:40]!r}", element.text_line)
        for element in sentence.with_text
        if element.tag in elements and _MARKUP.search(element.text)
    ]


def _id_in(text: str) -> str | None:
    found = re.match(r"<[^>]*?\b(?:id|sentid)=[\"']([^\"'<>]*)", text)
    return found.group(1) if found and bad_bytes(found.group(1)) is None else None


class _Sections:
    """Line and text of each element `tag`, and whether it ends; everything else goes to the frame."""

    def __init__(self, stream: TextIO, tag: str, frame: _Frame) -> None:
        self.stream, self.frame = stream, frame
        self.opening = re.compile(rf"<!--|<!\[CDATA\[|<{tag}(?=[\s/>])")
        self.ending = re.compile(rf"</{tag}\s*>|<{tag}(?=[\s/>])")
        self.self_closed = re.compile(rf"<{tag}(\s[^<>]*)?/>")
        self.overlap = len(tag) + len("<![CDATA[")  # characters at the end of the buffer that may be half a tag
        self.buffer, self.position, self.line, self.more = "", 0, 1, True

    def fill(self) -> None:
        """Forget what was taken, and read on: twice as much each time, so that long text is searched few times."""
        left = self.buffer[self.position :]
        chunk = self.stream.read(max(CHUNK, len(left)))
        self.buffer, self.position, self.more = left + chunk, 0, bool(chunk)

    def take(self, end: int) -> str:
        """The text up to a place in the buffer."""
        text = self.buffer[self.position : end]
        self.position = end
        self.line += text.count("\n")
        return text

    def __iter__(self) -> Iterator[tuple[int, str, bool]]:
        while True:
            begin = self.opening.search(self.buffer, self.position)
            if begin is None and self.more:
                self.frame.feed(self.take(max(self.position, len(self.buffer) - self.overlap)))
                self.fill()
            elif begin is None:
                self.frame.feed(self.take(len(self.buffer)))
                return
            else:
                self.frame.feed(self.take(begin.start()))
                line = self.line
                text, complete = self.section(begin.group())
                if begin.group() not in _NOT_MARKUP:
                    yield line, text, complete
                    text = "\n" * text.count("\n")
                elif complete:  # the frame reports one that does not end
                    text = "\n" * text.count("\n")
                self.frame.feed(text)

    def section(self, opening: str) -> tuple[str, bool]:
        """The comment, CDATA section or sentence that begins here, and whether it ends."""
        closing = _NOT_MARKUP.get(opening)
        searched = len(opening)  # how much of it has no end
        while True:
            end, complete = self.end_of(closing, self.position + searched)
            if end >= 0:
                return self.take(end), complete
            if not self.more or len(self.buffer) - self.position > MOST_CHARACTERS:
                return self.take(len(self.buffer)), False
            searched = max(searched, len(self.buffer) - self.position - self.overlap)
            self.fill()

    def end_of(self, closing: str | None, start: int) -> tuple[int, bool]:
        """Where a section ends that is searched from `start`, -1 if it does not, and whether it is complete there."""
        if closing is not None:
            found = self.buffer.find(closing, start)
            return (found + len(closing) if found >= 0 else -1), True
        whole = self.self_closed.match(self.buffer, self.position)
        if whole is not None:
            return whole.end(), True
        end = self.ending.search(self.buffer, start)
        if end is None:
            return -1, False
        complete = end.group().startswith("</")
        return (end.end() if complete else end.start()), complete


class _Frame:
    """What is around the sentences: checked to be well-formed and to hold no parts of sentences."""

    def __init__(self, tag: str, inner: Collection[str], reading: Reading) -> None:
        self.tag, self.inner, self.reading = tag, frozenset(inner), reading
        self.told = False  # one problem is enough: others follow from it
        self.has_elements = False
        self.held = ""  # a declaration that may go on in the next piece
        self.unfed: list[bytes] = []  # pieces for the parser
        self.waiting, self.fed = 0, 0  # bytes of those pieces, and of what it got
        self.depth = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.Parse("<_>", False)  # files may hold several documents one after another

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Refuse what only sentences hold, and sentences whose names have a prefix, which are not searched for."""
        self.depth += 1
        self.has_elements |= tag != "_"
        if tag in self.inner:
            self.tell(f"<{tag}> is outside of any <{self.tag}>", self.parser.CurrentLineNumber)
        elif tag.endswith(f":{self.tag}"):
            message = f"<{tag}> is not read: take the prefix of the namespace out of the names of elements"
            self.tell(message, self.parser.CurrentLineNumber)

    def end(self, tag: str) -> None:
        """The end of an element."""
        self.depth -= 1

    def text(self, text: str) -> None:
        """Refuse text around the outermost element: it comes from a file in another format."""
        if self.depth == 1 and text.strip():
            self.tell(f"text outside of any XML element: {text.strip()[:40]!r}", self.parser.CurrentLineNumber)

    def tell(self, message: str, line: int) -> None:
        """The first problem of the frame."""
        if not self.told:
            self.told = True
            self.reading.problem(message, line)

    def feed(self, text: str) -> None:
        """The next piece; XML declarations and document types are skipped."""
        if self.told or not text:
            return
        text, self.held = self.held + text.replace("\ufeff", ""), ""
        kept: list[str] = []
        position = 0
        while begin := _DECLARATION.search(text, position):
            kept.append(text[position : begin.start()])
            position = begin.start()
            whole = _PROLOG.match(text, position)
            if whole is None:
                if len(text) - position < LONGEST_DECLARATION:  # it may go on in the next piece
                    text, self.held = text[:position], text[position:]
                break
            kept.append("\n" * whole.group().count("\n"))
            position = whole.end()
        self.parse("".join([*kept, text[position:]]), False)

    def parse(self, text: str, final: bool) -> None:
        """Check a piece; unknown bytes do not matter here.

        The parser scans a tag that does not end again with every piece. So it gets more text only once that is as much
        as it already holds, which keeps the time linear.
        """
        if self.told:
            return
        self.unfed.append(text.encode("utf-8", "replace"))
        self.waiting += len(self.unfed[-1])
        kept = self.fed - max(0, self.parser.CurrentByteIndex)
        if self.waiting < kept and not final:
            return
        data = b"".join(self.unfed)
        self.unfed, self.waiting, self.fed = [], 0, self.fed + len(data)
        try:
            self.parser.Parse(data, final)
        except expat.ExpatError as error:
            hint = ": the file may be cut off" if final else ""
            self.tell(f"the XML is not well-formed ({expat.ErrorString(error.code)}){hint}", error.lineno)
        if kept > MOST_CHARACTERS:
            self.tell(f"a tag does not end within {MOST_CHARACTERS:,} characters", self.parser.CurrentLineNumber)

    def close(self) -> None:
        """The end of the file."""
        self.parse(self.held + "</_>", True)


def free_features(features: dict[str, str], taken: Collection[str], format: str, report: Report) -> dict[str, str]:
    """Features that can be attributes: their names are XML names and mean nothing else in the format."""
    free = {}
    for name, value in features.items():
        if name in taken or not _NAME.match(name):
            report.not_written(format, ATTRIBUTE + name)
        else:
            free[name] = value
    return free


def attributes_text(attributes: dict[str, str], format: str, report: Report) -> str:
    """Attributes as they are written in a tag, each after a space."""
    return "".join(f" {name}={quoteattr(writable(value, format, report))}" for name, value in attributes.items())


def element_text(text: str, format: str, report: Report) -> str:
    """Text as it is written between tags."""
    return escape_text(writable(text, format, report), {"\r": "&#13;"})


def writable(text: str, format: str, report: Report) -> str:
    """Text without the characters that XML cannot hold."""
    if _FORBIDDEN.search(text):
        report.not_written(format, "control characters (written �)")
        return _FORBIDDEN.sub("�", text)
    return text
