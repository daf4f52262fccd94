"""Kinds of parameter: a number with its range and unit, or a yes or no."""

from __future__ import annotations

from typing import Any

import numpy as np
from traitlets import Bool, TraitError, TraitType

from roofwidget.validation import Allowed, ParameterError, shown


class ParameterTraitError(ParameterError, TraitError):
    """A faulty parameter that was assigned to a trait."""


class Quantity(TraitType[Any, Any]):
    """A number in an allowed range, with what a person needs to know to set it.

    Parameters
    ----------
    default
        Its default; None makes it optional, and `absent` says what None stands for.
    low, high, whole
        What is allowed.
    slider, doubling
        The ends of its slider, which need not reach as far as the range does, and whether it
        goes by powers of two.
    detail
        Whether its control is folded away until asked for.
    required
        Whether a request has to give it.
    unit, group, help
        What it is counted in, where its control stands, and what it means.
    label
        Its short name on screen.
    """

    def __init__(
        self,
        default: float | None,
        low: float,
        high: float,
        unit: str,
        group: str,
        help: str,
        *,
        label: str,
        slider: tuple[float, float],
        whole: bool = False,
        absent: str = "",
        required: bool = False,
        doubling: bool = False,
        detail: bool = False,
    ) -> None:
        super().__init__(default, allow_none=default is None, help=help)
        self.allowed = Allowed(low, high, whole)
        self.unit, self.group, self.label = unit, group, label
        self.slider, self.doubling, self.detail = slider, doubling, detail
        self.absent, self.required = absent, required

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        if value is None and self.allow_none:
            return None
        if isinstance(value, np.ndarray) and value.ndim > 0:
            return f"{name} must be {self.allowed}, not {type(value).__name__}"
        sentence = self.allowed.fault(name, value)
        if sentence and self.allow_none:
            return sentence.replace(f"{self.allowed}, not", f"{self.allowed}, or null, not")
        return sentence

    def validate(self, obj: Any, value: Any) -> float | int | None:
        """Take any real number in range; plain int or float comes out."""
        assert self.name is not None
        if sentence := self.fault(self.name, value):
            raise ParameterTraitError({self.name: sentence})
        if value is None:
            return None
        return int(value) if self.allowed.whole else float(value)


class Switch(Bool[bool, Any]):
    """A yes or no, with what a person needs to know to set it."""

    required = False

    def __init__(self, default: bool, group: str, help: str, *, label: str, detail: bool = False) -> None:
        super().__init__(default, help=help)
        self.group, self.label, self.detail = group, label, detail

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        return None if isinstance(value, (bool, np.bool_)) else f"{name} must be true or false, not {shown(value)}"

    def validate(self, obj: Any, value: Any) -> bool:
        """Take a bool only."""
        assert self.name is not None
        if sentence := self.fault(self.name, value):
            raise ParameterTraitError({self.name: sentence})
        return bool(value)
