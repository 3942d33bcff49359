"""The spaCy component: found by its entry point, attributes of documents, and what spaCy does with documents."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys

import pytest
from tiny_models import tiny_model

from discoparse import DiscoparseError, Token, Tree, load

spacy = pytest.importorskip("spacy", reason="the extra `spacy` is not installed")
from spacy.tokens import Doc, DocBin  # noqa: E402

from discoparse.integrations.constituents import NonConstituent, NotParsed, register, store  # noqa: E402

TEXT = "What did she say? Go now! Yes (really)."


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """The directory of a small untrained model."""
    directory = tmp_path_factory.mktemp("models") / "tiny"
    tiny_model(directory)
    return directory


def pipeline(model, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("discoparse", config={"model": str(model), "device": "cpu", **config})
    return nlp


@pytest.fixture
def doc():
    """A document whose first sentence has a known tree with a discontinuous VP; the second has none."""
    register()
    nlp = spacy.blank("en")
    words = ["\n", "What", "did", " ", "she", "say", "?", "Go", "!"]
    doc = Doc(nlp.vocab, words, sent_starts=[k in (0, 7) for k in range(9)])
    tokens = [Token(*pair.split("/")) for pair in ["What/WP", "did/VBD", "she/PRP", "say/VB", "?/."]]
    constituents = [("ROOT", range(5)), ("S", range(5)), ("SQ", range(4)), ("VP", {0, 3}), ("NP", {2}), ("PR", {2})]
    tree = Tree.from_constituents(tokens, constituents)
    for k, node in enumerate(tree.preorder()):
        node.label_probability = k / 10
    store(next(doc.sents), tree)
    return doc


PARSED = "(ROOT (S (SQ (VP (WP 0=What) (VB 3=say)) (VBD 1=did) (NP (PR (PRP 2=she)))) (. 4=?)))"


def test_spacy_finds_the_component_without_an_import(model):
    code = f"""if True:
        import spacy
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("discoparse", config={{"model": {str(model)!r}, "device": "cpu"}})
        print(len(next(nlp("Go home.").sents)._.tree))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr


def test_trees_are_those_of_the_parser_for_the_tokens_of_the_pipeline(model):
    parser = load(model, "cpu")
    doc = pipeline(model)(TEXT)
    sentences = [[token.text for token in sentence] for sentence in doc.sents]
    assert [words[0] for words in sentences] == ["What", "Go", "Yes"]
    assert [sentence._.tree for sentence in doc.sents] == parser.parse_tokens(sentences)
    assert [sentence._.parse_string for sentence in doc.sents] == list(map(str, parser.parse_tokens(sentences)))


def test_words_are_written_as_in_treebanks(model, monkeypatch):
    """Quotation marks and dots as in the text that the tokenizer makes; a word of nothing visible stays."""
    nlp = pipeline(model)
    seen = []
    component = nlp.get_pipe("discoparse")
    real = component.parser.parse_tokens
    monkeypatch.setattr(component.parser, "parse_tokens", lambda words: seen.extend(words) or real(words))
    nlp.get_pipe("discoparse")(Doc(nlp.vocab, ["“", "Go", "…", "\u200b"], sent_starts=[True, False, False, False]))
    assert seen == [['"', "Go", "...", "\u200b"]]


def test_tags_are_set_unless_disabled(model):
    doc = pipeline(model)(TEXT)
    assert [token.tag_ for token in doc] == [tag for sentence in doc.sents for tag in sentence._.tree.tags]
    assert all(token.tag_ for token in doc)
    assert not any(token.tag_ for token in pipeline(model, disable_tagger=True)(TEXT))


@pytest.mark.filterwarnings("error")  # white space is not a sentence that could not be parsed
def test_pipe_gives_what_single_calls_give(model):
    nlp = pipeline(model)
    texts = [TEXT, "", "One. " * 5, "   ", "Last one"]
    single = [[str(sentence._.tree) for sentence in nlp(text).sents if text.strip()] for text in texts]
    together = list(nlp.pipe(texts, batch_size=2))
    assert [doc.text for doc in together] == texts
    assert [[str(s._.tree) for s in doc.sents if doc.text.strip()] for doc in together] == single
    assert sum(map(len, single)) == 3 + 5 + 1


