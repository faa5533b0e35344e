"""The installed suite has power: a table of changes to adanet_theory and verify, each with its test that must fail.

Beside `tests/mutants.py`, which changes adanet_theory everywhere and asks all tests; here only those that a user of the
package has, and the functions that verify-bounds reads a file with. (Constants of formulas: suite/test_constants.)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import Phase, settings

from verify.suite.halved import changed

OUTWARD, COMPLEXITIES, EXTREMAL = (f"verify.suite.test_{name}" for name in ("outward", "complexities", "extremal"))
GENERALIZATION = "adanet_theory.risk.generalization"
EVIDENCE, MEMBERSHIP = (f"verify.measure.{name}" for name in ("evidence", "membership"))
ENCLOSURE, PATH_NORM = (f"adanet_train.reading.{name}" for name in ("enclosure", "path_norm"))
QUICK = "test_the_quick_enclosure_holds_f"
ENCLOSED = "test_margins_enclose_f_and_are_counted_exactly"
SIZES = "test_the_sizes_of_features_are_not_below_their_values"
KNOWN = "test_what_is_known_by_heart_nearly_attains_the_bound"

# module, function, what is changed, into what, module and name of the test, its arguments
MUTANTS: tuple[tuple[str, str, str, str, str, str, dict[str, Any]], ...] = (
    (ENCLOSURE, "reach", "+ tiny * ((x != 0) | (e != 0)).double()", "", OUTWARD, ENCLOSED, {}),
    (ENCLOSURE, "reach", "2 * N * eps * x", "0 * x", OUTWARD, ENCLOSED, {}),
    (ENCLOSURE, "reach", "e * (1 + 2 * N * eps)", "0 * e", OUTWARD, ENCLOSED, {}),
    (ENCLOSURE, "_propagated", "N * TINY * alive.double()", "0 * alive.double()", OUTWARD, ENCLOSED, {}),
    (ENCLOSURE, "_add", "parts[i] + part if i in parts else part", "part", OUTWARD, QUICK, {}),
    (ENCLOSURE, "pulled", "operation.value(*leaves) if one is None else operation.size(*leaves, one=one)",
     "operation.value(*leaves)", OUTWARD, QUICK, {}),
    (PATH_NORM, "path_norm", "up(_exactly(graph))", "float(_exactly(graph))", OUTWARD,
     "test_the_path_norm_is_not_below_its_value", {}),
    (PATH_NORM, "_slopes", "+ N * TINY", "", OUTWARD, "test_the_path_norm_is_not_below_its_value", {}),
    (EVIDENCE, "feature_sizes", "up(Fraction(math.sqrt(mean_square) * (1 + 4 * EPS)) * Fraction(2) ** power)",
     "math.ldexp(math.sqrt(mean_square), power)", OUTWARD, SIZES, {}),
    (EVIDENCE, "feature_sizes", "up(Fraction(squares) * Fraction(2) ** (2 * power))",
     "math.ldexp(squares, 2 * power)", OUTWARD, SIZES, {}),
    (EVIDENCE, "largest_norms", "float(_norm_up(x, layers.n[pair[1]]))", "x", OUTWARD,
     "test_the_largest_norm_is_not_below_its_value", {}),
    (MEMBERSHIP, "outside", "surely[i] or exceeds(U[i], spec.p, bound)", "norms[i] > bound", OUTWARD,
     "test_membership_is_decided_exactly", {}),
    (MEMBERSHIP, "exceeds", "sum(powers) > limit", "sum(powers) >= limit", OUTWARD,
     "test_membership_is_decided_exactly", {}),
    ("adanet_theory.complexity.estimates", "_normalised", "abs(power) < 100", "True", OUTWARD,
     "test_the_first_layer_is_enclosed", {}),
    (GENERALIZATION, "margin_bound", "2 / rho", "1 / rho", EXTREMAL, KNOWN, {"id": "margin-bound"}),
    (GENERALIZATION, "margin_bound_uniform_at", "2 * scale * (weighted", "scale * (weighted", EXTREMAL,
     KNOWN, {"id": "margin-bound-uniform"}),
    (GENERALIZATION, "objective_bound", "(1 + eta) * 2 * weighted", "(1 + eta) * weighted", EXTREMAL,
     KNOWN, {"id": "objective-bound"}),
    ("adanet_theory.risk.posterior", "_complexity", "2 * growth(eta, j, id)", "0.8 * growth(eta, j, id)", EXTREMAL,
     "test_rare_features_come_near_a_posteriori", {"d": 1}),
    ("adanet_theory.risk.posterior", "_confidence", "log_inverse / (2 * m)", "log_inverse / (8 * m)", EXTREMAL,
     "test_coins_need_the_confidence_term", {"id": "a-posteriori-bounded"}),
    ("adanet_theory.complexity.rademacher", "lemma_1_corrected", "(phi.contraction * R", "(phi.contraction / 2 * R",
     COMPLEXITIES,
     "test_two_layers_on_a_line", {"phi": "identity"}),
)  # fmt: skip


def _put(function: Callable[..., Any], mutant: Callable[..., Any], changing: pytest.MonkeyPatch) -> None:
    """Wherever the function was imported by name, the suite and the package included."""
    for name, module in list(sys.modules.items()):
        if (
            name.startswith(("adanet_theory", "adanet_train", "verify"))
            and vars(module).get(function.__name__) is function
        ):
            changing.setattr(module, function.__name__, mutant)


@pytest.mark.parametrize("row", MUTANTS, ids=lambda row: f"{row[1]}-{row[3]}")
def test_the_suite_notices(row: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, old, new, tests, test, arguments = row
    check = getattr(import_module(tests), test)
    function = getattr(import_module(where), name)
    _put(function, changed(function, old, new), monkeypatch)
    few = settings(max_examples=200, database=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
    # explicit settings of the test would shrink what they find, which takes longer than all the rest
    monkeypatch.setattr(check, "_hypothesis_internal_use_settings", few, raising=False)
    with pytest.raises((AssertionError, BaseExceptionGroup)):
        check(**arguments)
