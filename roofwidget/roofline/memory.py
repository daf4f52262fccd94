"""What has to be in each device's memory, and how much of it fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofwidget.roofline.nodes import Shard
from roofwidget.scenario import Scenario, shardable
from roofwidget.validation import Numbers

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
        kv_cache=scenario.workload.batch * kv_bytes_per_sequence(scenario),
        activations=activation_bytes(scenario),
        capacity=capacity,
        usable=capacity * scenario.memory_utilization,
    )


def weight_bytes(scenario: Scenario) -> Numbers:
    """Bytes of weights on each device; replicated KV heads count on every device that has them."""
    model, shard = scenario.model, Shard.of(scenario.model, scenario.devices)
    attention = model.hidden_dim * model.head_dim * 2 * (shard.heads + shard.kv_heads)
    ffn = model.ffn_params / scenario.devices
    embeddings = model.embedding_params / scenario.devices
    return (model.layers * (attention + ffn) + embeddings + model.norm_params) * scenario.precision.weight_bytes


def kv_bytes_per_token(scenario: Scenario) -> Numbers:
    """Bytes of KV cache that one token of one sequence takes on each device."""
    kv_heads = Shard.of(scenario.model, scenario.devices).kv_heads
    return 2 * scenario.model.layers * kv_heads * scenario.model.head_dim * scenario.precision.kv_bytes


def kv_bytes_per_sequence(scenario: Scenario) -> Numbers:
    """Bytes of KV cache that one sequence takes on each device at its end."""
    return scenario.workload.final_context * kv_bytes_per_token(scenario)


def activation_bytes_per_token(scenario: Scenario) -> Numbers:
    """Bytes live on each device for a token inside its widest layer.

    The residual stream, and around the FFN its input and its one or two intermediates: that is
    where a forward pass without gradients peaks.
    """
    model = scenario.model
    intermediates = (model.ffn_matrices - 1) * model.ffn_dim / scenario.devices
    return (2 * model.hidden_dim + intermediates) * scenario.precision.activation_bytes


def activation_bytes(scenario: Scenario) -> Numbers:
    """Bytes live on each device at the larger of its passes: a chunk of prompt, or a decode step."""
    tokens = np.maximum(prefill_tokens_at_once(scenario), scenario.workload.batch)
    return tokens * activation_bytes_per_token(scenario)


def prefill_tokens_at_once(scenario: Scenario) -> Numbers:
    """Tokens of a prompt that go through a layer together."""
    return np.minimum(scenario.workload.seq_len, PREFILL_CHUNK)


def largest_batch(scenario: Scenario) -> Numbers:
    """Sequences of final length that fit together; 0 where not even one does.

    What the weights and a prompt's chunk leave, divided by a sequence's KV cache; where that is
    more sequences than the chunk has tokens, each also needs its own activations in decode.
    """
    memory = footprint(with_batch(scenario, 1.0))
    sequence = kv_bytes_per_sequence(scenario)
    beside_chunk = (memory.usable - memory.weights - memory.activations) // sequence
    beside_own = (memory.usable - memory.weights) // (sequence + activation_bytes_per_token(scenario))
    fitting = np.maximum(np.minimum(beside_chunk, beside_own), 0)
    # rounding may have cost the last one, or given one too many
    one_more = footprint(with_batch(scenario, fitting + 1)).fits
    one_less = (fitting > 0) & ~np.asarray(footprint(with_batch(scenario, np.maximum(fitting, 1))).fits)
    return np.asarray(fitting + one_more - one_less, np.float64)[()]


def devices_needed(scenario: Scenario) -> Numbers:
    """Fewest devices that can share the heads evenly and on which it would fit; 0 if none."""
    heads, kv_heads = scenario.model.n_heads, scenario.model.n_kv_heads
    counts = np.arange(1.0, min(np.max(heads), MOST_DEVICES) + 1)
    counts = counts[[bool(np.any(shardable(heads, kv_heads, count))) for count in counts]]
    tried = []
    for count in counts:
        possible = shardable(heads, kv_heads, count)
        devices = np.where(possible, count, 1.0)[()]
        tried.append(possible & np.asarray(footprint(replace(scenario, devices=devices)).fits))
    fits = np.broadcast_arrays(*tried)
    return np.where(np.any(fits, axis=0), counts[np.argmax(fits, axis=0)], 0)[()]


def with_batch(scenario: Scenario, batch: Numbers) -> Scenario:
    """The same scenario at another batch."""
    return replace(scenario, workload=replace(scenario.workload, batch=batch))
