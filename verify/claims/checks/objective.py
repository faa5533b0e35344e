"""Section 5: the surrogates, the objective, and what minimising it means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.complexity.rademacher import layered_complexity
from adanet_theory.risk.generalization import margin_bound_uniform_at, objective_bound
from adanet_theory.risk.margin import ramp_loss
from adanet_theory.spec import NetworkSpec
from adanet_train.convex.cvx_exact import minimise_scalar
from adanet_train.convex.mixture import minimise
from adanet_train.core.config import Config
from adanet_train.core.surrogates import surrogate
from adanet_train.methods import adanet_cvx
from adanet_train.search import objective
from verify.claims.checks import Fact, Facts, settles


def tensor(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def Phi_at(name: str, x: float) -> float:
    return float(surrogate(name).value(tensor([x])))


@settles("logistic-zero-one", {"Phi": "logistic2"}, {"Phi": "exponential"})
def logistic_zero_one(Phi: str = "logistic") -> Facts:
    yield Fact("Φ(0)", Phi_at(Phi, 0.0), "<", 1.0, "1_{u <= 0} at u = 0", f"{Phi}, Φ(-u) at margin u")
    margin = -math.log(math.e - 1)
    yield Fact("Φ(-u)", Phi_at(Phi, -margin), "=", 1.0, "", f"u = {margin:.4f}: below 1 on (u, 0]", 1e-12)


@settles("shifted-surrogate", {"rho": 2.9})
def shifted_surrogate(rho: float = 1.0) -> Facts:
    """Φ(1-u) >= ψ_ρ(u) on a grid, and the largest such ρ."""
    u = np.linspace(-5, 20, 100_001)
    for name, largest in (("logistic", 2.844), ("exponential", 3.146)):
        Phi_of = surrogate(name)
        slack = float((Phi_of.value(1 - torch.from_numpy(u)).numpy() - np.clip(1 - u / rho, 0, 1)).min())
        yield Fact("least Φ(1-u) - ψ_ρ(u)", slack, ">=", 0.0, where=f"{name}, ρ = {rho:g}")
        yield Fact("largest ρ", Phi_of.rho_max, "=", largest, "", name, 5e-4)
    yield Fact("Φ(1)", Phi_at("logistic", 1.0), ">=", 1.0, where="zero-one loss, logistic")
    yield Fact("Φ(0)", Phi_at("logistic", 0.0), "<", 1.0, where="not the margin-1 indicator: only the ramp")


@settles("objective-unique", {"copies": 1})
def objective_unique(copies: int = 2) -> Facts:
    """Two units relu(x) and relu(2x) = 2 relu(x), with Γ_2 = 2 Γ_1: a segment of minimisers."""
    x = tensor([0.5, 1.0, -0.3, 0.8, 0.2])
    y = tensor([1.0, 1.0, -1.0, -1.0, 1.0])
    H = torch.stack([torch.relu(x), 2 * torch.relu(x)], 1)[:, :copies]
    Gamma, Phi = tensor([0.01, 0.02])[:copies], surrogate("logistic")

    def F(w: Tensor) -> float:
        return objective.loss(Phi, y, H @ w) + float(Gamma @ w.abs())

    mixture = minimise(H, y, torch.zeros_like(y), Gamma, Phi)
    total = float(mixture.w.sum()) if copies == 1 else float(mixture.w[0] + 2 * mixture.w[1])
    ends = [tensor([total, 0.0])[:copies], tensor([0.0, total / 2])[:copies]]
    apart = float((ends[0] - ends[1]).abs().max())
    where = f"units relu(x) and relu(2x), F = {F(ends[0]):.5g} at both"
    yield Fact("distance of two minimisers", apart, ">", 0.5, where=where)
    yield Fact("F at one", F(ends[0]), "=", F(ends[1]), "F at the other", "relu(x), relu(2x)", 1e-12)
    middle = F((ends[0] + ends[1]) / 2)
    yield Fact("F between them", middle, "<=", (F(ends[0]) + F(ends[1])) / 2 + 1e-12, "mean of F", "F is convex")
    one = tensor([1.0, 1.0])
    values = [objective.loss(Phi, one, w * one) for w in (1.0, 3.0, 9.0)]
    yield Fact(
        "F at w = 9, Γ = 0, separable", values[2], "<", min(values[:2]), "F at w = 1, 3", "inf F = 0, not attained"
    )
    flat = float(Phi.second(1 - tensor([50.0])))
    yield Fact("F'' at w = 50", flat, "<", 1e-20, where="not strongly convex")


@settles("minimises-bound", {"lam": 3.0})
def minimises_bound(lam: float = 1e-4) -> Facts:
    """The λ with which the objective is a bound, against the largest of the paper's grid; β likewise."""
    need = 2 * 1.05 / surrogate("logistic").rho_max
    yield Fact("least λ of a bound", need, ">", lam, "largest λ searched", "logistic, the largest admissible ρ")
    spec = NetworkSpec.layered((154, 150, 150), 1.0, p=2)
    r = layered_complexity(spec, 2, m=9600, r_inf=1.0)
    yield Fact("r_j by Lemma 2", r, "=", 10.5, "", "k = 2, p = 2, B = 150, m = 9600", 0.05)
    yield Fact("beta of a bound", need * math.sqrt(2 * math.log(2) / 9600), ">", 0.0, "β searched", "l = 2, M_k = 1")


