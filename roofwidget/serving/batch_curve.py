"""What a growing batch buys every user together, and costs each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofwidget.roofline.memory import Footprint, footprint, with_batch
from roofwidget.roofline.nodes import decode_nodes
from roofwidget.roofline.timing import BOUNDS, time_pass
from roofwidget.scenario import Scenario

POINTS = 256
SHORTEST, LONGEST = 1024.0, 65536.0
"""The curve ends between these batches: at the first power of two beyond the one at hand, and
twice the largest that fits if that is not farther than LONGEST."""


@dataclass(frozen=True, eq=False)
class BatchCurve:
    """Decode at every batch of a range, each field one array over it.

    Parameters
    ----------
    batch
        Sequences decoded together: whole numbers, evenly spaced on a log scale once that is
        more than one apart.
    tpot
        Time per output token, s.
    bound
        Index into `BOUNDS` of what holds each back.
    memory
        Footprint on each device at each batch.
    wall
        Largest batch that fits; 0 if none does.
    """

    batch: NDArray[np.float64]
    tpot: NDArray[np.float64]
    bound: NDArray[np.intp]
    memory: Footprint
    wall: float

    @property
    def throughput(self) -> NDArray[np.float64]:
        """Tokens/s of all users together."""
        return self.batch / self.tpot

    @property
    def user_speed(self) -> NDArray[np.float64]:
        """Tokens/s of each user."""
        return 1 / self.tpot

    @property
    def knee(self) -> float | None:
        """Smallest batch of the curve at which decode is compute-bound; None if it never is."""
        bound = np.flatnonzero(self.bound == BOUNDS.index("compute"))
        return float(self.batch[bound[0]]) if bound.size else None


def batch_curve(scenario: Scenario, wall: float) -> BatchCurve:
    """Decode and memory of a scenario of plain numbers, at up to 256 batches.

    Parameters
    ----------
    scenario
        What is served, and how.
    wall
        The largest batch that fits.
    """
    batch = batches(float(scenario.workload.batch), wall)
    along = with_batch(scenario, batch)
    decode = time_pass(decode_nodes(along), along)
    return BatchCurve(batch, np.asarray(decode.time), decode.bound, footprint(along), wall)


def batches(current: float, wall: float) -> NDArray[np.float64]:
    """Whole batches from 1, evenly spaced on a log scale, that show the current one and the wall."""
    shown = max(SHORTEST, current, min(2 * wall, LONGEST))
    last = 2.0 ** np.ceil(np.log2(shown))
    return np.unique(np.round(np.geomspace(1.0, last, POINTS)))
