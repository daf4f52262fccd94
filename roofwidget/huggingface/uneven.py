"""Families with mixtures of experts whose layers differ in attention: windows, heads, keys of another layer."""

from __future__ import annotations

import math
from dataclasses import replace

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.feed_forward import FeedForward
from roofwidget.huggingface.beside import Beside, usual_biases
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.experts import EXPERTS, experts_of, fine_experts, mixture, sparse_layers
from roofwidget.huggingface.layer import Layer, build, depth_of, grouped_attention, windows
from roofwidget.huggingface.registry import family
from roofwidget.huggingface.windowed import all_but
from roofwidget.transformer import Transformer


@family("gpt_oss")
def gpt_oss(config: Config) -> Transformer:
    """OpenAI 2025, "gpt-oss": every other layer has a window, the first among them."""
    width, hidden = config.count("intermediate_size"), config.count("hidden_size")
    moe = experts_of(config, width)
    biases = config.count(*EXPERTS) * (2 * width + hidden + 1)
    return mixture(
        config,
        moe,
        beside=Beside(qkv_bias=True, out_bias=True, per_head=1),
        sizes=windows(config, lambda i, _: i % 2 == 0),
        more_params=depth_of(config) * biases,
    )


@family("llama4_text")
def llama4(config: Config) -> Transformer:
    """Meta 2025, Llama 4: a shared and one routed expert in every so-manieth layer; three of four layers in chunks."""
    layers, width = depth_of(config), config.count("intermediate_size")
    step = config.count("interleave_moe_layer_step", default=1)
    sparse = config.places("moe_layers") or set(range(step - 1, layers, step))
    ropes = config.kinds("no_rope_layers", layers) if config.fields.get("no_rope_layers") else None
    ropes = ropes or [int((i + 1) % 4 != 0) for i in range(layers)]
    chunk = config.count("attention_chunk_size", default=None)
    chunks = [float(chunk) if rope and chunk else math.inf for rope in ropes]
    return mixture(
        config,
        experts_of(config, width, width),
        [i in sparse for i in range(layers)],
        sizes=windows(config) if "layer_types" in config else chunks,
        dense_width="intermediate_size_mlp",
    )


