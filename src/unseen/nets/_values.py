"""Values of many nets at once, in the layout that the next layer likes best."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

__all__ = ["Unbatchable", "Value"]

SHARED, STACKED, GROUPED = "shared", "stacked", "grouped"


class Unbatchable(Exception):
    """A layer or operation that has no batched form here; the text says which."""


@dataclass(frozen=True, eq=False)
class Value:
    """A batch of activations of S nets.

    Layouts: `shared` (B, ...) one batch that all nets see; `stacked` (S, B, ...); `grouped` (B, S * C, ...), what a
    grouped convolution reads and writes.
    """

    tensor: Tensor
    layout: str
    nets: int

    def stacked(self) -> Tensor:
        """Return (S, B, ...)."""
        t = self.tensor
        if self.layout == STACKED:
            return t
        if self.layout == SHARED:
            return t.unsqueeze(0).expand(self.nets, *t.shape)
        return t.reshape(t.shape[0], self.nets, t.shape[1] // self.nets, *t.shape[2:]).transpose(0, 1)

    def grouped(self) -> Tensor:
        """Return (B, S * C, ...)."""
        if self.layout == GROUPED:
            return self.tensor
        t = self.stacked().transpose(0, 1)
        return t.reshape(t.shape[0], t.shape[1] * t.shape[2], *t.shape[3:])

    def like(self, tensor: Tensor, layout: str = "") -> Value:
        """Return another tensor of the same nets, in the same layout unless named."""
        return Value(tensor, layout or self.layout, self.nets)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape that one net would see."""
        if self.layout == SHARED:
            return tuple(self.tensor.shape)
        if self.layout == STACKED:
            return tuple(self.tensor.shape[1:])
        return (self.tensor.shape[0], self.tensor.shape[1] // self.nets, *self.tensor.shape[2:])
