"""Values of R_S against naive enumeration, fine grids, one another, and the relations of the theory."""

import itertools
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adanet_theory.activations import activation
from adanet_theory.complexity import estimates
from adanet_theory.complexity import unit_supremum as unit_supremum_module
from adanet_theory.complexity.arrangement import (
    by_cells,
    by_sectors,
    by_vertices,
    candidate_vertices,
    cell_count,
    cells,
    vertex_count,
)
from adanet_theory.complexity.estimates import (
    _lengths,
    _spread,
    hidden_complexity,
    linear_complexity,
    sampled_hidden_complexity,
    sampled_linear_complexity,
)
from adanet_theory.complexity.unit_supremum import _GRID, by_milp, matrix, unit_supremum
from adanet_theory.norms import conjugate, norms
from adanet_theory.spec import NetworkSpec

INF = math.inf
NORMS = [1.0, 1.5, 2.0, 3.0, INF]
SLOPES = [(0.0, 1.0), (0.1, 1.0), (-1.0, 1.0), (1.0, 0.25), (-0.5, -2.0)]
THREE_POINTS = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, -1]])


def all_signs(m: int) -> np.ndarray:
    return np.array(list(itertools.product([1.0, -1.0], repeat=m)))


def naive_norm(x: np.ndarray, q: float) -> float:
    return max(abs(t) for t in x) if q == INF else sum(abs(t) ** q for t in x) ** (1 / q)


def points(n_0: int, largest_m: int) -> st.SearchStrategy[np.ndarray]:
    """Whole numbers, so that degenerate positions (zero, parallel, coplanar points) come up, over 4."""
    shapes = st.tuples(st.integers(1, largest_m), st.just(n_0))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(-6, 6).map(float))).map(
        lambda X: X / 4
    )


def spec_of(n_0: int, p: float, phi: str = "relu", n_1: int = 1, Lambda: float = 1.0) -> NetworkSpec:
    return NetworkSpec.layered((n_0, n_1, 1), Lambda, p, phi)


def grid_supremum(X: np.ndarray, S: np.ndarray, p: float, phi, directions: np.ndarray) -> np.ndarray:
    """The largest |Σ σ_i φ(u . x_i)| over the given directions, scaled to ||u||_p = 1: never above the supremum."""
    size = np.array([naive_norm(u, p) for u in directions])
    return np.abs(S @ phi(X @ (directions / size[:, None]).T)).max(axis=1)


# R_S(H_1)


@pytest.mark.claim("h1-exact")
@settings(max_examples=40)
@given(X=points(2, 6), p=st.sampled_from(NORMS), Lambda=st.floats(0, 8))
def test_linear_complexity_is_the_average_over_all_signs(X: np.ndarray, p: float, Lambda: float) -> None:
    m, q = len(X), spec_of(2, p).q
    naive = Lambda / m * math.fsum(naive_norm(sigma @ X, q) for sigma in all_signs(m)) / 2**m
    value = linear_complexity(X, spec_of(2, p, Lambda=Lambda))
    assert value.lower <= naive * (1 + 1e-12)
    assert naive * (1 - 1e-12) <= value.upper
    assert value.mean == pytest.approx(naive, rel=1e-12, abs=1e-300)
    assert value.upper - value.lower <= 1e-12 * (Lambda * np.abs(X).sum() + 1e-300)
    assert (value.stderr, value.draws, value.confidence) == (0, 0, 1)


