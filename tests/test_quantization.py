"""Quantization: where each format computes, what it gains, where that fades, and what is said and drawn of it."""

import re
from dataclasses import replace

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import Accelerator, Precision, Scenario, Transformer, Workload, catalog, evaluate
from roofwidget.lessons.quantization import lesson, steps
from roofwidget.prefill_pool import PrefillPool
from roofwidget.roofline.timing import BOUNDS
from roofwidget.serving.goodput import tpots
from roofwidget.serving.quantization import in_format, quantization
from roofwidget.verdict import plain, verdict
from roofwidget.widget.views.quantization import QuantizationView

FORMATS = list(catalog.entries("weight_formats"))
WEIGHTS_ONLY = [name for name in FORMATS if catalog.entry("weight_formats", name)["compute"] == "bf16"]
COMPUTE, MEMORY = BOUNDS.index("compute"), BOUNDS.index("memory")

SERVED = Scenario("H100 SXM", "Llama 3.1 8B", workload=Workload(4096, 512, 32))
# Llama 3.1 8B: a layer's linear weights 4096 · 6144 + 4096 · 4096 + 3 · 4096 · 14336, 32 layers; 65 norms; two tables.
LINEAR = 32 * (4096 * 6144 + 4096 * 4096 + 3 * 4096 * 14336)
TABLE = 128_256 * 4096


def nodes(phase):
    return {node.name: phase.terms[:, i] for i, node in enumerate(phase.nodes)}


def on(device, name, **changed):
    return evaluate(replace(in_format(SERVED, name), accelerator=Accelerator.named(device), **changed))


class TestComputedIn:
    def test_peak_of_each_node_by_hand(self):
        """An H100 has 989.4 TFLOP/s in 16 bits and 1,978.9 in fp8, which is for linear layers only.

        QKV: 2 · 4096 · 4096 · 6144 · 32 FLOP; attention 2 · 32 · 128 · 4096 · 4097 · 32; LM head 2 · 4096 · 128256.
        """
        prefill = nodes(on("H100 SXM", "fp8 W8A8").prefill)
        qkv, attention = 2 * 4096 * 4096 * 6144 * 32, 2 * 32 * 128 * 4096 * 4097 * 32
        assert prefill["QKV projection"][COMPUTE] == pytest.approx(qkv / 1978.9e12, rel=1e-3)
        assert prefill["attention"][COMPUTE] == pytest.approx(attention / 989.4e12, rel=1e-3)
        assert prefill["LM head"][COMPUTE] == pytest.approx(2 * TABLE / 989.4e12, rel=1e-3)

    def test_quantized_activations_halve_linear_layers_in_prefill(self):
        """And nothing else: TTFT falls from 62.6 ms by half of the 57.8 that linear layers take of it."""
        wide, narrow = on("H100 SXM", "bf16"), on("H100 SXM", "fp8 W8A8")
        before, after = nodes(wide.prefill), nodes(narrow.prefill)
        for name in ("QKV projection", "output projection", "FFN"):
            assert after[name].max() == pytest.approx(before[name].max() / 2, rel=1e-3)
        for name in ("attention", "LM head", "embedding"):
            assert after[name].max() == before[name].max()
        linear = 2 * 4096 * LINEAR / 989.4e12
        assert linear == pytest.approx(57.8e-3, rel=1e-3)
        assert wide.ttft - narrow.ttft == pytest.approx(linear / 2, rel=1e-3)

    @pytest.mark.parametrize(
        ("device", "name"), [("A100 SXM 80GB", "fp8 W8A8"), ("H100 SXM", "nvfp4 W4A4"), ("MI300X", "nvfp4 W4A4")]
    )
    def test_falls_back_to_16_bits_and_keeps_the_bytes(self, device, name):
        wide, narrow = on(device, "bf16"), on(device, name)
        assert narrow.ttft == pytest.approx(wide.ttft)
        saved = LINEAR * (2 - catalog.entry("weight_formats", name)["weight_bytes"])
        assert wide.memory.weights - narrow.memory.weights == pytest.approx(saved, rel=1e-4)
        shown = narrow.quantization
        assert shown.now.fell_back
        assert shown.now.computes_in == "bf16"
        assert shown.prefill_gain == pytest.approx(1)

    @pytest.mark.parametrize(("decode", "prefill"), [("H100 SXM", "A100 SXM 80GB"), ("A100 SXM 80GB", "H100 SXM")])
    def test_the_verdict_names_the_pool_that_falls_back(self, decode, prefill):
        scenario = replace(on(decode, "fp8 W8A8").scenario, prefill_pool=PrefillPool(prefill))
        told = plain(verdict(evaluate(scenario)))
        assert "No fp8 peak of A100 SXM 80GB is known: its linear layers compute in 16 bits." in told

    def test_does_not_fall_back_where_there_are_units(self):
        """B200: 9 PFLOP/s of dense FP4, four times its 2.25 in 16 bits. A100: INT8 at twice its 16 bits."""
        b200, a100 = on("B200", "nvfp4 W4A4"), on("A100 SXM 80GB", "int8 W8A8")
        for metrics, times in ((b200, 4), (a100, 2)):
            assert not metrics.quantization.now.fell_back
            assert metrics.scenario.peak == pytest.approx(times * metrics.scenario.sixteen_bit_peak, rel=0.01)

    @pytest.mark.parametrize("name", WEIGHTS_ONLY)
    def test_weights_only_leaves_prefill_as_it_is(self, name):
        assert on("H100 SXM", name).ttft == pytest.approx(on("H100 SXM", "bf16").ttft, rel=1e-6)


