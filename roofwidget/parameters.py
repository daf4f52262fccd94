"""The parameters a person sets: their names, ranges, units and meaning, one line each.

This is the single source of what a request may say, what a trait takes, which control is drawn
and what the reference table lists.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
from traitlets import Bool, HasTraits, TraitError, TraitType

from roofwidget.hardware import Accelerator
from roofwidget.precision import Precision
from roofwidget.scenario import Scenario, devices_fault
from roofwidget.transformer import Transformer, kv_heads_fault
from roofwidget.validation import Allowed, ParameterError, shown
from roofwidget.workload import Workload


class ParameterTraitError(ParameterError, TraitError):
    """A faulty parameter that was assigned to a trait."""


class Quantity(TraitType[Any, Any]):
    """A number in an allowed range, with what a person needs to know to set it.

    Parameters
    ----------
    default
        Its default; None makes it optional, and `absent` says what None stands for.
    low, high, whole
        What is allowed.
    slider, doubling
        The ends of its slider, which need not reach as far as the range does, and whether it
        goes by powers of two.
    detail
        Whether its control is folded away until asked for.
    required
        Whether a request has to give it.
    unit, group, help
        What it is counted in, where its control stands, and what it means.
    label
        Its short name on screen.
    """

    def __init__(
        self,
        default: float | None,
        low: float,
        high: float,
        unit: str,
        group: str,
        help: str,
        *,
        label: str,
        slider: tuple[float, float],
        whole: bool = False,
        absent: str = "",
        required: bool = False,
        doubling: bool = False,
        detail: bool = False,
    ) -> None:
        super().__init__(default, allow_none=default is None, help=help)
        self.allowed = Allowed(low, high, whole)
        self.unit, self.group, self.label = unit, group, label
        self.slider, self.doubling, self.detail = slider, doubling, detail
        self.absent, self.required = absent, required

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        if value is None and self.allow_none:
            return None
        if isinstance(value, np.ndarray) and value.ndim > 0:
            return f"{name} must be {self.allowed}, not {type(value).__name__}"
        sentence = self.allowed.fault(name, value)
        if sentence and self.allow_none:
            return sentence.replace(f"{self.allowed}, not", f"{self.allowed}, or null, not")
        return sentence

    def validate(self, obj: Any, value: Any) -> float | int | None:
        """Take any real number in range; plain int or float comes out."""
        assert self.name is not None
        if sentence := self.fault(self.name, value):
            raise ParameterTraitError({self.name: sentence})
        if value is None:
            return None
        return int(value) if self.allowed.whole else float(value)


class Switch(Bool[bool, Any]):
    """A yes or no, with what a person needs to know to set it."""

    required = False

    def __init__(self, default: bool, group: str, help: str, *, label: str, detail: bool = False) -> None:
        super().__init__(default, help=help)
        self.group, self.label, self.detail = group, label, detail

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        return None if isinstance(value, (bool, np.bool_)) else f"{name} must be true or false, not {shown(value)}"

    def validate(self, obj: Any, value: Any) -> bool:
        """Take a bool only."""
        assert self.name is not None
        if sentence := self.fault(self.name, value):
            raise ParameterTraitError({self.name: sentence})
        return bool(value)


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
    link_gbs = Quantity(None, 1e-3, 1e6, "GB/s", "Hardware", "What a device sends to its peers, one direction; null leaves communication out.", label="link", slider=(10, 2_000), absent="not counted", detail=True)
    memory_utilization = Quantity(0.9, 0.01, 1.0, "of capacity", "Hardware", "Share of memory that may be used.", label="usable", slider=(0.5, 1.0), detail=True)
    # model
    params_b = Quantity(70.0, 1e-4, 1e5, "billion", "Model", "Parameters; the FFN takes what attention and embeddings leave of them.", label="parameters", slider=(0.5, 1_000), required=True)
    hidden_dim = Quantity(8192, 1, 1_048_576, "", "Model", "Width of the residual stream.", label="hidden", slider=(512, 32_768), whole=True, required=True, detail=True)
    layers = Quantity(80, 1, 10_000, "", "Model", "Transformer blocks.", label="layers", slider=(4, 256), whole=True, required=True)
    n_heads = Quantity(64, 1, 4096, "", "Model", "Query heads.", label="query heads", slider=(4, 256), whole=True, required=True, detail=True, doubling=True)
    n_kv_heads = Quantity(8, 1, 4096, "", "Model", "Key/value heads; must divide the query heads.", label="KV heads", slider=(1, 256), whole=True, required=True, doubling=True)
    head_dim = Quantity(None, 1, 8192, "", "Model", "Width of a head; null is hidden_dim / n_heads, which must then be whole.", label="head width", slider=(32, 512), whole=True, absent="hidden ÷ heads", detail=True)
    vocab_size = Quantity(None, 1, 10_000_000, "tokens", "Model", "Vocabulary; null counts every parameter as part of the blocks.", label="vocabulary", slider=(8_192, 524_288), whole=True, absent="not counted", detail=True)
    gated_ffn = Switch(True, "Model", "Whether the FFN has three matrices (SwiGLU) or two.", label="gated FFN", detail=True)
    tied_embeddings = Switch(False, "Model", "Whether the LM head is the embedding; matters only where vocab_size is given.", label="tied embeddings", detail=True)
    # workload
    seq_len = Quantity(4096, 1, 100_000_000, "tokens", "Workload", "Prompt tokens of each sequence.", label="prompt", slider=(64, 262_144), whole=True, required=True)
    output_tokens = Quantity(1, 1, 100_000_000, "tokens", "Workload", "Tokens of each answer: decode is timed at the mean context, memory at the final one.", label="output", slider=(1, 32_768), whole=True)
    batch = Quantity(1, 1, 1_000_000, "sequences", "Workload", "Sequences decoded together.", label="batch", slider=(1, 1_024), whole=True, required=True)
    # precision
    weight_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes a weight takes.", label="weights", slider=(0.5, 4), required=True, doubling=True)
    kv_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes an element of the KV cache takes.", label="KV cache", slider=(0.5, 4), doubling=True)
    activation_bytes = Quantity(2.0, 0.05, 16.0, "bytes", "Precision", "Bytes an activation takes.", label="activations", slider=(0.5, 4), detail=True, doubling=True)
# fmt: on

    @property
    def scenario(self) -> Scenario:
        """The scenario these parameters describe.

        Raises
        ------
        ParameterError
            If they contradict each other.
        """
        return build_scenario({name: getattr(self, name) for name in PARAMETERS})


PARAMETERS: dict[str, Quantity | Switch] = {
    name: trait for name, trait in vars(Parameters).items() if isinstance(trait, (Quantity, Switch))
}


def check(given: Mapping[str, Any], base: Mapping[str, Any], required: Collection[str] = ()) -> dict[str, Any]:
    """All parameters, checked: those given, over those of `base`.

    Raises
    ------
    ParameterError
        Naming every unknown, missing, faulty or contradictory parameter.
    """
    faults = {name: f"{name} is missing: {PARAMETERS[name].help}" for name in required if name not in given}
    values = dict(base)
    for name, value in given.items():
        if name not in PARAMETERS:
            faults[name] = unknown(name, PARAMETERS)
        elif sentence := PARAMETERS[name].fault(name, value):
            faults[name] = sentence
            values.pop(name, None)
        else:
            values[name] = PARAMETERS[name].validate(None, value)
    for name, sentence in contradictions(values):
        faults.setdefault(name, sentence)
    if faults:
        raise ParameterTraitError(faults)
    return values


def contradictions(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and sentence of each parameter at odds with others, among those present in `values`."""
    rules: list[tuple[tuple[str, ...], Callable[..., tuple[str, str] | None]]] = [
        (("n_heads", "n_kv_heads"), _kv_heads_divide_heads),
        (("hidden_dim", "n_heads", "head_dim"), _heads_divide_hidden),
        (("n_heads", "n_kv_heads", "devices"), _devices_share_heads),
        (_DIMENSIONS, _params_cover_attention),
    ]
    for names, rule in rules:
        if all(name in values for name in names) and (fault := rule(*(values[name] for name in names))):
            yield fault


