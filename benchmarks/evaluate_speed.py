"""Time of evaluate, from one number to a grid of a million, and of a model's recompute.

Every figure is also told as a multiple of a yardstick, numpy adding two arrays of 256, timed beside
it in every round, so that the ratio outlives the machine. Of all rounds the quickest counts, since
whatever else the machine does can only add to a time.
"""

from __future__ import annotations

import itertools
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from table import show

from roofwidget import Metrics, RooflineModel, Scenario, evaluate
from roofwidget.serving.batch_curve import POINTS, batches

ROUNDS = 40
SLICE = 0.01
"""Seconds that each case is repeated for in each round."""
MILLION = 1_000_000


@dataclass(frozen=True)
class Case:
    """Something to time, and how many points it evaluates."""

    name: str
    run: Callable[[], Any]
    points: int = 1


def headline(metrics: Metrics) -> tuple[Any, ...]:
    """Read what a person reads first: a Metrics adds up its passes only when asked."""
    return metrics.ttft, metrics.tpot, metrics.decode_throughput, metrics.memory.total


def at(scenario: Scenario, **workload: Any) -> Metrics:
    metrics = evaluate(replace(scenario, workload=replace(scenario.workload, **workload)))
    headline(metrics)
    return metrics


def cases(scenario: Scenario) -> list[Case]:
    curve = batches(1.0, 0.0)
    array = np.geomspace(1, 65536, POINTS).round()
    batch, seq_len = np.arange(1.0, 1001)[:, None], 64.0 * np.arange(1, 1001)
    model, turn = RooflineModel(), itertools.cycle((8, 16))
    return [
        Case("evaluate, plain numbers", lambda: at(scenario, batch=8)),
        Case(f"evaluate, batch an array of {array.size}", lambda: at(scenario, batch=array), array.size),
        Case("evaluate and its batch_curve", lambda: at(scenario, batch=8).batch_curve, 1 + curve.size),
        Case("RooflineModel().batch = …", lambda: setattr(model, "batch", next(turn))),
        Case("evaluate, a grid of 1,000 x 1,000", lambda: at(scenario, batch=batch, seq_len=seq_len), MILLION),
    ]


def repeats(case: Case) -> int:
    """How often a case runs in a slice of time, at least once."""
    runs, spent = timeit.Timer(case.run).autorange() if case.points < MILLION else (1, SLICE)
    return max(1, round(runs * SLICE / spent))


def seconds(case: Case, runs: int) -> float:
    return timeit.Timer(case.run).timeit(runs) / runs


def rounds(every: Sequence[Case], yardstick: Case) -> Iterator[list[tuple[float, float]]]:
    """Round after round, in which all take turns: the seconds of each case and of the yardstick beside it."""
    runs, beside = [repeats(case) for case in every], repeats(yardstick)
    for _ in range(ROUNDS):
        yield [(seconds(case, times), seconds(yardstick, beside)) for case, times in zip(every, runs, strict=True)]


def main() -> None:
    a, b, out = np.ones(POINTS), np.ones(POINTS), np.empty(POINTS)
    yardstick = Case(f"yardstick: numpy adds two arrays of {POINTS}", lambda: np.add(a, b, out), POINTS)
    every = [yardstick, *cases(Scenario("H100 SXM", "Llama 3.1 70B"))]
    rows = []
    for case, pairs in zip(every, zip(*rounds(every, yardstick), strict=True), strict=True):
        time, beside = (min(column) for column in zip(*pairs, strict=True))
        rows.append((case.name, time * 1e6, time / beside, time * 1e9 / case.points))
    show(("", "µs", "x yardstick", "ns/point"), rows)


if __name__ == "__main__":
    main()
