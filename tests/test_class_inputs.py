"""Two classes are as they were before there could be more, bit for bit; and labels that cannot be trained on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from adanet_train.app import cli, run
from adanet_train.core.config import Config
from adanet_train.estimator import AdaNetClassifier
from adanet_train.methods import adanet
from adanet_train.model import model_file
from tests.refusals import refuses

QUICK = Config(rounds=1, width=4, learner="gradient", steps=20, lam=1e-4)


def points(m: int = 40, n_0: int = 3) -> np.ndarray:
    return np.random.default_rng(0).uniform(0, 1, (m, n_0))


def test_two_classes_take_the_two_class_path_bit_for_bit() -> None:
    Psi = torch.from_numpy(points())
    y = torch.where(Psi[:, 0] > Psi[:, 1], 1.0, -1.0).double()
    direct, chosen = adanet.train(Psi, y, QUICK), run.trainer("adanet")(Psi, y, QUICK)
    assert direct.network.outputs is None
    assert all(torch.equal(direct.network.hidden[pair], U) for pair, U in chosen.network.hidden.items())
    assert all(torch.equal(direct.network.output[k], w) for k, w in chosen.network.output.items())
    assert direct.history == chosen.history


def test_two_classes_by_any_name_are_the_same_bits_in_a_file_of_version_1(tmp_path: Path) -> None:
    X = points()
    sides = (X[:, 0] > X[:, 1]).astype(int)
    written = []
    for y in (sides, np.array(["no", "yes"])[sides], 2 * sides - 1):
        model = AdaNetClassifier(rounds=1, width=4, learner="gradient", config=Config(steps=20)).fit(X, y)
        written.append(model.model_)
        assert model.model_.network.outputs is None
    path = tmp_path / "two.pt"
    model_file.write(path, written[0])
    stored = torch.load(path, weights_only=True)
    assert stored["version"] == 1
    assert "outputs" not in stored
    for other in written[1:]:
        assert all(torch.equal(written[0].network.hidden[pair], U) for pair, U in other.network.hidden.items())
        assert all(torch.equal(written[0].network.output[k], w) for k, w in other.network.output.items())


def table(path: Path, labels: list[str]) -> str:
    rows = [f"{a},{b},{name}" for (a, b), name in zip(points(len(labels), 2), labels, strict=True)]
    path.write_text("\n".join(["a,b,y", *rows]) + "\n", encoding="utf-8")
    return str(path)


QUICKLY = ["--set", "steps=5", "--set", "width=2", "--set", "rounds=1"]


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [(["u", "v", "w"] * 6, ["u", "v", "z"], "z"), (["u"] * 8, None, "must hold two classes, got 1")],
    ids=["a class in the test data only", "one class"],
)
def test_classes_that_cannot_be_trained_on_are_one_line(
    train: list[str], test: list[str] | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [table(tmp_path / "train.csv", train), "--label", "y", "-o", str(tmp_path / "m.pt"), *QUICKLY]
    if test is not None:
        asked += ["--test-data", table(tmp_path / "test.csv", test)]
    refuses(cli.main, asked, capsys, said)
    assert not (tmp_path / "m.pt").exists()


def test_hundreds_of_classes_with_two_rows_each() -> None:
    X, y = points(600), np.arange(600) % 300
    model = AdaNetClassifier(rounds=1, width=1, max_depth=1, config=Config(steps=1, tol=1.0)).fit(X, y)
    assert model.model_.network.outputs == 300
    assert model.predict(X[:5]).shape == (5,)
