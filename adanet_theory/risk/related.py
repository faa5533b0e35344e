"""Published complexities with their constants, for comparison in a report; they are never a claim about a network.

They need norms fixed beforehand and a plain layered network x -> W_d φ(W_{d-1} φ(.. W_1 x)) with d weight layers,
the last a single row. At norms measured after training they show an order of magnitude and prove nothing.

Golowich, Rakhlin, Shamir: Size-independent sample complexity of neural networks. COLT 2018.
Neyshabur, Tomioka, Srebro: Norm-based capacity control in neural networks. COLT 2015.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from adanet_theory.checks import check, check_m, check_nonnegative, check_rho, check_risk, finite, product
from adanet_theory.norms import conjugate
from adanet_theory.risk.margin import MarginBound


def _check_norms(norms: Sequence[float]) -> None:
    check(len(norms) >= 1, "the network must have at least one weight layer, got none.")
    for j, norm in enumerate(norms, start=1):
        check_nonnegative(f"the norm of W_{j}", norm)


def golowich_frobenius(norms: Sequence[float], *, m: int, square_norms: float) -> float:
    """Golowich, Rakhlin, Shamir 2018, Theorem 1: φ 1-Lipschitz and positively homogeneous, ||W_j||_F <= M_F(j).

        R_S <= (1/m) Π_j M_F(j) (sqrt(2 log(2) d) + 1) sqrt( Σ_i ||x_i||_2^2 )

    `square_norms` is Σ_i ||x_i||_2^2.

    Parameters
    ----------
    norms
        Frobenius norms M_F(1), .., M_F(d) of the weight layers, >= 0.
    m
        Number of points in the sample, >= 1.
    square_norms
        Σ_i ||x_i||_2².

    Returns
    -------
    float
        An upper value of R_S.

    Examples
    --------
    >>> round(golowich_frobenius([1.0, 1.0], m=100, square_norms=100.0), 6)
    0.266511
    """
    _check_norms(norms)
    check_m(m)
    check_nonnegative("sum of ||x||_2^2", square_norms)
    constant = math.sqrt(2 * math.log(2) * len(norms)) + 1
    return product([*norms, constant, math.sqrt(square_norms), 1 / m], "golowich-frobenius")


def golowich_l1(norms: Sequence[float], *, n_0: int, m: int, largest_column: float) -> float:
    """Golowich, Rakhlin, Shamir 2018, Theorem 2: φ 1-Lipschitz, φ(0) = 0, every row of W_j has l1 norm <= M(j).

        R_S <= (2/m) Π_j M(j) sqrt( d + 1 + log n_0 ) sqrt( max_j Σ_i x_{i,j}^2 )

    `largest_column` is max_j Σ_i x_{i,j}^2 = m r_rms^2.

    Parameters
    ----------
    norms
        Largest l1 norms of a row M(1), .., M(d) of the weight layers, >= 0.
    n_0
        Number of features, the length of Ψ(x), >= 1.
    m
        Number of points in the sample, >= 1.
    largest_column
        max_j Σ_i x_{i,j}² = m r_rms².

    Returns
    -------
    float
        An upper value of R_S.

    Examples
    --------
    >>> round(golowich_l1([1.0, 1.0], n_0=154, m=9600, largest_column=9600.0), 6)
    0.057868
    """
    _check_norms(norms)
    check_m(m)
    check(n_0 >= 1, f"n_0 must be >= 1, got n_0={n_0}.")
    check_nonnegative("max of sum x^2", largest_column)
    root = math.sqrt((len(norms) + 1 + math.log(n_0)) * largest_column)
    return product([2 / m, *norms, root], "golowich-l1")


def neyshabur_group(norms: Sequence[float], *, p: float, width: int, n_0: int, m: int, r: float) -> float:
    """Neyshabur, Tomioka, Srebro 2015, Theorem 1, q = inf, 1 <= p <= 2: ReLU, units of layer j of lp norm <= norms[j].

        R_S <= Π_j norms_j (2 H^(1/p*))^(d-1) sqrt( min{p*, 4 log(2 n_0)} / m ) max_i ||x_i||_{p*},   1/p + 1/p* = 1

    `width` is H, the largest hidden width, and `r` is max_i ||x_i||_{p*}.

    Parameters
    ----------
    norms
        Largest lp norms of a unit in each weight layer, >= 0.
    p
        Exponent of the norm, in [1, 2].
    width
        Largest hidden width H, >= 1.
    n_0
        Number of features, the length of Ψ(x), >= 1.
    m
        Number of points in the sample, >= 1.
    r
        max_i ||x_i||_{p*}.

    Returns
    -------
    float
        An upper value of R_S.

    Examples
    --------
    >>> round(neyshabur_group([1.0, 1.0], p=2, width=4, n_0=154, m=100, r=1.0), 6)
    0.565685
    """
    _check_norms(norms)
    check_m(m)
    check(width >= 1 and n_0 >= 1, f"widths must be >= 1, got H={width}, n_0={n_0}.")
    check_nonnegative("r", r)
    check(1 <= p <= 2, f"p must be in [1, 2], got p={p}: beyond 2 the layer of inputs has another rate.")
    p_star = conjugate(p)
    layers = [2 * float(width) ** (1 - 1 / p)] * (len(norms) - 1)
    root = math.sqrt(min(p_star, 4 * math.log(2 * n_0)) / m)
    return product([*norms, *layers, root, r], "neyshabur-group")


def standard_margin_bound(id: str, margin_error: float, R_S: float, *, rho: float, m: int, delta: float) -> MarginBound:
    """The standard margin bound (Koltchinskii, Panchenko 2002) for one class of complexity R_S, ρ fixed beforehand.

        R(f) <= R_{S,ρ}(f) + (2/ρ) R_S + 3 sqrt( log(2/δ) / (2m) )

    >>> bound = standard_margin_bound("golowich-l1", 0.0, 0.05, rho=0.5, m=10_000, delta=0.05)
    >>> round(bound.value, 6)
    0.240743
    """
    check_risk(margin_error, m, delta)
    check_rho(rho)
    check_nonnegative("R_S", R_S)
    terms = {
        "margin_error": margin_error,
        "complexity": finite(2 / rho * R_S, id),
        "confidence": 3 * math.sqrt(math.log(2 / delta) / (2 * m)),
    }
    return MarginBound(id, terms, rho)
