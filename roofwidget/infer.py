"""infer(request) → response: the mission's JSON, on top of evaluate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from roofwidget.building import build_scenario
from roofwidget.checks import check
from roofwidget.evaluate import Metrics, evaluate
from roofwidget.parameters import PARAMETERS, PRESETS
from roofwidget.roofline.capacity import DEFAULT_ENGINE
from roofwidget.roofline.timing import BOUNDS, Pass
from roofwidget.serving.batch_curve import BatchCurve
from roofwidget.technique_figures import kept, or_null, technique_figures
from roofwidget.validation import ParameterError

REQUIRED = tuple(name for name, parameter in PARAMETERS.items() if parameter.required)
DEFAULTS = {name: p.default_value for name, p in {**PARAMETERS, **PRESETS}.items() if not p.required}


def infer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request of plain JSON values with plain JSON values.

    Parameters
    ----------
    request
        The parameters by name. Required are `peak_tflops`, `hbm_bw_gbs`, `hbm_cap_gb`,
        `params_b`, `hidden_dim`, `layers`, `n_heads`, `n_kv_heads`, `seq_len`, `batch` and
        `weight_bytes`, unless `accelerator` and `transformer` name presets that fill them; the
        others have the defaults of `request_schema()`.

    Returns
    -------
    dict
        `inputs` (all parameters), `outputs`, `batch_curve` (one object a batch) and `nodes` (per
        phase, one object a node); `response_schema()` says what each holds. Quantities carry
        their unit in their name; figures of `nodes` and of memory are those of each device.

    Raises
    ------
    ParameterError
        Naming every unknown, missing, faulty or contradictory field.

    Examples
    --------
    >>> from roofwidget import infer
    >>> answer = infer({"peak_tflops": 990, "hbm_bw_gbs": 3350, "hbm_cap_gb": 80, "params_b": 70,
    ...                 "hidden_dim": 8192, "layers": 80, "n_heads": 64, "n_kv_heads": 8,
    ...                 "seq_len": 4096, "batch": 1, "weight_bytes": 2})
    >>> round(answer["outputs"]["decode_tokens_per_s"], 1)
    23.7
    """
    if not isinstance(request, Mapping):
        raise ParameterError({"request": f"the request must be a JSON object, not {type(request).__name__}"})
    values = check(request, DEFAULTS, REQUIRED)
    return response(values, evaluate(build_scenario(values)))


def response(inputs: Mapping[str, Any], metrics: Metrics) -> dict[str, Any]:
    """The response that tells `metrics`, evaluated from the parameters `inputs`."""
    return {
        "inputs": {name: inputs[name] for name in [*PARAMETERS, *PRESETS]},
        "outputs": outputs(metrics),
        "batch_curve": curve_points(metrics.batch_curve),
        "nodes": {phase: node_rows(pass_) for phase, pass_ in metrics.phases().items()},
    }


def outputs(metrics: Metrics) -> dict[str, Any]:
    """What a scenario of plain numbers comes to, in the units that names carry."""
    phases = metrics.phases().items()
    memory, engine, final = metrics.memory, metrics.engine_capacity, metrics.scenario.workload.final_context
    return {
        "ttft_ms": float(metrics.ttft) * 1e3,
        "tpot_ms": float(metrics.tpot) * 1e3,
        "e2e_ms": float(metrics.e2e) * 1e3,
        "decode_tokens_per_s": float(metrics.decode_throughput),
        "decode_tokens_per_s_per_user": float(metrics.user_speed),
        "prefill_tokens_per_s": float(metrics.prefill_throughput),
        "prefill_batch_ms": float(metrics.prefill_batch_time) * 1e3,
        "bottleneck": {phase: pass_.bound_name for phase, pass_ in phases},
        "arithmetic_intensity": {phase: float(pass_.intensity) for phase, pass_ in phases},
        "ridge_point": float(metrics.ridge),
        "mfu": {phase: float(metrics.mfu(pass_)) for phase, pass_ in phases},
        "mbu": {phase: float(metrics.mbu(pass_)) for phase, pass_ in phases},
        "tokens_per_step": float(metrics.scenario.tokens_per_step),
        "computes_in": metrics.scenario.computes_in,
        "requests_per_s": or_null(metrics.request_rate),
        "kv_transfer_ms": float(metrics.transfer_time) * 1e3,
        "cost": {
            "usd_per_million_input_tokens": or_null(metrics.usd_per_million_input_tokens),
            "usd_per_million_output_tokens": or_null(metrics.usd_per_million_output_tokens),
            "usd_per_million_served_tokens": or_null(metrics.usd_per_million_served_tokens),
            "joules_per_input_token": or_null(metrics.joules_per_input_token),
            "joules_per_output_token": or_null(metrics.joules_per_output_token),
        },
        "objectives": kept(metrics.goodput),
        "techniques": technique_figures(metrics),
        "memory": {
            "kv_bytes_per_token": float(metrics.kv_bytes_per_token),
            "weights_gb": float(memory.weights) / 1e9,
            "kv_cache_gb": float(memory.kv_cache) / 1e9,
            "activations_gb": float(memory.activations) / 1e9,
            "total_gb": float(memory.total) / 1e9,
            "capacity_gb": float(memory.capacity) / 1e9,
            "usable_gb": float(memory.usable) / 1e9,
            "fits": bool(memory.fits),
            "largest_batch": int(metrics.largest_batch),
            "devices_needed": int(metrics.devices_needed) or None,
            "engine": {
                "name": DEFAULT_ENGINE,
                "activation_peak_gb": float(engine.activation_peak) / 1e9,
                "runtime_gb": float(engine.runtime) / 1e9,
                "kv_cache_gb": float(engine.kv_cache) / 1e9,
                "kv_tokens": int(engine.concurrency(final) * final),
                "largest_batch": int(metrics.engine_batch),
            },
        },
    }


def curve_points(curve: BatchCurve) -> list[dict[str, Any]]:
    """The batch curve, one object a batch."""
    columns = {
        "batch": curve.batch.astype(int),
        "tpot_ms": curve.tpot * 1e3,
        "decode_tokens_per_s": curve.throughput,
        "decode_tokens_per_s_per_user": curve.user_speed,
        "memory_gb": np.asarray(curve.memory.total) / 1e9,
        "fits": np.asarray(curve.memory.fits),
        "bottleneck": np.array(BOUNDS)[curve.bound],
    }
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]


def node_rows(pass_: Pass) -> list[dict[str, Any]]:
    """The nodes of a pass in the order they run, one object each."""
    return [
        {
            "name": node.name,
            "flops": float(pass_.flops[i]),
            "bytes": float(pass_.bytes[i]),
            "link_bytes": float(node.link_bytes),
            "arithmetic_intensity": None if np.isnan(intensity := pass_.node_intensities[i]) else float(intensity),
            "time_ms": float(pass_.node_times[i]) * 1e3,
            "share": float(pass_.node_shares[i]),
            "bound": pass_.node_bound_names[i],
        }
        for i, node in enumerate(pass_.nodes)
    ]
