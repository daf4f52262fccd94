"""What the memory given to the KV cache holds, and the batch and throughput that follow.

Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with PagedAttention".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofwidget.kv_allocation import KINDS, KVAllocation, final_context
from roofwidget.lengths import Lengths
from roofwidget.roofline.memory import largest_batch
from roofwidget.roofline.timing import BOUNDS, Pass
from roofwidget.scenario import Scenario
from roofwidget.serving.batch_curve import decode_at
from roofwidget.validation import Numbers

if TYPE_CHECKING:
    from roofwidget.evaluate import Metrics

ANSWERS = 16384
"""Answers drawn to average over where their lengths are spread."""

KERNEL_OVERHEAD = (0.20, 0.26)
"""How much longer attention took that reads the cache through a block table, at least and at most (Kwon et al. 2023,
§7.1: "20–26% higher attention kernel latency, compared to the highly-optimized FasterTransformer implementation")."""


class Slots(NamedTuple):
    """Slots of one sequence, each times the passes of its life in which it is given to the sequence.

    The parts are those of Kwon et al. 2023, §3.1.

    Parameters
    ----------
    used
        Those that hold a token.
    reserved
        Those that a later token of the same sequence will fill.
    internal
        Those that none ever fills, which only shows once it has ended: it was given more than it came to.
    external
        Those that the allocator's rounding takes, which is known beforehand.
    """

    used: Numbers
    reserved: Numbers
    internal: Numbers
    external: Numbers


@dataclass(frozen=True)
class Waste:
    """Shares of the slots given to sequences in flight; they sum to 1.

    Parameters
    ----------
    used, reserved, internal, external
        As in `Slots`.
    given
        Slots of a sequence, on average.
    """

    used: float
    reserved: float
    internal: float
    external: float
    given: float


def slots(allocation: KVAllocation, prompt: Numbers, output: Numbers) -> Slots:
    """The slots of a sequence, summed over its life.

    A life is one pass a token of the answer: the prefill, which keeps the prompt, and a decode step
    for each further token, which keeps one token more. With prompt p and output m that is
    p + (p + 1) + … + (p + m − 1) = m · (p + (m − 1) / 2) token-passes. Reservations are there for
    all of them; blocks come as they are needed, and the unfilled end of the last one is reserved
    (Kwon et al. 2023, §4.2) as far as the sequence gets there.
    """
    context = final_context(prompt, output)
    used = output * (prompt + (output - 1) / 2)
    none = 0.0 * used
    if allocation.kind == "exact":
        return Slots(used, none, none, none)
    if allocation.kind == "paged":
        block = allocation.block_size
        unfilled = _unfilled(context, block) - _unfilled(prompt - 1, block)
        never = -context % block
        in_last_block = np.minimum(output, block - never)
        return Slots(used, unfilled - in_last_block * never, in_last_block * never, none)
    reservation = allocation.reservation(prompt, output)
    given = allocation.tokens(prompt, output)
    return Slots(used, output * context - used, output * (reservation - context), output * (given - reservation))


def _unfilled(context: Numbers, block: Numbers) -> Numbers:
    """Unfilled slots of the last block, summed over all contexts from 1 to this one: Σ (−c mod block)."""
    blocks, over = np.floor(context / block), context % block
    return blocks * block * (block - 1) / 2 + over * block - over * (over + 1) / 2


def waste(allocation: KVAllocation, prompt: float, output: float, lengths: Lengths) -> Waste:
    """What the slots given to sequences in flight hold, on average.

    Sums over the lives of many sequences: one with a long answer is met in flight more often than
    its share of requests, in proportion to its length m. So the answer of a sequence met in flight
    has come to E[m²] / (2 · E[m]) tokens on average (about: half a token less, in whole ones), and
    as many are yet to come: the mean age and residual life of renewal theory, the inspection
    paradox (Kleinrock 1975, "Queueing Systems", vol. 1, §5.2).

    An answer that would outgrow a reservation of set length ends with it.

    Parameters
    ----------
    allocation
        How the slots are given out.
    prompt, output
        Tokens of the prompt, and of the answer on average.
    lengths
        How the lengths of answers are spread around that.
    """
    answers, requests = _answers(lengths, output)
    if allocation.kind == "reserved" and allocation.max_len is not None:
        answers = np.minimum(answers, np.maximum(allocation.max_len - prompt + 1, 1))
    used, reserved, internal, external = (float(requests @ part) for part in slots(allocation, prompt, answers))
    total = used + reserved + internal + external
    return Waste(used / total, reserved / total, internal / total, external / total, total / float(requests @ answers))


@lru_cache(maxsize=8)
def _answers(lengths: Lengths, output: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lengths of answers, tokens, and how many of those drawn have each: always the same ones."""
    if lengths.shape == "fixed":
        return np.array([output]), np.ones(1)
    values, counts = np.unique(lengths.draw(output, ANSWERS, 0), return_counts=True)
    return values.astype(np.float64), counts.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Allotted:
    """What a scenario comes to with one kind of allocation.

    Parameters
    ----------
    waste
        What the memory given to sequences in flight holds.
    tokens
        Slots of a sequence of mean length at its end.
    largest_batch
        Sequences of that length that fit together; 0 if none does.
    step
        The decode pass at that batch; at a batch of 1 where that is 0.
    throughput
        Output tokens/s of that batch together.
    """

    waste: Waste
    tokens: float
    largest_batch: float
    step: Pass
    throughput: float

    @property
    def empty(self) -> float:
        """Slots of a sequence in flight that hold no token, on average."""
        return (1 - self.waste.used) * self.waste.given

    @property
    def bound(self) -> str:
        """What holds the decode pass back, by name."""
        return BOUNDS[int(np.max(self.step.bound))]

    @property
    def attention_share(self) -> float:
        """Share of the decode pass that attention takes."""
        spent = [
            time for node, time in zip(self.step.nodes, self.step.node_times, strict=True) if "attention" in node.name
        ]
        return float(np.sum(spent) / np.sum(self.step.time))

    @property
    def slowdown(self) -> float:
        """A decode pass with attention as slow as `KERNEL_OVERHEAD` at most, over one without."""
        return 1 + KERNEL_OVERHEAD[1] * self.attention_share


