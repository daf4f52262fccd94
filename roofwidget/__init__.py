"""The physics of LLM serving, live in a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from roofwidget.efficiency import Efficiency
from roofwidget.evaluate import Metrics, evaluate
from roofwidget.hardware import Accelerator
from roofwidget.infer import infer
from roofwidget.kv_allocation import KVAllocation
from roofwidget.lengths import Lengths
from roofwidget.objectives import Objectives
from roofwidget.precision import Precision
from roofwidget.prefill_pool import PrefillPool
from roofwidget.prefix import SharedPrefix
from roofwidget.scenario import Scenario
from roofwidget.schema import request_schema, response_schema
from roofwidget.serving.steady_state import SteadyState, steady_state
from roofwidget.speculation import Speculation
from roofwidget.transformer import Transformer
from roofwidget.validation import ParameterError
from roofwidget.workload import Workload

if TYPE_CHECKING:
    from roofwidget import measurements
    from roofwidget.widget.model import RooflineModel
    from roofwidget.widget.widget import RooflineWidget

__all__ = [
    "Accelerator",
    "Efficiency",
    "KVAllocation",
    "Lengths",
    "Metrics",
    "Objectives",
    "ParameterError",
    "Precision",
    "PrefillPool",
    "RooflineModel",
    "RooflineWidget",
    "Scenario",
    "SharedPrefix",
    "Speculation",
    "SteadyState",
    "Transformer",
    "Workload",
    "evaluate",
    "infer",
    "measurements",
    "request_schema",
    "response_schema",
    "steady_state",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The widget stack and the readers of files are imported only when asked for: physics alone starts fast.
    if name == "measurements":
        return import_module("roofwidget.measurements")
    if name == "RooflineModel":
        from roofwidget.widget.model import RooflineModel

        return RooflineModel
    if name == "RooflineWidget":
        from roofwidget.widget.widget import RooflineWidget

        return RooflineWidget
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "roofwidget.server"}]
