"""RooflineWidget without a browser: what it sends, says, refuses, and leaves behind."""

from __future__ import annotations

import math
import re
from collections import Counter
from html import unescape
from typing import Any, NamedTuple
from xml.etree import ElementTree

import comm
import ipywidgets
import pytest
from comm.base_comm import BaseComm
from ipywidgets.widgets.widget import _instances as registry

import roofwidget.summary
from roofwidget import ParameterError, RooflineModel, RooflineWidget, infer
from roofwidget.parameters import PARAMETERS
from roofwidget.quantity import Quantity
from roofwidget.widget.controls import NumberControl
from roofwidget.widget.views.memory import MemoryView

NUMBERS = [name for name, parameter in PARAMETERS.items() if isinstance(parameter, Quantity)]
OFF_GRID = {"peak_tflops": 989.43, "hbm_bw_gbs": 3352.7, "params_b": 70.553706496, "seq_len": 4097, "batch": 37}
FOUR_DEVICES = {
    "accelerator": "H100 SXM",
    "transformer": "Llama 3.1 70B",
    "devices": 4,
    "batch": 32,
    "output_tokens": 512,
}


class Message(NamedTuple):
    """What is sent to a widget in the browser: `comm_open`, `update`, `echo_update` or `comm_close`."""

    widget: str
    kind: str
    state: dict[str, Any]


class Wire(BaseComm):
    """A comm to nobody, that keeps what it is given."""

    sent: list[Message] = []  # noqa: RUF012

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        data = data or {}
        self.sent.append(Message(self.comm_id, data.get("method", msg_type), data.get("state", {})))


@pytest.fixture
def wire(monkeypatch):
    """All messages to the browser, in order."""
    monkeypatch.setattr(comm, "create_comm", Wire)
    monkeypatch.setattr(Wire, "sent", [])
    return Wire.sent


