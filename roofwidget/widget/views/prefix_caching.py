"""Prefix caching: the prompt, the time to its first token, and the KV cache, with a cache and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import bqplot
import ipywidgets
import numpy as np

from roofwidget.evaluate import Metrics
from roofwidget.serving.prefix_caching import HIT_RATES, PrefixCaching
from roofwidget.units import count, grouped, percent, seconds, si
from roofwidget.widget import theme
from roofwidget.widget.views import figure as fig

HEIGHT = "210px"
OFF = "Off: every prompt is computed from its first token. “prefix”, under Techniques, caches what prompts begin with."
NOTE = f"color:{theme.MUTED}"
HATCH = f"repeating-linear-gradient(45deg, {theme.MUTED} 0 1.5px, transparent 1.5px 5px)"
FRAME = f"display:flex;box-sizing:border-box;height:14px;border:1px solid {theme.MUTED};border-radius:2px"
MILLI = 1e3


class PrefixCachingView:
    """Bars as HTML, and the time to first token against the hit rate as a figure."""

    def __init__(self) -> None:
        self.bars = ipywidgets.HTML()
        self.by_hit_rate = HitRateFigure()
        self.box = fig.foldaway(self.by_hit_rate.figure)
        self.widget = ipywidgets.VBox([self.bars, self.box])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-prefix-caching")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the prefix in these metrics; the curve of those pinned lies behind."""
        figures, prefix = metrics.prefix_caching, metrics.scenario.prefix
        fig.fold(self.box, closed=figures is None)
        title = "Prefix caching"
        if figures is None:
            self.bars.value = fig.heading(title, "· off") + f'<p style="margin:4px 0;font-size:12px;{NOTE}">{OFF}</p>'
            return
        then = None if pinned is None else pinned.prefix_caching
        self.bars.value = fig.heading(title, f"· {percent(figures.prefill_saved)} of prefill saved") + bars(
            figures, prefix.cascade
        )
        self.by_hit_rate.draw(figures, float(prefix.hit_rate), then)


class HitRateFigure:
    """Time to first token against the share of the prefix that is in the cache."""

    def __init__(self) -> None:
        x, y = fig.linear_scale(), fig.linear_scale()
        scales = {"x": x, "y": y}
        self.curve = fig.line(scales, theme.USER, stroke_width=2.5)
        self.ghost = fig.ghost(scales, theme.USER)
        self.cold = fig.line(scales, theme.TEXT, stroke_width=1, line_style="dashed")
        self.cursor = fig.line(scales, theme.TEXT, stroke_width=1, line_style="dotted")
        self.here = bqplot.Scatter(
            x=np.ones(1), y=np.ones(1), scales=scales, colors=[theme.USER], stroke=theme.SURFACE, default_size=70
        )
        self.cold_label = fig.labels(scales, colors=[theme.MUTED], y_offset=-9)
        self.here_label = fig.labels(scales, y_offset=13)
        self.x_axis = fig.axis(x, "hit rate (share of the prefix)")
        self.y_axis = fig.axis(y, "TTFT (ms)", side="left", label_offset="48px")
        marks = [self.ghost, self.cold, self.curve, self.cursor, self.here, self.cold_label, self.here_label]
        self.figure = fig.figure(marks, [self.x_axis, self.y_axis])
        self.figure.layout.height = HEIGHT
        fig.stretch(self.x_axis, 0.0, 1.0, np.linspace(0, 1, 5))

    def draw(self, figures: PrefixCaching, hit_rate: float, then: PrefixCaching | None) -> None:
        """Draw the curve, and where on it this cache is."""
        cold, now = MILLI * figures.cold_ttft, MILLI * figures.ttft
        top = fig.round_up(1.15 * max(cold, MILLI * (0.0 if then is None else then.cold_ttft)))
        fig.stretch(self.y_axis, 0.0, top, fig.even_ticks(top))
        fig.change(self.curve, x=HIT_RATES, y=MILLI * figures.hit_ttfts)
        fig.change(self.cold, x=fig.floats([0, 1]), y=fig.floats([cold, cold]))
        fig.change(self.cursor, x=fig.floats([hit_rate, hit_rate]), y=fig.floats([0, top]))
        fig.change(self.here, x=fig.floats([hit_rate]), y=fig.floats([now]))
        left, right = {"align": "start", "x_offset": 6}, {"align": "end", "x_offset": -6}
        at_right = hit_rate > 0.5
        text = f"{seconds(figures.ttft)} at {grouped(hit_rate)}"
        fig.write(self.here_label, hit_rate, top, text, **(right if at_right else left))
        text = f"without a cache: {seconds(figures.cold_ttft)}"
        fig.write(self.cold_label, float(not at_right), cold, text, **(left if at_right else right))
        if then is not None:
            fig.change(self.ghost, x=HIT_RATES, y=MILLI * then.hit_ttfts)
        fig.change(self.ghost, visible=then is not None)


