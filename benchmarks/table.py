"""How the benchmarks print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def show(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table: its first column to the left, numbers with three significant digits."""
    lines = [list(headers), *([shown(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *others in lines:
        numbers = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *numbers]))


def shown(cell: object) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
