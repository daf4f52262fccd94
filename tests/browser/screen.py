"""A notebook in a page, and a RooflineWidget drawn in it: what a person does there, and what they see."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import pytest
from playwright.sync_api import Locator, Page, TimeoutError
from plot import READ, SURFACE, Plot

T = TypeVar("T")

VIEWS = {
    "verdict": ".rw-verdict",
    "tiles": ".rw-tiles",
    "roofline": ".rw-roofline-view",
    "curve": ".rw-curve-view",
    "memory": ".rw-memory-view",
    "timings": ".rw-timings",
}
WITHIN = """([work, argument, seconds]) => Promise.race([eval(work)(argument), new Promise((_, reject) =>
  setTimeout(() => reject(new Error(`no answer in ${seconds} s`)), 1000 * seconds))])"""
EXECUTE = """async code => {
  const { kernel } = window.jupyterapp.shell.currentWidget.context.sessionContext.session;
  const execution = kernel.requestExecute({ code });
  let printed = '', error = '';
  execution.onIOPub = ({ header, content }) => {
    if (header.msg_type === 'stream') printed += content.text;
    if (header.msg_type === 'error') error = `${content.ename}: ${content.evalue}`; };
  await execution.done;
  return [printed, error]; }"""
RESTART = "() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()"
DRAWN = """count => {
  const drawn = view => [...view.querySelectorAll('.svg-figure path.line')].some(
    line => (line.getAttribute('d') ?? '').length > 50) && view.querySelector('.axis .tick');
  const views = [...document.querySelectorAll('.roofwidget .rw-view:has(.bqplot)')];
  const widgets = document.querySelectorAll('.roofwidget').length;
  return widgets === count && views.length === 3 * count && views.every(drawn) }"""
STILL = """(root, quiet) => new Promise(done => {
  let pause;
  const wait = () => { clearTimeout(pause); pause = setTimeout(() => { watch.disconnect(); done() }, quiet) };
  const watch = new MutationObserver(wait);
  watch.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  wait(); })"""
RESIZE = 450
"""Milliseconds: longer than the 300 for which bqplot waits before it redraws a figure that was resized."""
DRAWING = """view => {
  const copy = view.cloneNode(true);
  copy.querySelectorAll('.toolbar_div').forEach(toolbar => toolbar.remove());  // it comes and goes with the mouse
  return copy.innerHTML }"""
TILES = """root => [...root.querySelectorAll('.rw-tile')].map(tile => [
  tile.querySelector('small:first-child'), tile.querySelector('b'), tile.querySelector('i'),
  tile.querySelector('small:last-child')].map(part => part.textContent.trim()))"""
TIMINGS = """root => [...root.querySelectorAll('.rw-rows em')].map(note => {
  let head = note; while (head.tagName !== 'H5') head = head.previousElementSibling;
  const [name, bar] = [note.previousElementSibling.previousElementSibling, note.previousElementSibling];
  const share = bar.firstElementChild.getBoundingClientRect().width / bar.getBoundingClientRect().width;
  return [head.textContent, name.textContent, note.textContent, share, name.className === 'rw-picked'] })"""


def eventually(check: Callable[[], T], seconds: float = 10) -> T:
    """What a check returns once it holds; its AssertionError if it does not in time."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.03)


class Timing(NamedTuple):
    """A row of the node timings; `bar` is its length of 1, `lit` whether it is picked out."""

    phase: str
    whole: str
    node: str
    time: str
    share: str
    bound: str
    bar: float
    lit: bool

    @classmethod
    def read(cls, heading: str, node: str, note: str, bar: float, lit: bool) -> Timing:
        title, whole = re.fullmatch(r"Where a (decode step|prefill)'s (.*) go", heading).groups()
        return cls(title.removesuffix(" step"), whole, node, *note.split(" · "), bar, lit)


