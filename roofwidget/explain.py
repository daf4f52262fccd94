"""How each headline number was made: its formula, the numbers put in, its source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from roofwidget.evaluate import Metrics
from roofwidget.explain_memory import (
    POPE,
    activations,
    devices_needed,
    engine_batch,
    footprint,
    kv_per_token,
    largest_batch,
)
from roofwidget.lessons import (
    continuous_batching,
    disaggregation,
    paged_kv,
    prefix_caching,
    quantization,
    speculative_decoding,
)
from roofwidget.roofline.timing import BOUNDS, Pass, total
from roofwidget.scenario import Scenario
from roofwidget.step import Step
from roofwidget.techniques import used
from roofwidget.units import grouped, percent, seconds, si
from roofwidget.validation import Numbers

ROOFLINE = "Williams, Waterman, Patterson 2009, “Roofline”, §3"
PALM = "Chowdhery et al. 2022, “PaLM”, appendix B"
TECHNIQUES: dict[str, Callable[[Metrics], Iterable[Step]]] = {
    "continuous_batching": continuous_batching.steps,
    "paged_kv": paged_kv.steps,
    "quantization": quantization.steps,
    "prefix_caching": prefix_caching.steps,
    "speculative_decoding": speculative_decoding.steps,
    "disaggregation": disaggregation.steps,
}
"""How the figures of each technique were made."""


def explain(metrics: Metrics) -> list[Step]:
    """Derivations of the headline numbers, in the order they build on each other."""
    return [
        ridge(metrics),
        first_token(metrics),
        per_token(metrics),
        throughput(metrics),
        prefill_throughput(metrics),
        decode_mbu(metrics),
        prefill_mfu(metrics),
        intensity(metrics),
        end_to_end(metrics),
        *cost(metrics),
        *promised(metrics),
        kv_per_token(metrics),
        activations(metrics),
        footprint(metrics),
        largest_batch(metrics),
        engine_batch(metrics),
        devices_needed(metrics),
        *(step for technique in used(metrics.scenario) for step in TECHNIQUES[technique](metrics)),
    ]


class NodeRow(NamedTuple):
    """A node's work on each device, and the time it takes."""

    name: str
    flops: str
    bytes: str
    link_bytes: str
    intensity: str
    time: str
    bound: str


def node_rows(timed: Pass) -> list[NodeRow]:
    """What the times of a pass are sums of, in the order its nodes run."""
    return [
        NodeRow(
            node.name,
            si(node.flops, "FLOP", 4),
            si(node.bytes, "B", 4),
            si(node.link_bytes, "B", 4),
            f"{grouped(timed.node_intensities[i], 4)} FLOP/B" if node.bytes else "–",
            seconds(timed.node_times[i]),
            timed.node_bound_names[i],
        )
        for i, node in enumerate(timed.nodes)
    ]


def ridge(metrics: Metrics) -> Step:
    """Where the roofs meet."""
    device, peak = metrics.scenario.device, metrics.scenario.peak
    figures = f"{si(peak, 'FLOP/s', 4)} / {si(device.bandwidth, 'B/s', 4)}"
    return Step("ridge point", "peak / bandwidth", figures, f"{grouped(metrics.ridge, 4)} FLOP/B", ROOFLINE)


def first_token(metrics: Metrics) -> Step:
    """Time to first token."""
    scenario, what = metrics.scenario, "prefill of one prompt, without queueing"
    if cached := scenario.prefix.cached:
        what = f"prefill of one prompt but its {grouped(cached, 12)} cached tokens, without queueing"
    return _pass_time("time to first token", scenario.prefill_side, metrics.prefill, what)


def per_token(metrics: Metrics) -> Step:
    """Time per output token."""
    mean, batch = grouped(metrics.scenario.mean_context, 12), grouped(metrics.scenario.workload.batch, 12)
    context = f"at a mean context of {mean} tokens, batch {batch}"
    tokens = metrics.scenario.tokens_per_step
    if tokens == 1:
        return _pass_time("time per output token", metrics.scenario, metrics.decode, f"a decode step {context}")
    round_ = _pass_time("time per output token", metrics.scenario, metrics.decode, f"a round of drafts {context}")
    return round_._replace(
        formula=f"({round_.formula}) / tokens it gives each sequence",
        figures=f"({round_.figures}) / {grouped(tokens, 4)}",
        result=seconds(metrics.tpot),
    )


def _pass_time(name: str, scenario: Scenario, timed: Pass, what: str) -> Step:
    device, bounds = scenario.device, [BOUNDS[bound] for bound in timed.node_bounds]
    linear = [node.linear or scenario.peak == scenario.sixteen_bit_peak for node in timed.nodes]
    work: list[tuple[str, Iterable[Numbers], Iterable[bool], str, Numbers]] = [
        ("memory", timed.bytes, [True] * len(bounds), "B", device.bandwidth),
        ("compute", timed.flops, linear, "FLOP", scenario.peak),
        ("compute", timed.flops, [not of for of in linear], "FLOP", scenario.sixteen_bit_peak),
        ("communication", [n.link_bytes for n in timed.nodes], [True] * len(bounds), "B", device.link_bandwidth),
    ]
    terms = []
    for bound, amounts, counted, unit, rate in work:
        amount = sum(float(a) for a, b, of in zip(amounts, bounds, counted, strict=True) if of and b == bound)
        if amount:
            steps = sum(float(n.link_steps) for n, b in zip(timed.nodes, bounds, strict=True) if b == bound)
            waits = f" + {grouped(steps, 12)} · {seconds(device.link_latency)}" if steps and device.link_latency else ""
            terms.append(f"{si(amount, unit, 4)} / {si(rate, unit + '/s', 4)}{waits} in {bound}-bound nodes")
    largest = "max(bytes / bandwidth, FLOPs / peak, link bytes / link + steps · latency)"
    formula = f"Σ over nodes of {largest}: {what}, on each device"
    return Step(name, formula, " + ".join(terms), seconds(timed.time), f"{ROOFLINE}; counts: {POPE}")