@pytest.mark.parametrize("m", [1, 2, 3, 20])
def test_equal_points_give_the_mean_absolute_sign_sum(m: int) -> None:
    mu = math.comb(m - 1, (m - 1) // 2) / 2 ** (m - 1)
    for p in NORMS:
        value = linear_complexity(np.full((m, 3), 0.5), spec_of(3, p, Lambda=2.0))
        assert value.lower <= mu * 3 ** (1 - 1 / p) <= value.upper


def test_single_precision_input_is_summed_in_double() -> None:
    X = np.random.default_rng(0).standard_normal((12, 5)).astype(np.float32)
    single, double = (linear_complexity(A, spec_of(5, 2.0)) for A in (X, X.astype(np.float64)))
    assert single == double
    options = {"draws": 100, "confidence": 0.9}
    single, double = (
        sampled_linear_complexity(A, spec_of(5, 2.0), rng=np.random.default_rng(1), **options)
        for A in (X, X.astype(np.float64))
    )
    assert single == double


def unpacked(seed: int, m: int, draws: int) -> np.ndarray:
    """The documented signs: an odd number of words for each point, bits from the lowest, 0 for + and 1 for -."""
    words = -(-draws // 64) | 1
    raw = np.random.default_rng(seed).bit_generator.random_raw(m * words)
    return np.array(
        [[1 - 2 * (int(raw[i * words + t // 64]) >> (t % 64) & 1) for i in range(m)] for t in range(draws)], dtype=float
    )


@pytest.mark.parametrize("p", NORMS)
def test_sampled_linear_complexity_is_the_mean_over_its_signs(p: float) -> None:
    m, draws, Lambda, confidence = 37, 100, 1.5, 0.9
    X = np.random.default_rng(3).uniform(0.1, 1, size=(m, 4))
    spec = spec_of(4, p, Lambda=Lambda)
    value = sampled_linear_complexity(X, spec, draws=draws, rng=np.random.default_rng(5), confidence=confidence)
    values = [Lambda / m * naive_norm(sigma @ X, spec.q) for sigma in unpacked(5, m, draws)]
    assert value.mean == pytest.approx(np.mean(values), rel=1e-12)
    assert value.stderr == pytest.approx(np.std(values, ddof=1) / math.sqrt(draws), rel=1e-10)
    # features of one sign lie near one direction, so bounded differences give the smaller variance factor
    square_norms = sum(naive_norm(x, spec.q) ** 2 for x in X)
    margin = Lambda / m * math.sqrt(2 * square_norms * math.log(2 / 0.1) / draws)
    assert value.upper - value.mean == pytest.approx(margin, rel=1e-8)
    assert value.mean - value.lower == pytest.approx(margin, rel=1e-8)
    assert (value.draws, value.confidence) == (draws, confidence)


def test_sampling_does_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).standard_normal((3000, 3))

    def sample() -> float:
        return sampled_linear_complexity(X, spec_of(3, 2.0), draws=100, rng=np.random.default_rng(7)).mean

    whole = sample()
    assert sample() == whole
    monkeypatch.setattr(estimates, "_BLOCK", 7)
    assert sample() == pytest.approx(whole, rel=1e-13)


def test_more_draws_than_a_panel_and_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    X, seen = np.eye(3), []
    value = sampled_linear_complexity(
        X,
        spec_of(3, INF),
        draws=2200,
        rng=np.random.default_rng(0),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert value.mean == pytest.approx(1)  # ||σ||_1 = 3 whatever the signs
    assert value.stderr == 0
    assert seen == [(3 * 1088, 6600), (6 * 1088, 6600), (6600, 6600)]
    seen.clear()
    monkeypatch.setattr(estimates, "_SIGNS", 0)
    sampled_hidden_complexity(
        X,
        spec_of(3, 1.0),
        draws=70,
        rng=np.random.default_rng(0),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(192, 210), (210, 210)]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_no_overflow_or_underflow_of_squares(scale: float) -> None:
    X = np.random.default_rng(0).standard_normal((12, 12))
    plain, scaled = (
        sampled_linear_complexity(A, spec_of(12, 2.0), draws=50, rng=np.random.default_rng(1)) for A in (X, scale * X)
    )
    for name in ("lower", "upper", "mean", "stderr"):
        assert getattr(scaled, name) == pytest.approx(scale * getattr(plain, name), rel=1e-9)
    exact = linear_complexity(scale * X, spec_of(12, 2.0)).mean
    assert exact == pytest.approx(scale * linear_complexity(X, spec_of(12, 2.0)).mean, rel=1e-12)


# The interval


def variance_factor(
    Psi: list[list[float]] | np.ndarray, p: float, *, Lambda: float = 1.0, phi: str = "identity"
) -> float:
    """v, whose root the interval reads."""
    X = matrix(Psi)
    return _spread(X, p, _lengths(X, conjugate(p)), Lambda, activation(phi)) ** 2


@settings(max_examples=60)
@given(
    X=points(3, 7),
    p=st.sampled_from([1.0, 1.5, 2.0, INF]),
    phi=st.sampled_from(["identity", "relu", "abs"]),
    t=st.floats(-4, 4),
)
def test_variance_factor_bounds_the_moments(X: np.ndarray, p: float, phi: str, t: float) -> None:
    if p == 1.5 and phi != "identity":
        p = 2.0
    Z = unit_supremum(X, all_signs(len(X)), Lambda=0.5, p=p, phi=phi).lower
    v = variance_factor(X, p, Lambda=0.5, phi=phi)
    moment = math.log(np.mean(np.exp(t * (Z - Z.mean()))))
    if t * t * v / 2 > 1e-6:  # below, the moment is rounding
        target(moment / (t * t * v / 2))
    assert moment <= t * t * v / 2 + 1e-12


def test_variance_factor_takes_the_smaller_of_its_two() -> None:
    assert variance_factor(np.eye(9), 2) == pytest.approx(4, rel=1e-12)  # 4 times the largest eigenvalue, 1; not 9
    assert variance_factor(np.eye(9), 1.5) == pytest.approx(4, rel=1e-12)
    assert variance_factor(np.eye(9), 1) == pytest.approx(4, rel=1e-12)
    uneven = np.diag([2.0] + [1.0] * 19)
    for p in (1, 1.5, 2):
        assert variance_factor(uneven, p) == pytest.approx(4 * 2**2, rel=1e-12)
    assert variance_factor(np.eye(9), INF) == pytest.approx(9)  # sup of Σ u_i² over the cube is 9 too
    assert variance_factor(np.eye(9)[:, :3], 2) == pytest.approx(3)
    assert variance_factor(np.eye(12)[:9], 2) == pytest.approx(4, rel=1e-12)  # more features than points
    assert variance_factor(np.eye(9), 2, Lambda=3.0, phi="leaky_relu:-2") == pytest.approx(4 * 4 * 9)
    assert variance_factor(np.ones((5, 1)), 2, Lambda=1.0, phi="softplus") == pytest.approx(5 * (math.log(2) + 1) ** 2)
    assert variance_factor(np.ones((5, 1)), 2, Lambda=8.0, phi="sigmoid") == pytest.approx(5)  # sigmoid <= 1
    assert variance_factor(np.zeros((5, 2)), 2) == 0


def test_largest_energy_at_p_3_covers_the_ball() -> None:
    X = np.random.default_rng(0).standard_normal((8, 4))
    U = np.random.default_rng(1).standard_normal((20_000, 4))
    U /= norms(U, 3.0)[:, None]
    energy = estimates._largest_energy(X, 3.0, 1.0)
    assert np.max(np.sum((X @ U.T) ** 2, axis=0)) <= energy
    assert energy == pytest.approx(np.linalg.norm(X, 2) ** 2 * 4 ** (1 / 3))


@pytest.mark.parametrize("p", [1.0, 2.0, INF])
def test_sampled_intervals_hold_the_exact_value(p: float) -> None:
    X = np.random.default_rng(0).standard_normal((10, 3))
    exact = linear_complexity(X, spec_of(3, p)).mean
    hidden = hidden_complexity(X, spec_of(3, p)).mean
    for seed in range(20):
        rng = np.random.default_rng(seed)
        value = sampled_linear_complexity(X, spec_of(3, p), draws=50, rng=rng, confidence=0.99)
        assert value.lower <= exact <= value.upper
        assert abs(value.mean - exact) < 5 * value.stderr
        value = sampled_hidden_complexity(X, spec_of(3, p), draws=20, rng=rng, confidence=0.99)
        assert value.lower <= hidden <= value.upper


# The supremum over one unit


@pytest.mark.parametrize("p", NORMS)
@settings(max_examples=40)
@given(X=points(2, 7), slopes=st.sampled_from(SLOPES))
def test_sectors_meet_a_fine_grid(p: float, X: np.ndarray, slopes: tuple[float, float]) -> None:
    a, b = slopes
    angles = np.linspace(0, 2 * math.pi, 2001)
    S = all_signs(len(X))[:: max(1, 2 ** (len(X) - 4))]
    grid = grid_supremum(
        X, S, p, lambda z: np.where(z >= 0, b * z, a * z), np.column_stack([np.cos(angles), np.sin(angles)])
    )
    exact = by_sectors(X, S, p, slopes)
    reach = max(abs(a), abs(b)) * np.abs(X).sum()
    assert np.all(exact >= grid - 1e-12 * reach)
    # the directions next to the best one are 2π/2000 apart, and ||u||_2 <= sqrt(2) on every ball
    assert np.all(exact <= grid + 2 * math.sqrt(2) * (math.pi / 2000) * reach + 1e-15)


@pytest.mark.parametrize("slopes", SLOPES)
@settings(max_examples=15)
@given(X=points(2, 7))
def test_three_ways_agree_in_the_plane(slopes: tuple[float, float], X: np.ndarray) -> None:
    S = all_signs(len(X))[::3]
    for p in (1.0, INF):
        assert by_vertices(X, S, p, slopes) == pytest.approx(by_sectors(X, S, p, slopes), rel=1e-10, abs=1e-12)
    assert by_cells(X, S, slopes) == pytest.approx(by_sectors(X, S, 2.0, slopes), rel=1e-10, abs=1e-12)


def polished(X: np.ndarray, sigma: np.ndarray, p: float, phi, rng: np.random.Generator) -> float:
    """The best of many directions, then of ever closer ones around the best: a lower value, near the supremum."""
    u = rng.standard_normal((4000, X.shape[1]))
    for spread in (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6):
        values = np.abs(sigma @ phi(X @ u.T)) / np.array(norms(u, p))
        best = u[np.argmax(values)] / naive_norm(u[np.argmax(values)], p)
        u = best + spread * rng.standard_normal((500, X.shape[1])) * (rng.random((500, X.shape[1])) < 0.6)
        u[0] = best
    return float(values.max())


@pytest.mark.parametrize(("n_0", "m"), [(3, 5), (3, 9), (4, 6)])
@pytest.mark.parametrize("p", [1.0, 2.0, INF])
def test_small_dimensions_meet_a_search(n_0: int, m: int, p: float) -> None:
    rng = np.random.default_rng([n_0, m])
    X = rng.standard_normal((m, n_0))
    S = rng.choice([-1.0, 1.0], size=(4, m))
    for name in ("relu", "abs", "leaky_relu:0.3"):
        phi = activation(name)
        exact = unit_supremum(X, S, Lambda=1.0, p=p, phi=phi).lower
        minimum = np.array([polished(X, sigma, p, phi, rng) for sigma in S])
        assert np.all(minimum <= exact * (1 + 1e-12))
        assert np.max(minimum / exact) > 1 - 1e-4


@pytest.mark.parametrize("p", [1.0, INF])
@pytest.mark.parametrize("slopes", SLOPES)
def test_milp_agrees_with_vertices(p: float, slopes: tuple[float, float]) -> None:
    rng = np.random.default_rng(11)
    X = 3 * rng.standard_normal((7, 3))
    X[3] = -2 * X[2]
    X[4] = 0
    S = np.vstack([np.ones(7), rng.choice([-1.0, 1.0], size=(3, 7))])
    lower, upper = by_milp(X, S, p, slopes)
    exact = by_vertices(X, S, p, slopes)
    assert lower == pytest.approx(exact, rel=1e-8)
    assert np.all(exact <= upper)
    assert np.all(upper <= exact * (1 + 1e-4))


def test_milp_stopped_early_still_encloses() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 5))
    S = rng.choice([-1.0, 1.0], size=(1, 24))
    exact = by_vertices(X, S, 1.0, (0.0, 1.0))
    lower, upper = by_milp(X, S, 1.0, (0.0, 1.0), time_limit=1e-3)
    assert 0 <= lower[0] <= exact[0] * (1 + 1e-12)
    assert exact[0] <= upper[0] <= np.abs(X).max(axis=1).sum() + 1e-4


def test_what_is_asked_of_the_solver_and_made_of_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No point: 0 and the sum of all lengths. A point outside the ball: the value on the ball's edge."""
    X, S, asked = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]), np.ones((1, 2)), []
    answer = SimpleNamespace(x=None, fun=None, mip_dual_bound=None)

    def solve(*words, options, **more):
        asked.append(options)
        return answer

    monkeypatch.setattr("scipy.optimize.milp", solve)
    lower, upper = by_milp(X, S, 1.0, (0.0, 1.0))
    assert (lower, upper) == ([0.0], [pytest.approx(3.0, rel=1e-5)])
    answer.x = np.array([0.0, 4.0, 0.0] + [0.0] * (3 + 3 * 2))
    assert by_milp(X, S, 1.0, (0.0, 1.0), 5.0)[0] == [2.0]
    assert [one["time_limit"] for one in asked] == [INF, INF, 5.0, 5.0]
    assert {one["mip_rel_gap"] for one in asked} == {0.0}
    answer.fun, answer.mip_dual_bound = -1.0, -1.25  # stopped early: the dual bound is the bound, in units of max|Ψ|
    assert by_milp(X, S, 1.0, (0.0, 1.0))[1] == [pytest.approx(2.5, rel=1e-5)]


def test_unit_supremum_turns_to_milp_beyond_the_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(2).standard_normal((6, 3))
    S = all_signs(6)[:3]
    for p in (1.0, INF):
        monkeypatch.setattr(unit_supremum_module, "MOST_VERTICES", vertex_count(6, 3, p))
        near = unit_supremum(X, S, Lambda=2.0, p=p)
        monkeypatch.setattr(unit_supremum_module, "MOST_VERTICES", vertex_count(6, 3, p) - 1)
        far = unit_supremum(X, S, Lambda=2.0, p=p)
        assert (near.method, far.method) == ("vertices", "milp")
        assert far.lower == pytest.approx(near.lower, rel=1e-8)
        assert np.all(near.upper <= far.upper)
        assert far.rounding == near.rounding > 0
    limits = []

    def record(X, S, p, slopes, time_limit=None):
        limits.append(time_limit)
        return by_milp(X, S, p, slopes, time_limit)

    monkeypatch.setattr(unit_supremum_module, "by_milp", record)
    unit_supremum(X, S, Lambda=2.0, p=INF, time_limit=5.0)
    assert limits == [5.0]


def test_unit_supremum_visits_no_more_cells_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    X, S = np.random.default_rng(2).standard_normal((6, 3)), all_signs(6)[:3]
    monkeypatch.setattr(unit_supremum_module, "MOST_CELLS", cell_count(6, 3))
    assert unit_supremum(X, S, Lambda=2.0, p=2.0).method == "cells"
    monkeypatch.setattr(unit_supremum_module, "MOST_CELLS", cell_count(6, 3) - 1)
    message = r"^the supremum over a unit is solved for n_0 <= 2, for p in {1, inf}, and for p = 2 up to 31 cells, got"
    with pytest.raises(ValueError, match=message):
        unit_supremum(X, S, Lambda=2.0, p=2.0)


def test_the_rounding_error_grows_with_the_slope_and_the_features() -> None:
    """At least m + n_0 roundings of Σ_i L Λ ||x_i||_q, whatever the way."""
    rng = np.random.default_rng(3)
    for m, n_0, p, phi, L in [(30, 2, 2.0, "leaky_relu:3", 3.0), (3, 40, 2.0, "identity", 1.0)]:
        X = rng.standard_normal((m, n_0))
        sup = unit_supremum(X, np.ones((1, m)), Lambda=0.5, p=p, phi=phi)
        least = (m + n_0) * 2.0**-52 * L * 0.5 * sum(naive_norm(x, 2.0) for x in X)
        assert least <= sup.rounding <= 4 * least + 40 * 2.0**-52 * L * sum(naive_norm(x, 2.0) for x in X)
        assert sup.method == ("duality" if phi == "identity" else "sectors")


@pytest.mark.parametrize("p", [1.0, INF])
def test_vertices_do_not_depend_on_how_long_a_point_is(p: float) -> None:
    X = np.random.default_rng(4).standard_normal((3, 3))
    actual, scaled = candidate_vertices(X, p), candidate_vertices(X * np.array([[1e-200], [1.0], [1e200]]), p)
    assert np.minimum(np.abs(actual - scaled), np.abs(actual + scaled)).max() < 1e-9


def test_whole_numbers_and_other_floats_are_read_in_double() -> None:
    exact = linear_complexity([[-128.0, 3.0], [100.0, 100.0]], spec_of(2, 2.0))
    for dtype in (np.int8, np.float16, np.float32):
        assert linear_complexity(np.array([[-128, 3], [100, 100]], dtype=dtype), spec_of(2, 2.0)) == exact
    X, signs = np.random.default_rng(5).standard_normal((9, 3)).astype(np.float32), all_signs(9)[:40]
    for p in (1.0, 2.0, INF):
        single = unit_supremum(X, signs.astype(np.int8), Lambda=0.1, p=p)
        assert np.array_equal(single.lower, unit_supremum(X.astype(np.float64), signs, Lambda=0.1, p=p).lower)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert matrix([[1.7e308], [1.7e308]]).shape == (2, 1)  # finite, though its sum is not
        assert norms(np.array([[1e200, 0.0]]), 2.0) == [1e200]
        with pytest.raises(ValueError, match=r"^Psi must be finite\.$"):
            matrix([[INF], [-INF]])


@pytest.mark.parametrize("p", NORMS)
def test_identity_has_the_dual_norm(p: float) -> None:
    X = np.random.default_rng(0).standard_normal((6, 5))
    sup = unit_supremum(X, all_signs(6), Lambda=1.5, p=p, phi="identity")
    q = spec_of(5, p).q
    assert sup.lower == pytest.approx([1.5 * naive_norm(sigma @ X, q) for sigma in all_signs(6)], rel=1e-13)


@settings(max_examples=30)
@given(X=points(3, 6), p=st.sampled_from([1.0, 2.0, INF]), slopes=st.sampled_from(SLOPES), c=st.floats(0.01, 100))
def test_supremum_is_homogeneous_even_and_monotone_in_p(
    X: np.ndarray, p: float, slopes: tuple[float, float], c: float
) -> None:
    S = all_signs(len(X))[: 2 ** (len(X) - 1)]
    solve = {1.0: lambda A, B: by_vertices(A, B, 1.0, slopes), 2.0: lambda A, B: by_cells(A, B, slopes)}
    solve[INF] = lambda A, B: by_vertices(A, B, INF, slopes)
    value = solve[p](X, S)
    tiny = 1e-11 * (1 + np.abs(X).sum())
    assert solve[p](c * X, S) == pytest.approx(c * value, rel=1e-9, abs=c * tiny)
    assert solve[p](X, -S) == pytest.approx(value, rel=1e-9, abs=tiny)
    assert np.all(solve[1.0](X, S) <= solve[2.0](X, S) + tiny)
    assert np.all(solve[2.0](X, S) <= solve[INF](X, S) + tiny)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 1), (3, 2), (7, 2), (2, 3), (6, 3), (10, 3), (7, 4), (6, 5)])
