"""Make the raw text that the encoders are pretrained on, from public repositories at fixed commits.

    python scripts/collect_text.py --clones CLONES --output TEXT --leave-out dev.discbracket.gz [--language de]

`CLONES/owner+name` is a clone of `https://github.com/owner/name`, bare or not; missing ones are cloned first.
(`--table` only lists them, with commits and licences.) The result is `TEXT/de/europarl.txt.gz` and so on, one sentence
per line, tokens separated by single spaces, tokenized by `discoparse.text` as raw text is for parsing; `discoparse
pretrain --pretokenized` reads these files. README.txt in the directory of each language lists sources, commits,
licences and numbers of words.

Lines are unique per language. Lines of fewer than 3 or more than 120 tokens and lines that are mostly numbers or
capitals are dropped. `--leave-out` takes dev and test files of treebanks: lines that are equal to one of their
sentences or share eight tokens in a row with one are dropped, too.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from text_extractors import (
    LANGUAGE_CODES,
    conllu,
    corrected,
    debates,
    europarl,
    laws_markdown,
    laws_xml,
    lines,
    novels,
    pairs,
    plays,
    posts,
    tagged,
    tei,
)

from discoparse.text import split_text
from discoparse.treebank import read_trees

Extractor = Callable[[bytes, str], Iterator[str]]

MIN_WORDS, MAX_WORDS = 3, 120
LARGEST_FILE = 4 * 2**20  # bytes; the models were made without the few larger files of Tatoeba and Common Voice
OVERLAP = 8  # a line that shares this many words in a row with a sentence of `--leave-out` is dropped


# --- Sources ---


@dataclass(frozen=True)
class Source:
    """Files of a repository at a commit, and how to extract their text."""

    language: str
    name: str
    repository: str
    commit: str
    licence: str
    files: str  # a regular expression that the path of a file matches whole
    extract: Extractor
    every: int = 1  # use only every n-th file, in the order of their paths,
    start: int = 0  # beginning with this one


@dataclass(frozen=True)
class _Repository:
    name: str
    commit: str
    licence: str

    def source(
        self, language: str, name: str, files: str, extract: Extractor, every: int = 1, start: int = 0
    ) -> Source:
        return Source(language, name, self.name, self.commit, self.licence, files, extract, every, start)


_EUROPARL = _Repository(
    "UDS-SFB-B6-Datasets/Multilingual-Parallel-Direct-Europarl",
    "4e284f102c5d37259c55b667cff9e866366eca53",
    "none stated in the repository; proceedings of the European Parliament, reuse allowed with acknowledgement",
)
_GERMAPARL = _Repository(
    "PolMine/GermaParlTEI",
    "d81fdf431efec3dbc0fb007993b9c936a84d1600",
    "CLARIN PUB+BY+NC+SA (CC BY-NC-SA); the protocols themselves are in the public domain",
)
_ELTEC = _Repository(
    "COST-ELTeC/ELTeC-deu",
    "d1eed488bd579ee95151b1a291a0056a90c36fa4",
    "texts in the public domain; markup CC BY 4.0",
)
_DRACOR = _Repository("dracor-org/gerdracor", "1a985284303b4338acb7a6deb51d4c81cc621d2e", "CC0 1.0")
_TATOEBA_SETS = _Repository(
    "Helsinki-NLP/Tatoeba-Challenge",
    "d34a89ac102fd236503a1911dd1050564bf4e682",
    "CC BY 2.0 FR (development and test sets)",
)
_COMMON_VOICE = _Repository(
    "common-voice/common-voice", "bc2cc85e101dc70332aa1e55e89f547ab6874b05", "sentences CC0 1.0 (code MPL 2.0)"
)
_NOVELS = _Repository(
    "mahlberg-lab/corpora",
    "64b4590bb73c24ba8994bc23f700a36a1c78866c",
    "none stated in the repository; texts of Project Gutenberg in the public domain",
)
_BIOMEDICAL = _Repository(
    "cambridgeltl/MTL-Bioinformatics-2016",
    "df0df02fae6dbb87d88ffcf323b9096528f06f84",
    "CC BY 4.0; abstracts of PubMed that the National Library of Medicine has published, articles of open access",
)
_WEB = _Repository("UniversalDependencies/UD_English-EWT", "15d613d8447b3478787d4c278730a1e48a945efb", "CC BY-SA 4.0")
_GUM = _Repository(
    "amir-zeldes/gum",
    "72ce5ac14978a324c2fd18d49484e65292cbe316",
    "by genre; CC BY (academic, court, interview, news) and CC BY-SA (bio, voyage) of those that are used",
)
_DIGITAL_GOV = _Repository(
    "GSA/digitalgov.gov",
    "4979583206d90ff1707b097454a9b169ca9e95e4",
    "public domain (work of the United States government, CC0 elsewhere)",
)
_18F = _Repository("18F/18f.gsa.gov", "0a55c75e6d9bc71c80136a3867dac52356177443", _DIGITAL_GOV.licence)
_DUTCH_LAWS = _Repository(
    "legalize-dev/legalize-nl",
    "1e25bb1bb93cc67a3cf47d8eaab2665d8aad224e",
    "none stated in the repository; Dutch laws are not protected by copyright",
)
_MICEPAHC = _Repository("antonkarl/micepahc", "3abdbdea4cbde09509e9dc763e352d8c30000f39", "CC BY 4.0")
_ERRORS = _Repository("antonkarl/iceErrorCorpus", "85279da197ede40ab3d49e44b37d159964d30bad", "CC BY 4.0")
_ICELANDIC_LAWS = _Repository(
    "althingi-net/lagasafn-xml",
    "87b65c345b7ab7db2d4770fd2f7710c83d7f6497",
    "the text of laws is not protected by copyright",
)

_TATOEBA_FILES = r"data/(?:dev|test|devtest)/[^/]*{}[^/]*/[^/]*\.txt"
_VOICE_FILES = r"server/data/{}/(?!singleword|countries-and|german-cities|fxvoice)[^/]*\.txt"

# Sagas and novels that are in IcePaHC, whole or in part. Between 8% and 88% of their lines (3% of Egils saga) share
# six words in a row with its train or dev set, against 1% for the others, so they would contain its test set as well.
_IN_ICEPAHC = "bandamanna|brynjolfur|egils|finnboga|fossa|grettis|gunnars|pilturogstulka|sturlunga|viglundar"

SOURCES = (
    _MICEPAHC.source("is", "micepahc", rf"neuralMIcePaHC/txt/(?!\d+\.(?:{_IN_ICEPAHC}))[^/]*\.txt", lines),
    _ERRORS.source("is", "errorcorpus", r"(?:data|testCorpus)/.*\.xml", corrected),
    _ICELANDIC_LAWS.source("is", "laws", r"data/xml/156b/[^/]*\.xml", laws_xml),
    _TATOEBA_SETS.source("is", "tatoeba", _TATOEBA_FILES.format("isl"), pairs),
    _COMMON_VOICE.source("is", "commonvoice", _VOICE_FILES.format("is"), lines),
    _TATOEBA_SETS.source("de", "tatoeba", _TATOEBA_FILES.format("deu"), pairs),
    _COMMON_VOICE.source("de", "commonvoice", _VOICE_FILES.format("de"), lines),
    _ELTEC.source("de", "novels", r"level1/.*\.xml", tei),
    _GERMAPARL.source("de", "bundestag", r"1[3-9]/.*\.xml", debates, every=5),
    _EUROPARL.source("de", "europarl", r"proceedings/xml/de/.*\.xml", europarl, every=3),
    _DRACOR.source("de", "plays", r"tei/.*\.xml", plays),
    _TATOEBA_SETS.source("nl", "tatoeba", _TATOEBA_FILES.format("nld"), pairs),
    _COMMON_VOICE.source("nl", "commonvoice", _VOICE_FILES.format("nl"), lines),
    _EUROPARL.source("nl", "europarl", r"proceedings/xml/nl/.*\.xml", europarl, every=2),
    _DUTCH_LAWS.source("nl", "laws", r"nl/.*\.md", laws_markdown, every=40),
    _EUROPARL.source("nl", "europarl2", r"proceedings/xml/nl/.*\.xml", europarl, every=4, start=1),
    _TATOEBA_SETS.source("en", "tatoeba", _TATOEBA_FILES.format("eng"), pairs),
    _COMMON_VOICE.source("en", "commonvoice", _VOICE_FILES.format("en"), lines),
    _NOVELS.source("en", "novels", r"(?:19C|AAW|ArTs|ChiLit|DNov)/.*\.txt", novels, every=2),
    _EUROPARL.source("en", "europarl", r"proceedings/xml/en/.*\.xml", europarl, every=5),
    _WEB.source("en", "web", r"not-to-release/sources/.*\.conllu", conllu),
    _GUM.source("en", "gum", r"dep/GUM_(?:academic|bio|court|interview|news|voyage)_.*\.conllu", conllu),
    _DIGITAL_GOV.source("en", "digitalgov", r"content/news/.*\.md", posts),
    _18F.source("en", "18f", r"content/posts/.*\.md", posts),
    _BIOMEDICAL.source("en", "biomedical", r"data/(?:BC2GM|BC5CDR|NCBI-disease|linnaeus)-IOB/\w+\.tsv", tagged),
)


# --- From files to lines ---


class LeftOut:
    """The sentences of dev and test sets, which must not occur in the text."""

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        self.sentences: set[str] = set()
        self.runs: set[str] = set()
        for sentence in sentences:
            words = _bare(sentence)
            self.sentences.add("".join(words))  # without spaces: tokens may be split differently
            self.runs.update(_runs(words))

    def reason(self, sentence: Sequence[str]) -> str:
        """Why a line is dropped: "same" or "overlap"; an empty string if it is kept."""
        words = _bare(sentence)
        if "".join(words) in self.sentences:
            return "same"
        return "overlap" if self.runs and any(run in self.runs for run in _runs(words)) else ""


def _bare(words: Sequence[str]) -> list[str]:
    """Lower-cased words without the signs that mark clitics."""
    return [word.strip("$").lower() for word in words]


def _runs(words: Sequence[str]) -> Iterator[str]:
    return (" ".join(words[start : start + OVERLAP]) for start in range(len(words) - OVERLAP + 1))


def is_text(words: Sequence[str]) -> bool:
    """Whether a sentence is worth training on: neither too short nor too long, not mostly numbers or capitals."""
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return False
    letters = sum(word.isalpha() or "$" in word for word in words)
    capitals = sum(len(word) > 1 and word.isupper() for word in words)
    return letters * 2 >= len(words) and capitals * 3 <= letters and not any("://" in word for word in words)


class _Git:
    """Reads files of a clone without a work tree."""

    def __init__(self, clone: Path) -> None:
        command = ["git", "-C", str(clone), "cat-file", "--batch"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, blob: str) -> bytes:
        """The contents of a file by its hash."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{blob}\n".encode())
        self.process.stdin.flush()
        size = int(self.process.stdout.readline().split()[2])
        return self.process.stdout.read(size + 1)[:-1]


