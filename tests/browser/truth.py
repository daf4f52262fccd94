"""Whether what is on screen, numbers and drawings, is what `infer` answers for the model's parameters.

Numbers are read back as a person would read them, drawings through the ticks of their axes.
"""

from __future__ import annotations

import math
import re
from typing import Any

from plot import Dot, Plot
from screen import Screen, Timing

BOUNDS = ("memory", "compute", "communication")
PREFIXES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "%": 0.01}
NUMBER = r"-?[\d,]+(?:\.\d+)?"
NEAR = 1.0
"""Pixels."""

Answer = dict[str, Any]


def assert_screen_is_true(screen: Screen) -> None:
    answer = screen.answer()
    assert_verdict(screen.verdict, answer)
    assert_tiles(screen.tiles(), answer)
    assert_timings(screen.timings(), answer)
    assert_roofline(screen.plot("roofline"), answer)
    assert_batch_curve(screen.plot("curve"), answer)
    assert_memory(screen.plot("memory"), answer)


def says(text: str, truth: float, unit: str = "", digits: int = 3) -> bool:
    """Whether a text such as "42.2 ms" is the truth rounded: to the digits it has, and to at least `digits`."""
    match = re.fullmatch(rf"({NUMBER})\s?(.?){re.escape(unit)}", text)
    if match is None or match[2] not in PREFIXES:
        return False
    shown = float(match[1].replace(",", ""))
    last_shown = 10.0 ** -len(match[1].partition(".")[2])
    last_asked = 10.0 ** (math.floor(math.log10(abs(shown))) - digits + 1) if shown else math.inf
    return abs(shown - truth / PREFIXES[match[2]]) <= 0.5001 * min(last_shown, last_asked)


def assert_verdict(verdict: str, answer: Answer) -> None:
    inputs, outputs, memory = answer["inputs"], answer["outputs"], answer["outputs"]["memory"]
    bound, speed, users, fit, prefill_bound, ttft, kept, lacking = re.fullmatch(
        rf"Decode is (\w+)-bound: ({NUMBER}) tokens/s(?: for each of ({NUMBER}) users)?\. (.*) "
        r"Prefill is (\w+)-bound: first token after (.*?s)\."
        r"(?: (.*objectives.*?\.))?(?: No (\w+) peak of .* compute in 16 bits\.)?",
        verdict,
    ).groups()
    assert (bound, prefill_bound) == (outputs["bottleneck"]["decode"], outputs["bottleneck"]["prefill"])
    assert says(speed, outputs["decode_tokens_per_s_per_user"])
    assert users == (f"{inputs['batch']:,}" if inputs["batch"] > 1 else None)
    assert says(ttft, outputs["ttft_ms"] / 1e3, "s")
    assert lacking == (inputs["compute"] if outputs["computes_in"] != inputs["compute"] else None)
    promised = outputs["objectives"]
    if promised is None or not promised["largest_batch"]:
        assert kept == (None if promised is None else "No batch keeps the objectives.")
    else:
        batch, requests = re.fullmatch(rf"Up to a batch of (.*) keeps the objectives: ({NUMBER}) .*", kept).groups()
        assert batch == f"{promised['largest_batch']:,}"
        assert says(requests, promised["requests_per_s"])
    if inputs["disaggregated"]:
        fit, more = re.fullmatch(
            rf"(.*) Prefill has ({NUMBER}) devices? more(?:, which do not hold it)?\.", fit
        ).groups()
        assert more == f"{inputs['prefill_pool'] * (inputs['prefill_devices'] or inputs['devices']):,}"
    if memory["fits"]:
        devices = f"{inputs['devices']:,} device{'s' if inputs['devices'] > 1 else ''}"
        assert fit == f"It fits on {devices} with room for a batch of {memory['largest_batch']:,}."
        return
    total, usable, would = re.fullmatch(
        r"(.*) does not fit in the (.*) usable(?: on each device)?: (.*)\.", fit
    ).groups()
    assert says(total, memory["total_gb"] * 1e9, "B", 4)
    assert says(usable, memory["usable_gb"] * 1e9, "B", 4)
    if memory["devices_needed"]:
        assert would.startswith(f"{memory['devices_needed']:,} device")


