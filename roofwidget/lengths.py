"""How the lengths of the answers are spread around their mean, and what that makes of their extremes."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from roofwidget.extremes import (
    Listed,
    geometric_longest,
    geometric_shortest,
    lognormal_longest,
    lognormal_shortest,
    uniform_longest,
)
from roofwidget.validation import COUNT, Allowed, Numbers, ParameterError, as_floats, shown

SHAPES = ("fixed", "uniform", "geometric", "lognormal")
MOST_LISTED = 10_000
LONGEST_LISTED = 100_000_000
SPREADS = Allowed(high=10.0)


@dataclass(frozen=True)
class Lengths:
    """How the answers' lengths are spread around their mean, independent of each other.

    Every answer has a first token; what varies is the tokens after it. Where their mean is 1 all answers are of one.

    Parameters
    ----------
    shape
        fixed: all alike. uniform: each of 1 … 2·mean − 1 as likely. geometric: after each token the answer ends with
        probability 1/mean. lognormal: the tokens after the first are lognormal (not rounded here, only when drawn).
        Or lengths that were measured, each as likely: their tokens after the first are taken in proportion, so that
        the mean is the one asked for; with the list's own mean they are the lengths as they stand.
    spread
        Coefficient of variation (standard deviation / mean) of the tokens after the first; lognormal only.

    Raises
    ------
    ParameterError
        If the shape is neither known nor a list of 1 to 10,000 whole numbers from 1 to 100,000,000, or the spread is
        not a number more than 0 and at most 10.
    """

    shape: str | Sequence[float] = "fixed"
    spread: Numbers = 1.0

    def __post_init__(self) -> None:
        faults = {
            "output_lengths": shape_fault(self.shape),
            "output_spread": SPREADS.fault("output_spread", self.spread),
        }
        if found := {name: sentence for name, sentence in faults.items() if sentence}:
            raise ParameterError(found)
        if not isinstance(self.shape, str):
            object.__setattr__(self, "shape", tuple(float(length) for length in self.shape))
        object.__setattr__(self, "spread", as_floats(self.spread))

    def longest(self, mean: Numbers, count: Numbers) -> Numbers:
        """Expected longest of `count` answers, tokens.

        Exact to 1e-6, lognormal included: it is not rounded to whole tokens.

        Parameters
        ----------
        mean
            Mean length, tokens, at least 1.
        count
            Answers, whole and at least 1. Both broadcast.
        """
        if self.shape == "fixed":
            return mean + 0.0 * count
        if self.shape == "uniform":
            longest = uniform_longest(mean, count)
        elif self.shape == "geometric":
            longest = geometric_longest(mean, count)
        elif self.shape == "lognormal":
            longest = 1 + (mean - 1) * lognormal_longest(self.spread, count)
        else:
            longest = 1 + (mean - 1) * self._listed.longest(count)
        return np.maximum(longest, mean)[()]

    def shortest(self, mean: Numbers, count: Numbers) -> Numbers:
        """Expected shortest of `count` answers, tokens; as `longest`."""
        if self.shape == "fixed":
            return mean + 0.0 * count
        if self.shape == "uniform":
            shortest = 2 * mean - uniform_longest(mean, count)
        elif self.shape == "geometric":
            shortest = geometric_shortest(mean, count)
        elif self.shape == "lognormal":
            shortest = 1 + (mean - 1) * lognormal_shortest(self.spread, count)
        else:
            shortest = 1 + (mean - 1) * self._listed.shortest(count)
        return np.clip(shortest, 1, mean)[()]

    def variation(self, mean: Numbers) -> Numbers:
        """Coefficient of variation of the lengths: standard deviation / mean."""
        beyond = (mean - 1) / mean
        if self.shape == "fixed":
            return 0.0 * mean
        if self.shape == "uniform":
            return np.sqrt(beyond / 3)
        if self.shape == "geometric":
            return np.sqrt(beyond)
        return beyond * (self.spread if self.shape == "lognormal" else self._listed.variation)

    def mean_square(self, mean: Numbers) -> Numbers:
        """Expected square of a length, tokens²: mean² · (1 + variation²)."""
        return mean**2 * (1 + self.variation(mean) ** 2)

    def draw(self, mean: float, count: int, seed: int) -> NDArray[np.int64]:
        """Lengths of `count` answers: whole tokens, at least 1, the same for the same seed."""
        random = np.random.default_rng(seed)
        if self.shape == "uniform":
            return random.integers(1, round(2 * mean), count)
        if self.shape == "geometric":
            return random.geometric(1 / mean, count)
        if self.shape == "fixed":
            beyond: NDArray[np.float64] = np.ones(count)
        elif self.shape == "lognormal":
            variance = np.log1p(float(self.spread) ** 2)
            beyond = random.lognormal(-variance / 2, np.sqrt(variance), count)
        else:
            beyond = random.choice(self._beyond, count)
        return 1 + np.rint((mean - 1) * beyond).astype(np.int64)

    @cached_property
    def _listed(self) -> Listed:
        return Listed(self._beyond)

    @cached_property
    def _beyond(self) -> NDArray[np.float64]:
        """Tokens after the first of the listed answers, over their mean; alike where there are none."""
        beyond = np.asarray(self.shape, np.float64) - 1
        return beyond / beyond.mean() if beyond.any() else np.ones_like(beyond)


def shape_fault(shape: object) -> str | None:
    """Say what is wrong with a shape; None if nothing is."""
    allowed = f"output_lengths must be {', '.join(SHAPES)} or a list of 1 to {MOST_LISTED:,} whole numbers of 1 or more"
    if isinstance(shape, str) and shape in SHAPES:
        return None
    if isinstance(shape, str) or not isinstance(shape, (Sequence, np.ndarray)) or getattr(shape, "ndim", 1) == 0:
        return f"{allowed}, not {shown(shape)}"
    if not 1 <= len(shape) <= MOST_LISTED:
        return f"{allowed}, not one of {len(shape):,}"
    for length in shape:
        if not isinstance(length, numbers.Real) or COUNT.fault("", length):
            return f"{allowed}, not one with {shown(length)}"
        if float(length) > LONGEST_LISTED:
            return f"output_lengths must be at most {LONGEST_LISTED:,} tokens each, not {shown(length)}"
    return None


ALIKE = Lengths()
