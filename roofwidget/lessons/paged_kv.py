"""Paged KV cache: what blocks buy against one piece of memory for each sequence, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator

from roofwidget.evaluate import Metrics
from roofwidget.kv_allocation import KVAllocation
from roofwidget.serving.paged_kv import KERNEL_OVERHEAD, Allotted, Paging
from roofwidget.step import Step
from roofwidget.units import count, grouped, percent

PAPER = "Kwon et al. 2023, “PagedAttention”"


def lesson(metrics: Metrics) -> str:
    """What a paged KV cache buys in a scenario of plain numbers, what it costs, and when it stops paying."""
    paging = metrics.paging
    if not metrics.kv_bytes_per_token:
        return "No layer here keeps keys and values of each token: there is nothing to page."
    if "paged" in paging.refused:
        return f"Blocks do not suit these sequences: {paging.refused['paged']}."
    paged, piece = paging.kinds["paged"], paging.kinds[paging.contiguous]
    if not paged.largest_batch:
        return "Not one sequence fits here, however memory is given out."
    return " ".join((_buys(paging, paged, piece), _costs(paged), _stops(paging, paged, piece)))


def _buys(paging: Paging, paged: Allotted, piece: Allotted) -> str:
    blocks = (
        f"In blocks of {count(paging.allocation.block_size, 'token')} {count(paged.largest_batch, 'sequence')} can run"
    )
    alone = f"in one piece of {count(piece.tokens, 'slot')} each"
    if not piece.largest_batch:
        return f"{blocks}; {alone} not one can."
    if paging.batch_gain == 1:
        return f"{blocks}, and no fewer {alone}: it buys nothing here."
    return (
        f"{blocks}, {alone} {grouped(piece.largest_batch, 12)}: {grouped(paging.batch_gain or 1)} × the batch, "
        f"{grouped(paging.throughput_gain or 1)} × the tokens/s "
        f"({grouped(paged.throughput)} against {grouped(piece.throughput)})."
    )


def _costs(paged: Allotted) -> str:
    low, high = (grouped(100 * share) for share in KERNEL_OVERHEAD)
    return (
        f"It costs {grouped(paged.empty, 2)} empty slots a sequence and look-ups in a block table: attention took "
        f"{low}–{high} % longer in the paper's kernel, here up to {percent(paged.slowdown - 1)} of a decode step."
    )


def _stops(paging: Paging, paged: Allotted, piece: Allotted) -> str:
    if paging.throughput_gain is not None and piece.bound == "compute":
        return "It has stopped paying: decode is compute-bound without it already, and more sequences only wait longer."
    if paging.throughput_gain is not None and paging.throughput_gain <= paged.slowdown:
        return "With such a kernel it would not pay here: the look-ups cost as much as the batch brings, or more."
    if paged.bound == "compute":
        return "It stops paying before that batch is full, where decode turns compute-bound: more sequences only wait."
    return (
        f"It pays less the more of a step is attention, {percent(paged.attention_share)} here, as each sequence has "
        "its own KV cache to read, and stops where decode is compute-bound or answers fill what is reserved."
    )


def steps(metrics: Metrics) -> Iterator[Step]:
    """Derivations of the figures of a paged KV cache; for a scenario of plain numbers."""
    paging, workload = metrics.paging, metrics.scenario.workload
    prompt, output = grouped(workload.seq_len, 12), grouped(workload.output_tokens, 12)
    for kind, allotted in paging.kinds.items():
        formula, figures, source = _given(kind, paging.allocation, prompt, output)
        yield Step(f"slots of a sequence, {kind}", formula, figures, count(allotted.tokens, "slot"), source)
    for kind, allotted in paging.kinds.items():
        name, given = f"effective use, {kind}", allotted.waste.given
        figures = f"{grouped(allotted.waste.used * given, 4)} / {grouped(given, 4)}, averaged over sequences in flight"
        result = f"{grouped(100 * allotted.waste.used)} %"
        yield Step(name, "slots that hold a token / slots given", figures, result, f"{PAPER}, §3.1")
    if paging.batch_gain is not None and paging.throughput_gain is not None:
        paged, piece = paging.kinds["paged"], paging.kinds[paging.contiguous]
        formula = f"largest batch paged / largest batch {paging.contiguous}"
        figures = f"{grouped(paged.largest_batch, 12)} / {grouped(piece.largest_batch, 12)}"
        yield Step(
            "batch that blocks buy", formula, figures, f"{grouped(paging.batch_gain)} ×", f"{PAPER}, §6.2, fig. 13"
        )
        formula = "throughput at the one batch / throughput at the other, each its batch / its decode step"
        figures = f"{grouped(paged.throughput, 4)} / {grouped(piece.throughput, 4)} tokens/s"
        yield Step("throughput that blocks buy", formula, figures, f"{grouped(paging.throughput_gain)} ×", "arithmetic")


def _given(kind: str, allocation: KVAllocation, prompt: str, output: str) -> tuple[str, str, str]:
    """The formula of the slots a sequence has at its end, the figures put in, and the source."""
    context = f"{prompt} + {output} − 1"
    if kind == "exact":
        return "prompt + output − 1", context, "all but the last token are fed back"
    if kind == "paged":
        block = grouped(allocation.block_size, 12)
        return "block · ⌈(prompt + output − 1) / block⌉", f"{block} · ⌈({context}) / {block}⌉", f"{PAPER}, §4.2"
    if kind == "power of two":
        formula = "next power of two of (prompt + next power of two of output)"
        return formula, f"{prompt}, {output}", f"{PAPER}, §6.1, Orca (Pow2)"
    if allocation.max_len is None:
        return "next power of two of (prompt + output − 1)", context, f"{PAPER}, §6.1, Orca (Oracle)"
    return "next power of two of max_len", grouped(allocation.max_len, 12), f"{PAPER}, §6.1, Orca (Max)"
