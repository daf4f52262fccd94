"""The tables of facts beside this file, each with its source."""

from __future__ import annotations

import difflib
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def entries(table: str) -> dict[str, dict[str, Any]]:
    """All entries of `accelerators`, `transformers` or `engines`, by name, in the file's order."""
    return tomllib.loads((files(__name__) / f"{table}.toml").read_text("utf-8"))


def entry(table: str, name: str) -> dict[str, Any]:
    """One entry by its name as the table spells it.

    Raises
    ------
    KeyError
        If the table has no such name; the message suggests the nearest ones.
    """
    known = entries(table)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or list(known)
        raise KeyError(f"{name!r} is not in the catalog of {table}; there is {', '.join(near)}")
    return known[name]


def spelled(table: str, name: str) -> str:
    """A name as the table spells it: whatever its case, or by a beginning that only one has; else as it is."""
    known = entries(table)
    if name in known or not isinstance(name, str):
        return name
    plain = name.casefold().strip()
    same = [other for other in known if other.casefold() == plain]
    begun = same or [other for other in known if plain and other.casefold().startswith(plain)]
    return begun[0] if len(begun) == 1 else name
