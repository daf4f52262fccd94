"""A step that decodes some sequences and prefills parts of others: chunked prefill.

Agrawal et al. 2024, "Sarathi-Serve", §4: tokens of prompts run beside those of decode in one pass, up to
a budget, so that weights are read once for both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from roofwidget.architecture.work import Extent
from roofwidget.roofline.node import Node
from roofwidget.roofline.nodes import draft_nodes, forward_nodes, overheads
from roofwidget.roofline.timing import Pass, time_pass
from roofwidget.scenario import Scenario
from roofwidget.validation import Numbers

SUMMED = ("flops", "kv_bytes", "activation_bytes", "link_bytes")
"""What of two nodes of one pass adds up; weights are read once for both, and messages sent once."""


def mixed_step(scenario: Scenario, sequences: Numbers, prompt_tokens: Numbers) -> Pass:
    """The pass of a replica that gives so many sequences their next token, and prefills so many tokens of prompts.

    Sequences are as long as they are on average over their answers; prompts are cut anywhere, and their
    tokens attend to as many as the average token of a prompt does.

    Parameters
    ----------
    scenario
        What is served on what; its batch is not looked at.
    sequences
        Sequences that are being answered, on average: any number of 0 or more.
    prompt_tokens
        Tokens of prompts, 0 or more.
    """
    workload, cached = scenario.workload, scenario.prefix.cached
    new = 1.0 if scenario.speculation is None else scenario.speculation.verified
    sharing = scenario.data_parallel if scenario.expert_parallel else 1.0
    none = 0.0 * (sequences + prompt_tokens)  # of one shape in both, so that the same nodes come out
    routed = sharing * (sequences * new + prompt_tokens)
    decoding = Extent.decode(sequences + none, workload.first_context, workload.final_context, new=new)
    prompts = prompt_tokens / (workload.seq_len - cached)
    prefilling = replace(Extent.prefill(prompts + none, workload.seq_len, cached), routed=none)
    first = forward_nodes(scenario, replace(decoding, routed=routed))
    second = forward_nodes(scenario, prefilling)
    together = tuple(both(node, other) for node, other in zip(first, second, strict=True))
    beside = overheads(scenario, sequences + prompts, np.sign(prompt_tokens))
    return time_pass((*together, *draft_nodes(scenario, decoding), *beside), scenario)


def both(node: Node, other: Node) -> Node:
    """Two nodes of the same weights as one."""
    summed = {name: getattr(node, name) + getattr(other, name) for name in SUMMED}
    gathered = other.weight_bytes if node.name == "embedding" else 0.0
    return replace(node, weight_bytes=node.weight_bytes + gathered, **summed)