@pytest.fixture
def widget(wire):
    made = RooflineWidget(batch=8)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Every test here closes what it makes, or something is not freed."""
    before = set(registry)
    yield
    assert set(registry) == before


def tree(root):
    """A widget and those it shows."""
    yield root
    for child in getattr(root, "children", ()):
        yield from tree(child)


def number(widget, name) -> NumberControl:
    return widget._controls.by_trait[name]


def toggle(widget, name):
    """Click a button of the tool bar."""
    (button,) = (w for w in tree(widget) if isinstance(w, ipywidgets.ToggleButton) and w.description == name)
    button.set_state({"value": not button.value})


def from_browser(control, value):
    """What happens when the browser tells that a field or a slider now has this value."""
    control.set_state({"value": value})


def in_browser(control, wire):
    """The value that the browser was last told, or told itself."""
    return [m.state["value"] for m in wire if m.widget == control.model_id and "value" in m.state][-1]


def html_of(widget, mark):
    (value,) = (w.value for w in tree(widget) if isinstance(w, ipywidgets.HTML) and mark in w.value)
    return value


def dtypes(state):
    if isinstance(state, dict):
        if "dtype" in state:
            yield state["dtype"]
        state = list(state.values())
    if isinstance(state, list):
        for part in state:
            yield from dtypes(part)


class TestMessages:
    CHANGES = {  # noqa: RUF012
        "a batch": {"batch": 9},
        "a bandwidth": {"hbm_bw_gbs": 4800},
        "a prompt": {"seq_len": 8192},
        "all axes": {"batch": 100_000, "peak_tflops": 1e5, "hbm_bw_gbs": 100, "hbm_cap_gb": 1e5},
        "both presets": {"accelerator": "MI300X", "transformer": "Llama 3.1 8B"},
        "five traits": {"batch": 16, "seq_len": 2048, "output_tokens": 512, "weight_bytes": 1, "kv_bytes": 1},
    }

    @pytest.mark.parametrize("traits", CHANGES.values(), ids=CHANGES)
    def test_are_at_most_one_a_widget_for_a_change(self, widget, wire, traits):
        wire.clear()
        widget.model.update(**traits)
        assert {message.kind for message in wire} == {"update"}
        assert max(Counter(message.widget for message in wire).values()) == 1

    @pytest.mark.parametrize("open_panels", [("explain",), ("pin",), ("export",), ("explain", "pin", "export")])
    def test_are_at_most_one_a_widget_with_panels_open(self, widget, wire, open_panels):
        for panel in open_panels:
            toggle(widget, panel)
        wire.clear()
        widget.model.batch = 9
        assert max(Counter(message.widget for message in wire).values()) == 1

    def test_are_at_most_one_a_widget_and_its_echo_when_a_slider_moves(self, widget, wire):
        slider = number(widget, "batch").slider
        wire.clear()
        from_browser(slider, slider.value + 1)
        assert widget.model.batch != 8
        updates = [message.widget for message in wire if message.kind != "echo_update"]
        assert max(Counter(updates).values()) == 1
        assert slider.model_id not in updates

    def test_go_only_to_what_a_change_moves(self, widget, wire):
        (memory,) = (view for view in widget._views if isinstance(view, MemoryView))
        drawn = {part.model_id for part in (*memory.figure.marks, *memory.figure.axes)}
        wire.clear()
        widget.model.hbm_bw_gbs = 4800
        assert not drawn & {message.widget for message in wire}
        widget.model.seq_len = 8192
        assert drawn & {message.widget for message in wire}

    def test_are_none_where_nothing_changed(self, widget, wire):
        wire.clear()
        widget.model.batch = 8
        widget.model.update(**widget.model.parameters())
        widget._draw()
        for name in NUMBERS:
            number(widget, name).follow()
        with pytest.raises(ParameterError):
            widget.model.batch = 0
        with pytest.raises(ParameterError):
            widget.model.update(batch=9, n_kv_heads=7)
        assert wire == []

    def test_carry_arrays_of_floats_only(self, widget, wire):
        widget.model.update(**self.CHANGES["both presets"])
        widget.model.update(**self.CHANGES["all axes"])
        toggle(widget, "pin")
        found = {dtype for message in wire for dtype in dtypes(message.state)}
        assert found
        assert found <= {"float32", "float64"}


class TestArguments:
    def test_are_the_models(self, wire):
        widget = RooflineWidget(**FOUR_DEVICES)
        assert widget.model.parameters() == RooflineModel(**FOUR_DEVICES).parameters()
        widget.close()

    def test_that_are_unknown_are_refused_with_the_nearest(self, wire):
        with pytest.raises(TypeError, match="'hbm_bw_gb' is not a parameter; did you mean 'hbm_bw_gbs'"):
            RooflineWidget(hbm_bw_gb=3350)
        assert wire == []

    def test_that_are_faulty_are_refused_each_by_name(self, wire):
        with pytest.raises(ParameterError, match="batch must be") as refused:
            RooflineWidget(batch=0, hbm_bw_gbs="fast")
        assert set(refused.value.faults) == {"batch", "hbm_bw_gbs"}
        assert wire == []


class TestClose:
    """That the registry is as before is checked after every test here."""

    def test_frees_every_widget(self, wire):
        before = set(registry)
        widget = RooflineWidget(**FOUR_DEVICES)
        assert len(set(registry) - before) > 200  # with their layouts, styles, scales and tooltips
        widget.close()
        assert set(registry) == before
        opened = Counter(message.widget for message in wire if message.kind == "comm_open")
        closed = Counter(message.widget for message in wire if message.kind == "comm_close")
        assert closed == opened

    @pytest.mark.parametrize("panel", ["explain", "pin", "export", "controls"])
    def test_frees_what_was_shown_later_too(self, wire, panel):
        widget = RooflineWidget()
        toggle(widget, panel)
        widget.model.update(**FOUR_DEVICES)
        widget.close()

    def test_can_be_called_twice(self, wire):
        widget = RooflineWidget()
        widget.close()
        wire.clear()
        widget.close()
        assert wire == []

    def test_leaves_the_model_at_work_and_the_screen_at_rest(self, wire):
        widget = RooflineWidget()
        widget.close()
        wire.clear()
        widget.model.batch = 5
        assert widget.model.metrics.decode_throughput == pytest.approx(
            infer(widget.model.parameters())["outputs"]["decode_tokens_per_s"]
        )
        assert wire == []


def test_two_widgets_are_independent(wire):
    one = RooflineWidget(batch=4)
    wire.clear()
    other = RooflineWidget(batch=16)
    others = {message.widget for message in wire}
    wire.clear()
    one.model.update(**FOUR_DEVICES)
    toggle(one, "explain")
    assert not others & {message.widget for message in wire}
    assert other.model.parameters() == RooflineModel(batch=16).parameters()
    one.close()
    other.model.batch = 17
    assert others & {message.widget for message in wire}
    other.close()


class TestWithoutAScreen:
    """A saved notebook, a terminal: text and HTML tell the numbers of the mission's request."""

    NUMBERS = ("memory-bound", "23.7 tokens/s", "42.2 ms", "601 ms", "327,680 B", "295.5 FLOP/B", "2 devices do")

    @pytest.fixture
    def bundle(self, wire):
        widget = RooflineWidget()
        yield widget._repr_mimebundle_() | {"model_id": widget.model_id, "repr": repr(widget)}
        widget.close()

    def test_the_live_view_comes_along(self, bundle):
        assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == bundle["model_id"]

    @pytest.mark.parametrize("kind", ["text/plain", "text/html", "repr"])
    def test_the_numbers_are_told(self, bundle, kind):
        assert not [number for number in self.NUMBERS if number not in bundle[kind]]

    def test_the_text_is_a_line_a_number(self, bundle):
        assert bundle["text/plain"] == bundle["repr"]
        assert max(map(len, bundle["repr"].splitlines())) < 160

    def test_the_html_is_whole_and_a_row_a_number(self, bundle):
        page = ElementTree.fromstring(f"<div>{bundle['text/html']}</div>")
        rows = {row.findtext("th"): row.findtext("td") for row in page.iter("tr")}
        assert rows["time per output token"] == "42.2 ms"
        assert rows["decode throughput"] == "23.7 tokens/s"

    def test_the_html_is_escaped(self, wire, monkeypatch):
        monkeypatch.setattr(roofwidget.summary, "rows", lambda metrics: [("<script>", "1 & 2 < 3")])
        widget = RooflineWidget()
        html = widget._repr_mimebundle_()["text/html"]
        widget.close()
        assert "&lt;script&gt;" in html
        assert "1 &amp; 2 &lt; 3" in html

    def test_it_follows_the_model(self, widget):
        widget.model.update(**FOUR_DEVICES)
        assert "69.1 tokens/s for each of 32 users" in widget._repr_mimebundle_()["text/plain"]


