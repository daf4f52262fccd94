"""A server under a steady stream of requests: how long they take, and how many it has at once.

Prompts are prefilled in steps that decode the others too (chunked prefill). Everything hangs on one number,
the prompts m that come while a step lasts, so the states of a server are a curve over it. On it a step
decodes m · (steps of an answer) sequences: Little's law. Requests come independently of each other, so
that no prompt at all has come for exp(−m) of the steps, and those for which some have carry all of them.
A rate, or a number of requests at once, is then looked up on the curve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from roofwidget.roofline.memory import largest_batch
from roofwidget.roofline.mixed import mixed_step
from roofwidget.scenario import Scenario
from roofwidget.validation import POSITIVE, Allowed, Numbers, ParameterError, anywhere

Floats = NDArray[np.float64]

STEP_TOKENS = 2048.0
"""Tokens of a step at most, unless told: what vLLM's servers take on most devices (`max_num_batched_tokens`)."""
ROUNDS = 5.0
"""Requests of a user in a run, unless told: what fits TTFT in the tables of benchmarks/data; runs have 5 to 10."""
POINTS = 128
"""Points of the curve; between them it is straight."""
FEWEST = 0.05
"""Sequences at once at the second point of the curve; at the first there are none."""


@dataclass(frozen=True)
class SteadyState:
    """A server in its steady state; s, sequences and requests/s.

    Parameters
    ----------
    request_rate
        Requests/s that come, and are served.
    ttft, itl, e2e
        Mean time to first token, inter-token latency and end-to-end latency.
    concurrency
        Requests that are there at once.
    utilization
        Share of the time in which the server has something to do.
    stable
        Whether it can keep up; where not, times are infinite.
    """

    request_rate: float
    ttft: float
    itl: float
    e2e: float
    concurrency: float
    utilization: float
    stable: bool = True


def steady_state(
    scenario: Scenario,
    request_rate: float | None = None,
    concurrency: float | None = None,
    step_tokens: float = STEP_TOKENS,
    rounds: float = ROUNDS,
) -> SteadyState:
    """The steady state of a scenario of plain numbers, whose batch is not looked at.

    Requests that come faster than they can be served, or that do not fit in memory together, are not stable.
    Where so many are always there, a request finds the others as it would find them if they came at random
    (arrival theorem, Reiser and Lavenberg 1980, "Mean-Value Analysis", §3); those that do not fit wait.

    Parameters
    ----------
    scenario
        What is served on what; all replicas of it share the requests evenly.
    request_rate, concurrency
        Requests/s that come, or requests that are always there; one of the two.
    step_tokens
        Tokens that one step takes at most.
    rounds
        Requests that each of `concurrency` users sends one after another, all of them starting together, over
        which TTFT is the mean; infinite: what it is in the long run.

    Raises
    ------
    ParameterError
        If not just one of rate and concurrency is given, one is not positive, or the scenario has a part that this
        does not know: a prefill pool, or a pipeline.

    Examples
    --------
    >>> from roofwidget import Scenario, Workload, steady_state
    >>> state = steady_state(Scenario("H100 SXM", "Llama 3.1 8B", workload=Workload(512, 128)), request_rate=8)
    >>> f"{1e3 * state.itl:.1f} ms, {state.concurrency:.1f} at once"
    '4.7 ms, 4.9 at once'
    """
    check(scenario, step_tokens, rounds, {"request_rate": request_rate, "concurrency": concurrency})
    replicas = float(scenario.data_parallel)
    curve = load_curve(scenario, step_tokens)
    if curve.most < 1:
        return SteadyState(request_rate or 0.0, *NEVER, concurrency or np.inf, 1.0, stable=False)
    if request_rate is not None:
        return under_rate(curve, float(request_rate), replicas)
    assert concurrency is not None
    state = with_concurrency(curve, float(concurrency), replicas)
    return started_together(state, scenario, step_tokens, rounds, curve.most)


NEVER = (np.inf, np.inf, np.inf)


def under_rate(curve: LoadCurve, rate: float, replicas: float) -> SteadyState:
    """The state in which requests leave as fast as they come."""
    m = curve.at(curve.rate, rate / replicas)
    ttft, itl, e2e = NEVER if m is None else curve.times(m)
    if rate * e2e > curve.most * replicas:
        return SteadyState(rate, *NEVER, np.inf, 1.0, stable=False)
    return SteadyState(rate, ttft, itl, e2e, rate * e2e, 1.0 - float(np.exp(-rate / replicas * e2e)))


def with_concurrency(curve: LoadCurve, concurrency: float, replicas: float) -> SteadyState:
    """The state in which a request that leaves is followed by another; those that do not fit wait before they start."""
    running = min(concurrency / replicas, curve.most, float(curve.there.max()) + 1)
    m = curve.at(curve.there, max(running - 1, 0.0))
    assert m is not None
    ttft, itl, e2e = curve.times(m)
    waited = (concurrency / replicas / running - 1) * e2e
    return SteadyState(concurrency / (waited + e2e), waited + ttft, itl, waited + e2e, concurrency, 1.0)


def started_together(
    state: SteadyState, scenario: Scenario, step_tokens: float, rounds: float, most: float
) -> SteadyState:
    """The mean of a run whose users all start at once, so that their first prompts wait for each other."""
    running = min(state.concurrency, most * float(scenario.data_parallel))
    later = max(float(burst_ttft(scenario, running, step_tokens)) - state.ttft, 0.0) / rounds
    e2e = state.e2e + later
    return replace(state, ttft=state.ttft + later, e2e=e2e, request_rate=state.concurrency / e2e)


