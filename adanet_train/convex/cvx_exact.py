"""The steps of AdaNet.CVX: the weight of one unit, and the joint step over all units of a layer's family at once.

    min_v  F(v) = (1/m) Σ_i Φ(1 - y_i f(x_i) - y_i v · z(x_i)) + λ ||v||_p,      λ = Γ_s / Λ_{s,s-1}

Then w = ||v||_p / Λ and u = v Λ / ||v||_p. The paper's closed form is the steepest first-order direction, not this
minimiser (claim cvx-joint-minimiser). p = 1 is the convex step of `mixture`; for p > 1 Newton steps follow the
functions of `smooth_norm`, which tend to the norm, and the duality gap is that of the norm itself. C classes have a
row of V each and the penalty λ Σ_c ||V_c||_p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_theory.checks import check, check_nonnegative
from adanet_theory.norms import conjugate
from adanet_train.convex.class_loss import ClassLoss, Loss
from adanet_train.convex.class_step import ClassProblem
from adanet_train.convex.mixture import ROUNDING, Mixture, Point, Problem, curvature_costs, solve
from adanet_train.convex.newton import Curvature, curvature
from adanet_train.convex.sample_loss import SampleLoss
from adanet_train.convex.smooth_norm import SmoothNorm, stages
from adanet_train.core.device import threads_for
from adanet_train.core.norms import dual_vectors, row_norms
from adanet_train.core.surrogates import Surrogate

MAX_ITER = 1000

Say = Callable[[str], None]
"""Called with each line on the progress of a step."""


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
    (root,), _ = scalar_roots(start.x, (y * h)[None], [Gamma], Phi, tol)
    here, beyond = problem.at(y.new_full((1,), root.w)), problem.at(y.new_full((1,), root.w + root.hair))
    # A hair beyond the minimiser the slope is feasible as it is; just before, a tiny Γ makes its scaling dear.
    lower = max(here.objective - here.gap, 0.0 if Gamma == 0 else beyond.objective - beyond.gap)
    here = here if here.objective <= start.objective else start
    gap = min(max(0.0, here.objective - lower), here.objective)
    return problem.result(here, gap, root.iterations, tol, "float64 resolves no further step")


def scalar_weights(
    H: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, Phi: Surrogate, start: float, *, tol: float = 1e-10
) -> tuple[list[float], list[float]]:
    """(w, F): the best weight of each unit alone, one row of H a unit, and F there; `start` is F at w = 0.

    F is within tol max(1, start) of its least, by convexity. `minimise_scalar` is slower and certifies to the last bit.

    >>> from adanet_train.core.surrogates import surrogate
    >>> one, Gamma = torch.ones(1).double(), torch.full((2,), 0.5).double()
    >>> w, F = scalar_weights(torch.tensor([[1.0], [-2.0]]).double(), one, 0 * one, Gamma, surrogate("logistic"), 1.32)
    >>> [round(v, 4) for v in w], [round(v, 4) for v in F]
    ([1.0, -1.0493], [1.1931, 0.8123])
    """
    prices = Gamma.tolist()
    roots, at = scalar_roots(1 - y * f, y * H, prices, Phi, tol, start)
    losses = Phi.value(at).mean(1).tolist()
    F = [loss + price * root.length for loss, price, root in zip(losses, prices, roots, strict=True)]
    return [root.w for root in roots], F


class Root:
    """The w where the mean of change Φ'(x - w change), which decreases, is Γ sgn w: Newton steps inside a bracket.

    To the last bit, as the certificate feels the rounding of the slope where Γ is small; or, where F(0) is given, until
    convexity says that F is within tol max(1, F(0)) of its least: |slope| times how far off the minimiser can be.
    """

    def __init__(self, Gamma: float, size: float, tol: float, start: float | None) -> None:
        self.Gamma, self.size, self.tol = Gamma, size, tol
        self.room = 0.0 if start is None else tol * max(1.0, start)
        self.most = math.inf if start is None or Gamma == 0 else start / Gamma
        self.low, self.high, self.length, self.before, self.iterations = 0.0, math.inf, 0.0, math.inf, 0
        self.sign, self.spare, self.ended = 0.0, 0.0, False

    @property
    def w(self) -> float:
        return self.sign * self.length

    @property
    def hair(self) -> float:
        """How far rounding may have moved w, with the sign of w."""
        return self.sign * 4 * ROUNDING * (self.length + self.spare)

    def follow(self, descent: float, curvature: float, weight: float = 0.0) -> None:
        """From the means of change Φ', change² Φ'' and |change| Φ' at w to the next w."""
        self.iterations += 1
        self.sign = self.sign or math.copysign(1.0, descent)
        w, slope = self.length, self.Gamma - self.sign * descent
        if slope < 0:
            self.low = w
        else:
            self.high = w
        self.spare = weight / curvature if curvature > 0 else 0.0
        step = math.inf if curvature == 0 else w - slope / curvature
        idle = self.Gamma == 0 and weight * max(1.0, w) <= 1e-3 * self.tol
        far = (min(self.high, self.most) - w) if slope < 0 else w - self.low
        near = abs(slope) * far <= self.room if self.room > 0 else self.high == 0
        if idle or near or abs(step - w) <= ROUNDING * w or self.iterations == MAX_ITER:
            self.ended = True
            return
        if self.high == math.inf:
            # A flat start sends Newton far off, where nothing curves: at most a unit of margin, then fourfold.
            step = min(step, 4 * w + 1 / self.size)
        elif not self.low < step < self.high or abs(slope) > self.before / 4:
            nearer = 0 < 4 * self.low < self.high
            step = math.sqrt(self.low * self.high) if nearer else (self.low + self.high) / 2
        self.ended = step == w
        self.length, self.before = step, abs(slope)


def scalar_roots(
    x: Tensor, change: Tensor, Gamma: Sequence[float], Phi: Surrogate, tol: float, start: float | None = None
) -> tuple[list[Root], Tensor]:
    """The roots of all rows of change at once, and x - w change there."""
    square = change * change
    sizes = square.mean(1).sqrt().tolist()
    roots = [Root(price, size, tol, start) for price, size in zip(Gamma, sizes, strict=True)]
    whole = change.abs() if start is None or min(Gamma) == 0 else None
    at = x[None]  # all begin at w = 0
    while True:
        first, second = Phi.slopes(at)
        pairs = [(change, first), (square, second), *([] if whole is None else [(whole, first)])]
        sums = [torch.linalg.vecdot(*pair) for pair in pairs]
        for root, means in zip(roots, (torch.stack(sums, 1) / len(x)).tolist(), strict=True):
            if not root.ended:
                root.follow(*means)
        if all(root.ended for root in roots):  # and none has moved since
            return roots, at.expand_as(change)
        at = torch.addcmul(x, change, x.new_tensor([[root.w] for root in roots]), value=-1)


def minimise_norm(
    Z: Tensor,
    y: Tensor,
    f: Tensor,
    penalty: float,
    p: float,
    Phi: Surrogate,
    tol: float = 1e-10,
    say: Say | None = None,
) -> JointStep:
    """The minimiser of F for columns Z[i, j] = z_j(x_i), penalty = λ and p in [1, inf], to a duality gap.

    F(v) is never above that of the closed-form step with its best weight, where it starts.

    >>> from adanet_train.core.surrogates import surrogate
    >>> Z, y, f = torch.tensor([[3.0, 1.0], [-1.0, 1.0]]).double(), torch.ones(2).double(), torch.zeros(2).double()
    >>> step = minimise_norm(Z, y, f, 0.1, 2, surrogate("logistic"))  # where the closed form reaches 0.8197
    >>> round(step.objective, 4), step.gap < 1e-10
    (0.412, True)
    """

    def best(u: Tensor) -> Tensor:
        return u * minimise_scalar(Z @ u, y, f, penalty, Phi, tol=tol).w

    return _joint(Problem, SampleLoss(Z, y, f, Phi), penalty, p, tol, groups=1, best=best, say=say)


def minimise_class_norms(
    Z: Tensor, y: Tensor, f: Tensor, penalty: float, p: float, tol: float = 1e-10, say: Say | None = None
) -> JointStep:
    """C classes: the minimiser V, of shape (C, n), of the multinomial loss plus λ Σ_c ||V_c||_p, to a duality gap.

    f is the offset of shape (m, C), y holds class indices, as in `minimise_classes`. The start is on the ray of the
    steepest unit of each class. Rows that are 0 at the minimiser are exactly 0.

    >>> Z, y, f = torch.eye(3).double(), torch.arange(3), torch.zeros(3, 3).double()
    >>> step = minimise_class_norms(Z, y, f, 0.1, 2)  # 1.1188 at p = 1, which has no use for two columns
    >>> round(step.objective, 4), step.gap < 1e-10
    (0.9715, True)
    """
    C, used = f.shape[-1], Z.any(0)  # a column of zeros has no weight
    step = _joint(ClassProblem, ClassLoss(Z[:, used], y, f), penalty, p, tol, groups=C, say=say)
    V = Z.new_zeros(C, Z.shape[1])
    V[:, used] = step.v.view(C, -1)
    return replace(step, v=V)


def _joint(
    kind: type[Problem],
    loss: Loss,
    penalty: float,
    p: float,
    tol: float,
    groups: int,
    best: Callable[[Tensor], Tensor] | None = None,
    say: Say | None = None,
) -> JointStep:
    """The minimiser of a loss plus λ Σ_c ||v_c||_p over groups of v of equal length.

    It starts on the steepest ray, at the point `best` of it, or at one that a rough search finds.
    """
    check(p >= 1, f"p must be in [1, inf], got p={p}.")
    check_nonnegative("penalty", penalty)
    nothing = loss.columns.new_zeros(loss.size)
    if p == 1 or penalty == 0 or len(loss.columns) <= 1:
        step = solve(kind(loss, torch.full_like(nothing, penalty)), None, tol, 200)
        return JointStep(step.w, step.objective, step.gap, step.iterations, step.converged, step.reason)
    problem = NormProblem(loss, penalty, p, groups)
    here = problem.at(nothing)
    G = here.slope.view(groups, -1)
    steep = row_norms(G, problem.q) > penalty
    if not bool(steep.any()):
        return JointStep(here.w, here.objective, 0.0, 0, True)
    ray = (-dual_vectors(G, p) * steep[:, None]).flatten()
    with threads_for(curvature_costs(loss)):
        return follow(problem, problem.along(ray) if best is None else problem.at(best(ray)), tol, say)


class NormProblem:
    """F on one sample: the loss and λ Σ_c ||v_c||_p over the groups of v, of which there is one for two classes."""

    def __init__(self, loss: Loss, penalty: float, p: float, groups: int = 1) -> None:
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

    def error_at(self, smooth: SmoothNorm, v: Tensor) -> float:
        """The error of a smooth norm over all groups, or a smaller upper value that v gives."""
        return smooth.error_at(v.chunk(self.groups))

    def along(self, direction: Tensor) -> Point:
        """The best of the points 2^j direction on a ray along which F falls at first."""
        here = self.at(direction)
        for factor in (2.0, 0.5):
            while (after := self.at(factor * here.w)).objective < here.objective:
                here = after
        return here

    def without_idle_groups(self, here: Point) -> Point:
        """The point with v_c = 0 in as many of the shortest groups with ||slope_c||_q < λ as leave F no higher.

        Smooth norms leave such groups small, but not 0.
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


