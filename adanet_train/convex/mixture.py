"""The convex step of AdaNet: the mixture weights of given units, with a certificate of how far they are from optimal.

    min_w  F(w) = (1/m) Σ_i Φ(1 - y_i f(x_i) - y_i w · h(x_i)) + Σ_j Γ_j |w_j|

Proximal Newton steps on the columns that are in use or violate their optimality condition; the quadratic model of
each is solved by `quadratic`, and a line search evaluates F itself, so that F never rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.convex.class_loss import LineLoss, Loss
from adanet_train.convex.quadratic import minimise_quadratic
from adanet_train.convex.sample_loss import SampleLoss
from adanet_train.core.device import threads_for
from adanet_train.core.surrogates import Surrogate
from adanet_train.core.world import ALONE, World

ROUNDING = 8 * 2.0**-52  # relative: differences of F below it are noise
LARGE = 100  # columns from which on a second step is cheaper than a second Q; twice as many where Q is rough
FALL = 0.01  # the share of F by which a step has to lower it for the next to have a rough model
EVERY, LEAST, COLUMNS = 4, 4_000, 32  # the roughest has every fourth point, of so many at least, and columns
TINY = 1e-150  # a starting weight below it is 0: its products would underflow


@dataclass(frozen=True)
class Mixture:
    """Mixture weights w, F(w), and a certificate: F(w) - F(v) <= gap.

    For every v if all Γ_j > 0: the gap is a duality gap. Otherwise for every v whose free coordinates (Γ_j = 0) lie
    within max(1, Σ_free |w_j|) of those of w in the l1 norm: there only the gradient is known.
    `converged` says gap <= tol max(1, F(w)), unless w shows that there is no minimiser; if not, `reason` says why.
    """

    w: Tensor
    objective: float
    gap: float
    iterations: int
    converged: bool
    reason: str = ""


@dataclass(frozen=True)
class Point:
    """A point w and what the sample says there: x = 1 - y f - y w·h, F, the slopes of the loss, the gap."""

    w: Tensor
    x: Tensor
    objective: float
    slope: Tensor
    gap: float


@dataclass(frozen=True)
class Model:
    """The curvature Q of the loss on the columns J, made with the weight that stands for Φ''."""

    J: Tensor
    weight: Tensor
    Q: Tensor


def minimise(
    H: Tensor,
    y: Tensor,
    f: Tensor,
    Gamma: Tensor,
    Phi: Surrogate,
    *,
    w: Tensor | None = None,
    weights: Tensor | None = None,
    world: World = ALONE,
    tol: float = 1e-10,
    max_iter: int = 200,
) -> Mixture:
    """The minimiser of F for columns H[i, j] = h_j(x_i), offset f and labels y in {-1, +1}, started at w (or 0).

    With sample weights s the loss is (1/m) Σ_i s_i Φ(..); the certificate is then one of that F. The processes of a
    `world` each give the rows they have; F, the certificate and w are those of all rows together.

    F(w) is never above its value at the start; zeros are exact. Free columns that separate the sample leave F without
    a minimiser: it is then followed down to tol and `converged` is False.

    >>> from adanet_train.core.surrogates import surrogate
    >>> H, y, f = torch.eye(2).double(), torch.ones(2).double(), torch.zeros(2).double()
    >>> mixture = minimise(H, y, f, torch.tensor([0.1, 0.4]).double(), surrogate("logistic"))
    >>> [round(v, 4) for v in mixture.w.tolist()], mixture.converged  # Φ'(1 - w_1)/2 = 0.1, and Φ'(1)/2 < 0.4
    ([2.3863, 0.0], True)
    """
    return solve(Problem(SampleLoss(H, y, f, Phi, weights, world), Gamma), w, tol, max_iter)


def minimise_along(
    z: Tensor,
    y: Tensor,
    f: Tensor,
    Gamma: Tensor,
    *,
    weights: Tensor | None = None,
    world: World = ALONE,
    tol: float = 1e-10,
    max_iter: int = 200,
) -> Mixture:
    """C classes, one direction: the minimiser t of the multinomial loss of f + t z plus Γ |t|, as w of length 1.

    z and f have shape (m, C); for N directions z has shape (N, m, C), and there are N prices Γ and N weights. The
    processes of a `world` each give the rows they have, as in `minimise`.

    >>> z, f = torch.eye(3).double(), torch.zeros(3, 3).double()
    >>> found = minimise_along(z, torch.arange(3), f, torch.tensor(0.3).double())
    >>> round(float(found.w), 2), found.converged  # log(1 + 2e^(1-t)) + 0.3 t, as above
    (2.54, True)
    """
    return solve(Problem(LineLoss(z, y, f, weights, world), Gamma.reshape(-1)), None, tol, max_iter)


def solve(problem: Problem, w: Tensor | None, tol: float, max_iter: int) -> Mixture:
    """Proximal Newton steps until the gap is small."""
    with threads_for(curvature_costs(problem.loss)):
        return _steps(problem, w, tol, max_iter)


def curvature_costs(loss: Loss) -> float:
    """Products and sums of a curvature on all columns, the most expensive part of a step."""
    return 2.0 * loss.columns.numel() * loss.size


def _steps(problem: Problem, w: Tensor | None, tol: float, max_iter: int) -> Mixture:
    here = problem.start(w)
    start = replace(here, x=here.x.new_empty(0))  # of many points x is large, and no step goes on from there
    lower, iterations, reason = 0.0, 0, "float64 resolves no further step"
    while True:
        # A dual point bounds F from below everywhere, so an earlier one may serve a later w.
        lower = max(lower, here.objective - here.gap)
        if here.gap <= tol * max(1.0, here.objective):
            break
        if iterations == max_iter:
            reason = f"no convergence in max_iter={max_iter} iterations"
            break
        after = problem.step(here, tol)
        if after is None:
            break
        here, iterations = after, iterations + 1
    if here.objective > start.objective:
        here = start  # by rounding, at a start that was optimal
    gap = min(here.gap, here.objective) if problem.has_free else max(0.0, here.objective - lower)
    return problem.result(here, gap, iterations, tol, reason)


class Problem:
    """F on one sample: the loss and the weighted l1 penalty."""

    large: float = LARGE
    quarter = 0.9
    """The share of F by which a step has to lower it for a quarter of the points to be enough: the first step alone."""

    def __init__(self, loss: Loss, Gamma: Tensor) -> None:
        N = loss.size
        check(Gamma.shape == (N,), f"Gamma must have shape ({N},), got {tuple(Gamma.shape)}.")
        check(Gamma.dtype == torch.float64, f"Gamma must be float64, got {Gamma.dtype}.")
        valid = bool((Gamma.isfinite() & (Gamma >= 0)).all())
        check(valid, f"Gamma_j must be finite and >= 0, got Gamma={Gamma.tolist()}.")
        self.loss, self.Gamma, self.before = loss, Gamma, math.inf
        self.free = Gamma == 0
        self.has_free = bool(self.free.any())

    def at(self, w: Tensor, x: Tensor | None = None, dual: Tensor | None = None) -> Point:
        """The point w; its x if known, and its gap to Φ'(x) or to the given dual point."""
        x = self.loss.argument(w) if x is None else x
        s = self.loss.dual(x)
        slope = at_dual = self.loss.slope(s)
        if dual is not None:
            s, at_dual = dual, self.loss.slope(dual)
        return Point(w, x, float(self.value(x, w)), slope, float(self.gap(w, x, s, at_dual)))

    def start(self, w: Tensor | None) -> Point:
        """The point to start from, checked; 0 if none is given."""
        w = torch.zeros_like(self.Gamma) if w is None else w
        right = w.shape == self.Gamma.shape and w.dtype == torch.float64
        check(right, f"w must be float64 of shape {tuple(self.Gamma.shape)}, got {w.dtype} of {tuple(w.shape)}.")
        point = self.at(torch.where(w.abs() < TINY, 0.0, w))
        finite = math.isfinite(point.objective) and bool(point.slope.isfinite().all())
        check(finite, f"H and w must be finite and Phi must not overflow at w, got F(w)={point.objective}.")
        return point

    def value(self, x: Tensor, w: Tensor) -> Tensor:
        return self.loss.value(x) + self.Gamma @ w.abs()

    def gap(self, w: Tensor, x: Tensor, s: Tensor, slope: Tensor) -> Tensor:
        """F(w) minus the dual value of c s, with the largest feasible c <= 1, as a sum of terms >= 0.

            mean(Φ(x) + Φ*(c s) - c s x) + Σ_j (Γ_j |w_j| + c slope_j w_j),     c |slope_j| <= Γ_j where Γ_j > 0

        Free coordinates add what their slopes leave open; slope is that of s.
        """
        ratio = torch.where(slope.abs() > self.Gamma, self.Gamma / slope.abs(), 1.0)
        c = torch.where(self.free, 1.0, ratio).amin() if len(w) else slope.new_ones(())
        gap = self.loss.young(x, c * s) + torch.where(self.free, 0.0, self.Gamma * w.abs() + c * slope * w).sum()
        if not self.has_free:
            return gap
        return gap + c * slope[self.free].abs().amax() * w[self.free].abs().sum().clamp_min(1.0)

    def result(self, here: Point, gap: float, iterations: int, tol: float, reason: str) -> Mixture:
        if self.separated(here.w):
            reason = "no minimiser: the columns with Gamma_j = 0 separate the sample"
        elif gap <= tol * max(1.0, here.objective):
            reason = ""
        return Mixture(here.w, here.objective, gap, iterations, not reason, reason)

    def separated(self, w: Tensor) -> bool:
        """Whether the free part of w alone makes no error: then F falls for ever in its direction."""
        if not self.has_free:
            return False
        least, most = self.loss.extremes(torch.where(self.free, w, 0.0))
        return least >= 0 and most > 0

    def step(self, here: Point, tol: float) -> Point | None:
        """Two proximal Newton steps on one model, or one with more curvature; None if float64 resolves none.

        While F falls by more than a hundredth a step, single precision gives the direction well enough, at first from a
        quarter of the points: the line search judges every step, and the gap is that of the exact loss.
        """
        J = self.working_set(here)
        if len(J) == 0:  # w = 0 is optimal, and its gap is rounding
            return None
        every, self.before = self.roughness(here, J), here.objective
        model = self.model(here, J, every=every)
        after, t = self.model_step(here, model, rough=every > 0)
        if every and (after is None or t < 0.1):
            every, model = 0, self.model(here, J)
            after, t = self.model_step(here, model)
        if t < 0.1:
            careful, _ = self.model_step(here, self.model(here, J, cautious=True))
            return min((p for p in (after, careful) if p), key=lambda p: p.objective, default=None)
        if after is None or after.gap <= tol * max(1.0, after.objective) or len(J) < self.large * (2 if every else 1):
            return after
        # Third order for the price of two gradients, which here cost far less than another Q.
        return self.model_step(after, model, rough=every > 0)[0] or after

    def roughness(self, here: Point, J: Tensor) -> int:
        """n: the next model reads every n-th point in single precision; 0: all points in double precision.

        Only where the curvature is expensive: many columns on many points.
        """
        dear = self.loss.columns.shape[1] >= LEAST and len(J) >= COLUMNS and self.loss.world.size == 1
        if not dear or here.objective >= (1 - FALL) * self.before:
            return 0
        return EVERY if here.objective < (1 - self.quarter) * self.before else 1

    def model(self, here: Point, J: Tensor, *, cautious: bool = False, every: int = 0) -> Model:
        weight = self.loss.weight(here.x, cautious=cautious)
        return Model(J, weight, self.loss.curvature(weight, J, every=every))

    def model_step(self, here: Point, model: Model, *, rough: bool = False) -> tuple[Point | None, float]:
        """The point that a line search finds along the step to the minimiser of the quadratic model, and its t."""
        w = here.w.clone()
        w[model.J] = self.minimise_model(here, model, rough=rough)
        direction = w - here.w
        predicted = float(here.slope @ direction + self.Gamma @ (w.abs() - here.w.abs()))
        return self.line_search(here, model, direction, predicted, rough=rough)

    def minimise_model(self, here: Point, model: Model, *, rough: bool) -> Tensor:
        J = model.J
        return minimise_quadratic(model.Q, here.slope[J], here.w[J], self.Gamma[J], rtol=1e-2 if rough else 1e-6)

    def working_set(self, here: Point) -> Tensor:
        """The columns in use, and the worst violators: as many again, and some."""
        used = here.w != 0
        excess = torch.where(used, 0.0, here.slope.abs() - self.Gamma)
        size = int(used.sum())
        worst = excess.topk(min(len(excess), size + 128))
        used[worst.indices[worst.values > 0]] = True
        return used.nonzero().squeeze(1)

    def line_search(
        self, here: Point, model: Model, direction: Tensor, predicted: float, *, rough: bool
    ) -> tuple[Point | None, float]:
        """The first of t = 1, 1/2, 1/4, .. with F(w + t d) <= F(w) + t predicted/4, up to rounding.

        Below its rounding error F decides nothing; there the gap, which is of first order, must halve.
        """
        x = self.loss.argument(here.w + direction)
        change = here.x - x
        noise = ROUNDING * here.objective
        t = 1.0
        while t > 1e-12:
            w = here.w + t * direction
            value = float(self.value(here.x - t * change, w))
            if value <= here.objective + t * predicted / 4 + noise:
                # The slopes of the predicted dual point solve the model: it is feasible where Φ'(x) is only nearly so.
                # Those of a rough model are no nearer.
                dual = self.loss.predicted(here.x, model.weight, change) if t == 1 and not rough else None
                after = self.at(w, x if t == 1 else None, dual)
                resolved = after.objective < here.objective - noise or after.gap <= here.gap / 2
                return (after if resolved else None), t
            t /= 2
        return None, 0.0
