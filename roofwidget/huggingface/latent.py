"""Families with latent attention: DeepSeek and those that took it up."""

from __future__ import annotations

from dataclasses import replace

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.compressed import CompressedAttention
from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.architecture.latent import Indexer, LatentAttention
from roofwidget.huggingface.beside import latent_norms
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.experts import ACTIVE, fine_experts, sparse_layers
from roofwidget.huggingface.layer import Layer, build, depth_of, grouped_attention
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer


def latent_attention(config: Config, indexer: Indexer | None = None) -> LatentAttention:
    """Latent attention under DeepSeek's names."""
    return LatentAttention(
        heads=config.count("num_attention_heads"),
        query_rank=config.count("q_lora_rank", default=None),
        kv_rank=config.count("kv_lora_rank"),
        rope_dim=config.count("qk_rope_head_dim", zero=True),
        nope_dim=config.count("qk_nope_head_dim"),
        value_dim=config.count("v_head_dim"),
        indexer=indexer,
    )


def indexer_of(config: Config, stride: int = 1) -> Indexer:
    """What picks tokens, under DeepSeek's names."""
    heads, dim, top = (config.count(name) for name in ("index_n_heads", "index_head_dim", "index_topk"))
    return Indexer(heads, dim, top, stride)


@family(
    "deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "kimi_k25_text", "glm_moe_dsa", "glm4_moe_lite",
    "mistral4", "mistral_large4_text", "axk1", "sarvam_mla",
)  # fmt: skip
def deepseek(config: Config) -> Transformer:
    """DeepSeek-AI 2024, "DeepSeek-V3", §2.1: latent attention, experts in all layers but the first few.

    Kimi Team 2025, "Kimi K2"; GLM-4.7-Flash; Mistral 2026; SK Telecom 2026, A.X K1, with a norm after the
    experts; Sarvam 2026. DeepSeek-V3.2, GLM-5 and Mistral Large 4 add an indexer; the last has no rotary keys
    in every fourth layer.
    """
    layers, hidden = depth_of(config), config.count("hidden_size")
    sources = config.kinds("kv_source_layers", layers)
    if sources is not None and sources != list(range(layers)):
        raise config.fault("kv_source_layers", "each layer itself", "others")
    moe = fine_experts(config)
    sparse = sparse_layers(config, first=int(config.family in ("glm4_moe_lite", "axk1")))
    plain = None if all(sparse) else FeedForward(config.count("intermediate_size"))
    picks = indexers(config)
    whole = None if config.flag("use_mla", True) and "kv_lora_rank" in config else unshared_attention(config)
    own = config.family == "mistral_large4_text"
    rotary = rotary_layers(config) if own else [True] * layers
    scaling = 2 * (hidden + config.count("index_n_heads") + config.count("num_attention_heads")) if own else 0

    def layer(i: int) -> Layer:
        if whole is not None:
            return Layer(whole, moe if sparse[i] else plain)
        mixer = latent_attention(config, picks[i])
        if not rotary[i]:
            mixer = replace(mixer, rope_dim=0.0, nope_dim=mixer.head_dim)
        norms = 3.0 if config.family == "axk1" and sparse[i] else 2.0
        return Layer(mixer, moe if sparse[i] else plain, norms, latent_norms(mixer) + scaling)

    return build(config, layer)


def unshared_attention(config: Config) -> Attention:
    """Attention with keys and values for heads, which small ones have instead (DeepSeek-VL2, DeepSeek-OCR)."""
    fields = {name: value for name, value in config.fields.items() if name not in ("head_dim", "v_head_dim")}
    return grouped_attention(Config(fields, config.family))


def rotary_layers(config: Config) -> list[bool]:
    """Whether each layer has rotary keys: all but every so-manieth, or as `no_rope_layers` (1: it has) says."""
    layers, every = depth_of(config), config.count("no_rope_layer_interval", default=4)
    told = config.kinds("no_rope_layers", layers)
    return [(i + 1) % every != 0 for i in range(layers)] if told is None else [bool(flag) for flag in told]


