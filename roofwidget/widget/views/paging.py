"""What the memory given to the KV cache holds, under every way to give it out."""

from __future__ import annotations

from html import escape

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.kv_allocation import KVAllocation
from roofwidget.serving.paged_kv import Allotted, Paging, Waste
from roofwidget.units import count, grouped
from roofwidget.widget import theme
from roofwidget.widget.views.figure import heading

ORDER = ("reserved", "power of two", "paged", "exact")
KV = theme.MEMORY_COLOURS["KV cache"]
FILLS = {
    "used": KV,
    "reserved": f"repeating-linear-gradient(45deg, {KV} 0 1.5px, transparent 1.5px 5px)",
    "internal": f"radial-gradient(circle, {theme.BOUND_COLOURS['compute']} 1.2px, transparent 1.7px) 0 0 / 6px 6px",
    "external": f"repeating-linear-gradient(90deg, {theme.MUTED} 0 1px, transparent 1px 5px)",
}
"""Told apart by pattern as well as by colour: full, hatched, dotted, barred."""
WORDS = {
    "used": "holding a token",
    "reserved": "for later tokens of the same answer",
    "internal": "never filled",
    "external": "lost to rounding",
}
OTHERS = theme.GRID
LEAST = 0.0005
"""Shares below are not told: they would read 0.0 %."""
FRAME = f"display:flex;box-sizing:border-box;border:1px solid {theme.MUTED};border-radius:2px;overflow:hidden"
NOTE = f"color:{theme.MUTED};font-variant-numeric:tabular-nums"


class PagingView:
    """Bars as HTML, so that their figures can be read, selected and zoomed."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML()
        self.widget.add_class("rw-view")
        self.widget.add_class("rw-paging")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the bars of these metrics."""
        paging = metrics.paging
        alike = metrics.scenario.workload.lengths.shape == "fixed"
        rows = "".join(_row(kind, paging) for kind in ORDER)
        self.widget.value = (
            heading("Paged KV cache", "· what the memory given to sequences in flight holds")
            + f'<div style="font-size:12px;padding:2px 0 6px">{_legend(alike)}{rows}{_drawing()}</div>'
        )


def _legend(alike: bool) -> str:
    entries = "".join(
        f'<span style="white-space:nowrap">{_swatch(part)} {part}: {words}</span>' for part, words in WORDS.items()
    )
    spread = "" if alike else "<span>slots each, batch and tokens/s: with answers of mean length</span>"
    return f'<div style="display:flex;flex-wrap:wrap;gap:0 12px;{NOTE}">{entries}{spread}</div>'


def _swatch(part: str) -> str:
    box = f"display:inline-block;box-sizing:border-box;width:16px;height:11px;border:1px solid {theme.MUTED}"
    return f'<i style="{box};background:{FILLS[part]}"></i>'


def _row(kind: str, paging: Paging) -> str:
    chosen = kind == paging.allocation.kind
    name = f"<b>{_title(kind, paging.allocation)}</b>" + (" ◀ set" if chosen else "")
    if kind in paging.refused:
        return f'<div style="margin-top:8px">{name}: <span style="{NOTE}">{escape(paging.refused[kind])}</span></div>'
    allotted = paging.kinds[kind]
    figures = f"{count(allotted.tokens, 'slot')} each · {_outcome(allotted)}"
    top = f'<span>{name}</span><span style="margin-left:auto">{figures}</span>'
    outline = f"outline:2px solid {theme.TEXT};outline-offset:1px" if chosen else ""
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:0 10px;margin-top:8px">{top}</div>'
        f'<div role="img" aria-label="{escape(_spoken(kind, allotted, paging))}"'
        f' style="{FRAME};height:16px;margin:2px 0;{outline}">{_bar(allotted.waste)}</div>'
        f'<div style="{NOTE}">{_shares(allotted.waste)}</div>'
    )


def _title(kind: str, allocation: KVAllocation) -> str:
    if kind == "paged":
        return f"paged, blocks of {grouped(allocation.block_size, 12)}"
    if kind == "reserved":
        known = allocation.max_len is None
        return "reserved, length known" if known else f"reserved, {grouped(allocation.max_len or 0, 12)} tokens"
    return "exact, the bound" if kind == "exact" else kind


def _outcome(allotted: Allotted) -> str:
    if not allotted.largest_batch:
        return "<b>not one fits</b>"
    return f"batch <b>{grouped(allotted.largest_batch, 12)}</b> · <b>{grouped(allotted.throughput)}</b> tokens/s"


def _bar(waste: Waste) -> str:
    return "".join(
        f'<span style="width:{100 * share:.2f}%;background:{FILLS[part]}"></span>'
        for part, share in _seen(waste).items()
    )


def _shares(waste: Waste) -> str:
    shares = {part: f"{_percent(share)} {part}" for part, share in _seen(waste).items()}
    shares["used"] = f'<b style="color:{theme.TEXT}">{_percent(waste.used)} effective use</b>'
    return " · ".join(f'<span style="white-space:nowrap">{words}</span>' for words in shares.values())


def _spoken(kind: str, allotted: Allotted, paging: Paging) -> str:
    """A bar's result in words."""
    shares = ", ".join(f"{_percent(share)} {WORDS[part]}" for part, share in _seen(allotted.waste).items())
    fits = f"largest batch {grouped(allotted.largest_batch, 12)}, {grouped(allotted.throughput)} tokens/s"
    return f"{_title(kind, paging.allocation)}: {shares}; {fits}"


def _seen(waste: Waste) -> dict[str, float]:
    """The parts that are more than nothing to the eye."""
    return {part: share for part in FILLS if (share := getattr(waste, part)) >= LEAST}


def _percent(share: float) -> str:
    return f"{grouped(round(100 * share, 1))} %"


def _drawing() -> str:
    """One sequence amid its life in 16 slots: in one piece, and in blocks of 4 beside others'."""
    piece = _cells(["used"] * 6 + ["reserved"] * 2 + ["internal"] * 4 + ["external"] * 4)
    others = [""] * 4
    second, first = ["used"] * 2 + ["reserved"] * 2, ["used"] * 4
    blocks = "".join(
        f'<div style="flex:1">{_cells(cells)}<div style="{NOTE};text-align:center">{name}</div></div>'
        for cells, name in ((second, "block 1"), (others, "another's"), (first, "block 0"), (others, "another's"))
    )
    spoken = "Drawing of a sequence amid its life: in one piece it holds all 16 slots, in blocks of 4 only 8 of them."
    return (
        f'<div role="img" aria-label="{spoken}" style="margin-top:12px;max-width:480px">'
        f'<div style="{NOTE}">16 slots, and a sequence of 6 tokens that will have 8: in one piece, 12 reserved</div>'
        f"{piece}"
        f'<div style="{NOTE};margin-top:5px">in blocks of 4, in any order; its block table says where each is</div>'
        f'<div style="display:flex;gap:5px">{blocks}</div></div>'
    )


def _cells(parts: list[str]) -> str:
    edge = f"border-right:1px solid {theme.MUTED}"
    cells = "".join(f'<span style="flex:1;{edge};background:{FILLS.get(part, OTHERS)}"></span>' for part in parts)
    return f'<div style="{FRAME};height:15px">{cells}</div>'
