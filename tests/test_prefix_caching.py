"""Prefix caching: what is not prefilled, kept once and read once, what that buys, and what is said and drawn of it."""

import re
from dataclasses import replace

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import Accelerator, ParameterError, Precision, Scenario, Transformer, Workload, evaluate
from roofwidget.architecture.work import Extent
from roofwidget.kv_allocation import KVAllocation
from roofwidget.lessons.prefix_caching import lesson, steps
from roofwidget.prefill_pool import PrefillPool
from roofwidget.prefix import SharedPrefix
from roofwidget.serving.prefix_caching import HIT_RATES, prefill_share
from roofwidget.widget.views.prefix_caching import PrefixCachingView

SERVED = Scenario("H100 SXM", "Llama 3.1 8B", workload=Workload(4096, 512, 32), prefix=SharedPrefix(3072))
A_TOKEN = 131_072  # Llama 3.1 8B: 2 · 8 · 128 · 32 elements of 2 bytes


def with_prefix(*prefix, **changed):
    return evaluate(replace(SERVED, prefix=SharedPrefix(*prefix), **changed))


def node(phase, name):
    return next(each for each in phase.nodes if each.name == name)


class TestPrefill:
    def test_time_to_first_token_by_hand(self):
        """A prompt of 4,096, 3,072 of them cached, on 989.4 TFLOP/s and 3.35 TB/s.

        Linear layers run over 1,024 tokens: 2 · 1024 · 6,979,321,856 FLOP, 14.447 ms. Attention of these over all:
        2 · 32 · 128 · 32 layers · (4096 · 4097 − 3072 · 3073), 1.945 ms. The LM head reads 1,050.7 MB: 0.314 ms. The
        embedding moves 1024 · 4096 · 4 bytes: 0.005 ms.
        """
        assert evaluate(SERVED).ttft == pytest.approx(14.447e-3 + 1.945e-3 + 0.314e-3 + 0.005e-3, rel=1e-3)

    def test_attention_by_hand(self):
        attention = node(evaluate(SERVED).prefill, "attention")
        assert attention.flops == 2 * 32 * 128 * 32 * (4096 * 4097 - 3072 * 3073)
        assert attention.kv_bytes == A_TOKEN * (4096 + 1024)  # all read, those that are new written

    def test_none_and_no_hit_are_alike(self):
        cold = evaluate(replace(SERVED, prefix=SharedPrefix()))
        missed = with_prefix(3072, 0.0)
        assert cold.prefix_caching is None
        assert missed.prefix_caching.cached == 0
        for name in ("ttft", "tpot", "largest_batch"):
            assert getattr(missed, name) == getattr(cold, name)
        assert missed.memory.total == cold.memory.total

    def test_windows_read_no_more_than_they_see(self):
        """1,024 new tokens behind 3,072: a window of 128 sees 127 of those, and 128 pairs for each new token."""
        extent = Extent.prefill(1.0, 4096.0, 3072.0)
        assert extent.read(128) == 127 + 1024
        assert extent.pairs(128) == 128 * 1024
        assert extent.pairs() == (4096 * 4097 - 3072 * 3073) / 2

    def test_a_pool_of_its_own_prefills_less_too(self):
        pool = PrefillPool("A100 SXM 80GB")
        warm, cold = with_prefix(3072, prefill_pool=pool), with_prefix(3072, 0.0, prefill_pool=pool)
        assert warm.ttft == pytest.approx(warm.prefix_caching.ttft)
        assert warm.ttft < cold.ttft / 3
        assert warm.prefix_caching.hit_ttfts[[0, -1]] == pytest.approx([cold.ttft, warm.ttft])

    def test_must_be_shorter_than_the_prompt(self):
        with pytest.raises(ParameterError, match="prefix_tokens must be less than the 4,096 tokens"):
            with_prefix(4096)


