"""Guard: what wraps the callbacks of controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Guard: TypeAlias = Callable[[Callable[[Any], None]], Callable[[Any], None]]
"""Wraps a callback so that what it raises is shown in the widget's status line."""
