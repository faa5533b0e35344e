"""The proximal Newton step for C classes: blocks of classes before faces.

The curvature of C N weights costs C(C+1)/2 products of N x m matrices, and a face of all of them a factor of that size:
sweeps over the classes, whose factors are small, leave few faces to go through.
"""

from __future__ import annotations

import math

from torch import Tensor

from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.mixture import FALL, Model, Point, Problem
from adanet_train.convex.quadratic import by_blocks, minimise_quadratic

ROUGH_SWEEPS, SWEEPS, FACES = 3, 4, 20


class ClassProblem(Problem):
    """F of C classes on one sample."""

    loss: ClassLoss
    quarter = FALL
    large = math.inf  # a second step on one model would go through its faces again

    def minimise_model(self, here: Point, model: Model, *, rough: bool) -> Tensor:
        J = model.J
        of = model.Q, here.slope[J], here.w[J], self.Gamma[J]
        near = by_blocks(*of, self.loss.blocks(J), ROUGH_SWEEPS if rough else SWEEPS)
        return near if rough else minimise_quadratic(*of, rtol=1e-3, max_iter=FACES, start=near)
