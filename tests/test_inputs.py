"""Points kept aside and feature maps learned on points of their own, from the data to verify-bounds."""

import numpy as np
import pytest
import torch

from adanet_train.app import cli
from adanet_train.app.inputs import Asked, read_inputs
from adanet_train.core.points import Points
from adanet_train.data import datasets
from adanet_train.estimator import load
from adanet_train.model import model_file
from tests.refusals import refused, refuses, says
from verify.reading.case import read_file


def rows(*parts: torch.Tensor) -> set[tuple[float, ...]]:
    return {tuple(row) for part in parts for row in (part.whole() if isinstance(part, Points) else part).tolist()}


def test_the_points_kept_aside_are_not_trained_on():
    data = read_inputs("digits:3-8", Asked(holdout=0.1, seed=3))
    assert data.holdout is not None
    assert len(data.holdout[1]) == 36
    assert len(data.y) == 357 - 36
    assert not rows(data.Psi) & rows(data.holdout[0])
    whole = datasets.load("digits:3-8")
    assert rows(data.Psi, data.holdout[0]) == rows(torch.from_numpy(whole.Psi(data.features)))
    other = read_inputs("digits:3-8", Asked(holdout=0.1, seed=4))
    assert rows(other.Psi) != rows(data.Psi)


def test_a_learned_map_knows_its_own_points_only():
    data = read_inputs("breast-cancer", Asked(features="learned:0.2", bias=False))
    X = data.learned_on[0].whole().numpy()
    np.testing.assert_allclose(data.features.low, X.mean(0))
    np.testing.assert_allclose(data.features.high, X.mean(0) + 2 * X.std(0))
    assert len(X) + len(data.y) == 569
    assert not data.features.fitted_on_sample
    assert data.Psi.min() == -1
    assert data.Psi.max() == 1


def test_a_certificate_takes_pixels_centred_and_refuses_a_map_fitted_on_the_sample():
    assert read_inputs("digits:3-8", Asked(certificate="vote")).Psi.min() == -1
    assert read_inputs("digits:3-8", Asked()).Psi.min() == 0
    refused(lambda: read_inputs("breast-cancer", Asked(certificate="vote")), "fixed before", "--features learned:F")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (Asked(holdout=1.5), r"holdout must be a share in \(0, 1\), got 1.5"),
        (Asked(features="learned"), "features must be hog or learned:F"),
        (Asked(features="pca"), "features must be hog or learned:F"),
        (Asked(features="hog"), "hog needs the images"),
    ],
)
def test_what_cannot_be_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        read_inputs("digits:3-8", asked)


def test_the_file_holds_the_points_and_verify_bounds_tests_on_them(tmp_path, capsys):
    path = tmp_path / "model.pt"
    messages = ["digits:3-8", "-o", str(path), "--method", "lr", "--set", "steps=50", "--holdout", "0.2"]
    assert cli.main(messages) == 0
    model = model_file.read(path)
    assert model.version == 2
    assert model.holdout.m == 71
    case = read_file(str(path))
    assert case.test.Psi.shape == (71, 65)
    assert any("71 points" in note for note in case.notes)
    assert cli.main([*messages, "--no-sample"]) == 0
    model = model_file.read(path)
    assert (model.holdout.m, model.holdout.Psi, model.sample.Psi) == (71, None, None)
    assert cli.main(messages[:-2]) == 0
    assert model_file.read(path).version == 1


# Tables: a range known beforehand, columns left out


def table_of(tmp_path, name, header, rows):
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]))
    return str(path)


def test_a_range_known_before_the_sample_fixes_the_map(tmp_path):
    path = table_of(tmp_path, "t.csv", "a,b,y", ["-1,2,0", "1,0,1", "0,5,1"])
    data = read_inputs(path, Asked(feature_range=(-1.0, 3.0), bias=False))
    assert data.Psi.tolist() == [[0, 0.75], [0.5, 0.25], [0.25, 1]]  # 5 is clipped to 3
    assert (data.features.fitted_on_sample, data.features.r_sup) == (False, 1)
    assert read_inputs(path, Asked(feature_range=(-1.0, 3.0), certificate="vote", bias=False)).Psi[1].tolist() == [
        0,
        -0.5,
    ]


