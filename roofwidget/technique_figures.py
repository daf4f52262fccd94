"""Each technique's own figures as plain JSON values, where it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roofwidget.evaluate import Metrics
from roofwidget.kv_allocation import KINDS
from roofwidget.serving.disaggregation import LIMITS
from roofwidget.serving.goodput import Goodput
from roofwidget.serving.paged_kv import Allotted
from roofwidget.serving.quantization import Formatted, FormattedCache
from roofwidget.techniques import used
from roofwidget.validation import Numbers


def technique_figures(metrics: Metrics) -> dict[str, Any]:
    """The figures of each technique in a scenario of plain numbers; null for one that is not used."""
    names = used(metrics.scenario)
    return {name: figures(metrics) if name in names else None for name, figures in FIGURES.items()}


def continuous_batching(metrics: Metrics) -> dict[str, Any]:
    """Static against continuous batches."""
    figures = metrics.batching
    return {
        "static_occupancy": float(figures.occupancy_static),
        "static_steps": float(figures.steps_static),
        "continuous_steps": float(figures.steps_continuous),
        "static_requests_per_s": float(figures.static_requests_per_s),
        "continuous_requests_per_s": float(figures.continuous_requests_per_s),
        "gain": float(figures.gain),
        "shortest_wait_ms": float(figures.shortest_wait) * 1e3,
    }


def paged_kv(metrics: Metrics) -> dict[str, Any]:
    """What every way of giving out the KV cache comes to; null where it does not suit the sequences."""
    kinds = metrics.paging.kinds
    return {kind.replace(" ", "_"): allotted(kinds[kind]) if kind in kinds else None for kind in KINDS}


def allotted(figures: Allotted) -> dict[str, Any]:
    """What one way of giving out the KV cache comes to."""
    waste = figures.waste
    return {
        "tokens_per_sequence": figures.tokens,
        "used": waste.used,
        "reserved": waste.reserved,
        "internal_fragmentation": waste.internal,
        "external_fragmentation": waste.external,
        "largest_batch": int(figures.largest_batch),
        "decode_tokens_per_s_at_largest_batch": figures.throughput,
    }


def quantization(metrics: Metrics) -> dict[str, Any]:
    """What is stored and computed in, against 16 bits and the formats of the catalog."""
    figures = metrics.quantization
    return {
        "format": figures.now.name,
        "computes_in": figures.now.computes_in,
        "falls_back": figures.now.fell_back,
        "decode_gain": figures.decode_gain,
        "prefill_gain": figures.prefill_gain,
        "batch_gain": figures.batch_gain,
        "formats": {name: formatted(of) for name, of in figures.formats.items()},
        "kv_formats": {of.name: cached(of) for of in figures.caches},
    }


def formatted(figures: Formatted) -> dict[str, Any]:
    """What weights in one format come to."""
    return {
        "computes_in": figures.computes_in,
        "weights_gb": figures.weights / 1e9,
        "ttft_ms": figures.ttft * 1e3,
        "tpot_ms": figures.tpot * 1e3,
        "largest_batch": int(figures.largest_batch),
        "decode_tokens_per_s_at_largest_batch": figures.throughput,
    }


def cached(figures: FormattedCache) -> dict[str, Any]:
    """What a KV cache in one format comes to, weights as they are."""
    return {
        "kv_cache_gb": figures.kv_cache / 1e9,
        "tpot_ms": figures.tpot * 1e3,
        "largest_batch": int(figures.largest_batch),
    }


def prefix_caching(metrics: Metrics) -> dict[str, Any]:
    """With a cached prefix and without."""
    figures = metrics.prefix_caching
    assert figures is not None
    return {
        "cached_tokens": int(figures.cached),
        "ttft_without_ms": figures.cold_ttft * 1e3,
        "prefill_saved": figures.prefill_saved,
        "prefix_gb": figures.kept_bytes / 1e9,
        "kv_cache_without_gb": figures.cold_kv_cache / 1e9,
        "largest_batch_without": int(figures.cold_largest_batch),
        "tpot_cascade_ms": figures.cascade_tpot * 1e3,
        "tpot_without_cascade_ms": figures.plain_tpot * 1e3,
    }


def speculative_decoding(metrics: Metrics) -> dict[str, Any]:
    """Drafting against plain decode."""
    figures = metrics.speculation
    assert figures is not None
    return {
        "tokens_per_step": figures.tokens_per_step,
        "draft_ms": figures.draft_time * 1e3,
        "verify_ms": figures.verify_time * 1e3,
        "tpot_without_ms": figures.plain_tpot * 1e3,
        "speedup": figures.speedup,
        "draft_cost": figures.cost,
        "break_even_acceptance": figures.break_even,
        "best_tokens": figures.best_tokens,
        "best_speedup": figures.best_speedup,
        "speedup_by_tokens": figures.speedup_by_tokens.tolist(),
    }


def disaggregation(metrics: Metrics) -> dict[str, Any]:
    """Both pools against the same devices colocated."""
    figures = metrics.disaggregation
    assert figures is not None
    finite = {name: or_null(rate) for name, rate in figures.rates.items()}
    return {
        "transfer_gb": figures.transfer_bytes / 1e9,
        "transfer_ms": figures.transfer_time * 1e3,
        "requests_per_s": {name: finite[name] for name in LIMITS},
        "limited_by": figures.limit,
        "balanced_instances": figures.balanced_instances if finite["decode"] is not None else None,
        "ttft_ms": figures.ttft * 1e3,
        "tpot_ms": figures.tpot * 1e3,
        "devices": figures.devices,
        "prefill_fits": bool(figures.prefill_fits),
        "colocated": {
            "devices": figures.colocated_devices,
            "ttft_ms": figures.colocated_ttft * 1e3,
            "tpot_ms": figures.colocated_tpot * 1e3,
            "requests_per_s": figures.colocated_request_rate,
        },
        "within_objectives": kept(figures.goodput),
        "colocated_within_objectives": kept(figures.colocated_goodput),
    }


def kept(goodput: Goodput | None) -> dict[str, Any] | None:
    """What keeps the objectives; null without any."""
    return None if goodput is None else {"largest_batch": int(goodput.batch), "requests_per_s": goodput.request_rate}


def or_null(value: Numbers | None) -> float | None:
    """A number that JSON has; null for one that is not known or not finite."""
    return None if value is None or value == float("inf") else float(value)


FIGURES: dict[str, Callable[[Metrics], dict[str, Any]]] = {
    "continuous_batching": continuous_batching,
    "paged_kv": paged_kv,
    "quantization": quantization,
    "prefix_caching": prefix_caching,
    "speculative_decoding": speculative_decoding,
    "disaggregation": disaggregation,
}
"""What tells the figures of each technique."""
