"""Categories as numbers: the features Ψ of a Criteo impression, learned once with a network and then fixed.

The paper trains the embeddings together with each model. The theory takes Ψ as given, and so do the model file and
the convex step; so they are learned first, with a plain network on the same features, and AdaNet is trained on

    Ψ(x) = (13 counts / their largest in training, clipped to [-1, 1];  k_f numbers in [-1, 1] for each category f;  1)

with k_f = embedding_size(d_f). A rare or missing value is the zero vector. Such a Ψ has seen the sample, and its map
says so (`fitted_on_sample`): the bounds do not apply to what is trained on the same rows. They do on other rows, if Ψ
came from the first k alone: read(path, fit_rows=k), embed(train[:k], ..), then train[k:] with fitted_on_sample=False.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.core.descend import Adam
from adanet_train.core.device import one_thread
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.data.clicks.criteo import Codes, CriteoPart, embedding_size
from adanet_train.data.clicks.criteo_rows import COUNTS
from adanet_train.data.datasets import Dataset
from adanet_train.data.disk import slices
from adanet_train.data.features import Array, FeatureMap


@dataclass(frozen=True, eq=False)
class Embedding:
    """The map from encoded rows to X in [-1, 1], which is Ψ but for the bias: counts / scale, then tables[f][code]."""

    scale: Array
    tables: tuple[Array, ...]

    @property
    def names(self) -> tuple[str, ...]:
        counts = tuple(f"I{j}" for j in range(1, COUNTS + 1))
        return counts + tuple(f"C{f}_{i}" for f, table in enumerate(self.tables, 1) for i in range(table.shape[1]))

    def __call__(self, part: CriteoPart) -> Array:
        counts = np.clip(part.counts / self.scale, -1, 1)
        return np.hstack([counts, *(table[part.codes[:, f]] for f, table in enumerate(self.tables))])

    def feature_map(self, *, bias: bool = True, fitted_on_sample: bool = True) -> FeatureMap:
        """X -> Ψ for the model file: it only appends the bias."""
        zeros, ones = np.zeros(len(self.names)), np.ones(len(self.names))
        return FeatureMap(self.names, zeros, ones, clip=False, bias=bias, fitted_on_sample=fitted_on_sample, r_sup=1.0)

    def points(self, part: CriteoPart) -> Points:
        """Ψ of the rows, computed when they are asked for."""
        return Points(EmbeddedRows(part, self), self.feature_map())

    def dataset(self, part: CriteoPart, *, fitted_on_sample: bool = True) -> Dataset:
        """The rows as a sample for the trainer."""
        return Dataset(self(part), part.y, self.names, own_map=self.feature_map(fitted_on_sample=fitted_on_sample))


@dataclass(frozen=True, eq=False)
class EmbeddedRows:
    """X of the rows of a part as a matrix that is read some rows at a time: 45 million rows would take 60 GB."""

    part: CriteoPart
    embedding: Embedding

    def __len__(self) -> int:
        return self.part.m

    @property
    def shape(self) -> tuple[int, int]:
        return self.part.m, len(self.embedding.names)

    def __getitem__(self, rows: Any) -> Array:
        return self.embedding(self.part[rows])


@one_thread()  # several threads add up the gradients of a row in any order: other last digits each time
def embed(
    part: CriteoPart,
    d: Sequence[int],
    draw: torch.Generator,
    *,
    hidden: Sequence[int] = (512,),
    steps: int | None = None,
    batch: int = 512,
    learning_rate: float = 1e-3,
    lam: float = 0.0,
) -> tuple[Embedding, Network]:
    """The embedding, and the network on Ψ that it was learned with: the baseline NN with that many hidden units.

    Adam on the logistic loss plus λ Σ_k ||U_k||², over the rows in random order; of the table only the rows that a
    batch reads are touched, so that a step costs the same for any number of values. By default two passes over the
    rows: with more, the rows of rare values learn the labels of their few impressions.
    """
    check(part.m >= 1, "part must have at least one row, got m=0.")
    steps = 2 * math.ceil(part.m / batch) if steps is None else steps
    largest = [np.abs(part.counts[rows]).max(axis=0) for rows in slices(*part.counts.shape)]
    scale = np.max(largest, axis=0).astype(np.float64)
    scale[scale == 0] = 1
    table = _Table(d, draw)
    n = (COUNTS + sum(table.sizes) + 1, *hidden, 1)
    U = [_start(n_k, n_below, draw) for n_below, n_k in pairwise(n)]
    optimisers = [Adam(values) for values in (table.numbers, *U)]
    for rows in _batches(part.m, batch, steps, draw):
        some = part[rows]
        met, place = table.rows(some.codes).unique(return_inverse=True)
        leaves = [values.requires_grad_() for values in (table.numbers[met], *(u.clone() for u in U))]
        counts, y = torch.from_numpy(some.counts / scale).float(), torch.from_numpy(some.y).float()
        f = _forward(torch.cat([counts, table.pick(leaves[0][place]), torch.ones(len(y), 1)], dim=1), leaves[1:])
        size = torch.stack([(u * u).sum() for u in leaves[1:]]).sum()
        slopes = torch.autograd.grad(torch.nn.functional.softplus(-y * f).mean() + lam * size, leaves)
        slopes[0][met == 0] = 0
        for optimiser, slope, read in zip(optimisers, slopes, (met, *[None] * len(U)), strict=True):
            optimiser.step(slope, learning_rate, read)
    return _fixed(scale, table, U, n)


class _Table:
    """All tables as one, side by side at the width of the largest: one lookup and one gradient a step.

    Its row 0 is zero and stays it; the values 1..d_f of category f are the rows behind those of the categories before.
    """

    def __init__(self, d: Sequence[int], draw: torch.Generator) -> None:
        self.sizes = [embedding_size(d_f) for d_f in d]
        self.starts = np.concatenate([[0], np.cumsum(d)])
        width = max(1, *self.sizes)
        self.numbers = torch.rand(1 + int(self.starts[-1]), width, generator=draw) * 0.2 - 0.1
        self.numbers[0] = 0
        self.used = torch.from_numpy(np.flatnonzero(np.arange(width) < np.array(self.sizes)[:, None]))

    def rows(self, codes: Codes) -> Tensor:
        """Where the numbers of each code are, [m, 26]."""
        return torch.from_numpy(np.where(codes > 0, codes + self.starts[:-1], 0))

    def pick(self, numbers: Tensor) -> Tensor:
        """The k_f numbers of each category out of the width of all, [m, Σ_f k_f]."""
        return numbers.flatten(1)[:, self.used]

    def split(self) -> list[Tensor]:
        """The table [1 + d_f, k_f] of each category."""
        numbers = self.numbers.double()
        spans = zip(self.starts[:-1], self.starts[1:], self.sizes, strict=True)
        return [torch.cat([numbers[:1, :k], numbers[1 + start : 1 + end, :k]]) for start, end, k in spans]


def _start(rows: int, columns: int, draw: torch.Generator) -> Tensor:
    return torch.randn(rows, columns, generator=draw) * math.sqrt(2 / columns)


def _batches(m: int, batch: int, steps: int, draw: torch.Generator) -> Iterator[NDArray[np.int64]]:
    """The next rows of a random order, and of another one when it is used up."""
    batch = min(batch, m)
    order = torch.zeros(0, dtype=torch.int64)
    for _ in range(steps):
        if len(order) < batch:
            order = torch.randperm(m, generator=draw)
        rows, order = order[:batch], order[batch:]
        yield rows.numpy()


def _forward(Psi: Tensor, U: Sequence[Tensor]) -> Tensor:
    h = Psi @ U[0].T
    for u in U[1:]:
        h = torch.relu(h) @ u.T
    return h[:, 0]


def _fixed(scale: Array, table: _Table, U: Sequence[Tensor], n: tuple[int, ...]) -> tuple[Embedding, Network]:
    """Each table over its largest entry, and what the network's weights of it lose by that given back to them."""
    tables = table.split()
    largest = torch.tensor([float(t.abs().max()) if t.any() else 1.0 for t in tables], dtype=torch.float64)
    ones = torch.ones(COUNTS, dtype=torch.float64)
    given_back = torch.cat([ones, largest.repeat_interleave(torch.tensor(table.sizes)), ones[:1]])
    weights = [u.double() for u in U]
    pairs = {(k, k - 1): u for k, u in enumerate([weights[0] * given_back, *weights[1:]], 1)}
    network = Network(n, pairs, {len(n) - 1: ones[:1]}, ("relu",) * (len(n) - 2))
    return Embedding(scale, tuple((t / size).numpy() for t, size in zip(tables, largest, strict=True))), network
