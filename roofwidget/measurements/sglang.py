"""SGLang: JSONL of `sglang.bench_serving`, `bench_one_batch` and `bench_one_batch_server`.

Fields and units are those of python/sglang/bench_serving.py (ms) and bench_one_batch.py (s).
"""

from __future__ import annotations

from roofwidget.measurements.measurement import Measurement, streamed
from roofwidget.measurements.record import Record
from roofwidget.measurements.tools import tool
from roofwidget.measurements.vllm import a_request, answered, engine


@tool(
    "SGLang bench_serving",
    "duration", "completed", "total_input_tokens", "total_output_tokens", "total_output_tokens_retokenized",
)  # fmt: skip
def serving(record: Record) -> Measurement:
    """Requests from a client. Early files have medians alone, which are no means and are left out."""
    requests, info = answered(record), record.fields.get("server_info")
    server = Record(info if isinstance(info, dict) else {}, record.place, "server_info.")  # of other servers anything
    output_tokens = a_request(record.measured("total_output_tokens"), requests)
    e2e = record.measured("mean_e2e_latency_ms", scale=1e-3)
    return Measurement(
        tool="SGLang bench_serving",
        label=record.text("tag") or "",
        model=server.text("model_path", "served_model_name"),
        engine=engine(record.text("backend")),
        devices=_devices(server),
        prompt_tokens=a_request(record.number("total_input_tokens", zero=True), requests),
        output_tokens=output_tokens,
        concurrency=record.number("max_concurrency"),
        request_rate=record.rate("request_rate"),
        requests=requests,
        ttft=streamed(record.measured("mean_ttft_ms", scale=1e-3), e2e, output_tokens),
        itl=record.measured("mean_tpot_ms", scale=1e-3) or record.measured("mean_itl_ms", scale=1e-3),
        e2e=e2e,
        request_throughput=record.number("request_throughput"),
        output_throughput=record.measured("output_throughput"),
    )


def _devices(server: Record) -> float | None:
    """Of one copy of the model: those of tensor parallelism, times the stages of a pipeline."""
    tensor = server.number("tp_size")
    return None if tensor is None else tensor * (server.number("pp_size") or 1.0)


@tool("SGLang bench_one_batch", "batch_size", "input_len", "output_len", "prefill_latency", "total_latency")
def one_batch(record: Record) -> Measurement:
    """One static batch without a server. The time of a step is a median, which is all that the file has."""
    return _static(record, "SGLang bench_one_batch", "prefill_latency", "median_decode_latency", "total_latency")


@tool("SGLang bench_one_batch_server", "batch_size", "input_len", "output_len", "last_ttft", "latency")
def one_batch_server(record: Record) -> Measurement:
    """One batch sent to a server; the TTFT is that of the last of it to begin."""
    return _static(record, "SGLang bench_one_batch_server", "last_ttft", "tpot", "latency")


def _static(record: Record, tool_name: str, first: str, step: str, whole: str) -> Measurement:
    batch, output = record.number("batch_size"), record.number("output_len")
    prompt, ttft, e2e = record.number("input_len"), record.number(first), record.number(whole)
    itl = record.measured(step)
    if itl is None and ttft and e2e and output and output > 1 and e2e > ttft:
        itl = (e2e - ttft) / (output - 1)
    return Measurement(
        tool=tool_name,
        label=record.text("run_name") or "",
        model=record.text("model_path"),
        engine="SGLang",
        prompt_tokens=prompt,
        output_tokens=output,
        batch=batch,
        ttft=ttft,
        itl=itl,
        e2e=e2e,
        output_throughput=batch * output / e2e if batch and output and e2e else None,
        prefill_throughput=record.number("prefill_throughput", "input_throughput"),
    )
