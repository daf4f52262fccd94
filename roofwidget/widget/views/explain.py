"""Explain: each number with its formula, the numbers put in, and the source."""

from __future__ import annotations

from html import escape

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.explain import explain


class ExplainView:
    """The derivation of the headline numbers; drawn only while it is shown."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML()
        self.widget.layout.display = "none"

    def show(self, shown: bool) -> None:
        """Put it on screen, or away."""
        self.widget.layout.display = None if shown else "none"

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Explain these metrics."""
        if self.widget.layout.display != "none":
            steps = "".join(
                f"<dt>{escape(step.name)}</dt><dd><code>{escape(step.formula)}<br>= {escape(step.figures)}<br>"
                f"= <b>{escape(step.result)}</b></code> <cite>{escape(step.source)}</cite></dd>"
                for step in explain(metrics)
            )
            self.widget.value = f'<dl class="rw-explain">{steps}</dl>'
