"""Families with linear attention in most layers: gated delta rule, lightning attention, short convolutions."""

from __future__ import annotations

from typing import Any

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.huggingface.beside import Beside, latent_norms
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.experts import experts_of, fine_experts, sparse_layers
from roofwidget.huggingface.latent import latent_attention
from roofwidget.huggingface.layer import Layer, build, depth_of, grouped_attention
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer

DELTA_RULE_FLOPS = 8.0
"""A token's FLOPs for each element of a state that decays, is read, takes an outer product and is read again
(Yang et al. 2024, "Gated Delta Networks", §3)."""
LINEAR_FLOPS = 6.0
"""The same where it is not read before it is written (Qin et al. 2024, "Lightning Attention-2", §3)."""
LINEAR = {"linear_attention", "conv"}


def linear_layers(config: Config, otherwise: list[bool]) -> list[bool]:
    """Whether each layer keeps a state instead of keys and values, as `layer_types` or else the family says."""
    kinds = config.kinds("layer_types", len(otherwise))
    if kinds is None:
        return otherwise
    if strange := set(map(str, kinds)) - LINEAR - {"full_attention"}:
        raise config.fault("layer_types", f"of full_attention, {', '.join(sorted(LINEAR))}", sorted(strange)[0])
    return [kind in LINEAR for kind in kinds]


def gated_delta(config: Config) -> Recurrence:
    """Yang et al. 2024, "Gated Delta Networks", §3, under Qwen's names."""
    keys, values = config.count("linear_num_key_heads"), config.count("linear_num_value_heads")
    key_dim, value_dim = config.count("linear_key_head_dim"), config.count("linear_value_head_dim")
    mixed = 2 * keys * key_dim + values * value_dim
    return Recurrence(
        values, value_dim, key_dim,
        input_width=mixed + values * value_dim + 2 * values,
        conv_width=mixed,
        conv_kernel=config.count("linear_conv_kernel_dim"),
        more_params=2 * values + value_dim,
        state_flops=DELTA_RULE_FLOPS,
    )  # fmt: skip


@family("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")
def qwen_hybrid(config: Config) -> Transformer:
    """Qwen 2025, Qwen3-Next: three layers of gated delta rule for one of gated attention; experts in most."""
    layers, every = depth_of(config), config.count("full_attention_interval", default=4)
    linear = linear_layers(config, [(i + 1) % every != 0 for i in range(layers)])
    attention, recurrence = grouped_attention(config, gated=config.flag("attn_output_gate", True)), gated_delta(config)
    plain, step = config.places("mlp_only_layers"), config.count("decoder_sparse_step", default=1)
    hidden, sparse = config.count("hidden_size"), "num_experts" in config

    def ffn(i: int) -> Experts | FeedForward:
        if not sparse or i in plain or (i + 1) % step:
            return FeedForward(config.count("intermediate_size"))
        return experts_of(
            config, config.count("moe_intermediate_size"), config.count("shared_expert_intermediate_size", zero=True)
        )

    def layer(i: int) -> Layer:
        network = ffn(i)
        gate = hidden if isinstance(network, Experts) and network.shared_width else 0
        if linear[i]:
            return Layer(recurrence, network, 2.0, gate)
        return Layer(attention, network, 2.0, gate + Beside(head_norms=True).params(attention, network, hidden))

    return build(config, layer)


@family("olmo_hybrid")
def olmo_hybrid(config: Config) -> Transformer:
    """Ai2 2026, OLMo Hybrid: three layers of gated delta rule for one of attention."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    linear = linear_layers(config, [i % 4 != 3 for i in range(layers)])
    ffn, attention = FeedForward(config.count("intermediate_size")), grouped_attention(config)
    recurrence = gated_delta(config)
    gains = Beside(wide_norms=True).params(attention, ffn, hidden)
    return build(config, lambda i: Layer(recurrence, ffn) if linear[i] else Layer(attention, ffn, more_params=gains))


def kimi_delta(heads: int, width: int, kernel: int, low_rank: bool) -> Recurrence:
    """Kimi Team 2025, "Kimi Linear", §3: a delta rule that forgets each channel at its own rate."""
    inner = heads * width
    return Recurrence(
        heads, width, width,
        input_width=3 * inner + heads + (0 if low_rank else 2 * inner),
        replicated_inputs=2 * width if low_rank else 0,
        conv_width=3 * inner,
        conv_kernel=kernel,
        inner_params=2 * width * inner if low_rank else 0,
        more_params=inner + heads + width,
        state_flops=DELTA_RULE_FLOPS,
    )  # fmt: skip


@family("kimi_linear", "bailing_hybrid")
def kimi_linear(config: Config) -> Transformer:
    """Kimi Team 2025, "Kimi Linear": three layers of delta rule for one of latent attention; Ring-2.5 has five."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    part = config.part("linear_attn_config") if "linear_attn_config" in config else config
    if config.family == "bailing_hybrid" and not {"kda_safe_gate", "linear_num_heads"} & set(config.fields):
        raise config.fault("kda_safe_gate", "there: other linear attention than Kimi's is not known here", None)
    recurrence = kimi_delta(
        part.count("linear_num_heads", "num_heads", default=config.count("num_attention_heads")),
        part.count("linear_head_dim", "head_dim"),
        part.count("linear_conv_kernel_dim", "short_conv_kernel_size", default=4),
        low_rank=config.family == "kimi_linear",
    )
    every = config.count("layer_group_size", default=6)
    told = part.places("full_attn_layers") if part is not config else set()
    full = {i - 1 for i in told}  # counted from 1
    if not told and config.family == "kimi_linear":
        full = {i for i in range(layers) if i and i % 4 == 0}
    elif not told:
        full = {i for i in range(layers) if (i + 1) % every == 0}
    linear = linear_layers(config, [i not in full for i in range(layers)])
    mixer = latent_attention(config)
    gate = hidden * config.count("num_attention_heads") if config.family == "bailing_hybrid" else 0
    moe, sparse = fine_experts(config), sparse_layers(config, first=1)
    plain = FeedForward(config.count("intermediate_size"))

    def layer(i: int) -> Layer:
        ffn: Experts | FeedForward = moe if sparse[i] else plain
        return Layer(recurrence, ffn) if linear[i] else Layer(mixer, ffn, 2.0, latent_norms(mixer) + gate)

    return build(config, layer)


