"""The property suite itself: it turns when a formula is spoilt, it runs from anywhere, it says how close things came.

The suite is collected from verify/suite.
"""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings

from tests.refusals import refused
from verify.suite import (
    distributions,
    test_complexities,
    test_duality,
    test_laws,
    test_objective,
    test_steps,
    test_theorems,
    tightness,
)
from verify.suite.tightness import Closest, below, keep, merged, of_plain, plain, table, taken, write


def times(factor: float) -> Callable[[Callable], Callable]:
    """The formula times a factor."""
    return lambda formula: lambda *args, **options: factor * formula(*args, **options)


def unsigned(formula: Callable) -> Callable:
    return lambda eps, Lambda, p: np.abs(formula(eps, Lambda, p))


def away_from_one(formula: Callable) -> Callable:
    return lambda eps, Lambda, p: formula(eps, Lambda, max(p, 1.5))


def blind_to_zero(formula: Callable) -> Callable:
    """lemma-1-corrected without |φ(0)| μ_m."""
    return lambda spec, k, R_S, *, m: sum(
        spec.bound(k, s) * spec.root(s) * spec.phi(s).contraction * R_S[s - 1] for s in range(1, k)
    )


def too_patient(formula: Callable) -> Callable:
    return lambda g, Gamma: g <= 2 * Gamma


def concave(formula: Callable) -> Callable:
    return lambda *args: math.sqrt(formula(*args))


def lower_by(amount: float) -> Callable[[Callable], Callable]:
    def spoil(formula: Callable) -> Callable:
        def spoilt(*args: Any) -> Any:
            value = formula(*args)
            return replace(value, objective=value.objective + amount)

        return spoilt

    return spoil


def of_all_terms(factor: float) -> Callable[[Callable], Callable]:
    """A bound on the risk with all its terms times a factor."""

    def spoil(formula: Callable) -> Callable:
        def spoilt(*args: Any, **options: Any) -> Any:
            bound = formula(*args, **options)
            return replace(bound, terms={name: factor * (term or 0.0) for name, term in bound.terms.items()})

        return spoilt

    return spoil


def surer(formula: Callable) -> Callable:
    """1 - δ for δ."""
    return lambda *args, delta, **options: formula(*args, delta=1 - delta, **options)


def as_margin_error(formula: Callable) -> Callable:
    return lambda margins, rho: float(np.mean(np.asarray(margins) <= rho))


SPOILT: list[tuple[ModuleType, str, str, Callable[[Callable], Callable], dict[str, Any]]] = [
    (test_duality, "test_feasible_and_hoelder_tight", "dual_vector", unsigned, {}),
    (test_duality, "test_feasible_and_hoelder_tight", "dual_vector", times(1.001), {}),
    (test_duality, "test_no_other_unit_is_better", "dual_vector", times(0.5), {}),
    (test_duality, "test_no_better_unit_by_a_numerical_solver", "dual_vector", times(0.99), {}),
    (test_duality, "test_no_better_unit_by_a_numerical_solver", "dual_vector", times(1.01), {}),
    (test_duality, "test_invariances", "dual_vector", unsigned, {}),
    (test_duality, "test_limits_ties_and_zeros", "dual_vector", away_from_one, {}),
    (test_duality, "test_ends_of_the_floats", "dual_vector", unsigned, {"size": 5e-324}),
    (test_complexities, "test_the_first_layer", "first_layer_closed", times(0.9), {}),
    (test_complexities, "test_the_first_layer", "layered_complexity", times(0.5), {}),
    (test_complexities, "test_two_layers_on_a_line", "lemma_1_corrected", blind_to_zero, {"phi": "sigmoid"}),
    (test_complexities, "test_two_layers_on_a_line", "lemma_1_corrected", times(0.5), {"phi": "tanh"}),
    (test_complexities, "test_two_layers_in_the_plane", "peeled_complexity", times(0.4), {"phi": "relu"}),
    (test_complexities, "test_two_layers_in_the_plane", "lemma_1", times(0.45), {"phi": "abs"}),
    (test_complexities, "test_any_depth_layered", "depth_lower", times(1.01), {"k": 3}),
    (test_complexities, "test_any_depth_with_skipping_connections", "peeled_complexity", times(0.5), {"k": 3}),
    (test_complexities, "test_depth_lower_in_the_plane", "depth_lower", times(2.0), {}),
    (test_complexities, "test_the_formula_on_a_line_is_reached_by_three_layers", "scale", times(1.1), {"p": 1.0}),
    (test_steps, "test_the_closed_form_is_never_better_than_the_joint_minimiser", "minimise_norm", lower_by(0.1), {}),
    (test_steps, "test_zero_is_optimal_just_where_the_score_is_at_most_the_penalty", "is_optimal", too_patient, {}),
    (test_steps, "test_the_decrease_is_guaranteed", "guaranteed_decrease", times(1.5), {}),
    (test_objective, "test_the_objective_is_convex", "F", concave, {}),
    (test_objective, "test_the_shifted_surrogate_bounds_the_losses", "ramp_loss", as_margin_error, {}),
    (test_laws, "test_corollary_1_is_loose_by_two_to_the_depth", "layered_complexity", times(2.0), {}),
    (test_laws, "test_peeled_is_below_the_print_from_two_layers_on", "peeled_complexity", times(2.0), {}),
    (test_laws, "test_laws_of_the_bounds_on_the_risk", "margin_bound", surer, {}),
    (test_laws, "test_margin_bound_is_below_theorem_1", "margin_bound", of_all_terms(2.0), {}),
    (
        test_theorems,
        "test_a_bound_fails_no_more_often_than_it_may",
        "margin_bound",
        of_all_terms(0.5),
        {"statement": "margin-bound", "distribution": "noise"},
    ),
]


