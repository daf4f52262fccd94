"""Prefix caching: what a cached beginning buys here, what it costs, and when it stops paying."""

from __future__ import annotations

from collections.abc import Iterator

from roofwidget.evaluate import Metrics
from roofwidget.serving.prefix_caching import PrefixCaching, prefill_share
from roofwidget.step import Step
from roofwidget.units import count, grouped, percent, seconds, si

SGLANG = "Zheng et al. 2024, “SGLang”, §3"
HYDRAGEN = "Juravsky et al. 2024, “Hydragen”, §3"


def lesson(metrics: Metrics) -> str:
    """What a cached prefix buys in a scenario of plain numbers, what it costs, and when it stops paying."""
    figures = metrics.prefix_caching
    if figures is None:
        return (
            f"Nothing of a prompt is cached: each request takes {seconds(metrics.ttft)} of prefill"
            f"{_of_all(metrics, float(metrics.ttft))}. If prompts begin alike (a system prompt, a document, earlier "
            "turns), what they share need not be computed again, and is kept once for all of them."
        )
    if not figures.cached:
        return "Not one token of the prefix is found in the cache: it buys nothing, and costs next to nothing."
    return " ".join((_buys(metrics, figures), _costs(figures), _stops(metrics, figures)))


def _buys(metrics: Metrics, figures: PrefixCaching) -> str:
    first = (
        f"{grouped(figures.cached, 12)} of {count(figures.prompt, 'prompt token')} are cached: the first token comes "
        f"in {seconds(figures.ttft)} instead of {seconds(figures.cold_ttft)}"
    )
    if not figures.kept_bytes:
        return f"{first}. A cache in one piece for each sequence cannot share them; in blocks it could."
    if metrics.scenario.replica_batch == 1:
        return f"{first}. One sequence at a time saves no memory by it."
    if figures.kv_cache == figures.cold_kv_cache:
        return f"{first}. To keep them once would take more than it saves here."
    kept = f"kept once, they leave {si(figures.kv_cache, 'B')} of KV cache instead of {si(figures.cold_kv_cache, 'B')}"
    fit = f"{grouped(figures.largest_batch, 12)} sequences fit instead of {grouped(figures.cold_largest_batch, 12)}"
    return f"{first}; {kept}, and {fit}."


def _costs(figures: PrefixCaching) -> str:
    if not figures.kept_bytes:
        return "It costs next to nothing."
    return (
        f"It costs {si(figures.kept_bytes, 'B')} a device as long as someone may come back, "
        "and a hash of each block of a prompt."
    )


def _stops(metrics: Metrics, figures: PrefixCaching) -> str:
    cold = f"{seconds(figures.cold_ttft)}{_of_all(metrics, figures.cold_ttft)}"
    ends = f"It stops paying where prompts differ early, and with long answers: without it prefill would take {cold}."
    saved = 1 - figures.cascade_tpot / figures.plain_tpot
    if saved < 0.005:
        return f"{ends} Decode gains nothing from it."
    plain, once = seconds(figures.plain_tpot), seconds(figures.cascade_tpot)
    if metrics.scenario.prefix.cascade:
        return f"{ends} Cascade attention reads it once a step: {once} a token instead of {plain}."
    batch = grouped(metrics.scenario.microbatch, 12)
    return f"{ends} A step still reads it {batch} times: cascade attention would bring {once} a token, not {plain}."


def _of_all(metrics: Metrics, ttft: float) -> str:
    """Which share of a request's device time a prefill is; nothing where it has devices of its own."""
    if metrics.scenario.prefill_pool is not None:
        return ""
    return f", {percent(prefill_share(metrics, ttft))} of the device time that it needs"


def steps(metrics: Metrics) -> Iterator[Step]:
    """Derivations of the figures of a cached prefix; for a scenario of plain numbers. None without one."""
    figures, scenario = metrics.prefix_caching, metrics.scenario
    if figures is None:
        return
    prefix, cached = scenario.prefix, grouped(figures.cached, 12)
    yield Step(
        "tokens of a prompt in the cache",
        "⌊prefix · hit rate⌋",
        f"⌊{grouped(prefix.tokens, 12)} · {grouped(prefix.hit_rate, 4)}⌋",
        count(figures.cached, "token"),
        "hits are counted in tokens, as vLLM does",
    )
    yield Step(
        "prefill saved",
        "1 − time to first token / that of a cold cache",
        f"1 − {seconds(figures.ttft)} / {seconds(figures.cold_ttft)}",
        percent(figures.prefill_saved),
        SGLANG,
    )
    if figures.kept_bytes:
        yield Step(
            "KV cache with the prefix kept once",
            "prefix + sequences of a replica · (their context − prefix), in bytes; no more than each by itself",
            f"{si(figures.kept_bytes, 'B', 4)} + {count(scenario.replica_batch, 'sequence')}",
            f"{si(figures.kv_cache, 'B', 4)}, each by itself {si(figures.cold_kv_cache, 'B', 4)}",
            SGLANG,
        )
    yield Step(
        "decode that reads the prefix once",
        "time per output token, the prefix read for each sequence / for all of them together",
        f"{seconds(figures.plain_tpot)} / {seconds(figures.cascade_tpot)}, {cached} tokens",
        f"{grouped(figures.plain_tpot / figures.cascade_tpot)} ×",
        HYDRAGEN,
    )
