"""Experts, latents, windows and recurrent states, by hand for small models and against what their papers say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofwidget import ParameterError
from roofwidget.architecture.attention import Attention
from roofwidget.architecture.compressed import CompressedAttention
from roofwidget.architecture.feed_forward import Experts, FeedForward, Spread
from roofwidget.architecture.latent import Indexer, LatentAttention
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.architecture.work import Extent

HIDDEN = 10.0


def named(works):
    return {work.name: work for work in works}


class TestExtent:
    def test_prefill_attends_to_itself_and_before(self):
        assert Extent.prefill(1, 7).pairs() == 28  # 1 + … + 7
        assert Extent.prefill(1, 7).pairs(window=3) == 18  # 1 + 2 + 3 and four more times 3
        assert Extent.prefill(1, 7).pairs(window=7) == Extent.prefill(1, 7).pairs(window=1000) == 28

    def test_decode_is_the_average_step(self):
        assert Extent.decode(1, 5, 5).pairs() == 5
        assert Extent.decode(1, 3, 6).pairs() == 4.5  # (3 + 4 + 5 + 6) / 4
        assert Extent.decode(1, 3, 6).pairs(window=4) == 3.75  # (3 + 4 + 4 + 4) / 4
        assert Extent.decode(1, 8, 9).pairs(window=4) == 4

    def test_each_key_of_a_prompt_is_read_once(self):
        assert Extent.prefill(3, 7).read() == 7
        assert Extent.prefill(3, 7).read(window=2) == 7
        assert Extent(1, 4, 10, 10, 4).read(window=3) == 6  # four new ones, and two before them that the first sees

    @given(st.integers(1, 400), st.integers(0, 300), st.integers(1, 500))
    def test_is_what_counting_gives(self, first, more, window):
        steps = [min(context, window) for context in range(first, first + more + 1)]
        assert Extent.decode(1, first, first + more).pairs(window) == pytest.approx(np.mean(steps))
        pairs = sum(min(i, window) for i in range(1, first + 1))
        assert Extent.prefill(1, first).pairs(window) == pytest.approx(pairs)


class TestWindow:
    ATTENTION = Attention(4, 2, 3, window=5)

    def test_keeps_no_more_than_the_window(self):
        assert self.ATTENTION.kept(4, 1) == 4 * 12  # 2 · 2 heads · 3
        assert self.ATTENTION.kept(100, 1) == 5 * 12
        assert self.ATTENTION.kept(100, 2) == 5 * 6

    def test_decode_reads_the_window_and_writes_one(self):
        (core,) = (w for w in self.ATTENTION.works(Extent.decode(2, 9, 9), HIDDEN, 1) if "attention" in w.name)
        assert core.name == "windowed attention"
        assert core.kv == 2 * (5 + 1) * 12
        assert core.flops == 2 * 5 * 4 * 4 * 3

    def test_layers_that_share_keys_keep_and_make_none(self):
        sharing = Attention(4, 2, 3, keeps=False)
        works = named(sharing.works(Extent.decode(1, 9, 9), HIDDEN, 1))
        assert sharing.kept(9, 1) == 0
        assert works["QKV projection"].weights == 10 * 12  # queries alone
        assert works["attention"].kv == 9 * 12  # read, not written

    def test_values_may_be_narrower_and_the_output_gated(self):
        gated = Attention(4, 2, 3, value_dim=2, gated=True)
        works = named(gated.works(Extent.decode(1, 9, 9), HIDDEN, 1))
        assert works["QKV projection"].weights == 10 * 4 * (3 + 2) + 10 * 2 * (3 + 2)
        assert works["attention"].flops == 9 * 2 * 4 * (3 + 2)
        assert works["output projection"].weights == 4 * 2 * 10


class TestExperts:
    MOE = Experts(8, 2, 6.0, shared_width=4.0)

    def test_params_by_hand(self):
        assert self.MOE.params(HIDDEN) == 8 * 3 * 10 * 6 + 3 * 10 * 4 + 10 * 8
        assert self.MOE.active_params(HIDDEN) == 2 * 3 * 10 * 6 + 3 * 10 * 4 + 10 * 8

    def test_experts_touched(self):
        """8·(1 − ¾^T): two for one token, 5.46875 for four, in the end all."""
        assert self.MOE.touched(1) == pytest.approx(2)
        assert self.MOE.touched(4) == pytest.approx(5.46875)
        assert self.MOE.touched(1000) == pytest.approx(8)
        assert Experts(4, 4, 6.0).touched(1) == pytest.approx(4)

    def test_a_pass_reads_the_experts_touched_and_computes_the_active(self):
        works = named(self.MOE.works(Extent.decode(4, 9, 9), HIDDEN, 1, Spread(1)))
        assert works["experts"].expert_weights == pytest.approx(5.46875 * 180)
        assert works["experts"].flops == 2 * 4 * 2 * 180
        assert works["experts"].activations == 4 * 2 * 2 * (10 + 6)
        assert works["router"].flops == 2 * 4 * 80
        assert works["shared expert"].flops == 2 * 4 * 120

    def test_whole_experts_or_slices(self):
        """Two replicas of two devices: sliced, each reads half of what its own 4 tokens touch; whole, a quarter of
        what all 8 do."""
        sliced = named(self.MOE.works(Extent.decode(4, 9, 9), HIDDEN, 2, Spread(2)))["experts"]
        whole = named(self.MOE.works(Extent.decode(4, 9, 9, routed=8), HIDDEN, 2, Spread(4, whole=True)))["experts"]
        assert sliced.expert_weights == pytest.approx(5.46875 * 180 / 2)
        assert whole.expert_weights == pytest.approx(8 * (1 - 0.75**8) * 180 / 4)
        assert (sliced.flops, whole.flops) == (4 * 2 * 2 * 180 / 2, 8 * 2 * 2 * 180 / 4)

    def test_whole_experts_are_not_cut(self):
        """5 devices for 8 experts: one holds two. Of a token's two experts, which lie apart, each reads one."""
        assert Spread(5, whole=True).held(8) == 2 / 8
        assert Spread(16, whole=True).held(8) == 1 / 8
        assert Spread(16, whole=True).computed(8) == 8
        assert Spread(16, whole=True).read(2.0) == 1
        assert Spread(16).read(2.0) == 2 / 16

    def test_latent_experts_work_on_fewer_channels(self):
        latent = Experts(8, 2, 6.0, gated=False, latent_dim=5.0)
        assert latent.params(HIDDEN) == 8 * 2 * 5 * 6 + 10 * 8 + 2 * 10 * 5
        assert "latent projection" in named(latent.works(Extent.decode(4, 9, 9), HIDDEN, 1, Spread(1)))

    def test_more_active_than_there_are(self):
        with pytest.raises(ParameterError, match="active experts must be at most the 8 there are, not 9"):
            Experts(8, 9, 6.0)


