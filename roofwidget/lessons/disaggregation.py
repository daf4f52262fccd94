"""Disaggregation: what a pool of its own for prefill buys, what it costs, and when it stops paying."""

from __future__ import annotations

import math
from collections.abc import Iterator

from roofwidget.evaluate import Metrics
from roofwidget.prefill_pool import PrefillPool
from roofwidget.serving.disaggregation import Disaggregation
from roofwidget.step import Step
from roofwidget.units import count, grouped, percent, seconds, si

DISTSERVE = "Zhong et al. 2024, “DistServe”"


def lesson(metrics: Metrics) -> str:
    """What two pools buy in a scenario of plain numbers, what they cost, and when they stop paying."""
    pools, pool = metrics.disaggregation, metrics.scenario.prefill_pool
    if pools is None or pool is None:
        steps = grouped(metrics.ttft / metrics.tpot, 2)
        return (
            f"Prefill and decode share the same devices: each prompt that arrives stalls the answers under way for "
            f"{seconds(metrics.ttft)}, the time of {steps} tokens. Devices of its own for prefill would end that."
        )
    if math.isinf(pools.decode_rate):
        return "An answer of one token is all prefill: a pool that decodes would have nothing to do."
    if not pools.prefill_fits:
        return (
            f"It does not fit: {count(pool.batch, 'prompt')} and the weights are more than a prefill instance can hold."
        )
    return " ".join((_buys(pools), _costs(metrics, pools, pool), _stops(pools, pool)))


def _buys(pools: Disaggregation) -> str:
    instead = f"{seconds(pools.tpot)} instead of {seconds(pools.colocated_tpot)}"
    felt = f"Prefills no longer stall decode: a token takes {instead}"
    same = "colocated" if math.isclose(pools.colocated_devices, pools.devices) else "colocated for the same money"
    kept, colocated = pools.goodput, pools.colocated_goodput
    if kept is None or colocated is None:
        rates = f"{grouped(pools.request_rate)} requests/s, {same} {grouped(pools.colocated_request_rate)}"
        serve = f"At this batch {count(pools.devices, 'device')} serve {rates}"
        return f"{felt}. {serve}; promise a TPOT to see what that buys."
    if not kept.request_rate:
        return f"{felt}, but no batch keeps the objectives."
    serve = (
        f"{felt}. Within the objectives {count(pools.devices, 'device')} serve {grouped(kept.request_rate)} requests/s"
    )
    if not colocated.request_rate:
        return f"{serve}; {same} they cannot be kept."
    gain = f"{grouped(pools.gain or 0)} × as many" if (pools.gain or 0) > 1 else "it does not pay here"
    return f"{serve}, {same} {grouped(colocated.request_rate)}: {gain}."


def _costs(metrics: Metrics, pools: Disaggregation, pool: PrefillPool) -> str:
    prefill = count(pool.instances * metrics.scenario.prefill_side.devices, "device")
    sent = f"{si(pools.transfer_bytes, 'B')} of KV cache a prompt over each device's link"
    time = f"in {seconds(pools.transfer_time)}" if pools.transfer_time else "whose time is not counted"
    return f"It costs the memory of {prefill}, which keeps weights but no answers, and {sent}, {time}."


def _stops(pools: Disaggregation, pool: PrefillPool) -> str:
    if pools.limit == "link":
        needed = pool.link_bandwidth * min(pools.prefill_rate, pools.decode_rate) / pools.link_rate
        return f"Both pools wait for the link: it takes one of {si(needed, 'B/s')} a device to keep them busy."
    waits = "prefill" if pools.limit == "decode" else "decode"
    busy = f"with {grouped(pool.instances, 12)}, {waits} is busy {percent(pools.request_rate / pools.rates[waits])}"
    balance = f"It pays less the farther from {grouped(pools.balanced_instances)} prefill instances, which would match"
    if pools.colocated_request_rate < pools.request_rate:
        return f"{balance} decode ({busy} of the time); here it pays at this batch even if no TPOT is promised."
    enough = f"{seconds(pools.colocated_tpot)} a token is good enough"
    rate = f"{grouped(pools.colocated_request_rate)} requests/s"
    return f"{balance} decode ({busy} of the time), and not at all where {enough}: colocated serves {rate} at that."


def steps(metrics: Metrics) -> Iterator[Step]:
    """Derivations of the figures of both pools; for a scenario of plain numbers. None without them."""
    pools, pool, scenario = metrics.disaggregation, metrics.scenario.prefill_pool, metrics.scenario
    if pools is None or pool is None:
        return
    counted, tokens = "output", grouped(scenario.workload.output_tokens, 12)
    if not scenario.continuous:
        counted, tokens = "longest", grouped(metrics.batching.steps_static + 1, 4)
    batch, tpot = grouped(scenario.workload.batch, 12), seconds(metrics.tpot)
    yield Step(
        "KV cache transfer",
        "KV cache of a prompt on a device of the pool where that is more / its link",
        f"{si(pools.transfer_bytes, 'B', 4)} / {link(pool)}",
        seconds(pools.transfer_time),
        f"{DISTSERVE}, §3.3",
    )
    yield Step(
        "requests of the prefill pool",
        "instances · prompts of a pass / its time",
        f"{grouped(pool.instances, 12)} · {grouped(pool.batch, 12)} / {seconds(pools.ttft)}",
        f"{grouped(pools.prefill_rate)} requests/s",
        "definition",
    )
    if math.isinf(pools.decode_rate):  # answers of one token: there is nothing to decode
        return
    yield Step(
        "requests of the decode pool",
        f"batch / (({counted} − 1) · time per output token)",
        f"{batch} / (({tokens} − 1) · {tpot})",
        f"{grouped(pools.decode_rate)} requests/s",
        "Little's law",
    )
    yield Step(
        "balanced prefill instances",
        "requests of the decode pool / requests of one prefill instance",
        f"{grouped(pools.decode_rate)} / ({grouped(pools.prefill_rate)} / {grouped(pool.instances, 12)})",
        grouped(pools.balanced_instances),
        f"{DISTSERVE}, §1",
    )
    yield Step(
        "time per output token, colocated",
        "a decode step + sequences of a replica · time of a prefill / (output − 1): each answer waits for as many",
        f"{tpot} + {seconds(pools.colocated_tpot - metrics.tpot)}",
        seconds(pools.colocated_tpot),
        f"{DISTSERVE}, §2.3; Agrawal et al. 2024, “Sarathi-Serve”, §3",
    )
    if pools.goodput is not None and pools.colocated_goodput is not None:
        ours, theirs = pools.goodput, pools.colocated_goodput
        colocated = f"colocated on {grouped(pools.colocated_devices, 4)} devices, batch {grouped(theirs.batch, 12)}"
        yield Step(
            "requests within the objectives, two pools",
            "that of the slowest of prefill, link and decode, at the largest batch; colocated their times add up",
            f"batch {grouped(ours.batch, 12)}; {colocated}",
            f"{grouped(ours.request_rate)} against {grouped(theirs.request_rate)} requests/s",
            f"{DISTSERVE}, §1",
        )


def link(pool: PrefillPool) -> str:
    """The link of a device to the other pool, as it is written."""
    return "an unlimited link" if math.isinf(float(pool.link_bandwidth)) else si(pool.link_bandwidth, "B/s", 4)
