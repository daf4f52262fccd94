"""infer: the mission's request, every default, and every kind of fault."""

import copy
import json
import re
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest
from mission import MISSION
from strategies import COUNTS, SIZES

from roofwidget import Accelerator, ParameterError, Precision, Scenario, Workload, evaluate, infer

DEFAULTS = {
    "devices": 1,
    "link_gbs": None,
    "memory_utilization": 0.9,
    "head_dim": None,
    "vocab_size": None,
    "gated_ffn": True,
    "tied_embeddings": False,
    "output_tokens": 1,
    "kv_bytes": 2,
    "activation_bytes": 2,
    "expert_weight_bytes": None,
    "embedding_weight_bytes": None,
    "compute": "bf16",
    "continuous_batching": True,
    "output_lengths": "fixed",
    "output_spread": 1.0,
    "kv_allocation": "exact",
    "block_size": 16,
    "max_len": None,
    "prefix_tokens": None,
    "prefix_hit_rate": 1.0,
    "cascade_attention": False,
    "speculation": None,
    "draft_model": "Llama 3.2 1B",
    "acceptance": 0.7,
    "speculative_tokens": 4,
    "tree_tokens": None,
    "disaggregated": False,
    "prefill_accelerator": None,
    "efficiency": "ideal",
    "engine": "vLLM",
    "prefill_devices": None,
    "prefill_pool": 1,
    "prefill_batch": 1,
    "kv_link_gbs": None,
    "quantization": None,
    "kv_quantization": None,
    "link_latency_us": None,
    "usd_per_hour": None,
    "tdp_w": None,
    "ttft_target_ms": None,
    "tpot_target_ms": None,
    "pipeline": 1,
    "data_parallel": 1,
    "expert_parallel": False,
    "accelerator": None,
    "transformer": None,
}
NULLABLE = [
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
]
NUMBERS = [*COUNTS, *SIZES]

# The mission's model served otherwise, so that every optional field has something to say.
FULL = MISSION | {
    "devices": 4,
    "link_gbs": 450,
    "memory_utilization": 0.8,
    "head_dim": 128,
    "vocab_size": 128_256,
    "gated_ffn": True,
    "tied_embeddings": False,
    "output_tokens": 512,
    "kv_bytes": 1,
    "activation_bytes": 2,
}


# more digits than Python writes out, so that even to quote it is an error
TOO_LONG = pytest.param(10**5000, id="5001 digits")


def refused(request):
    """The faults of a request that must be refused."""
    with pytest.raises(ParameterError) as error:
        infer(request)
    faults = error.value.faults
    assert str(error.value) == "; ".join(faults.values())  # the message says all of them
    return faults


