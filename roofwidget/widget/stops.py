"""Where a slider stops: round numbers, evenly spread over its range.

A slider here moves over the index of its stops, whole numbers all, so that showing it never
rounds, and so never changes, the value behind it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from roofwidget.quantity import Quantity

DECADE_STOPS = 50
SPAN_FOR_LOG = 8


def stops(quantity: Quantity) -> NDArray[np.float64]:
    """The values at which the slider of a quantity stops, in order."""
    low, high = quantity.slider
    if quantity.doubling:
        return np.asarray(low * 2.0 ** np.arange(np.floor(np.log2(high / low)) + 1))
    if quantity.allowed.whole:
        return _quarter_octaves(low, high)
    if high / low >= SPAN_FOR_LOG:
        points = np.geomspace(low, high, round(np.log10(high / low) * DECADE_STOPS) + 1)
        return np.array([float(f"{point:.3g}") for point in points])
    return np.round(np.linspace(low, high, 101), 6)


def nearest(values: NDArray[np.float64], value: float) -> int:
    """Index of the stop nearest to a value, on the scale the stops are spread on."""
    return int(np.argmin(np.abs(np.log(values / value))))


def _quarter_octaves(low: float, high: float) -> NDArray[np.float64]:
    """1, 1.25, 1.5 and 1.75 times each power of two: 4,096, 5,120, 6,144, 7,168, 8,192 …"""
    octaves = 2.0 ** np.arange(0, np.ceil(np.log2(high)) + 1)
    grid = np.unique(np.multiply.outer(octaves, [1, 1.25, 1.5, 1.75]))
    return np.asarray(grid[(grid == np.floor(grid)) & (grid >= low) & (grid <= high)])
