"""Layer: one layer as a family's definition makes it, and layers that are alike put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.block import Block, Mixer
from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.reading import ConfigError
from roofwidget.transformer import Transformer

Window = float
"""Tokens that a layer attends to; infinite: all."""


class Layer(NamedTuple):
    """One layer."""

    mixer: Mixer | None
    ffn: FeedForward | Experts | None
    norms: float = 2.0
    more_params: float = 0.0


def stack(layers: Iterable[Layer]) -> tuple[Block, ...]:
    """Blocks of the layers that are alike, in the order of the first of each."""
    alike: dict[Layer, int] = {}
    for layer in layers:
        alike[layer] = alike.get(layer, 0) + 1
    return tuple(Block(count, *layer) for layer, count in alike.items())


def build(
    config: Config,
    layer: Callable[[int], Layer],
    *,
    more_params: float = 0.0,
) -> Transformer:
    """The transformer whose i-th layer is `layer(i)`.

    Parameters
    ----------
    config
        Of the model.
    layer
        Gives each of its layers.
    more_params
        Parameters that no matrix product reads.
    """
    return Transformer(
        hidden_dim=config.count("hidden_size"),
        blocks=stack(layer(i) for i in range(depth_of(config))),
        vocab_size=config.count("vocab_size"),
        tied_embeddings=config.flag("tie_word_embeddings", False),
        more_params=more_params,
    )


def depth_of(config: Config) -> int:
    """The number of layers."""
    layers = config.count("num_hidden_layers")
    if layers > 10_000:
        raise config.fault("num_hidden_layers", "at most 10,000", layers)
    return layers


def head_dim_of(config: Config, hidden: int, heads: int) -> int:
    """The width of a head: told, or hidden / heads where that is whole."""
    if "head_dim" in config:
        return config.count("head_dim")
    if hidden % heads:
        raise ConfigError(
            f"a configuration of {config.family!r} without head_dim must have a hidden_size that is a multiple of "
            f"num_attention_heads={heads}, and {hidden} is not"
        )
    return hidden // heads


def grouped_attention(config: Config, window: Window = math.inf, gated: bool = False) -> Attention:
    """Multi-head, grouped or multi-query attention under the usual names."""
    heads = config.count("num_attention_heads")
    kv_heads = config.count("num_key_value_heads", default=heads)
    if heads % kv_heads:
        raise config.fault("num_key_value_heads", f"a divisor of num_attention_heads={heads}", kv_heads)
    width = head_dim_of(config, config.count("hidden_size"), heads)
    return Attention(heads, kv_heads, width, config.count("v_head_dim", default=width), window, gated)


SEES_ALL = {"full_attention", "attention", "global", "full"}
SEES_WINDOW = {"sliding_attention", "chunked_attention", "local", "sliding"}


def windows(config: Config, otherwise: Callable[[int, int], bool] | None = None) -> list[Window]:
    """The window of each layer.

    Parameters
    ----------
    config
        Whose `layer_types` tell, if it has them.
    otherwise
        Whether the family's i-th of n layers has a window, where it has none.
    """
    layers = depth_of(config)
    size = config.count("sliding_window", default=None, zero=True) or config.count("attention_chunk_size", default=None)
    kinds = config.kinds("layer_types", layers)
    if kinds is None:
        sliding = [bool(size) and otherwise is not None and otherwise(i, layers) for i in range(layers)]
    else:
        if strange := set(map(str, kinds)) - SEES_ALL - SEES_WINDOW:
            raise config.fault("layer_types", f"of {', '.join(sorted(SEES_ALL | SEES_WINDOW))}", sorted(strange)[0])
        sliding = [kind in SEES_WINDOW for kind in kinds]
    if any(sliding) and not size:
        raise ConfigError(f"a configuration of {config.family!r} with windowed layers must have sliding_window")
    return [float(size) if slides else math.inf for slides in sliding]
