"""Whether a unit lies in its ball: ||u||_p <= Λ, decided on the real numbers that the floats stand for.

A float norm with a bound on its error decides nearly every row; the rest are compared as integers for whole p, else in
ball arithmetic. A norm that 16384 bits do not decide counts as outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array
from adanet_theory.rounding import EPS, TINY, enlarged
from adanet_theory.spec import NetworkSpec
from verify.measure.evidence import Pair, row_norms

if TYPE_CHECKING:
    from adanet_train.core.network import Network

MOST_WHOLE = 64  # the largest whole p whose powers are formed as integers


def outside(layers: Network, spec: NetworkSpec) -> Iterator[tuple[Pair, int, float]]:
    """Pair, row and norm (not below Λ's next float) of every unit outside its ball."""
    for pair, norms in row_norms(layers, spec.p).items():
        bound, U = spec.bound(*pair), layers.hidden[pair].numpy()
        roundings = U.shape[1] + 64
        unsure = enlarged(norms, roundings) > bound
        surely = norms * (1 - (roundings + 4) * EPS) - (roundings + 1) * TINY > bound
        for i in np.flatnonzero(unsure):
            if surely[i] or exceeds(U[i], spec.p, bound):
                yield pair, int(i), max(float(norms[i]), math.nextafter(bound, math.inf))


def exceeds(u: Array, p: float, bound: float) -> bool:
    """||u||_p > bound, exactly.

    >>> exceeds(np.array([0.6, 0.8]), 2.0, 1.0), exceeds(np.array([0.5, 0.5]), 1.0, 1.0)
    (True, False)
    """
    sizes = np.abs(u[u != 0])
    if len(sizes) == 0:
        return False
    if p == math.inf or len(sizes) == 1:
        return float(sizes.max()) > bound
    if p == int(p) and p <= MOST_WHOLE:
        *powers, limit = _whole_powers([*sizes.tolist(), bound], int(p))
        return sum(powers) > limit
    return _exceeds_in_balls(sizes, p, bound)


def _whole_powers(x: list[float], p: int) -> list[int]:
    """x_i^p for x >= 0, in a common unit."""
    parts = [math.frexp(value) for value in x]
    least = min(exponent for _, exponent in parts)
    return [int(math.ldexp(mantissa, 53)) ** p << p * (exponent - least) for mantissa, exponent in parts]


def _exceeds_in_balls(sizes: Array, p: float, bound: float) -> bool:
    import flint
    from flint import arb

    bits = 256
    while bits <= 16384:
        with flint.ctx.workprec(bits):
            total: Any = sum((arb(x) ** arb(p) for x in sizes.tolist()), arb(0))
            limit = arb(bound) ** arb(p) if bound else arb(0)
            if total <= limit:
                return False
            if total > limit:
                return True
        bits *= 4
    return True