def assert_tiles(tiles: list[list[str]], answer: Answer) -> None:
    inputs, outputs, memory = answer["inputs"], answer["outputs"], answer["outputs"]["memory"]
    ttft, tpot, decode, prefill, kv, held, batch, bound = (f"{value} {unit}".strip() for _, value, unit, _ in tiles)
    prompt, whole_answer, mbu, mfu, _, fits, _, intensities = (note for *_, note in tiles)
    assert says(ttft, outputs["ttft_ms"] / 1e3, "s")
    assert says(tpot, outputs["tpot_ms"] / 1e3, "s")
    assert says(decode, outputs["decode_tokens_per_s"], " tok/s")
    assert says(prefill, outputs["prefill_tokens_per_s"], " tok/s")
    assert says(kv, memory["kv_bytes_per_token"], " B", 12)
    total, usable = held.split(" of ")
    assert says(total, memory["total_gb"], digits=4)
    assert says(usable, memory["usable_gb"], " GB", 4)
    assert batch == f"{memory['largest_batch']:,}"
    assert bound == outputs["bottleneck"]["decode"]

    cached = (outputs["techniques"]["prefix_caching"] or {}).get("cached_tokens")
    assert prompt == f"prompt of {inputs['seq_len']:,}" + (f", {cached:,} cached" if cached else "")
    if inputs["speculation"]:
        tokens, time = whole_answer.split(" tokens a round of ")
        assert says(tokens, outputs["tokens_per_step"])
        assert says(time, outputs["tpot_ms"] * outputs["tokens_per_step"] / 1e3, "s")
    elif inputs["output_tokens"] > 1:
        tokens, time = whole_answer.split("-token answer in ")
        assert tokens == f"{inputs['output_tokens']:,}"
        assert says(time, outputs["e2e_ms"] / 1e3, "s")
    mbu, *served = mbu.split(", ")
    assert says(mbu.removeprefix("MBU "), outputs["mbu"]["decode"], digits=2)
    whole = inputs["output_tokens"] > 1
    if whole:
        assert says(served.pop(0), outputs["requests_per_s"], " requests/s")
    usd = outputs["cost"][f"usd_per_million_{'served' if whole else 'output'}_tokens"]
    price = "".join(served).removeprefix("$")
    assert price == "" if usd is None else says(price.removesuffix(" a million"), usd)
    assert says(mfu.removeprefix("MFU "), outputs["mfu"]["prefill"], digits=2)
    assert (fits == "fits") is memory["fits"]
    intensity, ridge = intensities.split(", ridge ")
    assert says(intensity, outputs["arithmetic_intensity"]["decode"], " FLOP/B")
    assert says(ridge, outputs["ridge_point"], digits=4)


def assert_timings(timings: list[Timing], answer: Answer) -> None:
    outputs, nodes = answer["outputs"], answer["nodes"]
    rows = [(phase, node) for phase in ("decode", "prefill") for node in nodes[phase]]
    assert [(row.phase, row.node) for row in timings] == [(phase, node["name"]) for phase, node in rows]
    step = outputs["tpot_ms"] * outputs["tokens_per_step"]
    whole = {"decode": step / 1e3, "prefill": outputs["ttft_ms"] / 1e3}
    for row, (phase, node) in zip(timings, rows, strict=True):
        assert says(row.whole, whole[phase], "s"), row
        assert says(row.time, node["time_ms"] / 1e3, "s"), row
        assert says(row.share, node["share"], digits=2), row
        assert row.bound == node["bound"]
        assert abs(row.bar - node["share"]) < 0.03, row


def assert_roofline(roofline: Plot, answer: Answer) -> None:
    bandwidth, ridge = answer["inputs"]["hbm_bw_gbs"] / 1e3, answer["outputs"]["ridge_point"]
    sixteen_bits, peak, computes_in = (
        answer["inputs"]["peak_tflops"],
        ridge * bandwidth,
        answer["outputs"]["computes_in"],
    )
    if computes_in in ("bf16", "fp16"):
        assert abs(peak / sixteen_bits - 1) < 1e-9
    left, corner, right = roofline.line("text")
    assert near(corner, roofline.place(ridge, peak))
    assert on_slope(roofline, left, bandwidth)
    assert abs(left[0] - roofline.frame.left) < NEAR
    assert near(right, (roofline.frame.right, corner[1]))
    slope, at_ridge, flat = map(spot, roofline.handles)
    assert on_slope(roofline, slope, bandwidth)
    assert slope[0] < corner[0]
    assert near(at_ridge, corner)
    assert abs(flat[1] - corner[1]) < NEAR
    assert corner[0] < flat[0] < right[0]
    assert {says(text, bandwidth * 1e3, " GB/s", 4) for text, _ in roofline.labels if text.endswith(" GB/s")} == {True}
    roofs = dict(text.rpartition(": ")[::2] for text, _ in roofline.labels if text.endswith(" TFLOP/s"))
    assert says(roofs.get(computes_in) or roofs[""], peak, " TFLOP/s", 4)
    if computes_in in roofs:
        assert says(roofs["16 bits"], sixteen_bits, " TFLOP/s", 4)
    assert_dots(roofline.dots, roofline, answer)


