"""From a key on a slider to the last change of the drawing, in JupyterLab in headless Chromium.

Beside RooflineWidget, on the same page, stands a bare bqplot figure of one line that an
ipywidgets slider moves. The two take turns, key by key, and the difference of each pair tells
what the screen costs over the least that such a thing can cost.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from playwright.sync_api import Locator, Page, sync_playwright
from table import show

FRAME = 1000 / 60
PAIRS, WARM_UP = 40, 6
QUIET = 250
"""Milliseconds without a change after which the drawing counts as finished."""
BROWSER = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
CELL = """
import bqplot, ipywidgets, numpy as np
from roofwidget import RooflineWidget
x = np.linspace(0.0, 1.0, 256)
scales = {"x": bqplot.LinearScale(min=0, max=1), "y": bqplot.LinearScale(min=0, max=100)}
axes = [bqplot.Axis(scale=scales["x"]), bqplot.Axis(scale=scales["y"], side="left")]
line = bqplot.Lines(x=x, y=50 * x, scales=scales)
slider = ipywidgets.IntSlider(50, min=1, max=100)
slider.observe(lambda change: setattr(line, "y", change.new * x), "value")
bare = ipywidgets.VBox([slider, bqplot.Figure(marks=[line], axes=axes, layout={"height": "310px"})])
bare.add_class("bare")
display(bare, RooflineWidget(batch=16))
"""
READY = """() => { const context = window.jupyterapp?.shell.currentWidget?.context;
  return context?.isReady && context.sessionContext.session?.kernel?.status === 'idle' }"""
WATCH = """(selector, quiet) => new Promise(done => {
  let start = null, last = null, changes = 0, pause = null;
  const svg = node => (node.nodeType === 1 ? node : node.parentElement)?.closest('svg');
  const finish = () => { observer.disconnect(); removeEventListener('keydown', key, true); done([last, changes]); };
  const key = () => { start = performance.now(); pause = setTimeout(finish, 20 * quiet); };
  const observer = new MutationObserver(records => {
    const drawn = records.filter(record => svg(record.target)).length;
    if (start === null || !drawn) return;
    last = performance.now() - start; changes += drawn;
    clearTimeout(pause); pause = setTimeout(finish, quiet);
  });
  observer.observe(document.querySelector(selector),
                   {subtree: true, childList: true, attributes: true, characterData: true});
  addEventListener('keydown', key, true);
})"""


@contextlib.contextmanager
def jupyterlab(root: Path) -> Iterator[str]:
    """A server with a home of its own and no token; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", f"--port={address.rsplit(':', 1)[1]}"]
    command += ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True"]
    command += ["--ServerApp.port_retries=0", "--LabApp.news_url=None", f"--ServerApp.root_dir={root}"]
    env = os.environ | {"HOME": str(root)}
    with (root / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=subprocess.STDOUT)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/api/status", timeout=5)
                break
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def open_notebook(page: Page, address: str, root: Path) -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.strip())])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(book, root / "paint.ipynb")
    page.goto(f"{address}/lab/tree/paint.ipynb?reset")
    page.wait_for_function(READY, timeout=60_000)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    for drawing in (".roofwidget .bqplot path.line", ".bare .bqplot path.line"):
        page.wait_for_selector(drawing, timeout=60_000, state="attached")
    page.wait_for_timeout(2000)


def press(page: Page, slider: Locator, key: str, drawing: str) -> float:
    """Milliseconds from a key on a slider to the last change of the drawing."""
    slider.focus()
    page.evaluate(f"() => {{ window.painted = ({WATCH})({drawing!r}, {QUIET}) }}")
    slider.press(key)
    last, changes = page.evaluate("() => window.painted")
    assert changes, f"{key} on the slider of {drawing} changed nothing"
    return float(last)


def measure(page: Page) -> list[tuple[float, float]]:
    """Pairs of milliseconds: RooflineWidget and the bare figure."""
    ours, bare = page.locator(".rw-control-batch .noUi-handle"), page.locator(".bare .noUi-handle")
    pairs = []
    for turn in range(WARM_UP + PAIRS):
        key = "ArrowRight" if turn % 8 < 4 else "ArrowLeft"
        pairs.append((press(page, ours, key, ".roofwidget"), press(page, bare, key, ".bare")))
    return pairs[WARM_UP:]


def row(name: str, times: Sequence[float]) -> tuple[str, float, float, float]:
    *_, ninth = statistics.quantiles(times, n=10)
    return name, statistics.median(times), ninth, statistics.median(times) / FRAME


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, jupyterlab(Path(folder)) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER)
        page = chromium.new_page(viewport={"width": 1600, "height": 1800})
        open_notebook(page, address, Path(folder))
        pairs = measure(page)
        chromium.close()
    ours, bare = zip(*pairs, strict=True)
    rows = [
        row("RooflineWidget, its batch slider", ours),
        row("bare bqplot figure, its slider", bare),
        row("difference, pair by pair", [a - b for a, b in pairs]),
    ]
    show(("key to last change", "median ms", "90 % below, ms", "median frames"), rows)


if __name__ == "__main__":
    main()
