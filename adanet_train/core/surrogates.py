"""The surrogates Φ of the paper's objective (1/m) Σ Φ(1 - y f(x)): convex, non-decreasing, Φ > 0 and Φ(-inf) = 0.

To add one: subclass `Surrogate`, give its `name`, `curvature` and the four functions, make the class final and frozen
and put an instance into `SURROGATES`; the conformance test then covers it, and `rho_max` needs no code.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import torch
from torch import Tensor

from adanet_theory.checks import check_choice


class Surrogate(ABC):
    """A convex, non-decreasing, twice differentiable Φ with Φ(-inf) = 0, elementwise on float64 tensors.

    `value` may be +inf where Φ overflows; nothing here is ever nan on finite input.
    """

    name: ClassVar[str]
    curvature: ClassVar[float]
    """τ = sup Φ''; math.inf where there is none."""

    @abstractmethod
    def value(self, x: Tensor) -> Tensor:
        """Φ(x)."""

    @abstractmethod
    def derivative(self, x: Tensor) -> Tensor:
        """Φ'(x) >= 0."""

    @abstractmethod
    def second(self, x: Tensor) -> Tensor:
        """Φ''(x) >= 0."""

    def slopes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Φ'(x) and Φ''(x), faster than one after the other."""
        return self.derivative(x), self.second(x)

    @abstractmethod
    def conjugate(self, s: Tensor) -> Tensor:
        """Φ*(s) = sup_x s x - Φ(x), for s in the closed range of Φ'; duality gaps use it."""

    @cached_property
    def rho_max(self) -> float:
        """The largest ρ with Φ(1-u) >= ψ_ρ(u) for all u, so that the mean of Φ bounds the ramp loss at ρ.

            ρ_max = min_u u / (1 - Φ(1-u)) over Φ(1-u) < 1, attained where 1 - Φ(1-u) = u Φ'(1-u)

        Rounded down by four ulps, so that the inequality holds for the number returned; 0 if Φ(1) < 1.

        >>> round(surrogate("logistic").rho_max, 3), round(surrogate("exponential").rho_max, 3)
        (2.844, 3.146)
        """

        def value(u: float) -> float:
            return float(self.value(torch.tensor(1 - u, dtype=torch.float64)))

        def excess(u: float) -> float:
            # Its derivative in u is u Φ''(1-u) >= 0, so bisection finds the tangent point.
            return 1 - value(u) - u * float(self.derivative(torch.tensor(1 - u, dtype=torch.float64)))

        if value(0.0) < 1:
            return 0.0
        low, high = 0.0, 1.0
        while excess(high) <= 0:
            low, high = high, 2 * high
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
        return high / (1 - value(high)) * (1 - 4 * 2.0**-52)


@final
@dataclass(frozen=True)
class Logistic(Surrogate):
    """Φ(x) = log(1 + e^x).

    >>> [round(v, 4) for v in surrogate("logistic").value(torch.tensor([-1000.0, 1.0, 1000.0])).tolist()]
    [0.0, 1.3133, 1000.0]
    """

    name = "logistic"
    curvature = 0.25

    def value(self, x: Tensor) -> Tensor:
        # torch's softplus is x itself beyond a threshold, off by e^-20 there.
        return x.clamp_min(0) + torch.log1p(torch.exp(-x.abs()))

    def derivative(self, x: Tensor) -> Tensor:
        return torch.sigmoid(x)

    def second(self, x: Tensor) -> Tensor:
        return torch.sigmoid(x) * torch.sigmoid(-x)

    def slopes(self, x: Tensor) -> tuple[Tensor, Tensor]:
        first = torch.sigmoid(x)
        return first, torch.addcmul(first, first, first, value=-1)

    def conjugate(self, s: Tensor) -> Tensor:
        return torch.special.xlogy(s, s) + torch.special.xlog1py(1 - s, -s)


@final
@dataclass(frozen=True)
class Logistic2(Surrogate):
    """Φ(x) = log_2(1 + e^x), the base in which Φ(0) = 1.

    >>> surrogate("logistic2").value(torch.zeros(1)).item()
    1.0
    """

    name = "logistic2"
    curvature = 0.25 / math.log(2)
    natural: ClassVar[Logistic] = Logistic()

    def value(self, x: Tensor) -> Tensor:
        return self.natural.value(x) / math.log(2)

    def derivative(self, x: Tensor) -> Tensor:
        return self.natural.derivative(x) / math.log(2)

    def second(self, x: Tensor) -> Tensor:
        return self.natural.second(x) / math.log(2)

    def conjugate(self, s: Tensor) -> Tensor:
        return self.natural.conjugate((s * math.log(2)).clamp(0, 1)) / math.log(2)


@final
@dataclass(frozen=True)
class Exponential(Surrogate):
    """Φ(x) = e^x: no bound on the curvature, and +inf from x = 709.8 on.

    >>> surrogate("exponential").value(torch.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 1.0, inf]
    """

    name = "exponential"
    curvature = math.inf

    def value(self, x: Tensor) -> Tensor:
        return torch.exp(x)

    def derivative(self, x: Tensor) -> Tensor:
        return torch.exp(x)

    def second(self, x: Tensor) -> Tensor:
        return torch.exp(x)

    def conjugate(self, s: Tensor) -> Tensor:
        return torch.special.xlogy(s, s) - s


SURROGATES: dict[str, Surrogate] = {Phi.name: Phi for Phi in (Logistic(), Logistic2(), Exponential())}


def surrogate(name: str) -> Surrogate:
    """The surrogate of that name.

    >>> surrogate("hinge")
    Traceback (most recent call last):
    ValueError: surrogate must be one of logistic, logistic2, exponential, got surrogate='hinge'.
    """
    check_choice("surrogate", name, SURROGATES)
    return SURROGATES[name]
