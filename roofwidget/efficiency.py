"""What of its roofs a device reaches in a serving engine, and what the engine takes beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roofwidget import catalog
from roofwidget.validation import FRACTION, Allowed, Numbers, settle

if TYPE_CHECKING:
    from roofwidget.hardware import Accelerator

SHARES = (
    "memory",
    "narrow_memory",
    "attention_memory",
    "compute",
    "narrow_compute",
    "expert_compute",
    "attention_compute",
    "link",
)
"""The constants that are shares of a roof."""
TIMES = (
    "collective",
    "layer",
    "eager_layer",
    "narrow_layer",
    "expert_layer",
    "eager_expert_layer",
    "step",
    "sequence",
    "request",
)
"""The constants that are seconds."""
OTHERS = "others"
"""The family of accelerators that are in no other."""


@dataclass(frozen=True)
class Efficiency:
    """Shares of the roofs, and times that no roof explains; the default reaches all of them, and takes none.

    Parameters
    ----------
    memory, narrow_memory, attention_memory
        Share of the memory bandwidth that matrix products reach in 16 bits and in narrower formats, and that
        attention reaches reading its cache.
    compute, narrow_compute, expert_compute, attention_compute
        Share of the peak that linear layers reach in 16 bits and in narrower formats, that experts reach in
        either, whose tokens come in small groups, and that attention reaches.
    link
        Share of the link's bandwidth that collectives reach.
    collective
        Time that a collective takes whatever its size, beside the link's latency, s.
    layer
        Time of a layer between its nodes in a pass of captured graphs: launches, norms, what is not fused, s.
    eager_layer
        The same on top, of a layer in a pass that has prompt tokens: those are launched one by one, s.
    narrow_layer
        The same on top, of a layer that computes in fewer than 16 bits: activations are quantized before each
        product, s.
    expert_layer
        The same on top, of a layer of experts: tokens are sorted by expert, and brought back in order, s.
    eager_expert_layer
        The same on top, of a layer of experts in a pass that has prompt tokens, s.
    step
        Time of a step that the engine takes to prepare it, s.
    sequence
        The same for each sequence in it: sampling, and sending its token, s.
    request
        Time of a request before and after its prefill, s.
    """

    memory: Numbers = 1.0
    narrow_memory: Numbers = 1.0
    attention_memory: Numbers = 1.0
    compute: Numbers = 1.0
    narrow_compute: Numbers = 1.0
    expert_compute: Numbers = 1.0
    attention_compute: Numbers = 1.0
    link: Numbers = 1.0
    collective: Numbers = 0.0
    layer: Numbers = 0.0
    eager_layer: Numbers = 0.0
    narrow_layer: Numbers = 0.0
    expert_layer: Numbers = 0.0
    eager_expert_layer: Numbers = 0.0
    step: Numbers = 0.0
    sequence: Numbers = 0.0
    request: Numbers = 0.0

    def __post_init__(self) -> None:
        settle(self, **dict.fromkeys(SHARES, FRACTION), **dict.fromkeys(TIMES, Allowed(zero=True)))

    @classmethod
    def of(cls, accelerator: Accelerator | str, engine: str = "vLLM") -> Efficiency:
        """What an accelerator reaches in an engine: as its family does, or as `others` where none is known of it.

        Parameters
        ----------
        accelerator
            Or its name. One that is in no family counts as one of `others`.
        engine
            One of `engines()`.

        Raises
        ------
        KeyError
            If there is no engine of that name.

        Examples
        --------
        >>> Efficiency.of("H200 SXM") == Efficiency.of("H100 SXM")
        True
        """
        name = catalog.spelled("accelerators", accelerator) if isinstance(accelerator, str) else accelerator.name
        shares, times = catalog.entry("efficiency", family(name)), catalog.entry("engine_times", engine)
        taken = {name: times[f"{name}_us"] * 1e-6 for name in TIMES}
        return cls(**{name: shares[name] for name in SHARES}, **taken)


def engines() -> list[str]:
    """Serving engines whose times are known."""
    return list(catalog.entries("engine_times"))


def family(accelerator: str) -> str:
    """The family of an accelerator of that name; `others` where it is in none."""
    families = catalog.entries("efficiency")
    return next((name for name, facts in families.items() if accelerator in facts["devices"]), OTHERS)


IDEAL = Efficiency()
"""What the roofline alone allows: the bound."""
