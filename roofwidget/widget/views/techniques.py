"""Techniques: a picture and a lesson of each, and what all of them buy together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from html import escape

import ipywidgets

from roofwidget.evaluate import Metrics
from roofwidget.lessons import (
    continuous_batching,
    disaggregation,
    paged_kv,
    prefix_caching,
    quantization,
    speculative_decoding,
)
from roofwidget.widget.views import View
from roofwidget.widget.views.disaggregation import DisaggregationView
from roofwidget.widget.views.paging import PagingView
from roofwidget.widget.views.prefix_caching import PrefixCachingView
from roofwidget.widget.views.quantization import QuantizationView
from roofwidget.widget.views.slots import SlotsView
from roofwidget.widget.views.speculation import SpeculationView
from roofwidget.widget.views.together import TogetherView
from roofwidget.widget.widgets import DRAWN, tree


class TechniquesView:
    """A card for each technique under the table of all; drawn, and there at all, only while it is shown."""

    def __init__(self) -> None:
        self._together = TogetherView()
        self._cards = [
            Card(SlotsView(), continuous_batching.lesson),
            Card(PagingView(), paged_kv.lesson),
            Card(QuantizationView(), quantization.lesson),
            Card(PrefixCachingView(), prefix_caching.lesson),
            Card(SpeculationView(), speculative_decoding.lesson),
            Card(DisaggregationView(), disaggregation.lesson),
        ]
        self._box = ipywidgets.Box([card.widget for card in self._cards])
        self._box.add_class("rw-cards")
        self.widget = ipywidgets.VBox()
        self.widget.add_class("rw-techniques")
        self._parts = (self._together.widget, self._box)
        self._drawn = [part for root in self._parts for part in tree(root) if isinstance(part, DRAWN)]

    def show(self, shown: bool) -> None:
        """Put it on screen, or away: a figure in a hidden box has no size, which bqplot complains of."""
        self.widget.children = self._parts if shown else ()

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the techniques in these metrics."""
        if not self.widget.children:
            return
        with ExitStack() as held:
            for part in self._drawn:
                held.enter_context(part.hold_sync())
            self._together.draw(metrics, pinned)
            for card in self._cards:
                card.draw(metrics, pinned)

    def close(self) -> None:
        """Free its widgets, those that are not on screen too."""
        for root in self._parts:
            for widget in list(tree(root)):
                widget.close()


class Card:
    """A technique's picture, and its lesson under it."""

    def __init__(self, view: View, lesson: Callable[[Metrics], str]) -> None:
        self._view, self._lesson = view, lesson
        self._words = ipywidgets.HTML()
        self._words.add_class("rw-lesson")
        self.widget = ipywidgets.VBox([view.widget, self._words])
        self.widget.add_class("rw-card")

    def draw(self, metrics: Metrics, pinned: Metrics | None = None) -> None:
        """Draw the technique in these metrics."""
        self._view.draw(metrics, pinned)
        self._words.value = f"<p>{escape(self._lesson(metrics))}</p>"
