"""Attention with a cache of keys and values: multi-head, grouped, multi-query; over all tokens or a window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofwidget.architecture.matrix import Matrix, Side, product, whole
from roofwidget.architecture.work import Extent, Work
from roofwidget.validation import COUNT, Allowed, Numbers, ParameterError, anywhere, first_pair, settle


@dataclass(frozen=True)
class Attention:
    """Softmax attention of one layer.

    Parameters
    ----------
    heads, kv_heads, head_dim
        Query heads, key/value heads (as many: MHA; fewer: GQA; one: MQA) and width of each.
    value_dim
        Width of a value head; that of a key head unless told.
    window
        Tokens that each token attends to, itself among them; infinite: all before it.
    gated
        Whether the heads' outputs are gated by a projection as wide as they are.
    value_matrix
        Whether values have a projection of their own; without it they are the keys.
    keeps
        Whether it caches keys and values; if not it reads those of a layer before it, and has no
        matrices for them.

    Raises
    ------
    ParameterError
        If a dimension is no count, or the KV heads do not divide the heads.
    """

    heads: Numbers
    kv_heads: Numbers
    head_dim: Numbers
    value_dim: Numbers | None = None
    window: Numbers = np.inf
    gated: bool = False
    value_matrix: bool = True
    keeps: bool = True

    def __post_init__(self) -> None:
        if self.value_dim is None:
            object.__setattr__(self, "value_dim", self.head_dim)
        settle(
            self,
            heads=COUNT,
            kv_heads=COUNT,
            head_dim=COUNT,
            value_dim=COUNT,
            window=Allowed(low=1, whole=True, infinite=True),
        )
        if sentence := kv_heads_fault(self.heads, self.kv_heads):
            raise ParameterError({"n_kv_heads": sentence})

    @property
    def kv_width(self) -> Numbers:
        """Elements that the cache keeps of a token, all heads together."""
        return self._kv_side().size if self.keeps else 0.0

    def inputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """The matrices before attention: queries, and keys and values where it makes its own."""
        assert self.value_dim is not None
        query = self.head_dim + (self.value_dim if self.gated else 0)
        matrices: tuple[Matrix, ...] = (Matrix(whole(hidden), Side(self.heads, query)),)
        if self.keeps:
            width = self.head_dim + (self.value_dim if self.value_matrix else 0)
            matrices += (Matrix(whole(hidden), Side(self.kv_heads, width, "whole"), again=True),)
        return matrices

    def outputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """The matrix after it."""
        assert self.value_dim is not None
        return (Matrix(Side(self.heads, self.value_dim), whole(hidden)),)

    def works(self, extent: Extent, hidden: Numbers, devices: Numbers) -> tuple[Work, ...]:
        """Projections, attention and output projection of a pass.

        Attention is fused: scores never leave the chip (Dao et al. 2022, "FlashAttention"). A pair
        of query and key costs 2 FLOPs an element of the key and of the value. Keys and values of
        the context are read once, those of new tokens written.
        """
        assert self.value_dim is not None
        tokens, heads = extent.tokens, self.heads / devices
        kv = self._kv_side().on(devices) * (extent.read(self.window) + (extent.new if self.keeps else 0))
        core = Work(
            "windowed attention" if anywhere(self.window < np.inf) else "attention",
            flops=extent.batch * extent.pairs(self.window) * 2 * heads * (self.head_dim + self.value_dim),
            kv=extent.batch * kv,
            activations=tokens * heads * (self.head_dim + self.value_dim),
        )
        return (
            product("QKV projection", self.inputs(hidden), tokens, devices),
            core,
            product("output projection", self.outputs(hidden), tokens, devices),
        )

    def kept(self, context: Numbers, devices: Numbers) -> Numbers:
        """Elements of KV cache of a sequence of `context` tokens, on each device."""
        if not self.keeps:
            return 0.0 * context
        return np.minimum(context, self.window) * self._kv_side().on(devices)

    def kept_bytes(self, context: Numbers, devices: Numbers) -> Numbers:
        """Bytes kept of a sequence in formats of their own: none here."""
        return 0.0

    def shardable(self, devices: Numbers) -> Any:
        """Whether devices can share the heads evenly; a bool, or an array of them."""
        return divide_evenly(self.heads, self.kv_heads, devices)

    def fault(self, devices: Numbers) -> str | None:
        """Say where devices cannot share the heads evenly; None where they can."""
        return devices_fault(self.heads, self.kv_heads, devices)

    def resized(self, heads: float, kv_heads: float, head_dim: float) -> Attention:
        """The same with so many times the heads, KV heads and width."""
        assert self.value_dim is not None
        return replace(
            self,
            heads=self.heads * heads,
            kv_heads=self.kv_heads * kv_heads,
            head_dim=self.head_dim * head_dim,
            value_dim=self.value_dim * head_dim,
        )

    def _kv_side(self) -> Side:
        assert self.value_dim is not None
        return Side(self.kv_heads, self.head_dim + self.value_dim, "whole")


def kv_heads_fault(n_heads: Numbers, n_kv_heads: Numbers) -> str | None:
    """Say where KV heads do not divide query heads; None where they do."""
    at_odds = n_heads % n_kv_heads != 0
    if not anywhere(at_odds):
        return None
    heads, kv_heads = first_pair(at_odds, n_heads, n_kv_heads)
    return f"n_kv_heads must divide n_heads={heads:g}, and {kv_heads:g} does not"


def divide_evenly(n_heads: Numbers, n_kv_heads: Numbers, devices: Numbers) -> Any:
    """Whether devices can share the heads evenly; a bool, or an array of them."""
    return (n_heads % devices == 0) & ((n_kv_heads % devices == 0) | (devices % n_kv_heads == 0))


def devices_fault(n_heads: Numbers, n_kv_heads: Numbers, devices: Numbers) -> str | None:
    """Say where devices cannot share the heads evenly; None where they can.

    Each takes as many query heads, and whole KV heads: several, or one that it has in common with
    others. Serving engines ask the same.
    """
    at_odds = np.logical_not(divide_evenly(n_heads, n_kv_heads, devices))
    if not anywhere(at_odds):
        return None
    heads, kv_heads, count = first_pair(at_odds, n_heads, n_kv_heads, devices)
    return (
        f"devices must divide n_heads={heads:g}, and divide n_kv_heads={kv_heads:g} or be a multiple of it, "
        f"and {count:g} does not"
    )
