"""Controls, generated from the table of parameters: each sets its trait, and follows it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import ipywidgets

from roofwidget.parameters import PARAMETERS, PRESETS
from roofwidget.quantity import Choice, ListOrChoice, Quantity
from roofwidget.widget.choice_controls import ChoiceControl, ListControl, SwitchControl
from roofwidget.widget.config_control import ConfigControl
from roofwidget.widget.guard import Guard
from roofwidget.widget.model import RooflineModel
from roofwidget.widget.number_control import NumberControl
from roofwidget.widget.preset_control import PresetControl


class Control(Protocol):
    """A widget that sets one trait, and `follow` to show what that trait now is."""

    widget: ipywidgets.Widget

    def follow(self) -> None:
        """Show the trait's value."""


PRESETS_OF = {
    "Hardware": ("accelerator",),
    "Model": ("transformer",),
    "Precision": ("quantization", "kv_quantization"),
}
"""The presets on top of each panel."""


HEADS = {
    "output_spread": "continuous batching",
    "block_size": "paged KV cache",
    "prefix_hit_rate": "prefix caching",
    "draft_model": "speculative decoding",
    "prefill_accelerator": "disaggregation",
}
"""What stands over these controls and those after them, where a panel has many."""


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
        folded = []
        for name, parameter in members.items():
            if parameter.detail:
                folded += [ipywidgets.HTML(f"<h5>{HEADS[name]}</h5>")] if name in HEADS else []
                folded.append(self.by_trait[name].widget)
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
