"""The batch curve: its wall, its knee, its axis."""

from dataclasses import replace

import numpy as np
import pytest

from roofwidget import Accelerator, Scenario, Workload, evaluate
from roofwidget.roofline.timing import BOUNDS

# 989 TFLOP/s over 3,350 GB/s: a ridge of 295.2 FLOP/byte
H100 = Accelerator({"bf16": 989e12}, bandwidth=3350e9, capacity=85.5e9)
LLAMA_8B = Scenario(H100, "Llama 3.1 8B")


def curve(scenario=LLAMA_8B, **workload):
    return evaluate(replace(scenario, workload=Workload(**workload))).batch_curve


class TestWall:
    def test_by_hand(self):
        # usable 76.95 GB, weights 16.061, activations 4,096 · (2·4096 + 2·14336)·2 = 0.302; a
        # sequence 0.5369: 60.588 / 0.5369 = 112.85
        along = curve(seq_len=4096)
        assert along.wall == 112
        assert np.array_equal(along.memory.fits, along.batch <= 112)
        assert along.memory.fits.any()
        assert not along.memory.fits.all()

    def test_none_where_the_weights_do_not_fit(self):
        along = curve(replace(LLAMA_8B, transformer="Llama 3.1 70B"), seq_len=4096)
        assert along.wall == 0
        assert not along.memory.fits.any()

    def test_is_that_of_the_metrics(self):
        metrics = evaluate(LLAMA_8B)
        assert metrics.batch_curve.wall == metrics.largest_batch


class TestKnee:
    def test_short_contexts_have_one_a_little_above_the_ridge(self):
        # The FFN, most of the pass, turns where 2·T·W / 989e12 = (2·W + T·2·(4096+14336)·2) / 3350e9
        # with W = 3·4096·14336: T = 314.7. Points are at most 2^(16/255) = 1.044 apart.
        assert 314.7 <= curve(seq_len=1).knee <= 314.7 * 1.045

    def test_before_it_decode_is_not_compute_bound_and_after_it_is(self):
        along = curve(seq_len=1)
        compute = along.bound == BOUNDS.index("compute")
        assert np.array_equal(compute, along.batch >= along.knee)

    def test_long_contexts_have_none(self):
        """A sequence of 4,096 reads 0.537 GB of KV cache, 0.16 ms; its 15 GFLOP take 0.015 ms."""
        assert curve(seq_len=4096).knee is None

    def test_slow_compute_has_it_at_one(self):
        slow = replace(LLAMA_8B, accelerator=replace(H100, peaks={"bf16": 1e9}))
        assert curve(slow, seq_len=16).knee == 1


class TestAxis:
    @pytest.mark.parametrize("batch", [1, 7, 1024, 1025, 5000, 1_000_000])
    def test_reaches_the_batch_at_hand(self, batch):
        along = curve(seq_len=4096, batch=batch)
        assert along.batch[0] == 1
        assert along.batch[-1] >= batch

    def test_reaches_beyond_the_wall(self):
        # One token of 131,072 bytes and 73,728 of activations each: (76.95 − 16.061) GB / 204,800 = 297,000
        # is too far; with 64 tokens, 8.39 MB each, it is 7,200 or so.
        along = curve(seq_len=64)
        assert 7100 < along.wall < 7300
        assert along.batch[-1] > along.wall

    def test_is_of_whole_batches_in_order(self):
        batch = curve(seq_len=4096).batch
        assert np.array_equal(batch, np.round(batch))
        assert np.all(np.diff(batch) > 0)

    def test_shows_the_first_batches_one_by_one(self):
        assert curve(seq_len=4096).batch[:8].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]

    def test_is_the_same_for_neighbouring_batches(self):
        """The curve must not shift under a cursor that is dragged along it."""
        assert np.array_equal(curve(seq_len=4096, batch=1).batch, curve(seq_len=4096, batch=900).batch)


@pytest.mark.parametrize("point", [0, 40, 150])
def test_is_the_scenario_at_other_batches(point):
    along = curve(seq_len=4096, batch=3)
    alone = evaluate(replace(LLAMA_8B, workload=Workload(4096, 1, along.batch[point])))
    assert along.tpot[point] == alone.tpot
    assert along.throughput[point] == alone.decode_throughput
    assert along.user_speed[point] == alone.user_speed
    assert along.memory.total[point] == alone.memory.total
    assert along.bound[point] == alone.decode.bound


def test_batching_gives_more_to_all_and_less_to_each():
    along = curve(seq_len=4096)
    assert np.all(np.diff(along.user_speed) < 0)
    before_ridge = along.batch < 295  # from there on every part of the pass may grow with the batch
    assert np.all(np.diff(along.throughput[before_ridge]) > 0)
    assert np.all(np.diff(along.throughput) > -1e-9 * along.throughput[1:])


def test_thirty_two_users_cost_little_more_than_one():
    # 4.641 and 9.609 ms: 32 / 9.609 against 1 / 4.641 is 15.5 times the throughput
    one, many = (evaluate(replace(LLAMA_8B, workload=Workload(4096, 1, b))).decode_throughput for b in (1, 32))
    assert many / one == pytest.approx(15.5, rel=0.01)