_DIMENSIONS = ("params_b", "hidden_dim", "layers", "n_heads", "n_kv_heads", "head_dim", "vocab_size", "tied_embeddings")


def _kv_heads_divide_heads(n_heads: int, n_kv_heads: int) -> tuple[str, str] | None:
    sentence = kv_heads_fault(n_heads, n_kv_heads)
    return ("n_kv_heads", sentence) if sentence else None


def _heads_divide_hidden(hidden_dim: int, n_heads: int, head_dim: int | None) -> tuple[str, str] | None:
    if head_dim is not None or hidden_dim % n_heads == 0:
        return None
    return "hidden_dim", (
        f"hidden_dim must be a multiple of n_heads={n_heads} unless head_dim is given, and {hidden_dim} is not"
    )


def _devices_share_heads(n_heads: int, n_kv_heads: int, devices: int) -> tuple[str, str] | None:
    sentence = devices_fault(n_heads, n_kv_heads, devices)
    return ("devices", sentence) if sentence else None


def _params_cover_attention(*dimensions: Any) -> tuple[str, str] | None:
    values = dict(zip(_DIMENSIONS, dimensions, strict=True))
    head_dim_known = values["head_dim"] is not None or values["hidden_dim"] % values["n_heads"] == 0
    if values["n_heads"] % values["n_kv_heads"] or not head_dim_known:
        return None
    try:
        build_transformer({**values, "gated_ffn": True})
    except ParameterError as error:
        return next(iter(error.faults.items()))
    return None


