"""Light and dark: whatever is written can be read."""

from contrast import words_in
from screen import eventually

LEGIBLE = 4.5
"""What WCAG asks of text of this size."""
BQPLOTS_ORANGE = "rgb(255, 165, 0)"


def test_all_text_is_legible_in_both_themes(show):
    screen = show(accelerator="H100 SXM", transformer="Llama 3.1 8B", batch=8)
    screen.unfold("Hardware")
    screen.press("explain")
    screen.settle()
    assert_legible(screen)
    screen.notebook.dark()
    screen.settle()
    assert_legible(screen)


def assert_legible(screen):
    (dot,) = (dot for dot in screen.plot("roofline").dots if (dot.shape, dot.name) == ("circle", "attention"))
    screen.page.mouse.move(dot.x, dot.y)
    eventually(screen.tooltip)
    screen.settle()
    written = [*words_in(screen.root), *words_in(screen.tip)]
    assert {"decode bound", "GB/s", "arithmetic intensity (FLOP/byte)", "share of time"} <= {w.words for w in written}
    assert not [words for words in written if words.colour == BQPLOTS_ORANGE]
    assert not [(round(w.contrast, 2), w) for w in written if w.contrast < LEGIBLE]
