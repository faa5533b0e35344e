"""Appendix C: AdaNet.CVX, its theorem and its pseudocode."""

from __future__ import annotations

import math
import warnings

import numpy as np
import torch
from torch import Tensor

from adanet_theory.duality import dual_vector, guaranteed_decrease, layer_score, printed_dual_vector
from adanet_theory.norms import conjugate, p_norm
from adanet_train.convex.cvx_exact import minimise_norm, minimise_scalar
from adanet_train.core.config import Config
from adanet_train.core.surrogates import surrogate
from adanet_train.methods import adanet_cvx
from adanet_train.search import objective
from verify.claims.checks import Fact, Facts, settles
from verify.claims.checks.objective import coordinates, tensor

LOGISTIC = surrogate("logistic")


def flipped(Z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The same losses with both classes: (z, y) and (-z, -y) are the same point for a linear f."""
    return torch.cat([Z, -Z]), torch.cat([y, -y])


def closed_form(Z: Tensor, y: Tensor, Gamma: float, p: float, Phi: str = "logistic") -> tuple[float, float]:
    """min_w F along the closed-form unit, and the joint minimum over w and ||u||_p <= 1, from f = 0."""
    zero, loss = torch.zeros_like(y), surrogate(Phi)
    e = (y * loss.derivative(1 - y * zero)) @ Z / len(y)
    h = Z @ torch.from_numpy(dual_vector(e.numpy(), 1.0, p))
    return minimise_scalar(h, y, zero, Gamma, loss).objective, minimise_norm(Z, y, zero, Gamma, p, loss).objective


def _direction() -> tuple[Tensor, Tensor, Tensor]:
    """f, y and h of a small sample."""
    generator = torch.Generator().manual_seed(0)
    f, h = (torch.randn(12, dtype=torch.float64, generator=generator) for _ in range(2))
    return f, torch.where(h + 0.5 * f > 0, 1.0, -1.0).double(), h


def _slope(sign: float) -> float:
    """d/dw at w = 0 of (1/m) Σ Φ(1 - y (f + sign w h)), by central differences."""
    f, y, h = _direction()
    up, down = (objective.loss(LOGISTIC, y, f + sign * step * h) for step in (1e-6, -1e-6))
    return (up - down) / 2e-6


def _correlation() -> tuple[float, float]:
    """ε_{t,h} = E_{D_t}[y h] and S_t/m."""
    f, y, h = _direction()
    weight = LOGISTIC.derivative(1 - y * f)
    return float((weight * y * h).sum() / weight.sum()), float(weight.mean())


@settles("cvx-derivative-sign", {"sign": 1.0})
def cvx_derivative_sign(sign: float = -1.0) -> Facts:
    """The printed F_t has f - w h; its derivative is the opposite of the one in the proof."""
    eps, mean = _correlation()
    yield Fact("d/dw with f - w h, as printed", _slope(sign), "=", eps * mean, "ε S_t/m", "", 1e-8)
    yield Fact("d/dw with f + w h", _slope(-sign), "=", -eps * mean, "-ε S_t/m", "", 1e-8)


@settles("cvx-derivative", {"formula": "corrected"})
def cvx_derivative(formula: str = "printed") -> Facts:
    eps, mean = _correlation()
    printed = (2 * eps - 1) * mean if formula == "printed" else -eps * mean
    slope = _slope(1.0)
    yield Fact("d/dw", slope, "<", printed - 0.01, "(2ε - 1) S_t/m as printed, less 0.01")
    yield Fact("d/dw", slope, "=", -eps * mean, "-ε S_t/m", "", 1e-8)


@settles("cvx-argmax", {"sense": "min"})
def cvx_argmax(sense: str = "max") -> Facts:
    """Over ||u||_2 <= 1 the largest derivative is where F rises fastest; the steepest descent is the argmin."""
    eps = np.array([0.6, -0.8])
    angles = np.linspace(0, 2 * np.pi, 721)
    U = np.stack([np.cos(angles), np.sin(angles)], 1)
    derivative = -U @ eps
    chosen = U[derivative.argmax() if sense == "max" else derivative.argmin()]
    yield Fact("u·ε at the argmax of the derivative", float(chosen @ eps), "<", 0.0, where="an ascent direction")
    yield Fact("max u·ε", p_norm(eps, 2), "=", float((U @ eps).max()), "", "Hölder", 1e-4)


@settles("cvx-sign", {"eps": (0.5667, 0.8)})
def cvx_sign(eps: tuple[float, float] = (0.5667, -0.8)) -> Facts:
    printed, right = printed_dual_vector(eps, 1.0, 2.0), dual_vector(eps, 1.0, 2.0)
    where = f"ε = {eps}, p = 2"
    yield Fact("u·ε as printed", float(printed @ eps), "<", float(right @ eps) - 1e-9, "u·ε with the sign", where)
    yield Fact("u·ε with the sign", float(right @ eps), "=", p_norm(eps, 2.0), "||ε||_q", "", 1e-12)
    signs = [1.0 if e > 0 else -1.0 for e in eps]
    Z, y = flipped(tensor([[0.2, 0.8 * signs[1]], [0.5, 0.9 * signs[1]], [1.0, 0.7 * signs[1]]]), tensor([1.0] * 3))
    F = []
    for step in ("printed", "closed-form"):
        config = Config(rounds=1, p=2.0, Lambda=1.0, lam=0.0, beta=0.05, step=step)
        F.append(adanet_cvx.train(Z, y, config).history[-1]["objective"])
    yield Fact("F after the printed step", F[0], ">", F[1], "F after the corrected step", "logistic, Γ = 0.05")


@settles("cvx-penalty-irrelevant", {"Gamma": 1e-4})
def cvx_penalty_irrelevant(Gamma: float = 0.1) -> Facts:
    """h_1 separates but is small, h_2 errs once but is large: without penalty h_1 is the better unit, with it h_2."""
    y, zero = tensor([1.0] * 10), torch.zeros(10, dtype=torch.float64)
    h_1, h_2 = tensor([0.1] * 10), tensor([3.0] * 9 + [-3.0])
    free = [minimise_scalar(h, y, zero, 0.0, LOGISTIC).objective for h in (h_1, h_2)]
    priced = [minimise_scalar(h, y, zero, Gamma, LOGISTIC).objective for h in (h_1, h_2)]
    yield Fact("min_w F, h_1", priced[0], ">", priced[1], "min_w F, h_2", f"Γ = {Gamma:g}")
    yield Fact("min_w F, h_1", free[0], "<", free[1], "min_w F, h_2", "Γ = 0: the penalty turned the choice")


@settles("cvx-closed-form", {"signed": False})
def cvx_closed_form(signed: bool = True) -> Facts:
    rng = np.random.default_rng(0)
    gap = length = 0.0
    for p in (1.0, 1.01, 1.5, 2.0, 5.0, 1e4, math.inf):
        for eps in rng.normal(size=(20, 6)):
            u = dual_vector(eps if signed else np.abs(eps), 0.7, p)
            gap = max(gap, abs(float(u @ eps) - 0.7 * p_norm(eps, conjugate(p))))
            length = max(length, p_norm(u, p))
    yield Fact("largest |u·ε - Λ||ε||_q|", gap, "<=", 1e-12, where="p = 1, 1.01, 1.5, 2, 5, 10^4, inf")
    yield Fact("largest ||u||_p", length, "<=", 0.7 * (1 + 1e-12), "Λ")


@settles("cvx-joint-minimiser", {"Z": ((3.0,), (-1.0,))})
def cvx_joint_minimiser(Z: tuple[tuple[float, ...], ...] = ((3.0, 1.0), (-1.0, 1.0))) -> Facts:
    stored = {(2.0, "logistic"): (0.8197, 0.4120), (math.inf, "logistic"): (0.7809, 0.4106),
              (2.0, "exponential"): (1.5235, 0.4183)}  # fmt: skip
    for (p, Phi), (closed, joint) in stored.items():
        step = closed_form(tensor(Z), tensor([1.0, 1.0]), 0.1, p, Phi)
        where = f"Z = [[3, 1], [-1, 1]], y = (1, 1), Γ = 0.1, p = {p:g}, {Phi}"
        yield Fact("F of the closed form", step[0], ">", step[1], "least F", where)
        yield Fact("F of the closed form", step[0], "=", closed, "", "", 5e-5)
        yield Fact("least F", step[1], "=", joint, "", "", 5e-5)


@settles("cvx-layer", {"Gamma": (0.1, 0.1)})
def cvx_layer(Gamma: tuple[float, float] = (0.3, 1.0)) -> Facts:
    """One feature z_1 = 1 and a layer above with z_2 = 1.2 on four points: scores .7311 and .8773."""
    y, zero = tensor([1.0] * 4), torch.zeros(4, dtype=torch.float64)
    g, F = [], []
    for z, price in zip((1.0, 1.2), Gamma, strict=True):
        g.append(layer_score([z], 1.0, 2.0, float(LOGISTIC.derivative(tensor([1.0])))))
        F.append(minimise_scalar(z * torch.ones_like(y), y, zero, price, LOGISTIC).objective)
    yield Fact("F with s = 2", F[1], ">", F[0], "F with s = 1", f"Γ = {Gamma}; the print takes s = 2")
    yield Fact("g_2", g[1], ">", g[0], "g_1", "the paper compares these")
    hundred = torch.cat([torch.ones(51), -torch.ones(49)]).double() * 100
    y, zero = torch.ones(100, dtype=torch.float64), torch.zeros(100, dtype=torch.float64)
    one, two = (minimise_scalar(h, y, zero, 0.1, LOGISTIC).objective for h in (torch.ones_like(y), hundred))
    mean = float(LOGISTIC.derivative(tensor([1.0])))
    yield Fact("g_2 - Γ_2", 2 * mean - 0.1, ">", mean - 0.1, "g_1 - Γ_1", "z_1 = 1, z_2 = ±100, 51 and 49")
    yield Fact("F with s = 2", two, ">", one, "F with s = 1", "so argmax(g - Γ) does not help: compare the minima of F")


@settles("cvx-limits", {"p": 2.0})
def cvx_limits(p: float = 1.0001) -> Facts:
    eps = [0.3, -0.8, 0.1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with np.errstate(all="ignore"):
            q = p / (p - 1)
            magnitude = np.abs(eps)
            printed = magnitude ** (q - 1) / (np.sum(magnitude**q) ** (1 / q)) ** (q / p)
    yield Fact("printed u is a number", float(np.isfinite(printed).all()), "=", 0.0, "no", f"p = {p:g}, float64")
    ours = dual_vector(eps, 1.0, p)
    yield Fact("u·ε with scaled powers", float(ours @ eps), "=", p_norm(eps, conjugate(p)), "||ε||_q", "", 1e-9)
    yield Fact("u·ε at p = 1", float(dual_vector(eps, 1.0, 1.0) @ eps), "=", 0.8, "||ε||_inf")
    yield Fact("||u|| at ε = 0", p_norm(dual_vector([0.0, 0.0], 1.0, 2.0), 2.0), "=", 0.0, "no descent")


@settles("cvx-closed-form-optimal", {"K": 0.0})
def cvx_closed_form_optimal(K: float = 1000.0) -> Facts:
    """The gap is the whole loss: p = 1, ε = (1, .9), the closed form takes the coordinate that hardly helps."""
    Z, y = coordinates(K)
    closed, joint = closed_form(Z, y, 1e-3, 1.0)
    F_0 = objective.loss(LOGISTIC, y, torch.zeros_like(y))
    yield Fact(
        "decrease of the closed form",
        F_0 - closed,
        "<",
        1e-3 * (F_0 - joint),
        "1/1000 of the best",
        f"K = {K:g}, p = 1",
    )
    closed, joint = closed_form(Z, y, 1e-3, 2.0)
    yield Fact("F of the closed form", closed, ">", 10 * joint, "ten times the least F", f"K = {K:g}, p = 2, Γ = 1e-3")


@settles("cvx-stop", {"step": "closed-form"})
def cvx_stop(step: str = "printed") -> Facts:
    """A penalty under which nothing helps: the print adds units of weight 0 in every round."""
    Psi, y = flipped(tensor([[1.0, 0.5], [0.2, 1.0]]), tensor([1.0, 1.0]))
    config = Config(rounds=5, p=2.0, Lambda=1.0, lam=0.0, beta=5.0, step=step)
    trained = adanet_cvx.train(Psi, y, config)
    added = sum(entry["chosen"] >= 0 for entry in trained.history)
    yield Fact("units added", added, "=", 5, "T", "Γ = 5 > g")
    used = sum(float(w.abs().sum()) for w in trained.network.output.values())
    yield Fact("Σ|w|", used, "=", 0.0)
    slopes = [float(surrogate(name).derivative(tensor([-20.0]))) for name in ("logistic", "exponential")]
    yield Fact("least Φ'(-20)", min(slopes), ">", 0.0, where="D_t is well defined")


@settles("cvx-decrease", {"tau": 0.01}, thorough={"trials": 500})
def cvx_decrease(tau: float = LOGISTIC.curvature, trials: int = 50) -> Facts:
    """The decrease of the closed-form step against (g - Γ)²/(2 τ mean h²)."""
    least = math.inf
    generator = torch.Generator().manual_seed(0)
    for _ in range(trials):
        Z = torch.randn(10, 3, dtype=torch.float64, generator=generator)
        y = torch.where(Z[:, 0] > 0, 1.0, -1.0).double()
        zero = torch.zeros_like(y)
        e = ((y * LOGISTIC.derivative(1 - y * zero)) @ Z / 10).numpy()
        g, h = layer_score(e, 1.0, 2.0, 1.0), Z @ torch.from_numpy(dual_vector(e, 1.0, 2.0))
        bound = guaranteed_decrease(g, g / 3, tau=tau, mean_square=float((h * h).mean()))
        gain = objective.loss(LOGISTIC, y, zero) - minimise_scalar(h, y, zero, g / 3, LOGISTIC).objective
        least = min(least, gain / bound)
    yield Fact("least decrease/guaranteed", least, ">=", 1.0, where=f"{trials} samples, logistic")
