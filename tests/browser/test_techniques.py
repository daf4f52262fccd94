"""The six techniques: their controls, their pictures and the table of what each buys."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from screen import eventually
from truth import assert_screen_is_true, says

from roofwidget.parameters import PARAMETERS

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
SERVED = {"accelerator": "H100 SXM", "transformer": "Llama 3.1 70B", "devices": 4, "batch": 32, "output_tokens": 512}
ALL = {
    "output_lengths": "geometric",
    "kv_allocation": "paged",
    "quantization": "fp8 W8A8",
    "prefix_tokens": 1024,
    "speculation": "EAGLE-3",
    "disaggregated": True,
    "kv_link_gbs": 50,
}
HEADINGS = [
    "What each technique buys",
    "Continuous batching",
    "Paged KV cache",
    "Quantization",
    "Prefix caching",
    "Speculative decoding",
    "Disaggregation",
]
BOUGHT = """
import json
from dataclasses import asdict
t = w.model.metrics.together
print(json.dumps([asdict(r) for r in (t.none, *t.alone)] + [asdict(r) for r in (t.none, *t.stacked, t.now)]))"""
ROWS = """root => [...root.querySelectorAll('.rw-together tr')].filter(row => row.querySelector('td')).map(
  row => [...row.children].map(
    cell => [...cell.childNodes].find(node => node.nodeType === 3)?.textContent.trim() ?? ''))"""
SPILLS = """root => [...root.querySelectorAll('.rw-techniques *')].filter(
  element => element.clientWidth && element.scrollWidth > element.clientWidth + 1
    && !element.closest('.rw-scroll, svg, select') && !element.querySelector('.bqplot')
    && getComputedStyle(element).overflowX !== 'visible').map(
  element => `${element.className} ${element.textContent}`.slice(0, 80))"""


def assert_table_is_true(screen):
    """Names and figures of every row, alone and stacked, are those of the metrics."""
    bought = json.loads(screen.notebook.kernel(BOUGHT))
    rows = screen.root.evaluate(ROWS)
    assert [row[0] for row in rows] == [of["name"] for of in bought]
    for row, of in zip(rows, bought, strict=True):
        assert_cells(row[1:], of)


def assert_cells(cells, bought):
    ttft, tpot, felt, batch, throughput, usd = cells
    assert says(ttft, bought["ttft"], "s"), cells
    assert says(tpot, bought["tpot"], "s"), cells
    assert says(felt, bought["felt_tpot"], "s"), cells
    assert batch == f"{bought['largest_batch']:,.0f}"
    assert says(throughput, bought["throughput"], digits=4) if bought["throughput"] else throughput == "–"
    assert usd == "–" if bought["usd"] is None else says(usd.removeprefix("$"), bought["usd"])


def test_the_panel_shows_what_each_technique_buys(show):
    screen = show(size=(1600, 3400), **SERVED)
    expect(screen.root.locator(".rw-card")).to_have_count(0)
    screen.press("techniques")
    expect(screen.root.locator(".rw-techniques h4")).to_have_count(len(HEADINGS))
    heads = screen.root.locator(".rw-techniques h4").all_inner_texts()
    assert [head.split(" · ")[0] for head in heads] == HEADINGS
    eventually(lambda: assert_table_is_true(screen))
    lessons = screen.root.locator(".rw-lesson").all_inner_texts()
    assert len(lessons) == 6
    assert all(len(lesson) > 60 for lesson in lessons)

    screen.set(**ALL)
    eventually(lambda: assert_table_is_true(screen))
    eventually(lambda: assert_screen_is_true(screen))
    assert not set(lessons) & set(screen.root.locator(".rw-lesson").all_inner_texts())
    for figure in screen.root.locator(".rw-speculation .bqplot, .rw-prefix .bqplot").all():
        assert figure.locator("path.line").first.get_attribute("d")

    screen.press("techniques")
    expect(screen.root.locator(".rw-card")).to_have_count(0)
    screen.press("techniques")
    eventually(lambda: assert_table_is_true(screen))
    screen.settle()
    for width in (1600, 1100, 700, 430):
        screen.widen(width)
        assert not screen.root.evaluate(SPILLS), width


def test_controls_set_their_parameters_and_every_view_follows(show):
    screen = show(**SERVED)
    screen.unfold("Techniques")
    picked = [
        (("kv_allocation",), "kv_allocation", "paged"),
        (("speculation",), "speculation", "draft model"),
        (("draft_model",), "draft_model", "Llama 3.1 8B"),
        (("speculation",), "speculation", "n-gram"),
        (("speculation",), "speculation", "nothing"),
    ]
    for changed, name, option in picked:
        with screen.changes(*changed):
            screen.control(name).locator("select").select_option(option)
        eventually(lambda: assert_screen_is_true(screen))
        expect(screen.control(name).locator("option:checked")).to_have_text(option)
    with screen.changes("disaggregated"):
        screen.root.get_by_label("disaggregated").check()
    with screen.changes("prefill_accelerator"):
        screen.control("prefill_accelerator").locator("select").select_option("A100 SXM 80GB")
    with screen.changes("prefix_tokens"):
        screen.type("prefix_tokens", "3000")
    eventually(lambda: assert_screen_is_true(screen))
    with screen.changes("output_lengths"):
        screen.type("output_lengths", "lognormal")
    with screen.changes("output_lengths", "output_tokens"):
        screen.type("output_lengths", "100, 200, 600")
    assert screen.parameters()["output_lengths"] == [100, 200, 600]
    assert screen.parameters()["output_tokens"] == 300
    expect(screen.field("output_lengths")).to_have_attribute("placeholder", "100, 200, 600")
    eventually(lambda: assert_screen_is_true(screen))


@pytest.mark.parametrize("asked", ["mxfp4", "fp8 W8A8", "nvfp4 W4A4"])
def test_a_format_moves_roofs_and_dots(show, asked):
    """fp8 raises the roof and leaves that of 16 bits below it; mxfp4 moves dots only; a Hopper has no fp4."""
    screen = show(**SERVED)
    before = screen.drawings()
    screen.pick("quantization", asked)
    expect(screen.picker("quantization")).to_have_attribute("placeholder", asked)
    eventually(lambda: assert_screen_is_true(screen))
    assert screen.drawings()["roofline"] != before["roofline"]
    labels = [text for text, _ in screen.plot("roofline").labels if "TFLOP/s" in text]
    raised = ["fp8: 1,979 TFLOP/s", "16 bits: 989.4 TFLOP/s"]
    assert sorted(labels) == (sorted(raised) if asked == "fp8 W8A8" else ["989.4 TFLOP/s"])
    assert ("No fp4 peak of H100 SXM is known" in screen.verdict) is (asked == "nvfp4 W4A4")
    screen.pick("transformer", "Llama 3.1 8B")  # the format stays, on other weights
    eventually(lambda: screen.parameters()["layers"] == 32)
    expect(screen.picker("quantization")).to_have_attribute("placeholder", asked)
    eventually(lambda: assert_screen_is_true(screen))


def test_what_does_not_go_together_is_refused_in_a_sentence(show):
    screen = show(**SERVED | {"kv_allocation": "paged", "speculation": "n-gram", "disaggregated": True})
    screen.unfold("Techniques")
    standing = screen.parameters()
    for name, text, told in [
        ("acceptance", "1", "from 0.001 to 0.999"),
        ("speculative_tokens", "0", "from 1 to 64"),
        ("prefix_hit_rate", "1.2", "from 0.001 to 1"),
        ("prefix_tokens", "4096", "must be less than the 4,096 tokens of prompt"),
        ("block_size", "8192", "must be at most the 4,607 tokens of a sequence"),
        ("tree_tokens", "32", "goes with Medusa"),
        ("prefill_pool", "0", "from 1 to 10,000"),
        ("prefill_devices", "3", "must divide heads (n_heads)=64"),
    ]:
        screen.type(name, text)
        expect(screen.status).to_contain_text(PARAMETERS[name].label)
        expect(screen.status).to_contain_text(told)
        assert screen.parameters() == standing


def test_screenshots_for_the_eye(show):
    screen = show(size=(1600, 4000), **SERVED, **ALL)
    screen.unfold("Techniques")
    screen.press("techniques")
    SCREENSHOTS.mkdir(exist_ok=True)
    for theme in ("light", "dark"):
        for width in (1600, 700):
            screen.widen(width)
            screen.root.screenshot(path=SCREENSHOTS / f"techniques_{theme}_{width}.png")
        screen.notebook.dark()