def test_cells_in_general_position(m: int, n: int) -> None:
    X = np.random.default_rng([m, n]).standard_normal((m, n))
    signs = np.sign(cells(X) @ X.T)
    assert len(np.unique(signs, axis=0)) == len(signs) == cell_count(m, n)
    assert np.all(signs != 0)


def test_cells_of_degenerate_arrangements() -> None:
    assert len(cells(np.zeros((3, 2)))) == 1
    assert len(cells(np.array([[1.0, 0], [2.0, 0], [-1.0, 0]]))) == 2
    assert len(cells(np.eye(4))) == 16
    braid = np.array([[1.0, -1, 0, 0], [1, 0, -1, 0], [1, 0, 0, -1], [0, 1, -1, 0], [0, 1, 0, -1], [0, 0, 1, -1]])
    assert len(cells(braid)) == 24  # the orders of four numbers


def test_sectors_at_a_real_sample_size() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    S = rng.choice([-1.0, 1.0], size=(2, 2000))
    angles = np.linspace(0, 2 * math.pi, 4001)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    for p in (1.0, 2.0, INF):
        sup = unit_supremum(X, S, Lambda=1.0, p=p)
        grid = grid_supremum(X, S, p, activation("relu"), directions)
        assert sup.method == "sectors"
        assert np.all(grid <= sup.lower + 1e-9)
        assert np.all(sup.lower <= grid * (1 + 1e-3))
        assert sup.rounding < 1e-9 * sup.lower.min()


