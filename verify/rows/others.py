"""Statements of others: complexities at this network's norms, never a claim, and what a user registered.

The numbers of a registered bound are those of its own function, in floats; what its record only `assumes` is named
beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from adanet_theory.catalogue import Bound
from adanet_theory.checks import Array, finite
from adanet_theory.norms import conjugate, norms
from adanet_theory.risk import related
from adanet_theory.risk.margin import MarginBound
from adanet_theory.risk.quantities import NoValue, evaluate
from adanet_train.data.disk import Joined, slices
from verify.measure.evidence import arrays
from verify.rows.numeric import quantities
from verify.rows.setting import AT_RHO, AtRho, RowValue, Setting

if TYPE_CHECKING:
    from adanet_train.core.network import Network

ROUNDED_UP = 1 + 2.0**-40


def chain(layers: Network) -> list[Array] | None:
    """f as W_l φ(W_{l-1} φ(.. W_1 Ψ)) with a single last row w_l^T U_{l,l-1}; None if f reads more than that."""
    depth = layers.depth
    hidden, (output,) = arrays(layers)
    plain = all(s == k - 1 or not U.any() for (k, s), U in hidden.items())
    top = all(k == depth or not w.any() for k, w in output.items())
    whole = all((k, k - 1) in hidden for k in range(1, depth + 1)) and depth in output
    if not (plain and top and whole):
        return None
    maps = [hidden[k, k - 1] for k in range(1, depth + 1)]
    return [*maps[:-1], (output[depth] @ maps[-1])[None]]


def context(bound: Bound, setting: Setting) -> RowValue:
    """The standard margin bound with the complexities of Golowich et al. and Neyshabur et al., for f/W; of one f.

    For C classes the bound for ensembles that the paper names for the extension, with its factor C.
    """
    assert setting.at is not None
    return (
        _of_classes(bound, setting, setting.at) if bound.id not in COMPLEXITIES else _of_one(bound, setting, setting.at)
    )


def _of_classes(bound: Bound, setting: Setting, at: AtRho) -> RowValue:
    """A unit that one class reads scores (x, y) by 1{y = c} h(x), so that R_m(Π_1(H_k)) = R_m(H_k)."""
    met = {"range": setting.ranges is not None and setting.ranges.M <= 1, "depth": setting.spec.depth >= 2}
    why_not = tuple(need for need in bound.needs if not met.get(need, False))
    nothing = RowValue(rho=float(at.rho), why_not=why_not)
    if setting.W == 0 or setting.layers is None or not met["depth"]:
        return nothing
    try:
        evaluated = evaluate(bound, quantities(setting, at))
    except (OverflowError, ValueError):
        return nothing
    terms: dict[str, float | None] = {
        name: term * ROUNDED_UP for name, term in evaluated.terms.items() if term is not None
    }
    raw = math.fsum(term for term in terms.values() if term is not None)
    return RowValue(raw, terms, evaluated.rho, why_not=why_not)


def _of_one(bound: Bound, setting: Setting, at: AtRho) -> RowValue:
    maps = None if setting.layers is None else chain(setting.layers)
    why_not = tuple(need for need in bound.needs if need != "layered" or maps is None)
    nothing = RowValue(rho=float(at.rho), why_not=why_not)
    if maps is None or setting.W == 0:
        return nothing
    try:
        evaluated = _bound(bound.id, maps, setting, at)
        return RowValue(evaluated.raw, dict(evaluated.terms), evaluated.rho, why_not=why_not)
    except OverflowError:
        return nothing


def _frobenius(maps: list[Array], setting: Setting) -> float:
    square_norms = finite(float(np.sum(_norms(setting.Psi, 2.0) ** 2)), "golowich-frobenius")
    return related.golowich_frobenius([float(np.linalg.norm(U)) for U in maps], m=setting.m, square_norms=square_norms)


def _norms(Psi: Array, p: float) -> Array:
    """Those of the points; of rows on the disk some at a time."""
    parts = slices(*Psi.shape) if isinstance(Psi, Joined) else [slice(None)]
    return np.concatenate([norms(Psi[rows], p) for rows in parts])


def _l1(maps: list[Array], setting: Setting) -> float:
    sizes = [float(norms(U, 1.0).max()) for U in maps]
    column = finite(setting.m * np.square(setting.sizes.r_rms), "golowich-l1")
    return related.golowich_l1(sizes, n_0=setting.n[0], m=setting.m, largest_column=column)


def _group(maps: list[Array], setting: Setting) -> float:
    p = min(setting.spec.p, 2.0)
    sizes = [float(norms(U, p).max()) for U in maps]
    width = max([len(U) for U in maps[:-1]], default=1)
    r = float(_norms(setting.Psi, conjugate(p)).max())
    return related.neyshabur_group(sizes, p=p, width=width, n_0=setting.n[0], m=setting.m, r=r)


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


# Registered by the user

OF_A_FAMILY = frozenset({"spec", "w_norms", "R_m", "R_S", "M"})


def registered(bound: Bound, setting: Setting) -> RowValue:
    """The value that its own function gives.

    A graph has no family of layers, so a bound that reads one has no value.
    """
    if setting.layers is None and bound.reads & OF_A_FAMILY:
        return RowValue()
    try:
        evaluated = evaluate(bound, quantities(setting, setting.at))
    except NoValue as error:
        return RowValue(note=str(error))
    at = setting.at if bound.reads & AT_RHO else None
    fixed = f"{bound.id} takes rho = {float(at.rho):.4g} of f/W as fixed before the sample" if at is not None else ""
    note = "" if setting.verdict.rho_chosen else fixed
    return RowValue(evaluated.raw, dict(evaluated.terms), None if at is None else evaluated.rho, note=note)


def remark(bound: Bound) -> str:
    """Whose it is, and what it assumes."""
    source = f" ({bound.reference})" if bound.reference else ""
    taken = f", assuming {bound.assumes}, which is not checked here" if bound.assumes else ""
    return f"{bound.id} was registered by the user{source}{taken}; its numbers are those of its own function."
