"""The families that are known, by `model_type`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from roofwidget.huggingface.config import Config
from roofwidget.transformer import Transformer

Builder: TypeAlias = Callable[[Config], Transformer]

FAMILIES: dict[str, Builder] = {}


def family(*model_types: str) -> Callable[[Builder], Builder]:
    """Say that a function builds these families."""

    def known(builder: Builder) -> Builder:
        for model_type in model_types:
            assert model_type not in FAMILIES, model_type
            FAMILIES[model_type] = builder
        return builder

    return known