# One feature, any activation


@pytest.mark.parametrize(
    "name", ["relu", "leaky_relu:-0.5", "abs", "identity", "sigmoid", "softplus", "tanh", "elu", "gelu", "silu"]
)
def test_line_encloses_a_finer_grid(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(6)
    S, Lambda, phi = all_signs(6), 3.0, activation(name)
    finer = np.array([np.abs(sigma @ phi(np.outer(x, np.linspace(-Lambda, Lambda, 30_001)))).max() for sigma in S])
    sup = unit_supremum(x[:, None], S, Lambda=Lambda, p=2.0, phi=name)
    assert np.all(sup.lower <= sup.upper)
    assert np.all(finer <= sup.upper + sup.rounding)
    assert np.all(sup.lower - sup.rounding <= finer + 1e-8)
    assert np.max(sup.upper - sup.lower) < 3e-6


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "tanh", "elu", "gelu", "silu"])
def test_curvature_is_that_of_the_function(name: str) -> None:
    phi, h = activation(name), 1e-4
    x = np.linspace(-4, 4, 8001) + 0.37 * h
    second = np.abs(phi(x + h) - 2 * phi(x) + phi(x - h)) / h**2
    assert second.max() == pytest.approx(activation(name).curvature, rel=1e-3)


# What the theory says of the values


