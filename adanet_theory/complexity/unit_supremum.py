"""The supremum over one hidden unit for each given sign vector, the inner part of lemma-1-exact.

    T(σ) = sup_{||u||_p <= Λ} | Σ_i σ_i φ(u . Ψ(x_i)) |

`unit_supremum` uses the first method that applies. For n_0 = 1 and any φ it searches a line. For positively homogeneous
φ it uses the methods of `arrangement`. If their cells are too many and p is in {1, inf}, it solves integer programs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import Array, check, check_nonnegative
from adanet_theory.complexity.arrangement import (
    Slopes,
    by_cells,
    by_sectors,
    by_vertices,
    cell_count,
    homogeneous,
    vertex_count,
)
from adanet_theory.norms import conjugate, norms
from adanet_theory.rounding import EPS, TINY

# How many candidates by_vertices may try, and how many cells by_cells may visit, before another way is sought.
MOST_VERTICES = 200_000
MOST_CELLS = 20_000

_GRID = 4097


@dataclass(frozen=True)
class Supremum:
    """lower <= T <= upper for each sign vector, up to `rounding`. The two agree unless a solver left a gap."""

    lower: Array
    upper: Array
    rounding: float
    method: str


def unit_supremum(
    Psi: Any,
    signs: Any,
    *,
    Lambda: float,
    p: float,
    phi: str | Activation = "relu",
    time_limit: float | None = None,
) -> Supremum:
    """T(σ) for each row σ of signs; time_limit (in seconds) applies to each mixed-integer program.

    >>> sup = unit_supremum([[1, 1, 0], [1, 0, 1], [0, 1, -1]], [[1, 1, 1], [1, -1, 1]], Lambda=1, p=1)
    >>> sup.lower.round(12).tolist(), sup.method
    ([2.0, 2.0], 'vertices')
    """
    X = np.asarray(matrix(Psi), dtype=np.float64)
    S = np.asarray(signs, dtype=np.float64)
    q, act = conjugate(p), activation(phi)
    m, n_0 = X.shape
    check_nonnegative("Lambda", Lambda)
    check(S.ndim == 2 and S.shape[1] == m, f"signs must have m={m} columns, got shape {S.shape}.")
    check(bool(np.all(np.abs(S) == 1)), "signs must be +1 or -1.")
    if n_0 == 1:
        return on_a_line(X, S, Lambda, act)
    a, b = slopes(act)
    rounding = Lambda * _rounding(X, q, max(abs(a), abs(b)))
    if a == b:
        lower, method = abs(a) * norms(S @ X, q), "duality"
    elif n_0 == 2:
        lower, method = by_sectors(X, S, p, (a, b)), "sectors"
    elif p in (1, math.inf) and vertex_count(m, n_0, p) <= MOST_VERTICES:
        lower, method = by_vertices(X, S, p, (a, b)), "vertices"
    elif p in (1, math.inf):
        lower, upper = by_milp(X, S, p, (a, b), time_limit)
        return Supremum(Lambda * lower, Lambda * upper, rounding, "milp")
    else:
        reach = f"n_0 <= 2, for p in {{1, inf}}, and for p = 2 up to {MOST_CELLS} cells"
        within = p == 2 and cell_count(m, n_0) <= MOST_CELLS
        check(within, f"the supremum over a unit is solved for {reach}, got n_0={n_0}, m={m}, p={p}.")
        lower, method = by_cells(X, S, (a, b)), "cells"
    return Supremum(Lambda * lower, Lambda * lower, rounding, method)


def on_a_line(X: Array, S: Array, Lambda: float, phi: Activation) -> Supremum:
    """T for n_0 = 1 and any φ: attained at u = ±Λ for homogeneous φ, else on a grid of spacing h,

        max over the grid <= T <= max over the grid + κ Σ_i Ψ(x_i)² h²/8,   κ the Lipschitz constant of φ',

    the error of linear interpolation.
    """
    x = X[:, 0]
    rounding = float((len(x) + 16) * EPS * np.sum(abs(phi.at_zero) + phi.lipschitz * Lambda * np.abs(x)))
    if Lambda > 0 and np.any(x):
        rounding += 2 * len(x) * TINY
    if phi.is_homogeneous:
        u, gap, method = np.array([Lambda, -Lambda]), 0.0, "line"
    else:
        u, method = np.linspace(-Lambda, Lambda, _GRID), "grid on a line"
        gap = phi.curvature * float(x @ x) * (2 * Lambda / (_GRID - 1)) ** 2 / 8
    F = phi(x[:, None] * u)
    lower = np.concatenate([np.abs(part @ F).max(axis=1) for part in np.array_split(S, len(S) // 512 + 1)])
    return Supremum(lower, lower + gap, rounding, method)


def by_milp(X: Array, S: Array, p: float, slopes: Slopes, time_limit: float | None = None) -> tuple[Array, Array]:
    """(lower, upper) of T for Λ = 1, p in {1, inf}: values at the incumbents and dual bounds of mixed-integer programs.

        maximise ± Σ_i σ_i (b z_i^+ - a z_i^-)  over  z^+ - z^- = X u,  ||u||_p <= 1,
        0 <= z_i^+ <= M_i t_i,  0 <= z_i^- <= M_i (1 - t_i),  M_i = ||x_i||_q,  t_i in {0, 1}

    where t_i may be real if the term is concave in u. lower is the sum at the incumbent's u, recomputed. upper
    is the solver's bound plus its own tolerances (1e-6 of the objective, 1e-7 of each constraint). It is not a proof.
    """
    scale = float(np.abs(X).max()) or 1.0
    M = norms(X / scale, conjugate(p))
    slack = 1e-6 + 1e-7 * max(map(abs, slopes)) * float(M.sum())
    bounds = np.array([[_solve(X / scale, sign * row, M, p, slopes, time_limit) for sign in (1, -1)] for row in S])
    lower, upper = bounds[:, :, 0].max(axis=1), bounds[:, :, 1].max(axis=1)
    return scale * lower, scale * (upper + slack)


def _solve(X: Array, sigma: Array, M: Array, p: float, slopes: Slopes, time_limit: float | None) -> tuple[float, float]:
    """Incumbent's value and dual bound of max Σ_i σ_i φ(u . x_i); variables u^+, u^-, z^+, z^-, t."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    a, b = slopes
    m, n_0 = X.shape
    convex = sigma * (b - a) > 0
    one, none, wide = np.eye(m), np.zeros((m, m)), np.zeros((m, n_0))
    rows = [[X, -X, -one, one, none], [wide, wide, one, none, -np.diag(M)], [wide, wide, none, one, np.diag(M)]]
    least = np.concatenate([np.zeros(m), np.full(2 * m, -math.inf)])
    constraints = [LinearConstraint(np.block(rows), least, np.concatenate([np.zeros(2 * m), M]))]
    if p == 1:
        constraints.append(LinearConstraint(np.repeat([1.0, 0.0], [2 * n_0, 3 * m])[None], -math.inf, 1))
    result = milp(
        np.concatenate([np.zeros(2 * n_0), -b * sigma, a * sigma, np.zeros(m)]),
        integrality=np.concatenate([np.zeros(2 * n_0 + 2 * m), convex]),
        bounds=Bounds(0, np.concatenate([np.ones(2 * n_0), M, M, np.ones(m)])),
        constraints=constraints,
        options={"mip_rel_gap": 0.0, "time_limit": math.inf if time_limit is None else time_limit},
    )
    upper = max(abs(a), abs(b)) * float(M.sum())  # holds even if the solver was stopped before it had a bound
    bound = result.mip_dual_bound if np.any(convex) else result.fun  # without integers a linear program
    if bound is not None and math.isfinite(bound):
        upper = min(upper, -bound)
    if result.x is None:
        return 0.0, upper
    u = result.x[:n_0] - result.x[n_0 : 2 * n_0]
    u = u / max(1.0, float(norms(u[None], p)[0]))
    return max(0.0, float(sigma @ homogeneous(X @ u, slopes))), upper


