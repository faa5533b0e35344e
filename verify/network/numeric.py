"""The bounds in floats: to choose the best margin, to ask for the sample that would be enough, to draw curves.

Nothing here is printed as a bound; `bounds` certifies what is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from adanet_theory import generalization, posterior, rademacher
from adanet_theory.checks import Array, OutsideTheoryError
from adanet_theory.margin import MarginBound, best_margin, margin_error, ramp_loss
from adanet_theory.solve import smallest_m
from verify.network import layers
from verify.network.assumptions import FIXED_RHO, PRINTED, Setting
from verify.network.evidence import up
from verify.network.results import BoundRow

LARGEST_M = 10**18


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


# Complexities


def lemma_2(setting: Setting, m: int, r: float) -> list[float]:
    spec = setting.spec
    every = range(1, spec.depth + 1)
    return [rademacher.layered_complexity(spec, k, m=m, r_inf=r, literally=True) for k in every]


def peeled(setting: Setting, m: int) -> list[float]:
    spec, r = setting.spec, float(setting.r)
    forms = {
        "lemma-2-peeled": rademacher.peeled_complexity,
        "lemma-2-peeled-offset": rademacher.peeled_complexity_offset,
    }
    return [forms[layers.peeled_id(spec, k)](spec, k, m=m, r_rms=r) for k in range(1, spec.depth + 1)]


# Statements that fix rho


@dataclass(frozen=True, eq=False)
class FixedRho:
    """One of FIXED_RHO at any m, all else equal; R_S of the sample is taken to fall like 1/sqrt(m)."""

    id: str
    setting: Setting
    at: AtRho
    R_S: Sequence[float | None]

    def __call__(self, m: int) -> MarginBound:
        setting = self.setting
        w = [float(x) for x in setting.w]
        error, ramp, r = float(self.at.margin_error), self.at.ramp, float(setting.r)
        shared: dict[str, Any] = {"rho": float(self.at.rho), "m": m, "delta": setting.float_delta}
        if self.id == "theorem-1":
            R = lemma_2(setting, m, setting.sizes.r_inf)
            return generalization.theorem_1(error, w, R, literally=True, **shared)
        if self.id == "corollary-1":
            r_inf = setting.sizes.r_inf
            return generalization.corollary_1(setting.spec, error, w, r_inf=r_inf, literally=True, **shared)
        ranges = setting.ranges
        if ranges is None or None in self.R_S:
            raise OverflowError(f"{self.id} exceeds the largest float, 1.8e308.")
        if self.id == "theorem-1-range":
            return generalization.theorem_1_range(error, w, lemma_2(setting, m, r), M=ranges.M, **shared)
        if self.id == "margin-bound":
            return generalization.margin_bound(ramp, w, peeled(setting, m), M=ranges.M, **shared)
        R = [math.sqrt(setting.m / m) * R_k for R_k in self.R_S if R_k is not None]
        return generalization.margin_bound_empirical(ramp, w, R, M=ranges.upper, **shared)


# Statements that hold for all rho_j at once

AtJ = Callable[[int, float], MarginBound]


def _at_j(id: str, setting: Setting, B: float | None, m: int) -> AtJ:
    """The bound as a function of j and of the ramp at ρ_j."""
    delta = setting.float_delta
    if id == "margin-bound-uniform":
        assert setting.ranges is not None
        w, M, R = [float(x) for x in setting.w], setting.ranges.upper, peeled(setting, m)
        return lambda j, ramp: generalization.margin_bound_uniform_at(j, ramp, w, R, m=m, delta=delta, M=M)
    assert B is not None
    c = max((phi.peeling for phi in setting.weights.phi), default=1.0)
    network: dict[str, Any] = {"d": setting.weights.depth - 1, "n_0": setting.weights.n[0], "c": c}
    if id == "a-posteriori":
        r_rms = setting.sizes.r_rms
        return lambda j, ramp: posterior.a_posteriori_at(j, ramp, B, r_rms=r_rms, m=m, delta=delta, **network)
    r_sup = float(setting.r)
    return lambda j, ramp: posterior.a_posteriori_bounded_at(j, ramp, B, r_sup=r_sup, m=m, delta=delta, **network)


def _scale(id: str, setting: Setting, B: float | None) -> float:
    """ρ_0: W_M or B."""
    if id != "margin-bound-uniform":
        return B or 0.0
    assert setting.ranges is not None
    return math.fsum(float(w) * M for w, M in zip(setting.w, setting.ranges.upper, strict=True))


def best(id: str, setting: Setting, B: float | None) -> MarginBound:
    """The bound at the j where it is least; it has no j where f = 0."""
    return best_margin(id, setting.margins.lower, _scale(id, setting, B), _at_j(id, setting, B, setting.m))


def _needed_for_all_rho(id: str, setting: Setting, B: float | None) -> int | None:
    """All that is added to the ramp falls like 1/sqrt(m), so the j that needs the least m shows at any m."""
    found: list[tuple[float, int, float]] = []
    at = _at_j(id, setting, B, LARGEST_M)

    def record(j: int, ramp: float) -> MarginBound:
        bound = at(j, ramp)
        if ramp < 1:
            found.append(((bound.total - ramp) / (1 - ramp), j, ramp))
        return bound

    best_margin(id, setting.margins.lower, _scale(id, setting, B), record)
    if not found:
        return None
    _, j, ramp = min(found)
    return smallest_m(lambda m: _at_j(id, setting, B, m)(j, ramp), largest=LARGEST_M)


# How large a sample would be enough


def with_m_needed(
    bound: BoundRow, setting: Setting, at: AtRho, R_S: Sequence[float | None], B: float | None
) -> BoundRow:
    """The row with the least m, all else equal, at which a vacuous bound falls below 1 (none beyond 10^18)."""
    if not bound.vacuous or not bound.terms or bound.rho is None:
        return bound
    if bound.id not in FIXED_RHO:
        return replace(bound, m_needed=_needed_for_all_rho(bound.id, setting, B))
    of_m = FixedRho(bound.id, setting, at, R_S)

    def defined(m: int) -> MarginBound:
        try:
            return of_m(m) if math.isfinite(of_m(m).total) else nothing
        except (OverflowError, OutsideTheoryError):
            return nothing

    nothing = MarginBound(bound.id, {"undefined": None}, None)
    return replace(bound, m_needed=smallest_m(defined, largest=LARGEST_M))


# Curves


def rho_curves(setting: Setting, R_S: Sequence[float | None], points: int = 80) -> dict[str, tuple[Array, Array]]:
    """(ρ of f/W, raw value) of the statements that fix ρ, for the pictures; nothing where one is undefined."""
    u = setting.margins.lower / (float(setting.W) or 1.0)
    top = float(np.max(np.abs(u))) or 1.0
    found: dict[str, tuple[list[float], list[float]]] = {id: ([], []) for id in FIXED_RHO}
    for rho in np.geomspace(top / 100, 2 * top, points).tolist():
        at = AtRho(Fraction(rho), Fraction(margin_error(u, rho)), ramp_loss(u, rho))
        for id, (rhos, values) in found.items():
            if id in PRINTED or setting.ranges is not None:
                raw = _raw(FixedRho(id, setting, at, R_S))
                if raw is not None:
                    rhos.append(rho)
                    values.append(raw)
    return {id: (np.array(rhos), np.array(values)) for id, (rhos, values) in found.items() if rhos}


def _raw(bound: FixedRho) -> float | None:
    try:
        return bound(bound.setting.m).raw
    except (OverflowError, OutsideTheoryError):
        return None
