"""A field that searches the catalog."""

from __future__ import annotations

from typing import Any

import ipywidgets

from roofwidget.parameters import PRESETS
from roofwidget.presets import edited, known_transformer
from roofwidget.widget.guard import Guard
from roofwidget.widget.model import RooflineModel

CUSTOM = "custom"
"""What is picked to keep the numbers as nobody's."""

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
