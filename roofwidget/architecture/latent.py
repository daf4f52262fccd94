"""Multi-head latent attention (DeepSeek-V2, 2024, §2.1), dense or with an indexer that picks tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofwidget.architecture.attention import devices_fault, divide_evenly
from roofwidget.architecture.matrix import Matrix, Side, product, whole
from roofwidget.architecture.work import Extent, Work
from roofwidget.validation import COUNT, Allowed, Numbers, anywhere, settle

INDEX_BYTES = 1.0 + 4.0 / 128.0
"""Bytes an element of an indexer's key takes: fp8 with a 4-byte scale for each 128 (DeepSeek-V3.2-Exp's
reference code; vLLM keeps 132 bytes a token and layer)."""


@dataclass(frozen=True)
class Indexer:
    """A light attention that picks the `top` tokens the real one attends to (DeepSeek-V3.2-Exp, 2025, §2.1).

    Every device runs all of it.

    Parameters
    ----------
    heads, dim
        Its heads and their width; they share one key.
    top
        Tokens picked.
    stride
        Tokens that one key stands for.
    """

    heads: Numbers
    dim: Numbers
    top: Numbers
    stride: Numbers = 1.0

    def matrices(self, hidden: Numbers, query_inputs: Numbers) -> tuple[Matrix, ...]:
        """Queries from `query_inputs` channels; key and head weights from the residual stream."""
        return (
            Matrix(whole(query_inputs), whole(self.heads * self.dim), again=True),
            Matrix(whole(hidden), whole(self.dim + self.heads), again=True),
        )

    def works(self, extent: Extent) -> tuple[Work, ...]:
        """Scores of all pairs: 2 FLOPs an element of each head's query."""
        entries = extent.read() / self.stride
        return (
            Work(
                "indexer",
                flops=extent.batch * extent.pairs() / self.stride * 2 * self.heads * self.dim,
                activations=extent.tokens * self.heads * self.dim,
                state_bytes=extent.batch * (entries + extent.new / self.stride) * self.dim * INDEX_BYTES,
            ),
        )

    def kept_bytes(self, context: Numbers) -> Numbers:
        """Bytes of keys of a sequence of `context` tokens."""
        return context / self.stride * self.dim * INDEX_BYTES


