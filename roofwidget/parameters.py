"""The parameters a person sets: their names, ranges, units and meaning, one line each.

This is the single source of what a request may say, what a trait takes, which control is drawn
and what the reference table lists.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from traitlets import HasTraits

from roofwidget.architecture.resizing import resized, scaled_to
from roofwidget.hardware import Accelerator
from roofwidget.objectives import Objectives
from roofwidget.precision import Precision
from roofwidget.quantity import Preset, Quantity, Switch
from roofwidget.scenario import Scenario
from roofwidget.transformer import Transformer
from roofwidget.workload import Workload


# fmt: off
class Parameters(HasTraits):
    """Hardware, model, workload and precision as traits; the mission's names and units.

    The defaults are the mission's request: a 70 B model in 16 bits on one 80 GB device of
    990 TFLOP/s and 3,350 GB/s.
    """

    # hardware
    peak_tflops = Quantity(990.0, 1e-3, 1e7, "TFLOP/s", "Hardware", "Dense peak of one device in the format computed in.", label="peak", slider=(10, 10_000), required=True)
    hbm_bw_gbs = Quantity(3350.0, 1e-2, 1e7, "GB/s", "Hardware", "Memory bandwidth of one device.", label="bandwidth", slider=(100, 20_000), required=True)
    hbm_cap_gb = Quantity(80.0, 1e-3, 1e6, "GB", "Hardware", "Memory of one device, in 10⁹ bytes.", label="capacity", slider=(8, 512), required=True)
    devices = Quantity(1, 1, 1024, "tensor parallel", "Hardware", "Devices that share every layer; must divide the query heads, and divide the KV heads or be a multiple of them.", label="devices", slider=(1, 64), whole=True, doubling=True)
    link_gbs = Quantity(None, 1e-3, 1e6, "GB/s", "Hardware", "What a device sends to its peers, one direction; without it communication is left out.", label="link", slider=(10, 2_000), absent="not counted", detail=True)
    link_latency_us = Quantity(None, 1e-3, 1e4, "µs", "Hardware", "Time between the sending of a message to a peer and its arrival; without it a message takes only as long as its bytes.", label="link latency", slider=(0.1, 100), absent="not counted", detail=True)
    pipeline = Quantity(1, 1, 512, "stages", "Hardware", "Groups of devices that each have their part of the layers.", label="pipeline", slider=(1, 16), whole=True, doubling=True, detail=True)
    data_parallel = Quantity(1, 1, 1024, "copies", "Hardware", "Replicas of all that, each with its part of the batch.", label="replicas", slider=(1, 64), whole=True, doubling=True, detail=True)
    expert_parallel = Switch(False, "Hardware", "Whether whole experts are spread over the devices of all replicas; if not, each device of a replica has a slice of every expert.", label="expert parallel", detail=True)
    usd_per_hour = Quantity(None, 1e-4, 1e5, "$/hour", "Hardware", "Price of one device.", label="price", slider=(0.1, 20), absent="not counted", detail=True)
    tdp_w = Quantity(None, 0.1, 1e5, "W", "Hardware", "Power limit of one device.", label="power", slider=(50, 2_000), absent="not counted", detail=True)
    memory_utilization = Quantity(0.9, 0.01, 1.0, "of capacity", "Hardware", "Share of memory that may be used.", label="usable", slider=(0.5, 1.0), detail=True)
    # model
    params_b = Quantity(70.0, 1e-4, 1e5, "billion", "Model", "Parameters; the FFN takes what attention and embeddings leave of them.", label="parameters", slider=(0.5, 1_000), required=True)
    hidden_dim = Quantity(8192, 1, 1_048_576, "", "Model", "Width of the residual stream.", label="hidden", slider=(512, 32_768), whole=True, required=True, detail=True)
    layers = Quantity(80, 1, 10_000, "", "Model", "Transformer blocks.", label="layers", slider=(4, 256), whole=True, required=True)
    n_heads = Quantity(64, 1, 65_536, "", "Model", "Query heads.", label="heads", slider=(4, 256), whole=True, required=True, detail=True, doubling=True)
    n_kv_heads = Quantity(8, 1, 65_536, "", "Model", "Key/value heads; must divide the query heads.", label="KV heads", slider=(1, 256), whole=True, required=True, doubling=True)
    head_dim = Quantity(None, 1, 8192, "", "Model", "Width of a head; without it hidden_dim / n_heads, which must then be whole.", label="head width", slider=(32, 512), whole=True, absent="h ÷ heads", detail=True)
    vocab_size = Quantity(None, 1, 10_000_000, "tokens", "Model", "Vocabulary; without it every parameter counts as part of the blocks.", label="vocabulary", slider=(8_192, 524_288), whole=True, absent="not counted", detail=True)
    gated_ffn = Switch(True, "Model", "Whether the FFN has three matrices (SwiGLU) or two.", label="gated FFN", detail=True)
    tied_embeddings = Switch(False, "Model", "Whether the LM head is the embedding; matters only where vocab_size is given.", label="tied embeddings", detail=True)
    # workload
    seq_len = Quantity(4096, 1, 100_000_000, "tokens", "Workload", "Prompt tokens of each sequence.", label="prompt", slider=(64, 262_144), whole=True, required=True)
    output_tokens = Quantity(1, 1, 100_000_000, "tokens", "Workload", "Tokens of each answer: decode is timed at the mean context, memory at the final one.", label="output", slider=(1, 32_768), whole=True)
    batch = Quantity(1, 1, 1_000_000, "sequences", "Workload", "Sequences decoded together.", label="batch", slider=(1, 1_024), whole=True, required=True)
    ttft_target_ms = Quantity(None, 1e-3, 1e9, "ms", "Workload", "Time to first token that was promised.", label="TTFT ≤", slider=(10, 10_000), absent="nothing", detail=True)
    tpot_target_ms = Quantity(None, 1e-3, 1e9, "ms", "Workload", "Time per output token that was promised.", label="TPOT ≤", slider=(1, 1_000), absent="nothing", detail=True)
    # precision
    weight_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes a weight takes; the peak stays the one set above.", label="weights", slider=(0.5, 4), required=True, doubling=True)
    expert_weight_bytes = Quantity(None, 0.05, 16.0, "bytes", "Precision", "Bytes a weight of a routed expert takes, where only experts are stored in a format of their own.", label="experts", slider=(0.5, 4), absent="as weights", doubling=True, detail=True)
    kv_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes an element of the KV cache takes.", label="KV cache", slider=(0.5, 4), doubling=True)
    activation_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes an activation takes.", label="activations", slider=(0.5, 4), detail=True, doubling=True)
    # presets
    accelerator = Preset("accelerators", "Name in the catalog of the accelerator that the numbers are those of, or were before some were edited.")
    transformer = Preset("transformers", "Name in the catalog of the model, or the fields of a Hugging Face config.json: what its layers are made of. The numbers are its own, or change all its layers in proportion.", takes_config=True)
# fmt: on

    @property
    def scenario(self) -> Scenario:
        """The scenario these parameters describe.

        Raises
        ------
        ParameterError
            If they contradict each other.
        """
        return build_scenario({name: getattr(self, name) for name in [*PARAMETERS, *PRESETS]})


PARAMETERS: dict[str, Quantity | Switch] = {
    name: trait for name, trait in vars(Parameters).items() if isinstance(trait, (Quantity, Switch))
}
PRESETS: dict[str, Preset] = {name: trait for name, trait in vars(Parameters).items() if isinstance(trait, Preset)}


ASIDE = ("weight_bytes", "expert_weight_bytes", "usd_per_hour")
"""What a preset fills, and anyone may change without making it another: how weights are stored, what is paid."""


def preset_parameters(preset: str, value: Any) -> dict[str, Any]:
    """The parameters that a value of a preset fills."""
    return accelerator_parameters(value) if preset == "accelerator" else transformer_parameters(value)


def required_of(preset: str) -> list[str]:
    """The required parameters that a preset fills, and that need not be given beside it."""
    filled = preset_parameters(preset, PRESETS[preset].names()[0])
    return [name for name in filled if PARAMETERS[name].required]


def edited(values: Mapping[str, Any], preset: str) -> bool:
    """Whether numbers differ from those of the preset they come from, but for those aside."""
    if values[preset] is None:
        return False
    own = preset_parameters(preset, values[preset])
    return any(values[name] != value for name, value in own.items() if name not in ASIDE)


def build_accelerator(values: Mapping[str, Any]) -> Accelerator:
    """The accelerator that checked parameters describe: the preset's formats, at rates in proportion."""
    peak, link, latency = values["peak_tflops"] * 1e12, values["link_gbs"], values["link_latency_us"]
    peaks, name, group = {"bf16": peak}, "", math.inf
    if values["accelerator"] is not None:
        base = Accelerator.named(values["accelerator"])
        peaks, name = {fmt: rate * peak / base.peak("bf16") for fmt, rate in base.peaks.items()}, base.name
        group = base.group if values["link_gbs"] == accelerator_parameters(base.name)["link_gbs"] else math.inf
    return Accelerator(
        peaks=peaks,
        bandwidth=values["hbm_bw_gbs"] * 1e9,
        capacity=values["hbm_cap_gb"] * 1e9,
        link_bandwidth=math.inf if link is None else link * 1e9,
        name=f"custom, from {name}" if edited(values, "accelerator") else name,
        link_latency=0.0 if latency is None else latency * 1e-6,
        group=group,
        usd_per_hour=values["usd_per_hour"],
        power=values["tdp_w"],
    )


