"""PrefillPool: devices that do nothing but prefill, and the link over which they hand on what they made."""

from __future__ import annotations

import math
from dataclasses import dataclass

from roofwidget.efficiency import Efficiency
from roofwidget.hardware import Accelerator
from roofwidget.validation import COUNT, Allowed, Numbers, ParameterError, as_floats, shown


@dataclass(frozen=True)
class PrefillPool:
    """Devices of their own for prefill; those of the scenario then only decode.

    Disaggregated prefill and decode: Zhong et al. 2024, "DistServe", §4; Patel et al. 2024,
    "Splitwise", §IV; Qin et al. 2024, "Mooncake", §3.

    Parameters
    ----------
    accelerator
        The device, or its name in the catalog; None: the same as those that decode.
    devices
        Devices of an instance, which share every layer (tensor parallelism); None: as many as of those
        that decode.
    instances
        Copies of the model that prefill, each on that many devices.
    batch
        Prompts in one pass of an instance.
    link_bandwidth
        Bytes/s that a device sends to the other pool, one direction. Infinite where the transfer of
        the KV cache is not to be counted.
    efficiency
        What of its roofs it reaches; None: what those that decode do.

    Raises
    ------
    ParameterError
        If a number is out of place, such as a pool of no devices.
    KeyError
        If a name is not in the catalog.
    """

    accelerator: Accelerator | str | None = None
    devices: Numbers | None = None
    instances: Numbers = 1.0
    batch: Numbers = 1.0
    link_bandwidth: Numbers = math.inf
    efficiency: Efficiency | None = None

    def __post_init__(self) -> None:
        if isinstance(self.accelerator, str):
            object.__setattr__(self, "accelerator", Accelerator.named(self.accelerator))
        rules = {
            "devices": ("prefill_devices", COUNT),
            "instances": ("prefill_pool", COUNT),
            "batch": ("prefill_batch", COUNT),
            "link_bandwidth": ("kv_link_gbs", Allowed(infinite=True)),
        }
        if self.devices is None:
            del rules["devices"]
        faults = {
            name: sentence
            for field, (name, rule) in rules.items()
            if (sentence := rule.fault(name, getattr(self, field)))
        }
        if not isinstance(self.accelerator, Accelerator | None):
            what = "Accelerator, the name of one in the catalog, or None"
            faults["prefill_accelerator"] = f"prefill_accelerator must be {what}, not {shown(self.accelerator)}"
        if not isinstance(self.efficiency, Efficiency | None):
            faults["efficiency"] = f"efficiency must be an Efficiency or None, not {shown(self.efficiency)}"
        if faults:
            raise ParameterError(faults)
        for field in rules:
            object.__setattr__(self, field, as_floats(getattr(self, field)))
