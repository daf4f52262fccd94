"""From wide to narrow, and from small to huge numbers: nothing overlaps, nothing is cut off, nothing scrolls."""

from itertools import combinations
from pathlib import Path

from playwright.sync_api import expect
from plot import Box

SCREENSHOTS = Path(__file__).parents[1] / "screenshots"
TOUCHING = 4
"""Pixels by which the boxes of two texts may overlap: letters do not fill theirs."""
SCENARIOS = {
    "as first shown": {},
    "70B on four": {
        "accelerator": "H100 SXM",
        "transformer": "Llama 3.1 70B",
        "devices": 4,
        "batch": 32,
        "output_tokens": 512,
    },
    "short prompts": {"accelerator": "A100 SXM 80GB", "transformer": "Llama 3.1 8B", "batch": 128, "seq_len": 512},
    "405B on eight": {"accelerator": "B200 SXM", "transformer": "Llama 3.1 405B", "devices": 8, "seq_len": 131_072},
    "many users": {"accelerator": "MI300X", "transformer": "Qwen3 8B", "batch": 1000, "output_tokens": 32_768},
    "experts on eight": {"accelerator": "H200 SXM", "transformer": "DeepSeek V3", "devices": 8, "batch": 64},
    "windows on one": {"accelerator": "H100 SXM", "transformer": "gpt-oss 120B", "batch": 16, "output_tokens": 1000},
    "compressed": {
        "accelerator": "B200 SXM",
        "transformer": "DeepSeek V4 Flash",
        "devices": 8,
        "data_parallel": 2,
        "expert_parallel": True,
        "batch": 64,
    },
    "enormous": {"seq_len": 10_000_000, "batch": 1_000_000, "output_tokens": 100_000, "hbm_cap_gb": 1e6},
    "slow": {"peak_tflops": 0.01, "hbm_bw_gbs": 0.1, "hbm_cap_gb": 0.5},
    "fast": {"peak_tflops": 1e7, "hbm_bw_gbs": 1e7},
}
WIDTHS = {1600: ["as first shown", "70B on four", "enormous"], 1100: [*SCENARIOS], 700: ["short prompts", "enormous"]}
"""What is tried at each width: everything where plots are smallest."""
BOXES = """root => {
  const things = '.rw-verdict, .rw-tile, .rw-tools button, .rw-control, .rw-panel select, .rw-panel h3, .rw-view h4, ' +
    '.rw-view .bqplot, .rw-rows > *, .rw-panel .jupyter-widget-Collapse-header';
  return [...root.querySelectorAll(things)].filter(thing => thing.getClientRects().length).map(thing => {
    const { x, y, width, height } = thing.getBoundingClientRect();
    return [thing.textContent.trim().replace(/\\s+/g, ' ').slice(0, 40), [x, y, x + width, y + height]] }) }"""
SPILLS = """root => {
  const texts = '.rw-tile, .rw-tile *, .rw-rows > *, .rw-view h4, .rw-panel h3, .rw-control input, .rw-panel select';
  const scrolls = element => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  return [root.closest('.jp-OutputArea'), root.closest('.jp-OutputArea-output'), root, ...root.querySelectorAll('*')]
    .filter(element => element.matches(texts) || scrolls(element))
    .filter(element => element.clientWidth && element.scrollWidth > element.clientWidth + 1)
    .map(element => `${element.className} ${element.value ?? element.textContent}`.trim().slice(0, 60)) }"""


def test_nothing_overlaps_or_is_cut_off_at_any_width_with_any_numbers(show):
    screen = show()
    usual, found = screen.parameters(), []
    for width, names in WIDTHS.items():
        screen.widen(width)
        for name in names:
            screen.set(**usual)
            screen.set(**SCENARIOS[name])
            screen.settle()
            found += [f"{width} px, {name}: {fault}" for fault in faults(screen)]
    assert not found, "\n".join(found)


def faults(screen):
    """What overlaps, spills or is cut off."""
    boxes = [(text, Box(*box)) for text, box in screen.root.evaluate(BOXES)]
    yield from (f"{a!r} is on {b!r}" for (a, box), (b, other) in combinations(boxes, 2) if box.overlap(other) > 1)
    yield from (f"spills: {spill}" for spill in screen.root.evaluate(SPILLS))
    for view in ("roofline", "curve", "memory"):
        plot = screen.plot(view)
        for name, axis in plot.axes.items():
            ticks = [text for _, text in axis.ticks]
            if not 2 <= len(ticks) <= 8 or any("e" in text for text in ticks):
                yield f"{view}: ticks of {name} are {', '.join(ticks)}"
        for (text, box), (other_text, other) in combinations(plot.texts, 2):
            if box.overlap(other) > TOUCHING:
                yield f"{view}: {text!r} is {box.overlap(other):.0f} px on {other_text!r}"
        for text, box in plot.texts:
            if not box.inside(plot.figure, 1):
                yield f"{view}: {text!r} is cut off by the figure"
        for text, box in plot.labels:
            if not box.inside(plot.frame, 2):
                yield f"{view}: {text!r} is cut off by the frame"


def test_in_700_pixels_the_controls_are_folded_until_asked_for(show):
    screen = show()
    controls, fold = screen.root.locator(".rw-controls"), screen.root.get_by_role("button", name="controls")
    for width in (1600, 1100):
        screen.widen(width)
        expect(controls).to_be_visible()
        expect(fold).to_be_hidden()
    screen.widen(700)
    expect(controls).to_be_hidden()
    tiles, plots = (screen.root.locator(part).bounding_box() for part in (".rw-tiles", ".rw-roofline-view"))
    assert 0 < plots["y"] - (tiles["y"] + tiles["height"]) < 60
    assert plots["width"] > 650

    fold.click()
    expect(controls).to_be_visible()
    screen.settle()
    assert not list(faults(screen))
    with screen.changes("batch"):
        screen.drag(screen.knob("batch"), right=40)
    fold.click()
    expect(controls).to_be_hidden()


def test_screenshots_for_the_eye(show):
    screen = show(size=(1600, 2200), **SCENARIOS["70B on four"])
    SCREENSHOTS.mkdir(exist_ok=True)
    for theme in ("light", "dark"):
        for width in (1600, 700):
            screen.widen(width)
            screen.root.screenshot(path=SCREENSHOTS / f"{theme}_{width}.png")
        screen.notebook.dark()