def test_width_and_outer_bound_scale_the_value() -> None:
    one = hidden_complexity(THREE_POINTS, NetworkSpec.layered((3, 1, 1), [1.0, 1.0], INF)).mean
    many = hidden_complexity(THREE_POINTS, NetworkSpec.layered((3, 5, 1), [2.0, 3.0], INF)).mean
    assert many == pytest.approx(2 * 3 * 5 * one)
    assert hidden_complexity(THREE_POINTS, NetworkSpec.layered((3, 0, 1), 1.0, INF)).upper == 0
    same = sampled_hidden_complexity(
        THREE_POINTS, NetworkSpec.layered((3, 5, 1), [2.0, 3.0], INF), draws=400, rng=np.random.default_rng(0)
    )
    assert abs(same.mean - many) < 5 * same.stderr


# Refusals


SPEC = spec_of(2, 2.0)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linear_complexity(np.ones((21, 2)), SPEC), r"m must be <= 20 .*, got m=21\."),
        (lambda: hidden_complexity(np.ones((17, 2)), SPEC), r"m must be <= 16 .*, got m=17\."),
        (lambda: linear_complexity(np.ones((3, 4)), SPEC), r"Psi must have n_0=2 columns, got 4\."),
        (lambda: hidden_complexity(np.ones((3, 2)), NetworkSpec.layered((2, 1), 1.0, 2)), r"l must be >= 2, got l=1\."),
        (lambda: linear_complexity([[1.0, math.nan]], SPEC), r"Psi must be finite\."),
        (lambda: linear_complexity([[1.0, math.inf]], SPEC), r"Psi must be finite\."),
        (lambda: linear_complexity([1.0, 2.0], SPEC), r"Psi must be an m x n_0 matrix"),
        (lambda: linear_complexity(np.ones((0, 2)), SPEC), r"Psi must be an m x n_0 matrix"),
        (lambda: linear_complexity([[1j, 2.0]], SPEC), r"Psi must be real"),
        (lambda: sampled_linear_complexity(np.eye(2), SPEC, draws=1, rng=RNG), r"draws must be .* got draws=1\."),
        (
            lambda: sampled_linear_complexity(np.eye(2), SPEC, draws=9, rng=0),
            r"rng must be a numpy Generator, got rng=0\.",
        ),
        (
            lambda: sampled_linear_complexity(np.eye(2), SPEC, draws=9, rng=RNG, confidence=1.0),
            r"confidence must be in \(0, 1\), got confidence=1.0\.",
        ),
        (
            lambda: sampled_linear_complexity(np.eye(2), SPEC, draws=9, rng=RNG, confidence=0.0),
            r"confidence must be in \(0, 1\), got confidence=0.0\.",
        ),
        (lambda: unit_supremum(np.eye(2), np.ones((1, 3)), Lambda=1.0, p=2), r"signs must have m=2 columns"),
        (lambda: unit_supremum(np.eye(2), np.zeros((1, 2)), Lambda=1.0, p=2), r"^signs must be \+1 or -1\.$"),
        (lambda: unit_supremum(np.eye(2), np.ones((1, 2)), Lambda=-1.0, p=2), r"Lambda must be .* got Lambda=-1"),
        (lambda: unit_supremum(np.eye(2), np.ones((1, 2)), Lambda=1.0, p=0.5), r"p must be .* got p=0.5"),
        (lambda: unit_supremum(np.eye(2), np.ones((1, 2)), Lambda=1.0, p=2, phi="tanh"), r"homogeneous.*got tanh"),
        (lambda: unit_supremum(np.eye(3), np.ones((1, 3)), Lambda=1.0, p=3), r"n_0=3, m=3, p=3\."),
    ],
)
def test_refusals_name_symbol_condition_and_value(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("phi", "method"), [("relu", "line"), ("tanh", "grid on a line")])
def test_a_line_tells_its_method_and_its_errors(phi: str, method: str) -> None:
    """rounding is at least that of the sums; the gap is the error of interpolation, of second order in the spacing."""
    X, signs = np.array([[100.0], [-300.0]]), all_signs(2)
    sup = unit_supremum(X, signs, Lambda=0.5, p=2.0, phi=phi)
    assert sup.method == method
    assert 2 * 200 * 2.0**-53 < sup.rounding < 100 * 200 * 2.0**-52
    if phi == "tanh":
        spacing = 2 * 0.5 / (_GRID - 1)
        assert sup.upper - sup.lower == pytest.approx(activation("tanh").curvature * 1e5 * spacing**2 / 8, rel=1e-9)