def list_files(clone: Path, source: Source) -> list[str]:
    """The blobs of a source's files in the order of their paths."""
    command = ["git", "-C", str(clone), "ls-tree", "-r", "-l", "-z", source.commit]
    entries = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8", "replace")
    pattern = re.compile(source.files)
    found = []
    for entry in entries.split("\0"):
        fields, _, path = entry.partition("\t")
        if pattern.fullmatch(path):
            found.append((path, *fields.split()[2:]))
    # For a file that is missing from a partial clone, git prints a word instead of the size.
    return [
        blob
        for _, blob, size in sorted(found)[source.start :: source.every]
        if size.isdigit() and int(size) <= LARGEST_FILE
    ]


# State of a worker process: open clones, hashes of the paragraphs seen in each source, what to leave out.
_clones: dict[Path, _Git] = {}
_paragraphs: dict[Source, set[int]] = {}
_left_out = LeftOut([])


def _start(left_out: LeftOut) -> None:
    global _left_out
    _left_out = left_out


def collect_file(task: tuple[Source, Path, str]) -> list[tuple[str, str]]:
    """The lines of one file, each with the reason for dropping it (empty if it is kept)."""
    source, clone, blob = task
    if clone not in _clones:
        _clones[clone] = _Git(clone)
    # Tatoeba's files overlap. Skipping repeated paragraphs only saves time: duplicate lines are dropped later anyway.
    known = _paragraphs.setdefault(source, set())
    found: list[tuple[str, str]] = []
    for paragraph in source.extract(_clones[clone].read(blob), source.language):
        if hash(paragraph) not in known:
            known.add(hash(paragraph))
            found += to_lines(paragraph, source.language, _left_out)
    return found