def assert_dots(dots: list[Dot], roofline: Plot, answer: Answer) -> None:
    """A circle for each node of decode and a triangle for each of prefill, unless it computes nothing."""
    shapes = {"decode": "circle", "prefill": "triangle"}
    nodes = [(shapes[phase], node) for phase in shapes for node in answer["nodes"][phase] if node["flops"]]
    assert [(dot.shape, dot.name) for dot in dots] == [(shape, node["name"]) for shape, node in nodes]
    for dot, (_, node) in zip(dots, nodes, strict=True):
        achieved = node["flops"] / node["time_ms"] * 1e3 / 1e12
        assert near(spot(dot), roofline.place(node["arithmetic_intensity"], achieved)), dot


def assert_batch_curve(curve: Plot, answer: Answer) -> None:
    points, here = answer["batch_curve"], answer["inputs"]["batch"]
    (handle,) = map(spot, curve.handles)
    assert near(handle, curve.place(here, answer["outputs"]["decode_tokens_per_s"]))
    assert {round(x) for x, _ in curve.line("text")} == {round(curve.axes["x"].place(here))}
    for place, point in zip(curve.line("user"), points, strict=True):
        assert near(place, curve.place(point["batch"], point["decode_tokens_per_s_per_user"], "right")), point
    drawn = [place for bound in BOUNDS for line in curve.lines_of(bound) for place in line]
    for point in points:
        assert any(near(place, curve.place(point["batch"], point["decode_tokens_per_s"])) for place in drawn), point
    full = min(x for x, _ in curve.area("muted"))
    promised = answer["outputs"]["objectives"]
    kept = curve.axes["x"].place(promised["largest_batch"] or 1e-9) if promised else None
    failing = min(x for x, _ in curve.area("objective"))
    edge = curve.frame.right if kept is None else max(kept, curve.frame.left)
    assert abs(failing - edge) < NEAR
    wall = answer["outputs"]["memory"]["largest_batch"]
    assert abs(full - max(curve.axes["x"].place(wall) if wall else 0, curve.frame.left)) < NEAR


def assert_memory(memory: Plot, answer: Answer) -> None:
    """The areas at batch 1, where none reaches beyond the axis."""
    first, weights = answer["batch_curve"][0], answer["outputs"]["memory"]["weights_gb"]
    x = memory.axes["x"].place(first["batch"])
    tops = {
        part: min(y for at, y in memory.area(part) if abs(at - x) < NEAR) for part in ("weights", "activations", "kv")
    }
    assert abs(tops["weights"] - memory.axes["y"].place(weights)) < NEAR
    assert abs(tops["kv"] - memory.axes["y"].place(first["memory_gb"])) < NEAR
    assert tops["kv"] <= tops["activations"] <= tops["weights"]
    usable, cursor = memory.lines_of("text")
    assert {round(y) for _, y in usable} == {round(memory.axes["y"].place(answer["outputs"]["memory"]["usable_gb"]))}
    assert {round(x) for x, _ in cursor} == {round(memory.axes["x"].place(answer["inputs"]["batch"]))}


def spot(dot: Dot) -> tuple[float, float]:
    return dot.x, dot.y


def near(place: tuple[float, float], other: tuple[float, float]) -> bool:
    return abs(place[0] - other[0]) < NEAR and abs(place[1] - other[1]) < NEAR


def on_slope(roofline: Plot, place: tuple[float, float], bandwidth: float) -> bool:
    intensity, _ = roofline.value(*place)
    return abs(place[1] - roofline.axes["y"].place(intensity * bandwidth)) < NEAR
