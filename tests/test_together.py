"""All serving techniques at once: any combination is a scenario, evaluates, and keeps its bounds."""

import json
import math
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from strategies import SERVED, served

from roofwidget import ParameterError, Precision, Scenario, Transformer, Workload, evaluate, infer
from roofwidget.kv_allocation import KVAllocation
from roofwidget.lengths import Lengths
from roofwidget.parameters import PARAMETERS, PRESETS
from roofwidget.prefill_pool import PrefillPool
from roofwidget.prefix import SharedPrefix
from roofwidget.roofline.memory import footprint, largest_batch, with_batch
from roofwidget.roofline.timing import time_pass
from roofwidget.schema import request_schema, response_schema
from roofwidget.serving.quantization import in_format
from roofwidget.serving.speculative_decoding import verifying
from roofwidget.serving.together import TECHNIQUES as ROWS
from roofwidget.serving.together import together
from roofwidget.speculation import Speculation
from roofwidget.widget.model import RooflineModel

ROUNDING = 1e-9
MAMBA = {
    "model_type": "falcon_mamba",
    "hidden_size": 4096,
    "num_hidden_layers": 64,
    "state_size": 16,
    "expand": 2,
    "conv_kernel": 4,
    "time_step_rank": 256,
    "use_bias": False,
    "use_conv_bias": True,
    "vocab_size": 65024,
    "tie_word_embeddings": False,
}
WITHOUT_ATTENTION = "Falcon Mamba 7B"
ON = {
    "continuous batching": [
        {"continuous_batching": False, "output_lengths": "geometric"},
        {"output_lengths": [1, 50, 700]},
        {"continuous_batching": False, "output_lengths": "lognormal", "output_spread": 2.0},
    ],
    "paged KV cache": [
        {"kv_allocation": "paged"},
        {"kv_allocation": "power of two"},
        {"kv_allocation": "reserved", "max_len": 8192},
    ],
    "quantization": [
        {"quantization": "fp8 W8A8", "kv_quantization": "fp8"},
        {"quantization": "int4 AWQ"},
        {"quantization": "nvfp4 W4A4", "kv_quantization": "int4"},
    ],
    "prefix caching": [
        {"prefix_tokens": 1500},
        {"prefix_tokens": 1500, "prefix_hit_rate": 0.5, "cascade_attention": True},
    ],
    "speculative decoding": [
        {"speculation": "n-gram"},
        {"speculation": "draft model", "draft_model": "Qwen3 0.6B"},
        {"speculation": "Medusa", "tree_tokens": 64},
        {"speculation": "EAGLE-3", "tree_tokens": 16},
        {"speculation": "MTP", "speculative_tokens": 1},
    ],
    "disaggregation": [
        {"disaggregated": True},
        {
            "disaggregated": True,
            "prefill_accelerator": "L4",
            "prefill_pool": 3,
            "prefill_batch": 4,
            "kv_link_gbs": 50.0,
        },
    ],
}
"""Ways to set each technique."""
PAIRS = list(combinations(ON, 2))
EXAMPLES = settings(max_examples=20)


def at_least(a, b):
    return np.all(np.asarray(a) >= np.asarray(b) * (1 - ROUNDING))


def asked(name, *techniques, **more):
    """A request of a model by name with these settings."""
    model, devices = (MAMBA, 1) if name == WITHOUT_ATTENTION else (name, SERVED[name][-1])
    request = {"accelerator": "H200 SXM", "transformer": model, "devices": devices, "seq_len": 2048}
    request |= {"output_tokens": 300, "batch": 24, "tpot_target_ms": 30.0}
    for technique in techniques:
        request |= technique
    if name == WITHOUT_ATTENTION and request.get("speculation") in ("EAGLE-3", "MTP"):
        request |= {"speculation": "Medusa"}
    return request | more


