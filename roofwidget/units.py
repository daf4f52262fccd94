"""How numbers are written for people: one way for the whole package."""

from __future__ import annotations

import math

from roofwidget.validation import Numbers

PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}


def si(value: Numbers, unit: str, digits: int = 3) -> str:
    """A quantity with an SI prefix: 0.0422, "s" → "42.2 ms"; 1.42e11, "B" → "142 GB"."""
    exponent = int(f"{float(value):.{digits - 1}e}".split("e")[1])  # as rounded: 999.9 k is 1 M
    power = min(max(3 * (exponent // 3), min(PREFIXES)), max(PREFIXES))
    return f"{grouped(float(value) / 10.0**power, digits)} {PREFIXES[power]}{unit}"


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
    return f"{value:,}".removesuffix(".0")


def percent(share: Numbers) -> str:
    """A share of one: 0.1234 → "12 %"; 0.0036 → "0.36 %"."""
    return f"{grouped(float(share) * 100, 2)} %"


def count(number: Numbers, noun: str) -> str:
    """A number of things: 1, "device" → "1 device"; 4, "device" → "4 devices"."""
    return f"{grouped(number, 12)} {noun}" + ("" if float(number) == 1 else "s")
