"""evaluate(Scenario) → Metrics: the one place where a scenario becomes numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from roofwidget.efficiency import IDEAL
from roofwidget.roofline import capacity, memory
from roofwidget.roofline.capacity import EngineCapacity
from roofwidget.roofline.memory import Footprint, footprint
from roofwidget.roofline.passes import decode_pass, prefill_pass, time_per_output_token
from roofwidget.roofline.timing import BOUNDS, Pass, time_pass, total
from roofwidget.scenario import Scenario
from roofwidget.serving.batch_curve import BatchCurve, batch_curve
from roofwidget.serving.continuous_batching import Batching, batching
from roofwidget.serving.cost import SECONDS_AN_HOUR, joules_per_token, usd_per_hour, usd_per_million_tokens
from roofwidget.serving.disaggregation import Disaggregation, disaggregation, pools_request_rate, transfer_time
from roofwidget.serving.goodput import Goodput, goodput, request_rate
from roofwidget.serving.paged_kv import Paging, paging
from roofwidget.serving.prefix_caching import PrefixCaching, prefix_caching
from roofwidget.serving.quantization import Quantization, quantization
from roofwidget.serving.speculative_decoding import SpeculationFigures, speculation
from roofwidget.serving.together import Together, together
from roofwidget.validation import Numbers


@dataclass(frozen=True, eq=False)
class Metrics:
    """What a scenario comes to, in seconds, bytes, FLOPs and tokens.

    Parameters
    ----------
    scenario
        What was evaluated.
    prefill
        The pass over one request's whole prompt.
    decode
        The average step that makes a token for every sequence of the batch; with speculation a
        round of drafts and their verification, which makes `scenario.tokens_per_step` of them.
    memory
        Footprint on each device.
    """

    scenario: Scenario
    prefill: Pass
    decode: Pass
    memory: Footprint

    @property
    def ttft(self) -> Numbers:
        """Time to first token, s: the prefill of one request alone, without queueing."""
        return self.prefill.time

    @property
    def tpot(self) -> Numbers:
        """Time per output token, s: one decode step of the whole batch over the tokens it gives each sequence."""
        return self.decode.time / self.scenario.tokens_per_step

    @property
    def e2e(self) -> Numbers:
        """End-to-end latency, s: ttft + (output tokens − 1) · tpot, and the KV cache's way to another pool."""
        return self.ttft + self.transfer_time + (self.scenario.workload.output_tokens - 1) * self.tpot

    @property
    def transfer_time(self) -> Numbers:
        """Time of a prompt's KV cache on its way from the prefill pool, s; 0 where there is none."""
        return transfer_time(self.scenario)

    @property
    def user_speed(self) -> Numbers:
        """Output tokens/s of each sequence: 1 / tpot."""
        return 1 / self.tpot

    @property
    def decode_throughput(self) -> Numbers:
        """Output tokens/s of all sequences together: batch / tpot."""
        return self.scenario.workload.batch / self.tpot

    @property
    def prefill_throughput(self) -> Numbers:
        """Prompt tokens/s with one request at a time: prompt tokens / ttft."""
        return self.scenario.workload.seq_len / self.ttft

    @property
    def ridge(self) -> Numbers:
        """Arithmetic intensity at which linear layers turn from memory- to compute-bound, FLOP/byte."""
        return self.scenario.device.ridge(self.scenario.computes_in)

    def mfu(self, phase: Pass) -> Numbers:
        """Model FLOPs utilisation of a pass: the time its FLOPs need at peak over its time.

        Chowdhery et al. 2022, "PaLM", appendix B. Each device's own FLOPs count, so that KV heads
        it shares with others are work of each.
        """
        return total(self._bounds(phase).terms[BOUNDS.index("compute")]) / phase.time

    def mbu(self, phase: Pass) -> Numbers:
        """Model bandwidth utilisation of a pass: the time its bytes need at full bandwidth over its time."""
        return total(self._bounds(phase).terms[BOUNDS.index("memory")]) / phase.time

    def _bounds(self, phase: Pass) -> Pass:
        """The same work where every roof is reached."""
        side = self.scenario.prefill_side if phase is self.prefill else self.scenario
        return phase if side.efficiency is IDEAL else time_pass(phase.nodes, side.having(efficiency=IDEAL))

    @cached_property
    def prefill_batch_time(self) -> Numbers:
        """Prefill of all prompts of a replica's batch in one pass, s."""
        return prefill_pass(self.scenario, self.scenario.replica_batch).time

    @cached_property
    def pool_pass_time(self) -> Numbers:
        """Prefill of the prompts that an instance of the prefill pool takes together, s; without a pool that of one."""
        pool = self.scenario.prefill_pool
        return self.ttft if pool is None else prefill_pass(self.scenario, pool.batch).time

    @property
    def kv_bytes_per_token(self) -> Numbers:
        """Bytes of KV cache that a token of one sequence takes, over all devices without replicas."""
        return self.scenario.model.kv_bytes_per_token(self.scenario.stored.kv_bytes)

    @cached_property
    def largest_batch(self) -> Numbers:
        """Sequences of final length that fit together; 0 if none."""
        return memory.largest_batch(self.scenario)

    @property
    def engine_batch(self) -> Numbers:
        """Sequences of final length that a serving engine would have room for, after all that it sets aside."""
        context, cached = self.scenario.workload.final_context, self.scenario.prefix.cached
        each = np.floor(self.engine_capacity.concurrency(context, cached))
        return np.asarray(each * self.scenario.data_parallel)[()]

    @cached_property
    def devices_needed(self) -> Numbers:
        """Fewest devices on which the batch would fit; 0 if no number of them does."""
        return memory.devices_needed(self.scenario)

    @cached_property
    def engine_capacity(self) -> EngineCapacity:
        """What a recent vLLM would have left for the KV cache on each device."""
        return capacity.engine_capacity(self.scenario)

    @cached_property
    def batch_curve(self) -> BatchCurve:
        """The same scenario at other batches; for a scenario of plain numbers."""
        return batch_curve(self.scenario, float(self.largest_batch))

    @cached_property
    def goodput(self) -> Goodput | None:
        """What can be served within the objectives, None without any; for a scenario of plain numbers."""
        if self.disaggregation is not None:
            return self.disaggregation.goodput
        return goodput(self.scenario, float(self.ttft), float(self.largest_batch)) if self.scenario.objectives else None

    @property
    def continuous_rate(self) -> Numbers:
        """Requests/s of the batch kept full."""
        return self._rate(continuous=True)

    @property
    def static_rate(self) -> Numbers:
        """Requests/s of batches that start and end together."""
        return self._rate(continuous=False)

    @cached_property
    def request_rate(self) -> Numbers:
        """Requests/s at the batch at hand, at most: with as many waiting as it takes to keep all busy."""
        return self._rate(self.scenario.continuous)

    def tpot_of(self, *, continuous: bool) -> Numbers:
        """Time per output token of continuous or of static batches, s: their contexts differ."""
        if continuous == self.scenario.continuous:
            return self.tpot
        return time_per_output_token(self.scenario.having(continuous=continuous))

    def _rate(self, continuous: bool) -> Numbers:
        scenario, tpot = self.scenario.having(continuous=continuous), self.tpot_of(continuous=continuous)
        if scenario.prefill_pool is None:
            return request_rate(scenario, self.ttft, tpot, scenario.workload.batch)
        return pools_request_rate(scenario, scenario.prefill_pool, self.pool_pass_time, tpot)

    @property
    def served_throughput(self) -> Numbers:
        """Output tokens/s of whole requests, their prefill counted: request rate · output tokens."""
        return self.request_rate * self.scenario.workload.output_tokens

    @cached_property
    def batching(self) -> Batching:
        """Static and continuous batching of these requests."""
        return batching(self)

    @cached_property
    def paging(self) -> Paging:
        """Every way to give memory to the KV cache; for a scenario of plain numbers."""
        return paging(self)

    @cached_property
    def quantization(self) -> Quantization:
        """The formats of the catalog in this scenario; for one of plain numbers."""
        return quantization(self)

    @cached_property
    def prefix_caching(self) -> PrefixCaching | None:
        """What a cached prefix saves, None without one; for a scenario of plain numbers."""
        return prefix_caching(self)

    @cached_property
    def speculation(self) -> SpeculationFigures | None:
        """What drafting gains, None without it; for a scenario of plain numbers."""
        return speculation(self)

    @cached_property
    def disaggregation(self) -> Disaggregation | None:
        """Both pools against the same devices colocated, None without a prefill pool; for plain numbers."""
        return disaggregation(self)

    @cached_property
    def together(self) -> Together:
        """What each technique buys alone and on top of those before it; for a scenario of plain numbers."""
        return together(self, evaluate)

    @property
    def usd_per_million_served_tokens(self) -> Numbers | None:
        """Price of all devices for a million output tokens, prefill included; None where no price is known."""
        price = usd_per_hour(self.scenario)
        return None if price is None else 1e6 * price / SECONDS_AN_HOUR / self.served_throughput

    @property
    def usd_per_million_output_tokens(self) -> Numbers | None:
        """Price of a million output tokens of this batch; None where no price is known."""
        return usd_per_million_tokens(self.scenario, self.decode_throughput)

    @property
    def usd_per_million_input_tokens(self) -> Numbers | None:
        """Price of a million prompt tokens, one request at a time; None where no price is known."""
        side = self.scenario.prefill_side
        return usd_per_million_tokens(side, self.prefill_throughput * side.data_parallel)

    @property
    def joules_per_output_token(self) -> Numbers | None:
        """Energy of an output token at the power limit, J; None where that is not known."""
        return joules_per_token(self.scenario, self.decode_throughput)

    @property
    def joules_per_input_token(self) -> Numbers | None:
        """Energy of a prompt token at the power limit, J; None where that is not known."""
        side = self.scenario.prefill_side
        return joules_per_token(side, self.prefill_throughput * side.data_parallel)

    def phases(self) -> dict[str, Pass]:
        """Both passes by name."""
        return {"prefill": self.prefill, "decode": self.decode}

    def __repr__(self) -> str:
        shown: dict[str, Any] = {"ttft": self.ttft, "tpot": self.tpot, "decode_throughput": self.decode_throughput}
        return f"Metrics({', '.join(f'{name}={value!r}' for name, value in shown.items())}, fits={self.memory.fits})"


def evaluate(scenario: Scenario) -> Metrics:
    """Evaluate a scenario; where it has arrays, every number of the result is an array.

    Examples
    --------
    >>> from roofwidget import Scenario, evaluate
    >>> metrics = evaluate(Scenario("H100 SXM", "Llama 3.1 8B"))
    >>> f"{1e3 * metrics.tpot:.2f} ms"
    '4.64 ms'
    """
    return Metrics(
        scenario=scenario,
        prefill=prefill_pass(scenario),
        decode=decode_pass(scenario),
        memory=footprint(scenario),
    )
