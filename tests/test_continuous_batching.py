"""Lengths of answers and their extremes; static against continuous batching."""

import itertools
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import ParameterError, Scenario, Workload, evaluate
from roofwidget.lengths import SHAPES, Lengths
from roofwidget.lessons.continuous_batching import lesson, steps
from roofwidget.lessons.disaggregation import steps as disaggregation_steps
from roofwidget.prefill_pool import PrefillPool
from roofwidget.serving.continuous_batching import batching, occupancy, place, static_steps
from roofwidget.serving.goodput import request_rate
from roofwidget.units import grouped
from roofwidget.widget.views.slots import SlotsView

SAMPLE = (1, 2, 2, 5, 9, 40, 400)
ALL = [Lengths(shape) for shape in SHAPES] + [Lengths("lognormal", 3.0), Lengths(SAMPLE)]
SPREAD = [lengths for lengths in ALL if lengths.shape != "fixed"]

any_lengths = st.sampled_from(ALL)
means = st.one_of(st.integers(1, 100_000).map(float), st.floats(1, 50))
counts = st.integers(1, 1_000_000).map(float)


def served(shape="geometric", batch=32, output=512, **scenario):
    return evaluate(
        Scenario("H100 SXM", "Llama 3.1 8B", workload=Workload(1024, output, batch, Lengths(shape)), **scenario)
    )


