"""RooflineWidget: the screen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from html import escape
from typing import Any

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.parameters import PARAMETERS, PRESETS
from roofwidget.summary import summary_html, summary_text
from roofwidget.widget import theme
from roofwidget.widget.controls import Controls
from roofwidget.widget.labels import labelled
from roofwidget.widget.model import RooflineModel
from roofwidget.widget.views import View
from roofwidget.widget.views.batch_curve import BatchCurveView
from roofwidget.widget.views.explain import ExplainView
from roofwidget.widget.views.export import ExportView
from roofwidget.widget.views.memory import MemoryView
from roofwidget.widget.views.roofline import RooflineView
from roofwidget.widget.views.techniques import TechniquesView
from roofwidget.widget.views.tiles import TilesView, VerdictView
from roofwidget.widget.views.timings import TimingsView
from roofwidget.widget.widgets import DRAWN, tree


class RooflineWidget(ipywidgets.VBox):  # type: ignore[misc]
    """What limits the serving of a model, live.

    Parameters
    ----------
    **traits
        Initial values of the model's traits: `RooflineWidget(peak_tflops=990, batch=16)`.

    Attributes
    ----------
    model
        The `RooflineModel` behind the screen: set its traits, read its `metrics`.

    Raises
    ------
    TypeError
        For a name that is no trait; the message suggests the nearest.
    ParameterError
        Naming every faulty parameter.
    """

    def __init__(self, **traits: Any) -> None:
        self.model = RooflineModel(**traits)
        self._status = ipywidgets.HTML()
        self._status.add_class("rw-status")
        self._pinned: Metrics | None = None
        self._timings = TimingsView()
        roofline = RooflineView(self._guarded_update, self._guarded_draw, self._pick)
        curve = BatchCurveView(lambda batch: self._guarded_update(batch=batch), self._guarded_draw)
        memory = MemoryView()
        figures = {"roofline": roofline.figure, "batch-curve": curve.figure, "memory": memory.figure}
        explain, export = ExplainView(), ExportView(self.model, figures)
        verdict, tiles, self._techniques = VerdictView(), TilesView(), TechniquesView()
        below: list[View] = [self._techniques, explain, export]
        self._views: list[View] = [verdict, tiles, roofline, curve, memory, self._timings, *below]
        self._controls = Controls(self.model, self._guard)
        plots = [view.widget for view in (roofline, curve, memory, self._timings)]
        fold = self._toggle("controls", "sliders", "Show or hide the controls.", self._fold)
        fold.add_class("rw-fold")
        tools = ipywidgets.HBox(
            [
                fold,
                self._toggle("techniques", "cubes", "What each way to serve better buys.", self._techniques.show),
                self._toggle("explain", "calculator", "How each number was made.", explain.show),
                self._toggle("pin", "thumb-tack", "Keep this result behind the next ones, to compare.", self._pin),
                self._toggle("export", "download", "Code, JSON and figures of this state.", export.show),
                self._status,
            ]
        )
        tools.add_class("rw-tools")
        plots_box = ipywidgets.Box(plots)
        plots_box.add_class("rw-plots")
        body = ipywidgets.Box([self._controls.widget, plots_box])
        body.add_class("rw-body")
        parts = [verdict.widget, tiles.widget, tools, *(view.widget for view in below), body]
        super().__init__([ipywidgets.HTML(theme.CSS), *parts])
        self.add_class("roofwidget")
        self._drawn = [part for view in self._views for part in tree(view.widget) if isinstance(part, DRAWN)]
        self._draw()
        self._redraw = self._guard(lambda _: self._draw())
        self.model.observe(self._redraw, "metrics")

    def close(self) -> None:
        """Free this widget and every widget it is made of."""
        if self.comm is None:  # closed already, or never opened since its arguments were refused
            return
        self.model.unobserve(self._redraw, "metrics")
        self._controls.close()
        self._techniques.close()
        for widget in list(tree(self)):
            if widget is not self:
                widget.close()
        super().close()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in PARAMETERS or name in PRESETS:  # it would do nothing, silently
            raise AttributeError(f"{name} is a trait of the model: set widget.model.{name}")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return summary_text(self.model.metrics)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any] | None:
        """The live view, and beside it a true text and HTML for places that run no widgets."""
        bundle: dict[str, Any] | None = super()._repr_mimebundle_(**kwargs)
        if bundle is not None:
            bundle["text/plain"] = summary_text(self.model.metrics)
            bundle["text/html"] = summary_html(self.model.metrics)
        return bundle

    def _draw(self) -> None:
        """Draw all views, and send what changed in one go: at most one message a widget.

        The browser paints what has arrived; messages that trickle in cost it a frame each.
        """
        with ExitStack() as held:
            for widget in self._drawn:
                held.enter_context(widget.hold_sync())
            for view in self._views:
                view.draw(self.model.metrics, self._pinned)

    def _guard(self, callback: Callable[[Any], None]) -> Callable[[Any], None]:
        """A callback whose exceptions are shown in the status line, not lost in a log."""

        @wraps(callback)
        def guarded(argument: Any) -> None:
            try:
                callback(argument)
                self._status.value = ""  # what went well answers whatever went wrong before
                self._controls.excuse()
            except Exception as error:
                message = labelled(str(error) or type(error).__name__)
                self._status.value = f'<div role="alert"><b>⚠</b> {escape(message)}</div>'

        return guarded

    def _guarded_update(self, **traits: Any) -> None:
        self._guard(lambda traits: self.model.update(**traits))(traits)

    def _guarded_draw(self) -> None:
        self._guard(lambda _: self._draw())(None)

    def _pick(self, phase: str, node: str) -> None:
        self._timings.picked = (phase, node)
        self._guarded_draw()

    def _toggle(self, name: str, icon: str, help: str, switch: Callable[[bool], None]) -> ipywidgets.ToggleButton:
        """A button that switches something on and off, and has the views drawn again."""

        def toggled(change: Any) -> None:
            switch(change["new"])
            self._draw()

        button = ipywidgets.ToggleButton(description=name, icon=icon, tooltip=help)
        button.observe(self._guard(toggled), "value")
        return button

    def _fold(self, shown: bool) -> None:
        (self._controls.widget.add_class if shown else self._controls.widget.remove_class)("rw-open")

    def _pin(self, pinned: bool) -> None:
        self._pinned = self.model.metrics if pinned else None
