"""The bounds on the risk of this network, one certified row each.

A value is printed at the file's exact numbers: what a statement reads is exact or rounded to the side on which the
bound grows (R and r up, W_M down where it divides, margins down), and the rest is ball arithmetic on its symbolic twin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.quantities import complexities
from adanet_theory.risk import generalization
from adanet_theory.risk.margin import ETA, zero_function
from adanet_theory.rounding import up
from verify.measure import layers
from verify.results import BoundRow
from verify.rows import numeric
from verify.rows.assumptions import Setting
from verify.rows.numeric import AtRho

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
    bound: Bound,
    terms: Terms,
    raw: float | None,
    why_not: Sequence[str],
    rho: float | None,
    j: int | None = None,
    m_needed: int | None = None,
) -> BoundRow:
    value = None if why_not else (1.0 if raw is None else min(1.0, raw))
    vacuous = raw is None or raw >= 1
    return BoundRow(bound.id, raw, value, terms, not why_not, tuple(why_not), vacuous, rho, j, m_needed, bound.group)


def trivial(bound: Bound, why_not: Sequence[str], rho: float | None) -> BoundRow:
    """f = 0: the bound is 1."""
    return row(bound, dict(zero_function(bound.id, bound.loss).terms), 1.0, why_not, rho)


# What the twins read


def _certified_complexities(bound: Bound, setting: Setting, R_S: Sequence[float | None]) -> Sequence[float | None]:
    """R_m(H_k) or R_S(H_k), k = 1..l, by the bound's own rule, rounded up."""
    if bound.complexity == "R_S":
        return R_S
    spec, r = setting.spec, setting.radius(bound)
    every = range(1, spec.depth + 1)
    if bound.complexity == "lemma-2":
        return [layers.layered_complexity(spec, k, m=setting.m, r_inf=r) for k in every]
    return [layers.peeled_complexity(spec, k, m=setting.m, r=r) for k in every]


def _values(bound: Bound, setting: Setting, R_S: Sequence[float | None]) -> dict[str, Any] | None:
    """All but the margin and its loss; None where a complexity or a range exceeds the largest float."""
    from adanet_theory.twins import certified

    values = certified.spec_values(setting.spec)
    values |= {"w": setting.w, "m": setting.m, "delta": setting.delta, "eta": EXACT_ETA}
    values |= {"r_inf": setting.sizes.r_inf, "r_rms": setting.sizes.r_rms, "r_sup": setting.r}
    if setting.weights.outputs is not None:
        values["C"] = setting.weights.outputs
    if bound.reads & {"R_m", "R_S"}:
        values["R"] = list(_certified_complexities(bound, setting, R_S))
        if None in values["R"]:
            return None
    if bound.range is not None:
        if setting.ranges is None:
            return None
        values |= {"M": setting.ranges.M, "M_k": setting.ranges.upper}
    return values


# Statements that fix rho


def fixed_rho(
    bound: Bound, setting: Setting, at: AtRho, R_S: Sequence[float | None], why_not: Sequence[str]
) -> BoundRow:
    """The row of a statement about f/W at this ρ."""
    rho = float(at.rho)
    if setting.weights.graph is not None:  # in no family of layers
        return row(bound, {}, None, why_not, None)
    if setting.W == 0 or (bound.range is not None and setting.ranges is not None and setting.ranges.M == 0):
        return trivial(bound, why_not, rho)
    values = _values(bound, setting, R_S)
    if values is None:
        return row(bound, {}, None, why_not, rho)
    values |= {"rho": at.rho, "margin_error": at.margin_error, "ramp": at.ramp}
    terms, raw = certified_terms(bound.id, values)
    if bound.range == "M" and setting.ranges is not None and raw is not None:
        # C of Theorem 1 is not monotone in M where the bound is vacuous: there the larger of both ends
        other_terms, other = certified_terms(bound.id, values | {"M": max(setting.ranges.lower)})
        if other is not None and other > raw:
            terms, raw = other_terms, other
    return row(bound, terms, raw, why_not, rho)