def numbers_in(value, path=""):
    """All numbers of an answer, with where they stand."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from numbers_in(part, f"{path}/{name}")
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from numbers_in(part, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def assert_in_order(request):
    """It is answered in plain, finite numbers that are not negative."""
    answer = infer(request)
    assert json.loads(json.dumps(answer, allow_nan=False)) == json.loads(json.dumps(answer))
    for path, number in numbers_in({name: answer[name] for name in ("outputs", "batch_curve", "nodes")}):
        assert 0 <= number < math.inf, (path, number)
    for name in ("ttft_ms", "tpot_ms", "e2e_ms", "prefill_batch_ms"):
        assert answer["outputs"][name] > 0
    return answer


class TestEveryModelTakesThemTogether:
    @pytest.mark.parametrize("name", [*SERVED, WITHOUT_ATTENTION])
    @pytest.mark.parametrize(("one", "other"), PAIRS)
    def test_in_pairs(self, name, one, other):
        turn = PAIRS.index((one, other)) + [*SERVED, WITHOUT_ATTENTION].index(name)
        both = (ON[technique][turn % len(ON[technique])] for technique in (one, other))
        assert_in_order(asked(name, *both))

    @pytest.mark.parametrize("name", [*SERVED, WITHOUT_ATTENTION])
    @pytest.mark.parametrize("turn", range(2))
    def test_all_six(self, name, turn):
        request = asked(name, *(ways[turn % len(ways)] for ways in ON.values()))
        answer = assert_in_order(request)
        assert infer(answer["inputs"]) == answer
        assert all(figures is not None for figures in answer["outputs"]["techniques"].values())
        Draft202012Validator(request_schema()).validate(request)
        Draft202012Validator(response_schema()).validate(json.loads(json.dumps(answer)))

    @pytest.mark.parametrize("way", [way for ways in ON.values() for way in ways], ids=str)
    def test_one_alone(self, way):
        answer = assert_in_order(asked("Llama 3.1 8B", way))
        assert infer(answer["inputs"]) == answer

    def test_none_leaves_no_figures(self):
        answer = infer(asked("Llama 3.1 8B"))
        assert set(answer["outputs"]["techniques"].values()) == {None}

    def test_a_request_needs_no_bytes_a_weight_that_a_preset_fills(self):
        """The schema asks for what infer asks for."""
        valid = Draft202012Validator(request_schema()).is_valid
        request = asked("Llama 3.1 8B")
        numbers = infer(request)["inputs"]
        bare = {name: number for name, number in numbers.items() if name not in ("weight_bytes", *PRESETS)}
        for given_, right in ((request, True), (bare, False), (bare | {"quantization": "int4 AWQ"}, True)):
            assert valid(json.loads(json.dumps(given_))) == right
            if right:
                infer(given_)
            else:
                with pytest.raises(ParameterError, match="weight_bytes is missing"):
                    infer(given_)


def figures(metrics):
    """All of a scenario that may be an array."""
    names = ("ttft", "tpot", "e2e", "user_speed", "decode_throughput", "prefill_throughput", "prefill_batch_time",
             "largest_batch", "devices_needed", "request_rate", "continuous_rate", "static_rate", "served_throughput",
             "transfer_time", "engine_batch", "usd_per_million_served_tokens", "joules_per_output_token")  # fmt: skip
    found = {name: getattr(metrics, name) for name in names}
    found |= {f"{name} time": phase.time for name, phase in metrics.phases().items()}
    found |= {
        f"memory {name}": getattr(metrics.memory, name) for name in ("weights", "kv_cache", "activations", "fits")
    }
    return {name: value for name, value in found.items() if value is not None}


def assert_array_is_its_points(scenario, batches):
    swept = figures(evaluate(with_batch(scenario, np.array(batches))))
    for i, batch in enumerate(batches):
        for name, value in figures(evaluate(with_batch(scenario, float(batch)))).items():
            assert np.broadcast_to(swept[name], len(batches))[i] == pytest.approx(value, rel=ROUNDING), (name, batch)


class TestAnyCombination:
    @given(served())
    @EXAMPLES
    def test_numbers_are_numbers(self, scenario):
        metrics = evaluate(scenario)
        for name, value in figures(metrics).items():
            assert 0 <= value < np.inf, name
        for name in ("ttft", "tpot", "e2e", "prefill_batch_time"):
            assert getattr(metrics, name) > 0
        for phase in metrics.phases().values():
            assert ((phase.node_times >= 0) & (phase.node_times < np.inf)).all()
            assert min(phase.flops.min(), phase.bytes.min()) >= 0
            assert phase.node_shares.sum() == pytest.approx(1)

    @given(served())
    @EXAMPLES
    def test_no_pass_beats_the_roofline(self, scenario):
        metrics = evaluate(scenario)
        for phase, side in ((metrics.prefill, scenario.prefill_side), (metrics.decode, scenario)):
            device = side.device
            assert at_least(phase.time, phase.bytes.sum() / device.bandwidth)
            assert at_least(phase.time, phase.flops.sum() / max(device.peaks.values()))
            assert at_least(phase.time, sum(node.link_bytes for node in phase.nodes) / device.link_bandwidth)

    @given(served(), st.integers(1, 5_000))
    @EXAMPLES
    def test_arrays_are_many_scalars(self, scenario, batch):
        assert_array_is_its_points(scenario, [1.0, float(batch), float(scenario.workload.batch)])

    @pytest.mark.parametrize("way", [way for ways in ON.values() for way in ways], ids=str)
    def test_arrays_with_each_technique(self, way):
        model = RooflineModel(**asked("Llama 3.1 8B", way))
        assert_array_is_its_points(model.scenario, [1.0, 24.0, 700.0])

    @given(served())
    @EXAMPLES
    def test_memory_agrees_with_itself(self, scenario):
        metrics = evaluate(scenario)
        largest = float(metrics.largest_batch)
        assert bool(metrics.memory.fits) == (scenario.workload.batch <= largest)
        assert not largest or footprint(with_batch(scenario, largest)).fits
        assert not footprint(with_batch(scenario, largest + scenario.data_parallel)).fits
        assert not metrics.memory.fits or 0 < metrics.devices_needed <= scenario.devices_of_batch
        curve = metrics.batch_curve
        assert np.array_equal(curve.memory.fits, curve.batch <= largest)

    @given(served())
    @EXAMPLES
    def test_what_fits_together_fits_without_one(self, scenario):
        batches = np.arange(1.0, 400.0)
        fits = np.broadcast_to(footprint(with_batch(scenario, batches)).fits, batches.shape)
        assert not (fits[1:] & ~fits[:-1]).any()

    @given(served())
    @EXAMPLES
    def test_continuous_never_serves_less(self, scenario):
        metrics = evaluate(scenario)
        assert at_least(metrics.continuous_rate, metrics.static_rate)
        both = [evaluate(replace(scenario, continuous=continuous)).request_rate for continuous in (True, False)]
        assert at_least(*both)

    @given(served())
    @EXAMPLES
    def test_objectives_are_kept(self, scenario):
        assume(scenario.objectives)
        metrics = evaluate(scenario)
        batch = metrics.goodput.batch
        assert batch <= metrics.largest_batch
        if batch:
            promised = scenario.objectives
            assert metrics.ttft <= (promised.ttft or np.inf)
            assert at_least(promised.tpot or np.inf, evaluate(with_batch(scenario, batch)).tpot)


class TestMemorySaved:
    @given(served())
    @EXAMPLES
    def test_blocks_hold_no_fewer_than_one_piece_and_no_more_than_all_there_is(self, scenario):
        kinds = evaluate(scenario).paging.kinds
        assume("paged" in kinds)
        for kind in ("reserved", "power of two"):
            assert kind not in kinds or kinds["paged"].largest_batch >= kinds[kind].largest_batch
        assert kinds["paged"].largest_batch <= kinds["exact"].largest_batch

    @given(served())
    @EXAMPLES
    def test_by_a_prefix(self, scenario):
        assume(scenario.prefix.tokens)
        assert largest_batch(scenario) >= largest_batch(replace(scenario, prefix=SharedPrefix()))

    @given(served(), st.sampled_from(["fp8 W8A8", "int8 W8A8", "int4 AWQ", "mxfp4", "nvfp4 W4A4"]))
    @EXAMPLES
    def test_by_a_format_of_weights(self, scenario, name):
        assert largest_batch(in_format(scenario, name)) >= largest_batch(in_format(scenario, "bf16"))

    @given(served(), st.lists(st.sampled_from([0.25, 0.5, 0.53, 1.0, 2.0]), min_size=2, max_size=2).map(sorted))
    @EXAMPLES
    def test_by_a_format_of_the_cache(self, scenario, sizes):
        small, large = (replace(scenario, precision=replace(scenario.stored, kv_bytes=size)) for size in sizes)
        assert largest_batch(small) >= largest_batch(large)


class TestTimeSaved:
    @given(served(), st.integers(0, 200_000))
    @EXAMPLES
    def test_more_cached_tokens_never_prefill_later(self, scenario, tokens):
        fewer, more = sorted([scenario.prefix.tokens, min(float(tokens), scenario.workload.seq_len - 1)])
        cached = [evaluate(replace(scenario, prefix=replace(scenario.prefix, tokens=n))).ttft for n in (fewer, more)]
        assert at_least(*cached)

    @given(served())
    @EXAMPLES
    def test_a_cascade_never_reads_more(self, scenario):
        once, each = (
            evaluate(replace(scenario, prefix=replace(scenario.prefix, cascade=cascade))).decode.bytes.sum()
            for cascade in (True, False)
        )
        assert at_least(each, once)

    @given(served())
    @EXAMPLES
    def test_a_round_takes_no_less_than_its_verifying_pass(self, scenario):
        assume(scenario.speculation)
        metrics, drafts, device = evaluate(scenario), scenario.speculation, scenario.device
        of_model = verifying(metrics.decode)
        assert at_least(metrics.decode.time, metrics.decode.bytes[of_model].sum() / device.bandwidth)
        assert at_least(metrics.decode.time, metrics.decode.flops[of_model].sum() / max(device.peaks.values()))
        assert 1 < scenario.tokens_per_step <= (drafts.tokens + 1) * (1 + ROUNDING)

    @given(served())
    @EXAMPLES
    def test_speeds_up_by_no_more_than_the_tokens_of_a_round(self, scenario):
        assume(scenario.speculation)
        drafted = evaluate(scenario).speculation
        assert at_least(drafted.verify_time, drafted.plain_tpot)
        for speedup in (drafted.speedup, drafted.batch_speedup, drafted.context_speedup):
            assert at_least(drafted.tokens_per_step, speedup)
        assert drafted.break_even is None or 0 < drafted.break_even <= 1

    @given(served())
    @EXAMPLES
    def test_pools_serve_no_more_than_either(self, scenario):
        assume(scenario.prefill_pool)
        metrics = evaluate(scenario)
        pools = metrics.disaggregation
        for rate in pools.rates.values():
            assert at_least(rate, metrics.request_rate)
        assert pools.request_rate == pytest.approx(metrics.request_rate)


class TestMTPIsOfTheCheckpoint:
    def test_experts_are_stored_as_the_models_are(self):
        """gpt-oss 20B: experts in 4.25 bits, the rest in 16."""
        scenario = Scenario("H100 SXM", "gpt-oss 20B", speculation=Speculation("MTP"))
        (layer,) = scenario.drafting.drafter.transformer.blocks
        hidden = scenario.model.hidden_dim
        experts = 32 * 3 * 2880 * 2880
        own = footprint(scenario).weights - footprint(replace(scenario, speculation=None)).weights
        assert own == pytest.approx(experts * 0.53125 + (layer.layer_params(hidden) - experts) * 2, rel=1e-6)

    def test_experts_are_spread_as_the_models_are(self):
        """256 experts whole on 8 · 4 devices: 8 each, of 3 · 2048 · 7168; all else of the layer on 8."""
        spread = {"devices": 8, "data_parallel": 4, "expert_parallel": True}
        scenario = Scenario("H200 SXM", "DeepSeek V3", speculation=Speculation("MTP"), **spread)
        own = footprint(scenario).weights - footprint(replace(scenario, speculation=None)).weights
        sliced = replace(scenario, expert_parallel=False)
        whole = footprint(sliced).weights - footprint(replace(sliced, speculation=None)).weights
        assert whole - own == pytest.approx((32 - 8) * 3 * 2048 * 7168, rel=1e-6)

    @pytest.mark.parametrize(("method", "follows"), [("MTP", True), ("EAGLE", False)])
    def test_is_quantized_with_the_model(self, method, follows):
        def own(name):
            scenario = in_format(Scenario("H100 SXM", "Llama 3.1 8B", speculation=Speculation(method)), name)
            drafts = [node for node in evaluate(scenario).decode.nodes if node.name == "draft FFN"]
            weights = footprint(scenario).weights - footprint(replace(scenario, speculation=None)).weights
            return weights, drafts[0].linear

        (sixteen, _), (eight, linear) = own("bf16"), own("fp8 W8A8")
        assert eight == pytest.approx(sixteen / 2 if follows else sixteen)
        assert linear == follows

    def test_computes_at_the_peak_of_its_format(self):
        """A prompt of 100,000 tokens is compute-bound: the module's FFN takes half as long in fp8 as in 16 bits."""
        scenario = Scenario("H100 SXM", "Llama 3.1 8B", workload=Workload(100_000), speculation=Speculation("MTP"))

        def spent(name):
            prefill = evaluate(in_format(scenario, name)).prefill
            return dict(zip((node.name for node in prefill.nodes), prefill.node_times, strict=True))["draft FFN"]

        assert spent("bf16") / spent("fp8 W8A8") == pytest.approx(2, rel=1e-3)

    def test_weights_of_a_draft_model_are_counted_as_anyones(self):
        """KV heads that devices have in common are in the memory of each: 8 of them on 16 devices."""
        drafts = Speculation("draft model", draft="Llama 3.2 1B")
        scenario = Scenario("H100 SXM", "Llama 3.1 70B", devices=16, speculation=drafts)
        own = footprint(scenario).weights - footprint(replace(scenario, speculation=None)).weights
        assert own == pytest.approx(footprint(Scenario("H100 SXM", "Llama 3.2 1B", devices=16)).weights, rel=1e-3)

    def test_the_engine_has_room_for_a_drafters_cache(self):
        """16 layers of 8 heads of 64 beside 32 of 8 heads of 128: a quarter of it more a token."""
        drafts = Speculation("draft model", draft="Llama 3.2 1B")
        scenario = Scenario("H100 SXM", "Llama 3.1 8B", speculation=drafts)
        own, plain = (evaluate(s).engine_capacity.block_bytes for s in (scenario, replace(scenario, speculation=None)))
        assert own / plain == pytest.approx(1.25)


