"""vote-certificate-multiclass against sums over all counts, adversarial scores, and overfitting."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import nbinom, poisson, skellam

from adanet_theory.certificates import vote_multiclass
from adanet_theory.certificates.grids import BETAS, CLASS_VOTES, classes_grid
from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_theory.certificates.vote_multiclass import (
    _errors,
    _normal_errors,
    classes_b,
    classes_candidates,
    classes_empirical,
    counts_kl,
    counts_kls,
    skellam_masses,
    vote_certificate_multiclass,
    vote_certificate_multiclass_at,
)
from adanet_theory.twins import outward

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


def test_an_error_of_a_program_within_shift_costs_at_least_its_b_and_less_than_without() -> None:
    """It errs only where f_y - f_c <= shift B' for some c; the laws of the votes summed over all counts."""
    rng, p, below = np.random.default_rng(3), np.array([0.5, 0.3, 0.2]), 0
    for shift, k, N in itertools.product((0.02, 0.15), (0, 2, 5), (10.0, 24.0)):
        b, closest = classes_b(p, N, k, shift), 9.0
        for _ in range(40):
            scores = p * rng.uniform(-0.95, 0.95, 3)
            scores[1] = np.clip(scores[0] - shift * rng.choice([0.2, 1.0]), -0.95 * p[1], 0.95 * p[1])
            for y in range(3):
                if scores[y] - np.delete(scores, y).max() <= shift:
                    cost = loss(scores, y, p, N, k)
                    assert cost >= b * (1 - 1e-9)
                    closest, below = min(closest, cost / b), below + (cost < classes_b(p, N, k))
        assert closest < 1.3 * math.exp(N * shift)
    assert below > 20  # b of the formula is too large there


@pytest.mark.parametrize("shift", [1e-9, 0.003, 0.1])
def test_b_of_a_program_rounded_down(shift: float) -> None:
    v, x, y = [[1.0, 0.5], [0.25, -0.5], [0.0, 1.5]], np.array([[1.0, 0.5]]), np.array([0])
    value = outward.classes_parts(v, x, y, N=57, k=6, beta=0.03, shift=shift)
    b = classes_b(np.abs(v).sum(axis=1) / np.abs(v).sum(), 57, 6, shift)
    assert b * (1 - 1e-9) <= value.b <= b * (1 + 1e-13)


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
    value = vote_certificate_multiclass_at(scores, y, theta, p, A=24, N=57, k=6, beta=0.03, delta=0.05)
    exponent = (counts_kl(57 * theta, A=24, N=57, beta=0.03) + math.log(xi(30) * 25 * 6 * 58 / 0.05)) / 30
    q, b = classes_empirical(scores, y, p, 57, 6), classes_b(p, 57, 6)
    assert value.raw == pytest.approx(kl_inverse(q, exponent) / b)
    assert value.terms == pytest.approx(
        {"N": 57, "k": 6, "beta": 0.03, "empirical": q, "KL": value.terms["KL"], "grid": classes_grid(57), "b": b}
    )
    assert math.fsum((N + 1) * len(BETAS) * math.exp(-classes_grid(N)) for N in CLASS_VOTES) == pytest.approx(1)
    for change, line in [
        ({"k": -1}, r"k must be in \[0, N\], got k=-1, N=57\."),
        ({"k": 58}, r"k must be in \[0, N\], got k=58, N=57\."),
        ({"beta": 0.0}, "beta must be one of"),
        ({"N": 50}, "N must be"),
    ]:
        setting = {"N": 57, "k": 6, "beta": 0.03} | change
        with pytest.raises(ValueError, match=f"^{line}"):
            vote_certificate_multiclass_at(scores, y, theta, p, A=24, **setting, delta=0.05)
    at = {"A": 24, "N": 57, "beta": 0.03, "delta": 0.05}
    for k in (0, 57):  # the ends of the grid
        assert vote_certificate_multiclass_at(scores, y, theta, p, k=k, **at).terms["k"] == k
    with pytest.raises(ValueError, match=r"^\|f_c/B'\| must be at most p_c\.$"):
        vote_certificate_multiclass_at(np.tile(1.5 * p, (30, 1)), y, theta, p, k=6, **at)
    for edge in (p, p * (1 + 5e-10), [0.5, 0.1, 0.4 + 5e-16]):  # as far as features of size 1 reach, up to rounding
        assert vote_certificate_multiclass_at(np.tile(edge, (30, 1)), y, theta, p, k=6, **at).raw > 0
    two = [0.6, 0.4, 0.0]  # a class without weight
    assert vote_certificate_multiclass_at(np.zeros((30, 3)), y, theta, two, k=6, **at).raw > 1
    single = theta.astype(np.float32)
    certificates = [vote_certificate_multiclass_at(scores, y, t, p, k=6, **at) for t in (single, single.astype(float))]
    assert certificates[0] == certificates[1]
    for masses in ([0.5, 0.2, 0.4], [1.2, -0.4, 0.2]):
        with pytest.raises(ValueError, match=r"^p .*>= 0 .* 1\.$"):
            vote_certificate_multiclass_at(0 * scores, y, theta, masses, k=6, **at)


