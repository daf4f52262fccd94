"""evaluate(Scenario) → Metrics: the one place where a scenario becomes numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from roofwidget.roofline import capacity, memory
from roofwidget.roofline.capacity import EngineCapacity
from roofwidget.roofline.memory import Footprint, footprint
from roofwidget.roofline.nodes import decode_nodes, prefill_nodes
from roofwidget.roofline.timing import BOUNDS, Pass, time_pass, total
from roofwidget.scenario import Scenario
from roofwidget.serving.batch_curve import BatchCurve, batch_curve
from roofwidget.serving.cost import joules_per_token, usd_per_million_tokens
from roofwidget.serving.goodput import Goodput, goodput
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
        The average pass that makes one token for every sequence of the batch.
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
        """Time per output token, s: one decode step of the whole batch."""
        return self.decode.time

    @property
    def e2e(self) -> Numbers:
        """End-to-end latency, s: ttft + (output tokens − 1) · tpot."""
        return self.ttft + (self.scenario.workload.output_tokens - 1) * self.tpot

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
        """Arithmetic intensity at which the device turns from memory- to compute-bound, FLOP/byte."""
        return self.scenario.device.ridge(self.scenario.stored.compute)

    def mfu(self, phase: Pass) -> Numbers:
        """Model FLOPs utilisation of a pass: the time its FLOPs need at peak over its time.

        Chowdhery et al. 2022, "PaLM", appendix B. Each device's own FLOPs count, so that KV heads
        it shares with others are work of each.
        """
        return total(phase.terms[BOUNDS.index("compute")]) / phase.time

    def mbu(self, phase: Pass) -> Numbers:
        """Model bandwidth utilisation of a pass: the time its bytes need at full bandwidth over its time."""
        return total(phase.terms[BOUNDS.index("memory")]) / phase.time

    @cached_property
    def prefill_batch_time(self) -> Numbers:
        """Prefill of all the batch's prompts in one pass, s."""
        scenario = self.scenario
        return time_pass(prefill_nodes(scenario, scenario.replica_batch), scenario).time

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
        each = np.floor(self.engine_capacity.concurrency(self.scenario.workload.final_context))
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
        return goodput(self.scenario, float(self.ttft), float(self.largest_batch)) if self.scenario.objectives else None

    @property
    def usd_per_million_output_tokens(self) -> Numbers | None:
        """Price of a million output tokens of this batch; None where no price is known."""
        return usd_per_million_tokens(self.scenario, self.decode_throughput)

    @property
    def usd_per_million_input_tokens(self) -> Numbers | None:
        """Price of a million prompt tokens, one request at a time; None where no price is known."""
        return usd_per_million_tokens(self.scenario, self.prefill_throughput * self.scenario.data_parallel)

    @property
    def joules_per_output_token(self) -> Numbers | None:
        """Energy of an output token at the power limit, J; None where that is not known."""
        return joules_per_token(self.scenario, self.decode_throughput)

    @property
    def joules_per_input_token(self) -> Numbers | None:
        """Energy of a prompt token at the power limit, J; None where that is not known."""
        return joules_per_token(self.scenario, self.prefill_throughput * self.scenario.data_parallel)

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
        prefill=time_pass(prefill_nodes(scenario), scenario),
        decode=time_pass(decode_nodes(scenario), scenario),
        memory=footprint(scenario),
    )
