"""Continuous batching against static batches: what the slots of a batch do while its answers end one by one.

A static batch is fixed until its longest answer ends: what has ended neither returns nor makes room (Yu et al. 2022,
"Orca", OSDI, §3 C1). Continuous batching, Orca's iteration-level scheduling (§3 S1), gives a free slot to the next
request at the next step. A step here is a pass of the model that makes one token for every slot; the first token of an
answer comes from its prefill.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from roofwidget.lengths import Lengths
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers

if TYPE_CHECKING:
    from roofwidget.evaluate import Metrics


def static_steps(lengths: Lengths, mean: Numbers, batch: Numbers) -> Numbers:
    """Decode steps that a static batch takes: E[longest of the batch] − 1.

    Parameters
    ----------
    lengths, mean
        How the answers' lengths are spread, and their mean, tokens.
    batch
        Sequences that start together.
    """
    return lengths.longest(mean, batch) - 1


def continuous_steps(mean: Numbers) -> Numbers:
    """Decode steps for which an answer has its slot where another then takes it: mean − 1."""
    return mean - 1


def slot_steps(scenario: Scenario, batch: Numbers) -> Numbers:
    """Decode steps for which an answer has its slot: its own, or in a static batch those of the longest."""
    workload = scenario.workload
    if scenario.continuous:
        return continuous_steps(workload.output_tokens)
    return static_steps(workload.lengths, workload.output_tokens, np.ceil(batch / scenario.data_parallel))


def occupancy(lengths: Lengths, mean: Numbers, batch: Numbers) -> Numbers:
    """Share of a static batch's tokens that were asked for: mean / E[longest]; 1 with continuous batching.

    Of many batches, all that is wanted over all that there is room for (renewal–reward), prefill's token among it.
    """
    return mean / lengths.longest(mean, batch)


@dataclass(frozen=True, eq=False)
class Batching:
    """Static and continuous batching of the same requests, with never a slot short of one.

    Parameters
    ----------
    occupancy_static
        Share of a static batch's tokens that were asked for.
    steps_static, steps_continuous
        Decode steps of a static batch, and of an answer that waits for no other.
    tpot_static, tpot_continuous
        Time of such a step, s.
    static_requests_per_s, continuous_requests_per_s
        Requests/s of all replicas.
    shortest_wait
        Time for which the shortest answer of a static batch is done and waits for the longest, s.
    """

    occupancy_static: Numbers
    steps_static: Numbers
    steps_continuous: Numbers
    tpot_static: Numbers
    tpot_continuous: Numbers
    static_requests_per_s: Numbers
    continuous_requests_per_s: Numbers
    shortest_wait: Numbers

    @property
    def gain(self) -> Numbers:
        """Requests/s of continuous over those of static batching."""
        return self.continuous_requests_per_s / self.static_requests_per_s


def batching(metrics: Metrics) -> Batching:
    """Both ways to batch a scenario's requests; each replica has its own static batch."""
    workload, batch = metrics.scenario.workload, metrics.scenario.replica_batch
    lengths, mean = workload.lengths, workload.output_tokens
    steps, tpot = static_steps(lengths, mean, batch), metrics.tpot_of(continuous=False)
    return Batching(
        occupancy_static=occupancy(lengths, mean, batch),
        steps_static=steps,
        steps_continuous=continuous_steps(mean),
        tpot_static=tpot,
        tpot_continuous=metrics.tpot_of(continuous=True),
        static_requests_per_s=metrics.static_rate,
        continuous_requests_per_s=metrics.continuous_rate,
        shortest_wait=(lengths.longest(mean, batch) - lengths.shortest(mean, batch)) * tpot,
    )


@dataclass(frozen=True, eq=False)
class Timeline:
    """Which request had which slot when, in steps from 0.

    Parameters
    ----------
    slots
        Sequences that run at once.
    slot, start, end
        Of each request in the order they came: its slot, its first step and the one after its last; shape (requests,).
    """

    slots: int
    slot: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    @property
    def steps(self) -> int:
        """Steps until all have ended."""
        return int(self.end.max())

    def occupancy_until(self, step: int) -> float:
        """Share of all slots' steps before this one that make a token which was asked for."""
        made = np.clip(self.end, 0, step) - np.clip(self.start, 0, step)
        return float(made.sum()) / (self.slots * step)

    def steps_of(self, requests: int) -> int:
        """Steps until the first requests have ended."""
        return int(self.end[:requests].max())

    def rows(self) -> list[tuple[int, int, int]]:
        """Slot, start and end of each request."""
        return list(zip(self.slot.tolist(), self.start.tolist(), self.end.tolist(), strict=True))


def place(lengths: NDArray[np.int64], slots: int, continuous: bool) -> Timeline:
    """Give answers of these lengths, shape (requests,), their slots; all are there from the start.

    Prefill counts as the step of the first token.
    Continuous: each takes the slot that is free first. Static: as many as there are slots start together, once
    all of the batch before have ended.
    """
    free = np.zeros(slots, np.int64)
    slot, start = np.empty_like(lengths), np.empty_like(lengths)
    for request, length in enumerate(lengths):
        if not continuous and request % slots == 0:
            free[:] = free.max()
        slot[request] = free.argmin() if continuous else request % slots
        start[request] = free[slot[request]]
        free[slot[request]] += length
    return Timeline(slots, slot, start, start + lengths)
