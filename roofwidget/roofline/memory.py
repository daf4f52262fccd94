"""What has to be in each device's memory, and how much of it fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers, anywhere

PREFILL_CHUNK = 8192
"""Prompt tokens that go through a layer at once; longer prompts go in chunks, so the activations
of a prompt do not grow without end. vLLM's `max_num_batched_tokens` for serving on large devices."""

MOST_DEVICES = 1024
"""Devices beyond which no one looks whether it would fit."""


@dataclass(frozen=True, eq=False)
class Footprint:
    """Bytes on each device at the end of the batch's answers.

    Parameters
    ----------
    weights, kv_cache, activations
        What has to be held.
    capacity, usable
        What the device has, and what of it may be used.
    """

    weights: Numbers
    kv_cache: Numbers
    activations: Numbers
    capacity: Numbers
    usable: Numbers

    @property
    def total(self) -> Numbers:
        """All that has to be held."""
        return self.weights + self.kv_cache + self.activations

    @property
    def fits(self) -> Any:
        """Whether it can be held; a bool, or an array of them."""
        return self.total <= self.usable


def footprint(scenario: Scenario) -> Footprint:
    """Memory of each device when every sequence has reached its final length."""
    capacity = scenario.device.capacity
    return Footprint(
        weights=weight_bytes(scenario),
        kv_cache=kv_bytes(scenario, scenario.replica_batch),
        activations=activation_bytes(scenario),
        capacity=capacity,
        usable=capacity * scenario.memory_utilization,
    )


def weight_bytes(scenario: Scenario) -> Numbers:
    """Bytes of weights on each device, a drafter's among them.

    Replicated KV heads count on every device that has them. With a pipeline, those of the stage
    with most layers and the larger end of the model: the embedding or the LM head.
    """
    model, precision, devices = scenario.model, scenario.stored, scenario.devices
    table = model.vocab_size * model.hidden_dim
    end = np.where(scenario.pipeline > 1, table, model.embedding_params)[()]
    rest = end / devices * precision.embedding_bytes
    rest = rest + (model.more_params / devices + model.hidden_dim) * precision.weight_bytes
    return layer_bytes(scenario) * scenario.stage_share + rest + drafter_bytes(scenario)


def layer_bytes(scenario: Scenario) -> Numbers:
    """Bytes of weights of all layers on each device, were they all of one stage."""
    model, precision = scenario.model, scenario.stored
    layers: Numbers = 0.0
    experts: Numbers = 0.0
    for block in model.blocks:
        layers = layers + block.layers * block.layer_params_on(model.hidden_dim, scenario.devices)
        experts = experts + block.layers * block.expert_params_on(model.hidden_dim, scenario.expert_spread)
    return layers * precision.weight_bytes + experts * precision.expert_bytes


def drafter_bytes(scenario: Scenario) -> Numbers:
    """Bytes of weights that a drafter has beside the model, on each device."""
    if (drafting := scenario.drafting) is None:
        return 0.0
    beside = drafting.scenario
    return layer_bytes(beside) + drafting.drafter.beside_layers / beside.devices * beside.stored.embedding_bytes


def kv_bytes_per_sequence(scenario: Scenario) -> Numbers:
    """Bytes of KV cache and recurrent state that one sequence is given on each device at its end."""
    return kv_bytes_at(scenario, given_tokens(scenario))


def given_tokens(scenario: Scenario) -> Numbers:
    """Tokens of KV cache that a sequence is given by its end."""
    return scenario.kv_allocation.tokens(scenario.workload.seq_len, scenario.workload.output_tokens)


def shared_tokens(scenario: Scenario) -> Numbers:
    """Tokens of a prefix that sequences can keep together: whole blocks of it, none where each has one piece."""
    allocation, cached = scenario.kv_allocation, scenario.prefix.cached
    if allocation.contiguous or not anywhere(cached):
        return 0.0
    return cached if allocation.kind == "exact" else cached // allocation.block_size * allocation.block_size


def kv_bytes(scenario: Scenario, sequences: Numbers) -> Numbers:
    """Bytes of KV cache on each device of so many sequences at their ends, a shared prefix kept once.

    Where keeping it costs more than it saves (windows and recurrent states forget it) it is evicted.
    """
    apart = sequences * kv_bytes_per_sequence(scenario)
    shared = shared_tokens(scenario)
    if not anywhere(shared):
        return apart
    own = kv_bytes_at(scenario, given_tokens(scenario) - shared)
    return np.minimum(apart, sequences * own + kv_bytes_at(scenario, shared))


