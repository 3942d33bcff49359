"""Cut a sentence into tokens: punctuation off the ends of each run without spaces, then the word itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import cast

from discoparse.text.characters import CLOSING, OPENING, SINGLE_QUOTES, treebank_form
from discoparse.text.convention import Convention
from discoparse.text.sentence import Parts, Spans, TextToken, run_starts

_ADDRESS = re.compile(r"(?i)(?:https?://|ftp://|www\.)\S+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/?")
_WHOLE = re.compile(r"[:;=8][-o^']?[()\[\]DPp|/\\]{1,3}|['’]n['’]")  # smileys, `rock 'n' roll`
_LEADING = frozenset(OPENING + CLOSING + ",;:!?…—–&%*+=<>|~/\\")
_TRAILING = frozenset(OPENING + CLOSING + ",;:!?….—–|")
_REPEATED = frozenset(".!?-'`*=~_")  # runs of these are one token
# Signs that separate words wherever they stand.
_SIGN = re.compile(
    r"\.{2,}|…|-{2,}|—|[!?]+(?=\w)|[;\"“”„«»]|,(?![\d-])|(?<!\d),"
    r"|[\U0001F000-\U0001FAFF\u2600-\u27BF][\uFE0F\u200D\U0001F000-\U0001FAFF\u2600-\u27BF]*"
)
_LONGEST_WORD = 100  # brackets inside longer runs are punctuation
# What a run is cut into depends on its surroundings if one of these is among the punctuation around it.
_SIGN_IN_DOUBT = f"[.{re.escape(SINGLE_QUOTES)}]"
_DEPENDENT = re.compile(rf"\W*{_SIGN_IN_DOUBT}|.*?{_SIGN_IN_DOUBT}\W*$", re.DOTALL)
_LONGEST_KNOWN = 40  # characters of a run that is remembered
_MOST_KNOWN = 50_000  # runs

Span = tuple[int, int]


def cut_words(
    text: str, start: int, end: int, convention: Convention, periods: frozenset[int], offset: int = 0
) -> tuple[list[str], Spans]:
    """The tokens of `text[start:end]` as the treebanks write them, and their places; a period whose place is in
    `periods` stays with its word. The text starts at `offset` of a larger one."""
    sentence = text[start:end]
    runs = sentence.split()
    found = list(map(convention.words.get, runs))  # None for a run that is not known to be one token
    cuts: list[tuple[int, Parts]] = []
    lefts: list[int] = []
    quoted = False  # whether a single quotation mark is open
    for k in [k for k, form in enumerate(found) if form is None]:
        run = runs[k]
        parts = convention.known.get(run) or (None if periods else _before_period(run, convention))
        if parts is None:
            lefts = lefts or run_starts(sentence, runs, start)
            parts, quoted = _cut_run(text, lefts[k], lefts[k] + len(run), convention, periods, quoted)
            _remember(run, parts, convention)
        cuts.append((k, parts))
    for k, parts in reversed(cuts):
        found[k : k + 1] = parts.forms
    return cast(list[str], found), Spans(sentence, start + offset, runs, cuts)


def _before_period(run: str, convention: Convention) -> Parts | None:
    """The tokens of a known word with a period that is not part of it, as at the end of most sentences."""
    word = run[:-1]
    form = convention.words.get(word) if run[-1] == "." and word.isalpha() else None
    return None if form is None else Parts((form, "."), (0, len(word)), (len(word), len(run)))


def _remember(run: str, parts: Parts, convention: Convention) -> None:
    """Keep what a run was cut into, if that is the same everywhere."""
    if len(run) > _LONGEST_KNOWN or (not run.isalpha() and _DEPENDENT.match(run)):
        return
    words, known = convention.words, convention.known
    if len(words) + len(known) >= _MOST_KNOWN:
        words.clear()
        known.clear()
    if parts.starts == (0,) and parts.ends == (len(run),):
        words[run] = parts.forms[0]
    else:
        known[run] = parts


def _cut_run(
    text: str, left: int, right: int, convention: Convention, periods: frozenset[int], quoted: bool
) -> tuple[Parts, bool]:
    """The tokens of a run without spaces, and whether a single quotation mark is open after it."""
    start, run = left, text[left:right]
    if run.isalpha():  # nothing to take off
        return _parts(_cut_word(run, 0, convention)), quoted
    if _WHOLE.fullmatch(run):
        return Parts((run,), (0,), (len(run),)), quoted
    before, after = [], []
    while left < right and (width := _leading(text, left, right, convention)):
        quoted = quoted or text[left] in SINGLE_QUOTES
        before.append((left, left + width))
        left += width
    while left < right and (width := _trailing(text, left, right, convention, periods, quoted)):
        quoted = quoted and text[right - 1] not in SINGLE_QUOTES
        after.append((right - width, right))
        right -= width
    core = _cut_core(text, left, right, convention)
    return _parts([*_tokens(text, before), *core, *_tokens(text, reversed(after))], start), quoted


def _parts(tokens: Iterable[TextToken], start: int = 0) -> Parts:
    """Tokens as the parts of a run that starts at `start`."""
    found = list(tokens)
    return Parts(
        tuple([token.form for token in found]),
        tuple([token.start - start for token in found]),
        tuple([token.end - start for token in found]),
    )


def _leading(text: str, left: int, right: int, convention: Convention) -> int:
    """The width of the punctuation that starts `text[left:right]`, 0 if a word does."""
    first = text[left]
    width = _run(text, left, right, 1)
    if first in ".-":
        starts_word = left + 1 < right and (text[left + 1].isalnum() or text[left + 1] in ",.")
        return 0 if width == 1 and starts_word else width  # `-ie`, `.5`
    if first not in _LEADING:
        return 0
    if first in SINGLE_QUOTES and width == 1 and convention.after_apostrophe.match(text, left + 1, right):
        return 0
    if first in "([" and right - left <= _LONGEST_WORD:  # `(werk)dag` is one word
        close = text.find(")" if first == "(" else "]", left, right)
        if close > left + 1 and text[close + 1 : right][:1].isalpha():
            return 0
    return width


def _trailing(text: str, left: int, right: int, convention: Convention, periods: frozenset[int], quoted: bool) -> int:
    """The width of the punctuation that ends `text[left:right]`, 0 if a word does."""
    last = text[right - 1]
    width = _run(text, right - 1, left - 1, -1)
    if last == "-":
        return width if width > 1 else 0
    if last not in _TRAILING:
        return 0
    if last == "." and width == 1:
        return 0 if right - 1 in periods else 1
    if last in SINGLE_QUOTES and width == 1 and text[right - 2 : right - 1].isalnum() and right - 1 > left:
        return 1 if quoted or convention.split_final_apostrophe else 0
    if last in ")]" and right - left <= _LONGEST_WORD:  # `Koordinator(in)` is one word
        start = text.rfind("(" if last == ")" else "[", left, right)
        if start > left and text[start - 1].isalpha():
            return 0
    return width


def _run(text: str, start: int, stop: int, step: int) -> int:
    """How many characters from `start` on the way to `stop` are one sign; `!` and `?` mix."""
    kin = "!?" if text[start] in "!?" else text[start]
    if kin not in _REPEATED and kin != "!?":
        return 1
    position = start + step
    while position != stop and text[position] in kin:
        position += step
    return abs(position - start)


def _cut_core(text: str, left: int, right: int, convention: Convention) -> Iterator[TextToken]:
    """Cut what is left of a run when the punctuation around it is gone."""
    core = text[left:right]
    if not core:
        return
    if _ADDRESS.fullmatch(core):
        yield TextToken(core, left, right)
        return
    for outer, end in _between(core, _SIGN):
        part = core[outer:end]
        for inner, stop in _between(part, convention.separators):
            yield from _cut_word(part[inner:stop], left + outer + inner, convention)


def _between(text: str, separators: re.Pattern[str]) -> list[Span]:
    """Spans of the separators and of what stands between them."""
    spans = []
    position = 0
    for match in separators.finditer(text):
        spans += [(position, match.start()), match.span()]
        position = match.end()
    spans.append((position, len(text)))
    return [(start, end) for start, end in spans if start < end]


def _cut_word(word: str, offset: int, convention: Convention) -> Iterator[TextToken]:
    pieces = convention.split_word(word)
    for form, piece in zip(convention.mark_pieces(pieces), pieces, strict=True):
        form = treebank_form(form)
        if form:
            yield TextToken(form, offset, offset + len(piece))
        offset += len(piece)


def _tokens(text: str, spans: Iterator[Span] | list[Span]) -> Iterator[TextToken]:
    for start, end in spans:
        form = treebank_form(text[start:end])
        if form:  # nothing is left of a run of invisible characters
            yield TextToken(form, start, end)
