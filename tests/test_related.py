"""Other people's complexities: their formulas, written again, and their conditions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.risk.related import golowich_frobenius, golowich_l1, neyshabur_group, standard_margin_bound
from tests.refusals import refused

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


def given_all(statement, *first, **fixed):
    """A call with good arguments, of which some may be changed."""
    return lambda *changed, **changes: statement(*(changed or first), **fixed | changes)


STATEMENTS = {
    "golowich-frobenius": given_all(golowich_frobenius, [1.0], m=1, square_norms=1.0),
    "golowich-l1": given_all(golowich_l1, [1.0], n_0=1, m=1, largest_column=1.0),
    "neyshabur-group": given_all(neyshabur_group, [1.0], p=1, width=1, n_0=1, m=1, r=1.0),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_what_all_refuse(name: str) -> None:
    statement = STATEMENTS[name]
    statement()
    refused(lambda: statement([]), "at least one weight layer", "none")
    refused(lambda: statement([1.0, -1.0]), "W_2", ">= 0", "W_2=-1.0.")
    refused(lambda: statement(m=0), "m ", ">= 1", "m=0.")
    refused(lambda: statement([1e200, 1e200]), f"{name} exceeds the largest float, 1.8e308.", error=OverflowError)


@pytest.mark.parametrize(
    ("name", "change", "tokens"),
    [
        ("golowich-frobenius", {"square_norms": -1.0}, ("||x||_2^2", ">= 0", "=-1.0.")),
        ("golowich-l1", {"n_0": 0}, ("n_0", ">= 1", "n_0=0.")),
        ("golowich-l1", {"largest_column": -1.0}, ("sum x^2", ">= 0", "=-1.0.")),
        ("neyshabur-group", {"width": 0}, ("widths", ">= 1", "H=0, n_0=1.")),
        ("neyshabur-group", {"n_0": 0}, ("widths", ">= 1", "H=1, n_0=0.")),
        ("neyshabur-group", {"r": -1.0}, ("r ", ">= 0", "r=-1.0.")),
        ("neyshabur-group", {"p": 3}, ("p ", "[1, 2]", "p=3")),
    ],
)
def test_refusals(name: str, change: dict, tokens: tuple[str, ...]) -> None:
    refused(lambda: STATEMENTS[name](**change), *tokens)


def test_the_standard_margin_bound_refuses() -> None:
    statement = given_all(standard_margin_bound, "x", 0.0, 1.0, rho=1.0, m=1, delta=0.5)
    refused(lambda: statement("x", 2.0, 1.0), "margin error", "[0, 1]", "2.0.")
    refused(lambda: statement(rho=0.0), "rho", "> 0", "rho=0.0.")
    refused(lambda: statement("x", 0.0, -1.0), "R_S", ">= 0", "R_S=-1.0.")
