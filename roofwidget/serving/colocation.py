"""Prefill and decode on the same devices, in turn: what each does to the other.

Requests are served without a queue, prompts one at a time and whole; chunked prefill spreads the same
stalls over more steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from roofwidget.roofline.memory import largest_batch
from roofwidget.scenario import Scenario
from roofwidget.serving.goodput import Batches, Goodput, largest_that, request_rate, tpots
from roofwidget.validation import Numbers


def colocated_ttft(scenario: Scenario, ttft: Numbers, tpot: Numbers) -> Numbers:
    """Time to first token where decode steps run in between: on average half of one is still to be waited for.

    With a pipeline, half of what the fullest stage takes of it. Prompts before it are not waited for.
    """
    steps = scenario.workload.output_tokens > 1
    return ttft + steps * tpot * scenario.tokens_per_step * scenario.stage_share / 2


def colocated_tpot(scenario: Scenario, ttft: Numbers, tpot: Numbers, batch: Numbers) -> Numbers:
    """Time per output token as users feel it where prefills of arriving requests stall decode.

    While an answer is made, as many requests arrive at its replica as are being answered there
    (Little's law), and each is prefilled in between: tpot + b · ttft · share / (output − 1), with b
    sequences on a replica and the share of the fullest stage. The interference of Zhong et al.
    2024, "DistServe", §2.3, the generation stalls of Agrawal et al. 2024, "Sarathi-Serve", §3.
    """
    stalls = batch / scenario.data_parallel * ttft * scenario.stage_share
    return tpot + per_token(scenario, stalls)


def per_token(scenario: Scenario, seconds: Numbers) -> Numbers:
    """Seconds that come once in an answer, spread over its tokens after the first; 0 where it has no more."""
    steps = scenario.workload.output_tokens - 1
    return (steps > 0) * seconds / np.maximum(steps, 1)


def kept_colocated(scenario: Scenario, ttft: float, copies: float) -> Goodput | None:
    """What so many copies of a scenario serve within its objectives; None without any."""
    promised = scenario.objectives
    if not promised:
        return None

    def keeps(batches: Batches) -> NDArray[np.bool_]:
        tpot = tpots(scenario, batches)
        first, each = colocated_ttft(scenario, ttft, tpot), colocated_tpot(scenario, ttft, tpot, batches)
        return np.asarray((first <= (promised.ttft or np.inf)) & (each <= (promised.tpot or np.inf)))

    largest = float(largest_batch(scenario))
    batch = largest_that(keeps, largest) if largest else 0.0
    if not batch:
        return Goodput(0.0, 0.0)
    tpot = tpots(scenario, np.array([batch]))[0]
    return Goodput(batch, float(copies * request_rate(scenario, ttft, tpot, batch)))
