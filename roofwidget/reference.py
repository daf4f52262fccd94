"""The pages of docs/ that are made from the code: `python -m roofwidget.reference docs` writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from roofwidget.catalog_pages import accelerators_page, transformers_page
from roofwidget.parameters import PARAMETERS, PRESETS
from roofwidget.quantity import Choice, Quantity, Switch
from roofwidget.schema import request_schema, response_schema
from roofwidget.units import exact


def reference_table() -> str:
    """All parameters with unit, default, range and meaning, a table for each group."""
    groups: dict[str, list[str]] = {}
    for name, parameter in PARAMETERS.items():
        cells = [f"`{name}`", _unit(parameter), _default(parameter), _allowed(parameter), str(parameter.help)]
        groups.setdefault(parameter.group, []).append(f"| {' | '.join(cells)} |")
    head = "| parameter | unit | default | allowed | meaning |\n| --- | --- | --- | --- | --- |"
    presets = [f"- `{name}` (null): {preset.help}" for name, preset in PRESETS.items()]
    tables = [f"## {group}\n\n{head}\n" + "\n".join(rows) for group, rows in groups.items()]
    note = (
        "A request to `infer` has to give those marked *required*, or the preset that fills them; "
        "everywhere else they have defaults too."
    )
    return "\n\n".join(["# Parameters", note, *tables, "## Presets", "\n".join(presets)]) + "\n"


def _unit(parameter: Quantity | Switch | Choice) -> str:
    return parameter.unit if isinstance(parameter, Quantity) else ""


def _default(parameter: Quantity | Switch | Choice) -> str:
    value = parameter.default_value
    shown = (exact(value) if isinstance(parameter, Quantity) else str(value or "").lower()) or "null"
    return f"{shown}, *required*" if parameter.required else shown


def _allowed(parameter: Quantity | Switch | Choice) -> str:
    return "true or false" if isinstance(parameter, Switch) else str(parameter.allowed)


def pages() -> dict[str, str]:
    """Each page by the name of its file."""
    return {
        "parameters.md": reference_table(),
        "accelerators.md": accelerators_page(),
        "transformers.md": transformers_page(),
        "infer-request.schema.json": json.dumps(request_schema(), indent=2, ensure_ascii=False) + "\n",
        "infer-response.schema.json": json.dumps(response_schema(), indent=2, ensure_ascii=False) + "\n",
    }


if __name__ == "__main__":
    for filename, text in pages().items():
        (Path(sys.argv[1]) / filename).write_text(text, "utf-8")
