"""Builds the documentation as a site that needs no network:

    sphinx-build -W --keep-going -c docs . build/site

The source directory is the root of the repository, so the same relative links work here and on GitHub.
"""

from importlib.metadata import version as installed_version

from sphinx.application import Sphinx

from discoparse.cli import COMMANDS

project = "discoparse"
release = version = installed_version("discoparse")
author = "the discoparse authors"
project_copyright = author

extensions = ["myst_parser"]
root_doc = "docs/index"
include_patterns = ["docs/**", "research/**", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = [
    "research/results-notes.md",
    "research/grid-notes.md",
    "research/grid-nl-notes.md",
    "research/paper-recipe-notes.md",
    "research/variants-notes.md",
]  # parts of other pages
nitpicky = True

myst_heading_anchors = 4  # GitHub's anchors

html_theme = "furo"
html_title = f"discoparse {release}"
html_show_copyright = False
html_copy_source = False
html_use_index = False
templates_path = ["_templates"]
html_additional_pages = {"index": "start.html"}  # the root document is docs/index.html; the site begins at index.html

# Plain Markdown has no table of contents for a site, so it stands here. Sphinx reports pages that are missing from it.
NAVIGATION = {
    "Start": ["docs/start/installation", "docs/start/first-steps"],
    "Guides": [
        "docs/guides/parse-text",
        "docs/guides/train-on-your-treebank",
        "docs/guides/new-language",
        "docs/guides/pretrained-encoders",
        "docs/guides/constraints",
        "docs/guides/probabilities",
        "docs/guides/evaluate-and-compare",
        "docs/guides/draw-for-papers",
        "docs/guides/python",
        "docs/guides/spacy",
        "docs/guides/nltk",
        "docs/guides/tables",
        "docs/guides/many-cores",
    ],
    "Commands": [f"docs/commands/{name}" for name in COMMANDS],
    "Formats and internals": [
        f"docs/reference/{name}"
        for name in ["formats", "tokenization", "model-format", "api", "oracle", "architecture"]
    ],
    "Research": [
        f"research/{name}"
        for name in [
            "oracles",
            "oracle-figures",
            "results",
            "grid-nl",
            "grid",
            "paper-recipe",
            "variants",
            "what-is-hard",
            "reproducing",
            "speed",
            "trust",
            "trial",
            "text-sources",
            "lab-notebook",
        ]
    ],
    "Project": ["CONTRIBUTING", "CHANGELOG"],
}


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the table of contents to the first page."""
    if page == root_doc:
        for caption, pages in NAVIGATION.items():
            entries = "\n".join(f"/{name}" for name in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_navigation)
