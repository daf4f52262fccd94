"""Families whose definition is code in their repositories on the Hub, not in transformers."""

from __future__ import annotations

from roofwidget.huggingface.beside import Beside
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.dense import dense
from roofwidget.huggingface.experts import experts_of, mixture
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer


@family("internlm2", "baichuan", "xverse", "orion", "minicpm")
def llama_like(config: Config) -> Transformer:
    """Those with Llama's layers: InternLM2 (2024), Baichuan (2023), XVERSE (2023), Orion (2024), MiniCPM (2024).

    Orion's norms have biases.
    """
    for name in ("num_experts", "sparse_config", "quantization_bit"):
        if config.fields.get(name):
            raise config.fault(name, "absent: what it adds is not known here", config.fields[name])
    bias = config.flag("bias", False) or config.flag("attention_bias", False)
    return dense(config, norms=4.0 if config.family == "orion" else 2.0, beside=Beside(bias, bias))


@family("chatglm")
def chatglm(config: Config) -> Transformer:
    """GLM Team 2024, "ChatGLM", from the second generation on: two groups of keys and values."""
    config = config.renamed(
        num_hidden_layers="num_layers", intermediate_size="ffn_hidden_size", vocab_size="padded_vocab_size",
        head_dim="kv_channels", num_key_value_heads="multi_query_group_num",
    )  # fmt: skip
    if "ffn_hidden_size" not in config:
        raise config.fault("ffn_hidden_size", "there: the first ChatGLM is not known here", None)
    if not config.flag("multi_query_attention", False):
        config = Config({**config.fields, "num_key_value_heads": config.count("num_attention_heads")}, config.family)
    everywhere = config.flag("add_bias_linear", False)
    return dense(config, beside=Beside(everywhere or config.flag("add_qkv_bias", False), everywhere, everywhere))


@family("qwen")
def first_qwen(config: Config) -> Transformer:
    """Bai et al. 2023, "Qwen": an FFN half as wide as intermediate_size says, biases before attention."""
    doubled = config.count("intermediate_size")
    if doubled % 2:
        raise config.fault("intermediate_size", "even", doubled)
    fields = {**config.fields, "intermediate_size": doubled // 2, "head_dim": config.count("kv_channels", default=128)}
    fields["num_key_value_heads"] = config.count("num_attention_heads")
    return dense(Config(fields, config.family), beside=Beside(qkv_bias=True))


@family("grok-1")
def grok(config: Config) -> Transformer:
    """XAI 2024, Grok-1: eight experts, norms on both sides of attention and experts."""
    return mixture(config, experts_of(config, config.count("intermediate_size")), norms=4.0)