BAD = [
    ({"speculation": "EAGLE", "acceptance": 1}, "acceptance", "must be a number from 0.001 to 0.999, not 1"),
    ({"acceptance": 1.5}, "acceptance", "must be a number from 0.001 to 0.999, not 1.5"),
    ({"speculation": "n-gram", "speculative_tokens": 0}, "speculative_tokens", "must be a whole number from 1 to 64"),
    ({"prefix_tokens": 100, "prefix_hit_rate": 1.2}, "prefix_hit_rate", "must be a number from 0.001 to 1, not 1.2"),
    ({"kv_allocation": "paged", "block_size": 2048}, "block_size", "must be at most the 1,099 tokens of a sequence"),
    ({"kv_allocation": "paged", "block_size": 48}, "block_size", "must be a power of two, not 48"),
    ({"disaggregated": True, "prefill_pool": 0}, "prefill_pool", "must be a whole number from 1 to 10,000, not 0"),
    ({"disaggregated": True, "prefill_devices": 0}, "prefill_devices", "must be a whole number from 1 to 1,024, or nu"),
    ({"disaggregated": True, "prefill_devices": 3}, "prefill_devices", "must divide n_heads=32"),
    ({"disaggregated": True, "kv_link_gbs": 0}, "kv_link_gbs", "must be a number from 0.001 to 1,000,000, or null"),
    ({"prefix_tokens": 1000}, "prefix_tokens", "must be less than the 1,000 tokens of seq_len"),
    ({"prefix_tokens": 0}, "prefix_tokens", "must be a whole number from 1 to 100,000,000, or null, not 0"),
    ({"speculation": "EAGLE", "tree_tokens": 3}, "tree_tokens", "must be at least speculative_tokens=4, and 3 is not"),
    ({"speculation": "n-gram", "tree_tokens": 8}, "tree_tokens", "goes with Medusa, EAGLE, EAGLE-2, EAGLE-3 only"),
    ({"speculation": "EAGLE", "tree_tokens": 0}, "tree_tokens", "must be a whole number from 1 to 1,024, or null"),
    ({"speculation": "magic"}, "speculation", "must be one of draft model, Medusa"),
    ({"speculation": ["EAGLE"]}, "speculation", "must be one of draft model, Medusa"),
    ({"kv_allocation": "slab"}, "kv_allocation", "must be one of exact, paged, reserved, power of two, not 'slab'"),
    ({"quantization": "fp3"}, "quantization", "must be one of "),
    ({"kv_quantization": "fp3"}, "kv_quantization", "must be one of fp8"),
    ({"speculation": "draft model", "draft_model": "GPT-9"}, "draft_model", "must be one of Llama 3.1 70B"),
    ({"speculation": "draft model", "draft_model": None}, "draft_model", "must be one of Llama 3.1 70B"),
    ({"disaggregated": True, "prefill_accelerator": "H900"}, "prefill_accelerator", "must be one of "),
    ({"transformer": MAMBA, "speculation": "EAGLE"}, "speculation", "must be n-gram, Medusa or draft model for a mod"),
    ({"transformer": MAMBA, "speculation": "MTP"}, "speculation", "must be n-gram, Medusa or draft model for a model"),
    ({"output_lengths": "gauss"}, "output_lengths", "must be one of fixed, uniform, geometric, lognormal, or a list"),
    ({"output_lengths": []}, "output_lengths", "1 to 10,000 whole numbers of 1 or more, not one of 0"),
    ({"output_lengths": [5, 0]}, "output_lengths", "1 to 10,000 whole numbers of 1 or more, not one with 0"),
    ({"output_lengths": [5, 1.5]}, "output_lengths", "1 to 10,000 whole numbers of 1 or more, not one with 1.5"),
    ({"output_lengths": [5, None]}, "output_lengths", "1 to 10,000 whole numbers of 1 or more, not one with None"),
    ({"output_lengths": [[1, 2], [3, 4]]}, "output_lengths", "whole numbers of 1 or more, not one with [1, 2]"),
    ({"output_lengths": [[1, 2], [3]]}, "output_lengths", "whole numbers of 1 or more, not one with [1, 2]"),
    ({"output_lengths": [1] * 10_001}, "output_lengths", "not one of 10,001"),
    ({"output_lengths": [1e300]}, "output_lengths", "must be at most 100,000,000 tokens each, not 1e+300"),
    ({"output_lengths": [1e308, 1e308, 1]}, "output_lengths", "must be at most 100,000,000 tokens each, not 1e+308"),
    ({"output_lengths": [10**400]}, "output_lengths", "whole numbers of 1 or more, not one with 1000000"),
    ({"output_spread": 0}, "output_spread", "must be a number from 0.01 to 10, not 0"),
    ({"kv_allocation": "reserved", "max_len": 500}, "max_len", "must be at least the 1,099 tokens of a sequence, not"),
    ({"cascade_attention": 2}, "cascade_attention", "must be true or false, not 2"),
    ({"continuous_batching": None}, "continuous_batching", "must be true or false, not None"),
    ({"disaggregated": "yes"}, "disaggregated", "must be true or false, not 'yes'"),
]
STANDING = {"accelerator": "H100 SXM", "transformer": "Llama 3.1 8B", "seq_len": 1000, "output_tokens": 100, "batch": 8}


