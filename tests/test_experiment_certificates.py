"""The protocol of certificates: rows as the results want them, and a file from which the same command goes on."""

import json

import pytest
import torch

from adanet_train.core.config import Config
from adanet_train.core.network import Network
from adanet_train.core.training import Trained
from verify.experiments import cli
from verify.experiments.protocols import certified
from verify.experiments.protocols.certified import MappedData


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """One small data set, and a trainer whose network and certificate are known."""
    monkeypatch.setattr(certified, "SETS", (MappedData("digits:3-8", has_test=False),))

    def trainer(method, y=None):
        def train(Psi, y, config: Config) -> Trained:
            v = (y @ Psi)[None] / (y @ Psi).abs().sum()
            network = Network((Psi.shape[1], 1), {(1, 0): v}, {1: v.new_ones(1)}, ())
            if config.goal.objective == "certificate":
                picking = {"picked": 3, "left": 1, "N": 268, "bound": 0.0456}
                return Trained(network, None, [{"picking": picking}], config, {"first": 2})
            bound = {"id": "vote-certificate", "raw": 0.25, "N": 10}
            return Trained(network, None, [{"certificate": bound}], config)

        return train

    monkeypatch.setattr(certified.run, "trainer", trainer)
    return tmp_path / "out" / "certificates.json"


def test_every_method_leaves_its_rows_once(quick, capsys):
    assert cli.main(["certificates", "--out", str(quick)]) == 0
    first = json.loads(quick.read_text())
    rows = {(row["method"], row["bound id"]): row for row in first["rows"]}
    assert rows["linear", "vote-certificate"]["bound"] == 0.25
    assert rows["linear", "vote-certificate"]["m"] == 357
    assert rows["held-out", "held-out"]["m"] == 321
    assert rows["held-out", "held-out"]["held_out"] == 36
    random = rows["stochastic", "stochastic-certificate"]
    assert (random["m"], random["prior_points"]) == (178, 179)
    assert random["bound"] >= random["train_error"]
    assert rows["l1-linear", "theorem-1"]["applies"] is False
    picked = rows["pick", "pick-certificate"]
    assert (picked["bound"], picked["terms"]["picked"]) == (0.0456, 3)
    assert 0 < picked["terms"]["start_bound"] < picked["bound"]
    assert {"command", "versions", "seed", "machine", "seconds"} <= set(first)
    capsys.readouterr()
    assert cli.main(["certificates", "--out", str(quick)]) == 0
    assert json.loads(quick.read_text()) == first
    assert capsys.readouterr().out == ""


def test_an_unknown_method_is_refused(quick, capsys):
    assert cli.main(["certificates", "--out", str(quick), "--methods", "magic"]) == 2
    assert "methods must be one of linear" in capsys.readouterr().err


def test_the_table_has_a_line_per_data_set(quick):
    from verify.experiments import tables

    def cells(result):
        table, *_ = tables.tables(result)
        (line,) = table.rows
        return dict(zip(table.header, line, strict=True))

    cli.main(["certificates", "--out", str(quick)])
    result = json.loads(quick.read_text())
    assert (cells(result)["data"], cells(result)["m"]) == ("digits:3-8", "357")
    assert cells(result)["vote-certificate, linear"] == "0.250"
    assert cells(result)["path-certificate, retired"] == "-"
    retired = {**result["rows"][0], "method": "hidden", "bound id": "path-certificate", "bound": 0.31}
    assert cells({**result, "rows": [*result["rows"], retired]})["path-certificate, retired"] == "0.310"


def test_xor_is_nearly_beyond_linear_networks():
    given = certified.xor(0.5, 0)
    assert given.Psi.shape == (1000, 11)
    assert given.test is not None
    assert len(given.test[1]) == 2000
    assert abs(float((given.Psi.T @ given.y).abs().max())) / 1000 < 0.1
    assert bool((given.Psi[:, 0] * given.Psi[:, 1] * given.y > 0).all())
    cuts = given.Psi[:, :2].sum(1)[:, None] - torch.linspace(0, 2, 13, dtype=torch.float64)
    errors = (given.y[:, None] * cuts <= 0).double().mean(0)
    assert int(errors.argmin()) in (3, 4, 5)
    assert float(errors.min()) == pytest.approx(1 / 3, abs=0.04)


def test_networks_are_measured_and_shown_in_tables_of_their_own(quick, monkeypatch):
    """A small network of each method, through the command; the rows hold what the tables and figures read."""
    from torch import nn

    from verify.experiments import tables
    from verify.experiments.protocols import usual_networks
    from verify.experiments.protocols.usual_networks import CaseRecipe, TrainedCase, table

    def case(data_dir, seed):
        (X, y, _), (X_test, y_test, _) = table(600, 1), table(200, 2)
        torch.manual_seed(seed)
        return TrainedCase(usual_networks.fit(nn.Linear(50, 1), X, y, 2, 50), X, y, X_test, y_test)

    name = "small net"
    monkeypatch.setattr(certified, "SETS", (MappedData(name, only=("occam", "disagreement")),))
    monkeypatch.setattr(usual_networks, "CASES", {name: CaseRecipe(case, 0.5)})
    monkeypatch.setattr(usual_networks, "UNLABELLED", 150)
    monkeypatch.setattr(usual_networks, "surrogate", lambda case, seed: usual_networks.certify("lr", case.X, case.y))
    assert cli.main(["certificates", "--out", str(quick)]) == 0
    result = json.loads(quick.read_text())
    small, own = result["rows"]
    assert (small["method"], own["method"]) == ("occam", "disagreement")
    assert small["bound"] == min(stage["bound"] for stage in small["stages"]) > small["train_error"]
    assert all(0 <= stage["test_error"] <= 1 for stage in small["stages"])
    assert small["weights"] == 51
    assert own["bound"] > own["terms"]["b"] > 0
    assert own["terms"]["n"] == 150
    assert own["terms"]["picked"] + own["terms"]["left"] < own["terms"]["N"] == 210
    *_, compressed, untouched = tables.tables(result)
    assert compressed.rows[0][:3] == [name, "600", "51"]
    assert untouched.rows[0][-1] == f"{own['terms']['disagreements']} of 150"
