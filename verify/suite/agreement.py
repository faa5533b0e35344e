"""Every bound on a risk at one point of its arguments: the numeric form, and its symbolic twin in ball arithmetic."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from adanet_theory import rademacher
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.risk import generalization, multiclass, posterior, unbounded
from adanet_theory.risk.margin import MarginBound
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified


@dataclass(frozen=True, eq=False)
class Point:
    """The arguments of all bounds: a layered family, ||w_k||_1, R_m(H_k), M_k, and the rest."""

    spec: NetworkSpec
    w: tuple[float, ...]
    R: tuple[float, ...]
    M: tuple[float, ...]
    m: int = 9600
    rho: float = 0.7
    delta: float = 0.05
    r: float = 0.75
    error: float = 0.125
    j: int = 7
    d: int = 2
    c: float = 1.5
    C: int = 10

    def __str__(self) -> str:
        return f"l = {self.spec.depth}, m = {self.m}, rho = {self.rho:g}, delta = {self.delta:g}, j = {self.j}"

    @property
    def values(self) -> dict[str, Any]:
        """What the twins read."""
        shared = {"k": self.spec.depth, "m": self.m, "rho": self.rho, "delta": self.delta, "eta": 0.05, "j": self.j}
        sizes = {"r_inf": self.r, "r_rms": self.r, "r_sup": self.r}
        errors = {"margin_error": self.error, "ramp": self.error, "loss": self.error}
        layers = {"w": list(self.w), "R": list(self.R), "M": max(self.M), "M_k": list(self.M), "B": 1}
        return certified.spec_values(self.spec) | shared | sizes | errors | layers | {"C": self.C}

    @property
    def network(self) -> dict[str, Any]:
        """The same, with the c of a network in the place of those of the layers."""
        return self.values | {"d": self.d, "c": self.c}


def bounds(x: Point) -> dict[str, MarginBound]:
    """All bounds in floats, by id."""
    fixed: dict[str, Any] = {"rho": x.rho, "m": x.m, "delta": x.delta}
    free: dict[str, Any] = {"m": x.m, "delta": x.delta, "M": x.M}
    net: dict[str, Any] = {"d": x.d, "n_0": x.spec.n[0], "m": x.m, "delta": x.delta, "c": x.c}
    mixture, top = (x.error, x.w, x.R), max(x.M)
    G, P, C = generalization, posterior, multiclass
    found = [
        G.theorem_1(*mixture, literally=True, **fixed),
        G.corollary_1(x.spec, x.error, x.w, r_inf=x.r, literally=True, **fixed),
        G.margin_bound(*mixture, M=top, **fixed),
        G.margin_bound_empirical(*mixture, M=x.M, **fixed),
        G.margin_bound_uniform_at(x.j, *mixture, **free),
        G.objective_bound(*mixture, **free),
        P.a_posteriori_at(x.j, x.error, 1.0, r_rms=x.r, **net),
        P.a_posteriori_bounded_at(x.j, x.error, 1.0, r_sup=x.r, **net),
        C.multiclass_margin_bound(*mixture, C=x.C, M=top, **fixed),
        C.multiclass_margin_bound_uniform_at(x.j, *mixture, C=x.C, **free),
        C.multiclass_objective_bound(*mixture, C=x.C, **free),
        C.multiclass_a_posteriori_at(x.j, x.error, 1.0, C=x.C, r_rms=x.r, **net),
        C.multiclass_a_posteriori_bounded_at(x.j, x.error, 1.0, C=x.C, r_sup=x.r, **net),
        unbounded.margin_bound_unbounded(*mixture, **fixed),
        unbounded.unbounded_empirical(*mixture, **fixed),
    ]
    with suppress(OutsideTheoryError):  # δ too small for it to follow from margin-bound
        found.append(G.theorem_1_range(*mixture, M=top, **fixed))
    return {bound.id: bound for bound in found}


def complexities(x: Point) -> dict[str, float]:
    """The upper values that stand for R_m(H_l) in them, and the range M_l."""
    spec, k, m = x.spec, x.spec.depth, x.m
    found = {
        "lemma-2": rademacher.layered_complexity(spec, k, m=m, r_inf=x.r),
        "h1-closed": rademacher.first_layer_closed(spec, m=m, r_rms=x.r),
        "lemma-2-peeled": rademacher.peeled_complexity(spec, k, m=m, r_rms=x.r),
        "lemma-2-peeled-offset": rademacher.peeled_complexity_offset(spec, k, m=m, r_rms=x.r),
        "range": rademacher.ranges(spec, r_sup=x.r)[-1],
    }
    if k >= 2:
        found["lemma-1"] = rademacher.lemma_1(spec, k, x.R)
        found["lemma-1-corrected"] = rademacher.lemma_1_corrected(spec, k, x.R, m=m)
    return found


def twins(x: Point) -> dict[str, dict[str, Any]]:
    """Balls around every term of every bound and around every complexity, by id."""
    values, network = x.values, x.network
    free = {name: value for name, value in values.items() if name != "M_k"}
    found = {id: certified.enclosures(id, network) for id in RISK}
    lemmas = [id for id in COMPLEXITIES if x.spec.depth >= 2 or not id.startswith("lemma-1")]
    return found | {id: {"total": certified.evaluate(id, free if id == "range" else values)} for id in lemmas}


RISK = (
    "theorem-1",
    "corollary-1",
    "theorem-1-range",
    "margin-bound",
    "margin-bound-empirical",
    "margin-bound-uniform",
    "margin-bound-unbounded",
    "unbounded-empirical",
    "objective-bound",
    "a-posteriori",
    "a-posteriori-bounded",
    "multiclass-margin-bound",
    "multiclass-margin-bound-uniform",
    "multiclass-objective-bound",
    "multiclass-a-posteriori",
    "multiclass-a-posteriori-bounded",
)
COMPLEXITIES = (
    "lemma-1", "lemma-1-corrected", "lemma-2", "h1-closed", "lemma-2-peeled", "lemma-2-peeled-offset", "range",
)  # fmt: skip


def disagreements(x: Point, balls: dict[str, dict[str, Any]]) -> list[str]:
    """Every term that lies more than some rounding errors outside its ball."""
    numbers = {id: dict(bound.terms) | {"total": bound.total} for id, bound in bounds(x).items()}
    numbers |= {id: {"total": value} for id, value in complexities(x).items()}
    found = []
    for id, terms in numbers.items():
        for name, term in terms.items():
            if id in balls and not _within(term, balls[id][name]):
                found.append(f"{name} of {id} = {term!r}, its twin {balls[id][name]} ({x})")
    return found


def _within(number: float | None, ball: Any) -> bool:
    lower, upper = float(ball.lower()), float(ball.upper())
    slack = 2e-12 * abs(upper) + 1e-300
    return number is not None and math.isfinite(number) and lower - slack <= number <= upper + slack