@pytest.mark.parametrize(("change", "name", "told"), BAD, ids=[str(change)[:60] for change, *_ in BAD])
class TestBadInputIsToldInASentence:
    def assert_told(self, faults, name, told):
        assert set(faults) == {name}
        assert told in faults[name]
        assert faults[name].startswith(name)
        assert len(faults[name]) < 200
        assert "\n" not in faults[name]

    def test_by_infer(self, change, name, told):
        with pytest.raises(ParameterError) as caught:
            infer(STANDING | change)
        self.assert_told(caught.value.faults, name, told)

    def test_by_a_model_which_stays_as_it_was(self, change, name, told):
        model = RooflineModel(**STANDING)
        before, metrics = model.parameters(), model.metrics
        with pytest.raises(ParameterError) as caught:
            model.update(**change)
        self.assert_told(caught.value.faults, name, told)
        assert model.parameters() == before
        assert model.metrics is metrics

    def test_trait_by_trait(self, change, name, told):
        model = RooflineModel(**STANDING)
        *first, (trait, value) = change.items()
        if trait == name:
            for own in first:
                setattr(model, *own)
        else:  # the fault is in what was given first
            trait, value = name, change[name]
        before = model.parameters()
        with pytest.raises(ParameterError, match=f"^{name} .*{re.escape(told)}"):
            setattr(model, trait, value)
        assert model.parameters() == before
        assert model.metrics.scenario == model.scenario


