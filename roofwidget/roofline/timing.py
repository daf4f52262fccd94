"""How long a pass takes under the roofline, and what holds each node back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from roofwidget.roofline.node import Node
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers, anywhere

BOUNDS = ("memory", "compute", "communication")
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
        Seconds each would need for its bytes, its FLOPs and its communication alone, in the
        order of `BOUNDS`, which is the first axis here.
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
    linear layers are computed in, or for all else that of 16 bits.
    """
    device, peak, sixteen = scenario.device, scenario.peak, scenario.sixteen_bit_peak
    flops = [node.flops for node in nodes]
    moved = [node.bytes for node in nodes]
    sent = [node.link_bytes for node in nodes]
    # the shape that all of it broadcasts to, found by adding it up
    rates = peak + device.bandwidth + device.link_bandwidth + device.link_latency
    shape = np.shape(sum(flops) + sum(moved) + sum(sent) + rates)
    work = np.empty((3, len(nodes), *shape))
    for kind, parts in enumerate((moved, flops, sent)):
        for row, part in enumerate(parts):
            work[kind, row] = part
    terms = np.empty_like(work)
    for kind, rate in enumerate((device.bandwidth, peak, device.link_bandwidth)):
        terms[kind] = work[kind] / rate
    if sixteen is not peak:
        for row, node in enumerate(nodes):
            if not node.linear:
                terms[1, row] = work[1, row] / sixteen
    if anywhere(device.link_latency):
        for row, node in enumerate(nodes):
            terms[2, row] += node.link_steps * device.link_latency
    return Pass(nodes, flops=work[1], bytes=work[0], terms=terms)
