"""Gemma 3n and 4: embeddings for every layer, layers without keys and values of their own."""

from __future__ import annotations

import math

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.feed_forward import FeedForward
from roofwidget.huggingface.beside import Beside
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.experts import experts_of
from roofwidget.huggingface.layer import Layer, build, depth_of, grouped_attention, windows
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer

HEAD_NORMS = Beside(head_norms=True)


@family("gemma3n_text")
def gemma3n(config: Config) -> Transformer:
    """Google 2025, Gemma 3n: four streams (AltUp), a branch of low rank (LAuReL), one of five layers sees all."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    sizes = windows(config, lambda i, _: (i + 1) % 5 != 0)
    widths = config.numbers("intermediate_size", layers)
    shared = shared_layers(config, layers)
    per_layer, streams = config.count("hidden_size_per_layer_input"), config.count("altup_num_inputs")
    mixing = 2 * hidden + streams * hidden + streams**2 + streams**3  # AltUp: scale, norm, router, coefficients
    branch = (2 * config.count("laurel_rank") + 1) * hidden

    def layer(i: int) -> Layer:
        keeps = i < layers - shared
        full = grouped_attention(config, sizes[i])
        attention = Attention(full.heads, full.kv_heads, full.head_dim, None, sizes[i], keeps=keeps)
        extra = mixing + branch + (2 * per_layer + 1) * hidden
        ffn = FeedForward(widths[i])
        return Layer(attention, ffn, 4.0, extra + HEAD_NORMS.params(attention, ffn, hidden))

    rows = config.count("vocab_size_per_layer_input")
    embeddings = layers * per_layer * (rows + hidden) + per_layer
    return build(config, layer, more_params=embeddings + 2 * (streams - 1) * hidden * hidden)


@family("gemma4_text", "gemma4_unified_text")
def gemma4(config: Config) -> Transformer:
    """Google 2026, Gemma 4: a dense FFN beside the experts; full layers with wider heads, whose values are their keys.

    Smaller ones let their last layers use the keys and values of earlier ones, and have an
    embedding for every layer.
    """
    layers, hidden = depth_of(config), config.count("hidden_size")
    heads, kv_heads, width = (config.count(n) for n in ("num_attention_heads", "num_key_value_heads", "head_dim"))
    sizes = windows(config, lambda i, n: (i + 1) % 6 != 0 and i + 1 != n)
    shared = shared_layers(config, layers)
    equal = config.flag("attention_k_eq_v", False)
    own = full_heads(config, sizes)
    global_kv = own.count("num_global_key_value_heads", default=kv_heads) if equal else kv_heads
    global_width = own.count("global_head_dim", default=width)
    per_layer = config.count("hidden_size_per_layer_input", default=0, zero=True)
    plain = config.count("intermediate_size")
    twice = config.flag("use_double_wide_mlp", False)
    moe = config.flag("enable_moe_block", False)

    def layer(i: int) -> Layer:
        full, keeps = math.isinf(sizes[i]), i < layers - shared
        attention = Attention(
            heads, global_kv if full else kv_heads, global_width if full else width, None, sizes[i],
            value_matrix=not (full and equal), keeps=keeps,
        )  # fmt: skip
        wide = plain * (2 if twice and not keeps else 1)
        ffn = experts_of(config, config.count("moe_intermediate_size"), wide) if moe else FeedForward(wide)
        gate = 2 * hidden * per_layer + (hidden if per_layer else 0)
        return Layer(attention, ffn, 7.0 if moe else 4.0, gate + HEAD_NORMS.params(attention, ffn, hidden))

    rows = config.count("vocab_size_per_layer_input", default=config.count("vocab_size"))
    embeddings = layers * per_layer * (rows + hidden) + per_layer
    return build(config, layer, more_params=embeddings + gemma_vision(config, hidden))


def shared_layers(config: Config, layers: int) -> int:
    """How many of the last layers use the keys and values of earlier ones: not all."""
    shared = config.count("num_kv_shared_layers", default=0, zero=True)
    if shared >= layers:
        raise config.fault("num_kv_shared_layers", f"less than the {layers} layers there are", shared)
    return shared


def full_heads(config: Config, sizes: list[float]) -> Config:
    """The fields for heads of layers that see all, which files of transformers 5 keep in `per_layer_config`."""
    if config.fields.get("per_layer_config") is None:
        return config
    told = config.part("per_layer_config").fields
    entries, places = list(told.values()), {str(place).lstrip("0") or "0" for place in told}
    full = {str(i) for i, size in enumerate(sizes) if math.isinf(size)}
    alike = bool(entries) and isinstance(entries[0], dict) and all(entry == entries[0] for entry in entries)
    if not alike or places != full:
        raise config.fault("per_layer_config", "the same for all layers of full attention, and for no others", told)
    names = {"head_dim": "global_head_dim", "num_key_value_heads": "num_global_key_value_heads"}
    entry = entries[0]
    if strange := [name for name in entry if name not in names]:
        raise config.fault("per_layer_config", f"of {', '.join(names)}", strange[0])
    return Config({**config.fields, **{names[name]: value for name, value in entry.items()}}, config.family)


def gemma_vision(config: Config, hidden: int) -> int:
    """Parameters of Gemma 4's vision tower, which its publisher counts and its checkpoint holds; 0 without one."""
    if config.fields.get("vision_config") is None or config.family != "gemma4_text":
        return 0
    vision = config.part("vision_config")
    width, patch = vision.count("hidden_size"), vision.count("patch_size")
    layer = 4 * width * width + 3 * width * vision.count("intermediate_size")
    positions = 2 * vision.count("position_embedding_size", default=0, zero=True)
    return vision.count("num_hidden_layers") * layer + width * (positions + 3 * patch * patch + hidden)