DEEPSEEK_V3 = LatentAttention(128, 1536, 512, 64, 128, 128)


class TestLatentAttention:
    def test_keeps_one_latent_and_rotary_key_a_token_on_every_device(self):
        assert DEEPSEEK_V3.kept(1000, 1) == DEEPSEEK_V3.kept(1000, 8) == 576_000

    def test_params_of_a_layer(self):
        """DeepSeek-V3: 7168·1536 + 1536·128·192 + 7168·576 + 512·128·256 + 128·128·7168 = 187 million."""
        matrices = (*DEEPSEEK_V3.inputs(7168), *DEEPSEEK_V3.outputs(7168))
        assert sum(matrix.params for matrix in matrices) == 187_105_280

    def test_decode_is_absorbed(self):
        """128 heads · 2·(576 + 512) FLOPs a token of context on 1,152 bytes: about 2 · 128 FLOP/byte, as FlashMLA's
        authors say ("A Deep-Dive Into the New Flash MLA Kernel", 2025)."""
        core = named(DEEPSEEK_V3.works(Extent.decode(1, 4096, 4096), 7168, 1))["attention"]
        assert core.flops == 4096 * 2 * 128 * (576 + 512)
        assert core.kv == (4096 + 1) * 576
        assert core.flops / (2 * core.kv) == pytest.approx(2 * 128, rel=0.06)

    def test_prefill_is_expanded(self):
        core = named(DEEPSEEK_V3.works(Extent.prefill(1, 100), 7168, 1))["attention"]
        assert core.flops == 5050 * 2 * 128 * (192 + 128)

    def test_tensor_parallelism_divides_heads_but_not_the_cache(self):
        core = named(DEEPSEEK_V3.works(Extent.decode(1, 4096, 4096), 7168, 8))["attention"]
        assert core.flops == 4096 * 2 * 16 * (576 + 512)
        assert core.kv == (4096 + 1) * 576

    def test_short_prompts_attend_to_all_where_that_takes_less(self):
        """2,048 of 4,096: 6.3 million pairs of 1,088 absorbed are more than 8.4 million of 320 expanded."""
        sparse = LatentAttention(128, 1536, 512, 64, 128, 128, Indexer(64, 128, 2048))
        core = named(sparse.works(Extent.prefill(1, 4096), 7168, 1))["sparse attention"]
        assert core.flops == 4096 * 4097 / 2 * 2 * 128 * (192 + 128)
        long = named(sparse.works(Extent.prefill(1, 131_072), 7168, 1))["sparse attention"]
        assert long.flops == (2048 * 2049 / 2 + (131_072 - 2048) * 2048) * 2 * 128 * (576 + 512)

    def test_an_indexer_bounds_what_is_attended_to(self):
        sparse = LatentAttention(128, 1536, 512, 64, 128, 128, Indexer(64, 128, 2048))
        works = named(sparse.works(Extent.decode(1, 100_000, 100_000), 7168, 1))
        assert works["sparse attention"].flops == 2048 * 2 * 128 * (576 + 512)
        assert works["sparse attention"].kv == (2048 + 1) * 576
        assert works["indexer"].flops == 100_000 * 2 * 64 * 128
        assert works["indexer"].state_bytes == 100_001 * 132  # bytes a key and layer, as vLLM keeps it
        assert sparse.kept_bytes(1000, 8) == 132_000


