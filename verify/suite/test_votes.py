"""Certificates: wherever f is wrong the random network errs with probability >= b, by exact laws, and how nearly.

The empirical part, the KL and the price of the grid are checked in `test_certificate_constants`; this is the step
from the random network to the network itself, and the whole on samples that were searched for a network that fits them.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.certificates.vote import vote_b, vote_certificate, vote_empirical
from adanet_theory.certificates.vote_multiclass import classes_b, classes_empirical, vote_certificate_multiclass
from adanet_theory.risk.multiclass import multiclass_margins
from verify.suite.tightness import below


@pytest.mark.claim("vote-certificate")
@given(st.floats(-1, 0), st.integers(1, 60), st.data())
def test_a_wrong_vote_is_lost_with_probability_at_least_b(u: float, N: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, N - 1))
    below("vote-certificate, b", vote_b(N, k), vote_empirical([u], N, k), f"N = {N}, k = {k}", rounding=1e-9)


@pytest.mark.claim("vote-certificate-multiclass")
@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.data(), st.sampled_from([2.0, 12.0]), st.integers(0, 3))
def test_a_wrong_class_wins_with_probability_at_least_b(
    weights: list[int], data: st.DataObject, N: float, k: int
) -> None:
    p = np.array(weights) / sum(weights)
    scores = p * np.array([data.draw(st.sampled_from([-0.99, 0.0, 0.99]) | st.floats(-0.99, 0.99)) for _ in p])
    y = int(np.argmin(scores)) if data.draw(st.booleans()) else 0
    if scores[y] > np.delete(scores, y).max():
        return
    loss = classes_empirical(scores[None], [y], p, N, k)
    below("vote-certificate-multiclass, b", classes_b(p, N, k), loss, f"C = {len(p)}, k = {k}", rounding=1e-8)


@pytest.mark.claim("vote-certificate-multiclass")
def test_the_best_of_many_class_networks_on_a_small_sample_is_not_certified_below_its_risk() -> None:
    """Three labels; feature j tells whether the label is j mod 3, right 3 times in 4: features chosen on 60 points."""
    rng, failures, delta = np.random.default_rng(0), 0, 0.2
    for _ in range(6):
        x, y = _told(60, 30, rng)
        size, q = int(rng.choice([1, 3])), np.zeros((30, 3))
        for c in range(3):
            agreement = x[:, c::3].T @ np.where(y == c, 1.0, -1.0)
            q[c + 3 * np.argsort(-agreement)[:size], c] = 1 / (3 * size)
        bound = vote_certificate_multiclass(x @ q, y, q[q > 0], [1 / 3] * 3, A=180, delta=delta)
        new, labels = _told(4_000, 30, rng)
        failures += int(bound.value < np.mean(multiclass_margins(new @ q, labels) <= 0) - 0.03)
    assert failures <= delta * 6


def _told(m: int, n_0: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 3, m)
    right = np.where(y[:, None] == np.arange(n_0) % 3, 1.0, -1.0)
    return right * np.where(rng.random((m, n_0)) < 0.75, 1.0, -1.0), y


@pytest.mark.claim("vote-certificate")
def test_the_best_of_many_networks_on_a_small_sample_is_not_certified_below_its_risk() -> None:
    """Features that agree with the label 3 times in 5: the mean of those that fit best has a risk that is known."""
    rng, failures, delta = np.random.default_rng(0), 0, 0.2
    for _ in range(12):
        y = 1.0 - 2.0 * rng.integers(0, 2, 80)
        x = y[:, None] * np.where(rng.random((80, 60)) < 0.6, 1.0, -1.0)
        best = np.argsort(-(x * y[:, None]).mean(axis=0))[: int(rng.choice([1, 5, 15]))]
        bound = vote_certificate(
            (y[:, None] * x[:, best]).mean(axis=1), [1 / len(best)] * len(best), n=120, delta=delta
        )
        new = np.where(rng.random((4000, len(best))) < 0.6, 1.0, -1.0)  # y x on new points
        failures += bound.value < np.mean(new.mean(axis=1) <= 0) - 0.03
    assert failures <= delta * 12