class TestBytes:
    def test_group_scales_count(self):
        """GPTQ: 4 bits and 16 for each 128 are 66 bytes by 128 weights; norms are counted with them, tables are not."""
        weights = (LINEAR + 65 * 4096) * 66 / 128 + 2 * TABLE * 2
        assert weights == 5_700_196_416
        assert evaluate(in_format(SERVED, "int4 GPTQ")).memory.weights == weights

    def test_decode_alone_reads_what_is_stored(self):
        """One sequence: 3,599 MB of layers, 1,051 of LM head and its KV cache, 4,352 · 131,072 bytes on average."""
        alone = evaluate(replace(in_format(SERVED, "int4 GPTQ"), workload=Workload(4096, 512)))
        read = LINEAR * 66 / 128 + TABLE * 2 + 4352 * 131_072
        assert alone.tpot == pytest.approx(read / 3350e9, rel=0.003)  # and activations


def gains(scenario, name, batches):
    return tpots(in_format(scenario, "bf16"), batches) / tpots(in_format(scenario, name), batches)


class TestLaws:
    @given(strategies.numbers(), st.sampled_from(WEIGHTS_ONLY))
    def test_weights_only_gains_less_with_every_sequence(self, numbers, name):
        """Dense layers: what is saved is the same bytes at any batch, or less once computing takes longer."""
        gain = gains(strategies.build(numbers), name, np.unique(np.round(np.geomspace(1, 4096, 40))))
        assert (np.diff(gain) <= 1e-9).all()
        assert (gain >= 1 - 1e-12).all()

    def test_of_experts_that_does_not_hold(self):
        """More sequences touch more experts: all of gpt-oss's 32 are read from a few dozen on, and saved."""
        gain = gains(Scenario("H100 SXM", "gpt-oss 20B", workload=Workload(128)), "int4 GPTQ", np.array([1.0, 32]))
        assert gain[1] > gain[0] + 0.2

    @pytest.mark.parametrize("name", WEIGHTS_ONLY[1:])
    def test_nothing_is_left_beyond_the_ridge(self, name):
        """Linear layers from batch 295 on; the LM head was in 16 bits before."""
        decode = [nodes(evaluate(replace(in_format(SERVED, each), workload=Workload(4096, 2, 600))).decode)
                  for each in ("bf16", name)]  # fmt: skip
        for node in decode[0]:
            assert decode[1][node].max() == pytest.approx(decode[0][node].max())

    @pytest.mark.parametrize(
        ("name", "batch"), [("bf16", 295), ("fp8 W8A8", 295), ("fp8 weights only", 148), ("int4 AWQ", 77)]
    )
    def test_linear_layers_turn_where_reckoned(self, name, batch):
        """989.4e12 · bytes / (2 · 3.35e12), by hand; activations move it by a few percent."""
        assert evaluate(in_format(SERVED, name)).quantization.turning_batch == pytest.approx(batch, abs=0.7)
        for times, bound in ((0.9, MEMORY), (1.2, COMPUTE)):
            at = replace(in_format(SERVED, name), workload=Workload(4096, 2, round(batch * times)))
            assert np.argmax(nodes(evaluate(at).decode)["FFN"]) == bound

    @given(strategies.numbers())
    def test_fewer_bits_are_never_slower_nor_larger(self, numbers):
        figures = quantization(evaluate(strategies.build(numbers)))
        for one, other in (("bf16", "fp8 weights only"), ("fp8 weights only", "int4 AWQ"), ("int4 AWQ", "int4 GPTQ")):
            wide, narrow = figures.formats[one], figures.formats[other]
            assert narrow.weights <= wide.weights
            assert narrow.tpot <= wide.tpot * (1 + 1e-12)
            assert narrow.largest_batch >= wide.largest_batch


