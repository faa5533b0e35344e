"""The steps of AdaNet.CVX: the weight of one unit, and the joint step over all units of a layer's family at once.

    min_v  F(v) = (1/m) Σ_i Φ(1 - y_i f(x_i) - y_i v · z(x_i)) + λ ||v||_p,      λ = Γ_s / Λ_{s,s-1}

Then w = ||v||_p / Λ and u = v Λ / ||v||_p. The paper's closed form is the steepest first-order direction, not this
minimiser (claim cvx-joint-minimiser). p = 1 is the convex step of `mixture`; for p > 1 Newton steps follow the
functions of `smooth_norm`, which tend to the norm, and the duality gap is that of the norm itself. C classes have a
row of V each and the penalty λ Σ_c ||V_c||_p.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_theory.checks import check, check_nonnegative
from adanet_theory.norms import conjugate
from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.mixture import ROUNDING, Mixture, Point, Problem, minimise, minimise_classes
from adanet_train.convex.newton import Curvature, curvature
from adanet_train.convex.sample_loss import SampleLoss
from adanet_train.convex.smooth_norm import SmoothNorm, norm, stages
from adanet_train.core.norms import dual_vectors, row_norms
from adanet_train.core.surrogates import Surrogate

MAX_ITER = 1000


@dataclass(frozen=True)
class JointStep:
    """v, F(v), and a certificate: F(v) - min F <= gap. The other fields, and penalty = 0, are as in `Mixture`."""

    v: Tensor
    objective: float
    gap: float
    iterations: int
    converged: bool
    reason: str = ""


def minimise_scalar(h: Tensor, y: Tensor, f: Tensor, Gamma: float, Phi: Surrogate, *, tol: float = 1e-10) -> Mixture:
    """The best weight of one unit: min_w (1/m) Σ Φ(1 - y f - y w h) + Γ |w|; `minimise` on one column, only faster.

    >>> from adanet_train.core.surrogates import surrogate
    >>> one = torch.ones(1).double()
    >>> minimise_scalar(one, one, 0 * one, 0.5, surrogate("logistic")).w  # Φ'(1 - w) = 1/2
    tensor([1.], dtype=torch.float64)
    """
    check_nonnegative("Gamma", Gamma)
    problem = Problem(SampleLoss(h[:, None], y, f, Phi), h.new_full((1,), Gamma))
    start = problem.start(None)
    if abs(float(start.slope)) <= Gamma:
        return problem.result(start, 0.0, 0, tol, "")
    sign = -start.slope.sign()
    w, hair, iterations = scalar_root(start.x, sign * y * h, Gamma, Phi, tol)
    here, beyond = problem.at(sign * w), problem.at(sign * (w + hair))
    # A hair beyond the minimiser the slope is feasible as it is; just before, a tiny Γ makes its scaling dear.
    lower = max(here.objective - here.gap, 0.0 if Gamma == 0 else beyond.objective - beyond.gap)
    here = here if here.objective <= start.objective else start
    gap = min(max(0.0, here.objective - lower), here.objective)
    return problem.result(here, gap, iterations, tol, "float64 resolves no further step")


def scalar_root(x: Tensor, change: Tensor, Gamma: float, Phi: Surrogate, tol: float) -> tuple[float, float, int]:
    """The w > 0 where mean(change Φ'(x - w change)), which decreases, is Γ; what rounding leaves open; the iterations.

    Newton steps, kept inside the interval where the sign changes, to the last bit: where Γ is small the certificate
    feels the rounding of the slope.
    """
    low, high, w, before = 0.0, math.inf, 0.0, math.inf
    size = float(change.abs().mean())
    for iterations in itertools.count(1):
        s, second = Phi.derivative(x - w * change), Phi.second(x - w * change)
        sums = torch.stack([change @ s, change.abs() @ s, (change * change) @ second])
        descent, weight, curvature = (sums / len(x)).tolist()
        slope = Gamma - descent
        low, high = (w, high) if slope < 0 else (low, w)
        step = math.inf if curvature == 0 else w - slope / curvature
        idle = Gamma == 0 and weight * max(1.0, w) <= 1e-3 * tol
        if idle or abs(step - w) <= ROUNDING * w or iterations == MAX_ITER:
            break
        if high == math.inf:
            # A flat start sends Newton far off, where nothing curves: at most a unit of margin, then fourfold.
            step = min(step, 4 * w + 1 / size)
        elif not low < step < high or abs(slope) > before / 4:
            step = math.sqrt(low * high) if 0 < 4 * low < high else (low + high) / 2
        if step == w:
            break
        w, before = step, abs(slope)
    return w, 4 * ROUNDING * (w + (weight / curvature if curvature > 0 else 0.0)), iterations


def minimise_norm(
    Z: Tensor, y: Tensor, f: Tensor, penalty: float, p: float, Phi: Surrogate, tol: float = 1e-10
) -> JointStep:
    """The minimiser of F for columns Z[i, j] = z_j(x_i), penalty = λ and p in [1, inf], to a duality gap.

    F(v) is never above that of the closed-form step with its best weight, where it starts.

    >>> from adanet_train.core.surrogates import surrogate
    >>> Z, y, f = torch.tensor([[3.0, 1.0], [-1.0, 1.0]]).double(), torch.ones(2).double(), torch.zeros(2).double()
    >>> step = minimise_norm(Z, y, f, 0.1, 2, surrogate("logistic"))  # where the closed form reaches 0.8197
    >>> round(step.objective, 4), step.gap < 1e-10
    (0.412, True)
    """
    check(p >= 1, f"p must be in [1, inf], got p={p}.")
    check_nonnegative("penalty", penalty)
    if p == 1 or penalty == 0 or Z.shape[1] <= 1:
        found = minimise(Z, y, f, y.new_full((Z.shape[1],), penalty), Phi, tol=tol)
        return JointStep(found.w, found.objective, found.gap, found.iterations, found.converged, found.reason)
    problem = NormProblem(SampleLoss(Z, y, f, Phi), penalty, p)
    here = problem.at(y.new_zeros(Z.shape[1]))
    if float(norm(here.slope, problem.q)) <= penalty:
        return JointStep(here.w, here.objective, 0.0, 0, True)
    u = -dual_vectors(here.slope[None], p)[0]
    here = problem.at(u * minimise_scalar(Z @ u, y, f, penalty, Phi, tol=tol).w)
    return follow(problem, here, tol)


def minimise_class_norms(Z: Tensor, y: Tensor, f: Tensor, penalty: float, p: float, tol: float = 1e-10) -> JointStep:
    """C classes: the minimiser V, of shape (C, n), of the multinomial loss plus λ Σ_c ||V_c||_p, to a duality gap.

    f is the offset of shape (m, C), y holds class indices, as in `minimise_classes`. The start is on the ray of the
    steepest unit of each class. Rows that are 0 at the minimiser are exactly 0.

    >>> Z, y, f = torch.eye(3).double(), torch.arange(3), torch.zeros(3, 3).double()
    >>> step = minimise_class_norms(Z, y, f, 0.1, 2)  # 1.1188 at p = 1, which has no use for two columns
    >>> round(step.objective, 4), step.gap < 1e-10
    (0.9715, True)
    """
    check(p >= 1, f"p must be in [1, inf], got p={p}.")
    check_nonnegative("penalty", penalty)
    C = f.shape[-1]
    if p == 1 or penalty == 0 or Z.shape[1] <= 1:
        found = minimise_classes(Z, y, f, f.new_full((Z.shape[1],), penalty), tol=tol)
        return JointStep(found.w, found.objective, found.gap, found.iterations, found.converged, found.reason)
    problem = NormProblem(ClassLoss(Z, y, f), penalty, p, groups=C)
    here = problem.at(f.new_zeros(C * Z.shape[1]))
    G = here.slope.view(C, -1)
    steep = row_norms(G, problem.q) > penalty
    if not bool(steep.any()):
        return JointStep(here.w.view(C, -1), here.objective, 0.0, 0, True)
    U = -dual_vectors(G, p) * steep[:, None]
    step = follow(problem, problem.along(U.flatten()), tol)
    return replace(step, v=step.v.view(C, -1))


class NormProblem:
    """F on one sample: the loss and λ Σ_c ||v_c||_p over the groups of v, of which there is one for two classes."""

    def __init__(self, loss: SampleLoss | ClassLoss, penalty: float, p: float, groups: int = 1) -> None:
        self.loss, self.penalty, self.p, self.q, self.groups = loss, penalty, p, conjugate(p), groups

    def norms(self, v: Tensor, p: float) -> Tensor:
        return row_norms(v.view(self.groups, -1), p)

    def at(self, v: Tensor) -> Point:
        """The point v, with the gap of the dual point c s, s the slopes in x, c = min(1, λ / max_c ||slope_c||_q)."""
        x = self.loss.argument(v)
        s = self.loss.dual(x)
        slope = self.loss.slope(s)
        c = (self.penalty / self.norms(slope, self.q).amax()).clamp_max(1.0)
        length = self.penalty * self.norms(v, self.p).sum()
        numbers = torch.stack([self.loss.value(x) + length, self.loss.young(x, c * s) + length + c * (slope @ v)])
        objective, gap = numbers.tolist()
        finite = math.isfinite(objective) and bool(slope.isfinite().all())
        check(finite, f"Z must be finite and Phi must not overflow, got F(v)={objective}.")
        return Point(v, x, objective, slope, gap)

    def curvature(self, here: Point) -> Curvature:
        return curvature(self.loss, here.x)

    def along(self, direction: Tensor) -> Point:
        """The best of the points 2^j direction on a ray along which F falls at first."""
        here = self.at(direction)
        for factor in (2.0, 0.5):
            while (after := self.at(factor * here.w)).objective < here.objective:
                here = after
        return here

    def without_idle_groups(self, here: Point) -> Point:
        """The point with v_c = 0 in as many of the shortest groups with ||slope_c||_q < λ as leave F no higher.

        Smooth norms leave a trace where the minimiser has none.
        """
        idle = (self.norms(here.slope, self.q) < self.penalty).nonzero().flatten()
        idle = idle[self.norms(here.w, self.p)[idle].argsort()]
        least, most, best = 0, len(idle), here
        while least < most:
            tried = (least + most + 1) // 2
            v = here.w.view(self.groups, -1).clone()
            v[idle[:tried]] = 0
            after = self.at(v.flatten())
            if after.objective <= here.objective:
                least, best = tried, after
            else:
                most = tried - 1
        return best


def follow(problem: NormProblem, here: Point, tol: float) -> JointStep:
    """Newton steps along the stages of `smooth_norm` until the gap of F itself, not of a stage, is small."""
    best, lower, iterations = here, max(0.0, here.objective - here.gap), 0
    accuracy = tol * max(1.0, here.objective) / (4 * problem.penalty)
    Q, x = problem.curvature(here), here.x
    for smooth in stages(problem.p, here.w, accuracy, problem.groups):
        quiet = 0
        while quiet < 3 and best.objective - lower > tol * max(1.0, best.objective) and iterations < MAX_ITER:
            # The third derivative of each Φ is at most the second, so with x this near Q is right within 2%; of C
            # classes, whose probabilities move by at most e^(2 x 0.02), within 4%.
            if float((here.x - x).abs().amax()) > 0.02:
                Q, x = problem.curvature(here), here.x
            step, decrement = newton_step(problem, smooth, Q, here)
            if smooth.error > accuracy and decrement <= problem.penalty * smooth.error / 10:
                break
            quiet += decrement <= ROUNDING * here.objective
            here = descend(problem, smooth, here, step, decrement)
            iterations += 1
            lower = max(lower, here.objective - here.gap)
            best = here if here.objective < best.objective else best
    if problem.groups > 1:
        best = problem.without_idle_groups(best)
        lower = max(lower, best.objective - best.gap)
    gap = max(0.0, best.objective - lower)
    converged = gap <= tol * max(1.0, best.objective)
    reason = "" if converged else "float64 resolves no further step" if iterations < MAX_ITER else "no convergence"
    return JointStep(best.w, best.objective, gap, iterations, converged, reason)


def newton_step(problem: NormProblem, smooth: SmoothNorm, Q: Curvature, here: Point) -> tuple[Tensor, float]:
    """The Newton step of loss + λ φ, and the decrease it promises, twice over."""
    parts = [smooth.at(v) for v in here.w.chunk(problem.groups)]
    gradient = here.slope + problem.penalty * torch.cat([part.gradient for part in parts])
    hessians = [problem.penalty * (torch.diag(part.D) - torch.outer(part.r, part.r)) for part in parts]
    step = Q.step(gradient, hessians)
    return step, float(-(gradient @ step))


def descend(problem: NormProblem, smooth: SmoothNorm, here: Point, step: Tensor, decrement: float) -> Point:
    """The first of t = 1, 1/2, 1/4, .. with enough decrease of loss + λ φ, up to rounding."""

    def value(t: float) -> float:
        length = torch.stack([smooth.at(v).value for v in (here.w + t * step).chunk(problem.groups)]).sum()
        return float(problem.loss.value(here.x - t * change) + problem.penalty * length)

    change = problem.loss.change(step)
    start, t = value(0.0), 1.0
    while t > 1e-12 and not value(t) <= start - t * decrement / 4 + ROUNDING * abs(start):
        t /= 2
    return problem.at(here.w + t * step)