def test_compressed_attention_keeps_a_window_and_an_entry_for_many():
    """DeepSeek-V4's heavily compressed layers: 128 tokens as they are, then one entry of 512 for 128."""
    layer = CompressedAttention(64, 512, 1024, 8, 1024, 128, stride=128)
    assert layer.kept(128_000, 1) == 128 * 512 + 1000 * 512
    assert layer.kept(128_000, 8) == layer.kept(128_000, 1)
    (core,) = (w for w in layer.works(Extent.decode(1, 128_000, 128_000), 4096, 1) if w.name == "attention")
    assert core.flops == (128 + 1000) * 4 * 64 * 512


class TestRecurrence:
    """Two heads of 3 by 4, as a Mamba-2 layer has them."""

    LAYER = Recurrence(2, 3, 4, input_width=14, replicated_inputs=8, conv_width=14, conv_kernel=4, state_flops=6)

    def test_state_is_of_a_sequence_not_of_its_tokens(self):
        assert self.LAYER.kept(1000, 1) == 0
        assert self.LAYER.kept_bytes(1, 1) == self.LAYER.kept_bytes(10**6, 1) == 2 * 3 * 4 * 4 + 14 * 3 * 2
        assert self.LAYER.kept_bytes(1, 2) == (96 + 84) / 2

    def test_a_pass_reads_and_writes_it_once(self):
        one, many = (named(self.LAYER.works(e, HIDDEN, 1)) for e in (Extent.decode(5, 9, 9), Extent.prefill(5, 100)))
        assert one["recurrence"].state_bytes == many["recurrence"].state_bytes == 5 * 2 * 180
        assert one["recurrence"].flops == 5 * (6 * 24 + 2 * 56)
        assert one["recurrence input"].weights == 10 * (14 + 8)

    def test_heads_are_shared_evenly(self):
        assert self.LAYER.fault(2) is None
        assert "2 heads" in self.LAYER.fault(4)


def test_a_dense_network_is_one_expert_that_all_tokens_visit():
    dense = named(FeedForward(6.0).works(Extent.decode(4, 9, 9), HIDDEN, 1, Spread(1)))["FFN"]
    one = named(Experts(1, 1, 6.0).works(Extent.decode(4, 9, 9), HIDDEN, 1, Spread(1)))["experts"]
    assert one.flops == dense.flops
    assert one.expert_weights == pytest.approx(dense.weights)
    assert one.activations == dense.activations
