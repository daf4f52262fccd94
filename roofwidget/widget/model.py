"""RooflineModel: parameters as traits, and the metrics that follow from them."""

from __future__ import annotations

from threading import RLock
from typing import Any

from traitlets import Instance, observe, validate

from roofwidget.checks import check, contradictions, filled, mean_length, unknown
from roofwidget.evaluate import Metrics, evaluate
from roofwidget.parameters import PARAMETERS, PRESETS, Parameters
from roofwidget.presets import preset_parameters
from roofwidget.quantity import ParameterTraitError
from roofwidget.scenario import Scenario
from roofwidget.validation import ParameterError


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
        with self._lock:
            standing = self.parameters()
            values = check(traits, standing)
            with self.hold_trait_notifications():
                for name, value in values.items():
                    if value != standing[name]:
                        super().__setattr__(name, value)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain values, ready for JSON, `infer` or another model."""
        return {name: getattr(self, name) for name in [*PARAMETERS, *PRESETS]}

    def arguments(self) -> dict[str, Any]:
        """The fewest arguments that make this state: presets, and what differs from them."""
        presets = {name: getattr(self, name) for name in PRESETS if getattr(self, name) is not None}
        base = {name: parameter.default_value for name, parameter in PARAMETERS.items()}
        for name, value in presets.items():
            base |= preset_parameters(name, value)
        if isinstance(self.output_lengths, tuple):
            base["output_tokens"] = mean_length(self.output_lengths)
        return presets | {name: getattr(self, name) for name in PARAMETERS if getattr(self, name) != base[name]}

    def code(self, callee: str) -> str:
        """A Python call of `callee` that makes this state."""
        return f"{callee}({', '.join(f'{name}={value!r}' for name, value in self.arguments().items())})"

    @validate(*PARAMETERS)
    def _no_contradiction(self, proposal: Any) -> Any:
        values = {**self.parameters(), proposal.trait.name: proposal.value}
        if faults := dict(contradictions(values)):
            raise ParameterTraitError(faults)
        return proposal.value

    @observe(*PARAMETERS, *PRESETS)
    def _changed(self, change: Any) -> None:
        """Runs for each trait of a change set, when all of them have their new values."""
        self._recompute()

    def _recompute(self) -> None:
        try:
            scenario = self.scenario
        except ParameterError:  # an exception left a hold half-way; traitlets rolls back for a TraitError only
            with self.hold_trait_notifications():
                for name, value in self._standing.items():
                    super().__setattr__(name, value)
            return
        if scenario != self._scenario:
            self._scenario, self._standing = scenario, self.parameters()
            self.set_trait("metrics", evaluate(scenario))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        elif name in PRESETS:  # its numbers and its name are one change, checked when all of them stand
            with self._lock, self.hold_trait_notifications():
                for parameter, number in filled(name, value, self.parameters()).items():
                    super().__setattr__(parameter, number)
                super().__setattr__(name, value)
        elif name == "output_lengths":  # a list sets their mean too
            self.update(output_lengths=value)
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


def _made(kind: type[RooflineModel], arguments: dict[str, Any]) -> RooflineModel:
    return kind(**arguments)
