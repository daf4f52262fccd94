"""A plain table, one row a measured point: CSV, DataFrame or dicts.

Columns are called as the fields of a `Measurement`, or as in NAMES; times may say their unit: `ttft_ms`, `itl_us`.
"""

from __future__ import annotations

from roofwidget.measurements.measurement import NUMBERS, RATES, TIMES, Measurement
from roofwidget.measurements.record import MeasurementError, Record
from roofwidget.measurements.tools import tool

UNITS = {"": 1.0, "_s": 1.0, "_ms": 1e-3, "_us": 1e-6}
NAMES = {
    "itl": ("itl", "tpot"),
    "e2e": ("e2e", "e2e_latency"),
    "prompt_tokens": ("prompt_tokens", "input_tokens", "input_len", "isl", "seq_len"),
    "output_tokens": ("output_tokens", "output_len", "osl"),
    "batch": ("batch", "batch_size"),
    "concurrency": ("concurrency", "max_concurrency"),
    "devices": ("devices", "tp", "tensor_parallel_size"),
    "accelerator": ("accelerator", "gpu", "device"),
}
"""What else columns are called."""


def _times(name: str) -> dict[str, float]:
    """Columns that a time may stand in, and what a value there is in seconds."""
    return {f"{each}{unit}": scale for each in NAMES.get(name, (name,)) for unit, scale in UNITS.items()}


FIGURES = (
    *(column for name in TIMES for column in _times(name)),
    *(each for name in RATES for each in NAMES.get(name, (name,))),
)


@tool("a table", some=FIGURES)
def row(record: Record) -> Measurement:
    """A row; columns of other names are left alone."""
    figures: dict[str, float | None] = {}
    for name in NUMBERS:
        columns = _times(name) if name in TIMES else dict.fromkeys(NAMES.get(name, (name,)), 1.0)
        there = [column for column in columns if column in record]
        if len(there) > 1:
            raise MeasurementError(f"{record.place}: {there[0]} and {there[1]} say the same twice: one must go")
        zero = name.endswith("_tokens")
        for column in there:
            if name == "request_rate":
                figures[name] = record.rate(column)
            else:
                figures[name] = record.number(column, scale=columns[column], zero=zero)
    return Measurement(
        tool=record.text("tool") or "a table",
        label=record.text("label") or "",
        model=record.text("model"),
        accelerator=record.text(*NAMES["accelerator"]),
        engine=record.text("engine"),
        **figures,
    )