def build_transformer(values: Mapping[str, Any]) -> Transformer:
    """The transformer that checked parameters describe: the preset's build, dense layers without one."""
    numbers = {
        "hidden_dim": values["hidden_dim"],
        "layers": values["layers"],
        "n_heads": values["n_heads"],
        "n_kv_heads": values["n_kv_heads"],
        "head_dim": values["head_dim"] or values["hidden_dim"] / values["n_heads"],
        "vocab_size": values["vocab_size"] or 0,
        "gated": values["gated_ffn"],
        "tied_embeddings": values["tied_embeddings"],
    }
    if values["transformer"] is None:
        return Transformer.with_params(values["params_b"] * 1e9, **numbers)
    base = known_transformer(values["transformer"])
    if not edited(values, "transformer"):
        return base
    changed = {name: value for name, value in numbers.items() if value != getattr(base, name)}
    model = scaled_to(resized(base, **changed), values["params_b"] * 1e9)
    return replace(model, name=f"custom, from {base.name}")


def build_scenario(values: Mapping[str, Any]) -> Scenario:
    """The scenario that checked parameters describe."""
    return Scenario(
        accelerator=build_accelerator(values),
        transformer=build_transformer(values),
        precision=Precision(
            values["weight_bytes"],
            values["kv_bytes"],
            values["activation_bytes"],
            expert_weight_bytes=values["expert_weight_bytes"],
        ),
        workload=Workload(values["seq_len"], values["output_tokens"], values["batch"]),
        devices=values["devices"],
        memory_utilization=values["memory_utilization"],
        pipeline=values["pipeline"],
        data_parallel=values["data_parallel"],
        expert_parallel=values["expert_parallel"],
        objectives=Objectives(
            ttft=None if values["ttft_target_ms"] is None else values["ttft_target_ms"] * 1e-3,
            tpot=None if values["tpot_target_ms"] is None else values["tpot_target_ms"] * 1e-3,
        ),
    )


