"""The roofline: both roofs, the ridge, and a dot for each node of both phases.

Drawn as Williams, Waterman and Patterson (2009) do: log-log, FLOP/byte against TFLOP/s,
the bandwidth beside the slope, the peak on the flat roof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import bqplot
import ipywidgets
import numpy as np
from numpy.typing import NDArray

from roofwidget.evaluate import Metrics
from roofwidget.units import grouped
from roofwidget.widget import theme
from roofwidget.widget.views import figure as fig
from roofwidget.widget.views.dots import LABEL_WIDTH, NAMED, Dots, Frame, Points, above_left, below
from roofwidget.widget.views.handles import Handles

SLOPE_HANDLE, RIDGE_HANDLE, ROOF_HANDLE = 0, 1, 2


class RooflineView:
    """Roofs that can be dragged, and dots that can be picked.

    Parameters
    ----------
    set_roofs
        Called with the traits that a drag of a roof or of the ridge sets.
    redraw
        Called when a roof is let go.
    pick
        Called with the phase and name of the node whose dot was clicked.
    """

    def __init__(
        self, set_roofs: Callable[..., None], redraw: Callable[[], None], pick: Callable[[str, str], None]
    ) -> None:
        self._set_roofs = set_roofs
        x, y = fig.log_scale(), fig.log_scale()
        scales = {"x": x, "y": y}
        self.regions = bqplot.Lines(
            x=np.ones((2, 2)),
            y=np.ones((2, 2)),
            scales=scales,
            stroke_width=0,
            fill="bottom",
            colors=[theme.BOUND_COLOURS["memory"], theme.BOUND_COLOURS["compute"]],
            fill_opacities=[0.06, 0.06],
        )
        self.roofs = fig.line(scales, theme.TEXT, stroke_width=2.5)
        self.ceilings = bqplot.Lines(
            x=np.ones((2, 3)),
            y=np.ones((2, 3)),
            scales=scales,
            colors=[theme.CEILING],
            stroke_width=1.5,
            line_style="dashed",
            visible=False,
        )
        self.ceiling_labels = fig.labels(scales, align="end", x_offset=-4, y_offset=15)
        self.ghost = fig.ghost(scales)
        self.ghost_dots = bqplot.Scatter(
            x=np.ones(1),
            y=np.ones(1),
            scales=scales,
            colors=[theme.MUTED],
            opacities=[0.5],
            default_size=24,
            visible=False,
        )
        self.ridge = fig.line(scales, theme.MUTED, stroke_width=1, line_style="dashed")
        self.dots = {
            "decode": Dots(scales, "circle", lambda node: pick("decode", node), above_left),
            "prefill": Dots(scales, "triangle-up", lambda node: pick("prefill", node), below),
        }
        self.handles = Handles(scales, self._dragged, redraw)
        self.slope_label = fig.labels(scales, align="start", x_offset=10, y_offset=12)
        self.roof_label = fig.labels(scales, align="end", x_offset=-4, y_offset=-32)
        self.ridge_label = fig.labels(scales, align="start", x_offset=5, y_offset=-6)
        self.x_axis = fig.axis(x, "arithmetic intensity (FLOP/byte)")
        self.y_axis = fig.axis(y, "performance (TFLOP/s)", side="left")
        marks = [self.regions, self.ridge, self.ghost, self.ghost_dots, self.roofs, self.ceilings]
        marks += [mark for dots in self.dots.values() for mark in (dots.mark, dots.labels)]
        marks += [self.slope_label, self.roof_label, self.ridge_label, self.ceiling_labels, self.handles.mark]
        self.figure = fig.figure(marks, [self.x_axis, self.y_axis], top=24)
        self.head = ipywidgets.HTML()
        self.widget = ipywidgets.VBox([self.head, self.figure])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-roofline-view")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the roofline of these metrics."""
        peak, bandwidth, ridge = roofs_of(metrics)
        points = {phase: Points.of(timed) for phase, timed in metrics.phases().items()}
        if not self.handles.dragging:  # a scale that moved under the hand would run away with it
            self._stretch(frame_around([metrics] if pinned is None else [metrics, pinned]))
        frame = Frame(self.x_axis.scale.min, self.x_axis.scale.max, self.y_axis.scale.min, self.y_axis.scale.max)
        for phase, dots in self.dots.items():
            dots.draw(points[phase], frame)
        self._draw_roofs(frame, format_of(metrics), peak, bandwidth, ridge)
        self._draw_ceilings(frame, ceilings_of(metrics))
        self._draw_ghost(frame, pinned)
        taken = [*np.concatenate([p.intensity for p in points.values()]), ridge, frame.right]
        slope = clear_of(taken, max(frame.left, frame.bottom / bandwidth), ridge)
        flat = clear_of(taken, ridge, frame.right)
        fig.write(self.slope_label, slope, slope * bandwidth, f"{grouped(bandwidth * 1e3, 4)} GB/s")
        self.handles.place([slope, ridge, flat], [slope * bandwidth, peak, peak])
        phases = " · ".join(
            f"{mark} {phase} {grouped(metrics.phases()[phase].intensity)} FLOP/B"
            for mark, phase in (("●", "decode"), ("▲", "prefill"))
        )
        self.head.value = fig.heading("Roofline", f"· {phases} · drag the roofs")

    def _draw_roofs(self, frame: Frame, roof: str, peak: float, bandwidth: float, ridge: float) -> None:
        """Draw both roofs from their exact corners, and what is under them."""
        left, right, bottom, top = frame
        x, y = roof_corners(frame, peak, bandwidth, ridge)
        fig.change(self.roofs, x=x, y=y)
        fig.change(self.ridge, x=fig.floats([ridge, ridge]), y=fig.floats([bottom, peak]))
        fig.change(self.regions, x=fig.floats([[left, ridge], [ridge, right]]), y=np.full((2, 2), top))
        fig.write(self.roof_label, right, peak, f"{roof}{grouped(peak, 4)} TFLOP/s")
        fig.write(self.ridge_label, ridge, bottom, f"ridge {grouped(ridge, 4)}")

    def _draw_ceilings(self, frame: Frame, ceilings: list[Ceiling]) -> None:
        """Draw other roofs that some of the dots are under, two at most."""
        if ceilings:
            lines = [ceiling.corners(frame) for ceiling in (ceilings * 2)[:2]]
            x, y = (np.array(coordinates) for coordinates in zip(*lines, strict=True))
            fig.change(self.ceilings, x=x, y=y)
        places = fig.floats([ceiling.peak for ceiling in ceilings] or [1.0])
        texts = [f"{ceiling.name} {grouped(ceiling.peak, 4)} TFLOP/s" for ceiling in ceilings] or [""]
        fig.change(self.ceiling_labels, x=np.full(places.shape, frame.right), y=places, text=texts)
        self.ceilings.visible = bool(ceilings)

    def _draw_ghost(self, frame: Frame, pinned: Metrics | None) -> None:
        """Draw the roofs and dots of a pinned result, if there is one."""
        if pinned is not None:
            x, y = roof_corners(frame, *roofs_of(pinned))
            fig.change(self.ghost, x=x, y=y, visible=True)
            then = [Points.of(timed) for timed in pinned.phases().values()]
            intensity, speed = (np.concatenate([getattr(p, name) for p in then]) for name in ("intensity", "speed"))
            fig.change(self.ghost_dots, x=intensity, y=speed, visible=True)
        else:
            self.ghost.visible = self.ghost_dots.visible = False

    def _stretch(self, frame: Frame) -> None:
        fig.stretch(self.x_axis, frame.left, frame.right, fig.decades(frame.left, frame.right))
        up = fig.decades(frame.bottom, frame.top)
        fig.stretch(self.y_axis, frame.bottom, frame.top, up[up > 1.01 * frame.bottom])  # the corner has one figure

    def _dragged(self, handle: int, x: float, y: float) -> None:
        bandwidth, peak = {"hbm_bw_gbs": four_digits(y / x * 1e3)}, {"peak_tflops": four_digits(y)}
        self._set_roofs(**{SLOPE_HANDLE: bandwidth, RIDGE_HANDLE: bandwidth | peak, ROOF_HANDLE: peak}[handle])


