"""Scenario: what is served, on what, how; the one argument of all physics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from roofwidget.architecture.feed_forward import Spread, check_flags
from roofwidget.hardware import Accelerator
from roofwidget.objectives import Objectives
from roofwidget.precision import Precision
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

    Raises
    ------
    ParameterError
        If a number is out of place, or the devices do not divide the query heads.
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
            )
            if not isinstance(getattr(self, name), kind)
        }
        if faults:
            raise ParameterError(faults)
        settle(self, devices=COUNT, memory_utilization=FRACTION, pipeline=COUNT, data_parallel=COUNT)
        check_flags(self, "expert_parallel")
        if sentence := self.model.fault(self.devices):
            raise ParameterError({"devices": sentence})
        if sentence := stages_fault(self.pipeline, self.model.layers):
            raise ParameterError({"pipeline": sentence})
        self.device.peak(self.stored.compute)

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
    def total_devices(self) -> Numbers:
        """All devices: those that share a layer, of all stages, of all replicas."""
        return self.devices * self.pipeline * self.data_parallel

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


def stages_fault(stages: Numbers, layers: Numbers) -> str | None:
    """Say where there are more stages than layers to give them; None where there are not."""
    if not anywhere(stages > layers):
        return None
    return f"pipeline must be at most the {np.min(layers):g} layers, not {np.max(stages):g}"


def as_published(model: Transformer) -> Precision:
    """Weights in the formats that a model is published in, 16 bits where it says nothing."""
    return Precision(model.weight_bytes or 2.0, expert_weight_bytes=model.expert_weight_bytes)
