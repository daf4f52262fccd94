"""Techniques together: what each buys alone, and on top of those before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from roofwidget.kv_allocation import KVAllocation
from roofwidget.prefill_pool import PrefillPool
from roofwidget.prefix import NO_PREFIX, SharedPrefix
from roofwidget.roofline.memory import with_batch
from roofwidget.scenario import Scenario
from roofwidget.serving.colocation import colocated_tpot
from roofwidget.serving.quantization import in_format
from roofwidget.speculation import Speculation
from roofwidget.units import grouped, percent
from roofwidget.validation import Numbers, ParameterError

if TYPE_CHECKING:
    from roofwidget.evaluate import Metrics

Changed = Callable[[Scenario], Scenario]


class Technique(NamedTuple):
    """A technique by name and by the field that says how a scenario uses it.

    `off` gives a scenario without it, `on` one with it: as it is set there, or as it is often used; `told` says how.
    """

    name: str
    field: str
    off: Changed
    on: Changed
    told: Callable[[Scenario], str]


@dataclass(frozen=True, eq=False)
class Bought:
    """A scenario with some of the techniques; plain numbers in s, sequences, tokens/s and USD.

    Parameters
    ----------
    name, setting
        The technique that was added last, or what the scenario is; and how it is used.
    ttft, tpot, felt_tpot
        Time to first token; time per output token at the batch at hand, and what users see of it:
        with the stalls of prefills on the same devices, or the transfer from others.
    largest_batch
        Sequences that fit; 0 if none does, or a prefill pool cannot hold its prompts.
    throughput
        Output tokens/s of whole requests with memory full, their prefill counted; 0 where nothing fits.
    usd
        Price of a million of those; None where no price is known, or nothing fits.
    """

    name: str
    setting: str
    ttft: float
    tpot: float
    felt_tpot: float
    largest_batch: float
    throughput: float
    usd: float | None


@dataclass(frozen=True, eq=False)
class Together:
    """A scenario with no technique at all, with each alone, with each on top of those before it, and as it is set.

    Parameters
    ----------
    none, now
        Without any technique, and as it is set.
    alone, stacked
        In the order of `TECHNIQUES`.
    """

    none: Bought
    alone: list[Bought]
    stacked: list[Bought]
    now: Bought


def together(metrics: Metrics, evaluate: Callable[[Scenario], Metrics]) -> Together:
    """Compare techniques in the scenario of these metrics; for one of plain numbers.

    Parameters
    ----------
    metrics
        Of the scenario as it is set.
    evaluate
        Makes metrics of the others.
    """
    bare = metrics.scenario
    for technique in TECHNIQUES:
        bare = technique.off(bare)
    alone, stacked, below = [], [], bare
    for technique in TECHNIQUES:
        own = with_settings_of(metrics.scenario, technique)
        told = technique.told(own(bare))
        alone.append(bought(technique.name, told, evaluate(own(bare)), evaluate))
        below = own(below)
        stacked.append(bought(technique.name, told, evaluate(below), evaluate))
    now = bought("as it is set", "", metrics, evaluate)
    none = bought("none of them", "static, one piece, 16 bits", evaluate(bare), evaluate)
    return Together(none, alone, stacked, now)


def bought(name: str, setting: str, metrics: Metrics, evaluate: Callable[[Scenario], Metrics]) -> Bought:
    """The figures of one scenario."""
    pools = metrics.disaggregation
    largest = float(metrics.largest_batch) if pools is None or pools.prefill_fits else 0.0
    full = evaluate(with_batch(metrics.scenario, largest)) if largest else None
    price = None if full is None else full.usd_per_million_served_tokens
    return Bought(
        name=name,
        setting=setting,
        ttft=float(metrics.ttft),
        tpot=float(metrics.tpot),
        felt_tpot=float(felt_tpot(metrics)),
        largest_batch=largest,
        throughput=0.0 if full is None else float(full.served_throughput),
        usd=None if price is None else float(price),
    )


def felt_tpot(metrics: Metrics) -> Numbers:
    """Time per output token as users see it, s."""
    scenario, pools = metrics.scenario, metrics.disaggregation
    if pools is not None:
        return pools.tpot
    return colocated_tpot(scenario, metrics.ttft, metrics.tpot, scenario.workload.batch)


def with_settings_of(scenario: Scenario, technique: Technique) -> Changed:
    """What switches a technique on in other scenarios as it is in this one."""
    setting = getattr(technique.on(scenario), technique.field)
    return lambda other: replace(other, **{technique.field: setting})


def _reserved(scenario: Scenario) -> Scenario:
    """Contiguous memory for each sequence, up to its next power of two unless more was asked for."""
    max_len = scenario.kv_allocation.max_len
    if max_len is not None and KVAllocation("reserved", max_len=max_len).fault(
        scenario.workload.seq_len, scenario.workload.output_tokens
    ):
        max_len = None
    return replace(scenario, kv_allocation=replace(scenario.kv_allocation, kind="reserved", max_len=max_len))


def _paged(scenario: Scenario) -> Scenario:
    """Blocks, or where those are larger than a sequence the slots that it fills."""
    paged = replace(scenario.kv_allocation, kind="paged")
    too_large = paged.fault(scenario.workload.seq_len, scenario.workload.output_tokens)
    return replace(scenario, kv_allocation=replace(paged, kind="exact") if too_large else paged)


def _sixteen_bits(scenario: Scenario) -> Scenario:
    """Weights and KV cache in 16 bits."""
    sixteen = in_format(scenario, "bf16")
    return replace(sixteen, precision=replace(sixteen.stored, kv_bytes=2.0))


def _quantized(scenario: Scenario) -> Scenario:
    """As it is set, or weights and activations in fp8."""
    plain = _sixteen_bits(scenario).stored
    as_set = scenario.stored
    same = (as_set.weight_bytes, as_set.expert_bytes, as_set.kv_bytes) == (plain.weight_bytes,) * 2 + (plain.kv_bytes,)
    return in_format(scenario, "fp8 W8A8") if same else scenario


def _cached(scenario: Scenario) -> Scenario:
    """As it is set, or half of each prompt."""
    if scenario.prefix.tokens:
        return scenario
    return replace(scenario, prefix=SharedPrefix(np.floor(scenario.workload.seq_len / 2)))


def _drafted(scenario: Scenario) -> Scenario:
    """As it is set, or by EAGLE-3, or where the model has no head for that from the prompt."""
    if scenario.speculation is not None:
        return scenario
    head = Speculation("EAGLE-3")
    try:
        head.drafter(scenario.model)
    except ParameterError:
        head = Speculation("n-gram")
    return replace(scenario, speculation=head)


def _pooled(scenario: Scenario) -> Scenario:
    """As it is set, or one instance like those that decode."""
    return replace(scenario, prefill_pool=scenario.prefill_pool or PrefillPool())


def _blocks(scenario: Scenario) -> str:
    allocation = scenario.kv_allocation
    return f"blocks of {grouped(allocation.block_size, 12)}" if allocation.kind == "paged" else "just what is kept"


def _format(scenario: Scenario) -> str:
    stored = scenario.stored
    weights, cache = (f"{grouped(8 * float(size), 4)}-bit" for size in (stored.expert_bytes, stored.kv_bytes))
    return f"{weights} weights in {scenario.computes_in}" + ("" if cache == "16-bit" else f", {cache} KV")


def _share(scenario: Scenario) -> str:
    cached, prompt = scenario.prefix.cached, scenario.workload.seq_len
    return f"{grouped(cached, 12)} of {grouped(prompt, 12)} cached"


def _method(scenario: Scenario) -> str:
    drafts = scenario.speculation
    assert drafts is not None
    return f"{drafts.method}, {grouped(drafts.drafted, 12)} drafts, {percent(drafts.acceptance)} accepted"


def _devices(scenario: Scenario) -> str:
    more = scenario.total_devices - scenario.devices_of_batch
    return f"{grouped(scenario.devices_of_batch, 12)} + {grouped(more, 12)} devices"


TECHNIQUES = (
    Technique(
        "continuous batching",
        "continuous",
        lambda s: replace(s, continuous=False),
        lambda s: replace(s, continuous=True),
        lambda s: f"{s.workload.lengths.shape if isinstance(s.workload.lengths.shape, str) else 'listed'} lengths",
    ),
    Technique("paged KV cache", "kv_allocation", _reserved, _paged, _blocks),
    Technique("quantization", "precision", _sixteen_bits, _quantized, _format),
    Technique("prefix caching", "prefix", lambda s: replace(s, prefix=NO_PREFIX), _cached, _share),
    Technique("speculative decoding", "speculation", lambda s: replace(s, speculation=None), _drafted, _method),
    Technique("disaggregation", "prefill_pool", lambda s: replace(s, prefill_pool=None), _pooled, _devices),
)
"""In the order in which a server usually gets them."""
