"""The slots of a batch over time: the holes that static batches leave, and that continuous batching closes."""

from __future__ import annotations

from functools import lru_cache

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.lengths import Lengths
from roofwidget.serving.continuous_batching import Timeline, place
from roofwidget.units import count, grouped, percent
from roofwidget.widget import theme
from roofwidget.widget.views.figure import heading

MOST_SLOTS = 8
ROUNDS = 3
"""Static batches drawn, one after the other."""
FURTHER_ROUNDS = 29
"""Batches' worth of requests behind them, for continuous batching to go on with: more than fit into the figure."""
SEED = 5
"""One draw that is typical of every shape; always the same, so that a change of the picture is one of the scenario."""
HATCH = f"repeating-linear-gradient(135deg, {theme.MUTED} 0 1px, transparent 1px 6px)"
EDGE = f"stroke:{theme.SURFACE};stroke-width:1.5px"
PALE = f"color-mix(in srgb, {theme.USER} 35%, {theme.SURFACE})"
KEPT = 'vector-effect="non-scaling-stroke"'


class SlotsView:
    """Two panels as HTML, one row a slot and one bar an answer, on the same time axis."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML()
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-slots")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw what an example of these metrics' answers does to the slots."""
        workload, in_use = metrics.scenario.workload, metrics.scenario.continuous
        slots = int(min(MOST_SLOTS, float(metrics.scenario.replica_batch)))
        static, continuous = example(workload.lengths, float(workload.output_tokens), slots)
        answers, span = ROUNDS * slots, static.steps
        title = (
            f"· {count(answers, 'answer')} on {count(slots, 'slot')}, a row each; hatched where a slot makes nothing"
        )
        self.widget.value = (
            heading("Continuous batching", title)
            + panel("Static batches", static, answers, span, not in_use)
            + panel("Continuous batching", continuous, answers, span, in_use)
            + axis(span)
            + foot(metrics)
        )


@lru_cache(maxsize=16)
def example(lengths: Lengths, mean: float, slots: int) -> tuple[Timeline, Timeline]:
    """Some answers in static batches; the same, and more behind them, with continuous batching."""
    drawn = lengths.draw(mean, (ROUNDS + FURTHER_ROUNDS) * slots, SEED)
    return place(drawn[: ROUNDS * slots], slots, continuous=False), place(drawn, slots, continuous=True)


def panel(name: str, timeline: Timeline, answers: int, span: int, in_use: bool) -> str:
    """One way to batch: what it comes to in words, and its slots over `span` steps."""
    steps, used = timeline.steps_of(answers), percent(timeline.occupancy_until(span))
    words = f"{count(answers, 'answer')} in {count(steps, 'step')}, {used} of the slots’ steps used"
    later = "; pale: the next answers, already under way" if steps < span else ""
    mark = " (in use)" if in_use else ""
    return (
        f'<div style="font-size:12px;margin:6px 0 2px"><b>{name}</b>{mark}: {words}'
        f'<span style="color:{theme.MUTED}">{later}</span></div>'
        f'<div role="img" aria-label="{name}: {words}" style="background:{HATCH}">'
        f'<svg viewBox="0 0 {span} {timeline.slots}" preserveAspectRatio="none" '
        f'style="display:block;width:100%;height:{13 * timeline.slots}px">'
        f'<path d="{outline(timeline, answers, span)}" style="fill:{PALE};{EDGE}" {KEPT}/>'
        f'<g style="fill:{theme.USER};{EDGE}">{bars(timeline, answers)}</g></svg></div>'
    )


def bars(timeline: Timeline, answers: int) -> str:
    """A bar for each of the first answers, which tells its length."""
    return "".join(
        f'<rect x="{start}" y="{slot}" width="{end - start}" height="1" {KEPT}>'
        f"<title>answer {i + 1}: {count(end - start, 'token')}</title></rect>"
        for i, (slot, start, end) in enumerate(timeline.rows()[:answers])
    )


def outline(timeline: Timeline, answers: int, span: int) -> str:
    """One path around all answers behind the first that start within the figure."""
    return "".join(
        f"M{start} {slot}H{min(end, span)}v1H{start}z" for slot, start, end in timeline.rows()[answers:] if start < span
    )


def axis(span: int) -> str:
    """The time axis of both panels."""
    style = f"display:flex;justify-content:space-between;font-size:11px;color:{theme.MUTED};margin-top:2px"
    return f'<div style="{style}" aria-hidden="true"><span>0</span><span>{count(span, "step")} →</span></div>'


def foot(metrics: Metrics) -> str:
    """What the scenario itself comes to, which has other slots than are drawn."""
    share, batch = percent(metrics.batching.occupancy_static), count(metrics.scenario.replica_batch, "slot")
    gain = f"{grouped(metrics.batching.gain)}\u00a0×\u00a0the requests/s"
    words = f"In the long run, with the {batch} of this batch: static {share} used, continuous 100 %, which is {gain}."
    return f'<div style="font-size:12px;margin-top:2px">{words}</div>'