def unknown(name: Any, known: Collection[str]) -> str:
    """Say that there is no such parameter, and which one may have been meant."""
    near = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else []
    return f"{shown(name)} is not a parameter" + (f"; did you mean {near[0]!r}?" if near else "")


def build_transformer(values: Mapping[str, Any]) -> Transformer:
    """The transformer that checked parameters describe."""
    return Transformer.with_params(
        values["params_b"] * 1e9,
        hidden_dim=values["hidden_dim"],
        layers=values["layers"],
        n_heads=values["n_heads"],
        n_kv_heads=values["n_kv_heads"],
        head_dim=values["head_dim"] or values["hidden_dim"] / values["n_heads"],
        vocab_size=values["vocab_size"] or 0,
        gated=values["gated_ffn"],
        tied_embeddings=values["tied_embeddings"],
    )


def build_scenario(values: Mapping[str, Any]) -> Scenario:
    """The scenario that checked parameters describe."""
    link = values["link_gbs"]
    return Scenario(
        accelerator=Accelerator(
            peaks={"bf16": values["peak_tflops"] * 1e12},
            bandwidth=values["hbm_bw_gbs"] * 1e9,
            capacity=values["hbm_cap_gb"] * 1e9,
            link_bandwidth=math.inf if link is None else link * 1e9,
        ),
        transformer=build_transformer(values),
        precision=Precision(values["weight_bytes"], values["kv_bytes"], values["activation_bytes"]),
        workload=Workload(values["seq_len"], values["output_tokens"], values["batch"]),
        devices=values["devices"],
        memory_utilization=values["memory_utilization"],
    )


def accelerator_parameters(name: str) -> dict[str, Any]:
    """Parameters of a named accelerator."""
    device = Accelerator.named(name)
    return {
        "peak_tflops": device.peak("bf16") / 1e12,
        "hbm_bw_gbs": device.bandwidth / 1e9,
        "hbm_cap_gb": device.capacity / 1e9,
        "link_gbs": None if math.isinf(device.link_bandwidth) else device.link_bandwidth / 1e9,
    }


def transformer_parameters(name: str) -> dict[str, Any]:
    """Parameters of a named transformer."""
    model = Transformer.named(name)
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
    }
