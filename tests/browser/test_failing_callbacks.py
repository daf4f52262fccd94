"""What an exception in a callback looks like to the person whose change raised it."""

from playwright.sync_api import expect
from screen import eventually
from truth import assert_screen_is_true


def test_an_exception_is_told_in_the_status_line_until_the_next_good_change(show):
    screen = show(batch=4)
    screen.notebook.kernel("fail = lambda change: 1 / 0\nw.model.observe(fail, 'batch')")
    for raise_it in (
        lambda: screen.type("batch", "9"),
        lambda: screen.knob("batch").press("ArrowRight"),
        lambda: screen.drag(screen.handle("curve"), right=50),
    ):
        raise_it()
        expect(screen.status).to_contain_text("division by zero")
        expect(screen.status.get_by_role("alert")).to_be_visible()
        screen.type("layers", "79")
        expect(screen.status).to_be_empty()
        screen.type("layers", "80")
        eventually(lambda: assert_screen_is_true(screen))
