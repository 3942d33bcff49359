"""A small transformer learns to guess hidden pieces of words: a masked language model to put in front of the parser.

Text is one long stream of pieces, with a piece after each sentence that says that it ends. Batches are slices of it, so
nothing is padded. Shapes: B sequences of P pieces, K hidden pieces of each, E units.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional as F

from discoparse.files.sealed import encode_json
from discoparse.model.card import encoder_card
from discoparse.model.contents import presentable
from discoparse.model.info import CARD, CONFIG, PARAMETERS, ModelInfo
from discoparse.neural.pieces import PieceVocabulary
from discoparse.neural.pretrained import require_transformers
from discoparse.pretraining.corpus import TextCorpus
from discoparse.pretraining.piece_stream import FormPieces, PieceStream
from discoparse.pretraining.recipe import PieceRecipe
from discoparse.pretraining.task import Guesses, digest, held_out_figures

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PADDING, UNKNOWN, START, END, MASK = range(len(SPECIAL))
FACTS = "discoparse.json"  # what the encoder says about itself, beside the files that `transformers` reads
_TOKENIZER_TOKENS = 3_000_000  # words that the tokenizer learns from, about
_TOKENIZER_FORMS = 500_000  # distinct ones, at most
_WORD_START = "Ġ"  # begins a piece that begins a word
_USE = (
    "A small transformer (BERT), pretrained on raw text to guess hidden pieces of words. It makes no trees: "
    "`discoparse train --encoder DIRECTORY` trains a parser that starts with it. `AutoModel` and `AutoTokenizer` of "
    "the package `transformers` load it, too."
)


def learn_pieces(corpus: TextCorpus, size: int) -> str:
    """A tokenizer of about `size` pieces, learnt from the words of a text, as JSON of the library `tokenizers`.

    It is a byte-level BPE, which can spell any word of any script.
    """
    require_transformers()
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=2,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_sample(corpus), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", START), ("[SEP]", END)]
    )
    return str(tokenizer.to_str())


def _sample(corpus: TextCorpus) -> Iterator[list[str]]:
    """Every form about as often as in the text, in proportion."""
    share = min(1.0, _TOKENIZER_TOKENS / max(1, len(corpus.ids)))
    frequent = np.argsort(-corpus.counts, kind="stable")[:_TOKENIZER_FORMS]
    for form, count in zip(frequent.tolist(), corpus.counts[frequent].tolist(), strict=True):
        yield [corpus.forms[form]] * max(1, round(share * count))


def piece_vocabulary(tokenizer: str, positions: int) -> PieceVocabulary:
    """The tokenizer as the parser uses it, which cuts every word on its own."""
    return PieceVocabulary(tokenizer, (START,), (END,), PADDING, UNKNOWN, positions)


class PieceNetwork(nn.Module):
    """A masked language model that is asked about some positions only."""

    def __init__(self, recipe: PieceRecipe, pieces: int) -> None:
        super().__init__()
        require_transformers()
        from transformers import AutoModelForMaskedLM, BertConfig

        config = BertConfig(
            vocab_size=pieces,
            hidden_size=recipe.size,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            intermediate_size=recipe.inner_size,
            max_position_embeddings=recipe.positions,
            type_vocab_size=1,
            hidden_dropout_prob=recipe.dropout,
            attention_probs_dropout_prob=recipe.dropout,
            pad_token_id=PADDING,
        )
        make: Callable[..., nn.Module] = AutoModelForMaskedLM.from_config  # which has no annotations
        self.model: Any = make(config, attn_implementation="sdpa")

    def forward(self, ids: Tensor, place: Tensor) -> Tensor:
        """Scores of all pieces at some places of the batch: [B, P], [B x K] -> [B x K, pieces]."""
        states = self.model.bert(input_ids=ids).last_hidden_state.flatten(0, 1)  # [B P, E]
        scores: Tensor = self.model.cls(states.index_select(0, place))
        return scores


class PieceTask:
    """Guess hidden pieces with a transformer."""

    unit = "pieces"

    def __init__(
        self, recipe: PieceRecipe, corpus: TextCorpus, folder: Path, tokenizer: str, device: torch.device, seed: int
    ) -> None:
        self.recipe, self.device, self.seed, self.tokenizer = recipe, device, seed, tokenizer
        forms = FormPieces(corpus, piece_vocabulary(tokenizer, recipe.positions), END)
        pieces = _piece_names(tokenizer)
        self.network = PieceNetwork(recipe, len(pieces)).to(device)
        self.forward: Callable[[Tensor, Tensor], Tensor] = self.network
        if recipe.compile:
            self.forward = torch.compile(self.network)
        begins = [name.startswith(_WORD_START) or k < len(SPECIAL) for k, name in enumerate(pieces)]
        self.begins_word = torch.tensor(begins, device=device)
        held_out = corpus.held_out(recipe.held_out)
        room = recipe.sequence - 1  # START comes first
        self.text = PieceStream.of(corpus, ~held_out, forms, folder / "pieces.bin", device, room)
        self.held_out = PieceStream.of(corpus, held_out, forms, folder / "held-out.bin", device, room)
        self.batch = max(1, recipe.batch_pieces // recipe.sequence)  # B
        self.windows = torch.empty(0)

    def start_epoch(self, epoch: int) -> int:
        windows = self.text.windows(np.random.default_rng([self.seed, epoch]))
        whole = max(1, len(windows) // self.batch) * self.batch  # all batches have one shape
        self.windows = torch.from_numpy(np.resize(windows, whole)).to(self.text.device)
        return whole // self.batch

    def guess(self, number: int) -> Guesses:
        return self._guess(self.text.slices(self.windows[number * self.batch : (number + 1) * self.batch]))

    def _guess(self, pieces: Tensor) -> Guesses:
        """Hide some of the pieces [B, P - 1] of slices, and guess them."""
        ids = F.pad(pieces, (1, 0), value=START)  # [B, P]
        place, hidden = self._hide(ids)
        target = ids.flatten()[place]  # [B K]
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.recipe.half and ids.is_cuda):
            scores = self.forward(hidden, place)
        # A slice can have fewer pieces that may be hidden than are wanted: it is hardly ever all ends of sentences.
        guessed = target != END
        losses = F.cross_entropy(scores.float(), target, reduction="none") * guessed
        count, likelihood = guessed.sum(), losses.sum()
        right = ((scores.detach().argmax(1) == target) & guessed).sum()
        return Guesses(likelihood / count.clamp(min=1), likelihood.detach(), right, count, ids.numel())

    def _hide(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The places [B x K] of hidden pieces, and the batch [B, P] without them.

        Of those places, 80% show the mask, 10% another piece and 10% what stands there, as in BERT.
        """
        rows, width = ids.shape
        chance = torch.rand(rows, width, device=ids.device)
        if self.recipe.whole_words:  # pieces of a word have one chance together
            word = self.begins_word[ids].cumsum(1) - 1
            chance = chance.gather(1, word)
        chance = chance.masked_fill(ids < len(SPECIAL), -1.0)
        wanted = max(1, round(self.recipe.hidden_share * (width - 1)))
        chosen = chance.topk(wanted, dim=1).indices  # [B, K]
        place = (chosen + torch.arange(rows, device=ids.device)[:, None] * width).flatten()
        fate = torch.rand(len(place), device=ids.device)
        other = torch.randint(len(SPECIAL), len(self.begins_word), (len(place),), device=ids.device)
        there = ids.flatten()[place]
        shown = torch.where(fate < 0.8, MASK, torch.where(fate < 0.9, other, there))
        shown = torch.where(there < len(SPECIAL), there, shown)
        return place, ids.flatten().scatter(0, place, shown).view_as(ids)

    @torch.no_grad()
    def guess_held_out(self) -> tuple[float, float, int]:
        self.network.eval()
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(self.seed)  # the same pieces are hidden every time
            windows = torch.from_numpy(self.held_out.windows(None)).to(self.held_out.device)
            guesses = [self._guess(self.held_out.slices(some)) for some in windows.split(self.batch)]
        self.network.train()
        return held_out_figures(guesses)

    def identity(self) -> dict[str, Any]:
        return {"tokenizer": digest(self.tokenizer)}

    def encoder_files(self, info: ModelInfo) -> dict[str, bytes]:
        from tokenizers import Tokenizer
        from transformers import PreTrainedTokenizerFast

        names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
        tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call, unused-ignore]
            tokenizer_object=Tokenizer.from_str(self.tokenizer),
            model_max_length=self.recipe.positions,
            **dict(zip(names, SPECIAL, strict=True)),
        )
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        model = self.network.model
        config = model.config.to_dict() | {"architectures": [type(model).__name__]}
        files[CONFIG] = encode_json(config)
        # Parameters that stand in two places are kept once, as `transformers` does.
        parameters = {name: parameter.detach().cpu().contiguous() for name, parameter in model.named_parameters()}
        files[PARAMETERS] = save(parameters, {"format": "pt"})
        info = ModelInfo(**presentable({**info.to_json(), "metrics": info.metrics}))
        files[FACTS] = encode_json(dataclasses.asdict(info))
        files[CARD] = encoder_card(info, _USE).encode()
        return files


def _piece_names(tokenizer: str) -> Sequence[str]:
    """The pieces in the order of their ids."""
    vocabulary: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__)
