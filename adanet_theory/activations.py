"""The activations: what the theory needs to know of each, and the function itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from adanet_theory.checks import Array


@dataclass(frozen=True)
class Activation:
    """What the theory needs to know of an activation φ, and φ itself on arrays.

    `slopes` are the infimum and supremum of φ'; `odd_lipschitz` and `even_lipschitz` the Lipschitz constants of
    the odd and the even part of φ - φ(0); `sup` is sup |φ|.

    >>> relu = activation("relu")
    >>> relu.lipschitz, relu.at_zero, relu.contraction, relu.is_homogeneous
    (1.0, 0.0, 1.5, True)
    """

    name: str
    slopes: tuple[float, float]
    odd_lipschitz: float
    even_lipschitz: float
    at_zero: float
    sup: float
    is_homogeneous: bool
    function: Callable[[Array], Array] = field(repr=False, compare=False)

    def __call__(self, x: Any) -> Array:
        return self.function(np.asarray(x, dtype=np.float64))

    @property
    def lipschitz(self) -> float:
        """L, the Lipschitz constant of φ."""
        return max(abs(self.slopes[0]), abs(self.slopes[1]))

    @property
    def is_odd(self) -> bool:
        """Whether φ - φ(0) is odd."""
        return self.even_lipschitz == 0

    @property
    def contraction(self) -> float:
        """c_φ with  E sup|Σ σ_i (φ(h(x_i)) - φ(0))| <= c_φ E sup Σ σ_i h(x_i)  for every symmetric family holding 0.

        The least of 2L, of L_odd + 2 L_even, and of |a+b|/2 + (b-a) where [a, b] holds all slopes: the odd
        (or linear) part contracts without the factor 2, because the family is its own reflection.
        """
        a, b = self.slopes
        return min(2 * self.lipschitz, self.odd_lipschitz + 2 * self.even_lipschitz, abs(a + b) / 2 + (b - a))

    @property
    def peeling(self) -> float:
        """e_φ = 2 - α, where (φ - φ(0))/L = α o + (1-α) g with o odd, and o and g 1-Lipschitz and 0 at 0.

        An odd φ has α = 1. Otherwise the linear part of slope (a+b)/2 gives α = |a+b|/(2L): what is left has
        slopes in ±(b-a)/2, and |a+b|/2 + (b-a)/2 = L.
        """
        if self.is_odd or self.lipschitz == 0:
            return 1.0
        a, b = self.slopes
        return 2 - abs(a + b) / (2 * self.lipschitz)


# Functions with names, so that a family can be pickled and sent to another process.


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _identity(x: Array) -> Array:
    return x


def _softplus(x: Array) -> Array:
    return np.logaddexp(0, x)


def _elu(x: Array) -> Array:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _leaky_relu(x: Array, *, a: float) -> Array:
    return np.where(x >= 0, x, a * x)


def _gelu(x: Array) -> Array:
    from scipy.special import ndtr

    return np.asarray(x * ndtr(x))


def _silu(x: Array) -> Array:
    return x * _sigmoid(x)


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


# The slope of GELU is largest at sqrt(2), where it is 1/2 + erf(1)/2 + 1/(e sqrt(pi)), and least at -sqrt(2).
_GELU_SLOPE = 0.5 + math.erf(1) / 2 + 1 / (math.e * math.sqrt(math.pi))

# The slope of SiLU, x/(1 + e^-x), is largest where x tanh(x/2) = 2, and 1/2 + x/4 there: 1.0998393.., here rounded up.
_SILU_SLOPE = 1.09983933

_PLAIN = {
    a.name: a
    for a in [
        Activation("relu", (0.0, 1.0), 0.5, 0.5, 0.0, math.inf, True, _relu),
        Activation("tanh", (0.0, 1.0), 1.0, 0.0, 0.0, 1.0, False, np.tanh),
        Activation("sigmoid", (0.0, 0.25), 0.25, 0.0, 0.5, 1.0, False, _sigmoid),
        Activation("softplus", (0.0, 1.0), 0.5, 0.5, math.log(2), math.inf, False, _softplus),
        Activation("abs", (-1.0, 1.0), 0.0, 1.0, 0.0, math.inf, True, np.abs),
        Activation("identity", (1.0, 1.0), 1.0, 0.0, 0.0, math.inf, True, _identity),
        Activation("elu", (0.0, 1.0), 1.0, 0.5, 0.0, math.inf, False, _elu),
        Activation("gelu", (1 - _GELU_SLOPE, _GELU_SLOPE), 0.5, _GELU_SLOPE - 0.5, 0.0, math.inf, False, _gelu),
        Activation("silu", (1 - _SILU_SLOPE, _SILU_SLOPE), 0.5, _SILU_SLOPE - 0.5, 0.0, math.inf, False, _silu),
    ]
}

ACTIVATIONS = (*sorted(_PLAIN), "leaky_relu:A")


def leaky_relu(a: float) -> Activation:
    """x for x >= 0 and a x below; 1-Lipschitz when |a| <= 1.

    >>> leaky_relu(0.5).contraction
    1.25
    """
    if not math.isfinite(a):
        raise ValueError(f"the slope a of leaky_relu must be finite, got a={a}.")
    return Activation(
        f"leaky_relu:{a!r}",
        (min(a, 1.0), max(a, 1.0)),
        abs(1 + a) / 2,
        abs(1 - a) / 2,
        0.0,
        math.inf,
        True,
        partial(_leaky_relu, a=a),
    )


def activation(name: str | Activation) -> Activation:
    """The activation of that name: one of ACTIVATIONS, with the parameter of leaky_relu behind a colon.

    >>> activation("leaky_relu:0.1").slopes
    (0.1, 1.0)
    """
    if isinstance(name, Activation):
        return name
    kind, colon, parameter = name.partition(":")
    if kind == "leaky_relu":
        try:
            return leaky_relu(float(parameter) if colon else 0.01)
        except ValueError:
            raise ValueError(f"activation leaky_relu:A needs a finite number A, got {name!r}.") from None
    if name in _PLAIN:
        return _PLAIN[name]
    raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {name!r}.")
