"""Every bound on a risk at one point of its arguments: the numeric form, and its symbolic twin in ball arithmetic."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from adanet_theory import catalogue
from adanet_theory.checks import OutsideTheoryError
from adanet_theory.complexity import rademacher
from adanet_theory.risk import generalization, multiclass
from adanet_theory.risk.margin import MarginBound
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified


@dataclass(frozen=True, eq=False)
class Arguments:
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

    def arguments(self, bound: catalogue.Bound) -> dict[str, Any]:
        """What the numeric form of a bound reads."""
        M: Any = max(self.M) if bound.range == "M" else self.M
        layers = {"w_norms": self.w, "R_m": self.R, "R_S": self.R, "M": M}
        sizes = {"r_inf": self.r, "r_rms": self.r, "r_sup": self.r, "n_0": self.spec.n[0]}
        errors = {"margin_error": self.error, "ramp": self.error, "literally": True}
        network = {"B": 1.0, "d": self.d, "c": self.c, "C": self.C, "j": self.j, "spec": self.spec}
        given = {"rho": self.rho, "m": self.m, "delta": self.delta, **layers, **sizes, **errors, **network}
        unread = {"M"} if bound.range is None else set()
        return {name: given[name] for name in (bound.reads & set(given)) - unread}

    @property
    def network(self) -> dict[str, Any]:
        """The same, with the c of a network in the place of those of the layers."""
        return self.values | {"d": self.d, "c": self.c}


def bounds(x: Arguments) -> dict[str, MarginBound]:
    """All bounds in floats, by id."""
    free: dict[str, Any] = {"m": x.m, "delta": x.delta, "M": x.M}
    mixture = (x.error, x.w, x.R)
    values = [
        generalization.objective_bound(*mixture, **free),
        multiclass.multiclass_objective_bound(*mixture, C=x.C, **free),
    ]
    for bound in THEORY:
        with suppress(OutsideTheoryError):  # δ too small for theorem-1-range to follow from margin-bound
            values.append(bound.numeric(**x.arguments(bound)))
    return {bound.id: bound for bound in values}


def complexities(x: Arguments) -> dict[str, float]:
    """The upper values that stand for R_m(H_l) in them, and the range M_l."""
    spec, k, m = x.spec, x.spec.depth, x.m
    values = {
        "lemma-2": rademacher.layered_complexity(spec, k, m=m, r_inf=x.r),
        "h1-closed": rademacher.first_layer_closed(spec, m=m, r_rms=x.r),
        "lemma-2-peeled": rademacher.peeled_complexity(spec, k, m=m, r_rms=x.r),
        "lemma-2-peeled-offset": rademacher.peeled_complexity_offset(spec, k, m=m, r_rms=x.r),
        "range": rademacher.ranges(spec, r_sup=x.r)[-1],
    }
    if k >= 2:
        values["lemma-1"] = rademacher.lemma_1(spec, k, x.R)
        values["lemma-1-corrected"] = rademacher.lemma_1_corrected(spec, k, x.R, m=m)
    return values


def twins(x: Arguments) -> dict[str, dict[str, Any]]:
    """Balls around every term of every bound and around every complexity, by id."""
    values, network = x.values, x.network
    free = {name: value for name, value in values.items() if name != "M_k"}
    balls = {id: certified.enclosures(id, network) for id in RISK}
    lemmas = [id for id in COMPLEXITIES if x.spec.depth >= 2 or not id.startswith("lemma-1")]
    return balls | {id: {"total": certified.evaluate(id, free if id == "range" else values)} for id in lemmas}


THEORY = (*catalogue.theory(), *catalogue.theory("many"))
RISK = (*catalogue.ids(THEORY), "objective-bound", "multiclass-objective-bound")
COMPLEXITIES = (
    "lemma-1", "lemma-1-corrected", "lemma-2", "h1-closed", "lemma-2-peeled", "lemma-2-peeled-offset", "range",
)  # fmt: skip


def disagreements(x: Arguments, balls: dict[str, dict[str, Any]]) -> list[str]:
    """Every term that lies more than some rounding errors outside its ball."""
    numbers = {id: dict(bound.terms) | {"total": bound.total} for id, bound in bounds(x).items()}
    numbers |= {id: {"total": value} for id, value in complexities(x).items()}
    outside = []
    for id, terms in numbers.items():
        for name, term in terms.items():
            if id in balls and not within(term, balls[id][name]):
                outside.append(f"{name} of {id} = {term!r}, its twin {balls[id][name]} ({x})")
    return outside


def within(number: float | None, ball: Any) -> bool:
    lower, upper = float(ball.lower()), float(ball.upper())
    slack = 2e-12 * abs(upper) + 1e-300
    return number is not None and math.isfinite(number) and lower - slack <= number <= upper + slack
