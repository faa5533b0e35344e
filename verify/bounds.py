"""The bounds on the risk of this network, one row each: evaluated in floats to choose, certified to print.

A value is printed at the file's exact numbers: what a statement reads is exact or rounded to the side on which the
bound grows (R and r up, W_M down where it divides, margins down), and the rest is ball arithmetic on its symbolic twin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adanet_theory import generalization, posterior, rademacher
from adanet_theory.margin import ETA, MarginBound, best_margin, zero_function
from adanet_theory.solve import smallest_m
from adanet_theory.spec import OutsideTheoryError
from verify import layers
from verify.assumptions import ON_LEMMA_2, POSTERIOR, Setting
from verify.evidence import up
from verify.results import BoundRow

EXACT_ETA = Fraction(str(ETA))
Terms = dict[str, float | None]


@dataclass(frozen=True, eq=False)
class AtRho:
    """What the statements that fix ρ read of the sample: the margin error, exact, and an upper value of the ramp."""

    rho: Fraction
    margin_error: Fraction
    ramp: float

    @classmethod
    def of(cls, setting: Setting, rho: Fraction) -> AtRho:
        if setting.W == 0:
            return cls(rho, Fraction(1), 1.0)
        threshold = rho * setting.W  # y f/W <= rho, without dividing
        return cls(rho, Fraction(setting.margins.count(threshold), setting.m), setting.margins.ramp(up(threshold)))


# Certified


def certified_terms(id: str, values: Mapping[str, Any]) -> tuple[Terms, float | None]:
    """The terms rounded up, and their sum; None for what is undefined there or beyond the largest float."""
    from adanet_theory import certified

    try:
        rounded = certified.terms_upper(id, values)
    except (certified.Undefined, OverflowError):
        return _one_by_one(id, values), None
    total = rounded.pop("total")
    return dict(rounded), total


def _one_by_one(id: str, values: Mapping[str, Any]) -> Terms:
    from adanet_theory import certified
    from adanet_theory.symbolic import STATEMENTS

    terms: Terms = {}
    for name, term in STATEMENTS[id].terms.items():
        try:
            terms[name] = certified.upper(replace(STATEMENTS[id], terms={name: term}), values)
        except (certified.Undefined, OverflowError):
            terms[name] = None
    return terms


def row(
    id: str, terms: Terms, raw: float | None, why_not: Sequence[str], rho: float | None, j: int | None = None
) -> BoundRow:
    value = None if why_not else (1.0 if raw is None else min(1.0, raw))
    return BoundRow(id, raw, value, terms, not why_not, tuple(why_not), raw is None or raw >= 1, rho, j)


def trivial(id: str, first: str, why_not: Sequence[str], rho: float | None) -> BoundRow:
    """f = 0: the bound is 1."""
    return row(id, dict(zero_function(id, first).terms), 1.0, why_not, rho)


# Statements that fix rho


def fixed_rho(id: str, setting: Setting, at: AtRho, R_S: Sequence[float | None], why_not: Sequence[str]) -> BoundRow:
    """The row of one of FIXED_RHO at this ρ, about f/W."""
    first = "margin_error" if id in ON_LEMMA_2 else "ramp"
    scaled = id in ("theorem-1-range", "margin-bound", "margin-bound-empirical")
    if setting.W == 0 or (scaled and setting.ranges is not None and setting.ranges.M == 0):
        return trivial(id, first, why_not, float(at.rho))
    values = _values(id, setting, at, R_S)
    if values is None:
        return row(id, {}, None, why_not, float(at.rho))
    terms, raw = certified_terms(id, values)
    if id == "theorem-1-range" and setting.ranges is not None and raw is not None:
        # C is not monotone in M where the bound is vacuous: there the larger of both ends
        other_terms, other = certified_terms(id, values | {"M": max(setting.ranges.lower)})
        if other is not None and other > raw:
            terms, raw = other_terms, other
    return row(id, terms, raw, why_not, float(at.rho))


def _values(id: str, setting: Setting, at: AtRho, R_S: Sequence[float | None]) -> dict[str, Any] | None:
    """What the symbolic statement reads; None where a complexity or a range exceeds the largest float."""
    from adanet_theory import certified

    spec, m = setting.spec, setting.m
    values = {"l": spec.depth, "w": setting.w, "rho": at.rho, "m": m, "delta": setting.delta}
    values |= {"margin_error": at.margin_error, "ramp": at.ramp}
    every = range(1, spec.depth + 1)
    if id == "corollary-1":
        return values | certified.spec_values(spec) | {"r_inf": setting.sizes.r_inf}
    R: Sequence[float | None]
    if id == "theorem-1":
        R = [layers.layered_complexity(spec, k, m=m, r_inf=setting.sizes.r_inf) for k in every]
    elif id == "theorem-1-range":
        R = [layers.layered_complexity(spec, k, m=m, r_inf=setting.r) for k in every]
    elif id == "margin-bound":
        R = [layers.peeled_complexity(spec, k, m=m, r=setting.r) for k in every]
    else:
        R = R_S
    if None in R or (id != "theorem-1" and setting.ranges is None):
        return None
    values["R"] = list(R)
    if id != "theorem-1" and setting.ranges is not None:
        values |= {"M": setting.ranges.M, "M_k": setting.ranges.upper}
    return values


def follows_from_margin_bound(setting: Setting, at: AtRho) -> dict[str, bool]:
    """Which of ON_LEMMA_2 margin-bound proves at this δ and ρ: the printed ones where |h| <= 1."""

    def proved(M: float, R: Sequence[float]) -> bool:
        w, delta = [float(x) for x in setting.w], float(setting.delta)
        try:
            generalization.theorem_1_range(
                float(at.margin_error), w, R, rho=float(at.rho), m=setting.m, delta=delta, M=M
            )
        except OutsideTheoryError:
            return False
        except OverflowError:
            pass  # then it is vacuous
        return True

    printed = proved(1.0, _lemma_2(setting, setting.m, setting.sizes.r_inf))
    # 4Λ for 2Λ: corollary-1 is never below theorem-1
    scaled = setting.ranges is None or proved(setting.ranges.M, _lemma_2(setting, setting.m, float(setting.r)))
    return {"theorem-1": printed, "corollary-1": printed, "theorem-1-range": scaled}


# Statements that hold for all rho_j at once


def uniform(setting: Setting, why_not: Sequence[str]) -> BoundRow:
    """margin-bound-uniform at its best j, on f itself."""
    id, ranges = "margin-bound-uniform", setting.ranges
    if ranges is None:
        return row(id, {}, None, why_not, None)
    try:
        best = _best_uniform(setting, setting.m)
    except OverflowError:
        return row(id, {}, None, why_not, None)
    if best.j is None:
        return trivial(id, "ramp", why_not, None)
    R = [layers.peeled_complexity(setting.spec, k, m=setting.m, r=setting.r) for k in range(1, setting.spec.depth + 1)]
    W_M = sum((w * Fraction(M) for w, M in zip(setting.w, ranges.upper, strict=True)), Fraction(0))
    rho = up(W_M / (1 + EXACT_ETA) ** best.j)
    values = {"l": setting.spec.depth, "w": setting.w, "R": R, "M_k": ranges.lower, "m": setting.m}
    values |= {"delta": setting.delta, "eta": EXACT_ETA, "j": best.j, "ramp": setting.margins.ramp(rho)}
    terms, raw = certified_terms(id, values)
    return row(id, terms, raw, why_not, rho, best.j)


def after_the_fact(id: str, setting: Setting, B: float | None, why_not: Sequence[str]) -> BoundRow:
    """a-posteriori or a-posteriori-bounded at its best j; no raw value where B is not defined."""
    from adanet_theory.symbolic import activation_facts

    if B is None:
        return row(id, {}, None, why_not, None)
    best = _best_after_the_fact(id, setting, B, setting.m)
    if best.j is None:
        return trivial(id, "ramp", why_not, None)
    phi = setting.weights.phi
    c = max([activation_facts(phi_s)["e"] for phi_s in phi], default=1)
    rho = up(Fraction(B) / (1 + EXACT_ETA) ** best.j)
    values = {"d": setting.weights.depth - 1, "n": list(setting.weights.n), "m": setting.m, "delta": setting.delta}
    values |= {"c": c, "B": B, "eta": EXACT_ETA, "j": best.j, "ramp": setting.margins.ramp(rho)}
    values |= {"r_rms": setting.sizes.r_rms, "r_sup": setting.r}
    terms, raw = certified_terms(id, values)
    return row(id, terms, raw, why_not, rho, best.j)


# In floats: the best margin, and how large a sample would be enough


def _lemma_2(setting: Setting, m: int, r: float) -> list[float]:
    spec = setting.spec
    every = range(1, spec.depth + 1)
    return [rademacher.layered_complexity(spec, k, m=m, r_inf=r, literally=True) for k in every]


def _peeled(setting: Setting, m: int) -> list[float]:
    spec, r = setting.spec, float(setting.r)
    peeled = {
        "lemma-2-peeled": rademacher.peeled_complexity,
        "lemma-2-peeled-offset": rademacher.peeled_complexity_offset,
    }
    return [peeled[layers.peeled_id(spec, k)](spec, k, m=m, r_rms=r) for k in range(1, spec.depth + 1)]


def _best_uniform(setting: Setting, m: int) -> MarginBound:
    assert setting.ranges is not None
    w, M, delta = [float(x) for x in setting.w], setting.ranges.upper, float(setting.delta)
    R = _peeled(setting, m)
    W_M = math.fsum(x * M_k for x, M_k in zip(w, M, strict=True))

    def at(j: int, ramp: float) -> MarginBound:
        return generalization.margin_bound_uniform_at(j, ramp, w, R, m=m, delta=delta, M=M)

    return best_margin("margin-bound-uniform", setting.margins.lower, W_M, at)


def _best_after_the_fact(id: str, setting: Setting, B: float, m: int) -> MarginBound:
    weights, delta = setting.weights, float(setting.delta)
    c = max((phi.peeling for phi in weights.phi), default=1.0)
    shared: dict[str, Any] = {"d": weights.depth - 1, "n_0": weights.n[0], "m": m, "delta": delta, "c": c}

    def at(j: int, ramp: float) -> MarginBound:
        if id == "a-posteriori":
            return posterior.a_posteriori_at(j, ramp, B, r_rms=setting.sizes.r_rms, **shared)
        return posterior.a_posteriori_bounded_at(j, ramp, B, r_sup=float(setting.r), **shared)

    return best_margin(id, setting.margins.lower, B, at)


@dataclass(frozen=True, eq=False)
class Numeric:
    """The bounds in floats, at any m all else equal; R_S of the sample is taken to fall like 1/sqrt(m)."""

    setting: Setting
    at: AtRho
    R_S: Sequence[float | None]
    B: float | None

    def __call__(self, id: str, m: int) -> MarginBound:
        setting = self.setting
        if id == "margin-bound-uniform":
            return _best_uniform(setting, m)
        if id in POSTERIOR:
            return _best_after_the_fact(id, setting, self.B or 0.0, m)
        w = [float(x) for x in setting.w]
        error, ramp, r = float(self.at.margin_error), self.at.ramp, float(setting.r)
        shared: dict[str, Any] = {"rho": float(self.at.rho), "m": m, "delta": float(setting.delta)}
        if id == "theorem-1":
            R = _lemma_2(setting, m, setting.sizes.r_inf)
            return generalization.theorem_1(error, w, R, literally=True, **shared)
        if id == "corollary-1":
            r_inf = setting.sizes.r_inf
            return generalization.corollary_1(setting.spec, error, w, r_inf=r_inf, literally=True, **shared)
        assert setting.ranges is not None
        M = setting.ranges.M
        if id == "theorem-1-range":
            return generalization.theorem_1_range(error, w, _lemma_2(setting, m, r), M=M, **shared)
        if id == "margin-bound":
            return generalization.margin_bound(ramp, w, _peeled(setting, m), M=M, **shared)
        R = [math.sqrt(setting.m / m) * R_k for R_k in self.R_S if R_k is not None]
        return generalization.margin_bound_empirical(ramp, w, R, M=setting.ranges.upper, **shared)


def with_m_needed(bound: BoundRow, numeric: Numeric) -> BoundRow:
    """The row with the least m, all else equal, at which a vacuous bound falls below 1 (none beyond 10^18)."""
    if not bound.vacuous or not bound.terms or bound.rho is None:
        return bound

    def at_m(m: int) -> MarginBound:
        try:
            found = numeric(bound.id, m)
            return found if math.isfinite(found.total) else undefined
        except (OverflowError, OutsideTheoryError):
            return undefined

    undefined = MarginBound(bound.id, {"undefined": None}, None)
    return replace(bound, m_needed=smallest_m(at_m))