class TestExtremes:
    def test_of_two_of_one_to_three(self):
        """Of nine pairs one has a largest of 1, three of 2, five of 3: 22/9; the smallest mirrors it: 4 − 22/9."""
        assert Lengths("uniform").longest(2, 2) == pytest.approx(22 / 9)
        assert Lengths("uniform").shortest(2, 2) == pytest.approx(14 / 9)

    def test_of_two_dice(self):
        assert Lengths("uniform").longest(3.5, 2) == pytest.approx(161 / 36)
        assert Lengths("uniform").shortest(3.5, 2) == pytest.approx(91 / 36)

    def test_of_many_uniform(self):
        """Of n the largest is about n/(n + 1) of the way up: 128 · 8/9 + 1/2 for Orca's U(1, 128) in a batch of 8."""
        assert Lengths("uniform").longest(64.5, 8) == pytest.approx(128 * 8 / 9 + 1 / 2, rel=1e-4)
        assert Lengths("uniform").longest(64.5, 1e6) == pytest.approx(128)

    def test_of_coins(self):
        """Tosses until heads, mean 2. Of two 2 + 2 − 4/3 = 8/3, of three 6 − 3 · 4/3 + 8/7 = 22/7, as the least of k
        has mean 1/(1 − 2⁻ᵏ)."""
        coins = Lengths("geometric")
        assert coins.longest(2, np.array([1, 2, 3])) == pytest.approx(np.array([2, 8 / 3, 22 / 7]))
        assert coins.shortest(2, np.array([1, 2, 3])) == pytest.approx(np.array([2, 4 / 3, 8 / 7]))

    @pytest.mark.parametrize(("count", "harmonic"), [(1, 1), (2, 3 / 2), (4, 25 / 12), (10, 7381 / 2520)])
    def test_long_geometric_ones_are_exponential(self, count, harmonic):
        """Then the longest of n is the n-th harmonic number of means, the shortest 1/n of one."""
        assert Lengths("geometric").longest(1e6, count) == pytest.approx(1e6 * harmonic, rel=1e-6)
        assert Lengths("geometric").shortest(1e6, count) == pytest.approx(1e6 / count, rel=1e-5)

    def test_of_a_million_geometric(self):
        """H of a million is ln 10⁶ + 0.57722 = 14.39273; half a token comes on top, and λ is 1/999.5."""
        assert Lengths("geometric").longest(1000, 1e6) == pytest.approx(14.39273 * 999.5 + 0.5, rel=1e-6)

    @pytest.mark.parametrize("mean", [2.0, 4.0, 5.4, 5.6, 12.0])
    @pytest.mark.parametrize("count", [2, 3, 4, 5])
    def test_geometric_by_inclusion_and_exclusion(self, mean, count):
        """Σ over k of (−1)ᵏ⁺¹ · C(n, k) / (1 − qᵏ), on both sides of where the sum is cut."""
        q = 1 - 1 / mean
        expected = sum((-1) ** (k + 1) * math.comb(count, k) / (1 - q**k) for k in range(1, count + 1))
        assert Lengths("geometric").longest(mean, count) == pytest.approx(expected, rel=2e-6)

    @pytest.mark.parametrize("spread", [0.1, 1.0, 3.0, 10.0])
    def test_of_two_lognormal(self, spread):
        """1 + Gini's coefficient, erf(σ/2), of means (Aitchison and Brown 1957); of the tokens after the first."""
        gini = math.erf(math.sqrt(math.log1p(spread**2)) / 2)
        lengths = Lengths("lognormal", spread)
        assert lengths.longest(101, 2) == pytest.approx(1 + 100 * (1 + gini), rel=1e-6)
        assert lengths.shortest(101, 2) == pytest.approx(1 + 100 * (1 - gini), rel=1e-6)

    def test_of_a_list_by_counting(self):
        triples = list(itertools.product((1, 2, 2, 10), repeat=3))
        lengths, mean = Lengths((1, 2, 2, 10)), 15 / 4
        assert lengths.longest(mean, 3) == pytest.approx(sum(map(max, triples)) / 64)
        assert lengths.shortest(mean, 3) == pytest.approx(sum(map(min, triples)) / 64)

    def test_of_a_list_at_another_mean(self):
        """The tokens after the first, 0, 1 and 2 with mean 1, become 0, 10 and 20: 1, 11 and 21 in all."""
        assert Lengths((1, 2, 3)).longest(11, 1e4) == pytest.approx(21)
        assert Lengths((1, 2, 3)).longest(11, 2) == pytest.approx((1 * 1 + 3 * 11 + 5 * 21) / 9)
        assert Lengths([7, 7]).longest(3, 5) == Lengths((1, 1)).longest(3, 5) == 3

    def test_of_a_long_list_many_at_once(self):
        """What is read off a polynomial is what the sum gives."""
        lengths = Lengths(np.random.default_rng(1).geometric(1 / 300, 10_000))
        batches = np.unique(np.round(np.geomspace(1, 1e6, 256)))
        assert lengths.longest(300, batches) == pytest.approx([lengths.longest(300, n) for n in batches.tolist()])
        assert lengths.shortest(300, batches) == pytest.approx([lengths.shortest(300, n) for n in batches.tolist()])

    @pytest.mark.parametrize("lengths", SPREAD)
    @pytest.mark.parametrize("count", [2, 13])
    def test_of_drawn_lengths(self, lengths, count):
        drawn = lengths.draw(200, 20_000 * count, seed=3).reshape(-1, count)
        for found, expected in (
            (drawn.max(1), lengths.longest(200, count)),
            (drawn.min(1), lengths.shortest(200, count)),
        ):
            assert found.mean() == pytest.approx(expected, abs=5 * found.std() / math.sqrt(20_000) + 0.5)

    @pytest.mark.parametrize("lengths", ALL)
    def test_broadcast(self, lengths):
        mean, count = np.array([[1.0], [3.0], [512.0]]), np.array([1.0, 8.0, 1e6, 256.0])
        both = lengths.longest(mean, count), lengths.shortest(mean, count)
        assert [table.shape for table in both] == [(3, 4), (3, 4)]
        for of_all, of_one in zip(both, (lengths.longest, lengths.shortest), strict=True):
            assert of_all == pytest.approx(np.array([[of_one(m, n) for n in count] for m in mean.ravel()]))


