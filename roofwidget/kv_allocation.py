"""How memory for the KV cache is given to sequences: in one piece, or in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from roofwidget.validation import COUNT, Numbers, ParameterError, anywhere, first_pair, settle, shown

KINDS = ("exact", "paged", "reserved", "power of two")
"""As many slots as there are tokens, the bound; whole blocks; one piece of a set length; one of the prompt and the
answer's next power of two."""


@dataclass(frozen=True)
class KVAllocation:
    """How KV cache is given out, in slots that hold one token of a sequence each.

    Reservations in one piece come from a buddy allocator, which gives out powers of two: Kwon et al.
    2023, "Efficient Memory Management for Large Language Model Serving with PagedAttention", §6.1,
    assumes it of Orca, and knows three of them. Orca (Max) is "reserved" with the model's longest
    sequence as `max_len`, Orca (Oracle) is "reserved" without one, Orca (Pow2) is "power of two".
    vLLM is "paged", in blocks of 16 tokens unless told (§7.2).

    Parameters
    ----------
    kind
        One of `KINDS`.
    block_size
        Tokens of a block, a power of two; for "paged".
    max_len
        Tokens reserved for each sequence, for "reserved"; None for those it will have come to, as
        if that were known beforehand.

    Raises
    ------
    ParameterError
        If the kind is not known, or a number is no whole one of at least 1, or a block no power of two.
    """

    kind: str = "exact"
    block_size: Numbers = 16.0
    max_len: Numbers | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            kinds = ", ".join(repr(kind) for kind in KINDS)
            raise ParameterError({"kv_allocation": f"kv_allocation must be one of {kinds}, not {shown(self.kind)}"})
        settle(self, block_size=COUNT, **({} if self.max_len is None else {"max_len": COUNT}))
        uneven = self.block_size != next_power_of_two(self.block_size)
        if anywhere(uneven):
            (size,) = first_pair(uneven, self.block_size)
            raise ParameterError({"block_size": f"block_size must be a power of two, not {size:,.12g}"})

    @property
    def contiguous(self) -> bool:
        """Whether a sequence has its slots in one piece, for its whole life."""
        return self.kind in ("reserved", "power of two")

    def tokens(self, prompt: Numbers, output: Numbers) -> Numbers:
        """Slots that a sequence has at its end.

        Where `fault` finds nothing, exact ≤ paged ≤ reserved and paged ≤ power of two: both
        reservations are a power of two that is no less than the sequence, hence no less than the
        block, hence whole blocks of it; and ⌈sequence / block⌉ is the fewest of those that hold it.
        For the same reason a "reserved" that knows the sequence's length is at most the "power of two".

        Parameters
        ----------
        prompt, output
            Tokens of the prompt and of the answer.
        """
        if self.kind == "exact":
            return final_context(prompt, output)
        if self.kind == "paged":
            return self.block_size * np.ceil(final_context(prompt, output) / self.block_size)
        return next_power_of_two(self.reservation(prompt, output))

    def reservation(self, prompt: Numbers, output: Numbers) -> Numbers:
        """Slots that are reserved for a sequence, before the allocator rounds them up; for those in one piece.

        The power of two is that of the answer: for one of 25 tokens, 32 (Kwon et al. 2023, §6.1).
        """
        if self.kind == "power of two":
            return prompt + next_power_of_two(output)
        return final_context(prompt, output) if self.max_len is None else self.max_len

    def fault(self, prompt: Numbers, output: Numbers) -> tuple[str, str] | None:
        """Say which parameter does not suit sequences of such a length, and why; None where all do."""
        context = final_context(prompt, output)
        if self.kind == "paged":
            return _at_odds("block_size", self.block_size, self.block_size > context, "at most", context)
        if self.kind == "reserved" and self.max_len is not None:
            return _at_odds("max_len", self.max_len, self.max_len < context, "at least", context)
        return None


def _at_odds(name: str, value: Numbers, at_odds: Any, allowed: str, context: Numbers) -> tuple[str, str] | None:
    """The sentence about the first place where a value is at odds with the length of a sequence."""
    if not anywhere(at_odds):
        return None
    wrong, tokens = first_pair(at_odds, value, context)
    return name, f"{name} must be {allowed} the {tokens:,.12g} tokens of a sequence, not {wrong:,.12g}"


def final_context(prompt: Numbers, output: Numbers) -> Numbers:
    """Tokens that a sequence keeps at its end: all but the last of its answer, which is never fed back."""
    return prompt + output - 1


def next_power_of_two(number: Numbers) -> Numbers:
    """The smallest power of two that is no less than a number of at least 1; exact, as no logarithm is."""
    mantissa, exponent = np.frexp(number)
    power: Numbers = np.ldexp(1.0, exponent - (mantissa == 0.5))[()]
    return power


EXACT = KVAllocation()
