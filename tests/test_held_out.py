"""Held-out points: what is quoted, at which δ, what it assumes, and which points are none."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_train import compress
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, Sample
from tests.refusals import refused, says
from tests.test_soundness import linear, status
from tests.verify_models import built, class_model, row
from verify import verify_bounds
from verify.cli import main
from verify.reading.points import GivenPoints
from verify.records.question import Question
from verify.records.results import BoundReport
from verify.rows import described, report
from verify.rows.assumptions import rows_held_out
from verify.show import wording


def fresh(m: int = 300, seed: int = 1) -> GivenPoints:
    """Points that `linear` has not seen."""
    sample = linear(m, seed).sample
    return GivenPoints(sample.Psi.numpy(), sample.y.numpy())


def repeated(points: GivenPoints, times: int) -> GivenPoints:
    return GivenPoints(np.tile(points.Psi, (times, 1)), np.tile(points.y, times))


# Rows that repeat


def test_one_right_point_many_times_bounds_nothing() -> None:
    answer = built(linear(200), repeated(fresh(1), 10_000))
    assert answer.cite is None
    assert not row(answer, "held-out").applies
    assert row(answer, "held-out").why_not == ("untouched",)
    assert status(answer, "untouched") == "fails"
    says(detail(answer, "untouched"), ["9,999", "10,000", "repeat"])
    assert "held-out" in wording.sentence(answer)
    assert "does not apply" in wording.sentence(answer)


def test_rows_that_may_repeat_are_counted_and_assumed() -> None:
    answer = built(linear(200), repeated(fresh(50), 2), discrete=True)
    assert status(answer, "untouched") == "assumed"
    assert "50 of the 100 held-out rows repeat" in detail(answer, "untouched")
    assert answer.cite.id == "held-out"
    assert answer.cite.assumes == ("iid", "untouched")
    says(wording.sentence(answer), ["50 of the 100", "repeat", "(untouched)"])


def test_copies_in_the_training_sample_do_not_concern_the_held_out_points() -> None:
    file = linear(100)
    copies = Sample.of(file.sample.Psi.repeat(5, 1), file.sample.y.repeat(5))
    answer = built(ModelFile(file.network, features=file.features, sample=copies), fresh())
    assert status(answer, "iid") == "fails"
    assert not row(answer, "a-posteriori").applies
    assert row(answer, "held-out").applies
    assert answer.cite.id == "held-out"
    assert answer.cite.assumes == ("iid", "untouched")


def mixed(file: ModelFile, shared: int, m: int = 100) -> GivenPoints:
    """m held-out points, some of which are rows of the sample."""
    new = fresh(m)
    Psi, y = new.Psi.copy(), new.y.copy()
    Psi[:shared], y[:shared] = file.sample.Psi[:shared].numpy(), file.sample.y[:shared].numpy()
    return GivenPoints(Psi, y)


def test_rows_of_the_sample_are_counted_refused_or_named() -> None:
    file = linear(200)
    refused(lambda: built(file, mixed(file, 7)), "7 of the 100 test points", "--discrete")
    answer = built(file, mixed(file, 7), discrete=True)
    says(detail(answer, "untouched"), ["7 of the 100", "sample"])
    assert "untouched" in answer.cite.assumes
    says(wording.sentence(answer), ["though", "7 of the 100", "sample"])
    refused(lambda: built(file, mixed(file, 100), discrete=True), "100 of the 100 test points", "drawn anew")


def test_training_rows_under_other_labels_are_rows_of_the_sample() -> None:
    file = linear(200)
    own = GivenPoints(file.sample.Psi[:100].numpy(), -file.sample.y[:100].numpy())
    refused(lambda: built(file, own), "100 of the 100 test points", "(100 under another label)")
    answer = built(file, own, discrete=True)
    says(detail(answer, "untouched"), ["100 of the 100", "sample", "100 under another label"])


def test_near_copies_of_the_sample_are_counted_and_most_are_refused() -> None:
    file = linear(200)
    noise = np.random.default_rng(3).uniform(-1e-7, 1e-7, (100, file.network.n[0]))
    few, all_ = mixed(file, 40), mixed(file, 100)
    answer = built(file, GivenPoints(few.Psi + noise, few.y))
    says(wording.sentence(answer), ["though", "40 of the 100", "1e-6", "(untouched)"])
    assert "within 1e-6" not in wording.sentence(built(file, fresh()))
    refused(lambda: built(file, GivenPoints(all_.Psi + noise, all_.y)), "100 of the 100", "1e-6")


def test_dense_points_are_near_each_other_without_being_copies() -> None:
    draw = np.random.default_rng(0)
    sample, test = (GivenPoints(draw.uniform(size=(m, 1)), draw.choice([-1.0, 1.0], m)) for m in (1_000_000, 50))
    tested = rows_held_out(sample, test, False)
    assert tested.near > 25


def test_without_a_sample_nothing_was_looked_for() -> None:
    points = fresh(60)
    answer = verify_bounds(LogisticRegression().fit(points.Psi, points.y), test=(points.Psi, points.y))
    says(wording.sentence(answer.numbers), ["no sample was given", "(untouched)"])


def detail(report: BoundReport, id: str) -> str:
    (only,) = [row.detail for row in report.assumptions if row.id == id]
    return only


# What is quoted is fixed by the input


def test_held_out_points_are_quoted_alone_and_at_delta() -> None:
    file = linear()
    answer = built(file, fresh(30))
    assert (answer.cite.id, answer.cite.among, answer.cite.delta) == ("held-out", 1, 0.05)
    assert answer.cite.value == pytest.approx(clopper_pearson(0, 30, 0.05), rel=1e-9)
    # a smaller number may stand beside it: taking it would be a choice that nobody paid for
    assert row(answer, "a-posteriori").value < answer.cite.value
    assert answer.cite.assumes == ("iid", "untouched")
    assert re.search(r"assumes that .*\(iid\) and .*\(untouched\)\.$", wording.sentence(answer))


def test_a_named_statement_comes_before_held_out_points() -> None:
    answer = built(linear(), fresh(), cite="a-posteriori")
    assert (answer.cite.id, answer.cite.among, answer.cite.delta) == ("a-posteriori", 1, 0.05)
    assert f"held-out points alone bound it by {wording.up(answer.test.upper)}" in wording.sentence(answer)


def test_what_the_file_or_the_options_ask_for_comes_after_held_out_points() -> None:
    described_so = described.Description(bits=8, errors=1, points=500, assumptions=(), asked=True)
    coded = described.of_description(described_so)
    alone = report.build(linear(), Question(draws=None), counted=coded)
    assert (alone.cite.id, alone.cite.among, alone.cite.delta) == ("occam-certificate", 1, 0.05)
    assert alone.cite.value == row(alone, "occam-certificate").value
    assert report.build(linear(), Question(draws=None), test=fresh(), counted=coded).cite.id == "held-out"
    assert built(linear()).cite.among > 1


@pytest.mark.parametrize("asked", [{"cite": "held-out"}, {"cite": "theorem-1"}, {"cite": "pick-certificate"}])
def test_a_statement_that_does_not_apply_is_not_quoted_nor_replaced(asked: dict[str, str]) -> None:
    answer = built(linear(), **asked)
    (id,) = asked.values()
    assert answer.cite is None
    assert id in wording.sentence(answer)
    assert any(bound.applies and not bound.vacuous for bound in answer.bounds)


def test_of_many_classes_held_out_points_are_quoted_too() -> None:
    file, other = class_model(m=60), class_model(m=80, seed=0, flips=0.0)
    draw = np.random.default_rng(5)
    Psi = draw.uniform(-1, 1, (80, 3))
    y = file.network(other.sample.Psi.new_tensor(Psi)).argmax(dim=1).numpy()
    answer = built(file, GivenPoints(Psi, y))
    assert (answer.cite.id, answer.cite.delta, answer.cite.assumes) == ("held-out", 0.05, ("iid", "untouched"))
    assert answer.cite.value == pytest.approx(1 - 0.05 ** (1 / 80), rel=1e-9)


# What was tried, and what was compared


def test_settings_tried_on_the_sample_cost_nothing_on_held_out_points() -> None:
    plain, tried = built(linear(), fresh()), built(linear(), fresh(), tried=20)
    assert tried.cite == plain.cite
    assert row(tried, "a-posteriori").value > row(plain, "a-posteriori").value
    assert "settings tried" not in wording.citation(tried)


def test_networks_compared_on_held_out_points_divide_delta_there_alone() -> None:
    plain, paid = built(linear(), fresh()), built(linear(), fresh(), compared=4)
    assert paid.cite.delta == 0.0125
    assert paid.cite.value == pytest.approx(clopper_pearson(0, 300, 0.0125), rel=1e-9)
    assert paid.test.upper == row(paid, "held-out").value == paid.cite.value
    assert row(paid, "a-posteriori") == row(plain, "a-posteriori")
    assert "4 networks" in wording.citation(paid)
    refused(lambda: Question(compared=0), "compared", "integer >= 1", "compared=0")


def test_the_least_of_several_models_is_paid_for(tmp_path, capsys) -> None:
    points = fresh()
    np.savez(tmp_path / "test.npz", Psi=points.Psi, y=points.y)
    paths = [str(tmp_path / f"{i}.pt") for i in range(3)]
    for i, path in enumerate(paths):
        model_file.write(path, linear(50, seed=i + 7))
    options = ["--no-estimates", "--json", "--test-data", str(tmp_path / "test.npz")]
    assert main([*paths, *options]) == 0
    for each in json.loads(capsys.readouterr().out):
        assert each["compared"] == 3
        assert each["cite"]["delta"] == pytest.approx(0.05 / 3)
        assert each["cite"]["value"] == pytest.approx(clopper_pearson(0, 300, 0.05 / 3), rel=1e-9)
    assert main([*paths, *options, "--compared", "2"]) == 2
    says(capsys.readouterr().err, ["compared", "3", "compared=2"])
    assert main([paths[0], *options, "--compared", "10"]) == 0
    assert json.loads(capsys.readouterr().out)["cite"]["delta"] == 0.005


def test_python_pays_for_what_was_compared_too() -> None:
    points = fresh()
    file = linear(60)
    state = {"0.weight": file.network.hidden[1, 0]}
    answer = verify_bounds(
        state, file.sample.Psi.numpy(), file.sample.y.numpy(), test=(points.Psi, points.y), compared=5, draws=None
    )
    assert answer.cite.delta == 0.01


# Copies of the sample that are not equal to it bit by bit


def points_and_forest() -> tuple[np.ndarray, np.ndarray, RandomForestClassifier]:
    draw = np.random.default_rng(0)
    X, y = draw.standard_normal((120, 4)), draw.integers(0, 2, 120)
    return X, y, RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_sample_stored_in_shorter_numbers_is_the_same_sample(dtype: str) -> None:
    """It learned random labels by heart: held-out points that are its sample would cite .025 at risk 1/2."""
    X, y, forest = points_and_forest()
    short = torch.tensor(X).to(getattr(torch, dtype)).double().numpy()
    with pytest.raises(ValueError, match=r"120 of the 120 .*sample"):
        verify_bounds(forest, short, y, test=(X, y))
    with pytest.raises(ValueError, match=r"120 of the 120 .*sample"):
        verify_bounds(forest, X, y, test=(short, y))
    other = np.random.default_rng(1).standard_normal((80, 4))
    assert verify_bounds(forest, short, y, test=(other, y[:80])).test.n == 80


@pytest.mark.parametrize("kind", ["csr of float32", "coo of float64", "frame", "frame with words"])
def test_a_sample_in_another_container_is_the_same_sample(kind: str) -> None:
    X, y, forest = points_and_forest()
    if kind.startswith("c"):
        sparse = pytest.importorskip("scipy.sparse")
        container, dtype = kind.split(" of ")
        same = getattr(sparse, f"{container}_matrix")(X.astype(dtype))
        with pytest.raises(ValueError, match="120 of the 120"):
            verify_bounds(forest, same, y, test=(X, y))
        return
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    if kind == "frame with words":
        frame["word"] = np.array(["p", "q"])[y]
    turned = frame[list(frame.columns)[::-1]].astype({"a": np.float32})
    with pytest.raises(ValueError, match="120 of the 120"):
        verify_bounds(lambda Z: (Z["a"] > 0).to_numpy(), frame, y, test=(turned, y))


def test_columns_of_a_frame_in_another_order_are_refused_where_their_place_counts() -> None:
    pandas = pytest.importorskip("pandas")
    X, y, _ = points_and_forest()
    frame, fresh = (pandas.DataFrame(part, columns=list("abcd")) for part in (X, X + 1))
    for network in (LogisticRegression().fit(frame, y), torch.nn.Linear(4, 1)):
        verify_bounds(network, frame, y, test=(fresh, y), draws=None)
        with pytest.raises(ValueError, match=r"columns of X.* 'd' .*'a'"):
            verify_bounds(network, frame, y, test=(fresh[list("dcba")], y), draws=None)
    with pytest.raises(ValueError, match="feature names should match"):
        verify_bounds(LogisticRegression().fit(frame, y), frame[list("dcba")], y, draws=None)


def test_points_that_a_fixed_step_makes_equal_are_points_of_their_own() -> None:
    X, y, _ = points_and_forest()
    network = make_pipeline(Binarizer(), LogisticRegression()).fit(X, y)
    answer = verify_bounds(network, X, y, test=(X + 1e-3, y), draws=None)
    assert answer.test.errors == np.count_nonzero(network.predict(X + 1e-3) != y)
    assert answer.cite.id == "held-out"


def test_one_point_without_a_label_many_times_bounds_nothing() -> None:
    X, y, _ = points_and_forest()
    network = torch.nn.Linear(4, 1).double()
    small = compress(network, X, y, budget=1)
    U = np.repeat(np.random.default_rng(2).standard_normal((1, 4)), 10_000, axis=0)
    answer = verify_bounds(network, X, y, unlabelled=U, surrogate=small, draws=None)
    assert answer.cite is None
    assert "unlabelled" in answer.bounds["disagreement-certificate"].why_not
    says(detail(answer, "unlabelled"), ["9,999 of the 10,000", "repeat"])
    allowed = verify_bounds(network, X, y, unlabelled=U, surrogate=small, draws=None, discrete=True)
    assert allowed.bounds["disagreement-certificate"].applies
    (said,) = [each.words for each in allowed.assumptions if each.id == "unlabelled"]
    says(said, ["though", "9,999 of the 10,000", "repeat"])


def test_a_network_that_is_worse_than_a_constant_on_held_out_points_is_told_so() -> None:
    file = linear(3)
    wrong = fresh(100)
    answer = built(file, GivenPoints(wrong.Psi, -wrong.y))
    says(answer.advice[0], ["errs", "100 %", "held-out"])
    assert "better training can" in answer.advice[0]


@pytest.mark.parametrize("labels", [[1, 2, 3], [1, 2, 42], ["a", "b", "c"]], ids=str)
def test_held_out_labels_of_other_names_are_not_mapped_in_their_order(labels, tmp_path, monkeypatch, capsys) -> None:
    """Of 1, 2, 42 beside 0, 1, 2 each would be taken for the class before it, and no count would be true."""
    (tmp_path / "three_classes.py").write_text("from torch import nn\ndef make(): return nn.Linear(2, 3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    generator = np.random.default_rng(0)
    for name, names in (("train", [0, 1, 2]), ("test", labels), ("fine", [0, 1, 2])):
        y = np.array(names)[np.arange(60) % 3]
        np.savez(tmp_path / f"{name}.npz", X=generator.normal(size=(60, 2)), y=y)
    command = ["--module", "three_classes:make", "--data", str(tmp_path / "train.npz"), "--no-estimates", "--test-data"]
    assert main([*command, str(tmp_path / "fine.npz")]) == 0
    capsys.readouterr()
    assert main([*command, str(tmp_path / "test.npz")]) == 2
    said = capsys.readouterr().err
    says(said, ["test y", "y holds", "0 to 2", "test y"])
    assert str(labels[-1]) in said


def test_names_are_no_labels_of_held_out_points_for_a_file_that_was_trained_on_numbers(tmp_path) -> None:
    """Which of two names is +1 would be a guess; `classes` says it."""
    model_file.write(tmp_path / "net.pt", linear(200))
    points = fresh(80)
    names = np.where(points.y > 0, "benign", "malignant")
    with pytest.raises(ValueError, match=r"y holds 0/1 or -1/\+1, test y benign, malignant"):
        verify_bounds(tmp_path / "net.pt", test=(points.Psi, names), draws=None)
    error = verify_bounds(tmp_path / "net.pt", test=(points.Psi, points.y), draws=None).test.error
    said = verify_bounds(tmp_path / "net.pt", test=(points.Psi, names), classes=["malignant", "benign"], draws=None)
    assert said.test.error == error < 0.5
