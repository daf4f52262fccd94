"""What each technique buys alone, and on top of those before it: two tables."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import NamedTuple

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.serving.together import Bought
from roofwidget.units import grouped, seconds
from roofwidget.widget.views.figure import heading

NOTICED = 0.005
"""Changes that are told, as a share of what they change."""


class Column(NamedTuple):
    """A figure of each row: its head, what it is, how it is written, and whether more of it is better."""

    head: str
    field: str
    more_is_better: bool

    def written(self, row: Bought) -> str:
        """The figure as it is shown."""
        value = getattr(row, self.field)
        if value is None or (self.field == "throughput" and not value):
            return "–"
        if self.field in ("ttft", "tpot", "felt_tpot"):
            return seconds(value)
        return (
            f"${grouped(value)}" if self.field == "usd" else grouped(value, 12 if self.field == "largest_batch" else 4)
        )

    def changed(self, row: Bought, before: Bought) -> str:
        """How many times better or worse than it was, by an arrow up or down; nothing where it is about the same."""
        now, then = getattr(row, self.field), getattr(before, self.field)
        if not now or not then or abs(now / then - 1) < NOTICED:
            return "<small></small>"
        better = (now > then) == self.more_is_better
        mark, colour = ("▲", "var(--rw-communication)") if better else ("▼", "var(--rw-compute)")
        words = "better" if better else "worse"
        times = grouped(max(now / then, then / now))
        return f'<small style="color:{colour}" title="{times} times {words}">{mark} {times} ×</small>'


COLUMNS = (
    Column("TTFT", "ttft", False),
    Column("TPOT", "tpot", False),
    Column("as felt", "felt_tpot", False),
    Column("largest batch", "largest_batch", True),
    Column("tokens/s", "throughput", True),
    Column("$ a million", "usd", False),
)


class TogetherView:
    """Rows of techniques; each figure with what it was multiplied by."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML()
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-together")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Write the tables of these metrics."""
        shown, batch = metrics.together, grouped(metrics.scenario.workload.batch, 12)
        note = (
            f"· ▲ so many times better, ▼ worse · TPOT at batch {batch}, as felt with the stalls of others’ prefills · "
            "tokens/s and price of output tokens with memory full, prefill counted"
        )
        alone = [row(shown.none, shown.none), *(row(technique, shown.none) for technique in shown.alone)]
        below = [shown.none, *shown.stacked]
        stacked = [row(shown.none, shown.none), *(row(technique, under) for under, technique in pairwise(below))]
        tables = table("alone", alone) + table("stacked, in order", [*stacked, row(shown.now, shown.now, last=True)])
        self.widget.value = heading("What each technique buys", note) + f'<div class="rw-tables">{tables}</div>'


def table(title: str, rows: list[str]) -> str:
    """A table of rows under the heads of all columns."""
    heads = "".join(f'<th scope="col">{escape(column.head)}</th>' for column in COLUMNS)
    caption = f'<th scope="col">{escape(title)}</th>'
    return f'<div class="rw-scroll"><table><tr>{caption}{heads}</tr>{"".join(rows)}</table></div>'


def row(bought: Bought, before: Bought, *, last: bool = False) -> str:
    """The figures of a scenario, each beside what it was in another one."""
    cells = "".join(f"<td>{column.written(bought)}{column.changed(bought, before)}</td>" for column in COLUMNS)
    kind = ' class="rw-now"' if last else ""
    setting = f" <i>{escape(bought.setting)}</i>" if bought.setting else ""
    return f'<tr{kind}><th scope="row">{escape(bought.name)}{setting}</th>{cells}</tr>'
