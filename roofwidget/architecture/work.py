"""Work: what one layer does on each device, counted in FLOPs and elements; and the pass that asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from roofwidget.validation import Numbers


class Work(NamedTuple):
    """Work of one kind in one layer, on each device.

    Parameters
    ----------
    flops
        Floating-point operations.
    weights, expert_weights, kv, activations
        Elements moved between memory and chip, by what they are.
    state_bytes
        Bytes moved whose format no precision sets: recurrent state, keys of an indexer.
    """

    name: str
    flops: Numbers = 0.0
    weights: Numbers = 0.0
    kv: Numbers = 0.0
    activations: Numbers = 0.0
    state_bytes: Numbers = 0.0
    expert_weights: Numbers = 0.0


@dataclass(frozen=True)
class Extent:
    """The tokens of a pass: `new` of each of `batch` sequences, which end `first` to `last` tokens long.

    Where `first` and `last` differ it is the average of the passes in between, one a length.

    Parameters
    ----------
    batch
        Sequences in the pass.
    new
        Tokens of each that run through it.
    first, last
        Tokens of each that are there after it, in the first and the last of the passes averaged.
    routed
        Tokens that the experts of the pass see: those of all replicas where these share them,
        else those of the pass.
    is_decode
        Whether it is an average over steps of one token.
    """

    batch: Numbers
    new: Numbers
    first: Numbers
    last: Numbers
    routed: Numbers
    is_decode: bool = False

    @classmethod
    def prefill(cls, batch: Numbers, prompt: Numbers) -> Extent:
        """All tokens of a prompt at once."""
        return cls(batch, prompt, prompt, prompt, batch * prompt)

    @classmethod
    def decode(cls, batch: Numbers, first: Numbers, last: Numbers, routed: Numbers | None = None) -> Extent:
        """One token of each sequence, on average over contexts from `first` to `last`."""
        return cls(batch, 1.0, first, last, batch if routed is None else routed, is_decode=True)

    @property
    def tokens(self) -> Numbers:
        """Tokens that run through the pass."""
        return self.batch * self.new

    def pairs(self, window: Numbers = np.inf) -> Numbers:
        """Query–key pairs of a sequence, when the i-th token attends to min(i, window) tokens.

        Summed over the new tokens, averaged over the passes.
        """
        if self.is_decode:
            passes, edge = self.last - self.first + 1, np.minimum(self.last, window)
            inside = np.maximum(edge - self.first + 1, 0)  # passes whose context is within the window
            beyond = np.where(passes > inside, passes - inside, 0.0)[()]
            mean: Numbers = (inside * (self.first + edge) / 2 + beyond * edge) / passes
            return mean
        return attended(self.last, window) - attended(self.last - self.new, window)

    def read(self, window: Numbers = np.inf) -> Numbers:
        """Tokens of a sequence whose keys and values are read, each once, on average over the passes."""
        if self.is_decode:
            return self.pairs(window)
        return np.minimum(self.last - self.new, np.maximum(window - 1, 0)) + self.new


def attended(tokens: Numbers, window: Numbers) -> Numbers:
    """Σ min(i, window) for i from 1 to `tokens`."""
    ramp = np.minimum(tokens, window)
    beyond: Numbers = np.where(tokens > window, (tokens - ramp) * ramp, 0.0)[()]
    triangle: Numbers = ramp * (ramp + 1) / 2
    return triangle + beyond
