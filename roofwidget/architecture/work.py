"""Work: what one layer does on each device, counted in FLOPs and elements; and the pass that asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from roofwidget.validation import Numbers, anywhere


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
    linear
        Whether it is a product with weights, which quantized models compute in their own format.
    """

    name: str
    flops: Numbers = 0.0
    weights: Numbers = 0.0
    kv: Numbers = 0.0
    activations: Numbers = 0.0
    state_bytes: Numbers = 0.0
    expert_weights: Numbers = 0.0
    linear: bool = False


@dataclass(frozen=True)
class Extent:
    """The tokens of a pass: `new` of each of `batch` sequences.

    In prefill they end `last` tokens long. In decode the first new token sees a context of `first`
    to `last` tokens, itself among them: it is the average of the passes in between, one a length.

    Parameters
    ----------
    batch
        Sequences in the pass.
    new
        Tokens of each that run through it.
    first, last
        Context of each sequence, see above.
    routed
        Tokens that the experts of the pass see: those of all replicas where these share them,
        else those of the pass.
    is_decode
        Whether it is an average over decode steps, of one token each unless drafted ones are verified.
    shared
        Tokens of the context that all sequences share, and that are read once for all of them.
    """

    batch: Numbers
    new: Numbers
    first: Numbers
    last: Numbers
    routed: Numbers
    is_decode: bool = False
    shared: Numbers = 0.0

    @classmethod
    def prefill(cls, batch: Numbers, prompt: Numbers, cached: Numbers = 0.0) -> Extent:
        """All tokens of a prompt at once but those whose keys and values are cached."""
        new = prompt - cached
        return cls(batch, new, prompt, prompt, batch * new)

    @classmethod
    def decode(
        cls,
        batch: Numbers,
        first: Numbers,
        last: Numbers,
        routed: Numbers | None = None,
        new: Numbers = 1.0,
        shared: Numbers = 0.0,
    ) -> Extent:
        """New tokens of each sequence, on average over contexts from `first` to `last`; `routed` sequences of them."""
        return cls(batch, new, first, last, (batch if routed is None else routed) * new, True, shared)

    @property
    def tokens(self) -> Numbers:
        """Tokens that run through the pass."""
        return self.batch * self.new

    @property
    def scored(self) -> Numbers:
        """Positions whose logits are needed: the last one of a prompt, in decode all that are new."""
        return self.tokens if self.is_decode else self.batch

    def pairs(self, window: Numbers = np.inf) -> Numbers:
        """Query–key pairs of a sequence, when the i-th token attends to min(i, window) tokens.

        Summed over the new tokens, averaged over the passes.
        """
        if self.is_decode:  # as many for each new token as for the middle one
            ahead = (self.new - 1) / 2
            return self.new * mean_within(self.first + ahead, self.last + ahead, window)
        return attended(self.last, window) - attended(self.last - self.new, window)

    def read(self, window: Numbers = np.inf) -> Numbers:
        """Tokens of a sequence whose keys and values are read, each once, on average over the passes."""
        if self.is_decode:
            ahead = self.new - 1
            seen = mean_within(self.first + ahead, self.last + ahead, window + ahead)
            if not anywhere(self.shared):
                return seen
            return seen - self._seen_of_shared(window) * (1 - 1 / self.batch)
        return np.minimum(self.last - self.new, np.maximum(window - 1, 0)) + self.new

    def _seen_of_shared(self, window: Numbers) -> Numbers:
        """Tokens of the shared beginning that are within a window, on average over the passes.

        A context that has come n tokens beyond it sees min(shared, max(window − n, 0)) of them.
        """
        edge = np.minimum(window, self.last)
        nearest, farthest = (np.maximum(edge - (n - self.shared), 0) for n in (self.first, self.last + 1))
        counted = attended(nearest, self.shared) - attended(farthest, self.shared)
        return counted / (self.last - self.first + 1)


def mean_within(first: Numbers, last: Numbers, window: Numbers) -> Numbers:
    """Mean of min(n, window) over n from `first` to `last` in steps of one."""
    passes, edge = last - first + 1, np.minimum(last, window)
    inside = np.maximum(edge - first + 1, 0)  # those within the window
    beyond = np.where(passes > inside, passes - inside, 0.0)[()]
    mean: Numbers = (inside * (first + edge) / 2 + beyond * edge) / passes
    return mean


def attended(tokens: Numbers, window: Numbers) -> Numbers:
    """Σ min(i, window) for i from 1 to `tokens`."""
    ramp = np.minimum(tokens, window)
    beyond: Numbers = np.where(tokens > window, (tokens - ramp) * ramp, 0.0)[()]
    triangle: Numbers = ramp * (ramp + 1) / 2
    return triangle + beyond
