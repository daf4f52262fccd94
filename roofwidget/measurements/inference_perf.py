"""inference-perf of Kubernetes: `stage_N_lifecycle_metrics.json`, one load each, and `summary_lifecycle_metrics.json`.

Fields are those of its README.md and docs/reports.md; times are s. A stage is an open loop at its requested rate;
replays of sessions write 0 for it. The files name neither model nor device: `read` can be told.
"""

from __future__ import annotations

from roofwidget.measurements.measurement import Measurement, streamed
from roofwidget.measurements.record import MeasurementError, Record
from roofwidget.measurements.tools import tool


@tool("inference-perf", "successes")
def stage(record: Record) -> Measurement:
    """The requests of one stage that were answered."""
    successes = record.inner("successes")
    latency, throughput = successes.inner("latency"), successes.inner("throughput")
    requests = successes.number("count", zero=True)
    if requests == 0:
        raise MeasurementError(f"{record.place}: no request was answered (successes.count is 0)")
    output_tokens = _mean(successes, "output_len")
    e2e, cached = _mean(latency, "request_latency"), successes.inner("prompt_tokens").measured("cached")
    return Measurement(
        tool="inference-perf",
        prompt_tokens=_mean(successes, "prompt_tokens") or _mean(successes, "prompt_len"),
        cached_tokens=cached / requests if cached and requests else None,
        output_tokens=output_tokens,
        request_rate=record.inner("load_summary").rate("requested_rate"),
        requests=requests,
        ttft=streamed(_mean(latency, "time_to_first_token"), e2e, output_tokens),
        itl=_mean(latency, "time_per_output_token") or _mean(latency, "inter_token_latency"),
        e2e=e2e,
        request_throughput=throughput.measured("requests_per_sec"),
        output_throughput=throughput.measured("output_tokens_per_sec"),
    )


def _mean(record: Record, name: str) -> float | None:
    """The mean of a distribution; None where the report has none."""
    return record.inner(name).measured("mean")