class TestMarlin:
    """Frantar et al. 2025 (PPoPP): INT4 in groups of 128 with FP16, an A10, a matrix of 73,728 by 18,432.

    IST-DASLab/marlin_artifact, result/marlin.csv: seconds, and times as fast as FP16. Their own ideal (plot.py,
    600 GB/s and 125 TFLOP/s) is 3.88 at batch 1, 3.85 at 32, 3.27 at 64 and 1.64 at 128.
    """

    SIZES = (18_432, 73_728)
    MEASURED = (
        (1, 0.00121, 3.87), (2, 0.00121, 3.88), (4, 0.00121, 3.89), (8, 0.00121, 3.89), (16, 0.00122, 3.90),
        (32, 0.00123, 3.83), (64, 0.00154, 3.08), (128, 0.00304, 1.55),
    )  # fmt: skip

    def seconds(self, name, batch):
        """Half of a plain FFN: one such matrix, of two."""
        narrow, wide = self.SIZES
        model = Transformer.dense(narrow, 1, 144, 144, 128, wide, 0, False)
        scenario = in_format(Scenario("A10", model, workload=Workload(1, 2, batch)), name)
        return nodes(evaluate(scenario).decode)["FFN"].max() / 2

    @staticmethod
    def ideal(m, n, k):
        """As their plot.py has it."""
        fp16, int4 = 2 * m * k + 2 * k * n + 2 * m * n, 2 * m * k + k * n / 2 + 2 * m * n + 2 * (k / 128) * n
        operations = 2 * m * n * k / 125e12
        return max(fp16 / 600e9, operations) / max(int4 / 600e9, operations)

    @pytest.mark.parametrize(("batch", "seconds", "speedup"), MEASURED)
    def test_measured(self, batch, seconds, speedup):
        ours = self.seconds("int4 GPTQ", batch)
        assert 0.88 < ours / seconds < 1  # kernels are slower, never faster
        assert self.seconds("bf16", batch) / ours == pytest.approx(speedup, rel=0.07)

    @pytest.mark.parametrize("batch", [1, 16, 32, 64, 128])
    def test_is_their_ideal(self, batch):
        ours = self.seconds("bf16", batch) / self.seconds("int4 GPTQ", batch)
        assert ours == pytest.approx(self.ideal(batch, *self.SIZES), rel=1e-9)

    def test_end_to_end(self):
        """Up to 2.8 times in vLLM (abstract): the LM head in 16 bits and the KV cache leave 3.6 at most of 3.87."""
        scenario = Scenario("A10", "Llama 2 7B", workload=Workload(64, 64))
        gain = gains(scenario, "int4 GPTQ", np.array([1.0, 16, 128]))
        assert 2.8 < gain[0] < 3.7
        assert gain[0] > gain[1] > gain[2]