class TestMemory:
    def test_kept_once_by_hand(self):
        """3,072 tokens once and 32 times 4,607 − 3,072 = 1,535: 52,192 tokens instead of 147,424."""
        figures = evaluate(SERVED).prefix_caching
        assert figures.kept_bytes == 3072 * A_TOKEN
        assert figures.kv_cache == 52_192 * A_TOKEN
        assert figures.cold_kv_cache == 147_424 * A_TOKEN

    def test_largest_batch_by_hand(self):
        """Of 0.9 · 85.5 GB weights, prefix and activations of 1,024 tokens leave room for 300 times 1,535 tokens."""
        metrics = evaluate(SERVED)
        memory, prefix = metrics.memory, 3072 * A_TOKEN
        room = memory.usable - memory.weights - memory.activations - prefix
        assert metrics.largest_batch == 300 == room // (1535 * A_TOKEN)

    def test_blocks_are_shared_whole(self):
        """3,080 tokens are 192 blocks of 16 and half of one more, which each sequence has for itself."""
        paged = KVAllocation("paged")
        assert with_prefix(3080, kv_allocation=paged).prefix_caching.kept_bytes == 3072 * A_TOKEN
        assert with_prefix(3080).prefix_caching.kept_bytes == 3080 * A_TOKEN
        assert with_prefix(15, kv_allocation=paged).prefix_caching.kept_bytes == 0

    @pytest.mark.parametrize("kind", ["reserved", "power of two"])
    def test_one_piece_each_shares_nothing(self, kind):
        figures = with_prefix(3072, kv_allocation=KVAllocation(kind)).prefix_caching
        assert figures.kept_bytes == 0
        assert figures.kv_cache == figures.cold_kv_cache
        assert figures.ttft < figures.cold_ttft / 3

    def test_each_replica_keeps_its_own(self):
        """32 sequences on 4 replicas: 8 each, so a device holds 3,072 + 8 · 1,535 tokens."""
        figures = with_prefix(3072, data_parallel=4).prefix_caching
        assert figures.kv_cache == (3072 + 8 * 1535) * A_TOKEN

    def test_a_window_forgets_the_prefix(self):
        """gpt-oss: of its 24 layers 12 keep the last 128 tokens of each sequence, whatever it began with."""
        scenario = replace(SERVED, transformer=Transformer.named("gpt-oss 20B"), precision=None)
        figures = evaluate(scenario).prefix_caching
        layer = 2 * 8 * 64 * 2  # bytes a token
        assert figures.cold_kv_cache == 12 * layer * 32 * (4607 + 128)
        assert figures.kv_cache == 12 * layer * ((3072 + 32 * 1535) + (128 + 32 * 128))


class TestCascade:
    def test_reads_by_hand(self):
        """32 sequences of 4,352 tokens on average, each of which writes one: 139,264 are read, with cascade
        3,072 + 32 · 1,280 = 44,032."""
        plain, once = evaluate(SERVED), with_prefix(3072, 1.0, True)
        assert node(plain.decode, "attention").kv_bytes == A_TOKEN * (139_264 + 32)
        assert node(once.decode, "attention").kv_bytes == A_TOKEN * (44_032 + 32)
        assert node(plain.decode, "attention").flops == node(once.decode, "attention").flops
        assert plain.tpot - once.tpot == pytest.approx(A_TOKEN * (139_264 - 44_032) / 3350e9)

    def test_shows_both_whichever_is_set(self):
        plain, once = evaluate(SERVED).prefix_caching, with_prefix(3072, 1.0, True).prefix_caching
        assert plain.tpot == plain.plain_tpot == once.plain_tpot
        assert once.tpot == once.cascade_tpot == plain.cascade_tpot

    def test_windows_by_hand(self):
        """4 sequences of 1,000 tokens, 900 in common: a window of 200 holds 100 of those, one of 50 none."""
        extent = Extent.decode(4.0, 1000.0, 1000.0, shared=900.0)
        assert extent.read() == 1000 - 900 * 3 / 4
        assert extent.read(200) == 200 - 100 * 3 / 4
        assert extent.read(50) == 50

    def test_alone_it_changes_nothing(self):
        alone = Workload(4096, 512)
        assert with_prefix(3072, 1.0, True, workload=alone).tpot == with_prefix(3072, workload=alone).tpot


PREFIX = st.floats(0, 0.999)


@st.composite
def prefixed(draw):
    """A scenario with a prefix of some length, of which some is cached."""
    scenario = strategies.build(draw(strategies.numbers()))
    tokens = np.floor(draw(PREFIX) * (scenario.workload.seq_len - 1))
    return replace(scenario, prefix=SharedPrefix(tokens, draw(st.floats(0, 1)), draw(st.booleans())))