class TestLaws:
    @given(any_lengths, means, counts)
    def test_the_mean_is_between(self, lengths, mean, count):
        assert 1 <= lengths.shortest(mean, count) <= mean <= lengths.longest(mean, count)

    @given(any_lengths, means)
    def test_of_one_there_is_only_the_mean(self, lengths, mean):
        assert lengths.longest(mean, 1) == pytest.approx(mean)
        assert lengths.shortest(mean, 1) == pytest.approx(mean)

    @given(any_lengths, means, counts, counts)
    def test_more_answers_reach_further(self, lengths, mean, few, many):
        few, many = sorted((few, many))
        assert lengths.longest(mean, few) <= lengths.longest(mean, many) * (1 + 1e-12)
        assert lengths.shortest(mean, few) >= lengths.shortest(mean, many) * (1 - 1e-12)

    @given(any_lengths, means, counts)
    def test_no_further_than_any_distribution_can(self, lengths, mean, count):
        """Gumbel 1954, Hartley and David 1954: at most mean + standard deviation · (n − 1) / √(2n − 1)."""
        deviation = mean * lengths.variation(mean)
        bound = mean + deviation * (count - 1) / math.sqrt(2 * count - 1)
        assert lengths.longest(mean, count) <= bound * (1 + 1e-9)
        assert lengths.shortest(mean, count) >= (2 * mean - bound) * (1 - 1e-9)

    @given(any_lengths, counts)
    def test_a_mean_of_one_is_one_token_for_all(self, lengths, count):
        assert lengths.longest(1, count) == lengths.shortest(1, count) == 1
        assert (lengths.draw(1, 5, 0) == 1).all()
        assert lengths.variation(1) == 0

    @given(st.floats(0.01, 9), st.floats(1.01, 1.1), counts)
    def test_the_wider_the_further(self, spread, wider, count):
        """Why the gain grows with variance: a wider lognormal of the same mean has the longer longest answer."""
        narrow, wide = Lengths("lognormal", spread), Lengths("lognormal", spread * wider)
        assert occupancy(wide, 512, count) <= occupancy(narrow, 512, count) * (1 + 1e-9)


class TestMoments:
    @pytest.mark.parametrize(
        ("lengths", "mean", "variance"),
        [
            (Lengths(), 7, 0),
            (Lengths("uniform"), 3.5, 35 / 12),  # a die
            (Lengths("geometric"), 2, 2),  # (1 − p)/p² with p = 1/2
            (Lengths("lognormal", 0.5), 101, 50**2),  # half of the 100 after the first
            (Lengths((2, 4, 9)), 5, 26 / 3),  # (9 + 1 + 16)/3
        ],
    )
    def test_by_hand(self, lengths, mean, variance):
        assert lengths.mean_square(mean) == pytest.approx(mean**2 + variance)
        assert lengths.variation(mean) == pytest.approx(math.sqrt(variance) / mean)

    @pytest.mark.parametrize("lengths", ALL)
    def test_of_drawn_lengths(self, lengths):
        drawn = lengths.draw(300, 200_000, seed=1)
        assert drawn.dtype.kind == "i"
        assert drawn.min() >= 1
        assert drawn.mean() == pytest.approx(300, rel=0.03)
        assert np.array_equal(drawn, lengths.draw(300, 200_000, seed=1))


class TestFaults:
    @pytest.mark.parametrize(
        ("shape", "end"),
        [
            ("zipf", "not 'zipf'"),
            ((), "not one of 0"),
            ([1] * 10_001, "not one of 10,001"),
            ((3, 0), "not one with 0"),
            ((3, 2.5), "not one with 2.5"),
            ((3, "4"), "not one with '4'"),
            ((True,), "not one with True"),
            (None, "not None"),
            (5, "not 5"),
        ],
    )
    def test_shapes(self, shape, end):
        with pytest.raises(ParameterError) as caught:
            Lengths(shape)
        assert str(caught.value) == (
            "output_lengths must be fixed, uniform, geometric, lognormal or a list of 1 to 10,000 whole numbers of 1 "
            f"or more, {end}"
        )

    @pytest.mark.parametrize("spread", [0, -1, 11, float("nan"), "wide"])
    def test_spreads(self, spread):
        with pytest.raises(ParameterError, match=r"^output_spread must be a number more than 0 and at most 10, not "):
            Lengths("lognormal", spread)

    def test_both_are_named(self):
        with pytest.raises(ParameterError) as caught:
            Lengths("none", 0)
        assert set(caught.value.faults) == {"output_lengths", "output_spread"}


