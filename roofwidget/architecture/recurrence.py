"""Layers that keep a state of fixed size of each sequence: state-space models and linear attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from roofwidget.architecture.matrix import Matrix, Side, product, whole
from roofwidget.architecture.work import Extent, Work
from roofwidget.validation import COUNT, Allowed, Numbers, anywhere, first_pair, settle


@dataclass(frozen=True)
class Recurrence:
    """One recurrent layer.

    Parameters
    ----------
    heads, head_dim
        Its heads and the width of what each puts out.
    state_dim
        Width of the other side of each head's state: a head keeps head_dim · state_dim elements.
    input_width
        Outputs of the projections before it, all heads together.
    replicated_inputs
        Those of them that every device makes in full.
    conv_width, conv_kernel
        Channels of the short convolution before it, and tokens that it sees.
    inner_params
        Parameters of the matrices between its projections: gates of low rank, step sizes.
    more_params
        Parameters beside projections, convolution and these: decay, skip, gains.
    state_bytes
        Bytes an element of the state takes: 4, engines keep it in fp32 (conv_bytes: 2).
    state_flops
        FLOPs of a token for each element of the state: 6 for a decayed outer product and a
        read-out (Mamba-2, Dao and Gu 2024, §6), 8 where the delta rule reads before it writes
        (Yang et al. 2024, "Gated Delta Networks", §3).
    """

    heads: Numbers
    head_dim: Numbers
    state_dim: Numbers
    input_width: Numbers
    replicated_inputs: Numbers = 0.0
    conv_width: Numbers = 0.0
    conv_kernel: Numbers = 0.0
    inner_params: Numbers = 0.0
    more_params: Numbers = 0.0
    state_bytes: Numbers = 4.0
    conv_bytes: Numbers = 2.0
    state_flops: Numbers = 6.0

    def __post_init__(self) -> None:
        some = Allowed(zero=True)
        settle(self, heads=COUNT, head_dim=COUNT, state_dim=some, input_width=some, replicated_inputs=some)
        settle(self, conv_width=some, conv_kernel=some, inner_params=some, more_params=some, state_flops=some)

    @property
    def kv_heads(self) -> Numbers:
        """As many as heads: none share."""
        return self.heads

    @property
    def kv_width(self) -> Numbers:
        """Elements of KV cache of a token: none."""
        return 0.0

    def inputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """Projections before it."""
        split = Matrix(whole(hidden), Side(self.input_width))
        return (split, Matrix(whole(hidden), whole(self.replicated_inputs), again=True))

    def outputs(self, hidden: Numbers) -> tuple[Matrix, ...]:
        """The projection after it."""
        return (Matrix(Side(self.heads, self.head_dim), whole(hidden)),)

    @property
    def extra_params(self) -> Numbers:
        """Convolution and what else has weights."""
        return self.conv_width * self.conv_kernel + self.inner_params + self.more_params

    def works(self, extent: Extent, hidden: Numbers, devices: Numbers) -> tuple[Work, ...]:
        """Projections, convolution and state update of a pass.

        The state of each sequence is read and written once a pass, however many tokens it has.
        """
        elements = self.heads * self.head_dim * self.state_dim / devices
        between = (self.conv_width * self.conv_kernel + self.inner_params) / devices
        core = Work(
            "recurrence",
            flops=extent.tokens * (self.state_flops * elements + 2 * between),
            weights=self.extra_params / devices,
            activations=extent.tokens * (self.input_width + self.heads * self.head_dim) / devices,
            state_bytes=extent.batch * 2 * self.kept_bytes(1.0, devices),
        )
        return (
            product("recurrence input", self.inputs(hidden), extent.tokens, devices),
            core,
            product("recurrence output", self.outputs(hidden), extent.tokens, devices),
        )

    def kept(self, context: Numbers, devices: Numbers) -> Numbers:
        """Elements of KV cache: none."""
        return 0.0 * context

    def kept_bytes(self, context: Numbers, devices: Numbers) -> Numbers:
        """Bytes of state of a sequence, on each device, whatever its length."""
        state = self.heads * self.head_dim * self.state_dim * self.state_bytes
        window = self.conv_width * np.maximum(self.conv_kernel - 1, 0) * self.conv_bytes
        return (state + window) / devices

    def shardable(self, devices: Numbers) -> Any:
        """Whether devices can share the heads evenly; a bool, or an array of them."""
        return self.heads % devices == 0

    def fault(self, devices: Numbers) -> str | None:
        """Say where devices cannot share the heads evenly; None where they can."""
        at_odds = np.logical_not(self.shardable(devices))
        if not anywhere(at_odds):
            return None
        heads, count = first_pair(at_odds, self.heads, devices)
        return f"devices must divide the {heads:g} heads of recurrent layers, and {count:g} does not"

    def resized(self, heads: float, kv_heads: float, head_dim: float) -> Recurrence:
        """The same with so many times the heads and width."""
        times = heads * head_dim
        return replace(
            self,
            heads=self.heads * heads,
            head_dim=self.head_dim * head_dim,
            input_width=self.input_width * times,
            conv_width=self.conv_width * times,
        )
