"""verify.measure.effort: what a budget pays for, the same on every machine, and said."""

from __future__ import annotations

import numpy as np
import pytest

from adanet_theory.spec import NetworkSpec
from tests.refusals import refused
from tests.verify_models import model
from verify.measure import unit_ascent
from verify.measure.ascent import lower_complexities
from verify.measure.effort import Effort, affordable, evaluations, seconds
from verify.records.question import Question
from verify.rows import report

SPEC = NetworkSpec.layered((51, 100, 100, 1), 1.0, p=1)


def test_a_small_problem_has_all_that_was_asked_for() -> None:
    assert affordable(SPEC, 1000, 64, 20.0) == Effort(64, 8, 25)


@pytest.mark.parametrize("m", [10**4, 10**5, 10**6, 10**7])
def test_what_is_chosen_is_within_the_budget_and_more_budget_never_buys_less(m: int) -> None:
    before = 0.0
    for budget in (1.0, 5.0, 20.0, 100.0, 1000.0, 1e6):
        effort = affordable(SPEC, m, 64, budget)
        cost = 0.0 if effort is None else seconds(SPEC, m, effort)
        assert before <= cost <= budget
        before = cost
    assert affordable(SPEC, m, 64, 1e6) == Effort(64, 8, 25)


def test_a_budget_that_pays_for_nothing_buys_nothing() -> None:
    assert affordable(SPEC, 10**9, 64, 1.0) is None
    assert affordable(SPEC, 10**6, 64, 20.0) == affordable(SPEC, 10**6, 64, 20.0)


@pytest.mark.parametrize(("restarts", "steps"), [(8, 25), (4, 12), (1, 6), (1, 1)])
def test_evaluations_are_those_of_the_search(restarts: int, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = NetworkSpec.layered((3, 2, 1), 1.0, p=2)
    counted = []
    original = unit_ascent.UnitSearch._values

    def values(self, s, weights, signs, Psi):
        counted.append(len(weights[1, 0]) / len(signs) * (2 if Psi.dtype == self.Psi.dtype else 1))
        return original(self, s, weights, signs, Psi)

    monkeypatch.setattr(unit_ascent.UnitSearch, "_values", values)
    X = np.random.default_rng(0).normal(size=(30, 3))
    lower_complexities(spec, X, draws=4, seed=0, restarts=restarts, steps=steps)
    assert sum(counted) <= evaluations(restarts, steps)  # it may end early
    assert sum(counted) >= evaluations(restarts, steps) / 3


def test_points_taken_a_few_at_a_time_give_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = NetworkSpec.layered((3, 4, 4, 1), 1.0, p=2)
    X = np.random.default_rng(1).normal(size=(2000, 3))
    whole = lower_complexities(spec, X, draws=4, seed=0)
    monkeypatch.setattr(unit_ascent, "_CACHED", 1)
    parts = lower_complexities(spec, X, draws=4, seed=0)
    for a, b in zip(whole, parts, strict=True):
        assert a.mean == pytest.approx(b.mean, rel=2e-3)


def test_the_report_says_what_the_budget_did_not_pay_for() -> None:
    small = report.build(model(m=200), Question(draws=16, budget=1e-4))
    (note,) = [note for note in small.notes if "budget" in note]
    assert "16 draws, 8 starts of 25 steps" in note
    whole = report.build(model(m=200), Question(draws=16))
    assert not [note for note in whole.notes if "budget" in note]
    for a, b in zip(small.complexities, whole.complexities, strict=True):
        assert a.lower is None or a.lower <= b.upper


def test_no_steps_still_give_a_lower_value() -> None:
    X = np.random.default_rng(2).normal(size=(300, 3))
    spec = NetworkSpec.layered((3, 4, 1), 1.0, p=2)
    none, many = (lower_complexities(spec, X, draws=64, seed=0, restarts=1, steps=steps)[1] for steps in (0, 25))
    assert 0 < none.mean <= many.mean * (1 + 1e-9)


def test_a_budget_is_a_positive_number() -> None:
    refused(lambda: Question(budget=0), "budget", "> 0 and finite", "budget=0")
