"""What hypothesis draws: requests over the whole range of every field, and scenarios of any shape."""

import math
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st

from roofwidget import Accelerator, Precision, Scenario, Transformer, Workload
from roofwidget.kv_allocation import KVAllocation
from roofwidget.lengths import Lengths
from roofwidget.objectives import Objectives
from roofwidget.prefill_pool import PrefillPool
from roofwidget.prefix import SharedPrefix
from roofwidget.serving.quantization import in_format
from roofwidget.speculation import TREES, Speculation

# Seconds are never asserted, and a test that failed once fails every time.
settings.register_profile("roofwidget", deadline=None, derandomize=True, database=None)
settings.load_profile("roofwidget")

# The ends of each field's range: whole numbers, then others. They are typed in from the reference
# table on purpose; test_schema checks that the schema says the same.
COUNTS = {
    "devices": (1, 1024),
    "pipeline": (1, 512),
    "data_parallel": (1, 1024),
    "hidden_dim": (1, 1_048_576),
    "layers": (1, 10_000),
    "n_heads": (1, 65_536),
    "n_kv_heads": (1, 65_536),
    "head_dim": (1, 8192),
    "vocab_size": (1, 10_000_000),
    "seq_len": (1, 100_000_000),
    "output_tokens": (1, 100_000_000),
    "batch": (1, 1_000_000),
    "block_size": (1, 65_536),
    "max_len": (1, 200_000_000),
    "prefix_tokens": (1, 100_000_000),
    "speculative_tokens": (1, 64),
    "tree_tokens": (1, 1024),
    "prefill_devices": (1, 1024),
    "prefill_pool": (1, 10_000),
    "prefill_batch": (1, 10_000),
}
SIZES = {
    "peak_tflops": (1e-3, 1e7),
    "hbm_bw_gbs": (1e-2, 1e7),
    "hbm_cap_gb": (1e-3, 1e6),
    "link_gbs": (1e-3, 1e6),
    "link_latency_us": (1e-3, 1e4),
    "memory_utilization": (0.01, 1.0),
    "usd_per_hour": (1e-4, 1e5),
    "tdp_w": (0.1, 1e5),
    "ttft_target_ms": (1e-3, 1e9),
    "tpot_target_ms": (1e-3, 1e9),
    "params_b": (1e-4, 1e5),
    "weight_bytes": (0.05, 16.0),
    "expert_weight_bytes": (0.05, 16.0),
    "kv_bytes": (0.05, 16.0),
    "activation_bytes": (0.05, 16.0),
    "embedding_weight_bytes": (0.05, 16.0),
    "output_spread": (0.01, 10.0),
    "prefix_hit_rate": (0.001, 1.0),
    "acceptance": (0.001, 0.999),
    "kv_link_gbs": (1e-3, 1e6),
}
SWITCHES = (
    "gated_ffn",
    "tied_embeddings",
    "expert_parallel",
    "continuous_batching",
    "cascade_attention",
    "disaggregated",
)
CHOICES = {
    "compute": ("bf16", "fp8", "int8", "fp4"),
    "output_lengths": ("fixed", "uniform", "geometric", "lognormal"),
    "kv_allocation": ("exact", "paged", "reserved", "power of two"),
    "speculation": ("draft model", "Medusa", "EAGLE", "EAGLE-2", "EAGLE-3", "n-gram", "MTP"),
    "draft_model": ("Llama 3.2 1B", "Qwen3 0.6B", "Llama 3.1 8B"),
    "prefill_accelerator": ("H100 SXM", "A100 SXM 80GB", "MI300X"),
    "efficiency": ("ideal", "calibrated"),
    "engine": ("vLLM", "vLLM before 0.14"),
}
NULLABLE = (
    "usd_per_hour",
    "tdp_w",
    "ttft_target_ms",
    "tpot_target_ms",
    "link_gbs",
    "link_latency_us",
    "head_dim",
    "vocab_size",
    "expert_weight_bytes",
    "embedding_weight_bytes",
    "max_len",
    "prefix_tokens",
    "tree_tokens",
    "prefill_devices",
    "kv_link_gbs",
    "speculation",
    "prefill_accelerator",
)
PRESETS = ("accelerator", "transformer", "quantization", "kv_quantization")


