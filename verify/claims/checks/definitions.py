"""Sections 2 and 3: the families, the network, the risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from adanet_theory.activations import activation
from adanet_theory.checks import Array
from adanet_theory.complexity.rademacher import mean_absolute_sign_sum
from adanet_theory.norms import p_norm
from adanet_theory.risk.margin import margin_error, ramp_loss
from verify.claims.checks import Fact, Facts, settles


@settles("h1-family", {"p": 0.5})
def h1_family(p: float | None = None) -> Facts:
    """Midpoints, reflections and 0 stay in the ball ||u||_p <= 1."""
    rng = np.random.default_rng(0)
    for q in (1.0, 1.5, 2.0, math.inf) if p is None else (p,):
        points = [*np.eye(3), *(u / p_norm(u, q) for u in rng.normal(size=(40, 3)))]
        largest = max(p_norm((u + v) / 2, q) for u in points for v in points)
        yield Fact("largest ||(u+v)/2||_p", largest, "<=", 1.0 + 1e-15, "Λ", f"p = {q:g}")


@settles("sigmoid-lipschitz", {"steep": 5.0})
def sigmoid_lipschitz(steep: float = 1.0) -> Facts:
    sigmoid = activation("sigmoid")
    x = np.linspace(-20, 20, 400_001)
    slope = float(np.abs(np.diff(sigmoid(steep * x)) / np.diff(x)).max())
    yield Fact("largest slope", slope, "<=", 1.0, "L", "sigmoid")
    yield Fact("largest slope", slope, "=", sigmoid.lipschitz, "recorded L", tolerance=1e-6)
    yield Fact("sigmoid(0)", float(sigmoid(0.0)), ">", 0.0, where="what breaks Lemmas 1-2")


@settles("output-before-activation", {"phi": "identity"}, {"units": 5})
def output_before_activation(phi: str = "relu", units: int = 100) -> Facts:
    rng = np.random.default_rng(0)
    Psi, U = rng.normal(size=(200, 5)), rng.normal(size=(units, 5))
    h_1 = Psi @ U.T
    yield Fact("rank of h_1", float(np.linalg.matrix_rank(h_1)), "<", float(units), "n_1", "n_0 = 5")
    after = float(np.linalg.matrix_rank(activation(phi)(h_1)))
    yield Fact("rank of φ(h_1)", after, ">", 5.0, "n_0", "what a unit of H_2 reads")


@settles("feedforward-special-case", {"phi": "identity"}, {"collapse": "wrong layer"})
def feedforward_special_case(phi: str = "relu", collapse: str = "last") -> Facts:
    import torch

    from adanet_train.core.network import Network

    def weights(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    generator = torch.Generator().manual_seed(0)
    Psi, hidden, w = weights(50, 4), {(1, 0): weights(6, 4), (2, 1): weights(5, 6), (3, 2): weights(3, 5)}, weights(3)
    f = Network((4, 6, 5, 3), hidden, {3: w}, (phi, phi))(Psi)
    relu = torch.relu
    v = hidden[3, 2].T @ w
    plain = relu(relu(Psi @ hidden[1, 0].T) @ hidden[2, 1].T) @ v
    if collapse != "last":
        plain = relu(relu(relu(Psi @ hidden[1, 0].T) @ hidden[2, 1].T) @ hidden[3, 2].T) @ w
    where = "l = 3 against two hidden ReLU layers"
    yield Fact("largest |f - v·φ(h_{l-1})|", float((f - plain).abs().max()), "<=", 1e-12, where=where)


def _slopes(u: Array, v: Array, w: Array) -> int:
    """How many different slopes x -> Σ_t v_t relu(u_t·(x, 1)) + w·(x, 1) has: its kinks plus one."""
    active = v * u[:, 0] != 0
    kinks = sorted({round(-b / a, 9) for a, b in u[active]})
    slopes = []
    for x in [k - 1e-6 for k in kinks[:1]] + [k + 1e-6 for k in kinks] or [0.0]:
        slopes.append(w[0] + sum(v_t * a for v_t, (a, b) in zip(v, u, strict=True) if a * x + b > 0))
    return 1 + sum(abs(s - t) > 1e-12 for s, t in pairwise(slopes))


@settles("convex-hull", {"n_1": 2})
def convex_hull(n_1: int = 1) -> Facts:
    """(relu(x) + relu(x-1))/2 lies in conv(H) for l = 2, n_1 = n_2 = 1 and features (x, 1), and not in F."""
    rng = np.random.default_rng(0)
    mean = _slopes(np.array([[1.0, 0.0], [1.0, -1.0]]), np.array([0.5, 0.5]), np.zeros(2))
    members = max(_slopes(rng.normal(size=(n_1, 2)), rng.normal(size=n_1), rng.normal(size=2)) for _ in range(500))
    yield Fact(
        "slopes of (relu(x) + relu(x-1))/2", mean, ">", members, "most slopes of a function in F", f"n_1 = {n_1}"
    )


@settles("reflection", {"layer": 1})
def reflection(layer: int = 2) -> Facts:
    """Turning the sign of the top weights turns the unit: -h is in H_k too."""
    rng = np.random.default_rng(0)
    Psi, U, u, relu = rng.normal(size=(30, 4)), rng.normal(size=(5, 4)), rng.normal(size=5), activation("relu")
    h = relu(Psi @ U.T) @ u
    turned = relu(Psi @ U.T) @ -u if layer == 2 else relu(Psi @ -U.T) @ u
    yield Fact("largest |h(-u) + h(u)|", float(np.abs(h + turned).max()), "=", 0.0, where="a unit of H_2")


@settles("data-dependent", {"size": 1.0})
def data_dependent(m: int = 100, size: float | None = None) -> Facts:
    """Two distributions that a sample cannot tell apart: Ψ = 1, and Ψ = m^3 with probability m^-2 else 1."""
    big, rare = m**3.0 if size is None else size, m**-2.0
    same = (1 - rare) ** m
    R_S = mean_absolute_sign_sum(m)
    # E|Σ σ_i a_i| >= max |a_i|, so R_m(H_1) >= E[r_inf]/m.
    R_m = ((1 - same) * big + same) / m
    yield Fact("R_m(H_1) at least", R_m, ">", 10 * R_S, "ten times R_S(H_1) of that sample", f"m = {m}, Λ = 1")
    yield Fact("P(the sample shows only 1)", same, ">", 0.98)


@settles("margin-error-ties", {"count": np.less})
def margin_error_ties(count: Callable[..., Any] = np.less_equal) -> Facts:
    margins = np.array([-1.0, 0.0, 0.25, 0.5, 2.0])
    yield Fact("R of f = 0", float(np.mean(count(np.zeros(5), 0.0))), "=", 1.0, where="ties are errors")
    error, ours = float(np.mean(count(margins, 0.5))), margin_error(margins, 0.5)
    yield Fact("R_{S,ρ}", ours, "=", error, where="margins -1, 0, 1/4, 1/2, 2 at ρ = 1/2")
    ramp = ramp_loss(margins, 0.5)
    yield Fact("training error", float(np.mean(count(margins, 0.0))), "<=", ramp, "ramp")
    yield Fact("ramp", ramp, "<=", ours, "R_{S,ρ}")
