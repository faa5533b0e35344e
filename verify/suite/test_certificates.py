"""Certificates: wherever f is wrong the random network errs with probability >= b, by exact laws, and how nearly.

The empirical part, the KL and the price of the grid are held elsewhere (`test_certificate_constants`); this is the step
from the random network to the network itself, and the whole on samples that were searched for a network that fits them.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.certificates.gauss import gauss_b, gauss_empirical
from adanet_theory.certificates.path import path_empirical_exact, path_eps, path_eps_convex
from adanet_theory.certificates.path_multiclass import (
    path_certificate_multiclass,
    path_classes_empirical_exact,
    path_classes_eps,
)
from adanet_theory.certificates.tree import Tree, one_layer
from adanet_theory.certificates.vote import vote_b, vote_certificate, vote_empirical
from adanet_theory.certificates.vote_multiclass import classes_b, classes_empirical
from adanet_theory.risk.multiclass import multiclass_margins
from verify.suite.tightness import below

pytestmark = pytest.mark.claim("path-certificate")


@st.composite
def wrong_points(draw: st.DrawFn) -> tuple[Tree, int, np.ndarray]:
    """A signed tree, a label, and leaf means |m_v| <= p_v at which y f <= 0: most of them extreme, f near 0."""
    nodes = draw(st.integers(1, 6))
    parent = [-1] + [draw(st.integers(0, v - 1)) for v in range(1, nodes)]
    sign = [1] + [draw(st.sampled_from([1, -1])) for _ in range(1, nodes)]
    weight = np.array([draw(st.sampled_from([0, 1, 2, 5, 20])) for _ in range(nodes)], dtype=np.float64)
    weight[0] += weight.sum() == 0
    p = weight / weight.sum()
    tree, y = Tree(tuple(parent), tuple(sign), np.diag(p), B=1.0), draw(st.sampled_from([1, -1]))
    share = [draw(st.sampled_from([-1.0, 0.0, 1.0]) | st.floats(-1, 1)) for _ in range(nodes)]
    means = p * np.array(share)
    means[0] = 0.0
    rest = float(tree.value(means))
    means[0] = np.clip(-rest, -p[0], p[0])
    if y * float(tree.value(means)) > 0:  # the root alone cannot make f wrong: turn every sign
        tree, y = Tree(tree.parent, (1, *(-s for s in sign[1:])), tree.q, B=1.0), y
        means[0] = np.clip(rest, -p[0], p[0])
    return tree, y, means


@given(wrong_points(), st.sampled_from([2.0, 9.0, 30.0]), st.integers(0, 5))
def test_the_random_network_exceeds_k_at_most_eps_often(case: tuple[Tree, int, np.ndarray], nu: float, k: int) -> None:
    tree, y, means = case
    if y * float(tree.value(means)) > 1e-12:
        return
    exceeds = 1 - path_empirical_exact(tree, means[None], [y], nu, k)
    eps = path_eps(tree, nu, k)
    where = f"{len(tree.parent)} nodes, nu = {nu:g}, k = {k}"
    below("path-certificate, eps", exceeds - 1e-12, eps, where, rounding=1e-9)
    below("path-certificate, convex form", eps, path_eps_convex(tree, nu, k), where, rounding=1e-9)


@pytest.mark.claim("vote-certificate")
@given(st.floats(-1, 0), st.integers(1, 60), st.data())
def test_a_wrong_vote_is_lost_with_probability_at_least_b(u: float, N: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, N - 1))
    below("vote-certificate, b", vote_b(N, k), vote_empirical([u], N, k), f"N = {N}, k = {k}", rounding=1e-9)


@pytest.mark.claim("gauss-certificate")
@given(
    st.lists(st.floats(0.1, 3), min_size=2, max_size=4), st.data(), st.sampled_from([0.0, 0.5, 2.0]), st.floats(-2, 0)
)
def test_a_wrong_gaussian_is_lost_with_probability_at_least_b(
    s: list[float], data: st.DataObject, tau: float, u: float
) -> None:
    phi = np.array([data.draw(st.sampled_from([0.0, 1.0]) | st.floats(-3, 3)) for _ in s])
    size, deviation = float(np.linalg.norm(phi)), float(np.sqrt(phi**2 @ np.square(s)))
    if size < 1e-3:
        return
    loss = gauss_empirical([u], [size], [deviation], tau)
    below("gauss-certificate, b", gauss_b(tau, max(s)), loss, f"tau = {tau}", rounding=1e-9)


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


@st.composite
def wrong_classes(draw: st.DrawFn) -> tuple[list[Tree], np.ndarray, int]:
    """Trees of two or three classes on features of their own, x in [-1, 1]^n_0, and y with f_y <= some f_c."""
    sizes = [draw(st.integers(1, 4)) for _ in range(draw(st.integers(2, 3)))]
    weight = np.array([draw(st.sampled_from([0, 1, 2, 5, 20])) for _ in range(sum(sizes))], dtype=np.float64)
    weight[0] += weight.sum() == 0
    q, forest = np.diag(weight / weight.sum()), []
    for size, last in zip(sizes, np.cumsum(sizes), strict=True):
        parent = [-1] + [draw(st.integers(0, v - 1)) for v in range(1, size)]
        sign = [1] + [draw(st.sampled_from([1, -1])) for _ in range(1, size)]
        forest.append(Tree(tuple(parent), tuple(sign), q[last - size : last], B=1.0))
    x = np.array([draw(st.sampled_from([-1.0, 0.0, 0.0, 1.0]) | st.floats(-1, 1)) for _ in weight])
    f = [float(tree.value(tree.means(x))) for tree in forest]
    return forest, x, int(np.argmin(f)) if draw(st.booleans()) else int(np.argsort(f)[-2])


@pytest.mark.claim("path-certificate-multiclass")
@given(wrong_classes(), st.sampled_from([2.0, 9.0, 30.0]), st.integers(0, 4))
def test_the_right_class_is_ahead_by_more_than_k_at_most_eps_often(
    case: tuple[list[Tree], np.ndarray, int], nu: float, k: int
) -> None:
    forest, x, y = case
    ahead = 1 - path_classes_empirical_exact(forest, x[None], [y], nu, k)
    where = f"{len(forest)} classes, {sum(len(tree.p) for tree in forest)} nodes, nu = {nu:g}, k = {k}"
    below("path-certificate-multiclass, eps", ahead - 1e-12, path_classes_eps(forest, nu, k), where, rounding=1e-9)


@pytest.mark.claim("path-certificate-multiclass")
def test_the_best_of_many_class_networks_on_a_small_sample_is_not_certified_below_its_risk() -> None:
    """Three labels; feature j tells whether the label is j mod 3, right 3 times in 4: units chosen on 60 points."""
    rng, failures, delta = np.random.default_rng(0), 0, 0.2
    for trial in range(6):
        x, y = _told(60, 30, rng)
        size, forest = int(rng.choice([1, 3])), []
        for c in range(3):
            agreement = x[:, c::3].T @ np.where(y == c, 1.0, -1.0)
            q = np.zeros((size + 1, 30))
            q[1 + np.arange(size), c + 3 * np.argsort(-agreement)[:size]] = 1 / (3 * size)
            forest.append(Tree((-1, *[0] * size), (1,) * (size + 1), q, B=1.0))
        found = path_certificate_multiclass(forest, x, y, delta=delta, seed=trial, draws=2_000)
        new, labels = _told(4_000, 30, rng)
        f = np.stack([tree.value(tree.means(new)) for tree in forest], axis=1)
        failures += int(found.value < np.mean(multiclass_margins(f, labels) <= 0) - 0.03)
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
        found = vote_certificate(
            (y[:, None] * x[:, best]).mean(axis=1), [1 / len(best)] * len(best), n=120, delta=delta
        )
        new = np.where(rng.random((4000, len(best))) < 0.6, 1.0, -1.0)  # y x on new points
        failures += found.value < np.mean(new.mean(axis=1) <= 0) - 0.03
    assert failures <= delta * 12


def test_without_the_minus_units_the_bound_on_eps_is_broken() -> None:
    """The set J is needed: with J empty P(y g > k) exceeds what would be claimed."""
    tree = one_layer(np.array([0.2]), np.array([-0.8]), np.ones((1, 1)))
    means = np.array([[0.2, 0.2]])  # f/B = 0: the minus unit is on, and its leaf is noise of its own
    exceeds = 1 - path_empirical_exact(tree, means, [1], 60.0, 4)
    alone = path_eps(one_layer(np.array([0.2, 0.0]), np.array([1e-9]), np.array([[0.0, 0.8]])), 12.0, 4)
    assert exceeds > 1.5 * alone
    assert exceeds <= path_eps(tree, 60.0, 4)
