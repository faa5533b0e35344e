"""The bounds in floats: to choose the best margin, to ask for the sample that would be enough, to draw curves.

Nothing here is printed as a bound; `bounds` certifies what is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import Array, OutsideTheoryError, product, total
from adanet_theory.risk.margin import MarginBound, best_margin, margin_error, ramp_loss
from adanet_theory.risk.quantities import Quantities, arguments, as_margin_bound, evaluate
from adanet_theory.risk.solve import smallest_m
from verify.rows.setting import AtRho, RowValue, Setting

LARGEST_M = 10**18


# What the numeric forms read


def quantities(setting: Setting, at: AtRho | None = None) -> Quantities:
    """The setting in floats, at ρ where one is given."""
    graph, spec = setting.graph, setting.spec
    known = Quantities(
        spec,
        [float(w) for w in setting.w],
        setting.m,
        setting.float_delta,
        r_inf=setting.sizes.r_inf,
        r_rms=setting.sizes.r_rms,
        r_sup=float(setting.r),
        R_S=setting.known.upper,
        M=None if setting.ranges is None else setting.ranges.upper,
        B=setting.B,
        d=graph.d,
        c=graph.peeling,
        C=graph.classes,
    )
    if at is None:
        return known
    return replace(known, rho=float(at.width), margin_error=float(at.margin_error), ramp=float(at.ramp))


def at_m(given: Quantities, m: int) -> Quantities:
    """At another m, all else equal; R_S of the sample is taken to fall like 1/sqrt(m)."""
    shrunk = math.sqrt(given.m / m)
    return replace(given, m=m, R_S=[None if R is None else product([shrunk, R], "R_S") for R in given.R_S or ()])


# Statements that hold for all rho_j at once

AtJ = Callable[[int, float], MarginBound]


def _at_j(bound: Bound, setting: Setting, m: int) -> AtJ:
    """The bound as a function of j and of the ramp at ρ_j."""
    given = arguments(bound, replace(quantities(setting), m=m))
    return lambda j, ramp: as_margin_bound(bound, bound.numeric(**given | {"j": j, "ramp": ramp}), None)


def scale(bound: Bound, setting: Setting) -> float:
    """ρ_0: W_M or B."""
    if bound.scale == "B":
        return setting.B or 0.0
    assert setting.ranges is not None
    return total((float(w) * M for w, M in zip(setting.w, setting.ranges.upper, strict=True)), bound.id)


def best_j(bound: Bound, setting: Setting) -> int | None:
    """The j where the bound is least, searched once at every δ; None where f = 0."""
    key = bound.id, setting.delta
    if key not in setting.searched:
        at = _at_j(bound, setting, setting.m)
        setting.searched[key] = best_margin(bound.id, setting.margins.lower, scale(bound, setting), at).j
    return setting.searched[key]


def _needed_for_all_rho(bound: Bound, setting: Setting) -> int | None:
    """All that is added to the ramp falls like 1/sqrt(m), so the j that needs the least m shows at any m."""
    tried: list[tuple[float, int, float]] = []
    at = _at_j(bound, setting, LARGEST_M)

    def record(j: int, ramp: float) -> MarginBound:
        value = at(j, ramp)
        if ramp < 1:
            tried.append(((value.total - ramp) / (1 - ramp), j, ramp))
        return value

    best_margin(bound.id, setting.margins.lower, scale(bound, setting), record)
    if not tried:
        return None
    _, j, ramp = min(tried)
    return _smallest(bound, lambda m: _at_j(bound, setting, m)(j, ramp))


# How large a sample would be enough


def m_needed(bound: Bound, value: RowValue, setting: Setting) -> int | None:
    """The least m, all else equal, at which a vacuous bound falls below 1 (none beyond 10^18)."""
    if not value.vacuous or not value.terms or value.rho is None:
        return None
    if bound.scale != "rho":
        return _needed_for_all_rho(bound, setting)
    given = quantities(setting, setting.tied)
    return _smallest(bound, lambda m: evaluate(bound, at_m(given, m)))


def _smallest(bound: Bound, at: Callable[[int], MarginBound]) -> int | None:
    """The least m at which the bound is below 1; it is not where it exceeds the largest float."""

    def defined(m: int) -> MarginBound:
        try:
            value = at(m)
            return value if math.isfinite(value.total) else nothing
        except (OverflowError, OutsideTheoryError):
            return nothing

    nothing = MarginBound(bound.id, {"undefined": None}, None)
    return smallest_m(defined, largest=LARGEST_M)


# Curves


def rho_curves(setting: Setting) -> dict[str, tuple[Array, Array]]:
    """(ρ of f/W, raw value) of the statements that fix ρ, for the pictures; nothing where one is undefined."""
    u = setting.margins.lower / (float(setting.W) or 1.0)
    top = float(np.max(np.abs(u))) or 1.0
    kind = setting.classes
    shown = catalogue.select(lambda bound: bound.is_claim and bound.scale == "rho" and bound.classes == kind)
    curves: dict[str, tuple[list[float], list[float]]] = {bound.id: ([], []) for bound in shown}
    for rho in np.geomspace(top / 100, 2 * top, 80).tolist():
        given = quantities(setting, AtRho(Fraction(rho), Fraction(margin_error(u, rho)), ramp_loss(u, rho)))
        for bound in shown:
            raw = _raw(bound, given)
            if raw is not None:
                curves[bound.id][0].append(rho)
                curves[bound.id][1].append(raw)
    return {id: (np.array(rhos), np.array(values)) for id, (rhos, values) in curves.items() if rhos}


def _raw(bound: Bound, given: Quantities) -> float | None:
    try:
        return evaluate(bound, given).raw
    except (OverflowError, OutsideTheoryError):
        return None
