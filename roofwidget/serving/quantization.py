"""Quantization: what each number format of the catalog would make of a scenario.

Weights in fewer bits are read in less time and leave room for more sequences. Where activations are
quantized too, linear layers compute in the format's own, higher peak; where they are not, weights are
unpacked to 16 bits on the chip, and the compute roof stays where it was (Frantar et al. 2025, "MARLIN";
Kurtic et al. 2025, "Give Me BF16 or Give Me Death?").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from roofwidget import catalog
from roofwidget.precision import Precision
from roofwidget.roofline.memory import kv_bytes, largest_batch, weight_bytes, with_batch
from roofwidget.roofline.passes import prefill_pass, time_per_output_token
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers

if TYPE_CHECKING:
    from roofwidget.evaluate import Metrics

SIXTEEN_BITS = "bf16"
AS_SET = "as set"
"""What weights are in that no format of the catalog describes."""


@dataclass(frozen=True, eq=False)
class Formatted:
    """A scenario with weights in one format; plain numbers in s, bytes and sequences.

    Parameters
    ----------
    name, asked, computes_in
        The format, what its linear layers are to be computed in, and what they are on this device.
    bits
        Bits a weight of a linear layer takes; of an expert where those have a format of their own.
    weights
        Bytes of weights on each device.
    ttft, tpot, tpot_alone
        Time to first token; time per output token at the batch at hand, and of one sequence alone.
    largest_batch, throughput
        Sequences that fit, and output tokens/s of them in decode; 0 where none does.
    quality, quality_source, falls_back
        What the catalog says of it.
    """

    name: str
    asked: str
    computes_in: str
    bits: float
    weights: float
    ttft: float
    tpot: float
    tpot_alone: float
    largest_batch: float
    throughput: float
    quality: str = ""
    quality_source: str = ""
    falls_back: str = ""

    @property
    def fell_back(self) -> bool:
        """Whether the device cannot compute in the format that was asked for."""
        return self.asked != self.computes_in


@dataclass(frozen=True, eq=False)
class FormattedCache:
    """A scenario with its KV cache in one format; plain numbers in s, bytes and sequences.

    Parameters
    ----------
    name, kv_bytes
        The format, and bytes an element of it takes.
    kv_cache, tpot, largest_batch
        KV cache of the batch on each device, time per output token, and sequences that fit.
    is_set
        Whether it is the one that the scenario has.
    """

    name: str
    kv_bytes: float
    kv_cache: float
    tpot: float
    largest_batch: float
    is_set: bool


@dataclass(frozen=True, eq=False)
class Quantization:
    """A scenario as it is, in 16 bits, and in every format of the catalog.

    Parameters
    ----------
    now
        As it is set, under the name of the format it has, or "as set".
    chosen
        Names of the formats that it has: formats of the same bits, computed alike, are one to physics.
    formats
        By name, with the same KV cache.
    caches
        The formats of the KV cache, with the same weights.
    turning_batch
        Sequences from which a linear layer, as set, computes for longer than it reads its weights.
    """

    now: Formatted
    chosen: tuple[str, ...]
    formats: dict[str, Formatted]
    caches: tuple[FormattedCache, ...]
    turning_batch: float

    @property
    def sixteen(self) -> Formatted:
        """What the others are measured against."""
        return self.formats[SIXTEEN_BITS]

    @property
    def decode_gain(self) -> float:
        """Time per output token in 16 bits over that as set, at the batch at hand."""
        return self.sixteen.tpot / self.now.tpot

    @property
    def alone_gain(self) -> float:
        """The same of one sequence alone."""
        return self.sixteen.tpot_alone / self.now.tpot_alone

    @property
    def prefill_gain(self) -> float:
        """The same of the time to first token."""
        return self.sixteen.ttft / self.now.ttft

    @property
    def batch_gain(self) -> float | None:
        """Largest batch as set over that in 16 bits; None where that holds none."""
        return self.now.largest_batch / self.sixteen.largest_batch if self.sixteen.largest_batch else None


def quantization(metrics: Metrics) -> Quantization:
    """The scenario of these metrics in every format; for a scenario of plain numbers."""
    scenario, entries = metrics.scenario, catalog.entries("weight_formats")
    alike: dict[str, list[str]] = {}
    for name, facts in entries.items():
        alike.setdefault(facts["compute"], []).append(name)
    found = {name: of for names in alike.values() for name, of in formatted(in_format(scenario, *names), names).items()}
    chosen = tuple(name for name in entries if same(in_format(scenario, name).stored, scenario.stored))
    return Quantization(
        now=replace(found[chosen[0]], name=" or ".join(chosen)) if chosen else formatted(scenario, [AS_SET])[AS_SET],
        chosen=chosen,
        formats={name: found[name] for name in entries},
        caches=formatted_caches(scenario),
        turning_batch=turning_batch(scenario),
    )


def in_format(scenario: Scenario, *names: str) -> Scenario:
    """The same scenario with weights in a format of the catalog, and its linear layers computed as that says.

    In several that are computed alike along a last axis.
    """
    every = [catalog.entry("weight_formats", name) for name in names]
    weights, activations, embeddings = (
        np.squeeze([facts[key] for facts in every])[()]
        for key in ("weight_bytes", "activation_bytes", "embedding_weight_bytes")
    )
    kept, compute = scenario.stored.kv_bytes, every[0]["compute"]
    precision = Precision(weights, kept, activations, compute, embedding_weight_bytes=embeddings)
    return replace(scenario, precision=precision)


def same(one: Precision, other: Precision) -> bool:
    """Whether two precisions of plain numbers store and compute weights alike, however they say so."""
    names = ("weight_bytes", "expert_bytes", "embedding_bytes", "activation_bytes", "compute")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def formatted(scenario: Scenario, names: list[str]) -> dict[str, Formatted]:
    """What a scenario comes to whose weights are in these formats, along its last axis."""
    batch, stored = float(scenario.workload.batch), scenario.stored
    largest = np.broadcast_to(largest_batch(scenario), len(names))
    batches = np.stack([np.ones(len(names)), np.full(len(names), batch), np.maximum(largest, 1)])
    figures = {
        "bits": 8 * np.asarray(stored.expert_bytes),
        "weights": weight_bytes(scenario),
        "ttft": prefill_pass(scenario).time,
        "largest_batch": largest,
    }
    figures["tpot_alone"], figures["tpot"], full = np.asarray(time_per_output_token(with_batch(scenario, batches)))
    figures["throughput"] = largest / full
    columns = {key: np.broadcast_to(figure, len(names)).tolist() for key, figure in figures.items()}
    return {
        name: Formatted(
            name=name,
            asked=stored.compute,
            computes_in=scenario.computes_in,
            **{key: column[i] for key, column in columns.items()},
            **told(name),
        )
        for i, name in enumerate(names)
    }


def told(name: str) -> dict[str, Any]:
    """What the catalog says of a format in words; nothing of what is none of its."""
    facts = catalog.entries("weight_formats").get(name, {})
    return {key: facts[key] for key in ("quality", "quality_source", "falls_back") if key in facts}


def formatted_caches(scenario: Scenario) -> tuple[FormattedCache, ...]:
    """What a scenario of plain numbers comes to with its KV cache in every format of the catalog."""
    sizes = {name: facts["kv_bytes"] for name, facts in catalog.entries("kv_formats").items()}
    along = replace(scenario, precision=replace(scenario.stored, kv_bytes=np.array([*sizes.values()])))
    figures = (kv_bytes(along, along.replica_batch), time_per_output_token(along), largest_batch(along))
    kept, times, largest = (np.broadcast_to(figure, len(sizes)).tolist() for figure in figures)
    return tuple(
        FormattedCache(name, size, kept[i], times[i], largest[i], size == scenario.stored.kv_bytes)
        for i, (name, size) in enumerate(sizes.items())
    )


def turning_batch(scenario: Scenario) -> Any:
    """Sequences at which 2 FLOPs a weight take as long as the weight's bytes: peak · bytes / (2 · bandwidth).

    Where drafts are verified each sequence has several tokens in a step. Of a dense layer; an expert
    sees fewer sequences.
    """
    ridge: Numbers = scenario.peak / scenario.device.bandwidth
    return ridge * scenario.stored.weight_bytes / 2 / scenario.tokens_in_step
