"""Blocks: layers that are alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.compressed import CompressedAttention
from roofwidget.architecture.feed_forward import Experts, FeedForward, Spread
from roofwidget.architecture.latent import LatentAttention
from roofwidget.architecture.matrix import Matrix
from roofwidget.architecture.parallel import Parallel
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.validation import POSITIVE, Allowed, Numbers, settle

Mixer: TypeAlias = Attention | LatentAttention | CompressedAttention | Recurrence | Parallel
"""What lets tokens of a sequence see each other."""


@dataclass(frozen=True)
class Block:
    """`layers` alike layers, each of a mixer, a feed-forward network, or both.

    Parameters
    ----------
    norms
        Gains of normalisation a layer, in widths of the residual stream.
    more_params
        Parameters of a layer beside all that, every device has them and every token uses them.
    """

    layers: Numbers
    mixer: Mixer | None = None
    ffn: FeedForward | Experts | None = None
    norms: Numbers = 2.0
    more_params: Numbers = 0.0

    def __post_init__(self) -> None:
        some = Allowed(zero=True)
        settle(self, layers=POSITIVE, norms=some, more_params=some)

    def mixer_params(self, hidden: Numbers) -> Numbers:
        """Parameters of one layer's mixer."""
        return self._mixer_params(hidden, lambda matrix: matrix.params, 1.0)

    def layer_params(self, hidden: Numbers) -> Numbers:
        """Parameters of one layer."""
        ffn = 0.0 if self.ffn is None else self.ffn.params(hidden)
        return self.mixer_params(hidden) + ffn + self._rest(hidden)

    def active_params(self, hidden: Numbers) -> Numbers:
        """Those of one layer that a token uses."""
        ffn = 0.0 if self.ffn is None else self.ffn.active_params(hidden)
        return self.mixer_params(hidden) + ffn + self._rest(hidden)

    def layer_params_on(self, hidden: Numbers, devices: Numbers) -> Numbers:
        """Parameters of one layer on each device, without its experts."""
        mixer = self._mixer_params(hidden, lambda matrix: matrix.params_on(devices), devices)
        ffn = 0.0 if self.ffn is None else self.ffn.params_on(hidden, devices)
        return mixer + ffn + self._rest(hidden)

    def expert_params_on(self, hidden: Numbers, spread: Spread) -> Numbers:
        """Parameters of one layer's experts on the device that holds most of them."""
        return 0.0 if self.ffn is None else self.ffn.expert_params_on(hidden, spread)

    def live(self, hidden: Numbers, devices: Numbers) -> Numbers:
        """Elements live for a token at the widest place of a layer, on each device.

        The residual stream and, around the feed-forward network, its input and its one or two
        intermediates; or around the mixer what its projections make: a pass without gradients
        keeps no more.
        """
        ffn = 0.0 if self.ffn is None else hidden + self.ffn.live(devices)
        mixer = () if self.mixer is None else self.mixer.inputs(hidden)
        return hidden + np.maximum(ffn, sum((matrix.outputs.on(devices) for matrix in mixer), start=0.0))

    def resized(self, layers: float, heads: float, kv_heads: float, head_dim: float) -> Block:
        """So many times the layers, heads, KV heads and head width."""
        mixer = None if self.mixer is None else self.mixer.resized(heads, kv_heads, head_dim)
        return replace(self, layers=self.layers * layers, mixer=mixer)

    def widened(self, times: Numbers) -> Block:
        """The same, with feed-forward networks so many times as wide."""
        return self if self.ffn is None else replace(self, ffn=self.ffn.widened(times))

    def _rest(self, hidden: Numbers) -> Numbers:
        return self.norms * hidden + self.more_params

    def _mixer_params(self, hidden: Numbers, of: Callable[[Matrix], Numbers], devices: Numbers) -> Numbers:
        if self.mixer is None:
            return 0.0
        matrices = (*self.mixer.inputs(hidden), *self.mixer.outputs(hidden))
        extra = self.mixer.extra_params / devices if isinstance(self.mixer, (Recurrence, Parallel)) else 0.0
        return sum(map(of, matrices), start=0.0) + extra
