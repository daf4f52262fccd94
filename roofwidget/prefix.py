"""The beginning that prompts have in common, and what of it is cached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roofwidget.architecture.feed_forward import check_flags
from roofwidget.validation import Allowed, Numbers, anywhere, first_pair, settle

ROUNDING = 1e-6
"""Of a token: 0.29 · 100 is a little less than 29 in floating point."""


@dataclass(frozen=True)
class SharedPrefix:
    """A prefix of all prompts whose keys and values are cached; of no tokens, nothing is.

    Parameters
    ----------
    tokens
        How long it is.
    hit_rate
        Share of its tokens that are found in the cache, as engines count hits.
    cascade
        Whether decode reads it once for all sequences (cascade inference; Juravsky et al. 2024,
        "Hydragen", §3) or once for each.

    Raises
    ------
    ParameterError
        If the tokens are no whole number, or the hit rate is not within 0 and 1.
    """

    tokens: Numbers = 0.0
    hit_rate: Numbers = 1.0
    cascade: bool = False

    def __post_init__(self) -> None:
        settle(self, tokens=Allowed(whole=True, zero=True), hit_rate=Allowed(high=1, zero=True))
        check_flags(self, "cascade")

    @property
    def cached(self) -> Numbers:
        """Tokens of a prompt that need no prefill."""
        return np.floor(self.tokens * self.hit_rate + ROUNDING) if anywhere(self.tokens) else 0.0

    def fault(self, prompt: Numbers) -> str | None:
        """Say where it is no shorter than the prompt, whose last token always runs; None where it is."""
        at_odds = self.tokens >= prompt
        if not anywhere(self.tokens) or not anywhere(at_odds):
            return None
        tokens, whole = first_pair(at_odds, self.tokens, prompt)
        return f"prefix_tokens must be less than the {whole:,.12g} tokens of seq_len, not {tokens:,.12g}"


NO_PREFIX = SharedPrefix()
