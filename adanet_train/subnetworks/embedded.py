"""A first layer for rows of a table with codes: an embedding of each column of words, beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from adanet_theory.checks import check


class Embedded(nn.Module):
    """Rows with codes -> the numbers of the row and a learned vector for each word.

    Parameters
    ----------
    categories : for each column the number of its codes, 0 where it holds numbers: `context.categories`.
    size : length of a vector. None: half the number of words, 50 at most.

    Attributes
    ----------
    width : length of a row of the result.

    Examples
    --------
    >>> layer = Embedded((0, 4), size=2)
    >>> layer(torch.tensor([[0.5, 3.0], [0.5, 0.0]])).shape, layer.width
    (torch.Size([2, 3]), 3)
    """

    def __init__(self, categories: Sequence[int], size: int | None = None) -> None:
        super().__init__()
        needs = "categories must hold a number for each column of a table: Subnetworks(.., categories=True), got none."
        check(len(categories) > 0, needs)
        self.numbers = [j for j, count in enumerate(categories) if not count]
        self.words = [j for j, count in enumerate(categories) if count]
        sizes = [size or min(50, (categories[j] + 1) // 2) for j in self.words]
        # code 0, an empty cell or a word that training did not know, is the vector 0
        pairs = zip(self.words, sizes, strict=True)
        self.tables = nn.ModuleList(nn.Embedding(categories[j], length, padding_idx=0) for j, length in pairs)
        self.width = len(self.numbers) + sum(sizes)

    def forward(self, x: Tensor) -> Tensor:
        vectors = [table(x[:, j].long()) for j, table in zip(self.words, self.tables, strict=True)]
        return torch.cat([x[:, self.numbers], *vectors], 1)
