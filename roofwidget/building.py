"""The scenario that checked parameters describe, and its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from roofwidget.architecture.resizing import resized, scaled_to
from roofwidget.efficiency import IDEAL, Efficiency
from roofwidget.hardware import Accelerator
from roofwidget.kv_allocation import KVAllocation
from roofwidget.lengths import Lengths
from roofwidget.objectives import Objectives
from roofwidget.precision import Precision
from roofwidget.prefill_pool import PrefillPool
from roofwidget.prefix import SharedPrefix
from roofwidget.presets import accelerator_parameters, edited, known_transformer
from roofwidget.scenario import Scenario
from roofwidget.speculation import Speculation
from roofwidget.transformer import Transformer
from roofwidget.workload import Workload

KINDS_OF_EFFICIENCY = ("ideal", "calibrated")
"""Whether the roofs are the bound, or as far as they were measured to be reached."""


def build_accelerator(values: Mapping[str, Any]) -> Accelerator:
    """The accelerator that checked parameters describe: the preset's formats, at rates in proportion."""
    peak, link, latency = values["peak_tflops"] * 1e12, values["link_gbs"], values["link_latency_us"]
    peaks, name, group = {"bf16": peak}, "", math.inf
    if values["accelerator"] is not None:
        base = Accelerator.named(values["accelerator"])
        peaks, name = {fmt: rate * peak / base.peak("bf16") for fmt, rate in base.peaks.items()}, base.name
        group = base.group if values["link_gbs"] == accelerator_parameters(base.name)["link_gbs"] else math.inf
    return Accelerator(
        peaks=peaks,
        bandwidth=values["hbm_bw_gbs"] * 1e9,
        capacity=values["hbm_cap_gb"] * 1e9,
        link_bandwidth=math.inf if link is None else link * 1e9,
        name=f"custom, from {name}" if edited(values, "accelerator") else name,
        link_latency=0.0 if latency is None else latency * 1e-6,
        group=group,
        usd_per_hour=values["usd_per_hour"],
        power=values["tdp_w"],
    )


def build_transformer(values: Mapping[str, Any]) -> Transformer:
    """The transformer that checked parameters describe: the preset's build, dense layers without one."""
    numbers = {
        "hidden_dim": values["hidden_dim"],
        "layers": values["layers"],
        "n_heads": values["n_heads"],
        "n_kv_heads": values["n_kv_heads"],
        "head_dim": values["head_dim"] or values["hidden_dim"] / values["n_heads"],
        "vocab_size": values["vocab_size"] or 0,
        "gated": values["gated_ffn"],
        "tied_embeddings": values["tied_embeddings"],
    }
    if values["transformer"] is None:
        return Transformer.with_params(values["params_b"] * 1e9, **numbers)
    base = known_transformer(values["transformer"])
    if not edited(values, "transformer"):
        return base
    changed = {name: value for name, value in numbers.items() if value != getattr(base, name)}
    model = scaled_to(resized(base, **changed), values["params_b"] * 1e9)
    return replace(model, name=f"custom, from {base.name}")


def build_scenario(values: dict[str, Any]) -> Scenario:
    """The scenario that checked parameters describe."""
    return Scenario(
        accelerator=build_accelerator(values),
        transformer=build_transformer(values),
        precision=Precision(
            values["weight_bytes"],
            values["kv_bytes"],
            values["activation_bytes"],
            values["compute"],
            expert_weight_bytes=values["expert_weight_bytes"],
            embedding_weight_bytes=values["embedding_weight_bytes"],
        ),
        workload=Workload(
            values["seq_len"],
            values["output_tokens"],
            values["batch"],
            Lengths(values["output_lengths"], values["output_spread"]),
        ),
        devices=values["devices"],
        memory_utilization=values["memory_utilization"],
        pipeline=values["pipeline"],
        data_parallel=values["data_parallel"],
        expert_parallel=values["expert_parallel"],
        objectives=Objectives(
            ttft=None if values["ttft_target_ms"] is None else values["ttft_target_ms"] * 1e-3,
            tpot=None if values["tpot_target_ms"] is None else values["tpot_target_ms"] * 1e-3,
        ),
        continuous=values["continuous_batching"],
        kv_allocation=KVAllocation(values["kv_allocation"], values["block_size"], values["max_len"]),
        prefix=SharedPrefix(values["prefix_tokens"] or 0, values["prefix_hit_rate"], values["cascade_attention"]),
        speculation=None if values["speculation"] is None else build_speculation(values),
        prefill_pool=build_prefill_pool(values) if values["disaggregated"] else None,
        efficiency=build_efficiency(values),
    )


def build_efficiency(values: dict[str, Any]) -> Efficiency:
    """How far checked parameters let roofs be reached: as far as the preset's family, edited or not."""
    if values["efficiency"] == "ideal":
        return IDEAL
    return Efficiency.of(values["accelerator"] or "", values["engine"])


def build_speculation(values: Mapping[str, Any]) -> Speculation:
    """How checked parameters say that tokens are drafted."""
    method = values["speculation"]
    draft = Transformer.named(values["draft_model"]) if method == "draft model" else None
    return Speculation(method, values["acceptance"], values["speculative_tokens"], values["tree_tokens"], draft)


def build_prefill_pool(values: dict[str, Any]) -> PrefillPool:
    """The devices that checked parameters set apart for prefill."""
    link = values["kv_link_gbs"]
    return PrefillPool(
        values["prefill_accelerator"],
        values["prefill_devices"],
        values["prefill_pool"],
        values["prefill_batch"],
        math.inf if link is None else link * 1e9,
        build_efficiency(values | {"accelerator": values["prefill_accelerator"] or values["accelerator"]}),
    )