class TestMissionRequest:
    def test_has_the_parts_it_asked_for(self):
        answer = infer(MISSION)
        assert list(answer) == ["inputs", "outputs", "batch_curve", "nodes"]
        assert answer["inputs"] == MISSION | DEFAULTS
        assert [point["batch"] for point in answer["batch_curve"][:3]] == [1, 2, 3]
        names = ["QKV projection", "attention", "output projection", "FFN"]
        assert [row["name"] for row in answer["nodes"]["decode"]] == names
        assert [row["name"] for row in answer["nodes"]["prefill"]] == names

    def test_is_what_json_gives(self):
        assert infer(json.loads(json.dumps(MISSION))) == infer(MISSION)

    def test_node(self):
        """The QKV projection of a decode step: 80 · 8192·(64 + 2·8)·128 weights."""
        row = infer(MISSION)["nodes"]["decode"][0]
        assert row["flops"] == 13_421_772_800  # 2 a weight
        assert row["bytes"] == 13_421_772_800 + 2_949_120  # 2 a weight; in 8,192 and out 10,240: 80 · 18,432 · 2
        assert row["arithmetic_intensity"] == pytest.approx(0.999_780)
        assert row["time_ms"] == pytest.approx(4.007_380)  # at 3,350 GB/s
        assert row["share"] == pytest.approx(0.0950, abs=1e-4)  # of 42.20 ms
        assert row["bound"] == "memory"
        assert row["link_bytes"] == 0

    def test_a_node_that_moves_no_bytes_has_no_intensity(self):
        row = infer(MISSION | {"devices": 8, "link_gbs": 450})["nodes"]["decode"][-1]
        # 80 layers · 2 · a ring's 2·⅞ of 8,192 · 2 bytes, at 450 GB/s
        assert (row["name"], row["bytes"], row["link_bytes"]) == ("all-reduce", 0, 4_587_520)
        assert row["time_ms"] == pytest.approx(0.010_194, rel=1e-3)
        assert (row["bound"], row["arithmetic_intensity"]) == ("communication", None)

    def test_batch_curve(self):
        answer = infer(MISSION | {"hbm_cap_gb": 200})
        one, outputs = answer["batch_curve"][0], answer["outputs"]
        assert one == {
            "batch": 1,
            "tpot_ms": outputs["tpot_ms"],
            "decode_tokens_per_s": outputs["decode_tokens_per_s"],
            "decode_tokens_per_s_per_user": outputs["decode_tokens_per_s_per_user"],
            "memory_gb": outputs["memory"]["total_gb"],
            "fits": True,
            "bottleneck": "memory",
        }
        # (180 − 140 − 0.617) / 1.342 = 29.3 sequences
        assert outputs["memory"]["largest_batch"] == 29
        assert {point["batch"]: point["fits"] for point in answer["batch_curve"] if 28 <= point["batch"] <= 31} == {
            28: True,
            29: True,
            30: False,
            31: False,
        }

    def test_latency_is_the_first_token_and_the_others(self):
        outputs = infer(MISSION | {"output_tokens": 101})["outputs"]
        assert outputs["e2e_ms"] == pytest.approx(outputs["ttft_ms"] + 100 * outputs["tpot_ms"])

    def test_throughput_is_of_the_batch(self):
        outputs = infer(MISSION | {"batch": 8})["outputs"]
        assert outputs["decode_tokens_per_s"] == pytest.approx(8 * outputs["decode_tokens_per_s_per_user"])
        assert outputs["decode_tokens_per_s_per_user"] == pytest.approx(1e3 / outputs["tpot_ms"])

    def test_devices_needed_is_null_where_none_would_do(self):
        assert infer(MISSION | {"hbm_cap_gb": 1})["outputs"]["memory"]["devices_needed"] is None

    def test_tells_what_evaluate_tells(self):
        outputs = infer(FULL | {"params_b": 70.553_706_496})["outputs"]
        device = Accelerator({"bf16": 990e12}, 3350e9, 80e9, 450e9)
        scenario = Scenario(device, "Llama 3.1 70B", Precision(2, 1, 2), Workload(4096, 512, 1), 4, 0.8)
        metrics = evaluate(scenario)
        assert outputs["tpot_ms"] == pytest.approx(1e3 * metrics.tpot)
        assert outputs["ttft_ms"] == pytest.approx(1e3 * metrics.ttft)
        assert outputs["memory"]["total_gb"] == pytest.approx(metrics.memory.total / 1e9)


class TestOptionalFields:
    @pytest.mark.parametrize("name", DEFAULTS)
    def test_default(self, name):
        given = infer(MISSION | {name: DEFAULTS[name]})
        assert given == infer(MISSION)

    def test_head_dim_is_what_hidden_over_heads_is(self):
        with_it = infer(MISSION | {"head_dim": 128})
        assert with_it["outputs"] == infer(MISSION)["outputs"]

    @pytest.mark.parametrize(
        ("name", "value", "figure"),
        [
            ("devices", 8, "tpot_ms"),
            ("link_gbs", 1, "tpot_ms"),
            ("memory_utilization", 0.5, "usable_gb"),
            ("head_dim", 64, "kv_bytes_per_token"),
            ("vocab_size", 32_000, "ttft_ms"),
            ("gated_ffn", False, "activations_gb"),
            ("tied_embeddings", True, "ttft_ms"),
            ("output_tokens", 2048, "kv_cache_gb"),
            ("kv_bytes", 2, "kv_bytes_per_token"),
            ("activation_bytes", 1, "tpot_ms"),
        ],
    )
    def test_each_is_heard(self, name, value, figure):
        before, after = (infer(request)["outputs"] for request in (FULL, FULL | {name: value}))
        assert {**before, **before["memory"]}[figure] != {**after, **after["memory"]}[figure]

    def test_every_parameter_is_optional_or_required(self):
        assert set(infer(MISSION)["inputs"]) == set(MISSION) | set(DEFAULTS)


