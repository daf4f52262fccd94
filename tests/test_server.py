"""The server extension, over real HTTP to a real `jupyter server`."""

from __future__ import annotations

import http.client
import http.cookiejar
import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from roofwidget import infer, server

TOKEN = "one-two-three"
BASE_URL = "/course/week-1/"
URL = BASE_URL + "roofwidget/infer"
REQUEST = {
    "peak_tflops": 990,
    "hbm_bw_gbs": 3350,
    "hbm_cap_gb": 80,
    "params_b": 70,
    "hidden_dim": 8192,
    "layers": 80,
    "n_heads": 64,
    "n_kv_heads": 8,
    "seq_len": 4096,
    "batch": 1,
    "weight_bytes": 2,
}
BODY = json.dumps(REQUEST).encode()
LIMIT = 65_536


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        assert self.headers["Content-Type"].startswith("application/json")
        return json.loads(self.body)


class Server(NamedTuple):
    port: int
    log_path: Path

    @property
    def log(self) -> str:
        return self.log_path.read_text()

    def ask(
        self,
        body: bytes | Iterable[bytes] | None = BODY,
        method: str = "POST",
        url: str = URL,
        token: str | None = TOKEN,
        **headers: str,
    ) -> Answer:
        """Send one request; `Content_Type="…"` sets a header. An iterable body goes in chunks."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["Authorization"] = f"token {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, url, body, sent)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("jupyter")
    (home / "root").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_"))}
    for kind in ("CONFIG", "DATA", "RUNTIME"):
        environment[f"JUPYTER_{kind}_DIR"] = str(home / kind.lower())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.base_url={BASE_URL}"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={home / 'root'}"]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(command, env=environment, cwd=home, stdout=log, stderr=log)
    served = Server(port, home / "log")
    try:
        _wait_for(process, served)
        yield served
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(process: subprocess.Popen[bytes], served: Server) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        try:
            served.ask(None, "GET", BASE_URL + "api")
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"jupyter server does not answer:\n{served.log}")


@pytest.fixture(autouse=True)
def _nothing_breaks(jupyter: Server) -> Iterator[None]:
    before = len(jupyter.log)
    yield
    logged = jupyter.log[before:]
    assert "Traceback" not in logged
    assert "[E " not in logged


def test_installing_the_package_enables_it(jupyter: Server) -> None:
    assert "roofwidget | extension was successfully loaded." in jupyter.log
    assert not list((jupyter.log_path.parent / "config").rglob("*.json"))


def test_answers_the_missions_request(jupyter: Server) -> None:
    answer = jupyter.ask(Content_Type="application/json")
    outputs = answer.json["outputs"]
    assert answer.status == 200
    # 2 bytes × 70e9 weights and 4,096 × 327,680 bytes of KV cache, over 3,350 GB/s
    assert outputs["tpot_ms"] == pytest.approx(42.2, abs=0.05)
    assert outputs["decode_tokens_per_s"] == pytest.approx(23.7, abs=0.05)
    assert outputs["bottleneck"] == {"prefill": "compute", "decode": "memory"}
    assert outputs["ridge_point"] == pytest.approx(990e12 / 3350e9)
    assert outputs["memory"]["kv_bytes_per_token"] == 2 * 80 * 8 * 128 * 2
    assert outputs["memory"]["weights_gb"] == 140
    assert outputs["memory"]["fits"] is False
    assert answer.json["batch_curve"][0]["batch"] == 1
    assert answer.json["nodes"]["decode"]


@pytest.mark.parametrize("more", [{}, {"batch": 32, "devices": 4, "link_gbs": 450}, {"weight_bytes": 0.5}])
def test_answer_is_that_of_infer(jupyter: Server, more: dict[str, float]) -> None:
    request = REQUEST | more
    assert jupyter.ask(json.dumps(request).encode()).json == infer(request)


@pytest.mark.parametrize(
    "content_type",
    ["application/json; charset=utf-8", "application/x-www-form-urlencoded", "text/plain", ""],
)
def test_content_type_does_not_matter(jupyter: Server, content_type: str) -> None:
    assert jupyter.ask(Content_Type=content_type).json == infer(REQUEST)


def test_body_may_come_in_chunks_or_with_a_byte_order_mark(jupyter: Server) -> None:
    assert jupyter.ask(iter([BODY[:9], BODY[9:]])).json == infer(REQUEST)
    assert jupyter.ask(b"\xef\xbb\xbf" + BODY).json == infer(REQUEST)


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("sh")), reason="needs curl and sh")
@pytest.mark.parametrize("dropped", ["", ' -H "Content-Type: application/json"'])
def test_documented_curl(jupyter: Server, dropped: str) -> None:
    documented = textwrap.dedent(server.__doc__.split("\n\n")[2])
    assert documented.startswith("curl -X POST http://127.0.0.1:8890/roofwidget/infer ")
    assert dropped in documented
    command = documented.replace(dropped, "").replace("8890/", f"{jupyter.port}{BASE_URL}")
    run = subprocess.run(
        ["sh", "-c", command], env=os.environ | {"JUPYTER_TOKEN": TOKEN}, capture_output=True, check=True, timeout=30
    )
    assert json.loads(run.stdout) == infer(REQUEST)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ({"batch": 0}, {"batch": "batch must be a whole number from 1 to 1,000,000, not 0"}),
        ({"batch": "1"}, {"batch": "batch must be a whole number from 1 to 1,000,000, not '1'"}),
        ({"bach": 1}, {"bach": "'bach' is not a parameter; did you mean 'batch'?"}),
        (
            {"batch": 1.5, "gated_ffn": 1},
            {
                "batch": "batch must be a whole number from 1 to 1,000,000, not 1.5",
                "gated_ffn": "gated_ffn must be true or false, not 1",
            },
        ),
        (
            {"devices": 5, "link_gbs": 450},
            {"devices": None},
        ),
    ],
)
def test_faulty_parameters_are_told(jupyter: Server, change: dict[str, Any], faults: dict[str, str | None]) -> None:
    answer = jupyter.ask(json.dumps(REQUEST | change).encode())
    told = answer.json["faults"]
    assert answer.status == 400
    assert told == {name: sentence or told[name] for name, sentence in faults.items()}
    assert answer.json == {"message": "; ".join(told.values()), "faults": told}


def test_every_missing_parameter_is_told(jupyter: Server) -> None:
    answer = jupyter.ask(b"{}")
    assert answer.status == 400
    assert set(answer.json["faults"]) == set(REQUEST)


@pytest.mark.parametrize(
    "value", ["[1]", "[1, [2]]", "[" * 100 + "]" * 100, "{}", "1e999", "9" * 5000, "-" + "9" * 900, '"\\ud800 %s %"']
)
def test_values_that_are_no_number_are_refused(jupyter: Server, value: str) -> None:
    answer = jupyter.ask(BODY.replace(b'"batch": 1', f'"batch": {value}'.encode()))
    assert answer.status == 400
    assert list(answer.json["faults"]) == ["batch"]
    assert answer.json["message"].startswith("batch must be a whole number from 1 to 1,000,000, not ")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (None, "the body is empty, and must be a JSON object"),
        (b"", "the body is empty, and must be a JSON object"),
        (b" \r\n", "the body is empty, and must be a JSON object"),
        (b"batch=1", "the body is not JSON: Expecting value at line 1, column 1"),
        (b"{'batch': 1}", None),
        (b"{}\n{}", "the body is not JSON: Extra data at line 2, column 1"),
        (BODY[:-1], None),
        (b'{"batch": 1,}', None),
        (b'{"batch": "\xff"}', "the body is not UTF-8: invalid start byte at byte 11"),
        (json.dumps(REQUEST).encode("utf-16"), "the body is not UTF-8: invalid start byte at byte 0"),
        (b"\x1f\x8b\x08\x00", "the body is not UTF-8: invalid start byte at byte 1"),
        (b'{"batch": NaN}', "the body is not JSON: NaN is not a JSON number"),
        (b'{"batch": -Infinity}', "the body is not JSON: -Infinity is not a JSON number"),
        (b'{"batch": 1, "batch": 2}', "the body names 'batch' twice"),
        (b'{"batch": {"%s": 1, "%s": 2}}', "the body names '%s' twice"),
        (b"[" * 60_000, "the body is nested too deeply"),
        (b'{"a":' * 13_000, "the body is nested too deeply"),
        (b"[]", "the request must be a JSON object, not list"),
        (b"null", None),
        (b"1", None),
        (b'"batch"', None),
    ],
)
def test_bodies_that_are_no_json_object_are_refused(jupyter: Server, body: bytes | None, sentence: str | None) -> None:
    answer = jupyter.ask(body)
    message = answer.json["message"]
    assert answer.status == 400
    assert answer.json == {"message": sentence or message, "faults": {"request": message}}
    assert message.startswith(("the body is not JSON: ", "the request must be a JSON object") if not sentence else "")


def test_longest_body(jupyter: Server) -> None:
    assert jupyter.ask(BODY.ljust(LIMIT)).status == 200
    assert jupyter.ask(iter([BODY.ljust(LIMIT - 1), b" "])).status == 200


@pytest.mark.parametrize("length", [LIMIT + 1, 20_000_000])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("content_type", ["application/json", "application/x-www-form-urlencoded"])
def test_longer_bodies_are_refused(jupyter: Server, length: int, chunked: bool, content_type: str) -> None:
    body = BODY.ljust(length)
    pieces = [body[i : i + 50_000] for i in range(0, length, 50_000)]
    answer = jupyter.ask(iter(pieces) if chunked else body, Content_Type=content_type)
    assert answer.status == 413
    assert answer.json == {"message": "the body must be at most 65,536 bytes long"}


@pytest.mark.parametrize("length", ["-1", "many", "9" * 5000])
def test_content_length_that_is_no_number_is_refused(jupyter: Server, length: str) -> None:
    assert _raw(jupyter, length).startswith(b"HTTP/1.1 400 ")


def test_client_that_hangs_up_does_no_harm(jupyter: Server) -> None:
    _raw(jupyter, "1000", b"{", wait=False)
    assert jupyter.ask().status == 200


def _raw(jupyter: Server, length: str, body: bytes = b"", wait: bool = True) -> bytes:
    head = f"POST {URL} HTTP/1.1\r\nHost: localhost\r\nAuthorization: token {TOKEN}\r\nContent-Length: {length}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", jupyter.port), timeout=20) as connection:
        connection.sendall(head.encode() + body)
        return connection.recv(4096) if wait else b""


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "BREW"])
def test_other_methods_are_refused(jupyter: Server, method: str) -> None:
    answer = jupyter.ask(None if method in ("GET", "HEAD") else BODY, method)
    assert answer.status == 405
    assert answer.headers["Allow"] == "OPTIONS, POST"
    if method == "HEAD":
        assert answer.body == b""
    else:
        assert answer.json == {"message": f"/course/week-1/roofwidget/infer takes POST, not {method}"}


@pytest.mark.parametrize("url", ["/roofwidget/infer", URL + "s", BASE_URL + "roofwidget"])
def test_answers_at_its_own_url_only(jupyter: Server, url: str) -> None:
    assert jupyter.ask(url=url).status in (404, 405)


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x"])
@pytest.mark.parametrize("body", [BODY, b"{", BODY.ljust(2_000_000)])
def test_strangers_are_refused(jupyter: Server, token: str | None, body: bytes) -> None:
    answer = jupyter.ask(body, token=token)
    assert answer.status == 403
    assert "message" in answer.json


@pytest.mark.parametrize("scheme", ["token", "Bearer"])
def test_token_may_come_otherwise(jupyter: Server, scheme: str) -> None:
    assert jupyter.ask(token=None, Authorization=f"{scheme} {TOKEN}").status == 200
    assert jupyter.ask(token=None, url=f"{URL}?token={TOKEN}").status == 200


class Browser:
    """A session that logged in by the link that Jupyter prints."""

    def __init__(self, jupyter: Server) -> None:
        self.origin = f"http://127.0.0.1:{jupyter.port}"
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.opener.open(f"{self.origin}{BASE_URL}login?token={TOKEN}", timeout=20).close()

    @property
    def xsrf(self) -> str:
        return next(str(cookie.value) for cookie in self.cookies if cookie.name == "_xsrf")

    def ask(self, **headers: str) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.origin + URL, BODY, sent, method="POST")
        try:
            with self.opener.open(request, timeout=20) as response:
                return Answer(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())


def test_browser_session_needs_its_xsrf_token(jupyter: Server) -> None:
    browser = Browser(jupyter)
    assert browser.ask(X_XSRFToken=browser.xsrf, Origin=browser.origin).json == infer(REQUEST)
    assert browser.ask().status == 403
    assert browser.ask(X_XSRFToken="wrong").status == 403
    assert "_xsrf" in browser.ask().json["message"]


def test_other_sites_cannot_use_a_browser_session(jupyter: Server) -> None:
    browser = Browser(jupyter)
    refused = browser.ask(X_XSRFToken=browser.xsrf, Origin="https://example.com")
    assert refused.status in (403, 404)
    assert "Access-Control-Allow-Origin" not in refused.headers


def test_importing_it_leaves_the_widgets_alone() -> None:
    program = "import sys, roofwidget.server; print([m for m in ('ipywidgets', 'bqplot') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
