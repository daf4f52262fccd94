"""Two pools and the link between them: who waits for whom, and what the same devices do colocated."""

from __future__ import annotations

import math
from html import escape
from typing import NamedTuple

import ipywidgets
import numpy as np

from roofwidget.evaluate import Metrics
from roofwidget.prefill_pool import PrefillPool
from roofwidget.scenario import Scenario
from roofwidget.serving.disaggregation import Disaggregation
from roofwidget.serving.goodput import Goodput
from roofwidget.units import grouped, percent, seconds, si
from roofwidget.widget import theme
from roofwidget.widget.views.figure import heading

WIDTH, BOX, TOP, HEIGHT = 280, 104, 34, 58
"""Of the drawing, of a pool's box in it, and where the boxes lie, px: it fits where the whole widget is narrowest."""

SQUARES = (22, 16, 12, 9, 7)
"""From one device to the next, px: the largest at which all of a pool have room."""

CELL = "padding:2px 0 2px 9px;text-align:right;background:none"
OFF = "Off: the same devices prefill and decode. “disaggregated”, under Techniques, gives prefill devices of its own."


class Pool(NamedTuple):
    """A pool as it is drawn."""

    name: str
    device: str
    groups: float
    devices: float
    rate: float

    @property
    def label(self) -> str:
        """How many of which device it has."""
        each = f" × {grouped(self.devices, 12)}" if self.devices > 1 else ""
        return f"{grouped(self.groups, 12)}{each} {self.device}"

    @property
    def speed(self) -> str:
        """What it serves alone, in words."""
        return f"{grouped(self.rate)} requests/s" if math.isfinite(self.rate) else "nothing to do"


class DisaggregationView:
    """Both pools as a drawing, and a table beside it of them against the same devices colocated."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML()
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-disaggregation")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the pools of these metrics; those pinned have a column of the table."""
        pools, pool = metrics.disaggregation, metrics.scenario.prefill_pool
        title = heading("Disaggregation", "" if pools is None else "· hollow: waits for the other")
        if pools is None or pool is None:
            self.widget.value = title + f'<p style="margin:4px 0;font-size:12px;color:{theme.MUTED}">{escape(OFF)}</p>'
            return
        shown = drawing(metrics.scenario, pool, pools)
        then = None if pinned is None else pinned.disaggregation
        self.widget.value = (
            f'{title}<div style="display:flex;flex-wrap:wrap;gap:6px 20px;align-items:flex-start">'
            f"{shown}{table(pools, then)}</div>"
        )


def drawing(scenario: Scenario, pool: PrefillPool, pools: Disaggregation) -> str:
    """Both boxes, the link, and the requests/s of each as bars, as SVG."""
    side = scenario.prefill_side
    left = Pool("prefill", side.device.name, float(pool.instances), float(side.devices), pools.prefill_rate)
    groups = float(scenario.devices_of_batch / scenario.devices)
    right = Pool("decode", scenario.device.name, groups, float(scenario.devices), pools.decode_rate)
    rates = {name: rate for name, rate in pools.rates.items() if name != "link" or pools.limit == "link"}
    y = TOP + HEIGHT + 26
    bars = "".join(bar(name, rate, pools, y + 32 * row) for row, (name, rate) in enumerate(rates.items()))
    end = y + 32 * len(rates) - 6
    balanced = balance(pool, pools)
    told = escape(words(left, right, balanced, pools), quote=True)
    size = f'width="{WIDTH}" height="{end + 16}" viewBox="0 0 {WIDTH} {end + 16}" font-size="12" fill="{theme.TEXT}"'
    return (
        f'<svg role="img" aria-label="{told}" {size} style="flex:none">'
        f"{box(left, 0)}{arrow(pools)}{box(right, WIDTH - BOX)}{bars}"
        f'<text y="{end + 10}">{escape(balanced)}</text></svg>'
    )


