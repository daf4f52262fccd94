"""vLLM: `vllm bench serve`, `bench latency` and `bench throughput`, and the scripts they were before.

Fields and units are those of vllm/benchmarks/{serve,latency,throughput}.py. Times of `serve` are ms; those of
`latency` and `throughput` are s, and those two files say neither the batch nor the lengths: `read` can be told.
"""

from __future__ import annotations

from roofwidget.measurements.measurement import Measurement, streamed
from roofwidget.measurements.record import MeasurementError, Record, plain_number
from roofwidget.measurements.tools import tool

ENGINES = {
    "vllm": "vLLM", "sglang": "SGLang", "tgi": "TGI", "lmdeploy": "LMDeploy", "tensorrt-llm": "TensorRT-LLM",
    "tensorrtllm": "TensorRT-LLM", "trt": "TensorRT-LLM", "deepspeed-mii": "DeepSpeed-MII", "llama.cpp": "llama.cpp",
}  # fmt: skip
"""Backends that are an engine; others ("openai-chat") are a protocol that any speaks."""


def engine(backend: str | None) -> str | None:
    """The engine that a client's backend says it spoke to, as "sglang-oai-chat"; None where it says a protocol."""
    return next(
        (ENGINES[name] for name in sorted(ENGINES, key=len, reverse=True) if (backend or "").startswith(name)), None
    )


def answered(record: Record) -> float:
    """How many requests were answered.

    Raises
    ------
    MeasurementError
        If none was: no mean is of anything.
    """
    completed = record.number("completed", zero=True)
    if not completed:
        raise MeasurementError(f"{record.place}: no request was answered (completed is {completed or 0:g})")
    return completed


def a_request(tokens: float | None, requests: float) -> float | None:
    """Tokens of a request, in the mean."""
    return None if tokens is None else tokens / requests


@tool("vLLM bench serve", "duration", "completed", "total_input_tokens", "request_throughput")
def serve(record: Record) -> Measurement:
    """Requests from a client; with `--metadata gpu=… tp=…` the file says the device too."""
    if "ramp_up_strategy" in record:
        raise MeasurementError(f"{record.place}: request_rate was ramped up, so its means are of no one load")
    requests = answered(record)
    output_tokens = a_request(record.measured("total_output_tokens"), requests)
    e2e, device = record.measured("mean_e2el_ms", scale=1e-3), record.text("gpu", "accelerator")  # or how many: gpu=4
    return Measurement(
        tool="vLLM bench serve",
        label=record.text("label") or "",
        model=record.text("model_id"),
        accelerator=device if plain_number(device) is None else None,
        engine=engine(record.text("backend", "endpoint_type")),
        devices=record.number("tp", "tensor_parallel_size"),
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


@tool("vLLM bench latency", "avg_latency", "latencies", "percentiles")
def latency(record: Record) -> Measurement:
    """One static batch, again and again."""
    return Measurement(tool="vLLM bench latency", engine="vLLM", e2e=record.number("avg_latency"))


@tool("vLLM bench throughput", "elapsed_time", "num_requests", "requests_per_second", "tokens_per_second")
def throughput(record: Record) -> Measurement:
    """All requests at once, offline. Its tokens/s count prompts and outputs together, and are left out."""
    return Measurement(
        tool="vLLM bench throughput",
        engine="vLLM",
        requests=record.number("num_requests"),
        request_throughput=record.number("requests_per_second"),
    )
