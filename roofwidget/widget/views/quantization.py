"""Every number format of the catalog in this scenario: bytes, times and room, and what quality they leave."""

from __future__ import annotations

from html import escape

import ipywidgets

from roofwidget import catalog
from roofwidget.evaluate import Metrics
from roofwidget.serving.quantization import AS_SET, SIXTEEN_BITS, Formatted, FormattedCache, Quantization
from roofwidget.units import grouped, seconds, si
from roofwidget.widget import theme
from roofwidget.widget.views.figure import heading

MUTED = f"color:{theme.MUTED}"
PLAIN = "background:none;font-weight:400;vertical-align:top"
NUMBER = f"{PLAIN};text-align:right;padding:4px 4px 3px 6px;white-space:nowrap"
NAME = f"{PLAIN};text-align:left;padding:4px 0 3px 4px"
TABLE = f"border-collapse:collapse;width:100%;font-size:12px;font-variant-numeric:tabular-nums;color:{theme.TEXT}"
COLOURS = {"tpot_alone": "memory", "tpot": "memory", "ttft": "compute"}
"""Of the bars: what mostly holds these times back where a format matters."""


class QuantizationView:
    """Tables as HTML, and below them the words of the catalog, which can be unfolded and stay so."""

    def __init__(self) -> None:
        self.tables = ipywidgets.HTML()
        self.words = ipywidgets.HTML(quality())
        self.widget = ipywidgets.VBox([self.tables, self.words])
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-quantization")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the formats in these metrics."""
        figures, batch = metrics.quantization, grouped(metrics.scenario.workload.batch, 12)
        self.tables.value = (
            heading("Quantization", "· a shorter bar is faster; × of the speed in bf16")
            + weight_table(figures, batch)
            + cache_table(figures)
        )


def weight_table(figures: Quantization, batch: str) -> str:
    """A row for each format of the weights; the one that is set is marked."""
    rows = list(figures.formats.values())
    if not figures.chosen:
        rows.insert(0, figures.now)
    longest = {time: max(getattr(row, time) for row in rows) for time in COLOURS}
    heads = ("weights: bits, bytes a device, computed in", "TPOT alone", f"TPOT at {batch}", "TTFT", "largest batch")
    body = "".join(weight_row(row, figures, longest) for row in rows)
    return table("Formats of the weights", heads, body)


def weight_row(row: Formatted, figures: Quantization, longest: dict[str, float]) -> str:
    """A format: what it takes, and its times as bars beside those of all."""
    chosen = row.name in (*figures.chosen, AS_SET)
    under = [f"{grouped(row.bits, 4)} bits,", f"{si(row.weights, 'B')},", f"in {row.computes_in}"]
    if row.fell_back:
        under += [f"(no {row.asked}", "here)"]
    cells = "".join(
        timed(getattr(row, time), getattr(figures.sixteen, time), longest[time], COLOURS[time]) for time in COLOURS
    )
    words = " ".join(filter(None, (row.quality, row.falls_back if row.fell_back else "")))
    fits = grouped(row.largest_batch, 12) if row.largest_batch else "none fits"
    return line(named(row.name, under, chosen, words), cells + f'<td style="{NUMBER}">{fits}</td>', chosen)


def cache_table(figures: Quantization) -> str:
    """A row for each format of the KV cache."""
    sixteen = next(cache for cache in figures.caches if cache.name == SIXTEEN_BITS)
    longest = max(cache.tpot for cache in figures.caches)
    body = "".join(cache_row(cache, sixteen, longest) for cache in figures.caches)
    return table("Formats of the KV cache", ("KV cache", "of the batch", "TPOT", "largest batch"), body)


def cache_row(cache: FormattedCache, sixteen: FormattedCache, longest: float) -> str:
    """A format of the KV cache."""
    fits = grouped(cache.largest_batch, 12) if cache.largest_batch else "none fits"
    cells = (
        f'<td style="{NUMBER}">{si(cache.kv_cache, "B")}</td>'
        f"{timed(cache.tpot, sixteen.tpot, longest, 'memory')}"
        f'<td style="{NUMBER}">{fits}</td>'
    )
    under = [f"{grouped(cache.kv_bytes, 6)} bytes", "an element"]
    words = catalog.entry("kv_formats", cache.name)["quality"]
    return line(named(cache.name, under, cache.is_set, words), cells, cache.is_set)


def table(title: str, heads: tuple[str, ...], body: str) -> str:
    """A table with its title for those who hear it."""
    first, *others = heads
    top = f'<th scope="col" style="{NAME};{MUTED}">{first}</th>' + "".join(
        f'<th scope="col" style="{NUMBER};white-space:normal;{MUTED}">{head}</th>' for head in others
    )
    return (
        f'<table aria-label="{title}" style="{TABLE};margin:4px 0 6px"><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def line(name: str, cells: str, chosen: bool) -> str:
    """A row, outlined where it is what is set."""
    edge = f"outline:2px solid {theme.TEXT};outline-offset:-1px" if chosen else f"border-top:1px solid {theme.GRID}"
    return f'<tr style="{edge};background:none"{" aria-current=true" if chosen else ""}>{name}{cells}</tr>'


def named(name: str, under: list[str], chosen: bool, words: str) -> str:
    """The head of a row: its name, what it is under that, and what is said of its quality as a tip."""
    mark = " ◀&nbsp;set" if chosen else ""
    parts = " ".join(f'<span style="white-space:nowrap">{escape(part)}</span>' for part in under)
    return (
        f'<th scope="row" style="{NAME}" title="{escape(words)}"><b>{escape(name)}</b>{mark}'
        f'<div style="{MUTED};line-height:1.25">{parts}</div></th>'
    )


def timed(time: float, sixteen: float, longest: float, kind: str) -> str:
    """A time, how many times as fast as in 16 bits it is, and a bar of it."""
    bar = f"height:4px;width:{100 * time / longest:.1f}%;min-width:1px;background:{theme.BOUND_COLOURS[kind]}"
    gain = f'<div style="{MUTED}">{grouped(sixteen / time)} ×</div>'
    return f'<td style="{NUMBER}">{seconds(time)}{gain}<div style="{bar}"></div></td>'


def quality() -> str:
    """What the catalog says of the quality that every format leaves, and of the kernels where there are none."""
    weights = "".join(
        said(name, facts["quality"], facts["quality_source"], facts["falls_back"])
        for name, facts in catalog.entries("weight_formats").items()
    )
    caches = "".join(
        said(f"KV cache in {name}", facts["quality"], facts["quality_source"], facts["computes"])
        for name, facts in catalog.entries("kv_formats").items()
    )
    return (
        f'<details style="font-size:12px"><summary style="cursor:pointer;{MUTED}">What is lost, whose figures these '
        f'are, and what kernels do</summary><dl style="margin:2px 0">{weights}{caches}</dl></details>'
    )


def said(name: str, words: str, source: str, kernels: str) -> str:
    """A format in words."""
    return (
        f'<dt style="font-weight:600;margin-top:5px">{escape(name)}</dt><dd style="margin:0 0 0 8px">{escape(words)}'
        f' <span style="{MUTED}">{escape(source)}</span><br>{escape(kernels)}</dd>'
    )
