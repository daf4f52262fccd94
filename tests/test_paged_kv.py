"""Paged KV cache: what memory is given to a sequence, what of it is used, and what that buys."""

import re
from dataclasses import replace

import numpy as np
import pytest
import strategies  # noqa: F401 (hypothesis' settings)
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import Accelerator, ParameterError, Scenario, Transformer, Workload, evaluate
from roofwidget.kv_allocation import KINDS, KVAllocation
from roofwidget.lengths import Lengths
from roofwidget.lessons.paged_kv import lesson, steps
from roofwidget.serving.paged_kv import paging, slots, waste
from roofwidget.widget.views.paging import PagingView

BLOCKS = st.integers(0, 20).map(lambda power: 2.0**power)
TOKENS = st.integers(1, 100_000_000).map(float)
FEW = st.integers(1, 400).map(float)
PARTS = ("used", "reserved", "internal", "external")


class TestAllocation:
    def test_by_hand(self):
        """A prompt of 100 and an answer of 25 keep 124 tokens.

        Blocks of 16: 8 are 128. The answer's next power of two is 32 (the paper's own example), 132 in
        all, for which a buddy allocator gives 256. Reserved: 124 → 128, 300 → 512.
        """
        assert KVAllocation("exact").tokens(100, 25) == 124
        assert KVAllocation("paged").tokens(100, 25) == 128
        assert KVAllocation("paged", 64).tokens(100, 25) == 128
        assert KVAllocation("paged", 8).tokens(100, 22) == 128  # 121 tokens are one too many for 15 blocks
        assert KVAllocation("power of two").tokens(100, 25) == 256
        assert KVAllocation("reserved").tokens(100, 25) == 128
        assert KVAllocation("reserved", max_len=300).tokens(100, 25) == 512
        assert KVAllocation("reserved", max_len=2048).tokens(100, 25) == 2048

    @pytest.mark.parametrize("power", range(28))
    def test_a_power_of_two_is_its_own_next(self, power):
        allocation = KVAllocation("reserved")
        assert allocation.tokens(2**power, 1) == 2**power
        assert allocation.tokens(2**power + 1, 1) == 2 ** (power + 1)

    @given(BLOCKS, TOKENS, TOKENS, st.none() | TOKENS)
    def test_order_of_the_kinds(self, block, prompt, output, max_len):
        """Whatever suits: exact ≤ paged ≤ either reservation."""
        kinds = {kind: KVAllocation(kind, block, max_len) for kind in KINDS}
        given_out = {k: a.tokens(prompt, output) for k, a in kinds.items() if a.fault(prompt, output) is None}
        assert given_out["exact"] == min(given_out.values())
        if "paged" in given_out:
            assert given_out["paged"] == min(given_out[kind] for kind in given_out if kind != "exact")
        if max_len is None:
            assert given_out["reserved"] <= given_out["power of two"]

    @given(BLOCKS, TOKENS, TOKENS)
    def test_less_than_a_block_is_wasted(self, block, prompt, output):
        given_out = KVAllocation("paged", block).tokens(prompt, output)
        assert given_out % block == 0
        assert 0 <= given_out - (prompt + output - 1) < block

    @pytest.mark.parametrize("kind", KINDS)
    def test_broadcasts(self, kind):
        allocation = KVAllocation(kind, np.array([1, 8, 16]), np.array([100, 200, 300]))
        outputs = np.array([[3.0], [25.0]])
        given_out = np.broadcast_to(allocation.tokens(60.0, outputs), (2, 3))
        for i, output in enumerate((3, 25)):
            for j, (block, most) in enumerate(((1, 100), (8, 200), (16, 300))):
                assert given_out[i, j] == KVAllocation(kind, block, most).tokens(60, output)

    def test_what_does_not_suit(self):
        assert KVAllocation("paged", 64).fault(100, 1) is None
        assert KVAllocation("paged", 128).fault(128, 1) is None
        long = ("block_size", "block_size must be at most the 100 tokens of a sequence, not 128")
        assert KVAllocation("paged", 128).fault(100, 1) == long
        assert KVAllocation("paged", np.array([16, 128])).fault(100, 1) == long
        short = ("max_len", "max_len must be at least the 1,123 tokens of a sequence, not 1,000")
        assert KVAllocation("reserved", max_len=1000).fault(1000, np.array([1, 124])) == short
        assert KVAllocation("exact", 128, 8).fault(100, 1) is None  # neither is used

    @pytest.mark.parametrize("kind", ["vllm", "", None, 1, ["paged"], np.array(["paged"])])
    def test_unknown_kind(self, kind):
        with pytest.raises(ParameterError, match=r"^kv_allocation must be one of 'exact', 'paged', .*, not ") as error:
            KVAllocation(kind)
        assert set(error.value.faults) == {"kv_allocation"}

    @pytest.mark.parametrize("name", ["block_size", "max_len"])
    @pytest.mark.parametrize("value", [0, -16, 2.5, float("nan"), "16", True])
    def test_whole_numbers(self, name, value):
        with pytest.raises(ParameterError, match=rf"^{name} must be a whole number of 1 or more, not "):
            KVAllocation(**{name: value})

    @pytest.mark.parametrize("value", [12, 24.0, [16, 12]])
    def test_blocks_are_powers_of_two(self, value):
        with pytest.raises(ParameterError, match=r"^block_size must be a power of two, not (12|24)$"):
            KVAllocation(block_size=value)