def indexers(config: Config) -> list[Indexer | None]:
    """The indexer of each layer: none, one of its own, or the picks of a layer before it."""
    layers = depth_of(config)
    if "index_topk" not in config:
        return [None] * layers
    pattern = config.fields.get("index_topk_pattern")
    kinds = config.kinds("indexer_types", layers) or (None if pattern is None else list(pattern))
    if kinds is None:
        every, offset = config.count("index_topk_freq", default=1), config.count("index_skip_topk_offset", default=2)
        kinds = ["full" if max(i - offset + 1, 0) % every == 0 else "shared" for i in range(layers)]
    if len(kinds) < layers or set(kinds[:layers]) - {"full", "shared", "F", "S"}:
        raise config.fault("indexer_types", f"full or shared for each of {layers} layers", kinds)
    own = indexer_of(config)
    return [own if kind in ("full", "F") else Indexer(0, 0, own.top) for kind in kinds]


@family("minicpm3", "youtu")
def dense_latent(config: Config) -> Transformer:
    """OpenBMB 2024, MiniCPM3, and Tencent 2025, "Youtu-LLM": latent attention and a dense FFN."""
    mixer, ffn = latent_attention(config), FeedForward(config.count("intermediate_size"))
    return build(config, lambda i: Layer(mixer, ffn, 2.0, latent_norms(mixer)))


@family("longcat_flash")
def longcat(config: Config) -> Transformer:
    """Meituan 2025, "LongCat-Flash", §2: two layers of attention and FFN, experts beside the first FFN.

    Some of the experts that a token goes to give it back as it is, and have no weights: as many as
    there are of them among all, on average.
    """
    config = config.renamed(num_hidden_layers="num_layers", intermediate_size="ffn_hidden_size")
    layers, hidden = depth_of(config), config.count("hidden_size")
    mixer, ffn = latent_attention(config), FeedForward(config.count("intermediate_size"))
    real, empty = config.count("n_routed_experts"), config.count("zero_expert_num", default=0, zero=True)
    chosen = config.count(*ACTIVE) * real / (real + empty)
    if not chosen.is_integer():
        raise config.fault("zero_expert_num", "so many that whole experts are chosen on average", empty)
    first = Experts(
        real, int(chosen), config.count("expert_ffn_hidden_size", "moe_intermediate_size"), float(ffn.width)
    )
    beside = latent_norms(mixer)
    pair = (Layer(mixer, first, 2.0, beside + empty * hidden), Layer(mixer, ffn, 2.0, beside))
    doubled = Config({**config.fields, "num_hidden_layers": 2 * layers}, config.family)
    return build(doubled, lambda i: pair[i % 2])


@family("deepseek_v4")
def deepseek_v4(config: Config) -> Transformer:
    """DeepSeek-AI 2026, "DeepSeek-V4", §2: compressed attention, experts in every layer, hyper-connections."""
    layers, hidden = depth_of(config), config.count("hidden_size")
    strides = config.kinds("compress_ratios", layers)
    if strides is None:
        kinds = config.kinds("layer_types", layers) or []
        rates = {"sliding_attention": 0, "compressed_sparse_attention": 4, "heavily_compressed_attention": 128}
        strides = [rates.get(kind) for kind in kinds]
    if not strides or any(stride not in (0, 4, 128) for stride in strides):
        raise config.fault("compress_ratios", "0, 4 or 128 for each layer", config.fields.get("compress_ratios"))
    moe = fine_experts(config)
    streams = config.count("hc_mult")
    mixing = 2 * (2 + streams) * streams * streams * hidden  # from all streams to the weights of both sub-layers

    def layer(i: int) -> Layer:
        stride = int(strides[i])
        attention = CompressedAttention(
            heads=config.count("num_attention_heads"),
            head_dim=config.count("head_dim"),
            query_rank=config.count("q_lora_rank"),
            output_groups=config.count("o_groups"),
            output_rank=config.count("o_lora_rank"),
            window=config.count("sliding_window"),
            stride=stride or None,
            indexer=indexer_of(config, stride) if stride == 4 else None,
        )
        return Layer(attention, moe, more_params=mixing)

    return build(config, layer, more_params=streams * streams * hidden)
