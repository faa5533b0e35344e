"""Numbers in proportion: the base rate beside a bound, errors by class, one hint that names the cause."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from io import StringIO

import numpy as np
import pytest
import torch
from rich.console import Console

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_train.core.network import Network
from adanet_train.model.model_file import ModelFile, Sample
from tests.refusals import says
from tests.test_held_out import fresh, repeated
from tests.test_soundness import linear
from tests.verify_models import built, class_model, model, row
from verify import verify_bounds
from verify.reading.points import GivenPoints
from verify.rows.citation import held_out_hint
from verify.show import render, wording


def always_positive(m: int = 200, rare: int = 10) -> ModelFile:
    """f = 1, and all labels but a few are +1."""
    draw = np.random.default_rng(0)
    Psi = np.c_[draw.uniform(-1, 1, (m, 2)), np.ones(m)]
    y = np.ones(m)
    y[:rare] = -1
    ones = torch.ones(1, dtype=torch.float64)
    network = Network((3, 1), {(1, 0): torch.tensor([[0.0, 0.0, 1.0]], dtype=torch.float64)}, {1: ones}, ())
    return ModelFile(network, sample=Sample.of(Psi, y), meta={"classes": ["ill", "well"]})


def shown(report) -> str:
    stream = StringIO()
    render.text(report, verbose=False, console=Console(file=stream, width=100))
    return " ".join(stream.getvalue().split())


# The base rate and the classes


def test_the_base_rate_and_the_error_of_each_class_are_counted() -> None:
    file = class_model(m=60)
    answer = built(file)
    y = file.sample.y.numpy()
    wrong = file.network(file.sample.Psi).argmax(dim=1).numpy() != y
    assert answer.base_rate == (60 - max(np.bincount(y))) / 60
    assert answer.class_errors == {name: wrong[y == c].mean() for c, name in enumerate("abc") if (y == c).any()}
    document = json.loads(render.to_json(answer))
    assert document["base_rate"] == answer.base_rate
    assert document["class_errors"] == answer.class_errors
    assert all(name in shown(answer) for name in ("Classes", "a constant prediction"))
    assert "a constant prediction" in render.to_html(answer)


def test_held_out_points_have_errors_by_class_too() -> None:
    file, test = linear(100), fresh(50)
    y = test.y.copy()
    y[:5] = 1.0
    answer = built(file, GivenPoints(test.Psi, y))
    wrong = test.y != y
    expected = {"-1": wrong[y < 0].mean(), "+1": wrong[y > 0].mean()}
    assert answer.test.class_errors == expected
    assert json.loads(render.to_json(answer))["test"]["class_errors"] == expected


def test_names_that_were_handed_over_are_those_of_the_classes() -> None:
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, (40, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    state = {"0.weight": torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64)}
    assert verify_bounds(state, X, y, draws=None).class_errors == {"no": 0.0, "yes": 0.0}


def test_a_model_that_predicts_one_class_is_told_of() -> None:
    answer = built(always_positive())
    assert answer.base_rate == answer.sample.train_error == 0.05
    assert answer.class_errors == {"ill": 1.0, "well": 0.0}
    assert "right on class well only" in wording.sentence(answer)
    assert "predicts one class" in wording.sentence(answer)
    assert "one class" not in wording.sentence(built(linear(100)))


def test_a_bound_above_that_of_a_constant_prediction_is_called_useless() -> None:
    answer = built(always_positive(), fresh_ones(40))
    assert answer.cite.value > answer.base_rate
    assert "useless" in wording.sentence(answer)
    assert f"errs on {wording.near(answer.base_rate)}" in wording.sentence(answer)
    good = built(linear())
    assert good.cite.value < good.base_rate
    assert "useless" not in wording.sentence(good)


def fresh_ones(m: int) -> GivenPoints:
    draw = np.random.default_rng(7)
    return GivenPoints(np.c_[draw.uniform(-1, 1, (m, 2)), np.ones(m)], np.ones(m))


# One hint


def only(report) -> str:
    (line,) = report.advice
    return line


def test_no_hint_where_a_bound_is_below_the_base_rate() -> None:
    assert built(linear()).advice == ()


def test_the_hint_names_rows_that_repeat() -> None:
    file = linear(300)
    copies = Sample.of(file.sample.Psi.repeat(3, 1), file.sample.y.repeat(3))
    line = only(built(dataclasses.replace(file, sample=copies)))
    assert "600 of 900 rows repeat" in line
    assert line.count("--discrete") == line.count("repeat") == 1
    line = only(built(linear(3, seed=3), repeated(fresh(30), 2)))
    assert "30 of the 60 held-out rows repeat" in line


def test_copies_are_named_even_where_no_bound_would_say_much_without_them() -> None:
    file = class_model(m=60)
    copies = Sample.of(file.sample.Psi.repeat(2, 1), file.sample.y.repeat(2), outputs=3)
    answer = built(dataclasses.replace(file, sample=copies))
    assert all(row.value is None or row.raw >= answer.base_rate for row in answer.bounds)
    assert "60 of 120 rows repeat" in only(answer)


def test_the_hint_names_a_map_fitted_on_the_sample_and_what_it_costs() -> None:
    answer = built(model(n=(3, 1), fitted=True, m=400, flips=0.0))
    assert "--feature-range LO,HI" in only(answer)
    assert f"vote-certificate is then {wording.up(row(answer, 'vote-certificate').raw)}" in only(answer)


@pytest.mark.parametrize(("r_sup", "cause"), [(math.inf, "o bound on |Psi|"), (0.5, "> r_sup = 0.5")])
def test_the_hint_names_an_r_sup_that_is_missing_or_too_small(r_sup: float, cause: str) -> None:
    line = only(built(model(n=(3, 1), r_sup=r_sup, m=200, flips=0.02)))
    assert cause in line
    assert "--r-sup R" in line


def test_the_hint_says_what_held_out_points_would_bring() -> None:
    answer = built(model(n=(3, 80, 1)))
    line = only(answer)
    assert "--test-data" in line
    points = int(re.search(r"(\d+) with no error", line)[1])
    bound = clopper_pearson(0, points, 0.05)
    assert f"give the bound {wording.up(bound)}." in line
    assert bound < answer.base_rate
    assert line.count(". ") <= 2


def test_no_hint_promises_a_bound_that_a_constant_prediction_meets() -> None:
    says(held_out_hint(1000, 0.4, 0.05), ["--test-data FILE", "100 with"])
    assert clopper_pearson(0, 299, 0.05) < 0.01 < clopper_pearson(0, 298, 0.05)
    assert "299 with no error" in held_out_hint(1000, 0.01, 0.05)
    says(held_out_hint(400, 0.01, 0.05), ["more points", "299", "--test-data FILE"])


def test_the_hint_names_a_network_that_is_no_better_than_a_constant() -> None:
    assert "a constant prediction on 5 %" in only(built(always_positive()))


# The ends of the floats


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("scale", "r_sup"),
    [(1e-310, 1e-300), (1e-323, 1e-300), (1e-310, 1e-309), (1e307, 1e308), (1e307, None)],
)
def test_features_near_the_least_and_the_largest_float(outputs: int, scale: float, r_sup: float | None) -> None:
    torch.manual_seed(0)
    X = np.random.default_rng(0).uniform(-1, 1, (60, 10))
    network = torch.nn.Linear(10, outputs, bias=False).double()
    with torch.no_grad():
        f = network(torch.from_numpy(X)).numpy()
    y = np.where(f[:, 0] > 0, 1, -1) if outputs == 1 else f.argmax(axis=1)
    answer = verify_bounds(network, X * scale, y, r_sup=r_sup, draws=None)
    assert answer.sample.m == 60
    assert str(answer)
