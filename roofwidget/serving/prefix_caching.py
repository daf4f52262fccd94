"""Prefix caching: what prompts begin with in common is prefilled once, and kept once.

Zheng et al. 2024, "SGLang", §3 (RadixAttention); Juravsky et al. 2024, "Hydragen", §3 for attention
that reads a shared prefix once for the whole batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from roofwidget.prefix import NO_PREFIX
from roofwidget.roofline.memory import footprint, kv_bytes_at, largest_batch, shared_tokens
from roofwidget.roofline.passes import prefill_pass, time_per_output_token
from roofwidget.scenario import Scenario
from roofwidget.serving.goodput import request_rate

if TYPE_CHECKING:
    from roofwidget.evaluate import Metrics

HIT_RATES = np.linspace(0.0, 1.0, 21)


@dataclass(frozen=True, eq=False)
class PrefixCaching:
    """A scenario with a cached prefix, and without; plain numbers in s, bytes, tokens and sequences.

    Parameters
    ----------
    cached, prompt
        Tokens of a prompt that are cached, and all of it.
    ttft, cold_ttft
        Time to first token, and without a cache.
    hit_ttfts
        Time to first token at each of `HIT_RATES`.
    kept_bytes
        Bytes on each device that the prefix takes, once; 0 where sequences cannot share it.
    kv_cache, cold_kv_cache
        KV cache of the batch on each device, and without a cache.
    largest_batch, cold_largest_batch
        Sequences that fit, and without a cache.
    tpot, cascade_tpot, plain_tpot
        Time per output token as set, where a step reads the prefix once, and where it does for each sequence.
    """

    cached: float
    prompt: float
    ttft: float
    cold_ttft: float
    hit_ttfts: NDArray[np.float64]
    kept_bytes: float
    kv_cache: float
    cold_kv_cache: float
    largest_batch: float
    cold_largest_batch: float
    tpot: float
    cascade_tpot: float
    plain_tpot: float

    @property
    def prefill_saved(self) -> float:
        """Share of the time to first token that the cache saves."""
        return 1 - self.ttft / self.cold_ttft


def prefix_caching(metrics: Metrics) -> PrefixCaching | None:
    """What a cached prefix saves in a scenario of plain numbers; None without one."""
    scenario = metrics.scenario
    if not scenario.prefix.tokens:
        return None
    cold = replace(scenario, prefix=NO_PREFIX)
    shared = float(shared_tokens(scenario))
    return PrefixCaching(
        cached=float(scenario.prefix.cached),
        prompt=float(scenario.workload.seq_len),
        ttft=float(metrics.ttft),
        cold_ttft=float(prefill_pass(cold).time),
        hit_ttfts=ttfts(scenario, HIT_RATES),
        kept_bytes=float(kv_bytes_at(scenario, shared)) if shared else 0.0,
        kv_cache=float(metrics.memory.kv_cache),
        cold_kv_cache=float(footprint(cold).kv_cache),
        largest_batch=float(metrics.largest_batch),
        cold_largest_batch=float(largest_batch(cold)),
        tpot=float(metrics.tpot),
        cascade_tpot=_tpot(scenario, cascade=True),
        plain_tpot=_tpot(scenario, cascade=False),
    )


def ttfts(scenario: Scenario, hit_rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Times to first token at these hit rates, s."""
    along = replace(scenario, prefix=replace(scenario.prefix, hit_rate=hit_rates))
    return np.broadcast_to(prefill_pass(along).time, hit_rates.shape)


def prefill_share(metrics: Metrics, ttft: float) -> float:
    """Share of the time that a request takes of the devices which goes to a prefill of so many s."""
    scenario = metrics.scenario
    rate = request_rate(scenario, ttft, metrics.tpot, scenario.workload.batch)
    return float(rate * ttft * scenario.stage_share / scenario.data_parallel)


def _tpot(scenario: Scenario, cascade: bool) -> float:
    other = replace(scenario, prefix=replace(scenario.prefix, cascade=cascade))
    return float(time_per_output_token(other))