def test_an_easy_problem_is_certified_and_random_labels_are_not() -> None:
    rng = np.random.default_rng(2)
    classes = rng.integers(0, 3, 600)
    Psi = np.where(classes[:, None] == np.arange(3), 0.9, -0.9)
    theta = np.full(3, 1 / 3)
    scores = Psi / 3
    value = vote_certificate_multiclass(scores, classes, theta, theta, A=18, delta=0.05)
    assert value.raw < 0.12
    shuffled = vote_certificate_multiclass(scores, rng.permutation(classes), theta, theta, A=18, delta=0.05)
    assert shuffled.raw > 0.55


@pytest.mark.parametrize("cells", [1, 3_000, 10**6])
def test_blocks_of_examples_change_nothing(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vote_multiclass, "_CELLS", cells)
    rng, p = np.random.default_rng(4), np.array([0.5, 0.3, 0.2])
    scores, y = p * rng.uniform(-1, 1, (25, 3)), rng.integers(0, 3, 25)
    expected = [loss(row, label, p, 12.0, 2) for row, label in zip(scores, y, strict=True)]
    assert classes_empirical(scores, y, p, 12.0, 2) == pytest.approx(np.mean(expected), rel=1e-9)


def test_the_laws_of_rates_so_large_that_the_recurrence_is_scaled() -> None:
    a, b = np.array([5_000.0, 0.0, 0.0]), np.array([4_000.0, 0.0, 2_000.0])
    first, masses = skellam_masses(a, b)
    assert np.allclose(
        masses[0], skellam.pmf(first[0] + np.arange(len(masses[0])), 5_000, 4_000), rtol=1e-7, atol=1e-14
    )
    assert masses[1].max() == pytest.approx(1)
    assert first[1] + masses[1].argmax() == 0
    assert np.allclose(masses[2], poisson.pmf(-first[2] - np.arange(len(masses[2])), 2_000), rtol=1e-7, atol=1e-14)


def test_the_normal_laws_of_a_search_are_near() -> None:
    rng, p = np.random.default_rng(5), np.array([0.4, 0.35, 0.25])
    scores, y = p * rng.uniform(-0.2, 0.2, (30, 3)), rng.integers(0, 3, 30)
    exact, normal = (form(scores, y, p, 2560, (0, 20, 60)) for form in (_errors, _normal_errors))
    assert exact.shape == normal.shape == (30, 3)
    assert np.allclose(exact, normal, atol=3e-3)


def test_no_setting_nearby_is_much_better_than_the_one_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """At N about 330, where a search goes from the exact laws to the normal ones."""
    monkeypatch.setattr(vote_multiclass, "CLASS_VOTES", CLASS_VOTES[8:13])
    rng = np.random.default_rng(6)
    p, m = np.array([0.4, 0.35, 0.25]), 120
    y = rng.integers(0, 3, m)
    scores = p * np.where(y[:, None] == np.arange(3), 0.5, -0.5) + rng.normal(0, 0.03, (m, 3))
    at = {"A": 30, "delta": 0.05}
    value = vote_certificate_multiclass(scores, y, p, p, **at)
    assert value.id == "vote-certificate-multiclass"
    place = CLASS_VOTES.index(int(value.terms["N"]))
    assert 8 < place < 12
    for N in CLASS_VOTES[place - 1 : place + 2]:
        for k in (np.arange(6) * math.sqrt(0.75 * N)).astype(int).tolist():
            nearby = vote_certificate_multiclass_at(scores, y, p, p, N=N, k=k, beta=value.terms["beta"], **at)
            assert value.raw <= 1.02 * nearby.raw


