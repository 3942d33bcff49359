"""`discoparse prepare` on sources made here in the shape of the licensed ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from discoparse.cli import cli
from discoparse.errors import DiscoparseError, TreebankError, UsageError
from discoparse.treebank import Report, read_trees
from discoparse.treebank.discbracket import parse_tree
from discoparse.treebank.prepare import STANDARD_SPLITS, prepare
from discoparse.treebank.prepare.splits import by_ranges


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["prepare", *map(str, arguments)], catch_exceptions=True)


def made(treebank: str, source: Path, folder: Path) -> dict[str, int]:
    """The sizes of the sets of a small source."""
    return prepare(treebank, str(source), str(folder), report=Report(), force=True)


def words(path: Path) -> list[str]:
    return [" ".join(tree.words) for tree in read_trees(path)]


def export_sentence(number: int, word: str) -> str:
    return (
        f"#BOS {number}\n{word}\tNN\t--\tHD\t500\n,\t$,\t--\t--\t0\nja\tADV\t--\tMO\t500\n"
        f"#500\tS\t--\t--\t0\n#EOS {number}\n"
    )


def tiger_sentence(name: str, word: str, second_parent: bool = False) -> str:
    extra = f'<edge label="SB" idref="{name}_1"/>' if second_parent else ""
    return f"""<s id="{name}"><graph root="{name}_500"><terminals>
<t id="{name}_1" word="{word}" pos="NN"/>
<t id="{name}_2" word="(" pos="$("/>
<t id="{name}_3" word="ja" pos="ADV"/>
</terminals><nonterminals>
<nt id="{name}_501" cat="NP"><edge label="NK" idref="{name}_1"/></nt>
<nt id="{name}_500" cat="S">
<edge label="HD" idref="{name}_501"/><edge label="MO" idref="{name}_3"/>{extra}</nt>
</nonterminals></graph></s>
"""


def tiger_file(*sentences: str) -> str:
    body = "".join(sentences)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<corpus id="x"><body>{body}</body></corpus>\n'


def test_negra_in_its_published_size(tmp_path: Path) -> None:
    """ISO-8859-1, punctuation moved, and the order train, test, dev."""
    source = tmp_path / "negra-corpus.export"
    text = "#FORMAT 3\n" + "".join(export_sentence(n, f"Straße{n}") for n in range(1, 20603))
    source.write_text(text, encoding="iso-8859-1")
    result = run("negra", source, tmp_path / "out", "--json")
    assert json.loads(result.stdout) == {"train": 18602, "dev": 1000, "test": 1000}
    names = ("train", "test", "dev")
    sets = {name: list(read_trees(tmp_path / "out" / f"{name}.discbracket")) for name in names}
    assert str(sets["train"][0]) == "(ROOT (S (NN 0=Straße1) ($, 1=,) (ADV 2=ja)))"
    assert [sets[name][k].words[0] for name in names for k in (0, -1)] == [
        *("Straße1", "Straße18602", "Straße18603", "Straße19602", "Straße19603", "Straße20602")
    ]


def test_a_source_that_is_cut_off(tmp_path: Path) -> None:
    source = tmp_path / "negra-corpus.export.gz"
    source.write_bytes(gzip.compress(b"#FORMAT 3\n" + export_sentence(1, "Baum").encode() * 3000)[:-300])
    result = run("negra", source, tmp_path / "out")
    assert isinstance(result.exception, TreebankError)
    assert "cut off or damaged" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_other_sizes_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    source = tmp_path / "negra-corpus.export"
    source.write_text("#FORMAT 3\n" + export_sentence(1, "Baum"), encoding="iso-8859-1")
    with pytest.raises(DiscoparseError, match=r"train has 1 sentences, not 18,602; dev has 0 .* --force"):
        prepare("negra", str(source), str(tmp_path / "out"), report=Report())
    assert not (tmp_path / "out").exists()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "train.discbracket").write_text("precious")
    with pytest.raises(DiscoparseError):
        prepare("negra", str(source), str(tmp_path / "old"), report=Report())
    assert [p.name for p in (tmp_path / "old").iterdir()] == ["train.discbracket"]
    assert (tmp_path / "old" / "train.discbracket").read_text() == "precious"
    counts = prepare("negra", str(source), str(tmp_path / "old"), report=Report(), force=True)
    assert counts == {"train": 1, "dev": 0, "test": 0}


def test_dptb_export_by_sentence_numbers(tmp_path: Path) -> None:
    source = tmp_path / "dptb7.export"
    source.write_text("#FORMAT 3\n" + "".join(export_sentence(n, f"w{n}\\/x") for n in range(1, 47863)))
    counts = prepare("dptb", str(source), str(tmp_path / "out"), report=Report())
    assert counts == {"train": 39832, "dev": 1700, "test": 2416}
    firsts = [words(tmp_path / "out" / f"{name}.discbracket")[0] for name in ("train", "dev", "test")]
    assert firsts == ["w3915/x , ja", "w43747/x , ja", "w45447/x , ja"]  # punctuation is not moved
    assert "(S (NN 0=w3915/x) (ADV 2=ja)) ($, 1=,)" in (tmp_path / "out" / "train.discbracket").read_text()


def test_a_source_without_a_sentence_of_any_set_is_refused(tmp_path: Path) -> None:
    """Also by force: NLTK's sample of the Penn Treebank has two sections, and the sets begin with the third."""
    (tmp_path / "wsj").mkdir()
    (tmp_path / "wsj" / "wsj_0001.mrg").write_text("( (S (NP (DT the) (NN dog)) (VP (VBZ barks))))\n")
    with pytest.raises(DiscoparseError, match="no sentence of any of the dptb sets"):
        prepare("dptb", str(tmp_path / "wsj"), str(tmp_path / "out"), force=True, report=Report())
    assert not list((tmp_path / "out").glob("*"))


