"""Lower values of R_S(H_k) for 100 draws: all in one batch against a loop that trains one draw at a time."""

from __future__ import annotations

import math
import time

import numpy as np
import torch

from adanet_theory.spec import NetworkSpec
from adanet_train.convex.projection import nearest_
from verify.measure.ascent import lower_complexities

DRAWS, RESTARTS, STEPS = 100, 8, 25


def run() -> list[dict]:
    return [against_a_loop(m, n_0, p) for m, n_0, p in ((200, 10, 2.0), (1000, 30, 2.0), (1000, 30, 1.0))]


def against_a_loop(m: int, n_0: int, p: float) -> dict:
    """R_S(H*_2) of ReLU units. The loop is the usual one: a unit, an optimiser, a projection after each step."""
    Psi = np.random.default_rng(0).standard_normal((m, n_0))
    spec = NetworkSpec.layered((n_0, 100, 1), 1.0, p)
    start = time.perf_counter()
    batched = lower_complexities(spec, Psi, draws=DRAWS, seed=0, restarts=RESTARTS, steps=STEPS)[1].mean
    ours = time.perf_counter() - start
    start = time.perf_counter()
    looped = spec.root(1) * one_draw_at_a_time(torch.tensor(Psi), p) / m
    theirs = time.perf_counter() - start
    return {
        "work": f"lower value of R_S(H*_2), m={m}, n_0={n_0}, p={p:g}, {DRAWS} draws",
        "against": "a loop that trains one draw at a time",
        "ratio": ours / theirs,
        "target": "<= 1/10",
        "ours": ours,
        "theirs": theirs,
        "value": batched,
        "value_of_the_loop": looped,
    }


def one_draw_at_a_time(X: torch.Tensor, p: float) -> float:
    """The mean over the draws of the best of RESTARTS units, each trained for STEPS steps of projected ascent."""
    generator = torch.Generator().manual_seed(0)
    total = 0.0
    for _ in range(DRAWS):
        sigma = torch.randint(0, 2, (len(X),), generator=generator).double() * 2 - 1
        total += max(trained(X, sigma * sign, p, generator) for sign in (1, -1) for _ in range(RESTARTS))
    return total / DRAWS


def trained(X: torch.Tensor, sigma: torch.Tensor, p: float, generator: torch.Generator) -> float:
    u = torch.randn(1, X.shape[1], dtype=torch.float64, generator=generator)
    nearest_(u, 1.0, p)
    u.requires_grad_()
    optimiser = torch.optim.SGD([u], lr=1 / math.sqrt(len(X)), momentum=0.5)
    best = 0.0
    for _ in range(STEPS):
        optimiser.zero_grad()
        value = (sigma * torch.relu(X @ u[0])).sum()
        (-value).backward()
        optimiser.step()
        with torch.no_grad():
            nearest_(u, 1.0, p)
        best = max(best, value.item())
    return best
