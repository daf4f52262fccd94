"""Prefill and decode in pools of their own, against what was published and against the same devices colocated."""

from dataclasses import replace

import ipywidgets
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from roofwidget import Accelerator, ParameterError, Precision, Scenario, Transformer, Workload, evaluate
from roofwidget.lessons.disaggregation import lesson, steps
from roofwidget.objectives import Objectives
from roofwidget.prefill_pool import PrefillPool
from roofwidget.serving.disaggregation import busy_seconds, colocated_copies, per_second, transfer_bytes, transfer_time
from roofwidget.speculation import Speculation
from roofwidget.widget.views.disaggregation import DisaggregationView
from tests.strategies import between, build, counts, numbers

OPT_13B = Transformer.dense(5120, 40, 40, 40, 128, 20_480, 50_272, gated=False, tied_embeddings=True)
DISTSERVE = Scenario(
    "A100 SXM 80GB",
    OPT_13B,
    workload=Workload(512, 64, 109),
    objectives=Objectives(ttft=0.4, tpot=0.04),
    prefill_pool=PrefillPool(instances=2),
)
"""Zhong et al. 2024, "DistServe" (OSDI), §1 and figure 1: a 13B model, prompts of 512 tokens, answers of 64, on
A100s of 80 GB. The authors' article at hao-ai-lab.github.io/blogs/distserve gives the objectives, 0.4 and 0.04 s."""


