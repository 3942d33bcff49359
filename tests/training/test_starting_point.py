"""Trainings that start from an encoder or a model: what is kept, what is added, what does not fit."""

from __future__ import annotations

import dataclasses
import json

import pytest
import torch
from command_line import run_main
from safetensors.torch import load_file
from sessions import run, signal_after
from small_texts import WORDS, small_pretraining, small_recipe
from tiny_encoders import save_encoder
from tiny_models import DEV, TRAIN, short_recipe, tiny_model

from discoparse.errors import UsageError
from discoparse.model.encoder import load_encoder
from discoparse.model.info import read_info
from discoparse.model.model import load_model, replace_info
from discoparse.neural.vocabulary import UNKNOWN, Vocabulary
from discoparse.parser.finding import load_parser
from discoparse.training.loop import Trainer
from discoparse.training.starting_point import read_start
from discoparse.training.treebanks import set_name
from discoparse.treebank import write_trees
from discoparse.treebank.discbracket import parse_tree

pytestmark = pytest.mark.usefixtures("one_thread", "default_interrupts")
CPU = torch.device("cpu")
_SIZES = {name: WORDS[name] for name in ("word_size", "character_size", "character_hidden", "hidden")}
_NEW = [parse_tree("(WOW (ZAP 0=flabbergasted) (NP (N 1=dogs)) (P 2=!))")]  # nothing of it but NP and N is known


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of the toy treebank, which parses it well."""
    folder = tmp_path_factory.mktemp("start") / "model"
    run(folder, short_recipe("fast", epochs=60))
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    small_pretraining(folder, "bilstm")
    return folder / "out"


def test_a_model_goes_on_where_it_was(model):
    """Before the first update the network is the model: the same trees, and the same scores to the last bit."""
    start = read_start(model)
    trainer = Trainer(start.adapt(short_recipe("finetune")), TRAIN, CPU, 1, start=start)
    assert trainer.vocabulary == start.vocabulary
    for name, tensor in trainer.network.state_dict().items():
        assert torch.equal(tensor, start.parameters[name]), name


def test_the_tagger_of_a_model_learns_to_read_both_layers(tmp_path, model):
    """At first it tags as before; words and tags that are new do not change that. The other way round is refused."""
    start = read_start(model)
    recipe = start.adapt(short_recipe("finetune", min_frequency=1, tag_both=True, epochs=1), stated=["tag_both"])
    trainer = Trainer(recipe, [*TRAIN, *_NEW], CPU, 1, start=start)
    known, weight = start.parameters["tagger.weight"], trainer.network.tagger.weight
    assert weight.shape == (len(known) + 2, 2 * known.shape[1])
    assert torch.equal(weight[: len(known), : known.shape[1]], known)
    assert not weight[: len(known), known.shape[1] :].any()
    assert weight[len(known) :].all()
    run(tmp_path / "both", recipe, init=start)
    both = read_start(tmp_path / "both")
    assert both.config.tag_both
    assert both.parameters["tagger.weight"][:, known.shape[1] :].any()
    assert both.adapt(short_recipe("finetune")).tag_both  # without a word about it
    assert both.fit(short_recipe("finetune")).tag_both  # from Python, where all sizes of a recipe are meant
    run(tmp_path / "again", short_recipe("finetune", epochs=1), init=both)
    assert read_start(tmp_path / "again").config.tag_both
    assert not start.adapt(short_recipe("finetune", tag_both=True)).tag_both
    with pytest.raises(UsageError, match="tag_both = False does not fit"):
        both.adapt(short_recipe("finetune"), stated=["tag_both"])


def test_names_that_are_new_are_added_behind_the_others(model):
    start = read_start(model)
    known = start.vocabulary
    trainer = Trainer(start.adapt(short_recipe("finetune", min_frequency=1)), [*TRAIN, *_NEW], CPU, 1, start=start)
    names = trainer.vocabulary
    assert names.words == [*known.words, "!", "flabbergasted"]
    assert names.tags == [*known.tags, "P", "ZAP"]
    assert names.labels == [*known.labels, ("WOW",)]
    assert names.characters[: len(known.characters)] == known.characters
    assert set(names.characters) == {*known.characters, *"flabbergasted!"}
    assert names.rare == known.rare
    assert names.added == (len(known.words),)
    assert names.ranks["!"] == 1
    assert Vocabulary.from_json(names.to_json()) == names
    again = dataclasses.replace(start, vocabulary=names).extend(dataclasses.replace(names, words=["eftir"]))
    assert again.added == (len(known.words), len(names.words))
    assert start.extend(known).added == ()
    parameters = dict(trainer.network.named_parameters())
    for name, before in start.parameters.items():
        assert torch.equal(parameters[name][tuple(map(slice, before.shape))], before), name
    for name in ("encoder.word_embedding.weight", "encoder.character_embedding.weight"):
        added = parameters[name][len(start.parameters[name]) :]
        assert len(added)
        assert (added == start.parameters[name][UNKNOWN]).all()
    assert parameters["tagger.weight"][-1].abs().sum() > 0
    trainer.start_epoch()
    for _ in trainer.steps():  # all of it can be trained on
        pass


def test_finetuning_keeps_what_the_model_can_do_and_learns_what_is_new(tmp_path, model):
    recipe = short_recipe("finetune", epochs=6, min_frequency=1)
    start = read_start(model)
    outcome = run(tmp_path / "tuned", start.adapt(recipe), init=start)
    before = read_info(model).metrics["dev"]["f1"]
    assert outcome.best is not None
    assert outcome.best["f1"] > before - 1
    scratch = run(tmp_path / "scratch", start.adapt(recipe))
    assert scratch.best is not None
    assert outcome.best["f1"] > scratch.best["f1"] + 5
    assert load_parser(tmp_path / "tuned").parse_tokens([DEV[0].words])


def test_an_encoder_gives_its_part(encoder):
    start = read_start(encoder)
    stored = load_encoder(encoder)
    trainer = Trainer(start.adapt(short_recipe("fast")), TRAIN, CPU, 1, start=start)
    fresh = Trainer(start.adapt(short_recipe("fast")), TRAIN, CPU, 1)
    words = stored.vocabulary.words
    assert trainer.vocabulary.words[: len(words)] == words
    assert start.extend(dataclasses.replace(start.vocabulary, words=["eftir"])).added == ()  # though it is new
    assert trainer.vocabulary.tags == fresh.vocabulary.tags
    parameters, others = (dict(one.network.named_parameters()) for one in (trainer, fresh))
    for name, tensor in stored.parameters.items():
        assert torch.equal(parameters[name][: len(tensor)], tensor)
    for name in parameters.keys() - stored.parameters.keys():
        assert torch.equal(parameters[name], others[name]), name  # the rest is as from scratch


def test_sizes_are_those_of_the_start(encoder, model, tmp_path):
    start = read_start(encoder)
    recipe = start.adapt(short_recipe("fast", scorer_hidden=11))
    assert {name: getattr(recipe, name) for name in _SIZES} == _SIZES
    assert recipe.scorer_hidden == 11
    with pytest.raises(UsageError, match=r"hidden = 16 does not fit .* which has 8"):
        start.adapt(short_recipe("fast"), stated=["hidden"])
    with pytest.raises(UsageError, match="does not fit"):
        run(tmp_path / "out", short_recipe("fast"), init=encoder)
    with pytest.raises(UsageError, match="chains = False does not fit"):
        read_start(model).adapt(short_recipe("paper"), stated=["chains"])


def test_rates_and_what_is_frozen_are_part_of_the_recipe(tmp_path, encoder):
    start = read_start(encoder)
    recipe = start.adapt(short_recipe("fast", start_rate=0.25, start_frozen=2, epochs=1))
    trainer = Trainer(recipe, TRAIN, CPU, 1, start=start)
    names = dict(trainer.network.named_parameters())
    frozen = {name for name, parameter in names.items() if not parameter.requires_grad}
    lower = ("encoder.word_embedding", "encoder.character", "encoder.layers.0.")
    assert frozen == {name for name in names if name.startswith(lower)}
    adam = trainer.optimisation.adam
    assert adam is not None
    shares = {id(p): group["share"] for group in adam.param_groups for p in group["params"]}
    for name in names.keys() - frozen:
        assert shares[id(names[name])] == (0.25 if name.startswith("encoder.") else 1.0), name
    run(tmp_path / "out", recipe.replace(quantize=False), init=start)
    kept = load_model(tmp_path / "out").network.state_dict()
    name = "encoder.layers.0.forward_lstm.weight_hh_l0"
    assert torch.equal(kept[name], start.parameters[name])
    name = "encoder.layers.1.forward_lstm.weight_hh_l0"
    assert not torch.equal(kept[name], start.parameters[name])


def test_a_training_is_resumed_from_the_same_start(tmp_path, monkeypatch, model):
    recipe = read_start(model).adapt(short_recipe("finetune", epochs=2))
    run(tmp_path / "whole", recipe, init=model)
    with monkeypatch.context() as patch:
        signal_after(patch, 3)
        run(tmp_path / "parts", recipe, init=model)
    with pytest.raises(UsageError, match="the start has changed"):
        run(tmp_path / "parts", recipe, resume=True)
    assert run(tmp_path / "parts", recipe, init=model, resume=True).finished
    one, other = (load_file(tmp_path / name / "latest" / "state.safetensors") for name in ("whole", "parts"))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_model_with_a_transformer_goes_on(tmp_path):
    folder = save_encoder("bert", tmp_path / "bert")
    recipe = short_recipe("pretrained", epochs=1, encoder_mix=True, encoder_pooling="mean")
    run(tmp_path / "first", recipe, encoder=folder)
    start = read_start(tmp_path / "first")
    assert start.default_recipe() == "pretrained"
    adapted = start.adapt(short_recipe("pretrained", epochs=1))
    assert adapted.encoder_pooling == "mean"
    trainer = Trainer(adapted, TRAIN, CPU, 1, start.encoder(), start)
    for name, tensor in trainer.network.state_dict().items():
        assert torch.equal(tensor, start.parameters[name]), name
    assert run(tmp_path / "second", adapted, init=tmp_path / "first").finished
    with pytest.raises(UsageError, match="not with both"):
        run(tmp_path / "third", recipe, encoder=folder, init=tmp_path / "first")
    with pytest.raises(UsageError, match="give it to --encoder"):
        read_start(folder)


def test_the_command(tmp_path, encoder, model):
    paths = {}
    for name, trees in (("train", TRAIN), ("dev", DEV)):
        paths[name] = str(tmp_path / f"{name}.discbracket")
        write_trees(trees, paths[name])
    common = ["train", "--train", paths["train"], "--dev", paths["dev"], "--device", "cpu", "--threads", "1"]
    start = ["--init", str(encoder), "--epochs", "1", "--output", str(tmp_path / "out")]
    status, _, errors = run_main(*common, *start, "--set", "hidden=99")
    assert status == 2
    assert "hidden = 99 does not fit" in errors
    status, _, errors = run_main(*common, *start, "--set", "scorer_hidden=12")
    assert status == 0, errors
    info = read_info(tmp_path / "out")
    assert info.recipe["hidden"] == WORDS["hidden"]
    assert info.training["recipe"] == "fast"
    assert info.training["start"] == "the encoder out"
    assert "Started from: the encoder out" in (tmp_path / "out" / "model" / "README.md").read_text()
    on = ["--init", str(tmp_path / "out"), "--epochs", "1", "--output", str(tmp_path / "on")]
    status, _, errors = run_main(*common, *on)
    assert status == 0, errors
    assert read_info(tmp_path / "on").training["start"].endswith(", which started from the encoder out")
    status, output, _ = run_main("train", "--init", str(model), "--show-recipe")
    assert status == 0
    assert "learning_rate = 0.001" in output
    assert f"hidden = {read_start(model).config.hidden}" in output
    status, _, errors = run_main("train", "--init", str(tmp_path / "nowhere"), "--show-recipe")
    assert status == 2
    assert "there is no model" in errors


def test_the_language_is_that_of_the_start_unless_it_is_stated(tmp_path):
    """By it raw text is split, which scores on gold tokens do not tell."""
    tiny_model(tmp_path / "english")
    run(tmp_path / "python", short_recipe("finetune", epochs=1), init=tmp_path / "english")
    assert read_info(tmp_path / "python").language == "en"
    write_trees(DEV, str(tmp_path / "dev.discbracket"))
    files = ["--train", str(tmp_path / "dev.discbracket"), "--dev", str(tmp_path / "dev.discbracket")]
    common = ["train", "--init", str(tmp_path / "english"), *files, "--epochs", "1", "--threads", "1"]
    source = {"name": "Toys", "text": "toys", "licence": "MIT", "attribution": "A. Body"}
    notes: dict[str, list[str]] = {"good_for": ["toys"], "not_good_for": ["others"], "conventions": ["none"]}
    facts = {"language": "nl", "licence": "MIT", "sources": {set_name(files[1]): source}, **notes}
    (tmp_path / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    for name, options, language in (
        ("silent", [], "en"),
        ("stated", ["--language", "fo"], "fo"),
        ("card", ["--card", str(tmp_path / "facts.json")], "nl"),
    ):
        status, _, errors = run_main(*common, "--output", str(tmp_path / name), *options)
        assert status == 0, errors
        assert read_info(tmp_path / name).language == language
        assert ("the language is 'en', as that of" in errors) == (not options)


def test_what_the_start_learnt_from_is_on_the_card_and_in_the_notice(tmp_path):
    """Its licences apply to what is trained on from it, and others ask to be named. Whoever states origins knows."""
    tiny_model(tmp_path / "news")
    data = {"set": "pcc", "sentences": 3, "tokens": 9, "times": 1.0}
    stated = {"name": "Commentaries", "text": "news", "licence": "CC BY-NC-SA 4.0", "attribution": "Potsdam"}
    text = {"name": "Speeches", "text": "raw text", "licence": "CC0-1.0", "attribution": "nobody"}
    info = dataclasses.replace(read_info(tmp_path / "news"), name="news", licence="CC BY-NC-SA 4.0")
    replace_info(tmp_path / "news", dataclasses.replace(info, data=({**data, **stated},), origins=(text,)))
    write_trees(DEV, str(tmp_path / "mine.discbracket"))
    files = ["--train", str(tmp_path / "mine.discbracket"), "--dev", str(tmp_path / "mine.discbracket")]
    common = ["train", "--init", str(tmp_path / "news"), *files, "--epochs", "1", "--threads", "1", "--quiet"]
    status, _, errors = run_main(*common, "--output", str(tmp_path / "mine"), "--licence", "CC BY 4.0")
    assert status == 0, errors
    origins = read_info(tmp_path / "mine").origins
    assert [entry["name"] for entry in origins] == ["The model news", "Commentaries", "Speeches"]
    assert origins[1:] == (stated, text)
    package = ["models", "package", str(tmp_path / "mine"), "--name", "mine", "--output", str(tmp_path / "package")]
    status, _, errors = run_main(*package)
    assert status == 0
    assert "other licences (CC BY-NC-SA 4.0; CC0-1.0): check that it may have CC-BY-4.0" in errors
    notice = (tmp_path / "package" / "NOTICE").read_text()
    assert "Commentaries\n    Potsdam\n    Licence: CC BY-NC-SA 4.0\n" in notice
    source = {"name": "Mine", "text": "toys", "licence": "MIT", "attribution": "A. Body"}
    facts = {"good_for": ["toys"], "not_good_for": ["others"], "conventions": ["none"], "licence": "MIT"}
    card = tmp_path / "facts.json"
    card.write_text(json.dumps({**facts, "sources": {set_name(files[1]): source}, "origins": [text]}))
    status, _, errors = run_main(*common, "--output", str(tmp_path / "known"), "--card", str(card))
    assert status == 0, errors
    assert read_info(tmp_path / "known").origins == (text,)


def test_pretraining_kinds(tmp_path):
    """The transformer of a pretraining is not something to start from with --init."""
    small_pretraining(tmp_path, "transformer", recipe=small_recipe("transformer", epochs=1))
    with pytest.raises(UsageError, match="give it to --encoder"):
        read_start(tmp_path / "out")
    tiny_model(tmp_path / "tiny")
    assert read_start(tmp_path / "tiny").whole
