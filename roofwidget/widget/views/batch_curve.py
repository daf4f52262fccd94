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
from roofwidget.widget.views.handles import Handles

FIRST = 0.85
"""Where batch axes start: a little before 1, so that a cursor there can be seen and grasped."""


class BatchCurveView:
    """Throughput and user speed against batch, with a cursor that can be dragged.

    Parameters
    ----------
    set_batch
        Called with the batch that the cursor is dragged to.
    redraw
        Called when it is let go.
    """

    def __init__(self, set_batch: Callable[[float], None], redraw: Callable[[], None]) -> None:
        x, y, user = fig.log_scale(), fig.log_scale(), fig.linear_scale()
        scales, right = {"x": x, "y": y}, {"x": x, "y": user}
        self.wall = fig.line(scales, theme.MUTED, stroke_width=0, fill="bottom", fill_opacities=[0.16])
        self.failing = fig.line(scales, theme.OBJECTIVE, stroke_width=0, fill="bottom", fill_opacities=[0.1])
        self.fitting, self.beyond = (
            bqplot.Lines(
                x=np.ones((len(BOUNDS), 2)),
                y=np.ones((len(BOUNDS), 2)),
                scales=scales,
                colors=list(theme.BOUND_COLOURS.values()),
                stroke_width=2.5,
                line_style=style,
            )
            for style in ("solid", "dashed")
        )
        self.user = fig.line(right, theme.USER, stroke_width=2.5, line_style="dotted")
        self.ghosts = {"throughput": fig.ghost(scales), "user_speed": fig.ghost(right, theme.USER)}
        self.cursor = fig.line(scales, theme.TEXT, stroke_width=1, line_style="dotted")
        self.handle = Handles(scales, lambda _, batch, __: set_batch(max(1.0, round(batch))), redraw, restrict_x=True)
        self.cursor_label = fig.labels(scales, y_offset=15)
        self.wall_label = fig.labels(scales, y_offset=-10)
        self.objective_label = fig.labels(scales, y_offset=-26, colors=[theme.OBJECTIVE])
        self.x_axis = fig.axis(x, "batch (sequences)")
        self.y_axis = fig.axis(y, "all users (tokens/s)", side="left", colour=theme.TEXT)
        self.user_axis = fig.axis(user, "each user (tokens/s)", side="right", colour=theme.USER, grid_lines="none")
        lines = [self.failing, self.wall, *self.ghosts.values(), self.beyond, self.fitting, self.user, self.cursor]
        marks = [*lines, self.cursor_label, self.wall_label, self.objective_label, self.handle.mark]
        self.figure = fig.figure(marks, [self.x_axis, self.y_axis, self.user_axis], right=62)
        self.head = ipywidgets.HTML()
        self.widget = ipywidgets.VBox([self.head, self.figure])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-curve-view")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the curve of these metrics."""
        curve, here = metrics.batch_curve, float(metrics.scenario.workload.batch)
        batch = curve.batch
        if not self.handle.dragging:
            self._stretch(curve)
        last, low, high = self.x_axis.scale.max, self.y_axis.scale.min, self.y_axis.scale.max
        fig.change(self.fitting, **by_bound(curve, batch <= curve.wall))
        fig.change(self.beyond, **by_bound(curve, batch >= curve.wall))
        fig.change(self.user, x=batch, y=curve.user_speed)
        fig.change(self.wall, x=fig.floats([max(curve.wall, FIRST), last]), y=fig.floats([high, high]))
        self._shade(metrics, low, high, last)
        fig.change(self.cursor, x=fig.floats([here, here]), y=fig.floats([low, high]))
        for name, ghost in self.ghosts.items():
            then = {} if pinned is None else {"x": pinned.batch_curve.batch, "y": getattr(pinned.batch_curve, name)}
            fig.change(ghost, visible=pinned is not None, **then)
        self.handle.place([here], [float(metrics.decode_throughput)])
        wall = f"· memory full at batch {grouped(curve.wall, 12)}" if curve.wall else "· does not fit at any batch"
        knee = f" · compute-bound from {grouped(curve.knee, 12)}" if curve.knee else ""
        self.head.value = fig.heading("Batch curve", wall + knee + " · drag the cursor")
        each = f", {grouped(metrics.user_speed)} each" if here > 1 else ""
        text = f"{grouped(metrics.decode_throughput)} tok/s{each}"
        fig.write(self.cursor_label, here, high, text, **beside(here, last))
        text = f"memory full: {grouped(curve.wall, 12)}" if curve.wall else "does not fit"
        place = min(max(curve.wall, FIRST), last)
        fig.write(self.wall_label, place, low, text, **beside(place, last))

    def _shade(self, metrics: Metrics, low: float, high: float, last: float) -> None:
        """Shade the batches that break the objectives, if there are any."""
        kept = metrics.goodput
        first = last if kept is None else max(kept.batch, FIRST)
        fig.change(self.failing, x=fig.floats([first, last]), y=fig.floats([high, high]))
        text = "" if kept is None else f"objectives: {grouped(kept.batch, 12)}" if kept.batch else "objectives fail"
        fig.write(self.objective_label, min(first, last), low, text, **beside(first, last))

    def _stretch(self, curve: BatchCurve) -> None:
        last = curve.batch[-1]
        low, high = fig.half_decades(curve.throughput.min() / 1.2, curve.throughput.max() * 1.5)
        fastest = fig.round_up(1.1 * curve.user_speed.max())
        fig.stretch(self.x_axis, FIRST, last, batch_ticks(last))
        fig.stretch(self.y_axis, low, high, fig.decades(low, high))
        fig.stretch(self.user_axis, 0.0, fastest, fig.even_ticks(fastest)[1:], plain_to=9999)


def by_bound(curve: BatchCurve, shown: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
    """Throughput as one line a bound, over the batches where that bound holds and `shown` says so.

    Each reaches one batch on, so that the next begins where it ends. Shorter lines repeat their
    last point, since bqplot draws lines of one mark from one array and complains of NaN.
    """
    lines = []
    for bound in range(len(BOUNDS)):
        piece = curve.bound == bound
        piece[1:] |= piece[:-1]
        piece &= shown
        lines.append(np.flatnonzero(piece) if piece.any() else np.zeros(1, int))
    longest = max(map(len, lines))
    points = np.array([np.pad(line, (0, longest - len(line)), mode="edge") for line in lines])
    return {"x": curve.batch[points], "y": curve.throughput[points]}


def beside(batch: float, last: float) -> dict[str, Any]:
    """A label right of a line in the left half of the plot, left of one in the right half."""
    return {"align": "start", "x_offset": 6} if batch * batch < last else {"align": "end", "x_offset": -6}


def batch_ticks(last: float) -> NDArray[np.float64]:
    """Powers of four, of ten where those are many, of a hundred where those would be."""
    step = 4.0 if last <= 4096 else 10.0 if last < fig.MILLION else 100.0
    return np.asarray(step ** np.arange(np.floor(np.log(last) / np.log(step) + 1e-9) + 1))