class TestBadInput:
    def test_several_are_told_at_once(self):
        many = {"speculation": "EAGLE", "acceptance": 1, "speculative_tokens": 0, "tree_tokens": 0}
        many |= {"disaggregated": True, "prefill_pool": 0, "prefix_tokens": 5000, "prefix_hit_rate": 2}
        many |= {"kv_allocation": "paged", "block_size": 4096}
        with pytest.raises(ParameterError) as caught:
            infer(STANDING | many)
        assert set(caught.value.faults) == set(many) - {"speculation", "disaggregated", "kv_allocation"}

    def test_of_a_list_the_mean_has_to_find_room(self):
        listed = {name: value for name, value in STANDING.items() if name != "output_tokens"}
        with pytest.raises(ParameterError, match="max_len must be at least the 1,299 tokens of a sequence, not 1,099"):
            infer(listed | {"output_lengths": [200, 400], "kv_allocation": "reserved", "max_len": 1099})

    def test_a_scenario_refuses_what_does_not_go_together(self):
        mamba = Transformer.from_hf_config(MAMBA)
        with pytest.raises(ParameterError, match="speculation must be n-gram, Medusa or draft model"):
            Scenario("H100 SXM", mamba, speculation=Speculation("EAGLE"))

    @pytest.mark.parametrize("name", [*PARAMETERS, *PRESETS])
    def test_no_value_ends_in_another_error(self, name):
        everything = asked("Llama 3.1 8B", *(ways[-1] for ways in ON.values()))
        for value in (float("nan"), -1, "nonsense", [], {}, [[1], [2, 3]], b"1", 10**400):
            with pytest.raises(ParameterError) as caught:
                infer(everything | {name: value})
            assert name in caught.value.faults


