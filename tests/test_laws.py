"""What holds for every scenario, whatever its numbers."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import SCENARIO, build, numbers, requests

from roofwidget import Accelerator, Precision, Scenario, Transformer, Workload, evaluate, infer
from roofwidget.roofline.memory import footprint, largest_batch

ROUNDING = 1e-9


def at_least(a, b):
    return a >= b * (1 - ROUNDING)


class TestMoreWorkNeverTakesLess:
    @pytest.mark.parametrize("name", ["batch", "prompt", "output", "layers", "hidden", "ffn", "vocabulary"])
    @given(numbers(), st.data())
    @settings(max_examples=40)
    def test_more_of(self, name, drawn, data):
        self.compare(drawn, name, more=max(drawn[name], data.draw(SCENARIO[name])))

    @pytest.mark.parametrize("name", ["weight_bytes", "kv_bytes", "activation_bytes"])
    @given(numbers(), st.data())
    @settings(max_examples=40)
    def test_wider(self, name, drawn, data):
        self.compare(drawn, name, more=max(drawn[name], data.draw(SCENARIO[name])))

    @pytest.mark.parametrize("name", ["peak", "bandwidth", "link"])
    @given(numbers(), st.data())
    @settings(max_examples=40)
    def test_a_slower_device(self, name, drawn, data):
        self.compare(drawn, name, more=min(drawn[name], data.draw(SCENARIO[name])))

    def compare(self, drawn, name, more):
        before, after = evaluate(build(drawn)), evaluate(build({**drawn, name: more}))
        assert at_least(after.tpot, before.tpot)
        assert at_least(after.ttft, before.ttft)
        assert at_least(after.e2e, before.e2e)
        assert at_least(after.prefill_batch_time, before.prefill_batch_time)


class TestEverythingIsCounted:
    @given(numbers())
    def test_flops_are_two_a_parameter_and_attention(self, drawn):
        """Of every matrix but the embedding, which is a table; of the LM head once a sequence."""
        n = {**drawn, "devices": 1}
        scenario = build(n)
        model, head = scenario.model, n["hidden"] * n["vocabulary"]
        blocks = model.params - model.embedding_params - (2 * n["layers"] + 1) * n["hidden"]
        width = n["queries"] * n["width"] * n["layers"]
        # steps follow the prompt at contexts prompt + 1 … prompt + output − 1; for one token none does
        context = n["prompt"] + (n["output"] / 2 if n["output"] > 1 else 0)
        metrics = evaluate(scenario)
        decode = n["batch"] * (2 * (blocks + head) + 4 * width * context)
        prefill = n["prompt"] * 2 * blocks + 2 * head + 2 * width * n["prompt"] * (n["prompt"] + 1)
        assert sum(node.flops for node in metrics.decode.nodes) == pytest.approx(decode, rel=ROUNDING)
        assert sum(node.flops for node in metrics.prefill.nodes) == pytest.approx(prefill, rel=ROUNDING)

    @given(numbers())
    def test_weights_read_and_rows_gathered_are_the_weights_held(self, drawn):
        scenario = build(drawn)
        read = sum(node.weight_bytes for node in evaluate(scenario).decode.nodes if node.name != "embedding")
        table = 0 if drawn["tied"] else drawn["vocabulary"] * drawn["hidden"] / drawn["devices"]
        norms = (2 * drawn["layers"] + 1) * drawn["hidden"]
        held = footprint(scenario).weights
        assert read + (table + norms) * drawn["weight_bytes"] == pytest.approx(held, rel=ROUNDING)

    @given(numbers())
    def test_passes_add_up_their_nodes(self, drawn):
        metrics = evaluate(build(drawn))
        for phase in metrics.phases().values():
            flops, moved = sum(n.flops for n in phase.nodes), sum(n.bytes for n in phase.nodes)
            assert phase.intensity == pytest.approx(flops / moved, rel=ROUNDING)
            assert phase.time == pytest.approx(sum(phase.node_times), rel=ROUNDING)

    @given(numbers())
    def test_devices_share_the_flops_out(self, drawn):
        """Query heads, FFN and vocabulary are divided; KV heads too where devices divide them."""
        assume(drawn["keys"] % drawn["devices"] == 0)
        each, alone = (evaluate(build({**drawn, "devices": d})) for d in (drawn["devices"], 1))
        for one, whole in zip(each.phases().values(), alone.phases().values(), strict=True):
            shared = drawn["devices"] * sum(node.flops for node in one.nodes)
            assert shared == pytest.approx(sum(node.flops for node in whole.nodes), rel=ROUNDING)


class TestTheRooflineIsABound:
    @given(numbers())
    def test_no_pass_beats_it(self, drawn):
        metrics = evaluate(build(drawn))
        for phase in metrics.phases().values():
            assert at_least(phase.time, sum(node.bytes for node in phase.nodes) / drawn["bandwidth"])
            assert at_least(phase.time, sum(node.flops for node in phase.nodes) / drawn["peak"])
            assert at_least(phase.time, sum(node.link_bytes for node in phase.nodes) / drawn["link"])

    @given(numbers())
    def test_decode_streams_every_matrix_and_the_cache(self, drawn):
        scenario = build(drawn)
        held, share = footprint(scenario), drawn["weight_bytes"] / drawn["devices"]
        table = 0 if drawn["tied"] else drawn["vocabulary"] * drawn["hidden"] * share
        matrices = held.weights - table - (2 * drawn["layers"] + 1) * drawn["hidden"] * drawn["weight_bytes"]
        cache = held.kv_cache * (drawn["prompt"] + (drawn["output"] - 1) / 2) / scenario.workload.final_context
        assert at_least(evaluate(scenario).tpot, (matrices + cache) / drawn["bandwidth"])

    @given(numbers())
    def test_nothing_is_used_more_than_in_full(self, drawn):
        metrics = evaluate(build(drawn))
        for phase in metrics.phases().values():
            assert 0 <= metrics.mfu(phase) <= 1
            assert 0 < metrics.mbu(phase) <= 1

    @given(numbers())
    def test_a_node_on_one_side_of_the_ridge_is_bound_by_that_side(self, drawn):
        metrics = evaluate(build({**drawn, "link": math.inf}))
        for phase in metrics.phases().values():
            for intensity, bound in zip(phase.node_intensities, phase.node_bounds, strict=True):
                if abs(intensity / metrics.ridge - 1) > ROUNDING:
                    assert bound == (1 if intensity > metrics.ridge else 0)


class TestMemory:
    @given(numbers())
    def test_what_fits_together_fits_without_one(self, drawn):
        assume(drawn["batch"] > 1)
        fewer = footprint(build({**drawn, "batch": drawn["batch"] - 1}))
        assert fewer.fits or not footprint(build(drawn)).fits

    @given(st.data())
    def test_the_largest_batch_fits_and_one_more_does_not(self, data):
        """In sizes that binary fractions hold, down to the last byte."""
        small = st.integers(1, 64)
        kv_heads = data.draw(st.sampled_from([1, 2, 4]))
        model = Transformer.dense(data.draw(small), data.draw(small), 4, kv_heads, 8, 16, 32)
        precision = Precision(*(data.draw(st.sampled_from([0.5, 1, 2, 4])) for _ in range(3)))
        workload = Workload(data.draw(st.integers(1, 20_000)), data.draw(st.integers(1, 300)))

        def holding(batch, capacity):
            device = Accelerator({"bf16": 1.0}, 1.0, capacity)
            return Scenario(device, model, precision, replace(workload, batch=batch), memory_utilization=1.0)

        wanted = data.draw(st.integers(1, 30_000))
        exact = footprint(holding(wanted, 1.0)).total
        for capacity in (exact, exact - 1, exact + 1, exact * data.draw(st.integers(1, 1000)) / 8):
            largest = largest_batch(holding(1, capacity))
            assert largest == int(largest)
            assert not footprint(holding(largest + 1, capacity)).fits
            assert largest == 0 or footprint(holding(largest, capacity)).fits
        assert largest_batch(holding(1, exact)) == wanted

    @given(numbers())
    def test_all_its_answers_agree(self, drawn):
        metrics = evaluate(build(drawn))
        fits = bool(metrics.memory.fits)
        assert fits == (metrics.largest_batch >= drawn["batch"])
        assert fits == (0 < metrics.devices_needed <= drawn["devices"])
        curve = metrics.batch_curve
        assert np.array_equal(curve.memory.fits, curve.batch <= metrics.largest_batch)

    @given(numbers())
    def test_the_devices_needed_would_do(self, drawn):
        needed = evaluate(build(drawn)).devices_needed
        assume(needed > 0)
        assert footprint(build({**drawn, "devices": needed})).fits


def everything(metrics):
    return {
        **{name: getattr(metrics, name) for name in ("ttft", "tpot", "e2e", "user_speed", "decode_throughput")},
        **{name: getattr(metrics, name) for name in ("prefill_throughput", "prefill_batch_time", "ridge")},
        **{name: getattr(metrics, name) for name in ("largest_batch", "devices_needed")},
        "kv_bytes_per_token": metrics.kv_bytes_per_token,
        **{f"memory {name}": getattr(metrics.memory, name) for name in ("total", "fits", "usable")},
        **{f"mfu {name}": metrics.mfu(phase) for name, phase in metrics.phases().items()},
        **{f"mbu {name}": metrics.mbu(phase) for name, phase in metrics.phases().items()},
        **{f"intensity {name}": phase.intensity for name, phase in metrics.phases().items()},
        **{f"bound {name}": phase.bound for name, phase in metrics.phases().items()},
    }


def assert_grid_is_its_points(drawn, axes):
    """Evaluate once with every axis an array along a dimension of its own, and once a point."""
    shape = tuple(len(values) for values in axes.values())
    grids = dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij", sparse=True), strict=True))
    swept = everything(evaluate(build({**drawn, **grids})))
    for index in np.ndindex(shape):
        point = {name: values[i] for (name, values), i in zip(axes.items(), index, strict=True)}
        for name, value in everything(evaluate(build({**drawn, **point}))).items():
            assert np.broadcast_to(swept[name], shape)[index] == pytest.approx(value, rel=ROUNDING), (name, point)


class TestArraysAreManyScalars:
    @given(numbers(), st.data())
    @settings(max_examples=40)
    def test_over_any_fields(self, drawn, data):
        names = data.draw(st.lists(st.sampled_from(sorted(SCENARIO)), min_size=1, max_size=3, unique=True))
        axes = {name: data.draw(st.lists(SCENARIO[name], min_size=1, max_size=3)) for name in names}
        assert_grid_is_its_points(drawn, axes)

    @given(numbers())
    @settings(max_examples=20)
    def test_over_batch_bandwidth_and_prompt(self, drawn):
        assert_grid_is_its_points(
            drawn, {"batch": [1, 7, 300, 9000], "bandwidth": [2e11, 3.35e12], "prompt": [1, 4096, 100_000]}
        )

    @given(numbers())
    @settings(max_examples=20)
    def test_over_devices(self, drawn):
        assert_grid_is_its_points({**drawn, "queries": 48, "keys": 8}, {"devices": [1, 2, 8, 48], "batch": [1, 64]})

    @given(numbers())
    @settings(max_examples=20)
    def test_over_kv_heads(self, drawn):
        assert_grid_is_its_points({**drawn, "queries": 48, "devices": 6}, {"keys": [1, 6, 48], "prompt": [1, 4096]})

    def test_over_query_heads(self):
        device, both = Accelerator({"bf16": 1.0}, 1.0, 1000.0), np.array([64, 48])
        scenario = Scenario(device, Transformer.dense(8, 3, both, 2, 2, 16), workload=Workload(1))
        swept = evaluate(scenario).devices_needed
        alone = [
            evaluate(replace(scenario, transformer=Transformer.dense(8, 3, h, 2, 2, 16))).devices_needed for h in both
        ]
        assert swept.tolist() == alone

    def test_over_vocabularies_one_of_which_is_unknown(self):
        model = Transformer.dense(8, 3, 4, 2, 2, 16)
        swept = evaluate(Scenario("H100 SXM", replace(model, vocab_size=np.array([0, 32])))).tpot
        alone = [evaluate(Scenario("H100 SXM", replace(model, vocab_size=v))).tpot for v in (0, 32)]
        assert swept.tolist() == alone


class TestInferOverTheWholeOfEveryRange:
    @given(requests())
    @settings(max_examples=40)
    def test_answers_are_plain_finite_json(self, request):
        answer = infer(request)
        assert json.loads(json.dumps(answer, allow_nan=False)) == answer

    @given(requests())
    @settings(max_examples=40)
    def test_the_inputs_it_tells_give_the_same_answer(self, request):
        answer = infer(request)
        assert answer["inputs"] == request
        assert infer(answer["inputs"]) == answer

    @given(requests())
    @settings(max_examples=40)
    def test_its_parts_agree(self, request):
        answer = infer(request)
        outputs, memory = answer["outputs"], answer["outputs"]["memory"]
        step = outputs["tpot_ms"] * outputs["tokens_per_step"]
        for phase, time in (("prefill", outputs["ttft_ms"]), ("decode", step)):
            rows = answer["nodes"][phase]
            assert sum(row["share"] for row in rows) == pytest.approx(1)
            assert sum(row["time_ms"] for row in rows) == pytest.approx(time)
            assert 0 < outputs["mfu"][phase] <= 1
            assert 0 < outputs["mbu"][phase] <= 1
        assert memory["fits"] == (memory["total_gb"] <= memory["usable_gb"])
        assert memory["fits"] == (memory["largest_batch"] >= request["batch"])
        assert [point["fits"] for point in answer["batch_curve"]] == [
            point["batch"] <= memory["largest_batch"] for point in answer["batch_curve"]
        ]

    @given(requests())
    @settings(max_examples=40)
    def test_parameters_come_out_as_asked(self, request):
        """Whatever the FFN has to be for it: on one device, weights are params_b · weight_bytes."""
        alone = {"devices": 1, "pipeline": 1, "embedding_weight_bytes": None, "speculation": None, "tree_tokens": None}
        memory = infer({**request, **alone})["outputs"]["memory"]
        assert memory["weights_gb"] == pytest.approx(request["params_b"] * request["weight_bytes"], rel=1e-6)