@family("minimax", "minimax_text_01", "minimax_m1")
def minimax(config: Config) -> Transformer:
    """MiniMax 2025, "MiniMax-01", §2: seven layers of lightning attention for one of attention, experts in all."""
    layers = depth_of(config)
    attention = grouped_attention(config)
    numbers = config.kinds("attn_type_list", layers)  # 0: lightning
    default = [i % 2 == 1 for i in range(layers)] if numbers is None else [number == 0 for number in numbers]
    if numbers is not None and set(numbers) - {0, 1}:
        raise config.fault("attn_type_list", "0 or 1 for each layer", numbers)
    linear = linear_layers(config, default)
    inner = float(attention.heads * attention.head_dim)
    recurrence = Recurrence(
        attention.heads, attention.head_dim, attention.head_dim,
        input_width=4 * inner, more_params=inner, state_flops=LINEAR_FLOPS,
    )  # fmt: skip
    width = config.count("intermediate_size")
    shared: Any = config.fields.get("shared_intermediate_size")
    if shared not in (None, 0, [0]):
        raise config.fault("shared_intermediate_size", "0", shared)
    moe = experts_of(config, width)
    return build(config, lambda i: Layer(recurrence if linear[i] else attention, moe))


@family("lfm2", "lfm2_moe")
def lfm2(config: Config) -> Transformer:
    """Liquid AI 2025, "LFM2": short convolutions with gates on both sides in most layers, attention in the others."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    told = config.places("full_attn_idxs")
    linear = linear_layers(config, [i not in told if "full_attn_idxs" in config else False for i in range(layers)])
    if config.family == "lfm2_moe" and "layer_types" not in config and not told:
        raise config.fault("layer_types", f"one entry for each of {layers} layers", None)
    kernel, bias = config.count("conv_L_cache", default=3), config.flag("conv_bias", False)
    convolution = Recurrence(
        hidden, 1, 0, input_width=3 * hidden, conv_width=hidden, conv_kernel=kernel, more_params=5 * hidden * bias
    )
    attention = grouped_attention(config)
    if config.family == "lfm2":
        sparse, moe, plain = [False] * layers, None, FeedForward(lfm2_width(config))
    else:
        sparse, plain = sparse_layers(config), FeedForward(config.count("intermediate_size"))
        moe = experts_of(config, config.count("moe_intermediate_size"))

    def layer(i: int) -> Layer:
        ffn = moe if sparse[i] else plain
        if linear[i]:
            return Layer(convolution, ffn)
        return Layer(attention, ffn, 2.0, Beside(head_norms=True).params(attention, ffn, hidden))

    return build(config, layer)


def lfm2_width(config: Config) -> int:
    """Two thirds of what the file says, times a factor, up to a multiple."""
    width = config.count("block_ff_dim", "intermediate_size")
    if not config.flag("block_auto_adjust_ff_dim", True):
        return width
    factor, multiple = (
        config.fields.get("block_ffn_dim_multiplier", 1.0),
        config.count("block_multiple_of", default=256),
    )
    if factor is not None and (
        isinstance(factor, bool) or not isinstance(factor, (int, float)) or not 0 < factor < 100
    ):
        raise config.fault("block_ffn_dim_multiplier", "a number above 0", factor)
    width = int((1.0 if factor is None else factor) * int(2 * width / 3))
    return multiple * -(-width // multiple)


@family("recurrent_gemma")
def recurrent_gemma(config: Config) -> Transformer:
    """De et al. 2024, "Griffin", §2: two layers of gated linear recurrence for one with a window."""
    hidden, heads = config.count("hidden_size"), config.count("num_attention_heads")
    turn = config.fields.get("block_types") or ["recurrent", "recurrent", "attention"]
    if not isinstance(turn, list) or set(map(str, turn)) - {"recurrent", "attention"}:
        raise config.fault("block_types", "a list of recurrent and attention", turn)
    channels = config.count("lru_width", default=hidden)
    kernel = config.count("conv1d_width", default=4)
    if channels % heads:
        raise config.fault("lru_width", f"a multiple of num_attention_heads={heads}", channels)
    recurrence = Recurrence(
        heads, channels // heads, 1, input_width=2 * channels, conv_width=channels, conv_kernel=kernel,
        inner_params=2 * channels * channels // heads, more_params=6 * channels + hidden,
    )  # fmt: skip
    kv_heads = config.count("num_key_value_heads", default=heads)
    window = config.count("attention_window_size", "sliding_window", default=2048)
    attention = Attention(heads, kv_heads, hidden // heads, window=window)
    ffn = FeedForward(config.count("intermediate_size") / 2)
    biases = config.count("intermediate_size") + hidden

    def layer(i: int) -> Layer:
        if turn[i % len(turn)] == "recurrent":
            return Layer(recurrence, ffn, 2.0, biases)
        return Layer(attention, ffn, 2.0, biases + hidden)

    return build(config, layer)