class TestFaultyFields:
    """One ParameterError, that names the field and says what is allowed."""

    NO_NUMBER = ("4096", "", True, False, [1], [], {"a": 1}, [1, [2, 3]], b"1", 1j, object())
    NO_SIZE = (
        float("nan"),
        float("inf"),
        float("-inf"),
        0,
        0.0,
        -1,
        -0.5,
        1e300,
        pytest.param(10**400, id="401 digits"),
        TOO_LONG,
    )

    @pytest.mark.parametrize("name", NUMBERS)
    @pytest.mark.parametrize("value", NO_NUMBER + NO_SIZE)
    def test_number(self, name, value):
        faults = refused(FULL | {name: value})
        assert list(faults) == [name]
        low, high = (COUNTS | SIZES)[name]
        kind = "a whole number" if name in COUNTS else "a number"
        assert faults[name].startswith(f"{name} must be {kind} from {low:,.12g} to {high:,.12g}")
        assert len(faults[name]) < 200

    @pytest.mark.parametrize("name", COUNTS)
    @pytest.mark.parametrize("value", [1.5, 1.000_000_1, np.float64(2.5)])
    def test_count_that_is_not_whole(self, name, value):
        assert list(refused(FULL | {name: value})) == [name]

    @pytest.mark.parametrize("name", [name for name in NUMBERS if name not in NULLABLE])
    def test_null(self, name):
        assert list(refused(FULL | {name: None})) == [name]

    @pytest.mark.parametrize("name", NULLABLE)
    def test_null_is_mentioned_where_it_may_be_given(self, name):
        infer(FULL | {name: None})
        assert "null" in refused(FULL | {name: -1})[name]

    @pytest.mark.parametrize("name", NUMBERS)
    def test_just_outside(self, name):
        low, high = (COUNTS | SIZES)[name]
        for value in (low - 1, high + 1) if name in COUNTS else (low * 0.999, high * 1.001):
            assert list(refused(FULL | {name: value})) == [name]

    @pytest.mark.parametrize("name", ["gated_ffn", "tied_embeddings"])
    @pytest.mark.parametrize("value", [None, 0, 1, "true", [], {}, float("nan"), TOO_LONG])
    def test_switch(self, name, value):
        assert refused(FULL | {name: value})[name].startswith(f"{name} must be true or false, not ")

    @pytest.mark.parametrize("value", [np.array([1, 2]), np.array([]), np.array("1"), np.array(True), np.array([[1]])])
    def test_arrays_are_for_evaluate(self, value):
        assert list(refused(MISSION | {"batch": value})) == ["batch"]


class TestNamesOfFields:
    @pytest.mark.parametrize("name", MISSION)
    def test_missing(self, name):
        request = {key: value for key, value in MISSION.items() if key != name}
        assert refused(request)[name].startswith(f"{name} is missing: ")
        assert list(refused(request)) == [name]

    def test_nothing_given(self):
        assert set(refused({})) == set(MISSION)

    @pytest.mark.parametrize(
        ("unknown", "meant"),
        [
            ("peak_tflop", "peak_tflops"),
            ("hbm_bandwidth_gbs", "hbm_bw_gbs"),
            ("num_heads", "n_heads"),
            ("kv_heads", "n_kv_heads"),
            ("Batch", "batch"),
            ("output_token", "output_tokens"),
        ],
    )
    def test_unknown(self, unknown, meant):
        faults = refused(MISSION | {unknown: 1})
        assert faults == {unknown: f"'{unknown}' is not a parameter; did you mean '{meant}'?"}

    def test_unknown_and_like_none(self):
        assert refused(MISSION | {"zzz": 1}) == {"zzz": "'zzz' is not a parameter"}

    @pytest.mark.parametrize("name", [3, None, ("batch",), TOO_LONG, "b" * 10_000])
    def test_names_that_are_none(self, name):
        assert list(refused(MISSION | {name: 1})) == [name]

    def test_misspelt(self):
        request = {"bach" if name == "batch" else name: value for name, value in MISSION.items()}
        assert set(refused(request)) == {"bach", "batch"}


