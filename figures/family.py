"""One family of networks, and the value of each bound for it; shared by the figures that vary a bound.

Layered ReLU, Λ_{k,k-1} = n_{k-1}^(-1/2) at the widths and p = 2 of the default `FamilySetting`, so that Π Λ N_k^(1/q) =
1 and |h| <= M_k = 1, which Theorem 1 assumes. All mixture weight is on the top layer, ||Ψ||_inf <= 1, and every
training margin of f/W exceeds ρ, so the loss terms are 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.complexity import rademacher
from adanet_theory.risk.margin import ETA, MarginBound
from adanet_theory.risk.quantities import NoValue, Quantities, evaluate
from adanet_theory.spec import NetworkSpec
from figures.parameters import WHOLE
from verify.show.wording import shortened

N_0 = 144
WIDTH = 16
DELTA = 0.05


@dataclass(frozen=True)
class FamilySetting:
    """The parameters that a figure varies. The weight bounds stay those of p = 2 and width 16."""

    m: int = 100_000
    depth: int = 3
    rho: float = 0.1
    p: float = 2.0
    width: int = WIDTH
    n_0: int = N_0
    delta: float = DELTA

    @property
    def spec(self) -> NetworkSpec:
        return _spec(self.depth, self.p, self.width, self.n_0)

    @property
    def w_norms(self) -> list[float]:
        return [0.0] * (self.depth - 1) + [1.0]

    @property
    def ranges(self) -> list[float]:
        return _ranges(self.depth, self.p, self.width, self.n_0)


# A search for the least m asks for the same family a hundred times.


@cache
def _spec(depth: int, p: float, width: int, n_0: int) -> NetworkSpec:
    n = (n_0, *[width] * depth)
    return NetworkSpec.layered(n, [n_0**-0.5, *[WIDTH**-0.5] * (depth - 1)], p)


@cache
def _ranges(depth: int, p: float, width: int, n_0: int) -> list[float]:
    return rademacher.ranges(_spec(depth, p, width, n_0), r_sup=1.0)


@cache
def _path_norm(depth: int, p: float, width: int, n_0: int) -> float:
    """The largest path norm of a member, B = P_l: ||u||_1 <= n^(1/q) ||u||_p."""
    return rademacher.peeling_factors(_spec(depth, p, width, n_0))[-1][0]


def is_in_range(setting: FamilySetting) -> bool:
    """Whether |h| <= 1 on every H_k, which Theorem 1 and Corollary 1 need."""
    return max(setting.ranges) <= 1


def is_possible(setting: FamilySetting) -> bool:
    """Whether a member with all margins of f/W above ρ exists, which needs ρ < M_l."""
    return setting.rho < setting.ranges[-1]


def margins(count: int) -> list[float]:
    """ρ from 0.01 to just under 1, the range of the default family; 0.1 is among them if count is odd."""
    return [*np.logspace(-2, 0, count)[:-1].tolist(), 0.99]


def _index(scale: float, rho: float) -> int:
    """The least j with ρ_j = scale/(1+η)^j <= ρ, so that the loss at ρ_j is 0 too."""
    return math.ceil(math.log(scale / rho) / math.log1p(ETA))


def quantities(setting: FamilySetting) -> Quantities:
    """The inputs of a bound here: the loss terms are 0, and B is the largest path norm of a member."""
    B = _path_norm(setting.depth, setting.p, setting.width, setting.n_0)
    return Quantities(
        setting.spec,
        setting.w_norms,
        setting.m,
        setting.delta,
        r_inf=1.0,
        r_rms=1.0,
        r_sup=1.0,
        rho=setting.rho,
        M=setting.ranges,
        B=B,
        d=setting.depth - 1,
    )


def value(bound: Bound, setting: FamilySetting) -> MarginBound:
    """The value of a bound, for all margins at the largest ρ_j <= ρ. A user's bound that fails is undefined."""
    given = quantities(setting)
    scales = {"W_M": setting.ranges[-1], "B": given.B}
    if bound.scale in scales:
        given = replace(given, j=_index(scales[bound.scale] or 0.0, setting.rho))
    try:
        return evaluate(bound, given)
    except NoValue:
        return MarginBound(bound.id, {"undefined": None}, None)


def bounds() -> tuple[Bound, ...]:
    """The bounds that need no sample: their complexity is a lemma at a size of Ψ known beforehand.

    Registered bounds that read no more than that are included, claims and context alike.
    """
    return catalogue.select(lambda bound: bound.classes == "two" and _needs_no_sample(bound))


def _needs_no_sample(bound: Bound) -> bool:
    if catalogue.is_built_in(bound):  # a certificate reads the sample
        return bound.group in ("paper", "corrected") and bound.at in ("r_inf", "r_sup")
    return bound.complexity != "R_S" and bound.at != "r_rms" and not bound.reads & {"R_S", "r_rms"}


def title(bound: Bound) -> str:
    """The title for legends and panels; that of a registered bound is shortened and says if it makes no claim."""
    if catalogue.is_built_in(bound):
        return bound.title
    suffix = "" if bound.is_claim else " (context)"
    return shortened(bound.title, 24 - len(suffix)) + suffix


# What is asked for on the command line


def asked(parameters: Mapping[str, Any]) -> tuple[FamilySetting, dict[str, tuple[float, float]]]:
    """(the setting, the spans) from parameters that are one number each, or a pair (from, to).

    >>> asked({"depth": (2, 20), "n_0": (10, 10)})[0].n_0
    10
    """
    base = FamilySetting()
    single = {name: low for name, (low, high) in parameters.items() if low == high}
    single = {name: int(value) if name in WHOLE else value for name, value in single.items()}
    spans = {name: pair for name, pair in parameters.items() if pair[0] != pair[1]}
    for name, (low, high) in spans.items():  # the other panels stay inside the span
        middle = getattr(base, name)
        single[name] = min(max(middle, type(middle)(low)), type(middle)(high))
    return replace(base, **single), spans


def spread(name: str, span: tuple[float, float], count: int) -> list[Any]:
    """Values of a span: integer depths one by one, p evenly in 1/p, the others evenly in their logarithm."""
    low, high = span
    if name == "depth":
        return list(range(int(low), int(high) + 1))
    if name == "p":
        inverse = np.linspace(1 / low, 0.0 if math.isinf(high) else 1 / high, count)
        return [math.inf if x == 0 else float(1 / x) for x in inverse]
    values = np.geomspace(low, high, count)
    return sorted({int(x) for x in values.round()}) if name in WHOLE else values.tolist()
