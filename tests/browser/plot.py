"""A bqplot figure read off its SVG, in pixels of the window and in the units of its axes."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

READ = r"""view => {
  const shown = element => element.getClientRects().length && !element.closest('[display=none]');
  const all = selector => [...view.querySelectorAll(selector)].filter(shown);
  const origin = element => { const { e, f } = element.getScreenCTM(); return [e, f] };
  const box = element => { const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, x + width, y + height] };
  const points = path => {
    const [x, y] = origin(path), numbers = (path.getAttribute('d') ?? '').match(/-?[\d.]+(e-?\d+)?/g) ?? [];
    return Array.from({ length: numbers.length / 2 }, (_, i) => [x + +numbers[2 * i], y + +numbers[2 * i + 1]]) };
  return {
    axes: all('.axis').map(axis => ({
      name: axis.querySelector('.axislabel').textContent,
      ticks: [...axis.querySelectorAll('.tick')].map(tick => [...origin(tick), tick.textContent]) })),
    lines: all('.curve path.line').map(path => ({ points: points(path), stroke: path.style.stroke })),
    areas: all('.curve path.area').map(path => ({ points: points(path), fill: path.style.fill })),
    dots: all('.dot').map(dot => ({
      name: dot.parentElement.querySelector('.dot_text').textContent, place: origin(dot), fill: dot.style.fill,
      shape: dot.getAttribute('d').includes('A') ? 'circle' : 'triangle' })),
    texts: all('text').filter(text => text.textContent.trim()).map(text => ({
      text: text.textContent, box: box(text), label: text.classList.contains('label') })),
    figure: box(view.querySelector('.svg-figure')), frame: box(view.querySelector('.plotarea_background')),
  } }"""
AXES = {
    "roofline": {"x": math.log, "y": math.log},
    "curve": {"x": math.log, "y": math.log, "right": float},
    "memory": {"x": math.log, "y": float},
}
"""The axes of each view in the order they are drawn, and what along them is even."""
SURFACE = "var(--rw-surface)"
"""What handles, and nothing else, are filled with."""


class Dot(NamedTuple):
    """A point of a scatter."""

    name: str
    shape: str
    x: float
    y: float


class Box(NamedTuple):
    """A rectangle in pixels of the window."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """By how many pixels this would have to move to be clear of another."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0, min(across, down))

    def inside(self, other: Box, slack: float) -> bool:
        return (
            self.left >= other.left - slack
            and self.top >= other.top - slack
            and self.right <= other.right + slack
            and self.bottom <= other.bottom + slack
        )


PREFIXES = {"n": "e-9", "µ": "e-6", "m": "e-3", "k": "e3", "M": "e6", "G": "e9", "T": "e12"}


def number(text: str) -> float:
    """What a tick says: "1,000", or with a prefix "100µ"."""
    bare = text.replace(",", "")
    return float(bare[:-1] + PREFIXES[bare[-1]]) if bare[-1] in PREFIXES else float(bare)


class Axis:
    """Where along an axis a value is, found from the texts and places of its ticks."""

    def __init__(self, ticks: list[tuple[float, str]], even: Any) -> None:
        self.ticks, self.even = ticks, even

    @cached_property
    def _line(self) -> tuple[float, float]:
        """Pixels an even unit, and where 0 of them is."""
        evens = [self.even(number(text)) for _, text in self.ticks]
        places = [place - 0.5 for place, _ in self.ticks]  # d3 moves ticks to the middle of a pixel
        rate, start = np.polyfit(evens, places, 1)
        return float(rate), float(start)

    def place(self, value: float) -> float:
        """Pixels of the window."""
        rate, start = self._line
        return start + rate * float(self.even(value))

    def value(self, place: float) -> float:
        rate, start = self._line
        even = (place - start) / rate
        return math.exp(even) if self.even is math.log else even


class Plot:
    """A figure at one moment."""

    def __init__(self, view: str, read: dict[str, Any]) -> None:
        self.axes = {}
        for (name, even), axis in zip(AXES[view].items(), read["axes"], strict=True):
            self.axes[name] = Axis([(tick[0 if name == "x" else 1], tick[2]) for tick in axis["ticks"]], even)
        self.lines, self.areas = read["lines"], read["areas"]
        drawn = [(dot["fill"], Dot(dot["name"], dot["shape"], *dot["place"])) for dot in read["dots"]]
        self.dots = [dot for fill, dot in drawn if fill != SURFACE]
        self.handles = [dot for fill, dot in drawn if fill == SURFACE]
        self.texts = [(text["text"], Box(*text["box"])) for text in read["texts"]]
        self.labels = [(text["text"], Box(*text["box"])) for text in read["texts"] if text["label"]]
        self.figure, self.frame = Box(*read["figure"]), Box(*read["frame"])

    def place(self, x: float, y: float, axis: str = "y") -> tuple[float, float]:
        """Pixels of the window at which a point belongs."""
        return self.axes["x"].place(x), self.axes[axis].place(y)

    def value(self, x: float, y: float) -> tuple[float, float]:
        """The point at pixels of the window."""
        return self.axes["x"].value(x), self.axes["y"].value(y)

    def lines_of(self, stroke: str) -> list[list[tuple[float, float]]]:
        """The lines of a colour, as pixels."""
        return [[tuple(at) for at in line["points"]] for line in self.lines if line["stroke"] == f"var(--rw-{stroke})"]

    def line(self, stroke: str) -> list[tuple[float, float]]:
        """The one line of a colour, as pixels."""
        (line,) = self.lines_of(stroke)
        return line

    def area(self, fill: str) -> list[tuple[float, float]]:
        """The outline of the one area of a colour, as pixels."""
        (area,) = (area["points"] for area in self.areas if area["fill"] == f"var(--rw-{fill})")
        return [tuple(point) for point in area]
