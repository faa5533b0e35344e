"""The exact constants of every activation, and its values on balls: the twin of `adanet_theory.activations`."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy import Max, Min, Rational, log, oo, pi, sqrt

from adanet_theory.activations import Activation
from adanet_theory.activations import activation as named_activation


def _facts(a: Any, b: Any, odd: Any, even: Any, at_zero: Any, largest: Any) -> dict[str, Any]:
    a, b, odd, even = (sp.sympify(x) for x in (a, b, odd, even))
    lipschitz = Max(abs(a), abs(b))
    # A slope in [a, b] is (a+b)/2, the slope of an odd function, plus one of size (b-a)/2; the two sizes add up to L.
    linear, rest = abs(a + b) / 2, (b - a) / 2
    return {
        "slopes": (a, b),
        "L": lipschitz,
        "odd": odd,
        "even": even,
        "c": Min(2 * lipschitz, odd + 2 * even, linear + 2 * rest),
        "e": sp.S.One if even == 0 else 2 - linear / lipschitz,
        "phi0": sp.sympify(at_zero),
        "sup": sp.sympify(largest),
    }


_GELU = Rational(1, 2) + sp.erf(1) / 2 + sp.exp(-1) / sqrt(pi)
_SILU = Rational(109983933, 10**8)  # 1/2 + x/4 at x tanh(x/2) = 2, rounded up
FACTS = {
    "relu": (0, 1, Rational(1, 2), Rational(1, 2), 0, oo),
    "tanh": (0, 1, 1, 0, 0, 1),
    "sigmoid": (0, Rational(1, 4), Rational(1, 4), 0, Rational(1, 2), 1),
    "softplus": (0, 1, Rational(1, 2), Rational(1, 2), log(2), oo),
    "abs": (-1, 1, 0, 1, 0, oo),
    "identity": (1, 1, 1, 0, 0, oo),
    "elu": (0, 1, 1, Rational(1, 2), 0, oo),
    "gelu": (1 - _GELU, _GELU, Rational(1, 2), _GELU - Rational(1, 2), 0, oo),
    "silu": (1 - _SILU, _SILU, Rational(1, 2), _SILU - Rational(1, 2), 0, oo),
}


def _exact(x: float) -> sp.Expr:
    return oo if x == math.inf else Rational(*x.as_integer_ratio())


def activation_facts(phi: str | Activation) -> dict[str, Any]:
    """L, c (c_phi), e (e_phi), phi0, sup, slopes, odd and even (Lipschitz constants of the parts), as exact numbers.

    The parameter of "leaky_relu:A" is the decimal A if phi is a name. If phi is an `Activation`, it is the binary value
    of its float. An `Activation` of your own keeps the binary values of its own constants.

    >>> activation_facts("leaky_relu:0.1")["c"]
    29/20
    >>> activation_facts("gelu")["c"]
    2*exp(-1)/sqrt(pi) + 1/2 + erf(1)
    """
    if isinstance(phi, str):
        name = named_activation(phi).name
        if name in FACTS:
            return _facts(*FACTS[name])
        return _leaky(Rational(*Fraction(phi.partition(":")[2] or "0.01").as_integer_ratio()))
    if phi.name in FACTS and phi == named_activation(phi.name):
        return _facts(*FACTS[phi.name])
    parts = (*phi.slopes, phi.odd_lipschitz, phi.even_lipschitz, abs(phi.at_zero), phi.sup)
    if phi.name.startswith("leaky_relu:") and phi == named_activation(phi.name):
        return _leaky(_exact(float(phi.name.partition(":")[2])))
    return _facts(*map(_exact, parts))


def _leaky(a: sp.Rational) -> dict[str, Any]:
    return _facts(Min(a, 1), Max(a, 1), abs(1 + a) / 2, abs(1 - a) / 2, 0, oo)


# On balls


def activation_on_balls(phi: Activation) -> Callable[[Any], Any]:
    """φ on the balls of python-flint: the result contains φ(x) for every x of the ball."""
    return on_balls(phi.parameter or 0.0)[phi.kind]


def on_balls(a: float = 0.0) -> dict[str, Callable[[Any], Any]]:
    """Every kind; `a` is the parameter of leaky_relu."""
    from flint import arb

    return {
        "relu": lambda x: x.max(0),
        "leaky_relu": lambda x: x.max(0) + arb(a) * x.min(0),
        "abs": abs,
        "identity": lambda x: x,
        "tanh": lambda x: x.tanh(),
        "sigmoid": lambda x: 1 / (1 + (-x).exp()),
        "softplus": lambda x: x.exp().log1p(),
        "elu": lambda x: x.max(0) + x.min(0).expm1(),
        "gelu": lambda x: x * (1 + (x / arb(2).sqrt()).erf()) / 2,
        "silu": lambda x: x / (1 + (-x).exp()),
    }
