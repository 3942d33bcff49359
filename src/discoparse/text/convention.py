"""The conventions of the four languages' treebanks: what is one token, and what ends no sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from discoparse.text.clitics import split_clitic
from discoparse.text.sentence import Parts


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any_of(text: str) -> str:
    """A regular expression for any of the words between spaces."""
    return f"(?:{'|'.join(text.split())})(?![\\w-])"


@dataclass(frozen=True)
class Convention:
    """How the treebanks of a language cut words; the defaults suit any language with spaces between words."""

    # Words, without their last period, in lower case, that keep it.
    abbreviations: frozenset[str] = frozenset()
    # Those of them that may also be the last word of a sentence: the period then serves both.
    final: frozenset[str] = frozenset()
    # How compounds end that are abbreviated so too (`Goethestr.`); no word that is written out ends in these letters.
    final_endings: tuple[str, ...] = ()
    # Abbreviations only before a number: elsewhere they are words.
    before_number: frozenset[str] = frozenset()
    # Words that have a capital only because a sentence starts with them: before these, initials (`D.C. He`), numbers
    # (`15. Er`) and some other abbreviations (`Dec. He`, but `Mr. He`) end one. Not those that are also names.
    opener: re.Pattern[str] = re.compile(r"(?!)")
    final_before_opener: frozenset[str] = frozenset()
    # Who said it, after a quoted question or cry that is part of the same sentence.
    speaker: re.Pattern[str] = re.compile(r"(?!)")
    # Capital letters that are words and no initials.
    no_initial: str = ""
    # Whether to believe the library, which knows Icelandic abbreviations, about other periods.
    trust_library: bool = False
    # `3.` is one token and ends no sentence.
    ordinals: bool = False
    # A single letter with a period ends a sentence only at the end of a paragraph (`z. B. Äpfel`).
    initials_always: bool = False
    # What may follow an apostrophe at the start of a token (`'t`, `'em`, `'69`).
    after_apostrophe: re.Pattern[str] = re.compile(r"\d\d\b")
    # A final apostrophe is always a token of its own (English plural possessives).
    split_final_apostrophe: bool = False
    # Places inside a word that are tokens of their own.
    separators: re.Pattern[str] = re.compile(r"–|[€£]|=")
    # Cuts a word that has no punctuation around it any more.
    split_word: Callable[[str], list[str]] = field(default=lambda word: [word])
    # How the pieces of a word are written in the treebank, where not as in the text.
    mark_pieces: Callable[[list[str]], list[str]] = field(default=lambda pieces: pieces)
    # What runs without spaces were cut into before, where that is the same everywhere (see `words`): the forms of those
    # that are one token, and the parts of others.
    words: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    known: dict[str, Parts] = field(default_factory=dict, compare=False, repr=False)
    # Words that were seen to be plain: a mark after them ends a sentence (see `boundaries`).
    plain: set[str] = field(default_factory=set, compare=False, repr=False)


# --- English: the Penn Treebank as revised for OntoNotes and the web treebank, which cuts at hyphens. ---

# First parts that stay with what follows the hyphen.
_PREFIXES = _words(
    "anti auto bi bio co contra counter cross cyber de di ecto endo ex extra hetero homo hyper hypo"
    " indo inter intra macro mega meta micro mid mini mm mono multi neo neuro non over pan para peri"
    " poly post pre pro proto pseudo quasi re semi socio sub super supra trans tri uh ultra um un"
    " under uni vice"
)
# Second parts that stay with what precedes it.
_SUFFIXES = _words("book books commerce fold hmm huh hum mail mailed mailing mails")
_CONTRACTION = re.compile(r"(?i)(?<=[^\W\d_])n['’]t$|(?<=\w)['’](?:s|re|ve|ll|d|m)$")
_JOINED = {"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "lemme": 3, "gimme": 3}
# Slashes between letters, signs, those of `p53+/-` and `5+/-1` too, and units; `9/11` and `1/2` stay.
_ENGLISH_SEPARATORS = re.compile(
    r"[=<>±×~≥≤→|–−′]|(?<=\w)[+-](?=/[+−-])|(?<=[+−-]/)[+-]|(?<!\d)/|/(?!\d)"
    r"|%|(?<=\d)°C?|[£€]|\$(?=\d)|(?<=\d)\$|(?<!\+)\+$|[®™]|#(?=\d)"
)


def split_english(word: str) -> list[str]:
    """Cut contractions and hyphens as the Penn Treebank does.

    >>> split_english("couldn't"), split_english("wild-type"), split_english("anti-rabbit")
    (['could', "n't"], ['wild', '-', 'type'], ['anti-rabbit'])
    """
    contractions: list[str] = []
    while len(contractions) < 2 and (match := _CONTRACTION.search(word)):  # `I'd've` has two
        contractions.insert(0, match.group())
        word = word[: match.start()]
    cut = _JOINED.get(word.lower())
    pieces = [word[:cut], word[cut:]] if cut else _split_hyphens(word)
    return pieces + contractions


def _split_hyphens(word: str) -> list[str]:
    parts = word.split("-")
    if len(parts) == 1 or not all(parts):
        return [word]
    pieces = [parts[0]]
    for index, part in enumerate(parts[1:]):
        prefixed = len(part) > 1 and parts[index].lower() in _PREFIXES
        dated = len(parts) > 2 and parts[index].isdigit() and part.isdigit()
        if prefixed or dated or part.lower() in _SUFFIXES:
            pieces[-1] += f"-{part}"
        else:
            pieces += ["-", part]
    return pieces


_GERMAN_INITIALS = re.compile(r"[^\W\d_]\.")
# What may stand before `'s` for `es`: any word, but with a capital only those that sentences start with, since names
# have a genitive (`Andrea's`).
_GERMAN_ES = re.compile(
    r"(?:[a-zäöüß]+|"
    r"Bis|Da|Da(?:ß|ss)|Du|Er|Geht|Gibt|Habe?|Ha(?:s?t|ben)|Hätten?|Ich|Ihr|Ist|Kann|Macht|Mag|Mir|Muss|Nun|Ob|Sei|Sie|Sind"
    r"|So|Soll(?:te)?|Tut|Wäre?|War(?:en|um)?|Was|Weil|Wenn|Wer|Wie|Wir|Wird|Wo|Wurde|Würde)(?=['’]s$)"
)


def split_german(word: str) -> list[str]:
    """Cut abbreviations of several words, and contractions with `es`.

    >>> split_german("z.B."), split_german("S.A."), split_german("gibt's"), split_german("Andrea's")
    (['z.', 'B.'], ['S.A.'], ['gibt', "'s"], ["Andrea's"])
    """
    if contracted := _GERMAN_ES.match(word):
        return [word[: contracted.end()], word[contracted.end() :]]
    letters = _GERMAN_INITIALS.findall(word)
    return letters if word[0].islower() and "".join(letters) == word else [word]


def _mark_clitics(pieces: list[str]) -> list[str]:
    """Icelandic: `steinninn` becomes `steinn$ $inn`."""
    last = len(pieces) - 1
    return [("$" if i else "") + piece + ("$" if i < last else "") for i, piece in enumerate(pieces)]


_ENGLISH_OPENER = re.compile(
    _any_of(
        "The This That These Those They There Then But And When While If Although However His Her Its Their Our"
        " What Why Where How"
    )
    # Also in titles and headlines, but not before a small letter.
    + "|"
    + _any_of("A As At For In On To With")
    + r"\s[a-z\d]"
    # Also surnames and letters.
    + "|"
    + _any_of("An He I It She So We You")
    + r"(?:['’]|\s(?!and\b|et\b)[a-z])"
)

# `"Why?" I asked.`, but `"Why?" I said, "Because."`; verbs that take other objects too only where none follows.
_SPEAKER = re.compile(
    r"(?:I|(?!(?:He|It|She|They|We|Who|You)\b)[A-Z]\w+(?: [A-Z]\w+)?) (?:\w+ly )?(?:"
    r"(?:ask(?:s|ed)?|sa(?:y|ys|id)|cr(?:y|ies|ied)|demand(?:s|ed)?|exclaim(?:s|ed)?|inquired?|repl(?:y|ies|ied)"
    r"|scream(?:s|ed)?|shout(?:s|ed)?|whisper(?:s|ed)?|yell(?:s|ed)?)\b"
    r"|(?:add|answer|call|murmur|mutter|order|protest|repeat|snap|tease|think|thought|wonder)(?:s|e?d)?"
    r"(?=[.,;]| \w+ly\b| (?:aloud|back|out)\b)"
    r")(?![^.?!\"“”]{0,60}[,:]\s*[\"“'‘])"
)

ENGLISH = Convention(
    abbreviations=_words(
        "a.m adm al approx apr assn asst aug ave bldg blvd bros ca capt cf ch co col comdr corp dec dept"
        " dr drs eds eg esq etc ext feb fig figs ft gen gov hon ibid ie inc jan jr lt ltd maj messrs mr"
        " mrs ms mt nos nov oct oz p.m ph pp prof refs rep rev sen sept seq sgt sr st tel univ viz vol vs"
    ),
    final=_words("al assn ave bldg blvd bros co corp esq etc ext ft inc jr ltd oz seq sr a.m p.m"),
    before_number=_words("no art mar jul jun ed pt ref sec"),
    no_initial="I",
    opener=_ENGLISH_OPENER,
    speaker=_SPEAKER,
    final_before_opener=_words("apr aug dec dept feb jan nov oct sept st univ"),
    after_apostrophe=re.compile(
        r"(?i)\d\ds?\b|(?:em|til|tis|twas|twere|cause|n|er|im|all|round|bout|s|re|ve|ll|d|m)\b"
    ),
    split_final_apostrophe=True,
    separators=_ENGLISH_SEPARATORS,
    split_word=split_english,
)

GERMAN = Convention(
    abbreviations=_words(
        "abb abs abt allg aufl av bd bde betr bspw bzgl bzw ca chr co dipl dr dt ebd ehem einschl engl"
        " etc evtl ff fr frl geb gebr gegr gem ggf hg hl hr hrsg inc ing inkl insb insbes jh jhd jr jur kap"
        " kath lt ltd med mind mio mr mrd mrs ms nat nr nrn nördl orig phil prof rd rel rer resp sen sog sr st std stv"
        " südl tel tsd u usf usw vgl vol vs westl zit zzgl österr östl"
    ),
    final=_words("abs etc ff jh std usf usw jr inc ltd"),
    final_endings=("str", "pl"),
    opener=re.compile(
        _any_of(
            "Er Sie Es Wir Ihr Ich Der Die Das Dies Diese Dieser Dieses Ein Eine Und Aber Doch Denn Dann Da Dort Nun"
            " Jetzt Wenn Als Auch Damit Dabei Danach Daher Deshalb"
        )
    ),
    final_before_opener=_words("co mio mrd tsd jhd"),
    before_number=_words("art"),
    ordinals=True,
    initials_always=True,
    after_apostrophe=re.compile(r"(?i)(?:s|ne|nen|nem|n|mal|rauf|raus|rein|rum|runter|drauf|drin)\b"),
    separators=re.compile(r"(?<=\d)%|°|[€£]|–|=|(?<!\+)\+$"),
    split_word=split_german,
)

DUTCH = Convention(
    abbreviations=_words(
        "afb afd alg aug bijv blz burg bv ca chr co dec dhr dir div dr drs ds enz etc excl fa feb fig geb"
        " gebr gem hfst hr hrn inc incl ing ir jan jhr jl jr kath kon lt ltd m.n mej mevr mgr mij mld mln"
        " mr mrs ms mw ned nl nov nr nrs okt ong pag pct ph plm prof prof.dr red resp sec sept soc sr st tel th"
        " vgl vnl vol vs zg zgn zn"
    ),
    final=_words("co enz etc inc jl jr ltd mij mld mln pct sec sr zn"),
    final_endings=("str",),
    opener=re.compile(
        _any_of(
            "Hij Zij Ze Het Dit Dat Deze Die Wij We Jij Je Jullie Ik Een En Maar Toen Dan Daar Daarom Er Als Ook Nu Zo"
        )
    ),
    before_number=_words("art no max min"),
    after_apostrophe=re.compile(r"(?i)\d\d\b|(?:t|s|n|m|k|r|ns|ie|er)\b(?!')"),
)

ICELANDIC = Convention(
    abbreviations=_words("kap kongl matth jóh kór lúk dr mr hr st"),
    final=_words("kap"),
    opener=re.compile(_any_of("Hann Hún Það Þeir Þær Þau Þetta Þessi Við Þið Ég Þú En Og Svo Þá Þar Þegar")),
    trust_library=True,
    ordinals=True,
    separators=re.compile(r"–|(?<=\d)%|[€£]|="),
    split_word=split_clitic,
    mark_pieces=_mark_clitics,
)

NEUTRAL = Convention()

CONVENTIONS = {"en": ENGLISH, "de": GERMAN, "nl": DUTCH, "is": ICELANDIC}


def convention(language: str | None) -> Convention:
    """The conventions of a language by its two-letter code; for any other language a neutral set."""
    return CONVENTIONS.get((language or "").lower().replace("_", "-").split("-")[0], NEUTRAL)
