"""scripts/collect_text.py: what each extractor takes, what is dropped, and complete runs on tiny repositories."""

from __future__ import annotations

import gzip
import re
import subprocess
from dataclasses import replace

import collect_text
import pytest
import text_extractors

TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><p>Kopf.</p>{}</teiHeader><text><body>{}</body></text></TEI>'


def extracted(extractor, text, language="de"):
    return list(extractor(text.encode(), language))


def test_europarl_drops_other_languages_and_who_speaks():
    """Untranslated speeches are under the same tags; roles and languages come before the first sentence."""
    text = """<text><intervention><p sl="fr">(FR) Herr Präsident, das ist nicht der Weg.</p>
        <p sl="nl">Voorzitter, dit is niet de weg die wij willen.</p>
        <p sl="de">schriftlich. − Ich bin für den Bericht.</p>
        <p sl="de">Tagesordnung der nächsten Sitzung</p><a text="(Beifall)"/></intervention></text>"""
    assert extracted(text_extractors.europarl, text) == [
        "Herr Präsident, das ist nicht der Weg.",
        "Ich bin für den Bericht.",
    ]
    assert extracted(text_extractors.europarl, text, "nl") == ["Voorzitter, dit is niet de weg die wij willen."]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Das ist nicht der Weg.", "de"),
        ("Dit is niet de weg die wij willen.", "nl"),
        ("This is not the way that we want.", "en"),
        ("Ce n'est pas la voie que nous voulons.", "fr"),
        ("O relatório apresenta considerações positivas e a defesa de um quadro.", "pt"),
        ("123", ""),
    ],
)
def test_languages_are_told_apart(text, language):
    assert text_extractors.guess_language(text) == language


def test_novels_in_tei_are_paragraphs_without_notes_and_headings():
    body = "<head>1</head><p>Er kam\n   <pb/>heim<note>Anm.</note>, <hi>sagte</hi> man.</p><p>Zweiter Teil</p>"
    assert extracted(text_extractors.tei, TEI.format("", body)) == ["Er kam heim, sagte man."]


def test_debates_are_joined_where_lines_were_broken():
    """A small letter after a hyphen comes from a line end; a capital or a single letter does not."""
    body = "<sp><speaker>A:</speaker><p>Die Tages-ordnung der EU-Kommission, von A-z.</p><stage>(Beifall)</stage></sp>"
    assert extracted(text_extractors.debates, TEI.format("", body)) == ["Die Tagesordnung der EU-Kommission, von A-z."]


@pytest.mark.parametrize(("year", "expected"), [("1849", []), ("1850", ["Gelobt sei, wer kommt! Amen."])])
def test_plays_are_speeches_of_later_plays(year, expected):
    header = f'<event type="print" when="1900"/><event type="written" when="{year}-01-01"/>'
    body = "<sp><speaker>ABT.</speaker><stage>ab.</stage><l>Gelobt sei,</l> <l>wer kommt!</l> <p>Amen.</p></sp>"
    assert extracted(text_extractors.plays, TEI.format(header, body)) == expected


def test_error_corpus_has_the_corrections():
    sentence = (
        "<s><w>Því</w><revision><original><w>þart</w></original><corrected><w>þarf</w></corrected><errors/></revision>"
        "<w>ég</w><revision><original><w>það</w></original><corrected/></revision><c>.</c></s>"
    )
    assert extracted(text_extractors.corrected, TEI.format("", sentence), "is") == ["Því þarf ég ."]


def test_icelandic_laws_are_sentences():
    text = "<law><name>Lög.</name><art><sen>Lög þessi &amp; önnur gilda.</sen><sen>I. kafli</sen></art></law>"
    assert extracted(text_extractors.laws_xml, text, "is") == ["Lög þessi & önnur gilda."]


def test_dutch_laws_are_paragraphs_without_markdown():
    text = (
        '---\ntitle: "Wet."\n---\n# Wet.\n\n##### Artikel I.\n\n1. Dit is de [wet](https://wet.nl/1).\n\n'
        "| a | b. |\n\n- De minister\nbeslist.\n\nlager begin.\n\n**Vet.**\n"
    )
    assert extracted(text_extractors.laws_markdown, text, "nl") == ["Dit is de wet.", "De minister beslist."]


def test_novels_are_paragraphs_between_blank_lines():
    text = "\ufeffJude the Obscure\n\nCHAPTER I. Home.\n\nHe was\r\n_very_ late.\n\n\n“No,” he said.\n\nTHE END.\n"
    assert extracted(text_extractors.novels, text, "en") == ["He was very late.", "“No,” he said."]


