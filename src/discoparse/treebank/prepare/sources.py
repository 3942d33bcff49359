"""Finding the files of a treebank in the folder or file that the user holds."""

from __future__ import annotations

import codecs
import os
import re

from discoparse.errors import UsageError
from discoparse.files.streams import DAMAGED, folder_files, open_bytes, suffix

SPLITS = ("train", "dev", "test")
_WSJ = re.compile(r"(?:wsj_)?(\d\d)(?:\d\d)?\.mrg(?:\.gz|\.xz)?$", re.IGNORECASE)


def stem(path: str) -> str:
    """The name of a file without its endings.

    >>> stem("penn/11532192.tree.gz")
    '11532192'
    """
    return os.path.basename(path).partition(".")[0]


def files_ending(source: str, ending: str) -> list[str]:
    """All files of a folder whose names end so, `.gz` and `.xz` aside; a single file is taken for what it is."""
    if not os.path.isdir(source):
        return [source]
    found = folder_files(source, lambda name: suffix(name) == ending)
    if not found:
        raise UsageError(f"{source} holds no {ending} files")
    return found


def wsj_sections(folder: str) -> dict[int, list[str]]:
    """The files of the Wall Street Journal by section: `00/wsj_0001.mrg`, `wsj_0001.mrg` or `00.mrg`."""
    sections: dict[int, list[str]] = {}
    for file in folder_files(folder, lambda name: _WSJ.match(name) is not None):
        match = _WSJ.match(os.path.basename(file))
        assert match is not None
        sections.setdefault(int(match[1]), []).append(file)
    if not sections:
        raise UsageError(f"{folder} holds no files wsj_0001.mrg …: name the folder of the sections 00 to 24")
    return sections


def split_files(folder: str, ending: str) -> dict[str, str] | None:
    """The files of a folder that are called train, dev and test; None if there is none of them.

    SPMRL's folders also hold `train5k` and predicted versions, which are skipped.
    """
    files = folder_files(folder, lambda name: suffix(name) == ending)
    found: dict[str, str] = {}
    for split in SPLITS:
        name = re.compile(rf"{split}(?![a-z0-9])", re.IGNORECASE)
        named = [file for file in files if name.match(os.path.basename(file))]
        gold = [file for file in named if "gold" in os.path.basename(file).lower()] or named
        if len(gold) > 1:
            raise UsageError(f"{folder} holds several {split} files: {', '.join(gold[:3])}")
        if gold:
            found[split] = gold[0]
    missing = [split for split in SPLITS if split not in found]
    if found and missing:
        raise UsageError(f"{folder} lacks the {' and the '.join(missing)} file (as train.German.gold.xml)")
    return found or None


def only_file(source: str, endings: tuple[str, ...]) -> str:
    """The file itself, or the one file of a folder with one of these endings."""
    if not os.path.isdir(source):
        return source
    found = folder_files(source, lambda name: suffix(name) in endings)
    if len(found) != 1:
        raise UsageError(f"{source} holds {len(found)} {' or '.join(endings)} files: name the one to read")
    return found[0]


def encoding_of(path: str, otherwise: str) -> str:
    """UTF-8 if the whole file is UTF-8, `otherwise` if not: the older treebanks are ISO-8859-1."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as stream:
        try:
            while block := stream.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return otherwise
        except DAMAGED:  # reported when the trees are read
            pass
    return "utf-8"
