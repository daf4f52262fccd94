"""Families with state-space layers, alone or beside attention."""

from __future__ import annotations

from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.architecture.parallel import Parallel
from roofwidget.architecture.recurrence import Recurrence
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.experts import experts_of
from roofwidget.huggingface.layer import Layer, build, depth_of, grouped_attention
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer

STATE_SPACE_FLOPS = 6.0
"""A token's FLOPs for each element of a state that decays, takes an outer product and is read (Dao and Gu
2024, "Mamba-2", §6)."""
SELECTIVE_SCAN_FLOPS = 9.0
"""The same where each element has a rate of its own to decay at (counted so in state-spaces/mamba's tests of
Gu and Dao 2023, "Mamba": 9 · batch · length · channels · state)."""


def mamba1(inner: int, state: int, rank: int, kernel: int, norms: bool = False, bias: bool = True) -> Recurrence:
    """Gu and Dao 2023, "Mamba", §3.5: each channel has a state; step size, B and C come from it.

    Jamba has `norms` on those.
    """
    between = inner * (rank + 2 * state) + rank * inner
    return Recurrence(
        inner, 1, state,
        input_width=2 * inner,
        conv_width=inner,
        conv_kernel=kernel,
        inner_params=between,
        more_params=inner * (state + 2 + bias) + (rank + 2 * state if norms else 0),
        state_flops=SELECTIVE_SCAN_FLOPS,
    )  # fmt: skip