@pytest.mark.parametrize(("p", "unit"), [(1.0, 40.0), (2.0, 40.0), (4.0, 71.75), (INF, 71.75)])
@pytest.mark.parametrize("copies", [10, 3000])
def test_variance_factor_of_features_that_share_no_point(p: float, unit: float, copies: int) -> None:
    """Each point has one feature of twenty, of size 1/20, .., 1: both forms of v by hand, and v rounded upwards."""
    sizes = np.arange(1, 21) / 20
    X = np.tile(np.diag(sizes * np.array([1, -1] * 10)), (copies, 1))
    v = variance_factor(np.random.default_rng(0).permutation(X), p) * 10 / copies
    assert v == pytest.approx(unit, rel=1e-9)
    assert p > 2 or v > unit * (1 + 1e-14)


def test_variance_factor_of_features_that_go_together() -> None:
    """Singular values 1.2, 1, .., 1 in directions that all features share: 4 · 1.2² at p = 2, less at p = 1."""
    H = np.array([[(-1.0) ** (i & j).bit_count() for j in range(8)] for i in range(8)]) / math.sqrt(8)
    X = H @ np.diag([1.2] + [1.0] * 7) @ H.T
    assert variance_factor(X, 2.0) == pytest.approx(4 * 1.44, rel=1e-9)
    assert variance_factor(X, 1.0) == pytest.approx(4 * (1.44 + 7) / 8, rel=1e-9)


