"""The roofline: both roofs, the ridge, and a dot for each node of both phases.

Drawn as Williams, Waterman and Patterson (2009) do: log-log, FLOP/byte against TFLOP/s,
the bandwidth along the slope, the peak along the flat roof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bqplot
import ipywidgets
import numpy as np
from numpy.typing import NDArray

from roofwidget.evaluate import Metrics
from roofwidget.roofline.timing import BOUNDS, Pass
from roofwidget.units import grouped
from roofwidget.widget import theme
from roofwidget.widget.views import figure as fig
from roofwidget.widget.views.dots import clusters

MARKERS = {"decode": "circle", "prefill": "triangle-up"}
LARGEST_DOT, SMALLEST_SHARE = 700, 0.06
SLOPE_HANDLE, RIDGE_HANDLE, ROOF_HANDLE = 0, 1, 2


class RooflineView:
    """Roofs that can be dragged, and dots that can be picked.

    Parameters
    ----------
    set_roofs
        Called with the traits that a drag of a roof or of the ridge sets.
    pick
        Called with the phase and name of the node whose dot was clicked.
    """

    def __init__(self, set_roofs: Callable[..., None], pick: Callable[[str, str], None]) -> None:
        self._set_roofs, self._pick = set_roofs, pick
        self._metrics: Metrics | None = None
        self._dragging = False
        x, y = fig.log_scale(), fig.log_scale()
        scales = {"x": x, "y": y}
        nothing = np.ones(2)
        self.regions = bqplot.Lines(
            x=np.ones((2, 2)), y=np.ones((2, 2)), scales=scales, stroke_width=0, fill="bottom",
            colors=[theme.BOUND_COLOURS["memory"], theme.BOUND_COLOURS["compute"]], fill_opacities=[0.06, 0.06],
        )  # fmt: skip
        self.roofs = bqplot.Lines(x=nothing, y=nothing, scales=scales, colors=[theme.TEXT], stroke_width=2.5)
        self.ridge = bqplot.Lines(
            x=nothing, y=nothing, scales=scales, colors=[theme.MUTED], stroke_width=1, line_style="dashed"
        )
        self.dots = {phase: self._dots(scales, marker) for phase, marker in MARKERS.items()}
        self.handles = bqplot.Scatter(
            x=np.ones(3), y=np.ones(3), scales=scales, colors=[theme.SURFACE], stroke=theme.TEXT, stroke_width=2,
            default_size=90, enable_move=True, drag_size=1.3,
        )  # fmt: skip
        self.dot_labels = {
            "decode": fig.labels(scales, align="start", x_offset=13, y_offset=15),
            "prefill": fig.labels(scales, align="middle", y_offset=30),
        }
        self.slope_label = fig.labels(scales, align="end", x_offset=-8, y_offset=-4)
        self.roof_label = fig.labels(scales, align="end", x_offset=-4, y_offset=-20)
        self.ridge_label = fig.labels(scales, align="start", x_offset=5, y_offset=-6)
        self.x_axis = fig.axis(x, "arithmetic intensity (FLOP/byte)")
        self.y_axis = fig.axis(y, "performance (TFLOP/s)", side="left")
        marks = [self.regions, self.ridge, self.roofs, *self.dots.values(), *self.dot_labels.values()]
        marks += [self.slope_label, self.roof_label, self.ridge_label, self.handles]
        self.figure = fig.figure(marks, [self.x_axis, self.y_axis], top=24)
        self.head = ipywidgets.HTML()
        self.widget = ipywidgets.VBox([self.head, self.figure])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-roofline-view")
        self.handles.on_drag_start(self._start)
        self.handles.on_drag(self._drag)
        self.handles.on_drag_end(self._end)
        for phase, mark in self.dots.items():
            mark.on_element_click(lambda _, event, phase=phase: self._clicked(phase, event))

    @staticmethod
    def _dots(scales: dict[str, bqplot.Scale], marker: str) -> bqplot.Scatter:
        tooltip = bqplot.Tooltip(
            fields=["name", "x", "y", "size"],
            labels=["node", "FLOP/byte", "TFLOP/s", "share of time"],
            formats=["", ",.4~r", ",.4~r", ".1%"],
        )
        return bqplot.Scatter(
            x=np.ones(1),
            y=np.ones(1),
            size=np.ones(1),
            scales={**scales, "size": bqplot.LinearScale(min=0.0, max=1.0)},
            marker=marker,
            default_size=LARGEST_DOT,
            opacities=[0.6],
            display_names=False,
            tooltip=tooltip,
        )

    def draw(self, metrics: Metrics) -> None:
        """Draw the roofline of these metrics."""
        self._metrics = metrics
        scenario = metrics.scenario
        peak = float(scenario.device.peak(scenario.precision.compute)) / 1e12
        bandwidth, ridge = float(scenario.device.bandwidth) / 1e12, float(metrics.ridge)
        points = {phase: dots(timed) for phase, timed in metrics.phases().items()}
        left, right, bottom, top = frame(points, peak, ridge)
        fig.stretch(self.x_axis.scale, self.x_axis, left, right, fig.decades(left, right))
        fig.stretch(self.y_axis.scale, self.y_axis, bottom, top, fig.decades(bottom, top))
        fig.change(self.roofs, x=fig.floats([left, ridge, right]), y=fig.floats([left * bandwidth, peak, peak]))
        fig.change(self.ridge, x=fig.floats([ridge, ridge]), y=fig.floats([bottom, peak]))
        fig.change(self.regions, x=fig.floats([[left, ridge], [ridge, right]]), y=np.full((2, 2), top))
        for phase, (intensity, speed, share, names) in points.items():
            bounds = [BOUNDS[i] for i in metrics.phases()[phase].node_bounds]
            colours = [
                theme.BOUND_COLOURS[b] for b, shown in zip(bounds, drawn(metrics.phases()[phase]), strict=True) if shown
            ]
            fig.change(
                self.dots[phase],
                x=intensity,
                y=speed,
                size=np.maximum(share, SMALLEST_SHARE),
                names=names,
                colors=colours,
            )
            spots = clusters(
                np.log10(intensity / left) / np.log10(right / left),
                np.log10(speed / bottom) / np.log10(top / bottom),
                share,
                names,
            )
            first = [spot.head for spot in spots]
            fig.change(self.dot_labels[phase], x=intensity[first], y=speed[first], text=[spot.text for spot in spots])
        taken = np.concatenate([point[0] for point in points.values()] + [[ridge, right]])
        middle = clear_of(taken, max(left, bottom / bandwidth), ridge)
        fig.change(
            self.slope_label,
            x=fig.floats([middle]),
            y=fig.floats([middle * bandwidth]),
            text=[f"{grouped(bandwidth * 1e3, 4)} GB/s"],
        )
        fig.change(self.roof_label, x=fig.floats([right]), y=fig.floats([peak]), text=[f"{grouped(peak, 4)} TFLOP/s"])
        fig.change(self.ridge_label, x=fig.floats([ridge]), y=fig.floats([bottom]), text=[f"ridge {grouped(ridge, 4)}"])
        if not self._dragging:
            flat = clear_of(taken, ridge, right)
            fig.change(
                self.handles, x=fig.floats([middle, ridge, flat]), y=fig.floats([middle * bandwidth, peak, peak])
            )
        phases = " · ".join(
            f"{mark} {phase} {grouped(metrics.phases()[phase].intensity)} FLOP/B"
            for mark, phase in (("●", "decode"), ("▲", "prefill"))
        )
        self.head.value = fig.heading("Roofline", f"· {phases} · drag the roofs")

    def _clicked(self, phase: str, event: dict[str, Any]) -> None:
        assert self._metrics is not None
        timed = self._metrics.phases()[phase]
        names = [node.name for node, shown in zip(timed.nodes, drawn(timed), strict=True) if shown]
        self._pick(phase, names[event["data"]["index"]])

    def _start(self, _: Any, event: dict[str, Any]) -> None:
        self._dragging = True

    def _drag(self, _: Any, event: dict[str, Any]) -> None:
        x, y = event["point"]["x"], event["point"]["y"]
        bandwidth, peak = {"hbm_bw_gbs": y / x * 1e3}, {"peak_tflops": y}
        self._set_roofs(**{SLOPE_HANDLE: bandwidth, RIDGE_HANDLE: bandwidth | peak, ROOF_HANDLE: peak}[event["index"]])

    def _end(self, mark: Any, event: dict[str, Any]) -> None:
        self._dragging = False
        self._drag(mark, event)
        if self._metrics is not None:
            self.draw(self._metrics)


def drawn(timed: Pass) -> NDArray[np.bool_]:
    """Which nodes have a place on the roofline: those that compute something."""
    return timed.flops > 0


def dots(timed: Pass) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Intensity, achieved TFLOP/s, share of time and name of each node that is drawn."""
    shown = drawn(timed)
    times = timed.node_times[shown]
    names = [node.name for node, keep in zip(timed.nodes, shown, strict=True) if keep]
    return timed.node_intensities[shown], timed.flops[shown] / times / 1e12, times / timed.time, names


def frame(points: dict[str, Any], peak: float, ridge: float) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of the plot: whole decades around dots and ridge."""
    intensities = np.concatenate([point[0] for point in points.values()])
    speeds = np.concatenate([point[1] for point in points.values()])
    left, right = fig.half_decades(min(intensities.min() / 1.5, ridge / 10), max(intensities.max() * 1.5, ridge * 10))
    bottom, top = fig.half_decades(min(speeds.min() / 1.5, peak / 100), peak * 1.8)
    return left, right, bottom, top


def clear_of(taken: NDArray[np.float64], low: float, high: float) -> float:
    """The place between two intensities that is farthest from those taken."""
    candidates = np.geomspace(low, high, 12)[1:-1]
    distance = np.abs(np.log(candidates[:, None] / taken)).min(axis=1)
    return float(candidates[np.argmax(distance)])
