"""What a set of parameters must satisfy, each alone and all together."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from statistics import fmean
from typing import Any

from roofwidget.architecture.attention import devices_fault, kv_heads_fault
from roofwidget.building import build_speculation, build_transformer
from roofwidget.kv_allocation import KVAllocation
from roofwidget.parameters import PARAMETERS, PRESETS, required_of
from roofwidget.prefix import SharedPrefix
from roofwidget.presets import preset_parameters
from roofwidget.quantity import ParameterTraitError
from roofwidget.scenario import stages_fault
from roofwidget.validation import ParameterError, shown


def check(given: Mapping[str, Any], base: Mapping[str, Any], required: Collection[str] = ()) -> dict[str, Any]:
    """All parameters, checked: those given, over those that given presets fill, over those of `base`.

    Raises
    ------
    ParameterError
        Naming every unknown, missing, faulty or contradictory parameter.
    """
    faults: dict[str, str] = {}
    values = dict(base)
    for name in PRESETS:
        if name not in given:
            continue
        try:
            values |= filled(name, given[name], values)
            values[name] = PRESETS[name].validate(None, given[name])
        except ParameterError as error:
            faults |= error.faults
    spoilt = {name for preset in faults for name in required_of(preset)}  # missing only since their preset is faulty
    faults |= {
        name: f"{name} is missing: {PARAMETERS[name].help}"
        for name in required
        if name not in given and name not in values and name not in spoilt
    }
    for name, value in given.items():
        if name in PRESETS:
            continue
        if name not in PARAMETERS:
            faults[name] = unknown(name, [*PARAMETERS, *PRESETS])
        elif sentence := PARAMETERS[name].fault(name, value):
            faults[name] = sentence
            values.pop(name, None)
        else:
            values[name] = PARAMETERS[name].validate(None, value)
    if "output_tokens" not in given and isinstance(values.get("output_lengths"), tuple) and "output_lengths" in given:
        values["output_tokens"] = mean_length(values["output_lengths"])
    for name, sentence in contradictions(values):
        faults.setdefault(name, sentence)
    if faults:
        raise ParameterTraitError(faults)
    return values


def mean_length(lengths: tuple[float, ...]) -> int:
    """The output tokens that a list of lengths sets."""
    return max(1, round(fmean(lengths)))


def filled(preset: str, value: Any, standing: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a value of a preset fills; a quantization that stands is another model's too.

    Raises
    ------
    ParameterTraitError
        If there is no such preset, or it fills a parameter with what that does not take.
    """
    if sentence := PRESETS[preset].fault(preset, value):
        raise ParameterTraitError({preset: sentence})
    own = {} if value is None else preset_parameters(preset, value)
    if preset == "transformer" and standing.get("quantization") is not None:
        own |= preset_parameters("quantization", standing["quantization"])
    for name, number in own.items():
        if sentence := PARAMETERS[name].fault(name, number):
            raise ParameterTraitError({preset: f"{preset} is beyond what can be set: {sentence}"})
    return own


def contradictions(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and sentence of each parameter at odds with others, among those present in `values`."""
    present = {**dict.fromkeys(PRESETS), **values}
    rules: list[tuple[tuple[str, ...], Callable[..., tuple[str, str] | None]]] = [
        (("n_heads", "n_kv_heads"), _kv_heads_divide_heads),
        (("hidden_dim", "n_heads", "head_dim"), _heads_divide_hidden),
        (("n_heads", "n_kv_heads", "devices", "transformer"), _devices_share_heads),
        (("prefix_tokens", "seq_len"), _prefix_is_shorter),
        (("kv_allocation", "block_size", "max_len", "seq_len", "output_tokens"), _sequence_has_room),
        (_DRAFTS, _drafts_go_together),
    ]
    tried = [rule(*(present[n] for n in names)) for names, rule in rules if all(n in present for n in names)]
    found = [fault for fault in tried if fault]
    if not found and all(name in present for name in _DIMENSIONS):
        found = list(_model_faults(present))
    yield from found


_DRAFTS = ("speculation", "acceptance", "speculative_tokens", "tree_tokens", "draft_model")
_DIMENSIONS = (
    "params_b", "hidden_dim", "layers", "n_heads", "n_kv_heads", "head_dim", "vocab_size", "tied_embeddings",
    "gated_ffn", "weight_bytes",
)  # fmt: skip


def _kv_heads_divide_heads(n_heads: int, n_kv_heads: int) -> tuple[str, str] | None:
    sentence = kv_heads_fault(n_heads, n_kv_heads)
    return ("n_kv_heads", sentence) if sentence else None


def _heads_divide_hidden(hidden_dim: int, n_heads: int, head_dim: int | None) -> tuple[str, str] | None:
    if head_dim is not None or hidden_dim % n_heads == 0:
        return None
    return "hidden_dim", (
        f"hidden_dim must be a multiple of n_heads={n_heads} unless head_dim is given, and {hidden_dim} is not"
    )


def _devices_share_heads(n_heads: int, n_kv_heads: int, devices: int, transformer: Any) -> tuple[str, str] | None:
    """Of layers that are all alike; those of a preset are asked when the model is made."""
    sentence = None if transformer is not None else devices_fault(n_heads, n_kv_heads, devices)
    return ("devices", sentence) if sentence else None


def _prefix_is_shorter(prefix_tokens: int | None, seq_len: int) -> tuple[str, str] | None:
    sentence = SharedPrefix(prefix_tokens or 0).fault(seq_len)
    return ("prefix_tokens", sentence) if sentence else None


def _sequence_has_room(kind: str, block: int, max_len: int | None, prompt: int, output: int) -> tuple[str, str] | None:
    try:
        return KVAllocation(kind, block, max_len).fault(prompt, output)
    except ParameterError as error:
        return next(iter(error.faults.items()))


def _drafts_go_together(method: str | None, *numbers: Any) -> tuple[str, str] | None:
    try:
        if method is not None:
            build_speculation(dict(zip(_DRAFTS, (method, *numbers), strict=True)))
    except ParameterError as error:
        return next(iter(error.faults.items()))
    return None


def _model_faults(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the model that the numbers make, or with how it is spread over devices."""
    try:
        model = build_transformer(values)
    except ParameterError as error:
        yield from error.faults.items()
        return
    for name, number in (("n_heads", model.n_heads), ("n_kv_heads", model.n_kv_heads)):
        if values["transformer"] is not None and values[name] != number:
            yield name, f"{name} of this model must be {number:g}, as its layers are built, not {values[name]:g}"
    if "devices" in values and (sentence := model.fault(values["devices"])):
        yield "devices", sentence
    apart = values.get("prefill_devices") if values.get("disaggregated") else None
    if apart is not None and (sentence := model.fault(apart)):
        yield "prefill_devices", f"prefill_{sentence}"
    if all(name in values for name in _DRAFTS) and values["speculation"] is not None:
        try:
            build_speculation(values).drafter(model)
        except ParameterError as error:
            yield from error.faults.items()
    if "pipeline" in values and (sentence := stages_fault(values["pipeline"], model.layers)):
        yield "pipeline", sentence


def unknown(name: Any, known: Collection[str]) -> str:
    """Say that there is no such parameter, and which one may have been meant."""
    near = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else []
    return f"{shown(name)} is not a parameter" + (f"; did you mean {near[0]!r}?" if near else "")