def throughput(metrics: Metrics) -> Step:
    """Decode throughput."""
    figures = f"{grouped(metrics.scenario.workload.batch, 12)} / {seconds(metrics.tpot)}"
    result = f"{grouped(metrics.decode_throughput)} tokens/s"
    return Step("decode throughput", "batch / time per output token", figures, result, "definition")


def prefill_throughput(metrics: Metrics) -> Step:
    """Prefill throughput."""
    figures = f"{grouped(metrics.scenario.workload.seq_len, 12)} / {seconds(metrics.ttft)}"
    result = f"{grouped(metrics.prefill_throughput)} tokens/s"
    return Step("prefill throughput", "prompt tokens / time to first token", figures, result, "definition")


def decode_mbu(metrics: Metrics) -> Step:
    """Bandwidth utilisation of decode."""
    decode, bandwidth = metrics.decode, metrics.scenario.device.bandwidth
    figures = f"{si(total(decode.bytes), 'B', 4)} / ({si(bandwidth, 'B/s', 4)} · {seconds(decode.time)})"
    return Step("MBU of decode", "bytes / (bandwidth · time)", figures, percent(metrics.mbu(decode)), PALM)


def prefill_mfu(metrics: Metrics) -> Step:
    """FLOPs utilisation of prefill."""
    prefill, side = metrics.prefill, metrics.scenario.prefill_side
    linear = [float(flops) for flops, node in zip(prefill.flops, prefill.nodes, strict=True) if node.linear]
    flops = float(total(prefill.flops))
    parts = [(sum(linear), side.peak), (flops - sum(linear), side.sixteen_bit_peak)]
    if side.peak == side.sixteen_bit_peak:
        parts = [(flops, side.peak)]
    needed = " + ".join(f"{si(flops, 'FLOP', 4)} / {si(peak, 'FLOP/s', 4)}" for flops, peak in parts)
    figures = f"({needed}) / {seconds(prefill.time)}"
    return Step("MFU of prefill", "FLOPs / peak / time", figures, percent(metrics.mfu(prefill)), PALM)


def intensity(metrics: Metrics) -> Step:
    """Arithmetic intensity of decode."""
    decode = metrics.decode
    figures = f"{si(total(decode.flops), 'FLOP', 4)} / {si(total(decode.bytes), 'B', 4)}"
    return Step("intensity of decode", "FLOPs / bytes", figures, f"{grouped(decode.intensity)} FLOP/B", ROOFLINE)


def end_to_end(metrics: Metrics) -> Step:
    """End-to-end latency."""
    output = metrics.scenario.workload.output_tokens
    figures = f"{seconds(metrics.ttft)} + ({grouped(output, 12)} − 1) · {seconds(metrics.tpot)}"
    formula = "time to first token + (output tokens − 1) · time per output token"
    if transfer := metrics.transfer_time:
        figures, formula = f"{figures} + {seconds(transfer)}", f"{formula} + transfer of the KV cache"
    return Step("end-to-end latency", formula, figures, seconds(metrics.e2e), "definition")


def cost(metrics: Metrics) -> Iterable[Step]:
    """Price and energy of output tokens, where they are known."""
    device, devices = metrics.scenario.device, grouped(metrics.scenario.devices_of_batch, 12)
    speed = f"{grouped(metrics.decode_throughput, 4)} tokens/s"
    if (usd := metrics.usd_per_million_output_tokens) is not None:
        figures = f"1,000,000 · {devices} · {grouped(device.usd_per_hour or 0, 12)} / 3,600 / {speed}"
        formula = "a million · devices · price an hour / seconds of an hour / decode throughput"
        yield Step("price of a million output tokens", formula, figures, f"$ {grouped(usd)}", "definition")
    if (joules := metrics.joules_per_output_token) is not None:
        figures = f"{devices} · {grouped(device.power or 0, 12)} / {speed}"
        formula = "devices · power limit in W / decode throughput: an upper bound"
        yield Step("energy of an output token", formula, figures, f"{grouped(joules)} J", "definition")


def promised(metrics: Metrics) -> Iterable[Step]:
    """Requests that keep the objectives, where there are any."""
    kept, workload = metrics.goodput, metrics.scenario.workload
    if kept is None or metrics.scenario.prefill_pool is not None:  # of two pools disaggregation says how
        return
    steps = "output" if metrics.scenario.continuous else "longest"
    formula = (
        f"replicas / (TTFT · fullest stage's share + ({steps} − 1) · TPOT · replicas / batch), at the largest batch"
    )
    figures = f"batch {grouped(kept.batch, 12)}, output {grouped(workload.output_tokens, 12)}"
    yield Step(
        "requests within the objectives", formula, figures, f"{grouped(kept.request_rate)} requests/s", "definition"
    )
