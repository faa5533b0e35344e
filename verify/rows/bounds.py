"""The statements on margins at this network, certified: those that fix ρ, and those that hold for all ρ_j at once.

A value is printed at the file's exact numbers: what a statement reads is exact or rounded to the side on which the
bound grows (R and r up, W_M down where it divides, margins down), and the rest is ball arithmetic on its symbolic twin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from adanet_theory import catalogue, statement
from adanet_theory.catalogue import Bound
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.risk import generalization
from adanet_theory.risk.margin import ETA, MarginBound, best_margin, zero_function
from adanet_theory.risk.posterior import a_posteriori_data_at
from adanet_theory.risk.quantities import complexities
from adanet_theory.rounding import up
from adanet_theory.spec import NetworkSpec
from verify.measure import layers
from verify.measure.layers import FACTORS, lemma
from verify.records.results import AtMargin, BoundRow
from verify.rows import numeric
from verify.rows.setting import AtRho, RowValue, Setting

EXACT_ETA = Fraction(str(ETA))
Terms = dict[str, float | None]


# Certified


def certified_terms(id: str, values: Mapping[str, Any]) -> tuple[Terms, float | None]:
    """The terms rounded up, and their sum; None for what is undefined there or beyond the largest float."""
    from adanet_theory.twins import certified

    try:
        rounded = certified.terms_upper(statement(id), values)
    except (certified.Undefined, OverflowError):
        return _one_by_one(id, values), None
    total = rounded.pop("total")
    return dict(rounded), total


def _one_by_one(id: str, values: Mapping[str, Any]) -> Terms:
    from adanet_theory.twins import certified

    terms: Terms = {}
    for name, term in statement(id).terms.items():
        try:
            terms[name] = certified.upper(replace(statement(id), terms={name: term}), values)
        except (certified.Undefined, OverflowError):
            terms[name] = None
    return terms


def trivial(bound: Bound, rho: float | None = None) -> RowValue:
    """f = 0: the bound is 1."""
    return RowValue(1.0, dict(zero_function(bound.id, bound.loss).terms), rho)


# What the twins read


def _certified_complexities(bound: Bound, setting: Setting) -> Sequence[float | None]:
    """R_m(H_k) or R_S(H_k), k = 1..l, by the bound's own rule, rounded up."""
    if bound.complexity == "R_S":
        return setting.known.upper
    spec, r = setting.spec, setting.radius(bound)
    every = range(1, spec.depth + 1)
    if bound.complexity == "lemma-2":
        return [layers.layered_complexity(spec, k, m=setting.m, r_inf=r) for k in every]
    return [layers.peeled_complexity(spec, k, m=setting.m, r=r) for k in every]


def _values(bound: Bound, setting: Setting) -> dict[str, Any] | None:
    """All but the margin and its loss; None where a complexity or a range exceeds the largest float."""
    from adanet_theory.twins import certified

    values = certified.spec_values(setting.spec)
    values |= {"w": setting.w, "m": setting.m, "delta": setting.delta, "eta": EXACT_ETA}
    values |= {"r_inf": setting.sizes.r_inf, "r_rms": setting.sizes.r_rms, "r_sup": setting.r}
    if setting.graph.classes is not None:
        values["C"] = setting.graph.classes
    if bound.reads & {"R_m", "R_S"}:
        values["R"] = list(_certified_complexities(bound, setting))
        if None in values["R"]:
            return None
    if bound.range is not None:
        if setting.ranges is None:
            return None
        values |= {"M": setting.ranges.M, "M_k": setting.ranges.upper}
    return values


# Statements that fix rho


def fixed_rho(bound: Bound, setting: Setting, at: AtRho) -> RowValue:
    """A statement about f/W at this ρ."""
    rho = float(at.rho)
    if setting.layers is None:  # in no family
        return RowValue()
    if setting.W == 0 or (bound.range is not None and setting.ranges is not None and setting.ranges.M == 0):
        return trivial(bound, rho)
    values = _values(bound, setting)
    if values is None:
        return RowValue(rho=rho)
    values |= {"rho": at.width, "margin_error": at.margin_error, "ramp": at.ramp}
    terms, raw = certified_terms(bound.id, values)
    if bound.range == "M" and setting.ranges is not None and raw is not None:
        # C of Theorem 1 is not monotone in M where the bound is vacuous: there the larger of both ends
        other_terms, other = certified_terms(bound.id, values | {"M": max(setting.ranges.lower)})
        if other is not None and other > raw:
            terms, raw = other_terms, other
    return RowValue(raw, terms, rho, about="program" if at.eta else "formula")