class TestBatching:
    def test_by_hand(self):
        """Of three out of 1, 2, 3 the longest is 3 − (1 + 8)/27 = 8/3, the shortest 4/3. A prompt takes 0.1 s, a static
        batch of three 5/3 steps of 0.1 s: 3 / (0.3 + 0.16667) = 6.4286 requests/s; else 3 / (0.3 + 0.1) = 7.5."""
        workload = Workload(100, 2, 6, Lengths("uniform"))
        scenario = Scenario("H100 SXM", "Llama 3.1 8B", workload=workload, data_parallel=2)
        static = request_rate(replace(scenario, continuous=False), 0.1, 0.1, 6)
        refilled = request_rate(scenario, 0.1, 0.1, 6)
        rates = {"static_rate": static, "continuous_rate": refilled}
        given = SimpleNamespace(scenario=scenario, tpot_of=lambda continuous: 0.1, **rates)
        figures = batching(given)
        assert figures.steps_static == pytest.approx(5 / 3)
        assert figures.steps_continuous == 1
        assert figures.occupancy_static == pytest.approx(3 / 4)
        assert figures.static_requests_per_s == pytest.approx(2 * 3 / (0.3 + 1 / 6))
        assert figures.continuous_requests_per_s == pytest.approx(2 * 7.5)
        assert figures.gain == pytest.approx(7 / 6)
        assert figures.shortest_wait == pytest.approx(4 / 3 * 0.1)

    def test_shown_figures_make_the_rate(self):
        """Short prompts, whose prefill one by one takes five times as long as that of a whole batch at once."""
        workload = Workload(64, 128, 32, Lengths("geometric"))
        metrics = evaluate(Scenario("H100 SXM", "Llama 3.1 8B", workload=workload))
        (step,) = (step for step in steps(metrics) if step.name == "requests/s of static batches")
        found = re.fullmatch(r"1 / \((\S+) ms · 1 \+ (\S+) · (\S+) ms · 1 / 32\)", step.figures)
        prefill, longest, tpot = (float(number) for number in found.groups())
        assert 1e3 / (prefill + longest * tpot / 32) == pytest.approx(metrics.static_rate, rel=0.005)

    def test_pools_of_their_own(self):
        """With a pool that prefills, static batches have the rate of their decode: 32 / (steps · TPOT)."""
        workload = Workload(4096, 128, 32, Lengths("geometric"))
        scenario = Scenario("H100 SXM", "Llama 3.1 8B", workload=workload, prefill_pool=PrefillPool(instances=4))
        metrics = evaluate(scenario)
        assert metrics.continuous_rate == metrics.request_rate == metrics.disaggregation.request_rate
        assert metrics.static_rate == pytest.approx(32 / (metrics.batching.steps_static * metrics.batching.tpot_static))
        static = evaluate(replace(scenario, continuous=False))
        assert static.request_rate == static.static_rate == metrics.static_rate
        (step,) = (s for s in disaggregation_steps(static) if s.name == "requests of the decode pool")
        assert step.figures.startswith("32 / ((518 − 1) · ")
        assert step.result == f"{grouped(metrics.static_rate)} requests/s"

    def test_alike_answers_gain_nothing(self):
        """Orca §6.2, homogeneous requests: none leaves early."""
        figures = served("fixed").batching
        assert figures.occupancy_static == 1
        assert figures.shortest_wait == 0
        assert figures.gain == 1

    def test_alone_there_is_nobody_to_wait_for(self):
        assert served(batch=1).batching.gain == pytest.approx(1, rel=1e-6)

    def test_along_a_curve(self):
        lengths, batches = Lengths("geometric"), np.arange(1.0, 257)
        assert static_steps(lengths, 512, batches).shape == (256,)
        assert occupancy(lengths, 512, 4) == pytest.approx(12 / 25, rel=1e-3)


class TestTimeline:
    def test_orca_figure_3(self):
        """x₁ takes four iterations, x₂ two: its slot computes for nothing at iterations 3 and 4, two steps of eight."""
        static = place(np.array([4, 2, 3]), 2, continuous=False)
        assert static.start.tolist() == [0, 0, 4]
        assert place(np.array([4, 2]), 2, continuous=False).occupancy_until(4) == 6 / 8
        continuous = place(np.array([4, 2, 3]), 2, continuous=True)
        assert continuous.rows() == [(0, 0, 4), (1, 0, 2), (1, 2, 5)]
        assert (static.steps, continuous.steps) == (7, 5)

    def test_eight_requests_of_which_one_is_long(self):
        """arize.com, "What Is Continuous Batching?": seven of 20 tokens and one of 400 are 540 of 3,200 slot-steps."""
        static = place(np.array([20] * 7 + [400]), 8, continuous=False)
        assert static.steps == 400
        assert static.occupancy_until(400) == 540 / 3200

    @pytest.mark.parametrize("lengths", ALL)
    def test_many_come_to_what_is_expected(self, lengths):
        answers = lengths.draw(100, 16_000, 2)
        static, continuous = (place(answers, 8, continuous) for continuous in (False, True))
        assert static.occupancy_until(static.steps) == pytest.approx(occupancy(lengths, 100, 8), rel=0.04)
        assert continuous.occupancy_until(continuous.steps) == pytest.approx(1, abs=0.02)

    @given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 9), st.booleans())
    def test_a_slot_has_one_request_at_a_time(self, lengths, slots, continuous):
        timeline = place(np.array(lengths), slots, continuous)
        taken = np.zeros((slots, timeline.steps), int)
        for slot, start, end in timeline.rows():
            taken[slot, start:end] += 1
        assert taken.max() == 1
        assert (timeline.end - timeline.start).tolist() == lengths
        assert (np.diff(timeline.start) >= 0).all()
        assert timeline.steps <= place(np.array(lengths), slots, continuous=False).steps