def follow(problem: NormProblem, here: Point, tol: float, say: Say | None = None) -> JointStep:
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
                Q, x = Q.at(here.x), here.x
            step, decrement = newton_step(problem, smooth, Q, here)
            if decrement <= problem.penalty * smooth.error / 10 and problem.error_at(smooth, here.w) > accuracy:
                break
            quiet += decrement <= ROUNDING * here.objective
            here = line_step(problem, smooth, here, step, decrement)
            iterations += 1
            lower = max(lower, here.objective - here.gap)
            best = here if here.objective < best.objective else best
            if say is not None:
                say(f"step {iterations}: F = {best.objective:.6g}, gap {best.objective - lower:.1e}")
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


def line_step(problem: NormProblem, smooth: SmoothNorm, here: Point, step: Tensor, decrement: float) -> Point:
    """The first of t = 1, 1/2, 1/4, .. with enough decrease of loss + λ φ, up to rounding."""

    def value(t: float) -> float:
        length = torch.stack([smooth.at(v).value for v in (here.w + t * step).chunk(problem.groups)]).sum()
        return float(problem.loss.value(here.x - t * change) + problem.penalty * length)

    change = problem.loss.change(step)
    start, t = value(0.0), 1.0
    while t > 1e-12 and not value(t) <= start - t * decrement / 4 + ROUNDING * abs(start):
        t /= 2
    return problem.at(here.w + t * step)
