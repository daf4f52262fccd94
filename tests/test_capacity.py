"""What an engine has left for the KV cache: against start-up logs, by hand, and laws."""

import math
from dataclasses import replace
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SCENARIO, build, numbers

from roofwidget import Accelerator, Precision, Scenario, Transformer, catalog, evaluate
from roofwidget.roofline.capacity import GIB, Engine, activation_peak, engine_capacity, kv_capacity

PLANNER = "llm-d-planner, docs/empirical-vllm-memory-results.md"
V0, V1, TRITON = "vLLM 0.2 to 0.7", "vLLM 0.8 to 0.16", "vLLM 0.17 and later"

# GiB: memory, utilisation, weights, activation peak, non-torch, and what was left for the KV cache
LOGS = {
    f"gpt-oss-20b, H100 ({PLANNER})": (79.18, 0.9, 13.47, 7.38, 0.13, 50.28),
    f"Llama-3.1-8B, H100 ({PLANNER})": (79.18, 0.9, 14.99, 4.76, 0.13, 51.38),
    f"Qwen3-32B, 2 H100 ({PLANNER})": (79.18, 0.9, 30.59, 5.64, 0.54, 34.49),
    f"Mistral-Small-3.2-24B, H100 ({PLANNER})": (79.18, 0.95, 44.76, 2.12, 0.14, 28.2),
    "Llama-3-8B, H100 (vLLM PR 10511)": (79.22, 0.9, 14.96, 1.26, 1.79, 53.29),
    "Qwen-14B, 2 RTX 4090 (vLLM issue 13061)": (23.55, 0.98, 13.9476, 0.19, 0.25, 8.69),
    "QwQ-32B, RTX 5090 (vLLM issue 14452)": (31.37, 0.85, 10.3, 1.77, 0.33, 14.26),
    "Llama-3.1-8B, RTX 3090 (vLLM issue 10517)": (23.58, 0.9, 14.9888, 2.07, 0.35, 3.81),
    "Qwen2.5-7B 4-bit, RTX 4060 (vLLM issue 13882)": (8.0, 0.7, 5.2, 1.42, 0.03, -1.05),
    "Llama-3.1-8B, H100, SGLang (docs.sglang.ai, January 2025)": (78.81, 0.88, 15.09, 0, 0, 54.26),
}


@pytest.mark.parametrize("log", LOGS)
def test_the_sum_in_the_log(log):
    *terms, left = LOGS[log]
    assert kv_capacity(*terms) == pytest.approx(left, rel=1e-3)


# device, model, devices, utilisation, engine, sequences, tokens of a step (None: its defaults), and KV tokens or GiB
BOOKED = [
    ("H100 SXM", "Llama 3.1 8B", 1, 0.9, V1, None, None, 51.38, PLANNER),
    ("H100 SXM", "Qwen3 0.6B", 1, 0.9, V1, None, None, 64.45, PLANNER),
    ("H100 SXM", "Qwen3 32B", 1, 0.9, V1, None, None, 4.45, PLANNER),
    ("H100 SXM", "Qwen3 32B", 2, 0.9, V1, None, None, 34.49, PLANNER),
    ("H100 SXM", "Llama 3.1 70B", 4, 0.9, V1, 128, 8192, 486_800, "inference-sim, roofline_goldendataset.json"),
    ("H100 SXM", "Mistral Nemo 12B", 2, 0.9, V1, 128, 1024, 768_144, "inference-sim, roofline_goldendataset.json"),
    ("H100 SXM", "Qwen2.5 7B", 1, 0.9, V1, 128, 2048, 1_045_888, "inference-sim, roofline_goldendataset.json"),
    ("RTX 4090", "Llama 3.1 8B", 1, 0.9, TRITON, None, None, 41_408, "LLMServingSim, RTX4090/Llama-3.1-8B"),
    ("RTX 4090", "Qwen2.5 14B", 2, 0.98, V0, None, 2048, 81_536, "vLLM issue 13061"),
    ("RTX 3090", "Llama 3.1 8B", 1, 0.9, V0, None, 20_000, 31_232, "vLLM issue 10517"),
    ("A100 SXM 80GB", "Llama 2 70B", 4, 0.9, V0, None, 4096, 505_840, "vLLM PR 2031"),
    ("H100 SXM", "Llama 3.1 8B", 1, 0.88, "SGLang", None, None, 444_500, "docs.sglang.ai, January 2025"),
]