def between(low, high):
    """Numbers spread evenly over the magnitudes from `low` to `high`, ends included."""
    inside = st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))
    return st.sampled_from([low, high]) | inside


def counts(low, high):
    return between(low, high).map(round)


@st.composite
def heads(draw):
    """Query heads, KV heads that divide them, and devices that can share both evenly."""
    queries = draw(st.sampled_from([1, 2, 3, 6, 8, 12, 32, 48, 64, 128]))
    divisors = [n for n in range(1, queries + 1) if queries % n == 0]
    keys = draw(st.sampled_from(divisors))
    return queries, keys, draw(st.sampled_from([n for n in divisors if keys % n == 0 or n % keys == 0]))


def techniques_in_order(request):
    """Bring a request's techniques to what goes together."""
    context = request["seq_len"] + request["output_tokens"] - 1
    request["block_size"] = 2 ** int(math.log2(min(request["block_size"], context)))
    if request["max_len"] is not None:
        request["max_len"] = max(request["max_len"], context)
    if request["prefix_tokens"] is not None and request["prefix_tokens"] >= request["seq_len"]:
        request["prefix_tokens"] = request["seq_len"] - 1 or None
    if request["prefill_devices"] is not None:
        request["prefill_devices"] = request["devices"]
    if request["speculation"] not in ("Medusa", "EAGLE", "EAGLE-2", "EAGLE-3"):
        request["tree_tokens"] = None
    elif request["tree_tokens"] is not None:
        request["tree_tokens"] = max(request["tree_tokens"], request["speculative_tokens"])


@st.composite
def requests(draw):
    """Requests that are in order, from one end of every range to the other."""
    request = {name: draw(counts(*ends)) for name, ends in COUNTS.items()}
    request |= {name: draw(between(*ends)) for name, ends in SIZES.items()}
    request |= {name: draw(st.booleans()) for name in SWITCHES}
    request |= {name: draw(st.sampled_from(options)) for name, options in CHOICES.items()}
    request |= dict.fromkeys(PRESETS)
    request |= {name: None for name in NULLABLE if draw(st.booleans())}
    queries, keys, devices = draw(heads())
    request |= {"n_heads": queries, "n_kv_heads": keys, "devices": devices}
    techniques_in_order(request)
    if request["head_dim"] is None:
        request["hidden_dim"] = queries * draw(counts(1, 8192))
    width = request["head_dim"] or request["hidden_dim"] // queries
    attention = request["layers"] * request["hidden_dim"] * (2 * width * (queries + keys) + 2) + request["hidden_dim"]
    frame = (attention + 2 * (request["vocab_size"] or 0) * request["hidden_dim"]) / 1e9
    if 1.01 * frame > SIZES["params_b"][1]:  # more than any model may have
        request |= {"layers": 1, "hidden_dim": queries, "head_dim": 1, "vocab_size": None}
        frame = 1e-3
    request["pipeline"] = min(request["pipeline"], request["layers"])
    fewest, most = SIZES["params_b"]
    request["params_b"] = draw(between(max(fewest, 1.01 * frame), most))
    return request


SCENARIO = {
    "peak": between(1e9, 1e16),
    "bandwidth": between(1e9, 1e14),
    "capacity": between(1e7, 1e13),
    "link": between(1e9, 1e13) | st.just(math.inf),
    "hidden": counts(8, 16_384),
    "layers": counts(1, 200),
    "width": counts(8, 256),
    "ffn": between(8, 65_536),
    "vocabulary": counts(8, 262_144),
    "weight_bytes": between(0.25, 4),
    "kv_bytes": between(0.25, 4),
    "activation_bytes": between(0.25, 4),
    "prompt": counts(1, 1_000_000),
    "output": counts(1, 100_000),
    "batch": counts(1, 100_000),
    "utilization": between(0.05, 1),
}


@st.composite
def numbers(draw):
    """The numbers of a scenario, by name; `build` makes it one."""
    queries, keys, devices = draw(heads())
    return {
        **{name: draw(drawn) for name, drawn in SCENARIO.items()},
        **{"queries": queries, "keys": keys, "devices": devices},
        **{"gated": draw(st.booleans()), "tied": draw(st.booleans())},
    }


