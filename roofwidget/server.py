"""`infer` over HTTP, from the Jupyter server that shows the notebook.

Installing the package enables it. The server answers under its own authentication:

    curl -X POST http://127.0.0.1:8890/roofwidget/infer \
      -H "Authorization: token $JUPYTER_TOKEN" -H "Content-Type: application/json" \
      -d '{"peak_tflops":990,"hbm_bw_gbs":3350,"hbm_cap_gb":80,"params_b":70,
      "hidden_dim":8192,"layers":80,"n_heads":64,"n_kv_heads":8,
      "seq_len":4096,"batch":1,"weight_bytes":2}'

The body is read as JSON even where its Content-Type says otherwise, since `curl -d` alone calls it
a form. That opens no door: what keeps other sites out is Jupyter's XSRF check, which a browser
session passes only with its XSRF token.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web

from roofwidget.infer import infer
from roofwidget.validation import ParameterError

MAX_BODY_BYTES = 64 * 1024
"""A longer body is refused; a request that sets every parameter takes about 1 % of it."""


class InferHandler(APIHandler):
    """Answers `POST {base_url}roofwidget/infer` with the JSON of `infer`."""

    auth_resource = "roofwidget"

    # The body is not streamed: refusing a streamed body before its end makes tornado close the
    # connection, and a client still sending then meets a broken pipe instead of the answer.
    @web.authenticated
    @authorized
    def post(self) -> None:
        """Answer 200 and `infer`'s response; else 400 and what is wrong, or 413."""
        if len(self.request.body) > MAX_BODY_BYTES:
            return self.refuse(413, f"the body must be at most {MAX_BODY_BYTES:,} bytes long")
        try:
            answer = infer(parse(self.request.body))
        except ParameterError as error:
            return self.refuse(400, str(error), faults=error.faults)
        self.finish(json.dumps(answer, allow_nan=False))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Name the right method where the wrong one was used; all else is told Jupyter's way."""
        if status_code != 405:
            return super().write_error(status_code, **kwargs)
        self.set_header("Allow", "OPTIONS, POST")
        self.refuse(405, f"{self.request.path} takes POST, not {self.request.method}")

    def refuse(self, status: int, message: str, **more: Any) -> None:
        """Answer with a sentence that says why not."""
        self.set_status(status)
        self.finish(json.dumps({"message": message, **more}))


def parse(body: bytes) -> Any:
    """The JSON value of a body, taken strictly.

    Raises
    ------
    ParameterError
        If the body is not UTF-8 or not JSON, or names a key twice.
    """
    try:
        text = body.decode("utf-8-sig")
        if not text.strip():
            refuse_body("is empty, and must be a JSON object")
        return json.loads(
            text,
            parse_int=lambda digits: int(digits) if len(digits) <= 1000 else float(digits),  # infinite, as 1e999 is
            parse_constant=lambda name: refuse_body(f"is not JSON: {name} is not a JSON number"),
            object_pairs_hook=object_of,
        )
    except UnicodeDecodeError as error:
        refuse_body(f"is not UTF-8: {error.reason} at byte {error.start}")
    except json.JSONDecodeError as error:
        refuse_body(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
    except RecursionError:
        refuse_body("is nested too deeply")


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The JSON object of these keys and values, each key once."""
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            refuse_body(f"names {name!r} twice")
        values[name] = value
    return values


def refuse_body(fault: str) -> NoReturn:
    """Say what is wrong with the body as a whole."""
    raise ParameterError({"request": f"the body {fault}"})


def _load_jupyter_server_extension(server: ServerApp) -> None:
    application: web.Application = server.web_app
    application.add_handlers(".*$", [(url_path_join(server.base_url, "roofwidget", "infer"), InferHandler)])
