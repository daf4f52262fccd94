"""Dimensions, and what follows from them."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from roofwidget import ParameterError, Transformer
from roofwidget.architecture.resizing import resized

# 5 · (8·3·(2·4+2·2) + 3·8·10) + (2·5+1)·8 + 2·32·8 = 5 · (288 + 240) + 88 + 512
SIZES = {"hidden_dim": 8, "layers": 5, "n_heads": 4, "n_kv_heads": 2, "head_dim": 3, "ffn_dim": 10, "vocab_size": 32}


def small(**changes):
    return Transformer.dense(**{**SIZES, **changes})


SMALL = small()
SMALL_PARAMS = 3240
DIMENSIONS = {"hidden_dim": 8, "layers": 5, "n_heads": 4, "n_kv_heads": 2, "head_dim": 3}


class TestParams:
    def test_gated(self):
        assert SMALL.params == SMALL_PARAMS

    def test_plain(self):
        assert small(gated=False).params == SMALL_PARAMS - 5 * 80

    def test_tied_embeddings(self):
        assert small(tied_embeddings=True).params == SMALL_PARAMS - 256

    def test_multi_head(self):
        assert small(n_kv_heads=4).params == SMALL_PARAMS + 5 * 96  # 8·3·2·2 more a layer


class TestWithParams:
    """The FFN is as wide as makes the count come out."""

    def test_finds_the_ffn_of_a_known_model(self):
        assert Transformer.with_params(SMALL_PARAMS, vocab_size=32, **DIMENSIONS) == SMALL

    def test_of_a_plain_ffn(self):
        plain = small(gated=False)
        assert Transformer.with_params(SMALL_PARAMS - 400, vocab_size=32, gated=False, **DIMENSIONS) == plain

    def test_without_vocabulary_all_are_in_the_blocks(self):
        model = Transformer.with_params(SMALL_PARAMS, **DIMENSIONS)
        assert model.params == pytest.approx(SMALL_PARAMS)
        assert model.blocks[0].ffn.width == pytest.approx((3240 - 88 - 5 * 288) / (5 * 3 * 8))

    def test_nothing_left_for_the_ffn(self):
        # attention 5·288, norms 88: 1,528
        with pytest.raises(ParameterError, match=r"params_b must be more than the 1.528e-06 billion") as error:
            Transformer.with_params(1528, **DIMENSIONS)
        assert list(error.value.faults) == ["params_b"]
        assert Transformer.with_params(1529, **DIMENSIONS).params == pytest.approx(1529)

    def test_arrays(self):
        models = Transformer.with_params(np.array([3240.0, 5000.0]), **DIMENSIONS)
        assert models.params == pytest.approx([3240, 5000])


class TestKvBytes:
    def test_by_hand(self):
        assert SMALL.kv_bytes_per_token() == 2 * 5 * 2 * 3 * 2
        assert SMALL.kv_bytes_per_token(kv_bytes=0.5) == 30

    def test_follow_the_kv_heads_only(self):
        assert small(n_heads=40).kv_bytes_per_token() == SMALL.kv_bytes_per_token()


class TestRefuses:
    @pytest.mark.parametrize("field", ["hidden_dim", "layers", "n_heads", "n_kv_heads", "head_dim"])
    @pytest.mark.parametrize("value", [0, -1, 2.5, float("nan"), float("inf"), "8", None, True])
    def test_what_is_no_count(self, field, value):
        with pytest.raises(ParameterError, match=f"^{field} must be a whole number of 1 or more, not "):
            small(**{field: value})

    @pytest.mark.parametrize("value", [-1, 0.5, float("inf")])
    def test_vocabulary(self, value):
        with pytest.raises(ParameterError, match=r"^vocab_size must be a whole number of 0 or more, not "):
            small(vocab_size=value)

    def test_ffn_need_not_be_whole_but_positive(self):
        assert small(ffn_dim=0.5).blocks[0].ffn.width == 0.5
        with pytest.raises(ParameterError, match=r"^ffn_dim must be a number more than 0, not 0"):
            small(ffn_dim=0)

    def test_kv_heads_that_do_not_divide_the_heads(self):
        with pytest.raises(ParameterError, match="n_kv_heads must divide n_heads=4, and 3 does not"):
            small(n_kv_heads=3)

    def test_kv_heads_that_do_not_divide_an_array_of_heads(self):
        with pytest.raises(ParameterError, match="n_kv_heads must divide n_heads"):
            small(n_heads=np.array([4, 5]))


def test_is_frozen():
    with pytest.raises(FrozenInstanceError):
        SMALL.vocab_size = 6


class TestResized:
    """What edited numbers make of a model from the catalog."""

    def test_layers_stay_whole(self):
        """DeepSeek V3's 3 dense and 58 sparse layers, of 30: 1.5 and 28.5."""
        model = resized(Transformer.named("DeepSeek V3"), layers=30)
        assert [block.layers for block in model.blocks] in ([1, 29], [2, 28])

    def test_a_part_with_no_whole_size_is_refused(self):
        with pytest.raises(ParameterError, match="head_dim must leave every layer with whole sizes: "):
            resized(Transformer.named("DeepSeek V3"), head_dim=100)


@pytest.mark.parametrize("name", Transformer.names())
def test_as_many_layers_as_asked(name):
    """Times a ratio they may come out a rounding away: 94 · (3 / 94) is a little less than 3."""
    model = Transformer.named(name)
    for layers in range(1, 130):
        try:
            made = resized(model, layers=layers)
        except ParameterError:  # too few for all its kinds of layers
            continue
        assert made.layers == layers
