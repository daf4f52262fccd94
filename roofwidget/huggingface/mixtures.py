"""Families with mixtures of experts and attention under the usual names."""

from __future__ import annotations

import math
from dataclasses import replace

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.huggingface.beside import Beside, usual_biases
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.experts import EXPERTS, experts_of, fine_experts, mixture, sparse_layers
from roofwidget.huggingface.layer import Layer, build, depth_of, grouped_attention, windows
from roofwidget.huggingface.registry import family
from roofwidget.huggingface.windowed import all_but
from roofwidget.transformer import Transformer


@family("mixtral", "phimoe", "granitemoe", "granitemoeshared", "minimax_m2", "olmoe", "flex_olmo")
def all_experts(config: Config) -> Transformer:
    """Jiang et al. 2024, "Mixtral of Experts": experts in every layer, as wide as intermediate_size says.

    Muennighoff et al. 2024, "OLMoE"; Shi et al. 2025, "FlexOlmo"; MiniMax 2025, MiniMax-M2; Abdin et al.
    2024, Phi-3.5-MoE, whose norms have biases; IBM 2024, Granite 3, perhaps with an expert that all share.
    """
    normed = config.family in ("olmoe", "flex_olmo", "minimax_m2")
    shared = config.count("shared_intermediate_size", zero=True) if config.family == "granitemoeshared" else 0
    windowed = config.family in ("mixtral", "phimoe")
    return mixture(
        config,
        experts_of(config, config.count("intermediate_size"), shared),
        norms=4.0 if config.family == "phimoe" else 2.0,
        beside=usual_biases(config)._replace(wide_norms=normed),
        sizes=windows(config, lambda i, _: windowed),
        more_params=config.count("vocab_size") if config.flag("lm_head_bias", False) else 0,
    )


@family("qwen2_moe", "qwen3_moe", "qwen3_vl_moe_text", "qwen3_omni_moe_text")
def qwen_moe(config: Config) -> Transformer:
    """Qwen's experts of moe_intermediate_size, in every `decoder_sparse_step`-th layer; Qwen2's also share one."""
    second = config.family == "qwen2_moe"
    shared = config.count("shared_expert_intermediate_size", zero=True) if second else 0
    step, plain = config.count("decoder_sparse_step", default=1), config.places("mlp_only_layers")
    used, until = config.flag("use_sliding_window", False), config.count("max_window_layers", default=28, zero=True)
    return mixture(
        config,
        experts_of(config, config.count("moe_intermediate_size"), shared),
        [i not in plain and (i + 1) % step == 0 for i in range(depth_of(config))],
        beside=Beside(qkv_bias=config.flag("qkv_bias", True))
        if second
        else usual_biases(config)._replace(head_norms=True),
        sizes=windows(config, lambda i, _: used and (not second or (i % 2 == 0 and i < until))),
        router_bias=config.count("hidden_size") if second else 0,  # a gate on the shared expert
    )


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
    return mixture(
        config,
        experts_of(config, width, width),
        [i in sparse for i in range(layers)],
        sizes=[float(chunk) if rope and chunk else math.inf for rope in ropes],
        dense_width="intermediate_size_mlp",
    )


@family(
    "glm4_moe", "glm4v_moe_text", "dots1", "solar_open", "deepseek", "bailing_moe", "sarvam_moe", "hy_v3", "exaone_moe",
    "ernie4_5_moe", "mellum",
)  # fmt: skip
def after_dense(config: Config) -> Transformer:
    """Experts, and shared ones beside them, in all layers but the first few.

    GLM-4.5 (2025); rednote 2025, "dots.llm1"; Upstage 2025, Solar Open; Dai et al. 2024, "DeepSeekMoE"; Ling
    Team 2025, "Ling 2.0"; Sarvam 2026; Tencent 2026, Hy3; LG 2025, K-EXAONE; Baidu 2025, ERNIE 4.5; JetBrains
    2026, Mellum 2.
    """
    name = config.family
    if name == "deepseek" and config.fields.get("n_routed_experts") is None:
        raise config.fault("n_routed_experts", "the number of its experts", None)
    moe = fine_experts(config)
    if name == "bailing_moe" and "moe_shared_expert_intermediate_size" in config:
        moe = replace(moe, shared_width=float(config.count("moe_shared_expert_intermediate_size")))
    sparse = sparse_layers(config, first=int(name in ("hy_v3", "exaone_moe")))
    if name == "solar_open":
        sparse = [True] * len(sparse)
    if name == "ernie4_5_moe":
        sparse = ernie_layers(config)
    head_norms = name in ("dots1", "hy_v3", "exaone_moe", "mellum") or config.flag("use_qk_norm", name == "sarvam_moe")
    beside = usual_biases(config)._replace(head_norms=head_norms)
    if name in ("glm4_moe", "glm4v_moe_text"):
        beside = Beside(
            config.flag("attention_bias", name == "glm4v_moe_text"), head_norms=config.flag("use_qk_norm", False)
        )
    if name in ("bailing_moe", "sarvam_moe"):
        bias = config.flag("use_qkv_bias", False)
        beside = Beside(bias, config.flag("use_bias", False), head_norms=head_norms)
    if name == "dots1":
        first = config.count("max_window_layers", default=62, zero=True)
        sizes = windows(config, lambda i, _: i >= first)
    else:
        sizes = windows(config, all_but(config, 4) if name == "exaone_moe" else None)
    return mixture(config, moe, sparse, beside=beside, sizes=sizes)