@settles("objective-bound", {"spoil": 0.3}, thorough={"trials": 2000})
def objective_bound_holds(spoil: float = 1.0, trials: int = 100) -> Facts:
    """objective-bound never falls below margin-bound-uniform, which is proved, at the best j it could have taken."""
    rng, Phi = np.random.default_rng(0), surrogate("logistic")
    least = math.inf
    for _ in range(trials):
        m, depth = int(rng.integers(50, 5000)), int(rng.integers(2, 6))
        w, R, M = (rng.uniform(0.01, s, size=depth).tolist() for s in (2.0, 0.1, 3.0))
        margins = rng.normal(1, 1, size=200)
        loss = objective.loss(Phi, torch.ones(200, dtype=torch.float64), torch.from_numpy(margins))
        ours = objective_bound(loss, w, R, m=m, delta=0.05, M=M).total * spoil
        W_M = sum(a * b for a, b in zip(w, M, strict=True))
        j = math.ceil(math.log(W_M) / math.log(1.05))
        ramp = ramp_loss(margins, W_M / 1.05**j)
        least = min(least, ours / margin_bound_uniform_at(j, ramp, w, R, m=m, delta=0.05, M=M).total)
    yield Fact("least objective-bound/margin-bound-uniform", least, ">=", 1.0, where=f"{trials} random cases, W free")


@settles("objective-width", {"p": 1.0})
def objective_width(p: float = 2.0, T: int = 30, B: int = 150) -> Facts:
    """r_j by Lemma 2 with the units of one round and with those of all rounds."""
    first, last = (
        layered_complexity(NetworkSpec.layered((154, n, n), 1.0, p), 2, m=9600, r_inf=1.0) for n in (B, T * B)
    )
    yield Fact("r at n_1 = 4500", last, ">", 2 * first, "twice r at n_1 = 150", f"p = {p:g}: r_j depends on the round")


@settles("constant-decrease", {"rounds": 1})
def constant_decrease(rounds: int = 40) -> Facts:
    """AdaNet.CVX, exact steps: every round lowers F, none by a constant amount for long, since F >= 0."""
    generator = torch.Generator().manual_seed(0)
    Psi = torch.randn(40, 3, dtype=torch.float64, generator=generator)
    y = torch.where(Psi[:, 0] + 0.3 * torch.randn(40, dtype=torch.float64, generator=generator) > 0, 1.0, -1.0).double()
    config = Config(rounds=rounds, p=2.0, Lambda=1.0, lam=0.0, beta=0.01, max_depth=2)
    F = [objective.loss(surrogate("logistic"), y, 0 * y)]
    F += [entry["objective"] for entry in adanet_cvx.train(Psi, y, config).history]
    steps = -np.diff(F)
    steps = steps[steps > 0]
    most = F[0] / steps[0]
    where = f"AdaNet.CVX, F_0 = {F[0]:.4f}, first decrease {steps[0]:.4f}"
    yield Fact(
        "rounds that lowered F", len(steps), ">", most, "most rounds that could do so by the first decrease", where
    )
    yield Fact("last decrease", float(steps[-1]), "<", float(steps[0]) / 10, "a tenth of the first")


def coordinates(K: float) -> tuple[Tensor, Tensor]:
    """Z = [[K+1, .9], [-(K-1), .9]], y = (1, 1): the slopes at w = 0 are in the ratio 1 to .9."""
    return tensor([[K + 1, 0.9], [1 - K, 0.9]]), tensor([1.0, 1.0])


@settles("largest-decrease", {"K": 0.0})
def largest_decrease(K: float = 10.0, Gamma: float = 1e-3) -> Facts:
    """The coordinate with the steepest slope against the other one."""
    Z, y = coordinates(K)
    Phi, zero = surrogate("logistic"), torch.zeros(2, dtype=torch.float64)
    start = objective.loss(Phi, y, zero)
    gains = [start - minimise_scalar(Z[:, j].contiguous(), y, zero, Gamma, Phi).objective for j in (0, 1)]
    slopes = (y * Phi.derivative(1 - y * zero)) @ Z / 2
    yield Fact("decrease by coordinate 1", gains[0], "<", gains[1], "by coordinate 2", f"of F_0 = 1.3133, K = {K:g}")
    yield Fact("slope of coordinate 1", float(slopes[0]), ">", float(slopes[1]), "of coordinate 2")
