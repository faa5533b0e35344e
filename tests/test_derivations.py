"""Every step is decided by sympy, and a step that is broken on purpose is not."""

from __future__ import annotations

import dataclasses

import pytest
import sympy as sp

from adanet_theory.twins import certified, derivations
from adanet_theory.twins.derivations import DERIVATIONS, ProofStep, equal
from adanet_theory.twins.notation import Lambda, k, s

STEPS = [pytest.param(step, id=f"{name}-{i}") for name, steps in DERIVATIONS.items() for i, step in enumerate(steps)]


def broken(step: ProofStep) -> ProofStep:
    """The equality with its right side doubled (1 more where it is 0), the inequality with its small side raised."""
    left, right = step.claim.lhs, step.claim.rhs
    if isinstance(step.claim, sp.Eq):
        return dataclasses.replace(step, claim=equal(left, right + 1 if right == 0 else 2 * right))
    return dataclasses.replace(step, claim=sp.Le(left + 20, right, evaluate=False))


@pytest.mark.parametrize("step", STEPS)
def test_step_holds(step: ProofStep) -> None:
    assert step.check()


@pytest.mark.parametrize("step", STEPS)
def test_broken_step_fails(step: ProofStep) -> None:
    assert not broken(step).check()


@pytest.mark.parametrize("factor", [1, 3, 4])
def test_lemma_2_needs_the_factor_2_in_every_layer(factor: int) -> None:
    step = DERIVATIONS["lemma-2"][1]
    wrong = step.claim.rhs.replace(lambda x: x == 2 * Lambda[s, s - 1], lambda x: factor * x / 2)
    assert wrong != step.claim.rhs
    assert not dataclasses.replace(step, claim=equal(step.claim.lhs, wrong)).check()


@pytest.mark.parametrize("base", [1, 3, 4])
def test_the_needless_doubling_is_2_to_the_k(base: int) -> None:
    step = DERIVATIONS["corollary-1"][2]
    wrong = step.claim.rhs * sp.Integer(base) ** k / 2**k
    assert not dataclasses.replace(step, claim=equal(step.claim.lhs, wrong)).check()


def test_optimal_t_is_where_the_square_vanishes() -> None:
    step = DERIVATIONS["lemma-2-peeled"][6]
    wrong = step.claim.lhs.subs(sp.Rational(1, 2), sp.Rational(1, 4))
    assert not dataclasses.replace(step, claim=equal(wrong, step.claim.rhs)).check()


@pytest.mark.parametrize("rho", ["0.05", "0.3", "0.9"])
@pytest.mark.parametrize("l", [2, 5])
def test_margin_bound_is_smaller_in_the_derived_region_and_larger_far_outside(rho: str, l: int) -> None:  # noqa: E741
    values = {"rho": rho, "l": l, "m": 100_000, "M": 1, "w": [1] * l, "R": [0] * l, "margin_error": 0, "ramp": 0}
    edge = derivations.SHARPER * sp.log(l) / sp.Rational(rho) ** 2
    inside = {**values, "delta": sp.exp(-edge)}
    assert certified.upper("margin-bound", inside) < certified.lower("theorem-1", inside)
    x = sp.Rational(rho) ** 2 * 100_000 / sp.log(l)
    slack = sp.Rational(rho) ** 2 / 4 * (1 + sp.log(2) / (2 * sp.log(l)))
    threshold = (sp.log(x) + slack - (sp.sqrt(2) - 1) ** 2) / (sp.sqrt(2) - 1)
    outside = {**values, "delta": sp.exp(-2 * sp.log(l) / sp.Rational(rho) ** 2 * threshold**2)}
    assert certified.lower("margin-bound", outside) > certified.upper("theorem-1", outside)
