"""Figures that others published or that were measured of their systems, as data with their sources."""

from __future__ import annotations

from discoparse.experiment.tables import Cell, Table

PAPER = "Coavoux and Cohen (2019), Discontinuous Constituency Parsing with a Stack-Free Transition System"

# Table 7 (Table 3 is its F1 and POS): F1, P, R over all constituents, F1, P, R over discontinuous ones, POS.
_DETAILS = {
    ("dev", "DPTB", "static"): (91.1, 91.1, 91.2, 68.2, 75.3, 62.3, 97.2),
    ("dev", "DPTB", "dynamic"): (91.4, 91.5, 91.3, 70.9, 76.1, 66.4, 97.2),
    ("dev", "Tiger", "static"): (87.4, 87.8, 87.0, 61.7, 64.4, 59.2, 98.3),
    ("dev", "Tiger", "dynamic"): (87.6, 88.2, 87.0, 62.5, 68.6, 57.3, 98.4),
    ("dev", "Negra", "static"): (83.6, 83.8, 83.4, 51.3, 53.3, 49.5, 97.9),
    ("dev", "Negra", "dynamic"): (84.0, 84.7, 83.4, 54.0, 58.1, 50.5, 98.0),
    ("test", "DPTB", "dynamic"): (90.9, 91.3, 90.6, 67.3, 73.3, 62.1, 97.6),
    ("test", "Tiger", "dynamic"): (82.5, 83.5, 81.5, 55.9, 62.4, 50.6, 98.0),
    ("test", "Negra", "dynamic"): (83.2, 83.8, 82.6, 56.3, 64.9, 49.8, 98.0),
}

# Table 6: parser, setting, tokens/s and sentences/s on Tiger, the same on DPTB (dev sets, different hardware).
_TIMES = (
    ("Coavoux and Cohen 2019", "Python, neural, greedy, one core of an Intel i7", 978, 64, 910, 38),
    ("MTG, Coavoux et al. 2019", "C++, neural, greedy, CPU", 1934, 126, 1887, 80),
    ("MTG, Coavoux and Crabbé 2017", "C++, perceptron, beam 4, CPU", 4700, 260, None, None),
    ("rparse, Maier 2015", "Java, perceptron, beam 8, CPU", None, 80, None, None),
    ("rparse, Maier 2015", "Java, perceptron, beam 1, CPU", None, 640, None, None),
    ("Corro et al. 2017", "C++, neural, CPU", None, None, None, 7.3),
)

# Test sets, F1 and discontinuous F1, as each reports them, and sentences/s as reported.
_PEERS = (
    ("Coavoux and Cohen 2019 (bi-LSTM, dynamic oracle)", 90.9, 67.3, 82.5, 55.9, 83.2, 56.3, "38–64, one core"),
    ("Coavoux, Crabbé and Cohen 2019 (gap)", 91.0, 71.3, 82.7, 55.9, 83.2, 54.6, "80–126, CPU"),
    ("Corro 2020", 92.9, 64.9, 85.2, 51.2, 86.3, 56.1, "355–478"),
    ("Vilares and Gómez-Rodríguez 2020 (tagging)", 89.1, 41.8, 79.2, 40.1, 77.1, 36.5, "568–715, GPU"),
    ("Ruprecht 2022 (supertagging)", 91.7, 74.2, 83.7, 59.5, 83.7, 52.9, "82–132"),
    ("Coavoux 2021, BERT base", 95.0, 82.5, 90.2, 72.9, 91.7, 73.3, None),
    ("Yang and Tu 2023, large encoder", 96.1, 87.1, 92.3, 76.9, 93.8, 78.8, "110–200, GPU"),
)

# On nl_alpino, one core of a small x86 machine, dev set, F1 and discontinuous F1 by disco-dop's evaluator.
_MEASURED = (
    (
        "a public fork of the paper's code (Python, PyTorch), static",
        "6.8 sentences/s",
        "603 tokens/s (757 batched)",
        "0.6 GB",
        34.5,
        2.3,
        "after one epoch of 14 CPU minutes",
    ),
    ("the same fork", "15 sentences/s", "21 sentences/s", None, None, None, "on an H200 GPU"),
    (
        "MTG 1.0 (C++, gap, perceptron), beam 4",
        "448 s",
        "4,730 tokens/s (beam 1: 13,300)",
        "2.0 GB",
        74.9,
        49.7,
        "with gold POS tags",
    ),
    ("MTG 1.2 (C++, bi-LSTM)", "–", "950 tokens/s", "53 MB", None, None, "not trained to the end"),
    ("disco-dop 2DOP (chart)", "138 s", "59 tokens/s", "0.8 GB", 63.4, 32.6, "sentences up to 40 tokens"),
)

SCORE_HEADS = ("F1", "P", "R", "disc. F1", "disc. P", "disc. R", "POS")


def paper_scores() -> Table:
    """Tables 3 and 7 of the paper."""
    rows: list[list[Cell]] = [[*key, *values] for key, values in _DETAILS.items()]
    return Table(
        "paper-scores",
        "Tables 3 and 7 of the paper, its own treebanks",
        ["set", "treebank", "oracle", *SCORE_HEADS],
        rows,
        text_columns=3,
        notes=[f"Source: {PAPER}. One model each; these treebanks need a licence (research/reproducing.md)."],
    )


def paper_times() -> Table:
    """Table 6 of the paper."""
    heads = ["parser", "setting", "Tiger tokens/s", "Tiger sent./s", "DPTB tokens/s", "DPTB sent./s"]
    return Table(
        "paper-times",
        "Table 6 of the paper: parsing times as reported by their authors, on different hardware",
        heads,
        _TIMES,
        text_columns=2,
        notes=[f"Source: {PAPER}, and the papers that it cites there."],
    )


def peer_scores() -> Table:
    """Published scores of other parsers."""
    heads = ["parser", "DPTB F1", "disc.", "Tiger F1", "disc.", "Negra F1", "disc.", "sentences/s"]
    return Table(
        "peer-scores",
        "Other parsers as published: F1 and discontinuous F1 on test sets",
        heads,
        _PEERS,
        notes=[
            "As reported by the authors named; the fastest published continuous parser (CRF, on a "
            "GTX 1080 Ti) does 842 to 1,327 sentences/s."
        ],
    )


def peer_measurements() -> Table:
    """Other parsers, run on nl_alpino."""
    heads = ["parser", "training", "parsing", "memory", "F1", "disc. F1", "remark"]
    return Table(
        "peer-measurements",
        "Other parsers, run on nl_alpino: one core of a small x86 machine, dev set",
        heads,
        _MEASURED,
        notes=["Scored with disco-dop's evaluator; not rerun by this command."],
    )


def published_tables() -> list[Table]:
    """All of them, in the order of the report."""
    return [paper_scores(), paper_times(), peer_scores(), peer_measurements()]
