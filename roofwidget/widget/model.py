"""RooflineModel: parameters as traits, and the metrics that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock
from typing import Any

from traitlets import Instance, Unicode, observe, validate

from roofwidget.checks import check, contradictions, unknown
from roofwidget.evaluate import Metrics, evaluate
from roofwidget.hardware import Accelerator
from roofwidget.parameters import PARAMETERS, Parameters, accelerator_parameters, transformer_parameters
from roofwidget.quantity import ParameterTraitError
from roofwidget.scenario import Scenario
from roofwidget.transformer import Transformer
from roofwidget.validation import ParameterError, shown

PRESETS: dict[str, tuple[Callable[[], list[str]], Callable[[str], dict[str, Any]]]] = {
    "accelerator": (Accelerator.names, accelerator_parameters),
    "transformer": (Transformer.names, transformer_parameters),
}


class RooflineModel(Parameters):
    """All parameters as traits, two presets that fill them, and the metrics as a read-only trait.

    Assign one trait, or several at once with `update`: each change set is checked as a whole,
    evaluated once and then told once through `metrics`. A change that is refused changes nothing.

    Parameters
    ----------
    **traits
        Initial values by trait name.

    Raises
    ------
    TypeError
        For a name that is no trait; the message suggests the nearest.
    ParameterError
        Naming every faulty parameter. It is a `traitlets.TraitError` too.
    """

    accelerator = Unicode(None, allow_none=True, help="Name of the accelerator whose numbers these are, if any.")
    transformer = Unicode(None, allow_none=True, help="Name of the transformer whose numbers these are, if any.")
    metrics = Instance(Metrics, read_only=True, help="What the parameters come to.")

    def __init__(self, **traits: Any) -> None:
        # JupyterLab runs the callbacks of controls in a thread beside the one that runs cells
        self._lock = RLock()
        super().__init__()
        self._scenario: Scenario | None = None
        self._standing: dict[str, Any] = {}
        self.update(**traits)
        self._recompute()

    def update(self, **traits: Any) -> None:
        """Set many traits as one change; those that a preset also fills win over it.

        Raises
        ------
        TypeError, ParameterError
            As for the constructor; then nothing has changed.
        """
        for name in traits:
            if name not in PARAMETERS and name not in PRESETS:
                raise TypeError(unknown(name, [*PARAMETERS, *PRESETS]))
        presets = {name: value for name, value in traits.items() if name in PRESETS}
        given = {**self._preset_values(presets), **{n: v for n, v in traits.items() if n in PARAMETERS}}
        with self._lock:
            values = check(given, self.parameters())
            presets |= dict.fromkeys(stale(presets, values))
            with self.hold_trait_notifications():
                for name in given:
                    setattr(self, name, values[name])
                for name, value in presets.items():
                    super().__setattr__(name, value)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain values, ready for JSON, `infer` or another model."""
        return {name: getattr(self, name) for name in PARAMETERS}

    def arguments(self) -> dict[str, Any]:
        """The fewest arguments that make this state: presets, and what differs from them."""
        presets = {name: getattr(self, name) for name in PRESETS if getattr(self, name) is not None}
        base = {name: parameter.default_value for name, parameter in PARAMETERS.items()} | self._preset_values(presets)
        return presets | {name: value for name, value in self.parameters().items() if value != base[name]}

    def code(self, callee: str) -> str:
        """A Python call of `callee` that makes this state."""
        return f"{callee}({', '.join(f'{name}={value!r}' for name, value in self.arguments().items())})"

    @staticmethod
    def _preset_values(presets: Mapping[str, str | None]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for preset, name in presets.items():
            names, parameters = PRESETS[preset]
            if name is not None and not (isinstance(name, str) and name in names()):
                known = ", ".join(names())
                raise ParameterTraitError({preset: f"{preset} must be one of {known}, not {shown(name)}"})
            if name is not None:
                values |= parameters(name)
        return values

    @validate(*PARAMETERS)
    def _no_contradiction(self, proposal: Any) -> Any:
        values = {**self.parameters(), proposal.trait.name: proposal.value}
        if faults := dict(contradictions(values)):
            raise ParameterTraitError(faults)
        return proposal.value

    @validate(*PRESETS)
    def _in_catalog(self, proposal: Any) -> Any:
        self._preset_values({proposal.trait.name: proposal.value})
        return proposal.value

    @observe(*PARAMETERS, *PRESETS)
    def _changed(self, change: Any) -> None:
        """Runs for each trait of a change set, when all of them have their new values."""
        for preset in stale({preset: getattr(self, preset) for preset in PRESETS}, self.parameters()):
            super().__setattr__(preset, None)
        self._recompute()

    def _recompute(self) -> None:
        try:
            scenario = self.scenario
        except ParameterError:  # an exception left a hold half-way; traitlets rolls back for a TraitError only
            with self.hold_trait_notifications():
                for name, value in self._standing.items():
                    setattr(self, name, value)
            return
        if scenario != self._scenario:
            self._scenario, self._standing = scenario, self.parameters()
            self.set_trait("metrics", evaluate(scenario))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif name in PRESETS:  # its numbers and its name are one change
            with self._lock, self.hold_trait_notifications():
                for parameter, number in self._preset_values({name: value}).items():
                    setattr(self, parameter, number)
                super().__setattr__(name, value)
        elif not hasattr(self, name):  # a misspelt trait would do nothing, silently
            raise AttributeError(unknown(name, [*PARAMETERS, *PRESETS]))
        else:
            with self._lock:
                super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made anew from the arguments: a lock cannot be copied."""
        return _made, (type(self), self.arguments())

    def __repr__(self) -> str:
        return self.code("RooflineModel")


def stale(presets: Mapping[str, str | None], values: Mapping[str, Any]) -> list[str]:
    """The presets whose numbers are not those of `values`."""
    return [
        preset
        for preset, name in presets.items()
        if name is not None and any(values[k] != v for k, v in PRESETS[preset][1](name).items())
    ]


def _made(kind: type[RooflineModel], arguments: dict[str, Any]) -> RooflineModel:
    return kind(**arguments)