@dataclass(frozen=True, eq=False)
class Paging:
    """A scenario under every kind of allocation.

    Parameters
    ----------
    allocation
        The one that is set.
    kinds
        What each kind comes to, in the order of `KINDS`; without those that do not suit the sequences.
    refused
        Why the others do not: a sentence each.
    """

    allocation: KVAllocation
    kinds: Mapping[str, Allotted]
    refused: Mapping[str, str]

    @property
    def contiguous(self) -> str:
        """The reservation that blocks are measured against: of a set length where that suits, or the power of two."""
        return "reserved" if "reserved" in self.kinds else "power of two"

    @property
    def batch_gain(self) -> float | None:
        """The largest batch in blocks over that in one piece; None where blocks do not suit or nothing fits."""
        if "paged" not in self.kinds or not self.kinds[self.contiguous].largest_batch:
            return None
        return self.kinds["paged"].largest_batch / self.kinds[self.contiguous].largest_batch

    @property
    def throughput_gain(self) -> float | None:
        """The same of their throughputs, block tables being free."""
        if self.batch_gain is None:
            return None
        return self.kinds["paged"].throughput / self.kinds[self.contiguous].throughput


def paging(metrics: Metrics) -> Paging:
    """The scenario of these metrics under every kind of allocation; for a scenario of plain numbers."""
    scenario = metrics.scenario
    prompt, output = float(scenario.workload.seq_len), float(scenario.workload.output_tokens)
    kinds, refused = {}, {}
    for kind in KINDS:
        allocation = replace(scenario.kv_allocation, kind=kind)
        if fault := allocation.fault(prompt, output):
            refused[kind] = fault[1]
        elif kind == scenario.kv_allocation.kind:
            kinds[kind] = _allotted(scenario, float(metrics.largest_batch))
        else:
            other = replace(scenario, kv_allocation=allocation)
            kinds[kind] = _allotted(other, float(largest_batch(other)))
    return Paging(scenario.kv_allocation, kinds, refused)


def _allotted(scenario: Scenario, batch: float) -> Allotted:
    workload, allocation = scenario.workload, scenario.kv_allocation
    prompt, output = float(workload.seq_len), float(workload.output_tokens)
    step = decode_at(scenario, np.array([max(batch, 1.0)]))
    return Allotted(
        waste=waste(allocation, prompt, output, workload.lengths),
        tokens=float(allocation.tokens(prompt, output)),
        largest_batch=batch,
        step=step,
        throughput=batch * float(scenario.tokens_per_step) / float(np.max(step.time)),
    )
