"""Memory of each device against the batch: weights, activations and a KV cache that grows."""

from __future__ import annotations

import bqplot
import ipywidgets
import numpy as np

from roofwidget.evaluate import Metrics
from roofwidget.units import grouped, si
from roofwidget.widget import theme
from roofwidget.widget.views import figure as fig
from roofwidget.widget.views.batch_curve import FIRST, batch_ticks


class MemoryView:
    """Stacked areas under the line of what may be used."""

    def __init__(self) -> None:
        x, y = fig.log_scale(), fig.linear_scale()
        scales = {"x": x, "y": y}
        colours = [theme.MEMORY_COLOURS[part] for part in ("KV cache", "activations", "weights")]
        self.areas = bqplot.Lines(
            x=np.ones(2),
            y=np.ones((3, 2)),
            scales=scales,
            colors=colours,
            fill="bottom",
            fill_colors=colours,
            fill_opacities=[0.9] * 3,
            stroke_width=0,
        )
        self.ghost = fig.ghost(scales)
        self.usable = fig.line(scales, theme.TEXT, line_style="dashed")
        self.cursor = fig.line(scales, theme.TEXT, stroke_width=1, line_style="dotted")
        self.limit_label = fig.labels(scales, align="end", y_offset=-7, x_offset=-4)
        self.x_axis = fig.axis(x, "batch (sequences)")
        self.y_axis = fig.axis(y, "GB on each device", side="left")
        marks = [self.areas, self.ghost, self.usable, self.cursor, self.limit_label]
        self.figure = fig.figure(marks, [self.x_axis, self.y_axis])
        self.head = ipywidgets.HTML()
        self.widget = ipywidgets.VBox([self.head, self.figure])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-memory-view")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the memory of these metrics."""
        curve, now = metrics.batch_curve, metrics.memory
        memory, batch = curve.memory, curve.batch
        top = fig.round_up(1.25e-9 * max(float(now.usable), float(now.total)))
        last = batch[-1]
        fig.stretch(self.x_axis, FIRST, last, batch_ticks(last))
        fig.stretch(self.y_axis, 0.0, top, fig.even_ticks(top))
        weights = np.broadcast_to(memory.weights, batch.shape)
        held = np.array([memory.total, weights + memory.activations, weights]) / 1e9
        fig.change(self.areas, x=batch, y=np.minimum(held, 2 * top))
        if pinned is not None:
            then = pinned.batch_curve
            fig.change(self.ghost, x=then.batch, y=np.minimum(then.memory.total / 1e9, 2 * top))
        self.ghost.visible = pinned is not None
        usable = float(now.usable) / 1e9
        fig.change(self.usable, x=fig.floats([1, last]), y=fig.floats([usable, usable]))
        here = float(metrics.scenario.workload.batch)
        fig.change(self.cursor, x=fig.floats([here, here]), y=fig.floats([0, top]))
        limit = f"usable {grouped(usable, 4)} of {grouped(float(now.capacity) / 1e9, 4)} GB"
        fig.write(self.limit_label, last, usable, limit)
        sizes = {"weights": now.weights, "KV cache": now.kv_cache, "activations": now.activations}
        parts = " ".join(
            f'<span><i style="background:{theme.MEMORY_COLOURS[part]}"></i> {part} {si(size, "B")}</span>'
            for part, size in sizes.items()
        )
        self.head.value = fig.heading("Memory by batch", f"· at {grouped(here, 12)}: {parts}")
