"""Small random transformers of several architectures with tokenizers of their own, saved as a user would have them."""

from __future__ import annotations

from pathlib import Path

import torch

_WORDS = ["The dog barks .", "What did you see ?", "cats ( old ) unbelievably", "Hunde bellen nie ; they sleep"]
_SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 20,
    "max_position_embeddings": 40,
}
_LAYERS = ["sliding_attention", "full_attention", "sliding_attention"]
# Architecture -> the kind of its tokenizer, and what its configuration needs beside the sizes.
ENCODERS: dict[str, tuple[str, dict[str, object]]] = {
    "bert": ("wordpiece", {}),
    "roberta": ("bytes", {}),
    "mpnet": ("wordpiece", {}),
    "deberta-v2": ("unigram", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "xlm-roberta": ("unigram", {}),
    "modernbert": ("bytes", {}),
    "electra": ("wordpiece", {"embedding_size": 12}),
    "llama": ("bytes", {"num_key_value_heads": 2}),
    "qwen2": ("split bytes", {"num_key_value_heads": 2}),
    "gemma3_text": ("spaces", {"num_key_value_heads": 1, "head_dim": 4, "sliding_window": 8, "layer_types": _LAYERS}),
}
SPACED = ("split bytes", "spaces")  # kinds of tokenizers that want the space before a word
DECODERS = ("llama", "qwen2", "gemma3_text")
_SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]


def save_encoder(architecture: str, folder: Path, seed: int = 0) -> Path:
    """Write a transformer with random parameters and its tokenizer."""
    from transformers import AutoModel

    tokenizer = _tokenizer(ENCODERS[architecture][0], architecture in DECODERS)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    model = AutoModel.from_config(encoder_config(architecture, len(tokenizer)))
    with torch.no_grad():
        for parameter in model.parameters():  # random enough that every layer matters
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    return folder


def encoder_config(architecture: str, vocabulary: int):
    """The configuration of a transformer with two small layers."""
    from transformers import AutoConfig

    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    return AutoConfig.for_model(architecture, vocab_size=vocabulary, **{**_SIZES, **ids, **ENCODERS[architecture][1]})


def _tokenizer(kind: str, decoder: bool):
    """Trained on a few words; decoders get no special tokens around a sentence."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=90, special_tokens=_SPECIAL)
    elif kind == "bytes":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=_SPECIAL, initial_alphabet=alphabet)
    elif kind == "split bytes":  # as of Qwen and Llama 3: no option puts a space before a word
        tokenizer = Tokenizer(models.BPE())
        words = pre_tokenizers.Split(Regex(r" ?\w+| ?[^\s\w]+|\s+"), behavior="isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(False, use_regex=False)])
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=_SPECIAL, initial_alphabet=alphabet)
    elif kind == "spaces":  # as of Gemma: spaces are pieces like others
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", behavior="merged_with_next")
        trainer = trainers.BpeTrainer(vocab_size=90, special_tokens=_SPECIAL, initial_alphabet=["a"])
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=_SPECIAL, unk_token="<unk>")
    tokenizer.train_from_iterator(_WORDS, trainer)
    if not decoder:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
        )
    names = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    if not decoder:
        names |= {"cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
