"""What speculative decoding buys here, what it costs, and when it stops paying."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from roofwidget.architecture.feed_forward import Experts
from roofwidget.evaluate import Metrics
from roofwidget.roofline.timing import BOUNDS
from roofwidget.serving.speculative_decoding import SpeculationFigures, improvement, verifying
from roofwidget.step import Step
from roofwidget.units import count, grouped, percent, seconds

LEVIATHAN = "Leviathan et al. 2023, “Fast Inference from Transformers via Speculative Decoding”"
SEQUOIA = "Chen et al. 2024, “Sequoia”, §3.1"
DRAFTERS = {
    "draft model": f"{LEVIATHAN}, §2",
    "Medusa": "Cai et al. 2024, “Medusa”, §2.1",
    "EAGLE": "Li et al. 2024, “EAGLE”, §3.1",
    "EAGLE-2": "Li et al. 2024, “EAGLE-2”, §4",
    "EAGLE-3": "Li et al. 2025, “EAGLE-3”, §3.1",
    "MTP": "DeepSeek-V3, 2024, §2.2",
}
"""Who says what each drafter is."""
SPOKEN = {"draft model": "a draft model", "n-gram": "n-grams"}
"""Methods as a sentence names them, where that is not their name."""


FEWER = "How many are accepted hangs on method and task: of n-grams mostly fewer than of a trained drafter."


def lesson(metrics: Metrics) -> str:
    """Say what it buys, costs and needs, with the numbers of this scenario."""
    figures, drafts = metrics.speculation, metrics.scenario.speculation
    if figures is None or drafts is None:
        name, offered = "speculative decoding", metrics.together
        with_it = next(of for of in offered.alone if of.name == name)
        return (
            "Nothing drafts tokens. A drafter lets one pass verify several of them, which costs little while decode "
            f"waits for memory and much once it computes: with {with_it.setting} a token would take "
            f"{seconds(with_it.tpot)} instead of {seconds(offered.none.tpot)} in 16 bits."
        )
    gain = f"{grouped(figures.speedup)} × the speed" if figures.speedup > 1 else f"{grouped(figures.speedup)} ×, a loss"
    buys = (
        f"A round with {SPOKEN.get(drafts.method, drafts.method)} gives {grouped(figures.tokens_per_step)} tokens in "
        f"{seconds(figures.verify_time + figures.draft_time)}, where a plain step gives one in "
        f"{seconds(figures.plain_tpot)}: {gain}."
    )
    told = f"{buys} {cost(metrics, figures)} {limit(metrics, figures)}"
    return f"{told} {FEWER}" if drafts.method == "n-gram" else told


def cost(metrics: Metrics, figures: SpeculationFigures) -> str:
    """Say what a round takes beyond a plain step, and in memory."""
    drafting, drafts = metrics.scenario.drafting, metrics.scenario.speculation
    assert drafts is not None
    times = grouped(figures.verify_time / figures.plain_tpot)
    extra = f"verifying {count(drafts.verified, 'token')} of each sequence takes {times} × a step of one"
    if drafting is None:
        return f"It costs no drafter; {extra}."
    own = f"{grouped(drafting.drafter.own_params / 1e9)} billion parameters more in memory"
    return f"It costs {seconds(figures.draft_time)} of drafting a round and {own}; {extra}."


def limit(metrics: Metrics, figures: SpeculationFigures) -> str:
    """Say where it stops paying, why it is so here, and where it lives again."""
    ends = figures.largest_paying_batch
    if np.isinf(ends):
        where = "It pays at all batches shown"
    elif ends:
        where = f"It stops paying beyond batch {grouped(ends, 3)}"
    else:
        where = "It pays at no batch shown"
    if figures.break_even is None:
        return f"{where}; here no acceptance would do. {reason(metrics, figures)}"
    return f"{where}; here it needs {percent(figures.break_even)} of drafts accepted. {reason(metrics, figures)}"


def reason(metrics: Metrics, figures: SpeculationFigures) -> str:
    """Say what makes verification dear or cheap here."""
    verify, decode, batch = verifying(metrics.decode), metrics.decode, float(metrics.scenario.workload.batch)
    computing = verify & (decode.node_bounds == BOUNDS.index("compute"))
    cached = sum(float(node.kv_bytes) for node, is_verify in zip(decode.nodes, verify, strict=True) if is_verify)
    if decode.node_times[computing].sum() > figures.verify_time / 2:
        dear = "Verification is compute-bound: every drafted token costs as much as a real one"
        if figures.context_speedup[-1] < 1.1 * figures.speedup:
            return f"{dear}."
        return f"{dear}. Longer contexts bring it back: their KV cache is read once for all drafts of a sequence."
    best_batch = float(figures.batch[int(figures.batch_speedup.argmax())])
    if any(isinstance(block.ffn, Experts) for block in metrics.scenario.model.blocks) and 2 * batch < best_batch:
        return (
            "Drafted tokens go to experts that would not have been read; it gains most near batch "
            f"{grouped(best_batch, 2)}, where nearly all are read anyway."
        )
    if cached > decode.bytes[verify].sum() / 2:
        return (
            f"{percent(cached / decode.bytes[verify].sum())} of what verification reads is KV cache, once for all "
            "drafts of a sequence: long contexts keep it alive at large batches."
        )
    return f"At batch {grouped(batch, 12)} verification mostly waits for weights, which it reads once for all drafts."


def steps(metrics: Metrics) -> Iterator[Step]:
    """How its figures were made; nothing where it is off."""
    figures, scenario = metrics.speculation, metrics.scenario
    drafts, drafting = scenario.speculation, scenario.drafting
    if figures is None or drafts is None:
        return
    alpha, depth = grouped(drafts.acceptance, 6), grouped(drafts.tokens, 12)
    tau = f"{grouped(figures.tokens_per_step, 4)} tokens"
    if drafts.tree_tokens is None:
        figure = f"(1 − {alpha}^({depth} + 1)) / (1 − {alpha})"
        yield Step("tokens of a round", "(1 − αᵏ⁺¹) / (1 − α)", figure, tau, f"{LEVIATHAN}, eq. 1")
    else:
        formula = "Σ over the tree’s nodes of Π along the path of α·(1 − α)ⁱ⁻¹, i the place among candidates; best tree"
        figure = f"α {alpha}, {grouped(drafts.tree_tokens, 12)} tokens, at most {depth} deep"
        yield Step("tokens of a round", formula, figure, tau, SEQUOIA)
    if drafting is not None:
        drafter = drafting.drafter
        figure = f"{grouped(drafter.passes, 12)} · a pass of {count(drafter.tokens, 'token')} of each sequence"
        yield Step(
            "drafts of a round",
            "passes · Σ over the drafter’s nodes of their times",
            figure,
            seconds(figures.draft_time),
            DRAFTERS[drafts.method],
        )
        figure = f"{seconds(figures.draft_time)} / {grouped(drafter.passes, 12)} / {seconds(figures.plain_tpot)}"
        formula = "c = time of a drafter’s pass / time of a plain decode step"
        yield Step("cost of a draft", formula, figure, grouped(figures.cost), f"{LEVIATHAN}, definition 3.7")
    formula = "Σ over the model’s nodes of their times, with k + 1 (a tree: its size + 1) tokens of each sequence"
    figure = f"{count(drafts.verified, 'token')} of each sequence"
    yield Step("verification", formula, figure, seconds(figures.verify_time), f"{LEVIATHAN}, §2.3")
    yield Step(
        "speed-up",
        "plain decode step · tokens of a round / (drafts + verification)",
        f"{seconds(figures.plain_tpot)} · {grouped(figures.tokens_per_step, 4)} / "
        f"({seconds(figures.draft_time)} + {seconds(figures.verify_time)})",
        f"{grouped(figures.speedup)} ×",
        "definition",
    )
    if drafts.tree_tokens is None:
        yield Step(
            "speed-up if verifying took a plain step",
            "(1 − αᵏ⁺¹) / ((1 − α)·(k·c + 1))",
            f"α {alpha}, k {depth}, c {grouped(figures.cost)}",
            f"{grouped(improvement(drafts.acceptance, drafts.tokens, figures.cost))} ×",
            f"{LEVIATHAN}, theorem 3.8",
        )
    needed = "none would do" if figures.break_even is None else percent(figures.break_even)
    figure = f"{grouped((figures.draft_time + figures.verify_time) / figures.plain_tpot, 4)} tokens are needed"
    formula = "the α whose tokens of a round are (drafts + verification) / plain decode step"
    yield Step("break-even acceptance", formula, figure, needed, "solved by bisection")
