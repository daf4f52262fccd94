"""Parameters of a layer beside its matrices: biases, gains on queries and keys."""

from __future__ import annotations

from typing import NamedTuple

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.architecture.latent import LatentAttention
from roofwidget.huggingface.config import Config


class Beside(NamedTuple):
    """What a family has of them.

    Parameters
    ----------
    qkv_bias, out_bias, ffn_bias
        Whether queries, keys and values have biases; attention's output; both sides of a dense FFN.
    head_norms
        Gains on queries and keys, for each channel of one head.
    wide_norms
        The same for each channel of all heads.
    per_head
        Numbers for each query head: sinks.
    """

    qkv_bias: bool = False
    out_bias: bool = False
    ffn_bias: bool = False
    head_norms: bool = False
    wide_norms: bool = False
    per_head: int = 0

    def params(self, attention: Attention, ffn: FeedForward | Experts | None, hidden: int) -> float:
        """How many parameters these are in one layer."""
        queries = float(attention.heads * attention.head_dim)
        keys = float(attention.kv_heads * attention.head_dim) if attention.keeps else 0.0
        values = float(attention.kv_width) - keys if attention.keeps else 0.0
        count = self.per_head * float(attention.heads)
        count += (queries + keys + values) * self.qkv_bias + hidden * self.out_bias
        count += (queries + keys) * self.wide_norms
        count += float(attention.head_dim) * self.head_norms * (2 if attention.keeps else 1)
        if self.ffn_bias and isinstance(ffn, FeedForward):
            count += float(ffn.width) * (2 if ffn.gated else 1) + hidden
        return count


def latent_norms(attention: LatentAttention) -> float:
    """Gains on the latents of queries and keys, and of an indexer's keys with their biases."""
    queries = 0.0 if attention.query_rank is None else float(attention.query_rank)
    indexed = 0.0 if attention.indexer is None else 2 * float(attention.indexer.dim)
    return queries + float(attention.kv_rank) + indexed


def usual_biases(config: Config, *, qkv: bool = False) -> Beside:
    """Those that `attention_bias` and `mlp_bias` say, which Llama's descendants have none of."""
    everywhere = config.flag("attention_bias", False)
    return Beside(qkv or everywhere, everywhere and not qkv, config.flag("mlp_bias", False))
