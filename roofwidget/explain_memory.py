"""How the figures of memory were made: KV cache, footprint, and what fits."""

from __future__ import annotations

from roofwidget.evaluate import Metrics
from roofwidget.roofline.capacity import DEFAULT_ENGINE
from roofwidget.roofline.memory import (
    activation_bytes_per_token,
    given_tokens,
    kv_bytes_at,
    prefill_tokens_at_once,
    shared_tokens,
    tokens_at_once,
)
from roofwidget.step import Step
from roofwidget.transformer import kept_width
from roofwidget.units import grouped, si

POPE = "Pope et al. 2022, “Efficiently Scaling Transformer Inference”, §2–3"


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
    given, shared = given_tokens(scenario), kept_once(metrics)
    own = kv_bytes_at(scenario, given - shared)
    kv = f"{grouped(scenario.replica_batch, 12)} · {grouped(given - shared, 12)} · {si(own / (given - shared), 'B', 4)}"
    tokens = grouped(tokens_at_once(scenario), 12)
    activations = f"{tokens} · {si(activation_bytes_per_token(scenario), 'B', 4)}"
    prefix = f"{si(kv_bytes_at(scenario, shared), 'B', 4)} + " if shared else ""
    figures = f"{si(memory.weights, 'B', 4)} + {kv} + {prefix}{activations}"
    formula = (
        f"weights + sequences · tokens kept of each · KV per token + {'prefix + ' if shared else ''}"
        "tokens at once · activations a token, on each device"
    )
    fits = "fits in" if memory.fits else "does not fit in"
    usable = f"{si(memory.capacity, 'B', 4)} · {grouped(scenario.memory_utilization)} = {si(memory.usable, 'B', 4)}"
    return Step("memory", formula, figures, f"{si(memory.total, 'B', 4)}, {fits} {usable}", POPE)


def kept_once(metrics: Metrics) -> float:
    """Tokens of a prefix that the sequences at hand keep together; 0 where each has its own."""
    scenario = metrics.scenario
    apart = scenario.replica_batch * kv_bytes_at(scenario, given_tokens(scenario))
    return float(shared_tokens(scenario)) if metrics.memory.kv_cache < apart else 0.0


def largest_batch(metrics: Metrics) -> Step:
    """Largest batch that fits: beside the activations of a prompt's chunk, or where it is of more tokens, its own."""
    memory, scenario = metrics.memory, metrics.scenario
    given, shared = given_tokens(scenario), kept_once(metrics)
    sequence, active = kv_bytes_at(scenario, given - shared), activation_bytes_per_token(scenario)
    chunk, new = prefill_tokens_at_once(scenario), scenario.tokens_in_step
    left, of = f"{si(memory.usable, 'B', 4)} − {si(memory.weights, 'B', 4)}", "usable − weights"
    if shared:
        left, of = f"{left} − {si(kv_bytes_at(scenario, shared), 'B', 4)}", f"{of} − prefix"
    if metrics.largest_batch * new > chunk:
        formula = f"⌊({of}) / (KV cache of a sequence + activations of its tokens in a step)⌋"
        figures = f"⌊({left}) / ({si(sequence, 'B', 4)} + {si(new * active, 'B', 4)})⌋"
    else:
        formula = f"⌊({of} − activations of a chunk of prompt) / KV cache of a sequence⌋, at least 0"
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
