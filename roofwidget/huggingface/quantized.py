"""Bytes a weight takes in a checkpoint, as its `quantization_config` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from roofwidget.huggingface.config import Config
from roofwidget.huggingface.reading import ConfigError

MXFP4 = 0.5 + 1 / 32
"""4 bits, and an 8-bit scale for each 32 weights (OCP Microscaling Formats 1.0, §5.2)."""
NVFP4 = 0.5 + 1 / 16
"""4 bits, and an 8-bit scale for each 16 weights (NVIDIA, "Introducing NVFP4", 2025)."""
EIGHT_BITS = {"fp8", "fbgemm_fp8", "finegrained_fp8", "deepspeed_fp8"}
SIXTEEN_BITS = 2.0


class Stored(NamedTuple):
    """Bytes a weight takes, one of an expert, of embedding and LM head where those differ; and what computes it."""

    weight_bytes: float | None = None
    expert_weight_bytes: float | None = None
    embedding_weight_bytes: float | None = None
    compute: str = "bf16"


def stored(config: Config) -> Stored:
    """What `quantization_config` says of the checkpoint; nothing where there is none.

    Raises
    ------
    ConfigError
        If its method is not known.
    """
    if config.fields.get("quantization_config") is None:
        return Stored()
    quantization = config.part("quantization_config")
    method = str(quantization.fields.get("quant_method") or quantization.fields.get("quant_algo") or "").lower()
    size = _size(method, quantization)
    if size is None:
        raise ConfigError(
            f"quantization_config has the method {method!r}, which is not known here: take it out of the "
            "configuration, and set weight_bytes yourself"
        )
    compute = _compute(method, quantization)
    if config.fields.get("expert_dtype") == "fp4":  # DeepSeek-V4: experts apart from the rest
        return Stored(size, MXFP4, SIXTEEN_BITS, compute)
    if _experts_only(method, quantization):
        return Stored(SIXTEEN_BITS, size, compute=compute)
    return Stored(size, None, SIXTEEN_BITS, compute)  # the methods leave embedding and LM head as they were


def _compute(method: str, quantization: Config) -> str:
    """The format that its linear layers compute in: 16 bits where only weights are quantized."""
    if method in EIGHT_BITS:
        return "fp8"
    if method in ("modelopt", "modelopt_fp4", "nvfp4", "fp4", "modelopt_mixed"):
        algorithm = str(quantization.fields.get("quant_algo") or method).lower()
        if "int8" in algorithm or "w8a8" in algorithm:  # SmoothQuant
            return "int8"
        return "fp4" if "fp4" in algorithm else "fp8"
    if method in ("compressed-tensors", "quark"):
        return _inputs(_first_group(quantization))
    return "bf16"


def _inputs(group: Mapping[str, Any]) -> str:
    """The format of a group's activations, which is what its products are computed in."""
    inputs = group.get("input_activations") or group.get("input_tensors")
    if not isinstance(inputs, Mapping):
        return "bf16"
    kind = str(inputs.get("dtype") or f"{inputs.get('type', '')}{inputs.get('num_bits', '')}")
    if kind.startswith("fp8"):  # Quark: fp8_e4m3
        return "fp8"
    return {"float8": "fp8", "int8": "int8", "float4": "fp4", "fp4": "fp4"}.get(kind, "bf16")


def _size(method: str, quantization: Config) -> float | None:
    """Bytes a weight takes, scales included; None where the method is not known."""
    if method in EIGHT_BITS or method == "eetq":
        return 1.0
    if method == "mxfp4":
        return MXFP4
    if method in ("gptq", "awq", "auto-round", "auto_round", "intel/auto-round"):
        bits, group = quantization.count("bits", default=4), quantization.count("group_size", default=128)
        return grouped_bytes(bits, group, zero_points=method == "awq" and quantization.flag("zero_point", True))
    if method == "bitsandbytes":
        return 0.5 + 4 / 64 if quantization.flag("load_in_4bit", False) else 1.0
    if method in ("modelopt", "modelopt_fp4", "nvfp4", "fp4", "modelopt_mixed"):
        algorithm = str(quantization.fields.get("quant_algo") or method).lower()
        return NVFP4 if "fp4" in algorithm else 1.0 if "8" in algorithm else None
    if method in ("compressed-tensors", "quark"):
        return _weights(_first_group(quantization))
    return None


def grouped_bytes(bits: int, group: int, *, zero_points: bool = False) -> float:
    """Bytes a weight takes with a 16-bit scale a group, and a zero point as wide as a weight where there are any.

    4 bits and groups of 128 are 4.125 bits, as GPTQ is read; 4.15625 with zero points, as AWQ is.
    """
    beside = 16 + bits * zero_points
    return (bits + (beside / group if group > 0 else 0.0)) / 8


def _first_group(quantization: Config) -> Mapping[str, Any]:
    """What compressed-tensors and Quark say of their first group of layers."""
    groups = quantization.fields.get("config_groups") or {"all": quantization.fields.get("global_quant_config")}
    first = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    return first if isinstance(first, Mapping) else {}


def _weights(group: Mapping[str, Any]) -> float | None:
    """Bytes a weight of a group takes."""
    weights: Any = group.get("weights") or group.get("weight")
    if not isinstance(weights, Mapping):
        return None
    kind, size = str(weights.get("dtype", "")), weights.get("group_size")
    if kind.startswith("fp4") or (weights.get("type") == "float" and weights.get("num_bits") == 4):
        return MXFP4 if size == 32 else NVFP4
    if kind.startswith(("fp8", "int8")):
        return 1.0
    bits = weights.get("num_bits") or (4 if kind.startswith("int4") else None)
    if not isinstance(bits, int):
        return None
    return grouped_bytes(bits, size or 0, zero_points=not weights.get("symmetric", True))


def _experts_only(method: str, quantization: Config) -> bool:
    """Whether all but the experts keep 16 bits."""
    ignored = str(quantization.fields.get("modules_to_not_convert") or quantization.fields.get("ignore") or "")
    return method == "mxfp4" or "self_attn" in ignored
