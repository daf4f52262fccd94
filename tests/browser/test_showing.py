"""Displaying a widget, once, twice, and beside another."""

from screen import Screen, eventually
from truth import assert_screen_is_true

OFF_GRID = {"hbm_bw_gbs": 3352.7, "params_b": 70.553706496, "seq_len": 4097, "batch": 37, "hbm_cap_gb": 85.523}
TALL = (1600, 2600)
MAKE = "from roofwidget import RooflineWidget\n\n{} = RooflineWidget(**{})"


def test_showing_changes_no_parameter_and_both_showings_of_a_widget_follow(open_notebook):
    notebook = open_notebook(MAKE.format("w", OFF_GRID) + "\nbefore = w.model.parameters()", "w", "w", size=TALL)
    first, second = notebook.screens(2)
    for screen in (first, second):
        screen.settle()
        assert_screen_is_true(screen)
    assert notebook.kernel("print(w.model.parameters() == before)") == "True"
    assert OFF_GRID.items() <= first.parameters().items()
    assert first.field("params_b").input_value() == "70.553706496"

    with first.changes("batch"):
        first.type("batch", "12")
    for screen in (first, second):
        eventually(lambda screen=screen: assert_screen_is_true(screen))
    with first.changes("seq_len"):
        second.drag(second.knob("seq_len"), right=30)
    for screen in (first, second):
        eventually(lambda screen=screen: assert_screen_is_true(screen))


def test_two_widgets_in_a_notebook_do_not_interfere(open_notebook):
    cells = [MAKE.format(name, {"batch": batch}) + f"\n{name}" for name, batch in [("v", 4), ("w", 16)]]
    notebook = open_notebook(*cells, size=TALL)
    upper, lower = notebook.screens(2)
    upper = Screen(notebook, upper.root, "v")
    for screen, other in [(upper, lower), (lower, upper)]:
        other.settle()
        others_drawings, others_parameters = other.drawings(), other.parameters()
        with screen.changes("batch"):
            screen.drag(screen.handle("curve"), right=40)
        eventually(lambda screen=screen: assert_screen_is_true(screen))
        assert other.parameters() == others_parameters
        assert other.drawings() == others_drawings
