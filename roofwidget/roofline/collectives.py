"""What devices send each other in a pass: all-reduces, expert all-to-alls, sends between pipeline stages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from roofwidget.architecture.feed_forward import Experts
from roofwidget.architecture.work import Extent
from roofwidget.roofline.node import Node
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers, anywhere


def collectives(scenario: Scenario, extent: Extent) -> Iterator[Node]:
    """Nodes of a pass that only send; none where the link does not count."""
    if not anywhere(scenario.device.link_bandwidth < np.inf):
        return
    message = extent.tokens * scenario.model.hidden_dim * scenario.stored.activation_bytes
    exchanging = (scenario.data_parallel > 1) & scenario.expert_parallel
    if anywhere(scenario.devices > 1):
        yield all_reduce(scenario.devices, message, _reduced_layers(scenario, exchanging))
    if anywhere(exchanging) and (layers := _expert_layers(scenario)):
        yield all_to_all(scenario, message * exchanging, layers, exchanging)
    if anywhere(scenario.pipeline > 1):
        yield pipeline_send(scenario, message)


def all_reduce(devices: Numbers, message: Numbers, count: Numbers) -> Node:
    """Sums of the devices' partial results, `count` of them: after each mixer and each feed-forward network.

    A ring sends 2·(t−1)/t of the message from each device, in 2·(t−1) steps (Patarasuk and Yuan 2009, §3).
    """
    steps = 2 * (devices - 1)
    many = count * (devices > 1)
    return Node("all-reduce", link_bytes=count * steps / devices * message, link_steps=count * steps, messages=many)


def all_to_all(scenario: Scenario, message: Numbers, layers: list[tuple[Numbers, Experts]], exchanging: Any) -> Node:
    """Tokens to the devices that have their experts, and results back, in every layer of experts.

    A token's k experts lie on e·(1 − (1 − 1/e)^k) of e devices in expectation, each of which gets it
    once (DeepSeek-V3, 2024, §3.2.2); 1/e of what is sent stays. The devices of a tensor-parallel
    group share the sending, and gather what came back.
    """
    spread, group = scenario.expert_spread.devices, scenario.devices
    sent: Numbers = 0.0 * message
    steps: Numbers = 0.0
    for count, experts in layers:
        copies = spread * (1 - (1 - 1 / spread) ** experts.active)
        exchanged = 2 * copies * (1 - 1 / spread) / group
        sent = sent + count * (exchanged + (group - 1) / group) * message
        steps = steps + 2 * count * exchanging
    return Node("all-to-all", link_bytes=sent, link_steps=steps, messages=steps)


def pipeline_send(scenario: Scenario, message: Numbers) -> Node:
    """The residual stream from stage to stage, each device of a stage its share (Narayanan et al. 2021, §4.1)."""
    hops = scenario.pipeline - 1
    return Node("pipeline send", link_bytes=hops * message / scenario.devices, link_steps=hops, messages=hops)


def _expert_layers(scenario: Scenario) -> list[tuple[Numbers, Experts]]:
    return [(block.layers, block.ffn) for block in scenario.model.blocks if isinstance(block.ffn, Experts)]


def _reduced_layers(scenario: Scenario, exchanging: Any) -> Numbers:
    """All-reduces of a pass: one a mixer, one a feed-forward network whose results no all-to-all brings back."""
    count: Numbers = 0.0
    for block in scenario.model.blocks:
        brought = exchanging if isinstance(block.ffn, Experts) else False
        count = count + block.layers * ((block.mixer is not None) + (block.ffn is not None) * (1 - brought))
    return count