def ernie_layers(config: Config) -> list[bool]:
    """The layers from one to another, every so-manieth, that ERNIE's fields say."""
    layers, step = depth_of(config), config.count("moe_layer_interval", default=1)
    start = config.count("moe_layer_start_index", default=1, zero=True)
    last = config.fields.get("moe_layer_end_index")
    end = layers - 1 if last in (None, -1) else config.count("moe_layer_end_index", zero=True)
    return [start <= i <= end and (i + 1) % step == 0 for i in range(layers)]


@family("ernie4_5_vl_moe_text", "ernie4_5_moe_vl")
def ernie_vl(config: Config) -> Transformer:
    """Baidu 2025, "ERNIE 4.5": experts of their own for images, which text does not go to."""
    widths, counts = config.fields.get("moe_intermediate_size"), config.fields.get("moe_num_experts")
    if not isinstance(widths, (list, tuple)) or len(widths) != 2:
        raise config.fault("moe_intermediate_size", "a width for text and one for images", widths)
    text, image = counts if isinstance(counts, (list, tuple)) and len(counts) == 2 else (counts, counts)
    own = {"moe_intermediate_size": widths[0], "moe_num_experts": text}
    own |= {
        n: max(v)
        for n in ("moe_layer_start_index", "moe_layer_end_index")
        if isinstance(v := config.fields.get(n), list)
    }
    config = Config({**config.fields, **own, "image_width": widths[1], "image_experts": image}, config.family)
    layers = depth_of(config)
    sparse = sparse_layers(config, first=1) if "mlp_layer_types" in config else ernie_layers(config)
    hidden = config.count("hidden_size")
    images = config.count("image_experts") * hidden * (3 * config.count("image_width") + 1)
    assert len(sparse) == layers
    return mixture(config, fine_experts(config), sparse, more_params=images * sum(sparse))


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
    kinds, pattern = config.kinds("layer_types", layers), config.kinds("hybrid_layer_pattern", layers)
    if kinds is None and pattern is None:
        raise config.fault("hybrid_layer_pattern", "one entry for each layer", None)
    slides = [kind == "sliding_attention" for kind in kinds] if kinds else [bool(entry) for entry in pattern or []]
    full = grouped_attention(config)
    windowed = Attention(
        config.count("swa_num_attention_heads", default=int(full.heads)),
        config.count("swa_num_key_value_heads", default=2 * int(full.kv_heads)),
        config.count("swa_head_dim", default=int(full.head_dim)),
        config.count("swa_v_head_dim", default=int(full.value_dim or full.head_dim)),
        config.count("sliding_window", "sliding_window_size"),
    )
    sparse = sparse_layers(config, first=1)
    moe, plain = fine_experts(config), FeedForward(config.count("intermediate_size"))
    return build(config, lambda i: Layer(windowed if slides[i] else full, moe if sparse[i] else plain))


@family("dbrx")
def dbrx(config: Config) -> Transformer:
    """Databricks 2024, DBRX: experts in every layer."""
    config = config.renamed(hidden_size="d_model", num_hidden_layers="n_layers", num_attention_heads="n_heads")
    attention, ffn = config.part("attn_config"), config.part("ffn_config")
    config = Config({**config.fields, "num_key_value_heads": attention.count("kv_n_heads")}, config.family)
    return mixture(config, experts_of(ffn, ffn.count("ffn_hidden_size")))


@family("arctic")
def arctic(config: Config) -> Transformer:
    """Snowflake 2024, Arctic: beside the experts an FFN as wide as the residual stream, with a norm of its own."""
    if config.count("moe_layer_frequency", default=1) != 1 or not config.flag("parallel_attn_mlp_res", True):
        raise config.fault(
            "moe_layer_frequency", "1, with parallel_attn_mlp_res", config.fields.get("moe_layer_frequency")
        )
    moe: Experts = experts_of(config, config.count("intermediate_size"), config.count("hidden_size"))
    return mixture(config, moe, norms=3.0)
