"""What training needs from the labels: their loss as a function of f, its slopes, and the convex steps on it.

Two classes are signs y, one output f and Φ(1 - y f). C classes are indices y, an output f(x, c) for each and

    log Σ_c exp( f(x, c) - f(x, y) + 1{c != y} ),

which for C = 2 is the logistic Φ(1 - u) of the margin u = f(x, y) - f(x, y'). A tensor f has one entry a point, or one
row of C: `outputs` is None or C.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import torch
from torch import Tensor

from adanet_train.convex import class_step, cvx_exact, mixture
from adanet_train.convex.cvx_exact import JointStep, Say
from adanet_train.convex.mixture import Mixture
from adanet_train.core.surrogates import Surrogate, surrogate


class Line(ABC):
    """The weighted sum of the losses along a line f + w z, at several w at once."""

    @abstractmethod
    def derivatives(self, w: Tensor) -> Tensor:
        """Two rows: by how much the sum falls with w, and its second derivative."""

    @abstractmethod
    def values(self, w: Tensor) -> Tensor:
        """The sum itself."""


class Labels(ABC):
    """The interface of the two kinds of labels, `Signs` and `Classes`."""

    outputs: int | None

    @property
    def tops(self) -> int:
        """How many units of the top layer give an f: one for each output."""
        return self.outputs or 1

    def of(self, tops: Tensor) -> Tensor:
        """f of the outputs of such units, in the last dimension."""
        return tops.squeeze(-1) if self.outputs is None else tops

    def none(self, *shape: int, like: Tensor) -> Tensor:
        """f = 0 on points of this shape."""
        return like.new_zeros(*shape, *self.of(like.new_zeros(self.tops)).shape)

    @abstractmethod
    def without_margin(self, y: Tensor) -> Tensor:
        """The offset of f, in float64, that takes the margin of 1 out of the loss: Φ(-y f), and -log softmax(f)_y."""

    @abstractmethod
    def spread(self, mix: Tensor) -> Tensor:
        """Weights of f on units that belong to the classes in turn: each unit is read by its own class."""

    @abstractmethod
    def values(self, y: Tensor, f: Tensor) -> Tensor:
        """The loss, point by point, in float64."""

    @abstractmethod
    def slopes(self, y: Tensor, f: Tensor, scale: float) -> Tensor:
        """The gradient of the loss in f, point by point, times a number."""

    @abstractmethod
    def fall(self, y: Tensor, f: Tensor, z: Tensor, weight: Tensor) -> Tensor:
        """The initial slope at which the weighted sum of the losses falls from f towards z."""

    @abstractmethod
    def line(self, y: Tensor, f: Tensor, z: Tensor, weight: Tensor) -> Line: ...

    @abstractmethod
    def minimise(self, H: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, **more: Any) -> Mixture:
        """The convex step: w of every column of H, for each output."""

    @abstractmethod
    def minimise_each(
        self, H: Sequence[Tensor], y: Tensor, f: Tensor, Gamma: Sequence[Tensor], start: float, tol: float
    ) -> list[tuple[Tensor, float]]:
        """w of each of several candidates alone, and F there, without a certificate; `start` is F at w = 0."""

    @abstractmethod
    def minimise_norms(
        self, Z: Tensor, y: Tensor, f: Tensor, penalty: float, p: float, tol: float, say: Say | None = None
    ) -> JointStep:
        """The joint step of AdaNet.CVX: v, or one row for each class; `say` prints the progress."""

    @abstractmethod
    def minimise_along(self, z: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, **more: Any) -> Mixture:
        """The convex step on one direction z of f, with its one price; or on several, each with a price of its own."""


@final
@dataclass(frozen=True)
class Signs(Labels):
    """y in {-1, +1} and Φ(1 - y f)."""

    Phi: Surrogate
    outputs = None

    def without_margin(self, y: Tensor) -> Tensor:
        return y.double()

    def spread(self, mix: Tensor) -> Tensor:
        return mix

    def values(self, y: Tensor, f: Tensor) -> Tensor:
        return self.Phi.value((1 - y * f).double())

    def slopes(self, y: Tensor, f: Tensor, scale: float) -> Tensor:
        return self.Phi.derivative(1 - y * f).mul_(y).mul_(-scale)

    def fall(self, y: Tensor, f: Tensor, z: Tensor, weight: Tensor) -> Tensor:
        return (y * self.Phi.derivative(1 - y * f) * weight) @ z

    def line(self, y: Tensor, f: Tensor, z: Tensor, weight: Tensor) -> Line:
        return _SignLine(1 - y * f, y * z, weight, self.Phi)

    def minimise(self, H: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, **more: Any) -> Mixture:
        return mixture.minimise(H, y, f, Gamma, self.Phi, **more)

    def minimise_each(
        self, H: Sequence[Tensor], y: Tensor, f: Tensor, Gamma: Sequence[Tensor], start: float, tol: float
    ) -> list[tuple[Tensor, float]]:
        if not H:
            return []
        rows, prices = torch.cat([one.T for one in H]), torch.cat([*Gamma])
        w, F = cvx_exact.scalar_weights(rows, y, f, prices, self.Phi, start, tol=tol)
        return list(zip(f.new_tensor(w).split(1), F, strict=True))

    def minimise_norms(
        self, Z: Tensor, y: Tensor, f: Tensor, penalty: float, p: float, tol: float, say: Say | None = None
    ) -> JointStep:
        return cvx_exact.minimise_norm(Z, y, f, penalty, p, self.Phi, tol, say)

    def minimise_along(self, z: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, **more: Any) -> Mixture:
        H = z[:, None] if z.ndim == 1 else z.T
        return mixture.minimise(H, y, f, Gamma.reshape(-1), self.Phi, **more)


@final
@dataclass(frozen=True)
class Classes(Labels):
    """Class indices y in 0..C-1 and the multinomial logistic loss with a margin of 1."""

    outputs: int

    def without_margin(self, y: Tensor) -> Tensor:
        return _eye(self.outputs, torch.float64, y.device)[y]

    def spread(self, mix: Tensor) -> Tensor:
        return torch.eye(self.outputs).to(mix).repeat(1, len(mix) // self.outputs) * mix

    def own(self, y: Tensor, f: Tensor) -> Tensor:
        """1 for the class y and 0 for the others, as f."""
        return _eye(self.outputs, f.dtype, f.device)[y]

    def values(self, y: Tensor, f: Tensor) -> Tensor:
        own = self.own(y, f)
        z = f - own
        return (z.logsumexp(-1) - (z * own).sum(-1)).double()

    def slopes(self, y: Tensor, f: Tensor, scale: float) -> Tensor:
        own = self.own(y, f)
        # The softmax of f + 1{c != y}, along the columns of the transpose: torch is slow along short rows.
        return (f - own).mT.contiguous().softmax(-2).mT.sub_(own).mul_(scale)

    def fall(self, y: Tensor, f: Tensor, z: Tensor, weight: Tensor) -> Tensor:
        return -(self.slopes(y, f, 1.0) * z).sum(-1) @ weight

    def line(self, y: Tensor, f: Tensor, z: Tensor, weight: Tensor) -> Line:
        own = self.own(y, f)
        return _ClassLine((f - own).mT.contiguous(), z.mT.contiguous(), own.mT.contiguous(), weight)

    def minimise(self, H: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, **more: Any) -> Mixture:
        return class_step.minimise_classes(H, y, f, Gamma, **more)

    def minimise_each(
        self, H: Sequence[Tensor], y: Tensor, f: Tensor, Gamma: Sequence[Tensor], start: float, tol: float
    ) -> list[tuple[Tensor, float]]:
        mixtures = [self.minimise(one, y, f, price, tol=tol) for one, price in zip(H, Gamma, strict=True)]
        return [(mixture.w, mixture.objective) for mixture in mixtures]

    def minimise_norms(
        self, Z: Tensor, y: Tensor, f: Tensor, penalty: float, p: float, tol: float, say: Say | None = None
    ) -> JointStep:
        return cvx_exact.minimise_class_norms(Z, y, f, penalty, p, tol, say)

    def minimise_along(self, z: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, **more: Any) -> Mixture:
        return mixture.minimise_along(z, y, f, Gamma, **more)


@final
@dataclass(frozen=True, eq=False)
class _SignLine(Line):
    a: Tensor
    b: Tensor
    weight: Tensor
    Phi: Surrogate

    def derivatives(self, w: Tensor) -> Tensor:
        x, b, weight = self.a - w[:, None] * self.b, self.b, self.weight
        return torch.stack([self.Phi.derivative(x) @ (weight * b), self.Phi.second(x) @ (weight * b * b)])

    def values(self, w: Tensor) -> Tensor:
        return self.Phi.value(self.a - w[:, None] * self.b) @ self.weight


@final
@dataclass(frozen=True, eq=False)
class _ClassLine(Line):
    """With a row for each class: there are many points and few classes."""

    f: Tensor
    z: Tensor
    own: Tensor
    weight: Tensor

    def at(self, w: Tensor) -> Tensor:
        return self.f + w[:, None, None] * self.z

    def derivatives(self, w: Tensor) -> Tensor:
        pz = self.at(w).softmax(-2).mul_(self.z)
        mean = pz.sum(-2)
        second = pz.mul_(self.z).sum(-2) - mean * mean
        return torch.stack([((self.own * self.z).sum(-2) - mean) @ self.weight, second @ self.weight])

    def values(self, w: Tensor) -> Tensor:
        at = self.at(w)
        return (at.logsumexp(-2) - (self.own * at).sum(-2)) @ self.weight


@lru_cache(maxsize=8)
def _eye(C: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.eye(C, dtype=dtype, device=device)


def labels_of(y: Tensor, name: str) -> Labels:
    """`Classes` for integers y, else `Signs` with the surrogate of that name; y is checked already."""
    return Signs(surrogate(name)) if y.is_floating_point() else Classes(int(y.max()) + 1)
