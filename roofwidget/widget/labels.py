"""Names of parameters as the screen has them."""

from __future__ import annotations

import re

from roofwidget.parameters import PARAMETERS

NAMES = re.compile(rf"\b({'|'.join(PARAMETERS)})\b")


def labelled(sentence: str) -> str:
    """A sentence about parameters, with the label on screen before each name that differs from it."""
    return NAMES.sub(lambda name: _labelled(name[0]), sentence)


def _labelled(name: str) -> str:
    label = PARAMETERS[name].label
    return name if label == name else f"{label} ({name})"
