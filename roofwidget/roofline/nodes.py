"""The compute nodes of a forward pass: FLOPs and bytes of each, on each device.

A pass runs `new_tokens` tokens of every sequence that, after them, is `context` tokens long.
Prefill is the pass with as many new tokens as context; decode the one with a single new token.
Counts follow Pope et al. 2022, "Efficiently Scaling Transformer Inference", §2 and §3, and
Shoeybi et al. 2019, "Megatron-LM", §3 for what each of `devices` computes under tensor parallelism; FLOPs, not
multiply-adds. Operations between the nodes (norms, rotary embedding, residual sums) are taken to
be fused into them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofwidget.precision import Precision
from roofwidget.scenario import Scenario
from roofwidget.transformer import Transformer
from roofwidget.validation import Numbers


@dataclass(frozen=True)
class Node:
    """Work of one kind, all layers together, on each device.

    Parameters
    ----------
    flops
        Floating-point operations.
    weight_bytes, kv_bytes, activation_bytes
        Bytes moved between memory and chip, by what they are.
    link_bytes
        Bytes sent to other devices.
    """

    name: str
    flops: Numbers = 0.0
    weight_bytes: Numbers = 0.0
    kv_bytes: Numbers = 0.0
    activation_bytes: Numbers = 0.0
    link_bytes: Numbers = 0.0

    @property
    def bytes(self) -> Numbers:
        """Bytes moved between memory and chip."""
        return self.weight_bytes + self.kv_bytes + self.activation_bytes


@dataclass(frozen=True)
class Shard:
    """What each of `devices` holds of a layer: its heads, its KV heads, its slice of the FFN.

    KV heads are replicated where there are more devices than KV heads.
    """

    heads: Numbers
    kv_heads: Numbers
    ffn_dim: Numbers
    vocab_size: Numbers

    @classmethod
    def of(cls, transformer: Transformer, devices: Numbers) -> Shard:
        """The shard of each of `devices`."""
        return cls(
            heads=transformer.n_heads / devices,
            kv_heads=-(-transformer.n_kv_heads // devices),  # rounded up
            ffn_dim=transformer.ffn_dim / devices,
            vocab_size=transformer.vocab_size / devices,
        )


def prefill_nodes(scenario: Scenario, batch: Numbers = 1.0) -> tuple[Node, ...]:
    """Nodes of the pass over the whole prompt of `batch` sequences."""
    prompt = scenario.workload.seq_len
    return forward_nodes(scenario, batch, new_tokens=prompt, context=prompt)


def decode_nodes(scenario: Scenario) -> tuple[Node, ...]:
    """Nodes of the average pass that makes one token for every sequence of the batch."""
    return forward_nodes(scenario, scenario.workload.batch, new_tokens=1.0, context=scenario.workload.mean_context)


def forward_nodes(scenario: Scenario, batch: Numbers, new_tokens: Numbers, context: Numbers) -> tuple[Node, ...]:
    """Nodes of a pass, in the order they run.

    Parameters
    ----------
    scenario
        The model, its precision and its devices.
    batch
        Sequences in the pass.
    new_tokens
        Tokens of each that run through it.
    context
        Tokens of each that are there after it.
    """
    model, precision, devices = scenario.model, scenario.precision, scenario.devices
    shard = Shard.of(model, devices)
    tokens = batch * new_tokens
    nodes: tuple[Node, ...] = (
        qkv_projection(model, precision, shard, tokens),
        attention(model, precision, shard, batch, new_tokens, context),
        output_projection(model, precision, shard, tokens),
        feed_forward(model, precision, shard, tokens),
    )
    if np.any(model.vocab_size):
        nodes = (embedding(model, precision, tokens), *nodes, lm_head(model, precision, shard, batch))
    if np.any(devices > 1) and not np.all(np.isinf(scenario.device.link_bandwidth)):
        nodes = (*nodes, all_reduce(model, precision, devices, tokens))
    return nodes


def embedding(model: Transformer, precision: Precision, tokens: Numbers) -> Node:
    """A gather of one row a token, not the table; every device gets the whole row."""
    row = tokens * model.hidden_dim * model.embedded
    return Node(
        "embedding", weight_bytes=row * precision.weight_bytes, activation_bytes=row * precision.activation_bytes
    )


def qkv_projection(model: Transformer, precision: Precision, shard: Shard, tokens: Numbers) -> Node:
    """Query, key and value projection: 2·T·h·(H+2K)·d FLOPs a layer."""
    width = (shard.heads + 2 * shard.kv_heads) * model.head_dim
    return projection("QKV projection", model, precision, tokens, model.hidden_dim, width)


def output_projection(model: Transformer, precision: Precision, shard: Shard, tokens: Numbers) -> Node:
    """Projection of the heads' outputs back to the hidden width: 2·T·H·d·h FLOPs a layer."""
    return projection("output projection", model, precision, tokens, shard.heads * model.head_dim, model.hidden_dim)


