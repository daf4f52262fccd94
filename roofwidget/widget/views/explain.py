"""Explain: each number with its formula, the numbers put in, and the source."""

from __future__ import annotations

from html import escape

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.explain import NodeRow, explain, node_rows
from roofwidget.roofline.timing import Pass


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
            nodes = "".join(_table(phase, timed) for phase, timed in metrics.phases().items())
            self.widget.value = f'<div class="rw-explain"><dl>{steps}</dl>{nodes}</div>'


def _table(phase: str, timed: Pass) -> str:
    """The nodes of a pass, one a row."""
    head = "".join(f"<th>{escape(field.replace('_', ' '))}</th>" for field in NodeRow._fields)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in node_rows(timed))
    return f"<table><caption>{phase}, on each device</caption><tr>{head}</tr>{rows}</table>"