@dataclass(frozen=True)
class LatentAttention:
    """Attention whose cache is one latent and one rotary key a token, for all heads together.

    Parameters
    ----------
    heads
        Query heads.
    query_rank
        Rank of the queries' projection; None where it is one full matrix.
    kv_rank, rope_dim
        Width of the latent and of the rotary key: what the cache keeps of a token.
    nope_dim, value_dim
        Width of a head's key without its rotary part, and of its value.
    indexer
        What picks the tokens to attend to, if anything does.
    """

    heads: Numbers
    query_rank: Numbers | None
    kv_rank: Numbers
    rope_dim: Numbers
    nope_dim: Numbers
    value_dim: Numbers
    indexer: Indexer | None = None

    def __post_init__(self) -> None:
        zero = Allowed(whole=True, zero=True)
        settle(self, heads=COUNT, kv_rank=COUNT, nope_dim=COUNT, value_dim=COUNT, rope_dim=zero)
        if self.query_rank is not None:
            settle(self, query_rank=COUNT)

    @property
    def kv_heads(self) -> Numbers:
        """All heads share what the cache keeps."""
        return 1.0

    @property
    def head_dim(self) -> Numbers:
        """Width of a head's query and key."""
        return self.nope_dim + self.rope_dim

    @property
    def kv_width(self) -> Numbers:
        """Elements the cache keeps of a token."""
        return self.kv_rank + self.rope_dim

    def inputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """Queries, through their rank if they have one; the latent; keys and values out of it.

        The last is run for every new token either way: it expands latents in prefill, and in decode
        its two halves are absorbed into queries and outputs, at the same FLOPs a token
        (DeepSeek-V2, §2.1.2).
        """
        heads = Side(self.heads, self.head_dim)
        if self.query_rank is None:
            queries: tuple[Matrix, ...] = (Matrix(whole(hidden), heads),)
        else:
            queries = (Matrix(whole(hidden), whole(self.query_rank)), Matrix(whole(self.query_rank), heads))
        latent = Matrix(whole(hidden), whole(self.kv_width), again=True)
        expansion = Matrix(whole(self.kv_rank), Side(self.heads, self.nope_dim + self.value_dim))
        return (*queries, latent, expansion, *self._index_matrices(hidden))

    def outputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """The matrix after it."""
        return (Matrix(Side(self.heads, self.value_dim), whole(hidden)),)

    def works(self, extent: Extent, hidden: Numbers, devices: Numbers) -> tuple[Work, ...]:
        """Projections, attention and output projection of a pass.

        Decode attends in the latent space: a pair costs 2·(latent + rotary) for the score and
        2·latent for the value, and the cache is read once for all heads of a device. Prefill
        attends with keys and values expanded from the latents. Where an indexer picks its tokens
        each query has its own, and attends to them in the latent space too, unless attending to all
        of them expanded takes less (DeepSeek-V3.2-Exp, 2025, §2.3: short prompts mask).
        """
        heads, top = self.heads / devices, np.inf if self.indexer is None else self.indexer.top
        absorbed, expanded = self.kv_width + self.kv_rank, self.head_dim + self.value_dim
        if extent.is_decode:
            read, products = extent.read(top), extent.pairs(top) * absorbed
        else:
            read, products = extent.read(), extent.pairs() * expanded
            cached = extent.last - extent.new
            if anywhere(cached):  # their latents are expanded too, unless attending to them absorbed takes less
                again = cached * self.kv_rank * (self.nope_dim + self.value_dim)
                products = np.minimum(products + again, extent.pairs() * absorbed)
            if self.indexer is not None:
                products = np.minimum(products, extent.pairs(top) * absorbed)
        core = Work(
            "attention" if self.indexer is None else "sparse attention",
            flops=extent.batch * products * 2 * heads,
            kv=extent.batch * (read + extent.new) * self.kv_width,
            activations=extent.tokens * heads * (absorbed if extent.is_decode else expanded),
        )
        return (
            product("QKV projection", self.inputs(hidden), extent.tokens, devices),
            *(() if self.indexer is None or not anywhere(self.indexer.heads) else self.indexer.works(extent)),
            core,
            product("output projection", self.outputs(hidden), extent.tokens, devices),
        )

    def kept(self, context: Numbers, devices: Numbers) -> Numbers:
        """Elements of KV cache of a sequence, on each device: tensor parallelism does not divide it."""
        return context * self.kv_width

    def kept_bytes(self, context: Numbers, devices: Numbers) -> Numbers:
        """Bytes kept of a sequence in formats of their own: the indexer's keys."""
        return 0.0 if self.indexer is None else self.indexer.kept_bytes(context)

    def shardable(self, devices: Numbers) -> Any:
        """Whether devices can share the heads evenly; a bool, or an array of them."""
        return divide_evenly(self.heads, self.kv_heads, devices)

    def fault(self, devices: Numbers) -> str | None:
        """Say where devices cannot share the heads evenly; None where they can."""
        return devices_fault(self.heads, self.kv_heads, devices)

    def resized(self, heads: float, kv_heads: float, head_dim: float) -> LatentAttention:
        """The same with so many times the heads and width; its one latent stays one."""
        return replace(
            self,
            heads=self.heads * heads,
            nope_dim=self.nope_dim * head_dim,
            rope_dim=self.rope_dim * head_dim,
            value_dim=self.value_dim * head_dim,
        )

    def _index_matrices(self, hidden: Numbers) -> tuple[Matrix, ...]:
        if self.indexer is None:
            return ()
        return self.indexer.matrices(hidden, hidden if self.query_rank is None else self.query_rank)
