"""Node: work of one kind in a forward pass."""

from __future__ import annotations

from dataclasses import dataclass

from roofwidget.validation import Numbers


@dataclass(frozen=True)
class Node:
    """Work of one kind, all layers together, on each device.

    Parameters
    ----------
    flops
        Floating-point operations.
    weight_bytes, kv_bytes, activation_bytes
        Bytes moved between memory and chip, by what they are; recurrent state counts as KV.
    link_bytes
        Bytes sent to other devices.
    link_steps
        Times that a message has to wait for the one before it to arrive.
    messages
        Collectives and sends among that.
    overhead
        Seconds that nothing of that explains.
    linear
        Whether its products are those of linear layers, which quantized models compute in their own format.
    """

    name: str
    flops: Numbers = 0.0
    weight_bytes: Numbers = 0.0
    kv_bytes: Numbers = 0.0
    activation_bytes: Numbers = 0.0
    link_bytes: Numbers = 0.0
    link_steps: Numbers = 0.0
    messages: Numbers = 0.0
    overhead: Numbers = 0.0
    linear: bool = False

    @property
    def bytes(self) -> Numbers:
        """Bytes moved between memory and chip."""
        return self.weight_bytes + self.kv_bytes + self.activation_bytes
