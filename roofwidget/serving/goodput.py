"""How much can be served within the objectives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofwidget.roofline.memory import with_batch
from roofwidget.roofline.passes import time_per_output_token
from roofwidget.scenario import Scenario
from roofwidget.serving.continuous_batching import slot_steps
from roofwidget.validation import Numbers


class Goodput(NamedTuple):
    """The largest batch that keeps the objectives and fits, and the requests/s it serves; both 0 if none does."""

    batch: float
    request_rate: float


POINTS = 64
"""Batches that are tried at once."""

Batches = NDArray[np.float64]


def goodput(scenario: Scenario, ttft: float, largest: float) -> Goodput:
    """What a scenario of plain numbers can serve within its objectives.

    Parameters
    ----------
    scenario
        What is served, and what was promised.
    ttft
        Its time to first token, s: that of a request which need not wait.
    largest
        The largest batch that fits.
    """
    promised = scenario.objectives
    if not largest or (promised.ttft is not None and ttft > promised.ttft):
        return Goodput(0.0, 0.0)
    batch = largest if promised.tpot is None else largest_within(scenario, promised.tpot, largest)
    if not batch:
        return Goodput(0.0, 0.0)
    return Goodput(batch, float(request_rate(scenario, ttft, float(tpots(scenario, np.array([batch]))[0]), batch)))


def largest_within(scenario: Scenario, tpot: float, largest: float) -> float:
    """The largest batch up to `largest` with a time per output token of at most `tpot` s; 0 if there is none.

    A step takes no less time with more sequences.
    """
    return largest_that(lambda batches: tpots(scenario, batches) <= tpot, largest)


def largest_that(keeps: Callable[[Batches], NDArray[np.bool_]], largest: float) -> float:
    """The largest batch up to `largest` that keeps what a larger one does not more easily; 0 if none does.

    The range is narrowed around where it is no longer kept.
    """
    low, high = 1.0, largest
    while True:
        batches = np.unique(np.round(np.geomspace(low, high, POINTS)))
        kept = np.flatnonzero(keeps(batches))
        if not kept.size:
            return 0.0
        last = int(kept[-1])
        if last + 1 == batches.size or batches[last + 1] == batches[last] + 1:
            return float(batches[last])
        low, high = float(batches[last]), float(batches[last + 1])


def tpots(scenario: Scenario, batches: Batches) -> Batches:
    """Times per output token at these batches, s."""
    return np.broadcast_to(time_per_output_token(with_batch(scenario, batches)), batches.shape)


def request_rate(scenario: Scenario, ttft: Numbers, tpot: Numbers, batch: Numbers) -> Numbers:
    """Requests/s that a batch kept full serves, at most.

    A request takes its prefill, of which the fullest stage does its share, and its part of every
    decode step for which it has a slot: with b sequences on a replica
    1 / (ttft · share + (output − 1) · tpot / b) requests/s, on all replicas together.
    """
    replicas = scenario.data_parallel
    decode = slot_steps(scenario, batch) * tpot * replicas / batch
    return replicas / (ttft * scenario.stage_share + decode)
