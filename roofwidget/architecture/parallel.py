"""Attention and recurrence side by side in one layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.matrix import Matrix
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.architecture.work import Extent, Work
from roofwidget.validation import Numbers


@dataclass(frozen=True)
class Parallel:
    """A layer whose input goes through both, and whose output is their sum (Falcon-H1, 2025, §2)."""

    attention: Attention
    recurrence: Recurrence

    @property
    def heads(self) -> Numbers:
        """Query heads of its attention."""
        return self.attention.heads

    @property
    def kv_heads(self) -> Numbers:
        """Key/value heads of its attention."""
        return self.attention.kv_heads

    @property
    def head_dim(self) -> Numbers:
        """Width of a head of its attention."""
        return self.attention.head_dim

    @property
    def window(self) -> Numbers:
        """Tokens that each token attends to."""
        return self.attention.window

    @property
    def kv_width(self) -> Numbers:
        """Elements of KV cache of a token."""
        return self.attention.kv_width

    @property
    def extra_params(self) -> Numbers:
        """Convolution and what else of the recurrence has weights."""
        return self.recurrence.extra_params

    def inputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """The matrices before both."""
        return (*self.attention.inputs(hidden), *self.recurrence.inputs(hidden))

    def outputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """The matrices after both."""
        return (*self.attention.outputs(hidden), *self.recurrence.outputs(hidden))

    def works(self, extent: Extent, hidden: Numbers, devices: Numbers) -> tuple[Work, ...]:
        """Work of both in a pass."""
        return (*self.attention.works(extent, hidden, devices), *self.recurrence.works(extent, hidden, devices))

    def kept(self, context: Numbers, devices: Numbers) -> Numbers:
        """Elements of KV cache of a sequence, on each device."""
        return self.attention.kept(context, devices)

    def kept_bytes(self, context: Numbers, devices: Numbers) -> Numbers:
        """Bytes of state of a sequence, on each device."""
        return self.recurrence.kept_bytes(context, devices)

    def shardable(self, devices: Numbers) -> Any:
        """Whether devices can share the heads of both evenly; a bool, or an array of them."""
        return self.attention.shardable(devices) & self.recurrence.shardable(devices)

    def fault(self, devices: Numbers) -> str | None:
        """Say where devices cannot share the heads evenly; None where they can."""
        return self.attention.fault(devices) or self.recurrence.fault(devices)

    def resized(self, heads: float, kv_heads: float, head_dim: float) -> Parallel:
        """The same with so many times the heads, KV heads and width."""
        return Parallel(
            self.attention.resized(heads, kv_heads, head_dim), self.recurrence.resized(heads, kv_heads, head_dim)
        )
