"""Families of GPT-2's time and kind: learned positions or ALiBi, plain FFNs, names of their own."""

from __future__ import annotations

import math

from roofwidget.architecture.attention import Attention
from roofwidget.architecture.feed_forward import FeedForward
from roofwidget.huggingface.beside import Beside
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.layer import Layer, build, depth_of, head_dim_of
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer

ALL_BIASES = Beside(True, True, True)


def usual_names(config: Config) -> Config:
    """The same under the names that came to be usual."""
    return config.renamed(
        hidden_size=("n_embd", "n_embed", "d_model"),
        num_hidden_layers=("n_layer", "num_layers", "n_layers"),
        num_attention_heads=("n_head", "num_heads", "n_heads"),
        intermediate_size=("n_inner", "ffn_dim", "ffn_hidden_size"),
        max_position_embeddings="n_positions",
    )


def older(
    config: Config,
    *,
    kv_heads: int | None = None,
    norms: float = 4.0,
    beside: Beside = ALL_BIASES,
    windows: list[float] | None = None,
    more_params: float = 0.0,
) -> Transformer:
    """Alike layers of attention and a plain FFN, four times as wide as the residual stream unless told.

    Layer norms have gains and biases: two widths each.
    """
    hidden, heads = config.count("hidden_size"), config.count("num_attention_heads")
    ffn = FeedForward(config.count("intermediate_size", default=4 * hidden), gated=False)
    width = head_dim_of(config, hidden, heads)

    def layer(i: int) -> Layer:
        window = math.inf if windows is None else windows[i]
        attention = Attention(heads, heads if kv_heads is None else kv_heads, width, window=window)
        return Layer(attention, ffn, norms, beside.params(attention, ffn, hidden))

    return build(config, layer, more_params=more_params)


@family("gpt2", "gpt_bigcode")
def gpt2(config: Config) -> Transformer:
    """Radford et al. 2019, GPT-2; Li et al. 2023, "StarCoder", with one KV head."""
    config = usual_names(config)
    one = config.flag("multi_query", config.family == "gpt_bigcode")
    positions = config.count("max_position_embeddings") * config.count("hidden_size")
    return older(config, kv_heads=1 if one else None, more_params=positions)


@family("opt")
def opt(config: Config) -> Transformer:
    """Zhang et al. 2022, "OPT": learned positions, two more than a sequence has.

    That of 350 million has embeddings narrower than its layers, and a projection on either side: they are
    counted, and their work, as an embedding of so many rows as have their size.
    """
    config = usual_names(config)
    hidden, rows = config.count("hidden_size"), config.count("vocab_size")
    embedded = config.count("word_embed_proj_dim", default=hidden)
    projections = 2 * hidden * embedded if embedded != hidden else 0
    positions = (config.count("max_position_embeddings") + 2) * hidden
    config = Config({**config.fields, "vocab_size": -(-rows * embedded // hidden)}, config.family)
    return older(config, beside=Beside(*[config.flag("enable_bias", True)] * 3), more_params=positions + projections)


@family("gpt_neo")
def gpt_neo(config: Config) -> Transformer:
    """Black et al. 2021, GPT-Neo: layers that attend to all and to a window in turn."""
    config = usual_names(config)
    layers, hidden = depth_of(config), config.count("hidden_size")
    kinds = config.kinds("attention_layers", layers)
    if kinds is None:
        try:
            kinds = [kind for turn, times in config.fields["attention_types"] for _ in range(times) for kind in turn]
        except (KeyError, TypeError, ValueError):
            raise config.fault(
                "attention_types", "pairs of kinds and times", config.fields.get("attention_types")
            ) from None
    if len(kinds) != layers or set(kinds) - {"global", "local"}:
        raise config.fault("attention_types", f"global or local for each of {layers} layers", kinds)
    window = float(config.count("window_size", default=256))
    return older(
        config,
        beside=Beside(out_bias=True, ffn_bias=True),
        windows=[window if kind == "local" else math.inf for kind in kinds],
        more_params=config.count("max_position_embeddings") * hidden,
    )


@family("gpt_neox")
def gpt_neox(config: Config) -> Transformer:
    """Black et al. 2022, "GPT-NeoX-20B"; Biderman et al. 2023, "Pythia"."""
    bias = config.flag("attention_bias", True)
    return older(config, beside=Beside(bias, bias, True))


@family("gptj", "codegen")
def gptj(config: Config) -> Transformer:
    """Wang and Komatsuzaki 2021, GPT-J; Nijkamp et al. 2022, "CodeGen": one norm, a bias on the LM head."""
    config = usual_names(config)
    return older(config, norms=2.0, beside=Beside(ffn_bias=True), more_params=config.count("vocab_size"))


@family("bloom")
def bloom(config: Config) -> Transformer:
    """BigScience 2022, "BLOOM": ALiBi, and a norm on the embedding."""
    config = usual_names(config)
    return older(config, more_params=2 * config.count("hidden_size"))


@family("mpt")
def mpt(config: Config) -> Transformer:
    """MosaicML 2023, MPT: ALiBi, no biases."""
    config = usual_names(config)
    attention = config.part("attn_config") if config.fields.get("attn_config") is not None else Config({}, "mpt")
    if not attention.flag("alibi", True) or attention.text("attn_type", "multihead_attention") != "multihead_attention":
        raise config.fault("attn_config", "of multi-head attention with alibi", config.fields["attn_config"])
    if not config.flag("no_bias", True):
        raise config.fault("no_bias", "true", False)
    wide = config.count("expansion_ratio", default=4) * config.count("hidden_size")
    config = Config({**config.fields, "intermediate_size": wide}, config.family)
    return older(config, norms=2.0, beside=Beside())


@family("falcon")
def falcon(config: Config) -> Transformer:
    """Almazrouei et al. 2023, "The Falcon Series": one KV head, several in the larger, attention beside the FFN."""
    config = usual_names(config)
    grouped = config.flag("new_decoder_architecture", False)
    kv_heads = config.count("num_kv_heads", "n_head_kv", default=None) if grouped else None
    if not grouped and config.flag("multi_query", True):
        kv_heads = 1
    two = not grouped and not config.flag("parallel_attn", True)
    norms = 2 if two else config.count("num_ln_in_parallel_attn", default=2 if grouped else 1)
    return older(config, kv_heads=kv_heads, norms=2.0 * norms, beside=Beside(*[config.flag("bias", False)] * 3))