def kv_bytes_at(scenario: Scenario, context: Numbers) -> Numbers:
    """Bytes of KV cache and recurrent state that a sequence of `context` tokens takes on each device."""
    devices, size = scenario.devices, scenario.stored.kv_bytes
    kept: Numbers = 0.0 * context * devices
    for block in scenario.model.blocks:
        if block.mixer is not None:
            elements, own = block.mixer.kept(context, devices), block.mixer.kept_bytes(context, devices)
            kept = kept + block.layers * (elements * size + own)
    kept = kept * scenario.stage_share
    return kept if (drafting := scenario.drafting) is None else kept + kv_bytes_at(drafting.scenario, context)


def activation_bytes_per_token(scenario: Scenario) -> Numbers:
    """Bytes live on each device for a token inside its widest layer."""
    live: Numbers = 0.0
    for block in scenario.model.blocks:
        live = np.maximum(live, block.live(scenario.model.hidden_dim, scenario.devices))
    return live * scenario.stored.activation_bytes


def activation_bytes(scenario: Scenario) -> Numbers:
    """Bytes live on each device at the larger of its passes: a chunk of prompt, or a decode step."""
    return tokens_at_once(scenario) * activation_bytes_per_token(scenario)


def tokens_at_once(scenario: Scenario) -> Numbers:
    """Tokens that go through a layer together in the larger of the passes."""
    return np.maximum(prefill_tokens_at_once(scenario), scenario.microbatch * scenario.tokens_in_step)


def prefill_tokens_at_once(scenario: Scenario) -> Numbers:
    """Tokens of a prompt that go through a layer together; none where others prefill."""
    if scenario.prefill_pool is not None:
        return 0.0
    return np.minimum(scenario.workload.seq_len - scenario.prefix.cached, PREFILL_CHUNK)


def largest_batch(scenario: Scenario) -> Numbers:
    """Sequences of final length that fit together; 0 where not even one does.

    As many on every replica.
    """
    shared, replicas = shared_tokens(scenario), scenario.data_parallel
    fitting = fitting_sequences(scenario, kv_bytes_per_sequence(scenario))
    if anywhere(shared):
        own = kv_bytes_at(scenario, given_tokens(scenario) - shared)
        fitting = np.maximum(fitting, fitting_sequences(scenario, own, once=kv_bytes_at(scenario, shared)))
    fitting = fitting * replicas
    # rounding may have cost the last ones, or given some too many
    one_more = footprint(with_batch(scenario, fitting + replicas)).fits
    one_less = (fitting > 0) & ~np.asarray(footprint(with_batch(scenario, np.maximum(fitting, 1))).fits)
    return np.asarray(fitting + replicas * one_more - replicas * one_less, np.float64)[()]


def fitting_sequences(scenario: Scenario, sequence: Numbers, once: Numbers = 0.0) -> Numbers:
    """Sequences of so many bytes each, beside what is kept once, that fit on a replica; 0 where none does.

    What the weights and a prompt's chunk leave, divided by a sequence's KV cache; where that is
    more sequences than the chunk has tokens, each also needs its own activations in decode.
    """
    memory = footprint(with_batch(scenario, 1.0))
    left, parts = memory.usable - memory.weights - once, scenario.parts
    active = activation_bytes_per_token(scenario) * scenario.tokens_in_step
    beside_chunk = (left - memory.activations) // sequence
    part = left // (parts * sequence + active)  # sequences of each, where all are as large
    beside_own = np.maximum(parts * part, (left - (part + 1) * active) // sequence)
    return np.maximum(np.minimum(beside_chunk, beside_own), 0)


def devices_needed(scenario: Scenario) -> Numbers:
    """Fewest devices that can share every layer and on which it would fit; 0 if none.

    All devices of all stages and replicas, with as many of these as the scenario has.
    """
    model = scenario.model
    now = footprint(scenario)
    shape = np.shape(now.total + now.usable)
    counts = np.arange(1.0, min(np.max(model.n_heads), MOST_DEVICES) + 1)
    along = counts.reshape(-1, *[1] * len(shape))  # an axis of its own before those of the scenario
    possible = np.broadcast_to(model.shardable(along), (counts.size, *shape))
    some = possible.reshape(counts.size, -1).any(axis=1)
    counts, along, possible = counts[some], along[some], possible[some]
    fits = possible & footprint(with_devices(scenario, np.where(possible, along, 1.0))).fits
    fewest = np.where(np.any(fits, axis=0), counts[np.argmax(fits, axis=0)], 0)[()]
    return fewest * scenario.pipeline * scenario.data_parallel


def with_devices(scenario: Scenario, devices: Numbers) -> Scenario:
    """The same scenario on other numbers of devices, which are known to share its heads evenly."""
    return scenario.having(devices=devices)


def with_batch(scenario: Scenario, batch: Numbers) -> Scenario:
    """The same scenario at another batch."""
    return scenario.having(workload=replace(scenario.workload, batch=batch))
