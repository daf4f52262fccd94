"""NVIDIA: `profile_export_genai_perf.json` of GenAI-Perf and `profile_export_aiperf.json` of AIPerf, which followed it.

Each metric says its unit (docs/reference/json-export-schema.md: "unit is authoritative"), ns in GenAI-Perf's first
versions and ms since; what is taken is its `avg`. What AIPerf's `inter_token_latency` is, others call TPOT.
"""

from __future__ import annotations

from roofwidget.measurements.measurement import Measurement, streamed
from roofwidget.measurements.record import Record
from roofwidget.measurements.tools import tool
from roofwidget.measurements.vllm import engine

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
PLACES = (("loadgen",), ("perf_analyzer", "stimulus"), ("phases", "profiling"), ())
"""Where versions keep the load in `input_config`."""


@tool("AIPerf", "request_latency", "request_throughput", "aiperf_version")
def aiperf(record: Record) -> Measurement:
    """A run of AIPerf."""
    return _run(record, "AIPerf")


@tool("GenAI-Perf", "request_latency", "request_throughput")
def genai_perf(record: Record) -> Measurement:
    """A run of GenAI-Perf, or an AIPerf export without its version."""
    return _run(record, "AIPerf" if "schema_version" in record else "GenAI-Perf")


def _run(record: Record, tool_name: str) -> Measurement:
    config = record.inner("input_config")
    endpoint = config.inner("endpoint") if isinstance(config.fields.get("endpoint"), dict) else config
    output_tokens = _average(record, "output_sequence_length", "num_output_token")
    e2e = _time(record, "request_latency")
    ttft = streamed(_time(record, "time_to_first_token"), e2e, output_tokens)
    return Measurement(
        tool=tool_name,
        label=record.inner("run_info").text("run_label") or "",
        model=config.text("model", "model_names") or endpoint.text("model_names"),
        engine=engine(config.text("backend")),
        prompt_tokens=_average(record, "input_sequence_length", "num_input_token"),
        output_tokens=output_tokens,
        concurrency=_load(config, "concurrency"),
        request_rate=_load(config, "request_rate"),
        requests=_average(record, "request_count"),
        ttft=None if endpoint.fields.get("streaming") is False else ttft,
        itl=_time(record, "inter_token_latency"),
        e2e=e2e,
        request_throughput=_average(record, "request_throughput"),
        output_throughput=_average(record, "output_token_throughput"),
    )


def _average(record: Record, *names: str) -> float | None:
    """The mean of the first of these metrics that is there; None of what was not measured."""
    name = next((name for name in names if name in record), None)
    return None if name is None else record.inner(name).measured("avg")


def _time(record: Record, name: str) -> float | None:
    """The mean of a time, s."""
    if name not in record:
        return None
    metric = record.inner(name)
    unit = metric.fields.get("unit")
    if not isinstance(unit, str) or unit not in SECONDS:
        raise metric.fault("unit", f"one of {', '.join(SECONDS)}", unit)
    return metric.measured("avg", scale=SECONDS[unit])


def _load(config: Record, name: str) -> float | None:
    """Concurrency or request rate, a number or a list of one, from where the version keeps it."""
    for path in PLACES:
        at = config
        for step in path:
            at = at.inner(step) if isinstance(at.fields.get(step), dict) else Record({}, config.place)
        value = at.fields.get(name)
        if isinstance(value, list) and len(value) == 1:
            at = Record({name: value[0]}, at.place, at.path)
        if name in at:
            return at.rate(name)
    return None
