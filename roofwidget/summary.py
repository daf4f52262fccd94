"""A scenario's result as plain text and as static HTML, for places that run no widgets."""

from __future__ import annotations

from html import escape

from roofwidget.evaluate import Metrics
from roofwidget.units import grouped, seconds, si
from roofwidget.verdict import plain, verdict


def rows(metrics: Metrics) -> list[tuple[str, str]]:
    """Names and values of the headline numbers."""
    memory = metrics.memory
    return [
        ("time to first token", seconds(metrics.ttft)),
        ("time per output token", seconds(metrics.tpot)),
        ("end-to-end latency", seconds(metrics.e2e)),
        ("decode throughput", f"{grouped(metrics.decode_throughput)} tokens/s"),
        ("prefill throughput", f"{grouped(metrics.prefill_throughput)} tokens/s"),
        ("KV cache per token", f"{grouped(metrics.kv_bytes_per_token, 12)} B"),
        ("memory on each device", f"{si(memory.total, 'B', 4)} of {si(memory.usable, 'B', 4)} usable"),
        ("largest batch", grouped(metrics.largest_batch, 12)),
        ("ridge point", f"{grouped(metrics.ridge, 4)} FLOP/B"),
    ]


def summary_text(metrics: Metrics) -> str:
    """The verdict and the headline numbers, a line each."""
    width = max(len(name) for name, _ in rows(metrics))
    return "\n".join([plain(verdict(metrics)), *(f"  {name:<{width}}  {value}" for name, value in rows(metrics))])


def summary_html(metrics: Metrics) -> str:
    """The verdict and a table of the headline numbers."""
    table = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in rows(metrics)
    )
    return f"<p><strong>{escape(plain(verdict(metrics)))}</strong></p><table>{table}</table>"
