"""Controls, generated from the table of parameters: each sets its trait, and follows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import ipywidgets

from roofwidget.parameters import PARAMETERS, PRESETS, edited, known_transformer
from roofwidget.quantity import Choice, ListOrChoice, Quantity, Switch
from roofwidget.units import exact
from roofwidget.validation import ParameterError
from roofwidget.widget.config_control import ConfigControl
from roofwidget.widget.guard import Guard
from roofwidget.widget.model import RooflineModel
from roofwidget.widget.stops import nearest, stops

GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
"""A number with its thousands set apart. A comma anywhere else may be someone's decimal point."""

CUSTOM = "custom"
"""What is picked to keep the numbers as nobody's."""

NAMES = re.compile(rf"\b({'|'.join(PARAMETERS)})\b")


def labelled(sentence: str) -> str:
    """A sentence about parameters, with the label on screen before each name that differs from it."""
    return NAMES.sub(lambda name: _labelled(name[0]), sentence)


def _labelled(name: str) -> str:
    label = PARAMETERS[name].label
    return name if label == name else f"{label} ({name})"


class Control(Protocol):
    """A widget that sets one trait, and `follow` to show what that trait now is."""

    widget: ipywidgets.Widget

    def follow(self) -> None:
        """Show the trait's value."""


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


class ChoiceControl:
    """A list of names to pick from."""

    def __init__(self, model: RooflineModel, name: str, choice: Choice, guard: Guard) -> None:
        self.model, self.name = model, name
        options = [(option, option) for option in choice.options]
        self.widget = ipywidgets.Dropdown(
            description=choice.label,
            options=[(choice.absent, None), *options] if choice.allow_none else options,
            style={"description_width": "74px"},
            tooltip=str(choice.help),
        )
        self.widget.add_class("rw-choice")
        self.widget.add_class(f"rw-control-{name}")
        self.follow()
        self.widget.observe(guard(self._picked), "value")

    def follow(self) -> None:
        """Show the trait's value."""
        self.widget.value = getattr(self.model, self.name)

    def _picked(self, change: Any) -> None:
        try:
            self.model.update(**{self.name: change["new"]})
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
            asked: Any = [float(part) for part in parts]
        except ValueError:
            asked = text
        try:
            self.model.update(**{self.name: asked})
        finally:
            self.follow()


NOTHING_PICKED = {
    "accelerator": "custom accelerator",
    "transformer": "custom transformer",
    "quantization": "weights as set below",
    "kv_quantization": "KV cache as set below",
}
"""What stands in an empty field."""


class PresetControl:
    """A field that searches the catalog's names; while it is empty it shows what stands."""

    def __init__(self, model: RooflineModel, preset: str, guard: Guard) -> None:
        self.model, self.preset = model, preset
        self.widget = ipywidgets.Combobox(
            options=[CUSTOM, *PRESETS[preset].names()], ensure_option=False, continuous_update=False
        )
        self.widget.add_class("rw-preset")
        self.widget.add_class(f"rw-preset-{preset}")
        self.widget.tooltip = str(PRESETS[preset].help)
        self.follow()
        self.widget.observe(guard(self._picked), "value")

    def follow(self) -> None:
        """Show what the numbers are those of."""
        self.widget.value = ""
        self.widget.placeholder = self._standing()

    def _standing(self) -> str:
        values = self.model.parameters()
        value = values[self.preset]
        if value is None:
            return NOTHING_PICKED[self.preset]
        name = value if isinstance(value, str) else known_transformer(value).name
        return f"custom, from {name}" if edited(values, self.preset) else name

    def _picked(self, change: Any) -> None:
        if not change["new"]:
            return
        try:
            name = change["new"].strip()
            self.model.update(**{self.preset: None if name == CUSTOM else name})
        finally:
            self.follow()


PRESETS_OF = {
    "Hardware": ("accelerator",),
    "Model": ("transformer",),
    "Precision": ("quantization", "kv_quantization"),
}
"""The presets on top of each panel."""


class Controls:
    """All controls in panels, one a group, with the less used ones of each folded away."""

    def __init__(self, model: RooflineModel, guard: Guard) -> None:
        self.by_trait: dict[str, Control] = {preset: PresetControl(model, preset, guard) for preset in PRESETS}
        for name, parameter in PARAMETERS.items():
            if isinstance(parameter, Quantity):
                self.by_trait[name] = NumberControl(model, name, parameter, guard)
            elif isinstance(parameter, ListOrChoice):
                self.by_trait[name] = ListControl(model, name, parameter, guard)
            elif isinstance(parameter, Choice):
                self.by_trait[name] = ChoiceControl(model, name, parameter, guard)
            else:
                self.by_trait[name] = SwitchControl(model, name, parameter, guard)
        self.config = ConfigControl(model, guard)
        groups = dict.fromkeys(parameter.group for parameter in PARAMETERS.values())
        self.widget = ipywidgets.VBox([self._panel(group, PRESETS_OF.get(group, ())) for group in groups])
        self.widget.add_class("rw-controls")
        self._model = model
        model.observe(self._follow, list(PARAMETERS))
        model.observe(self._follow_presets, "metrics")  # their names are made of all the numbers

    def close(self) -> None:
        """Stop following the model."""
        self._model.unobserve(self._follow, list(PARAMETERS))
        self._model.unobserve(self._follow_presets, "metrics")

    def excuse(self) -> None:
        """Take back what was said under the fields."""
        for control in self.by_trait.values():
            if isinstance(control, NumberControl):
                control.complain()

    def _panel(self, group: str, presets: Sequence[str]) -> ipywidgets.Widget:
        members = {name: parameter for name, parameter in PARAMETERS.items() if parameter.group == group}
        shown = [self.by_trait[preset].widget for preset in presets]
        shown += [self.by_trait[name].widget for name, parameter in members.items() if not parameter.detail]
        folded = [self.by_trait[name].widget for name, parameter in members.items() if parameter.detail]
        folded += [self.config.widget] if "transformer" in presets else []
        if folded:
            shown.append(ipywidgets.Accordion([ipywidgets.VBox(folded)], titles=["more"], selected_index=None))
        panel = ipywidgets.VBox([ipywidgets.HTML(f"<h3>{escape(group)}</h3>"), *shown])
        panel.add_class("rw-panel")
        return panel

    def _follow(self, change: Any) -> None:
        self.by_trait[change["name"]].follow()

    def _follow_presets(self, change: Any) -> None:
        for preset in PRESETS:
            self.by_trait[preset].follow()
