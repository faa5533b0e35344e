"""Each bound at a margin that means something: where a tenth of the sample falls short, and at a ρ asked for.

At its best margin a vacuous bound is 1 and a little, whatever the norms are: it gives the margin up. At a fixed share
of the sample it tells how far off it is, and follows the norms. These are values of the formulas; what may be claimed
stands in the rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.risk.margin import ETA
from verify.results import AtMargin, BoundRow
from verify.rows import bounds, numeric
from verify.rows.setting import AtRho, Setting

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


def at_margins(row: BoundRow, setting: Setting, low: Fraction | None, given: Fraction | None) -> BoundRow:
    """The row with its formula at `low`, the tenth, and at the ρ that was asked for."""
    if row.raw is None or not row.terms or setting.W == 0:
        return row
    bound = catalogue.bound(row.id)
    tenth = None if low is None else _at(bound, setting, low)
    asked = None if given is None or bound.scale == "rho" else _at(bound, setting, given)
    shrink = _shrink(bound, tenth) if row.vacuous and tenth is not None else None
    return replace(row, tenth=tenth, given=asked, shrink=shrink)


def _at(bound: Bound, setting: Setting, rho: Fraction) -> AtMargin:
    if bound.scale == "rho":
        found = bounds.fixed_rho(bound, setting, AtRho.of(setting, rho).tied(setting))
    else:
        steps = math.log(numeric.scale(bound, setting)) - _log(rho * setting.W)  # the quotient may exceed the floats
        found = bounds.at_j(bound, setting, math.ceil(steps / math.log1p(ETA)))  # the least j with ρ_j <= ρ
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
