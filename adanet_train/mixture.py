"""The convex step of AdaNet: the mixture weights of given units, with a certificate of how far they are from optimal.

    min_w  F(w) = (1/m) Σ_i Φ(1 - y_i f(x_i) - y_i w · h(x_i)) + Σ_j Γ_j |w_j|

Proximal Newton steps on the columns that are in use or violate their optimality condition; the quadratic model of
each is solved by `quadratic`, and a line search evaluates F itself, so that F never rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_theory.spec import check
from adanet_train.quadratic import minimise_quadratic
from adanet_train.surrogates import Surrogate

ROUNDING = 8 * 2.0**-52  # relative: differences of F below it are noise


@dataclass(frozen=True)
class Mixture:
    """Mixture weights w, F(w), and a certificate: F(w) - F(v) <= gap.

    For every v if all Γ_j > 0: the gap is a duality gap. Otherwise for every v whose free coordinates (Γ_j = 0) lie
    within max(1, Σ_free |w_j|) of those of w in the l1 norm: there only the gradient is known.
    `converged` says gap <= tol max(1, F(w)), unless w itself shows that there is no minimiser; if not, `reason` says why.
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

    def check_finite(self) -> None:
        finite = math.isfinite(self.objective) and bool(self.slope.isfinite().all())
        check(finite, "H must be finite, and Phi must not overflow at the starting w.")


def minimise(
    H: Tensor,
    y: Tensor,
    f: Tensor,
    Gamma: Tensor,
    Phi: Surrogate,
    *,
    w: Tensor | None = None,
    tol: float = 1e-10,
    max_iter: int = 200,
) -> Mixture:
    """The minimiser of F for columns H[i, j] = h_j(x_i), offset f and labels y in {-1, +1}, started at w (or 0).

    F(w) is never above its value at the start; zeros are exact. Free columns that separate the sample leave F without
    a minimiser: it is then followed down to tol and `converged` is False.

    >>> from adanet_train.surrogates import surrogate
    >>> H, y, f = torch.eye(2).double(), torch.ones(2).double(), torch.zeros(2).double()
    >>> mixture = minimise(H, y, f, torch.tensor([0.1, 0.4]).double(), surrogate("logistic"))
    >>> [round(v, 4) for v in mixture.w.tolist()], mixture.converged  # Φ'(1 - w_1)/2 = 0.1, and Φ'(1)/2 < 0.4
    ([2.3863, 0.0], True)
    """
    w = torch.zeros_like(Gamma) if w is None else w.clone()
    problem = Problem(H, y, f, Gamma, Phi, w)
    start = here = problem.at(w)
    start.check_finite()
    lower, iterations, reason = 0.0, 0, "float64 resolves no further step"
    while True:
        # A dual point bounds F from below everywhere, so an earlier one may serve a later w.
        lower = max(lower, here.objective - here.gap)
        if here.gap <= tol * max(1.0, here.objective):
            break
        if iterations == max_iter:
            reason = f"no convergence in max_iter={max_iter} iterations"
            break
        after = problem.step(here)
        if after is None:
            break
        here, iterations = after, iterations + 1
    if here.objective > start.objective:
        here = start  # by rounding, at a start that was optimal
    gap = min(here.gap, here.objective) if problem.has_free else max(0.0, here.objective - lower)
    if problem.separated(here.w):
        reason = "no minimiser: the columns with Gamma_j = 0 separate the sample"
    elif gap <= tol * max(1.0, here.objective):
        reason = ""
    return Mixture(here.w, here.objective, gap, iterations, not reason, reason)


