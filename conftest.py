"""Modules that import an extra when they are imported: where it is not installed, their doctests are left out."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = {
    "src/discoparse/integrations/constituents.py": "spacy",
    "src/discoparse/integrations/nltk_parser.py": "nltk",
    "src/discoparse/integrations/spacy_component.py": "spacy",
    "src/discoparse/neural/mpnet.py": "transformers",
    "src/discoparse/neural/kernels/averaging.py": "triton",
    "src/discoparse/neural/kernels/derivation.py": "triton",
    "src/discoparse/neural/kernels/functions.py": "triton",
    "src/discoparse/neural/kernels/narrow.py": "triton",
    "src/discoparse/neural/kernels/recurrence.py": "triton",
    "src/discoparse/neural/kernels/stepwise.py": "triton",
}
collect_ignore = [module for module, extra in NEEDED.items() if find_spec(extra) is None]


def pytest_report_header() -> list[str]:
    return [f"left out, since an extra is not installed: {module}" for module in collect_ignore]
