"""What made a gap, in the terms of each annotation scheme; one made-up sentence for each rule that decides."""

from __future__ import annotations

import dataclasses

import pytest

from discoparse.evaluation import break_down, evaluate
from discoparse.evaluation.discontinuity import gap_kinds, recognise_scheme
from discoparse.evaluation.gap_rules import ALPINO, ICEPAHC, KINDS, PENN, POSITIONS, SCHEMES, TIGER, Scheme
from discoparse.evaluation.structure import constituents
from discoparse.tree import Tree, gap_count
from discoparse.treebank.discbracket import parse_tree


def kinds(scheme: Scheme, line: str) -> list[list[str]]:
    """The kinds of all discontinuous constituents of a tree, children first."""
    tree = parse_tree(line)
    sentence = evaluate([tree], [tree]).sentences[0]
    tags = [token.tag for token, bit in zip(tree.tokens, sentence.gold_bits, strict=True) if bit]
    nodes = constituents(sentence.gold_brackets)
    return [gap_kinds(node, nodes, tags, scheme) for node in nodes if gap_count(node.mask)]


PENN_TREES = [
    ("(SBARQ (SQ (VBP 1=do) (NP (PRP 2=you)) (VP (WHNP (WP 0=what)) (VB 3=want))))", "extraction"),
    ("(S (NP (PRP 1=he)) (VP (S (VP (VB 0=go))) (VBD 2=said) (PP (TO 3=to) (NP (PRP 4=us)))))", "fronting"),
    (
        "(S (NP (NP (PRP 0=it)) (SBAR (IN 3=that) (S (VP (VBZ 4=rains))))) (VP (VBZ 1=is) (JJ 2=clear)))",
        "extraposition",
    ),
    ("(S (NP (NP (NNP 0=Al)) (CC 2=and) (NP (NNP 3=Bo))) (VP (VBD 1=came)))", "split coordination"),
    ("(S (NP (PRP 0=we)) (VP (VBD 1=saw) (NP (NN 4=it))) (PRN (UH 2=well) (UH 3=now)))", "parenthetical"),
    ("(S (NP (NNS 0=cats)) (VP (VBP 1=sleep) (PRN (NN 3=fig))) (RB 2=here))", "parenthetical"),
    ("(S (NP (NP (DT 0=all)) (DT 2=the) (NNS 3=men)) (VBD 1=came))", "split phrase"),
    ("(S (NP (DT 0=a) (JJ 1=big) (NN 3=cat) (NN 4=cafe)) (VBZ 2=is))", "other"),
]
TIGER_TREES = [
    ("(S (VP (PWS 0=was) (VVINF 3=tun)) (VMFIN 1=soll) (PPER 2=er))", "extraction"),
    ("(S (VP (PP (APPR 0=in) (PRELS 1=dem)) (VVPP 3=getanzt)) (PPER 2=er) (VAFIN 4=hat))", "extraction"),
    ("(S (KON 0=und) (VP (PDS 1=das) (VVINF 4=tun)) (VMFIN 2=soll) (PPER 3=er))", "fronting"),
    (
        "(S (VP (NP (ART 0=den) (NN 1=Film) (S (PRELS 2=der) (VVFIN 3=lief))) (VVINF 6=tun)) (VMFIN 4=mag) (PIS 5=er))",
        "fronting",
    ),
    ("(S (NP (ART 0=ein) (NN 1=Mann) (S (PRELS 3=der) (VVFIN 4=lacht))) (VVFIN 2=kam))", "extraposition"),
    (
        "(S (KOUS 0=dass) (VP (VVPP 2=gesagt) (S (PPER 4=er) (VVFIN 5=kommt))) (PPER 1=sie) (VAFIN 3=hat))",
        "extraposition",
    ),
    ("(S (NP (ART 0=der) (NN 1=Mann) (ADV 3=da)) (VVFIN 2=lacht))", "extraposition"),
    ("(S (NP (NN 0=Eis) (KON 2=und) (NN 3=Tee)) (VVFIN 1=kam))", "split coordination"),
    ("(S (KOUS 0=dass) (PPER 1=er) (VP (PPER 2=es) (VVINF 4=tun)) (VAFIN 3=hat) (ADV 5=wohl))", "verb cluster"),
    ("(S (VVFIN 0=lässt) (VP (PRF 1=sich) (VVINF 3=tun)) (ADV 2=auch))", "middle field"),
    ("(S (NP (NN 0=Eis) (PIAT 3=keins) (ADV 4=da)) (VVFIN 1=hat) (PPER 2=er))", "split phrase"),
    ("(S (NP (ART 0=der) (S (PPER 1=ich) (VVFIN 2=meine)) (NN 3=Mann)) (VVFIN 4=lacht))", None),
    ("(NP (VP (ART 0=der) (NN 1=Mann) (VVPP 4=sagt)) (S (PPER 2=ich) (VVFIN 3=meine)))", "parenthetical"),
]
ALPINO_TREES = [
    ("(SSUB (vnw 0=hij) (INF (n 1=thee) (ww 3=drinken)) (ww 2=wil))", "verb cluster"),
    ("(REL (vnw 0=die) (SSUB (INF (n 1=thee) (ww 3=drinken)) (ww 2=wil)))", "verb cluster"),
    ("(SMAIN (n 0=thee) (ww 1=zal) (PPART (bw 2=nu) (ww 4=gezet)) (ww 3=worden))", "verb cluster"),
    ("(SSUB (vnw 0=hij) (INF (n 1=thee) (ww 3=drinken) (PP (vz 4=met) (n 5=melk))) (ww 2=wil))", "verb cluster"),
    ("(SMAIN (vnw 0=hij) (ww 1=wil) (TI (vz 3=te) (INF (n 2=thee) (ww 4=zetten))))", "infinitive marker"),
    ("(SMAIN (INF (n 0=thee) (ww 3=drinken)) (ww 1=wil) (vnw 2=hij))", "fronting"),
    ("(SMAIN (PP (vnw 0=daar) (vz 3=aan)) (ww 1=is) (vnw 2=niets))", "split adposition"),
    ("(SMAIN (NP (lid 0=een) (n 1=man) (REL (vnw 3=die) (SSUB (ww 4=lacht)))) (ww 2=komt))", "extraposition"),
    ("(SMAIN (CONJ (n 0=thee) (vg 1=en) (n 3=melk)) (ww 2=komt))", "split coordination"),
    ("(SMAIN (NP (n 0=thee) (vg 2=en) (n 3=melk)) (ww 1=komt))", "split coordination"),
    ("(SMAIN (CONJ (n 0=thee) (vg 2=en) (n 3=melk)) (ww 1=komt))", "split coordination"),
    ("(SMAIN (ww 0=heeft) (PPART (n 1=thee) (ww 3=gezet)) (vnw 2=hij))", "middle field"),
    ("(DU (SMAIN (vnw 0=het) (ww 1=is) (adj 4=koud)) (SV1 (ww 2=zegt) (vnw 3=hij)))", "parenthetical"),
    ("(SMAIN (NP (lid 0=een) (n 2=man) (n 3=jan)) (ww 1=komt))", "split phrase"),
]
ICEPAHC_TREES = [
    ("(CP (IP (WNP (WPRO-N 0=hvað)) (PRO-N 2=hann) (VBPI 3=vill)) (C 1=að))", "extraction"),
    ("(IP (VBDI 0=sá) (PP (WADVP (WADV 1=hvar)) (P 3=til)) (PRO-N 2=hann))", "extraction"),
    ("(CP (IP (NP (N-N 0=tré)) (VBPI 3=er)) (VBDI 1=sagði) (PRO-N 2=hann))", "fronting"),
    ("(IP (NP (N-N 0=maður) (CP (C 2=sem) (VBPI 3=hlær))) (VBDI 1=kom))", "extraposition"),
    ("(IP (NP (NPR-N 0=Jón) (CONJP (CONJ 2=og) (NPR-N 3=Páll))) (VBDI 1=fór))", "split coordination"),
    ("(IP (PP (ADV 0=þar) (P 2=í)) (VBDI 1=var))", "split adposition"),
    ("(CP (PP (P 0=af) (N-D 1=tré) (N-D 4=steini)) (IP (PRO-N 2=ég) (VBPI 3=segi)))", "parenthetical"),
    ("(IP (NP (Q-N 0=allur) (PRO-G 2=hans) (N-N 3=her)) (BEPI 1=er))", "split phrase"),
]
TREES = {PENN: PENN_TREES, TIGER: TIGER_TREES, ALPINO: ALPINO_TREES, ICEPAHC: ICEPAHC_TREES}
CASES = [(scheme, line, kind) for scheme, cases in TREES.items() for line, kind in cases]