def test_variance_factor_of_fewer_points_than_features() -> None:
    X = np.hstack([np.eye(3), np.zeros((3, 40))]) * np.array([[1.0], [2.0], [3.0]])
    assert variance_factor(np.tile(X, (8, 1)), 2.0) == pytest.approx(8 * 14, rel=1e-12)  # bounded differences
    spread = np.hstack([np.eye(8), np.zeros((8, 4))])
    assert variance_factor(spread, 2.0) == pytest.approx(4.0, rel=1e-9)  # 4 sup Σ (u·Ψ)²


def test_how_many_vertices_there_are() -> None:
    """Choices of n_0 - 1 among the m hyperplanes of the points and those of the ball: u_j = 0, and |u_i| = |u_j|."""
    assert vertex_count(10, 3, 1.0) == math.comb(10 + 3, 2)
    assert vertex_count(10, 3, INF) == math.comb(10 + 6, 2)
    assert vertex_count(5, 4, 1.0) == math.comb(5 + 4, 3)


def test_an_interval_tells_how_it_was_found() -> None:
    drawn = {"draws": 2, "rng": np.random.default_rng(0)}  # two are enough for a standard error
    assert linear_complexity(np.eye(2), SPEC).method == "all signs"
    assert sampled_linear_complexity(np.eye(2), SPEC, **drawn).method == "drawn signs"
    sectors = unit_supremum(np.eye(2), all_signs(2), Lambda=1.0, p=2.0).method
    assert hidden_complexity(np.eye(2), SPEC).method == f"all signs, {sectors}"
    assert sampled_hidden_complexity(np.eye(2), SPEC, **drawn).method == f"drawn signs, {sectors}"


