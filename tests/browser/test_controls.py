"""Sliders, fields, pickers and checkboxes."""

import re

from playwright.sync_api import expect
from screen import VIEWS, eventually
from truth import assert_screen_is_true

from roofwidget import Accelerator
from roofwidget.parameters import PARAMETERS

SCENARIO = {"accelerator": "H100 SXM", "transformer": "Llama 3.1 8B", "batch": 8}
MOVES = {"batch": {*VIEWS}, "hbm_bw_gbs": {*VIEWS} - {"memory"}, "seq_len": {*VIEWS}}
"""What the sliders of these parameters move: how much is kept in memory does not hang on its bandwidth."""


def drag(screen, name):
    screen.drag(screen.knob(name), right=25)


def press_arrows(screen, name):
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp"):
        screen.knob(name).press(key)


def test_a_slider_moves_every_view_and_every_number(show):
    screen = show(**SCENARIO)
    for name, moved in MOVES.items():
        for slide in (drag, press_arrows):
            before = screen.drawings()
            with screen.changes(name):
                slide(screen, name)
            eventually(lambda: assert_screen_is_true(screen))
            after = screen.drawings()
            assert {view for view in VIEWS if after[view] != before[view]} == moved
            assert screen.field(name).input_value() == f"{screen.parameters()[name]:,.12g}"


def test_typed_numbers_are_taken_as_they_stand(show):
    screen = show()
    screen.unfold("Hardware")
    for name, text, value, shown in [
        ("batch", "3", 3, "3"),
        ("hbm_bw_gbs", "4,800", 4800.0, "4,800"),
        ("hbm_bw_gbs", " 3352.7 ", 3352.7, "3,352.7"),
        ("params_b", "70.553706496", 70.553706496, "70.553706496"),
        ("seq_len", "1e4", 10_000, "10,000"),
        ("link_gbs", "450", 450.0, "450"),
        ("link_gbs", "", None, ""),
    ]:
        with screen.changes(name):
            screen.type(name, text)
        assert screen.parameters()[name] == value
        expect(screen.field(name)).to_have_value(shown)
        expect(screen.status).to_be_empty()
        eventually(lambda: assert_screen_is_true(screen))
    assert screen.field("link_gbs").get_attribute("placeholder") == "not counted"


def test_a_refused_text_leaves_everything_as_it_stands_and_says_what_is_allowed(show):
    screen = show(batch=5)
    standing, drawn = screen.parameters(), screen.drawings()
    for name, text, told in [
        ("batch", "0", "from 1 to 1,000,000"),
        ("batch", "1,000,001", "from 1 to 1,000,000"),
        ("batch", "2.5", "a whole number"),
        ("batch", "lots", "'lots'"),
        ("batch", "", "from 1 to 1,000,000"),
        ("hbm_bw_gbs", "-1", "from 0.01 to 10,000,000"),
        ("hbm_bw_gbs", "nan", "from 0.01 to 10,000,000"),
        ("hbm_bw_gbs", "<b>1</b>", "<b>1</b>"),
        ("n_kv_heads", "7", "n_kv_heads"),
    ]:
        screen.type(name, text)
        label = PARAMETERS[name].label
        for place in (screen.status, screen.root.locator(f".rw-control-{name} .rw-fault")):
            expect(place).to_contain_text(f"{name} must" if name == label else f"{label} ({name}) must")
            expect(place).to_contain_text(told)
        expect(screen.field(name)).to_have_value(f"{standing[name]:,.12g}")
        assert screen.parameters() == standing
        assert screen.drawings() == drawn
    with screen.changes("layers"):
        screen.type("layers", "79")
    expect(screen.status).to_be_empty()
    expect(screen.root.locator(".rw-fault")).to_have_count(0)


FILLED = ["accelerator", "peak_tflops", "hbm_bw_gbs", "hbm_cap_gb", "link_gbs", "link_latency_us"]
FILLED += ["usd_per_hour", "tdp_w"]