class TestNumberControl:
    @pytest.mark.parametrize(
        ("name", "text", "value", "shown"),
        [
            ("batch", "12", 12, "12"),
            ("batch", "1e3", 1000, "1,000"),
            ("batch", "64.0", 64, "64"),
            ("hbm_bw_gbs", "4,800", 4800.0, "4,800"),
            ("hbm_bw_gbs", "  3352.7 ", 3352.7, "3,352.7"),
            ("hbm_bw_gbs", "3_350.25", 3350.25, "3,350.25"),
            ("params_b", "70.553706496", 70.553706496, "70.553706496"),
            ("link_gbs", "450", 450.0, "450"),
            ("head_dim", "96", 96, "96"),
        ],
    )
    def test_takes_a_number_as_it_stands(self, widget, wire, name, text, value, shown):
        field = number(widget, name).field
        from_browser(field, text)
        assert getattr(widget.model, name) == value
        assert in_browser(field, wire) == shown
        assert widget._status.value == ""

    @pytest.mark.parametrize(
        ("name", "text", "told"),
        [
            ("batch", "0", "batch must be a whole number from 1 to 1,000,000, not 0"),
            ("batch", "2.5", "batch must be a whole number from 1 to 1,000,000, not 2.5"),
            ("batch", "1e400", "batch must be a whole number from 1 to 1,000,000, not inf"),
            ("batch", "9" * 5000, "batch must be a whole number from 1 to 1,000,000, not"),
            ("batch", "", "batch must be a whole number from 1 to 1,000,000, not ''"),
            ("batch", "a few", "batch must be a whole number from 1 to 1,000,000, not 'a few'"),
            ("batch", "٣.٥", "batch must be a whole number from 1 to 1,000,000, not"),
            ("batch", "²", "batch must be a whole number from 1 to 1,000,000, not '²'"),
            ("hbm_bw_gbs", "nan", "bandwidth (hbm_bw_gbs) must be a number from 0.01 to 10,000,000, not nan"),
            ("hbm_bw_gbs", "3,5", "bandwidth (hbm_bw_gbs) must be a number from 0.01 to 10,000,000, not '3,5'"),
            ("hbm_bw_gbs", "<i>", "bandwidth (hbm_bw_gbs) must be a number from 0.01 to 10,000,000, not '<i>'"),
            ("link_gbs", "none", "link (link_gbs) must be a number from 0.001 to 1,000,000, or null, not 'none'"),
            ("n_kv_heads", "7", "KV heads (n_kv_heads) must"),
            ("devices", "3", "devices must divide"),
        ],
    )
    def test_refuses_and_says_what_is_allowed(self, widget, wire, name, text, told):
        standing, field = widget.model.parameters(), number(widget, name).field
        shown = field.value
        from_browser(field, text)
        assert widget.model.parameters() == standing
        assert field.value == shown
        assert in_browser(field, wire) == shown
        assert told in unescape(widget._status.value)
        assert told in unescape(number(widget, name).unit.value.partition("rw-fault")[2])
        assert "<i>" not in widget._status.value + number(widget, name).unit.value
        from_browser(field, text)  # the same again is refused again
        assert in_browser(field, wire) == shown
        assert told in unescape(widget._status.value)
        from_browser(number(widget, "layers").field, "79")
        assert widget._status.value == ""
        assert "rw-fault" not in number(widget, name).unit.value

    @pytest.mark.parametrize("name", [name for name in NUMBERS if PARAMETERS[name].allow_none])
    def test_takes_no_text_for_no_value_where_there_need_be_none(self, widget, wire, name):
        field = number(widget, name).field
        widget.model.update(transformer="Llama 3.1 70B", link_gbs=450, link_latency_us=1, expert_weight_bytes=1)
        widget.model.update(usd_per_hour=2, tdp_w=700, ttft_target_ms=500, tpot_target_ms=20)
        widget.model.update(embedding_weight_bytes=2, max_len=8192, prefix_tokens=1024, kv_link_gbs=50)
        widget.model.update(speculation="EAGLE", tree_tokens=32, prefill_devices=1)
        assert field.value
        from_browser(field, "")
        assert getattr(widget.model, name) is None
        assert field.placeholder

    @pytest.mark.parametrize("name", NUMBERS)
    def test_a_slider_stops_at_what_it_says(self, widget, name):
        control = number(widget, name)
        for index in {0, len(control.stops) // 2, len(control.stops) - 1} - {control.slider.value}:
            before = widget.model.parameters()
            from_browser(control.slider, index)
            after = widget.model.parameters()
            if "must" in widget._status.value:  # this stop contradicts another parameter
                assert after == before
            else:
                assert after == before | {name: control.stops[index]}

    @pytest.mark.parametrize("traits", [{}, OFF_GRID, FOUR_DEVICES, {"batch": 1_000_000, "hbm_bw_gbs": 0.01}])
    def test_an_echo_of_a_slider_or_a_field_changes_nothing(self, wire, traits):
        widget = RooflineWidget(**traits)
        before = widget.model.parameters()
        for name in NUMBERS:
            from_browser(number(widget, name).slider, number(widget, name).slider.value)
            from_browser(number(widget, name).field, number(widget, name).field.value)
        assert widget.model.parameters() == before
        assert traits.items() <= (before | {"accelerator": "H100 SXM", "transformer": "Llama 3.1 70B"}).items()
        widget.close()

    def test_follows_the_model(self, widget):
        control = number(widget, "hbm_bw_gbs")
        widget.model.hbm_bw_gbs = 3352.7
        assert control.field.value == "3,352.7"
        assert control.stops[control.slider.value] == pytest.approx(3352.7, rel=0.03)
        assert widget.model.hbm_bw_gbs == 3352.7


class TestExplain:
    """The figures that are put in come to the result that stands beside them."""

    @pytest.mark.parametrize("traits", [{}, FOUR_DEVICES, {"transformer": "Qwen3 8B", "batch": 200, "hbm_cap_gb": 96}])
    def test_the_arithmetic_is_right(self, wire, traits):
        widget = RooflineWidget(**traits)
        toggle(widget, "explain")
        steps = derivations(html_of(widget, "<dl"))
        toggle(widget, "explain")
        widget.close()
        outputs = infer(widget.model.parameters())["outputs"]
        tokens_at_once = max(min(widget.model.seq_len, 8192), widget.model.batch)
        for name, unit, told in [
            ("price of a million output tokens", "$ ", "usd_per_million_output_tokens"),
            ("energy of an output token", " J", "joules_per_output_token"),
        ]:
            if (truth := outputs["cost"][told]) is not None:
                figures, results = steps.pop(name)
                assert value(figures[0].replace(" tokens/s", "")) == pytest.approx(truth, rel=0.01)
                assert value(results[0].replace(unit, "")) == pytest.approx(truth, rel=0.01)
        engine = outputs["memory"]["engine"]
        figures, _ = steps.pop("largest batch in vLLM 0.17 and later")
        assert max(0.0, value(figures[0].partition(" = ")[0])) == pytest.approx(engine["kv_cache_gb"] * 1e9, rel=0.02)
        assert steps.pop("devices needed")[1] == [str(outputs["memory"]["devices_needed"])]
        truths = {
            "ridge point": [outputs["ridge_point"]],
            "time to first token": [outputs["ttft_ms"] / 1e3],
            "time per output token": [outputs["tpot_ms"] / 1e3],
            "decode throughput": [outputs["decode_tokens_per_s"]],
            "prefill throughput": [outputs["prefill_tokens_per_s"]],
            "MBU of decode": [outputs["mbu"]["decode"]],
            "MFU of prefill": [outputs["mfu"]["prefill"]],
            "intensity of decode": [outputs["arithmetic_intensity"]["decode"]],
            "end-to-end latency": [outputs["e2e_ms"] / 1e3],
            "KV cache per token": [outputs["memory"]["kv_bytes_per_token"]],
            "activations per token": [outputs["memory"]["activations_gb"] * 1e9 / tokens_at_once],
            "memory": [outputs["memory"]["total_gb"] * 1e9],
            "largest batch": [outputs["memory"]["largest_batch"]],
        }
        assert steps.keys() == truths.keys()
        for name, (figures, results) in steps.items():
            assert [value(text) for text in figures] == pytest.approx(truths[name], rel=0.01), name
            assert [value(text) for text in results[: len(figures)]] == pytest.approx(truths[name], rel=0.01), name

    def test_it_lists_every_node_with_the_work_its_time_is_made_of(self, widget):
        widget.model.update(**FOUR_DEVICES)
        toggle(widget, "explain")
        page = ElementTree.fromstring(html_of(widget, "<dl").replace("<br>", "\n"))
        nodes = infer(widget.model.parameters())["nodes"]
        for table, phase in zip(page.iter("table"), ("prefill", "decode"), strict=True):
            rows = [[cell.text for cell in row.iter("td")] for row in table.iter("tr")][1:]
            assert [row[0] for row in rows] == [node["name"] for node in nodes[phase]]
            for row, node in zip(rows, nodes[phase], strict=True):
                truths = [node[key] for key in ("flops", "bytes", "link_bytes", "arithmetic_intensity")]
                for text, truth in zip(row[1:6], [*truths, node["time_ms"] / 1e3], strict=True):
                    assert text == "–" if truth is None else value(text) == pytest.approx(truth, rel=0.01)
                assert row[6] == node["bound"]

    def test_it_follows_the_model_while_it_is_shown(self, widget):
        toggle(widget, "explain")
        before = html_of(widget, "<dl")
        widget.model.batch = 64
        assert derivations(html_of(widget, "<dl")) != derivations(before)

    def test_each_step_names_its_source(self, widget):
        toggle(widget, "explain")
        page = ElementTree.fromstring(html_of(widget, "<dl").replace("<br>", "\n"))
        assert all(cite.text for cite in page.iter("cite"))
        assert len(list(page.iter("cite"))) == len(list(page.iter("dt")))


def derivations(html):
    """Name → the figures that are put in, and what they come to; a step may have more than one of each."""
    page = ElementTree.fromstring(html.replace("<br>", "\n"))
    lines = ["".join(code.itertext()).split("\n= ") for code in page.iter("code")]
    return {
        name.text: (figures.split(", "), results.split(", "))
        for name, (_formula, figures, results) in zip(page.iter("dt"), lines, strict=True)
    }


def value(figures):
    """What figures with their units come to: "⌊(72 GB − 35.3 GB) / 1.342 GB⌋" is 27."""
    prefixes = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
    text = figures.replace(",", "")
    text = re.sub(r" in \w+-bound nodes", "", text)
    quantity = r"([\d.]+) ([nµmkMGTP]?)(?:FLOP/s|FLOP/B|FLOP|B/s|B|tokens/s|s)\b"
    text = re.sub(quantity, lambda match: f"({match[1]} * {prefixes[match[2]]})", text)
    text = text.replace(" %", " / 100").replace("·", "*").replace("−", "-").replace("⌊", "floor(").replace("⌋", ")")
    return max(0.0, float(eval(text, {"__builtins__": {}, "floor": math.floor})))
