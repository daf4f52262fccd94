"""Feed-forward networks: dense, and mixtures of experts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from roofwidget.architecture.matrix import Matrix, product, whole
from roofwidget.architecture.work import Extent, Work
from roofwidget.validation import COUNT, POSITIVE, Allowed, Numbers, ParameterError, anywhere, settle, shown


class Spread(NamedTuple):
    """How the experts of a layer lie on devices: each device a slice of all, or `whole` ones each."""

    devices: Numbers
    whole: bool = False

    def held(self, experts: Numbers) -> Numbers:
        """Share of them that the fullest device holds."""
        return np.ceil(experts / self.devices) / experts if self.whole else 1 / self.devices

    def read(self, touched: Numbers) -> Numbers:
        """Experts that the busiest device reads, of those touched: no part of one where they are whole."""
        return np.maximum(touched / self.devices, np.minimum(touched, 1.0)) if self.whole else touched / self.devices

    def computed(self, experts: Numbers) -> Numbers:
        """Devices that share the computing: no more than there are experts, where they are whole."""
        return np.minimum(self.devices, experts) if self.whole else self.devices


def matrices_of(gated: bool) -> int:
    """Three matrices in a gated FFN (gate, up, down; Shazeer 2020, "GLU Variants"), else two."""
    return 3 if gated else 2


@dataclass(frozen=True)
class FeedForward:
    """A dense feed-forward network of one layer.

    Parameters
    ----------
    width
        Of the intermediate. Need not be whole: where it is derived from a parameter count it is
        what makes that count come out.
    gated
        Whether it has three matrices (SwiGLU) or two.
    """

    width: Numbers
    gated: bool = True

    def __post_init__(self) -> None:
        settle(self, width=POSITIVE)
        check_flags(self, "gated")

    def params(self, hidden: Numbers) -> Numbers:
        """Its parameters, all of which each token uses."""
        return matrices_of(self.gated) * hidden * self.width

    active_params = params

    def scaled_params(self, hidden: Numbers) -> Numbers:
        """Those that grow with its width: all."""
        return self.params(hidden)

    def params_on(self, hidden: Numbers, devices: Numbers) -> Numbers:
        """Its parameters on each device."""
        return self.params(hidden) / devices

    def expert_params_on(self, hidden: Numbers, spread: Spread) -> Numbers:
        """Parameters of experts: it has none."""
        return 0.0

    def live(self, devices: Numbers) -> Numbers:
        """Elements of its intermediates that are live for a token, on each device."""
        return (matrices_of(self.gated) - 1) * self.width / devices

    def works(self, extent: Extent, hidden: Numbers, devices: Numbers, spread: Spread) -> tuple[Work, ...]:
        """6·T·h·f FLOPs gated, 4·T·h·f plain.

        The input is read, the f-wide intermediate written and read again, the output written; gate
        and activation function are fused.
        """
        weights = matrices_of(self.gated) * hidden * self.width / devices
        return (
            Work(
                "FFN",
                flops=2 * extent.tokens * weights,
                weights=weights,
                activations=extent.tokens * 2 * (hidden + self.width / devices),
                linear=True,
            ),
        )

    def widened(self, times: Numbers) -> FeedForward:
        """The same, so many times as wide."""
        return replace(self, width=self.width * times)


@dataclass(frozen=True)
class Experts:
    """A mixture of experts of one layer, with a router and perhaps a shared expert.

    Parameters
    ----------
    experts, active
        How many there are, and to how many of them each token goes.
    width
        Of an expert's intermediate.
    shared_width
        Of the intermediate that every token goes through beside them; 0 if there is none.
    gated
        Whether each has three matrices or two.
    latent_dim
        Width of what goes into experts and comes out, where that is projected down from the
        residual stream and back (Nemotron 3's LatentMoE); None where it is the stream itself.

    Raises
    ------
    ParameterError
        If a number is no count, or more experts are active than there are.
    """

    experts: Numbers
    active: Numbers
    width: Numbers
    shared_width: Numbers = 0.0
    gated: bool = True
    latent_dim: Numbers | None = None

    def __post_init__(self) -> None:
        settle(self, experts=COUNT, active=COUNT, width=POSITIVE, shared_width=Allowed(zero=True))
        check_flags(self, "gated")
        if anywhere(self.active > self.experts):
            sentence = f"active experts must be at most the {self.experts:g} there are, not {self.active:g}"
            raise ParameterError({"active": sentence})

    def _channels(self, hidden: Numbers) -> Numbers:
        return hidden if self.latent_dim is None else self.latent_dim

    def _expert(self, hidden: Numbers) -> Numbers:
        return matrices_of(self.gated) * self._channels(hidden) * self.width

    def _beside(self, hidden: Numbers) -> Numbers:
        """Router, and the projections to and from the experts' channels."""
        latent = 0.0 if self.latent_dim is None else 2 * hidden * self.latent_dim
        return hidden * self.experts + latent

    def _shared(self, hidden: Numbers) -> Numbers:
        return matrices_of(self.gated) * hidden * self.shared_width

    def params(self, hidden: Numbers) -> Numbers:
        """All its parameters."""
        return self.experts * self._expert(hidden) + self._shared(hidden) + self._beside(hidden)

    def active_params(self, hidden: Numbers) -> Numbers:
        """Those that a token uses."""
        return self.active * self._expert(hidden) + self._shared(hidden) + self._beside(hidden)

    def scaled_params(self, hidden: Numbers) -> Numbers:
        """Those that grow with its widths."""
        return self.experts * self._expert(hidden) + self._shared(hidden)

    def params_on(self, hidden: Numbers, devices: Numbers) -> Numbers:
        """Its parameters on each device, without the experts themselves."""
        return self._shared(hidden) / devices + self._beside(hidden)

    def expert_params_on(self, hidden: Numbers, spread: Spread) -> Numbers:
        """Parameters of the experts on the device that holds most of them."""
        return self.experts * self._expert(hidden) * spread.held(self.experts)

    def live(self, devices: Numbers) -> Numbers:
        """Elements of its intermediates that are live for a token, on each device."""
        wide = np.maximum(self.active * self.width, self.shared_width)
        return (matrices_of(self.gated) - 1) * wide / devices

    def touched(self, tokens: Numbers) -> Numbers:
        """Experts that at least one of `tokens` goes to, in expectation: E·(1 − (1 − k/E)^T).

        With tokens routed evenly and apart from each other: what the router is trained for. Real
        traffic touches somewhat fewer.
        """
        return self.experts * -np.expm1(tokens * np.log1p(-np.minimum(self.active / self.experts, 1 - 1e-15)))

    def works(self, extent: Extent, hidden: Numbers, devices: Numbers, spread: Spread) -> tuple[Work, ...]:
        """Router, experts and shared expert.

        Each device reads the experts touched that it holds, or its slice of each, and computes its
        share of all routed tokens.
        """
        channels, tokens = self._channels(hidden), extent.tokens
        visits = extent.routed * self.active / spread.computed(self.experts)
        router = product("router", (Matrix(whole(hidden), whole(self.experts)),), tokens, devices)
        works = [router._replace(linear=False)]  # small, and kept in 16 bits
        if self.latent_dim is not None:
            down = Matrix(whole(hidden), whole(self.latent_dim))
            up = Matrix(whole(self.latent_dim), whole(hidden))
            works.append(product("latent projection", (down, up), tokens, devices))
        works.append(
            Work(
                "experts",
                flops=2 * visits * self._expert(hidden),
                expert_weights=spread.read(self.touched(extent.routed)) * self._expert(hidden),
                activations=visits * 2 * (channels + self.width),
                linear=True,
            )
        )
        if anywhere(self.shared_width):
            shared = self._shared(hidden) / devices
            moved = tokens * 2 * (hidden + self.shared_width / devices)
            works.append(Work("shared expert", 2 * tokens * shared, shared, activations=moved, linear=True))
        return tuple(works)

    def widened(self, times: Numbers) -> Experts:
        """The same, its experts so many times as wide."""
        return replace(self, width=self.width * times, shared_width=self.shared_width * times)


def check_flags(instance: object, *names: str) -> None:
    """Refuse what is neither true nor false."""
    faults = {
        name: f"{name} must be true or false, not {shown(getattr(instance, name))}"
        for name in names
        if not isinstance(getattr(instance, name), (bool, np.bool_))
    }
    if faults:
        raise ParameterError(faults)
