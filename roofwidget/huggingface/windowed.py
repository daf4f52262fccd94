"""Families of dense models some or all of whose layers attend to a window."""

from __future__ import annotations

from collections.abc import Callable

from roofwidget.huggingface.beside import Beside, usual_biases
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.dense import dense
from roofwidget.huggingface.registry import family
from roofwidget.transformer import Transformer


@family("mistral", "ministral", "ministral3", "phi3", "phi4mm", "phi4_multimodal")
def all_windowed(config: Config) -> Transformer:
    """Jiang et al. 2023, "Mistral 7B", and Abdin et al. 2024, "Phi-3": a window in every layer where one is told."""
    return dense(config, sliding=lambda i, _: True)


@family(
    "qwen2", "qwen2_vl", "qwen2_5_vl", "qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text", "qwen3",
    "qwen3_vl_text",
)  # fmt: skip
def qwen(config: Config) -> Transformer:
    """Qwen 2024, "Qwen2", and 2025, "Qwen3": a window where one is told and used, from a layer on."""
    third = config.family.startswith("qwen3")
    beside = usual_biases(config)._replace(head_norms=True) if third else Beside(qkv_bias=True)
    first = config.count("max_window_layers", default=0, zero=True)
    used = config.flag("use_sliding_window", False)
    return dense(config, sliding=lambda i, _: used and i >= first, beside=beside)


def all_but(config: Config, every: int) -> Callable[[int, int], bool]:
    """Whether a layer has a window where the last of every so many attends to all.

    The number, or letters (L: a window, G: all), is in `sliding_window_pattern`.
    """
    letters = config.fields.get("sliding_window_pattern")
    if isinstance(letters, str):
        if not letters or set(letters) - set("LG"):
            raise config.fault("sliding_window_pattern", "a number, or a text of L and G", letters)
        return lambda i, _: letters[i % len(letters)] == "L"
    number = config.count("sliding_window_pattern", "_sliding_window_pattern", default=every)
    return lambda i, _: (i + 1) % number != 0


@family("gemma", "gemma2", "gemma3_text", "vaultgemma")
def gemma(config: Config) -> Transformer:
    """Gemma Team 2024 and 2025, "Gemma" to "Gemma 3": from the second on with windows, and norms on both sides."""
    norms = {"gemma": 2.0, "vaultgemma": 2.0}.get(config.family, 4.0)
    beside = usual_biases(config)._replace(head_norms=config.family == "gemma3_text")
    sliding = None if config.family == "gemma" else all_but(config, 6 if config.family == "gemma3_text" else 2)
    return dense(config, norms=norms, sliding=sliding, beside=beside)


@family("cohere", "cohere2")
def cohere(config: Config) -> Transformer:
    """Cohere 2024, Command R, and 2025, "Command A": one norm for attention and FFN side by side."""
    beside = usual_biases(config)._replace(wide_norms=config.flag("use_qk_norm", False))
    return dense(config, norms=1.0, sliding=all_but(config, 4) if config.family == "cohere2" else None, beside=beside)


@family("olmo3", "exaone4")
def after(config: Config) -> Transformer:
    """OLMo et al. 2025, "OLMo 3", and LG 2025, "EXAONE 4.0": norms after attention and FFN, and on queries and keys."""
    beside = usual_biases(config)._replace(wide_norms=config.family == "olmo3", head_norms=config.family == "exaone4")
    return dense(config, sliding=all_but(config, 4), beside=beside)


@family("cwm", "granite_swa")
def first_sees_all(config: Config) -> Transformer:
    """Meta 2025, "CWM", and IBM's Granite with windows: the first of every four layers attends to all."""
    beside = usual_biases(config)._replace(per_head=int(config.family == "granite_swa"))
    return dense(config, sliding=lambda i, _: i % 4 != 0, beside=beside)
