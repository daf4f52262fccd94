"""Which of the six techniques a scenario uses."""

from __future__ import annotations

from roofwidget.scenario import Scenario

TECHNIQUES = (
    "continuous_batching",
    "paged_kv",
    "quantization",
    "prefix_caching",
    "speculative_decoding",
    "disaggregation",
)


def used(scenario: Scenario) -> tuple[str, ...]:
    """Those of `TECHNIQUES` that make a difference to a scenario of plain numbers, or that it says something of."""
    stored = scenario.stored
    narrow = min(stored.weight_bytes, stored.expert_bytes, stored.kv_bytes) < 2
    tests = (
        not scenario.continuous or scenario.workload.lengths.shape != "fixed",
        scenario.kv_allocation.kind != "exact",
        stored.compute != "bf16" or narrow,
        bool(scenario.prefix.tokens),
        scenario.speculation is not None,
        scenario.prefill_pool is not None,
    )
    return tuple(name for name, test in zip(TECHNIQUES, tests, strict=True) if test)
