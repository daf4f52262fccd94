"""Points of a figure that can be dragged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bqplot
import numpy as np

from roofwidget.widget import theme
from roofwidget.widget.views.figure import change, floats


class Handles:
    """Ringed points; while one is dragged the browser moves them, and nobody else.

    Parameters
    ----------
    scales
        Scales of the figure.
    moved
        Called with index, x and y of the point at each move.
    released
        Called when it is let go.
    **traits
        Further traits of the mark, such as `restrict_x`.
    """

    def __init__(
        self,
        scales: dict[str, bqplot.Scale],
        moved: Callable[[int, float, float], None],
        released: Callable[[], None],
        **traits: Any,
    ) -> None:
        self.dragging = False
        self._moved, self._released = moved, released
        self.mark = bqplot.Scatter(
            x=np.ones(1),
            y=np.ones(1),
            scales=scales,
            colors=[theme.SURFACE],
            stroke=theme.TEXT,
            stroke_width=2,
            default_size=100,
            enable_move=True,
            drag_size=1.3,
            **traits,
        )
        self._placed = (floats([1.0]), floats([1.0]))
        self.mark.observe(self._put_back, ["x", "y"])
        self.mark.on_drag_start(self._start)
        self.mark.on_drag(self._drag)
        self.mark.on_drag_end(self._end)

    def place(self, x: list[float], y: list[float]) -> None:
        """Put the points where they belong, unless one is being dragged."""
        if not self.dragging:
            self._placed = floats(x), floats(y)
            self._put_back()

    def _put_back(self, _: Any = None) -> None:
        """Answer what bqplot sends of its own, which may arrive after the point was let go."""
        if not self.dragging:
            change(self.mark, x=self._placed[0], y=self._placed[1])

    def _start(self, _: Any, event: dict[str, Any]) -> None:
        self.dragging = True

    def _drag(self, _: Any, event: dict[str, Any]) -> None:
        x, y = (self._inside(axis, event["point"][axis]) for axis in ("x", "y"))
        self._moved(event["index"], x, y)

    def _inside(self, axis: str, value: float) -> float:
        """A place on the plot: the hand may leave it, and on a log scale a little is very far."""
        scale = self.mark.scales[axis]
        return float(np.clip(value, scale.min, scale.max))

    def _end(self, mark: Any, event: dict[str, Any]) -> None:
        self.dragging = False
        self._drag(mark, event)
        self._released()
