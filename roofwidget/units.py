"""How numbers are written for people: one way for the whole package."""

from __future__ import annotations

import math
from functools import lru_cache

from quantiphy import Quantity

from roofwidget.validation import Numbers


def si(value: Numbers, unit: str, digits: int = 3) -> str:
    """A quantity with an SI prefix: 0.0422, "s" → "42.2 ms"; 1.42e11, "B" → "142 GB"."""
    return _rendered(float(value), unit, digits)


@lru_cache(maxsize=1024)  # a change redraws many numbers that it has not changed
def _rendered(value: float, unit: str, digits: int) -> str:
    return str(Quantity(value, unit).render(prec=digits - 1)).replace(f" u{unit}", f" µ{unit}")


def seconds(value: Numbers) -> str:
    """A time: 0.0422 → "42.2 ms"; 4000 → "4,000 s"."""
    return si(value, "s") if float(value) < 1 else f"{grouped(value)} s"


def grouped(value: Numbers, digits: int = 3) -> str:
    """A plain number with thousands set apart: 2343.1 → "2,343"; 23.698 → "23.7"."""
    number = float(value)
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def exact(value: float | None) -> str:
    """A parameter as it stands, nothing rounded away: 3350.0 → "3,350"; None → ""."""
    if value is None:
        return ""
    text = f"{value:,.15g}"
    return text if "e" not in text else repr(value)


def percent(share: Numbers) -> str:
    """A share of one: 0.1234 → "12 %"; 0.0036 → "0.36 %"."""
    return f"{grouped(float(share) * 100, 2)} %"


def count(number: Numbers, noun: str) -> str:
    """A number of things: 1, "device" → "1 device"; 4, "device" → "4 devices"."""
    return f"{grouped(number, 12)} {noun}" + ("" if float(number) == 1 else "s")
