"""The least sample and the greatest depth, against trying them all."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adanet_theory.risk.generalization import margin_bound, theorem_1
from adanet_theory.risk.margin import MarginBound
from adanet_theory.risk.solve import largest_depth, smallest_m


def bound_at(value: float | None) -> MarginBound:
    return MarginBound("x", {"ramp": value}, rho=1.0)


@given(st.integers(1, 300))
def test_smallest_m_is_the_first(first: int) -> None:
    assert smallest_m(lambda m: bound_at(0.5 if m >= first else 1.5)) == first
    assert smallest_m(lambda m: bound_at(0.5 if m >= first else None)) == first
    asked = []
    minimum = smallest_m(lambda m: asked.append(m) or bound_at(0.5 if m >= first else 1.5))
    assert isinstance(minimum, int)
    assert len(asked) <= 2 * first.bit_length() + 2  # doubling, then halving


def test_smallest_m_gives_up() -> None:
    assert smallest_m(lambda m: bound_at(2.0), largest=1000) is None
    assert smallest_m(lambda m: bound_at(0.5 if m >= 1000 else 2.0), largest=1000) == 1000
    assert smallest_m(lambda m: bound_at(0.5 if m >= 1001 else 2.0), largest=1000) is None
    assert smallest_m(lambda m: bound_at(1.0)) is None  # not below: strictly


def test_smallest_m_of_real_bounds() -> None:
    def replaced(m: int) -> MarginBound:
        return margin_bound(0.0, [0.5, 0.5], [1 / math.sqrt(m), 2 / math.sqrt(m)], rho=0.1, m=m, delta=0.05, M=1.0)

    def printed(m: int) -> MarginBound:
        R = [1 / math.sqrt(m), 2 / math.sqrt(m)]
        return theorem_1(0.0, [0.5, 0.5], R, rho=0.1, m=m, delta=0.05, M=[1.0, 1.0])

    for bound in (replaced, printed):
        m = smallest_m(bound, 0.5)
        assert m is not None
        assert bound(m).total < 0.5 <= bound(m - 1).total
    assert smallest_m(replaced, 0.5) < smallest_m(printed, 0.5)


@pytest.mark.parametrize("last", [0, 1, 5])
def test_largest_depth_is_the_last_that_stays_below(last: int) -> None:
    assert largest_depth(lambda depth: bound_at(0.5 if depth <= last else 1.0)) == last
    assert largest_depth(lambda depth: bound_at(0.5 if depth <= last else None)) == last
    # a deeper family may be simpler again (Λ n^(1/q) < 1); what counts is staying below
    assert largest_depth(lambda depth: bound_at(0.5 if depth != last + 1 else 1.0)) == last


def test_largest_depth_stops() -> None:
    assert largest_depth(lambda depth: bound_at(0.5), largest=7) == 7
    assert largest_depth(lambda depth: bound_at(0.5), target=0.4) == 0
    asked = []
    assert largest_depth(lambda depth: asked.append(depth) or bound_at(0.5), largest=3) == 3
    assert asked == [1, 2, 3]
    assert largest_depth(lambda depth: bound_at(0.5)) == 1000