def box(pool: Pool, x: float) -> str:
    """A pool: a square for each device, those that share every layer in one frame."""
    text = f'<text x="{x}" y="12" font-weight="600">{pool.name}</text>'
    text += f'<text x="{x}" y="27" fill="{theme.MUTED}" {_narrowed(pool.label)}>{escape(pool.label)}</text>'
    frame = f'<rect x="{x + 0.5}" y="{TOP + 0.5}" width="{BOX - 1}" height="{HEIGHT - 1}" rx="5" fill="none" '
    return text + frame + f'stroke="{theme.MUTED}"/>' + devices(pool, x + 6, TOP + 6)


def _narrowed(label: str) -> str:
    """A text that would be wider than its box is set narrower."""
    return f'textLength="{BOX}" lengthAdjust="spacingAndGlyphs"' if len(label) * 7.5 > BOX else ""


def devices(pool: Pool, x: float, y: float) -> str:
    """The squares of a pool's devices, those that share every layer framed; their number where they are too many."""
    wide, high = BOX - 12, HEIGHT - 12
    across = 2 ** math.ceil(math.log2(pool.devices) / 2)
    down = math.ceil(pool.devices / across)
    for square in SQUARES:
        frame_wide, frame_high = across * square + 3, down * square + 3
        columns = wide // (frame_wide + 2)
        if pool.groups <= columns * (high // (frame_high + 1)):
            break
    else:
        middle = f'x="{x + wide / 2}" y="{y + high / 2 + 5}" text-anchor="middle"'
        return f'<text {middle} font-size="15" font-weight="600">{grouped(pool.groups * pool.devices, 12)}</text>'
    drawn = []
    for group in range(int(pool.groups)):
        left, top = x + group % columns * (frame_wide + 2), y + group // columns * (frame_high + 1)
        at = f'x="{left:g}" y="{top:g}" width="{frame_wide:g}" height="{frame_high:g}"'
        drawn.append(f'<rect {at} rx="2" fill="none" stroke="{theme.GRID}"/>')
        for device in range(int(pool.devices)):
            at = f'x="{left + 2.5 + device % across * square:g}" y="{top + 2.5 + device // across * square:g}"'
            drawn.append(f'<rect {at} width="{square - 2}" height="{square - 2}" rx="1.5" fill="{theme.TEXT}"/>')
    return "".join(drawn)


def arrow(pools: Disaggregation) -> str:
    """The link from prefill to decode, with the bytes of a prompt above it and their time below."""
    left, right, y = BOX + 3, WIDTH - BOX - 3, TOP + HEIGHT / 2
    middle = f'x="{WIDTH / 2}" text-anchor="middle" font-size="11"'
    time, busy = "not counted", ""
    if pools.transfer_time:
        time = seconds(pools.transfer_time)
        share = percent(pools.request_rate / pools.link_rate)
        busy = f'<text {middle} fill="{theme.MUTED}" y="{y + 28}">busy {share}</text>'
    return (
        f'<path d="M{left} {y}H{right - 5}" stroke="{theme.TEXT}" stroke-width="1.5"/>'
        f'<path d="M{right} {y}l-8 -4.5v9z"/>'
        f'<text {middle} y="{y - 19}">KV cache</text><text {middle} y="{y - 6}">{si(pools.transfer_bytes, "B")}</text>'
        f'<text {middle} y="{y + 15}">{time}</text>{busy}'
    )


def bar(name: str, rate: float, pools: Disaggregation, y: float) -> str:
    """Requests/s of a pool alone: full where the pair uses it, hollow where it waits."""
    if not math.isfinite(rate):
        return f'<text y="{y}">{name}: nothing to do</text>'
    fastest = max(each for each in (pools.prefill_rate, pools.decode_rate) if math.isfinite(each))
    used, whole = WIDTH * pools.request_rate / fastest, WIDTH * rate / fastest
    note = "the others wait for it" if name == pools.limit else f"busy {percent(pools.request_rate / rate)}"
    text = f'<text y="{y}">{name} {grouped(rate)} requests/s <tspan fill="{theme.MUTED}">· {note}</tspan></text>'
    full = f'<rect y="{y + 5}" width="{used:.1f}" height="9" fill="{theme.TEXT}"/>'
    hollow = f'fill="none" stroke="{theme.MUTED}"'
    waits = f'<rect x="{used:.1f}" y="{y + 5.5}" width="{max(whole - used - 0.5, 0):.1f}" height="8" {hollow}/>'
    return text + full + waits


def balance(pool: PrefillPool, pools: Disaggregation) -> str:
    """How many prefill instances would match the decode pool, or what stands in the way of any."""
    if not pools.prefill_fits:
        return "does not fit on a prefill instance"
    if not math.isfinite(pools.balanced_instances):
        return "An answer of one token is all prefill."
    return f"balanced with {grouped(pools.balanced_instances)} prefill instances, now {grouped(pool.instances, 12)}"


def words(left: Pool, right: Pool, balanced: str, pools: Disaggregation) -> str:
    """The drawing in words."""
    each = "; ".join(f"{pool.name} on {pool.label}, {pool.speed}" for pool in (left, right))
    time = f" in {seconds(pools.transfer_time)}" if pools.transfer_time else ", its time not counted"
    sent = f"{si(pools.transfer_bytes, 'B')} of KV cache a prompt over the link{time}"
    limit = f"{pools.limit} limits the pair to {grouped(pools.request_rate)} requests/s"
    return f"Two pools: {each}; {sent}; {limit}; {balanced}"


class Row(NamedTuple):
    """A line of the table: what it is, for both pools and colocated."""

    name: str
    pools: str
    colocated: str


def table(now: Disaggregation, then: Disaggregation | None = None) -> str:
    """Both pools against the same devices colocated, and beside them what is pinned."""
    names = ["two pools", "colocated", *(["pinned"] if then else [])]
    head = "".join(f'<th scope="col" style="{CELL};color:{theme.MUTED};font-weight:400">{name}</th>' for name in names)
    before = [row.pools for row in rows(then)] if then else []
    lines = []
    for index, row in enumerate(rows(now)):
        cells = [f"<b>{row.pools}</b>", row.colocated, *before[index : index + 1]]
        first = f'<th scope="row" style="text-align:left;font-weight:400;padding:2px 0;background:none">{row.name}</th>'
        others = "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells)
        lines.append(f"<tr>{first}{others}</tr>")
    style = f"border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums;color:{theme.TEXT}"
    foot = f"Colocated: {grouped(now.colocated_devices, 4)} devices {_same(now)}."
    note = f'<caption style="caption-side:bottom;text-align:left;color:{theme.MUTED};padding:3px 0">{foot}</caption>'
    return f'<table style="{style}">{note}<tr><td style="background:none"></td>{head}</tr>{"".join(lines)}</table>'


def _same(now: Disaggregation) -> str:
    if np.isclose(now.colocated_devices, now.devices):
        return "that decode and prefill in turn"
    return "for the same money, that decode and prefill in turn"


def rows(pools: Disaggregation) -> list[Row]:
    """What both are compared by."""
    return [
        Row("TTFT", seconds(pools.ttft), seconds(pools.colocated_ttft)),
        Row("TPOT, as felt", seconds(pools.tpot), seconds(pools.colocated_tpot)),
        Row("requests/s", grouped(pools.request_rate), grouped(pools.colocated_request_rate)),
        each(pools, pools.request_rate, pools.colocated_request_rate),
        *within(pools, pools.goodput, pools.colocated_goodput),
    ]


def within(pools: Disaggregation, ours: Goodput | None, theirs: Goodput | None) -> list[Row]:
    """The lines of what keeps the objectives, if there are any."""
    if ours is None or theirs is None:
        return []
    return [
        Row("within objectives", _rate(ours.request_rate), _rate(theirs.request_rate)),
        Row(
            "· a device", _rate(ours.request_rate / pools.devices), _rate(theirs.request_rate / pools.colocated_devices)
        ),
        Row("· at batch", _rate(ours.batch), _rate(theirs.batch)),
    ]


def each(pools: Disaggregation, ours: float, theirs: float) -> Row:
    """The line of what a device serves of that."""
    return Row("· a device", _rate(ours / pools.devices), _rate(theirs / pools.colocated_devices))


def _rate(rate: float) -> str:
    return grouped(rate) if rate else "none"
