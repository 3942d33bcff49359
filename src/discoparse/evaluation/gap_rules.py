"""Which construction made a gap: rules for each annotation scheme, as data.

Labels and positions tell only part of it, and each scheme tells another part: Penn marks wh-phrases, Alpino marks the
kind of a clause but not of a pronoun, IcePaHC has no verb phrase. The rules of a scheme are tried in order, and the
first that fits decides; a gap that none fits is `other`. Patterns are regular expressions for whole labels or tags.
"""

from __future__ import annotations

from dataclasses import dataclass

EXTRACTION = "extraction"  # a question word or relative phrase at the start of its clause: [what] do you [want]
FRONTING = "fronting"  # any other part there: [das] kann man [vermeiden], and quotations before "he said"
EXTRAPOSITION = "extraposition"  # a part after the gap that belongs before it: [a man] came [who laughed]
COORDINATION = "split coordination"  # the same with a conjunct: [Jón] fór [og Páll]
VERB_CLUSTER = "verb cluster"  # verbs of a verb-final clause: dat hij [het boek] wil [lezen]
INFINITIVE = "infinitive marker"  # only the marker is in the gap: [de Duitsers] te [verslaan]
MIDDLE_FIELD = "middle field"  # within a clause, around a subject or an adverb: lässt [sich] nicht [vermeiden]
ADPOSITION = "split adposition"  # an adposition apart from its complement: [daar] was niets [aan]
PARENTHETICAL = "parenthetical"  # the gap is, or a part after it is, an inserted clause or phrase
SPLIT_PHRASE = "split phrase"  # another phrase with one part before the gap: [Allur] er [hans líkami]
OTHER = "other"

KINDS = (
    EXTRACTION,
    FRONTING,
    EXTRAPOSITION,
    COORDINATION,
    VERB_CLUSTER,
    INFINITIVE,
    MIDDLE_FIELD,
    ADPOSITION,
    PARENTHETICAL,
    SPLIT_PHRASE,
    OTHER,
)


@dataclass(frozen=True)
class Rule:
    """What must hold of a gap; an empty pattern always holds. Parts are the children of a constituent, and its tokens.

    Only the parts of the two blocks around the gap count, and only in the constituent that makes the gap, not in those
    above that inherit it.
    """

    kind: str
    node: str = ""  # label of the constituent
    single: str = ""  # "left" or "right": that block is one part
    left: str = ""  # label or tag of the first part before the gap
    left_tags: str = ""  # tag of one of the first two tokens of the block before the gap
    right: str = ""  # label or tag of the last part after the gap
    right_start: str = ""  # label or tag of the first part after the gap
    right_tags: str = ""  # tags of all tokens after the gap, in its block
    gap_tags: str = ""  # tags of all tokens in the gap
    gap_phrase: str = ""  # label of a constituent that is just the gap
    clause: str = ""  # label of the nearest clause above
    starts_clause: bool | None = None  # whether the block before the gap begins that clause


@dataclass(frozen=True)
class Scheme:
    """The rules of an annotation scheme, and how trees of it are recognised."""

    name: str
    labels: str  # labels that only this scheme has
    tags: str  # parts of speech, likewise
    clauses: str  # labels of clauses
    conjunctions: str  # tags of coordinating conjunctions, which may precede the first part of a clause
    rules: tuple[Rule, ...]


_PENN_CLAUSES = "S|SBAR|SBARQ|SQ|SINV|FRAG"
PENN = Scheme(
    "Penn",
    labels="SBAR|SBARQ|SINV|WHNP|WHADVP|WHPP|ADJP",
    tags="VBZ|VBD|VBP|PRP|NNS|DT|JJ",
    clauses=_PENN_CLAUSES,
    conjunctions="CC",
    rules=(
        Rule(EXTRACTION, left="WH.*|W(DT|P|P\\$|RB)"),
        Rule(PARENTHETICAL, gap_phrase="PRN|INTJ"),
        Rule(PARENTHETICAL, single="right", right="PRN"),
        Rule(FRONTING, node=f"VP|{_PENN_CLAUSES}", single="left"),
        Rule(COORDINATION, right_start="CC|CONJP"),
        Rule(EXTRAPOSITION, single="right"),
        Rule(SPLIT_PHRASE, single="left"),
    ),
)

