"""What a set of parameters must satisfy, each alone and all together."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from roofwidget.parameters import PARAMETERS, build_transformer
from roofwidget.quantity import ParameterTraitError
from roofwidget.scenario import devices_fault
from roofwidget.transformer import kv_heads_fault
from roofwidget.validation import ParameterError, shown


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
