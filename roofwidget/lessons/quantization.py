"""Quantization: what fewer bits buy here, what they cost, and when they stop paying."""

from __future__ import annotations

from collections.abc import Iterator

from roofwidget.architecture.feed_forward import Experts
from roofwidget.evaluate import Metrics
from roofwidget.roofline.timing import total
from roofwidget.serving.quantization import AS_SET, SIXTEEN_BITS, Formatted, Quantization
from roofwidget.step import Step
from roofwidget.units import grouped, percent, seconds, si

MARLIN = "Frantar and Alistarh 2024, “Marlin”, README"
OFFERED = ("int4 AWQ", "fp8 W8A8")
"""What is held out where weights are in 16 bits: the most common format of weights only, and one of activations too."""


def lesson(metrics: Metrics) -> str:
    """What the format of the weights buys in a scenario of plain numbers, what it costs, and when it stops paying."""
    figures = metrics.quantization
    if SIXTEEN_BITS in figures.chosen:
        return " ".join((_offer(metrics, figures), _cache(metrics)))
    return " ".join((_buys(metrics, figures), _costs(metrics, figures), _stops(metrics, figures), _cache(metrics)))


def _offer(metrics: Metrics, figures: Quantization) -> str:
    weights, both = (figures.formats[name] for name in OFFERED)
    sixteen, batch = figures.sixteen, grouped(metrics.scenario.workload.batch, 12)
    return (
        f"Weights take 16 bits, {si(sixteen.weights, 'B')} a device. In {weights.name} they would take "
        f"{si(weights.weights, 'B')}, and a token come {_times(sixteen.tpot_alone / weights.tpot_alone)} as fast to "
        f"one user alone, {_times(sixteen.tpot / weights.tpot)} at batch {batch}, and the first token "
        f"{_sooner(sixteen.ttft / weights.ttft)}. {both.name} computes in fewer bits too: {_first(sixteen, both)}."
    )


def _first(sixteen: Formatted, both: Formatted) -> str:
    if both.fell_back:
        return f"but this device has no {both.asked} units, so that only the bytes would shrink"
    return f"the first token would come {_sooner(sixteen.ttft / both.ttft)}"


def _buys(metrics: Metrics, figures: Quantization) -> str:
    now, sixteen = figures.now, figures.sixteen
    batch = grouped(metrics.scenario.workload.batch, 12)
    name = "As set, weights take" if now.name == AS_SET else f"Stored as {now.name}, weights take"
    fits, before = (grouped(each.largest_batch, 12) if each.largest_batch else "none" for each in (now, sixteen))
    return (
        f"{name} {si(now.weights, 'B')} a device, in 16 bits {si(sixteen.weights, 'B')}: a token comes "
        f"{_times(figures.alone_gain)} as fast to one user alone, {_times(figures.decode_gain)} at batch {batch}, "
        f"the first token {_sooner(figures.prefill_gain)}; {fits} sequences fit, in 16 bits {before}."
    )


def _costs(metrics: Metrics, figures: Quantization) -> str:
    now = figures.now
    if now.fell_back:
        device = metrics.scenario.device.name or "This device"
        return f"{device} has no {now.asked} units: the bytes shrink, but products run in 16 bits."
    return f"Its price is accuracy. {now.quality}" if now.quality else "Its price is accuracy: try it on your own task."


def _stops(metrics: Metrics, figures: Quantization) -> str:
    cached = sum(float(node.kv_bytes) for node in metrics.decode.nodes) / float(total(metrics.decode.bytes))
    dilutes = f"{percent(cached)} of what a step reads here is KV cache, which it leaves as it is"
    scenario = metrics.scenario
    if scenario.peak < scenario.sixteen_bit_peak:
        share = percent(scenario.peak / scenario.sixteen_bit_peak)
        return (
            f"This device computes {figures.now.computes_in} at {share} of its speed in 16 bits: products get slower."
        )
    if scenario.peak > scenario.sixteen_bit_peak:
        return f"The compute roof rises with it, so that it pays at any batch until the KV cache dominates: {dilutes}."
    if any(isinstance(block.ffn, Experts) for block in metrics.scenario.model.blocks):
        return f"The compute roof stays: it gains nothing where experts compute for longer than they read; {dilutes}."
    turn = grouped(figures.turning_batch, 2)
    end = grouped(metrics.ridge / metrics.scenario.tokens_in_step, 2)
    return (
        f"The compute roof stays: beyond {turn} sequences at once linear layers compute for longer than they read, "
        f"from {end} on it gains nothing; {dilutes}."
    )


def _cache(metrics: Metrics) -> str:
    caches = metrics.quantization.caches
    sixteen = next(cache for cache in caches if cache.name == SIXTEEN_BITS)
    stored = float(metrics.scenario.stored.kv_bytes)
    if not sixteen.kv_cache:
        return ""
    if stored < sixteen.kv_bytes:
        name = next((cache.name for cache in caches if cache.is_set), f"{grouped(stored)} bytes an element")
        gain = _times(sixteen.tpot / metrics.quantization.now.tpot)
        return f"With the KV cache in {name} a token comes {gain} as fast as with 16 bits."
    fp8 = next(cache for cache in caches if cache.name == "fp8")
    saved, gain = si(sixteen.kv_cache - fp8.kv_cache, "B"), _times(sixteen.tpot / fp8.tpot)
    return f"A KV cache in fp8 would save {saved} a device, and bring a token {gain} as fast."


def _sooner(gain: float) -> str:
    return "no sooner" if 0.995 < gain < 1.005 else f"{_times(gain)} as fast"


def _times(gain: float) -> str:
    return f"{grouped(gain)} ×"


def steps(metrics: Metrics) -> Iterator[Step]:
    """Derivations of what quantized weights buy; for a scenario of plain numbers. None where they are in 16 bits."""
    figures, scenario = metrics.quantization, metrics.scenario
    if SIXTEEN_BITS in figures.chosen:
        return
    now, sixteen = figures.now, figures.sixteen
    yield Step(
        "batch from which a linear layer computes",
        "peak · bytes a weight / (2 · bandwidth · tokens of a sequence in a step): 2 FLOP a weight and token",
        f"{si(scenario.peak, 'FLOP/s', 4)} · {grouped(scenario.stored.weight_bytes, 4)} B"
        f" / (2 · {si(scenario.device.bandwidth, 'B/s', 4)} · {grouped(scenario.tokens_in_step, 12)})",
        f"{grouped(figures.turning_batch)} sequences",
        MARLIN,
    )
    for name, formula, ours, theirs in (
        ("decode", "time per output token in 16 bits / that as set", now.tpot, sixteen.tpot),
        ("decode of one sequence", "the same at batch 1", now.tpot_alone, sixteen.tpot_alone),
        ("prefill", "time to first token in 16 bits / that as set", now.ttft, sixteen.ttft),
    ):
        figure = f"{seconds(theirs)} / {seconds(ours)}"
        yield Step(f"quantized weights, {name}", formula, figure, _times(theirs / ours), "definition")