def lived(allocation, prompt, output):
    """A sequence's life played pass by pass, as the paper tells it: its slots at each, by what becomes of them."""
    context = prompt + output - 1
    sums = dict.fromkeys(PARTS, 0.0)
    for kept in range(int(prompt), int(context) + 1):
        if allocation.kind == "paged":
            asked = has = -(-kept // int(allocation.block_size)) * int(allocation.block_size)
        else:
            has = allocation.tokens(prompt, output)
            asked = {"exact": kept, "reserved": allocation.max_len or context}.get(
                allocation.kind, prompt + 2 ** int(output - 1).bit_length()
            )
            has = kept if allocation.kind == "exact" else has
        sums["used"] += kept
        sums["reserved"] += min(context, asked) - kept
        sums["internal"] += max(asked - context, 0)
        sums["external"] += has - asked
    return sums


class TestWaste:
    def test_by_hand(self):
        """A prompt of 3 and an answer of 3: contexts 3, 4, 5.

        Blocks of 4: 4, 4, 8 slots, of which 12 hold tokens; the one empty beside 3 is filled next; of
        the second block 3 are never. Power of two: 3 + 4 = 7 asked, 8 given; of 24 slots 12 used,
        2 + 1 + 0 filled later, 2 · 3 never, 1 · 3 lost. Reserved 6: 8 given; 12, 3, 1 · 3 and 2 · 3.
        """
        assert slots(KVAllocation("paged", 4), 3, 3) == (12, 1, 3, 0)
        assert slots(KVAllocation("power of two"), 3, 3) == (12, 3, 6, 3)
        assert slots(KVAllocation("reserved", max_len=6), 3, 3) == (12, 3, 3, 6)
        assert slots(KVAllocation("reserved"), 3, 3) == (12, 3, 0, 9)
        assert slots(KVAllocation("exact"), 3, 3) == (12, 0, 0, 0)
        shares = waste(KVAllocation("paged", 4), 3, 3, Lengths())
        assert [getattr(shares, part) for part in PARTS] == [0.75, 1 / 16, 3 / 16, 0]
        assert shares.given == pytest.approx(16 / 3)

    @given(st.sampled_from(KINDS), st.integers(0, 7), FEW, FEW, st.none() | st.integers(0, 500))
    def test_is_what_a_life_played_through_has(self, kind, power, prompt, output, beyond):
        max_len = None if beyond is None else prompt + output - 1 + beyond
        allocation = KVAllocation(kind, 2**power, max_len)
        if allocation.fault(prompt, output):
            return
        expected = lived(allocation, int(prompt), int(output))
        assert slots(allocation, prompt, output)._asdict() == expected

    @given(st.sampled_from(KINDS), BLOCKS, TOKENS, TOKENS)
    def test_shares(self, kind, block, prompt, output):
        allocation = KVAllocation(kind, block)
        if allocation.fault(prompt, output):
            return
        shares = waste(allocation, prompt, output, Lengths())
        parts = [getattr(shares, part) for part in PARTS]
        assert sum(parts) == pytest.approx(1)
        assert all(0 <= part <= 1 for part in parts)
        assert shares.given <= allocation.tokens(prompt, output) * (1 + 1e-9)

    @pytest.mark.parametrize("block", [2, 16, 64])
    def test_blocks_waste_half_of_one(self, block):
        """(block − 1) / 2 slots on average: over a whole number of blocks exactly."""
        shares = waste(KVAllocation("paged", block), 1, 100 * block, Lengths())
        assert (1 - shares.used) * shares.given == pytest.approx((block - 1) / 2)

    def test_long_answers_are_met_more_often(self):
        """Of answers of 1 and 999 tokens, as many each, 999 of 1,000 in flight are long.

        With a prompt of 1 they keep (1 · 1 + 999 · 500) / 1000 = 499.5 tokens on average, where an
        answer of the mean 500 keeps 250.5.
        """
        shares = waste(KVAllocation("exact"), 1, 500, Lengths((1, 999)))
        assert shares.given == pytest.approx(499.5, rel=0.02)  # drawn

    @pytest.mark.parametrize("shape", ["uniform", "geometric", "lognormal"])
    def test_mean_age_and_residual_life(self, shape):
        """Renewal theory: in flight an answer has E[m²] / (2 E[m]) tokens behind it and as many before it, and the
        half that a whole token is from its middle: the prompt's own pass has none yet."""
        lengths, mean = Lengths(shape, 0.7), 400.0
        age = lengths.mean_square(mean) / (2 * mean) - 0.5
        shares = waste(KVAllocation("reserved", max_len=2**20), 100, mean, lengths)
        assert shares.used * shares.given == pytest.approx(100 + age, rel=0.02)
        assert shares.reserved * shares.given == pytest.approx(age, rel=0.02)

    def test_an_answer_ends_with_its_reservation(self):
        shares = waste(KVAllocation("reserved", max_len=512), 128, 300, Lengths("lognormal", 2.0))
        assert shares.internal >= 0
        assert shares.used + shares.reserved <= 1


class TestKwon:
    """Kwon et al. 2023, fig. 2 and 13a: OPT-13B, ShareGPT.

    Means of ShareGPT from fig. 11, slots from table 1. The spread of answers is not told: a lognormal
    of 1 is taken. (From fig. 2 itself: Max reserves 13.3 of 91.1 % of 2,048 slots, 299 tokens, hence
    E[m²] / E[m] = 598 and a spread of 0.88, the longest having been cut off.)
    """

    LENGTHS, PROMPT, OUTPUT, POOL = Lengths("lognormal", 1.0), 161.0, 338.0, 15_700

    def shares(self, *allocation):
        return waste(KVAllocation(*allocation), self.PROMPT, self.OUTPUT, self.LENGTHS)

    def test_orca_max(self):
        """Of 15.7K slots 7 sequences of 2,048 take 14,336, 91.3 %: the rest is the paper's "external & others"."""
        shares = self.shares("reserved", 16, 2048)
        assert shares.given == 2048
        taken = self.POOL // 2048 * 2048 / self.POOL
        assert 100 * shares.used * taken == pytest.approx(20.4, abs=2)
        assert 100 * shares.reserved * taken == pytest.approx(13.3, abs=2)
        assert 100 * shares.internal * taken == pytest.approx(57.3, abs=3)
        assert 100 * (1 - taken) == pytest.approx(8.9, abs=0.5)

    def test_orca_pow2(self):
        shares = self.shares("power of two")
        assert 100 * shares.used == pytest.approx(26.8, abs=2)
        assert 100 * shares.reserved == pytest.approx(17.9, abs=2)
        assert 100 * shares.internal == pytest.approx(13.6, abs=2)
        assert 100 * shares.external == pytest.approx(41.6, abs=2)

    def test_orca_oracle(self):
        """Holes between pieces of unequal size are not modelled: external waste is less than measured."""
        shares = self.shares("reserved")
        assert 100 * shares.used == pytest.approx(38.2, abs=5)
        assert 100 * shares.reserved == pytest.approx(25.2, abs=4)
        assert shares.internal == 0
        assert 100 * shares.external == pytest.approx(36.6, abs=8)

    def test_vllm(self):
        """96.3 % effective use: less than 4 % waste."""
        assert 0.963 <= self.shares("paged").used < 1

    def test_batched_requests(self):
        """Fig. 13a; vLLM measured at 2 requests/s, not at its limit."""
        in_flight = {kind: self.POOL / self.shares(kind).given for kind in ("reserved", "power of two", "paged")}
        assert self.POOL // self.shares("reserved", 16, 2048).given == 7
        assert in_flight["power of two"] == pytest.approx(9.81, rel=0.2)
        assert in_flight["reserved"] == pytest.approx(13.62, rel=0.2)
        assert in_flight["paged"] == pytest.approx(30.42, rel=0.2)


SERVED = Scenario(
    Accelerator.named("H100 SXM"),
    "Llama 3.1 8B",
    workload=Workload(1000, 500, 8),
    kv_allocation=KVAllocation("paged", max_len=8192),
)


class TestPaging:
    def test_largest_batch_by_hand(self):
        """All kinds share the same room, and each leaves less of it than one more sequence would take."""
        kinds = evaluate(SERVED).paging.kinds
        assert [kinds[kind].tokens for kind in KINDS] == [1499, 1504, 8192, 2048]
        room = kinds["exact"].largest_batch * 1499
        for kind in KINDS:
            held = kinds[kind].largest_batch * kinds[kind].tokens
            assert abs(room - held) < 1499 + kinds[kind].tokens

    def test_is_the_scenario_so_set(self):
        shown = evaluate(SERVED).paging
        for kind in KINDS:
            other = evaluate(replace(SERVED, kv_allocation=KVAllocation(kind, max_len=8192)))
            assert shown.kinds[kind].largest_batch == other.largest_batch
            at_it = evaluate(replace(other.scenario, workload=Workload(1000, 500, other.largest_batch)))
            assert shown.kinds[kind].throughput == pytest.approx(at_it.decode_throughput)
            assert at_it.memory.fits
        assert shown.batch_gain == shown.kinds["paged"].largest_batch / shown.kinds["reserved"].largest_batch

    def test_what_does_not_suit_is_refused_not_raised(self):
        shown = evaluate(replace(SERVED, kv_allocation=KVAllocation("exact", 2048, 64))).paging
        assert set(shown.kinds) == {"exact", "power of two"}
        assert shown.refused["reserved"] == "max_len must be at least the 1,499 tokens of a sequence, not 64"
        assert shown.batch_gain is None
        assert shown.throughput_gain is None

    def test_nothing_fits(self):
        shown = evaluate(replace(SERVED, transformer=Transformer.named("Llama 3.1 405B"))).paging
        assert all(kind.largest_batch == kind.throughput == 0 for kind in shown.kinds.values())
        assert shown.batch_gain is None

    def test_the_kind_set_is_not_evaluated_anew(self):
        metrics = evaluate(SERVED)
        assert paging(metrics).kinds["paged"].largest_batch == metrics.largest_batch


def told(**changed):
    return lesson(evaluate(replace(SERVED, **changed)))


class TestLesson:
    def test_says_what_it_buys_and_costs(self):
        text = told()
        kinds = evaluate(SERVED).paging.kinds
        assert f"{kinds['paged'].largest_batch:,.0f} sequences" in text
        assert "8,192 slots" in text
        assert "20–26 %" in text
        assert "It pays less the more of a step is attention" in text

    def test_when_it_stops_paying(self):
        """Short sequences fill an H100 with thousands, long before which decode is compute-bound."""
        short = Workload(100, 20)
        assert "where decode turns compute-bound" in told(workload=short)
        assert "It has stopped paying" in told(workload=short, kv_allocation=KVAllocation("paged"))
        assert "would not pay here" in told(workload=Workload(1024, 1), kv_allocation=KVAllocation())

    def test_where_there_is_nothing_to_tell(self):
        assert "Not one sequence" in told(transformer=Transformer.named("Llama 3.1 405B"))
        assert "block_size must be at most" in told(kv_allocation=KVAllocation(block_size=2048))
        recurrent = {"model_type": "falcon_mamba", "hidden_size": 4096, "num_hidden_layers": 64, "vocab_size": 65024,
                     "state_size": 16, "conv_kernel": 4, "intermediate_size": 8192, "time_step_rank": 256}  # fmt: skip
        assert "nothing to page" in told(transformer=Transformer.from_hf_config(recurrent), precision=None)
        huge = KVAllocation(max_len=2**27)
        assert "not one can" in told(kv_allocation=huge)

    def test_steps(self):
        made = {step.name: step for step in steps(evaluate(SERVED))}
        assert made["slots of a sequence, paged"].result == "1,504 slots"
        assert made["slots of a sequence, paged"].figures == "16 · ⌈(1,000 + 500 − 1) / 16⌉"
        assert made["batch that blocks buy"].result == "5.5 ×"
        assert all(step.formula and step.figures and step.result and step.source for step in made.values())


def drawn(**changed):
    view = PagingView()
    view.draw(evaluate(replace(SERVED, **changed)))
    return view.widget.value


class TestView:
    def test_shows_every_kind_and_marks_the_one_set(self):
        html = drawn()
        assert html.index("reserved, 8,192 tokens") < html.index("power of two<") < html.index("paged, blocks of 16")
        assert html.index("paged, blocks of 16") < html.index("◀ set") < html.index("exact, the bound")
        assert html.count("outline:2px") == 1

    def test_bars_are_full(self):
        bars = re.findall(r'role="img" aria-label="[^"]*: [^"]*"[^>]*>((?:<span style="width[^>]*></span>)+)', drawn())
        assert len(bars) == 4
        for bar in bars:
            assert sum(map(float, re.findall(r"width:([\d.]+)%", bar))) == pytest.approx(100, abs=0.2)

    def test_says_its_result_in_words(self):
        assert re.search(r'aria-label="paged, blocks of 16: 99\.\d % holding a token, .*largest batch 308, ', drawn())

    def test_colours_follow_the_theme(self):
        assert not re.search(r"#[0-9a-f]{3,6}\b|rgb\(", drawn())

    def test_what_does_not_suit_is_told(self):
        assert "block_size must be at most the 1,499 tokens" in drawn(kv_allocation=KVAllocation(block_size=2048))
        assert "not one fits" in drawn(transformer=Transformer.named("Llama 3.1 405B"))