class TestKurtic:
    """Kurtic et al. 2025, abstract: W4A16 serves best synchronously and on mid-tier GPUs, W8A8 excels with continuous
    batching of mid and large models on high-end GPUs."""

    def rate(self, name, batch):
        workload = Workload(1024, 256, batch)
        return evaluate(in_format(Scenario("H100 SXM", "Llama 3.1 70B", workload=workload, devices=4), name))

    def test_one_at_a_time(self):
        assert self.rate("int4 GPTQ", 1).e2e < 0.8 * self.rate("fp8 W8A8", 1).e2e

    def test_many_at_once(self):
        assert self.rate("fp8 W8A8", 256).request_rate > 1.2 * self.rate("int4 GPTQ", 256).request_rate


class TestQuantization:
    @pytest.mark.parametrize(
        "scenario",
        [
            SERVED,
            Scenario("A100 SXM 80GB", "gpt-oss 20B", workload=Workload(1000, 100, 64)),
            Scenario("H200 SXM", "DeepSeek V3", workload=Workload(1000, 100, 64), devices=8),
        ],
    )
    def test_is_the_scenario_so_set(self, scenario):
        shown = evaluate(scenario).quantization
        for name in FORMATS:
            other, drawn = evaluate(in_format(scenario, name)), shown.formats[name]
            assert drawn.ttft == pytest.approx(other.ttft)
            assert drawn.tpot == pytest.approx(other.tpot)
            assert drawn.weights == pytest.approx(other.memory.weights)
            assert drawn.largest_batch == other.largest_batch
            alone = replace(other.scenario, workload=replace(scenario.workload, batch=1))
            assert drawn.tpot_alone == pytest.approx(evaluate(alone).tpot)

    @pytest.mark.parametrize(("name", "size"), [("bf16", 2), ("fp8", 1), ("int8", 1.03125), ("int4", 0.53125)])
    def test_caches_are_the_scenario_so_set(self, name, size):
        other = evaluate(replace(SERVED, precision=Precision(kv_bytes=size)))
        cache = next(cache for cache in evaluate(SERVED).quantization.caches if cache.name == name)
        assert cache.kv_cache == other.memory.kv_cache == 32 * 4607 * 65_536 * size  # 2 · 8 · 128 · 32 elements a token
        assert cache.tpot == pytest.approx(other.tpot)
        assert cache.largest_batch == other.largest_batch
        assert cache.is_set == (name == "bf16")

    def test_names_what_is_set(self):
        assert evaluate(SERVED).quantization.chosen == (
            "bf16",
        )  # its tables are in 16 bits whether that is said or not
        both = ("fp8 weights only", "int8 weights only")  # one to physics
        assert evaluate(in_format(SERVED, both[1])).quantization.chosen == both
        odd = evaluate(replace(SERVED, precision=Precision(0.7))).quantization
        assert odd.chosen == ()
        assert odd.now.name == "as set"
        assert odd.now.bits == pytest.approx(5.6)

    def test_published_experts_are_as_set(self):
        """gpt-oss: 24 layers of 32 experts in MXFP4, 13.76 GB in all (test_formats)."""
        now = evaluate(Scenario("H100 SXM", "gpt-oss 20B")).quantization.now
        assert (now.name, now.bits, now.weights) == ("as set", 4.25, 13_761_264_768)

    def test_nothing_fits_in_16_bits(self):
        shown = evaluate(Scenario("H100 SXM", "Llama 3.1 70B", Precision(0.5), Workload(4096))).quantization
        assert shown.sixteen.largest_batch == shown.sixteen.throughput == 0
        assert shown.batch_gain is None