class Problem:
    """F on one sample, with the columns of H stored one after the other."""

    def __init__(self, H: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, Phi: Surrogate, w: Tensor) -> None:
        check(H.ndim == 2 and len(H) >= 1, f"H must be a matrix with m >= 1 rows, got shape {tuple(H.shape)}.")
        m, N = H.shape
        for symbol, tensor, size in (("y", y, m), ("f", f, m), ("Gamma", Gamma, N), ("w", w, N)):
            check(tensor.shape == (size,), f"{symbol} must have shape ({size},), got {tuple(tensor.shape)}.")
        for symbol, tensor in (("H", H), ("y", y), ("f", f), ("Gamma", Gamma), ("w", w)):
            check(tensor.dtype == torch.float64, f"{symbol} must be float64, got {tensor.dtype}.")
        for symbol, tensor in (("f", f), ("Gamma", Gamma), ("w", w)):
            check(bool(tensor.isfinite().all()), f"{symbol} must be finite.")
        check(bool((y.abs() == 1).all()), "y must be -1 or +1.")
        check(bool((Gamma >= 0).all()), f"Gamma_j must be >= 0, got {float(Gamma.min()) if N else 0.0}.")
        self.columns = H.T.contiguous()
        self.y, self.offset, self.Gamma, self.Phi = y, 1 - y * f, Gamma, Phi
        self.free = Gamma == 0
        self.has_free = bool(self.free.any())

    def at(self, w: Tensor) -> Point:
        """The point w, evaluated afresh so that no rounding piles up."""
        x = self.offset - self.y * (w @ self.columns)
        s = self.Phi.derivative(x)
        slope = self.columns @ (-self.y * s) / len(x)
        objective, gap = torch.stack([self.value(x, w), self.gap(w, x, s, slope)]).tolist()
        return Point(w, x, objective, slope, gap)

    def value(self, x: Tensor, w: Tensor) -> Tensor:
        return self.Phi.value(x).mean() + self.Gamma @ w.abs()

    def gap(self, w: Tensor, x: Tensor, s: Tensor, slope: Tensor) -> Tensor:
        """F(w) minus the dual value of c s, with the largest c <= 1 that is feasible, as a sum of terms >= 0.

            mean(Φ(x) + Φ*(c s) - c s x) + Σ_j (Γ_j |w_j| + c slope_j w_j),     c |slope_j| <= Γ_j where Γ_j > 0

        Free coordinates add what their slopes leave open.
        """
        ratio = torch.where(slope.abs() > self.Gamma, self.Gamma / slope.abs(), 1.0)
        c = torch.where(self.free, 1.0, ratio).amin() if len(w) else slope.new_ones(())
        young = (self.Phi.value(x) + self.Phi.conjugate(c * s) - c * s * x).mean()
        penalised = torch.where(self.free, 0.0, self.Gamma * w.abs() + c * slope * w).sum()
        if not self.has_free:
            return young + penalised
        radius = (w[self.free].abs().sum()).clamp_min(1.0)
        return young + penalised + c * slope[self.free].abs().amax() * radius

    def separated(self, w: Tensor) -> bool:
        """Whether the free part of w alone errs nowhere: going on in its direction F falls for ever."""
        if not self.has_free:
            return False
        margins = self.y * (torch.where(self.free, w, 0.0) @ self.columns)
        return bool((margins.amin() >= 0) & (margins.amax() > 0))

    def step(self, here: Point) -> Point | None:
        """One proximal Newton step; None if float64 resolves none."""
        J = self.working_set(here)
        columns = self.columns[J]
        Q = (columns * (self.Phi.second(here.x) / len(here.x))) @ columns.T
        z = minimise_quadratic(Q, here.slope[J], here.w[J], self.Gamma[J], rtol=1e-3)
        w = here.w.clone()
        w[J] = z
        direction = w - here.w
        predicted = float(here.slope @ direction + self.Gamma @ (w.abs() - here.w.abs()))
        return self.line_search(here, direction, predicted)

    def working_set(self, here: Point) -> Tensor:
        """The columns in use, and the worst violators: as many again, and some."""
        used = here.w != 0
        excess = torch.where(used, 0.0, here.slope.abs() - self.Gamma)
        size = int(used.sum())
        worst = excess.topk(min(len(excess), size + 128))
        used[worst.indices[worst.values > 0]] = True
        return used.nonzero().squeeze(1)

    def line_search(self, here: Point, direction: Tensor, predicted: float) -> Point | None:
        """The first of t = 1, 1/2, 1/4, .. with F(w + t d) <= F(w) + t predicted/4, up to rounding.

        Below rounding F says nothing, yet the gap, which is of first order, still does: it must halve there.
        """
        move = self.y * (direction @ self.columns)
        noise = ROUNDING * here.objective
        t = 1.0
        while t > 1e-12:
            w = here.w + t * direction
            value = float(self.value(here.x - t * move, w))
            if value <= here.objective + t * predicted / 4 + noise:
                after = self.at(w)
                return after if after.objective < here.objective - noise or after.gap <= here.gap / 2 else None
            t /= 2
        return None