@family("hunyuan_v1_moe", "hunyuan")
def hunyuan(config: Config) -> Transformer:
    """Sun et al. 2024, "Hunyuan-Large": one shared expert; layers that use the keys and values of the one before."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    config = config.renamed(head_dim=("head_dim", "attention_head_dim"))
    for name in ("moe_topk", "num_shared_expert", "moe_intermediate_size"):
        if isinstance(config.fields.get(name), list):  # a number for each layer
            numbers = set(config.numbers(name, layers))
            if len(numbers) != 1:
                raise config.fault(name, "the same for all layers", sorted(numbers))
            config = Config({**config.fields, name: numbers.pop()}, config.family)
    width = config.count("moe_intermediate_size", "intermediate_size")
    moe = experts_of(config, width, width * config.count("num_shared_expert", default=1, zero=True))
    every = config.count("cla_share_factor", default=2) if config.flag("use_cla", False) else 1
    attention = grouped_attention(config)
    beside = usual_biases(config)._replace(head_norms=config.flag("use_qk_norm", True))

    def layer(i: int) -> Layer:
        mixer = replace(attention, keeps=i % every == 0)
        return Layer(mixer, moe, 2.0, beside.params(mixer, moe, hidden))

    return build(config, layer)


@family("afmoe")
def afmoe(config: Config) -> Transformer:
    """Arcee 2025, Trinity: gated attention, three of four layers with a window, norms on both sides."""
    moe, beside = fine_experts(config), usual_biases(config)._replace(head_norms=True)
    every = config.count("global_attn_every_n_layers", default=4)
    sizes = windows(config, lambda i, _: (i + 1) % every != 0)
    sparse = sparse_layers(config, first=1)
    router_bias = config.count(*EXPERTS)
    return mixture(
        config, moe, sparse, norms=4.0, beside=beside, sizes=sizes, gated_attention=True, router_bias=router_bias
    )


@family("cohere2_moe")
def cohere_moe(config: Config) -> Transformer:
    """Cohere 2026, Command with experts: one norm a layer, three of four layers with a window."""
    first = config.count("first_k_dense_replace", default=0, zero=True)
    start, later = config.count("prefix_dense_sliding_window_pattern", default=1), all_but(config, 4)
    width = config.count("intermediate_size")
    return mixture(
        config,
        experts_of(config, width, width * config.count("num_shared_experts", default=0, zero=True)),
        sparse_layers(config),
        norms=1.0,
        sizes=windows(config, lambda i, n: (i + 1) % start != 0 if i < first else later(i - first, n)),
        dense_width="prefix_dense_intermediate_size",
    )


@family("laguna", "step3p5")
def heads_by_layer(config: Config) -> Transformer:
    """Poolside 2026, Laguna, and StepFun 2026, "Step-3.5": more heads where there is a window, a gate for each head."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    config = config.renamed(
        num_key_value_heads=("num_key_value_heads", "num_attention_groups"),
        shared_expert_intermediate_size=("shared_expert_intermediate_size", "share_expert_dim", "share_expert_dims"),
    )
    sizes = windows(config)
    if config.family == "laguna":
        heads = config.numbers("num_attention_heads_per_layer", layers, default=config.count("num_attention_heads"))
        sparse = sparse_layers(config, first=1)
    else:
        other = (
            config.part("attention_other_setting") if "attention_other_setting" in config else Config({}, config.family)
        )
        windowed = other.count("num_attention_heads", default=config.count("num_attention_heads"))
        windowed = config.count("num_sliding_attention_heads", default=windowed)
        heads = [config.count("num_attention_heads") if math.isinf(size) else windowed for size in sizes]
        listed = config.places("moe_layers_enum")
        sparse = [i in listed for i in range(layers)] if listed else sparse_layers(config, first=3)
    moe = experts_of(
        config, config.count("moe_intermediate_size"), config.count("shared_expert_intermediate_size", zero=True)
    )
    wide = config.fields.get("gating", True) not in (True, "per-head")
    router_bias = config.count(*EXPERTS) if config.family == "laguna" else 0
    beside = usual_biases(config)._replace(head_norms=True)

    def layer(i: int) -> Layer:
        own = Config({**config.fields, "num_attention_heads": heads[i]}, config.family)
        attention = grouped_attention(own, sizes[i], gated=wide)
        ffn = moe if sparse[i] else FeedForward(config.count("intermediate_size"))
        extra = beside.params(attention, ffn, hidden) + router_bias * sparse[i]
        return Layer(attention, ffn, 2.0, extra + (0 if wide else heads[i] * hidden))

    return build(config, layer)


@family("mimo_v2_flash", "mimo_v2")
def mimo(config: Config) -> Transformer:
    """Xiaomi 2026, MiMo-V2: one full layer for five with a window, whose heads are of their own; values narrower."""
    layers = depth_of(config)
    pattern = config.kinds("hybrid_layer_pattern", layers)  # 1: a window
    if pattern is None and "layer_types" not in config:
        raise config.fault("hybrid_layer_pattern", "one entry for each layer", None)
    if pattern is not None and not all(entry in (0, 1) for entry in pattern):
        raise config.fault("hybrid_layer_pattern", "0 or 1 for each layer", pattern)
    config = config.renamed(sliding_window=("sliding_window", "sliding_window_size"))
    sizes = windows(config, lambda i, _: pattern is not None and bool(pattern[i]))
    full = grouped_attention(config)
    windowed = Attention(
        config.count("swa_num_attention_heads", default=int(full.heads)),
        config.count("swa_num_key_value_heads", default=2 * int(full.kv_heads)),
        config.count("swa_head_dim", default=int(full.head_dim)),
        config.count("swa_v_head_dim", default=int(full.value_dim or full.head_dim)),
        config.count("sliding_window"),
    )
    sparse = sparse_layers(config, first=1)
    moe, plain = fine_experts(config), FeedForward(config.count("intermediate_size"))
    return build(config, lambda i: Layer(full if math.isinf(sizes[i]) else windowed, moe if sparse[i] else plain))