_TIGER_VERB_PHRASES = "VP|CVP|VZ|CVZ"
_STTS_VERBS = "V[VAM].*|PTKZU"
TIGER = Scheme(
    "Tiger",
    labels="CNP|AVP|CVP|CAP|CVZ|VZ|CS|MPN|CPP|NM|CAVP",
    tags="VVFIN|VAFIN|VMFIN|APPR|PPER|KOUS|PTKZU|ADJA|ADJD",
    clauses="S",
    conjunctions="KON",
    rules=(
        Rule(EXTRACTION, left_tags="PREL.*|PW.*", starts_clause=True),
        Rule(PARENTHETICAL, gap_phrase="S|DL"),
        Rule(FRONTING, node=_TIGER_VERB_PHRASES, starts_clause=True),
        Rule(COORDINATION, right_start="KON"),
        Rule(EXTRAPOSITION, single="right", right="S|CS|VP|CVP|PP|CPP|NP|CNP|AP|AVP|ISU|DL"),
        Rule(VERB_CLUSTER, node=_TIGER_VERB_PHRASES, gap_tags=_STTS_VERBS, right_tags=_STTS_VERBS),
        Rule(MIDDLE_FIELD, node=_TIGER_VERB_PHRASES),
        Rule(SPLIT_PHRASE, single="left"),
        Rule(EXTRAPOSITION, single="right"),
    ),
)

_ALPINO_VERB_PHRASES = "INF|PPART|TI|OTI|AHI|PPRES|SVAN"
ALPINO = Scheme(
    "Alpino",
    labels="SMAIN|SSUB|SV1|PPART|INF|TI|OTI|WHQ|WHSUB|WHREL|REL|DU|MWU|DETP|AHI",
    tags="ww|vnw|lid|vz|bw|tw|vg|spec|tsw|let",
    clauses="SMAIN|SSUB|SV1|REL|WHREL|WHQ|WHSUB",
    conjunctions="vg",
    rules=(
        # No extraction: relative and question words stand beside the clause, so they leave no gap.
        Rule(PARENTHETICAL, gap_phrase="SMAIN|SV1|DU"),
        Rule(INFINITIVE, node="INF|PPART", gap_tags="vz"),
        Rule(VERB_CLUSTER, node=_ALPINO_VERB_PHRASES, gap_tags="ww|vz", right_tags="ww", starts_clause=False),
        Rule(VERB_CLUSTER, node=_ALPINO_VERB_PHRASES, gap_tags="ww|vz", right_start="ww|INF|PPART", clause="SSUB"),
        Rule(ADPOSITION, node="PP", left="vnw|bw", single="left"),
        Rule(FRONTING, node=_ALPINO_VERB_PHRASES, starts_clause=True),
        Rule(COORDINATION, node="CONJ"),
        Rule(COORDINATION, right_start="vg"),
        Rule(EXTRAPOSITION, single="right", right="[A-Z].*"),
        Rule(MIDDLE_FIELD, node=_ALPINO_VERB_PHRASES),
        Rule(SPLIT_PHRASE, single="left"),
    ),
)

ICEPAHC = Scheme(
    "IcePaHC",
    labels="IP|CP|WNP|WADVP|WPP|CONJP|NUMP",
    tags="(N|NS|NPR|PRO|D|ADJ|Q)-[NADG]|(VB|BE|HV|MD|DO|RD)(PI|DI|PS|DS)|RP|TO|C",
    clauses="IP|CP",
    conjunctions="CONJ",
    rules=(
        Rule(EXTRACTION, left="W.*"),
        Rule(PARENTHETICAL, gap_phrase="IP|CP"),
        Rule(COORDINATION, right_start="CONJP?"),
        Rule(ADPOSITION, node="PP", single="left"),
        Rule(FRONTING, node="IP|CP", single="left"),
        Rule(EXTRAPOSITION, single="right"),
        Rule(SPLIT_PHRASE, single="left"),
    ),
)

# Where the scheme is not known, positions alone: what the rules of all schemes have in common.
POSITIONS = Scheme(
    "positions",
    labels="",
    tags="",
    clauses="",
    conjunctions="",
    rules=(Rule(FRONTING, single="left"), Rule(EXTRAPOSITION, single="right")),
)

SCHEMES = (PENN, TIGER, ALPINO, ICEPAHC)
