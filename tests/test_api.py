"""The public names of the package, conversion to and from NLTK's trees, and the examples in the documentation."""

from __future__ import annotations

import doctest
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from rich_trees import rich_trees
from strategies import trees

import discoparse
from discoparse import Node, Token, Tree
from discoparse.errors import DiscoparseError, UsageError
from discoparse.parser.finding import installed_models
from discoparse.treebank.nltk_trees import from_nltk, to_nltk

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_importing_the_package_does_not_import_torch():
    """Everything that needs no network starts at once."""
    program = (
        "import sys, discoparse, discoparse.cli.parse, discoparse.parser.finding;"
        "discoparse.Tree, discoparse.read_trees, discoparse.evaluate, discoparse.load;"
        "sys.exit('torch' in sys.modules or 'tokenizer' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_public_names():
    """The API and nothing else, whatever was imported meanwhile."""
    import discoparse.drawing

    assert dir(discoparse) == sorted(discoparse.__all__)
    assert all(getattr(discoparse, name) is not None for name in discoparse.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        discoparse.nonsense  # noqa: B018


def test_the_version_is_written_once_in_pyproject():
    project = (DOCS.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert re.findall(r'^version = "(.*)"$', project, re.MULTILINE) == [discoparse.__version__]


def test_a_checkout_that_is_not_installed_has_no_version(tmp_path):
    shutil.copytree(Path(discoparse.__file__).parent, tmp_path / "discoparse", ignore=shutil.ignore_patterns("*.pyc"))
    program = "import sys; sys.path.insert(0, sys.argv[1]); import discoparse; print(discoparse.__version__)"
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert found.stdout == "0+unknown\n"


def test_models_are_listed_with_their_facts():
    models = discoparse.models()
    assert [model["name"] for model in models] == list(installed_models())
    assert all(model["language"] and model["licence"] and model["figures"] for model in models)


@settings(deadline=None)
@given(rich_trees())
def test_trees_can_be_pickled(tree):
    tree.text, tree.tokens[0].span, tree.root.probability = "text", (0, 4), 0.5
    tree.probability, tree.expected_f1, tree.tokens[0].probability, tree.root.label_probability = 0.1, 0.2, 0.3, 0.4
    copy = pickle.loads(pickle.dumps(tree))
    assert copy == tree
    assert (copy.text, copy.tokens[0].span, copy.root.probability) == ("text", (0, 4), 0.5)
    assert (copy.probability, copy.expected_f1) == (0.1, 0.2)
    assert (copy.tokens[0].probability, copy.root.label_probability) == (0.3, 0.4)


def test_deep_trees_can_be_pickled():
    """Deeper than Python recurses."""
    node = Node("NP", [0])
    for _ in range(5000):
        node = Node("NP", [node])
    tree = Tree([Token("dogs", "NN")], node)
    assert pickle.loads(pickle.dumps(tree)) == tree


@settings(deadline=None)
@given(trees())
def test_nltk_trees_lose_no_word_tag_label_or_order(tree):
    pytest.importorskip("nltk")
    converted = tree.to_nltk()
    assert converted == to_nltk(tree)
    assert from_nltk(converted) == tree
    assert from_nltk(pickle.loads(pickle.dumps(converted))) == tree
    assert sorted(converted.leaves(), key=lambda leaf: leaf.position) == tree.words


def test_nltk_trees_from_elsewhere():
    """Leaves that are plain strings stand in the order in which they come."""
    nltk = pytest.importorskip("nltk")
    tree = from_nltk(nltk.Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VB barks)))"))
    assert str(tree) == "(S (NP (DT 0=the) (NN 1=dog)) (VP (VB 2=barks)))"
    assert str(from_nltk(nltk.Tree("NN", ["dogs"]))) == "(ROOT (NN 0=dogs))"


def test_what_of_an_nltk_tree_was_cut_out_keeps_its_order():
    pytest.importorskip("nltk")
    tree = Tree(
        [Token("Wake", "VB"), Token("us", "PRP"), Token("up", "RP")], Node("S", [Node("VP", [0, 2]), Node("NP", [1])])
    )
    assert str(from_nltk(to_nltk(tree)[0])) == "(VP (VB 0=Wake) (RP 1=up))"


def test_nltk_trees_that_are_no_trees_of_tagged_words_are_refused():
    nltk = pytest.importorskip("nltk")
    with pytest.raises(DiscoparseError, match="'dog' must stand alone under a part-of-speech tag"):
        from_nltk(nltk.Tree("S", ["the", "dog"][::-1]))
    with pytest.raises(DiscoparseError, match="the node NP has no children"):
        from_nltk(nltk.Tree("S", [nltk.Tree("NP", [])]))
    with pytest.raises(UsageError, match=r"expected an nltk\.Tree, not str"):
        from_nltk("(S (NN dogs))")
    leaf = to_nltk(Tree([Token("dogs", "NN")], Node("S", [0])))[0]
    with pytest.raises(DiscoparseError, match="share a position"):
        from_nltk(nltk.Tree("S", [leaf, leaf]))


_MODELS = {"python": {"en", "en-large", "nl", "nl-large"}, "constraints": {"en"}, "probabilities": {"en"}}


@pytest.mark.parametrize("page", [*(f"guides/{name}.md" for name in _MODELS), "reference/tokenization.md"])
def test_examples_in_the_documentation_run(page):
    """Those of the guides need models."""
    if page == "guides/python.md":
        pytest.importorskip("nltk")
    if missing := _MODELS.get(Path(page).stem, set()) - installed_models().keys():
        pytest.skip(f"this installation does not have the models {', '.join(sorted(missing))}")
    failures, examples = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert examples
    assert not failures
