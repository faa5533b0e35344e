"""The proximal Newton step for C classes: a rough model first, blocks of classes before faces.

The curvature of C N weights costs C(C+1)/2 products of N x m matrices, and a face of all of them a factor of that size.
While F falls by more than a hundredth a step, a quarter of the points in single precision tells the way as well; and
sweeps over the classes, whose factors are small, leave few faces to go through. The line search judges every step, and
the gap is that of the exact loss.
"""

from __future__ import annotations

import math

from torch import Tensor

from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.mixture import Model, Point, Problem
from adanet_train.convex.quadratic import by_blocks, minimise_quadratic

FALL = 0.01
"""The share of F by which a step has to lower it for the next to be rough too."""
EVERY, LEAST = 4, 4_000
"""A rough model has every fourth point, of so many at least."""
ROUGH_SWEEPS, SWEEPS, FACES = 3, 4, 20


class ClassProblem(Problem):
    """F of C classes on one sample."""

    loss: ClassLoss

    def __init__(self, loss: ClassLoss, Gamma: Tensor) -> None:
        super().__init__(loss, Gamma)
        self.before = math.inf

    def step(self, here: Point, tol: float) -> Point | None:
        J = self.working_set(here)
        if len(J) == 0:
            return None
        falling, self.before = here.objective < (1 - FALL) * self.before, here.objective
        if falling and self.loss.columns.shape[1] >= LEAST:
            weight = self.loss.weight(here.x)
            after, t = self.model_step(here, Model(J, weight, self.loss.curvature(weight, J, every=EVERY)), faces=0)
            if after is not None and t > 0.1:
                return after
        after, t = self.model_step(here, self.model(here, J))
        if t >= 0.1:
            return after
        careful, _ = self.model_step(here, self.model(here, J, cautious=True))
        return min((point for point in (after, careful) if point), key=lambda point: point.objective, default=None)

    def model_step(self, here: Point, model: Model, faces: int = FACES) -> tuple[Point | None, float]:
        J = model.J
        of = model.Q, here.slope[J], here.w[J], self.Gamma[J]
        near = by_blocks(*of, self.loss.blocks(J), SWEEPS if faces else ROUGH_SWEEPS)
        w = here.w.clone()
        w[J] = minimise_quadratic(*of, rtol=1e-3, max_iter=faces, start=near) if faces else near
        direction = w - here.w
        predicted = float(here.slope @ direction + self.Gamma @ (w.abs() - here.w.abs()))
        return self.line_search(here, model, direction, predicted)
