"""What a change sends to the browser: messages and bytes, with the comm replaced by one that counts.

A mark that did not change should send nothing, and one that did a single message.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bqplot
import comm
import ipywidgets
import numpy as np
from comm.base_comm import BaseComm
from table import show

from roofwidget import RooflineWidget


@dataclass(frozen=True)
class Message:
    """A message to a widget in the browser, and its bytes."""

    widget: str
    size: int


class CountingComm(BaseComm):  # type: ignore[misc]
    """A comm to nobody that keeps what it is given."""

    sent: list[Message] = []  # noqa: RUF012

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[Any] | None = None,
        **keys: Any,
    ) -> None:
        size = len(json.dumps(data, default=str)) + sum(memoryview(buffer).nbytes for buffer in buffers or ())
        self.sent.append(Message(self.comm_id, size))


def sent_by(change: Callable[[], Any]) -> list[Message]:
    CountingComm.sent.clear()
    change()
    return list(CountingComm.sent)


def row(name: str, messages: list[Message]) -> tuple[str, int, int, int, float]:
    """Messages, widgets they go to, the most that one widget gets, and kB."""
    by_widget = Counter(message.widget for message in messages)
    return (
        name,
        len(messages),
        len(by_widget),
        max(by_widget.values(), default=0),
        sum(message.size for message in messages) / 1e3,
    )


def one_line() -> bqplot.Lines:
    scales = {"x": bqplot.LinearScale(), "y": bqplot.LinearScale()}
    return bqplot.Lines(x=np.linspace(0, 1, 256), y=np.linspace(0, 1, 256), scales=scales)


def slider(widget: ipywidgets.Widget, name: str) -> ipywidgets.IntSlider:
    """The slider of a control, found as the browser's tests find it."""
    children = getattr(widget, "children", ())
    if f"rw-control-{name}" in widget._dom_classes:
        return next(child for child in children if isinstance(child, ipywidgets.IntSlider))
    return next((found for child in children if (found := slider(child, name))), None)


def drag(slider: ipywidgets.IntSlider, steps: int) -> None:
    """Move a slider as the browser would, by a message."""
    state = {"value": slider.value + steps}
    slider._handle_msg({"content": {"data": {"method": "update", "state": state, "buffer_paths": []}}, "buffers": []})


def changes(widget: RooflineWidget) -> dict[str, Callable[[], Any]]:
    """Each kind of change, in the order they are made."""
    model = widget.model
    return {
        "batch 1 → 8": lambda: setattr(model, "batch", 8),
        "batch 8 → 8": lambda: setattr(model, "batch", 8),
        "batch slider moved one stop": lambda: drag(slider(widget, "batch"), 1),
        "bandwidth 3,350 → 4,800 GB/s": lambda: setattr(model, "hbm_bw_gbs", 4800),
        "prompt 4,096 → 8,192": lambda: setattr(model, "seq_len", 8192),
        "accelerator preset": lambda: setattr(model, "accelerator", "MI300X"),
        "transformer preset": lambda: setattr(model, "transformer", "Llama 3.1 8B"),
        "five traits in one update": lambda: model.update(
            batch=16, seq_len=2048, output_tokens=512, weight_bytes=1, kv_bytes=1
        ),
    }


def main() -> None:
    comm.create_comm = CountingComm
    line = one_line()
    rows = [row("yardstick: y of one line of 256 points", sent_by(lambda: setattr(line, "y", np.ones(256))))]
    made: list[Any] = []
    rows += [row("RooflineWidget()", sent_by(lambda: made.append(RooflineWidget())))]
    rows += [row(name, sent_by(change)) for name, change in changes(made[0]).items()]
    show(("", "messages", "widgets", "most to one", "kB"), rows)


if __name__ == "__main__":
    main()
