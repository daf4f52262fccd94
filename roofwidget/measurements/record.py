"""Record: one result of a file, its fields read by kind and refused by name."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roofwidget.validation import Allowed, ParameterError, shown

ALL_AT_ONCE = ("inf", "infinity", "trace")
"""What tools call the rate of requests that are all sent at once, or when a trace says."""


class MeasurementError(ParameterError):
    """A file of measurements that cannot be read, is of no known tool, or says what cannot be."""

    def __init__(self, sentence: str) -> None:
        super().__init__({"measurements": sentence})

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.faults["measurements"],)


class Record:
    """One result of a file.

    Parameters
    ----------
    fields
        As the file has them.
    place
        What sentences call it: the name of its file, and which of several results it is.
    path
        Of an object in it, as "latency.time_to_first_token."; "" for the result itself.
    """

    def __init__(self, fields: Mapping[str, Any], place: str, path: str = "") -> None:
        self.fields, self.place, self.path = fields, place, path

    def __contains__(self, name: str) -> bool:
        return not is_blank(self.fields.get(name))

    def __iter__(self) -> Iterator[str]:
        return iter(str(name) for name in self.fields)

    def number(self, *names: str, scale: float = 1.0, zero: bool = False) -> float | None:
        """The first of these fields that is there, times `scale`; None if none is.

        Text that is a number is one: tables have nothing else.

        Raises
        ------
        MeasurementError
            If it is no finite number above 0, or at 0 where `zero` may be.
        """
        for name in names:
            if name not in self:
                continue
            value, allowed = self.fields[name], Allowed(zero=zero)
            found = plain_number(value)
            if found is None or allowed.fault(name, found):
                raise self.fault(name, str(allowed), value)
            return found * scale
        return None

    def measured(self, *names: str, scale: float = 1.0) -> float | None:
        """As `number`, but of a field that the tool writes 0 into where it measured nothing."""
        return self.number(*names, scale=scale, zero=True) or None

    def rate(self, *names: str) -> float | None:
        """Offered requests/s; None where all were sent at once, or when a trace said: infinity, or 0."""
        for name in names:
            value = self.fields.get(name)
            if value == math.inf or (isinstance(value, str) and value.strip().lower() in ALL_AT_ONCE):
                return None
        return self.measured(*names)

    def text(self, *names: str) -> str | None:
        """The first of these fields that is there: a text, or a list of one; None if none is."""
        for name in names:
            if name not in self:
                continue
            value = self.fields[name]
            if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 1:
                value = value[0]
            if not isinstance(value, (str, numbers.Real)) or isinstance(value, bool):
                raise self.fault(name, "a text", value)
            return str(value).strip()
        return None

    def inner(self, name: str) -> Record:
        """The object in a field; an empty one where there is none.

        Raises
        ------
        MeasurementError
            If the field is there and no object.
        """
        value = self.fields.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise self.fault(name, "an object", value)
        return Record(value or {}, self.place, f"{self.path}{name}.")

    def fault(self, name: str, right: str, value: Any) -> MeasurementError:
        """That a field is not what it must be."""
        return MeasurementError(f"{self.place}: {self.path}{name} must be {right}, not {shown(value)}")


def is_blank(value: Any) -> bool:
    """Whether a cell or field is there for form only: null, or nothing but spaces."""
    return value is None or (isinstance(value, str) and not value.strip())


def plain_number(value: Any) -> float | None:
    """A number, or a text that is one, as a float; None for what is none."""
    if isinstance(value, str):
        try:
            return None if "_" in value else float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