def test_dptb_from_the_penn_treebank(tmp_path: Path) -> None:
    tree = "( (S (WHNP-1 (WP what{})) (NP-SBJ (PRP you)) (VP (VB do) (NP (-NONE- *T*-1)))) )\n"
    for section in (0, 1, 2, 9, 21, 22, 23, 24):
        for number in (1, 2):
            path = tmp_path / "wsj" / f"{section:02}" / f"wsj_{section:02}{number:02}.mrg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n" + tree.format(f"{section:02}{number:02}"))
    (tmp_path / "wsj" / "readme.txt").write_text("not a treebank")
    counts = made("dptb", tmp_path / "wsj", tmp_path / "out")
    assert counts == {"train": 6, "dev": 2, "test": 2}
    train = (tmp_path / "out" / "train.discbracket").read_text().splitlines()
    assert train[0] == "(ROOT (S (VP (WHNP (WP 0=what0201)) (VB 2=do)) (NP (PRP 1=you))))"
    assert [w.split()[0] for w in words(tmp_path / "out" / "dev.discbracket")] == ["what2201", "what2202"]
    assert [w.split()[0] for w in words(tmp_path / "out" / "test.discbracket")] == ["what2301", "what2302"]


def test_tiger_from_spmrl(tmp_path: Path) -> None:
    """Three files among others, a word with two parents, punctuation moved, brackets as in the paper."""
    folder = tmp_path / "GERMAN_SPMRL" / "gold" / "xml"
    for split in ("train", "train5k", "dev", "test"):
        (folder / split).mkdir(parents=True)
        text = tiger_file(tiger_sentence("s1", split), tiger_sentence("s46234", "zwei", second_parent=True))
        (folder / split / f"{split}.German.gold.xml").write_text(text)
    result = run("tiger", tmp_path / "GERMAN_SPMRL", tmp_path / "out", "--force", "--to", "export")
    assert result.exit_code == 0, result.output
    assert "s46234" in result.stderr
    trees = list(read_trees(tmp_path / "out" / "train.export"))
    assert [str(tree) for tree in trees] == [
        "(ROOT (S (NP (NN 0=train)) ($[ 1=-LRB-) (ADV 2=ja)))",
        "(ROOT (S (NP (NN 0=zwei)) ($[ 1=-LRB-) (ADV 2=ja)))",
    ]


def test_tiger_original_is_cut_as_by_spmrl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "tiger_release_aug07.xml"
    source.write_text(tiger_file(*(tiger_sentence(f"s{n}", f"w{n}") for n in range(1, 6))))
    monkeypatch.setattr("discoparse.treebank.prepare.splits.TIGER_SIZES", [("train", 2), ("dev", 2), ("test", 1)])
    counts = made("tiger", tmp_path, tmp_path / "out")
    assert counts == {"train": 2, "dev": 2, "test": 1}
    assert [w.split()[0] for w in words(tmp_path / "out" / "dev.discbracket")] == ["w3", "w4"]


