"""The verdict in words, and the tiles of headline numbers under it."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.roofline.capacity import DEFAULT_ENGINE
from roofwidget.units import count, grouped, percent, seconds, si
from roofwidget.verdict import verdict
from roofwidget.widget import theme


class Tile(NamedTuple):
    """One headline number."""

    label: str
    value: str
    unit: str
    note: str
    bar: str = ""
    pinned: str = ""


class VerdictView:
    """The verdict, read out by screen readers whenever it changes."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML()
        self.widget.add_class("rw-verdict")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Say what limits this scenario."""
        words = "".join(
            f'<span class="rw-{word.bound}-words">{escape(word.text)}</span>' if word.bound else escape(word.text)
            for word in verdict(metrics)
        )
        self.widget.value = f'<div role="status" aria-live="polite">{words}</div>'


class TilesView:
    """Eight tiles."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML()

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Write the tiles of these metrics."""
        shown = tiles(metrics)
        if pinned is not None:
            shown = [
                now._replace(pinned=f"pinned: {then.value} {then.unit}")
                for now, then in zip(shown, tiles(pinned), strict=True)
            ]
        self.widget.value = f'<div class="rw-tiles">{"".join(map(_html, shown))}</div>'


def tiles(metrics: Metrics) -> list[Tile]:
    """The headline numbers, as they are shown."""
    workload, memory = metrics.scenario.workload, metrics.memory
    ttft, ttft_unit = seconds(metrics.ttft).split(" ")
    tpot, tpot_unit = seconds(metrics.tpot).split(" ")
    answer = f"{grouped(workload.output_tokens, 12)}-token answer in {seconds(metrics.e2e)}"
    answer = answer if workload.output_tokens > 1 else "after the prompt"
    engine = DEFAULT_ENGINE.split(" ")[0]
    final = f"of {grouped(workload.final_context, 12)} tokens; {engine} {grouped(metrics.engine_batch, 12)}"
    bound = metrics.decode.bound_name
    return [
        Tile("time to first token", ttft, ttft_unit, f"prompt of {grouped(workload.seq_len, 12)}{_cached(metrics)}"),
        Tile("time per output token", tpot, tpot_unit, _round(metrics) or answer),
        Tile(
            "decode, all users",
            grouped(metrics.decode_throughput),
            "tok/s",
            f"MBU {percent(metrics.mbu(metrics.decode))}{_served(metrics)}",
        ),
        Tile("prefill", grouped(metrics.prefill_throughput), "tok/s", f"MFU {percent(metrics.mfu(metrics.prefill))}"),
        Tile(
            "KV per token", grouped(metrics.kv_bytes_per_token, 12), "B", f"{si(memory.kv_cache, 'B')} on each device"
        ),
        Tile(
            "memory a device",
            grouped(memory.total / 1e9, 4),
            f"of {grouped(memory.usable / 1e9, 4)} GB",
            "fits" if memory.fits else f"does not fit: {_needed(metrics)}",
            _memory_bar(metrics),
        ),
        Tile("largest batch", grouped(metrics.largest_batch, 12), "", final),
        Tile(
            "decode bound", bound, "", f"{grouped(metrics.decode.intensity)} FLOP/B, ridge {grouped(metrics.ridge, 4)}"
        ),
    ]


def _served(metrics: Metrics) -> str:
    """Requests/s, and the price of output tokens with their prompts' prefill; of a bare step its own price."""
    whole = metrics.scenario.workload.output_tokens > 1
    usd = metrics.usd_per_million_served_tokens if whole else metrics.usd_per_million_output_tokens
    price = "" if usd is None else f", ${grouped(usd)} a million"
    return f", {grouped(metrics.request_rate)} requests/s{price}" if whole else price


def _cached(metrics: Metrics) -> str:
    cached = metrics.scenario.prefix.cached
    return f", {grouped(cached, 12)} cached" if cached else ""


def _round(metrics: Metrics) -> str:
    """What a step gives where that is not one token; nothing where it is."""
    tokens = metrics.scenario.tokens_per_step
    return "" if tokens == 1 else f"{grouped(tokens)} tokens a round of {seconds(metrics.decode.time)}"


def _needed(metrics: Metrics) -> str:
    return f"needs {count(metrics.devices_needed, 'device')}" if metrics.devices_needed else "nor on more devices alone"


def _html(tile: Tile) -> str:
    value = f"<b>{escape(tile.value)}</b> <i>{escape(tile.unit)}</i>"
    note = "".join(f"<small>{escape(line)}</small>" for line in (tile.note, tile.pinned) if line)
    return f'<div class="rw-tile"><small>{escape(tile.label)}</small>{value}{tile.bar}{note}</div>'


def _memory_bar(metrics: Metrics) -> str:
    memory = metrics.memory
    parts = {"weights": memory.weights, "KV cache": memory.kv_cache, "activations": memory.activations}
    whole = max(float(memory.usable), float(memory.total))
    spans = "".join(
        f'<span style="width:{100 * float(part) / whole:.2f}%;background:{theme.MEMORY_COLOURS[name]}"></span>'
        for name, part in parts.items()
    )
    return f'<div class="rw-bar" aria-hidden="true">{spans}</div>'