class Ceiling(NamedTuple):
    """A roof beside the one that linear layers of decode have; `flat` where only its peak differs."""

    name: str
    peak: float
    bandwidth: float
    flat: bool

    def corners(self, frame: Frame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As a line of three points; one that is flat has no slope of its own."""
        ridge = self.peak / self.bandwidth
        x, y = roof_corners(frame, self.peak, self.bandwidth, ridge)
        return (np.maximum(x, ridge), np.full_like(y, self.peak)) if self.flat else (x, y)


def ceilings_of(metrics: Metrics) -> list[Ceiling]:
    """The roof of what computes in 16 bits where linear layers do not, and that of other devices that prefill."""
    scenario, side = metrics.scenario, metrics.scenario.prefill_side
    peak, bandwidth, _ = roofs_of(metrics)
    sixteen = float(scenario.sixteen_bit_peak) / 1e12
    found = [] if sixteen == peak else [Ceiling("16 bits:", sixteen, bandwidth, flat=True)]
    other = (float(side.peak) / 1e12, float(side.device.bandwidth) / 1e12)
    if other != (peak, bandwidth):
        found.append(Ceiling("prefill:", *other, flat=False))
    return found


def format_of(metrics: Metrics) -> str:
    """The format of the roof where that is not 16 bits, before its peak."""
    computes_in = metrics.scenario.computes_in
    return "" if computes_in in ("bf16", "fp16") else f"{computes_in}: "


def roofs_of(metrics: Metrics) -> tuple[float, float, float]:
    """Peak and bandwidth in the units of the axes, and the ridge between them."""
    scenario = metrics.scenario
    return float(scenario.peak) / 1e12, float(scenario.device.bandwidth) / 1e12, float(metrics.ridge)


def roof_corners(
    frame: Frame, peak: float, bandwidth: float, ridge: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both roofs as one line of three exact points: a sampled one would cut the ridge."""
    return fig.floats([frame.left, ridge, frame.right]), fig.floats([frame.left * bandwidth, peak, peak])


def four_digits(value: float) -> float:
    """As much as a hand can aim at."""
    return float(f"{value:.4g}")


def frame_around(shown: Sequence[Metrics]) -> Frame:
    """Round ends of the axes around the dots and ridges of all that is shown, with room for labels on the left."""
    points = [Points.of(timed) for metrics in shown for timed in metrics.phases().values()]
    intensity = np.concatenate([p.intensity for p in points])
    speed = np.concatenate([p.speed for p in points])
    peaks, _, ridges = map(list, zip(*map(roofs_of, shown), strict=True))
    peaks += [ceiling.peak for metrics in shown for ceiling in ceilings_of(metrics)]
    _, right = fig.half_decades(1.0, max(intensity.max() * 1.5, max(ridges) * 60))
    decode = [Points.of(metrics.decode) for metrics in shown]
    first = min(p.intensity[p.share >= NAMED].min() for p in decode)
    room = (first / right**LABEL_WIDTH) ** (1 / (1 - LABEL_WIDTH))  # that share of the axis lies left of the first
    left, _ = fig.half_decades(min(intensity.min() / 2, min(ridges) / 10, room), right)
    bottom, top = fig.half_decades(min(speed.min() / 5, min(peaks) / 100), max(peaks) * 4)
    return Frame(left, right, bottom, top)


def clear_of(taken: list[float], low: float, high: float) -> float:
    """The place in the middle between two intensities that is farthest from those taken."""
    candidates = np.geomspace(low, high, 16)[3:-3]
    distance = np.abs(np.log(np.divide.outer(candidates, taken))).min(axis=1)
    return float(candidates[np.argmax(distance)])
