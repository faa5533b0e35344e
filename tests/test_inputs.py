"""Points kept aside and feature maps learned on points of their own, from the data to verify-bounds."""

import numpy as np
import pytest
import torch

from adanet_train.app import cli
from adanet_train.app.inputs import Asked, read_inputs
from adanet_train.core.points import Points
from adanet_train.data import datasets
from adanet_train.model import model_file
from verify.reading.case import read_file


def rows(*parts: torch.Tensor) -> set[tuple[float, ...]]:
    return {tuple(row) for part in parts for row in (part.whole() if isinstance(part, Points) else part).tolist()}


def test_the_points_kept_aside_are_not_trained_on():
    found = read_inputs("digits:3-8", Asked(holdout=0.1, seed=3))
    assert found.holdout is not None
    assert len(found.holdout[1]) == 36
    assert len(found.y) == 357 - 36
    assert not rows(found.Psi) & rows(found.holdout[0])
    whole = datasets.load("digits:3-8")
    assert rows(found.Psi, found.holdout[0]) == rows(torch.from_numpy(whole.Psi(found.features)))
    other = read_inputs("digits:3-8", Asked(holdout=0.1, seed=4))
    assert rows(other.Psi) != rows(found.Psi)


def test_a_learned_map_knows_its_own_points_only():
    found = read_inputs("breast-cancer", Asked(features="learned:0.2", bias=False))
    X = found.learned_on[0].whole().numpy()
    np.testing.assert_allclose(found.features.low, X.mean(0))
    np.testing.assert_allclose(found.features.high, X.mean(0) + 2 * X.std(0))
    assert len(X) + len(found.y) == 569
    assert not found.features.fitted_on_sample
    assert found.Psi.min() == -1
    assert found.Psi.max() == 1


def test_a_certificate_takes_pixels_centred_and_refuses_a_map_fitted_on_the_sample():
    assert read_inputs("digits:3-8", Asked(certificate="vote")).Psi.min() == -1
    assert read_inputs("digits:3-8", Asked()).Psi.min() == 0
    with pytest.raises(ValueError, match="fixed before the sample was drawn: --features learned:F"):
        read_inputs("breast-cancer", Asked(certificate="vote"))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Asked(holdout=1.5), r"holdout must be a share in \(0, 1\), got 1.5"),
        (Asked(features="learned"), "features must be hog or learned:F"),
        (Asked(features="pca"), "features must be hog or learned:F"),
        (Asked(features="hog"), "hog needs the images"),
    ],
)
def test_what_cannot_be_is_refused(asked, told):
    with pytest.raises(ValueError, match=told):
        read_inputs("digits:3-8", asked)


def test_the_file_holds_the_points_and_verify_bounds_tests_on_them(tmp_path, capsys):
    path = tmp_path / "model.pt"
    told = ["digits:3-8", "-o", str(path), "--method", "lr", "--set", "steps=50", "--holdout", "0.2"]
    assert cli.main(told) == 0
    model = model_file.read(path)
    assert model.version == 2
    assert model.holdout.m == 71
    found = read_file(str(path))
    assert found.test.Psi.shape == (71, 65)
    assert "tested on the 71 points that training kept aside." in found.notes
    assert cli.main([*told, "--no-sample"]) == 0
    model = model_file.read(path)
    assert (model.holdout.m, model.holdout.Psi, model.sample.Psi) == (71, None, None)
    assert cli.main(told[:-2]) == 0
    assert model_file.read(path).version == 1