def error(device, model, devices, utilization, engine, sequences, tokens, printed, source):
    engine = Engine.named(engine)
    if sequences:
        engine = replace(engine, max_num_seqs=(sequences, sequences))
    if tokens:
        engine = replace(engine, max_num_batched_tokens=(tokens, tokens))
    found = engine_capacity(Scenario(device, model, devices=devices, memory_utilization=utilization), engine)
    return abs((found.tokens if printed > 1000 else found.kv_cache / GIB) / printed - 1)


def test_from_model_and_device_alone():
    errors = [error(*log) for log in BOOKED]
    assert max(errors) < 0.05
    assert median(errors) < 0.01


# GiB that vLLM printed as activation peak
@pytest.mark.parametrize(
    ("device", "model", "engine", "tokens", "printed"),
    [
        ("H100 SXM", "Llama 3.1 8B", V1, None, 4.76),
        ("H100 SXM", "Qwen3 0.6B", V1, None, 5.56),
        ("H100 SXM", "gpt-oss 20B", V1, None, 7.38),
        ("RTX 3090", "Llama 3.1 8B", V0, 20_000, 2.07),
        ("RTX 3090", "Llama 3.1 8B", V0, 29_000, 2.99),
        ("H100 SXM", "Llama 3.1 8B", V0, 8192, 1.26),
        ("RTX 4090", "Qwen2.5 7B", V0, 4096, 1.42),
    ],
)
def test_activation_peaks(device, model, engine, tokens, printed):
    engine = Engine.named(engine)
    engine = replace(engine, max_num_batched_tokens=(tokens, tokens)) if tokens else engine
    scenario = Scenario(device, model)
    assert activation_peak(scenario, engine, scenario.device.capacity) / GIB == pytest.approx(printed, abs=0.03)


PLAIN = Engine("plain", 0.0, 16, math.inf, "", (4, 4), (8, 8), True, 38.0, 100.0, 10.0, 20.0)


class TestByHand:
    """The small model of test_memory: 6,480 bytes of weights, 2·5·2·3·2 = 120 of KV cache a token."""

    def small(self, capacity=50_000.0, devices=1, model=None):
        model = model or Transformer.dense(8, 5, 4, 2, 3, 10, 32)
        return Scenario(Accelerator({"bf16": 1.0}, 1.0, capacity), model, devices=devices, memory_utilization=1.0)

    def test_terms(self):
        found = engine_capacity(self.small(), PLAIN)
        assert found.weights == 6480
        assert found.activation_peak == 5092  # sampler: 8·8·2 + 4·32·38; more than 8·(3·8 + 3·10)·2
        assert found.runtime == 10
        assert found.kv_cache == 50_000 - 6480 - 5092 - 10
        assert (found.block_bytes, found.blocks, found.tokens) == (1920, 20, 320)
        assert found.concurrency(17) == 10  # two blocks each
        assert found.concurrency(100) == pytest.approx(20 / 7)

    def test_a_layer_may_be_the_peak(self):
        wide = Transformer.dense(8, 5, 4, 2, 3, 10_000, 32)
        assert engine_capacity(self.small(1e9, model=wide), PLAIN).activation_peak == 8 * (24 + 30_000) * 2 + 100
        plain = Transformer.dense(8, 5, 4, 2, 3, 10_000, 32, gated=False)
        assert engine_capacity(self.small(1e9, model=plain), PLAIN).activation_peak == 8 * (24 + 20_000) * 2 + 100

    def test_devices_share_kv_heads_or_replicate_them(self):
        assert engine_capacity(self.small(devices=2), PLAIN).block_bytes == 960
        four = engine_capacity(self.small(devices=4), PLAIN)
        assert (four.block_bytes, four.runtime) == (960, 20)

    def test_what_the_driver_keeps_is_not_seen(self):
        assert engine_capacity(self.small(), replace(PLAIN, driver=1000.0)).memory == 49_000


