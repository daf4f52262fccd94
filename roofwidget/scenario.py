"""Scenario: what is served, on what, how; the one argument of all physics."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from roofwidget.architecture.feed_forward import Spread, check_flags
from roofwidget.efficiency import IDEAL, Efficiency
from roofwidget.hardware import Accelerator
from roofwidget.kv_allocation import EXACT, KVAllocation
from roofwidget.objectives import Objectives
from roofwidget.precision import Precision
from roofwidget.prefill_pool import PrefillPool
from roofwidget.prefix import NO_PREFIX, SharedPrefix
from roofwidget.speculation import Drafter, Speculation
from roofwidget.transformer import Transformer
from roofwidget.validation import COUNT, FRACTION, Numbers, ParameterError, anywhere, settle, shown
from roofwidget.workload import Workload


@dataclass(frozen=True)
class Scenario:
    """One model served on one group of devices.

    Parameters
    ----------
    accelerator, transformer
        The device and the model, or the names they have in the catalog.
    precision, workload
        Storage formats, and what is asked of the server. Without a precision weights are stored as
        the model is published, everything else in 16 bits.
    devices
        Devices that share every layer (tensor parallelism).
    pipeline
        Stages, each with its part of the layers on as many devices.
    data_parallel
        Replicas of all that, each with its part of the batch.
    expert_parallel
        Whether whole experts are spread over the devices of all replicas; if not, every device of
        a replica has its slice of every expert.
    memory_utilization
        Share of each device's memory that may be used.
    objectives
        What users were promised.
    continuous
        Whether a sequence that ends makes room for the next one at once (continuous batching), or
        only all of a batch together do.
    kv_allocation
        How memory is given to the KV cache of a sequence.
    prefix
        What prompts begin with in common, and is cached.
    speculation
        How tokens are drafted that a pass then verifies; None: they are not.
    prefill_pool
        Devices of their own for prefill; None: the same ones prefill and decode.
    efficiency
        What of the roofs is reached, and what comes on top; all and nothing, unless told: the bound.

    Raises
    ------
    ParameterError
        If a number is out of place, the devices do not divide the query heads, or a part does not
        go with another.
    KeyError
        If a name is not in the catalog.
    """

    accelerator: Accelerator | str
    transformer: Transformer | str
    precision: Precision | None = None
    workload: Workload = field(default_factory=Workload)
    devices: Numbers = 1.0
    memory_utilization: Numbers = 0.9
    pipeline: Numbers = 1.0
    data_parallel: Numbers = 1.0
    expert_parallel: bool = False
    objectives: Objectives = field(default_factory=Objectives)
    continuous: bool = True
    kv_allocation: KVAllocation = EXACT
    prefix: SharedPrefix = NO_PREFIX
    speculation: Speculation | None = None
    prefill_pool: PrefillPool | None = None
    efficiency: Efficiency = IDEAL

    def __post_init__(self) -> None:
        if isinstance(self.accelerator, str):
            object.__setattr__(self, "accelerator", Accelerator.named(self.accelerator))
        if isinstance(self.transformer, str):
            object.__setattr__(self, "transformer", Transformer.named(self.transformer))
        if self.precision is None and isinstance(self.transformer, Transformer):
            object.__setattr__(self, "precision", as_published(self.transformer))
        faults = {
            name: f"{name} must be {what}, not {shown(getattr(self, name))}"
            for name, kind, what in (
                ("accelerator", Accelerator, "Accelerator or the name of one in the catalog"),
                ("transformer", Transformer, "Transformer or the name of one in the catalog"),
                ("precision", Precision, "Precision"),
                ("workload", Workload, "Workload"),
                ("objectives", Objectives, "Objectives"),
                ("kv_allocation", KVAllocation, "KVAllocation"),
                ("prefix", SharedPrefix, "SharedPrefix"),
                ("speculation", Speculation | None, "Speculation or None"),
                ("prefill_pool", PrefillPool | None, "PrefillPool or None"),
                ("efficiency", Efficiency, "Efficiency"),
            )
            if not isinstance(getattr(self, name), kind)
        }
        if faults:
            raise ParameterError(faults)
        settle(self, devices=COUNT, memory_utilization=FRACTION, pipeline=COUNT, data_parallel=COUNT)
        check_flags(self, "expert_parallel", "continuous")
        if sentence := self.model.fault(self.devices):
            raise ParameterError({"devices": sentence})
        if sentence := stages_fault(self.pipeline, self.model.layers):
            raise ParameterError({"pipeline": sentence})
        if sentence := self.prefix.fault(self.workload.seq_len):
            raise ParameterError({"prefix_tokens": sentence})
        if fault := self.kv_allocation.fault(self.workload.seq_len, self.workload.output_tokens):
            raise ParameterError(dict([fault]))
        if self.speculation is not None:
            self.speculation.drafter(self.model)  # which refuses a model that it takes no layer over from
        if self.prefill_pool is not None and (sentence := self.model.fault(self.prefill_side.devices)):
            raise ParameterError({"prefill_devices": f"prefill_{sentence}"})
        self.device.peak(self.computes_in)

    def having(self, **fields: Any) -> Scenario:
        """The same scenario with fields that are known to be in order: nothing is checked again."""
        other = copy(self)
        other.__dict__.pop("drafting", None)
        for name, value in fields.items():
            object.__setattr__(other, name, value)
        return other

    @property
    def device(self) -> Accelerator:
        """The accelerator, looked up if it was given by name."""
        assert isinstance(self.accelerator, Accelerator)
        return self.accelerator

    @property
    def stored(self) -> Precision:
        """The precision, that of the published model where none was given."""
        assert isinstance(self.precision, Precision)
        return self.precision

    @property
    def computes_in(self) -> str:
        """The format that linear layers really compute in on this device."""
        return self.device.computes_in(self.stored.compute)

    @property
    def computes_narrow(self) -> bool:
        """Whether linear layers compute in fewer than 16 bits."""
        return self.computes_in not in ("bf16", "fp16")

    @property
    def peak(self) -> Numbers:
        """FLOP/s of linear layers at most."""
        return self.device.peak(self.computes_in)

    @property
    def sixteen_bit_peak(self) -> Numbers:
        """FLOP/s of all that is not quantized at most; of a device without 16 bits that of its linear layers."""
        return self.device.peak("bf16") if {"bf16", "fp16"} & set(self.device.peaks) else self.peak

    @property
    def devices_of_batch(self) -> Numbers:
        """Devices that share the batch: those that share a layer, of all stages, of all replicas."""
        return self.devices * self.pipeline * self.data_parallel

    @property
    def total_devices(self) -> Numbers:
        """All devices, those of a prefill pool among them."""
        pool = self.prefill_pool
        return self.devices_of_batch + (0 if pool is None else pool.instances * self.prefill_side.devices)

    @property
    def prefill_side(self) -> Scenario:
        """What prefills: an instance of the pool that is there for it, or the same devices."""
        pool = self.prefill_pool
        if pool is None:
            return self
        return self.having(
            accelerator=self.accelerator if pool.accelerator is None else pool.accelerator,
            devices=self.devices if pool.devices is None else pool.devices,
            efficiency=self.efficiency if pool.efficiency is None else pool.efficiency,
            pipeline=1.0,
            data_parallel=1.0,
            expert_parallel=False,
            prefill_pool=None,
        )

    @property
    def tokens_in_step(self) -> Numbers:
        """Tokens of each sequence that run through a decode step: one, or those that are verified."""
        return 1.0 if self.speculation is None else self.speculation.verified

    @property
    def tokens_per_step(self) -> Numbers:
        """Tokens that a decode step gives each sequence: one, or what verification accepts and one more."""
        return 1.0 if self.speculation is None else self.speculation.tokens_per_step

    @cached_property
    def drafting(self) -> Drafting | None:
        """What drafts tokens, on the same devices; None where nothing does or that needs no model."""
        drafter = None if self.speculation is None else self.speculation.drafter(self.model)
        if drafter is None:
            return None
        kept = self.stored
        if not drafter.in_checkpoint:  # neither a format of the model's nor a quantization of it is a draft's
            published = as_published(drafter.transformer)
            kept = replace(published, kv_bytes=kept.kv_bytes, activation_bytes=kept.activation_bytes)
        beside = self.having(
            transformer=drafter.transformer,
            precision=kept,
            speculation=None,
            pipeline=1.0,
            devices=drafter.devices(self.devices),
        )
        return Drafting(drafter, beside)

    @property
    def expert_spread(self) -> Spread:
        """How the experts of a layer lie on the devices."""
        if self.expert_parallel:
            return Spread(self.devices * self.data_parallel, whole=True)
        return Spread(self.devices)

    @property
    def replica_batch(self) -> Numbers:
        """Sequences of the batch that the fullest replica has."""
        return np.ceil(self.workload.batch / self.data_parallel)

    @property
    def last_context(self) -> Numbers:
        """Context of the last of the decode steps that are averaged.

        Of answers that differ the long ones are met in decode more often: over all their steps the
        mean context is prompt + E[m·(m − 1)] / (2·E[m − 1]) for answers of m tokens, the middle of the
        first step and of this one. A static batch goes on for all until its longest answer ends.
        """
        workload, lengths, mean = self.workload, self.workload.lengths, self.workload.output_tokens
        if lengths.shape == "fixed":
            return workload.final_context
        decoding = mean > 1
        pairs = (lengths.mean_square(mean) - mean) / np.where(decoding, mean - 1, 1.0)
        last = np.where(decoding, workload.seq_len + pairs - 1, workload.seq_len)[()]
        if self.continuous:
            return last
        return np.maximum(last, workload.seq_len + lengths.longest(mean, self.replica_batch) - 1)

    @property
    def mean_context(self) -> Numbers:
        """Context of the average decode step."""
        return (self.workload.first_context + self.last_context) / 2

    @property
    def stage_share(self) -> Numbers:
        """Share of the layers that the fullest stage has."""
        return np.ceil(self.model.layers / self.pipeline) / self.model.layers

    @property
    def parts(self) -> Numbers:
        """Parts of the batch under way at once: as many as the fullest stage can serve in turn without a wait."""
        return np.floor(self.model.layers / np.ceil(self.model.layers / self.pipeline))

    @property
    def microbatch(self) -> Numbers:
        """Sequences that pass a stage together: the largest part of the batch."""
        return np.ceil(self.replica_batch / self.parts)

    @property
    def routed_batch(self) -> Numbers:
        """Sequences whose tokens the experts of a device see in a step."""
        if not self.expert_parallel:
            return self.microbatch
        return np.minimum(self.microbatch * self.data_parallel, np.ceil(self.workload.batch / self.parts))

    @property
    def model(self) -> Transformer:
        """The transformer, looked up if it was given by name."""
        assert isinstance(self.transformer, Transformer)
        return self.transformer


class Drafting(NamedTuple):
    """A drafter, and the scenario in which it runs."""

    drafter: Drafter
    scenario: Scenario


def stages_fault(stages: Numbers, layers: Numbers) -> str | None:
    """Say where there are more stages than layers to give them; None where there are not."""
    if not anywhere(stages > layers):
        return None
    return f"pipeline must be at most the {np.min(layers):g} layers, not {np.max(stages):g}"


def as_published(model: Transformer) -> Precision:
    """Weights in the formats that a model is published in, 16 bits where it says nothing."""
    return Precision(
        model.weight_bytes or 2.0,
        compute=model.compute,
        expert_weight_bytes=model.expert_weight_bytes,
        embedding_weight_bytes=model.embedding_weight_bytes,
    )