@pytest.mark.parametrize(("scheme", "line", "kind"), CASES, ids=[f"{s.name}-{k}" for s, _, k in CASES])
def test_kinds(scheme: Scheme, line: str, kind: str | None) -> None:
    found = kinds(scheme, line)
    assert found == ([] if kind is None else [[kind]])


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_every_rule_decides_a_case(scheme: Scheme) -> None:
    """Without any one of its rules, a scheme gives another answer for one of the trees above."""
    for rule in scheme.rules:
        fewer = dataclasses.replace(scheme, rules=tuple(other for other in scheme.rules if other is not rule))
        assert any(kinds(fewer, line) != kinds(scheme, line) for line, _ in TREES[scheme]), rule


def test_a_gap_has_the_kind_that_it_has_where_it_is_made() -> None:
    """Both verb phrases have the gap of the question word, which the lower one makes."""
    line = "(SBARQ (SQ (VP (VBP 1=will) (VP (WHNP (WP 0=what)) (VB 4=do))) (NP (PRP 2=you)) (RB 3=now)))"
    above = "(SBARQ (SQ (MD 1=will) (NP (PRP 2=you)) (VP (VB 3=have) (VP (WHNP (WP 0=what)) (VBN 4=done)))))"
    assert kinds(PENN, above) == [["extraction"], ["extraction"]]
    assert kinds(PENN, line) == [["extraction"], ["extraction"]]


