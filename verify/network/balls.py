"""Floats as points of ball arithmetic, and the activations on balls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adanet_theory.activations import Activation


def exact(values: Any) -> Any:
    """An array of balls of radius 0: every float is a dyadic number."""
    from flint import arb

    values = np.asarray(values, dtype=np.float64)
    return np.vectorize(arb, otypes=[object])(values) if values.size else values.astype(object)


def activation_on_balls(phi: Activation) -> Callable[[Any], Any]:
    from flint import arb

    kind, _, parameter = phi.name.partition(":")
    slope = arb(float(parameter)) if parameter else arb(0)
    functions: dict[str, Callable[[Any], Any]] = {
        "relu": lambda x: x.max(0),
        "leaky_relu": lambda x: x.max(0) + slope * x.min(0),
        "abs": abs,
        "identity": lambda x: x,
        "tanh": lambda x: x.tanh(),
        "sigmoid": lambda x: 1 / (1 + (-x).exp()),
        "softplus": lambda x: x.exp().log1p(),
        "elu": lambda x: x.max(0) + x.min(0).expm1(),
        "gelu": lambda x: x * (1 + (x / arb(2).sqrt()).erf()) / 2,
        "silu": lambda x: x / (1 + (-x).exp()),
    }
    return functions[kind]