def opt(layers, hidden, heads):
    return Transformer.dense(hidden, layers, heads, heads, hidden // heads, 4 * hidden, 50_272, gated=False)


def pooled(**pool):
    return evaluate(replace(DISTSERVE, prefill_pool=PrefillPool(**{"instances": 2, **pool}))).disaggregation


class TestPublished:
    def test_distserve_needs_two_devices_that_prefill_for_one_that_decodes(self):
        """Figure 1: a device prefills 5.6 requests/s and decodes 10: 10 / 5.6 = 1.8 instances, two in whole ones."""
        balanced = evaluate(DISTSERVE).disaggregation.balanced_instances
        assert balanced == pytest.approx(10 / 5.6, rel=0.15)
        assert np.ceil(balanced) == 2

    def test_distserve_serves_more_within_the_objectives(self):
        """Figure 1: 10 requests/s on 3 devices against 1.6 each, 2.1 times. That is with queues, which cost the
        colocated more: without them the gain is smaller, and both rates are higher."""
        pools = evaluate(DISTSERVE).disaggregation
        assert 1 < pools.gain < 2.1
        assert pools.goodput.request_rate > 10
        assert pools.colocated_goodput.request_rate / 3 > 1.6
        assert pools.prefill_rate / 2 > 5.6

    def test_distserve_by_hand(self):
        """On a device of 312 TFLOP/s and 2,039 GB/s, with 12.85 billion parameters:

        - prefill: 2 · 512 · 12.59e9 (without the embedding) + 2 · 5120 · 512 · 513 · 40 = 13.0 TFLOP: 41.7 ms
        - a sequence keeps 2 · 5120 · 40 · 2 = 819 kB a token, at its mean context of 544 tokens 446 MB
        - decode of 109: (25.7 GB + 109 · 446 MB) / 2,039 GB/s = 36.4 ms, 109 / (63 · 36.4 ms) = 47.5 requests/s
        - colocated, each of 63 tokens also waits for 109 / 63 prefills: 36.4 + 72.1 = 108.6 ms
        - there a prompt waits for half a step: 41.7 + 36.4 / 2 = 59.9 ms
        - within 40 ms: 12.6 + b · (0.219 + 0.662) ms ≤ 40 ms, b = 31, 31 / (63 · 40 ms) = 12.3 requests/s on each
        """
        pools = evaluate(DISTSERVE).disaggregation
        assert pools.ttft == pytest.approx(41.7e-3, rel=0.02)
        assert pools.decode_rate == pytest.approx(47.5, rel=0.02)
        assert pools.colocated_tpot == pytest.approx(108.6e-3, rel=0.02)
        assert pools.colocated_ttft == pytest.approx(59.9e-3, rel=0.02)
        assert pools.colocated_goodput.batch == pytest.approx(31, abs=1)
        assert pools.colocated_goodput.request_rate == pytest.approx(3 * 12.3, rel=0.02)

    def test_distserve_transfer(self):
        """The article: 2,048 tokens of OPT-175B, 4.5 MB each, over 8 links of 64 GB/s take 17.6 ms; in binary units."""
        pool = PrefillPool(link_bandwidth=64 * 2**30)
        scenario = Scenario("A100 SXM 80GB", opt(96, 12_288, 96), workload=Workload(2048), devices=8, prefill_pool=pool)
        assert transfer_time(scenario) == pytest.approx(17.6e-3, rel=0.002)

    def test_distserve_bandwidth(self):
        """§3.3: 512 tokens of OPT-66B are 1.13 GB (GiB), at 10 requests/s 11.3 GB/s or 90 Gbit/s hide the transfer."""
        pool = PrefillPool(instances=10, link_bandwidth=90e9 / 8)
        scenario = Scenario("A100 SXM 80GB", opt(64, 9216, 72), workload=Workload(512, 64), prefill_pool=pool)
        assert transfer_bytes(scenario) == pytest.approx(1.13 * 2**30, rel=0.01)
        assert per_second(busy_seconds(scenario, pool, 1.0, 1.0).link) == pytest.approx(10, rel=0.08)

    @pytest.mark.parametrize(
        ("devices", "prompt", "output", "ttft", "tpot"),
        [(16, 1024, 1024, 0.2369, 9.354e-3), (16, 8192, 1024, 0.8591, 18.90e-3)],
    )
    def test_is_a_bound_on_what_was_measured(self, devices, prompt, output, ttft, tpot):
        """DeepSeek-R1 in FP8 on H100s, SGLang 0.5.8, in pools of 16 each: silicon_sample.csv of aiconfigurator-core
        0.12.0 (Apache 2.0). R1 has the dimensions of V3. Their batches are not told; one sequence is the least."""
        scenario = Scenario(
            "H100 SXM",
            "DeepSeek V3",
            Precision(1.0, compute="fp8"),
            Workload(prompt, output, 1),
            devices,
            prefill_pool=PrefillPool(),
        )
        pools = evaluate(scenario).disaggregation
        assert pools.ttft < ttft
        assert pools.tpot < tpot


class TestPools:
    def test_shares_of_the_side_with_fewer_devices_take_longest(self):
        """4 devices hold a quarter of the prompt's cache each, 2 a half: 512 · 819,200 B / 2 over 10 GB/s."""
        for decode, prefill in ((4, 2), (2, 4)):
            pool = PrefillPool(devices=prefill, link_bandwidth=10e9)
            scenario = replace(DISTSERVE, devices=decode, prefill_pool=pool)
            assert transfer_time(scenario) == pytest.approx(512 * 819_200 / 2 / 10e9)

    def test_link_can_be_what_both_wait_for(self):
        """A prompt of 419 MB, two instances sending to one replica at 10 GB/s: it receives 23.8 a second."""
        pools = pooled(link_bandwidth=10e9)
        assert pools.limit == "link"
        assert pools.request_rate == pytest.approx(10e9 / (512 * 819_200))

    def test_transfer_is_felt_once_in_an_answer(self):
        """41.9 ms over the 63 tokens after the first; the first does not wait."""
        slow, none = pooled(link_bandwidth=10e9), pooled()
        assert slow.tpot - none.tpot == pytest.approx(512 * 819_200 / 10e9 / 63)
        assert slow.ttft == none.ttft

    def test_prompts_prefilled_together_wait_for_each_other(self):
        """Compute-bound, four take about four times as long as one, and the pool serves hardly more."""
        one, four = pooled(), pooled(batch=4)
        assert four.ttft == pytest.approx(4 * one.ttft, rel=0.1)
        assert four.prefill_rate == pytest.approx(one.prefill_rate, rel=0.1)

    def test_a_stage_is_stalled_by_its_share_of_a_prefill(self):
        """Of 4 stages of 10 layers: a quarter of the 42.2 ms of each of 109 prefills over 63 tokens is 18.2 ms."""
        metrics = evaluate(replace(DISTSERVE, pipeline=4))
        assert metrics.disaggregation.colocated_tpot - metrics.tpot == pytest.approx(18.2e-3, rel=0.01)

    def test_replicas_share_the_stalls(self):
        """Two replicas have half of the arriving prompts each: 109 / 2 · 42.2 ms over 63 tokens is 36.5 ms."""
        metrics = evaluate(replace(DISTSERVE, data_parallel=2))
        assert metrics.disaggregation.colocated_tpot - metrics.tpot == pytest.approx(36.5e-3, rel=0.01)

    def test_drafts_are_verified_within_the_objectives(self):
        """A round gives several tokens: the batch that keeps a TPOT is counted in tokens, and serves what it says."""
        drafted = replace(DISTSERVE, speculation=Speculation("n-gram"), objectives=Objectives(tpot=0.01))
        kept = evaluate(drafted).disaggregation.goodput
        at = evaluate(replace(drafted, workload=Workload(512, 64, kept.batch)))
        assert at.tpot <= 0.01
        assert kept.request_rate == pytest.approx(at.request_rate)

    def test_other_devices_are_compared_for_the_same_money(self):
        """Two that cost 4 $ an hour beside one that costs 2 $: five of the latter."""
        dear, cheap = (replace(Accelerator.named("A100 SXM 80GB"), usd_per_hour=price) for price in (4.0, 2.0))
        pool = PrefillPool(dear, instances=2)
        assert colocated_copies(replace(DISTSERVE, accelerator=cheap, prefill_pool=pool), pool) == 5
        unknown = PrefillPool(replace(dear, usd_per_hour=None), instances=2)
        assert colocated_copies(replace(DISTSERVE, accelerator=cheap, prefill_pool=unknown), unknown) == 3

    def test_an_answer_of_one_token_is_not_decoded(self):
        pools = evaluate(replace(DISTSERVE, workload=Workload(512, 1, 8))).disaggregation
        assert pools.decode_rate == pools.balanced_instances == np.inf
        assert pools.request_rate == pools.prefill_rate
        assert pools.colocated_ttft == pools.ttft

    def test_what_does_not_fit_serves_nothing(self):
        small = replace(Accelerator.named("A100 SXM 80GB"), capacity=20e9)
        pools = pooled(accelerator=small)
        assert not pools.prefill_fits
        assert pools.goodput == (0, 0)
        assert pools.gain == 0

    @pytest.mark.parametrize(("capacity", "fits"), [(17.75e9, True), (17.73e9, False), (17.3e9, False)])
    def test_prompts_prefilled_together_are_live_together(self, capacity, fits):
        """Weights of 16.06 GB, keys and values of 16 · 512 tokens of 131,072 bytes 1.07 GB, as many tokens of
        2 · (4,096 + 14,336) · 2 bytes 0.60 GB: 17.74 GB. With one prompt live, 0.04 GB, it would be 17.17."""
        pool = PrefillPool(replace(Accelerator.named("H100 SXM"), capacity=capacity), batch=16)
        scenario = Scenario(
            "H100 SXM", "Llama 3.1 8B", workload=Workload(512, 64), memory_utilization=1.0, prefill_pool=pool
        )
        assert evaluate(scenario).disaggregation.prefill_fits == fits

    @pytest.mark.parametrize("objectives", [Objectives(ttft=1e-3), Objectives(tpot=1e-3)])
    def test_none_keeps_what_cannot_be(self, objectives):
        pools = evaluate(replace(DISTSERVE, objectives=objectives)).disaggregation
        assert pools.goodput == pools.colocated_goodput == (0, 0)
        assert pools.gain is None

    def test_only_pools_keep_what_colocated_cannot(self):
        """12.6 + b · 0.22 ms ≤ 13.2 ms for b = 2; but 42 ms of one prefill stall even a lone answer: 12.8 + 42 / 63."""
        pools = evaluate(replace(DISTSERVE, objectives=Objectives(tpot=13.2e-3))).disaggregation
        assert pools.goodput.batch == 2
        assert pools.colocated_goodput == (0, 0)
        assert pools.gain == np.inf

    def test_broadcasts(self):
        instances = np.array([1.0, 2.0, 4.0])
        rates = evaluate(replace(DISTSERVE, prefill_pool=PrefillPool(instances=instances))).request_rate
        each = [evaluate(replace(DISTSERVE, prefill_pool=PrefillPool(instances=n))).request_rate for n in instances]
        assert rates == pytest.approx(each)

    def test_none_without_a_pool(self):
        metrics = evaluate(replace(DISTSERVE, prefill_pool=None))
        assert metrics.disaggregation is None
        assert transfer_time(metrics.scenario) == 0


class TestBadInput:
    @pytest.mark.parametrize(
        ("field", "sentence"),
        [
            ("instances", "prefill_pool must be a whole number of 1 or more, not 0"),
            ("devices", "prefill_devices must be a whole number of 1 or more, not 0"),
            ("batch", "prefill_batch must be a whole number of 1 or more, not 0"),
            ("link_bandwidth", "kv_link_gbs must be a number more than 0, not 0"),
            (
                "accelerator",
                "prefill_accelerator must be Accelerator, the name of one in the catalog, or None, not 0",
            ),
        ],
    )
    def test_is_refused_in_one_sentence(self, field, sentence):
        with pytest.raises(ParameterError) as refused:
            PrefillPool(**{field: 0})
        assert str(refused.value) == sentence

    def test_every_fault_is_named(self):
        with pytest.raises(ParameterError) as refused:
            PrefillPool(instances=0, batch=1.5)
        assert set(refused.value.faults) == {"prefill_pool", "prefill_batch"}

    def test_unknown_device(self):
        with pytest.raises(KeyError, match="H100"):
            PrefillPool("H1000 SXM")


POOLS = {"instances": counts(1, 50), "batch": counts(1, 8), "link": between(1e8, 1e12) | st.just(np.inf)}


@st.composite
def scenarios(draw, **fixed):
    """Scenarios of any shape with a prefill pool beside them, of the same device."""
    scenario = build({**draw(numbers()), "utilization": 1.0})
    pool = {name: fixed.get(name, draw(drawn)) for name, drawn in POOLS.items()}
    return replace(scenario, prefill_pool=PrefillPool(None, None, pool["instances"], pool["batch"], pool["link"]))


def with_pool(scenario, **changes):
    return replace(scenario, prefill_pool=replace(scenario.prefill_pool, **changes))


class TestLaws:
    @given(scenarios())
    def test_the_pair_is_no_faster_than_either(self, scenario):
        metrics = evaluate(scenario)
        pools = metrics.disaggregation
        assert pools.request_rate == min(pools.rates.values()) == pytest.approx(metrics.request_rate)

    @given(scenarios(), counts(1, 50))
    def test_more_instances_never_serve_less(self, scenario, more):
        fewer = evaluate(scenario).disaggregation
        grown = evaluate(with_pool(scenario, instances=scenario.prefill_pool.instances + more)).disaggregation
        assert grown.request_rate >= fewer.request_rate * (1 - 1e-12)

    @given(scenarios(), between(1, 100))
    def test_a_faster_link_takes_less_time(self, scenario, faster):
        quick = with_pool(scenario, link_bandwidth=scenario.prefill_pool.link_bandwidth * faster)
        assert transfer_time(quick) <= transfer_time(scenario)

    @given(scenarios())
    def test_balanced_instances_match_the_decode_pool(self, scenario):
        pools = evaluate(scenario).disaggregation
        assume(np.isfinite(pools.decode_rate))
        one = pools.prefill_rate / scenario.prefill_pool.instances
        assert pools.balanced_instances * one == pytest.approx(pools.decode_rate)

    @given(scenarios(), between(1e-4, 100), between(1e-4, 100))
    def test_objectives_are_kept_and_cost_rate(self, scenario, ttft, tpot):
        promised = replace(scenario, objectives=Objectives(ttft, tpot))
        metrics = evaluate(promised)
        pools = metrics.disaggregation
        kept = pools.goodput
        assert kept.request_rate <= min(pools.prefill_rate, pools.link_rate)
        if kept.batch:
            at = evaluate(replace(promised, workload=replace(promised.workload, batch=kept.batch))).disaggregation
            assert at.ttft <= ttft
            assert at.tpot <= tpot * (1 + 1e-12)
            assert kept.request_rate == pytest.approx(at.request_rate)
        if kept.batch and kept.batch < metrics.largest_batch:
            one_more = replace(promised, workload=replace(promised.workload, batch=kept.batch + 1))
            assert evaluate(one_more).disaggregation.tpot > tpot

    @given(scenarios(), between(1e-4, 100))
    def test_colocated_keep_them_too(self, scenario, tpot):
        promised = replace(scenario, objectives=Objectives(tpot=tpot))
        kept = evaluate(promised).disaggregation.colocated_goodput
        if kept.batch:
            at = evaluate(replace(promised, workload=replace(promised.workload, batch=kept.batch))).disaggregation
            assert at.colocated_tpot <= tpot * (1 + 1e-12)
            assert kept.request_rate == pytest.approx(at.colocated_request_rate)

    @given(scenarios(batch=1))
    def test_nothing_is_gained_without_an_objective(self, scenario):
        """Alike devices at the same batch: colocated, none ever waits for another; apart, the faster pool does."""
        pools = evaluate(scenario).disaggregation
        assert pools.gain <= 1 + 1e-9

    @given(scenarios())
    def test_prefills_only_ever_stall(self, scenario):
        metrics = evaluate(scenario)
        pools = metrics.disaggregation
        assert pools.colocated_tpot >= metrics.tpot
        assert pools.colocated_ttft >= evaluate(replace(scenario, prefill_pool=None)).ttft

    @given(scenarios())
    def test_little(self, scenario):
        """Sequences under way = requests/s · the time of an answer's tokens, on the colocated devices."""
        pools = evaluate(scenario).disaggregation
        steps = scenario.workload.output_tokens - 1
        assume(steps)
        copies = pools.colocated_devices / float(scenario.devices_of_batch)
        under_way = pools.colocated_request_rate * steps * pools.colocated_tpot
        assert under_way == pytest.approx(copies * scenario.workload.batch)


CASES = {
    "balanced": DISTSERVE,
    "link": with_pool(DISTSERVE, link_bandwidth=1e9),
    "one token": replace(DISTSERVE, workload=Workload(512, 1, 4)),
    "no objective": replace(DISTSERVE, objectives=Objectives()),
    "not kept": replace(DISTSERVE, objectives=Objectives(tpot=1e-4)),
    "many": with_pool(DISTSERVE, instances=5000, devices=8, accelerator="H100 SXM", link_bandwidth=50e9),
    "does not fit": with_pool(DISTSERVE, accelerator="L4"),
    "off": replace(DISTSERVE, prefill_pool=None),
}


class TestTold:
    @pytest.mark.parametrize("scenario", CASES.values(), ids=CASES)
    def test_lesson_and_view(self, scenario):
        metrics, view = evaluate(scenario), DisaggregationView()
        told = lesson(metrics)
        assert told.endswith(".")
        view.draw(metrics, metrics)
        assert isinstance(view.widget, ipywidgets.HTML)
        shown = view.widget.value
        assert not any(bad in f"{told} {shown}" for bad in ("nan", "inf ", "None"))
        assert ('role="img" aria-label="Two pools: ' in shown) == (scenario.prefill_pool is not None)

    def test_lesson_has_the_figures_of_the_scenario(self):
        told = lesson(evaluate(DISTSERVE))
        assert "36.9 ms instead of 110 ms" in told
        assert "3 devices serve 46.9 requests/s, colocated 36.3: 1.29 × as many" in told
        assert "419 MB of KV cache a prompt" in told
        assert "1.98 prefill instances" in told

    def test_lesson_of_a_slow_link_says_how_fast_it_should_be(self):
        """46.9 requests/s of 419 MB each into one replica are 19.7 GB/s."""
        assert "19.7 GB/s" in lesson(evaluate(CASES["link"]))

    def test_view_says_how_to_switch_it_on(self):
        view = DisaggregationView()
        view.draw(evaluate(CASES["off"]))
        assert "“disaggregated”, under Techniques" in view.widget.value

    def test_steps(self):
        told = {step.name: step for step in steps(evaluate(DISTSERVE))}
        assert told["balanced prefill instances"].result == "1.98"
        assert told["requests of the decode pool"].figures == "109 / ((64 − 1) · 36.9 ms)"
        assert all(step.source for step in told.values())
        assert not list(steps(evaluate(CASES["off"])))