def follows_from_margin_bound(setting: Setting, at: AtRho) -> dict[str, bool]:
    """Which of the statements on Lemma 2 margin-bound proves at this δ and ρ: the printed ones where |h| <= 1."""

    def proved(bound: Bound, M: float) -> bool:
        w, delta = [float(x) for x in setting.w], setting.float_delta
        try:
            R = complexities(bound, numeric.quantities(setting))
            generalization.theorem_1_range(
                float(at.margin_error), w, R, rho=float(at.rho), m=setting.m, delta=delta, M=M
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


def for_all_rho(bound: Bound, setting: Setting, B: float | None, why_not: Sequence[str]) -> BoundRow:
    """The row of a statement on f itself, at its best j; no raw value where its scale is not defined."""
    if (setting.ranges if bound.scale == "W_M" else B) is None:
        return row(bound, {}, None, why_not, None)
    try:
        best = numeric.best(bound, setting, B)
    except OverflowError:
        return row(bound, {}, None, why_not, None)
    if best.j is None:
        return trivial(bound, why_not, None)
    return at_j(bound, setting, B, best.j, why_not)


def at_j(bound: Bound, setting: Setting, B: float | None, j: int, why_not: Sequence[str]) -> BoundRow:
    """The row at one j."""
    values = _values(bound, setting, ())
    if values is None:
        return row(bound, {}, None, why_not, None)
    scale, values = _at_scale(bound, setting, B, values)
    exact_rho = scale / (1 + EXACT_ETA) ** j
    rho, eta, shift = up(exact_rho), setting.arithmetic.eta, setting.shift
    if bound.scale != "B" or shift is None or shift > Fraction(eta) * exact_rho:
        terms, raw = certified_terms(bound.id, values | {"j": j, "ramp": setting.margins.ramp(rho)})
        untied = () if setting.arithmetic.is_double or "arithmetic" in why_not else ("arithmetic",)
        return row(bound, terms, raw, (*why_not, *untied), rho, j)
    terms, raw = certified_terms(bound.id, values | {"j": j, "ramp": setting.margins.ramp(rho, eta)})
    return replace(row(bound, *_steeper(terms, raw, eta), why_not, rho, j), about="program")


def _steeper(terms: Terms, raw: float | None, eta: float) -> tuple[Terms, float | None]:
    """The complexity of a ramp of slope 1/((1 - η) ρ), whose Lipschitz constant is the only place where ρ stands."""
    complexity = terms["complexity"]
    if complexity is None or raw is None:
        return terms, raw
    more = Fraction(complexity) * (1 / (1 - Fraction(eta)) - 1)
    return terms | {"complexity": up(Fraction(complexity) + more)}, up(Fraction(raw) + more)


def _at_scale(
    bound: Bound, setting: Setting, B: float | None, values: dict[str, Any]
) -> tuple[Fraction, dict[str, Any]]:
    """ρ_0, rounded up, and the values with what goes with it: W_M divides, so its ranges are the lower ones."""
    if bound.scale == "W_M":
        assert setting.ranges is not None
        W_M = sum((w * Fraction(M) for w, M in zip(setting.w, setting.ranges.upper, strict=True)), Fraction(0))
        return W_M, values | {"M_k": setting.ranges.lower}
    assert B is not None
    return Fraction(B), values | at_path_norm(setting, B)


def at_path_norm(setting: Setting, B: float) -> dict[str, Any]:
    """What the after-the-fact bounds read of the network: d, n, c, B."""
    from adanet_theory.twins.activations import activation_facts

    c = max([sum(activation_facts(phi)["e"] for phi in level) for level in setting.weights.levels], default=1)
    return {"d": setting.weights.d, "n": list(setting.weights.n), "c": c, "B": B}
