"""What a serving engine has left for the KV cache, accounted as the engine does at start-up.

`memory` asks what a batch needs; here the question is the engine's own. It loads the weights, runs
the largest step it may ever take, looks what that needed at its peak, and gives all that remains of
its share of the device to blocks of KV cache (Kwon et al. 2023, "PagedAttention", §4.3; vLLM's
`Worker.determine_available_memory`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from roofwidget import catalog
from roofwidget.roofline.memory import kv_bytes_at, weight_bytes
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers, anywhere

GIB = 2.0**30
DEFAULT_ENGINE = "vLLM 0.17 and later"


@dataclass(frozen=True)
class Engine:
    """What one engine sets aside at start-up; bytes, tokens and sequences.

    Parameters
    ----------
    name
        What it is called.
    driver
        Bytes of the device's capacity that it never sees.
    block_size
        Tokens that are kept together.
    large, large_but
        Memory from which a device counts as large, and a part of the name of those that do not.
    max_num_seqs, max_num_batched_tokens
        Sequences and tokens of its largest step: on large devices, and on others.
    profiles
        Whether it sets aside what that step needs.
    logit_bytes
        Bytes live for each logit while it samples.
    scratch
        Workspaces of that step that hang on no size.
    runtime, shared_runtime
        What is allocated beside weights and activations: on one device, and where devices share layers.
    hybrid
        Whether layers with a window keep no more than it, and recurrent ones no tokens; before engines managed
        layers of several kinds apart, all kept all.
    """

    name: str
    driver: float
    block_size: int
    large: float
    large_but: str
    max_num_seqs: tuple[float, float]
    max_num_batched_tokens: tuple[float, float]
    profiles: bool
    logit_bytes: float
    scratch: float
    runtime: float
    shared_runtime: float
    hybrid: bool = False

    @classmethod
    def names(cls) -> list[str]:
        """Names of the engines in the catalog."""
        return list(catalog.entries("engines"))

    @classmethod
    def named(cls, name: str) -> Engine:
        """The catalog's engine of that name.

        Raises
        ------
        KeyError
            If there is none; the message suggests the nearest names.
        """
        name = catalog.spelled("engines", name)
        facts = catalog.entry("engines", name)
        return cls(
            name=name,
            driver=facts["driver_gib"] * GIB,
            block_size=facts["block_size"],
            large=facts.get("large_gib", np.inf) * GIB,
            large_but=facts.get("large_but", ""),
            max_num_seqs=tuple(facts["max_num_seqs"]),
            max_num_batched_tokens=tuple(facts["max_num_batched_tokens"]),
            profiles=facts["profiles"],
            hybrid=facts["hybrid"],
            logit_bytes=facts["logit_bytes"],
            scratch=facts["scratch_gib"] * GIB,
            runtime=facts["runtime_gib"] * GIB,
            shared_runtime=facts["shared_gib"] * GIB,
        )


@dataclass(frozen=True, eq=False)
class EngineCapacity:
    """Where each device's memory goes, in bytes, and what is left for the KV cache.

    Parameters
    ----------
    memory
        What the engine sees of the device.
    weights, activation_peak, runtime
        What it sets aside.
    kv_cache
        What is left; 0 where the model does not fit.
    block_size, block_bytes
        Tokens of a block, and bytes it takes on each device.
    state_bytes
        What a sequence takes beside its blocks, whatever its length: recurrent state.
    sequence_bytes
        What a sequence of so many tokens takes where layers of several kinds are managed apart; None
        where every layer keeps every token.
    """

    memory: Numbers
    weights: Numbers
    activation_peak: Numbers
    runtime: Numbers
    kv_cache: Numbers
    block_size: int
    block_bytes: Numbers
    state_bytes: Numbers
    sequence_bytes: Callable[[Numbers], Numbers] | None = None

    @property
    def blocks(self) -> Numbers:
        """Whole blocks that fit."""
        return self.kv_cache // self.block_bytes

    @property
    def tokens(self) -> Numbers:
        """Tokens that fit, all sequences together."""
        return self.blocks * self.block_size

    def concurrency(self, length: Numbers, cached: Numbers = 0.0) -> Numbers:
        """Sequences of `length` tokens that fit at once, not rounded; each takes whole blocks.

        The first `cached` tokens of all are kept once, in whole blocks too, where that leaves more room.
        """
        room = self.kv_cache if self.sequence_bytes is not None else self.blocks * self.block_bytes
        apart, shared = room / self._sequence(length), cached // self.block_size * self.block_size
        if not anywhere(shared):
            return apart
        return np.maximum(apart, (room - self._sequence(shared)) / self._sequence(length - shared))

    def _sequence(self, length: Numbers) -> Numbers:
        """Bytes of a sequence of so many tokens."""
        blocks = np.ceil(length / self.block_size)
        if self.sequence_bytes is not None:
            return self.sequence_bytes(blocks * self.block_size)
        return blocks * self.block_bytes + self.state_bytes


def kv_capacity(
    memory: Numbers, utilization: Numbers, weights: Numbers, activation_peak: Numbers, runtime: Numbers
) -> Numbers:
    """Bytes left for the KV cache; where they are negative, that much is lacking.

    utilization · memory − weights − activation peak − runtime: the sum in vLLM's start-up log
    ("model weights take …; the rest of the memory reserved for KV Cache is …").

    Parameters
    ----------
    memory, utilization
        What the engine sees of the device, and the share it may use.
    weights, activation_peak, runtime
        What is taken of that.
    """
    return utilization * memory - weights - activation_peak - runtime


def engine_capacity(scenario: Scenario, engine: Engine | str = DEFAULT_ENGINE) -> EngineCapacity:
    """What an engine would have for the KV cache on each device of a scenario.

    It hangs on model, device, precision and utilisation, not on the workload. With a pipeline it is
    the fullest stage's.

    Parameters
    ----------
    scenario
        What is served on what.
    engine
        By what; or the name it has in the catalog.
    """
    engine = Engine.named(engine) if isinstance(engine, str) else engine
    memory = np.maximum(scenario.device.capacity - engine.driver, 0.0)
    weights, runtime = weight_bytes(scenario), runtime_bytes(scenario, engine)
    peak = activation_peak(scenario, engine, memory)
    left = kv_capacity(memory, scenario.memory_utilization, weights, peak, runtime)
    per_token, state = kept_bytes(scenario)
    return EngineCapacity(
        memory=memory,
        weights=weights,
        activation_peak=peak,
        runtime=runtime,
        kv_cache=np.maximum(left, 0.0),
        block_size=engine.block_size,
        # at least a byte, where no layer keeps any token
        block_bytes=np.maximum(engine.block_size * per_token, 1.0),
        state_bytes=state,
        sequence_bytes=partial(kv_bytes_at, scenario) if engine.hybrid else None,
    )


def runtime_bytes(scenario: Scenario, engine: Engine) -> Numbers:
    """Bytes beside weights and activations on each device."""
    return np.where(scenario.devices * scenario.pipeline > 1, engine.shared_runtime, engine.runtime)[()]


def activation_peak(scenario: Scenario, engine: Engine, memory: Numbers) -> Numbers:
    """Bytes live at the peak of the largest step, which the engine runs at start-up.

    The larger of a forward pass of all its tokens through the widest layer, and of the sampler's
    work on the logits of all its sequences, beside the hidden states they are made from.
    """
    if not engine.profiles:
        return 0.0 * memory
    size, vocabulary = scenario.stored.activation_bytes, scenario.model.vocab_size
    tokens = largest_step(engine.max_num_batched_tokens, scenario, engine, memory)
    sequences = np.minimum(largest_step(engine.max_num_seqs, scenario, engine, memory), tokens)
    forward = tokens * layer_width(scenario) * size
    sampler = tokens * scenario.model.hidden_dim * size + sequences * vocabulary * engine.logit_bytes
    return np.maximum(forward, sampler) + engine.scratch


def largest_step(default: tuple[float, float], scenario: Scenario, engine: Engine, memory: Numbers) -> Numbers:
    """Which of an engine's two defaults holds on the device: the one of large devices, or of others.

    So a device just large enough may hold less than one just too small.
    """
    excepted = bool(engine.large_but) and engine.large_but in scenario.device.name
    return default[1] if excepted else np.where(memory >= engine.large, *default)[()]


def layer_width(scenario: Scenario) -> Numbers:
    """Elements live for a token inside the widest layer, as an engine that fuses nothing holds them.

    Residual stream, input and output of the feed-forward network, its one or two intermediates and
    what the activation function makes of them: 3h + 3f gated, 3h + 2f plain. vLLM prints 2.07 and
    2.99 GiB for 20,000 and 29,000 tokens of Llama-3.1-8B, which are 3h + 3f to 0.01 GiB.
    """
    live: Numbers = 0.0
    for block in scenario.model.blocks:
        if block.ffn is not None:
            intermediates = 2 if block.ffn.gated else 1
            live = np.maximum(live, block.ffn.live(scenario.devices) * (intermediates + 1) / intermediates)
    return 3 * scenario.model.hidden_dim + live


def kept_bytes(scenario: Scenario) -> tuple[Numbers, Numbers]:
    """Bytes on each device that a token, and a sequence beside its tokens, is given room for.

    Every layer keeps every token, those with a window too: so engines did before they managed layers
    of several kinds apart. KV heads are replicated
    where there are more devices than heads, and a latent (MLA) is on every device. A drafter's layers
    have room of their own.
    """
    devices, size = scenario.devices, scenario.stored.kv_bytes
    token: Numbers = 0.0
    state: Numbers = 0.0
    for block in scenario.model.blocks:
        if block.mixer is not None:
            one, two = (block.mixer.kept(n, devices) * size + block.mixer.kept_bytes(n, devices) for n in (1.0, 2.0))
            token = token + block.layers * (two - one)
            state = state + block.layers * np.maximum(2 * one - two, 0.0)
    token, state = token * scenario.stage_share, state * scenario.stage_share
    if (drafting := scenario.drafting) is None:
        return token, state
    more_token, more_state = kept_bytes(drafting.scenario)
    return token + more_token, state + more_state
