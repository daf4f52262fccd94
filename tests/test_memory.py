"""What each device has to hold, by hand for the small model of test_nodes.

A layer: attention 8·3·(2·4+2·2) = 288, FFN 3·8·10 = 240 parameters. Five of them 2,640, norms
(2·5+1)·8 = 88, embedding and LM head 2·32·8 = 512: 3,240 in all, 6,480 bytes. A token of KV cache takes
2·5·2·3·½ = 30 bytes; inside a layer a token takes (2·8 + 2·10)·3 = 108.
"""

from dataclasses import replace

import numpy as np
import pytest

from roofwidget import Accelerator, Precision, Scenario, Transformer, Workload
from roofwidget.roofline.memory import devices_needed, footprint, largest_batch

SIZES = {"hidden_dim": 8, "layers": 5, "n_heads": 4, "n_kv_heads": 2, "head_dim": 3, "ffn_dim": 10, "vocab_size": 32}


def small(**changes):
    return Transformer.dense(**{**SIZES, **changes})


SMALL = small()


def scenario(usable=1e6, model=SMALL, devices=1, *, prompt=7, output=3, batch=3, utilization=1.0):
    return Scenario(
        Accelerator({"bf16": 1.0}, bandwidth=1.0, capacity=usable),
        model,
        Precision(weight_bytes=2, kv_bytes=0.5, activation_bytes=3),
        Workload(prompt, output, batch),
        devices,
        utilization,
    )


class TestFootprint:
    def test_parts(self):
        memory = footprint(scenario())
        assert memory.weights == 6480
        assert memory.kv_cache == 810  # 3 sequences of 7 + 3 − 1 tokens: the last one is never fed back
        assert memory.activations == 756  # 7 tokens of prompt, more than 3 of a decode step
        assert memory.total == 8046

    def test_against_capacity(self):
        memory = footprint(scenario(10_000, utilization=0.9))
        assert (memory.capacity, memory.usable) == (10_000, 9000)
        assert memory.fits

    def test_fits_to_the_last_byte(self):
        assert footprint(scenario(8046)).fits
        assert not footprint(scenario(8045)).fits

    def test_tied_embeddings_are_held_once(self):
        assert footprint(scenario(model=small(tied_embeddings=True))).weights == 5968  # 6480 − 2·256

    def test_plain_ffn(self):
        memory = footprint(scenario(model=small(gated=False)))
        assert memory.weights == 5680  # 6480 − 2 · 5·80
        assert memory.activations == 672  # queries, keys and values, 24: more than 8 + 10 around it; 7 · (8 + 24) · 3

    def test_without_vocabulary(self):
        assert footprint(scenario(model=small(vocab_size=0))).weights == 5456  # 6480 − 2·512


class TestActivations:
    def test_decode_of_a_large_batch_holds_more_than_a_short_prompt(self):
        assert footprint(scenario(prompt=7, batch=8)).activations == 8 * 108

    @pytest.mark.parametrize("prompt", [8192, 8193, 1_000_000])
    def test_long_prompts_go_in_chunks(self, prompt):
        assert footprint(scenario(prompt=prompt)).activations == 8192 * 108

    def test_shorter_ones_in_one(self):
        assert footprint(scenario(prompt=8191)).activations == 8191 * 108


class TestDevices:
    def test_two_share_everything_but_norms_and_hidden_states(self):
        memory = footprint(scenario(devices=2))
        assert memory.weights == 3328  # 5·(144 + 120) + 88 + 256 = 1,664 parameters
        assert memory.kv_cache == 405
        assert memory.activations == 546  # 7 · (16 + 20/2) · 3

    def test_four_hold_each_kv_head_twice(self):
        memory = footprint(scenario(devices=4))
        assert memory.weights == 1992  # 5·(8·3·2·(1+1) + 60) + 88 + 128 = 996
        assert memory.kv_cache == 405  # as with two
        assert memory.activations == 441  # 7 · (16 + 20/4) · 3

    @pytest.mark.parametrize(
        ("usable", "needed"),
        # footprints of 1, 2 and 4: 8,046, 3328 + 405 + 546 = 4,279, 1992 + 405 + 441 = 2,838
        [(8046, 1), (8045, 2), (4279, 2), (4278, 4), (2838, 4), (2837, 0), (1, 0)],
    )
    def test_devices_needed(self, usable, needed):
        assert devices_needed(scenario(usable)) == needed

    def test_devices_needed_does_not_depend_on_devices_at_hand(self):
        assert devices_needed(scenario(8045, devices=4)) == 2

    def test_they_divide_the_query_heads(self):
        """Of ten heads there are no thirds: what two devices cannot hold takes five."""
        ten_heads = small(n_heads=10, n_kv_heads=1)
        assert {devices_needed(scenario(usable, ten_heads)) for usable in range(2000, 12_000, 250)} == {0, 1, 2, 5, 10}


class TestLargestBatch:
    @pytest.mark.parametrize(
        ("usable", "batch"),
        # 6480 + 756 = 7,236 without any sequence; each takes 9 · 30 = 270
        [(7236, 0), (7505, 0), (7506, 1), (9000, 6), (7236 + 7 * 270 - 1, 6), (7236 + 7 * 270, 7), (100, 0)],
    )
    def test_beside_a_prompt(self, usable, batch):
        assert largest_batch(scenario(usable)) == batch

    @pytest.mark.parametrize(("usable", "batch"), [(7860, 10), (7859, 9), (6618, 1), (6617, 0)])
    def test_where_decode_holds_more_than_the_prompt(self, usable, batch):
        """One token each: 30 bytes of KV cache and 108 of activations, beside 6,480 of weights."""
        assert largest_batch(scenario(usable, prompt=1, output=1)) == batch

    def test_does_not_depend_on_the_batch_at_hand(self):
        assert largest_batch(scenario(9000, batch=1)) == largest_batch(scenario(9000, batch=500)) == 6


def test_largest_batch_where_rounding_costs_the_last():
    """Sizes that are no binary fractions, in a memory that a batch of 102 fills to the byte."""
    model = Transformer.dense(64, 7, 8, 4, 64, 333)
    sizes = Precision(weight_bytes=0.55, kv_bytes=0.3, activation_bytes=0.7)
    full = Scenario(Accelerator({"bf16": 1.0}, 1.0, 1.0), model, sizes, Workload(100, 1, 102), 1, 1.0)
    device = Accelerator({"bf16": 1.0}, 1.0, capacity=footprint(full).total)
    assert largest_batch(replace(full, accelerator=device)) == 102


def test_arrays():
    usable = np.array([100.0, 7506.0, 9000.0])
    assert footprint(scenario(usable)).fits.tolist() == [False, False, True]
    assert largest_batch(scenario(usable)).tolist() == [0, 1, 6]
    assert devices_needed(scenario(usable)).tolist() == [0, 2, 1]