class TestLaws:
    @given(prefixed())
    def test_time_to_first_token_never_rises_with_hits(self, scenario):
        figures = evaluate(scenario).prefix_caching
        if figures is None:
            return
        assert (np.diff(figures.hit_ttfts) <= 1e-12 * figures.cold_ttft).all()
        assert figures.hit_ttfts[0] == figures.cold_ttft
        assert figures.hit_ttfts[-1] <= figures.ttft * (1 + 1e-12) <= figures.cold_ttft * (1 + 1e-9)

    @given(prefixed(), st.sampled_from(["exact", "paged"]))
    def test_largest_batch_never_falls(self, scenario, kind):
        allocation = KVAllocation(kind, 1)
        figures = evaluate(replace(scenario, kv_allocation=allocation)).prefix_caching
        if figures is not None:
            assert figures.largest_batch >= figures.cold_largest_batch
            assert figures.kv_cache <= figures.cold_kv_cache * (1 + 1e-12)

    @given(prefixed())
    def test_cascade_is_never_slower(self, scenario):
        figures = evaluate(scenario).prefix_caching
        if figures is not None:
            assert figures.cascade_tpot <= figures.plain_tpot * (1 + 1e-12)

    @pytest.mark.parametrize("name", Transformer.names())
    def test_they_hold_for_every_model(self, name):
        """Windows, latents, experts and recurrent states among them."""
        scenario = Scenario("B200", name, workload=Workload(5000, 300, 24), devices=1)
        figures = evaluate(replace(scenario, prefix=SharedPrefix(4800, 0.8))).prefix_caching
        assert (np.diff(figures.hit_ttfts) <= 1e-12 * figures.cold_ttft).all()
        assert figures.largest_batch >= figures.cold_largest_batch
        assert figures.kv_cache <= figures.cold_kv_cache * (1 + 1e-12)
        assert figures.cascade_tpot <= figures.plain_tpot * (1 + 1e-12)

    @given(prefixed())
    def test_curve_is_the_scenario_so_set(self, scenario):
        figures = evaluate(scenario).prefix_caching
        if figures is not None:
            at = replace(scenario, prefix=replace(scenario.prefix, hit_rate=HIT_RATES[7]))
            assert figures.hit_ttfts[7] == pytest.approx(evaluate(at).ttft)


# Juravsky et al. 2024, table 3: thousands of tokens/s by batch, each for these prefixes.
PREFIXES = (1024, 2048, 4096, 8192, 16_256)
HYDRAGEN = {
    32: (2.0, 2.0, 1.9, 1.8, 1.8), 64: (3.6, 3.6, 3.6, 3.4, 3.4), 128: (5.8, 5.7, 5.6, 5.6, 5.7),
    256: (9.6, 9.3, 9.4, 9.2, 8.8), 512: (13.4, 13.3, 13.2, 12.9, 12.3), 1024: (15.6, 15.5, 15.3, 14.8, 14.0),
}  # fmt: skip
VLLM = {
    32: (1.8, 1.8, 1.8, 0.6, 0.4), 64: (3.5, 3.5, 2.9, 0.7, 0.4), 128: (5.5, 4.7, 3.0, 0.8, 0.4),
    256: (8.0, 5.5, 3.2, 0.8, 0.4), 512: (4.7, 2.7, 1.6, 0.8, 0.4), 1024: (4.9, 2.8, 1.6, 0.8, 0.4),
}  # fmt: skip


class TestHydragen:
    """Juravsky et al. 2024, arXiv 2402.05099v2, §4.1 and table 3: CodeLlama 13B, eight A100-40GB, 128 tokens generated.

    CodeLlama 13B has the layers of Llama 2 13B. The baseline is vLLM 0.2.7 without detokenization, the faster of two.
    """

    def bound(self, prefix, batch, cascade):
        """Thousands of tokens/s; a token of the prompt is each sequence's own, as its last always runs."""
        scenario = Scenario(
            Accelerator.named("A100 SXM 40GB"),
            "Llama 2 13B",
            workload=Workload(prefix + 1, 128, batch),
            devices=8,
            prefix=SharedPrefix(prefix, 1.0, cascade),
        )
        return evaluate(scenario).decode_throughput / 1e3

    @pytest.mark.parametrize("batch", HYDRAGEN)
    def test_nothing_measured_is_above_the_bound(self, batch):
        for prefix, hydragen, vllm in zip(PREFIXES, HYDRAGEN[batch], VLLM[batch], strict=True):
            assert hydragen < self.bound(prefix, batch, cascade=True)
            assert vllm < self.bound(prefix, batch, cascade=False)

    def test_plain_attention_falls_by_nine_tenths(self):
        """4.9 to 0.4: over 90 %. The bound: 11.5 to 0.92, 92 %."""
        first, last = (self.bound(prefix, 1024, cascade=False) for prefix in (1024, 16_256))
        assert 1 - last / first == pytest.approx(1 - 0.4 / 4.9, abs=0.03)

    def test_hydragen_hardly_falls(self):
        """15.6 to 14.0: 10 %, less than 15. The bound is between 5 % (both parts of attention at once) and 20 % (one
        after the other: the prefix computes for 5.5 ms, the rests are read for 4.5)."""
        first, last = (self.bound(prefix, 1024, cascade=True) for prefix in (1024, 16_256))
        assert 0.03 < 1 - last / first < 0.25

    @pytest.mark.parametrize(("prefix", "least", "most"), [(1024, 3, 6), (16_256, 30, 60)])
    def test_gain(self, prefix, least, most):
        """Over 3 times at 1K and over 30 at 16K (32 is their largest). A ratio of bounds is none: it shows the kind."""
        gain = self.bound(prefix, 1024, cascade=True) / self.bound(prefix, 1024, cascade=False)
        assert least < gain < most

    def test_gain_grows_with_batch_and_prefix(self):
        gains = np.array([[self.bound(p, b, True) / self.bound(p, b, False) for p in PREFIXES] for b in HYDRAGEN])
        assert (np.diff(gains, axis=0) > 0).all()
        assert (np.diff(gains, axis=1) > 0).all()