class TestLesson:
    def test_in_16_bits_it_holds_out_what_others_would_bring(self):
        text = lesson(evaluate(SERVED))
        assert "In int4 AWQ they would take 5.73 GB, and a token come 2.97 × as fast to one user alone" in text
        assert "no sooner" in text
        assert "fp8 W8A8 computes in fewer bits too: the first token would come 1.86 × as fast" in text
        assert "A KV cache in fp8 would save 9.66 GB" in text
        assert "no fp8 units" in lesson(on("A100 SXM 80GB", "bf16"))

    def test_says_when_it_stops_paying(self):
        assert "beyond 77 sequences at once linear layers compute" in lesson(on("H100 SXM", "int4 AWQ"))
        assert "from 295 on it gains nothing" in lesson(on("H100 SXM", "int4 AWQ"))
        assert "pays at any batch until the KV cache dominates" in lesson(on("H100 SXM", "fp8 W8A8"))
        assert "A100 SXM 80GB has no fp8 units" in lesson(on("A100 SXM 80GB", "fp8 W8A8"))
        assert "where experts compute" in lesson(evaluate(Scenario("H100 SXM", "gpt-oss 20B")))
        cached = replace(SERVED, precision=Precision(1, 1, compute="fp8"))
        assert "With the KV cache in fp8 a token comes" in lesson(evaluate(cached))

    def test_steps(self):
        assert not list(steps(evaluate(SERVED)))
        made = {step.name: step for step in steps(on("H100 SXM", "int4 AWQ"))}
        assert made["batch from which a linear layer computes"].result == "76.7 sequences"
        assert made["quantized weights, decode of one sequence"].result == "2.97 ×"
        assert all(step.formula and step.figures and step.result and step.source for step in made.values())


def drawn(metrics):
    view = QuantizationView()
    view.draw(metrics)
    return view.tables.value


class TestView:
    def test_a_row_for_each_format_and_the_one_set_is_marked(self):
        html = drawn(on("H100 SXM", "int4 AWQ"))
        rows = re.findall(r"<tr.*?</tr>", html)
        assert len(rows) == 1 + len(FORMATS) + 1 + 4
        assert [row for row in rows if "aria-current" in row] == [row for row in rows if "outline:2px" in row]
        assert [re.search(r"<b>(.*?)</b>", row)[1] for row in rows if "◀" in row] == ["int4 AWQ", "bf16"]
        assert html.count('scope="row"') == len(FORMATS) + 4

    def test_what_no_format_describes_has_a_row_of_its_own(self):
        html = drawn(evaluate(Scenario("H100 SXM", "gpt-oss 20B")))
        assert html.index("as set") < html.index("fp8 W8A8")

    def test_says_where_it_fell_back(self):
        row = next(row for row in re.findall(r"<tr.*?</tr>", drawn(on("H100 SXM", "bf16"))) if "nvfp4 W4A4" in row)
        assert "in bf16" in row
        assert "(no fp4" in row
        assert "Marlin" in row  # the tip says what kernels do

    def test_bars_and_colours(self):
        html = drawn(on("H100 SXM", "bf16"))
        assert max(map(float, re.findall(r"width:([\d.]+)%;min", html))) == 100
        assert not re.search(r"#[0-9a-f]{3,6}\b|rgb\(", html)

    def test_words_stay_as_they_are(self):
        """So that what a reader has unfolded does not fold with the next number."""
        view = QuantizationView()
        before = view.words.value
        view.draw(on("H100 SXM", "fp8 W8A8"))
        assert view.words.value == before
        assert all(name in before for name in FORMATS)

    def test_none_fits(self):
        assert "none fits" in drawn(evaluate(Scenario("H100 SXM", "Llama 3.1 405B")))
