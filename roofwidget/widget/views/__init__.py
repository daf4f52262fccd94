"""One file a view: each draws itself from Metrics, and computes no physics."""

from __future__ import annotations

from typing import Protocol

import ipywidgets

from roofwidget.evaluate import Metrics


class View(Protocol):
    """A widget, and how it shows metrics."""

    widget: ipywidgets.Widget

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Show these metrics, and behind them those pinned for comparison."""
