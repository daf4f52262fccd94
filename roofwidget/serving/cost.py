"""What a token costs, in money and in energy."""

from __future__ import annotations

from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers

SECONDS_AN_HOUR = 3600.0


def usd_per_hour(scenario: Scenario) -> Numbers | None:
    """Price of all devices, those of a prefill pool among them, USD/h; None where one is not known."""
    price, pool = scenario.device.usd_per_hour, scenario.prefill_pool
    if price is None or pool is None:
        return None if price is None else scenario.devices_of_batch * price
    side = scenario.prefill_side
    beside = side.device.usd_per_hour
    return None if beside is None else scenario.devices_of_batch * price + pool.instances * side.devices * beside


def usd_per_million_tokens(scenario: Scenario, tokens_per_second: Numbers) -> Numbers | None:
    """Price of a batch's devices for the time that a million tokens take, USD; None where no price is known."""
    price = scenario.device.usd_per_hour
    if price is None:
        return None
    return 1e6 * scenario.devices_of_batch * price / SECONDS_AN_HOUR / tokens_per_second


def joules_per_token(scenario: Scenario, tokens_per_second: Numbers) -> Numbers | None:
    """Energy of a token with a batch's devices at their power limit, J; None where that is not known.

    An upper bound: a memory-bound device draws less than its limit. Hosts and cooling come on top.
    """
    power = scenario.device.power
    return None if power is None else scenario.devices_of_batch * power / tokens_per_second