def follows_from_margin_bound(setting: Setting) -> dict[str, bool]:
    """Which of the statements on Lemma 2 margin-bound proves at this δ and ρ: the printed ones where |h| <= 1."""
    at = setting.tied

    def proved(bound: Bound, M: float) -> bool:
        w, delta = [float(x) for x in setting.w], setting.float_delta
        try:
            R = complexities(bound, numeric.quantities(setting))
            generalization.theorem_1_range(
                float(at.margin_error), w, R, rho=float(at.width), m=setting.m, delta=delta, M=M
            )
        except OutsideTheoryError:
            return False
        except OverflowError:
            pass  # then it is vacuous
        return True

    def follows(bound: Bound) -> bool:
        # 4Λ for 2Λ: corollary-1 is never below theorem-1
        if bound.range is None:
            return proved(bound, 1.0)
        return setting.ranges is None or proved(bound, setting.ranges.M)

    printed = catalogue.select(lambda bound: "delta" in bound.needs and bound.classes == setting.classes)
    return {bound.id: follows(bound) for bound in printed}


# Statements that hold for all rho_j at once


def for_all_rho(bound: Bound, setting: Setting) -> RowValue:
    """A statement on f itself, at its best j; no raw value where its scale is not defined."""
    if (setting.ranges if bound.scale == "W_M" else setting.B) is None:
        return RowValue()
    try:
        j = numeric.best_j(bound, setting)
        return trivial(bound) if j is None else at_j(bound, setting, j)
    except OverflowError:
        return RowValue()


def at_j(bound: Bound, setting: Setting, j: int, **more: float) -> RowValue:
    """At one j; `more` are values that the setting does not hold."""
    values = _values(bound, setting)
    if values is None:
        return RowValue()
    scale, values = _at_scale(bound, setting, values | more)
    exact_rho = scale / (1 + EXACT_ETA) ** j
    rho, eta = up(exact_rho), setting.eta_at(exact_rho)
    terms, raw = certified_terms(bound.id, values | {"j": j, "ramp": setting.margins.ramp(rho, eta)})
    terms, raw = steeper(terms, raw, eta)
    return RowValue(raw, terms, rho, j, about="program" if eta else "formula")


def steeper(terms: Terms, raw: float | None, eta: float) -> tuple[Terms, float | None]:
    """The terms for a ramp of slope 1/((1 - η) ρ): ρ stands in those that its Lipschitz constant multiplies."""
    scaled = {name: terms[name] for name in ("complexity", "depth") if name in terms}
    known = [Fraction(term) for term in scaled.values() if term is not None]
    if eta == 0 or raw is None or len(known) < len(scaled):
        return terms, raw
    factor = 1 / (1 - Fraction(eta))
    steep = {name: up(factor * term) for name, term in zip(scaled, known, strict=True)}
    return terms | steep, up(Fraction(raw) + (factor - 1) * sum(known))


def _at_scale(bound: Bound, setting: Setting, values: dict[str, Any]) -> tuple[Fraction, dict[str, Any]]:
    """ρ_0, rounded up, and the values with what goes with it: W_M divides, so its ranges are the lower ones."""
    from adanet_theory.twins.activations import activation_facts

    if bound.scale == "W_M":
        assert setting.ranges is not None
        W_M = sum((w * Fraction(M) for w, M in zip(setting.w, setting.ranges.upper, strict=True)), Fraction(0))
        return W_M, values | {"M_k": setting.ranges.lower}
    assert setting.B is not None
    c = max([sum(activation_facts(phi)["e"] for phi in level) for level in setting.graph.levels], default=1)
    return Fraction(setting.B), values | {"d": setting.graph.d, "n": list(setting.n), "c": c, "B": setting.B}


# a-posteriori-data
#
# E Z_1 is drawn with a tenth of δ, an upper value that is false with at most that probability; without draws it is
# r_rms sqrt(2 m log(2 n_0)), and the whole of δ is left. Quoted only by name, so that it makes no other dearer.

SAMPLED = Fraction(1, 10)
"""The share of δ that the draws take."""
DRAWS = 256