def test_pipe_parses_sentences_of_a_batch_together(model, monkeypatch):
    nlp = pipeline(model)
    parser = nlp.get_pipe("discoparse").parser
    calls = []
    real = parser.parse_tokens
    monkeypatch.setattr(parser, "parse_tokens", lambda words: calls.append(len(words)) or real(words))
    list(nlp.pipe(["Go. Stay.", "Go.", "Go."], batch_size=2))
    assert calls == [3, 1]


def test_several_processes(model):
    nlp = pipeline(model, threads=1)
    expected = [str(sentence._.tree) for sentence in nlp(TEXT).sents]
    for doc in nlp.pipe([TEXT] * 4, n_process=2, batch_size=1):
        assert [str(sentence._.tree) for sentence in doc.sents] == expected


def test_a_saved_pipeline_brings_its_model(model, tmp_path):
    here = tmp_path / "model"
    shutil.copytree(model, here)
    nlp = pipeline(here)
    expected = [str(sentence._.tree) for sentence in nlp(TEXT).sents]
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(here)
    again = spacy.load(tmp_path / "pipeline")
    assert [str(sentence._.tree) for sentence in again(TEXT).sents] == expected
    again.to_disk(tmp_path / "copy")
    assert spacy.load(tmp_path / "copy")(TEXT)[0]._.constituents


def test_a_pipeline_takes_over_what_another_saved(model, tmp_path):
    tiny_model(tmp_path / "other", seed=1)
    other, nlp = pipeline(tmp_path / "other"), pipeline(model)
    expected, before = ([str(sentence._.tree) for sentence in each(TEXT).sents] for each in (other, nlp))
    assert expected != before
    other.to_disk(tmp_path / "saved")
    nlp.from_disk(tmp_path / "saved")
    assert [str(sentence._.tree) for sentence in nlp(TEXT).sents] == expected


def test_the_model_is_by_default_that_of_the_language(monkeypatch):
    asked = []
    monkeypatch.setattr("discoparse.integrations.spacy_component.load", lambda *options: asked.append(options))
    nlp = spacy.blank("nl")
    component = nlp.add_pipe("discoparse", config={"device": "cpu", "threads": 2})
    assert asked == []  # nothing is loaded before it is needed
    assert component.parser is None
    assert asked == [("nl", "cpu", 2)]


def test_documents_without_sentences_are_refused(model):
    nlp = spacy.blank("en")
    nlp.add_pipe("discoparse", config={"model": str(model)})
    with pytest.raises(DiscoparseError, match=r"no sentences: nlp\.add_pipe"):
        nlp("No boundaries here.")
    assert len(nlp("")) == 0


def test_sentences_too_long_have_no_tree_and_cost_only_themselves(model):
    nlp = pipeline(model)
    with pytest.warns(UserWarning, match=r"the sentence 'a a .*…' is not parsed: it has 2,001 words"):
        doc = nlp("Go. " + "a " * 2000 + ".")
    short, long = doc.sents
    assert len(short._.tree) == 2
    with pytest.raises(NotParsed, match=r"no tree for the sentence 'a a .*…': add `discoparse`"):
        _ = long._.labels
    assert {constituent.span.sent.text for constituent in doc._.constituents} == {"Go."}


# -- attributes --------------------------------------------------------------------------------------------------------


def test_spans_that_are_constituents_have_labels(doc):
    sentence = next(doc.sents)
    assert sentence._.labels == ("ROOT", "S")
    assert doc[1:6]._.labels == ("SQ",)
    assert doc[4:5]._.labels == doc[3:5]._.labels == doc[4]._.labels == ("NP", "PR")
    assert doc[2]._.labels == ()


@pytest.mark.parametrize("place", [slice(1, 3), slice(6, 8), slice(3, 4)])
def test_other_spans_are_not_constituents(doc, place):
    """A part of one, a constituent with a word of the next sentence, white space."""
    with pytest.raises(NonConstituent, match="not a constituent"):
        _ = doc[place]._.labels


def test_parse_strings_number_the_tokens_of_the_sentence(doc):
    assert next(doc.sents)._.parse_string == PARSED
    assert str(next(doc.sents)._.tree) == PARSED
    assert doc[4]._.parse_string == "(NP (PR (PRP 2=she)))"
    assert doc[2]._.parse_string == "(VBD 1=did)"
    (vp,) = (c for c in doc._.constituents if c.labels == ("VP",))
    assert vp.parse_string == "(VP (WP 0=What) (VB 3=say))"


