"""llama.cpp: what `llama-bench` prints, as JSON, JSONL, CSV (`-o`) or the Markdown table that it shows.

Fields and units are those of tools/llama-bench/README.md: `avg_ns` in ns, `avg_ts` and `t/s` in tokens/s. Its tests
are of one sequence; `n_batch` is how many tokens of a prompt it computes at once, not a batch of sequences.
"""

from __future__ import annotations

import re

from roofwidget.measurements.measurement import Measurement
from roofwidget.measurements.record import MeasurementError, Record
from roofwidget.measurements.tools import tool

TEST = re.compile(r"(?:pp ?(?P<prompt>\d{1,9}))?\+?(?:tg ?(?P<output>\d{1,9}))?(?: ?@ ?d ?(?P<depth>\d{1,9}))?")
"""As the table names tests: pp512, tg 128, pp512+tg128, tg128 @ d512."""


@tool("llama-bench", "n_prompt", "n_gen", "avg_ts")
def row(record: Record) -> Measurement:
    """A test of JSON, JSONL or CSV."""
    prompt, output = record.number("n_prompt", zero=True) or 0.0, record.number("n_gen", zero=True) or 0.0
    return _test(
        record,
        (prompt, output, record.number("n_depth", zero=True) or 0.0),
        rate=record.number("avg_ts"),
        seconds=record.number("avg_ns", scale=1e-9),
        model=record.text("model_type", "model_filename"),
        accelerator=record.text("gpu_info") or record.text("cpu_info"),
    )


@tool("llama-bench", "model", "test", "t/s")
def line(record: Record) -> Measurement:
    """A line of the table, whose t/s is "132.19 ± 0.55"; it names the backend (CUDA) and not the device."""
    name = record.text("test") or ""
    found = TEST.fullmatch(name)
    if not name or found is None:
        raise record.fault("test", "a test such as pp512, tg128 or tg128 @ d512", name)
    sizes = [float(found[part] or 0) for part in ("prompt", "output", "depth")]
    speed = (record.text("t/s") or "").partition("±")[0].strip()
    rate = Record({"t/s": speed}, record.place).number("t/s")
    return _test(record, (sizes[0], sizes[1], sizes[2]), rate, None, record.text("model"), None)


def _test(
    record: Record,
    sizes: tuple[float, float, float],
    rate: float | None,
    seconds: float | None,
    model: str | None,
    accelerator: str | None,
) -> Measurement:
    """Of a prompt, an output or both, with so many tokens in the cache already, at `rate` tokens/s."""
    prompt, output, depth = sizes
    if prompt + output == 0:
        raise MeasurementError(f"{record.place}: a test must have n_prompt or n_gen above 0")
    if rate is not None and seconds is None:
        seconds = (prompt + output) / rate
    names = [f"{kind}{size:.0f}" for kind, size in (("pp", prompt), ("tg", output)) if size]
    return Measurement(
        tool="llama-bench",
        label="+".join(names) + (f" @ d{depth:.0f}" if depth else ""),
        model=model,
        accelerator=accelerator,
        engine="llama.cpp",
        prompt_tokens=depth + prompt,
        cached_tokens=depth or None,
        output_tokens=output,
        batch=1.0,
        ttft=None if output else seconds,
        itl=seconds / output if seconds and not prompt else None,
        e2e=seconds if prompt and output else None,
        output_throughput=output / seconds if seconds and output else None,
        prefill_throughput=None if output else rate,
    )
