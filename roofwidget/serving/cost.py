"""What a token costs, in money and in energy."""

from __future__ import annotations

from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers

SECONDS_AN_HOUR = 3600.0


def usd_per_million_tokens(scenario: Scenario, tokens_per_second: Numbers) -> Numbers | None:
    """Price of all devices for the time that a million tokens take, USD; None where no price is known."""
    price = scenario.device.usd_per_hour
    if price is None:
        return None
    return 1e6 * scenario.total_devices * price / SECONDS_AN_HOUR / tokens_per_second


def joules_per_token(scenario: Scenario, tokens_per_second: Numbers) -> Numbers | None:
    """Energy of a token with all devices at their power limit, J; None where that is not known.

    An upper bound: a memory-bound device draws less than its limit. Hosts and cooling come on top.
    """
    power = scenario.device.power
    return None if power is None else scenario.total_devices * power / tokens_per_second
