"""vote-certificate-multiclass against sums over all counts, adversarial scores, and overfitting."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import skellam

from adanet_theory.grids import BETAS, VOTES, classes_grid
from adanet_theory.kl import kl_inverse, xi
from adanet_theory.path import path_kl
from adanet_theory.vote_multiclass import (
    classes_b,
    classes_empirical,
    skellam_masses,
    vote_certificate_multiclass,
    vote_certificate_multiclass_at,
)

GRID = np.arange(-30, 31)
GAP = GRID[:, None, None] - np.maximum(GRID[None, :, None], GRID[None, None, :])


def loss(scores: np.ndarray, y: int, p: np.ndarray, N: float, k: int) -> float:
    """P(min_{c != y} (g_y - g_c) <= k), summed over all triples of counts."""
    own, *others = (
        skellam.pmf(GRID, N * (p[c] + scores[c]) / 2, N * (p[c] - scores[c]) / 2)
        for c in [y, *(c for c in range(3) if c != y)]
    )
    return float(own @ (k >= GAP).reshape(len(GRID), -1) @ np.outer(*others).ravel())


@pytest.mark.parametrize("k", [0, 1, 4])
def test_the_empirical_part_is_the_sum_over_all_counts(k: int) -> None:
    p = np.array([0.5, 0.3, 0.2])
    scores = np.array([[0.4, -0.2, 0.1], [-0.3, 0.29, 0.0], [0.0, 0.0, 0.0]])
    for y in range(3):
        expected = [loss(row, y, p, 12.0, k) for row in scores]
        assert classes_empirical(scores, [y] * 3, p, 12.0, k) == pytest.approx(np.mean(expected), rel=1e-9)


def test_an_error_costs_at_least_b_and_half_a_margin_does_not() -> None:
    rng, p, closest = np.random.default_rng(0), np.array([0.5, 0.3, 0.2]), 9.0
    for _ in range(60):
        scores = p * rng.choice([-0.9, -0.5, 0.0, 0.5, 0.9], 3)
        for y, k in itertools.product(range(3), (0, 2)):
            if scores[y] <= np.delete(scores, y).max():
                ratio = loss(scores, y, p, 10.0, k) / classes_b(p, 10.0, k)
                assert ratio >= 1 - 1e-9
                closest = min(closest, ratio)
    assert closest < 1.4


def test_the_laws_by_recurrence() -> None:
    a, b = np.array([0.3, 30.0, 5.0, 900.0]), np.array([40.0, 30.0, 0.01, 300.0])
    for first, masses, *pair in zip(*skellam_masses(a, b), a, b, strict=True):
        expected = skellam.pmf(first + np.arange(len(masses)), *pair)
        assert np.allclose(masses, expected, rtol=1e-8, atol=1e-14)
        assert masses.sum() == pytest.approx(1)


def test_the_formula_from_its_parts() -> None:
    rng = np.random.default_rng(1)
    theta, p = np.array([0.2, 0.3, 0.1, 0.4]), np.array([0.5, 0.1, 0.4])
    scores = p * rng.uniform(-1, 1, (30, 3))
    y = scores.argmax(axis=1)
    found = vote_certificate_multiclass_at(scores, y, theta, p, A=24, N=57, k=6, beta=0.03, delta=0.05)
    exponent = (path_kl(57 * theta, A=24, N=57, beta=0.03) + math.log(xi(30) * 25 * 6 * 58 / 0.05)) / 30
    q, b = classes_empirical(scores, y, p, 57, 6), classes_b(p, 57, 6)
    assert found.raw == pytest.approx(kl_inverse(q, exponent) / b)
    assert math.fsum((N + 1) * len(BETAS) * math.exp(-classes_grid(N)) for N in VOTES) == pytest.approx(1)
    for change, line in [({"k": -1}, "k must be in"), ({"beta": 0.0}, "beta must be one of"), ({"N": 50}, "N must be")]:
        setting = {"N": 57, "k": 6, "beta": 0.03} | change
        with pytest.raises(ValueError, match=line):
            vote_certificate_multiclass_at(scores, y, theta, p, A=24, **setting, delta=0.05)
    with pytest.raises(ValueError, match="at most p_c"):
        vote_certificate_multiclass_at(3 * scores, y, theta, p, A=24, N=57, k=6, beta=0.03, delta=0.05)


def test_an_easy_problem_is_certified_and_random_labels_are_not() -> None:
    rng = np.random.default_rng(2)
    classes = rng.integers(0, 3, 600)
    Psi = np.where(classes[:, None] == np.arange(3), 0.9, -0.9)
    theta = np.full(3, 1 / 3)
    scores = Psi / 3
    found = vote_certificate_multiclass(scores, classes, theta, theta, A=18, delta=0.05)
    assert found.raw < 0.12
    shuffled = vote_certificate_multiclass(scores, rng.permutation(classes), theta, theta, A=18, delta=0.05)
    assert shuffled.raw > 0.55
