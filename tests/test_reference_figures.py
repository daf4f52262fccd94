"""The figures of design.md §4, and published counts: numbers from outside, typed in.

Times hold to 1 %, since the figures leave activation traffic out; bytes and counts are exact.
"""

import pytest
from mission import MISSION

from roofwidget import Accelerator, Scenario, Transformer, Workload, evaluate, infer

ONE_PERCENT = 0.01

# 989 TFLOP/s and 3,350 GB/s, communication not counted
H100 = Accelerator({"bf16": 989e12}, bandwidth=3350e9, capacity=80e9)


def served(model, *, batch, devices=1):
    return evaluate(Scenario(H100, model, workload=Workload(4096, 1, batch), devices=devices))


@pytest.fixture(scope="module")
def mission():
    return infer(MISSION)["outputs"]


class TestMissionRequest:
    """70 B parameters of 2 bytes on one device of 80 GB, 990 TFLOP/s and 3,350 GB/s."""

    def test_weights(self, mission):
        assert mission["memory"]["weights_gb"] == pytest.approx(140, rel=1e-12)  # 70 · 2

    def test_kv_cache(self, mission):
        # 2 · 80 layers · 8 KV heads · 128 · 2 bytes; · 4,096 tokens
        assert mission["memory"]["kv_bytes_per_token"] == 327_680
        assert mission["memory"]["kv_cache_gb"] == pytest.approx(1.342_177_280, rel=1e-12)

    def test_does_not_fit(self, mission):
        memory = mission["memory"]
        assert memory["capacity_gb"] == 80
        assert memory["usable_gb"] == pytest.approx(72)
        assert memory["total_gb"] == pytest.approx(141.3, rel=ONE_PERCENT)
        assert memory["fits"] is False
        assert memory["largest_batch"] == 0
        assert memory["devices_needed"] == 2  # 141.3 / 2 = 70.7 GB of 72 each

    def test_decode(self, mission):
        assert mission["tpot_ms"] == pytest.approx(42.2, rel=ONE_PERCENT)
        assert mission["decode_tokens_per_s"] == pytest.approx(23.7, rel=ONE_PERCENT)
        assert mission["bottleneck"]["decode"] == "memory"

    def test_decode_is_not_below_its_bound(self, mission):
        # (140 + 1.342) GB / 3,350 GB/s, less the norms' (2 · 80 + 1) · 8,192 · 2 bytes
        assert mission["tpot_ms"] >= (140e9 + 1.342_177_28e9 - 2_637_824) / 3350e9 * 1e3

    def test_decode_intensity_is_far_below_the_ridge(self, mission):
        assert mission["arithmetic_intensity"]["decode"] == pytest.approx(1.0, abs=0.1)
        assert mission["ridge_point"] == pytest.approx(295.5, abs=0.05)  # 990,000 / 3,350

    def test_prefill(self, mission):
        # 595 TFLOP at 990 TFLOP/s
        assert mission["ttft_ms"] == pytest.approx(601, rel=ONE_PERCENT)
        assert mission["prefill_tokens_per_s"] == pytest.approx(4096 / 0.601, rel=ONE_PERCENT)
        assert mission["bottleneck"]["prefill"] == "compute"

    def test_prefill_flops(self):
        # 2 · 70e9 · 4,096 = 573.4; attention 2 · 64 · 128 · 4,096 · 4,097 · 80 = 22.0 TFLOP
        nodes = infer(MISSION)["nodes"]["prefill"]
        assert sum(node["flops"] for node in nodes) / 1e12 == pytest.approx(595.4, rel=1e-3)


class TestLlama70BOnFourDevices:
    @pytest.fixture
    def metrics(self):
        return served("Llama 3.1 70B", batch=32, devices=4)

    def test_weights(self):
        # 70,553,706,496 parameters of 2 bytes
        assert served("Llama 3.1 70B", batch=32).memory.weights == 141_107_412_992

    def test_decode(self, metrics):
        assert 1e3 * metrics.tpot == pytest.approx(13.58, rel=ONE_PERCENT)

    def test_prefill_of_all_prompts(self, metrics):
        assert 1e3 * metrics.prefill_batch_time == pytest.approx(4714, rel=ONE_PERCENT)


class TestLlama8BOnOneDevice:
    @pytest.mark.parametrize(("batch", "tpot_ms", "prefill_ms"), [(1, 4.641, 62.26), (32, 9.609, 1992)])
    def test_times(self, batch, tpot_ms, prefill_ms):
        metrics = served("Llama 3.1 8B", batch=batch)
        assert 1e3 * metrics.tpot == pytest.approx(tpot_ms, rel=ONE_PERCENT)
        assert 1e3 * metrics.prefill_batch_time == pytest.approx(prefill_ms, rel=ONE_PERCENT)
        assert 1e3 * metrics.ttft == pytest.approx(62.26, rel=ONE_PERCENT)  # of one request, at any batch

    def test_memory(self):
        memory = served("Llama 3.1 8B", batch=32).memory
        assert memory.weights == 16_060_522_496  # 8,030,261,248 · 2
        assert memory.kv_cache == 17_179_869_184  # 131,072 · 4,096 · 32
        assert memory.fits


# KV cache, bytes a token in 16 bits: 2 · layers · KV heads · head width · 2
@pytest.mark.parametrize(
    ("name", "kv_bytes"),
    [
        ("Llama 3.1 8B", 131_072),  # 2 · 32 · 8 · 128 · 2
        ("Llama 3.1 70B", 327_680),  # 2 · 80 · 8 · 128 · 2
        ("Qwen2.5 72B", 327_680),
        ("Llama 3.1 405B", 516_096),  # 2 · 126 · 8 · 128 · 2
        ("Llama 2 7B", 524_288),  # 2 · 32 · 32 · 128 · 2: every head has its own
    ],
)
def test_kv_bytes_per_token(name, kv_bytes):
    assert Transformer.named(name).kv_bytes_per_token() == kv_bytes
