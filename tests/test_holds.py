"""What "holds" means: checked here. What a file or a user says is assumed, and named in the citation."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch

from adanet_train.app import cli as train
from adanet_train.model import model_file
from tests.refusals import refused, says
from tests.test_held_out import detail
from tests.test_soundness import linear, status
from tests.verify_models import built, model
from verify import verify_bounds
from verify.cli import main
from verify.reading.points import GivenPoints
from verify.records.question import Question
from verify.rows import report
from verify.show import wording

# A map that was learned


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> str:
    """Breast cancer, with a map learned on 512 of its 569 rows."""
    path = str(tmp_path_factory.mktemp("learned") / "model.pt")
    options = ["--method", "lr", "--rounds", "1", "--features", "learned:0.9", "--json"]
    assert train.main(["breast-cancer", "-o", path, *options]) == 0
    return path


def all_rows(path: str) -> GivenPoints:
    """All of breast cancer through the file's map."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    file = model_file.read(path)
    Psi = file.Psi(X).numpy()
    own = {tuple(row) for row in file.sample.Psi.numpy().tolist()}
    assert sum(tuple(row) in own for row in Psi.tolist()) == 57
    sign = 2.0 * y - 1
    first = next(i for i, row in enumerate(Psi.tolist()) if row == file.sample.Psi[0].tolist())
    return GivenPoints(Psi, sign if sign[first] == file.sample.y[0] else -sign)


def test_a_map_learned_on_other_points_holds_on_the_file_s_own_sample(learned: str) -> None:
    answer = built(model_file.read(learned))
    assert answer.sample.m == 57
    assert status(answer, "feature-map") == "holds"
    assert "512 points" in detail(answer, "feature-map")


def test_a_map_learned_on_rows_of_the_sample_fails(learned: str) -> None:
    file = model_file.read(learned)
    answer = report.build(file, Question(draws=None), sample=all_rows(learned))
    assert answer.sample.m == 569
    assert status(answer, "feature-map") == "fails"
    says(detail(answer, "feature-map"), ["512 ", "sample"])
    assert answer.cite is None
    assert not any(bound.applies for bound in answer.bounds)


def test_an_older_file_does_not_say_which_rows_made_its_map(learned: str) -> None:
    file = model_file.read(learned)
    bound = {key: value for key, value in file.meta["features_learned_on"].items() if key != "rows"}
    older = dataclasses.replace(file, meta={**file.meta, "features_learned_on": bound})
    assert status(built(older), "feature-map") == "holds"  # its own sample, to the last bit
    answer = report.build(older, Question(draws=None), sample=all_rows(learned))
    assert status(answer, "feature-map") == "open"
    assert answer.cite is None


def test_new_points_do_not_spoil_a_learned_map(learned: str) -> None:
    file = model_file.read(learned)
    Psi = np.random.default_rng(0).uniform(-1, 1, (200, file.network.n[0]))
    answer = report.build(file, Question(draws=None), sample=GivenPoints(Psi, np.where(Psi[:, 0] > 0, 1.0, -1.0)))
    assert status(answer, "feature-map") == "holds"


def test_rows_that_are_no_hashes_are_refused(learned: str) -> None:
    file = model_file.read(learned)
    meta = {**file.meta, "features_learned_on": {"m": 512, "rows": torch.zeros(3)}}
    refused(lambda: built(dataclasses.replace(file, meta=meta)), "features_learned_on rows must be an int64 vector")


def test_a_map_of_known_ranges_is_the_file_s_word() -> None:
    answer = built(linear())
    assert status(answer, "feature-map") == "assumed"
    assert "feature-map" in answer.cite.assumes


# The activation, and a state_dict


def test_that_the_activation_came_before_the_sample_is_assumed() -> None:
    answer = built(model(n=(3, 2, 1), activation="leaky_relu:0.3", m=4000, flips=0.0), cite="a-posteriori")
    assert status(answer, "homogeneous") == "assumed"
    assert "leaky_relu:0.3" in detail(answer, "homogeneous")
    assert "homogeneous" in answer.cite.assumes
    assert status(built(linear()), "homogeneous") == "holds"
    assert status(built(model(activation="tanh")), "homogeneous") == "fails"


def test_that_a_state_dict_is_a_chain_is_assumed_by_every_statement(tmp_path, capsys) -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (400, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    network = torch.nn.Sequential(torch.nn.Linear(3, 1, bias=False)).double()
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
    answer = verify_bounds(network.state_dict(), X[:300], y[:300], test=(X[300:], y[300:]), draws=None)
    assert status(answer, "chain") == "assumed"
    assert answer.cite.assumes == ("iid", "untouched", "chain")
    assert "with the activation that was named (chain)" in wording.assumed("chain")
    alone = verify_bounds(network.state_dict(), X, y, draws=None, r_sup=1)
    assert "chain" in alone.cite.assumes
    module = verify_bounds(network, X, y, draws=None, r_sup=1)
    assert "chain" not in {row.id for row in module.assumptions}
    # the two were read in other steps, whose roundings are counted apart: about 1e-16 in b
    assert module.cite.value == pytest.approx(alone.cite.value, rel=1e-14)
    torch.save(network.state_dict(), tmp_path / "net.pt")
    np.savez(tmp_path / "data.npz", X=X, y=y)
    assert main([str(tmp_path / "net.pt"), "--data", str(tmp_path / "data.npz"), "--json", "--no-estimates"]) == 0
    assert "chain" in json.loads(capsys.readouterr().out)["cite"]["assumes"]