def test_what_the_search_compares_is_the_certificate_at_that_setting() -> None:
    """Exactly while the laws are, and nearly with normal ones."""
    rng, p = np.random.default_rng(7), np.array([0.5, 0.3, 0.2])
    scores, y = p * rng.uniform(-0.3, 0.5, (12, 3)), rng.integers(0, 3, 12)
    table = classes_candidates(scores, y, p, p, A=30)
    assert [each.N for each in table] == list(CLASS_VOTES)
    for each in (*table[:9:4], table[14]):
        N, two = each.N, 0.8 * each.N
        assert each.KL == counts_kl(N * p, A=30, N=N, beta=each.beta) == counts_kls(N * p, A=30, N=N).min()
        assert each.k[0] == 0
        assert 4.9 * math.sqrt(two) - 1 <= each.k[-1] <= 5 * math.sqrt(two) or each.k[-1] == N
        assert np.diff(each.k).max() <= math.ceil(math.sqrt(two) / 4)
        for k, value in list(zip(each.k, each.values(12, 0.1), strict=True))[::5]:
            setting = {"A": 30, "N": N, "k": int(k), "beta": each.beta, "delta": 0.1}
            at = vote_certificate_multiclass_at(scores, y, p, p, **setting)
            assert value == pytest.approx(at.raw, rel=1e-9 if N * 3 <= 1000 else 1e-2)


@pytest.mark.parametrize("beta", [0.003, 0.3, 1.5])
def test_kl_of_poisson_against_negative_binomial(beta: float) -> None:
    rates, A, N = np.array([0.01, 0.7, 3.0, 40.0]), 9, 40
    b, c = A * beta / N, np.arange(400)
    log_prior = nbinom.logpmf(c, beta, b / (1 + b))
    expected = -(A - len(rates)) * log_prior[0]
    for r in rates:
        expected += np.sum(poisson.pmf(c, r) * (poisson.logpmf(c, r) - log_prior))
    assert counts_kl(rates, A=A, N=N, beta=beta) == pytest.approx(float(expected), rel=1e-11)


def test_many_rates_go_through_chunks() -> None:
    """The KL is a sum over the atoms: 30,000 rates of three kinds against one of each."""
    rates, A, beta = np.array([0.5, 20.0, 300.0]), 40_000, 0.1
    b = A * beta / 1280

    def alone(r: float) -> float:
        return counts_kl([r], A=A, N=1280, beta=beta) - A * beta * math.log1p(1 / b)

    expected = 10_000 * sum(map(alone, rates)) + A * beta * math.log1p(1 / b)
    assert counts_kl(np.repeat(rates, 10_000), A=A, N=1280, beta=beta) == pytest.approx(expected, rel=1e-11)
    assert counts_kl([1.0] * 4, A=4, N=10, beta=beta) > counts_kl([1.0, 0.0, 1.0], A=4, N=10, beta=beta)
    single = rates.astype(np.float32) / 3
    assert counts_kl(single, A=4, N=10, beta=beta) == counts_kl(single.astype(np.float64), A=4, N=10, beta=beta)
    for bad in ([1.0] * 5, [-1.0]):
        with pytest.raises(ValueError, match=r"^at most A=4 rates, all >= 0\.$"):
            counts_kl(bad, A=4, N=10, beta=beta)


@pytest.mark.parametrize("size", [0.0, 0.3, 40.0, 2500.0])
def test_b_is_the_law_of_the_difference_of_two_poissons(size: float) -> None:
    for k in (0, 1, 7, 300):
        expected = 1.0 if size == 0 else float(skellam.cdf(k, size / 2, size / 2))
        assert classes_b([0.5, 0.5], size, k) == pytest.approx(expected, rel=1e-10)
