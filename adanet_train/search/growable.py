"""A matrix that grows by rows, at a cost that does not depend on how many it has."""

from __future__ import annotations

import torch
from torch import Tensor


class Growable:
    """Rows of one length or of growing length, in a buffer whose sides double when they are too short.

    >>> rows = Growable.empty(torch.zeros(1))
    >>> rows.extend(torch.tensor([[1.0]]))
    >>> rows.extend(torch.tensor([[2.0, 3.0]]))
    >>> rows.rows.tolist()
    [[1.0, 0.0], [2.0, 3.0]]
    """

    def __init__(self, buffer: Tensor, size: tuple[int, int]) -> None:
        self._buffer, self._size = buffer, size

    @classmethod
    def empty(cls, like: Tensor) -> Growable:
        return cls(like.new_zeros(4, 0), (0, 0))

    @classmethod
    def of(cls, rows: Tensor) -> Growable:
        return cls(rows.contiguous(), (rows.shape[0], rows.shape[1]))

    @property
    def rows(self) -> Tensor:
        return self._buffer[: self._size[0], : self._size[1]]

    def extend(self, rows: Tensor) -> None:
        count, width = self._size[0] + len(rows), max(self._size[1], rows.shape[1])
        high, wide = self._buffer.shape
        if count > high or width > wide:
            # A first row says how long the others will be, often for good: no doubling then.
            larger = (max(high, 2 * count) if count > high else high, _enough(wide, width))
            buffer = self._buffer.new_zeros(larger)
            buffer[: self._size[0], : self._size[1]] = self.rows
            self._buffer = buffer
        self._buffer[self._size[0] : count, : rows.shape[1]] = rows
        self._size = (count, width)

    def widened(self, width: int) -> Tensor:
        """A copy of the rows with zeros up to the width."""
        return torch.nn.functional.pad(self.rows, (0, width - self._size[1]))


def _enough(wide: int, width: int) -> int:
    return wide if width <= wide else width if wide == 0 else 2 * width
