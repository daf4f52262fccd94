"""Measurement: what someone measured of a server, or of a model on a device."""

from __future__ import annotations

from dataclasses import dataclass

from roofwidget.validation import POSITIVE, Allowed, ParameterError, shown

TOKENS = Allowed(zero=True)
"""Of a test of prefill alone there are no output tokens, of one of decode alone perhaps no prompt."""
TIMES = ("ttft", "itl", "e2e")
RATES = ("request_throughput", "output_throughput", "prefill_throughput")
NUMBERS = {
    "devices": POSITIVE, "prompt_tokens": TOKENS, "cached_tokens": TOKENS, "output_tokens": TOKENS,
    "batch": POSITIVE, "concurrency": POSITIVE, "request_rate": POSITIVE, "requests": POSITIVE,
} | dict.fromkeys(TIMES + RATES, POSITIVE)  # fmt: skip
TEXTS = ("tool", "label", "model", "accelerator", "engine")
SLACK = 1.01
"""How far a part, in the mean, may be above its whole: tools round, and take both apart."""


@dataclass(frozen=True)
class Measurement:
    """One measured point; None where the file says nothing.

    Parameters
    ----------
    tool
        That measured it, such as "vLLM bench serve".
    label
        Of this result: the name of its run, test or file.
    model, accelerator, engine
        As the file names them; a catalog may call them otherwise.
    devices
        That hold one copy of the model between them.
    prompt_tokens, output_tokens
        Of a request, in the mean. What is in the KV cache beforehand belongs to the prompt.
    cached_tokens
        Of a prompt that were in the KV cache before the clock ran.
    batch
        Sequences of a static batch, all of which begin together and are computed together.
    concurrency
        Requests that a client keeps under way: a closed loop; with `request_rate`, the most that it lets be.
    request_rate
        Offered, requests/s: an open loop. None where all requests were sent at once.
    requests
        That were answered.
    ttft
        Time to first token, s, with what time the request waited in the server.
    itl
        Mean time of an output token after the first, s: TPOT where the tool gives it, else the latency between tokens.
    e2e
        From a request's sending to its last token, s; of a static batch, for all of it.
    request_throughput
        Requests/s.
    output_throughput
        Output tokens/s of all requests, over the whole run, prefill included.
    prefill_throughput
        Prompt tokens/s while nothing but prompts is computed.

    Raises
    ------
    ParameterError
        If a value cannot be, or none says how fast anything was.
    """

    tool: str
    label: str = ""
    model: str | None = None
    accelerator: str | None = None
    engine: str | None = None
    devices: float | None = None
    prompt_tokens: float | None = None
    cached_tokens: float | None = None
    output_tokens: float | None = None
    batch: float | None = None
    concurrency: float | None = None
    request_rate: float | None = None
    requests: float | None = None
    ttft: float | None = None
    itl: float | None = None
    e2e: float | None = None
    request_throughput: float | None = None
    output_throughput: float | None = None
    prefill_throughput: float | None = None

    def __post_init__(self) -> None:
        faults = {}
        for name in TEXTS:
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("tool", "label")):
                faults[name] = f"{name} must be a text, not {shown(value)}"
        for name, rule in NUMBERS.items():
            value = getattr(self, name)
            if value is None:
                continue
            if sentence := rule.fault(name, value):
                faults[name] = sentence
            else:
                object.__setattr__(self, name, float(value))
        if faults:
            raise ParameterError(faults)
        self._check_together()

    def _check_together(self) -> None:
        if all(getattr(self, name) is None for name in TIMES + RATES):
            raise ParameterError({"ttft": f"it says nothing of speed: one of {', '.join(TIMES + RATES)} must be there"})
        if self.ttft is not None and self.e2e is not None and self.ttft > self.e2e * SLACK:
            raise ParameterError(
                {"e2e": f"a whole request takes {self.e2e:.6g} s and its first token alone {self.ttft:.6g} s"}
            )
        if self.cached_tokens is not None and self.cached_tokens > (self.prompt_tokens or 0) * SLACK:
            raise ParameterError(
                {"cached_tokens": f"cached_tokens ({self.cached_tokens:g}) are part of prompt_tokens, not more than it"}
            )


def streamed(ttft: float | None, e2e: float | None, output_tokens: float | None) -> float | None:
    """The TTFT, s, unless the answer came whole: clients without streaming write the whole time for it."""
    whole = ttft is not None and e2e is not None and abs(ttft - e2e) <= 1e-3 * e2e
    return None if whole and (output_tokens is None or output_tokens > 1) else ttft
