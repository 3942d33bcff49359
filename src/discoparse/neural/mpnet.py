"""MPNet's attention through PyTorch's fused kernels.

`transformers` computes it step by step for this architecture, since its scores have a learned bias by distance. Import
this module only where `transformers` is installed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder, MPNetSelfAttention

_TABLE = 512  # pieces that the table of distances has room for at first


class FusedAttention(MPNetSelfAttention):
    """The same function of the same parameters. Shapes: W windows of P pieces, h heads of E/h units."""

    def forward(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        position_bias: Tensor | None = None,
        output_attentions: bool = False,
        **options: Any,
    ) -> tuple[Tensor, ...]:
        """[W, P, E] -> ([W, P, E],); the weights of the attention are not kept."""
        if output_attentions or position_bias is None:
            return super().forward(hidden_states, attention_mask, position_bias, output_attentions, **options)  # type: ignore[no-any-return, no-untyped-call, unused-ignore]
        query, key, value = (
            part(hidden_states).unflatten(-1, (self.num_attention_heads, -1)).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )  # [W, h, P, E/h] each
        # The bias by distance stays as it was pretrained: the fused kernels give it no gradient.
        bias = position_bias.detach()
        if attention_mask is not None:
            bias = bias + attention_mask  # [W, h, P, P]
        dropout = self.dropout.p if self.training else 0.0
        context = F.scaled_dot_product_attention(query, key, value, bias.to(query.dtype), dropout)
        return (self.o(context.transpose(1, 2).flatten(2)),)


class KeptDistances(MPNetEncoder):
    """Looks up distances between pieces in a table on the device; the library computes them on the CPU each time."""

    def compute_position_bias(self, x: Tensor, position_ids: Any = None, num_buckets: int = 32) -> Tensor:
        """[W, P, E] -> [1, h, P, P]."""
        if position_ids is not None:
            return super().compute_position_bias(x, position_ids, num_buckets)  # type: ignore[no-any-return, no-untyped-call, unused-ignore]
        width = x.shape[1]
        bucket = self.__dict__.get("_bucket")
        if bucket is None or len(bucket) < width or bucket.device != x.device:
            place = torch.arange(max(width, _TABLE), device=x.device)
            bucket = self.relative_position_bucket(place - place[:, None], num_buckets=num_buckets)  # type: ignore[no-untyped-call, unused-ignore]
            self.__dict__["_bucket"] = bucket
        return self.relative_attention_bias(bucket[:width, :width]).permute(2, 0, 1)[None]


def fuse_attention(transformer: nn.Module) -> None:
    """Let an MPNet use `FusedAttention` and `KeptDistances`."""
    faster: dict[type, type] = {MPNetSelfAttention: FusedAttention, MPNetEncoder: KeptDistances}
    for module in transformer.modules():
        module.__class__ = faster.get(type(module), type(module))
