"""One label for dots that lie on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NEAR = 0.09
"""Dots nearer than this share of the plot's width or height have one label."""


class Cluster(NamedTuple):
    """Dots with one label: the one that takes most time, and what the label says."""

    head: int
    text: str


def clusters(
    x: NDArray[np.float64], y: NDArray[np.float64], share: NDArray[np.float64], names: Sequence[str]
) -> list[Cluster]:
    """Group dots, given in shares of the plot, around those that take most of the time."""
    left = list(np.argsort(-share))
    found = []
    while left:
        head = left[0]
        members = [i for i in left if abs(x[i] - x[head]) < NEAR and abs(y[i] - y[head]) < NEAR]
        left = [i for i in left if i not in members]
        others = len(members) - 1
        found.append(Cluster(head, names[head] + (f" + {others}" if others else "")))
    return found
