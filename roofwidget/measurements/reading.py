"""Where measurements come from: a file, its text, its bytes, rows or a DataFrame."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

from roofwidget.measurements import genai_perf, inference_perf, llama_bench, sglang, table, vllm
from roofwidget.measurements.measurement import Measurement
from roofwidget.measurements.parsing import Fields, objects, parsed
from roofwidget.measurements.record import MeasurementError, Record
from roofwidget.measurements.tools import made_by
from roofwidget.validation import ParameterError, shown

KNOWN = (vllm, sglang, llama_bench, genai_perf, inference_perf, table)
"""Each says, when imported, which results it reads."""
LARGEST = 512 * 1024 * 1024
"""Bytes beyond which a file is no summary: vLLM's with every answer in it have some 100 MB."""
NAMES = tuple(field.name for field in fields(Measurement))


def read(source: Any, **told: Any) -> list[Measurement]:
    """Read what was measured, whichever of the known tools wrote it.

    Parameters
    ----------
    source
        A path, the text or the bytes of a file, a dict or list of dicts, or a DataFrame of pandas or polars.
    told
        What the file does not say, or says otherwise: any field of a `Measurement`, for all that are read.

    Returns
    -------
    list[Measurement]
        One for each result: a line of JSONL, a row of a table, a stage.

    Raises
    ------
    MeasurementError
        If it cannot be read, is of no known tool, or has a value that cannot be.

    Examples
    --------
    >>> from roofwidget.measurements import read
    >>> measured, = read('{"avg_latency": 2.5, "latencies": [2.5], "percentiles": {}}', batch=8, output_tokens=128)
    >>> measured.tool, measured.e2e, measured.batch
    ('vLLM bench latency', 2.5, 8.0)
    """
    unknown = sorted(set(told) - set(NAMES))
    if unknown:
        raise MeasurementError(f"a measurement has no field {unknown[0]!r}: its fields are {', '.join(NAMES)}")
    name, results = _results(source)
    places = [name if len(results) == 1 else f"{name}, result {i}" for i in range(1, len(results) + 1)]
    stem = Path(name).stem if isinstance(source, (str, PathLike)) and name != "the text" else ""
    return [_measurement(Record(result, place), stem, told) for result, place in zip(results, places, strict=True)]


def _measurement(record: Record, stem: str, told: Mapping[str, Any]) -> Measurement:
    maker = made_by(record)
    try:
        measured = maker.read(record)
        return replace(measured, **{"label": measured.label or stem, **told})
    except MeasurementError:
        raise
    except ParameterError as error:
        raise MeasurementError(f"{record.place}, of {maker.name}: {error}") from None


def _results(source: Any) -> tuple[str, list[Fields]]:
    """What sentences call the source, and its results."""
    if isinstance(source, (bytes, bytearray)):
        return "the text", parsed(_decoded(bytes(source), "the text"), "the text")
    if isinstance(source, str) and ("\n" in source or source.lstrip("\ufeff \t\r").startswith(("{", "[", "|"))):
        return "the text", parsed(source, "the text")
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        return path.name, parsed(_decoded(_content(path), path.name), path.name)
    if isinstance(source, Mapping):
        return "the result", [source]
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        records = source.to_dicts() if hasattr(source, "to_dicts") else source.to_dict("records")  # polars, pandas
        rows = [{str(key): _cell(value) for key, value in row.items()} for row in records]
        return "the table", objects(rows, "the table")
    if isinstance(source, Sequence) and not isinstance(source, str):
        return "the list", objects(list(source), "the list")
    raise MeasurementError(
        f"measurements are read from a path, text, bytes, dicts or a DataFrame, not from {type(source).__name__}"
    )


def _content(path: Path) -> bytes:
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):  # a name too long, or with a null in it
        is_file, is_folder = False, False
    if is_folder:
        raise MeasurementError(f"{shown(str(path))} is a directory: give its files one by one")
    if not is_file:
        raise MeasurementError(f"there is no file {shown(str(path))}")
    try:
        if (size := path.stat().st_size) > LARGEST:
            raise MeasurementError(f"{path.name} has {size:,} bytes: a file of results has at most {LARGEST:,}")
        return path.read_bytes()
    except OSError as error:
        raise MeasurementError(f"{path.name} cannot be read: {error.strerror}") from None


def _decoded(content: bytes, name: str) -> str:
    """The text: in UTF-8, or in UTF-16 with its mark, which PowerShell writes what it is told to keep in."""
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        raise MeasurementError(f"{name} is no text in UTF-8") from None


def _cell(value: Any) -> Any:
    """A cell of a DataFrame: what pandas puts where there is none (NaN, NA, NaT) is none."""
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    return value
