"""Export: the code cell and the JSON that make this state, and the figures as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from html import escape

import bqplot
import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.infer import outputs
from roofwidget.widget.model import RooflineModel

PNG_SCALE = 3
"""Pixels of a saved PNG for each on screen: sharp on paper and on a projector."""


class ExportView:
    """Texts to copy and buttons that save figures; drawn only while it is shown.

    Parameters
    ----------
    model
        Whose state is written down.
    figures
        The figures that can be saved, by the name of their file.
    """

    def __init__(self, model: RooflineModel, figures: Mapping[str, bqplot.Figure]) -> None:
        self._model = model
        self._texts = ipywidgets.HTML()
        buttons = [
            self._save(f"{name}.{kind}", figure, kind) for name, figure in figures.items() for kind in ("svg", "png")
        ]
        saving = ipywidgets.Box(buttons)
        saving.add_class("rw-tools")
        self.widget = ipywidgets.VBox([saving, self._texts])
        self.widget.layout.display = "none"

    @staticmethod
    def _save(filename: str, figure: bqplot.Figure, kind: str) -> ipywidgets.Button:
        button = ipywidgets.Button(description=filename, icon="download", tooltip=f"Save this figure as {filename}.")
        save = {"svg": figure.save_svg, "png": partial(figure.save_png, scale=PNG_SCALE)}[kind]
        button.on_click(lambda _: save(filename))
        return button

    def show(self, shown: bool) -> None:
        """Put it on screen, or away."""
        self.widget.layout.display = None if shown else "none"

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Write down the state of these metrics."""
        if self.widget.layout.display != "none":
            texts = {
                "code cell": self._model.code("RooflineWidget"),
                "request": json.dumps(self._model.parameters(), indent=1),
                "outputs": json.dumps(outputs(metrics), indent=1),
            }
            blocks = "".join(f"<h5>{name}</h5><pre>{escape(text)}</pre>" for name, text in texts.items())
            self._texts.value = f'<div class="rw-export">{blocks}</div>'