def test_lines_are_kept_as_they_are():
    assert extracted(text_extractors.lines, "Eins  zwei\ndrei\n") == ["Eins zwei", "drei"]


def test_tagged_tokens_become_running_text():
    """Numbers, words and possessives are whole again, marks stand where they do in print; headings are dropped."""
    sentences = [
        "Parkinson ' s disease ( PD ) in 2 . 2 - kb and 1 , 338 bp [ 3 , 4 ] , 5 mg / kg : so .",
        "See Smith et al . and `` more '' , it ' s - or not - 10 % !",
        "They call it ' safe ' ; it is - ( see [ 5 ] ) not .",
        "Materials and Methods",
    ]
    text = "\n\n".join("\n".join(f"{word}\tO" for word in sentence.split()) for sentence in sentences) + "\n\n"
    expected = [
        "Parkinson's disease (PD) in 2.2-kb and 1,338 bp [3,4], 5 mg/kg: so.",
        "See Smith et al. and `` more '', it's-or not-10 %!",
        "They call it ' safe '; it is - (see [5]) not.",
    ]
    assert extracted(text_extractors.tagged, text, "en") == expected
    assert extracted(text_extractors.tagged, text.replace("\n", "\r\n"), "en") == expected


def test_treebanks_of_dependencies_have_their_text_in_comments():
    comments = ["# newdoc id = # text = no", "# text = It's  &lt;b&gt; here.", "# text_en = no", "# text = # text = 1"]
    text = "\n1\tIt\tit\n\n".join([*comments, ""])
    assert extracted(text_extractors.conllu, text, "en") == ["It's <b> here.", "# text = 1"]


POST = """---
title: 'Plain'
summary: "Not this."
---

# A heading.

Write **plainly**, and _often_: see [it](https://example.org/){:target="_blank"} &amp; more.{{< img src="a.png" >}}

![a picture](b.png) <p class="x">
  <strong>Do</strong> keep quotes clear.
</p>

* A first item.
* A second item that
  goes on.
1. Numbered.

| a | table. |

```python
print("code.")
```

Tell us #now, please.

No sentence
"""


def test_posts_lose_their_markup():
    assert extracted(text_extractors.posts, POST, "en") == [
        "Write plainly, and often: see it & more.",
        "Do keep quotes clear.",
        "A first item.",
        "A second item that goes on.",
        "Numbered.",
    ]


@pytest.mark.parametrize(
    ("name", "wanted", "unwanted"),
    [
        ("gum", "dep/GUM_news_asylum.conllu", "dep/GUM_reddit_bobby.conllu"),  # not free for every use
        ("gum", "dep/GUM_voyage_athens.conllu", "dep/GUM_fiction_beast.conllu"),
        ("web", "not-to-release/sources/answers/a.xml.conllu", "en_ewt-ud-test.conllu"),
        ("digitalgov", "content/news/2013/09/a.md", "content/events/2013/09/a.md"),
        ("18f", "content/posts/2014-04-08-hello.md", "README.md"),
    ],
)
def test_files_of_a_source(name, wanted, unwanted):
    (source,) = (source for source in collect_text.SOURCES if (source.language, source.name) == ("en", name))
    assert re.fullmatch(source.files, wanted)
    assert not re.fullmatch(source.files, unwanted)


def test_pairs_give_the_side_of_the_language():
    text = "deu\tnld\tEr geht.\tHij gaat.\nnld\tdeu\tZij.\tSie.\ndeu\tdeu\tA.\tB.\nkaputt\n"
    assert extracted(text_extractors.pairs, text) == ["Er geht.", "Sie.", "A.", "B."]
    assert extracted(text_extractors.pairs, text, "nl") == ["Hij gaat.", "Zij."]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Er geht .", True),
        ("Er geht", False),  # two words
        ("ja " * 120, True),
        ("ja " * 121, False),
        ("1 2 3 Uhr morgens", False),
        ("2 3 Uhr morgens", True),
        ("DAS WAR SO", False),
        ("Die CDU war so", True),
        ("Kirkja$ $n er stór", True),
        ("Siehe https://a.de dort", False),
    ],
)
def test_what_is_text(sentence, expected):
    assert collect_text.is_text(sentence.split()) is expected


