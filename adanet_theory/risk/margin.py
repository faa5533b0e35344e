"""A bound on the risk, term by term; its empirical losses; and the best margin, for bounds that allow a choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.checks import check, check_nonnegative, check_rho, total

ETA = 0.05  # a bound that holds for all margins is tried on a geometric grid of ratio 1 + η
# Σ 1/(|j|+1)² over all integers j: the prior 1/((π²/3 - 1)(|j|+1)²) pays for choosing the margin ρ_j after the fact.
PRIOR = math.pi**2 / 3 - 1


@dataclass(frozen=True)
class MarginBound:
    """A bound on R(f), term by term.

    A term is None if the printed formula is undefined (a negative radicand). Then there is no raw value, and the bound
    is vacuous: another term is then >= 1 by itself.

    Parameters
    ----------
    id
        Id of the statement.
    terms
        Its terms by name; the bound is their sum.
    rho
        Margin at which it was evaluated; None for the zero function.
    j
        Index of that margin, if the best one was chosen.

    Examples
    --------
    >>> MarginBound("margin-bound", {"ramp": 0.5, "complexity": 0.75}, rho=1.0).value
    1.0
    """

    id: str
    terms: Mapping[str, float | None]
    rho: float | None
    j: int | None = None

    @property
    def raw(self) -> float | None:
        """The sum of the terms, which may exceed 1; None if one is undefined."""
        values = [term for term in self.terms.values() if term is not None]
        return total(values, self.id) if len(values) == len(self.terms) else None

    @property
    def total(self) -> float:
        """The sum of the terms; an undefined term counts as inf."""
        raw = self.raw
        return math.inf if raw is None else raw

    @property
    def value(self) -> float:
        """min(1, raw), the statement's bound on a risk."""
        return min(1.0, self.total)

    @property
    def is_vacuous(self) -> bool:
        return self.total >= 1


def margin_error(margins: ArrayLike, rho: float) -> float:
    """R_{S,ρ}(f) = (1/m) #{ i : y_i f(x_i) <= ρ }, for the margins y_i f(x_i).

    Parameters
    ----------
    margins
        Margins y_i f(x_i).
    rho
        Margin, > 0.

    Returns
    -------
    float
        Share of points, in [0, 1].

    Examples
    --------
    >>> margin_error([-1.0, 0.0, 0.5, 2.0], rho=0.5)
    0.75
    """
    check_rho(rho)
    return float(np.mean(np.asarray(margins) <= rho))


def ramp_loss(margins: ArrayLike, rho: float) -> float:
    """(1/m) Σ_i ψ_ρ(y_i f(x_i)),  ψ_ρ(u) = clip(1 - u/ρ, 0, 1): at most the margin error, at least the training error.

    Parameters
    ----------
    margins
        Margins y_i f(x_i).
    rho
        Margin, > 0.

    Returns
    -------
    float
        Mean loss, in [0, 1].

    Examples
    --------
    >>> ramp_loss([-1.0, 0.0, 0.25, 2.0], rho=0.5)
    0.625
    """
    check_rho(rho)
    return float(np.mean(np.clip(1 - np.asarray(margins, dtype=np.float64) / rho, 0, 1)))


def growth(eta: float, j: int, statement: str) -> float:
    """(1+η)^j."""
    check(eta > 0, f"eta must be > 0, got eta={eta}.")
    try:
        return (1 + eta) ** j
    except OverflowError:
        raise OverflowError(f"{statement} at j={j} exceeds the largest float, 1.8e308.") from None


def zero_function(id: str, first: str) -> MarginBound:
    """The trivial bound of f = 0."""
    return MarginBound(id, {first: 1.0, "complexity": 0.0, "depth": 0.0, "confidence": 0.0}, rho=None)


def best_margin(
    id: str, margins: ArrayLike, scale: float, bound: Callable[[int, float], MarginBound], *, eta: float = ETA
) -> MarginBound:
    """The least over the integers j of bound(j, ramp at ρ_j), ρ_j = scale/(1+η)^j, for the margins y_i f(x_i).

    `scale` = 0 is the zero function, whose bound is 1. The terms added to the ramp must grow with j >= 0, and the
    confidence term with |j|. So the search ends on both sides. Upward it ends once these terms plus the training error
    exceed the least so far. Downward, all margins are under ρ_j and the bound is linear in 1/ρ_j. There it ends at once
    if the bound is below 1 (it can only rise), else once the ramp and the confidence term alone exceed the least.
    """
    check_nonnegative("the scale of the margins", scale)
    u = np.sort(np.asarray(margins, dtype=np.float64))
    check(u.ndim == 1 and len(u) >= 1 and bool(np.isfinite(u).all()), "margins must be a list of finite numbers.")
    if scale == 0:
        return zero_function(id, "ramp")
    m = len(u)
    errors = int(np.searchsorted(u, 0.0, side="right"))  # y f <= 0: the ramp counts 1 at every ρ
    positive = u[errors:]
    sums = np.concatenate([[0.0], np.cumsum(positive)])
    step = math.log1p(eta)
    reach = int(700 / step)  # (1+η)^j stays a float
    # The j at which ρ_j is the largest and the least positive margin: below and above them the ramp has one form.
    ends = [(math.log(scale) - math.log(u)) / step for u in positive[[-1, 0]]] if len(positive) else [0.0, 0.0]
    first, last = max(min(math.floor(ends[0]), 0), -reach), min(max(math.ceil(ends[1]), 0), reach)

    def at(j: int) -> tuple[MarginBound, float]:
        rho = scale * (1 + eta) ** -j
        inside = int(np.searchsorted(positive, rho))
        ramp = min(max((errors + inside - sums[inside] / rho) / m, 0.0), 1.0)
        return bound(j, ramp), ramp

    best, _ = at(first)
    for j in range(first + 1, last + 1):
        candidate, ramp = at(j)
        best = min(best, candidate, key=lambda one: one.total)
        if j >= 0 and candidate.total - ramp + errors / m >= best.total:
            break
    for j in range(first - 1, -reach, -1):
        if best.total < 1:
            break
        candidate, ramp = at(j)
        best = min(best, candidate, key=lambda one: one.total)
        if ramp + (candidate.terms.get("confidence") or 0.0) >= best.total:
            break
    return best