@pytest.mark.parametrize(
    ("data", "asked", "message"),
    [
        ("digits:3-8", Asked(feature_range=(0.0, 1.0)), "range 0,16 already, got --feature-range 0,1"),
        ("breast-cancer", Asked(feature_range=(1.0, 1.0)), "LO < HI, got --feature-range 1,1"),
        ("breast-cancer", Asked(feature_range=(0.0, float("inf"))), "finite numbers"),
        ("breast-cancer", Asked(feature_range=(0.0, 1.0), features="learned:0.1"), "give one of them"),
        ("breast-cancer", Asked(drop=("mean radius",)), "--drop needs a .csv or .parquet file"),
    ],
)
def test_a_range_or_a_column_that_cannot_be_is_refused(data, asked, message):
    with pytest.raises(ValueError, match=message):
        read_inputs(data, asked)


@pytest.mark.parametrize(
    "asked", [Asked(feature_range=(0.0, 9.0)), Asked(features="learned:0.5"), Asked(start=lambda m: (range(m), []))]
)
def test_words_of_the_sample_fix_no_map(tmp_path, asked):
    """Which words and empty cells there are was read off all rows."""
    path = table_of(tmp_path, "t.csv", "a,colour,y", ["1,red,0", "2,blue,1", "3,red,1", "4,red,0"])
    refused(lambda: read_inputs(path, asked), "'colour' (words)", "--drop colour", "--holdout")
    path = table_of(tmp_path, "e.csv", "a,b,y", ["1,2,0", ",3,1", "3,1,1", "4,4,0"])
    refused(lambda: read_inputs(path, asked), "the codes of 'a' (empty cells)")


def test_columns_are_left_out_in_training_testing_and_verifying(tmp_path, capsys):
    rows = [f"2024-01-{30 - i:02d},{i % 7},{i},{'ab'[i % 7 > 3]}" for i in range(30)]
    train = table_of(tmp_path, "train.csv", "day,x,id,y", rows)
    quick = ["--rounds", "1", "--set", "steps=5", "--width", "2", "-o", str(tmp_path / "m.pt"), "--json"]
    assert cli.main([train, *quick, "--drop", "id"]) == 2
    says(capsys.readouterr().err, ["row 2, column 'day' holds a date, '2024-01-30'", "--drop day"])
    dropped = ["--drop", "id", "--drop", "day"]
    assert cli.main([train, *quick, *dropped, "--test-data", train, "--feature-range", "0,6"]) == 0
    assert "all 30 test points are points of the sample" in capsys.readouterr().err
    model = model_file.read(str(tmp_path / "m.pt"))
    assert (model.features.names, model.features.fitted_on_sample) == (("x",), False)
    assert read_file(str(tmp_path / "m.pt"), data=train).sample.Psi.shape == (30, 2)
    capsys.readouterr()
    for name, message in (
        ("ids", "did you mean 'id'"),
        ("y", "holds the labels"),
        ("z", "the header has day, x, id, y"),
    ):
        refuses(cli.main, [train, *quick, "--drop", name], capsys, message)


def test_a_word_that_training_did_not_know_is_told(tmp_path, capsys):
    rows = [f"{i % 7},{'red' if i % 7 > 3 else 'blue'},{i % 7 > 3:d}" for i in range(30)]
    train = table_of(tmp_path, "train.csv", "x,colour,y", rows)
    later = table_of(tmp_path, "later.csv", "x,colour,y", ["1,green,0", ",red,1"])
    quick = ["--rounds", "1", "--set", "steps=5", "--width", "2", "-o", str(tmp_path / "m.pt"), "--json"]
    assert cli.main([train, *quick, "--test-data", later]) == 0
    words, empty = "column 'colour' holds 'green', training did not", "column 'x' has empty cells"
    message = capsys.readouterr().err
    assert words in message
    assert empty in message
    notes = " ".join(read_file(str(tmp_path / "m.pt"), test=later).notes)
    assert words in notes
    assert empty in notes
    with pytest.warns(UserWarning, match=r"column .*training") as warned:
        load(str(tmp_path / "m.pt")).predict(later)
    assert {str(warning.message).partition(",")[0] for warning in warned} == {
        "column 'colour' holds 'green'",
        "column 'x' has empty cells",
    }
