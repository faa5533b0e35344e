"""Lower values of R_S(H_k): never above an exact value, close to it on small cases, rigorous where signs are drawn."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from adanet_theory.complexity.estimates import hidden_complexity, linear_complexity
from adanet_theory.complexity.rademacher import lemma_1_corrected
from adanet_theory.complexity.unit_supremum import unit_supremum
from adanet_theory.spec import NetworkSpec
from verify.measure.ascent import lower_complexities, ranges, spreads
from verify.measure.unit_ascent import UnitSearch

EXPONENTS = [1, 1.5, 2, 3, math.inf]
THREE_POINTS = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, -1]])
MU_8 = math.comb(7, 3) / 2**7  # E|Σ σ_i|/m at m = 8


def gaussian(m: int, n_0: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((m, n_0))


def all_signs(m: int) -> np.ndarray:
    return np.array(list(product([1.0, -1.0], repeat=m)))


# Against exact values


@pytest.mark.parametrize(
    ("m", "n_0", "p", "phi"),
    [
        *((7, 2, p, "relu") for p in EXPONENTS),
        (7, 2, 2, "abs"),
        (7, 2, 1.5, "leaky_relu:0.3"),
        (6, 3, 2, "relu"),
        (8, 3, 1, "relu"),
        (8, 3, math.inf, "leaky_relu:-0.5"),
        *((7, 1, 2, phi) for phi in ("tanh", "sigmoid", "softplus", "elu", "gelu")),
    ],
)
def test_second_layer_is_below_the_exact_value_and_close(m, n_0, p, phi):
    spec = NetworkSpec.layered((n_0, 5, 2), (1.3, 0.7), p, phi)
    X = gaussian(m, n_0)
    exact = hidden_complexity(X, spec)
    first, second = lower_complexities(spec, X, draws=2 ** (m - 1), seed=0)
    assert (second.stderr, second.draws, second.confidence) == (0, 0, 1)
    assert second.lower <= second.mean <= exact.upper
    assert second.mean >= 0.98 * exact.mean
    assert math.isclose(first.mean, linear_complexity(X, spec).mean, rel_tol=1e-12)


def test_the_three_points_of_ratio_seven_sixths():
    values = lower_complexities(NetworkSpec.layered((3, 1, 1), 1.0, p=1), THREE_POINTS, draws=4, seed=0)
    assert values[0].mean == pytest.approx(1 / 2, rel=1e-12)
    assert 7 / 12 - 1e-7 <= values[1].mean <= 7 / 12  # reached as far as a search in float32 reaches


@pytest.mark.parametrize(("phi", "at_zero"), [("sigmoid", 0.5), ("softplus", math.log(2))])
def test_a_lower_value_refutes_the_printed_lemma_where_phi_is_not_zero_at_zero(phi, at_zero):
    spec = NetworkSpec.layered((1, 1, 1), (0.0, 1.0), 2, phi)
    first, second = lower_complexities(spec, np.ones((8, 1)), draws=128, seed=0)
    assert first.mean == 0
    assert second.mean == pytest.approx(at_zero * MU_8, rel=1e-12)
    assert second.lower > 0.13  # Lemma 1 says 2 Λ n^(1/q) R_S(H_1) = 0
    assert second.lower <= lemma_1_corrected(spec, 2, [first.mean], m=8) * (1 + 1e-12)


@pytest.mark.parametrize("p", EXPONENTS)
def test_linear_networks_reach_the_product_of_the_layers(p):
    """φ = identity: Z_k = Λ-path sum C_k times ||Σ σ_i Ψ(x_i)||_q, C_k = Σ_s Λ_{k,s} n_s^(1/q) C_s."""
    Lambda = {(1, 0): 0.5, (2, 1): 1.5, (3, 1): 0.4, (3, 2): 0.8, (4, 2): 0.3, (4, 3): 1.1}
    spec = NetworkSpec((3, 4, 5, 3, 2), Lambda, p, "identity")
    X = gaussian(5, 3)
    C = [0.0, 0.5]
    for k in (2, 3, 4):
        C.append(sum(spec.bound(k, s) * spec.n[s] ** (1 - 1 / p) * C[s] for s in range(1, k)))
    unit = np.mean(np.linalg.norm(all_signs(5) @ X, spec.q, axis=1)) / 5
    values = lower_complexities(spec, X, draws=16, seed=0, steps=60)
    assert [value.mean for value in values] == pytest.approx([c * unit for c in C[1:]], rel=2e-3)
    assert all(value.mean <= c * unit * (1 + 1e-12) for value, c in zip(values, C[1:], strict=True))


def third_layer_supremum(X: np.ndarray, sigma: np.ndarray, n_1: int, p: float) -> float:
    """max Σ_i σ_i relu(Σ_t u_t relu(v_t . x_i)), Λ = 1, p in {1, inf}, by mixed-integer programs.

    relu is homogeneous, so |u_t| goes into v_t: p = 1: Σ_t ||v_t||_1 <= 1; p = inf: ||v_t||_inf <= 1. What is left of
    u_t is its sign. Variables: v_t, z_t = relu(X v_t), y = relu(Σ ± z_t), and which sides are active.
    """
    m, n_0 = X.shape
    M = np.linalg.norm(X, 1 if p == math.inf else math.inf, axis=1)
    total = M * (n_1 if p == math.inf else 1)
    V, Zs, A = 2 * n_1 * n_0, n_1 * m, n_1 * m
    size = V + Zs + A + 2 * m  # v^+, v^-; z; a; y; b
    best = 0.0
    for negative in range(n_1):
        signs = np.array([1.0] * (n_1 - negative) + [-1.0] * negative)
        rows, low, high = [], [], []

        def add(row, lo, hi, rows=rows, low=low, high=high):
            rows.append(row), low.append(lo), high.append(hi)

        for i in range(m):
            g = np.zeros(size)
            for t in range(n_1):
                h, z, a = np.zeros(size), V + t * m + i, V + Zs + t * m + i
                h[2 * t * n_0 : (2 * t + 1) * n_0] = X[i]
                h[(2 * t + 1) * n_0 : (2 * t + 2) * n_0] = -X[i]
                unit, switch = np.eye(size)[z], np.eye(size)[a]
                add(unit - h, 0, np.inf)  # z >= h
                add(unit - h + M[i] * switch, -np.inf, M[i])  # z <= h if a = 1
                add(unit - M[i] * switch, -np.inf, 0)  # z <= 0 if a = 0
                g[z] = signs[t]
            y, b = np.eye(size)[V + Zs + A + i], np.eye(size)[V + Zs + A + m + i]
            add(y - g, 0, np.inf)
            add(y - g + total[i] * b, -np.inf, total[i])
            add(y - total[i] * b, -np.inf, 0)
        if p == 1:
            add(np.repeat([1.0, 0.0], [V, size - V]), 0, 1)
        objective = np.zeros(size)
        objective[V + Zs + A : V + Zs + A + m] = -sigma
        upper = np.concatenate([np.ones(V), np.tile(M, n_1), np.ones(A), total, np.ones(m)])
        integrality = np.repeat([0, 0, 1, 0, 1], [V, Zs, A, m, m])
        result = milp(
            objective,
            constraints=LinearConstraint(np.array(rows), low, high),
            bounds=Bounds(0, upper),
            integrality=integrality,
        )
        best = max(best, -result.fun)
    return best


@pytest.mark.parametrize("p", [1, math.inf])
def test_third_layer_is_below_the_exact_value_and_close(p):
    X, n_1 = gaussian(4, 2, seed=3), 2
    spec = NetworkSpec.layered((2, n_1, 3, 1), 1.0, p)
    suprema = [max(third_layer_supremum(X, e * sigma, n_1, p) for e in (1, -1)) for sigma in all_signs(4)[:8]]
    exact = spec.root(2) * np.mean(suprema) / 4
    third = lower_complexities(spec, X, draws=8, seed=0)[2]
    assert 0.99 * exact <= third.mean <= exact * (1 + 1e-6)  # the solver's tolerance


def test_deep_families_are_carried_up_and_stay_in_reach_of_their_product():
    """Twelve layers of identity: no search above layer 3, yet the value is the product of the layers."""
    spec = NetworkSpec.layered((3,) + (4,) * 12, 1.0, 2, "identity")
    X = gaussian(6, 3)
    unit = np.mean(np.linalg.norm(all_signs(6) @ X, axis=1)) / 6
    values = lower_complexities(spec, X, draws=32, seed=0)
    assert [value.mean for value in values] == pytest.approx([2.0**k * unit for k in range(12)], rel=2e-3)


@pytest.mark.parametrize("p", EXPONENTS)
def test_depth_lower_carries_the_value_up(p):
    spec = NetworkSpec.layered((3, 4, 3, 5, 2), (1.0, 0.7, 1.3, 0.9), p)
    values = lower_complexities(spec, gaussian(30, 3), draws=6, seed=1, restarts=1, steps=2)
    for k in (2, 3):
        assert values[k].mean >= spec.bound(k + 1, k) * spec.root(k) * values[k - 1].mean * (1 - 1e-12)


def test_depth_lower_adds_over_skip_connections():
    """T_3(σ) >= Λ_{3,1} n_1^(1/q) T_1(σ) + Λ_{3,2} n_2^(1/q) T_2(σ): without a step of ascent, so does R_S(H_4)."""
    Lambda = {(1, 0): 1.0, (2, 1): 0.5, (3, 1): 0.8, (3, 2): 1.1, (4, 3): 1.5}
    spec = NetworkSpec((3, 4, 3, 5, 2), Lambda, 2)
    values = lower_complexities(spec, gaussian(30, 3), draws=6, seed=1, restarts=1, steps=0)
    assert values[3].mean >= 1.5 * math.sqrt(5) * values[2].mean * (1 - 1e-12)


# The candidates are members of the family


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("phi", ["relu", "tanh", "softplus"])
def test_a_candidate_written_out_in_full_is_a_member_with_the_value_claimed(p, phi):
    """Each distinct unit is copied as often as it stands for: rows of n_s weights of norm <= Λ, and the same value."""
    spec = NetworkSpec((3, 5, 4, 1, 1), {(1, 0): 0.8, (2, 1): 1.2, (3, 1): 0.6, (3, 2): 0.9, (4, 3): 1}, p, phi)
    X = gaussian(9, 3)
    signs = torch.tensor(all_signs(9)[[3, 77, 400]])
    search = UnitSearch(spec, torch.tensor(X), torch.Generator().manual_seed(0), restarts=3, steps=12, width=3)
    below = {}
    for s in (1, 2, 3):
        values, below = search.best(s, signs, below)
    copies = {1: [2, 2, 1], 2: [2, 1, 1], 0: [1] * 3}
    for row in range(3):
        full = {}
        for (k, s), w in below.items():
            spread = np.array(copies[s]) ** (-1 / p)  # the weight each copy carries
            targets = [1] if k == 3 else copies[k]
            full[k, s] = np.repeat(np.repeat(w[row].numpy() * spread, copies[s], axis=1), targets, axis=0)
            assert full[k, s].shape == (1 if k == 3 else spec.n[k], spec.n[s])
            assert np.all(np.linalg.norm(full[k, s], p, axis=1) <= spec.bound(k, s) * (1 + 1e-15))
        h = {1: X @ full[1, 0].T}
        h[2] = spec.phi(1)(h[1]) @ full[2, 1].T
        h[3] = spec.phi(1)(h[1]) @ full[3, 1].T + spec.phi(2)(h[2]) @ full[3, 2].T
        value = signs[row].numpy() @ spec.phi(3)(h[3])[:, 0]
        assert value == pytest.approx(float(values[row]), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("p", [1, 2])
def test_the_norm_of_a_unit_is_at_most_lambda_as_a_real_number(p):
    spec = NetworkSpec.layered((7, 1, 1), 0.1, p)
    search = UnitSearch(spec, torch.tensor(gaussian(20, 7)), torch.Generator().manual_seed(0), 4, 10, 2)
    _, minimum = search.best(1, torch.tensor(gaussian(6, 20)).sign(), {})
    for row in minimum[1, 0][:, 0].tolist():
        assert sum(abs(Fraction(u)) ** p for u in row) <= Fraction(0.1) ** p


# Drawn signs


def test_the_confidence_value_is_below_the_truth_and_not_for_nothing():
    """The deviation is proved for 95 of 100 seeds; it holds in all of them, and the means do exceed the truth."""
    spec = NetworkSpec.layered((2, 3, 1), 1.0, p=2)
    X = gaussian(12, 2)
    truth = hidden_complexity(X, spec)
    values = [lower_complexities(spec, X, draws=20, seed=seed, steps=8)[1] for seed in range(20)]
    assert all(value.lower <= truth.upper for value in values)
    assert any(value.mean > truth.mean for value in values)
    assert all(value.draws == 20 and value.confidence == 0.95 and value.stderr > 0 for value in values)
    spread = spreads(spec, X, ranges(spec, X))[2]
    expected = values[0].mean - spread * math.sqrt(2 * math.log(20) / 20) / 12
    assert values[0].lower == pytest.approx(max(expected, 0), rel=1e-6)


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, math.inf]),
    st.sampled_from(["relu", "abs", "leaky_relu:0.3"]),
    st.floats(0.01, 20),
)
def test_the_tail_factor_bounds_the_exponential_moment(seed, p, phi, t):
    """E e^{t (Z - EZ)} <= e^{t² v/2} over all signs, for layers 1 and 2, with a common direction so that v matters."""
    X = gaussian(8, 2, seed) + 2 * (seed % 2)
    spec = NetworkSpec.layered((2, 3, 1), 1.0, p, phi)
    v = [spread**2 for spread in spreads(spec, X, ranges(spec, X))]
    first = np.linalg.norm(all_signs(8) @ X, spec.q, axis=1)
    second = spec.root(1) * unit_supremum(X, all_signs(8), Lambda=1, p=p, phi=phi).lower
    for Z, v_k in ((first, v[1]), (second, v[2])):
        scale = t / math.sqrt(v_k)
        assert np.log(np.mean(np.exp(scale * (Z - Z.mean())))) <= t**2 / 2 * (1 + 1e-9)


def test_the_tail_factor_is_the_energy_where_that_is_less():
    """Unit vectors on disjoint points: a unit with p = 1 sees a quarter of Σ_i ||Ψ(x_i)||², and v is twice that."""
    X = np.repeat(np.eye(4), 5, axis=0)
    spec = NetworkSpec.layered((4, 2, 1), (0.5, 2.0), p=1)
    first, second = spreads(spec, X, ranges(spec, X))[1:]
    assert first**2 == pytest.approx(2 * 0.25 * 5)
    assert second**2 == pytest.approx(2 * 5)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(EXPONENTS), st.sampled_from(["relu", "tanh", "sigmoid", "softplus"]))
def test_members_stay_within_the_ranges(seed, p, phi):
    rng = np.random.default_rng(seed)
    spec = NetworkSpec((2, 3, 2, 1), {(1, 0): 1.5, (2, 1): 0.7, (3, 1): 0.4, (3, 2): 2.0}, p, phi)
    X = gaussian(5, 2, seed)
    U = {}
    for (k, s), bound in spec.Lambda.items():
        drawn = rng.standard_normal((spec.n[k], spec.n[s]))
        U[k, s] = bound * drawn / np.linalg.norm(drawn, p, axis=1, keepdims=True)
    h = [X, X @ U[1, 0].T]
    h.append(spec.phi(1)(h[1]) @ U[2, 1].T)
    h.append(spec.phi(1)(h[1]) @ U[3, 1].T + spec.phi(2)(h[2]) @ U[3, 2].T)
    reach = ranges(spec, X)
    for k in (1, 2, 3):
        assert np.all(np.abs(h[k]) <= reach[k][:, None] * (1 + 1e-12))
    assert np.all(2 * (h[3] ** 2).sum(axis=0) <= _energy_factor(spec, X) * (1 + 1e-12))


def _energy_factor(spec: NetworkSpec, X: np.ndarray) -> float:
    """The second of the two factors alone: the first is made too large to matter."""
    return spreads(spec, X, [np.zeros(0)] + [np.full(len(X), 1e9)] * spec.depth)[3] ** 2


# The call


def test_equal_seeds_give_equal_bits_and_no_global_randomness_is_touched():
    spec = NetworkSpec.layered((3, 4, 3, 1), 1.0, p=2)
    X = gaussian(25, 3)
    state = torch.get_rng_state()
    one, two = (lower_complexities(spec, X, draws=6, seed=5, steps=5) for _ in range(2))
    assert one == two
    assert torch.equal(state, torch.get_rng_state())
    assert lower_complexities(spec, X, draws=6, seed=6, steps=5) != one


def test_batches_do_not_change_the_draws(monkeypatch):
    spec = NetworkSpec.layered((3, 4, 1), 1.0, p=2)
    whole = lower_complexities(spec, gaussian(25, 3), draws=7, seed=5)
    monkeypatch.setattr("verify.measure.ascent._BATCH", 1)
    single = lower_complexities(spec, gaussian(25, 3), draws=7, seed=5)
    assert single[0].mean == pytest.approx(whole[0].mean, rel=1e-14)
    assert single[1].mean == pytest.approx(whole[1].mean, rel=0.05)  # other random starts


def test_progress_ends_at_its_total():
    seen = []
    spec = NetworkSpec.layered((2, 3, 3, 1), 1.0, p=2)
    lower_complexities(
        spec, gaussian(9, 2), draws=4, seed=0, steps=1, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(4, 8), (8, 8)]


def test_layers_without_units_or_connections_count_for_nothing():
    X = gaussian(4, 2)
    empty = NetworkSpec((2, 0, 3, 1), {(1, 0): 1.0, (2, 1): 1.0, (3, 2): 1.0}, 2)
    assert [value.mean for value in lower_complexities(empty, X, draws=8, seed=0)][1:] == [0, 0]
    apart = NetworkSpec((2, 3, 2, 1), {(1, 0): 1.0, (3, 2): 2.0}, 2, "sigmoid")
    third = lower_complexities(apart, X, draws=8, seed=0)[2]
    assert third.mean == pytest.approx(2 * math.sqrt(2) * 0.5 * np.abs(all_signs(4).sum(axis=1)).mean() / 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"draws": 1}, "draws must be an integer >= 2, got draws=1."),
        ({"draws": 2.5}, "draws must be an integer >= 2, got draws=2.5."),
        ({"confidence": 1.0}, r"confidence must be in \(0, 1\), got confidence=1.0."),
        ({"Psi": np.ones((4, 3))}, "Psi must have n_0=2 columns, got 3."),
        ({"Psi": np.full((4, 2), np.nan)}, "Psi must be finite."),
        ({"restarts": 0}, "restarts must be an integer >= 1, got restarts=0."),
        ({"width": 0}, "width must be an integer >= 1, got width=0."),
    ],
)
def test_bad_input_names_the_symbol(change, message):
    arguments = {"Psi": gaussian(4, 2), "draws": 4, "seed": 0} | change
    with pytest.raises(ValueError, match=message):
        lower_complexities(NetworkSpec.layered((2, 3, 1), 1.0, p=2), **arguments)


def test_a_value_beyond_the_largest_float_is_refused():
    with pytest.raises(OverflowError, match="R_S"):
        lower_complexities(NetworkSpec.layered((2, 3, 1), 1e200, p=2), gaussian(4, 2) * 1e200, draws=4, seed=0)
