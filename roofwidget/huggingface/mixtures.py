"""Families with mixtures of experts and attention under the usual names."""

from __future__ import annotations

from dataclasses import replace

from roofwidget.architecture.feed_forward import Experts
from roofwidget.huggingface.beside import Beside, usual_biases
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.experts import experts_of, fine_experts, mixture, sparse_layers
from roofwidget.huggingface.layer import depth_of, windows
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
    hidden = config.count("hidden_size")
    pairs = {
        name: config.numbers(name, 2)
        for name in ("moe_intermediate_size", "moe_num_experts", "moe_layer_start_index", "moe_layer_end_index")
        if name in config
    }
    if missing := {"moe_intermediate_size", "moe_num_experts"} - set(pairs):
        raise config.fault(min(missing), "a number for text and one for images", None)
    config = Config({**config.fields, **{name: pair[0] for name, pair in pairs.items()}}, config.family)
    sparse = sparse_layers(config, first=1) if "mlp_layer_types" in config else ernie_layers(config)
    images = pairs["moe_num_experts"][1] * hidden * (3 * pairs["moe_intermediate_size"][1] + 1)
    return mixture(config, fine_experts(config), sparse, more_params=images * sum(sparse))


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
