"""What a growing batch buys every user together, and costs each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from roofwidget.roofline.memory import Footprint, footprint, with_batch
from roofwidget.roofline.passes import decode_pass
from roofwidget.roofline.timing import BOUNDS, Pass
from roofwidget.scenario import Scenario

COMPUTE = BOUNDS.index("compute")
POINTS = 255  # and the wall
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
        more than one apart; among them the wall, if it is within reach.
    tpot
        Time per output token, s.
    bound
        Index into `BOUNDS` of what holds each back.
    memory
        Footprint on each device at each batch.
    wall
        Largest batch that fits; 0 if none does.
    knee
        Smallest batch within the curve at which decode is compute-bound; None if it never is.
    """

    batch: NDArray[np.float64]
    tpot: NDArray[np.float64]
    bound: NDArray[np.intp]
    memory: Footprint
    wall: float
    knee: float | None

    @property
    def throughput(self) -> NDArray[np.float64]:
        """Tokens/s of all users together."""
        return self.batch / self.tpot

    @property
    def user_speed(self) -> NDArray[np.float64]:
        """Tokens/s of each user."""
        return 1 / self.tpot


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
    decode = decode_at(scenario, batch)
    memory = footprint(with_batch(scenario, batch))
    tpot = np.asarray(decode.time / scenario.tokens_per_step)
    return BatchCurve(batch, tpot, decode.bound, memory, wall, _knee(scenario, batch, decode.bound))


def decode_at(scenario: Scenario, batch: NDArray[np.float64]) -> Pass:
    """The decode step of a scenario at these batches."""
    return decode_pass(with_batch(scenario, batch))


def _knee(scenario: Scenario, batch: NDArray[np.float64], bound: NDArray[np.intp]) -> float | None:
    """The first compute-bound batch, looked for between the curve's first and the point before it."""
    at = np.flatnonzero(bound == COMPUTE)
    if not at.size:
        return None
    between = np.arange(batch[max(at[0] - 1, 0)], batch[at[0]] + 1)
    return float(between[np.flatnonzero(decode_at(scenario, between).bound == COMPUTE)[0]])


def batches(current: float, wall: float) -> NDArray[np.float64]:
    """Whole batches from 1, evenly spaced on a log scale, that show the current one and the wall."""
    shown = max(SHORTEST, current, min(2 * wall, LONGEST))
    last = 2.0 ** np.ceil(np.log2(shown))
    return np.union1d(np.round(np.geomspace(1.0, last, POINTS)), wall if 1 <= wall <= last else 1.0)
