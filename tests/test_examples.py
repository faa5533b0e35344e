"""The examples of the catalogue: numeric form, twin, and certified value agree with forty digits."""

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.examples import Example, letters, number
from adanet_theory.twins import certified, counted
from adanet_theory.twins.certificate_twins import CERTIFICATES
from adanet_theory.twins.symbolic import STATEMENTS

SHOWN = [
    pytest.param(bound, example, id=f"{bound.id}-{place}")
    for bound in catalogue.select()
    for place, example in enumerate(bound.examples)
]
SUMS = 20_000  # a twin adds up all terms: larger ones are for the certified values alone


def test_every_bound_of_numbers_alone_has_an_example() -> None:
    numbers = (*catalogue.theory(), *catalogue.theory("many"), *map(catalogue.bound, counted.UPPER))
    assert all(bound.examples for bound in numbers)
    assert {bound.id for bound in catalogue.select(lambda bound: bound.classes == "any")} == set(counted.UPPER)


@pytest.mark.parametrize(("bound", "example"), SHOWN)
def test_the_numeric_form_has_the_value(bound: Bound, example: Example) -> None:
    assert len(example.value.lstrip("0.").replace(".", "")) >= 38
    assert number(bound, example) == pytest.approx(float(example.value), rel=1e-13)


@pytest.mark.parametrize(("bound", "example"), SHOWN)
def test_the_twin_has_the_value(bound: Bound, example: Example) -> None:
    """Of a bound that solves an equation for δ the twin is that equation."""
    statement, at = (STATEMENTS | CERTIFICATES)[bound.id], letters(example)
    if example.arguments.get("N", 0) > SUMS:
        return
    solved = str(statement.lhs).startswith("delta")
    expected = Fraction(at[str(statement.lhs)] if solved else example.value)
    ball = certified.evaluate(statement, at)
    with mp.workdps(60):
        value = mpf(ball.mid().str(50, radius=False))
        assert abs(value / (mpf(expected.numerator) / expected.denominator) - 1) < mpf(10) ** (-34 if solved else -36)


@pytest.mark.parametrize(("bound", "example"), SHOWN)
def test_the_certified_value_is_above_and_tight(bound: Bound, example: Example) -> None:
    if bound.id in counted.UPPER:
        value = counted.UPPER[bound.id](**example.arguments)
    else:
        value = certified.upper(bound.id, letters(example))
    assert Fraction(example.value) <= Fraction(value) <= Fraction(example.value) * (1 + Fraction(1, 10**13))
