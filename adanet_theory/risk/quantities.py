"""The numbers that a bound reads, and its evaluation in floats by its record. `twins.certified` rounds outward."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import OutsideTheoryError, check
from adanet_theory.complexity import rademacher
from adanet_theory.risk.margin import MarginBound
from adanet_theory.spec import NetworkSpec


@dataclass(frozen=True)
class Quantities:
    """The known numbers of a family, a sample and a network, named like the parameters of the numeric forms.

    w_norms lists ||w_k||_1 as trained, M the ranges of H_1, .., H_l, R_S the least known upper values of R_S(H_k).
    margin_error and ramp are those of f/W at ρ; for a chosen margin, ramp is that of f at ρ_j. B, d and c are
    the network's own (see `posterior`).
    """

    spec: NetworkSpec
    w_norms: Sequence[float]
    m: int
    delta: float
    r_inf: float
    r_rms: float
    r_sup: float
    margin_error: float = 0.0
    ramp: float = 0.0
    rho: float | None = None
    j: int | None = None
    R_S: Sequence[float | None] | None = None
    M: Sequence[float] | None = None
    B: float | None = None
    d: int = 0
    c: float = 1.5
    C: int | None = None
    """The number of classes, if each has an output."""

    @property
    def n_0(self) -> int:
        return self.spec.n[0]

    @property
    def W(self) -> float:
        return sum(self.w_norms)


def complexities(bound: Bound, given: Quantities) -> list[float]:
    """R_m(H_k) or R_S(H_k), k = 1..l, by the bound's own rule; 0 for a layer without mixture weight."""
    if bound.complexity == "R_S":
        known = given.R_S
        if known is None or None in known:
            raise OverflowError(f"R_S of {bound.id} exceeds the largest float, 1.8e308.")
        return [R for R in known if R is not None]
    check(bound.complexity is not None and bound.at is not None, f"{bound.id} names no complexity.")
    r = getattr(given, bound.at or "")
    of_layer = _lemma_2 if bound.complexity == "lemma-2" else _peeled
    return [of_layer(given.spec, k, given.m, r) if w > 0 else 0.0 for k, w in enumerate(given.w_norms, start=1)]


def _lemma_2(spec: NetworkSpec, k: int, m: int, r: float) -> float:
    return rademacher.layered_complexity(spec, k, m=m, r_inf=r, literally=True)


def _peeled(spec: NetworkSpec, k: int, m: int, r: float) -> float:
    """lemma-2-peeled, or lemma-2-peeled-offset if φ(0) != 0 below k."""
    if spec.is_centred(k):
        return rademacher.peeled_complexity(spec, k, m=m, r_rms=r)
    return rademacher.peeled_complexity_offset(spec, k, m=m, r_rms=r)


@lru_cache
def _required(function: Any) -> frozenset[str]:
    parameters = inspect.signature(function).parameters.values()
    return frozenset(parameter.name for parameter in parameters if parameter.default is parameter.empty)


def arguments(bound: Bound, given: Quantities) -> dict[str, Any]:
    """The keyword arguments of the numeric form, with `literally`, because the caller checks the assumptions."""
    values: dict[str, Any] = {}
    for name in bound.reads:
        if name in ("R_m", "R_S"):
            values[name] = complexities(bound, given)
        elif name == "M":
            if bound.range is not None:
                values[name] = _ranges(bound, given)
        elif name == "literally":
            values[name] = True
        elif hasattr(given, name):
            values[name] = getattr(given, name)
        else:
            check(name not in _required(bound.numeric), f"{bound.id} reads {name!r}, which no report provides.")
    return values


def _ranges(bound: Bound, given: Quantities) -> Any:
    if given.M is None:
        raise OverflowError(f"the range in {bound.id} exceeds the largest float, 1.8e308.")
    return max(given.M) if bound.range == "M" else list(given.M)


def evaluate(bound: Bound, given: Quantities) -> MarginBound:
    """The bound in floats, term by term.

    >>> from adanet_theory.catalogue import bound
    >>> spec = NetworkSpec.layered((154, 1, 1), 1.0, p=1)
    >>> given = Quantities(spec, [0.0, 1.0], 9600, 0.05, 1.0, 1.0, 1.0, rho=0.5, M=[1.0, 1.0])
    >>> {name: round(term, 4) for name, term in evaluate(bound("corollary-1"), given).terms.items()}
    {'margin_error': 0.0, 'complexity': 2.2113, 'depth': 0.034, 'confidence': 0.0982}
    """
    if not catalogue.is_built_in(bound):
        return _of_user(bound, given)
    return as_margin_bound(bound, bound.numeric(**arguments(bound, given)), given.rho)


class NoValue(OutsideTheoryError):
    """The function of a registered bound failed, or its value cannot bound a risk."""

    def __init__(self, message: str) -> None:
        ValueError.__init__(self, message)
        self.assumption = "function"


def _of_user(bound: Bound, given: Quantities) -> MarginBound:
    """Call a user's function, which may do anything, and accept its value only if it can bound a risk."""
    try:
        value = bound.numeric(**arguments(bound, given))
        check(not isinstance(value, str), f"a number was expected, got {value!r}")
        margin_bound = as_margin_bound(bound, value, given.rho)
        raw = margin_bound.raw
    except Exception as error:
        raise NoValue(f"{bound.id} gave no value ({type(error).__name__}: {error})") from None
    if raw is not None and not raw >= 0:
        raise NoValue(f"{bound.id} gave {raw:g}, which cannot bound a risk")
    return margin_bound


def as_margin_bound(bound: Bound, value: Any, rho: float | None) -> MarginBound:
    """The result of a numeric form as a MarginBound. A user's bound may also return terms by name, or one number."""
    if isinstance(value, MarginBound):
        return value
    terms = dict(value) if hasattr(value, "items") else {"value": float(value)}
    return MarginBound(bound.id, terms, rho)
