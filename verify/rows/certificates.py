"""The certificates of this network, after the fact: the best setting of the paid grid, then its value rounded outward.

Features are divided by r_sup, known beforehand, so that |x| <= 1: f(Ψ) = r_sup f(x) for a homogeneous network, and the
margins are y f/(B r_sup).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from verify.results import BoundRow, TestFacts
from verify.rows import bounds
from verify.rows.assumptions import Assessment, Setting

if TYPE_CHECKING:
    from adanet_theory.twins.outward import Parts


@dataclass(frozen=True)
class Found:
    """A certificate at its best setting but for δ, and the m that would be enough where it is vacuous."""

    parts: Parts
    m_needed: int | None


def certificates(setting: Setting, seed: int) -> dict[str, Found]:
    """What can be computed, by id, whether it applies or not; f = 0 and features beyond r_sup have none."""
    if setting.W == 0 or setting.sizes.r_inf == 0 or setting.sizes.r_inf > setting.r:
        return {}
    if setting.classes == "many":
        return _classes(setting) if setting.is_linear else _class_paths(setting, seed)
    if setting.is_linear:
        return _linear(setting)
    tree = setting.tree
    return {} if tree is None else {"path-certificate": _path(setting, tree, seed)}


def certificate_rows(setting: Setting, found: Mapping[str, Found], verdict: Assessment) -> list[BoundRow]:
    wanted = [bound for bound in catalogue.of_group("certificate") if bound.classes == setting.classes and bound.quoted]
    return [row(bound, setting, found, verdict) for bound in wanted]


def row(bound: Bound, setting: Setting, found: Mapping[str, Found], verdict: Assessment) -> BoundRow:
    """The row of a certificate at the setting's δ."""
    why_not = verdict.why_not(bound)
    if bound.id not in found:
        zero = setting.W == 0 or setting.sizes.r_inf == 0
        return bounds.row(bound, {}, 1.0 if zero else None, why_not, None)
    certificate = found[bound.id].parts.at(setting.delta, networks=setting.compared)
    m_needed = found[bound.id].m_needed if certificate.is_vacuous else None
    return bounds.row(bound, dict(certificate.terms), certificate.raw, why_not, None, m_needed=m_needed)


def held_out_row(test: TestFacts, errors: int, verdict: Assessment) -> BoundRow:
    bound = catalogue.bound("held-out")
    terms: dict[str, float | None] = {"errors": errors, "points": test.n}
    return replace(bounds.row(bound, terms, test.upper, verdict.why_not(bound), None), about="program")


# Networks that are linear in Ψ


def _linear(setting: Setting) -> dict[str, Found]:
    from adanet_theory.twins.exact_tree import linear_weights

    weights = setting.weights
    v = linear_weights(weights.hidden, weights.output, depth=weights.depth)
    if all(x == 0 for x in v):
        return {}
    return {"vote-certificate": _vote(setting, v), "gauss-certificate": _gauss(setting, v)}


def _vote(setting: Setting, v: list[Any]) -> Found:
    from adanet_theory.certificates.derandomise import m_needed
    from adanet_theory.certificates.vote import vote_candidates, vote_setting
    from adanet_theory.twins import outward

    theta = np.array([float(x) for x in outward.simplex(v)])
    u = _margins(setting, sum(abs(x) for x in v))
    n, delta = 2 * len(v), setting.float_delta
    table = vote_candidates(u, theta / theta.sum(), n=n)
    N, k, beta = vote_setting(u, table, delta=delta)
    return Found(outward.vote_parts(u, v, n=n, N=N, k=k, beta=beta), m_needed(table, delta))


def _margins(setting: Setting, B: Any) -> np.ndarray:
    """Floats not above y_i f(x_i)/(B r_sup), in [-1, 1]."""
    from adanet_theory.twins import outward

    found = outward.lower_margins(setting.margins.lower, B * outward.exact_ball(setting.r))
    return np.clip(found, -1.0, 1.0)


def _gauss(setting: Setting, v: list[Any]) -> Found:
    from adanet_theory.certificates.gauss import gauss_setting
    from adanet_theory.twins import outward

    margins, Psi = setting.margins.lower, setting.margins.Psi
    cosines = outward.lower_cosines(margins, Psi, v)
    tau, a = gauss_setting(cosines, np.isfinite(cosines).astype(float), 1.0, delta=setting.float_delta)
    return Found(outward.gauss_parts(margins, Psi, v, a=a, tau=tau), None)


