"""Roofs, ridge and batch cursor are dragged; dots are picked and asked."""

import pytest
from playwright.sync_api import expect
from screen import eventually
from truth import assert_screen_is_true, says

SCENARIO = {"accelerator": "H100 SXM", "transformer": "Llama 3.1 8B", "batch": 8}


def standing(screen):
    """The parameters, once they have stopped changing while the mouse is held still."""

    def same():
        before = screen.parameters()
        screen.settle()
        assert screen.parameters() == before
        return before

    return eventually(same)


def about(value):
    """What a hand can aim at: a pixel or two of a logarithmic axis, or half a sequence."""
    return pytest.approx(value, rel=0.04, abs=0.5)


def aimed_at(plot, mouse):
    """The point of a plot under the mouse; beyond its frame, the nearest in it."""
    x = min(max(mouse[0], plot.frame.left), plot.frame.right)
    y = min(max(mouse[1], plot.frame.top), plot.frame.bottom)
    return plot.value(x, y)


def test_the_batch_cursor_sets_the_batch_and_nothing_else(show):
    screen = show(**SCENARIO)
    for right in (90, -200, 600):  # the last far beyond the end of the axis
        with screen.changes("batch"), screen.dragging(screen.handle("curve"), right) as mouse:
            batch, _ = aimed_at(screen.plot("curve"), mouse)
            assert standing(screen)["batch"] == about(max(1, batch))
        eventually(lambda: assert_screen_is_true(screen))
        expect(screen.status).to_be_empty()


def test_roofs_and_ridge_set_what_they_stand_for_and_end_on_the_roof(show):
    screen = show(**SCENARIO)
    slope, ridge, roof = (screen.handle("roofline", index) for index in range(3))
    for handle, right, down, moved in [
        (slope, 10, -30, {"hbm_bw_gbs"}),
        (roof, 30, 25, {"peak_tflops"}),
        (ridge, -20, -15, {"hbm_bw_gbs", "peak_tflops"}),
        (roof, 0, -300, {"peak_tflops"}),  # far above the plot
    ]:
        with screen.changes(*moved), screen.dragging(handle, right, down) as mouse:
            intensity, speed = aimed_at(screen.plot("roofline"), mouse)
            parameters = standing(screen)
            if "peak_tflops" in moved:
                assert parameters["peak_tflops"] == about(speed)
            if "hbm_bw_gbs" in moved:
                assert parameters["hbm_bw_gbs"] == about(speed / intensity * 1e3)
        eventually(lambda: assert_screen_is_true(screen))  # which says that all three are on the roof
        expect(screen.status).to_be_empty()


def test_rings_flicked_in_one_move_end_where_they_belong(show):
    screen = show(**SCENARIO)
    for view, right in [("curve", 300), ("curve", -300), ("roofline", 100), ("roofline", -60)]:
        with screen.dragging(screen.handle(view), right, steps=1):
            pass
        screen.settle()
        eventually(lambda: assert_screen_is_true(screen))  # which says where all rings are


def test_a_dot_lights_its_bar_and_tells_its_numbers(show):
    screen = show(**SCENARIO)
    nodes = screen.answer()["nodes"]
    dots = screen.plot("roofline").dots
    for phase, shape, name in [("decode", "circle", "attention"), ("prefill", "triangle", "FFN")]:
        (dot,) = (dot for dot in dots if (dot.shape, dot.name) == (shape, name))
        (node,) = (node for node in nodes[phase] if node["name"] == name)
        screen.page.mouse.move(dot.x, dot.y)
        eventually(lambda node=node: assert_tooltip(screen, node))
        screen.page.mouse.click(dot.x, dot.y)
        eventually(lambda phase=phase, name=name: assert_lit(screen, phase, name))
    screen.set(batch=9)
    eventually(lambda: assert_screen_is_true(screen))
    assert_lit(screen, "prefill", "FFN")


def assert_lit(screen, phase, name):
    assert [(row.phase, row.node) for row in screen.timings() if row.lit] == [(phase, name)]


def assert_tooltip(screen, node):
    rows = dict(screen.tooltip())
    assert rows["node"] == node["name"]
    assert says(rows["FLOP/byte"], node["arithmetic_intensity"], digits=4)
    assert says(rows["TFLOP/s"], node["flops"] / node["time_ms"] / 1e9, digits=4)
    assert says(rows["share of time"], node["share"], digits=2)
