"""Scenario: what is served, on what, how; the one argument of all physics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from roofwidget.hardware import Accelerator
from roofwidget.precision import Precision
from roofwidget.transformer import Transformer
from roofwidget.validation import COUNT, FRACTION, Numbers, ParameterError, first_pair, settle, shown
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
        settle(self, devices=COUNT, memory_utilization=FRACTION)
        if sentence := devices_fault(self.model.n_heads, self.model.n_kv_heads, self.devices):
            raise ParameterError({"devices": sentence})
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


def shardable(n_heads: Numbers, n_kv_heads: Numbers, devices: Numbers) -> Any:
    """Whether devices can share the heads evenly; a bool, or an array of them.

    Each takes as many query heads, and whole KV heads: several, or one that it has in common with
    others. Serving engines ask the same.
    """
    return (n_heads % devices == 0) & ((n_kv_heads % devices == 0) | (devices % n_kv_heads == 0))


def devices_fault(n_heads: Numbers, n_kv_heads: Numbers, devices: Numbers) -> str | None:
    """Say where devices cannot share the heads evenly; None where they can."""
    at_odds = np.logical_not(shardable(n_heads, n_kv_heads, devices))
    if not np.any(at_odds):
        return None
    heads, kv_heads, count = first_pair(at_odds, n_heads, n_kv_heads, devices)
    return (
        f"devices must divide n_heads={heads:g}, and divide n_kv_heads={kv_heads:g} or be a multiple of it, "
        f"and {count:g} does not"
    )