def from_data(bound: Bound, setting: Setting) -> RowValue:
    """The after-the-fact bound with the complexity of the sample's own features, at the setting's δ."""
    B = setting.B
    if B is None:
        return RowValue()
    if B == 0 or setting.W == 0:
        return trivial(bound)
    drawn = setting.draws is not None
    delta = setting.delta * (1 - SAMPLED) if drawn else setting.delta
    E_Z = _drawn(setting) if drawn else _closed(setting)
    if E_Z is None or not math.isfinite(E_Z):
        return RowValue()
    try:
        best, m_needed = _best(setting, B, E_Z, float(delta))
        if best.j is None:
            return trivial(bound)
        said = at_j(bound, replace(setting, delta=delta), best.j, E_Z=E_Z)
    except OverflowError:
        return RowValue()
    more = {"E_Z": E_Z, "draws": DRAWS} if drawn else {"E_Z": E_Z}
    return replace(said, terms={**said.terms, **more}, m_needed=m_needed if said.vacuous else None)


def _spec(setting: Setting) -> NetworkSpec:
    """H_1 at p = 1, Λ = 1: its supremum is Z_1/m."""
    return NetworkSpec.layered((setting.n[0], 1), 1.0, p=1.0)


def _drawn(setting: Setting) -> float | None:
    """An upper value of E Z_1, false with probability at most δ/10 over the signs."""
    from adanet_theory.complexity.estimates import sampled_linear_complexity

    # the interval has two sides, of which either takes half of what it may miss
    confidence = math.nextafter(float(1 - 2 * SAMPLED * setting.delta), 1.0)
    if confidence == 1:
        return None
    rng = np.random.default_rng([setting.seed, 3])
    R = sampled_linear_complexity(setting.Psi, _spec(setting), draws=DRAWS, rng=rng, confidence=confidence).upper
    return math.nextafter(R * (1 + FACTORS) * setting.m, math.inf) if math.isfinite(R) else None


def _closed(setting: Setting) -> float | None:
    R = lemma("h1-closed", _spec(setting), 1, m=setting.m, r_rms=setting.sizes.r_rms)
    return None if R is None else math.nextafter(R * setting.m, math.inf)


def _best(setting: Setting, B: float, E_Z: float, delta: float) -> tuple[MarginBound, int | None]:
    """The bound at its best j, and about the m at which one of them is 1: all but the ramp falls like 1/sqrt(m)."""
    given = numeric.quantities(setting)
    shared: dict[str, Any] = {"d": given.d, "c": given.c, "E_Z": E_Z, "r_rms": setting.sizes.r_rms, "m": setting.m}
    needed = [math.inf]

    def at(j: int, ramp: float) -> MarginBound:
        bound = a_posteriori_data_at(j, ramp, B, delta=delta, **shared)
        if ramp < 1:
            needed.append(setting.m * ((bound.total - ramp) / (1 - ramp)) ** 2)
        return bound

    best = best_margin("a-posteriori-data", setting.margins.lower, B, at)
    return best, math.floor(min(needed)) + 1 if min(needed) < numeric.LARGEST_M else None


# At a margin that means something: below which a tenth of the sample lies, and at a ρ asked for
#
# At its best margin a vacuous bound is 1 and a little, whatever the norms are: it gives the margin up. At a fixed share
# of the sample it tells how far off it is, and follows the norms. These are values of the formulas; what may be claimed
# stands in the rows.

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
    if bound.scale != "rho" and numeric.scale(bound, setting) == 0:  # a family of 0 alone has no margins
        return row
    tenth = None if low is None else _at(bound, setting, low)
    asked = None if given is None or bound.scale == "rho" else _at(bound, setting, given)
    shrink = _shrink(bound, tenth) if row.vacuous and tenth is not None else None
    return replace(row, tenth=tenth, given=asked, shrink=shrink)


def _at(bound: Bound, setting: Setting, rho: Fraction) -> AtMargin:
    if bound.scale == "rho":
        value = fixed_rho(bound, setting, AtRho.of(setting, rho).tied(setting))
    else:
        steps = math.log(numeric.scale(bound, setting)) - _log(rho * setting.W)  # the quotient may exceed the floats
        value = at_j(bound, setting, math.ceil(steps / math.log1p(ETA)))  # the least j with ρ_j <= ρ
    return AtMargin(float(rho), value.raw, value.terms, value.j)


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
