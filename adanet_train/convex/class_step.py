"""The proximal Newton step for C classes: blocks of classes before faces.

The curvature of C N weights costs C(C+1)/2 products of N x m matrices, and a face of all of them a factor of that size:
sweeps over the classes, whose factors are small, leave few faces to go through.
"""

from __future__ import annotations

import math
from dataclasses import replace

from torch import Tensor

from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.mixture import FALL, Mixture, Model, Point, Problem, solve
from adanet_train.convex.quadratic import by_blocks, minimise_quadratic

ROUGH_SWEEPS, SWEEPS, FACES = 3, 4, 20


class ClassProblem(Problem):
    """F of C classes on one sample."""

    loss: ClassLoss
    quarter = FALL
    large = math.inf  # a second step on one model would go through its faces again

    def minimise_model(self, here: Point, model: Model, *, rough: bool) -> Tensor:
        J = model.J
        quadratic = model.Q, here.slope[J], here.w[J], self.Gamma[J]
        near = by_blocks(*quadratic, self.loss.blocks(J), ROUGH_SWEEPS if rough else SWEEPS)
        return near if rough else minimise_quadratic(*quadratic, rtol=1e-3, max_iter=FACES, start=near)


def minimise_classes(
    H: Tensor,
    y: Tensor,
    f: Tensor,
    Gamma: Tensor,
    *,
    w: Tensor | None = None,
    weights: Tensor | None = None,
    tol: float = 1e-10,
    max_iter: int = 200,
) -> Mixture:
    """C classes: the minimiser W, of shape (C, N), of the multinomial loss plus Σ_j Γ_j Σ_c |W_{c,j}|.

    f is the offset of shape (m, C), y holds class indices; the loss and its margin of 1 are those of `class_loss`.

    >>> import torch
    >>> H, f = torch.eye(3).double(), torch.zeros(3, 3).double()
    >>> best = minimise_classes(H, torch.arange(3), f, torch.full((3,), 0.1).double(), tol=1e-9)
    >>> [[round(v, 2) for v in row] for row in best.w.tolist()], best.converged  # log(1 + 2e^(1-t)) + 0.3 t
    ([[2.54, 0.0, 0.0], [0.0, 2.54, 0.0], [0.0, 0.0, 2.54]], True)
    """
    C = f.shape[-1]
    problem = ClassProblem(ClassLoss(H, y, f, weights), Gamma.repeat(C))
    best = solve(problem, None if w is None else w.flatten(), tol, max_iter)
    return replace(best, w=best.w.view(C, -1))
