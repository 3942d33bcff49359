"""XML treebanks as streams of sentences, each parsed on its own, so that one bad sentence is one problem.

Memory holds one sentence. Nothing outside the file is ever fetched, and entities that a DOCTYPE defines are
unknown inside sentences, so that they cannot expand without end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TextIO
from xml.parsers import expat
from xml.sax.saxutils import escape as escape_text
from xml.sax.saxutils import quoteattr

from discoparse.treebank.report import ATTRIBUTE, Reading, Report, bad_bytes

CHUNK = 1 << 16  # characters read at a time
LONGEST = 1 << 25  # characters after which a sentence that does not end is given up
_NAME = re.compile(r"[^\W\d][\w.-]*(:[^\W\d][\w.-]*)?$", re.ASCII)
_PROLOG = re.compile(r"<\?xml[^>]*\?>|<!DOCTYPE[^>\[]*(\[[^\]]*\]\s*)?>")
_PASSED_OVER = {"<!--": "-->", "<![CDATA[": "]]>"}  # where tags are text
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0 has no way to write these


@dataclass(slots=True)
class Element:
    """An XML element and the line on which it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def find(self, tag: str) -> Element | None:
        """The first child of that name."""
        return next((child for child in self.children if child.tag == tag), None)


def parse_element(text: str, line: int) -> Element:
    """The element that is this whole text; raises `expat.ExpatError`."""
    top = Element("", {}, line)
    stack = [top]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, line + parser.CurrentLineNumber - 1)
        stack[-1].children.append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].text += data

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(text, True)
    return top.children[0]


class Sentences:
    """The elements `tag` of a file, wherever they stand; `inner` are elements that only stand inside them."""

    def __init__(self, stream: TextIO, tag: str, inner: Collection[str], reading: Reading) -> None:
        self.stream, self.tag, self.reading = stream, tag, reading
        self.frame = _Frame(tag, inner, reading)

    @property
    def is_wrapped(self) -> bool:
        """Whether an outer element stood around what was read so far."""
        return self.frame.has_elements

    def __iter__(self) -> Iterator[Element]:
        blank = True
        for line, text, complete in _sections(self.stream, self.tag, self.frame):
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
        """Tell of a sentence that cannot be parsed: where it starts, and in which line the problem is."""
        name = _id_in(text)
        self.reading.sentence(name, start)
        self.reading.skip(message, line, name)


def _id_in(text: str) -> str | None:
    found = re.match(r"<[^>]*?\b(?:id|sentid)=[\"']([^\"'<>]*)", text)
    return found.group(1) if found and bad_bytes(found.group(1)) is None else None


def _sections(stream: TextIO, tag: str, frame: _Frame) -> Iterator[tuple[int, str, bool]]:
    """Line and text of each element `tag`, and whether it ends; the rest goes to the frame."""
    opening = re.compile(rf"<!--|<!\[CDATA\[|<{tag}(?=[\s/>])")
    ending = re.compile(rf"</{tag}\s*>|<{tag}(?=[\s/>])")
    selfclosed = re.compile(rf"<{tag}(\s[^<>]*)?/>")
    buffer, line, more = "", 1, True

    def fill() -> None:
        nonlocal buffer, more
        chunk = stream.read(CHUNK)
        buffer += chunk
        more = bool(chunk)

    while True:
        begin = opening.search(buffer)
        if begin is None:
            if more:  # keep what may be the start of a tag
                keep = max(0, len(buffer) - len(tag) - len("<![CDATA["))
                frame.feed(buffer[:keep])
                line += buffer.count("\n", 0, keep)
                buffer = buffer[keep:]
                fill()
                continue
            frame.feed(buffer)
            return
        closing = _PASSED_OVER.get(begin.group())
        frame.feed(buffer[: begin.start()])
        line += buffer.count("\n", 0, begin.start())
        buffer = buffer[begin.start() :]
        searched = 4
        end = -1
        complete = True
        while True:
            if closing is not None:
                position = buffer.find(closing, searched)
                end = position + len(closing) if position >= 0 else -1
            else:
                closed = selfclosed.match(buffer)
                found = closed or ending.search(buffer, len(tag) + 1 if searched == 4 else searched)
                if found is not None:
                    complete = found is closed or found.group().startswith("</")
                    end = found.end() if complete else found.start()
            if end >= 0 or not more or len(buffer) > LONGEST:
                break
            searched = max(4, len(buffer) - len(tag) - 8)
            fill()
        if end < 0:
            end, complete = len(buffer), False
        section = buffer[:end]
        if closing is not None:  # one that does not end is for the frame to tell of
            frame.feed("\n" * section.count("\n") if complete else section)
        else:
            yield line, section, complete
            frame.feed("\n" * section.count("\n"))
        line += section.count("\n")
        buffer = buffer[end:]


class _Frame:
    """What stands around the sentences: checked to be well-formed and to hold no parts of sentences."""

    def __init__(self, tag: str, inner: Collection[str], reading: Reading) -> None:
        self.tag, self.inner, self.reading = tag, frozenset(inner), reading
        self.told = False  # one problem is enough: others follow from it
        self.has_elements = False
        self.held = ""
        self.depth = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.Parse("<_>", False)  # files may hold several documents one after another

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Refuse what only sentences hold."""
        self.depth += 1
        self.has_elements |= tag != "_"
        if tag in self.inner:
            self.tell(f"<{tag}> stands outside of any <{self.tag}>", self.parser.CurrentLineNumber)

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
        """The next piece; XML declarations and document types are passed over."""
        text = self.held + text
        cut = max(text.rfind("<?xml"), text.rfind("<!DOCTYPE"))
        if cut >= 0 and not _PROLOG.search(text, cut) and len(text) - cut < LONGEST:
            text, self.held = text[:cut], text[cut:]  # a declaration that goes on in the next piece
        else:
            self.held = ""
        self.parse(_PROLOG.sub(lambda found: "\n" * found.group().count("\n"), text.replace("\ufeff", "")), False)

    def parse(self, text: str, final: bool) -> None:
        """Check a piece; unknown bytes do not matter here."""
        if self.told:
            return
        try:
            self.parser.Parse(text.encode("utf-8", "replace"), final)
        except expat.ExpatError as error:
            hint = ": the file may be cut off" if final else ""
            self.tell(f"the XML is not well-formed ({expat.ErrorString(error.code)}){hint}", error.lineno)

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
    """Attributes as they stand in a tag, each after a space."""
    return "".join(f" {name}={quoteattr(writable(value, format, report))}" for name, value in attributes.items())


def element_text(text: str, format: str, report: Report) -> str:
    """Text as it stands between tags."""
    return escape_text(writable(text, format, report), {"\r": "&#13;"})


def writable(text: str, format: str, report: Report) -> str:
    """Text without the characters that XML cannot hold."""
    if _FORBIDDEN.search(text):
        report.not_written(format, "control characters (written �)")
        return _FORBIDDEN.sub("�", text)
    return text
