"""Speculative decoding: its speed-up against batch, and against context."""

from __future__ import annotations

import bqplot
import ipywidgets
import numpy as np
from numpy.typing import NDArray

from roofwidget.evaluate import Metrics
from roofwidget.serving.speculative_decoding import SpeculationFigures
from roofwidget.units import grouped, percent
from roofwidget.widget import theme
from roofwidget.widget.views import figure as fig
from roofwidget.widget.views.batch_curve import FIRST, batch_ticks, beside

Floats = NDArray[np.float64]

HEIGHT = "250px"


class SpeculationView:
    """Two figures with one meaning of the upright axis: how many times as fast a token comes."""

    def __init__(self) -> None:
        self.by_batch = SpeedupFigure("batch (sequences)")
        self.by_context = SpeedupFigure("context (tokens)")
        self.head = ipywidgets.HTML()
        self.figures = fig.foldaway(self.by_batch.figure, self.by_context.figure)
        self.widget = ipywidgets.VBox([self.head, self.figures])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-speculation")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the speed-up in these metrics, and that of the pinned ones behind it."""
        figures = metrics.speculation
        fig.fold(self.figures, closed=figures is None)
        if figures is None:
            self.head.value = fig.heading("Speculative decoding", "· off: nothing drafts tokens")
            return
        then = None if pinned is None else pinned.speculation
        workload, wall = metrics.scenario.workload, metrics.batch_curve.wall
        curves = [figures.batch_speedup, figures.context_speedup]
        ghosts = [] if then is None else [then.batch_speedup, then.context_speedup]
        top = fig.round_up(1.15 * max(1.0, *(float(curve.max()) for curve in curves + ghosts)))
        self.by_batch.stretch(FIRST, float(figures.batch[-1]), batch_ticks(float(figures.batch[-1])), top)
        first, last = fig.half_decades(float(figures.context[0]), float(figures.context[-1]))
        self.by_context.stretch(first, last, fig.decades(first, last), top)
        self.by_batch.draw(figures.batch, figures.batch_speedup, float(workload.batch), figures.speedup, wall)
        self.by_context.draw(
            figures.context, figures.context_speedup, float(metrics.scenario.mean_context), figures.speedup, np.inf
        )
        self.by_batch.draw_ghost(None if then is None else (then.batch, then.batch_speedup))
        self.by_context.draw_ghost(None if then is None else (then.context, then.context_speedup))
        self.head.value = fig.heading("Speculative decoding", note(figures))


class SpeedupFigure:
    """A speed-up against something on a log scale; dashed beyond what fits, with the line of no gain."""

    def __init__(self, label: str) -> None:
        x, y = fig.log_scale(), fig.linear_scale()
        scales = {"x": x, "y": y}
        self.fitting = fig.line(scales, theme.USER, stroke_width=2.5)
        self.beyond = fig.line(scales, theme.USER, stroke_width=2.5, line_style="dashed")
        self.ghost = fig.ghost(scales, theme.USER)
        self.no_gain = fig.line(scales, theme.TEXT, stroke_width=1, line_style="dashed")
        self.no_gain_label = fig.labels(scales, colors=[theme.MUTED])
        self.cursor = fig.line(scales, theme.TEXT, stroke_width=1, line_style="dotted")
        self.here = bqplot.Scatter(
            x=np.ones(1), y=np.ones(1), scales=scales, colors=[theme.USER], stroke=theme.SURFACE, default_size=70
        )
        self.here_label = fig.labels(scales, y_offset=15)
        self.x_axis = fig.axis(x, label)
        self.y_axis = fig.axis(y, "speed-up (×)", side="left", label_offset="38px")
        lines = [self.ghost, self.no_gain, self.beyond, self.fitting, self.cursor]
        marks = [*lines, self.here, self.no_gain_label, self.here_label]
        self.figure = fig.figure(marks, [self.x_axis, self.y_axis])
        self.figure.layout.height = HEIGHT

    def stretch(self, low: float, high: float, ticks: Floats, top: float) -> None:
        """Set the ends of both axes."""
        fig.stretch(self.x_axis, low, high, ticks)
        fig.stretch(self.y_axis, 0.0, top, fig.even_ticks(top)[1:])

    def draw(self, along: Floats, speedup: Floats, here: float, now: float, wall: float) -> None:
        """Draw the speed-up, dashed beyond `wall`, and where it is now."""
        low, high, top = self.x_axis.scale.min, self.x_axis.scale.max, self.y_axis.scale.max
        for line, shown in ((self.fitting, along <= wall), (self.beyond, along >= wall)):
            with line.hold_sync():
                fig.change(line, x=along[shown], y=speedup[shown], visible=bool(shown.any()))
        place = min(max(here, low), high)
        fig.change(self.no_gain, x=fig.floats([low, high]), y=fig.floats([1, 1]))
        self._label_no_gain(speedup, low, high, at_right=place * place < low * high)
        fig.change(self.cursor, x=fig.floats([place, place]), y=fig.floats([0, top]))
        fig.change(self.here, x=fig.floats([place]), y=fig.floats([now]))
        text = f"{grouped(now)} × at {grouped(here, 12)}"
        fig.write(self.here_label, place, top, text, **beside(place / low, high / low))

    def _label_no_gain(self, speedup: Floats, low: float, high: float, *, at_right: bool) -> None:
        """Label the line of no gain at the end away from the cursor, on the side of it away from the curve."""
        beside_curve = {"y_offset": 11 if speedup[-1 if at_right else 0] > 1 else -9}
        side = {"align": "end", "x_offset": -6} if at_right else {"align": "start", "x_offset": 6}
        fig.write(self.no_gain_label, high if at_right else low, 1.0, "as fast as without", **side, **beside_curve)

    def draw_ghost(self, pinned: tuple[Floats, Floats] | None) -> None:
        """Draw the pinned speed-up, if there is one."""
        if pinned is not None:
            fig.change(self.ghost, x=pinned[0], y=pinned[1])
        fig.change(self.ghost, visible=pinned is not None)


def note(figures: SpeculationFigures) -> str:
    """The round in words: its tokens, the best number of drafts, and the acceptance it needs."""
    best = f"best with {figures.best_tokens} drafted in a row: {grouped(figures.best_speedup)} ×"
    if figures.best_speedup <= 1:
        best = "no number of drafts pays"
    if figures.break_even is None:
        needs = "pays at no acceptance"
    else:
        needs = f"pays above {percent(figures.break_even)} accepted"
    return f"· {grouped(figures.tokens_per_step)} tokens a round · {best} · {needs}"
