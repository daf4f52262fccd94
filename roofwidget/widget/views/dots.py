"""The dots of one phase on the roofline: one a node, its area its share of the phase's time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import bqplot
import numpy as np
from numpy.typing import NDArray

from roofwidget.roofline.timing import Pass
from roofwidget.widget import theme
from roofwidget.widget.views import figure as fig

LARGEST, SMALLEST = 700, 45
NEAR_X, NEAR_Y, LABEL_WIDTH = 0.24, 0.08, 0.38
"""Dots nearer than these shares of the plot's width and height have one label; a label is that wide."""
NAMED = 0.02
"""Share of a phase's time below which dots go without a label."""


class Frame(NamedTuple):
    """The ends of the roofline's axes, FLOP/byte and TFLOP/s."""

    left: float
    right: float
    bottom: float
    top: float


class Points(NamedTuple):
    """Nodes with a place on the roofline, those that compute something."""

    intensity: NDArray[np.float64]
    speed: NDArray[np.float64]
    share: NDArray[np.float64]
    names: list[str]
    bounds: list[str]

    @classmethod
    def of(cls, timed: Pass) -> Points:
        """FLOP/byte, achieved TFLOP/s, share of time, name and bound of each."""
        shown = np.flatnonzero(timed.flops)
        return cls(
            timed.node_intensities[shown],
            timed.node_speeds[shown] / 1e12,
            timed.node_shares[shown],
            [timed.nodes[i].name for i in shown],
            [timed.node_bound_names[i] for i in shown],
        )


class Dots:
    """A phase's dots and their labels.

    Parameters
    ----------
    scales
        Scales of the figure.
    marker
        The shape that tells this phase.
    pick
        Called with the name of a node whose dot is clicked.
    place
        Where labels stand beside their dots, given how far across the plot those are.
    """

    def __init__(
        self,
        scales: dict[str, bqplot.Scale],
        marker: str,
        pick: Callable[[str], None],
        place: Callable[[NDArray[np.float64]], dict[str, Any]],
    ) -> None:
        self._pick, self._place = pick, place
        tooltip = bqplot.Tooltip(
            fields=["name", "x", "y", "size"],
            labels=["node", "FLOP/byte", "TFLOP/s", "share of time"],
            formats=["", ",.4~r", ",.4~r", ".2p"],
        )
        tooltip.add_class("roofwidget-tip")
        # the scale begins below 0, so that a node of hardly any time still has a dot
        size = bqplot.LinearScale(min=-SMALLEST / LARGEST, max=1.0)
        self.mark = bqplot.Scatter(
            x=np.ones(1),
            y=np.ones(1),
            size=np.ones(1),
            scales={**scales, "size": size},
            marker=marker,
            default_size=LARGEST,
            opacities=[0.6],
            display_names=False,
            tooltip=tooltip,
        )
        self.labels = fig.labels(scales)
        self.mark.on_element_click(self._clicked)

    def draw(self, points: Points, frame: Frame) -> None:
        """Draw these points in this frame."""
        colours = [theme.BOUND_COLOURS[bound] for bound in points.bounds]
        fig.change(self.mark, x=points.intensity, y=points.speed, size=points.share, names=points.names, colors=colours)
        across = np.log(points.intensity / frame.left) / np.log(frame.right / frame.left)
        up = np.log(points.speed / frame.bottom) / np.log(frame.top / frame.bottom)
        spots = clusters(across, up, points.share, points.names)
        heads = [spot.head for spot in spots]
        fig.change(
            self.labels,
            x=points.intensity[heads],
            y=points.speed[heads],
            text=[spot.text for spot in spots],
            **self._place(across[heads]),
        )

    def _clicked(self, _: Any, event: dict[str, Any]) -> None:
        self._pick(str(self.mark.names[event["data"]["index"]]))


def above_left(across: NDArray[np.float64]) -> dict[str, Any]:
    """Above the slope, left of each dot; under it, on the right, where one has no room on its left."""
    if across.min() > LABEL_WIDTH:
        return {"align": "end", "x_offset": -12, "y_offset": -12}
    return {"align": "start", "x_offset": 12, "y_offset": 18}


def below(across: NDArray[np.float64]) -> dict[str, Any]:
    """Centred under each dot, or to the side that has room for all of them."""
    align = "start" if across.min() < LABEL_WIDTH / 2 else "end" if across.max() > 1 - LABEL_WIDTH / 2 else "middle"
    return {"align": align, "y_offset": 30}


class Cluster(NamedTuple):
    """Dots with one label: the one that takes most time, and what the label says."""

    head: int
    text: str


def clusters(
    x: NDArray[np.float64], y: NDArray[np.float64], share: NDArray[np.float64], names: Sequence[str]
) -> list[Cluster]:
    """Group dots, given in shares of the plot, around those that take most of the time."""
    left = list(np.argsort(-share))
    found = []
    while left:
        head = left[0]
        members = [i for i in left if abs(x[i] - x[head]) < NEAR_X and abs(y[i] - y[head]) < NEAR_Y]
        left = [i for i in left if i not in members]
        if share[members].sum() >= NAMED:
            name = names[head].partition(",")[0]
            found.append(Cluster(head, f"{name}, …" if len(members) > 1 else name))
    return found
