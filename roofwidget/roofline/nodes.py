"""The compute nodes of a forward pass: FLOPs and bytes of each, on each device.

Counts follow Pope et al. 2022, "Efficiently Scaling Transformer Inference", §2 and §3, and
Shoeybi et al. 2019, "Megatron-LM", §3 for what each of `devices` computes under tensor parallelism;
FLOPs, not multiply-adds. Operations between the nodes (norms, rotary embedding, residual sums) are
taken to be fused into them. What a layer does is told by its block, in `architecture`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from roofwidget.architecture.feed_forward import Experts, FeedForward
from roofwidget.architecture.work import Extent, Work
from roofwidget.precision import Precision
from roofwidget.roofline.collectives import collectives
from roofwidget.roofline.node import Node
from roofwidget.scenario import Scenario
from roofwidget.transformer import Transformer
from roofwidget.validation import Numbers, anywhere


def prefill_nodes(scenario: Scenario, batch: Numbers = 1.0) -> tuple[Node, ...]:
    """Nodes of the pass over the whole prompt of `batch` sequences, on one replica."""
    return forward_nodes(scenario, Extent.prefill(batch, scenario.workload.seq_len))


def decode_nodes(scenario: Scenario) -> tuple[Node, ...]:
    """Nodes of the average pass that makes one token for every sequence of a device's share of the batch.

    A pipeline has several passes under way, each with its part of the batch.
    """
    workload, batch, routed = scenario.workload, scenario.microbatch, scenario.routed_batch
    extent = Extent.decode(batch, workload.first_context, workload.final_context, routed)
    return forward_nodes(scenario, extent)


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
        nodes.append(lm_head(model, precision, devices, extent.batch))
    return (*nodes, *collectives(scenario, extent))


def together(works: list[tuple[Numbers, Work]]) -> list[tuple[Numbers, Work]]:
    """Work that is the same in several parts put together, and the rest told apart by name."""
    counts = Counter(work.name for _, work in works)
    if max(counts.values()) == 1:
        return works
    found: dict[Any, tuple[Numbers, Work]] = {}
    for layers, work in works:
        key = work if all(isinstance(number, float) for number in work[1:]) else id(work)  # arrays cannot be a key
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
    )


def embedding(model: Transformer, precision: Precision, tokens: Numbers) -> Node:
    """A gather of one row a token, not the table; every device gets the whole row."""
    row = tokens * model.hidden_dim * model.embedded
    return Node(
        "embedding", weight_bytes=row * precision.weight_bytes, activation_bytes=row * precision.activation_bytes
    )


def lm_head(model: Transformer, precision: Precision, devices: Numbers, batch: Numbers) -> Node:
    """Logits of the last position of each sequence: 2·B·h·V FLOPs."""
    rows = model.vocab_size / devices
    weights = model.hidden_dim * rows
    channels = batch * (model.hidden_dim * model.embedded + rows)
    return Node(
        "LM head",
        flops=2 * batch * weights,
        weight_bytes=weights * precision.weight_bytes,
        activation_bytes=channels * precision.activation_bytes,
    )
