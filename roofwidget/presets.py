"""What presets fill: the parameters of an accelerator, of a transformer, of a number format."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any

from roofwidget import catalog
from roofwidget.hardware import Accelerator
from roofwidget.transformer import Transformer

ASIDE = ("weight_bytes", "expert_weight_bytes", "embedding_weight_bytes", "compute", "usd_per_hour")
"""What a preset fills, and anyone may change without making it another: how weights are stored, what is paid."""


def preset_parameters(preset: str, value: Any) -> dict[str, Any]:
    """The parameters that a value of a preset fills."""
    return FILLED[preset](value)


def format_parameters(table: str, name: str) -> dict[str, Any]:
    """Parameters of a number format of the catalog: its own figures, and none for experts apart."""
    facts = catalog.entry(table, name)
    figures = {key: facts[key] for key in FORMAT_FIGURES if key in facts}
    return {"expert_weight_bytes": None, **figures} if table == "weight_formats" else figures


FORMAT_FIGURES = ("weight_bytes", "activation_bytes", "embedding_weight_bytes", "compute", "kv_bytes")


def edited(values: Mapping[str, Any], preset: str) -> bool:
    """Whether numbers differ from those of the preset they come from, but for those aside."""
    if values[preset] is None:
        return False
    own = preset_parameters(preset, values[preset])
    aside = ASIDE if preset in ("accelerator", "transformer") else ()
    return any(values[name] != value for name, value in own.items() if name not in aside)


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
        "embedding_weight_bytes": model.embedding_weight_bytes,
        "compute": model.compute,
    }


def known_transformer(value: str | Mapping[str, Any]) -> Transformer:
    """The transformer of the catalog, or of the fields of a config.json."""
    return _transformer(*_key(value))


def _key(value: str | Mapping[str, Any]) -> tuple[str, bool]:
    return (value, True) if isinstance(value, str) else (json.dumps(value), False)


@lru_cache(maxsize=64)
def _transformer(text: str, named: bool) -> Transformer:
    return Transformer.named(text) if named else Transformer.from_hf_config(json.loads(text))


FILLED: dict[str, Callable[[Any], dict[str, Any]]] = {
    "accelerator": accelerator_parameters,
    "transformer": transformer_parameters,
    "quantization": partial(format_parameters, "weight_formats"),
    "kv_quantization": partial(format_parameters, "kv_formats"),
}
"""The parameters that a value of each preset fills."""
