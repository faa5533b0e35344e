"""The arrangement of the hyperplanes u . Ψ(x_i) = 0, and suprema over it, exactly, for each sign vector.

    T(σ) = sup_{||u||_p <= 1} | Σ_i σ_i φ(u . x_i) |,   φ(x) = b x for x >= 0, a x for x < 0 (ReLU: a = 0, b = 1)

Inside a cell of the arrangement the sum is linear in u, so T is a maximum over finitely many cells:

    by_sectors    n_0 = 2, every p    O(m log m) once, then O(m) for each sign vector
    by_vertices   p in {1, inf}       vertices of the cells cut with the ball: one matrix product
    by_cells      p = 2               stationary points on the faces of the cells

The rows of X are the points, the rows of S the sign vectors, and slopes is (a, b).
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from adanet_theory.checks import Array
from adanet_theory.norms import conjugate, dual_direction, norms

Slopes = tuple[float, float]


def homogeneous(z: Array, slopes: Slopes) -> Array:
    """φ(z) for the slopes (a, b) below and above 0."""
    a, b = slopes
    return np.where(z >= 0, b * z, a * z)


# Two dimensions: sectors


def by_sectors(X: Array, S: Array, p: float, slopes: Slopes) -> Array:
    """T for n_0 = 2: the lines u . x_i = 0 cut the plane into sectors, and in each sector the sum is c . u.

    Going around, c changes by one term at each line, so one cumulative sum gives all c. On a sector the maximum of
    |c . u| over the ball is ||c||_q if ± the dual vector of c lies there. Else it is attained on a bounding line.
    At p = 1 and p = inf the corners of the ball also count as lines, and the lines alone suffice.

    >>> by_sectors(np.eye(2), np.array([[1.0, 1.0], [1.0, -1.0]]), 2, (0, 1)).round(12).tolist()
    [1.414213562373, 1.0]
    """
    a, b = slopes
    present = np.any(X != 0, axis=1)
    # Lines without a point: the corners, and the direction of angle 0 where the way around begins.
    extra = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] if p == math.inf else [[0.0, 1.0], [1.0, 0.0]])
    U = np.vstack([X[present], extra]) @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    U[(U[:, 1] < 0) | ((U[:, 1] == 0) & (U[:, 0] < 0))] *= -1
    order = np.argsort(np.arctan2(U[:, 1], U[:, 0]), kind="stable")
    U = U[order] / norms(U[order], p)[:, None]
    points = np.vstack([X[present], np.zeros_like(extra)])[order]
    terms = np.pad(S[:, present], ((0, 0), (0, len(extra))))[:, order]

    # Crossing its line counterclockwise, u . x turns positive if x lies counterclockwise of the line, else negative.
    rises = U[:, 0] * points[:, 1] - U[:, 1] * points[:, 0] > 0
    before = np.where(rises, a, b)[:, None] * points
    jumps = np.where(rises, b - a, a - b)[:, None] * points
    rows = max(1, 2**18 // len(U))
    parts = [_around(terms[i : i + rows], before, jumps, (a + b) * points, U, p) for i in range(0, len(S), rows)]
    return np.concatenate(parts)


def _around(terms: Array, before: Array, jumps: Array, both: Array, U: Array, p: float) -> Array:
    """The maximum over all sectors; c[:, k] belongs to the sector that begins at line k."""
    c = (terms @ before)[:, None, :] + np.cumsum(terms[:, :, None] * jumps, axis=1)
    best = np.zeros(len(terms))
    # Across the origin a and b change roles, so there c becomes (a + b) Σ σ_i x_i - c.
    for side in (c, (terms @ both)[:, None, :] - c):
        on_lines = np.abs(side[:, :, 0] * U[:, 0] + side[:, :, 1] * U[:, 1])
        best = np.maximum(best, on_lines.max(axis=1))
        if 1 < p < math.inf:
            best = np.maximum(best, _inside(side, U, p).max(axis=1))
    return best


def _inside(c: Array, U: Array, p: float) -> Array:
    """||c||_q if ± the dual vector of c lies between its line and the next, else 0."""
    dual = dual_direction(c, p)
    following = np.vstack([U[1:], -U[:1]])
    left = U[:, 0] * dual[..., 1] - U[:, 1] * dual[..., 0]
    right = dual[..., 0] * following[:, 1] - dual[..., 1] * following[:, 0]
    return np.where(left * right >= 0, norms(c, conjugate(p)), 0.0)


# p = 1 and p = inf: vertices


def by_vertices(X: Array, S: Array, p: float, slopes: Slopes) -> Array:
    """T for p in {1, inf}: the sum is linear on each cell cut with a face of the ball, so a vertex attains T.

    Cut the cells further so that the norm is linear on each part: into orthants at p = 1, and at p = inf into the
    cones |u_j| = max_k |u_k|, bounded by u_j = ±u_k. The vertices then lie on lines in which n_0 - 1 of all the
    hyperplanes meet. Every candidate is feasible and none depends on σ, so one matrix product gives all values <= T.
    """
    U = candidate_vertices(X, p)
    step = 1 + 2**21 // (len(S) + len(X))
    best = np.zeros(len(S))
    for side in (U, -U):
        for start in range(0, len(side), step):
            F = homogeneous(X @ side[start : start + step].T, slopes)
            best = np.maximum(best, np.abs(S @ F).max(axis=1))
    return best


def candidate_vertices(X: Array, p: float) -> Array:
    """One vector with ||u||_p = 1 on each line in which n_0 - 1 of the hyperplanes of by_vertices meet."""
    n_0 = X.shape[1]
    longest = np.abs(X).max(axis=1, keepdims=True)
    normals = np.vstack([np.divide(X, longest, out=np.zeros_like(X), where=longest > 0), _ball_normals(n_0, p)])
    chosen = np.array(list(combinations(range(len(normals)), n_0 - 1)))
    U = np.empty((len(chosen), n_0))
    for start in range(0, len(chosen), 4096):
        # the last right singular vector spans the line where the chosen hyperplanes meet
        U[start : start + 4096] = np.linalg.svd(normals[chosen[start : start + 4096]], full_matrices=True)[2][:, -1]
    return U / norms(U, p)[:, None]


def _ball_normals(n_0: int, p: float) -> Array:
    """Normals of the hyperplanes between which ||u||_p is linear: u_j = 0 at p = 1, u_j = ±u_k at p = inf."""
    eye = np.eye(n_0)
    if p == 1:
        return eye
    return np.array([eye[j] + sign * eye[k] for j, k in combinations(range(n_0), 2) for sign in (1, -1)])


def vertex_count(m: int, n_0: int, p: float) -> int:
    """The number of choices of n_0 - 1 hyperplanes that by_vertices makes."""
    return math.comb(m + (n_0 if p == 1 else n_0 * (n_0 - 1)), n_0 - 1)


# p = 2: cells


def by_cells(X: Array, S: Array, slopes: Slopes) -> Array:
    """T for p = 2: on a face F of the arrangement, of any dimension, the sum is c . u with c in the span of F.

    If ± c lies in F, the maximum of |c . u| over F and the ball is ||c||_2. Else it is attained on a face of lower
    dimension, down to the rays. So T is the largest ||c||_2 over the faces that contain their own ± c.
    """
    a, b = slopes
    m, n_0 = X.shape
    best = np.zeros(len(S))
    for flat in (rows for codim in range(n_0 - 1, -1, -1) for rows in combinations(range(m), codim)):
        Y = _coordinates_on_flat(X, list(flat))
        for s in np.sign(cells(Y) @ Y.T):
            c = S @ (np.where(s > 0, b, a)[:, None] * Y)
            length = norms(c, 2)
            higher = length > best  # the others need no look
            along = s * (c[higher] @ Y.T)
            inside = np.all(along >= 0, axis=1) | np.all(along <= 0, axis=1)
            best[higher] = np.where(inside, length[higher], best[higher])
    return best


def _coordinates_on_flat(X: Array, rows: list[int]) -> Array:
    """The points projected on the flat where these hyperplanes meet, in an orthonormal basis of it.

    If the hyperplanes are dependent, the result is a part of the flat, which is feasible too; fewer of them give all.
    """
    if not rows:
        return X
    size = norms(X, 2)[:, None]
    basis = np.linalg.svd(X[rows] / np.where(size > 0, size, 1.0)[rows])[2]
    Y = X @ basis[len(rows) :].T
    return np.where(np.abs(Y) > 1e-12 * size, Y, 0.0)  # points orthogonal to the flat do not cut it


def cells(X: Array) -> Array:
    """A point inside each cell of the arrangement u . x_i = 0.

    A new hyperplane cuts exactly those earlier cells whose traces on it are cells of one dimension less. From a point
    inside such a trace, a short step to either side lands in the two halves.

    >>> len(cells(np.random.default_rng(0).standard_normal((6, 3))))
    32
    """
    n = X.shape[1]
    points = np.ones((1, n))
    if n == 1:
        return np.vstack([points, -points]) if np.any(X) else points
    normals = np.empty((0, n))
    for x in X:
        normal = x / (norms(x[None], 2)[0] or 1.0)
        if not np.any(normal) or _is_among(normals, normal):
            continue
        basis = np.linalg.svd(normal[None])[2][1:].T
        traces = cells(normals @ basis) @ basis.T
        reach = np.abs(traces @ normals.T) / np.maximum(np.abs(normals @ normal), 1e-300)
        step = np.min(reach, axis=1, initial=1.0)[:, None] / 2
        normals = np.vstack([normals, normal])
        # a point on the new hyperplane lies in a cell that it cuts, and both halves are there
        points = points[np.abs(points @ normal) > 1e-12 * norms(points, 2)]
        points = np.vstack([points, traces + step * normal, traces - step * normal])
        _, first = np.unique(points @ normals.T > 0, axis=0, return_index=True)
        points = points[np.sort(first)]
    return points


def _is_among(normals: Array, normal: Array) -> bool:
    """Whether the unit vector equals, to 1e-12, ± one of the unit vectors, so that their hyperplanes coincide."""
    distance = np.minimum(np.abs(normals - normal).max(axis=1), np.abs(normals + normal).max(axis=1))
    return bool(np.any(distance < 1e-12))


def cell_count(m: int, n_0: int) -> int:
    """2 Σ_{j<n_0} C(m-1, j): the number of cells of m hyperplanes through 0 in general position, the largest possible.

    >>> cell_count(6, 3)
    32
    """
    return 2 * sum(math.comb(m - 1, j) for j in range(n_0))
