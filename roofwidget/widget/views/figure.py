"""What all figures here have in common: their axes, their frame, and how a mark is updated."""

from __future__ import annotations

from typing import Any

import bqplot
import ipywidgets
import numpy as np
from numpy.typing import NDArray

from roofwidget.widget import theme

HEIGHT = "340px"
MILLION = 1e6
MARGIN = {"top": 14, "bottom": 44, "left": 62, "right": 26}


def log_scale() -> bqplot.LogScale:
    """A log scale whose ends are always set: bqplot draws twice where it has to find them."""
    return bqplot.LogScale(min=1.0, max=10.0, allow_padding=False)


def linear_scale() -> bqplot.LinearScale:
    """A linear scale from 0 whose upper end is always set."""
    return bqplot.LinearScale(min=0.0, max=1.0, allow_padding=False)


def axis(
    scale: bqplot.Scale, label: str, *, side: str = "bottom", colour: str = theme.MUTED, **traits: Any
) -> bqplot.Axis:
    """An axis with a quiet grid and its ticks in thousands groups."""
    return bqplot.Axis(
        scale=scale,
        label=label,
        side=side,
        label_color=colour,
        color=theme.GRID,
        grid_color=theme.GRID,
        tick_style={"fill": theme.MUTED},
        **{"label_offset": "34px" if side == "bottom" else "48px", **traits},
    )


def figure(marks: list[bqplot.Mark], axes: list[bqplot.Axis], **margin: int) -> bqplot.Figure:
    """A figure of fixed height and the width of its column."""
    return bqplot.Figure(
        marks=marks,
        axes=axes,
        fig_margin={**MARGIN, **margin},
        padding_y=0.0,
        animation_duration=0,
        display_toolbar=False,
        background_style={"fill": "none"},
        layout=ipywidgets.Layout(height=HEIGHT, width="auto", min_width="0"),
    )


def labels(scales: dict[str, bqplot.Scale], **traits: Any) -> bqplot.Label:
    """A mark of texts at points."""
    defaults = {"default_size": 12, "font_weight": "normal", "colors": [theme.TEXT]}
    return bqplot.Label(x=np.array([1.0]), y=np.array([1.0]), text=[""], scales=scales, **{**defaults, **traits})


def line(scales: dict[str, bqplot.Scale], colour: str, **traits: Any) -> bqplot.Lines:
    """A mark of one line."""
    return bqplot.Lines(x=np.ones(2), y=np.ones(2), scales=scales, colors=[colour], **traits)


def ghost(scales: dict[str, bqplot.Scale], colour: str = theme.MUTED) -> bqplot.Lines:
    """A line of the pinned result, behind those of today; unseen until there is one."""
    return line(scales, colour, opacities=[0.7], stroke_width=1.5, line_style="dash_dotted", visible=False)


def write(label: bqplot.Label, x: float, y: float, text: str, **traits: Any) -> None:
    """Put one text at a point."""
    change(label, x=floats([x]), y=floats([y]), text=[text], **traits)


def change(widget: ipywidgets.Widget, **traits: Any) -> None:
    """Set traits; what is as it was is not sent again."""
    for name, value in traits.items():
        setattr(widget, name, value)


def foldaway(*figures: bqplot.Figure) -> ipywidgets.Box:
    """A box of figures, side by side where there is room, that `fold` opens; closed at first."""
    box = ipywidgets.Box(
        figures,
        layout=ipywidgets.Layout(
            display="grid",
            grid_template_columns="repeat(auto-fit, minmax(min(280px, 100%), 1fr))",
            min_width="0",
            min_height="0",
            overflow="hidden",
        ),
    )
    fold(box, closed=True)
    return box


def fold(box: ipywidgets.Box, *, closed: bool) -> None:
    """Close a box or open it; its figures stay displayed: without a size bqplot complains of them."""
    change(box.layout, height="0" if closed else "auto", visibility="hidden" if closed else "visible")


def floats(values: Any) -> NDArray[np.float64]:
    """A float64 array: bqplot cuts int64 to int32 without a word."""
    return np.asarray(values, np.float64)


def stretch(axis: bqplot.Axis, low: float, high: float, ticks: NDArray[np.float64], plain_to: float = MILLION) -> None:
    """Set the ends of an axis' scale, and its ticks: in full, or with a prefix where that is too long."""
    with axis.scale.hold_sync(), axis.hold_sync():
        change(axis.scale, min=float(low), max=float(high))
        change(axis, tick_values=floats(ticks), tick_format=",~g" if 0.01 <= high < plain_to else "~s")


def half_decades(low: float, high: float) -> tuple[float, float]:
    """The nearest of 1 and 3 times a power of ten below `low` and above `high`: axes move seldom."""
    below, above = np.log10(low) * 2, np.log10(high) * 2
    return _half_decade(np.floor(below + 1e-9)), _half_decade(np.ceil(above - 1e-9))


def _half_decade(half: float) -> float:
    return float(10.0 ** (half // 2) * (3 if half % 2 else 1))


def decades(low: float, high: float) -> NDArray[np.float64]:
    """Powers of ten between two ends, at most about six; where there are hardly any, 3 times them too."""
    first, last = np.ceil(np.log10(low) - 1e-9), np.floor(np.log10(high) + 1e-9)
    if last - first < 2:
        ticks = np.multiply.outer(10.0 ** np.arange(first - 1, last + 1), [1, 3]).ravel()
        return np.asarray(ticks[(ticks >= low * 0.999) & (ticks <= high * 1.001)])
    step = max(1, np.ceil((last - first) / 6))
    return np.asarray(10.0 ** np.arange(first, last + 1, step))


def round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten: the axis moves seldom."""
    decade = 10.0 ** np.floor(np.log10(value))
    return float(next(step * decade for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * decade >= value * (1 - 1e-9)))


def even_ticks(top: float) -> NDArray[np.float64]:
    """Round ticks from 0 to an end that `round_up` chose."""
    lead = round(top / 10.0 ** np.floor(np.log10(top) + 1e-9), 3)
    return np.linspace(0, top, {1.5: 3, 3.0: 3, 6.0: 3, 2.0: 4, 4.0: 4, 8.0: 4}.get(lead, 5) + 1)


def heading(title: str, note: str = "") -> str:
    """The heading of a view with a note beside it, as HTML."""
    return f"<h4>{title} <span>{note}</span></h4>"
