"""A model of another size and the same build: what an edited number makes of one from the catalog."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from roofwidget.architecture.block import Block
from roofwidget.validation import Numbers, ParameterError, anywhere

if TYPE_CHECKING:
    from roofwidget.transformer import Transformer

PARTS = {"heads": "n_heads", "kv_heads": "n_kv_heads", "nope_dim": "head_dim", "value_dim": "head_dim"}
"""The number to blame where a part of a layer comes out with no whole size."""


def resized(model: Transformer, **numbers: Any) -> Transformer:
    """The same build with other numbers: all its blocks change in proportion.

    Parameters
    ----------
    model
        Of plain numbers.
    **numbers
        Any of `hidden_dim`, `layers`, `n_heads`, `n_kv_heads`, `head_dim`, `vocab_size`, `gated`
        and `tied_embeddings`.

    Raises
    ------
    ParameterError
        If that leaves a part with no whole size.
    """
    ratios = {
        name: numbers[name] / getattr(model, name) if name in numbers else 1.0
        for name in ("layers", "n_heads", "n_kv_heads", "head_dim")
    }
    try:
        blocks = tuple(block.resized(*ratios.values()) for block in model.blocks)
    except ParameterError as error:
        part, sentence = next(iter(error.faults.items()))
        name = PARTS.get(part, part)
        raise ParameterError({name: f"{name} must leave every layer with whole sizes: {sentence}"}) from None
    if "gated" in numbers:
        blocks = tuple(
            block if block.ffn is None else replace(block, ffn=replace(block.ffn, gated=numbers["gated"]))
            for block in blocks
        )
    if "layers" in numbers:  # times a ratio they are whole but for rounding
        alike = len(blocks) == 1
        layers = numbers["layers"]
        blocks = (replace(blocks[0], layers=layers),) if alike else in_whole_layers(blocks, layers)
    rest = {name: numbers[name] for name in ("hidden_dim", "vocab_size", "tied_embeddings") if name in numbers}
    return replace(model, blocks=blocks, **rest)


def in_whole_layers(blocks: tuple[Block, ...], layers: float) -> tuple[Block, ...]:
    """Blocks of whole numbers of layers in about the same proportion, `layers` in all; those of none are left out."""
    counts = [float(np.round(block.layers)) for block in blocks]
    largest = int(np.argmax(counts))
    counts[largest] += layers - sum(counts)
    return tuple(replace(block, layers=count) for block, count in zip(blocks, counts, strict=True) if count > 0)


def scaled_to(model: Transformer, params: Numbers) -> Transformer:
    """The same with feed-forward networks as wide as makes `params` parameters come out.

    Raises
    ------
    ParameterError
        If nothing is left for them.
    """
    if np.all(np.asarray(params) == model.params):
        return model
    scaled = sum((b.layers * b.ffn.scaled_params(model.hidden_dim) for b in model.blocks if b.ffn), start=0.0)
    left = params - (model.params - scaled)
    if anywhere(scaled == 0):
        raise ParameterError(
            {
                "params_b": f"params_b must be {np.max(model.params) / 1e9:.6g}, what the other numbers make of "
                f"a model that has no FFN to widen, not {np.min(params) / 1e9:.6g}"
            }
        )
    if anywhere(left <= 0):
        needed = np.max(params - left) / 1e9
        raise ParameterError(
            {
                "params_b": f"params_b must be more than the {needed:.4g} billion parameters of "
                f"attention and embeddings alone, not {np.min(params) / 1e9:.4g}"
            }
        )
    return replace(model, blocks=tuple(block.widened(left / scaled) for block in model.blocks))
