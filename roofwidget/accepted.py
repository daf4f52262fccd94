"""Tokens that a round of drafting and verification gives: what is accepted, and one more from the verifying pass."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from roofwidget.validation import Numbers


def chain_tokens(acceptance: Numbers, depth: Numbers) -> Numbers:
    """Expected tokens of a round that drafts `depth` tokens in a row: (1 − αᵏ⁺¹) / (1 − α).

    Leviathan et al. 2023, "Fast Inference from Transformers via Speculative Decoding", eq. 1: the i-th
    token is there if all drafts before it are accepted, which has probability αⁱ⁻¹, for i from 1 to k + 1.
    """
    tokens: Numbers = np.expm1((depth + 1) * np.log(acceptance)) / (acceptance - 1)
    return tokens


def tree_tokens(acceptance: Numbers, depth: Numbers, size: Numbers) -> Numbers:
    """Expected tokens of a round that drafts the best tree of `size` tokens, at most `depth` in a row.

    A node is accepted with the product of the probabilities along its path, and the round gives one
    more token than nodes are accepted (Chen et al. 2024, "Sequoia", §3.1). The i-th candidate for a
    position is accepted with α·(1 − α)ⁱ⁻¹: each where those before it were not, and as likely.
    """
    tokens: Numbers = _best_trees(acceptance, depth, size)[()]
    return tokens


@lru_cache(maxsize=4096)
def _best_tree(acceptance: float, depth: int, size: int) -> float:
    """The root and the `size` likeliest nodes, whose parents and elder siblings are likelier and so among them.

    At depth d all nodes with s elder candidates along their path have probability αᵈ·(1 − α)ˢ, and
    there are C(s + d − 1, d − 1) of them, of which no more than `size` matter.
    """
    counts = np.ones((depth, size))
    for d in range(1, depth):
        counts[d] = np.minimum(np.cumsum(counts[d - 1]), size)
    elders = np.arange(size)
    chances = acceptance ** np.arange(1, depth + 1)[:, None] * (1 - acceptance) ** elders
    likeliest = np.argsort(-chances, axis=None, kind="stable")
    counts, chances = counts.ravel()[likeliest], chances.ravel()[likeliest]
    taken = np.clip(size - (np.cumsum(counts) - counts), 0, counts)
    return 1 + float(taken @ chances)


_best_trees = np.vectorize(lambda a, d, n: _best_tree(float(a), int(d), int(n)), otypes=[float])