def test_parse_strings_hide_brackets():
    register()
    doc = Doc(spacy.blank("de").vocab, ["Ja", "("], sent_starts=[True, False])
    store(doc[0:2], Tree.from_constituents([Token("Ja", "ITJ"), Token("(", "$(")], [("A(B", {0, 1})]))
    assert doc[0:2]._.parse_string == str(doc[0:2]._.tree) == "(A#LRB#B (ITJ 0=Ja) ($[ 1=#LRB#))"


def test_trees_know_their_text_and_belong_to_sentences(doc):
    tree = next(doc.sents)._.tree
    assert tree.text == doc.text.strip()[: len(tree.text)]
    assert tree.tokens[3].span == (doc[5].idx, doc[5].idx + 3)
    with pytest.raises(NonConstituent, match="not a whole sentence: 'What did"):
        _ = doc[1:6]._.tree


def test_constituents_are_in_preorder_with_tokens(doc):
    found = list(next(doc.sents)._.constituents)
    assert [(c.labels, [token.text for token in c]) for c in found] == [
        (("ROOT", "S"), ["What", "did", "she", "say", "?"]),
        (("SQ",), ["What", "did", "she", "say"]),
        (("VP",), ["What", "say"]),
        ((), ["What"]),
        ((), ["say"]),
        ((), ["did"]),
        (("NP", "PR"), ["she"]),
        ((), ["?"]),
    ]
    assert list(doc._.constituents) == found
    assert [c.labels for c in doc[1:6]._.constituents] == [c.labels for c in found[1:-1]]
    assert found[0].label_probabilities == (0.0, 0.1)


def test_discontinuous_constituents_have_parts_and_gaps(doc):
    (vp,) = (c for c in doc._.constituents if c.is_discontinuous)
    assert vp._.labels == ("VP",)
    assert [span.text for span in vp.spans] == ["What", "say"]
    assert [(span.start, span.end) for span in vp.gaps] == [(2, 5)]
    assert vp.spans.name == "VP"
    assert vp.span == doc[1:6]
    assert [token.i for token in vp.tokens] == [1, 5]
    assert len(vp) == 2
    assert (str(vp), repr(vp)) == ("What … say", "<VP What … say>")
    (np,) = (c for c in doc._.constituents if c.labels == ("NP", "PR"))
    assert np.gaps == []
    assert (len(np.spans), np.span) == (1, doc[4:5])


def test_parents_and_children(doc):
    sentence = next(doc.sents)
    assert sentence._.parent is None
    assert [c.text for c in sentence._.children] == [doc[1:6].text, "?"]
    assert doc[4]._.parent.labels == ("SQ",)
    assert doc[1]._.parent.text == "What … say"
    assert list(doc[4]._.constituent.children) == []
    for constituent in doc._.constituents:
        assert all(child.parent == constituent for child in constituent.children)
    assert len({c.parent for c in sentence._.children}) == 1


def test_constituents_around_a_token(doc):
    assert [c.labels for c in doc[1]._.constituents] == [(), ("VP",), ("SQ",), ("ROOT", "S")]
    assert doc[1]._.constituents[0] == doc[1]._.constituent == doc[1:2]._.constituent
    assert doc[1]._.constituent != doc[5]._.constituent


def test_stored_and_joined_documents_keep_their_trees(doc):
    """DocBin and bytes, pickles, documents cut out and put together."""
    (stored,) = DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)
    as_bytes = Doc(doc.vocab).from_bytes(doc.to_bytes())
    joined = Doc.from_docs([doc, doc])
    for copy in [stored, as_bytes, pickle.loads(pickle.dumps(doc)), joined]:
        assert next(copy.sents)._.parse_string == PARSED
        first, original = next(copy._.constituents), next(doc._.constituents)
        assert first.text == original.text
        assert first != original  # of another document
    parsed = [sentence for sentence in joined.sents if sentence.text.strip().startswith("What")]
    assert [sentence._.parse_string for sentence in parsed] == [PARSED, PARSED]


def test_attributes_of_others_are_not_overwritten():
    """benepar has the same names. It must work beside discoparse: only a pipeline with both is refused."""
    code = """if True:
        import spacy
        from spacy.tokens import Span
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")  # spaCy imports all components that are installed
        assert not Span.has_extension("labels")
        Span.set_extension("labels", default="theirs")
        nlp.add_pipe("discoparse")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message = "UsageError: another component (benepar?) has already defined span._.labels: use one of the two"
    assert done.stderr.splitlines()[-1].endswith(message)
