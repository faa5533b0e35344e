"""The certificates of this network, after the fact: the best setting of the paid grid, then its value rounded outward.

They are about networks that are linear in Ψ. Features are divided by r_sup, known beforehand, so that |x| <= 1:
f(Ψ) = r_sup f(x), and the margins are y f/(B r_sup).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adanet_theory.catalogue import Bound
from verify.measure.evidence import arrays
from verify.records.results import About
from verify.rows.setting import CertificateParts, RowValue, Setting


def certificates(setting: Setting) -> dict[str, CertificateParts]:
    """What can be computed, by id, whether it applies or not; f = 0 and features beyond r_sup have none."""
    if not setting.is_linear or setting.W == 0 or setting.sizes.r_inf == 0 or setting.sizes.r_inf > setting.r:
        return {}
    return _classes(setting) if setting.classes == "many" else _linear(setting)


def certificate(bound: Bound, setting: Setting) -> RowValue:
    """A certificate at the setting's δ."""
    if bound.id not in setting.certified:
        zero = setting.W == 0 or setting.sizes.r_inf == 0
        return RowValue(1.0 if zero else None)
    known = setting.certified[bound.id]
    value = known.parts.at(setting.delta)
    about: About = "program" if known.tied else "formula"
    return RowValue(value.raw, dict(value.terms), m_needed=known.m_needed if value.is_vacuous else None, about=about)


# Networks that are linear in Ψ


def _linear(setting: Setting) -> dict[str, CertificateParts]:
    from adanet_theory.twins.outward import linear_weights

    assert setting.layers is not None
    hidden, (w,) = arrays(setting.layers)
    v = linear_weights(hidden, w, depth=setting.layers.depth)
    if all(x == 0 for x in v):
        return {}
    return {"vote-certificate": _vote(setting, v)}


def _vote(setting: Setting, v: list[Any]) -> CertificateParts:
    from adanet_theory.certificates.derandomise import m_needed
    from adanet_theory.certificates.vote import vote_candidates, vote_setting
    from adanet_theory.twins import outward

    theta = np.array([float(x) for x in outward.simplex(v)])
    B = sum(abs(x) for x in v)
    u = _margins(setting, B)
    n, delta = 2 * len(v), setting.float_delta
    table = vote_candidates(u, theta / theta.sum(), n=n)
    N, k, beta = vote_setting(u, table, delta=delta)
    parts = outward.vote_parts(u, v, n=n, N=N, k=k, beta=beta, shift=_shift(setting, B))
    return CertificateParts(parts, m_needed(table, delta), tied=setting.shift is not None)


def _shift(setting: Setting, B: Any) -> float:
    """How far the margins y f/(B r_sup) of the program are from the formula's, at most; 0 where it is not tied."""
    from adanet_theory.twins import outward, tails

    if setting.shift is None:
        return 0.0
    return min(1.0, tails.up(outward.exact_ball(setting.shift) / (B * outward.exact_ball(setting.r))))


def _margins(setting: Setting, B: Any) -> np.ndarray:
    """Floats not above y_i f(x_i)/(B r_sup), in [-1, 1]."""
    from adanet_theory.twins import outward

    u = outward.lower_margins(setting.margins.lower, B * outward.exact_ball(setting.r))
    return np.clip(u, -1.0, 1.0)


# C classes, linear in Ψ


def _classes(setting: Setting) -> dict[str, CertificateParts]:
    """At the better of two representations: the network's weights, or those less their median over the classes.

    What is subtracted from all outputs moves no margin, and theta may be chosen after seeing the sample.
    """
    from adanet_theory.certificates.derandomise import least, m_needed
    from adanet_theory.twins.outward import classes_parts

    x, y = np.asarray(setting.Psi) / float(setting.r), setting.margins.y
    tables = [(v, _class_candidates(v, x, y)) for v in _class_weights(setting) if any(u != 0 for row in v for u in row)]
    if not tables:
        return {}
    m, delta = setting.m, setting.float_delta
    v, table = min(tables, key=lambda entry: least(entry[1], m, delta)[0])
    _, N, k, beta = least(table, m, delta)
    shift = _shift(setting, sum(abs(u) for row in v for u in row))
    parts = classes_parts(v, x, y, N=N, k=k, beta=beta, shift=shift)
    certified = CertificateParts(parts, m_needed(table, delta), tied=setting.shift is not None)
    return {"vote-certificate-multiclass": certified}


def _class_weights(setting: Setting) -> list[list[list[Any]]]:
    """v_c as balls, one row for each class: as they are, and less the median of every column."""
    import flint

    from adanet_theory.twins.outward import exact_bits, linear_weights

    assert setting.layers is not None
    hidden, outputs = arrays(setting.layers)
    v = [linear_weights(hidden, w, depth=setting.layers.depth) for w in outputs]
    with flint.ctx.workprec(exact_bits(setting.layers.depth)):
        medians = [sorted(column, key=float)[len(column) // 2] for column in zip(*v, strict=True)]
        centred = [[x - a for x, a in zip(row, medians, strict=True)] for row in v]
    return [v, centred]


def _class_candidates(v: list[list[Any]], x: np.ndarray, y: np.ndarray) -> list[Any]:
    from adanet_theory.certificates.vote_multiclass import classes_candidates

    q = np.array([[float(value) for value in row] for row in v])
    q = q / np.abs(q).sum()
    p = np.abs(q).sum(axis=1)
    return classes_candidates(np.clip(x @ q.T, -p, p), y, np.abs(q[q != 0]), p, A=2 * q.size)
