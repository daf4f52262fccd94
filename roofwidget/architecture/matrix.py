"""Weight matrices, and how tensor parallelism divides them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from roofwidget.architecture.work import Work
from roofwidget.validation import Numbers


class Side(NamedTuple):
    """Inputs or outputs of a matrix: so many units of one width.

    `split` says what of it each of several devices has: an `even` share, so many `whole` units
    (the last one doubled where they do not come out even), or `all` of it.
    """

    units: Numbers
    width: Numbers = 1.0
    split: str = "even"

    @property
    def size(self) -> Numbers:
        """Width of the whole side."""
        return self.units * self.width

    def on(self, devices: Numbers) -> Numbers:
        """Width on each device."""
        if self.split == "all":
            return self.units * self.width
        share = self.units / devices
        return (np.ceil(share) if self.split == "whole" else share) * self.width


def whole(width: Numbers) -> Side:
    """A side that every device has in full, such as the residual stream."""
    return Side(width, split="all")


class Matrix(NamedTuple):
    """A weight matrix that every token goes through.

    `again` says that its inputs are those of the matrix before it, and need not be read twice.
    """

    inputs: Side
    outputs: Side
    again: bool = False

    @property
    def params(self) -> Numbers:
        """Its elements."""
        return self.inputs.size * self.outputs.size

    def params_on(self, devices: Numbers) -> Numbers:
        """Its elements on each device."""
        return self.inputs.on(devices) * self.outputs.on(devices)


def product(name: str, matrices: tuple[Matrix, ...], tokens: Numbers, devices: Numbers) -> Work:
    """Matrix products of `tokens`: 2 FLOPs an element and token, weights read once, activations in and out."""
    elements = sum((matrix.params_on(devices) for matrix in matrices), start=0.0)
    moved = sum(
        (matrix.outputs.on(devices) + (0.0 if matrix.again else matrix.inputs.on(devices)) for matrix in matrices),
        start=0.0,
    )
    return Work(name, flops=2 * tokens * elements, weights=elements, activations=tokens * moved, linear=True)
