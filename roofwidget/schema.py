"""JSON Schemas of both sides of `infer`, from the same table that checks the request."""

from __future__ import annotations

from typing import Any

from roofwidget.kv_allocation import KINDS
from roofwidget.lengths import LONGEST_LISTED, MOST_LISTED
from roofwidget.parameters import PARAMETERS, PRESETS, required_of
from roofwidget.precision import COMPUTE
from roofwidget.quantity import Choice, ListOrChoice, Quantity
from roofwidget.roofline.timing import BOUNDS
from roofwidget.serving.disaggregation import LIMITS

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

NUMBER: Schema = {"type": "number", "minimum": 0}
MAYBE: Schema = {"type": ["number", "null"], "minimum": 0}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
TEXT: Schema = {"type": "string"}
BOUND: Schema = {"enum": list(BOUNDS)}


def record(fields: Schema, required: list[str] | None = None) -> Schema:
    """An object of just these fields, all required unless told which are."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields) if required is None else required,
        "additionalProperties": False,
    }


KEPT: Schema = record({"largest_batch": COUNT, "requests_per_s": NUMBER})


def request_schema() -> Schema:
    """What `infer` takes.

    Rules between fields (a head count that must divide another) stand in the descriptions, since
    JSON Schema cannot say them.
    """
    fields = {name: parameter_schema(name) for name in PARAMETERS} | {name: preset_schema(name) for name in PRESETS}
    filled = {preset: required_of(preset) for preset in PRESETS}
    by_presets: dict[tuple[str, ...], list[str]] = {}
    for name, parameter in PARAMETERS.items():
        if parameter.required:
            by_presets.setdefault(tuple(preset for preset in PRESETS if name in filled[preset]), []).append(name)
    rest = by_presets.pop((), [])
    either = [
        {"anyOf": [{"required": names}, *({"required": [preset]} for preset in presets)]}
        for presets, names in by_presets.items()
    ]
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
        "tokens_per_step": NUMBER,
        "computes_in": {"enum": ["fp16", *COMPUTE]},
        "requests_per_s": MAYBE,
        "kv_transfer_ms": NUMBER,
        "cost": record(
            {
                "usd_per_million_input_tokens": MAYBE,
                "usd_per_million_output_tokens": MAYBE,
                "usd_per_million_served_tokens": MAYBE,
                "joules_per_input_token": MAYBE,
                "joules_per_output_token": MAYBE,
            }
        ),
        "objectives": or_null(KEPT),
        "techniques": record({name: or_null(schema) for name, schema in techniques().items()}),
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


def techniques() -> Schema:
    """The figures of each technique where it is used."""
    allotted = {
        "tokens_per_sequence": NUMBER,
        "used": NUMBER,
        "reserved": NUMBER,
        "internal_fragmentation": NUMBER,
        "external_fragmentation": NUMBER,
        "largest_batch": COUNT,
        "decode_tokens_per_s_at_largest_batch": NUMBER,
    }
    formatted = {
        "computes_in": TEXT,
        "weights_gb": NUMBER,
        "ttft_ms": NUMBER,
        "tpot_ms": NUMBER,
        "largest_batch": COUNT,
        "decode_tokens_per_s_at_largest_batch": NUMBER,
    }
    cache = {"kv_cache_gb": NUMBER, "tpot_ms": NUMBER, "largest_batch": COUNT}
    gains = ("static_occupancy", "static_steps", "continuous_steps", "static_requests_per_s",
             "continuous_requests_per_s", "gain", "shortest_wait_ms")  # fmt: skip
    cached = ("ttft_without_ms", "prefill_saved", "prefix_gb", "kv_cache_without_gb", "tpot_cascade_ms",
              "tpot_without_cascade_ms")  # fmt: skip
    drafted = ("tokens_per_step", "draft_ms", "verify_ms", "tpot_without_ms", "speedup", "draft_cost",
               "best_speedup")  # fmt: skip
    colocated = ("devices", "ttft_ms", "tpot_ms", "requests_per_s")
    return {
        "continuous_batching": record(dict.fromkeys(gains, NUMBER)),
        "paged_kv": record({kind.replace(" ", "_"): or_null(record(allotted)) for kind in KINDS}),
        "quantization": record(
            {
                "format": TEXT,
                "computes_in": TEXT,
                "falls_back": FLAG,
                "decode_gain": NUMBER,
                "prefill_gain": NUMBER,
                "batch_gain": MAYBE,
                "formats": {"type": "object", "additionalProperties": record(formatted)},
                "kv_formats": {"type": "object", "additionalProperties": record(cache)},
            }
        ),
        "prefix_caching": record(
            {"cached_tokens": COUNT, "largest_batch_without": COUNT, **dict.fromkeys(cached, NUMBER)}
        ),
        "speculative_decoding": record(
            {
                **dict.fromkeys(drafted, NUMBER),
                "break_even_acceptance": MAYBE,
                "best_tokens": COUNT,
                "speedup_by_tokens": {"type": "array", "items": NUMBER},
            }
        ),
        "disaggregation": record(
            {
                "transfer_gb": NUMBER,
                "transfer_ms": NUMBER,
                "requests_per_s": record(dict.fromkeys(LIMITS, MAYBE)),
                "limited_by": {"enum": list(LIMITS)},
                "balanced_instances": MAYBE,
                "ttft_ms": NUMBER,
                "tpot_ms": NUMBER,
                "devices": NUMBER,
                "prefill_fits": FLAG,
                "colocated": record(dict.fromkeys(colocated, NUMBER)),
                "within_objectives": or_null(KEPT),
                "colocated_within_objectives": or_null(KEPT),
            }
        ),
    }


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    return {"anyOf": [{"type": "null"}, schema]}


def by_phase(schema: Schema) -> Schema:
    """The same for each phase."""
    return record({"prefill": schema, "decode": schema})


def parameter_schema(name: str) -> Schema:
    """The schema of one parameter: type, range, meaning, unit and default."""
    parameter = PARAMETERS[name]
    described: Schema = {"description": str(parameter.help)}
    if not parameter.required:
        described["default"] = parameter.default_value
    if isinstance(parameter, Choice):
        return choice_schema(parameter) | described
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


def choice_schema(choice: Choice) -> Schema:
    """The schema of one of several names, or where that may be of a list in their place."""
    names: Schema = {"enum": [*choice.options, *([None] if choice.allow_none else [])]}
    if not isinstance(choice, ListOrChoice):
        return names
    length: Schema = {"type": "number", "minimum": 1, "maximum": LONGEST_LISTED}
    numbers: Schema = {"type": "array", "items": length, "minItems": 1, "maxItems": MOST_LISTED}
    return {"anyOf": [names, numbers]}


def preset_schema(name: str) -> Schema:
    """The schema of a preset: a name of the catalog, or where that may be the fields of a configuration."""
    preset = PRESETS[name]
    kinds = ["string", "object", "null"] if preset.takes_config else ["string", "null"]
    return {"type": kinds, "default": None, "description": str(preset.help)}