SET = Scenario(
    "H100 SXM",
    "Llama 3.1 70B",
    Precision(1.0, 1.0, 2.0, "fp8", embedding_weight_bytes=2.0),
    Workload(2000, 300, 32, Lengths("geometric")),
    devices=8,
    kv_allocation=KVAllocation("paged"),
    prefix=SharedPrefix(700, 0.9),
    speculation=Speculation("EAGLE-3", 0.8, 5, 20),
    prefill_pool=PrefillPool("H100 SXM", 4, 2, link_bandwidth=50e9),
)
"""With all six techniques."""
BARE = replace(
    SET,
    precision=Precision(2.0, 2.0, 2.0, "bf16", embedding_weight_bytes=2.0),
    continuous=False,
    kv_allocation=KVAllocation("reserved"),
    prefix=SharedPrefix(),
    speculation=None,
    prefill_pool=None,
)
"""The same with none of them."""


def row(scenario):
    """A row of the comparison, by hand."""
    metrics = evaluate(scenario)
    largest = float(metrics.largest_batch)
    pools = metrics.disaggregation
    if not largest or (pools is not None and not pools.prefill_fits):  # nothing is served without a prefill
        return (float(metrics.ttft), float(metrics.tpot), 0.0, 0.0, None)
    full = evaluate(replace(scenario, workload=replace(scenario.workload, batch=largest)))
    rate = float(full.request_rate) * float(scenario.workload.output_tokens)
    dollars = None
    if full.usd_per_million_served_tokens is not None:
        dollars = float(full.usd_per_million_served_tokens)
    return (float(metrics.ttft), float(metrics.tpot), largest, rate, dollars)


