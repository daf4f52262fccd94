"""Disaggregated prefill and decode: a pool of devices for each, against the same devices colocated.

Zhong et al. 2024, "DistServe", §2–4; Patel et al. 2024, "Splitwise", §IV; Qin et al. 2024, "Mooncake",
§3. A request takes some seconds of the prefill pool, of the link and of the decode pool: of the pair
it takes the longest of them, since they work at once; of colocated devices their sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofwidget.kv_allocation import EXACT
from roofwidget.prefill_pool import PrefillPool
from roofwidget.roofline.memory import PREFILL_CHUNK, activation_bytes_per_token, footprint, kv_bytes_at, shared_tokens
from roofwidget.roofline.passes import prefill_pass
from roofwidget.scenario import Scenario
from roofwidget.serving.colocation import colocated_tpot, colocated_ttft, kept_colocated, per_token
from roofwidget.serving.continuous_batching import slot_steps
from roofwidget.serving.goodput import Batches, Goodput, largest_that, request_rate, tpots
from roofwidget.validation import Numbers

if TYPE_CHECKING:
    from roofwidget.evaluate import Metrics

LIMITS = ("prefill", "link", "decode")
"""What the others can have to wait for."""


@dataclass(frozen=True)
class Disaggregation:
    """Two pools, and the same devices colocated; plain numbers in s, bytes and requests/s.

    Parameters
    ----------
    transfer_bytes, transfer_time
        KV cache of a prompt that a device sends or receives, of the pool where that is more; and how
        long it takes.
    prefill_rate, link_rate, decode_rate
        Requests/s of each alone; infinite where it has nothing to do.
    balanced_instances
        Prefill instances that would keep up with the decode pool, not rounded.
    ttft
        Of a prompt that need not wait: a pass over all that are prefilled together.
    tpot
        As users feel it: a decode step, and of the transfer the share of each token after the first.
    devices
        Of both pools.
    colocated_devices
        As many of the decode pool's devices as cost the same, or where a price is not known as
        many as both pools have; not rounded.
    colocated_ttft, colocated_tpot, colocated_request_rate
        What those do when they decode and prefill in turn, at the batch at hand on each
        `data_parallel` replicas.
    prefill_fits
        Whether an instance has room for the prompts it prefills together.
    goodput, colocated_goodput
        The largest batch of the decode pool, or of as many colocated devices, that keeps the
        objectives, and the requests/s of all devices; None without any objective.
    """

    transfer_bytes: float
    transfer_time: float
    prefill_rate: float
    link_rate: float
    decode_rate: float
    balanced_instances: float
    ttft: float
    tpot: float
    devices: float
    colocated_devices: float
    colocated_ttft: float
    colocated_tpot: float
    colocated_request_rate: float
    prefill_fits: bool
    goodput: Goodput | None
    colocated_goodput: Goodput | None

    @property
    def rates(self) -> dict[str, float]:
        """Requests/s of each of `LIMITS` alone."""
        return dict(zip(LIMITS, (self.prefill_rate, self.link_rate, self.decode_rate), strict=True))

    @property
    def request_rate(self) -> float:
        """Requests/s of the pair at the batch at hand."""
        return min(self.rates.values())

    @property
    def limit(self) -> str:
        """Which of `LIMITS` the others wait for."""
        return min(self.rates, key=lambda name: self.rates[name])

    @property
    def gain(self) -> float | None:
        """Requests/s within the objectives over those colocated, or without objectives at the batch at hand.

        Infinite where only the pair keeps them, None where neither does.
        """
        ours, theirs = self.request_rate, self.colocated_request_rate
        if self.goodput is not None and self.colocated_goodput is not None:
            ours, theirs = self.goodput.request_rate, self.colocated_goodput.request_rate
        if theirs:
            return ours / theirs
        return np.inf if ours else None


class Busy(NamedTuple):
    """Seconds that a request keeps each of `LIMITS` busy, all of its devices together."""

    prefill: Numbers
    link: Numbers
    decode: Numbers


def disaggregation(metrics: Metrics) -> Disaggregation | None:
    """Compare the two pools of a scenario of plain numbers with the same devices colocated; None without a pool."""
    scenario = metrics.scenario
    pool = scenario.prefill_pool
    if pool is None:
        return None
    colocated = replace(scenario, prefill_pool=None)
    together = metrics.pool_pass_time
    busy = Busy(*(float(seconds) for seconds in busy_seconds(scenario, pool, together, metrics.tpot)))
    batch, tpot = float(scenario.workload.batch), float(metrics.tpot)
    alone = float(prefill_pass(colocated).time)
    copies = colocated_copies(scenario, pool)
    return Disaggregation(
        transfer_bytes=float(transfer_bytes(scenario)),
        transfer_time=float(transfer_time(scenario)),
        prefill_rate=float(per_second(busy.prefill)),
        link_rate=float(per_second(busy.link)),
        decode_rate=float(per_second(busy.decode)),
        balanced_instances=float(balanced_instances(busy, pool.instances)),
        ttft=float(together),
        tpot=float(tpot + per_token(scenario, transfer_time(scenario))),
        devices=float(scenario.total_devices),
        colocated_devices=float(copies * scenario.devices_of_batch),
        colocated_ttft=float(colocated_ttft(colocated, alone, tpot)),
        colocated_tpot=float(colocated_tpot(colocated, alone, tpot, batch)),
        colocated_request_rate=float(copies * request_rate(colocated, alone, tpot, batch)),
        prefill_fits=fits_prefill(scenario, pool),
        goodput=kept_by_pools(scenario, pool, float(together), busy, float(metrics.largest_batch)),
        colocated_goodput=kept_colocated(colocated, alone, float(copies)),
    )


def transfer_bytes(scenario: Scenario) -> Numbers:
    """Bytes of a prompt's KV cache that a device sends or receives, of the pool where that is more.

    The devices of an instance send their shares at once, and those of a replica receive at once. A prefix
    that sequences share is there already.
    """
    prompt = scenario.workload.seq_len - shared_tokens(scenario)
    return np.maximum(kv_bytes_at(scenario.prefill_side, prompt), kv_bytes_at(scenario, prompt))


def transfer_time(scenario: Scenario) -> Numbers:
    """Seconds from the end of a prefill until the decode pool has its KV cache: bytes / link bandwidth; 0 without one.

    Zhong et al. 2024, "DistServe", §3.3. None of it overlaps with prefill, as it would where layers are
    sent as they are done (Patel et al. 2024, "Splitwise", §IV-C). The first token does not wait for it.
    """
    pool = scenario.prefill_pool
    return 0.0 if pool is None else transfer_bytes(scenario) / pool.link_bandwidth


def busy_seconds(scenario: Scenario, pool: PrefillPool, prefill_time: Numbers, tpot: Numbers) -> Busy:
    """Seconds that a request takes of each pool and of the link between them.

    A pass over `batch` prompts takes an instance `prefill_time` s; an answer takes its part of
    each decode step of the scenario's batch, one fewer than it has tokens. All instances send at once, each
    a prompt's KV cache at a time, and all replicas receive.
    """
    workload = scenario.workload
    sent_tokens = workload.seq_len - shared_tokens(scenario)
    sent = kv_bytes_at(scenario.prefill_side, sent_tokens) / pool.instances
    received = kv_bytes_at(scenario, sent_tokens) / scenario.data_parallel
    return Busy(
        prefill=prefill_time / (pool.batch * pool.instances),
        link=np.maximum(sent, received) / pool.link_bandwidth,
        decode=slot_steps(scenario, workload.batch) * tpot / workload.batch,
    )


def pools_request_rate(scenario: Scenario, pool: PrefillPool, prefill_time: Numbers, tpot: Numbers) -> Numbers:
    """Requests/s of both pools together, at the batch at hand: of the one the other waits for, or of the link."""
    busy = busy_seconds(scenario, pool, prefill_time, tpot)
    return per_second(np.maximum(np.maximum(busy.prefill, busy.link), busy.decode))


def per_second(seconds: Numbers) -> Numbers:
    """Requests/s of what each takes so many seconds of; infinite where it takes none."""
    taken = np.asarray(seconds, np.float64)
    return np.divide(1.0, taken, out=np.full_like(taken, np.inf), where=taken > 0)[()]


def balanced_instances(busy: Busy, instances: Numbers) -> Numbers:
    """Prefill instances at which neither pool waits for the other: decode's rate over that of one instance.

    Zhong et al. 2024, "DistServe", §1: two devices at 5.6 requests/s each for one that decodes 10.
    """
    return busy.prefill * instances * per_second(busy.decode)


def colocated_copies(scenario: Scenario, pool: PrefillPool) -> Numbers:
    """How many times the devices that decode could be had for those of both pools, not rounded.

    By price, or where one of the two is not known by number.
    """
    side = scenario.prefill_side
    prefill, decode = pool.instances * side.devices, scenario.devices_of_batch
    prefill_price, decode_price = side.device.usd_per_hour, scenario.device.usd_per_hour
    if prefill_price is None or decode_price is None:
        return 1 + prefill / decode
    return 1 + prefill * prefill_price / (decode * decode_price)


def kept_by_pools(scenario: Scenario, pool: PrefillPool, ttft: float, busy: Busy, largest: float) -> Goodput | None:
    """What both pools serve within the objectives, requests/s of their devices; None without any."""
    promised = scenario.objectives
    if not promised:
        return None
    after_first = per_token(scenario, transfer_time(scenario))

    def keeps(batches: Batches) -> NDArray[np.bool_]:
        return tpots(scenario, batches) + after_first <= (promised.tpot or np.inf)

    prefills = fits_prefill(scenario, pool) and ttft <= (promised.ttft or np.inf)
    batch = largest_that(keeps, largest) if prefills and largest else 0.0
    if not batch:
        return Goodput(0.0, 0.0)
    decode = slot_steps(scenario, batch) * tpots(scenario, np.array([batch]))[0] / batch
    return Goodput(batch, float(per_second(max(busy.prefill, busy.link, decode))))


def fits_prefill(scenario: Scenario, pool: PrefillPool) -> bool:
    """Whether an instance has room for the prompts it prefills together."""
    side = scenario.prefill_side
    prompts = replace(side.workload, output_tokens=1.0, batch=pool.batch)
    held = footprint(side.having(workload=prompts, kv_allocation=EXACT))
    together = np.minimum(pool.batch * (prompts.seq_len - side.prefix.cached), PREFILL_CHUNK)
    return bool(held.weights + held.kv_cache + together * activation_bytes_per_token(side) <= held.usable)