class Notebook:
    """The notebook that is open in a page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def ask(self, work: str, argument: Any = None, seconds: float = 60) -> Any:
        """What a JavaScript function, which may take its time, returns."""
        return self.page.evaluate(WITHIN, [work, argument, seconds])

    def kernel(self, code: str) -> str:
        """What code prints in the kernel."""
        printed, error = self.ask(EXECUTE, code)
        assert not error, error
        return str(printed).strip()

    def run_all(self) -> None:
        self.ask("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")

    def restart(self) -> None:
        self.ask(RESTART)

    def dark(self) -> None:
        """Change to the dark theme, as in the menu."""
        theme = "JupyterLab Dark"
        self.ask("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        self.page.wait_for_selector(f"body[data-jp-theme-name='{theme}'] .roofwidget")

    def screens(self, count: int) -> list[Screen]:
        """The widgets of the notebook from top to bottom, once they are drawn."""
        try:
            self.page.wait_for_function(DRAWN, arg=count, timeout=30_000)
        except TimeoutError:
            printed = self.page.locator(".jp-OutputArea").all_inner_texts()
            pytest.fail("the widget was not drawn:\n" + "\n".join(printed)[-3000:])
        return [Screen(self, self.page.locator(".roofwidget").nth(index)) for index in range(count)]


class Screen:
    """A RooflineWidget as it is drawn, and its model, the kernel's `{name}.model`."""

    def __init__(self, notebook: Notebook, root: Locator, name: str = "w") -> None:
        self.notebook, self.page, self.root, self.name = notebook, notebook.page, root, name

    # the kernel's side

    def parameters(self) -> dict[str, Any]:
        printed = self.notebook.kernel(f"import json; print(json.dumps({self.name}.model.parameters()))")
        return dict(json.loads(printed))

    def answer(self) -> dict[str, Any]:
        """What `infer` says of the model's parameters."""
        code = f"import json, roofwidget; print(json.dumps(roofwidget.infer({self.name}.model.parameters())))"
        return dict(json.loads(self.notebook.kernel(code)))

    def set(self, **traits: Any) -> None:
        self.notebook.kernel(f"{self.name}.model.update(**{traits!r})")

    @contextlib.contextmanager
    def changes(self, *names: str) -> Iterator[None]:
        """What is done inside changes these parameters and no others."""
        before = self.parameters()
        yield

        def changed() -> None:
            after = self.parameters()
            assert {name for name in after if after[name] != before[name]} == set(names)

        eventually(changed)

    # what is seen

    @property
    def verdict(self) -> str:
        return self.root.locator(".rw-verdict").inner_text()

    @property
    def status(self) -> Locator:
        return self.root.locator(".rw-status")

    def tiles(self) -> list[list[str]]:
        """Label, value, unit and note of each tile."""
        return list(self.root.evaluate(TILES))

    def timings(self) -> list[Timing]:
        return [Timing.read(*row) for row in self.root.evaluate(TIMINGS)]

    def drawings(self) -> dict[str, str]:
        """Each view's HTML: it is another one whenever anything in it moved."""
        return {view: str(self.root.locator(selector).evaluate(DRAWING)) for view, selector in VIEWS.items()}

    def plot(self, view: str) -> Plot:
        """The figure of a view as it is drawn now."""
        return Plot(view, self.root.locator(VIEWS[view]).evaluate(READ))

    @property
    def tip(self) -> Locator:
        """The tooltip of a dot."""
        return self.page.locator(".roofwidget-tip:visible")

    def tooltip(self) -> list[tuple[str, str]]:
        """The rows of the tooltip, which has to be there."""
        assert self.tip.count() == 1
        return [tuple(row.locator("td").all_inner_texts()) for row in self.tip.locator("tr").all()]

    def settle(self, quiet: int = 150) -> None:
        """Wait until nothing has moved for so many milliseconds."""
        self.root.evaluate(STILL, quiet)

    # what is done

    def control(self, name: str) -> Locator:
        return self.root.locator(f".rw-control-{name}")

    def field(self, name: str) -> Locator:
        return self.control(name).locator("input")

    def type(self, name: str, text: str) -> None:
        """Type a text into a field, in place of what stands there, and enter it."""
        self.field(name).fill(text)
        self.field(name).press("Enter")

    def handle(self, view: str, index: int = 0) -> Locator:
        """A ring of a plot that can be dragged."""
        return self.root.locator(VIEWS[view]).locator(f".dot[style*='{SURFACE}']").nth(index)

    def knob(self, name: str) -> Locator:
        """The handle of a slider."""
        return self.control(name).locator(".noUi-handle")

    def picker(self, preset: str) -> Locator:
        """The field that searches a catalog; its placeholder says what stands."""
        return self.root.locator(f".rw-preset-{preset} input")

    def pick(self, preset: str, name: str) -> None:
        self.picker(preset).fill(name)
        self.picker(preset).press("Enter")

    def panel(self, title: str) -> Locator:
        return self.root.locator(".rw-panel", has=self.page.get_by_role("heading", name=title, exact=True))

    def unfold(self, title: str) -> None:
        """Show the less used controls of a panel."""
        self.panel(title).locator(".jupyter-widget-Collapse-header").click()

    def press(self, button: str) -> None:
        self.root.get_by_role("button", name=button).click()

    def drag(self, thing: Locator, right: float = 0, down: float = 0) -> None:
        with self.dragging(thing, right, down):
            pass

    @contextlib.contextmanager
    def dragging(
        self, thing: Locator, right: float = 0, down: float = 0, steps: int = 12
    ) -> Iterator[tuple[float, float]]:
        """Drag a thing by its middle, and let go after what is done inside; gives where the mouse is."""
        thing.scroll_into_view_if_needed()
        box = thing.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for step in range(1, steps + 1):
            self.page.mouse.move(x + right * step / steps, y + down * step / steps)
            self.page.wait_for_timeout(16)  # a hand is no faster
        yield x + right, y + down
        self.page.mouse.up()

    def widen(self, width: int) -> None:
        """Make the widget exactly so many pixels wide, by the window's width."""
        while (missing := round(width - self.root.evaluate("root => root.getBoundingClientRect().width"))) != 0:
            window = self.page.viewport_size
            self.page.set_viewport_size({**window, "width": window["width"] + missing})
            self.settle(RESIZE)  # a scroll bar may come or go