def told(bought):
    return (bought.ttft, bought.tpot, bought.largest_batch, bought.throughput, bought.usd)


class TestTheComparison:
    def test_has_a_row_for_each(self):
        compared = together(evaluate(SET), evaluate)
        assert [own.name for own in compared.alone] == [own.name for own in compared.stacked] == list(ON)

    def test_none_is_the_scenario_without_any(self):
        assert told(together(evaluate(SET), evaluate).none) == row(BARE)

    @pytest.mark.parametrize("at", range(len(ROWS)))
    def test_alone_is_that_scenario(self, at):
        field = ROWS[at].field
        alone = together(evaluate(SET), evaluate).alone[at]
        assert told(alone) == row(replace(BARE, **{field: getattr(SET, field)}))

    @pytest.mark.parametrize("at", range(len(ROWS)))
    def test_stacked_is_those_before_too(self, at):
        fields = [technique.field for technique in ROWS[: at + 1]]
        stacked = together(evaluate(SET), evaluate).stacked[at]
        assert told(stacked) == row(replace(BARE, **{field: getattr(SET, field) for field in fields}))

    def test_with_all_set_the_last_is_what_is_set(self):
        compared = together(evaluate(SET), evaluate)
        assert told(compared.stacked[-1]) == told(compared.now) == row(SET)

    @given(served())
    @settings(max_examples=10)
    def test_of_any_combination(self, scenario):
        compared = together(evaluate(scenario), evaluate)
        rows = [compared.none, *compared.alone, *compared.stacked, compared.now]
        for own in rows:
            assert all(value is None or 0 <= value < math.inf for value in told(own))
            assert min(own.ttft, own.tpot) > 0
            assert bool(own.throughput) == bool(own.largest_batch)
        assert told(compared.now) == row(scenario)
        assert told(compared.alone[0]) == told(compared.stacked[0])
        by_name = {own.name: own for own in compared.alone}
        for name in ("continuous batching", "paged KV cache", "quantization", "prefix caching"):
            assert by_name[name].largest_batch >= compared.none.largest_batch

    @given(served())
    @settings(max_examples=10)
    def test_techniques_that_stand_are_switched_on_as_they_are(self, scenario):
        techniques = {technique.name: technique for technique in ROWS}
        if scenario.prefix.tokens:
            assert techniques["prefix caching"].on(scenario).prefix == scenario.prefix
        for technique in ROWS:
            standing = getattr(scenario, technique.field)
            if technique.field in ("speculation", "prefill_pool") and standing is not None:
                assert getattr(technique.on(scenario), technique.field) == standing
        for technique in ROWS:
            off = technique.off(scenario)
            assert technique.off(technique.on(off)) == off


def test_a_verifying_pass_is_a_pass_of_that_many_tokens():
    """Its nodes alone are those of the scenario that drafts from the prompt, which costs nothing."""
    drafted = evaluate(SET).decode
    looked_up = evaluate(replace(SET, speculation=Speculation("n-gram", 0.8, 20))).decode
    own = [node for node, of_model in zip(drafted.nodes, verifying(drafted), strict=True) if of_model]
    assert time_pass(tuple(own), SET).time == pytest.approx(looked_up.time)