def rank_of(config: Config, name: str) -> int:
    """Rank of the step size: a sixteenth of the residual stream unless told."""
    if config.fields.get(name, "auto") == "auto":
        return -(-config.count("hidden_size") // 16)
    return config.count(name)


@family("mamba", "falcon_mamba")
def mamba(config: Config) -> Transformer:
    """Gu and Dao 2023, "Mamba"; Zuo et al. 2024, "Falcon Mamba": no attention, no FFN."""
    hidden = config.count("hidden_size", "d_model")
    inner = config.count("expand", default=2) * hidden
    if config.flag("use_bias", False):
        raise config.fault("use_bias", "false", True)
    mixer = mamba1(
        inner, config.count("state_size", default=16), rank_of(config, "time_step_rank"),
        config.count("conv_kernel", default=4), bias=config.flag("use_conv_bias", True),
    )  # fmt: skip
    return build(config, lambda i: Layer(mixer, None, 1.0))


def mamba2(
    heads: int, head_dim: int, state: int, groups: int, kernel: int, norm: bool = True, bias: bool = True
) -> Recurrence:
    """Dao and Gu 2024, "Transformers are SSMs" (Mamba-2), §6: one decay a head, B and C shared by groups."""
    inner, shared = heads * head_dim, 2 * groups * state
    return Recurrence(
        heads, head_dim, state,
        input_width=2 * inner + heads,
        replicated_inputs=shared,
        conv_width=inner + shared,
        conv_kernel=kernel,
        more_params=3 * heads + inner * norm + (inner + shared) * bias,
        state_flops=STATE_SPACE_FLOPS,
    )  # fmt: skip


def mamba2_of(config: Config, inner: int, norm: bool = True) -> Recurrence:
    """That under the names that IBM's Bamba began with."""
    heads = config.count("mamba_n_heads")
    if config.flag("mamba_proj_bias", False):
        raise config.fault("mamba_proj_bias", "false", True)
    if inner % heads:
        raise config.fault("mamba_n_heads", f"a divisor of {inner} channels", heads)
    width = inner // heads if config.fields.get("mamba_d_head", "auto") == "auto" else config.count("mamba_d_head")
    if width * heads != inner:
        raise config.fault("mamba_d_head", f"{inner // heads}, as {heads} heads share {inner} channels", width)
    state, groups, kernel = (config.count(name) for name in ("mamba_d_state", "mamba_n_groups", "mamba_d_conv"))
    return mamba2(heads, width, state, groups, kernel, norm, config.flag("mamba_conv_bias", True))


@family("mamba2")
def pure_mamba2(config: Config) -> Transformer:
    """Dao and Gu 2024, "Mamba-2", and Mistral 2024, Codestral Mamba."""
    heads, width = config.count("num_heads"), config.count("head_dim")
    inner = config.count("expand", default=2) * config.count("hidden_size")
    if heads * width != inner:
        raise config.fault("num_heads", f"so many that heads of {width} share {inner} channels", heads)
    mixer = mamba2(
        heads, width, config.count("state_size"), config.count("n_groups"), config.count("conv_kernel"),
        bias=config.flag("use_conv_bias", True),
    )  # fmt: skip
    return build(config, lambda i: Layer(mixer, None, 1.0))


@family("jamba")
def jamba(config: Config) -> Transformer:
    """Lieber et al. 2024, "Jamba": one layer of attention for seven of Mamba, experts in every other."""
    hidden = config.count("hidden_size")
    every, offset = config.count("attn_layer_period"), config.count("attn_layer_offset", zero=True)
    step, start = config.count("expert_layer_period"), config.count("expert_layer_offset", zero=True)
    mixer = mamba1(
        config.count("mamba_expand") * hidden, config.count("mamba_d_state"), rank_of(config, "mamba_dt_rank"),
        config.count("mamba_d_conv"), norms=True, bias=config.flag("mamba_conv_bias", True),
    )  # fmt: skip
    width = config.count("intermediate_size")
    plain, moe = FeedForward(width), experts_of(config, width) if config.count("num_experts") > 1 else None

    def layer(i: int) -> Layer:
        ffn = moe if moe is not None and i % step == start else plain
        return Layer(grouped_attention(config) if i % every == offset else mixer, ffn)

    return build(config, layer)


@family("bamba", "granitemoehybrid")
def bamba(config: Config) -> Transformer:
    """IBM 2024, "Bamba", and 2025, Granite 4: some layers of attention, the others Mamba-2; Granite's with experts."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    kinds = config.kinds("layer_types", layers) or config.kinds("layers_block_type", layers)
    told = config.places("attn_layer_indices")
    kinds = ["attention" if i in told else "mamba" for i in range(layers)] if kinds is None else kinds
    if strange := set(map(str, kinds)) - {"attention", "full_attention", "mamba", "linear_attention"}:
        raise config.fault("layer_types", "of attention, mamba", sorted(strange)[0])
    ffn: FeedForward | Experts
    if config.family == "bamba":
        ffn = FeedForward(config.count("intermediate_size"))
    else:
        shared = config.count("shared_intermediate_size", zero=True)
        experts = config.count("num_local_experts", default=0, zero=True)
        ffn = experts_of(config, config.count("intermediate_size"), shared) if experts else FeedForward(shared)
    recurrent = "mamba" in kinds or "linear_attention" in kinds
    recurrence = mamba2_of(config, config.count("mamba_expand", default=2) * hidden) if recurrent else None

    attends = [kind in ("attention", "full_attention") for kind in kinds]
    return build(config, lambda i: Layer(grouped_attention(config) if attends[i] else recurrence, ffn))


@family("falcon_h1")
def falcon_h1(config: Config) -> Transformer:
    """Zuo et al. 2025, "Falcon-H1", §2: attention and Mamba-2 side by side in every layer."""
    hidden = config.count("hidden_size")
    inner = config.count("mamba_d_ssm", default=config.count("mamba_expand", default=2) * hidden)
    recurrence = mamba2_of(config, inner, norm=config.flag("mamba_rms_norm", False))
    mixer = Parallel(grouped_attention(config), recurrence)
    return build(config, lambda i: Layer(mixer, FeedForward(config.count("intermediate_size"))))


@family("nemotron_h")
def nemotron_h(config: Config) -> Transformer:
    """NVIDIA 2025, "Nemotron-H": each layer one thing, a Mamba-2 (M), attention (*), an FFN (-) or experts (E)."""
    pattern = config.text("hybrid_override_pattern") or "".join(
        {"mamba": "M", "linear_attention": "M", "attention": "*", "full_attention": "*", "mlp": "-", "moe": "E"}.get(
            kind, "?"
        )
        for kind in config.fields.get("layers_block_type") or config.fields.get("layer_types") or ()
    )
    if not pattern or set(pattern) - set("M*-E"):
        raise config.fault("hybrid_override_pattern", "a text of M, *, - and E", pattern)
    told = config.count("num_hidden_layers", default=len(pattern))
    if told != len(pattern):
        raise config.fault("num_hidden_layers", f"{len(pattern)}, as many as hybrid_override_pattern has", told)
    if "attention_head_dim" in config and "head_dim" not in config:
        config = Config({**config.fields, "head_dim": config.count("attention_head_dim")}, config.family)
    config = config.renamed(n_groups=("n_groups", "mamba_n_groups"), conv_kernel=("conv_kernel", "mamba_d_conv"))
    heads, width, state = (config.count(name) for name in ("mamba_num_heads", "mamba_head_dim", "ssm_state_size"))
    mixer = mamba2(heads, width, state, config.count("n_groups"), config.count("conv_kernel"))

    def layer(i: int) -> Layer:
        kind = pattern[i]
        if kind == "M":
            return Layer(mixer, None, 1.0)
        if kind == "*":
            return Layer(grouped_attention(config), None, 1.0)
        if kind == "-":
            return Layer(None, FeedForward(config.count("intermediate_size"), gated=False), 1.0)
        shared = config.count("moe_shared_expert_intermediate_size", zero=True)
        moe = experts_of(
            config,
            config.count("moe_intermediate_size"),
            shared * config.count("n_shared_experts", default=1, zero=True),
            gated=False,
        )
        latent = config.count("moe_latent_size", default=None)
        return Layer(
            None,
            moe if latent is None else Experts(moe.experts, moe.active, moe.width, moe.shared_width, False, latent),
            1.0,
        )

    config = Config({**config.fields, "num_hidden_layers": len(pattern)}, config.family)
    return build(config, layer)
