"""The two passes that serving is made of, each timed on the devices that run it."""

from __future__ import annotations

from roofwidget.roofline.nodes import decode_nodes, prefill_nodes
from roofwidget.roofline.timing import Pass, time_pass
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers


def prefill_pass(scenario: Scenario, prompts: Numbers = 1.0) -> Pass:
    """The pass over so many prompts, but what is cached of them, on an instance of what prefills."""
    side = scenario.prefill_side
    return time_pass(prefill_nodes(side, prompts), side)


def decode_pass(scenario: Scenario) -> Pass:
    """The average decode step of the batch; with speculation a round of drafts and their verification."""
    return time_pass(decode_nodes(scenario), scenario)


def time_per_output_token(scenario: Scenario) -> Numbers:
    """Seconds of a decode step of the whole batch over the tokens it gives each sequence."""
    return decode_pass(scenario).time / scenario.tokens_per_step
