"""The bounds on the risk of this network, one certified row each.

A value is printed at the file's exact numbers: what a statement reads is exact or rounded to the side on which the
bound grows (R and r up, W_M down where it divides, margins down), and the rest is ball arithmetic on its symbolic twin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from adanet_theory import generalization
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.margin import ETA, zero_function
from verify.network import layers, numeric
from verify.network.assumptions import ON_LEMMA_2, Setting
from verify.network.evidence import up
from verify.network.numeric import AtRho
from verify.network.results import BoundRow

EXACT_ETA = Fraction(str(ETA))
Terms = dict[str, float | None]


# Certified


def certified_terms(id: str, values: Mapping[str, Any]) -> tuple[Terms, float | None]:
    """The terms rounded up, and their sum; None for what is undefined there or beyond the largest float."""
    from adanet_theory.twins import certified

    try:
        rounded = certified.terms_upper(id, values)
    except (certified.Undefined, OverflowError):
        return _one_by_one(id, values), None
    total = rounded.pop("total")
    return dict(rounded), total


def _one_by_one(id: str, values: Mapping[str, Any]) -> Terms:
    from adanet_theory.twins import certified
    from adanet_theory.twins.symbolic import STATEMENTS

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
    from adanet_theory.twins import certified

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
        w, delta = [float(x) for x in setting.w], setting.float_delta
        try:
            generalization.theorem_1_range(
                float(at.margin_error), w, R, rho=float(at.rho), m=setting.m, delta=delta, M=M
            )
        except OutsideTheoryError:
            return False
        except OverflowError:
            pass  # then it is vacuous
        return True

    printed = proved(1.0, numeric.lemma_2(setting, setting.m, setting.sizes.r_inf))
    # 4Λ for 2Λ: corollary-1 is never below theorem-1
    scaled = setting.ranges is None or proved(setting.ranges.M, numeric.lemma_2(setting, setting.m, float(setting.r)))
    return {"theorem-1": printed, "corollary-1": printed, "theorem-1-range": scaled}


# Statements that hold for all rho_j at once


def uniform(setting: Setting, why_not: Sequence[str]) -> BoundRow:
    """margin-bound-uniform at its best j, on f itself."""
    id, ranges = "margin-bound-uniform", setting.ranges
    if ranges is None:
        return row(id, {}, None, why_not, None)
    try:
        best = numeric.best("margin-bound-uniform", setting, None)
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
    from adanet_theory.twins.symbolic import activation_facts

    if B is None:
        return row(id, {}, None, why_not, None)
    best = numeric.best(id, setting, B)
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
