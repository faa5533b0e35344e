"""Batches for all members of a committee at once, for samples of any size and any number of processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from adanet_train.core.points import WHOLE
from adanet_train.core.world import BLOCK

if TYPE_CHECKING:
    from adanet_train.search.committee import SplitSample

PASSES = 8_000
"""Points whose order is drawn at once."""
PIECE = 1 << 25
"""Numbers in a piece of a sample that is read in pieces."""


class Batch(NamedTuple):
    """What a step reads: x [K, b, n_0], y and sample weights [K, b], the offset of f, of the rows of this process."""

    x: Tensor
    y: Tensor
    offset: Tensor | float
    weights: Tensor | None
    size: int
    """Points of the batch, those of other processes too."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of the sample: their numbers (None: all), which of the rows here they are, and their places there."""

    numbers: Tensor | None
    rows: slice | Tensor
    place: Tensor | None
    """Of each row of the piece its place among those here, or -1; None where all are here."""


class Feed:
    """Endless batches, never with a member's own part; a sample too large to keep is read in pieces.

    All processes draw the same batches, and each reads those of their points that are its own. A piece is made of
    blocks from all over the sample, other ones in every pass, so that the order of the rows does not matter.
    """

    def __init__(
        self, sample: SplitSample, offset: Tensor | None, batch: int, *, centred: bool, dtype: torch.dtype
    ) -> None:
        self.sample, self.offset, self.batch, self.centred, self.dtype = sample, offset, batch, centred, dtype
        self.points = sample.points

    def __call__(self, draw: torch.Generator) -> Iterator[Batch]:
        sample = self.sample
        while True:
            for piece in self.pieces(draw):
                x, y = self.read(piece), self.y(piece.rows)
                offset = None if self.offset is None else self.offset[:, piece.rows]
                s = None if sample.weights is None else sample.weights[piece.rows].to(self.dtype)
                order = self._orders(sample.part if piece.numbers is None else sample.part[piece.numbers], draw)
                for at in range(0, max(1, order.shape[1] - self.batch + 1), self.batch):
                    index = order[:, at : at + self.batch]
                    own, counts = (index, None) if piece.place is None else _own(piece.place[index])
                    weights = None if s is None else s[own]
                    if counts is not None:
                        weights = counts.to(self.dtype) if weights is None else weights * counts
                    taken = x.index_select(0, own.flatten()).view(*own.shape, -1)
                    yield Batch(taken, y[own], taken_from(offset, own), weights, index.shape[1])

    def y(self, index: slice | Tensor) -> Tensor:
        """The labels of the rows here at `index`; class indices stay integers."""
        y = self.sample.y[index]
        return y.to(self.dtype) if y.is_floating_point() else y

    def rows(self, index: slice | Tensor) -> Tensor:
        """x of the rows here at `index`."""
        whole = self.points.centred if self.centred and self.dtype == torch.float32 else None
        if whole is not None:
            return whole[index]
        Psi = self.points.rows(index)
        return (self.points.centre(Psi) if self.centred else Psi).to(self.dtype)

    def read(self, piece: Piece) -> Tensor:
        """x of the rows of a piece that are here, a block at a time."""
        if isinstance(piece.rows, slice):
            return self.rows(piece.rows)
        x = torch.empty(len(piece.rows), self.points.n_0, dtype=self.dtype, device=self.sample.y.device)
        for first in range(0, len(x), BLOCK):
            x[first : first + BLOCK] = self.rows(piece.rows[first : first + BLOCK])
        return x

    def pieces(self, draw: torch.Generator) -> Iterator[Piece]:
        """Once over the sample; how it is cut does not depend on how many processes there are."""
        m, n_0 = len(self.points), self.points.n_0
        if m * n_0 <= WHOLE:
            yield self._all
            return
        blocks = torch.randperm(math.ceil(m / BLOCK), generator=draw).tolist()
        count = max(math.ceil(2 * self.batch / BLOCK), PIECE // (n_0 * BLOCK), 1)
        for first in range(0, len(blocks), count):
            yield self._of_blocks(blocks[first : first + count])

    @cached_property
    def _all(self) -> Piece:
        numbers, here = self.points.numbers, self.points.here
        if numbers is None:
            return Piece(None, slice(0, here), None)
        place = torch.full((len(self.points),), -1)
        place[numbers] = torch.arange(here)
        return Piece(None, slice(0, here), place.to(self.sample.y.device))

    def _of_blocks(self, blocks: Sequence[int]) -> Piece:
        m = len(self.points)
        numbers = torch.cat([torch.arange(b * BLOCK, min((b + 1) * BLOCK, m)) for b in blocks])
        if self.points.numbers is None:
            return Piece(numbers, numbers, None)
        rows = torch.searchsorted(self.points.numbers, numbers).clamp_max(self.points.here - 1)
        mine = self.points.numbers[rows] == numbers
        place = torch.where(mine, mine.cumsum(0) - 1, -1)
        return Piece(numbers, rows[mine], place.to(self.sample.y.device))

    def _orders(self, part: Tensor, draw: torch.Generator) -> Tensor:
        """[K, ..]: the points of the piece that each member is trained on, in an order of its own.

        Of a small sample several passes at once, as the drawing of one would cost more than the steps it feeds.
        """
        K, m = self.sample.members, len(part)
        passes = max(1, PASSES // m) if m == len(self.points) else 1
        keys = torch.rand(K, passes, m, generator=draw)
        # The points that a member is not trained on go behind.
        keys += (part == torch.arange(K)[:, None])[:, None]
        least = m - int((part == torch.arange(K)[:, None]).sum(1).max())
        return keys.argsort(2)[:, :, :least].flatten(1).to(self.sample.y.device)


def taken_from(offset: Tensor | None, own: Tensor) -> Tensor | float:
    """For each member the entries, or rows of C, at these places [K, b]; 0 without an offset."""
    if offset is None:
        return 0.0
    if offset.ndim == 2:
        return offset.gather(1, own)
    return offset.gather(1, own[..., None].expand(*own.shape, offset.shape[2]))


def _own(place: Tensor) -> tuple[Tensor, Tensor]:
    """Of the places of a batch [K, b], -1 for rows that are elsewhere, those that are here, and 1 for each.

    Members with fewer than others are filled with row 0, which counts 0.

    >>> _own(torch.tensor([[4, -1, 2], [-1, 7, -1]]))
    (tensor([[4, 2],
            [7, 0]]), tensor([[1, 1],
            [1, 0]]))
    """
    here = place >= 0
    most = max(1, int(here.sum(1).max()))
    first = here.to(torch.uint8).argsort(stable=True, dim=1, descending=True)[:, :most]
    return place.gather(1, first).clamp_min(0), here.gather(1, first).long()