class TestContradictions:
    def test_kv_heads(self):
        faults = refused(MISSION | {"n_kv_heads": 7})
        assert faults == {"n_kv_heads": "n_kv_heads must divide n_heads=64, and 7 does not"}

    def test_more_kv_heads_than_heads(self):
        assert list(refused(MISSION | {"n_kv_heads": 128})) == ["n_kv_heads"]

    def test_devices(self):
        faults = refused(MISSION | {"devices": 3})
        assert faults == {
            "devices": (
                "devices must divide n_heads=64, and divide n_kv_heads=8 or be a multiple of it, and 3 does not"
            )
        }

    def test_hidden(self):
        faults = refused(MISSION | {"hidden_dim": 8190})
        assert list(faults) == ["hidden_dim"]  # and nothing about a head_dim that was not given
        assert faults["hidden_dim"].startswith("hidden_dim must be a multiple of n_heads=64 unless head_dim is given")
        infer(MISSION | {"hidden_dim": 8190, "head_dim": 128})

    def test_too_few_parameters(self):
        # attention 80 · 8192·128·2·(64+8) = 12.08e9, norms 1.3e6; a vocabulary adds 2 · 128256 · 8192 = 2.10e9
        faults = refused(MISSION | {"params_b": 12})
        assert list(faults) == ["params_b"]
        assert "more than the 12.08 billion parameters" in faults["params_b"]
        infer(MISSION | {"params_b": 12.1})
        assert "14.18 billion" in refused(MISSION | {"params_b": 12.1, "vocab_size": 128_256})["params_b"]
        # tied, it adds 1.05e9
        infer(MISSION | {"params_b": 13.2, "vocab_size": 128_256, "tied_embeddings": True})

    def test_several(self):
        assert set(refused(MISSION | {"n_kv_heads": 7, "devices": 3, "hidden_dim": 8190})) == {
            "n_kv_heads",
            "devices",
            "hidden_dim",
        }


def test_all_faults_come_at_once():
    request = MISSION | {"batch": 0, "seq_len": "long", "n_kv_heads": 7, "gated_ffn": 1, "zzz": 1, "link_gbs": True}
    del request["params_b"]
    assert set(refused(request)) == {"batch", "seq_len", "n_kv_heads", "gated_ffn", "zzz", "link_gbs", "params_b"}


def test_a_faulty_field_is_not_judged_against_others():
    """What n_kv_heads must divide is not known while n_heads is no number."""
    assert list(refused(MISSION | {"n_heads": "many", "n_kv_heads": 7})) == ["n_heads"]
    assert list(refused(MISSION | {"head_dim": "wide", "hidden_dim": 8190})) == ["head_dim"]


@pytest.mark.parametrize("request_", [None, [], [MISSION], "{}", 3, b"{}", object()])
def test_a_request_is_an_object(request_):
    assert "must be a JSON object" in refused(request_)["request"]


@pytest.mark.parametrize("kind", [OrderedDict, MappingProxyType])
def test_any_mapping_will_do(kind):
    assert infer(kind(MISSION)) == infer(MISSION)


@pytest.mark.parametrize(
    ("whole", "broken"), [(np.int64, np.float64), (np.int32, np.float32), (np.uint32, np.float32), (float, float)]
)
def test_numpy_scalars(whole, broken):
    request = {name: (whole if name in COUNTS else broken)(value) for name, value in MISSION.items()}
    answer = infer(request | {"gated_ffn": np.bool_(True)})
    assert json.loads(json.dumps(answer, allow_nan=False)) == infer(MISSION)


