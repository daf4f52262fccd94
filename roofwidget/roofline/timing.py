"""How long a pass takes under the roofline, and what holds each node back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from roofwidget.efficiency import IDEAL
from roofwidget.roofline.node import Node
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers, anywhere

BOUNDS = ("memory", "compute", "communication", "overhead")
"""What can hold a node back, in the order of the terms of its time."""


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass on each device, node by node; the first axis of each array is the node's.

    Parameters
    ----------
    nodes
        The nodes, in the order they run.
    flops, bytes
        What each computes and moves.
    terms
        Seconds each would need for its bytes, its FLOPs and its communication alone, and what it
        takes beside, in the order of `BOUNDS`, which is the first axis here.
    """

    nodes: tuple[Node, ...]
    flops: NDArray[np.float64]
    bytes: NDArray[np.float64]
    terms: NDArray[np.float64]

    @cached_property
    def node_times(self) -> NDArray[np.float64]:
        """Seconds of each node: its largest term, never their sum (Williams et al. 2009, §3)."""
        return np.asarray(np.max(self.terms, axis=0))

    @cached_property
    def node_bounds(self) -> NDArray[np.intp]:
        """Index into `BOUNDS` of each node's largest term."""
        return np.asarray(np.argmax(self.terms, axis=0))

    @cached_property
    def time(self) -> Numbers:
        """Seconds of the whole pass: nodes run one after another."""
        return total(self.node_times)

    @cached_property
    def bound(self) -> NDArray[np.intp]:
        """Index into `BOUNDS` of what holds the pass back for the largest part of its time."""
        spent = [np.where(self.node_bounds == bound, self.node_times, 0).sum(axis=0) for bound in range(len(BOUNDS))]
        return np.asarray(np.argmax(spent, axis=0))

    @property
    def bound_name(self) -> str:
        """What holds the pass back, by name; for a pass of plain numbers."""
        return BOUNDS[int(self.bound)]

    @property
    def node_bound_names(self) -> list[str]:
        """What holds each node back, by name; for a pass of plain numbers."""
        return [BOUNDS[bound] for bound in self.node_bounds]

    @property
    def node_shares(self) -> NDArray[np.float64]:
        """Share of the pass's time that each node takes."""
        return self.node_times / self.time

    @property
    def node_speeds(self) -> NDArray[np.float64]:
        """FLOP/s that each node achieves."""
        return self.flops / self.node_times

    @cached_property
    def intensity(self) -> Numbers:
        """Arithmetic intensity of the whole pass, FLOP/byte."""
        return total(self.flops) / total(self.bytes)

    @cached_property
    def node_intensities(self) -> NDArray[np.float64]:
        """Arithmetic intensity of each node, FLOP/byte; NaN where a node moves no bytes."""
        return np.divide(self.flops, self.bytes, out=np.full_like(self.flops, np.nan), where=self.bytes > 0)


def total(by_node: NDArray[np.float64]) -> Numbers:
    """Sum over the nodes: a plain number where each node has one."""
    summed = by_node.sum(axis=0)
    return summed if np.ndim(summed) else float(summed)


def time_pass(nodes: tuple[Node, ...], scenario: Scenario) -> Pass:
    """Time nodes on the scenario's device.

    A node needs max(FLOPs / peak, bytes / bandwidth, link bytes / link bandwidth + link steps ·
    link latency) seconds: data stream while the units compute. The peak is that of the format
    linear layers are computed in, or for all else that of 16 bits. Each roof counts as far as the
    scenario's efficiency says that it is reached.
    """
    rates, ideal = Rates.of(scenario), scenario.efficiency is IDEAL
    streamed = [node.weight_bytes + node.activation_bytes for node in nodes]
    cached = [node.kv_bytes for node in nodes]
    flops = [node.flops for node in nodes]
    sent = [node.link_bytes for node in nodes]
    beside = [node.overhead for node in nodes]
    # the shape that all of it broadcasts to, found by adding it up
    shape = np.shape(sum(streamed) + sum(cached) + sum(flops) + sum(sent) + sum(beside) + sum(rates))
    work = np.empty((4, len(nodes), *shape))
    for kind, parts in enumerate((streamed, cached, flops, sent)):
        for row, part in enumerate(parts):
            work[kind, row] = part
    terms = np.zeros_like(work)
    terms[0] = work[0] / rates.memory + work[1] / rates.cache
    terms[1] = work[2] / rates.linear
    terms[2] = work[3] / rates.link
    for row, node in enumerate(nodes):
        if not node.linear:
            terms[1, row] = work[2, row] / (rates.attention if "attention" in node.name else rates.other)
        elif not ideal:
            terms[0, row] = work[0, row] / rates.narrow
            if "experts" in node.name:
                terms[1, row] = work[2, row] / rates.experts
        if anywhere(node.link_steps):
            terms[2, row] += node.link_steps * rates.hop + node.messages * rates.message
        if anywhere(node.overhead):
            terms[3, row] = node.overhead
    return Pass(nodes, flops=work[2], bytes=work[0] + work[1], terms=terms)


class Rates(NamedTuple):
    """What a device does in a second as far as its roofs are reached, and how long a message waits.

    Parameters
    ----------
    memory, narrow, cache
        Bytes/s of weights and activations, of those that linear layers compute with in their format, and of the KV
        cache.
    linear, experts, attention, other
        FLOP/s of linear layers, of experts, of attention, and of the rest.
    link
        Bytes/s to its peers.
    hop, message
        Seconds of each step of a collective, and of each collective.
    """

    memory: Numbers
    narrow: Numbers
    cache: Numbers
    linear: Numbers
    experts: Numbers
    attention: Numbers
    other: Numbers
    link: Numbers
    hop: Numbers
    message: Numbers

    @classmethod
    def of(cls, scenario: Scenario) -> Rates:
        """Those of a scenario's device in its engine."""
        device, reached, sixteen = scenario.device, scenario.efficiency, scenario.sixteen_bit_peak
        if reached is IDEAL:
            bandwidth, link = device.bandwidth, device.link_bandwidth
            hop = device.link_latency
            return cls(bandwidth, bandwidth, bandwidth, scenario.peak, scenario.peak, sixteen, sixteen, link, hop, 0.0)
        narrow = scenario.computes_narrow
        memory = device.bandwidth * reached.memory
        return cls(
            memory=memory,
            narrow=device.bandwidth * reached.narrow_memory if narrow else memory,
            cache=device.bandwidth * reached.attention_memory,
            linear=scenario.peak * (reached.narrow_compute if narrow else reached.compute),
            experts=scenario.peak * reached.expert_compute,
            attention=sixteen * reached.attention_compute,
            other=sixteen * reached.compute,
            link=device.link_bandwidth * reached.link,
            hop=device.link_latency,
            message=reached.collective,
        )