def test_as_many_points_as_can_be_enumerated() -> None:
    """μ_16 for the ReLU on one repeated point: half the points count on average, in absolute value."""
    value = hidden_complexity(np.ones((16, 1)), spec_of(1, 2.0))
    assert value.mean == pytest.approx(np.abs(all_signs(16).sum(axis=1)).mean() / 16)


def test_the_time_limit_reaches_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def record(*words, time_limit=None, **more):
        seen.append(time_limit)
        return unit_supremum(*words, time_limit=time_limit, **more)

    monkeypatch.setattr(estimates, "unit_supremum", record)
    hidden_complexity(np.eye(2), SPEC, time_limit=7.0)
    sampled_hidden_complexity(np.eye(2), SPEC, draws=4, rng=np.random.default_rng(0), time_limit=9.0)
    assert seen == [7.0, 9.0]


def test_the_two_errors_of_a_sampled_interval() -> None:
    """Rounding widens it on both sides, and the sampling error is rounded upwards."""
    ones = np.ones(50)
    value = estimates._sampled(ones, ones, 0.25, estimates._Scale((2.0,), 1), 0.0, 0.9, "x")
    assert (value.lower, value.mean, value.upper) == pytest.approx((1.5, 2.0, 2.5), rel=1e-14)
    assert value.lower < 1.5
    assert value.upper > 2.5
    margin = math.sqrt(2 * math.log(2 / 0.05) / 50)
    value = estimates._sampled(ones, ones, 0.0, estimates._Scale((1.0,), 1), 1.0, 0.95, "x")
    assert 1 + margin * (1 + 1e-10) < value.upper < 1 + margin * (1 + 1e-8)
    with pytest.raises(OverflowError, match=r"^R_S exceeds the largest float, 1\.8e308\.$"):
        linear_complexity([[1e308]], NetworkSpec.layered((1, 1), 10.0, 2))
    with pytest.raises(OverflowError, match=r"^R_S exceeds the largest float, 1\.8e308\.$"):
        estimates._sampled(1e200 * ones, 1e200 * ones, 0.0, estimates._Scale((1e200,), 1), 1.0, 0.95, "x")


def test_sampled_suprema_are_of_the_second_layer_and_its_activation() -> None:
    Psi, signs = np.eye(2), {"draws": 64, "rng": np.random.default_rng(0)}
    with pytest.raises(ValueError):
        sampled_hidden_complexity(Psi, NetworkSpec.layered((2, 1), 1.0, 2), **signs)
    Psi = np.random.default_rng(1).standard_normal((8, 2))
    for phi in ("relu", "abs"):
        spec = NetworkSpec.layered((2, 1, 1), 1.0, 2, phi)
        drawn = sampled_hidden_complexity(Psi, spec, draws=1000, rng=np.random.default_rng(0))
        assert drawn.mean == pytest.approx(hidden_complexity(Psi, spec).mean, abs=4 * drawn.stderr)


@pytest.mark.parametrize("p", [1.0, INF])
def test_a_mixed_integer_program_whose_value_is_small(p: float) -> None:
    """Two equal points of opposite signs cancel, and nearly equal ones nearly do: lower is a value that is attained."""
    equal, near = np.array([[1.0, 0.5], [1.0, 0.5]]), np.array([[1.0, 0.0], [1.0, 0.25]])
    signs = np.array([[1.0, -1.0]])
    assert by_milp(equal, signs, p, (0.0, 1.0))[0] == pytest.approx([0.0], abs=1e-9)
    assert by_milp(near, signs, p, (0.0, 1.0))[0] == pytest.approx([0.25], abs=1e-6)
