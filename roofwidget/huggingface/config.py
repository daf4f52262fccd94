"""Config: the fields of a configuration, read by kind and refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roofwidget.huggingface.reading import ConfigError
from roofwidget.validation import shown

MISSING: Any = object()
MOST = 10**9
"""No dimension of a model is larger."""


class Config:
    """A configuration of one family.

    Parameters
    ----------
    fields
        As the file has them.
    family
        Its `model_type`.
    """

    def __init__(self, fields: Mapping[str, Any], family: str) -> None:
        self.fields, self.family = fields, family

    def __contains__(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def count(self, *names: str, default: Any = MISSING, zero: bool = False) -> int:
        """The first of these fields that is there: a whole number of at least 1, or 0 where that may be.

        Raises
        ------
        ConfigError
            If none is there and no default told, or it is no such number.
        """
        for name in names:
            value = self.fields.get(name)
            if value is None:
                continue
            number = value if not isinstance(value, float) or not value.is_integer() else int(value)
            if isinstance(number, bool) or not isinstance(number, int) or not (0 if zero else 1) <= number <= MOST:
                raise self.fault(name, "a whole number of at least " + ("0" if zero else "1"), value)
            return number
        if default is MISSING:
            raise ConfigError(f"a configuration of {self.family!r} must have {' or '.join(names)}")
        return default  # type: ignore[no-any-return]

    def flag(self, name: str, default: bool) -> bool:
        """A field that is true or false."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.fault(name, "true or false", value)
        return default if value is None else value

    def text(self, name: str, default: str | None = None) -> str | None:
        """A field that is a text."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise self.fault(name, "a text", value)
        return default if value is None else value

    def kinds(self, name: str, layers: int) -> list[Any] | None:
        """A field with an entry for each layer; None where it is not there.

        Raises
        ------
        ConfigError
            If it has fewer entries than there are layers; those of layers beyond are left out, as
            files list those of multi-token prediction too.
        """
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) < layers:
            raise self.fault(name, f"one entry for each of {layers} layers", value)
        return list(value)[:layers]

    def numbers(self, name: str, layers: int, default: Any = MISSING) -> list[int]:
        """A field that is one count for all layers, or an entry for each."""
        value = self.fields.get(name)
        if not isinstance(value, Sequence) or isinstance(value, str):
            return [self.count(name, default=default, zero=True)] * layers
        return [Config({name: entry}, self.family).count(name, zero=True) for entry in self.kinds(name, layers) or ()]

    def places(self, name: str) -> set[int]:
        """A field that lists layers by their number, from 0; none where it is not there."""
        value = self.fields.get(name)
        if isinstance(value, str):
            value = [int(entry) if entry.strip().isdecimal() else entry for entry in value.split(",")]
        if value is not None and not (isinstance(value, Sequence) and all(type(entry) is int for entry in value)):
            raise self.fault(name, "a list of layers", value)
        return set(value or ())

    def renamed(self, **names: str | tuple[str, ...]) -> Config:
        """The same with fields under their usual names, which this family calls otherwise."""
        found = {
            usual: self.fields[own]
            for usual, owns in names.items()
            for own in ((owns,) if isinstance(owns, str) else reversed(owns))
            if self.fields.get(own) is not None
        }
        return Config({**self.fields, **found}, self.family)

    def part(self, name: str) -> Config:
        """A field that is an object with fields of its own."""
        value = self.fields.get(name)
        if not isinstance(value, Mapping):
            raise self.fault(name, "an object", value)
        return Config(value, self.family)

    def fault(self, name: str, allowed: str, value: Any) -> ConfigError:
        """The error that says what a field should have been."""
        return ConfigError(f"{name} of a configuration of {self.family!r} must be {allowed}, not {shown(value)}")