class Pair(NamedTuple):
    """One figure, without and with what the cache makes possible, and which of the two counts here."""

    title: str
    names: tuple[str, str]
    values: tuple[float, float]
    written: Callable[[float], str]
    colour: str
    at_second: bool = True


def pairs(figures: PrefixCaching, cascade: bool) -> list[Pair]:
    """All that is one way with a cache and another without."""
    apart, kv_cache = ("each apart", "prefix once"), (figures.cold_kv_cache, figures.kv_cache)
    fits, tpots = (figures.cold_largest_batch, figures.largest_batch), (figures.plain_tpot, figures.cascade_tpot)
    memory = theme.BOUND_COLOURS["memory"]
    return [
        Pair("time to first token", ("cold", "cached"), (figures.cold_ttft, figures.ttft), seconds, theme.USER),
        Pair("KV cache of the batch, a device", apart, kv_cache, bytes_, theme.MEMORY_COLOURS["KV cache"]),
        Pair("largest batch", apart, fits, sequences, theme.MUTED),
        Pair("time per output token", ("prefix read by each", "once, cascade"), tpots, seconds, memory, cascade),
    ]


def bars(figures: PrefixCaching, cascade: bool) -> str:
    """The prompt, and all pairs."""
    whole, cached = count(figures.prompt, "token"), grouped(figures.cached, 12)
    own = grouped(figures.prompt - figures.cached, 12)
    share = 100 * figures.cached / figures.prompt
    parts = f'<span style="width:{share:.2f}%;background:{HATCH}"></span><span style="flex:1;background:{theme.USER}">'
    drawn = "".join(compared(pair) for pair in pairs(figures, cascade))
    return (
        '<div style="font-size:12px;padding:2px 0 6px;font-variant-numeric:tabular-nums">'
        f'<div>a prompt of {whole} <span style="{NOTE}">· hatched: {cached} cached · full: {own} computed</span></div>'
        f'<div role="img" aria-label="Of a prompt of {whole} {cached} are cached, {own} computed" style="{FRAME}">'
        f"{parts}</span></div>"
        '<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(min(250px,100%),1fr));gap:6px 18px;'
        f'margin-top:6px">{drawn}</div></div>'
    )


def compared(pair: Pair) -> str:
    """Two bars on one scale; what counts here is full and bold, the other hollow."""
    longest, rows = max(*pair.values, 1e-30), ""
    for second, (name, value) in enumerate(zip(pair.names, pair.values, strict=True)):
        counts = bool(second) == pair.at_second
        fill = f"background:{pair.colour}" if counts else f"border:1px solid {pair.colour}"
        bar = f"height:9px;box-sizing:border-box;width:{100 * value / longest:.1f}%;{fill}"
        text = f"<b>{pair.written(value)}</b>" if counts else pair.written(value)
        rows += (
            f'<span style="{NOTE}">{name}</span><span><i style="display:block;min-width:1px;{bar}"></i></span>'
            f'<span style="text-align:right">{text}</span>'
        )
    columns = "minmax(62px,max-content) minmax(40px,1fr) max-content"
    return (
        f'<div role="group" aria-label="{pair.title}"><div>{pair.title}</div>'
        f'<div style="display:grid;grid-template-columns:{columns};gap:1px 8px;align-items:center">{rows}</div></div>'
    )


def bytes_(size: float) -> str:
    """A size as it is written."""
    return si(size, "B")


def sequences(most: float) -> str:
    """How many fit, as it is written."""
    return grouped(most, 12) if most else "none fits"
