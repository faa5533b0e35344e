"""The activations: the constants that the theory uses, and the function itself.

Two further tables, by `kind`, are written independently and compared with this one by tests: the exact constants and
the function on balls (adanet_theory.twins.activations), and value and slope on tensors (adanet_train.core.activations).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from adanet_theory.checks import Array, unknown_choice


@dataclass(frozen=True)
class Activation:
    """An activation φ: the constants that the theory uses, and φ itself on arrays.

    Parameters
    ----------
    name
        Its name, with a parameter after a colon: "leaky_relu:0.1".
    slopes
        Infimum and supremum of φ'.
    odd_lipschitz, even_lipschitz
        Lipschitz constants of the odd and of the even part of φ - φ(0).
    at_zero
        φ(0).
    sup
        sup |φ|; inf if φ is unbounded.
    is_homogeneous
        Whether φ(t x) = t φ(x) for every t >= 0.
    function
        φ on arrays.
    curvature
        Lipschitz constant of φ'; inf if φ has a kink, or if it is unknown.

    Examples
    --------
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
    curvature: float = math.inf

    @property
    def kind(self) -> str:
        """The name without its parameter."""
        return self.name.partition(":")[0]

    @property
    def parameter(self) -> float | None:
        """The A of leaky_relu:A, else None.

        >>> activation("leaky_relu:0.1").parameter, activation("relu").parameter
        (0.1, None)
        """
        text = self.name.partition(":")[2]
        return float(text) if text else None

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
        """c_φ with  E sup|Σ σ_i (φ(h(x_i)) - φ(0))| <= c_φ E sup Σ σ_i h(x_i)  for symmetric families that contain 0.

        The least of 2L, of L_odd + 2 L_even, and of |a+b|/2 + (b-a) where all slopes are in [a, b]: the odd
        (or linear) part contracts without the factor 2, because the family is its own reflection.
        """
        a, b = self.slopes
        return min(2 * self.lipschitz, self.odd_lipschitz + 2 * self.even_lipschitz, abs(a + b) / 2 + (b - a))

    @property
    def peeling(self) -> float:
        """e_φ = 2 - α, where (φ - φ(0))/L = α o + (1-α) g with o odd, and o and g 1-Lipschitz and 0 at 0.

        An odd φ has α = 1. Otherwise the linear part of slope (a+b)/2 gives α = |a+b|/(2L): the rest has
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


def _half_linear(steepest: float) -> tuple[tuple[float, float], float, float]:
    """Slopes, odd and even Lipschitz constant of a φ whose odd part is x/2, from its largest slope."""
    return (1 - steepest, steepest), 0.5, steepest - 0.5


# The slope of GELU is largest at sqrt(2), where it is 1/2 + erf(1)/2 + 1/(e sqrt(pi)), and least at -sqrt(2).
_GELU_SLOPE = 0.5 + math.erf(1) / 2 + 1 / (math.e * math.sqrt(math.pi))

# SiLU is x σ(x), σ the sigmoid. Its odd part is x/2, as σ(x) + σ(-x) = 1. Its second derivative is
# σ'(x) (2 - x tanh(x/2)), largest at 0, so the slope is largest where x tanh(x/2) = 2 and least at -x. There
# σ = 1/2 + 1/x and σ' = 1/4 - 1/x², so that the slope is σ + x σ' = 1/2 + x/4 = 1.0998393.., here rounded up.
_SILU_SLOPE = 1.09983933

_PLAIN = {
    a.name: a
    for a in [
        Activation("relu", (0.0, 1.0), 0.5, 0.5, 0.0, math.inf, True, _relu),
        Activation("tanh", (0.0, 1.0), 1.0, 0.0, 0.0, 1.0, False, np.tanh, 4 / math.sqrt(27)),
        Activation("sigmoid", (0.0, 0.25), 0.25, 0.0, 0.5, 1.0, False, _sigmoid, math.sqrt(3) / 18),
        Activation("softplus", (0.0, 1.0), 0.5, 0.5, math.log(2), math.inf, False, _softplus, 0.25),
        Activation("abs", (-1.0, 1.0), 0.0, 1.0, 0.0, math.inf, True, np.abs),
        Activation("identity", (1.0, 1.0), 1.0, 0.0, 0.0, math.inf, True, _identity, 0.0),
        Activation("elu", (0.0, 1.0), 1.0, 0.5, 0.0, math.inf, False, _elu, 1.0),
        Activation("gelu", *_half_linear(_GELU_SLOPE), 0.0, math.inf, False, _gelu, math.sqrt(2 / math.pi)),
        Activation("silu", *_half_linear(_SILU_SLOPE), 0.0, math.inf, False, _silu, 0.5),
    ]
}

ACTIVATIONS = (*sorted(_PLAIN), "leaky_relu:A")
KINDS = frozenset([*_PLAIN, "leaky_relu"])


def leaky_relu(a: float) -> Activation:
    """x for x >= 0 and a x below; 1-Lipschitz when |a| <= 1.

    Parameters
    ----------
    a
        Slope below 0, finite.

    Returns
    -------
    Activation
        The record of that activation.

    Raises
    ------
    ValueError
        If a is not finite.

    Examples
    --------
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
    """Return the activation of that name: one of ACTIVATIONS, with the parameter of leaky_relu after a colon.

    Parameters
    ----------
    name
        One of ACTIVATIONS, or an Activation, which is returned as it is.

    Returns
    -------
    Activation
        The record of that activation.

    Raises
    ------
    ValueError
        If no activation has that name.

    Examples
    --------
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
    raise unknown_choice("activation", name, ACTIVATIONS)
