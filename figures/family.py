"""One family of networks, and what each bound on the risk says of it: shared by the figures that vary a bound.

Layered ReLU, Λ_{k,k-1} = n_{k-1}^(-1/2) at the widths and p = 2 of the default `Setting`, so that Π Λ N_k^(1/q) = 1 and
|h| <= M_k = 1, which Theorem 1 takes for granted. All mixture weight is on the top layer, ||Ψ||_inf <= 1, and every
training margin of f/W exceeds ρ: the loss terms are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from adanet_theory import generalization, posterior, rademacher
from adanet_theory.margin import ETA, MarginBound
from adanet_theory.spec import NetworkSpec

N_0 = 144
WIDTH = 16
DELTA = 0.05


@dataclass(frozen=True)
class Setting:
    """What a figure varies. The weight bounds stay what they are at p = 2 and width 16."""

    m: int = 100_000
    depth: int = 3
    rho: float = 0.1
    p: float = 2.0
    width: int = WIDTH

    @property
    def spec(self) -> NetworkSpec:
        return _spec(self.depth, self.p, self.width)

    @property
    def w_norms(self) -> list[float]:
        return self.on_top(1.0)

    @property
    def ranges(self) -> list[float]:
        return _ranges(self.depth, self.p, self.width)

    def on_top(self, value: float) -> list[float]:
        """The value at layer l and 0 below, where no mixture weight is."""
        return [0.0] * (self.depth - 1) + [value]


# A search for the least m asks for the same family a hundred times.


@cache
def _spec(depth: int, p: float, width: int) -> NetworkSpec:
    n = (N_0, *[width] * depth)
    return NetworkSpec.layered(n, [N_0**-0.5, *[WIDTH**-0.5] * (depth - 1)], p)


@cache
def _ranges(depth: int, p: float, width: int) -> list[float]:
    return rademacher.ranges(_spec(depth, p, width), r_sup=1.0)


@cache
def _path_norm(depth: int, p: float, width: int) -> float:
    """The largest path norm of a member, B = P_l: ||u||_1 <= n^(1/q) ||u||_p."""
    return rademacher.peeling_factors(_spec(depth, p, width))[-1][0]


def is_in_range(setting: Setting) -> bool:
    """|h| <= 1 on every H_k, without which Theorem 1 and Corollary 1 are not proved."""
    return max(setting.ranges) <= 1


def is_possible(setting: Setting) -> bool:
    """A member with all margins of f/W above ρ exists only if ρ < M_l."""
    return setting.rho < setting.ranges[-1]


def margins(count: int) -> list[float]:
    """ρ from 0.01 to just under 1, the range of the default family; among them 0.1 if count is odd."""
    return [*np.logspace(-2, 0, count)[:-1].tolist(), 0.99]


def _printed(setting: Setting) -> list[float]:
    """R_m(H_l) by Lemma 2 as printed."""
    return setting.on_top(rademacher.layered_complexity(setting.spec, setting.depth, m=setting.m, r_inf=1.0))


def _peeled(setting: Setting) -> list[float]:
    """R_m(H_l) by lemma-2-peeled."""
    return setting.on_top(rademacher.peeled_complexity(setting.spec, setting.depth, m=setting.m, r_rms=1.0))


def _index(scale: float, rho: float) -> int:
    """The least j with ρ_j = scale/(1+η)^j <= ρ, so that the loss at ρ_j is 0 too."""
    return math.ceil(math.log(scale / rho) / math.log1p(ETA))


def corollary_1(setting: Setting) -> MarginBound:
    return generalization.corollary_1(
        setting.spec, 0.0, setting.w_norms, rho=setting.rho, m=setting.m, delta=DELTA, r_inf=1.0, literally=True
    )


def theorem_1(setting: Setting) -> MarginBound:
    """Theorem 1 over Lemma 2, both as printed."""
    return generalization.theorem_1(
        0.0, setting.w_norms, _printed(setting), rho=setting.rho, m=setting.m, delta=DELTA, literally=True
    )


def theorem_1_range(setting: Setting) -> MarginBound:
    """Theorem 1 with its range repaired, over lemma-2-peeled."""
    return generalization.theorem_1_range(
        0.0, setting.w_norms, _peeled(setting), rho=setting.rho, m=setting.m, delta=DELTA, M=max(setting.ranges)
    )


def margin_bound(setting: Setting) -> MarginBound:
    return generalization.margin_bound(
        0.0, setting.w_norms, _peeled(setting), rho=setting.rho, m=setting.m, delta=DELTA, M=max(setting.ranges)
    )


def margin_bound_uniform(setting: Setting) -> MarginBound:
    M = setting.ranges
    return generalization.margin_bound_uniform_at(
        _index(M[-1], setting.rho), 0.0, setting.w_norms, _peeled(setting), m=setting.m, delta=DELTA, M=M
    )


def a_posteriori_bounded(setting: Setting) -> MarginBound:
    """At the largest path norm of a member."""
    B = _path_norm(setting.depth, setting.p, setting.width)
    return posterior.a_posteriori_bounded_at(
        _index(B, setting.rho), 0.0, B, d=setting.depth - 1, n_0=N_0, r_sup=1.0, m=setting.m, delta=DELTA
    )


PRINTED = ("corollary-1", "theorem-1")
BOUNDS: dict[str, Callable[[Setting], MarginBound]] = {
    "corollary-1": corollary_1,
    "theorem-1": theorem_1,
    "theorem-1-range": theorem_1_range,
    "margin-bound-uniform": margin_bound_uniform,
    "a-posteriori-bounded": a_posteriori_bounded,
    "margin-bound": margin_bound,
}
LABELS = {
    "corollary-1": "Corollary 1, printed",
    "theorem-1": "Theorem 1, printed",
    "theorem-1-range": "Theorem 1, range mended",
    "margin-bound-uniform": "margin-bound-uniform",
    "a-posteriori-bounded": "a-posteriori-bounded",
    "margin-bound": "margin-bound",
}
