"""Where a pass's time goes: a bar for each node of both phases."""

from __future__ import annotations

from html import escape

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.roofline.timing import Pass
from roofwidget.units import percent, seconds
from roofwidget.widget import theme
from roofwidget.widget.views.figure import heading

TITLES = {"decode": "decode step", "prefill": "prefill"}


class TimingsView:
    """Bars as HTML, so that their figures can be read, selected and zoomed.

    `picked` is the phase and node whose bar is lit up, if any.
    """

    def __init__(self) -> None:
        self.picked: tuple[str, str] | None = None
        self.widget = ipywidgets.HTML()
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-timings")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the bars of these metrics."""
        rows = "".join(self._rows(phase, metrics.phases()[phase]) for phase in TITLES)
        self.widget.value = (
            heading("Node timings", "· pick a dot on the roofline to find its bar; what computes nothing has no dot")
            + f'<div class="rw-rows">{rows}</div>'
        )

    def _rows(self, phase: str, timed: Pass) -> str:
        title = f"<h5>Where a {TITLES[phase]}'s {seconds(timed.time)} go</h5>"
        return title + "".join(self._row(phase, timed, index) for index in range(len(timed.nodes)))

    def _row(self, phase: str, timed: Pass, index: int) -> str:
        name, bound = timed.nodes[index].name, timed.node_bound_names[index]
        share = float(timed.node_shares[index])
        bar = f'<span style="width:{100 * share:.2f}%;background:{theme.BOUND_COLOURS[bound]}"></span>'
        picked = "rw-picked" if (phase, name) == self.picked else ""
        note = f"{seconds(timed.node_times[index])} · {percent(share)} · {bound}"
        return f'<div class="{picked}">{escape(name)}</div><div class="rw-track {picked}">{bar}</div><em>{note}</em>'
