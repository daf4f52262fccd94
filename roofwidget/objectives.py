"""What a service has promised its users."""

from __future__ import annotations

from dataclasses import dataclass

from roofwidget.validation import POSITIVE, settle


@dataclass(frozen=True)
class Objectives:
    """Times that must not be exceeded, s; None where nothing is promised.

    Parameters
    ----------
    ttft, tpot
        Time to first token, and time per output token.

    Raises
    ------
    ParameterError
        If one is not a positive number.
    """

    ttft: float | None = None
    tpot: float | None = None

    def __post_init__(self) -> None:
        settle(self, **{name: POSITIVE for name in ("ttft", "tpot") if getattr(self, name) is not None})

    def __bool__(self) -> bool:
        return self.ttft is not None or self.tpot is not None
