"""MarginBound, the empirical losses, and the search for the best margin against trying every j."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.risk.margin import (
    ETA,
    PRIOR,
    MarginBound,
    best_margin,
    growth,
    margin_error,
    ramp_loss,
    zero_function,
)

margin_lists = st.lists(st.floats(-5, 5).map(lambda u: round(u, 3)), min_size=1, max_size=12)


def test_a_bound_is_its_terms() -> None:
    bound = MarginBound("x", {"ramp": 0.25, "complexity": 0.5}, rho=0.1)
    assert (bound.raw, bound.total, bound.value, bound.is_vacuous, bound.j) == (0.75, 0.75, 0.75, False, None)
    vacuous = MarginBound("x", {"ramp": 0.5, "complexity": 0.5}, rho=0.1, j=3)
    assert (vacuous.value, vacuous.is_vacuous, vacuous.j) == (1.0, True, 3)
    assert MarginBound("x", {"ramp": 0.5, "complexity": 4.5}, rho=0.1).value == 1.0
    undefined = MarginBound("x", {"ramp": 0.5, "confidence": None}, rho=0.1)
    assert (undefined.raw, undefined.total, undefined.value, undefined.is_vacuous) == (None, math.inf, 1.0, True)
    trivial = zero_function("x", "ramp")
    assert (trivial.id, trivial.raw, trivial.rho) == ("x", 1.0, None)
    assert list(trivial.terms) == ["ramp", "complexity", "depth", "confidence"]


def test_overflow_of_a_sum_is_reported() -> None:
    with pytest.raises(OverflowError):
        _ = MarginBound("x", {"a": 1.7e308, "b": 1.7e308}, rho=1.0).raw


@given(margin_lists, st.floats(0.01, 10))
def test_losses_are_in_order(margins: list[float], rho: float) -> None:
    error = sum(u <= 0 for u in margins) / len(margins)
    ramp = sum(min(max(1 - u / rho, 0), 1) for u in margins) / len(margins)
    assert ramp_loss(margins, rho) == pytest.approx(ramp, abs=1e-12)
    assert margin_error(margins, rho) == sum(u <= rho for u in margins) / len(margins)
    assert error - 1e-12 <= ramp_loss(margins, rho) <= margin_error(margins, rho) + 1e-12


@pytest.mark.parametrize("loss", [margin_error, ramp_loss])
def test_losses_refuse_a_margin_of_zero(loss) -> None:
    with pytest.raises(ValueError, match=r"^rho .*> 0 and finite.* rho=0\.$"):
        loss([1.0], 0)


def test_prior_and_grid() -> None:
    assert pytest.approx(1 + 2 * sum(1 / (j + 1) ** 2 for j in range(1, 10**5)), abs=1e-4) == PRIOR
    assert ETA == 0.05
    assert growth(0.25, 3, "x") == 1.25**3
    with pytest.raises(ValueError, match=r"^eta must be > 0, got eta=0\.$"):
        growth(0, 3, "x")
    with pytest.raises(OverflowError, match=r"^x at j=100000 .*1\.8e308\.$"):
        growth(0.05, 100_000, "x")


@given(margin_lists, st.floats(0.01, 100), st.floats(0, 0.5), st.floats(0.001, 0.3))
def test_best_margin_is_the_best_of_all(margins: list[float], scale: float, slope: float, weight: float) -> None:
    """slope and weight stand for complexity and confidence: they grow with j >= 0, as the search assumes."""

    def bound(j: int, ramp: float) -> MarginBound:
        terms = {"ramp": ramp, "complexity": slope * 1.05**j, "confidence": weight * math.sqrt(math.log(2 + abs(j)))}
        return MarginBound("x", terms, rho=scale / 1.05**j, j=j)

    statement = best_margin("x", margins, scale, bound)
    everywhere = [bound(j, ramp_loss(margins, scale * 1.05**-j)).total for j in range(-250, 250)]
    assert statement.total <= min(everywhere) + 1e-12
    assert statement.terms["ramp"] == pytest.approx(ramp_loss(margins, scale * 1.05**-statement.j), abs=1e-12)


def test_best_margin_at_its_edges() -> None:
    def bound(j: int, ramp: float) -> MarginBound:
        return MarginBound("x", {"ramp": ramp, "rest": 0.01 * 1.05**j}, rho=1.0, j=j)

    assert best_margin("x", [1.0], 0.0, bound) == zero_function("x", "ramp")
    assert best_margin("x", [-1.0, 0.0], 2.0, bound).j < 0  # vacuous, and least where its other terms are
    assert best_margin("x", [10.0], 1.0, bound).j < -30  # the margins may exceed the scale
    for bad in ([], [math.nan], [[1.0]]):
        with pytest.raises(ValueError, match=r"^margins .*finite"):
            best_margin("x", bad, 1.0, bound)
    with pytest.raises(ValueError, match=r"scale of the margins .*finite and >= 0"):
        best_margin("x", [1.0], -1.0, bound)


def test_best_margin_below_the_first_j() -> None:
    """Where every margin is under ρ_0 and the bound is vacuous, a larger ρ may be better: here j = -1, 2.15."""

    def bound(j: int, ramp: float) -> MarginBound:
        return MarginBound("x", {"ramp": ramp, "complexity": 2 * 2.0**j, "confidence": 0.4 * abs(j)}, rho=1.0, j=j)

    best = best_margin("x", [0.5], 1.0, bound, eta=1.0)
    assert (best.j, best.total) == (-1, pytest.approx(0.75 + 1 + 0.4))


def test_single_precision_margins_are_read_in_double() -> None:
    margins = np.random.default_rng(0).uniform(-0.1, 1, 1001).astype(np.float32)
    assert ramp_loss(margins, 0.3) == ramp_loss(margins.astype(np.float64), 0.3)

    def bound(j: int, ramp: float) -> MarginBound:
        return MarginBound("x", {"ramp": ramp, "rest": 0.01 * 1.05**j}, rho=1.0, j=j)

    assert best_margin("x", margins, 1.0, bound) == best_margin("x", margins.astype(np.float64), 1.0, bound)


def test_best_margin_uses_its_own_grid() -> None:
    seen = []

    def bound(j: int, ramp: float) -> MarginBound:
        seen.append((j, ramp))
        return MarginBound("x", {"ramp": ramp, "rest": 0.001 * 2.0**j}, rho=1.0, j=j)

    best = best_margin("x", np.array([0.5, 1.0]), 4.0, bound, eta=1.0)
    assert seen[:4] == [(0, 1 - 0.75 / 4), (1, 1 - 0.75 / 2), (2, 0.25), (3, 0.0)]
    assert best.j == 3
