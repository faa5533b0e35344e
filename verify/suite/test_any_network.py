"""Certificates for any network: all samples of random small laws, and what the proof of pick-certificate rests on."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.certificates.pick import pick_certificate
from verify.claims.checks.any_network import (
    LEARNERS,
    Learner,
    Point,
    disagreement_failure,
    occam_failure,
    pick_failure,
    picked,
)
from verify.suite.profiles import share
from verify.suite.tightness import below

learners = st.sampled_from(LEARNERS)
deltas = st.sampled_from([0.05, 0.2, 0.5, 0.9]) | st.floats(0.01, 0.99)
stops = st.none() | st.integers(0, 3)


@st.composite
def laws(draw: st.DrawFn) -> list[tuple[Point, float]]:
    """Two to four atoms (x, y), most of the mass often on one."""
    points = [(float(x), y) for x in range(3) for y in (-1, 1)]
    atoms = draw(st.lists(st.sampled_from(points), min_size=2, max_size=4, unique=True))
    weights = [draw(st.sampled_from([1, 2, 5, 20, 100])) for _ in atoms]
    return [(z, w / sum(weights)) for z, w in zip(atoms, weights, strict=True)]


@pytest.mark.claim("pick-certificate")
@given(laws(), learners, st.integers(1, 6), deltas, st.integers(1, 3), stops)
def test_picking_fails_at_most_delta_often(
    law: list[tuple[Point, float]], learner: Learner, N: int, delta: float, r: int, most: int | None
) -> None:
    failures = pick_failure(law, learner, N, delta, r=r, most=most)
    where = f"{len(law)} atoms, {learner.__name__}, N = {N}, delta = {delta:g}, r = {r}, stop at {most}"
    below("pick-certificate", failures, delta, where, rounding=1e-9)


@pytest.mark.claim("pick-certificate")
@given(laws(), learners, st.integers(1, 12), st.integers(1, 3), stops, st.integers(0, 2**32))
def test_picking_is_preferent_and_an_error_is_a_change(
    law: list[tuple[Point, float]], learner: Learner, N: int, r: int, most: int | None, seed: int
) -> None:
    """c(V) = c(S) for c(S) in V in S; a point on which h_T errs joins; the order of the rows changes nothing."""
    rng = Random(seed)
    S = rng.choices([z for z, _ in law], [p for _, p in law], k=N)
    run = picked(S, learner, r, most)
    left = {i for i in range(N) if i not in run.rows and not run.margin(S[i]) > 0}
    assert run.left == len(left)
    kept = [i for i in range(N) if i in run.rows or i in left or rng.random() < 0.5]
    between = picked([S[i] for i in kept], learner, r, most)
    assert [S[kept[i]] for i in between.rows] == [S[i] for i in run.rows]
    assert between.k == run.k
    shuffled = picked(rng.sample(S, N), learner, r, most)
    assert shuffled.k == run.k
    for z, _ in law:
        if not run.margin(z) > 0:
            compressed = [S[i] for i in range(N) if i in run.rows or i in left]
            again = picked([*compressed, z], learner, r, most)
            assert again.k > run.k or len(compressed) in again.rows


@given(st.integers(1, 10**7), deltas, st.data())
def test_the_picked_risk_grows_with_the_picks(N: int, delta: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, N - 1))
    eps = pick_certificate(k, N, delta)
    assert 0 < eps <= pick_certificate(k + 1, N, delta)
    assert eps <= pick_certificate(k, N, delta / 2)


@pytest.mark.claim("occam-certificate")
@share(10)
@given(st.integers(1, 5), deltas, st.integers(1, 3))
def test_a_description_fails_at_most_delta_often(N: int, delta: float, positions: int) -> None:
    where = f"N = {N}, {positions} positions, delta = {delta:g}"
    below("occam-certificate", occam_failure(N, delta, positions=positions), delta, where, rounding=1e-9)


@pytest.mark.claim("disagreement-certificate")
@given(st.floats(0, 0.5), st.floats(0.001, 0.5), st.integers(1, 60), deltas)
def test_disagreement_fails_at_most_delta_often(wrong: float, differ: float, n: int, delta: float) -> None:
    where = f"R(g) = {wrong:g}, P(f != g) = {differ:g}, n = {n}, delta = {delta:g}"
    below("disagreement-certificate", disagreement_failure(wrong, differ, n, delta), delta, where, rounding=1e-9)
