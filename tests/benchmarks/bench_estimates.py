"""Sampled R_S(H_1) against one matrix product; the exact supremum of R_S(H*_2) in the plane against a grid."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from adanet_theory.complexity.estimates import sampled_linear_complexity
from adanet_theory.complexity.unit_supremum import unit_supremum
from adanet_theory.spec import NetworkSpec

REPEATS = 5


def run() -> list[dict]:
    return [sampled_h1(), exact_h2()]


def interleaved(*works: Callable[[], object]) -> list[float]:
    """The least time of each over REPEATS rounds, taken in turn so that all meet the same machine."""
    seconds = [[] for _ in works]
    for _ in range(REPEATS):
        for work, times in zip(works, seconds, strict=True):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
    return [min(times) for times in seconds]


def sampled_h1(m: int = 100_000, n_0: int = 154, draws: int = 1000) -> dict:
    """All of the estimate: signs, products, norms and interval. The product alone has its signs given."""
    Psi = np.random.default_rng(0).uniform(size=(m, n_0))
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(m, draws))
    spec = NetworkSpec.layered((n_0, 1), 1.0, p=2)

    def estimate() -> object:
        return sampled_linear_complexity(Psi, spec, draws=draws, rng=np.random.default_rng(2))

    ours, theirs, other_order = interleaved(estimate, lambda: Psi.T @ signs, lambda: signs.T @ Psi)
    return {
        "work": f"sampled R_S(H_1), m={m}, n_0={n_0}, {draws} draws",
        "against": "one matrix product of that size (Psi^T signs)",
        "ratio": ours / theirs,
        "target": "<= 1.5",
        "ours": ours,
        "theirs": theirs,
        "against_other_order": ours / other_order,
    }


def exact_h2(m: int = 2000, vectors: int = 32, grid: int = 2000) -> dict:
    """Time of one sign vector; the grid has as many directions as there are points and is not exact."""
    rng = np.random.default_rng(0)
    Psi = rng.standard_normal((m, 2))
    signs = rng.choice([-1.0, 1.0], size=(vectors, m))
    angles = np.linspace(0, 2 * np.pi, grid, endpoint=False)
    U = np.vstack([np.cos(angles), np.sin(angles)])

    def one() -> object:
        return unit_supremum(Psi, signs[:1], Lambda=1.0, p=2)

    def many() -> object:
        return unit_supremum(Psi, signs, Lambda=1.0, p=2)

    def brute() -> np.ndarray:
        return np.abs(signs[:1] @ np.maximum(Psi @ U, 0)).max(axis=1)

    ours, batch, theirs = interleaved(one, many, brute)
    missed = float(unit_supremum(Psi, signs[:1], Lambda=1.0, p=2).lower[0] / brute()[0] - 1)
    return {
        "work": f"exact R_S(H*_2), n_0=2, m={m}, one sign vector",
        "against": f"a grid of {grid} directions (misses {missed:.1e} of the value)",
        "ratio": ours / theirs,
        "target": "exact, < 10 ms",
        "ours": ours,
        "theirs": theirs,
        "milliseconds": 1000 * ours,
        "milliseconds_in_a_batch": 1000 * batch / vectors,
    }
