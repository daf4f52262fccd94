"""From the fields of a configuration to a Transformer."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from roofwidget.huggingface import (  # noqa: F401  each says which families it builds
    dense,
    gemma,
    hybrid,
    latent,
    mamba,
    mixtures,
    older,
    remote,
    uneven,
    windowed,
)
from roofwidget.huggingface.config import Config
from roofwidget.huggingface.defaults import with_defaults
from roofwidget.huggingface.quantized import stored
from roofwidget.huggingface.reading import ConfigError
from roofwidget.huggingface.registry import FAMILIES
from roofwidget.transformer import Transformer
from roofwidget.validation import ParameterError, shown

TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where multimodal configurations keep that of the language model."""
REFUSED = {
    "mllama": "layers that attend to an image, of which a prompt of text says nothing",
    "mllama_text_model": "layers that attend to an image, of which a prompt of text says nothing",
    "minimax_m3_vl_text": "attention to blocks of keys that an indexer picks",
    "zamba": "one block of attention whose weights many layers share",
    "zamba2": "blocks of attention whose weights many layers share",
    "jetmoe": "a mixture of attention heads",
    "rwkv": "token shift and channel mixing",
    "doge": "attention whose mask is learned",
}
"""What families that are refused have that is not known here."""

MOST_WRAPPERS = 4


def families() -> list[str]:
    """The model types that are known."""
    return sorted(FAMILIES)


def from_config(fields: Mapping[str, Any], name: str = "") -> Transformer:
    """The language model that a configuration describes.

    Raises
    ------
    ConfigError
        If its family is not known, or a field is missing or cannot be.
    """
    text = language_part(fields)
    model_type = text.get("model_type")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise ConfigError(unknown(model_type, text))
    config = Config(with_defaults(text, model_type, part=text is not fields), model_type)
    try:
        model = FAMILIES[config.family](config)
    except ConfigError:
        raise
    except ParameterError as error:
        raise ConfigError(f"a configuration of {config.family!r} contradicts itself: {error}") from None
    sizes = stored(Config({**text, **{k: v for k, v in fields.items() if k == "quantization_config"}}, config.family))
    return replace(model, name=name, **sizes._asdict())


def language_part(fields: Mapping[str, Any], wrapped: int = 0) -> Mapping[str, Any]:
    """The part that describes the language model: all of it, unless it is wrapped.

    A wrapper's word on tied embeddings stands where the part has none.

    Raises
    ------
    ConfigError
        If it is wrapped too many times.
    """
    if wrapped > MOST_WRAPPERS:
        raise ConfigError(f"a configuration is wrapped in others at most {MOST_WRAPPERS} times")
    for part in TEXT_PARTS:
        inner = fields.get(part)
        if isinstance(inner, Mapping) and inner:
            outer = {k: fields[k] for k in ("tie_word_embeddings", "vision_config") if k in fields and k not in inner}
            typed = {"model_type": inner.get("model_type") or f"{fields.get('model_type')}_text"}
            return language_part({**inner, **outer, **typed}, wrapped + 1)
    return fields


def unknown(model_type: Any, fields: Mapping[str, Any]) -> str:
    """Say that a family is not known."""
    if model_type is None:
        return "a configuration must have model_type, the name of its family"
    if isinstance(model_type, str) and model_type in REFUSED:
        return f"the family {shown(model_type)} has {REFUSED[model_type]}, which is not known here"
    near = difflib.get_close_matches(str(model_type), FAMILIES, n=3) if isinstance(model_type, str) else []
    hint = f"; near it are {', '.join(near)}" if near else ""
    made_of = fields.get("architectures")
    return (
        f"the family {shown(model_type)} is not known here: its definition"
        + (f" ({shown(made_of[0])})" if isinstance(made_of, list) and made_of else "")
        + f" would have to be added to roofwidget.huggingface, and is not guessed{hint}"
    )
