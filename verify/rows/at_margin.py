"""Each bound at a margin that means something: where a tenth of the sample falls short, and at a ρ asked for.

At its best margin a vacuous bound is 1 and a little, whatever the norms are: it gives the margin up. At a fixed share
of the sample it tells how far off it is, and follows the norms. These are values of the formulas; what may be claimed
stands in the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.risk.margin import ETA
from verify.results import AtMargin, BoundRow
from verify.rows import bounds, numeric
from verify.rows.assumptions import Setting
from verify.rows.numeric import AtRho

ABOVE = 1 + Fraction(1, 2**20)


def tenth(setting: Setting) -> Fraction | None:
    """The least ρ of f/W at which a tenth of the margins falls short; None where a tenth is wrong, or f = 0.

    A millionth above it, as a ρ that is a margin would have to be compared exactly with every margin that ties.
    """
    if setting.W == 0:
        return None
    place = math.ceil(setting.m / 10) - 1
    margin = float(np.partition(setting.margins.middle, place)[place])
    return Fraction(margin) * ABOVE / setting.W if margin > 0 else None


@dataclass(frozen=True, eq=False)
class Margins:
    """What the rows are evaluated at beside their own margin: `tenth`, and `given` where a ρ was asked for."""

    setting: Setting
    R_S: Sequence[float | None]
    B: float | None
    tenth: Fraction | None
    given: Fraction | None

    def __call__(self, row: BoundRow) -> BoundRow:
        if row.raw is None or not row.terms or self.setting.W == 0:
            return row
        bound = catalogue.bound(row.id)
        low = None if self.tenth is None else self._at(bound, self.tenth)
        given = None if self.given is None or bound.scale == "rho" else self._at(bound, self.given)
        shrink = _shrink(bound, low) if row.vacuous and low is not None else None
        return replace(row, tenth=low, given=given, shrink=shrink)

    def _at(self, bound: Bound, rho: Fraction) -> AtMargin:
        if bound.scale == "rho":
            found = bounds.fixed_rho(bound, self.setting, AtRho.of(self.setting, rho), self.R_S, ())
        else:
            scale = numeric.scale(bound, self.setting, self.B)
            steps = math.log(scale) - _log(rho * self.setting.W)  # the quotient may exceed the largest float
            j = math.ceil(steps / math.log1p(ETA))  # the least with ρ_j <= ρ
            found = bounds.at_j(bound, self.setting, self.B, j, ())
        return AtMargin(float(rho), found.raw, found.terms, found.j)


def _log(x: Fraction) -> float:
    """log x, of numbers beyond the floats too."""
    return math.log(x.numerator) - math.log(x.denominator)


def _shrink(bound: Bound, low: AtMargin) -> float | None:
    """How many times smaller the norms would have to be, at these margins of f, for the bound to fall to 1.

    What the norms multiply is the complexity, and the ranges where the bound reads any; None where the rest is 1.
    """
    scaled = ("complexity", "depth") if bound.range is not None else ("complexity",)
    known = {name: value for name, value in low.terms.items() if value is not None}
    rest = sum(value for name, value in known.items() if name not in scaled)
    complexity = sum(known.get(name, 0.0) for name in scaled)
    if low.raw is None or rest >= 1 or complexity + rest <= 1:
        return None
    return complexity / (1 - rest)