def to_lines(paragraph: str, language: str, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    """The sentences of a paragraph as lines, each with the reason for dropping it (empty if it is kept)."""
    for sentence in split_text(paragraph, language):
        forms = sentence.forms
        yield left_out.reason(forms) if is_text(forms) else "not text", " ".join(forms)


# --- All sources of a language ---


def clone_of(source: Source, clones: Path) -> Path:
    """The clone of a source's repository, made where it is missing."""
    clone = clones / source.repository.replace("/", "+")
    if not clone.exists():
        address = f"https://github.com/{source.repository}"
        subprocess.run(["git", "clone", "--bare", "--quiet", address, str(clone)], check=True)
    return clone


def collect(language: str, clones: Path, output: Path, left_out: LeftOut, jobs: int) -> None:
    """Write the files of a language and their README; existing files are kept, and not written again."""
    folder = output / language
    folder.mkdir(parents=True, exist_ok=True)
    readme = folder / "README.txt"
    rows = readme.read_text(encoding="utf-8").splitlines() if readme.exists() else []
    seen: set[int] = set()
    for source in (source for source in SOURCES if source.language == language):
        path = folder / f"{source.name}.txt.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as file:
                seen.update(hash(line.rstrip("\n")) for line in file)
            continue
        clone = clone_of(source, clones)
        counts: Counter[str] = Counter()
        unfinished = path.with_suffix(".part")
        with (
            multiprocessing.Pool(jobs, _start, [left_out]) as pool,
            gzip.open(unfinished, "wt", encoding="utf-8", compresslevel=6) as file,
        ):
            tasks = [(source, clone, blob) for blob in list_files(clone, source)]
            for found in pool.imap(collect_file, tasks, chunksize=4):
                for reason, line in found:
                    if hash(line) in seen:
                        continue
                    seen.add(hash(line))
                    counts[reason or "sentences"] += 1
                    if not reason:
                        counts["words"] += line.count(" ") + 1
                        file.write(line + "\n")
            pool.close()  # not terminated: a process that has only just been forked may miss the signal, and hang
            pool.join()
        unfinished.replace(path)
        rows.append(
            f"{path.name}: {counts['words']:,} words in {counts['sentences']:,} sentences; left out: "
            f"{counts['same']} as in a dev or test set, {counts['overlap']} with {OVERLAP} words in a row of one, "
            f"{counts['not text']} that are not text. Source: https://github.com/{source.repository} at commit "
            f"{source.commit}. Licence: {source.licence}."
        )
        print(language, rows[-1], file=sys.stderr, flush=True)
        readme.write_text("\n".join(rows) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, help="directory of the clones")
    parser.add_argument("--output", type=Path, help="directory of the text")
    parser.add_argument("--leave-out", type=Path, nargs="+", default=[], help="treebank files that must stay unseen")
    parser.add_argument("--language", nargs="+", default=sorted(LANGUAGE_CODES), choices=sorted(LANGUAGE_CODES))
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--table", action="store_true", help="print the sources and stop")
    options = parser.parse_args(arguments)
    if options.table:
        for source in SOURCES:
            print(source.language, source.name, source.repository, source.commit, source.licence, sep="\t")
        return
    if not (options.clones and options.output):
        parser.error("--clones and --output are needed")
    left_out = LeftOut(tree.words for path in options.leave_out for tree in read_trees(path))
    for language in options.language:
        collect(language, options.clones, options.output, left_out, options.jobs)


if __name__ == "__main__":
    main()
