"""Scenario: what is served, on what, how; the one argument of all physics."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from roofwidget.hardware import Accelerator
from roofwidget.precision import Precision
from roofwidget.transformer import Transformer
from roofwidget.validation import COUNT, FRACTION, Numbers, ParameterError, settle
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

    def __post_init__(self) -> None:
        if isinstance(self.accelerator, str):
            object.__setattr__(self, "accelerator", Accelerator.named(self.accelerator))
        if isinstance(self.transformer, str):
            object.__setattr__(self, "transformer", Transformer.named(self.transformer))
        settle(self, devices=COUNT, memory_utilization=FRACTION)
        if np.any(self.model.n_heads % self.devices):
            raise ParameterError({"devices": devices_fault(self.model.n_heads, self.devices)})
        self.device.peak(self.precision.compute)

    @property
    def device(self) -> Accelerator:
        """The accelerator, looked up if it was given by name."""
        assert isinstance(self.accelerator, Accelerator)
        return self.accelerator

    @property
    def model(self) -> Transformer:
        """The transformer, looked up if it was given by name."""
        assert isinstance(self.transformer, Transformer)
        return self.transformer


def devices_fault(n_heads: Numbers, devices: Numbers) -> str:
    """Say that the devices do not divide the query heads."""
    return f"devices must divide n_heads={n_heads:g}, and {devices:g} does not"
