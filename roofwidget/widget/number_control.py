"""A field and a slider for a number."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import ipywidgets

from roofwidget.quantity import Quantity
from roofwidget.units import exact
from roofwidget.validation import ParameterError
from roofwidget.widget.guard import Guard
from roofwidget.widget.labels import labelled
from roofwidget.widget.model import RooflineModel
from roofwidget.widget.stops import nearest, stops

GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
"""A number with its thousands set apart. A comma anywhere else may be someone's decimal point."""


class NumberControl:
    """A labelled field that holds the exact value, and a slider over round ones.

    Both only ask the model: whatever it decides, `follow` then shows. A refused text is replaced
    by the value that stands.
    """

    def __init__(self, model: RooflineModel, name: str, quantity: Quantity, guard: Guard) -> None:
        self.model, self.name, self.quantity = model, name, quantity
        self.stops = stops(quantity)
        tooltip = f"{quantity.help} {str(quantity.allowed).capitalize()}."
        self.field = ipywidgets.Text(
            description=quantity.label,
            continuous_update=False,
            placeholder=quantity.absent,
            style={"description_width": "74px"},
        )
        self.slider = ipywidgets.IntSlider(min=0, max=len(self.stops) - 1, readout=False)
        self.follow()
        self._unit = f'{escape(quantity.unit)} <span class="rw-help" title="{escape(tooltip)}">?</span>'
        self.unit = ipywidgets.HTML(self._unit)
        self.unit.add_class("rw-unit")
        self.widget = ipywidgets.Box([self.field, self.unit, self.slider])
        self.widget.add_class("rw-control")
        self.widget.add_class(f"rw-control-{name}")
        self.field.observe(guard(self._typed), "value")
        self.slider.observe(guard(self._slid), "value")

    @property
    def value(self) -> Any:
        """The trait's value."""
        return getattr(self.model, self.name)

    def follow(self) -> None:
        """Show the trait's value."""
        self.field.value = exact(self.value)
        if self.value is not None:
            self.slider.value = nearest(self.stops, self.value)

    def complain(self, fault: str = "") -> None:
        """Say under the field what was wrong with what it was asked; nothing takes it back."""
        bubble = f'<div class="rw-fault">{escape(labelled(fault))}</div>' if fault else ""
        self.unit.value = self._unit + bubble

    def _typed(self, change: Any) -> None:
        if change["new"] == exact(self.value):
            return
        self._ask(self._parse(change["new"]))

    def _slid(self, change: Any) -> None:
        if self.value is not None and change["new"] == nearest(self.stops, self.value):
            return
        self._ask(self.stops[change["new"]])

    def _ask(self, value: Any) -> None:
        fault = ""
        try:
            self.model.update(**{self.name: value})
        except ParameterError as error:
            fault = str(error)
            raise
        finally:
            self.follow()
            self.complain(fault)

    def _parse(self, text: str) -> Any:
        """The number in a text; a text that is none goes on as it is, to be refused by name."""
        bare = text.strip()
        if not bare and self.quantity.allow_none:
            return None
        if GROUPED.fullmatch(bare):
            bare = bare.replace(",", "")
        try:
            return int(bare) if len(bare) <= 20 and bare.lstrip("+-").isdigit() else float(bare)
        except ValueError:
            return text