def slopes(phi: Activation) -> Slopes:
    """(a, b) with φ(x) = b x for x >= 0 and a x for x < 0; refuses any other φ."""
    check(phi.is_homogeneous, f"phi must be positively homogeneous if n_0 > 1, got {phi.name}.")
    above, below = phi([1.0, -1.0])
    return -float(below), float(above)


def matrix(Psi: Any) -> NDArray[Any]:
    """Ψ as a matrix of m >= 1 rows and n_0 >= 1 columns of finite numbers, in the floating type it has."""
    X = np.asarray(Psi)
    check(X.dtype.kind in "fiub", f"Psi must be real, got dtype {X.dtype}.")
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    check(X.ndim == 2 and X.size > 0, f"Psi must be an m x n_0 matrix with m, n_0 >= 1, got shape {X.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):  # a finite sum says it in one pass, unless it overflows
        finite = math.isfinite(X.sum()) or (math.isfinite(X.max()) and math.isfinite(X.min()))
    check(finite, "Psi must be finite.")
    return X


def _rounding(X: Array, q: float, L: float) -> float:
    """An upper value of the error of a computed Σ_i σ_i φ(u . x_i), ||u||_p <= 1, in sectors, vertices or cells.

    It is twice the m + n_0 roundings of the sums (a cumulative sum is the difference of two) times Σ_i L ||x_i||_q.
    It ignores that a vertex of nearly parallel hyperplanes is ill-determined. Such a candidate is still feasible, so
    lower holds, but with such data T may be above upper.
    """
    m, n_0 = X.shape
    return 2 * (m + n_0 + 16) * EPS * L * float(norms(X, q).sum())
