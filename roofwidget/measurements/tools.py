"""The tools that are known, by the fields of their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from roofwidget.measurements.measurement import Measurement
from roofwidget.measurements.record import MeasurementError, Record

Reader: TypeAlias = Callable[[Record], Measurement]

MOST_SHOWN = 8
"""Fields that a sentence about a file of no known tool quotes."""
CLEAR = 4
"""With one sign in so many missing, it is a tool's result with a field lost, and no table of someone's own."""


@dataclass(frozen=True)
class Tool:
    """A tool, or one of its formats.

    Parameters
    ----------
    name
        As people call it.
    signs
        Fields that each of its results has, and no other tool's all together.
    some
        Fields of which each of its results has at least one; () asks for none.
    read
        Makes a measurement of a result.
    """

    name: str
    signs: tuple[str, ...]
    some: tuple[str, ...]
    read: Reader

    def made(self, record: Record) -> bool:
        """Whether a result is one of this tool."""
        return all(sign in record.fields for sign in self.signs) and (
            not self.some or any(name in record.fields for name in self.some)
        )


TOOLS: list[Tool] = []


def tool(name: str, *signs: str, some: tuple[str, ...] = ()) -> Callable[[Reader], Reader]:
    """Say that a function reads the results of a tool, and by what fields those are known."""

    def known(reader: Reader) -> Reader:
        TOOLS.append(Tool(name, signs, some, reader))
        return reader

    return known


def tools() -> list[str]:
    """Names of the tools whose results can be read."""
    return list(dict.fromkeys(each.name for each in TOOLS))


def made_by(record: Record) -> Tool:
    """The tool that made a result: of several that might, the one whose signs are the most.

    Raises
    ------
    MeasurementError
        If none did; it says which are known, and what was found.
    """
    makers = [each for each in TOOLS if each.made(record)]
    lacks = lacking(record)
    if makers and (any(each.signs for each in makers) or not any(CLEAR * len(m) <= len(t.signs) for t, m in lacks)):
        return max(makers, key=lambda each: len(each.signs))
    found = list(record)
    shown = ", ".join(name[:40] for name in found[:MOST_SHOWN]) + (", …" if len(found) > MOST_SHOWN else "")
    near = min(lacks, key=lambda each: len(each[1]) / len(each[0].signs))
    raise MeasurementError(
        f"{record.place} has the fields of no known tool ({', '.join(tools())}): "
        + (f"found {shown}" if found else "it has none")
        + (f"; for {near[0].name} it lacks {', '.join(near[1])}" if 2 * len(near[1]) <= len(near[0].signs) else "")
    )


def lacking(record: Record) -> list[tuple[Tool, list[str]]]:
    """The signs of each tool that a result is without, where it is without any."""
    lacks = [(each, [sign for sign in each.signs if sign not in record.fields]) for each in TOOLS]
    return [(each, missing) for each, missing in lacks if missing]