def capped_exponential(cap):
    """A thousand lengths as Anyscale drew them: exponential with mean 128, those above the cap drawn again."""
    shares = (np.arange(1000) + 0.5) / 1000 * -np.expm1(-cap / 128)
    return np.maximum(np.rint(-128 * np.log1p(-shares)), 1)


class TestAnyscale:
    """Daniel et al. 2023, "How continuous batching enables 23x throughput in LLM inference".

    OPT-13B on an A100 40 GB, prompts of 512 tokens, answers exponential with mean 128, of which those up to 32, 128,
    512 or 1,536 were kept; the static batches were then of 16, 12, 8 and 4 (github.com/anyscale/
    llm-continuous-batching-benchmarks, benchmark_configs/ft_variable_size).
    """

    @staticmethod
    def gain(cap, batch):
        lengths = capped_exponential(cap)
        workload = Workload(512, round(lengths.mean()), batch, Lengths(lengths))
        return evaluate(Scenario("A100 SXM 40GB", "OPT 13B", workload=workload)).batching.gain

    def test_twice_at_the_widest(self):
        """Continuous batching had 8 times the throughput of naive static batches; FasterTransformer, static too, 4."""
        assert self.gain(1536, 4) == pytest.approx(8 / 4, rel=0.05)

    def test_grows_with_variance(self):
        """Static and continuous batching were about alike for lengths of little variance, far apart for much."""
        gains = [self.gain(cap, 4) for cap in (32, 128, 512, 1536)]
        assert gains == sorted(gains)
        assert self.gain(32, 16) < 1.4

    def test_an_answer_of_one_token_leaves_nothing_to_gain(self):
        """Their example of a classifier: then each static batch is as good as can be."""
        figures = served("geometric", output=1).batching
        assert figures.occupancy_static == 1
        assert figures.gain == 1


class TestWords:
    def test_lesson_has_this_scenarios_numbers(self):
        """The longest of 32 is H₃₂ = 4.0585 means of 511.5, and half a token: 2,076."""
        text = lesson(served("geometric"))
        assert "their longest answer, 2,076 tokens where the mean is 512, and use 25 % of their slots" in text

    def test_lesson_where_it_does_not_pay(self):
        assert "gains nothing" in lesson(served("fixed"))
        assert "changes nothing" in lesson(served(batch=1))

    @pytest.mark.parametrize("shape", [*SHAPES, SAMPLE])
    def test_steps(self, shape):
        metrics = served(shape)
        rows = {step.name: step for step in steps(metrics)}
        assert all(all(row) for row in rows.values())
        assert rows["gain of continuous batching"].result == f"{metrics.batching.gain:.3g}"


class TestView:
    def drawn(self, *args, **scenario):
        view = SlotsView()
        view.draw(served(*args, **scenario))
        return view.widget.value

    def test_says_in_words_what_it_shows(self):
        html = self.drawn("geometric")
        assert html.count('role="img"') == 2
        assert 'aria-label="Static batches: 24 answers in ' in html
        assert 'aria-label="Continuous batching: 24 answers in ' in html
        assert "100 % of the slots’ steps used" in html
        assert "(in use): 24 answers" in html

    def test_a_bar_an_answer(self):
        assert self.drawn("uniform").count("<rect") == 2 * 24
        assert self.drawn("uniform", batch=2).count("<rect") == 2 * 6

    @pytest.mark.parametrize("shape", [*SHAPES, SAMPLE])
    @pytest.mark.parametrize("output", [1, 2, 100_000])
    def test_any_workload(self, shape, output):
        assert self.drawn(shape, output=output).count("<svg") == 2

    def test_alike_answers_look_alike(self):
        assert "pale" not in self.drawn("fixed")
        assert "pale" in self.drawn("geometric")
