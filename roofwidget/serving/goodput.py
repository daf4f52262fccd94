"""How much can be served within the objectives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roofwidget.roofline.memory import with_batch
from roofwidget.roofline.nodes import decode_nodes
from roofwidget.roofline.timing import time_pass
from roofwidget.scenario import Scenario
from roofwidget.serving.batch_curve import BatchCurve
from roofwidget.validation import Numbers


class Goodput(NamedTuple):
    """The largest batch that keeps the objectives and fits, and the requests/s it serves; both 0 if none does."""

    batch: float
    request_rate: float


def goodput(scenario: Scenario, ttft: float, curve: BatchCurve) -> Goodput:
    """What a scenario of plain numbers can serve within its objectives.

    Parameters
    ----------
    scenario
        What is served, and what was promised.
    ttft
        Its time to first token, s: that of a request which need not wait.
    curve
        Its decode at every batch.
    """
    promised = scenario.objectives
    fitting = curve.batch <= curve.wall
    if (promised.ttft is not None and ttft > promised.ttft) or not fitting.any():
        return Goodput(0.0, 0.0)
    kept = fitting if promised.tpot is None else fitting & (curve.tpot <= promised.tpot)
    if not kept.any():
        return Goodput(0.0, 0.0)
    last = int(np.flatnonzero(kept)[-1])
    batch, tpot = float(curve.batch[last]), float(curve.tpot[last])
    if promised.tpot is not None and last + 1 < curve.batch.size and fitting[last + 1]:
        between = np.arange(batch, curve.batch[last + 1])
        along = with_batch(scenario, between)
        times = np.broadcast_to(time_pass(decode_nodes(along), along).time, between.shape)
        at = int(np.flatnonzero(times <= promised.tpot)[-1])
        batch, tpot = float(between[at]), float(times[at])
    return Goodput(batch, float(request_rate(scenario, ttft, tpot, batch)))


def request_rate(scenario: Scenario, ttft: Numbers, tpot: Numbers, batch: Numbers) -> Numbers:
    """Requests/s that a batch kept full serves, at most.

    A request takes its prefill, which each of the stages does in turn, and its part of every decode
    step: with b sequences on a replica 1 / (ttft / stages + (output − 1) · tpot / b) requests/s, on
    all replicas together.
    """
    replicas = scenario.data_parallel
    decode = (scenario.workload.output_tokens - 1) * tpot * replicas / batch
    return replicas / (ttft / scenario.pipeline + decode)