def test_each_gap_has_its_own_kind() -> None:
    line = "(S (VP (PDS 0=das) (PRF 2=sich) (VVINF 4=wünschen)) (VMFIN 1=mag) (PPER 3=er))"
    assert kinds(TIGER, line) == [["fronting", "middle field"]]


def test_the_scheme_is_recognised() -> None:
    for scheme, cases in TREES.items():
        assert recognise_scheme(parse_tree(line) for line, _ in cases) is scheme
    assert recognise_scheme([parse_tree("(X (Y (a 0=a) (b 2=b)) (c 1=c))")]) is POSITIONS
    assert recognise_scheme([]) is POSITIONS


def test_positions_alone_where_no_scheme_is_known() -> None:
    assert kinds(POSITIONS, "(X (Y (a 0=a) (b 2=b) (b 3=b)) (c 1=c))") == [["fronting"]]
    assert kinds(POSITIONS, "(X (Y (a 0=a) (b 1=b) (b 3=b)) (c 2=c))") == [["extraposition"]]


def test_patterns_are_regular_expressions_of_known_kinds() -> None:
    for scheme in (*SCHEMES, POSITIONS):
        assert {rule.kind for rule in scheme.rules} <= set(KINDS)
        assert {rule.single for rule in scheme.rules} <= {"", "left", "right"}


def test_breakdown_by_discontinuity_and_gap_length() -> None:
    """Recall over gold constituents, precision over predicted ones; the predicted tree is judged by its own tags, and
    continuous constituents are in no group."""
    gold = parse_tree(TIGER_TREES[2][0])
    other = parse_tree("(S (KON 0=und) (PDS 1=das) (VMFIN 2=soll) (VP (PPER 3=er) (VVINF 4=tun)))")
    wrong_tag = parse_tree("(S (KON 0=und) (VP (PRELS 1=das) (VVINF 4=tun)) (VMFIN 2=soll) (PPER 3=er))")
    result = evaluate([gold, gold, gold], [gold, other, wrong_tag])
    rows = {g.group: (g.gold, g.gold_matched, g.predicted, g.predicted_matched) for g in by(result)}
    assert rows == {"extraction": (0, 0, 1, 1), "fronting": (3, 2, 1, 1)}
    (length,) = break_down(result, "gap-length")
    assert (length.group, length.gold, length.predicted, length.gold_matched) == ("2", 3, 2, 2)


def test_tags_of_predictions_without_punctuation() -> None:
    """Where the prediction lacks tokens that are not scored, tags stay with their tokens."""
    gold = parse_tree("(ROOT (S ($, 0=,) (VP (PWS 1=was) (VVINF 4=tun)) (VMFIN 2=soll) (PPER 3=er)))")
    without = parse_tree("(ROOT (S (VP (PWS 0=was) (VVINF 3=tun)) (VMFIN 1=soll) (PPER 2=er)))")
    (group,) = by(evaluate([gold], [without]))
    assert (group.group, group.gold_matched, group.predicted_matched) == ("extraction", 1, 1)


def by(result):
    return break_down(result, "discontinuity")


def test_gap_lengths_are_in_order() -> None:
    trees: list[Tree] = []
    for size in (25, 12, 7, 4, 2, 1):
        inside = " ".join(f"(b {k}=b)" for k in range(1, size + 1))
        trees.append(parse_tree(f"(X (Y (a 0=a) (a {size + 1}=a)) {inside})"))
    groups = [group.group for group in break_down(evaluate(trees, trees), "gap-length")]
    assert groups == ["1", "2", "3-5", "6-10", "11-20", "21+"]
