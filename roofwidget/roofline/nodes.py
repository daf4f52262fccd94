"""The compute nodes of a forward pass: FLOPs and bytes of each, on each device.

Counts follow Pope et al. 2022, "Efficiently Scaling Transformer Inference", §2 and §3, and
Shoeybi et al. 2019, "Megatron-LM", §3 for what each of `devices` computes under tensor parallelism;
FLOPs, not multiply-adds. Operations between the nodes (norms, rotary embedding, residual sums) are
taken to be fused into them. What a layer does is told by its block, in `architecture`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.architecture.work import Extent, Work
from roofwidget.efficiency import IDEAL
from roofwidget.precision import Precision
from roofwidget.roofline.collectives import collectives
from roofwidget.roofline.memory import shared_tokens
from roofwidget.roofline.node import Node
from roofwidget.scenario import Scenario
from roofwidget.transformer import Transformer
from roofwidget.validation import Numbers, anywhere

COUNTS = ("flops", "weight_bytes", "kv_bytes", "activation_bytes", "link_bytes", "link_steps")
"""What of a node grows with the passes it is run in."""


def prefill_nodes(scenario: Scenario, batch: Numbers = 1.0) -> tuple[Node, ...]:
    """Nodes of the pass over the whole prompt of `batch` sequences but what is cached of it, on one instance."""
    side = scenario.prefill_side
    extent = Extent.prefill(batch, side.workload.seq_len, side.prefix.cached)
    return (*forward_nodes(side, extent), *draft_nodes(side, extent), *overheads(side, batch, 1.0))


def decode_nodes(scenario: Scenario) -> tuple[Node, ...]:
    """Nodes of the average pass that makes one token for every sequence of a device's share of the batch.

    A pipeline has several passes under way, each with its part of the batch. With speculation it
    is a round: drafts, and the pass that verifies them.
    """
    workload, batch, routed = scenario.workload, scenario.microbatch, scenario.routed_batch
    shared = shared_tokens(scenario) if scenario.prefix.cascade else 0.0
    extent = Extent.decode(
        batch, workload.first_context, scenario.last_context, routed, scenario.tokens_in_step, shared
    )
    return (*forward_nodes(scenario, extent), *draft_nodes(scenario, extent), *overheads(scenario, batch, 0.0))


def overheads(scenario: Scenario, sequences: Numbers, has_prompts: Numbers) -> Iterator[Node]:
    """What a step takes beside its nodes: launches in every layer, and the engine's preparations; none of a bound.

    Parameters
    ----------
    scenario
        What is served on what.
    sequences
        Sequences in the step.
    has_prompts
        1 where tokens of prompts are among them, else 0.
    """
    taken = scenario.efficiency
    if taken is IDEAL:
        return
    layers, of_experts = scenario.model.layers, expert_layers(scenario.model)
    quantizing = taken.narrow_layer if scenario.computes_narrow else 0.0
    captured = layers * (taken.layer + quantizing) + of_experts * taken.expert_layer
    launched = layers * taken.eager_layer + of_experts * taken.eager_expert_layer
    yield Node("launches", overhead=captured + has_prompts * launched)
    yield Node("scheduling", overhead=taken.step + taken.sequence * sequences)


def expert_layers(model: Transformer) -> Numbers:
    """Layers whose feed-forward network is one of experts."""
    return sum((block.layers for block in model.blocks if isinstance(block.ffn, Experts)), 0.0)


def draft_nodes(scenario: Scenario, extent: Extent) -> Iterator[Node]:
    """Nodes of all passes of the drafter beside a pass of its model; none without speculation.

    They compute in 16 bits, unless the drafter is of the model's own checkpoint. In prefill it goes
    through the prompt once, to have keys and values of its own.
    """
    if (drafting := scenario.drafting) is None:
        return
    drafter = drafting.drafter
    passes: Numbers = 1.0
    if extent.is_decode:
        passes = drafter.passes
        extent = replace(extent, new=drafter.tokens, routed=extent.routed / extent.new * drafter.tokens)
    elif not anywhere(drafter.transformer.kv_bytes_per_token()):
        return
    for node in forward_nodes(drafting.scenario, extent):
        times = {name: getattr(node, name) * passes for name in COUNTS}
        yield replace(node, name=f"draft {node.name}", linear=node.linear and drafter.in_checkpoint, **times)


def forward_nodes(scenario: Scenario, extent: Extent) -> tuple[Node, ...]:
    """Nodes of a pass through all layers, in the order they run; work that is alike in many layers is one."""
    model, precision, devices = scenario.model, scenario.stored, scenario.devices
    works = []
    for layers, part in model.parts:
        more = (scenario.expert_spread,) if isinstance(part, (FeedForward, Experts)) else ()
        works += [(layers, work) for work in part.works(extent, model.hidden_dim, devices, *more)]
    nodes = [as_node(work, layers, precision) for layers, work in together(works)]
    if anywhere(model.vocab_size):
        nodes.insert(0, embedding(model, precision, extent.tokens))
        nodes.append(lm_head(model, precision, devices, extent.scored))
    return (*nodes, *collectives(scenario, extent))


def together(works: list[tuple[Numbers, Work]]) -> list[tuple[Numbers, Work]]:
    """Work that is the same in several parts put together, and the rest told apart by name."""
    counts = Counter(work.name for _, work in works)
    if max(counts.values()) == 1:
        return works
    found: dict[Any, tuple[Numbers, Work]] = {}
    for layers, work in works:
        key = id(work) if any(isinstance(number, np.ndarray) for number in work) else work  # arrays cannot be a key
        found[key] = (found[key][0] + layers, work) if key in found else (layers, work)
    alike = list(found.values())
    return [(layers, work._replace(name=name)) for (layers, work), name in zip(alike, names(alike), strict=True)]


def names(works: list[tuple[Numbers, Work]]) -> list[str]:
    """A name for each: with the number of its layers where another has the same, and an ordinal where that too."""
    plain = Counter(work.name for _, work in works)
    told = [
        work.name if plain[work.name] == 1 else f"{work.name}, {np.max(layers):.4g} layers" for layers, work in works
    ]
    seen: Counter[str] = Counter()
    for i, name in enumerate(told):
        seen[name] += 1
        if seen[name] > 1:
            told[i] = f"{name} ({seen[name]})"
    return told


def as_node(work: Work, layers: Numbers, precision: Precision) -> Node:
    """The work of so many layers, in bytes."""
    weights = work.weights * precision.weight_bytes + work.expert_weights * precision.expert_bytes
    return Node(
        work.name,
        flops=layers * work.flops,
        weight_bytes=layers * weights,
        kv_bytes=layers * (work.kv * precision.kv_bytes + work.state_bytes),
        activation_bytes=layers * work.activations * precision.activation_bytes,
        linear=work.linear and (not precision.experts_only or anywhere(work.expert_weights)),
    )


def embedding(model: Transformer, precision: Precision, tokens: Numbers) -> Node:
    """A gather of one row a token, not the table; every device gets the whole row."""
    row = tokens * model.hidden_dim * model.embedded
    return Node(
        "embedding", weight_bytes=row * precision.embedding_bytes, activation_bytes=row * precision.activation_bytes
    )


def lm_head(model: Transformer, precision: Precision, devices: Numbers, positions: Numbers) -> Node:
    """Logits of so many positions: 2·B·h·V FLOPs where it is the last one of each sequence."""
    rows = model.vocab_size / devices
    weights = model.hidden_dim * rows
    channels = positions * (model.hidden_dim * model.embedded + rows)
    return Node(
        "LM head",
        flops=2 * positions * weights,
        weight_bytes=weights * precision.embedding_bytes,
        activation_bytes=channels * precision.activation_bytes,
    )