def test_a_preset_fills_the_numbers_and_an_edit_makes_them_custom(show):
    screen = show()
    accelerator, transformer = screen.picker("accelerator"), screen.picker("transformer")
    expect(accelerator).to_have_attribute("placeholder", "custom accelerator")
    with screen.changes(*FILLED):
        screen.pick("accelerator", "A100 SXM 80GB")
    expect(screen.field("peak_tflops")).to_have_value("312")
    expect(screen.field("hbm_bw_gbs")).to_have_value("2,039")
    with screen.changes("transformer", "params_b", "hidden_dim", "layers", "n_heads", "head_dim", "vocab_size"):
        screen.pick("transformer", "Llama 3.1 8B")
    expect(screen.field("layers")).to_have_value("32")
    eventually(lambda: assert_screen_is_true(screen))

    with screen.changes("peak_tflops"):
        screen.type("peak_tflops", "400")
    expect(accelerator).to_have_attribute("placeholder", "custom, from A100 SXM 80GB")
    expect(transformer).to_have_attribute("placeholder", "Llama 3.1 8B")

    screen.unfold("Model")
    with screen.changes("tied_embeddings"):
        screen.root.get_by_label("tied embeddings").check()
    expect(transformer).to_have_attribute("placeholder", "custom, from Llama 3.1 8B")
    standing = screen.parameters()
    screen.pick("accelerator", "H100 SXM")
    expect(accelerator).to_have_attribute("placeholder", "H100 SXM")
    expect(accelerator).to_have_value("")
    screen.pick("accelerator", "custom")
    expect(accelerator).to_have_attribute("placeholder", "custom accelerator")
    expect(screen.field("peak_tflops")).to_have_value("989.4")
    assert screen.parameters()["layers"] == standing["layers"]
    eventually(lambda: assert_screen_is_true(screen))


def test_objectives_are_shaded_and_told(show):
    screen = show(**SCENARIO)
    screen.unfold("Workload")
    for name, text, told in [
        ("tpot_target_ms", "8", "keeps the objectives"),
        ("ttft_target_ms", "1", "No batch keeps the objectives."),
        ("ttft_target_ms", "", "keeps the objectives"),
    ]:
        screen.type(name, text)
        expect(screen.root.locator(".rw-verdict")).to_contain_text(told)
        eventually(lambda: assert_screen_is_true(screen))


def test_the_catalog_is_searched_and_a_name_it_lacks_is_refused(show):
    screen = show()
    listed = screen.root.locator(".rw-preset-accelerator datalist option").evaluate_all("all => all.map(o => o.value)")
    assert listed == ["custom", *Accelerator.names()]
    screen.pick("accelerator", "H100")
    expect(screen.status).to_contain_text("H100 SXM")
    expect(screen.picker("accelerator")).to_have_attribute("placeholder", "custom accelerator")
    expect(screen.picker("accelerator")).to_have_value("")


CONFIG = """{"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
 "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
 "num_local_experts": 8, "vocab_size": 32000}"""


def test_a_config_is_pasted_or_uploaded_and_a_broken_one_changes_nothing(show, tmp_path):
    screen = show(accelerator="H100 SXM", devices=2, batch=8)
    screen.unfold("Model")
    paste = screen.root.locator(".rw-config textarea")
    with screen.changes("transformer", "params_b", "hidden_dim", "layers", "n_heads", "head_dim", "vocab_size"):
        paste.fill(CONFIG)
        paste.blur()
    expect(screen.picker("transformer")).to_have_attribute("placeholder", "mixtral")
    expect(screen.field("params_b")).to_have_value(re.compile(r"^46\.70"))
    expect(screen.root.locator(".rw-timings")).to_contain_text("experts")
    eventually(lambda: assert_screen_is_true(screen))

    standing = screen.parameters()
    for text, told in [
        ('{"model_type": "mixtral"', "JSON"),
        ('{"model_type": "perceptron"}', "perceptron"),
        ("hello", "JSON"),
    ]:
        paste.fill(text)
        paste.blur()
        expect(screen.status).to_contain_text(told)
        expect(paste).to_have_value("")
        assert screen.parameters() == standing

    file = tmp_path / "tiny.json"
    file.write_text(CONFIG.replace("14336", "1024"))
    with screen.changes("transformer", "params_b"):
        with screen.page.expect_file_chooser() as chooser:
            screen.root.locator(".rw-config button").click()
        chooser.value.set_files(file)
    expect(screen.picker("transformer")).to_have_attribute("placeholder", "tiny")
    expect(screen.status).to_be_empty()
    eventually(lambda: assert_screen_is_true(screen))
