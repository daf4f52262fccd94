"""What hypothesis draws: requests over the whole range of every field, and scenarios of any shape."""

import math

from hypothesis import settings
from hypothesis import strategies as st

from roofwidget import Accelerator, Precision, Scenario, Transformer, Workload

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
}
SWITCHES = ("gated_ffn", "tied_embeddings", "expert_parallel")
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
)
PRESETS = ("accelerator", "transformer")


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


@st.composite
def requests(draw):
    """Requests that are in order, from one end of every range to the other."""
    request = {name: draw(counts(*ends)) for name, ends in COUNTS.items()}
    request |= {name: draw(between(*ends)) for name, ends in SIZES.items()}
    request |= {name: draw(st.booleans()) for name in SWITCHES}
    request |= dict.fromkeys(PRESETS)
    request |= {name: None for name in NULLABLE if draw(st.booleans())}
    queries, keys, devices = draw(heads())
    request |= {"n_heads": queries, "n_kv_heads": keys, "devices": devices}
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
