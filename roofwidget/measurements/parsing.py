"""Text → results: JSON, one object or many; a table in CSV; a table in Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from typing import Any

from roofwidget.measurements.record import MeasurementError
from roofwidget.validation import shown

Fields = Mapping[str, Any]

SPACE = " \t\r\n"


def parsed(text: str, name: str) -> list[Fields]:
    """The results that a text has.

    Parameters
    ----------
    text
        Of a file.
    name
        What sentences call it.

    Raises
    ------
    MeasurementError
        If it is cut off, empty or none of the three.
    """
    text = text.lstrip("\ufeff")
    if not text.strip(SPACE):
        raise MeasurementError(f"{name} is empty: there is no result in it")
    if text.lstrip(SPACE).startswith(("{", "[")):
        return _from_json(text.rstrip(SPACE), name)
    lines = text.strip("\r\n").splitlines()  # a tab at an end is an empty cell
    rows = [line.strip() for line in lines if line.lstrip().startswith("|")]
    return _from_markdown(rows, name) if rows else _from_csv(lines, name)


def _from_json(text: str, name: str) -> list[Fields]:
    """Values one after the other: a file of JSON has one, of JSONL one a line; some tools leave out the line's end."""
    decoder, at, found = json.JSONDecoder(), 0, list[Any]()
    while (at := _past_space(text, at)) < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated") or error.pos >= len(text) - len("false")
            end = ": it may be cut off" if cut else ""
            raise MeasurementError(
                f"{name} is no whole JSON: line {error.lineno}, column {error.colno}: {error.msg}{end}"
            ) from None
        except (ValueError, RecursionError):  # an integer of more than 4,300 digits; a thousand brackets
            raise MeasurementError(f"{name} is no JSON that can be read: numbers too long or nested too deep") from None
        found += value if isinstance(value, list) else [value]
    return objects(found, name)


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


def objects(found: list[Any], name: str) -> list[Fields]:
    """A list of results, each an object.

    Raises
    ------
    MeasurementError
        If there is none, or one is something else.
    """
    if not found:
        raise MeasurementError(f"{name} has no result in it: the list is empty")
    for i, value in enumerate(found, 1):
        if not isinstance(value, Mapping):
            raise MeasurementError(f"{name}, result {i} must be an object with named fields, not {shown(value)}")
    return found


def _from_markdown(rows: list[str], name: str) -> list[Fields]:
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    for i, row in enumerate(rows):
        if not row.endswith("|"):
            raise MeasurementError(f"{name} is cut off: row {i + 1} of its table ends without |")
    return _table(cells[0], [(i, row) for i, row in enumerate(cells[1:], 2) if not _is_rule(row)], name)


def _is_rule(row: list[str]) -> bool:
    """Whether a row is the line under the head: dashes, with colons where a column is aligned."""
    return all(cell and not cell.strip("-: ") for cell in row)


def _from_csv(lines: list[str], name: str) -> list[Fields]:
    delimiter = max(",;\t", key=lines[0].count)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise MeasurementError(f"{name}: line {reader.line_num} is no CSV: {error}") from None
    head = [cell.strip() for cell in rows[0][1]] if rows else []
    if len(head) < 2 or not all(head):
        raise MeasurementError(f"{name} is no JSON and no table: it begins with {shown(lines[0])}")
    return _table(head, rows[1:], name)


def _table(head: list[str], rows: list[tuple[int, list[str]]], name: str) -> list[Fields]:
    """Rows under a head, with the line each stands in."""
    twice = {cell for cell in head if head.count(cell) > 1}
    if twice:
        raise MeasurementError(f"{name} has two columns called {shown(min(twice))}")
    for line, row in rows:
        if len(row) != len(head):
            raise MeasurementError(
                f"{name}: line {line} of the table has {len(row)} cells under a head of {len(head)}: it may be cut off"
            )
    if not rows:
        raise MeasurementError(f"{name} has a head and no rows: there is no result in it")
    return [dict(zip(head, row, strict=True)) for _, row in rows]
