"""What drafting tokens gains, at this batch and context and at others, and where it stops paying."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from roofwidget.accepted import chain_tokens
from roofwidget.kv_allocation import EXACT
from roofwidget.roofline.passes import decode_pass, time_per_output_token
from roofwidget.roofline.timing import Pass
from roofwidget.scenario import Scenario
from roofwidget.serving.batch_curve import decode_at
from roofwidget.speculation import Speculation
from roofwidget.validation import Numbers
from roofwidget.workload import Workload

if TYPE_CHECKING:
    from roofwidget.evaluate import Metrics

Floats = NDArray[np.float64]

MOST_TOKENS = 16
"""Longest draft that is tried for the best one."""
CONTEXTS = (256.0, 131_072.0)
POINTS = 64
HALVINGS = 40
"""Of the interval in which the break-even acceptance lies: to 1e-12."""


@dataclass(frozen=True, eq=False)
class SpeculationFigures:
    """A round of drafts and their verification against plain decoding; times in s.

    Parameters
    ----------
    tokens_per_step
        Tokens that a round gives each sequence, in expectation.
    draft_time, verify_time
        What a round is made of: all passes of the drafter, and the pass that verifies.
    plain_tpot, tpot
        Time per output token without speculation, and with it.
    cost
        c: one pass of the drafter over one plain decode step (Leviathan et al. 2023, definition 3.7).
    speedup_by_tokens
        Speed-up with 1, 2, 3 … tokens drafted in a row, all else as it is.
    break_even
        Acceptance above which it pays with as many drafts; None where none between 0 and 1 does.
    batch, batch_speedup
        The batches of the batch curve, and the speed-up at each.
    context, context_speedup
        Contexts, in tokens, and the speed-up at each.
    """

    tokens_per_step: float
    draft_time: float
    verify_time: float
    plain_tpot: float
    tpot: float
    cost: float
    speedup_by_tokens: Floats
    break_even: float | None
    batch: Floats
    batch_speedup: Floats
    context: Floats
    context_speedup: Floats

    @property
    def speedup(self) -> float:
        """Time per output token without it over that with it."""
        return self.plain_tpot / self.tpot

    @property
    def best_tokens(self) -> int:
        """Tokens drafted in a row that give the largest speed-up here, of those tried."""
        return int(np.argmax(self.speedup_by_tokens)) + 1

    @property
    def best_speedup(self) -> float:
        """Speed-up with the best number of tokens drafted in a row."""
        return float(self.speedup_by_tokens.max())

    @property
    def largest_paying_batch(self) -> float:
        """Largest batch of the curve at which it pays: 0 where it does at none, infinite where at its end too."""
        paying = np.flatnonzero(self.batch_speedup > 1)
        if not paying.size:
            return 0.0
        return float(self.batch[paying[-1]]) if paying[-1] + 1 < self.batch.size else np.inf


def improvement(acceptance: Numbers, tokens: Numbers, cost: Numbers) -> Numbers:
    """Speed-up of `tokens` drafts where verifying takes a plain step: (1 − αᵏ⁺¹) / ((1 − α)·(k·c + 1)).

    Leviathan et al. 2023, theorem 3.8, which leaves out that verifying k + 1 tokens may take longer
    than a step of one: it is what holds at batch 1, and an upper bound elsewhere.
    """
    return chain_tokens(acceptance, tokens) / (tokens * cost + 1)


def speculation(metrics: Metrics) -> SpeculationFigures | None:
    """What drafting gains in the scenario of these metrics, which is of plain numbers; None without it."""
    scenario, decode = metrics.scenario, metrics.decode
    if scenario.speculation is None:
        return None
    plain = replace(scenario, speculation=None)
    draft_time, plain_tpot = time_of_drafts(decode), float(decode_pass(plain).time)
    drafting = scenario.drafting
    passes = 1.0 if drafting is None else float(drafting.drafter.passes)
    batch, context = metrics.batch_curve.batch, contexts(scenario)
    return SpeculationFigures(
        tokens_per_step=float(scenario.tokens_per_step),
        draft_time=draft_time,
        verify_time=float(decode.time) - draft_time,
        plain_tpot=plain_tpot,
        tpot=float(metrics.tpot),
        cost=draft_time / passes / plain_tpot,
        speedup_by_tokens=speedup_by_tokens(scenario, scenario.speculation, plain_tpot),
        break_even=break_even(scenario.speculation, float(decode.time) / plain_tpot),
        batch=batch,
        batch_speedup=speedups(decode_at(plain, batch), decode_at(scenario, batch), scenario.tokens_per_step),
        context=context,
        context_speedup=speedups(
            decode_pass(at_context(plain, context)),
            decode_pass(at_context(scenario, context)),
            scenario.tokens_per_step,
        ),
    )


def speedups(plain: Pass, drafted: Pass, tokens: Numbers) -> Floats:
    """Time per output token of plain steps over that of rounds which give so many tokens."""
    return np.asarray(plain.time * tokens / drafted.time)


def time_of_drafts(decode: Pass) -> float:
    """Seconds of a round that its drafts take."""
    return float(decode.node_times[~verifying(decode)].sum())


def verifying(decode: Pass) -> NDArray[np.bool_]:
    """Which nodes of a round are those of the verifying pass, and not a drafter's."""
    return np.array([not node.name.startswith("draft ") for node in decode.nodes])


def speedup_by_tokens(scenario: Scenario, drafts: Speculation, plain_tpot: float) -> Floats:
    """Speed-up with each number of tokens drafted in a row, up to `MOST_TOKENS`, those set or those of the tree."""
    tried = max(MOST_TOKENS, int(drafts.tokens))
    most = tried if drafts.tree_tokens is None else min(tried, int(drafts.tree_tokens))
    along = replace(scenario, speculation=replace(drafts, tokens=np.arange(1.0, most + 1)))
    return np.broadcast_to(plain_tpot / time_per_output_token(along), (most,))


def break_even(drafts: Speculation, round_time: float) -> float | None:
    """The acceptance whose tokens are worth a round of so many plain steps; None if none between 0 and 1 is.

    A round gives more than 1 token and fewer than one more than it drafts in a row, the more the
    more are accepted.
    """
    if not 1 < round_time < float(drafts.tokens) + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        pays = replace(drafts, acceptance=middle).tokens_per_step > round_time
        low, high = (low, middle) if pays else (middle, high)
    return high


def contexts(scenario: Scenario) -> Floats:
    """Contexts that are longer than a cached prefix, evenly spaced on a log scale."""
    first = max(CONTEXTS[0], float(scenario.prefix.tokens) + 1)
    return np.unique(np.round(np.geomspace(first, max(CONTEXTS[1], 2 * first), POINTS)))


def at_context(scenario: Scenario, context: Floats) -> Scenario:
    """The same batch with contexts of so many tokens, whatever memory they are given."""
    workload = Workload(context, batch=scenario.workload.batch)
    return replace(scenario, workload=workload, kv_allocation=EXACT)
