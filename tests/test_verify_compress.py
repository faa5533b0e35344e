"""verify-bounds on descriptions: every network as it is, --compress, a compressed file, points without labels."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.certificates.occam import occam_certificate
from adanet_train import compress
from verify import verify_bounds
from verify.cli import main

M = 1500


def points(m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X = np.round(draw.normal(size=(m, 5)) * 64) / 64
    return X, (X[:, 0] + np.abs(X[:, 1]) > 0.5).astype(np.int64)


@pytest.fixture(scope="module")
def net() -> nn.Module:
    torch.manual_seed(0)
    found = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 1))
    X, y = (torch.from_numpy(part) for part in points(M, 0))
    optimiser = torch.optim.Adam(found.parameters(), 0.02)
    for _ in range(200):
        optimiser.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(found(X.float())[:, 0], y.float()).backward()
        optimiser.step()
    return found.eval()


@pytest.fixture(scope="module")
def folder(net: nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("files")
    for name, (m, seed) in {"train": (M, 0), "test": (400, 1), "more": (600, 2)}.items():
        X, y = points(m, seed)
        np.savez(where / f"{name}.npz", X=X, **({} if name == "more" else {"y": y}))
    torch.save(net.state_dict(), where / "net.pt")
    return where


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    capsys.readouterr()
    assert main([*map(str, arguments), "--json", "--no-estimates"]) == 0
    return json.loads(capsys.readouterr().out)


def row(document: dict, id: str = "occam-certificate") -> dict:
    return next(bound for bound in document["bounds"] if bound["id"] == id)


def test_every_network_has_a_row_for_its_weights_as_they_are(net: nn.Module) -> None:
    X, y = points(M, 0)
    assert verify_bounds(net, X, y, draws=None).bounds["occam-certificate"].why_not == ("arithmetic",)  # float32
    double = copy.deepcopy(net).double()
    report = verify_bounds(double, X, y, draws=None)
    found = report.bounds["occam-certificate"]
    assert 20 * 43 < found.terms["bits"] < 32 * 43
    assert found.terms["errors"] == round(report.sample.train_error * M)
    assert found.raw >= occam_certificate(int(found.terms["errors"]), M, found.terms["bits"], 0.05) * (1 - 1e-12)
    assert report.cite is None or report.cite.id != "occam-certificate"
    quoted = verify_bounds(double, X, y, draws=None, cite="occam-certificate").cite
    assert quoted is not None
    assert {"iid", "architecture"} <= set(quoted.assumes)
    assert quoted.value == found.value


def test_compress_writes_a_file_that_is_verified_from_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = folder / "small.pt"
    data = ("--data", folder / "train.npz")
    first = run(capsys, folder / "net.pt", "--activation", "relu", *data, "--compress", small, "--budget", 2)
    again = run(capsys, small, *data)
    assert row(first)["terms"] == row(again)["terms"]
    assert row(again)["value"] < 0.3
    assert again["cite"]["id"] == "occam-certificate"
    assert again["cite"]["delta"] == 0.05
    assert "architecture" in again["cite"]["assumes"]
    assert any("as it is" in note and "greedy" in note for note in first["notes"])
    tested = run(capsys, small, *data, "--test-data", folder / "test.npz")
    assert tested["cite"]["id"] == "held-out"
    assert tested["test"]["error"] <= row(again)["value"]


def test_a_sample_that_the_network_gets_wrong_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = points(M, 0)
    small = compress(nn.Sequential(nn.Linear(5, 1)), X, y, budget=1)
    small.save(folder / "line.pt")
    np.savez(folder / "flipped.npz", X=X, y=1 - y)
    right, wrong = (
        row(run(capsys, folder / "line.pt", "--data", folder / f"{name}.npz")) for name in ("train", "flipped")
    )
    assert right["terms"]["errors"] + wrong["terms"]["errors"] == M
    assert wrong["value"] > 0.5


def test_disagreement_speaks_of_the_network_untouched(
    net: nn.Module, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = points(M, 0)
    U, _ = points(600, 2)
    small = compress(net, X, y, budget=2)
    report = verify_bounds(net, X, y, unlabelled=U, surrogate=small, draws=None)
    found = report.bounds["disagreement-certificate"]
    d = int(((net(torch.from_numpy(U).float()) > 0).numpy() != (small.module(torch.from_numpy(U)) > 0).numpy()).sum())
    assert found.terms == {"b": pytest.approx(small.at(0.025)), "disagreements": d, "n": 600}
    assert found.raw == pytest.approx(small.at(0.025) + clopper_pearson(d, 600, 0.025), rel=1e-9)
    assert found.about == "program"
    assert report.cite is not None
    assert report.cite.id == "disagreement-certificate"
    assert "unlabelled" in report.cite.assumes
    small.save(folder / "g.pt")
    options = ("--data", folder / "train.npz", "--unlabelled", folder / "more.npz", "--surrogate", folder / "g.pt")
    document = run(capsys, folder / "net.pt", "--activation", "relu", *options)
    assert row(document, "disagreement-certificate")["terms"]["disagreements"] == d
    assert any("held-out is better" in note for note in document["notes"])


def test_points_of_the_sample_are_no_unlabelled_points(net: nn.Module) -> None:
    X, y = points(M, 0)
    small = compress(net, X, y, budget=0)
    with pytest.raises(ValueError, match="are rows of the sample"):
        verify_bounds(net, X, y, unlabelled=X[:10], surrogate=small, draws=None)
    with pytest.raises(ValueError, match="give unlabelled"):
        verify_bounds(net, X, y, surrogate=small, draws=None)


CELLS = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRU(1, 2, batch_first=True), nn.Linear(2, 2)

    def forward(self, x):
        return self.out(self.cell(x[:, :, None])[0][:, -1])
"""


def test_a_module_that_cannot_be_read_is_verified_with_its_factory(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "cells.py").write_text(CELLS)
    scope: dict = {}
    exec(CELLS, scope)
    small = compress(scope["Net"](), *points(M, 0), budget=1)
    small.save(folder / "cells.pt")
    document = run(capsys, "--module", "cells:Net", "--weights", folder / "cells.pt", "--data", folder / "train.npz")
    assert row(document)["terms"]["errors"] == small.errors
    assert abs(row(document)["terms"]["bits"] - small.bits) <= 3
    status = {assumption["id"]: assumption["status"] for assumption in document["assumptions"]}
    assert (status["arithmetic"], status["architecture"]) == ("assumed", "assumed")
    assert main([str(folder / "cells.pt"), "--data", str(folder / "train.npz")]) == 2
    assert "--module" in capsys.readouterr().err