@pytest.mark.parametrize(
    ("module", "property_name", "formula", "spoil", "arguments"),
    SPOILT,
    ids=[f"{row[1]}-{row[2]}-{i}" for i, row in enumerate(SPOILT)],
)
def test_a_property_turns_when_its_formula_is_spoilt(
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    property_name: str,
    formula: str,
    spoil: Callable[[Callable], Callable],
    arguments: dict[str, Any],
) -> None:
    holds = getattr(module, property_name)
    if hasattr(holds, "hypothesis"):  # any failure will do: no time is spent on making it small
        quick = settings(max_examples=100, database=None, phases=[Phase.generate], report_multiple_bugs=False)
        monkeypatch.setattr(holds, "_hypothesis_internal_use_settings", quick)
    home = module if hasattr(module, formula) else distributions  # the formula where the property reads it
    monkeypatch.setattr(home, formula, spoil(getattr(home, formula)))
    with pytest.raises(AssertionError):
        holds(**arguments)
    taken()


# From anywhere, as an installed user does


def test_the_suite_runs_from_another_folder_and_writes_how_close_it_came(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--pyargs", "verify", "-v", "-W", "error", "-p", "no:cacheprovider",
               "-k", "below_theorem_1 or enumeration or objective_is_convex"]  # fmt: skip
    environment = {**os.environ, "TIGHTNESS": "close.json", "HYPOTHESIS_PROFILE": "ci"}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    for theme in ("laws", "theorems", "objective"):
        assert f"suite/test_{theme}.py::" in run.stdout
    assert "3 passed" in run.stdout
    assert "how close each statement came" in run.stdout
    document = json.loads((tmp_path / "close.json").read_text(encoding="utf-8"))
    assert document["schema"] == "tightness/1"
    written = {row["statement"]: row for row in document["statements"]}
    assert set(written) == {"margin-bound <= theorem-1", "F convex"}
    assert 0 < written["margin-bound <= theorem-1"]["ratio"] <= 1
    assert written["margin-bound <= theorem-1"]["examples"] == 100


# How close


def test_below_keeps_the_largest_ratio_and_where_it_was() -> None:
    taken()
    for lhs, where in ((1.0, "a"), (3.0, "b"), (2.0, "c")):
        below("statement", lhs, 4.0, where)
    assert taken() == [Closest("statement", 0.75, "b", 3)]
    assert taken() == []


def test_below_refuses_what_is_above_by_more_than_rounding() -> None:
    below("statement", 1 + 1e-13, 1.0)
    refused(lambda: below("statement", 1.00001, 1.0, "here"), "statement: 1.00001 > 1.0 (here)", error=AssertionError)
    with pytest.raises(AssertionError):
        below("statement", math.nan, 1.0)
    with pytest.raises(AssertionError):
        below("statement", 1e-300, 0.0)
    taken()


def test_nothing_against_nothing_is_no_example() -> None:
    taken()
    below("statement", 0.0, 0.0)
    below("statement", 1.0, math.inf)
    assert taken() == []


def test_records_join_across_tests_and_survive_the_way_to_another_process() -> None:
    records = [Closest("b", 0.5, "x", 2), Closest("a", 0.2, "y", 1), Closest("b", 0.9, "z", 3)]
    assert merged(records) == [Closest("b", 0.9, "z", 5), Closest("a", 0.2, "y", 1)]
    assert of_plain(json.loads(json.dumps(plain(records)))) == records


def test_the_table_lines_up_and_the_file_holds_the_same(tmp_path: Path) -> None:
    taken()
    keep("lemma-1, k = 2", 0.5, "m = 3")
    keep("h1-closed", 1.0)
    records = taken()
    lines = table(records).splitlines()
    assert lines[1].split() == ["h1-closed", "1.0000", "1"]
    assert lines[2].endswith("0.5000         1  m = 3")
    write(records, tmp_path / "close.json")
    stored = json.loads((tmp_path / "close.json").read_text(encoding="utf-8"))
    assert of_plain(stored["statements"]) == merged(records)
    assert stored["schema"] == tightness.SCHEMA
