"""A checkbox, a list of names, and a field that takes names or numbers."""

from __future__ import annotations

import re
from typing import Any

import ipywidgets

from roofwidget.quantity import Choice, ListOrChoice, Switch
from roofwidget.units import exact
from roofwidget.widget.guard import Guard
from roofwidget.widget.model import RooflineModel


class SwitchControl:
    """A checkbox."""

    def __init__(self, model: RooflineModel, name: str, switch: Switch, guard: Guard) -> None:
        self.model, self.name = model, name
        self.widget = ipywidgets.Checkbox(description=switch.label, indent=False, tooltip=str(switch.help))
        self.follow()
        self.widget.observe(guard(self._switched), "value")

    def follow(self) -> None:
        """Show the trait's value."""
        self.widget.value = getattr(self.model, self.name)

    def _switched(self, change: Any) -> None:
        try:
            self.model.update(**{self.name: change["new"]})
        finally:
            self.follow()


NONE = ""
"""Stands for None in a list, which would take None itself for nothing picked."""


class ChoiceControl:
    """A list of names to pick from."""

    def __init__(self, model: RooflineModel, name: str, choice: Choice, guard: Guard) -> None:
        self.model, self.name = model, name
        options = [(option, option) for option in choice.options]
        self.widget = ipywidgets.Dropdown(
            description=choice.label,
            options=[(choice.absent, NONE), *options] if choice.allow_none else options,
            style={"description_width": "74px"},
            tooltip=str(choice.help),
        )
        self.widget.add_class("rw-choice")
        self.widget.add_class(f"rw-control-{name}")
        self.follow()
        self.widget.observe(guard(self._picked), "value")

    def follow(self) -> None:
        """Show the trait's value."""
        self.widget.value = getattr(self.model, self.name) or NONE

    def _picked(self, change: Any) -> None:
        try:
            self.model.update(**{self.name: change["new"] or None})
        finally:
            self.follow()


class ListControl:
    """A field that takes one of several names, or numbers with commas between them."""

    def __init__(self, model: RooflineModel, name: str, choice: ListOrChoice, guard: Guard) -> None:
        self.model, self.name = model, name
        self.widget = ipywidgets.Combobox(
            description=choice.label,
            options=choice.options,
            ensure_option=False,
            continuous_update=False,
            style={"description_width": "74px"},
            tooltip=f"{choice.help} {choice.allowed.capitalize()}: 120, 300, 80.",
        )
        self.widget.add_class("rw-choice")
        self.widget.add_class(f"rw-control-{name}")
        self.follow()
        self.widget.observe(guard(self._typed), "value")

    def follow(self) -> None:
        """Show what stands: as a placeholder, so that all names are offered when the field is entered."""
        value = getattr(self.model, self.name)
        self.widget.value = ""
        self.widget.placeholder = value if isinstance(value, str) else ", ".join(map(exact, value))

    def _typed(self, change: Any) -> None:
        text = change["new"].strip()
        if not text:
            return
        parts = [part for part in re.split(r"[\s,;]+", text.strip("[]()")) if part]
        try:
            asked: Any = [int(part) if part.isdecimal() else float(part) for part in parts]
        except ValueError:
            asked = text
        try:
            self.model.update(**{self.name: asked})
        finally:
            self.follow()
