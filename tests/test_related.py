"""Other people's complexities: their formulas, written again, and their conditions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.risk.related import golowich_frobenius, golowich_l1, neyshabur_group, standard_margin_bound

norm_lists = st.lists(st.floats(0, 10), min_size=1, max_size=6)


@given(norm_lists, st.integers(1, 10**6), st.floats(0, 1e6), st.integers(1, 1000))
def test_golowich(norms, m, squares, n_0) -> None:
    d, scale = len(norms), math.prod(norms)
    frobenius = scale * (math.sqrt(2 * math.log(2) * d) + 1) * math.sqrt(squares) / m
    assert golowich_frobenius(norms, m=m, square_norms=squares) == pytest.approx(frobenius)
    l1 = 2 / m * scale * math.sqrt(d + 1 + math.log(n_0)) * math.sqrt(squares)
    assert golowich_l1(norms, n_0=n_0, m=m, largest_column=squares) == pytest.approx(l1)


@given(norm_lists, st.sampled_from([1, 1.2, 1.5, 2]), st.integers(1, 500), st.integers(1, 500), st.integers(1, 10**6))
def test_neyshabur(norms, p, width, n_0, m) -> None:
    p_star = math.inf if p == 1 else p / (p - 1)
    factor = (2 * width ** (1 / p_star)) ** (len(norms) - 1)
    expected = math.prod(norms) * factor * math.sqrt(min(p_star, 4 * math.log(2 * n_0)) / m) * 0.3
    assert neyshabur_group(norms, p=p, width=width, n_0=n_0, m=m, r=0.3) == pytest.approx(expected)


def test_standard_margin_bound() -> None:
    bound = standard_margin_bound("x", 0.125, 0.01, rho=0.1, m=1000, delta=0.05)
    assert (bound.id, bound.rho) == ("x", 0.1)
    expected = {"margin_error": 0.125, "complexity": 0.2, "confidence": 3 * math.sqrt(math.log(40) / 2000)}
    assert bound.terms == pytest.approx(expected)
    with pytest.raises(OverflowError, match=r"^x exceeds the largest float"):
        standard_margin_bound("x", 0.125, 1e300, rho=1e-10, m=1000, delta=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: golowich_frobenius([], m=1, square_norms=1.0),
            "the network must have at least one weight layer, got none.",
        ),
        (
            lambda: golowich_frobenius([1.0, -1.0], m=1, square_norms=1.0),
            "the norm of W_2 must be finite and >= 0, got the norm of W_2=-1.0.",
        ),
        (lambda: golowich_frobenius([1.0], m=0, square_norms=1.0), "m must be an integer >= 1, got m=0."),
        (
            lambda: golowich_frobenius([1.0], m=1, square_norms=-1.0),
            "sum of ||x||_2^2 must be finite and >= 0, got sum of ||x||_2^2=-1.0.",
        ),
        (
            lambda: golowich_l1([], n_0=1, m=1, largest_column=1.0),
            "the network must have at least one weight layer, got none.",
        ),
        (lambda: golowich_l1([1.0], n_0=1, m=0, largest_column=1.0), "m must be an integer >= 1, got m=0."),
        (lambda: golowich_l1([1.0], n_0=0, m=1, largest_column=1.0), "n_0 must be >= 1, got n_0=0."),
        (
            lambda: golowich_l1([1.0], n_0=1, m=1, largest_column=-1.0),
            "max of sum x^2 must be finite and >= 0, got max of sum x^2=-1.0.",
        ),
        (
            lambda: neyshabur_group([], p=1, width=1, n_0=1, m=1, r=1.0),
            "the network must have at least one weight layer, got none.",
        ),
        (lambda: neyshabur_group([1.0], p=1, width=1, n_0=1, m=0, r=1.0), "m must be an integer >= 1, got m=0."),
        (lambda: neyshabur_group([1.0], p=1, width=0, n_0=1, m=1, r=1.0), "widths must be >= 1, got H=0, n_0=1."),
        (lambda: neyshabur_group([1.0], p=1, width=1, n_0=0, m=1, r=1.0), "widths must be >= 1, got H=1, n_0=0."),
        (lambda: neyshabur_group([1.0], p=1, width=1, n_0=1, m=1, r=-1.0), "r must be finite and >= 0, got r=-1.0."),
        (
            lambda: neyshabur_group([1.0], p=3, width=1, n_0=1, m=1, r=1.0),
            "p must be in [1, 2], got p=3: beyond 2 the layer of inputs has another rate.",
        ),
        (
            lambda: standard_margin_bound("x", 2.0, 1.0, rho=1.0, m=1, delta=0.5),
            "the margin error and the ramp must be in [0, 1], got 2.0.",
        ),
        (
            lambda: standard_margin_bound("x", 0.0, 1.0, rho=0.0, m=1, delta=0.5),
            "rho must be > 0 and finite, got rho=0.0.",
        ),
        (
            lambda: standard_margin_bound("x", 0.0, -1.0, rho=1.0, m=1, delta=0.5),
            "R_S must be finite and >= 0, got R_S=-1.0.",
        ),
    ],
)
def test_refusals(call, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == message


def test_overflow_names_the_bound() -> None:
    for call, name in [
        (lambda: golowich_frobenius([1e200, 1e200], m=1, square_norms=1.0), "golowich-frobenius"),
        (lambda: golowich_l1([1e200, 1e200], n_0=1, m=1, largest_column=1.0), "golowich-l1"),
        (lambda: neyshabur_group([1e200, 1e200], p=1, width=1, n_0=1, m=1, r=1.0), "neyshabur-group"),
    ]:
        with pytest.raises(OverflowError) as caught:
            call()
        assert str(caught.value) == f"{name} exceeds the largest float, 1.8e308."
