"""a-posteriori: a bound for any trained network whose activations are positively homogeneous.

It holds for every depth, width, weight and margin at once, without a family declared beforehand. It reads d hidden
layers, n_0 features and the path norm B of the network; f/B lies in the hull of a width-free class. The activations
may be ReLU, leaky ReLU (|a| <= 1), |x| and the identity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.checks import Array, check, check_nonnegative, check_risk, finite
from adanet_theory.risk.margin import ETA, PRIOR, MarginBound, best_margin, growth


def path_norm(hidden: Mapping[tuple[int, int], Array], output: Mapping[int, Array], *, depth: int) -> float:
    """B: the path norm of f after its last two linear maps are collapsed into one.

        f = v_0 · Ψ + Σ_{s=1..l-1} v_s · φ(h_s),   v_0 = U_{1,0}^T w_1,   v_s = Σ_{k>s} U_{k,s}^T w_k
        P_{1,i} = ||u_{1,i}||_1,   P_{k,i} = Σ_{s<k} Σ_t |u_{k,s,i,t}| P_{s,t}
        B = ||v_0||_1 + Σ_{s,i} |v_{s,i}| P_{s,i}

    Parameters
    ----------
    hidden
        Weight matrices U_{k,s} by (k, s): one row for each unit of layer k.
    output
        Output weights w_k by layer k.
    depth
        Number of layers l; layers 1, .., l-1 pass through an activation.

    Returns
    -------
    float
        B, >= 0.

    Raises
    ------
    OverflowError
        If B exceeds the largest float.

    Examples
    --------
    >>> hidden = {(1, 0): np.array([[1.0, -2.0], [0.5, 0.5]]), (2, 1): np.array([[1.0, -1.0]])}
    >>> path_norm(hidden, {2: np.array([2.0])}, depth=2)
    8.0
    """
    paths: dict[int, Array] = {}
    for k in range(1, depth):
        if k == 1:
            reads = [np.abs(hidden[1, 0]).sum(axis=1)] if (1, 0) in hidden else []
        else:
            reads = [np.abs(hidden[k, s]) @ paths[s] for s in range(1, k) if (k, s) in hidden and s in paths]
        if reads:
            paths[k] = np.sum(reads, axis=0)
    total = 0.0
    for s in range(depth):
        collapsed = [hidden[k, s].T @ output[k] for k in range(s + 1, depth + 1) if (k, s) in hidden and k in output]
        if collapsed and (s == 0 or s in paths):
            v = np.abs(np.sum(collapsed, axis=0))
            total += float(v.sum() if s == 0 else v @ paths[s])
    return finite(total, "the path norm")


def a_posteriori(
    margins: ArrayLike, B: float, *, d: int, n_0: int, r_rms: float, delta: float, c: float = 1.5, eta: float = ETA
) -> MarginBound:
    """a-posteriori at the best j for the margins y_i f(x_i); Ψ may be unbounded.

    Parameters
    ----------
    margins
        Margins y_i f(x_i) of the m points, not normalised.
    B
        Path norm of f after its last two linear maps are collapsed (`path_norm`); 0 is the zero function.
    d
        Number of hidden layers, >= 0.
    n_0
        Number of features, the length of Ψ(x), >= 1.
    r_rms
        max_j sqrt(Σ_i Ψ_j(x_i)²/m), the largest root mean square of a feature, >= 0.
    delta
        Probability in (0, 1) with which the statement may fail.
    c
        Largest `Activation.peeling` over the layers, >= 1; 3/2 is that of ReLU.
    eta
        Ratio of the grid of margins minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = a_posteriori([1.0] * 9600, 3.0, d=1, n_0=154, r_rms=1.0, delta=0.05)
    >>> bound.j, round(bound.value, 6)
    (23, 0.278531)
    """
    m = len(np.asarray(margins))
    at = partial(a_posteriori_at, B=B, d=d, n_0=n_0, r_rms=r_rms, m=m, delta=delta, c=c, eta=eta)
    return best_margin("a-posteriori", margins, B, at, eta=eta)


def a_posteriori_bounded(
    margins: ArrayLike, B: float, *, d: int, n_0: int, r_sup: float, delta: float, c: float = 1.5, eta: float = ETA
) -> MarginBound:
    """a-posteriori-bounded at the best j, with a bound r_sup on ||Ψ||_inf known beforehand.

    Parameters
    ----------
    margins
        Margins y_i f(x_i) of the m points, not normalised.
    B
        Path norm of f after its last two linear maps are collapsed (`path_norm`); 0 is the zero function.
    d
        Number of hidden layers, >= 0.
    n_0
        Number of features, the length of Ψ(x), >= 1.
    r_sup
        A bound on ||Ψ(x)||_inf for every x, known before the sample, >= 0.
    delta
        Probability in (0, 1) with which the statement may fail.
    c
        Largest `Activation.peeling` over the layers, >= 1; 3/2 is that of ReLU.
    eta
        Ratio of the grid of margins minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> bound = a_posteriori_bounded([1.0] * 9600, 3.0, d=1, n_0=154, r_sup=1.0, delta=0.05)
    >>> bound.j, round(bound.value, 6)
    (23, 0.25356)
    """
    m = len(np.asarray(margins))
    at = partial(a_posteriori_bounded_at, B=B, d=d, n_0=n_0, r_sup=r_sup, m=m, delta=delta, c=c, eta=eta)
    return best_margin("a-posteriori-bounded", margins, B, at, eta=eta)


def a_posteriori_at(
    j: int,
    ramp: float,
    B: float,
    *,
    d: int,
    n_0: int,
    r_rms: float,
    m: int,
    delta: float,
    c: float = 1.5,
    eta: float = ETA,
) -> MarginBound:
    """a-posteriori at one j, with the ramp of f at ρ_j = B/(1+η)^j.

        R(f) <= ramp_{ρ_j}(f) + 2 (1+η)^j r_rms sqrt( 2 log(2 n_0 A_d)/m )
                + 2 sqrt( [log(1/δ) + log((d+1)(d+2)) + log(π²/3-1) + 2 log(|j|+1)] / (2m) )
        A_0 = 1,   A_d = 1 + c (1+c)^(d-1)

    c is Activation.peeling, the largest over the layers: 3/2 for ReLU, summed if activations share a level.

    >>> round(a_posteriori_at(48, 0.0, 1.0, d=1, n_0=154, r_rms=1.0, m=9600, delta=0.05).value, 12)
    0.826920502923
    """
    _check(ramp, B, d, n_0, r_rms, m, delta, c)
    terms = {
        "ramp": ramp,
        "complexity": _complexity("a-posteriori", j, d, n_0, r_rms, m, c, eta),
        # 2, not 1: the empirical complexity of the loss class has to concentrate too.
        "confidence": 2 * _confidence(j, d, m, delta),
    }
    return MarginBound("a-posteriori", terms, B / growth(eta, j, "a-posteriori"), j)


def a_posteriori_bounded_at(
    j: int,
    ramp: float,
    B: float,
    *,
    d: int,
    n_0: int,
    r_sup: float,
    m: int,
    delta: float,
    c: float = 1.5,
    eta: float = ETA,
) -> MarginBound:
    """a-posteriori-bounded at one j: r_sup replaces r_rms, and 1 the leading 2 of the last term.

    >>> round(a_posteriori_bounded_at(48, 0.0, 1.0, d=1, n_0=154, r_sup=1.0, m=9600, delta=0.05).value, 12)
    0.80050275856
    """
    _check(ramp, B, d, n_0, r_sup, m, delta, c)
    terms = {
        "ramp": ramp,
        "complexity": _complexity("a-posteriori-bounded", j, d, n_0, r_sup, m, c, eta),
        "confidence": _confidence(j, d, m, delta),
    }
    return MarginBound("a-posteriori-bounded", terms, B / growth(eta, j, "a-posteriori-bounded"), j)


def a_posteriori_data_at(
    j: int,
    ramp: float,
    B: float,
    *,
    d: int,
    E_Z: float,
    r_rms: float,
    m: int,
    delta: float,
    c: float = 1.5,
    eta: float = ETA,
) -> MarginBound:
    """a-posteriori with the complexity of the sample's own features, in place of the worst case with the same r_rms.

        E sup |Σ_i σ_i f(x_i)| <= B ( E Z_1 + sqrt(4 m r_rms^2 log A_d) ),   Z_1 = max_j |Σ_i σ_i Ψ_j(x_i)|

    in place of B r_rms sqrt(2 m log(2 n_0 A_d)); `E_Z` is E Z_1 = m R_S(H_1) at Λ = 1, p = 1, or an upper value of it.

    Parameters
    ----------
    j
        Index of the margin ρ_j = B/(1+η)^j.
    ramp
        Mean ramp loss of f at ρ_j = B/(1+η)^j, in [0, 1].
    B
        Path norm of f after its last two linear maps are collapsed (`path_norm`), > 0.
    d
        Number of hidden layers, >= 0.
    E_Z
        E Z_1, or an upper value of it, >= 0.
    r_rms
        max_j sqrt(Σ_i Ψ_j(x_i)²/m), the largest root mean square of a feature, >= 0.
    m
        Number of points in the sample, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.
    c
        Largest `Activation.peeling` over the layers, >= 1; 3/2 is that of ReLU.
    eta
        Ratio of the grid of margins minus 1, > 0, fixed before the sample.

    Returns
    -------
    MarginBound
        The bound term by term; `.value` is at most 1.

    Examples
    --------
    >>> round(a_posteriori_data_at(48, 0.0, 1.0, d=0, E_Z=150.0, r_rms=1.0, m=9600, delta=0.05).terms["complexity"], 9)
    0.325039676
    """
    _check(ramp, B, d, 1, r_rms, m, delta, c)
    check_nonnegative("E Z_1", E_Z)
    spread = math.sqrt(4 * m * r_rms**2 * _log_A(d, c))
    complexity = finite(2 * growth(eta, j, "a-posteriori-data") * (E_Z + spread) / m, "a-posteriori-data")
    terms = {"ramp": ramp, "complexity": complexity, "confidence": 2 * _confidence(j, d, m, delta)}
    return MarginBound("a-posteriori-data", terms, B / growth(eta, j, "a-posteriori-data"), j)


def _check(ramp: float, B: float, d: int, n_0: int, r: float, m: int, delta: float, c: float) -> None:
    check_risk(ramp, m, delta)
    check(0 < B < math.inf, f"B must be finite and > 0, got B={B}.")
    check(d >= 0, f"d must be >= 0, got d={d}.")
    check(n_0 >= 1, f"n_0 must be >= 1, got n_0={n_0}.")
    check_nonnegative("the bound on Psi", r)
    check(1 <= c < math.inf, f"c must be >= 1, got c={c}.")


def _complexity(id: str, j: int, d: int, n_0: int, r: float, m: int, c: float, eta: float) -> float:
    """2 (1+η)^j r sqrt(2 log(2 n_0 A_d)/m)."""
    return finite(2 * growth(eta, j, id) * r * math.sqrt(2 * (math.log(2 * n_0) + _log_A(d, c)) / m), id)


def _log_A(d: int, c: float) -> float:
    """log A_d: A_0 = 1, A_d = 1 + c (1+c)^(d-1)."""
    return 0.0 if d == 0 else float(np.logaddexp(0.0, math.log(c) + (d - 1) * math.log1p(c)))


def _confidence(j: int, d: int, m: int, delta: float) -> float:
    """sqrt(log(1/δ') / (2m)), δ' = δ times the priors 1/((d+1)(d+2)) of d and 1/((π²/3-1)(|j|+1)²) of j."""
    log_inverse = math.log(1 / delta) + math.log((d + 1) * (d + 2)) + math.log(PRIOR) + 2 * math.log(abs(j) + 1)
    return math.sqrt(log_inverse / (2 * m))
