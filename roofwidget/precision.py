"""How many bytes a number takes where it is stored, and the format it is computed in."""

from __future__ import annotations

from dataclasses import dataclass

from roofwidget.validation import POSITIVE, Numbers, ParameterError, anywhere, settle, shown

COMPUTE = ("bf16", "fp8", "int8", "fp4")
"""Formats that linear layers are computed in; bf16 is any 16 bits."""


@dataclass(frozen=True)
class Precision:
    """What weights, activations and the KV cache are stored and computed in.

    Parameters
    ----------
    weight_bytes, kv_bytes, activation_bytes
        Bytes per element: 2 for bf16, 1 for fp8, 0.5 for a bare 4-bit format.
    expert_weight_bytes
        Bytes per weight of an expert that tokens are routed to, where only those are stored in a
        format of their own; None: as all weights.
    compute
        The number format of the linear layers' matrix products: which of the accelerator's peaks
        counts for them; where only experts are quantized, for those alone. Attention, recurrences,
        routers and the LM head compute in 16 bits.
    embedding_weight_bytes
        Bytes per weight of embedding and LM head, which quantized checkpoints leave in 16 bits;
        None: as all weights.

    Raises
    ------
    ParameterError
        If a size is not a positive number, or the format is none of `COMPUTE`.
    """

    weight_bytes: Numbers = 2.0
    kv_bytes: Numbers = 2.0
    activation_bytes: Numbers = 2.0
    compute: str = "bf16"
    expert_weight_bytes: Numbers | None = None
    embedding_weight_bytes: Numbers | None = None

    def __post_init__(self) -> None:
        settle(self, weight_bytes=POSITIVE, kv_bytes=POSITIVE, activation_bytes=POSITIVE)
        apart = ("expert_weight_bytes", "embedding_weight_bytes")
        settle(self, **{name: POSITIVE for name in apart if getattr(self, name) is not None})
        if self.compute not in COMPUTE:
            raise ParameterError({"compute": f"compute must be one of {', '.join(COMPUTE)}, not {shown(self.compute)}"})

    @property
    def expert_bytes(self) -> Numbers:
        """Bytes per weight of an expert."""
        return self.weight_bytes if self.expert_weight_bytes is None else self.expert_weight_bytes

    @property
    def experts_only(self) -> bool:
        """Whether experts alone are quantized: what else is linear then computes in its 16 bits."""
        return self.expert_weight_bytes is not None and not anywhere(self.weight_bytes < 2)

    @property
    def embedding_bytes(self) -> Numbers:
        """Bytes per weight of embedding and LM head."""
        return self.weight_bytes if self.embedding_weight_bytes is None else self.embedding_weight_bytes
