"""Kinds of parameter: a number with its range and unit, a yes or no, one of several names, a preset."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any

import numpy as np
from traitlets import Bool, TraitError, TraitType

from roofwidget import catalog
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


class Choice(TraitType[Any, Any]):
    """One of several names, with what a person needs to know to choose.

    Parameters
    ----------
    default
        Its default; None makes it optional, and `absent` says what None stands for.
    options
        The names.
    group, help, label, detail
        As for a `Quantity`.
    """

    required = False

    def __init__(
        self,
        default: str | None,
        options: Sequence[str],
        group: str,
        help: str,
        *,
        label: str,
        absent: str = "",
        detail: bool = False,
    ) -> None:
        super().__init__(default, allow_none=default is None, help=help)
        self.options, self.group, self.label, self.absent, self.detail = tuple(options), group, label, absent, detail

    @property
    def allowed(self) -> str:
        """The names, as a sentence can list them."""
        few = self.options if len(self.options) <= 12 else (*self.options[:3], "others of the catalog")
        return f"one of {', '.join(few)}" + (", or null" if self.allow_none else "")

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        if (value is None and self.allow_none) or (isinstance(value, str) and self.spelled(value) in self.options):
            return None
        return f"{name} must be {self.allowed}, not {shown(value)}"

    def spelled(self, value: str) -> str:
        """A name as the options spell it, whatever its case."""
        plain = value.casefold().strip()
        return next((option for option in self.options if option.casefold() == plain), value)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take a name there is, or None where that is allowed."""
        assert self.name is not None
        if sentence := self.fault(self.name, value):
            raise ParameterTraitError({self.name: sentence})
        return self.spelled(value) if isinstance(value, str) else value


class ListOrChoice(Choice):
    """One of several names, or a list of numbers in their place.

    Parameters
    ----------
    fault_of
        Says what is wrong with a list; None if nothing is.
    """

    def __init__(self, *args: Any, fault_of: Callable[[tuple[Any, ...]], str | None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fault_of = fault_of

    @property
    def allowed(self) -> str:
        """The names, as a sentence can list them."""
        return f"{super().allowed}, or a list of whole numbers"

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        return self.fault_of(tuple(value)) if isinstance(value, (list, tuple)) else super().fault(name, value)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take a name or a list of numbers; a list comes out as a tuple, which nobody can change."""
        taken = super().validate(obj, value)
        return tuple(float(number) for number in taken) if isinstance(taken, (list, tuple)) else taken


class Preset(TraitType[Any, Any]):
    """A thing from the catalog that fills other parameters, by its name; or nothing.

    Parameters
    ----------
    table
        Of the catalog.
    help
        What it fills.
    takes_config
        Whether the fields of a Hugging Face config.json may stand for a name.
    """

    required = False

    def __init__(self, table: str, help: str, *, takes_config: bool = False) -> None:
        super().__init__(None, allow_none=True, help=help)
        self.table, self.takes_config = table, takes_config

    def names(self) -> list[str]:
        """The names there are."""
        return list(catalog.entries(self.table))

    def get(self, obj: Any, cls: Any = None) -> Any:
        """The value; of a configuration a copy, so that nobody changes what stands."""
        return deepcopy(super().get(obj, cls))

    def fault(self, name: str, value: Any) -> str | None:
        """Say what is wrong with a value; None if nothing is."""
        if value is None or (isinstance(value, str) and catalog.spelled(self.table, value) in self.names()):
            return None
        if self.takes_config and isinstance(value, Mapping):
            return self._config_fault(value)
        near = difflib.get_close_matches(value, self.names(), n=4, cutoff=0.3) if isinstance(value, str) else []
        of = f"one of {', '.join(near)} and others" if near else f"one of the catalog's, such as {self.names()[0]}"
        config = " or the fields of a config.json" if self.takes_config else ""
        return f"{name} must be {of}{config}, not {shown(value)}"

    def validate(self, obj: Any, value: Any) -> Any:
        """Take a name of the catalog, None, or where that may be a configuration."""
        assert self.name is not None
        if sentence := self.fault(self.name, value):
            raise ParameterTraitError({self.name: sentence})
        return json.loads(json.dumps(value)) if isinstance(value, Mapping) else catalog.spelled(self.table, value)

    @staticmethod
    def _config_fault(value: Mapping[str, Any]) -> str | None:
        try:
            return _fault_of(json.dumps(value))
        except (TypeError, ValueError) as error:
            return f"transformer must be a configuration of plain JSON values: {error}"


@lru_cache(maxsize=64)
def _fault_of(config: str) -> str | None:
    """What is wrong with the text of a configuration: asked thrice in each change, which a model's layers make slow."""
    from roofwidget import huggingface

    try:
        huggingface.from_config(json.loads(config))
    except ParameterError as error:
        return str(error)
    return None
