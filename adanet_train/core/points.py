"""Ψ of the sample by rows: a matrix in memory, or X with the map that computes Ψ when a chunk of it is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.core.world import ALONE, World

CHUNK = 1 << 20  # numbers in a matrix of one chunk: 8 MB in float64
WHOLE = 1 << 27  # numbers up to which the search keeps a float32 copy of all rows: 512 MB


class Map(Protocol):
    """X -> Ψ, by rows: a FeatureMap, or one that also puts columns in order."""

    @property
    def n_0(self) -> int: ...

    def __call__(self, X: Any) -> Any: ...


class Points:
    """m points of n_0 features, in float64 on one device, never more of them at a time than was asked for.

    Each of several processes works on its own rows: `here` of them, whose numbers in the sample are `numbers`. Rows
    are then asked for by their place among these; sizes and sums are those of the whole sample.
    """

    def __init__(
        self,
        values: Any,
        features: Map | None = None,
        device: torch.device | str = "cpu",
        world: World = ALONE,
    ) -> None:
        self.values, self.features, self.device, self.world = values, features, torch.device(device), world
        self.numbers = world.share(len(values))

    @classmethod
    def of(cls, Psi: Tensor | Points, device: torch.device | str = "cpu", world: World = ALONE) -> Points:
        if not isinstance(Psi, Points):
            Psi = Points(torch.as_tensor(Psi))
        values = Psi.values
        if isinstance(values, Tensor):
            values = values.to(device, torch.float64).contiguous()
        return cls(values, Psi.features, device, world)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def here(self) -> int:
        """How many of the m rows this process works on."""
        return len(self) if self.numbers is None else len(self.numbers)

    def own(self, values: Tensor) -> Tensor:
        """The entries of `values`, one for each point, that belong to the rows here."""
        return values if self.numbers is None else values[self.numbers.to(values.device)]

    @property
    def n_0(self) -> int:
        return int(self.values.shape[1]) if self.features is None else self.features.n_0

    def rows(self, index: slice | Tensor) -> Tensor:
        """Ψ of these of the rows here."""
        index = index if self.numbers is None else self.numbers[index if isinstance(index, slice) else index.cpu()]
        if isinstance(self.values, Tensor):
            return self.values[index]
        values = np.asarray(self.values[index if isinstance(index, slice) else index.cpu().numpy()])
        Psi = values.astype(np.float64) if self.features is None else self.features(values)
        return torch.from_numpy(np.ascontiguousarray(Psi)).to(self.device)

    def whole(self) -> Tensor:
        """All rows at once."""
        return self.rows(slice(0, self.here))

    def chunks(self, width: int = 0) -> Iterator[tuple[slice, Tensor]]:
        """The rows here in their order, so many at a time that a matrix of n_0 or `width` columns stays small."""
        size = max(256, CHUNK // max(self.n_0, width))
        for first in range(0, self.here, size):
            rows = slice(first, min(first + size, self.here))
            yield rows, self.rows(rows)

    def computed(self, values: Callable[[slice, Tensor], Tensor], width: int = 0) -> Tensor:
        """values(rows, Ψ of these rows) of all rows here, chunk by chunk."""
        parts = joined(((values(rows, Psi),) for rows, Psi in self.chunks(width)), self.here)
        return parts[0] if parts else torch.empty(0, dtype=torch.float64, device=self.device)

    def check_finite(self) -> None:
        check(all(bool(Psi.isfinite().all()) for _, Psi in self.chunks()), "Psi must be finite, got nan or inf.")

    @cached_property
    def largest(self) -> float:
        """r_inf = max |Ψ_j(x_i)|."""
        here = max((Psi.abs().max() for _, Psi in self.chunks()), default=torch.zeros((), dtype=torch.float64))
        return float(self.world.max(here))

    @cached_property
    def r_rms(self) -> float:
        """max_j sqrt(Σ_i Ψ_j(x_i)²/m)."""
        return math.sqrt(float(self._sums(lambda Psi: Psi * Psi).max()) / len(self))

    @cached_property
    def centre(self) -> Centre:
        """Mean and standard deviation of each feature, for the search."""
        mean = self._sums(lambda Psi: Psi) / len(self)
        return Centre.of(mean, (self._sums(lambda Psi: (Psi - mean) ** 2) / len(self)).sqrt())

    def _sums(self, value: Callable[[Tensor], Tensor]) -> Tensor:
        """Of each feature, over the whole sample."""
        total = torch.zeros(self.n_0, dtype=torch.float64, device=self.device)
        for _, Psi in self.chunks():
            total += value(Psi).sum(0)
        return self.world.sum(total)

    @cached_property
    def centred(self) -> Tensor | None:
        """The rows here centred, in float32; None where they are too many to keep."""
        if self.here * self.n_0 > WHOLE:
            return None
        rows = torch.empty(self.here, self.n_0, dtype=torch.float32, device=self.device)
        for at, Psi in self.chunks():
            rows[at] = self.centre(Psi)
        return rows


def joined(pieces: Iterable[tuple[Tensor, ...]], m: int) -> tuple[Tensor, ...]:
    """The pieces of one or several tensors of m rows, which come one after the other, put together.

    In a list, small pieces would lie in memory between the large matrices they are computed from, whose room could
    not be used again: 0.9 GB for a million rows and 200 units.

    >>> joined(iter([(torch.ones(2),), (torch.zeros(1),)]), 3)
    (tensor([1., 1., 0.]),)
    """
    every: tuple[Tensor, ...] = ()
    first = 0
    for piece in pieces:
        every = every or tuple(part.new_empty(m, *part.shape[1:]) for part in piece)
        last = first + len(piece[0])
        for whole, part in zip(every, piece, strict=True):
            whole[first:last] = part
        first = last
    return every


class Centre:
    """Ψ -> (Ψ - mean)/scale, and weights on the result as weights on Ψ.

    The shift is carried by a feature that is constant and not 0; where there is none the features are only scaled.
    """

    def __init__(self, mean: Tensor, scale: Tensor, constant: int | None = None, value: float = 1.0) -> None:
        self.mean, self.scale, self.constant, self.value = mean, scale, constant, value

    @classmethod
    def of(cls, mean: Tensor, deviation: Tensor) -> Centre:
        varies = deviation > 1e-12 * mean.abs()
        constant = (~varies & (mean != 0)).nonzero().flatten().tolist()
        scale = torch.where(varies, deviation, torch.ones_like(mean))
        shift = torch.where(varies, mean, 0.0) if constant else torch.zeros_like(mean)
        return cls(shift, scale, constant[0], float(mean[constant[0]])) if constant else cls(shift, scale)

    def __call__(self, Psi: Tensor) -> Tensor:
        return (Psi - self.mean) / self.scale

    def weights(self, U: Tensor) -> Tensor:
        """Rows V with V Ψ = U (Ψ - mean)/scale on points whose constant feature has its value.

        >>> centre = Centre(torch.tensor([2.0, 0.0]), torch.tensor([4.0, 1.0]), 1)
        >>> centre.weights(torch.tensor([[8.0, 3.0]])).tolist()  # 8 (x - 2)/4 + 3 = 2 x - 1
        [[2.0, -1.0]]
        """
        V = U / self.scale
        if self.constant is not None:
            V = V.clone()
            V[..., self.constant] -= (V * self.mean).sum(-1) / self.value
        return V

    def weights_on_centred(self, V: Tensor) -> Tensor:
        """The inverse: rows U with U (Ψ - mean)/scale = V Ψ."""
        U = V * self.scale
        if self.constant is not None:
            U[..., self.constant] += (V * self.mean).sum(-1) / self.value
        return U


def check_weights(weights: Tensor | None, y: Tensor) -> Tensor | None:
    """Sample weights s_i >= 0, scaled to mean 1, so that F stays a mean; None where all are equal."""
    if weights is None:
        return None
    s = torch.as_tensor(weights).to(y.device, torch.float64)
    check(s.shape == y.shape, f"sample_weight must hold one number per point ({len(y)}), got {tuple(s.shape)}.")
    valid = bool((s >= 0).all() and s.sum().isfinite()) and all(bool((s[y == c] > 0).any()) for c in y.unique())
    check(
        valid,
        "sample_weight must be finite and >= 0, also their sum, and not zero on all points of a class: weights of zero "
        "drop them.",
    )
    return None if bool((s == s[0]).all()) else s / s.mean()