def test_a_latent_is_on_every_device():
    one, eight = (engine_capacity(Scenario("B200 SXM", "DeepSeek V3", devices=n)) for n in (1, 8))
    assert one.block_bytes == eight.block_bytes == 16 * 61 * 576 * 2


def test_windowed_layers_keep_every_token():
    found = engine_capacity(Scenario("H100 SXM", "gpt-oss 20B"))
    assert found.block_bytes == 16 * 24 * 2 * 8 * 64 * 2


def test_recurrent_state_is_the_sequences():
    found = engine_capacity(Scenario("H200 SXM", "Qwen3-Next 80B A3B", Precision(1.0)))
    assert found.block_bytes == 16 * 12 * 2 * 2 * 256 * 2
    assert found.state_bytes > 0
    assert found.concurrency(16) < found.blocks


def test_a_model_that_does_not_fit_has_room_for_nothing():
    found = engine_capacity(Scenario("RTX 4090", "Llama 3.1 70B"))
    assert (found.kv_cache, found.blocks, found.tokens, found.concurrency(100)) == (0, 0, 0, 0)


def test_large_devices_take_larger_steps():
    small, large, but = (
        engine_capacity(Scenario(device, "Llama 3.1 8B"), V1) for device in ("L40S", "H100 SXM", "A100 SXM 80GB")
    )
    assert large.activation_peak > 3 * small.activation_peak
    assert but.activation_peak == small.activation_peak


@pytest.mark.parametrize("name", Engine.names())
def test_every_engine_has_its_source_and_can_serve(name):
    assert len(catalog.entry("engines", name)["source"]) > 20
    assert engine_capacity(Scenario("H100 SXM", "Llama 3.1 8B"), name).tokens > 300_000


def test_unknown_engine_suggests_the_near_ones():
    with pytest.raises(KeyError, match="SGLang"):
        Engine.named("SGLong")


def test_metrics_have_it():
    scenario = Scenario("H100 SXM", "Llama 3.1 8B")
    assert evaluate(scenario).engine_capacity.tokens == engine_capacity(scenario, TRITON).tokens


class TestLaws:
    def tokens(self, drawn, engine=PLAIN):
        return engine_capacity(build(drawn), engine).tokens

    @given(numbers(), st.floats(1, 1000))
    @settings(max_examples=60)
    def test_more_memory_is_never_fewer_tokens(self, drawn, times):
        assert self.tokens({**drawn, "capacity": drawn["capacity"] * times}) >= self.tokens(drawn)

    @pytest.mark.parametrize("name", ["weight_bytes", "layers", "kv_bytes", "vocabulary", "ffn", "hidden"])
    @given(numbers(), st.data())
    @settings(max_examples=30)
    def test_bigger_models_never_have_more(self, name, drawn, data):
        more = max(drawn[name], data.draw(SCENARIO[name]))
        assert self.tokens({**drawn, name: more}) <= self.tokens(drawn)

    @given(numbers(), st.sampled_from(Engine.names()))
    def test_tokens_are_whole_blocks(self, drawn, name):
        found = engine_capacity(build(drawn), name)
        assert found.tokens % found.block_size == 0
        assert found.tokens >= 0
        assert found.blocks * found.block_bytes <= found.kv_cache

    @given(numbers(), st.lists(SCENARIO["capacity"], min_size=1, max_size=5), st.sampled_from(Engine.names()))
    def test_arrays_are_as_their_numbers(self, drawn, capacities, name):
        together = engine_capacity(build({**drawn, "capacity": np.array(capacities)}), name)
        for i, capacity in enumerate(capacities):
            alone = engine_capacity(build({**drawn, "capacity": capacity}), name)
            for field in ("tokens", "kv_cache", "activation_peak"):
                assert np.broadcast_to(getattr(together, field), len(capacities))[i] == getattr(alone, field)
