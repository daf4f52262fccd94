"""The batch curve: what all users get together, what each gets, and where memory ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bqplot
import ipywidgets
import numpy as np
from numpy.typing import NDArray

from roofwidget.evaluate import Metrics
from roofwidget.roofline.timing import BOUNDS
from roofwidget.serving.batch_curve import BatchCurve
from roofwidget.units import grouped
from roofwidget.widget import theme
from roofwidget.widget.views import figure as fig

FIRST = 0.85
"""Where batch axes start: a little before 1, so that a cursor there can be seen and grasped."""


class BatchCurveView:
    """Throughput and user speed against batch, with a cursor that can be dragged.

    Parameters
    ----------
    set_batch
        Called with the batch that the cursor was dragged to.
    """

    def __init__(self, set_batch: Callable[[float], None]) -> None:
        self._set_batch = set_batch
        x, y, user = fig.log_scale(), fig.log_scale(), fig.linear_scale()
        scales, right = {"x": x, "y": y}, {"x": x, "y": user}
        nothing, colours = np.ones(2), list(theme.BOUND_COLOURS.values())
        self.wall = bqplot.Lines(
            x=nothing,
            y=nothing,
            scales=scales,
            colors=[theme.MUTED],
            stroke_width=0,
            fill="bottom",
            fill_opacities=[0.16],
        )
        self.fitting, self.beyond = (
            bqplot.Lines(
                x=nothing,
                y=np.ones((len(BOUNDS), 2)),
                scales=scales,
                colors=colours,
                stroke_width=2.5,
                line_style=style,
            )
            for style in ("solid", "dashed")
        )
        self.user = bqplot.Lines(
            x=nothing, y=nothing, scales=right, colors=[theme.USER], line_style="dotted", stroke_width=2.5
        )
        self.cursor = bqplot.Lines(
            x=nothing, y=nothing, scales=scales, colors=[theme.TEXT], line_style="dotted", stroke_width=1
        )
        self.handle = bqplot.Scatter(
            x=np.ones(1), y=np.ones(1), scales=scales, colors=[theme.SURFACE], stroke=theme.TEXT, stroke_width=2,
            default_size=110, enable_move=True, restrict_x=True, drag_size=1.3,
        )  # fmt: skip
        self.cursor_label = fig.labels(scales, y_offset=15)
        self.wall_label = fig.labels(scales, y_offset=-10)
        self.x_axis = fig.axis(x, "batch (sequences)")
        self.y_axis = fig.axis(y, "all users (tokens/s)", side="left", colour=theme.TEXT)
        self.user_axis = fig.axis(user, "each user (tokens/s)", side="right", colour=theme.USER, grid_lines="none")
        marks = [
            self.wall,
            self.beyond,
            self.fitting,
            self.user,
            self.cursor,
            self.cursor_label,
            self.wall_label,
            self.handle,
        ]
        self.figure = fig.figure(marks, [self.x_axis, self.y_axis, self.user_axis], right=62)
        self.head = ipywidgets.HTML()
        self.widget = ipywidgets.VBox([self.head, self.figure])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-curve-view")
        self._dragging = False
        self.handle.on_drag_start(self._start)
        self.handle.on_drag(self._drag)
        self.handle.on_drag_end(self._end)

    def draw(self, metrics: Metrics) -> None:
        """Draw the curve of these metrics."""
        curve, here = metrics.batch_curve, float(metrics.scenario.workload.batch)
        batch, last = curve.batch, curve.batch[-1]
        low, high = fig.half_decades(curve.throughput.min() / 1.2, curve.throughput.max() * 1.5)
        fastest = fig.round_up(1.1 * curve.user_speed.max())
        fig.stretch(self.x_axis.scale, self.x_axis, FIRST, last, batch_ticks(last))
        fig.stretch(self.y_axis.scale, self.y_axis, low, high, fig.decades(low, high))
        fig.stretch(self.user_axis.scale, self.user_axis, 0.0, fastest, fig.even_ticks(fastest)[1:])
        fits = batch <= curve.wall
        fig.change(self.fitting, **by_bound(curve, fits))
        fig.change(self.beyond, **by_bound(curve, ~fits))
        fig.change(self.user, x=batch, y=curve.user_speed)
        fig.change(self.wall, x=fig.floats([max(curve.wall, FIRST), last]), y=fig.floats([high, high]))
        fig.change(self.cursor, x=fig.floats([here, here]), y=fig.floats([low, high]))
        if not self._dragging:
            fig.change(self.handle, x=fig.floats([here]), y=fig.floats([metrics.decode_throughput]))
        wall = f"· memory full at batch {grouped(curve.wall, 12)}" if curve.wall else "· does not fit at any batch"
        knee = f" · compute-bound from {grouped(curve.knee, 12)}" if curve.knee else ""
        self.head.value = fig.heading("Batch curve", wall + knee + " · drag the cursor")
        each = f", {grouped(metrics.user_speed)} each" if here > 1 else ""
        text = f"batch {grouped(here, 12)}: {grouped(metrics.decode_throughput)} tok/s{each}"
        fig.change(self.cursor_label, x=fig.floats([here]), y=fig.floats([high]), text=[text], **beside(here, last))
        text = f"memory full: batch {grouped(curve.wall, 12)}" if curve.wall else "does not fit"
        place = min(max(curve.wall, FIRST), last)
        fig.change(self.wall_label, x=fig.floats([place]), y=fig.floats([low]), text=[text], **beside(place, last))

    def _start(self, _: Any, event: dict[str, Any]) -> None:
        self._dragging = True

    def _drag(self, _: Any, event: dict[str, Any]) -> None:
        self._set_batch(max(1.0, float(np.round(event["point"]["x"]))))

    def _end(self, mark: Any, event: dict[str, Any]) -> None:
        self._dragging = False
        self._drag(mark, event)


def by_bound(curve: BatchCurve, shown: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    """Throughput as one line a bound, over the batches where that bound holds and `shown` says so.

    Each reaches one batch on, so that the next begins where it ends. Shorter lines repeat their
    last point, since bqplot draws lines of one mark from one array and complains of NaN.
    """
    lines = []
    for bound in range(len(BOUNDS)):
        piece = (curve.bound == bound) & shown
        piece[1:] |= piece[:-1]
        lines.append(np.flatnonzero(piece) if piece.any() else np.zeros(1, int))
    longest = max(map(len, lines))
    points = np.array([np.pad(line, (0, longest - len(line)), mode="edge") for line in lines])
    return {"x": curve.batch[points], "y": curve.throughput[points]}


def beside(batch: float, last: float) -> dict[str, Any]:
    """A label right of a line in the left half of the plot, left of one in the right half."""
    return {"align": "start", "x_offset": 6} if batch < last**0.68 else {"align": "end", "x_offset": -6}


def batch_ticks(last: float) -> NDArray[np.float64]:
    """Powers of four, or of sixteen where there are many."""
    step = 4.0 if last <= 4096 else 16.0
    return np.asarray(step ** np.arange(np.floor(np.log(last) / np.log(step) + 1e-9) + 1))
