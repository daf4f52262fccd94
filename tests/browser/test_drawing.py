"""What is drawn when the widget is first displayed, in both applications."""

import pytest
from screen import eventually
from truth import assert_screen_is_true


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_every_view_shows_what_infer_answers(show, app):
    screen = show(app=app, accelerator="H100 SXM", transformer="Llama 3.1 8B", batch=8, seq_len=2000, output_tokens=300)
    assert_screen_is_true(screen)
    assert screen.status.inner_text() == ""
    screen.set(accelerator="A100 SXM 80GB", transformer="Llama 3.1 70B", devices=4, batch=300)
    eventually(lambda: assert_screen_is_true(screen))


def test_after_a_restart_of_the_kernel_the_cell_draws_it_anew(show):
    screen = show(batch=8)
    screen.notebook.restart()
    screen.notebook.run_all()
    (screen,) = screen.notebook.screens(1)
    screen.type("batch", "16")
    eventually(lambda: screen.parameters()["batch"] == 16)
    eventually(lambda: assert_screen_is_true(screen))
