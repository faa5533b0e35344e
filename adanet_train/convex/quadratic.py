"""The quadratic model of the convex step, solved on faces of the l1 penalty so that correlation cannot stall it.

    min_z  g · (z - w) + (1/2) (z - w)ᵀ Q (z - w) + Σ_j Γ_j |z_j|,      Q positive semidefinite

Coordinate descent needs a number of sweeps that grows with the condition of Q; here every iteration solves a face
(a support and its signs) by a Cholesky factor. The model falls strictly each time, so no face returns and it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

RIDGE = 1e-12  # of a unit diagonal: below what float64 resolves of Q, above what a Cholesky factor needs


def minimise_quadratic(
    Q: Tensor, g: Tensor, w: Tensor, Gamma: Tensor, rtol: float, max_iter: int = 500, start: Tensor | None = None
) -> Tensor:
    """The minimiser z, its optimality conditions met up to rtol times their violation at w; zeros are exact."""
    diagonal = Q.diagonal()
    scale = torch.where(diagonal > 0, diagonal, torch.ones_like(diagonal)).sqrt()
    Q = Q / scale / scale[:, None]
    Q.diagonal().add_(RIDGE)
    w, g, Gamma = w * scale, g / scale, Gamma / scale
    z, G, complete = w, g, True
    excess = violation(z, G, Gamma)
    target = rtol * float(excess.max())
    if start is not None:
        z = start * scale
        G = g + Q @ (z - w)
        excess = violation(z, G, Gamma)
    for _ in range(max_iter):
        worst = float(excess.max())
        if worst <= target:
            break
        open_face = (z != 0) & (excess > target)
        # Coordinates that enter a face that is still losing others make the steps zigzag.
        enters = open_face if not complete and bool(open_face.any()) else excess > target
        step = face_step(Q, z, G, Gamma, enters)
        if step is None:
            # Entering together they pushed each other out; one alone never is.
            step = face_step(Q, z, G, Gamma, excess == worst)
        if step is None:
            break
        z, complete = z + step.move, step.complete
        G = g + Q @ (z - w)
        excess = violation(z, G, Gamma)
        if not step.falls and float(excess.max()) >= worst:
            break
    return z / scale


def by_blocks(Q: Tensor, g: Tensor, w: Tensor, Gamma: Tensor, blocks: Sequence[Tensor], sweeps: int) -> Tensor:
    """Near the minimiser: one block of coordinates after the other, each to a hundredth, in a few sweeps."""
    z, G = w.clone(), g.clone()
    parts = [(rows, Q[rows][:, rows], Q[:, rows]) for rows in blocks if len(rows)]
    for _ in range(sweeps):
        for rows, own, columns in parts:
            moved = minimise_quadratic(own, G[rows], z[rows], Gamma[rows], rtol=1e-2)
            G += columns @ (moved - z[rows])
            z[rows] = moved
    return z


def violation(z: Tensor, G: Tensor, Gamma: Tensor) -> Tensor:
    """Distance of 0 from the subdifferential G_j + Γ_j ∂|z_j|, coordinate by coordinate."""
    return torch.where(z == 0, (G.abs() - Gamma).clamp_min(0), (G + Gamma * z.sign()).abs())


class FaceStep(NamedTuple):
    """A move of z, whether it reaches the minimiser of its face, and whether the model falls (but for rounding)."""

    move: Tensor
    complete: bool
    falls: bool


def face_step(Q: Tensor, z: Tensor, G: Tensor, Gamma: Tensor, enters: Tensor) -> FaceStep | None:
    """A step towards the minimiser of the face of z and the entering coordinates; None if the face is empty."""
    signs = torch.where(z == 0, -G.sign(), z.sign())
    slope = G + Gamma * signs
    face = (z != 0) | enters
    while True:
        index = face.nonzero().squeeze(1)
        if len(index) == 0:
            return None
        direction = torch.zeros_like(z)
        direction[index] = solve(Q[index][:, index], -slope[index])
        wrong = (z == 0) & (direction * signs < 0)
        if not bool(wrong.any()):
            break
        face = face & ~wrong
    if not bool(((z + direction) * signs < 0).any()):  # no coordinate changes its sign on the way
        value = direction @ G + (direction @ (Q @ direction)) / 2 + ((z + direction).abs() - z.abs()) @ Gamma
        return FaceStep(direction, True, bool(value < 0))
    steps = torch.stack([line_step(z, direction, Gamma, -(slope @ direction)), clipped_step(z, direction, signs)])
    values = steps @ G + (steps * (steps @ Q)).sum(1) / 2 + ((z + steps).abs() - z.abs()) @ Gamma
    lowest = int(values.argmin())
    return FaceStep(steps[lowest], torch.equal(steps[lowest], direction), bool(values[lowest] < 0))


def solve(Q: Tensor, b: Tensor) -> Tensor:
    """Q^-1 b for a scaled, ridged, positive definite Q."""
    return torch.cholesky_solve(b[:, None], factor(Q)).squeeze(1)


def factor(Q: Tensor) -> Tensor:
    """The Cholesky factor of such a Q, or of each of several; more ridge in the rare case that rounding asks for it."""
    root, failed = torch.linalg.cholesky_ex(Q)
    ridge = RIDGE
    while bool(failed.any()) and ridge < 1:  # a nan in Q is no matter of ridge
        ridge *= 100
        root, failed = torch.linalg.cholesky_ex(Q + ridge * torch.eye(Q.shape[-1], dtype=Q.dtype, device=Q.device))
    return root


def line_step(z: Tensor, direction: Tensor, Gamma: Tensor, fall: Tensor) -> Tensor:
    """The exact minimiser of the model along z + t direction, across the kinks where a coordinate changes sign.

    The slope along the line starts at -fall, grows by fall t, and jumps by 2 Γ_j |direction_j| at each kink.
    """
    kinks = torch.where(z.sign() * direction < 0, -z / direction, torch.inf)
    times, order = kinks.sort()
    zero = times.new_zeros(1)
    jumps = torch.cat([zero, (2 * Gamma * direction.abs())[order].cumsum(0)])
    roots = 1 - jumps / fall
    first = (roots <= torch.cat([times, times.new_full((1,), torch.inf)])).to(torch.uint8).argmax()
    t = torch.maximum(torch.cat([zero, times])[first], roots[first])
    return torch.where(kinks == t, -z, t * direction)


def clipped_step(z: Tensor, direction: Tensor, signs: Tensor) -> Tensor:
    """The whole step, with the coordinates that would leave their orthant stopped at zero: drops many at once."""
    return torch.where((z + direction) * signs < 0, -z, direction)
