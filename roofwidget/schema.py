"""JSON Schemas of both sides of `infer`, from the same table that checks the request."""

from __future__ import annotations

import json
from typing import Any

from roofwidget.parameters import PARAMETERS, Quantity
from roofwidget.roofline.timing import BOUNDS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NUMBER = {"type": "number"}
_NOT_NEGATIVE = {"type": "number", "minimum": 0}
_COUNT = {"type": "integer", "minimum": 0}
_BOUND = {"enum": list(BOUNDS)}


def request_schema() -> dict[str, Any]:
    """What `infer` takes. Rules between fields (a head count that must divide another) are
    in the descriptions, since JSON Schema cannot say them.
    """
    return {
        "$schema": DIALECT,
        "title": "roofwidget infer request",
        **_object(
            {name: _parameter(name) for name in PARAMETERS}, required=[n for n, p in PARAMETERS.items() if p.required]
        ),
    }


def response_schema() -> dict[str, Any]:
    """What `infer` gives."""
    phases = {"prefill", "decode"}
    bounds = _object(dict.fromkeys(sorted(phases), _BOUND))
    numbers = _object(dict.fromkeys(sorted(phases), _NOT_NEGATIVE))
    memory = _object(
        {
            **dict.fromkeys(
                (
                    "kv_bytes_per_token",
                    "weights_gb",
                    "kv_cache_gb",
                    "activations_gb",
                    "total_gb",
                    "capacity_gb",
                    "usable_gb",
                ),
                _NOT_NEGATIVE,
            ),
            "fits": {"type": "boolean"},
            "largest_batch": _COUNT,
            "longest_context": _COUNT,
            "devices_needed": {"type": ["integer", "null"], "minimum": 1},
        }
    )
    outputs = _object(
        {
            **dict.fromkeys(
                (
                    "ttft_ms",
                    "tpot_ms",
                    "e2e_ms",
                    "decode_tokens_per_s",
                    "decode_tokens_per_s_per_user",
                    "prefill_tokens_per_s",
                    "prefill_batch_ms",
                    "ridge_point",
                ),
                _NUMBER,
            ),
            "bottleneck": bounds,
            "arithmetic_intensity": numbers,
            "mfu": numbers,
            "mbu": numbers,
            "memory": memory,
        }
    )
    point = _object(
        {
            "batch": {"type": "integer", "minimum": 1},
            **dict.fromkeys(
                ("tpot_ms", "decode_tokens_per_s", "decode_tokens_per_s_per_user", "memory_gb"), _NOT_NEGATIVE
            ),
            "fits": {"type": "boolean"},
            "bottleneck": _BOUND,
        }
    )
    node = _object(
        {
            "name": {"type": "string"},
            **dict.fromkeys(("flops", "bytes", "link_bytes", "time_ms", "share"), _NOT_NEGATIVE),
            "arithmetic_intensity": {"type": ["number", "null"], "minimum": 0},
            "bound": _BOUND,
        }
    )
    inputs = _object({name: _parameter(name) for name in PARAMETERS})
    return {
        "$schema": DIALECT,
        "title": "roofwidget infer response",
        **_object(
            {
                "inputs": inputs,
                "outputs": outputs,
                "batch_curve": {"type": "array", "items": point},
                "nodes": _object({phase: {"type": "array", "items": node} for phase in sorted(phases)}),
            }
        ),
    }


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


def _parameter(name: str) -> dict[str, Any]:
    parameter = PARAMETERS[name]
    described: dict[str, Any] = {"description": str(parameter.help)}
    if not parameter.required:
        described["default"] = parameter.default_value
    if not isinstance(parameter, Quantity):
        return {"type": "boolean", **described}
    kind = "integer" if parameter.allowed.whole else "number"
    if parameter.unit:
        described["description"] += f" Unit: {parameter.unit}."
    return {
        "type": [kind, "null"] if parameter.allow_none else kind,
        "minimum": parameter.allowed.low,
        "maximum": parameter.allowed.high,
        **described,
    }


if __name__ == "__main__":
    print(json.dumps({"request": request_schema(), "response": response_schema()}, indent=2, ensure_ascii=False))