def check(scenario: Scenario, step_tokens: float, rounds: float, given: dict[str, float | None]) -> None:
    """Refuse what is no number, or is not known here."""
    named = {name: value for name, value in given.items() if value is not None}
    numbers = {**named, "step_tokens": step_tokens}
    faults = {name: fault for name, value in numbers.items() if (fault := POSITIVE.fault(name, value))}
    if fault := Allowed(low=1, infinite=True).fault("rounds", rounds):
        faults["rounds"] = fault
    if len(named) != 1:
        faults["request_rate"] = "just one of request_rate and concurrency must be given"
    if scenario.prefill_pool is not None:
        faults["prefill_pool"] = "steady_state knows no prefill pool: its pools have steady states of their own"
    if anywhere(scenario.pipeline > 1):
        faults["pipeline"] = f"pipeline must be 1 in a steady state, not {scenario.pipeline:g}"
    if faults:
        raise ParameterError(faults)


@dataclass(frozen=True, eq=False)
class LoadCurve:
    """The states of one replica, over the prompts that come while a step lasts; s, and requests/s.

    Parameters
    ----------
    prompts
        Prompts that come while a step lasts.
    rate
        Requests/s at which so many do.
    ttft, itl, e2e
        Mean time to first token, time between tokens and time of a request.
    most
        Sequences that fit together, see `fitting`.
    """

    prompts: Floats
    rate: Floats
    ttft: Floats
    itl: Floats
    e2e: Floats
    most: float

    @property
    def there(self) -> Floats:
        """Requests that are there at once: rate · time of each (Little 1961)."""
        return self.rate * self.e2e

    def at(self, values: Floats, value: float) -> float | None:
        """Prompts a step at which a number of the curve first has a value; None where it never does."""
        if value > values.max():
            return None
        after = max(int(np.argmax(values >= value)), 1)
        return float(np.interp(value, values[after - 1 : after + 1], self.prompts[after - 1 : after + 1]))

    def times(self, m: float) -> tuple[float, float, float]:
        """TTFT, ITL and end-to-end latency where so many prompts come while a step lasts."""
        ttft, itl, e2e = (float(np.interp(m, self.prompts, values)) for values in (self.ttft, self.itl, self.e2e))
        return ttft, itl, e2e


def load_curve(scenario: Scenario, step_tokens: float = STEP_TOKENS) -> LoadCurve:
    """The states of one replica of a scenario of plain numbers, whose batch is not looked at."""
    most = float(fitting(scenario) / scenario.data_parallel)
    answer = float((scenario.workload.output_tokens - 1) / scenario.tokens_per_step)  # steps after the first token
    new = float(scenario.workload.seq_len - scenario.prefix.cached)
    each = answer + max(new / step_tokens, 1)  # steps that a request is there for, at least
    m = np.concatenate([[0.0], np.geomspace(FEWEST, max(1.1 * most, 2.0), POINTS - 1) / each])
    sequences = m * answer
    room = np.maximum(step_tokens - sequences - 1, 1.0)

    some = -np.expm1(-m)  # share of steps for which a prompt has come
    joining = np.divide(m, some, out=np.ones_like(m), where=m > 0)  # prompts of such a step
    chunk = np.minimum(joining * new, room)
    carrying = m * new / chunk  # share of steps that carry prompts: more than come, where one takes several
    seen = 1.0 + sequences  # a sequence sees itself, and those that anyone sees
    plain, mixed = np.asarray(mixed_step(scenario, seen, np.stack([0.0 * m, chunk])).time)
    step = (1 - carrying) * plain + carrying * mixed
    possible = carrying < 1
    rate = m / step

    ahead = np.ceil((1 + m / 2) * new / room) - 1  # full steps before that of its last tokens
    last = np.clip((1 + m) * new - ahead * room, 1.0, room)
    full, own = np.asarray(mixed_step(scenario, sequences, np.stack([room, last])).time)
    left = ((1 - carrying) * plain**2 + carrying * mixed**2) / (2 * step)  # of the step that is under way
    ahead_of_it = rate * new / room * full  # load of prompts, were all steps full ones
    with np.errstate(divide="ignore", invalid="ignore"):
        queue = np.where(ahead_of_it < 1, ahead_of_it / (2 * (1 - ahead_of_it)) * new / room * full, np.inf)
    alone = np.asarray(scenario.efficiency.request) + ahead * full + own
    busy = -np.expm1(-(sequences + rate * alone))
    ttft = alone + busy * left + queue
    kept = possible & np.isfinite(ttft)
    end = int(np.argmin(kept)) if not kept.all() else kept.size
    itl = step / float(scenario.tokens_per_step)
    e2e = ttft + answer * step
    m, rate, ttft, itl, e2e = (part[:end] for part in (m, rate, ttft, itl, e2e))
    return LoadCurve(m, rate, ttft, itl, e2e, most)


def fitting(scenario: Scenario) -> Numbers:
    """Sequences that fit together where they are not all at their ends, but half through their answers on average."""
    workload = scenario.workload
    half = replace(workload, output_tokens=np.ceil(workload.output_tokens / 2))
    return largest_batch(replace(scenario, workload=half))


def burst_ttft(scenario: Scenario, requests: Numbers, step_tokens: float = STEP_TOKENS) -> Numbers:
    """Mean time to first token of requests that all come at once to an idle server, s.

    As many prompts as a step takes are prefilled in each, those before them decoded beside.
    """
    new = scenario.workload.seq_len - scenario.prefix.cached
    each = requests / scenario.data_parallel
    steps = np.maximum(each * new / step_tokens, 1.0)
    tokens = np.minimum(each * new, step_tokens)
    step = mixed_step(scenario, each * (1 - 1 / steps) / 2, tokens).time
    return scenario.efficiency.request + step * (steps + 1) / 2
