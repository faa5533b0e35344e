"""The protocol of certificates: rows as the results want them, and a file from which the same command goes on."""

import json

import pytest

from adanet_train.config import Config, Trained
from adanet_train.network import Network
from verify.experiments import certificates, cli
from verify.experiments.certificates import Data


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """One small data set, and a trainer whose network and certificate are known."""
    monkeypatch.setattr(certificates, "SETS", (Data("digits:3-8", has_test=False),))

    def trainer(method):
        def train(Psi, y, config: Config) -> Trained:
            v = (y @ Psi)[None] / (y @ Psi).abs().sum()
            network = Network((Psi.shape[1], 1), {(1, 0): v}, {1: v.new_ones(1)}, ())
            told = {"id": "vote-certificate", "raw": 0.25, "N": 10}
            candidates = [{"depth": 1, "objective": 0.2, "units": [1]}, {"depth": 2, "objective": 0.3, "units": [3, 1]}]
            history = [{"certificate": told, "candidates": candidates}]
            return Trained(network, None, history, config)

        return train

    monkeypatch.setattr(certificates.run, "trainer", trainer)
    return tmp_path / "out" / "certificates.json"


def test_every_method_leaves_its_rows_once(quick, capsys):
    assert cli.main(["certificates", "--out", str(quick)]) == 0
    first = json.loads(quick.read_text())
    rows = {(row["method"], row["bound id"]): row for row in first["rows"]}
    assert rows["linear", "vote-certificate"]["bound"] == 0.25
    assert rows["linear", "vote-certificate"]["m"] == 357
    assert rows["hidden", "path-certificate"]["bound"] == 0.3
    assert rows["hidden", "path-certificate"]["proposed_units"] == 2
    assert rows["hidden", "path-certificate"]["tried"] == 2
    assert rows["held-out", "held-out"]["m"] == 321
    assert rows["held-out", "held-out"]["held_out"] == 36
    assert rows["l1-linear", "theorem-1"]["applies"] is False
    assert {"command", "versions", "seed", "machine", "seconds"} <= set(first)
    capsys.readouterr()
    assert cli.main(["certificates", "--out", str(quick)]) == 0
    assert json.loads(quick.read_text()) == first
    assert capsys.readouterr().out == ""


def test_an_unknown_method_is_refused(quick, capsys):
    assert cli.main(["certificates", "--out", str(quick), "--methods", "magic"]) == 2
    assert "methods must be among linear" in capsys.readouterr().err