# C classes, linear in Ψ


def _classes(setting: Setting) -> dict[str, Found]:
    """At the better of two representations: the network's weights, or those less their median over the classes.

    What is subtracted from all outputs moves no margin, and theta may be chosen after seeing the sample.
    """
    from adanet_theory.certificates.derandomise import least, m_needed
    from adanet_theory.twins.outward import classes_parts

    x, y = setting.margins.Psi / float(setting.r), setting.margins.y
    tables = [(v, _class_candidates(v, x, y)) for v in _class_weights(setting) if any(u != 0 for row in v for u in row)]
    if not tables:
        return {}
    m, delta = setting.m, setting.float_delta
    v, table = min(tables, key=lambda entry: least(entry[1], m, delta)[0])
    _, N, k, beta = least(table, m, delta)
    return {"vote-certificate-multiclass": Found(classes_parts(v, x, y, N=N, k=k, beta=beta), m_needed(table, delta))}


def _class_weights(setting: Setting) -> list[list[list[Any]]]:
    """v_c as balls, one row for each class: as they are, and less the median of every column."""
    import flint

    from adanet_theory.twins.exact_tree import exact_bits, linear_weights

    weights = setting.weights
    columns = [{k: w[:, c] for k, w in weights.output.items()} for c in range(weights.outputs or 0)]
    v = [linear_weights(weights.hidden, output, depth=weights.depth) for output in columns]
    with flint.ctx.workprec(exact_bits(weights.depth)):
        medians = [sorted(column, key=float)[len(column) // 2] for column in zip(*v, strict=True)]
        centred = [[x - a for x, a in zip(row, medians, strict=True)] for row in v]
    return [v, centred]


def _class_candidates(v: list[list[Any]], x: np.ndarray, y: np.ndarray) -> list[Any]:
    from adanet_theory.certificates.vote_multiclass import classes_candidates

    q = np.array([[float(value) for value in row] for row in v])
    q = q / np.abs(q).sum()
    p = np.abs(q).sum(axis=1)
    return classes_candidates(np.clip(x @ q.T, -p, p), y, np.abs(q[q != 0]), p, A=2 * q.size)


# Networks with hidden units


def _path(setting: Setting, tree: Any, seed: int) -> Found:
    from adanet_theory.certificates.derandomise import least, m_needed
    from adanet_theory.certificates.path import SAMPLED, path_candidates
    from adanet_theory.twins.outward import path_parts

    x, y = setting.margins.Psi / float(setting.r), setting.margins.y
    delta = (1 - SAMPLED) * setting.float_delta
    table = path_candidates(tree.rounded(), x, y, seed=seed)
    value, N, k, beta = least(table, len(y), delta)
    draws = _draws(value, len(y), len(tree.parent))
    return Found(path_parts(tree, x, y, N=N, k=k, beta=beta, seed=seed, draws=draws), m_needed(table, delta))


def _draws(value: float, m: int, nodes: int) -> int:
    """The time of a few nodes, however many there are; no more than one draw each where nothing is to be had."""
    from adanet_theory.certificates.path import DRAWS

    return max(m, min(DRAWS, 300 * m) * 5 // max(5, nodes)) if value < 1.1 else m


def _class_paths(setting: Setting, seed: int) -> dict[str, Found]:
    """At the better of the network's own trees and those without what all classes have in common."""
    from adanet_theory.certificates.derandomise import least, m_needed
    from adanet_theory.certificates.path import SAMPLED
    from adanet_theory.certificates.path_multiclass import path_classes_candidates
    from adanet_theory.twins.outward import path_classes_parts

    x, y = setting.margins.Psi / float(setting.r), setting.margins.y
    delta = (1 - SAMPLED) * setting.float_delta
    tables = [(forest, path_classes_candidates(forest.rounded(), x, y, seed=seed)) for forest in setting.forests]
    if not tables:
        return {}
    forest, table = min(tables, key=lambda entry: least(entry[1], len(y), delta)[0])
    value, N, k, beta = least(table, len(y), delta)
    draws = _draws(value, len(y), forest.nodes)
    parts = path_classes_parts(forest, x, y, N=N, k=k, beta=beta, seed=seed, draws=draws)
    return {"path-certificate-multiclass": Found(parts, m_needed(table, delta))}
