"""JSON Schemas of both sides of `infer`, from the same table that checks the request."""

from __future__ import annotations

from typing import Any

from roofwidget.parameters import PARAMETERS, PRESETS, required_of
from roofwidget.quantity import Quantity
from roofwidget.roofline.timing import BOUNDS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

NUMBER: Schema = {"type": "number", "minimum": 0}
MAYBE: Schema = {"type": ["number", "null"], "minimum": 0}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
TEXT: Schema = {"type": "string"}
BOUND: Schema = {"enum": list(BOUNDS)}


def request_schema() -> Schema:
    """What `infer` takes.

    Rules between fields (a head count that must divide another) stand in the descriptions, since
    JSON Schema cannot say them.
    """
    required = [name for name, parameter in PARAMETERS.items() if parameter.required]
    fields = {name: parameter_schema(name) for name in PARAMETERS} | {name: preset_schema(name) for name in PRESETS}
    needed = {preset: required_of(preset) for preset in PRESETS}
    rest = [name for name in required if not any(name in names for names in needed.values())]
    either = [{"anyOf": [{"required": names}, {"required": [preset]}]} for preset, names in needed.items()]
    return {"$schema": DIALECT, "title": "roofwidget infer request", **record(fields, rest), "allOf": either}


def response_schema() -> Schema:
    """What `infer` gives."""
    memory = {
        "kv_bytes_per_token": NUMBER,
        "weights_gb": NUMBER,
        "kv_cache_gb": NUMBER,
        "activations_gb": NUMBER,
        "total_gb": NUMBER,
        "capacity_gb": NUMBER,
        "usable_gb": NUMBER,
        "fits": FLAG,
        "largest_batch": COUNT,
        "devices_needed": {"type": ["integer", "null"], "minimum": 1},
        "engine": record(
            {
                "name": TEXT,
                "activation_peak_gb": NUMBER,
                "runtime_gb": NUMBER,
                "kv_cache_gb": NUMBER,
                "kv_tokens": COUNT,
                "largest_batch": COUNT,
            }
        ),
    }
    outputs = {
        "ttft_ms": NUMBER,
        "tpot_ms": NUMBER,
        "e2e_ms": NUMBER,
        "decode_tokens_per_s": NUMBER,
        "decode_tokens_per_s_per_user": NUMBER,
        "prefill_tokens_per_s": NUMBER,
        "prefill_batch_ms": NUMBER,
        "bottleneck": by_phase(BOUND),
        "arithmetic_intensity": by_phase(NUMBER),
        "ridge_point": NUMBER,
        "mfu": by_phase(NUMBER),
        "mbu": by_phase(NUMBER),
        "cost": record(
            {
                "usd_per_million_input_tokens": MAYBE,
                "usd_per_million_output_tokens": MAYBE,
                "joules_per_input_token": MAYBE,
                "joules_per_output_token": MAYBE,
            }
        ),
        "objectives": {"anyOf": [{"type": "null"}, record({"largest_batch": COUNT, "requests_per_s": NUMBER})]},
        "memory": record(memory),
    }
    point = {
        "batch": COUNT,
        "tpot_ms": NUMBER,
        "decode_tokens_per_s": NUMBER,
        "decode_tokens_per_s_per_user": NUMBER,
        "memory_gb": NUMBER,
        "fits": FLAG,
        "bottleneck": BOUND,
    }
    node = {
        "name": TEXT,
        "flops": NUMBER,
        "bytes": NUMBER,
        "link_bytes": NUMBER,
        "arithmetic_intensity": {"type": ["number", "null"], "minimum": 0},
        "time_ms": NUMBER,
        "share": NUMBER,
        "bound": BOUND,
    }
    fields = {
        "inputs": record(
            {name: parameter_schema(name) for name in PARAMETERS} | {name: preset_schema(name) for name in PRESETS}
        ),
        "outputs": record(outputs),
        "batch_curve": {"type": "array", "items": record(point)},
        "nodes": by_phase({"type": "array", "items": record(node)}),
    }
    return {"$schema": DIALECT, "title": "roofwidget infer response", **record(fields)}


def record(fields: Schema, required: list[str] | None = None) -> Schema:
    """An object of just these fields, all required unless told which are."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields) if required is None else required,
        "additionalProperties": False,
    }


def by_phase(schema: Schema) -> Schema:
    """The same for each phase."""
    return record({"prefill": schema, "decode": schema})


def parameter_schema(name: str) -> Schema:
    """The schema of one parameter: type, range, meaning, unit and default."""
    parameter = PARAMETERS[name]
    described: Schema = {"description": str(parameter.help)}
    if not parameter.required:
        described["default"] = parameter.default_value
    if not isinstance(parameter, Quantity):
        return {"type": "boolean", **described}
    if parameter.unit:
        described["description"] += f" Unit: {parameter.unit}."
    kind = "integer" if parameter.allowed.whole else "number"
    return {
        "type": [kind, "null"] if parameter.allow_none else kind,
        "minimum": parameter.allowed.low,
        "maximum": parameter.allowed.high,
        **described,
    }


def preset_schema(name: str) -> Schema:
    """The schema of a preset: a name of the catalog, or where that may be the fields of a configuration."""
    preset = PRESETS[name]
    kinds = ["string", "object", "null"] if preset.takes_config else ["string", "null"]
    return {"type": kinds, "default": None, "description": str(preset.help)}
