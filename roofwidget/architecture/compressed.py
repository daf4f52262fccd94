"""DeepSeek-V4's attention: a short window, and beyond it one entry for every few or many tokens.

DeepSeek-V4 (2026), §2.3: compressed sparse attention keeps an entry for 4 tokens and attends to the
ones an indexer picks; heavily compressed attention keeps one for 128 and attends to all. An entry
is key and value in one, and all heads share it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofwidget.architecture.attention import devices_fault, divide_evenly
from roofwidget.architecture.latent import Indexer
from roofwidget.architecture.matrix import Matrix, Side, product, whole
from roofwidget.architecture.work import Extent, Work
from roofwidget.validation import COUNT, Numbers, settle


@dataclass(frozen=True)
class CompressedAttention:
    """One layer of it.

    Parameters
    ----------
    heads, head_dim
        Query heads, and the width of each and of an entry.
    query_rank
        Rank of the queries' projection.
    output_groups, output_rank
        Groups of heads whose outputs are brought to a rank of their own before they meet.
    window
        Tokens kept as they are.
    stride
        Tokens that a compressed entry stands for; None where there are none.
    indexer
        What picks entries, if anything does.
    """

    heads: Numbers
    head_dim: Numbers
    query_rank: Numbers
    output_groups: Numbers
    output_rank: Numbers
    window: Numbers
    stride: Numbers | None = None
    indexer: Indexer | None = None

    def __post_init__(self) -> None:
        counts = ("heads", "head_dim", "query_rank", "output_groups", "output_rank", "window")
        settle(self, **dict.fromkeys(counts, COUNT))

    @property
    def kv_heads(self) -> Numbers:
        """All heads share an entry."""
        return 1.0

    @property
    def kv_width(self) -> Numbers:
        """Elements a token adds to the cache beyond the window; within it, also an entry of its own."""
        return self.head_dim / self.stride if self.stride else 0.0

    def inputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """Queries, entries of the window, and what compresses tokens into entries and picks them."""
        matrices = [
            Matrix(whole(hidden), whole(self.query_rank)),
            Matrix(whole(self.query_rank), Side(self.heads, self.head_dim)),
            Matrix(whole(hidden), whole(self.head_dim), again=True),
        ]
        if self.stride is not None:  # entry and gate; with an indexer two halves of each overlap, and it has its own
            halves = 1 if self.indexer is None else 2
            widths = self.head_dim + (0 if self.indexer is None else self.indexer.dim)
            matrices.append(Matrix(whole(hidden), whole(2 * halves * widths), again=True))
        if self.indexer is not None:
            queries = self.indexer.heads * self.indexer.dim
            matrices.append(Matrix(whole(self.query_rank), whole(queries), again=True))
            matrices.append(Matrix(whole(hidden), whole(self.indexer.heads), again=True))
        return tuple(matrices)

    def outputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """Each group's heads to its rank, all ranks to the residual stream."""
        group = self.heads * self.head_dim / self.output_groups
        to_rank = Matrix(whole(group), Side(self.output_groups, self.output_rank))
        return (to_rank, Matrix(Side(self.output_groups, self.output_rank), whole(hidden)))

    def works(self, extent: Extent, hidden: Numbers, devices: Numbers) -> tuple[Work, ...]:
        """Projections, attention to window and entries, output projections of a pass."""
        pairs, read, new = extent.pairs(self.window), extent.read(self.window), extent.new
        if self.stride is not None:
            beyond = self.stride * (np.inf if self.indexer is None else self.indexer.top)
            pairs = pairs + extent.pairs(beyond) / self.stride
            read = read + (extent.read(beyond) if extent.is_decode else extent.read()) / self.stride
            new = new + extent.new / self.stride
        heads = self.heads / devices
        core = Work(
            self._name(),
            flops=extent.batch * pairs * 4 * heads * self.head_dim,
            kv=extent.batch * (read + new) * self.head_dim,
            activations=extent.tokens * 2 * heads * self.head_dim,
        )
        return (
            product("QKV projection", self.inputs(hidden), extent.tokens, devices),
            *(() if self.indexer is None else self.indexer.works(extent)),
            core,
            product("output projection", self.outputs(hidden), extent.tokens, devices),
        )

    def kept(self, context: Numbers, devices: Numbers) -> Numbers:
        """Elements of KV cache of a sequence, on each device: tensor parallelism does not divide it."""
        return np.minimum(context, self.window) * self.head_dim + context * self.kv_width

    def kept_bytes(self, context: Numbers, devices: Numbers) -> Numbers:
        """Bytes kept of a sequence in formats of their own: the indexer's keys."""
        return 0.0 if self.indexer is None else self.indexer.kept_bytes(context)

    def shardable(self, devices: Numbers) -> Any:
        """Whether devices can share the heads evenly; a bool, or an array of them."""
        return divide_evenly(self.heads, self.kv_heads, devices)

    def fault(self, devices: Numbers) -> str | None:
        """Say where devices cannot share the heads evenly; None where they can."""
        return devices_fault(self.heads, self.kv_heads, devices)

    def resized(self, heads: float, kv_heads: float, head_dim: float) -> CompressedAttention:
        """The same with so many times the heads and width."""
        return replace(self, heads=self.heads * heads, head_dim=self.head_dim * head_dim)

    def _name(self) -> str:
        if self.stride is None:
            return "windowed attention"
        return "attention" if self.indexer is None else "sparse attention"