def test_published_sizes() -> None:
    assert sum(STANDARD_SPLITS["tiger"].counts.values()) == 50472
    assert sum(STANDARD_SPLITS["negra"].counts.values()) == 20602
    assert sum(STANDARD_SPLITS["dptb"].counts.values()) == 43948


def test_alpino_is_split_in_tenths(tmp_path: Path) -> None:
    (tmp_path / "cdb").mkdir()
    for n in range(20):
        (tmp_path / "cdb" / f"{n}.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<alpino_ds version="1.3">\n'
            '<node cat="top" rel="top" id="0" begin="0" end="3">'
            '<node cat="smain" rel="--" id="1" begin="0" end="3">'
            f'<node rel="su" pt="n" word="w{n}" id="2" begin="0" end="1"/>'
            '<node rel="hd" pt="ww" word="loopt" id="3" begin="2" end="3"/></node>'
            '<node rel="--" pt="let" word="," id="4" begin="1" end="2"/></node>\n'
            f"<sentence>w{n} , loopt</sentence></alpino_ds>\n"
        )
    counts = made("alpino", tmp_path / "cdb", tmp_path / "out")
    assert counts == {"train": 16, "dev": 2, "test": 2}
    assert words(tmp_path / "out" / "dev.discbracket") == ["w16 , loopt", "w17 , loopt"]
    assert "(SMAIN (n 0=w0) (let 1=,) (ww 2=loopt))" in (tmp_path / "out" / "train.discbracket").read_text()


def test_craft_goes_by_article(tmp_path: Path) -> None:
    for article in ("11532192", "17194222", "11319941"):
        (tmp_path / f"{article}.tree").write_text(f"( (S (NP-SBJ (NN a{article})) (VP (VB b))) )\n")
    assert made("craft", tmp_path, tmp_path / "out") == {"train": 1, "dev": 1, "test": 1}
    assert words(tmp_path / "out" / "dev.discbracket") == ["a17194222 b"]
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "11532192.tree").write_text("( (S (NN a)) )\n")
    with pytest.raises(UsageError, match="articles twice"):
        prepare("craft", str(tmp_path), str(tmp_path / "again"), force=True)


def test_icepahc_splits_every_text_and_tells_problems_once(tmp_path: Path) -> None:
    sentence = "( (IP-MAT (NP-SBJ (N-N maður{0}-maður)) (NP-OB1 *T*-9) (VBPI er-vera)) (ID A,.{0}))\n"
    for name in ("a", "b"):
        text = "( (CODE <P_1>) (ID x))\n" + "".join(sentence.format(f"{name}{n}") for n in range(10))
        (tmp_path / f"{name}.psd").write_text(text)
    result = run("icepahc", tmp_path, tmp_path / "out", "--force", "--json")
    assert json.loads(result.stdout) == {"train": 16, "dev": 2, "test": 2}
    assert words(tmp_path / "out" / "test.discbracket") == ["maðura9 er", "maðurb9 er"]
    dev = (tmp_path / "out" / "dev.discbracket").read_text()
    assert dev.startswith("(ROOT (IP-MAT (NP (N-N 0=maðura8)) (VBPI 1=er)))\n")
    assert "and 10 more like these" in result.stderr
    assert "2 sentences without words left out" in result.stderr


@pytest.mark.parametrize(
    ("treebank", "files", "message"),
    [
        ("dptb", [], "holds no files wsj_0001.mrg"),
        ("tiger", ["train.xml"], "lacks the dev and the test file"),
        ("tiger", ["train.gold.xml", "train.gold.b.xml"], "several train files"),
        ("negra", ["a.export", "b.export"], "holds 2 .export files"),
        ("craft", ["a.txt"], "holds no .tree files"),
        ("icepahc", [], "holds no .psd files"),
    ],
)
def test_unfit_sources_are_explained(tmp_path: Path, treebank: str, files: list[str], message: str) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for file in files:
        (source / file).write_text("")
    with pytest.raises(UsageError, match=message):
        prepare(treebank, str(source), str(tmp_path / "out"), force=True)
    with pytest.raises(UsageError, match="does not exist"):
        prepare(treebank, str(tmp_path / "nowhere"), str(tmp_path / "out"))
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="name a folder"):
        prepare(treebank, str(source), str(tmp_path / "file"))


def test_what_follows_the_last_range_is_counted() -> None:
    trees = [parse_tree(f"(S (A 0=w{n}))") for n in range(7)]
    parts = by_ranges(trees, [(None, 1), ("a", 2), ("b", 1)])
    assert [(name, len(list(part))) for name, part in parts] == [("a", 2), ("b", 4)]
