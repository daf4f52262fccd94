"""What a scenario comes to, in words first."""

from __future__ import annotations

import math
from typing import NamedTuple

from roofwidget.evaluate import Metrics
from roofwidget.roofline.memory import MOST_DEVICES
from roofwidget.roofline.timing import Pass
from roofwidget.units import count, grouped, seconds, si


class Words(NamedTuple):
    """A piece of a sentence, and the bound it speaks of if any."""

    text: str
    bound: str | None = None


def verdict(metrics: Metrics) -> list[Words]:
    """What limits decode, whether it fits, what limits prefill: three sentences, and where there
    are objectives how much keeps them; and what must be known of a format or a link.
    """
    beside = (kept(metrics), fallen_back(metrics), beyond_the_link(metrics))
    more = [Words(f" {sentence}") for sentence in beside if sentence]
    return [*_decode(metrics), Words(" "), Words(fit(metrics)), Words(" "), *_prefill(metrics), *more]


def plain(words: list[Words]) -> str:
    """The words without their marks."""
    return "".join(word.text for word in words)


def _decode(metrics: Metrics) -> list[Words]:
    batch = metrics.scenario.workload.batch
    speed = f": {grouped(metrics.user_speed)} tokens/s"
    users = f" for each of {grouped(batch, 12)} users" if batch > 1 else ""
    return [Words("Decode is "), _bound(metrics.decode), Words(f"{speed}{users}.")]


def _prefill(metrics: Metrics) -> list[Words]:
    return [Words("Prefill is "), _bound(metrics.prefill), Words(f": first token after {seconds(metrics.ttft)}.")]


def _bound(phase: Pass) -> Words:
    return Words(f"{phase.bound_name}-bound", phase.bound_name)


def kept(metrics: Metrics) -> str:
    """How large a batch, and how many requests, keep the objectives; nothing without any."""
    if metrics.goodput is None:
        return ""
    if not metrics.goodput.batch:
        return "No batch keeps the objectives."
    requests = f"{grouped(metrics.goodput.request_rate)} requests/s at most"
    return f"Up to a batch of {grouped(metrics.goodput.batch, 12)} keeps the objectives: {requests}."


def fallen_back(metrics: Metrics) -> str:
    """Say where a device does not compute in the format that was asked for, one that prefills too; nothing else."""
    asked = metrics.scenario.stored.compute
    sides = (metrics.scenario, metrics.scenario.prefill_side)
    lacking = [side.device.name or "this device" for side in sides if side.computes_in != asked]
    if not lacking:
        return ""
    names = " and ".join(dict.fromkeys(lacking))
    return f"No {asked} peak of {names} is known: its linear layers compute in 16 bits."


def beyond_the_link(metrics: Metrics) -> str:
    """Say where more devices are to share a link than usually have one; nothing else."""
    device, devices = metrics.scenario.device, metrics.scenario.devices_of_batch
    if devices <= device.group or math.isinf(device.link_bandwidth):
        return ""
    between = f"{grouped(device.link_bandwidth / 1e9, 4)} GB/s is the link within groups of {grouped(device.group, 12)}"
    return f"{between}: between them set a slower one."


def fit(metrics: Metrics) -> str:
    """Whether the batch fits in memory, with how much room or with how many devices; and what a prefill pool holds."""
    pools = metrics.disaggregation
    if pools is None:
        return _fit(metrics)
    more = count(metrics.scenario.total_devices - metrics.scenario.devices_of_batch, "device")
    return f"{_fit(metrics)} Prefill has {more} more{'' if pools.prefill_fits else ', which do not hold it'}."


def _fit(metrics: Metrics) -> str:
    devices, batch, memory = metrics.scenario.devices_of_batch, metrics.scenario.workload.batch, metrics.memory
    if memory.fits:
        room = f"with room for a batch of {grouped(metrics.largest_batch, 12)}"
        return f"It fits on {count(devices, 'device')} {room}."
    each = "" if devices == 1 else " on each device"
    missing = f"{si(memory.total, 'B', 4)} does not fit in the {si(memory.usable, 'B', 4)} usable{each}: "
    if metrics.devices_needed:
        return missing + f"{count(metrics.devices_needed, 'device')} do."
    if metrics.largest_batch:
        return missing + f"a batch of {grouped(metrics.largest_batch, 12)} does."
    most = grouped(min(metrics.scenario.model.n_heads, MOST_DEVICES), 12)
    return missing + f"no number of devices up to {most} sharing every layer does at a batch of {grouped(batch, 12)}."
