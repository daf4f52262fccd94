"""What an import costs in a fresh Python, beside the imports that it is made of.

The statements take turns, round after round, so that all of them see the same machine.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Sequence

from table import show

ROUNDS = 11
STATEMENTS = (
    "pass",
    "import numpy",
    "import ipywidgets",
    "import bqplot",
    "import roofwidget",
    "from roofwidget import RooflineModel",
    "from roofwidget import RooflineWidget",
    "from roofwidget import RooflineWidget; RooflineWidget()",
)
CLOCK = """
import sys, time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start, len(sys.modules))
"""


def cost(statement: str) -> tuple[float, int]:
    """Seconds that a statement takes in a fresh process, and the modules loaded after it."""
    code = CLOCK.format(statement=statement)
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return float(answer[0]), int(answer[1])


def measure(statements: Sequence[str]) -> dict[str, tuple[float, int]]:
    """Median seconds and modules of each, after one round that fills the disk's cache."""
    rounds = [[cost(statement) for statement in statements] for _ in range(ROUNDS + 1)][1:]
    return {
        statement: (statistics.median(seconds for seconds, _ in costs), costs[0][1])
        for statement, costs in zip(statements, zip(*rounds, strict=True), strict=True)
    }


def main() -> None:
    costs = measure(STATEMENTS)
    numpy, bqplot = costs["import numpy"][0], costs["import bqplot"][0]
    rows = [
        (statement, seconds * 1e3, seconds / numpy, seconds / bqplot, modules)
        for statement, (seconds, modules) in costs.items()
    ]
    show(("", "ms", "x numpy", "x bqplot", "modules"), rows)


if __name__ == "__main__":
    main()
