"""Accelerator: what a device can compute, stream, hold and send."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from roofwidget import catalog
from roofwidget.validation import POSITIVE, Allowed, Numbers, ParameterError, as_floats, settle


@dataclass(frozen=True)
class Accelerator:
    """One device.

    Parameters
    ----------
    peaks
        Dense peak per number format, FLOP/s (never the sparsity-doubled figure).
    bandwidth
        Memory bandwidth, byte/s.
    capacity
        Memory as the device reports it, bytes.
    link_bandwidth
        Bytes/s a device sends to its peers, one direction. Infinite where communication is
        not to be counted.
    name
        What it is called.
    link_latency
        Seconds between the sending of a message to a peer and its arrival.
    group
        Devices that usually share the link; infinite where that is not known.
    usd_per_hour, power
        Price of its use, and its power limit in W; None where not known.

    Raises
    ------
    ParameterError
        If a number is not positive.
    """

    peaks: Mapping[str, Numbers]
    bandwidth: Numbers
    capacity: Numbers
    link_bandwidth: Numbers = math.inf
    name: str = ""
    link_latency: Numbers = 0.0
    group: float = math.inf
    usd_per_hour: Numbers | None = None
    power: Numbers | None = None

    def __post_init__(self) -> None:
        settle(self, bandwidth=POSITIVE, capacity=POSITIVE, link_bandwidth=Allowed(infinite=True))
        known = {name: POSITIVE for name in ("usd_per_hour", "power") if getattr(self, name) is not None}
        settle(self, link_latency=Allowed(zero=True), **known)
        faults = {
            f"peaks[{name!r}]": sentence
            for name, peak in self.peaks.items()
            if (sentence := POSITIVE.fault(f"peaks[{name!r}]", peak))
        }
        if faults:
            raise ParameterError(faults)
        object.__setattr__(self, "peaks", {name: as_floats(peak) for name, peak in self.peaks.items()})

    def peak(self, compute: str) -> Numbers:
        """Dense peak of a number format, FLOP/s; of fp16 where a device has no bf16, as engines then compute.

        Raises
        ------
        ParameterError
            If the device does not compute in this format.
        """
        if compute == "bf16" and compute not in self.peaks and "fp16" in self.peaks:
            compute = "fp16"
        if compute not in self.peaks:
            raise ParameterError(
                {"compute": f"{self.name or 'this accelerator'} has no {compute} peak, only {', '.join(self.peaks)}"}
            )
        return self.peaks[compute]

    def ridge(self, compute: str) -> Numbers:
        """Arithmetic intensity from which the device is compute-bound, FLOP/byte.

        peak / bandwidth (Williams, Waterman, Patterson 2009, "Roofline", §3).
        """
        return self.peak(compute) / self.bandwidth

    def computes_in(self, compute: str) -> str:
        """The format that matrix products asked for in `compute` run in: 16 bits where the device has no such units.

        So engines do: they keep the weights small and compute on what they unpack (vLLM runs fp8
        checkpoints on Ampere so, by its Marlin kernels).

        Raises
        ------
        ParameterError
            If the device computes neither in this format nor in 16 bits.
        """
        return compute if compute in self.peaks or not {"bf16", "fp16"} & set(self.peaks) else "bf16"

    @classmethod
    def names(cls) -> list[str]:
        """Names of the accelerators in the catalog."""
        return list(catalog.entries("accelerators"))

    @classmethod
    def named(cls, name: str) -> Accelerator:
        """The catalog's accelerator of that name.

        Raises
        ------
        KeyError
            If there is none; the message suggests the nearest names.
        """
        name = catalog.spelled("accelerators", name)
        facts = catalog.entry("accelerators", name)
        return cls(
            name=name,
            peaks={fmt: tflops * 1e12 for fmt, tflops in facts["peak_tflops"].items()},
            bandwidth=facts["bandwidth_gbs"] * 1e9,
            capacity=facts["capacity_gb"] * 1e9,
            link_bandwidth=facts["link_gbs"] * 1e9 if "link_gbs" in facts else math.inf,
            link_latency=facts.get("link_latency_us", 0.0) * 1e-6,
            group=facts.get("group", math.inf),
            usd_per_hour=facts.get("usd_per_hour"),
            power=facts.get("tdp_w"),
        )
