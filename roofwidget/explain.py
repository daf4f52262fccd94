"""How each headline number was made: its formula, the numbers put in, its source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from roofwidget.evaluate import Metrics
from roofwidget.roofline.capacity import DEFAULT_ENGINE
from roofwidget.roofline.memory import (
    activation_bytes_per_token,
    kv_bytes_per_sequence,
    kv_bytes_per_token,
    prefill_tokens_at_once,
)
from roofwidget.roofline.timing import BOUNDS, Pass, total
from roofwidget.transformer import kept_width
from roofwidget.units import grouped, percent, seconds, si
from roofwidget.validation import Numbers

ROOFLINE = "Williams, Waterman, Patterson 2009, “Roofline”, §3"
POPE = "Pope et al. 2022, “Efficiently Scaling Transformer Inference”, §2–3"


PALM = "Chowdhery et al. 2022, “PaLM”, appendix B"


class Step(NamedTuple):
    """One number's derivation."""

    name: str
    formula: str
    figures: str
    result: str
    source: str


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
    device = metrics.scenario.device
    peak = device.peak(metrics.scenario.stored.compute)
    figures = f"{si(peak, 'FLOP/s', 4)} / {si(device.bandwidth, 'B/s', 4)}"
    return Step("ridge point", "peak / bandwidth", figures, f"{grouped(metrics.ridge, 4)} FLOP/B", ROOFLINE)


def first_token(metrics: Metrics) -> Step:
    """Time to first token."""
    return _pass_time("time to first token", metrics, metrics.prefill, "prefill of one prompt, without queueing")


def per_token(metrics: Metrics) -> Step:
    """Time per output token."""
    workload = metrics.scenario.workload
    context = f"at a mean context of {grouped(workload.mean_context, 12)} tokens, batch {grouped(workload.batch, 12)}"
    return _pass_time("time per output token", metrics, metrics.decode, f"a decode step {context}")


def _pass_time(name: str, metrics: Metrics, timed: Pass, what: str) -> Step:
    device = metrics.scenario.device
    work: dict[str, tuple[Iterable[Numbers], str, Numbers]] = {
        "memory": (timed.bytes, "B", device.bandwidth),
        "compute": (timed.flops, "FLOP", device.peak(metrics.scenario.stored.compute)),
        "communication": ([node.link_bytes for node in timed.nodes], "B", device.link_bandwidth),
    }
    terms = []
    for index, bound in enumerate(BOUNDS):
        amounts, unit, rate = work[bound]
        amount = sum(float(a) for a, b in zip(amounts, timed.node_bounds, strict=True) if b == index)
        if amount:
            steps = sum(float(n.link_steps) for n, b in zip(timed.nodes, timed.node_bounds, strict=True) if b == index)
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
    prefill, peak = metrics.prefill, metrics.scenario.device.peak(metrics.scenario.stored.compute)
    figures = f"{si(total(prefill.flops), 'FLOP', 4)} / ({si(peak, 'FLOP/s', 4)} · {seconds(prefill.time)})"
    return Step("MFU of prefill", "FLOPs / (peak · time)", figures, percent(metrics.mfu(prefill)), PALM)


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
    return Step("end-to-end latency", formula, figures, seconds(metrics.e2e), "definition")


def cost(metrics: Metrics) -> Iterable[Step]:
    """Price and energy of output tokens, where they are known."""
    device, devices = metrics.scenario.device, grouped(metrics.scenario.total_devices, 12)
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
    if kept is None:
        return
    formula = "replicas / (TTFT · fullest stage's share + (output − 1) · TPOT · replicas / batch), at the largest batch"
    figures = f"batch {grouped(kept.batch, 12)}, output {grouped(workload.output_tokens, 12)}"
    yield Step(
        "requests within the objectives", formula, figures, f"{grouped(kept.request_rate)} requests/s", "definition"
    )


def kv_per_token(metrics: Metrics) -> Step:
    """KV cache of one token, summed over layers that are alike."""
    model, size = metrics.scenario.model, metrics.scenario.stored.kv_bytes
    keeping = [block for block in model.blocks if block.mixer is not None and kept_width(block.mixer)]
    terms = [f"{grouped(block.layers, 12)} · {grouped(kept_width(block.mixer), 12)}" for block in keeping]
    figures = f"({' + '.join(terms) or '0'}) · {grouped(size, 12)}"
    formula = "Σ over layers of the elements each keeps (2 · KV heads · head width; of a latent its width) · bytes"
    return Step("KV cache per token", formula, figures, f"{grouped(metrics.kv_bytes_per_token, 12)} B", POPE)