def projection(
    name: str, model: Transformer, precision: Precision, tokens: Numbers, inputs: Numbers, outputs: Numbers
) -> Node:
    """A matrix product with a weight matrix in every layer."""
    return Node(
        name,
        flops=model.layers * 2 * tokens * inputs * outputs,
        weight_bytes=model.layers * inputs * outputs * precision.weight_bytes,
        activation_bytes=model.layers * tokens * (inputs + outputs) * precision.activation_bytes,
    )


def attention(
    model: Transformer, precision: Precision, shard: Shard, batch: Numbers, new_tokens: Numbers, context: Numbers
) -> Node:
    """Causal attention, fused: scores never leave the chip (Dao et al. 2022, "FlashAttention").

    The i-th token of a sequence attends to i tokens at 4·H·d FLOPs each; summed over the new
    tokens that is 2·H·d·(n(n+1) − c(c+1)) with n the context and c what was cached before. One
    new token costs 4·H·d·n. Keys and values are read once and those of new tokens written.
    """
    cached = context - new_tokens
    pairs = (context * (context + 1) - cached * (cached + 1)) / 2
    head_width = shard.heads * model.head_dim
    kv_width = 2 * shard.kv_heads * model.head_dim
    return Node(
        "attention",
        flops=model.layers * batch * 4 * head_width * pairs,
        kv_bytes=model.layers * batch * kv_width * (context + new_tokens) * precision.kv_bytes,
        activation_bytes=model.layers * batch * new_tokens * 2 * head_width * precision.activation_bytes,
    )


def feed_forward(model: Transformer, precision: Precision, shard: Shard, tokens: Numbers) -> Node:
    """Feed-forward network: 6·T·h·f FLOPs a layer gated, 4·T·h·f plain.

    The input is read, the f-wide intermediate written and read again, the output written; gate
    and activation function are fused.
    """
    weights = model.ffn_matrices * model.hidden_dim * shard.ffn_dim
    return Node(
        "FFN",
        flops=model.layers * 2 * tokens * weights,
        weight_bytes=model.layers * weights * precision.weight_bytes,
        activation_bytes=model.layers * tokens * 2 * (model.hidden_dim + shard.ffn_dim) * precision.activation_bytes,
    )


def lm_head(model: Transformer, precision: Precision, shard: Shard, batch: Numbers) -> Node:
    """Logits of the last position of each sequence: 2·B·h·V FLOPs."""
    weights = model.hidden_dim * shard.vocab_size
    channels = batch * (model.hidden_dim * model.embedded + shard.vocab_size)
    return Node(
        "LM head",
        flops=2 * batch * weights,
        weight_bytes=weights * precision.weight_bytes,
        activation_bytes=channels * precision.activation_bytes,
    )


def all_reduce(model: Transformer, precision: Precision, devices: Numbers, tokens: Numbers) -> Node:
    """Sum of the devices' partial results, after attention and after the FFN of every layer.

    A ring sends 2·(t−1)/t of the message from each device (Patarasuk and Yuan 2009, §3).
    """
    message = tokens * model.hidden_dim * precision.activation_bytes
    return Node("all-reduce", link_bytes=model.layers * 2 * 2 * (devices - 1) / devices * message)
