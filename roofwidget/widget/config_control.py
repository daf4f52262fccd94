"""A model that the catalog does not have: its config.json, pasted or uploaded."""

from __future__ import annotations

from typing import Any

import ipywidgets

from roofwidget.huggingface import ConfigError, is_json, read
from roofwidget.huggingface.reading import LARGEST
from roofwidget.widget.guard import Guard
from roofwidget.widget.model import RooflineModel


class ConfigControl:
    """A field to paste a config.json into, and a button to upload one; both empty themselves.

    Parameters
    ----------
    model
        Whose `transformer` they set.
    guard
        Shows what is wrong with a configuration.
    """

    def __init__(self, model: RooflineModel, guard: Guard) -> None:
        self.model = model
        self.text = ipywidgets.Textarea(placeholder="paste a config.json", continuous_update=False, rows=2)
        self.file = ipywidgets.FileUpload(accept=".json", description="upload config.json", multiple=False)
        self.widget = ipywidgets.VBox([self.text, self.file])
        self.widget.add_class("rw-config")
        self.text.observe(guard(self._pasted), "value")
        self.file.observe(guard(self._uploaded), "value")

    def _pasted(self, change: Any) -> None:
        if change["new"].strip():
            try:
                self._take(change["new"])
            finally:
                self.text.value = ""

    def _uploaded(self, change: Any) -> None:
        if change["new"]:
            (file,) = change["new"]
            try:
                if file["size"] > LARGEST:
                    raise ConfigError(
                        f"{file['name']} has {file['size']:,} bytes: a config.json has at most {LARGEST:,}"
                    )
                self._take(bytes(file["content"]).decode("utf-8-sig", "replace"), file["name"].removesuffix(".json"))
            finally:
                self.file.value = ()

    def _take(self, text: str, name: str = "") -> None:
        """Take a text that must be a JSON object: a path or a repository's id is for code to give."""
        if not is_json(text):
            what = f"{name}.json" if name else "what was pasted"
            raise ConfigError(f"{what} is no JSON object: it must begin with {{, as a config.json does")
        fields = read(text)
        self.model.update(transformer={"_name_or_path": name, **fields} if name else fields)