def test_unseen_sentences_are_left_out_however_they_are_cut():
    left_out = collect_text.LeftOut([["Kirkja$", "$n", "er", "stór"], list("abcdefghi")])
    assert left_out.reason(["KIRKJAN", "er", "stór"]) == "same"
    assert left_out.reason(["Kirkjan", "er"]) == ""
    assert left_out.reason(["x", *"BCDEFGHI", "y"]) == "overlap"
    assert left_out.reason(["x", *"bcdefgh", "y"]) == ""  # seven words in a row
    assert collect_text.LeftOut([]).reason(list("abcdefghi")) == ""


def commit(folder, files):
    """A repository with these files; the hash of its only commit."""

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", "-C", str(folder), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    folder.mkdir(parents=True)
    git("init", "--quiet")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    git("add", ".")
    git("commit", "--quiet", "--message", "Text")
    return git("rev-parse", "HEAD")


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Two sources of one repository, in place of the real ones, and the directory of its clone."""
    files = {
        "a/1.txt": "Das ist gut. Das ist gut. Kurz.\n",
        "a/2.txt": "Das steht in dev.\n",
        "a/3.txt": "Das ist neu.\nDas ist gut.\n",
        "a/4.txt": "Viel zu groß.\n" * 5,
        "b/1.txt": "Das ist neu.\nDas ist anders.\n",
    }
    hash_of_commit = commit(tmp_path / "clones" / "some+text", files)
    first = collect_text.Source("de", "first", "some/text", hash_of_commit, "CC0", r"a/.*\.txt", text_extractors.lines)
    second = replace(first, name="second", files=r"b/.*\.txt")
    english = replace(second, language="en", name="english")
    monkeypatch.setattr(collect_text, "SOURCES", (first, second, english))
    monkeypatch.setattr(collect_text, "LARGEST_FILE", 60)
    dev = "(S (A 0=das) (B 1=Steht) (C 2=in) (D 3=dev) (E 4=.))\n"
    (tmp_path / "dev.discbracket").write_text(dev, encoding="utf-8")
    return tmp_path


def run(folder, *options):
    arguments = ["--clones", folder / "clones", "--output", folder / "text", "--leave-out", folder / "dev.discbracket"]
    collect_text.main([str(argument) for argument in [*arguments, *options]])
    return {path.name: gzip.open(path, "rt", encoding="utf-8").read() for path in (folder / "text" / "de").glob("*.gz")}


def test_each_line_is_written_once_and_none_of_dev(sources):
    found = run(sources, "--language", "de")
    assert found == {"first.txt.gz": "Das ist gut .\nDas ist neu .\n", "second.txt.gz": "Das ist anders .\n"}
    readme = (sources / "text" / "de" / "README.txt").read_text(encoding="utf-8").splitlines()
    assert len(readme) == 2
    assert readme[0].startswith("first.txt.gz: 8 words in 2 sentences; left out: 1 as in a dev or test set, 0 with 8")
    assert "https://github.com/some/text at commit" in readme[0]
    assert not (sources / "text" / "en").exists()


def test_files_that_are_there_are_kept_and_their_lines_known(sources):
    (sources / "text" / "de").mkdir(parents=True)
    with gzip.open(sources / "text" / "de" / "first.txt.gz", "wt", encoding="utf-8") as file:
        file.write("Das ist anders .\n")
    found = run(sources, "--language", "de", "--jobs", "1")
    assert found == {"first.txt.gz": "Das ist anders .\n", "second.txt.gz": "Das ist neu .\n"}


def test_a_sample_takes_the_first_of_each_few_files(sources, monkeypatch):
    first = collect_text.SOURCES[0]
    monkeypatch.setattr(collect_text, "SOURCES", (replace(first, every=3), replace(first, name="b", every=3, start=2)))
    assert run(sources, "--language", "de") == {"first.txt.gz": "Das ist gut .\n", "b.txt.gz": "Das ist neu .\n"}


def test_the_table_names_every_source(capsys):
    collect_text.main(["--table"])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == len(collect_text.SOURCES) > 15
    assert len({tuple(row[:2]) for row in rows}) == len(rows)
    for _, _, repository, commit, licence in rows:
        assert repository.count("/") == 1
        assert len(commit) == 40
        assert licence


def test_directories_are_needed(capsys):
    with pytest.raises(SystemExit) as stop:
        collect_text.main([])
    assert stop.value.code == 2
    assert "--clones and --output are needed" in capsys.readouterr().err
