"""a-posteriori-data among the rows: the formula from its parts, E Z_1 by enumeration, and when it is quoted."""

import itertools
import math

import numpy as np
import pytest

from adanet_theory.complexity.estimates import sampled_linear_complexity
from adanet_theory.spec import NetworkSpec
from tests.verify_models import model, row
from verify.records.question import Question
from verify.records.results import BoundReport
from verify.rows import bounds, report

ID = "a-posteriori-data"


def built(file, **options) -> BoundReport:
    return report.build(file, Question(**{"draws": 8} | options))


@pytest.mark.parametrize(("n", "d"), [((3, 1), 0), ((3, 4, 2), 1)])
@pytest.mark.parametrize("draws", [8, None])
def test_the_row_is_its_formula(n, d, draws) -> None:
    file = model(n=n, m=200, flips=0.0)
    bound_row = row(built(file, draws=draws), ID)
    terms, j, r_rms = bound_row.terms, bound_row.j, built(file).sample.r_rms
    A = 1.0 if d == 0 else 1 + 1.5
    delta = 0.045 if draws else 0.05
    prior = math.log((d + 1) * (d + 2)) + math.log(math.pi**2 / 3 - 1) + 2 * math.log(abs(j) + 1)
    complexity = 2 * 1.05**j * (terms["E_Z"] + math.sqrt(4 * 200 * r_rms**2 * math.log(A))) / 200
    assert terms["complexity"] == pytest.approx(complexity, rel=1e-9)
    assert terms["confidence"] == pytest.approx(2 * math.sqrt((math.log(1 / delta) + prior) / 400), rel=1e-9)
    assert bound_row.raw == pytest.approx(terms["ramp"] + terms["complexity"] + terms["confidence"], rel=1e-9)
    assert bound_row.applies
    assert ("draws" in terms) == (draws is not None)


def test_what_stands_for_e_z_is_above_it_and_below_what_any_features_allow() -> None:
    file = model(n=(3, 1), m=12, flips=0.0)
    Psi = file.sample.Psi.numpy()
    exact = np.mean([np.abs(np.array(signs) @ Psi).max() for signs in itertools.product((-1, 1), repeat=12)])
    drawn, closed = (row(built(file, draws=draws), ID).terms["E_Z"] for draws in (8, None))
    assert exact <= drawn <= 2 * exact
    # a side of the interval takes half of what it may miss: a tenth of δ = .05 above
    spec, rng = NetworkSpec.layered((3, 1), 1.0, p=1), np.random.default_rng([0, 3])
    upper = sampled_linear_complexity(Psi, spec, draws=256, rng=rng, confidence=1 - 2 * 0.005).upper
    assert drawn == pytest.approx(12 * upper, rel=1e-9)
    r_rms = math.sqrt((Psi**2).mean(0).max())
    assert closed == pytest.approx(r_rms * math.sqrt(2 * 12 * math.log(6)), rel=1e-9)
    assert exact < closed


def test_it_is_below_a_posteriori_where_features_are_many_and_alike() -> None:
    """Copies of one feature: log(2 n_0) counts them, E Z_1 does not."""
    file = model(n=(1, 1), m=400, flips=0.0)
    many = model(n=(60, 1), m=400, flips=0.0)
    many.sample.Psi[:] = file.sample.Psi[:, :1]
    many.network.hidden[1, 0][:] = file.network.hidden[1, 0] / 60
    answer = built(many, discrete=True)
    assert row(answer, ID).raw < row(answer, "a-posteriori").raw


def test_it_is_quoted_only_by_name_and_makes_nothing_dearer(monkeypatch) -> None:
    file = model(n=(3, 1), m=3000, flips=0.0)
    answer = built(file)
    assert answer.cite.id != "a-posteriori-data"
    named = built(file, cite="a-posteriori-data")
    assert (named.cite.id, named.cite.among) == ("a-posteriori-data", 1)
    assert named.cite.value == row(answer, ID).value < 1
    seen = []
    own = bounds.from_data
    monkeypatch.setattr(bounds, "from_data", lambda *given: seen.append(given) or own(*given))
    assert built(file).cite.among == answer.cite.among
    assert len(seen) == 1


def test_other_activations_are_refused_and_the_needed_m_is_told() -> None:
    assert "homogeneous" in row(built(model(n=(3, 4, 2), activation="tanh", m=60)), ID).why_not
    vacuous = row(built(model(n=(3, 4, 2), m=40, flips=0.5)), ID)
    assert vacuous.vacuous
    ramp = vacuous.terms["ramp"]
    assert 40 < vacuous.m_needed <= 1 + 40 * ((vacuous.raw - ramp) / (1 - ramp)) ** 2
