"""Step: how one number was made."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """One number's derivation."""

    name: str
    formula: str
    figures: str
    result: str
    source: str
