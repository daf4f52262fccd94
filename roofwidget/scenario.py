"""Scenario: what is served, on what, how; the one argument of all physics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from roofwidget.architecture.feed_forward import check_flags
from roofwidget.hardware import Accelerator
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
        Storage formats, and what is asked of the server.
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

    Raises
    ------
    ParameterError
        If a number is out of place, or the devices do not divide the query heads.
    KeyError
        If a name is not in the catalog.
    """

    accelerator: Accelerator | str
    transformer: Transformer | str
    precision: Precision = field(default_factory=Precision)
    workload: Workload = field(default_factory=Workload)
    devices: Numbers = 1.0
    memory_utilization: Numbers = 0.9
    pipeline: Numbers = 1.0
    data_parallel: Numbers = 1.0
    expert_parallel: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.accelerator, str):
            object.__setattr__(self, "accelerator", Accelerator.named(self.accelerator))
        if isinstance(self.transformer, str):
            object.__setattr__(self, "transformer", Transformer.named(self.transformer))
        faults = {
            name: f"{name} must be {what}, not {shown(getattr(self, name))}"
            for name, kind, what in (
                ("accelerator", Accelerator, "Accelerator or the name of one in the catalog"),
                ("transformer", Transformer, "Transformer or the name of one in the catalog"),
                ("precision", Precision, "Precision"),
                ("workload", Workload, "Workload"),
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
        self.device.peak(self.precision.compute)

    @property
    def device(self) -> Accelerator:
        """The accelerator, looked up if it was given by name."""
        assert isinstance(self.accelerator, Accelerator)
        return self.accelerator

    @property
    def total_devices(self) -> Numbers:
        """All devices: those that share a layer, of all stages, of all replicas."""
        return self.devices * self.pipeline * self.data_parallel

    @property
    def expert_devices(self) -> Numbers:
        """Devices over which the experts of a layer are divided."""
        return self.devices * self.data_parallel if self.expert_parallel else self.devices

    @property
    def replica_batch(self) -> Numbers:
        """Sequences of the batch that the fullest replica has."""
        return np.ceil(self.workload.batch / self.data_parallel)

    @property
    def microbatch(self) -> Numbers:
        """Sequences that pass a stage together: a pipeline has one such part under way in each stage."""
        return np.ceil(self.replica_batch / self.pipeline)

    @property
    def stage_share(self) -> Numbers:
        """Share of the layers that the fullest stage has."""
        return np.ceil(self.model.layers / self.pipeline) / self.model.layers if self.is_pipelined else 1.0

    @property
    def is_pipelined(self) -> bool:
        """Whether there is more than one stage."""
        return anywhere(self.pipeline > 1)

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
