"""What continuous batching buys here, what it costs, and when it stops paying."""

from __future__ import annotations

from collections.abc import Iterator

from roofwidget.evaluate import Metrics
from roofwidget.step import Step
from roofwidget.units import count, grouped, percent, seconds
from roofwidget.validation import Numbers

ORCA = "Yu et al. 2022, “Orca”, OSDI, §3"
ORDER = "David and Nagaraja 2003, “Order Statistics”, §3.1"
LONGEST = {
    "fixed": ("the mean, as all are alike", "definition"),
    "uniform": ("N − Σ from k = 1 to N − 1 of (k / N)ⁿ, N = 2 · mean − 1", ORDER),
    "geometric": (
        "Σ over k ≥ 0 of 1 − (1 − (1 − 1 / mean)ᵏ)ⁿ",
        "Eisenberg 2008, “On the expectation of the maximum of IID geometric random variables”",
    ),
    "lognormal": ("1 + (mean − 1) · ∫ x dF(x)ⁿ, F lognormal of mean 1", ORDER),
}
LISTED = ("1 + (mean − 1) · ∫ x dF(x)ⁿ, F of the listed tokens after the first over their mean", ORDER)
"""How the longest of n answers is expected, by shape, and who says so."""


def lesson(metrics: Metrics) -> str:
    """Say what it buys, costs and needs, with the numbers of this scenario."""
    figures, batch = metrics.batching, metrics.scenario.replica_batch
    mean, longest = metrics.scenario.workload.output_tokens, figures.steps_static + 1
    if batch == 1:
        return "With one sequence on a replica no answer waits for another: continuous batching changes nothing."
    if metrics.scenario.workload.lengths.variation(mean) == 0:
        return (
            f"All answers have {count(mean, 'token')}: a static batch ends together and leaves no slot empty, so that "
            "continuous batching gains nothing while requests queue. It pays once output lengths differ."
        )
    return (
        f"Static batches wait for their longest answer, {grouped(longest)} tokens where the mean is "
        f"{grouped(mean, 12)}, and use {percent(figures.occupancy_static)} of their slots: continuous batching serves "
        f"{rates(metrics)} and spares the shortest answer a wait of {seconds(figures.shortest_wait)}. {cost(metrics)} "
        "It stops paying where lengths are alike, the batch is small or prefill takes most of the time."
    )


def rates(metrics: Metrics) -> str:
    """Requests/s both ways."""
    figures = metrics.batching
    static, continuous = grouped(figures.static_requests_per_s), grouped(figures.continuous_requests_per_s)
    return f"{continuous} requests/s instead of {static} ({grouped(figures.gain)} ×)"


def cost(metrics: Metrics) -> str:
    """What steady decoding it costs: a sequence ends, and the next one's prefill comes between two steps."""
    if metrics.scenario.prefill_pool is not None:
        return "It costs a scheduler that forms the batch anew at every step."
    between = max(1.0, float(metrics.batching.steps_continuous / metrics.scenario.replica_batch))
    often = "every step" if between < 1.5 else f"every {count(round(between), 'step')}"
    return f"It costs steadiness: about {often} a newcomer’s prefill of {seconds(metrics.ttft)} holds up the others."


def steps(metrics: Metrics) -> Iterator[Step]:
    """How the figures of both ways were made."""
    figures, scenario, workload = metrics.batching, metrics.scenario, metrics.scenario.workload
    mean, batch, longest = workload.output_tokens, scenario.replica_batch, figures.steps_static + 1
    shape = workload.lengths.shape
    shortest = workload.lengths.shortest(mean, batch)
    formula, source = LONGEST.get(shape, LISTED) if isinstance(shape, str) else LISTED
    put_in = f"n = {grouped(batch, 12)}, mean {grouped(mean, 12)}"
    yield Step("longest answer of a static batch", formula, put_in, f"{grouped(longest, 4)} tokens", source)
    yield Step(
        "static batch’s slots used",
        "mean / longest",
        f"{grouped(mean, 12)} / {grouped(longest, 4)}",
        percent(figures.occupancy_static),
        ORCA,
    )
    static = (figures.steps_static, figures.tpot_static, figures.static_requests_per_s)
    continuous = (figures.steps_continuous, figures.tpot_continuous, figures.continuous_requests_per_s)
    yield requests(metrics, "static batches", "longest", *static)
    yield requests(metrics, "continuous batching", "mean", *continuous)
    yield Step(
        "gain of continuous batching",
        "its requests/s / those of static batches",
        f"{grouped(figures.continuous_requests_per_s)} / {grouped(figures.static_requests_per_s)}",
        grouped(figures.gain),
        ORCA,
    )
    yield Step(
        "wait of a static batch’s shortest answer",
        "(longest − shortest) · TPOT",
        f"({grouped(longest, 4)} − {grouped(shortest, 4)}) · {seconds(figures.tpot_static)}",
        seconds(figures.shortest_wait),
        ORCA,
    )


def requests(metrics: Metrics, name: str, length: str, steps: Numbers, tpot: Numbers, rate: Numbers) -> Step:
    """How requests/s were made: of the pool that the other waits for, where each has its own."""
    scenario = metrics.scenario
    decode = f"{grouped(steps, 4)} · {seconds(tpot)}"
    batch, replicas = grouped(scenario.workload.batch, 12), grouped(scenario.data_parallel, 12)
    formula = f"replicas / (TTFT · fullest stage's share + ({length} − 1) · TPOT · replicas / batch)"
    prefill = f"{seconds(metrics.ttft)} · {grouped(scenario.stage_share, 4)}"
    put_in = f"{replicas} / ({prefill} + {decode} · {replicas} / {batch})"
    if scenario.prefill_pool is not None:
        formula = f"batch / (({length} − 1) · TPOT), at most what the prefill pool and the link let through"
        put_in = f"{batch} / ({decode})"
    return Step(f"requests/s of {name}", formula, put_in, f"{grouped(rate)} requests/s", ORCA)