def activations(metrics: Metrics) -> Step:
    """Activations of one token inside the widest layer."""
    scenario = metrics.scenario
    hidden, size = scenario.model.hidden_dim, scenario.stored.activation_bytes
    widest = max(float(block.live(hidden, scenario.devices)) for block in scenario.model.blocks)
    figures = f"({grouped(hidden, 12)} + {grouped(widest - hidden, 12)}) · {grouped(size, 12)}"
    formula = "(hidden + what is live beside it in the widest place of a layer, on each device) · bytes"
    result = si(activation_bytes_per_token(scenario), "B", 4)
    return Step("activations per token", formula, figures, result, "counted here")


def footprint(metrics: Metrics) -> Step:
    """Memory of each device."""
    memory, scenario = metrics.memory, metrics.scenario
    cached = f"{grouped(scenario.replica_batch, 12)} · {grouped(scenario.workload.final_context, 12)}"
    kv = f"{cached} · {si(kv_bytes_per_token(scenario), 'B', 4)}"
    tokens = max(float(prefill_tokens_at_once(scenario)), float(scenario.microbatch))
    activations = f"{grouped(tokens, 12)} · {si(activation_bytes_per_token(scenario), 'B', 4)}"
    figures = f"{si(memory.weights, 'B', 4)} + {kv} + {activations}"
    formula = (
        "weights + sequences · final context · KV per token + tokens at once · activations a token, on each device"
    )
    fits = "fits in" if memory.fits else "does not fit in"
    usable = f"{si(memory.capacity, 'B', 4)} · {grouped(scenario.memory_utilization)} = {si(memory.usable, 'B', 4)}"
    return Step("memory", formula, figures, f"{si(memory.total, 'B', 4)}, {fits} {usable}", POPE)


def largest_batch(metrics: Metrics) -> Step:
    """Largest batch that fits: beside the activations of a prompt's chunk, or where it is of more tokens, its own."""
    memory, scenario = metrics.memory, metrics.scenario
    sequence, active = kv_bytes_per_sequence(scenario), activation_bytes_per_token(scenario)
    chunk = prefill_tokens_at_once(scenario)
    left = f"{si(memory.usable, 'B', 4)} − {si(memory.weights, 'B', 4)}"
    if metrics.largest_batch > chunk:
        formula = "⌊(usable − weights) / (KV cache of a sequence + activations of a token)⌋"
        figures = f"⌊({left}) / ({si(sequence, 'B', 4)} + {si(active, 'B', 4)})⌋"
    else:
        formula = "⌊(usable − weights − activations of a chunk of prompt) / KV cache of a sequence⌋, at least 0"
        figures = f"⌊({left} − {si(chunk * active, 'B', 4)}) / {si(sequence, 'B', 4)}⌋"
    return Step("largest batch", formula, figures, grouped(metrics.largest_batch, 12), "arithmetic")


def engine_batch(metrics: Metrics) -> Step:
    """Largest batch after what a serving engine sets aside."""
    engine, scenario = metrics.engine_capacity, metrics.scenario
    formula = "utilisation · memory it sees − weights − activation peak − runtime, in whole blocks of its tokens"
    used = (engine.weights, engine.activation_peak, engine.runtime)
    left = f"{grouped(scenario.memory_utilization)} · {si(engine.memory, 'B', 4)} − "
    figures = left + " − ".join(si(size, "B", 4) for size in used) + f" = {si(engine.kv_cache, 'B', 4)}, 0 at least"
    result = f"{grouped(metrics.engine_batch, 12)} sequences"
    return Step(f"largest batch in {DEFAULT_ENGINE}", formula, figures, result, "catalog/engines.toml")


def devices_needed(metrics: Metrics) -> Step:
    """Fewest devices that hold the batch."""
    formula = "fewest devices that divide the heads and on each of which memory fits, 0 where none do"
    batch = f"batch {grouped(metrics.scenario.workload.batch, 12)}"
    return Step("devices needed", formula, batch, grouped(metrics.devices_needed, 12), "arithmetic")
