"""Widgets and those that they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bqplot
import ipywidgets

DRAWN = (bqplot.Mark, ipywidgets.HTML)
"""The parts of a view that most new results change; axes move seldom, and `stretch` holds them."""


def tree(root: Any, seen: set[int] | None = None) -> Iterator[ipywidgets.Widget]:
    """A widget and all widgets that its synced traits hold, each once."""
    seen = set() if seen is None else seen
    if isinstance(root, ipywidgets.Widget):
        if id(root) not in seen:
            seen.add(id(root))
            for name in root.keys:
                yield from tree(getattr(root, name), seen)
            yield root
    elif isinstance(root, dict):
        for value in root.values():
            yield from tree(value, seen)
    elif isinstance(root, (list, tuple)):
        for value in root:
            yield from tree(value, seen)
