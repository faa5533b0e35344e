"""The margins of a network, enclosed, so that counts at a threshold are exact, ties included.

The margin of a point is y f(x), or of C classes f(x, y) - max_{y' != y} f(x, y'), whose error is at most that of
f(x, y) and the largest of the others.

f is evaluated in float64 with a proved bound on its error at each point (`reading.enclosure`). The few points that this
leaves open are evaluated node by node, and then in ball arithmetic: the weights are dyadic, so for piecewise linear φ
the balls shrink to points and even a tie is decided. This spends nominal seconds; a point beyond the budget
stays undecided and counts as below the threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array
from adanet_theory.rounding import EPS, TINY, down, up
from verify.measure.effort import PER_PRODUCT, Purse

if TYPE_CHECKING:
    from adanet_train.reading.graph import Graph

MOST_BITS = 16384


@dataclass(frozen=True, eq=False)
class Margins:
    """The margin of (Psi_i, y_i) is middle_i ± radius_i; y holds -1/+1, or class indices where there are C outputs."""

    graph: Graph
    Psi: Array
    y: Array
    middle: Array
    radius: Array
    purse: Purse = field(default_factory=Purse)
    counted: dict[Fraction, tuple[int, int]] = field(default_factory=dict)

    @property
    def m(self) -> int:
        return len(self.y)

    @property
    def lower(self) -> Array:
        return np.nextafter(self.middle - self.radius, -math.inf)

    @property
    def upper(self) -> Array:
        return np.nextafter(self.middle + self.radius, math.inf)

    def count(self, threshold: Fraction) -> int:
        """#{ i : margin_i <= threshold }, exact except for undecided points, which count."""
        return self._counted(threshold)[0]

    def undecided(self) -> int:
        """How many points `count` takes for wrong because the budget does not pay for their margin."""
        return self._counted(Fraction(0))[1]

    def _counted(self, threshold: Fraction) -> tuple[int, int]:
        if threshold not in self.counted:
            self.counted[threshold] = self._count(threshold)
        return self.counted[threshold]

    def _count(self, threshold: Fraction) -> tuple[int, int]:
        low, high = down(threshold), up(threshold)
        open_ = np.flatnonzero((self.upper > low) & (self.lower <= high))
        decided = int(np.count_nonzero(self.upper <= low))
        if len(open_) == 0:
            return decided, 0
        u, error = _with_labels(*by_node(self.graph, self.Psi[open_]), self.y[open_])
        below = np.nextafter(u + error, math.inf) <= low if threshold else u + error <= 0
        above = np.nextafter(u - error, -math.inf) > high if threshold else u - error > 0
        exactly, undecided = self._count_exactly(open_[~below & ~above], threshold)
        return decided + int(below.sum()) + exactly, undecided

    def _count_exactly(self, points: Any, threshold: Fraction) -> tuple[int, int]:
        """Equal points are evaluated once."""
        if len(points) == 0:
            return 0, 0
        rows, times = np.unique(np.column_stack([self.y[points], self.Psi[points]]), axis=0, return_counts=True)
        seconds = PER_PRODUCT * self.graph.work
        decided = [_at_most(self.graph, row[1:], int(row[0]), threshold, self.purse, seconds) for row in rows]
        below = sum(int(count) for is_below, count in zip(decided, times, strict=True) if is_below is not False)
        return below, sum(int(count) for is_below, count in zip(decided, times, strict=True) if is_below is None)

    def beside(self, wrong: Array) -> Margins:
        """With every error of the program counted as one of the formula too, whatever its margin is."""
        below = np.minimum(self.middle, -2 * self.radius - 4 * TINY)
        return replace(self, middle=np.where(wrong, below, self.middle), counted={})

    def ramp(self, rho: float, eta: float = 0.0) -> float:
        """An upper value of the mean of the ramp that falls from 1 at ηρ to 0 at ρ, ρ rounded up: it grows with ρ.

        η is a power of 1/2, or 0.
        """
        return ramp(self.lower, rho, eta)


def ramp(u: Array, rho: float, eta: float = 0.0) -> float:
    """The same for margins that are not above the true ones."""
    wrong = int(np.count_nonzero(u <= eta * rho))
    inside = u[(u > eta * rho) & (u < rho)]
    falling = np.minimum((1 - inside / rho) / (1 - eta), 1.0)
    # two quotients and two differences of numbers up to 2 for each point, one of each at η = 0; the sum once
    total = wrong + math.fsum(np.append(falling, len(inside) * (4 * EPS if eta else EPS)))
    return min(1.0, up(Fraction(math.nextafter(total, math.inf)) / len(u))) if total else 0.0


@np.errstate(over="ignore", invalid="ignore")  # looked for in the result
def margins(graph: Graph, Psi: Array, y: Array, purse: Purse | None = None) -> Margins:
    """The margins of the network on the points Psi with labels y = ±1, or class indices.

    The purse pays for what is decided in ball arithmetic.
    """
    from adanet_train.reading import enclosure

    f, error = _one_or_many(*enclosure.enclosed(graph, Psi))
    finite = (np.isfinite(f) & np.isfinite(error)).reshape(len(f), -1).all(axis=1)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise ValueError(f"f must stay within float64, got an overflow at point {row} of the sample.")
    return Margins(graph, Psi, y, *_with_labels(f, error, y), purse or Purse())


def by_node(graph: Graph, Psi: Array) -> tuple[Array, Array]:
    """f and a bound on its error, with the error of every node: slower, but a ReLU that is surely off has none."""
    from adanet_train.reading import enclosure

    return _one_or_many(*enclosure.values(graph, Psi))


def _one_or_many(f: Array, error: Array) -> tuple[Array, Array]:
    return (f[:, 0], error[:, 0]) if f.shape[1] == 1 else (f, error)


def _with_labels(f: Array, error: Array, y: Array) -> tuple[Array, Array]:
    """The margins of computed outputs, and a bound on their error."""
    if f.ndim == 1:
        return y * f, error
    rows = np.arange(len(f))
    others, other_errors = f.copy(), error.copy()
    others[rows, y], other_errors[rows, y] = -math.inf, 0.0
    margin = f[rows, y] - others.max(axis=1)
    radius = error[rows, y] + other_errors.max(axis=1)
    return margin, radius * (1 + 4 * EPS) + EPS * np.abs(margin)  # the difference and the sum are rounded too


# In ball arithmetic


def _at_most(graph: Graph, Psi: Array, y: int, threshold: Fraction, purse: Purse, seconds: float) -> bool | None:
    """Whether the margin is <= threshold at one point; None where MOST_BITS do not decide, or the purse is empty."""
    import flint
    from flint import arb, fmpq

    from adanet_train.reading.enclosure import balls

    bits = 256
    while bits <= MOST_BITS and purse.pays(seconds):
        with flint.ctx.workprec(bits):
            # of C classes the margin is the least of C - 1 differences: one that is <= decides, or all that are >
            margins = _margins_in_balls(list(balls(graph, Psi)), y)
            limit = arb(fmpq(threshold.numerator, threshold.denominator))
            if any(margin <= limit for margin in margins):
                return True
            if all(margin > limit for margin in margins):
                return False
        bits *= 4
    return None


def _margins_in_balls(f: list[Any], y: int) -> list[Any]:
    """y f, or f(y) - f(y') for every other class."""
    return [y * f[0]] if len(f) == 1 else [f[y] - other for c, other in enumerate(f) if c != y]
