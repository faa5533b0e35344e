"""The family of networks a statement is about: sizes, weight bounds, norm, activations (Section 2 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class OutsideTheoryError(ValueError):
    """The statement is not proved for this input; `assumption` names what fails."""

    def __init__(self, assumption: str, message: str) -> None:
        super().__init__(f"{message} [assumption: {assumption}]")
        self.assumption = assumption


# Activations


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


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


# The slope of GELU is largest at sqrt(2), where it is 1/2 + erf(1)/2 + 1/(e sqrt(pi)), and least at -sqrt(2).
_GELU_SLOPE = 0.5 + math.erf(1) / 2 + 1 / (math.e * math.sqrt(math.pi))

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


# The declared family


@dataclass(frozen=True)
class NetworkSpec:
    """The declared family: n = (n_0, .., n_l), Lambda[k, s] >= 0, p in [1, inf], activations φ_1, .., φ_{l-1}.

    A pair that Lambda does not hold is no connection: Lambda_{k,s} = 0. One activation name stands for all layers.

    >>> spec = NetworkSpec(n=(4, 3, 2), Lambda={(1, 0): 1.0, (2, 1): 0.5}, p=2)
    >>> spec.depth, spec.q, spec.is_layered, spec.bound(2, 1)
    (2, 2.0, True, 0.5)
    """

    n: tuple[int, ...]
    Lambda: Mapping[tuple[int, int], float]
    p: float
    activations: tuple[Activation, ...] = ()

    def __init__(
        self,
        n: Sequence[int],
        Lambda: Mapping[tuple[int, int], float],
        p: float,
        activations: str | Activation | Iterable[str | Activation] = "relu",
    ) -> None:
        sizes = tuple(n)
        depth = len(sizes) - 1
        check(depth >= 1, f"n must hold n_0 and at least n_1, got n={list(sizes)}.")
        for k, n_k in enumerate(sizes):
            whole = isinstance(n_k, int | np.integer) and not isinstance(n_k, bool)
            check(whole, f"n_{k} must be an integer, got n_{k}={n_k!r}.")
            check(n_k >= (1 if k == 0 else 0), f"n_{k} must be >= {int(k == 0)}, got n_{k}={n_k}.")
        check(p >= 1, f"p must be in [1, inf], got p={p}.")
        for (k, s), bound in Lambda.items():
            allowed = 1 <= k <= depth and (1 <= s < k or (k, s) == (1, 0))
            check(allowed, f"Lambda_{{{k},{s}}} must connect layers 1 <= s < k <= {depth}, or be Lambda_{{1,0}}.")
            check(0 <= bound < math.inf, f"Lambda_{{{k},{s}}} must be finite and >= 0, got {bound}.")
        if isinstance(activations, str | Activation):
            phi = (activation(activations),) * (depth - 1)
        else:
            phi = tuple(activation(a) for a in activations)
        check(len(phi) == depth - 1, f"activations must name the {depth - 1} layers below the top, got {len(phi)}.")
        object.__setattr__(self, "n", tuple(int(n_k) for n_k in sizes))
        object.__setattr__(self, "Lambda", {pair: float(bound) for pair, bound in sorted(Lambda.items())})
        object.__setattr__(self, "p", float(p))
        object.__setattr__(self, "activations", phi)

    @classmethod
    def layered(
        cls,
        n: Sequence[int],
        Lambda: float | Sequence[float],
        p: float,
        activations: str | Activation | Iterable[str | Activation] = "relu",
    ) -> NetworkSpec:
        """Units that read the layer below only (H*_k); Lambda one number, or Lambda_{1,0}, .., Lambda_{l,l-1}.

        >>> NetworkSpec.layered((4, 3, 2), 1.5, p=1).Lambda
        {(1, 0): 1.5, (2, 1): 1.5}
        """
        depth = len(n) - 1
        bounds = [Lambda] * depth if isinstance(Lambda, int | float) else list(Lambda)
        check(len(bounds) == depth, f"Lambda must hold one bound for each of the {depth} layers, got {len(bounds)}.")
        return cls(n, {(k, k - 1): bounds[k - 1] for k in range(1, depth + 1)}, p, activations)

    @property
    def depth(self) -> int:
        """l, the number of layers; the units of layer l are read by the output only."""
        return len(self.n) - 1

    @property
    def q(self) -> float:
        """The conjugate of p: 1/p + 1/q = 1."""
        if self.p == 1:
            return math.inf
        return 1.0 if self.p == math.inf else self.p / (self.p - 1)

    @property
    def is_layered(self) -> bool:
        """Whether every unit reads the layer below only, so that H_k = H*_k."""
        return all(s == k - 1 for (k, s), bound in self.Lambda.items() if bound > 0)

    def phi(self, s: int) -> Activation:
        """φ_s, the activation behind the units of layer s, 1 <= s < l."""
        return self.activations[s - 1]

    def bound(self, k: int, s: int) -> float:
        """Lambda_{k,s}; 0 where there is no connection."""
        return self.Lambda.get((k, s), 0.0)

    def root(self, s: int) -> float:
        """n_s^(1/q); 1 at q = inf, and 0 for a layer without units."""
        n_s = self.n[s]
        return float(n_s) ** (1 - 1 / self.p) if n_s else 0.0

    def require_phi_zero(self, below: int) -> None:
        """Refuse where φ_s(0) != 0 for some layer s < below that Lemmas 1-2 pass through."""
        for s in range(1, below):
            phi = self.phi(s)
            if phi.at_zero != 0:
                raise OutsideTheoryError(
                    "phi-zero", f"phi(0) must be 0, got {phi.name}(0)={phi.at_zero:.6g} at layer {s}."
                )

    def require_lipschitz(self, below: int) -> None:
        """Refuse where φ_s is not 1-Lipschitz for some layer s < below."""
        for s in range(1, below):
            phi = self.phi(s)
            if phi.lipschitz > 1:
                raise OutsideTheoryError(
                    "lipschitz", f"phi must be 1-Lipschitz, got L={phi.lipschitz:.6g} for {phi.name} at layer {s}."
                )


# Conditions every statement shares


def check(condition: bool, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def check_layer(spec: NetworkSpec, k: int, first: int = 1) -> None:
    check(first <= k <= spec.depth, f"k must be a layer in [{first}, {spec.depth}], got k={k}.")


def check_m(m: float) -> None:
    check(m >= 1 and m == int(m), f"m must be an integer >= 1, got m={m}.")


def check_rho(rho: float) -> None:
    check(0 < rho < math.inf, f"rho must be > 0 and finite, got rho={rho}.")


def check_delta(delta: float) -> None:
    check(0 < delta < 1, f"delta must be in (0, 1), got delta={delta}.")


def check_risk(error: float, m: float, delta: float) -> None:
    check(0 <= error <= 1, f"the margin error and the ramp must be in [0, 1], got {error}.")
    check_m(m)
    check_delta(delta)


def check_nonnegative(symbol: str, value: float) -> None:
    check(0 <= value < math.inf, f"{symbol} must be finite and >= 0, got {symbol}={value}.")


def finite(value: float, statement: str) -> float:
    """The value, or OverflowError where the true value is beyond the largest float: never inf."""
    if math.isinf(value):
        raise OverflowError(f"{statement} exceeds the largest float, 1.8e308.")
    return value


def total(values: Iterable[float], statement: str) -> float:
    """The sum of the values, correctly rounded, or OverflowError where it is beyond the largest float.

    >>> total([0.1] * 10, "a sum")
    1.0
    """
    try:
        return finite(math.fsum(values), statement)
    except OverflowError:
        raise OverflowError(f"{statement} exceeds the largest float, 1.8e308.") from None


def product(factors: Iterable[float], statement: str) -> float:
    """The product of factors >= 0 in any order: only the result may overflow or underflow, no partial product.

    >>> product([2.0**1000, 2.0**1000, 2.0**-1000, 2.0**-999], "a product")
    2.0
    """
    mantissa, exponent = 1.0, 0
    for factor in factors:
        part, power = math.frexp(factor)
        mantissa, shift = math.frexp(mantissa * part)
        exponent += power + shift
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        raise OverflowError(f"{statement} exceeds the largest float, 1.8e308.") from None
