"""Families of dense models with attention under the usual names: Llama and what descends from it."""

from __future__ import annotations

from collections.abc import Callable

from roofwidget.architecture.feed_forward import FeedForward
from roofwidget.huggingface.beside import Beside, usual_biases
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.layer import Layer, build, grouped_attention, windows
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer


def dense(
    config: Config,
    *,
    gated: bool = True,
    norms: float = 2.0,
    sliding: Callable[[int, int], bool] | None = None,
    beside: Beside | None = None,
    more_params: float = 0.0,
) -> Transformer:
    """Alike layers of attention and an FFN, some perhaps with a window.

    Parameters
    ----------
    config
        Of the model.
    gated
        Whether the FFN has three matrices.
    norms
        Gains and biases of normalisation a layer, in widths of the residual stream.
    sliding
        Whether the i-th of n layers has a window, where the file does not say.
    beside
        Biases and norms of queries and keys; those that the usual fields say unless told.
    more_params
        Parameters that are in no layer.
    """
    ffn, hidden = FeedForward(config.count("intermediate_size"), gated), config.count("hidden_size")
    sizes, beside = windows(config, sliding), beside or usual_biases(config)

    def layer(i: int) -> Layer:
        attention = grouped_attention(config, sizes[i])
        return Layer(attention, ffn, norms, beside.params(attention, ffn, hidden))

    return build(config, layer, more_params=more_params)


@family(
    "llama", "granite", "hyperclovax", "helium", "exaone", "yi", "aquila", "iquestcoder", "mimo",
    "internlm3", "diffllama",
)  # fmt: skip
def llama(config: Config) -> Transformer:
    """Touvron et al. 2023, "LLaMA", and those with its shape: gated FFN, no window."""
    sandwiched = config.family == "hyperclovax" and config.flag("use_post_norm", True)
    beside = usual_biases(config)
    if config.family == "mimo":  # Qwen2's layers (Xiaomi 2025, "MiMo")
        beside = Beside(qkv_bias=config.flag("attention_bias", True))
    if config.family == "exaone":
        config = config.renamed(num_hidden_layers="num_layers")
    if config.family == "internlm3":
        beside = beside._replace(ffn_bias=config.flag("bias", False), qkv_bias=config.flag("qkv_bias", False))
    return dense(config, norms=4.0 if sandwiched else 2.0, beside=beside)


@family("seed_oss", "glm", "glm4", "glm4v_text")
def biased_queries(config: Config) -> Transformer:
    """ByteDance 2025, Seed-OSS; GLM Team 2024, GLM-4: biases before attention, in GLM-4-0414 norms on both sides."""
    beside = Beside(
        config.flag("attention_bias", True), config.flag("attention_out_bias", False), config.flag("mlp_bias", False)
    )
    return dense(config, norms=2.0 if config.family in ("seed_oss", "glm") else 4.0, beside=beside)


@family("ernie4_5", "smollm3", "bitnet", "hunyuan_v1_dense", "hunyuan_vl_text", "nanochat", "olmo", "olmo2")
def own_norms(config: Config) -> Transformer:
    """Those that differ from Llama in normalisation alone.

    Baidu 2025, ERNIE 4.5; Bakouch et al. 2025, SmolLM3; Ma et al. 2025, "BitNet b1.58 2B4T"; Tencent
    2025, Hunyuan; Karpathy 2025, nanochat; Groeneveld et al. 2024, OLMo; OLMo et al. 2025, OLMo 2.
    """
    config = config.renamed(head_dim=("head_dim", "attention_head_dim"))
    usual = usual_biases(config)
    if config.family == "ernie4_5":
        bias = config.flag("use_bias", False)
        usual = Beside(bias, bias, bias)
    beside = usual._replace(
        head_norms=config.family.startswith("hunyuan"),
        wide_norms=config.family == "olmo2",
    )
    norms = {
        "bitnet": 3 + config.count("intermediate_size") / config.count("hidden_size"),
        "nanochat": 0.0,
        "olmo": 0.0,
    }
    gated = config.family != "nanochat"
    used = config.flag("use_sliding_window", False)
    ropes = config.fields.get("no_rope_layers") or []
    return dense(
        config,
        gated=gated,
        norms=norms.get(config.family, 2.0),
        sliding=lambda i, _: used and not (ropes[i] if i < len(ropes) else (i + 1) % 4),
        beside=beside,
    )


@family("nemotron", "arcee", "apertus", "jais2")
def plain(config: Config) -> Transformer:
    """Those whose FFN has two matrices.

    NVIDIA 2024, "Nemotron-4 340B"; Arcee 2025, AFM; Swiss AI 2025, "Apertus"; Inception 2025, Jais 2.
    """
    beside = usual_biases(config)._replace(head_norms=config.family == "apertus")
    return dense(config, gated=False, norms=4.0 if config.family in ("nemotron", "jais2") else 2.0, beside=beside)


@family("persimmon", "phi", "starcoder2", "stablelm")
def layer_norms(config: Config) -> Transformer:
    """Those with biases of layer norms, and most with biases of all matrices.

    Adept 2023, Persimmon; Li et al. 2023, "phi-1.5"; Lozhkov et al. 2024, "StarCoder 2"; Bellagamba et
    al. 2024, "Stable LM 2". Phi has one norm for attention and FFN, and a bias on its LM head.
    """
    queries_normed = config.flag("qk_layernorm", config.family == "persimmon")
    if config.family == "stablelm":
        beside = Beside(qkv_bias=config.flag("use_qkv_bias", False), wide_norms=queries_normed)
        return dense(config, norms=2.0 if config.flag("use_parallel_residual", False) else 4.0, beside=beside)
    bias = config.flag("use_bias", True)
    beside = Beside(bias, bias, bias, head_norms=queries_normed)
    head = config.count("vocab_size") if config.family == "phi" else 0
    return dense(
        config,
        gated=False,
        norms=2.0 if config.family == "phi" else 4.0,
        sliding=lambda i, _: config.family == "starcoder2",
        beside=beside,
        more_params=head,
    )
