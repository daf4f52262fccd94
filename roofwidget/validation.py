"""What a number may be, and the one error that says which parameters are faulty."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = float | NDArray[Any]
"""A number or an array of them: everything in the physics takes and gives either."""


class ParameterError(ValueError):
    """One or more parameters are faulty.

    Parameters
    ----------
    faults
        The name of each faulty parameter, and the sentence that says what is wrong with it.
    """

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "; ".join(self.faults.values())


@dataclass(frozen=True)
class Allowed:
    """The numbers a parameter may take: from `low` to `high`, whole ones only if `whole`.

    A `low` of 0 means "more than 0" unless `zero` is allowed too: nothing here is ever negative.
    Infinity is refused unless `infinite` allows it.
    """

    low: float = 0.0
    high: float = math.inf
    whole: bool = False
    zero: bool = False
    infinite: bool = False

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        low = f"more than {self.low:g}" if self.low == 0 and not self.zero else f"{self.low:,.12g}"
        if math.isinf(self.high):
            return f"{kind} {low}" if low.startswith("more") else f"{kind} of {low} or more"
        if low.startswith("more"):
            return f"{kind} {low} and at most {self.high:,.12g}"
        return f"{kind} from {low} to {self.high:,.12g}"

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with `value`, a number or an array of numbers; None if nothing is."""
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.ndarray)):
            return f"{name} must be {self}, not {shown(value)}"
        if isinstance(value, np.ndarray) and value.dtype.kind not in "iuf":
            return f"{name} must be {self}, not an array of {value.dtype}"
        if isinstance(value, np.ndarray):
            bad = value[~self._admits(value.astype(np.float64))]
            return f"{name} must be {self}, not {shown(bad[0].item())}" if bad.size else None
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        admitted = (
            self.low <= number <= self.high
            and (number > 0 or self.zero)
            and (math.isfinite(number) or self.infinite)
            and (not self.whole or number.is_integer() or math.isinf(number))
        )
        return None if admitted else f"{name} must be {self}, not {shown(value)}"

    def _admits(self, value: NDArray[np.float64]) -> NDArray[np.bool_]:
        admitted: NDArray[np.bool_] = (value >= self.low) & (value <= self.high)
        if not self.infinite:
            admitted &= np.isfinite(value)
        if not self.zero:
            admitted &= value > 0
        if self.whole:
            admitted &= np.floor(value) == value
        return admitted


POSITIVE = Allowed()
COUNT = Allowed(low=1, whole=True)
FRACTION = Allowed(high=1)


def settle(instance: object, **allowed: Allowed) -> None:
    """Check fields of a frozen dataclass and store them as float or float64 array.

    Floats, since int64 arithmetic wraps silently: 10⁴ sequences of 10⁶ tokens overflow it.

    Raises
    ------
    ParameterError
        Naming every faulty field.
    """
    faults = {}
    for name, rule in allowed.items():
        value = getattr(instance, name)
        if isinstance(value, (list, tuple)):
            value = np.asarray(value)
        if sentence := rule.fault(name, value):
            faults[name] = sentence
        else:
            object.__setattr__(instance, name, as_floats(value))
    if faults:
        raise ParameterError(faults)


def anywhere(test: Any) -> bool:
    """Whether a test of numbers or arrays is true of any; numpy's own is slow on a plain bool."""
    return bool(test) if isinstance(test, (bool, float)) else bool(np.any(test))


def as_floats(value: Any) -> Numbers:
    """A float, or a float64 array of an array, which the giver can no longer change."""
    if not isinstance(value, np.ndarray):
        return float(value)
    kept = np.array(value, np.float64)
    kept.setflags(write=False)
    return kept


def first_pair(at_odds: Any, *values: Numbers) -> list[float]:
    """The values, out of arrays or as they are, at the first place where they are at odds."""
    where = np.unravel_index(np.argmax(at_odds), np.shape(at_odds))
    return [float(np.broadcast_to(value, np.shape(at_odds))[where]) for value in values]


def shown(value: Any) -> str:
    """A value as a sentence about it can quote it: in full, unless it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes out no integer of more than 4,300 digits
        return "a number too long to show"
    return text if len(text) <= 60 else text[:57] + "..."