def test_inputs_are_of_the_kind_of_their_field():
    inputs = infer(MISSION | {"batch": 1.0, "weight_bytes": 1, "gated_ffn": np.bool_(True)})["inputs"]
    assert all(type(inputs[name]) is int for name in COUNTS if inputs[name] is not None)
    assert all(type(inputs[name]) is float for name in SIZES if inputs[name] is not None)
    assert type(inputs["gated_ffn"]) is bool


def test_the_request_is_left_as_it_was():
    request = copy.deepcopy(FULL)
    infer(request)
    assert request == FULL
    broken = FULL | {"batch": -1, "n_kv_heads": 7}
    refused(broken)
    assert broken == FULL | {"batch": -1, "n_kv_heads": 7}


def test_an_answer_may_be_changed():
    answer = infer(MISSION)
    answer["inputs"]["batch"] = 9
    answer["nodes"]["decode"].clear()
    assert infer(MISSION)["inputs"]["batch"] == 1
    assert infer(MISSION)["nodes"]["decode"]


SERVED = {"accelerator": "H200 SXM", "transformer": "DeepSeek V3", "devices": 8, "seq_len": 4096, "batch": 32}


class TestPresets:
    """A request may name what it serves, and on what, in place of numbers."""

    def test_fill_what_is_not_given(self):
        answer = infer(SERVED)
        assert (answer["inputs"]["hbm_bw_gbs"], answer["inputs"]["layers"], answer["inputs"]["weight_bytes"]) == (
            4800,
            61,
            1,
        )
        assert "experts" in [row["name"] for row in answer["nodes"]["decode"]]
        assert answer["outputs"]["memory"]["kv_bytes_per_token"] == 70_272
        assert infer(answer["inputs"]) == answer

    def test_numbers_given_win(self):
        edited = infer(SERVED | {"hbm_bw_gbs": 9600, "weight_bytes": 2})
        assert edited["inputs"]["hbm_bw_gbs"] == 9600
        plain = infer(SERVED)["outputs"]["memory"]["weights_gb"]
        # DeepSeek V3 is published in fp8, embedding and LM head in 16 bits: 2 · 129,280 · 7,168 over 8 devices
        assert edited["outputs"]["memory"]["weights_gb"] == pytest.approx(2 * plain - 2 * 129_280 * 7168 * 2 / 8 / 1e9)

    def test_a_configuration_may_stand_for_a_name(self):
        config = {"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
                  "num_key_value_heads": 8, "num_hidden_layers": 32, "num_local_experts": 8, "num_experts_per_tok": 2,
                  "vocab_size": 32000}  # fmt: skip
        by_config = infer({"accelerator": "H100 SXM", "transformer": config, "seq_len": 4096, "batch": 8, "devices": 2})
        by_name = infer(
            {"accelerator": "H100 SXM", "transformer": "Mixtral 8x7B", "seq_len": 4096, "batch": 8, "devices": 2}
        )
        assert by_config["outputs"] == by_name["outputs"]
        json.dumps(by_config, allow_nan=False)

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"accelerator": "H900"}, "accelerator must be one of"),
            ({"accelerator": 5}, "accelerator must be one of the catalog's"),
            ({"transformer": {"model_type": "perceptron"}}, "the family 'perceptron' is not known here"),
            ({"transformer": {}}, "a configuration must have model_type"),
            ({"devices": 3}, "devices must divide n_heads=128"),
            ({"pipeline": 62}, "pipeline must be at most the 61 layers, not 62"),
            ({"expert_parallel": "yes"}, "expert_parallel must be true or false"),
        ],
    )
    def test_what_is_wrong_is_told_in_a_sentence(self, change, told):
        with pytest.raises(ParameterError, match=re.escape(told)) as error:
            infer(SERVED | change)
        assert list(error.value.faults) in ([*change], ["config"])