def build(n):
    return Scenario(
        Accelerator({"bf16": n["peak"]}, n["bandwidth"], n["capacity"], n["link"]),
        Transformer.dense(
            n["hidden"],
            n["layers"],
            n["queries"],
            n["keys"],
            n["width"],
            n["ffn"],
            n["vocabulary"],
            n["gated"],
            n["tied"],
        ),
        Precision(n["weight_bytes"], n["kv_bytes"], n["activation_bytes"]),
        Workload(n["prompt"], n["output"], n["batch"]),
        n["devices"],
        n["utilization"],
    )


SERVED = {
    "Llama 3.1 8B": (1, 2, 8),
    "Llama 3.1 70B": (1, 4, 8),
    "Mixtral 8x7B": (1, 2, 8),
    "Qwen3 30B A3B": (1, 4),
    "DeepSeek V3": (8, 16),
    "gpt-oss 120B": (1, 4),
    "Qwen3-Next 80B A3B": (1, 2),
    "Nemotron-H 56B": (1, 4),
}
"""Models of different build, and devices that can share each."""


@st.composite
def with_techniques(draw, scenario):
    """A scenario with each technique or without it, as it may be set there."""
    workload = scenario.workload
    context = workload.final_context
    maybe = st.booleans()
    own = {"continuous": draw(maybe)}
    kind = draw(st.sampled_from(["exact", "paged", "reserved", "power of two"]))
    block = 2 ** draw(st.integers(0, min(9, int(math.log2(context)))))
    max_len = draw(st.none() | st.floats(1, 8).map(lambda times: float(math.ceil(context * times))))
    own["kv_allocation"] = KVAllocation(kind, block, max_len)
    if workload.seq_len > 1 and draw(maybe):
        tokens = draw(st.integers(1, int(workload.seq_len) - 1))
        own["prefix"] = SharedPrefix(tokens, draw(st.floats(0, 1)), draw(maybe))
    if draw(maybe):
        own["speculation"] = draw(drafts())
    if draw(maybe):
        device, devices = draw(st.sampled_from([None, "H100 SXM", "A100 SXM 80GB", "L4"])), None
        if draw(maybe):
            devices = draw(st.sampled_from(SERVED[scenario.model.name]))
        link = draw(between(1e9, 1e12) | st.just(math.inf))
        own["prefill_pool"] = PrefillPool(device, devices, draw(counts(1, 64)), draw(counts(1, 16)), link)
    if draw(maybe):
        scenario = in_format(scenario, draw(st.sampled_from(["bf16", "fp8 W8A8", "int4 AWQ", "nvfp4 W4A4"])))
    precision = replace(scenario.stored, kv_bytes=draw(st.sampled_from([2.0, 1.0, 0.5])))
    return replace(scenario, precision=precision, **own)


@st.composite
def drafts(draw):
    """Ways to draft that go with any model that has attention."""
    method = draw(st.sampled_from(["draft model", "Medusa", "EAGLE", "EAGLE-2", "EAGLE-3", "n-gram", "MTP"]))
    depth = draw(st.integers(1, 8))
    tree = draw(st.none() | st.integers(depth, 64)) if method in TREES else None
    draft = draw(st.sampled_from(["Llama 3.2 1B", "Qwen3 0.6B"])) if method == "draft model" else None
    return Speculation(method, draw(st.floats(0.01, 0.99)), depth, tree, draft)


@st.composite
def served(draw):
    """Scenarios of catalog models with techniques in any combination."""
    name = draw(st.sampled_from(sorted(SERVED)))
    lengths = Lengths(draw(st.sampled_from(["fixed", "uniform", "geometric", "lognormal", (1, 20, 700)])))
    workload = Workload(draw(counts(1, 200_000)), draw(counts(1, 20_000)), draw(counts(1, 2_000)), lengths)
    replicas = draw(st.sampled_from([1, 1, 2, 8]))
    scenario = Scenario(
        draw(st.sampled_from(["H100 SXM", "H200 SXM", "B200", "A100 SXM 80GB", "MI300X"])),
        name,
        workload=workload,
        devices=draw(st.sampled_from(SERVED[name])),
        memory_utilization=draw(between(0.3, 1)),
        pipeline=draw(st.sampled_from([1, 1, 2, 3])),
        data_parallel=replicas,
        expert_parallel=draw(st.booleans()),
        objectives=Objectives(draw(st.none() | between(1e-3, 1e3)), draw(st.none() | between(1e-4, 10))),
    )
    return draw(with_techniques(scenario))
