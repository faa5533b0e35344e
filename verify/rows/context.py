"""Other people's complexities at this network's norms: context for the reader of a report, never a claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from adanet_theory import catalogue
from adanet_theory.checks import Array, finite
from adanet_theory.complexity import related
from adanet_theory.norms import conjugate, norms
from adanet_theory.quantities import evaluate
from adanet_theory.risk.margin import MarginBound
from verify.measure.evidence import Weights
from verify.results import BoundRow
from verify.rows.assumptions import Setting
from verify.rows.numeric import AtRho, quantities

ROUNDED_UP = 1 + 2.0**-40


def stack(weights: Weights) -> list[Array] | None:
    """f as W_l φ(W_{l-1} φ(.. W_1 Ψ)) with a single last row w_l^T U_{l,l-1}; None if f reads more than that."""
    depth = weights.depth
    plain = all(s == k - 1 or not U.any() for (k, s), U in weights.hidden.items())
    top = all(k == depth or not w.any() for k, w in weights.output.items())
    whole = all((k, k - 1) in weights.hidden for k in range(1, depth + 1)) and depth in weights.output
    if not (plain and top and whole):
        return None
    maps = [weights.hidden[k, k - 1] for k in range(1, depth + 1)]
    return [*maps[:-1], (weights.output[depth] @ maps[-1])[None]]


def context(setting: Setting, at: AtRho) -> list[BoundRow]:
    """The standard margin bound with the complexities of Golowich et al. and Neyshabur et al., for f/W; of one f.

    Of C classes the bound for ensembles that the paper names for the extension, with its factor C.
    """
    if setting.classes == "many":
        return [_of_classes(setting, at)]
    return [_row(id, setting, at) for id in COMPLEXITIES]


def _of_classes(setting: Setting, at: AtRho) -> BoundRow:
    """A unit that one class reads scores (x, y) by 1{y = c} h(x), so that R_m(Π_1(H_k)) = R_m(H_k)."""
    bound = catalogue.bound("kuznetsov-mohri-syed")
    met = {"range": setting.ranges is not None and setting.ranges.M <= 1, "depth": setting.spec.depth >= 2}
    why_not = tuple(need for need in bound.needs if not met.get(need, False))
    nothing = BoundRow(bound.id, None, None, {}, False, why_not, True, float(at.rho), group="context")
    if setting.W == 0 or setting.weights.graph is not None or not met["depth"]:
        return nothing
    try:
        found = evaluate(bound, quantities(setting, at))
    except (OverflowError, ValueError):
        return nothing
    terms = {name: term * ROUNDED_UP for name, term in found.terms.items() if term is not None}
    raw = math.fsum(terms.values())
    return BoundRow(bound.id, raw, None, terms, False, why_not, raw >= 1, found.rho, group="context")


def _row(id: str, setting: Setting, at: AtRho) -> BoundRow:
    maps = stack(setting.weights)
    why_not = tuple(need for need in catalogue.bound(id).needs if need != "layered" or maps is None)
    nothing = BoundRow(id, None, None, {}, False, why_not, True, float(at.rho), group="context")
    if maps is None or setting.W == 0:
        return nothing
    try:
        bound = _bound(id, maps, setting, at)
        raw = bound.raw
    except OverflowError:
        return nothing
    assert raw is not None
    return BoundRow(id, raw, None, dict(bound.terms), False, why_not, raw >= 1, bound.rho, group="context")


def _frobenius(maps: list[Array], setting: Setting) -> float:
    square_norms = finite(float(np.sum(norms(setting.margins.Psi, 2.0) ** 2)), "golowich-frobenius")
    return related.golowich_frobenius([float(np.linalg.norm(U)) for U in maps], m=setting.m, square_norms=square_norms)


def _l1(maps: list[Array], setting: Setting) -> float:
    sizes = [float(norms(U, 1.0).max()) for U in maps]
    column = finite(setting.m * np.square(setting.sizes.r_rms), "golowich-l1")
    return related.golowich_l1(sizes, n_0=setting.weights.n[0], m=setting.m, largest_column=column)


def _group(maps: list[Array], setting: Setting) -> float:
    p = min(setting.spec.p, 2.0)
    sizes = [float(norms(U, p).max()) for U in maps]
    width = max([len(U) for U in maps[:-1]], default=1)
    r = float(norms(setting.margins.Psi, conjugate(p)).max())
    return related.neyshabur_group(sizes, p=p, width=width, n_0=setting.weights.n[0], m=setting.m, r=r)


COMPLEXITIES: dict[str, Callable[[list[Array], Setting], float]] = {
    "golowich-frobenius": _frobenius,
    "golowich-l1": _l1,
    "neyshabur-group": _group,
}
"""By their ids in the catalogue."""


def _bound(id: str, maps: list[Array], setting: Setting, at: AtRho) -> MarginBound:
    R = COMPLEXITIES[id](maps, setting)
    error, delta = float(at.margin_error), setting.float_delta
    per_W = R / float(setting.W) * ROUNDED_UP
    bound = related.standard_margin_bound(id, error, per_W, rho=float(at.rho), m=setting.m, delta=delta)
    rounded = {name: term * ROUNDED_UP for name, term in bound.terms.items() if term is not None}
    # A count over m needs no more than its own float, and 1 is not to be printed as 1.001.
    error = error if Fraction(error) >= at.margin_error else math.nextafter(error, 1.0)
    return MarginBound(id, rounded | {"margin_error": error}, bound.rho)