@cache
def accelerator_parameters(name: str) -> dict[str, Any]:
    """Parameters of a named accelerator."""
    device = Accelerator.named(name)
    return {
        "peak_tflops": device.peak("bf16") / 1e12,
        "hbm_bw_gbs": device.bandwidth / 1e9,
        "hbm_cap_gb": device.capacity / 1e9,
        "link_gbs": None if math.isinf(device.link_bandwidth) else device.link_bandwidth / 1e9,
        "link_latency_us": round(float(device.link_latency) * 1e6, 6) or None,
        "usd_per_hour": device.usd_per_hour,
        "tdp_w": device.power,
    }


def transformer_parameters(value: str | Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a transformer of the catalog, or of the fields of a config.json."""
    return _numbers_of(*_key(value))


@lru_cache(maxsize=64)
def _numbers_of(text: str, named: bool) -> dict[str, Any]:
    model = _transformer(text, named)
    return {
        "params_b": model.params / 1e9,
        "hidden_dim": int(model.hidden_dim),
        "layers": int(model.layers),
        "n_heads": int(model.n_heads),
        "n_kv_heads": int(model.n_kv_heads),
        "head_dim": int(model.head_dim),
        "vocab_size": int(model.vocab_size) or None,
        "gated_ffn": model.gated,
        "tied_embeddings": model.tied_embeddings,
        "weight_bytes": model.weight_bytes or 2.0,
        "expert_weight_bytes": model.expert_weight_bytes,
    }


def known_transformer(value: str | Mapping[str, Any]) -> Transformer:
    """The transformer of the catalog, or of the fields of a config.json."""
    return _transformer(*_key(value))


def _key(value: str | Mapping[str, Any]) -> tuple[str, bool]:
    return (value, True) if isinstance(value, str) else (json.dumps(value), False)


@lru_cache(maxsize=64)
def _transformer(text: str, named: bool) -> Transformer:
    return Transformer.named(text) if named else Transformer.from_hf_config(json.loads(text))
