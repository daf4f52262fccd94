"""Real notebooks in headless Chromium: a server an application and a session, a page and a kernel a test.

`show(batch=8)` opens a notebook whose only cell displays `RooflineWidget(batch=8)`, and gives the `Screen` it drew.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Request, expect, sync_playwright

pytest.register_assert_rewrite("plot", "screen", "truth")

from screen import Notebook, Screen  # noqa: E402

expect.set_options(timeout=10_000)

CHROMIUM = os.environ.get("ROOFWIDGET_CHROMIUM") or shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
SIZE = (1600, 1400)
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"theme": "JupyterLab Light"},
    "docmanager-extension/plugin": {"autosave": False},
}
"""Of every page: in the light theme, and neither asking questions nor going out for news."""
PAGE_CONFIG = {"disabledExtensions": {"@jupyterlab/debugger-extension": True}}
"""The debugger complains in the console when a kernel is restarted under it."""
OWN_ERRORS = {"lab": (), "notebook": ("Cannot read properties of undefined (reading 'schema')",)}
"""What an application itself throws while it loads, with an empty notebook too (Notebook 7.6)."""
SHOWN = "() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext"
READY = """async () => {
  const { context } = window.jupyterapp.shell.currentWidget;
  await context.ready; await context.sessionContext.ready; await context.sessionContext.session.kernel.info; }"""


class Application(NamedTuple):
    """How JupyterLab and Notebook are started, and where they show a notebook."""

    module: str
    trait: str
    path: str


APPLICATIONS = {
    "lab": Application("jupyterlab", "LabApp", "lab/tree/{}?reset"),
    "notebook": Application("notebook", "JupyterNotebookApp", "notebooks/{}"),
}


class Server(NamedTuple):
    """A running application, its address and its folder."""

    name: str
    address: str
    root: Path

    def page_of(self, notebook: str) -> str:
        """Address of a notebook in the folder."""
        return f"{self.address}/{APPLICATIONS[self.name].path.format(notebook)}"

    @contextlib.contextmanager
    def kernel_for(self, notebook: str) -> Iterator[None]:
        """The kernel that a notebook will find, started while its page still loads."""
        wanted = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        session = json.loads(self.ask("POST", "sessions", wanted))
        yield
        self.ask("DELETE", f"sessions/{session['id']}")

    def answers(self) -> bool:
        try:
            return bool(self.ask("GET", "status"))
        except OSError:
            return False

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{self.address}/api/{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return bytes(response.read())


@contextlib.contextmanager
def serving(name: str, root: Path) -> Iterator[Server]:
    """An application that keeps all it writes in a folder of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    application = APPLICATIONS[name]
    command = [
        sys.executable,
        "-m",
        application.module,
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
    ]
    command += ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"]
    command += [f"--{application.trait}.expose_app_in_browser=True", f"--ServerApp.root_dir={root}"]
    write(root / ".jupyter/labconfig/page_config.json", json.dumps(PAGE_CONFIG))
    write(
        root / ".ipython/profile_default/startup/imports.py", "import roofwidget.widget.widget  # while the page loads"
    )
    env = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "IPYTHON"))}
    env |= {"HOME": str(root), "JUPYTERLAB_SETTINGS_DIR": str(root / "settings")}
    with (root / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=root, env=env, stdout=log, stderr=subprocess.STDOUT)
    try:
        server = Server(name, f"http://127.0.0.1:{port}", root)
        deadline = time.monotonic() + 90
        while not server.answers():
            assert process.poll() is None, (root / "server.log").read_text()[-2000:]
            assert time.monotonic() < deadline, f"{name} did not start"
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait(20)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="no chromium on PATH, and ROOFWIDGET_CHROMIUM names none"))


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser with a profile of its own, where scripts once compiled are kept: pages open a second sooner."""
    with sync_playwright() as playwright:
        profile = tmp_path_factory.mktemp("chromium")
        browser = playwright.chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """Starts `lab` or `notebook`, each once, when it is first asked for."""
    with contextlib.ExitStack() as running:
        yield functools.cache(lambda name: running.enter_context(serving(name, tmp_path_factory.mktemp(name))))


@pytest.fixture
def open_notebook(
    chromium: BrowserContext, serve: Callable[[str], Server], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Notebook]]:
    """Opens a notebook of these cells in a new page and runs it; at the end nothing may have gone wrong there."""
    wrong: list[str] = []
    with contextlib.ExitStack() as opened:

        def open_(*cells: str, app: str = "lab", size: tuple[int, int] = SIZE) -> Notebook:
            server, name = serve(app), f"{re.sub(r'[^a-z0-9]+', '-', request.node.name)}.ipynb"
            book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
            book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
            nbformat.write(book, server.root / name)
            for plugin, values in SETTINGS.items():  # which each page reads anew, and a test may have changed
                write(server.root / f"settings/@jupyterlab/{plugin}.jupyterlab-settings", json.dumps(values))
            opened.enter_context(server.kernel_for(name))
            page = opened.enter_context(chromium.new_page())
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.set_default_timeout(15_000)
            page.on("request", lambda asked: wrong.extend(outside(asked, server)))
            page.on("console", lambda message: wrong.extend(complaint(message)))
            page.on("pageerror", lambda error: wrong.extend(thrown(error, app)))
            page.goto(server.page_of(name), timeout=60_000)
            page.wait_for_function(SHOWN, timeout=60_000)
            notebook = Notebook(page)
            notebook.ask(READY)
            notebook.run_all()
            return notebook

        yield open_
        for page in chromium.pages:
            page.title()  # by its answer, everything said before has been heard
        heard = list(wrong)  # and not what is said when the page loses its kernel
    assert not heard, "\n".join(heard)


def outside(request: Request, server: Server) -> Iterator[str]:
    if not request.url.startswith((server.address, "data:", "blob:")):
        yield f"asked for {request.url}"


def complaint(message: ConsoleMessage) -> Iterator[str]:
    if message.type == "error":
        yield f"console: {message.text}"


def thrown(error: Error, app: str) -> Iterator[str]:
    if error.message not in OWN_ERRORS[app]:
        yield f"thrown: {error.stack}"


@pytest.fixture
def show(open_notebook: Callable[..., Notebook]) -> Callable[..., Screen]:
    """Displays a RooflineWidget, which the kernel knows as `w`, and gives what it drew."""

    def show_(*, app: str = "lab", size: tuple[int, int] = SIZE, **traits: Any) -> Screen:
        arguments = ", ".join(f"{name}={value!r}" for name, value in traits.items())
        cell = f"from roofwidget import RooflineWidget\n\nw = RooflineWidget({arguments})\nw"
        notebook = open_notebook(cell, app=app, size=size)
        (screen,) = notebook.screens(1)
        return screen

    return show_
