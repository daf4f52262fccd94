"""What is asked of the server: how long the prompts and answers are, and how many at once."""

from __future__ import annotations

from dataclasses import dataclass

from roofwidget.lengths import ALIKE, Lengths
from roofwidget.validation import COUNT, Numbers, settle


@dataclass(frozen=True)
class Workload:
    """`batch` sequences at once, each with `seq_len` prompt and on average `output_tokens` answer tokens.

    `lengths` says how those are spread around their mean.

    Raises
    ------
    ParameterError
        If a field is not a whole number of at least 1.
    """

    seq_len: Numbers = 4096.0
    output_tokens: Numbers = 1.0
    batch: Numbers = 1.0
    lengths: Lengths = ALIKE

    def __post_init__(self) -> None:
        settle(self, seq_len=COUNT, output_tokens=COUNT, batch=COUNT)

    @property
    def final_context(self) -> Numbers:
        """Tokens a sequence keeps in the KV cache at its end.

        All but the last output token, which is never fed back.
        """
        return self.seq_len + self.output_tokens - 1

    @property
    def first_context(self) -> Numbers:
        """Context of the first decode step: the prompt and the token that prefill gave.

        An answer of one token needs no step; then it is the prompt's, for the step that would follow.
        """
        return self.seq_len + (self.output_tokens > 1)
