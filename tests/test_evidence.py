"""What the statements read, against exact rational arithmetic: never on the wrong side, ties decided."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adanet_theory import catalogue
from adanet_theory.examples import Example
from adanet_theory.rounding import down, exact_sum, up
from adanet_theory.twins.counted import clopper_pearson_lower, clopper_pearson_upper
from adanet_train.core.network import Network
from adanet_train.reading.enclosure import balls
from adanet_train.reading.graph import of_network
from adanet_train.reading.path_norm import path_norm
from tests.refusals import refused
from verify.measure import evidence
from verify.measure.evidence import feature_sizes
from verify.measure.margins import by_node, margins
from verify.reading.points import GivenPoints
from verify.rows.checks import held_out
from verify.suite.strategies import in_layers
from verify.suite.test_outward import exact_f, exact_path_norm

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, max_size=30))
def test_exact_sum(values: list[float]) -> None:
    assert exact_sum(np.array(values)) == sum(map(Fraction, values), Fraction(0))


def test_exact_sum_of_many_equal_mantissas() -> None:
    values = np.full(100_000, math.nextafter(1.0, 0.0))
    assert exact_sum(values) == 100_000 * Fraction(math.nextafter(1.0, 0.0))


@given(st.fractions(min_value=-(10**9), max_value=10**9))
def test_up_and_down_are_next_to_each_other(x: Fraction) -> None:
    assert down(x) <= x <= up(x)
    assert up(x) == down(x) or math.nextafter(down(x), math.inf) == up(x)


def network(seed: int, *, scale: float = 1.0, name: str = "relu") -> Network:
    """A small network with skip connections."""
    draw = np.random.default_rng(seed)
    n = (3, 4, 2, 2)
    hidden = {(1, 0): draw.normal(size=(4, 3)), (2, 1): draw.normal(size=(2, 4)), (3, 2): draw.normal(size=(2, 2))}
    hidden[3, 1] = draw.normal(size=(2, 4))
    output = {1: draw.normal(size=4), 3: draw.normal(size=2)}
    hidden = {pair: scale * U for pair, U in hidden.items()}
    return in_layers(n, hidden, output, name)


@pytest.mark.parametrize("scale", [1.0, 1e-60, 1e-90, 1e60])
@pytest.mark.parametrize("seed", range(5))
def test_the_path_norm_is_rounded_up_by_little(seed: int, scale: float) -> None:
    weights = network(seed, scale=scale)
    B, exact = path_norm(of_network(weights)), exact_path_norm(weights)
    assert exact <= Fraction(B) <= exact * (1 + Fraction(1, 10**13))


def cancelling(seed: int) -> np.ndarray:
    """41 numbers of size 1e8 whose sum is 1: floats add them to 1 up to 1e-8."""
    draw = np.random.default_rng(seed)
    half = 1e8 * draw.normal(size=20)
    return draw.permutation(np.concatenate([half, -half, [1.0]]))


@pytest.mark.parametrize("seed", range(8))
def test_the_path_norm_sees_through_cancellation(seed: int) -> None:
    weights = in_layers((1, 41), {(1, 0): cancelling(seed)[:, None]}, {1: np.ones(41)}, "identity")
    assert 1 <= path_norm(of_network(weights)) <= 1 + 1e-4


def test_the_path_norm_of_the_zero_function_is_0() -> None:
    weights = network(0)
    zero = replace(weights, output={1: torch.zeros(4, dtype=torch.float64)})
    assert path_norm(of_network(zero)) == 0


def test_the_path_norm_that_overflows_is_refused() -> None:
    refused(lambda: path_norm(of_network(network(0, scale=1e200))), "path norm", error=OverflowError)


@pytest.mark.parametrize("scale", [1.0, 1e150, 1e-170])
def test_the_sizes_of_the_features_are_rounded_up_by_little(scale: float) -> None:
    Psi = scale * np.random.default_rng(0).normal(size=(50, 3))
    exact = [sum(Fraction(x) ** 2 for x in column) / 50 for column in Psi.T.tolist()]
    sizes = feature_sizes(Psi, 1.0)
    assert max(exact) <= Fraction(sizes.r_rms) ** 2 <= max(exact) * (1 + Fraction(1, 10**13))
    assert sizes.r_inf == np.abs(Psi).max()
    squares = sum(sum(abs(Fraction(x)) for x in row) ** 2 for row in Psi.tolist())
    if scale == 1:
        assert squares <= Fraction(sizes.square_norms) <= squares * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, math.inf])
def test_the_largest_norms_are_rounded_up_by_little(p: float) -> None:
    weights = network(3)
    for pair, value in evidence.largest_norms(weights, p).items():
        rows = weights.hidden[pair].abs().numpy()
        near = rows.max() if p == math.inf else float(((rows**p).sum(axis=1) ** (1 / p)).max())
        assert near * (1 - 1e-15) <= value <= near * (1 + 1e-13)
        if p == 1:
            assert Fraction(value) >= max(sum(map(Fraction, row)) for row in rows.tolist())


# Margins


def test_points_where_every_unit_is_off_are_decided_at_once() -> None:
    hidden = {(1, 0): -np.ones((50, 3)), (2, 1): np.ones((1, 50))}
    weights = in_layers((3, 50, 1), hidden, {2: np.ones(1)}, "relu")
    Psi = np.random.default_rng(0).uniform(0.1, 1, size=(3000, 3))
    assert margins(of_network(weights), Psi, np.ones(3000)).count(Fraction(0)) == 3000
    f, error = by_node(of_network(weights), Psi)
    assert not f.any()
    assert not error.any()


@pytest.mark.parametrize(
    "name", ["tanh", "sigmoid", "softplus", "elu", "gelu", "silu", "leaky_relu:0.3", "abs", "identity"]
)
def test_curved_activations_are_enclosed(name: str) -> None:
    """Against the ball arithmetic that decides the ties."""
    import flint

    weights, Psi = network(1, name=name), np.random.default_rng(2).normal(size=(10, 3))
    enclosed = margins(of_network(weights), Psi, np.ones(10))
    with flint.ctx.workprec(300):
        for i in range(10):
            (value,) = balls(of_network(weights), Psi[i])
            assert flint.arb(enclosed.lower[i]) <= value <= flint.arb(enclosed.upper[i])
            assert enclosed.radius[i] < 1e-9
    assert enclosed.count(Fraction(0)) == int((enclosed.middle <= 0).sum())


@given(st.integers(0, 10**6), st.floats(1e-3, 1e3))
@settings(max_examples=60)
def test_the_ramp_is_rounded_up_by_little_and_an_end_is_counted(seed: int, rho: float) -> None:
    draw = np.random.default_rng(seed)
    weights, Psi = network(seed), draw.normal(size=(9, 3))
    y = draw.choice([-1.0, 1.0], size=9)
    enclosed = margins(of_network(weights), Psi, y)
    exact = [int(s) * exact_f(weights, x) for x, s in zip(Psi.tolist(), y, strict=True)]
    end = Fraction(float(enclosed.upper[0]))  # a threshold at the end of an enclosure
    assert enclosed.count(end) == sum(u <= end for u in exact)
    ramp = sum(min(max(1 - u / Fraction(rho), Fraction(0)), Fraction(1)) for u in exact) / 9
    assert ramp <= Fraction(enclosed.ramp(rho)) <= ramp + Fraction(10) ** -9 * (1 + 1 / Fraction(rho))


def test_the_ramp_is_exactly_0_and_1_where_nothing_is_inside() -> None:
    weights = in_layers((1, 1), {(1, 0): np.ones((1, 1))}, {1: np.ones(1)}, "identity")
    Psi = np.array([[1.0], [2.0]])
    assert margins(of_network(weights), Psi, np.ones(2)).ramp(0.5) == 0
    assert margins(of_network(weights), Psi, -np.ones(2)).ramp(0.5) == 1


@pytest.mark.parametrize("seed", range(8))
def test_cancellation_inside_a_unit_is_enclosed_and_decided(seed: int) -> None:
    weights = in_layers((41, 1), {(1, 0): np.ones((1, 41))}, {1: np.ones(1)}, "identity")
    Psi = cancelling(seed)[None]
    f, error = by_node(of_network(weights), Psi)
    assert abs(Fraction(f[0]) - 1) <= Fraction(error[0])
    enclosed = margins(of_network(weights), Psi, np.ones(1))
    assert enclosed.lower[0] <= 1 <= enclosed.upper[0]
    assert [enclosed.count(1 + sign * Fraction(1, 10**30)) for sign in (-1, 0, 1)] == [0, 1, 1]


def test_an_overflow_is_refused_with_its_point() -> None:
    with pytest.raises(ValueError, match="overflow at point 1"):
        margins(of_network(network(0, scale=1e3)), np.array([[0.0] * 3, [1e306] * 3]), np.ones(2))


# Clopper and Pearson


@pytest.mark.parametrize(
    ("errors", "n", "delta"), [(0, 10, "0.05"), (0, 100, "1e-40"), (3, 50, "0.05"), (40, 50, "1e-6"), (7, 8, "0.5")]
)
def test_the_held_out_bound_is_not_below_the_exact_one(errors: int, n: int, delta: str) -> None:
    u = Fraction(clopper_pearson_upper(errors, n, Fraction(delta)))
    lower = Fraction(clopper_pearson_lower(errors, n, Fraction(delta)))

    def at_most(k: int, p: Fraction) -> Fraction:
        return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))

    assert Fraction(delta) * (1 - Fraction(1, 10**9)) <= at_most(errors, u) <= Fraction(delta)
    if errors:
        assert Fraction(delta) * (1 - Fraction(1, 10**9)) <= 1 - at_most(errors - 1, lower) <= Fraction(delta)


def test_the_held_out_bound_at_the_ends() -> None:
    assert clopper_pearson_upper(5, 5, Fraction(1, 20)) == 1
    assert clopper_pearson_lower(0, 5, Fraction(1, 20)) == 0


@pytest.mark.parametrize("example", catalogue.bound("held-out").examples)
def test_the_report_has_the_value(example: Example) -> None:
    errors, m, delta = example.arguments.values()
    points = GivenPoints(np.zeros((m, 1)), np.ones(m))
    tested = held_out(np.where(np.arange(m) < errors, -1.0, 1.0), points, Fraction(delta))
    assert (tested.errors, tested.upper) == (errors, clopper_pearson_upper(errors, m, delta))
