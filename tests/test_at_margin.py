"""The formulas below which a tenth of the sample lies, and at the ρ that was asked for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from torch import nn

from adanet_theory import a_posteriori, margin_bound
from adanet_theory.risk.posterior import a_posteriori_at
from adanet_theory.spec import NetworkSpec
from tests.verify_models import model, row
from verify import verify_bounds
from verify.records.question import Question
from verify.records.results import BoundReport
from verify.rows import report
from verify.rows.bounds import tenth
from verify.show import wording


def found(**changes) -> tuple[BoundReport, np.ndarray]:
    """The report on a small model whose labels are its own, and its margins of f."""
    file = model(m=200, flips=changes.pop("flips", 0.0))
    built = report.build(file, Question(draws=None, **changes))
    return built, built.margins * built.model.W


def test_a_tenth_of_the_sample_falls_short_of_the_margin() -> None:
    built, u = found()
    rho = row(built, "a-posteriori").tenth.rho * built.model.W
    assert np.count_nonzero(u <= rho * (1 + 1e-12)) == 20
    assert np.count_nonzero(u < rho * (1 - 2e-6)) == 19  # a millionth above the twentieth margin


def test_where_a_tenth_is_wrong_there_is_no_such_margin() -> None:
    built, _ = found(flips=0.3)
    assert all(row.tenth is None and row.shrink is None for row in built.bounds)
    file = model(m=200, flips=0.3)
    assert tenth(report.make_setting(file, Question())) is None


def test_the_free_bounds_stand_at_the_nearest_margin_of_their_grid_below() -> None:
    built, u = found()
    at, B = row(built, "a-posteriori").tenth, built.model.path_norm
    rho = B / 1.05**at.j
    assert rho <= at.rho * built.model.W * (1 + 1e-12) < 1.05 * rho * (1 + 1e-9)
    ramp = float(np.clip(1 - u / rho, 0, 1).mean())
    S = built.sample
    n, d = built.model.n, built.model.depth - 1
    expected = a_posteriori_at(at.j, ramp, B, d=d, n_0=n[0], r_rms=S.r_rms, m=S.m, delta=0.05)
    assert at.raw == pytest.approx(expected.total, rel=1e-9)
    assert at.raw >= a_posteriori(u, B, d=d, n_0=n[0], r_rms=S.r_rms, delta=0.05).total * (1 - 1e-9)


def test_a_margin_that_is_asked_for_is_shown_for_the_bounds_that_choose_their_own() -> None:
    built, _ = found(rho=Fraction(1, 10))
    assert row(built, "margin-bound").given is None  # its row stands there already
    for id in ("a-posteriori", "a-posteriori-bounded", "margin-bound-uniform"):
        assert row(built, id).given.rho == pytest.approx(0.1)
        assert row(built, id).given.raw >= row(built, id).raw * (1 - 1e-12)
    assert found()[0].bounds[0].given is None


def test_norms_so_many_times_smaller_bring_the_bound_to_1() -> None:
    built, _ = found()
    for id in ("a-posteriori", "margin-bound", "margin-bound-uniform"):
        this = row(built, id)
        assert this.vacuous
        assert this.shrink > 1
        scaled = ("complexity", "depth") if id.startswith("margin") else ("complexity",)
        parts = [value / this.shrink if name in scaled else value for name, value in this.tenth.terms.items()]
        assert sum(parts) == pytest.approx(1)
    assert "times smaller" in wording.remark(row(built, "a-posteriori"), built)


def test_margin_bound_at_a_tenth_is_its_formula_there() -> None:
    built, u = found()
    at = row(built, "margin-bound").tenth
    ramp = float(np.clip(1 - u / built.model.W / at.rho, 0, 1).mean())
    assert at.terms["ramp"] == pytest.approx(ramp, rel=1e-9)
    assert at.raw > row(built, "margin-bound").raw or at.rho >= built.rho
    again = margin_bound(ramp, [1.0], [0.0], M=1e-9, rho=at.rho, m=200, delta=0.05)  # the terms that need no family
    assert at.terms["confidence"] == pytest.approx(again.terms["confidence"])


def test_the_words_name_the_margin_and_the_bounds_that_apply() -> None:
    built, _ = found()
    (line,) = wording.at_margins(built)
    assert "a tenth of the sample" in line
    applying = [row.id for row in built.bounds if row.applies and row.group in ("paper", "corrected") and row.raw]
    assert all(id in line for id in applying)
    assert len(wording.at_margins(found(rho=Fraction(1, 10))[0])) == 2


def test_a_declared_family_of_the_function_0_alone_has_a_report() -> None:
    """Its range is 0, and the grid of margins has no logarithm there."""
    X = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    network = nn.Linear(3, 1, bias=False).double().eval()
    zero = NetworkSpec.layered((3, 1), 0.0, p=1.0)
    report = verify_bounds(network, X, X[:, 0] > 0, declared=zero, rho=0.1, r_sup=1, draws=None)
    assert report.verdict == "violated"
    assert report.bounds["margin-bound-uniform"].value is None