class TestLesson:
    def test_off(self):
        text = lesson(evaluate(replace(SERVED, prefix=SharedPrefix())))
        assert "Nothing of a prompt is cached: each request takes 62.6 ms of prefill, 28 %" in text

    def test_share_of_prefill_by_hand(self):
        """62.57 ms of prefill and 511 steps of 9.972 ms shared by 32."""
        cold = evaluate(replace(SERVED, prefix=SharedPrefix()))
        assert prefill_share(cold, cold.ttft) == pytest.approx(62.57 / (62.57 + 511 * 9.972 / 32), rel=1e-3)

    def test_buys_costs_and_stops(self):
        text = lesson(evaluate(SERVED))
        assert "3,072 of 4,096 prompt tokens are cached: the first token comes in 16.7 ms instead of 62.6 ms" in text
        assert "300 sequences fit instead of 100" in text
        assert "It costs 403 MB a device" in text
        assert "A step still reads it 32 times: cascade attention would bring 6.25 ms a token, not 9.97 ms" in text
        assert "Cascade attention reads it once a step" in lesson(with_prefix(3072, 1.0, True))

    def test_what_it_does_not_buy(self):
        assert "Not one token" in lesson(with_prefix(10, 0.01))
        assert "in one piece" in lesson(with_prefix(3072, kv_allocation=KVAllocation("reserved")))
        alone = lesson(with_prefix(3072, workload=Workload(4096, 512)))
        assert "saves no memory" in alone
        assert "Decode gains nothing" in alone

    def test_steps(self):
        assert not list(steps(evaluate(replace(SERVED, prefix=SharedPrefix()))))
        made = {step.name: step for step in steps(evaluate(SERVED))}
        assert made["tokens of a prompt in the cache"].result == "3,072 tokens"
        assert made["prefill saved"].result == "73 %"
        assert made["decode that reads the prefix once"].result == "1.6 ×"
        assert all(step.formula and step.figures and step.result and step.source for step in made.values())


def drawn(metrics, pinned=None):
    view = PrefixCachingView()
    view.draw(metrics, pinned)
    return view


class TestView:
    def test_off_says_how_it_is_switched_on(self):
        view = drawn(evaluate(replace(SERVED, prefix=SharedPrefix())))
        assert "“prefix”, under Techniques" in view.bars.value
        assert view.box.layout.visibility == "hidden"

    def test_the_curve_and_where_it_is(self):
        view = drawn(with_prefix(3072, 0.5))
        figure, figures = view.by_hit_rate, with_prefix(3072, 0.5).prefix_caching
        assert view.box.layout.visibility == "visible"
        assert list(figure.curve.x) == list(HIT_RATES)
        assert figure.curve.y == pytest.approx(1e3 * figures.hit_ttfts)
        assert (figure.here.x[0], figure.here.y[0]) == (0.5, pytest.approx(1e3 * figures.ttft))
        assert figure.y_axis.scale.max > 1e3 * figures.cold_ttft
        assert not figure.ghost.visible

    def test_pinned(self):
        figure = drawn(evaluate(SERVED), with_prefix(2048)).by_hit_rate
        assert figure.ghost.visible
        assert figure.ghost.y == pytest.approx(1e3 * with_prefix(2048).prefix_caching.hit_ttfts)

    def test_bars(self):
        html = drawn(evaluate(SERVED)).bars.value
        assert "width:75.00%" in html  # of the prompt
        for value in ("16.7 ms", "62.6 ms", "6.84 GB", "19.3 GB", "300", "6.25 ms"):
            assert value in html
        assert html.count('role="group"') == 4
        assert "<b>9.97 ms</b>" in html  # no cascade: the plain bar counts
        assert "<b>6.25 ms</b>" in drawn(with_prefix(3072, 1.0, True)).bars.value

    def test_colours_follow_the_theme(self):
        assert not re.search(r"#[0-9a-f]{3,6}\b|rgb\(", drawn(evaluate(SERVED)).bars.value)

    def test_none_fits(self):
        huge = Transformer.named("Llama 3.1 405B")
        assert "none fits" in drawn(with_prefix(3072, transformer=huge, precision=Precision())).bars.value
