"""The protocol of certificates: rows as the results want them, and a file from which the same command goes on."""

import json

import pytest
import torch

from adanet_theory.certificates.derandomise import Certificate
from adanet_train.config import Config, Trained
from adanet_train.core.network import Network
from verify.experiments import certificates, cli
from verify.experiments.certificates import Data


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """One small data set, and a trainer whose network and certificate are known."""
    monkeypatch.setattr(certificates, "SETS", (Data("digits:3-8", has_test=False),))

    def trainer(method, y=None):
        def train(Psi, y, config: Config) -> Trained:
            v = (y @ Psi)[None] / (y @ Psi).abs().sum()
            network = Network((Psi.shape[1], 1), {(1, 0): v}, {1: v.new_ones(1)}, ())
            if config.objective == "certificate":
                picking = {"picked": 3, "left": 1, "N": 268, "bound": 0.0456}
                return Trained(network, None, [{"picking": picking}], config, {"first": 2})
            told = {"id": "vote-certificate", "raw": 0.25, "N": 10}
            return Trained(network, None, [{"certificate": told}], config)

        return train

    def stated(network, Psi, y, delta, seed):
        """On draws of its own, at half of delta: not the value that the round found."""
        assert (delta, seed) == (0.025, (0, certificates.FRESH))
        return Certificate("path-certificate", {"draws": 7}, 0.31)

    def rounds(Psi, y, trained: Trained):
        """A linear network; a better one that lost its units, and the best that had one; one with two units."""
        for proposed, chosen in ((((0, 0.35),), 0), (((0, 0.29), (1, 0.3)), 0), (((2, 0.4),), -1)):
            networks = [with_units(Psi, H) for H, _ in proposed]
            told = {"candidates": [{"objective": raw} for _, raw in proposed], "chosen": chosen}
            yield Trained(networks[0], None, [told], trained.config), networks

    def with_units(Psi, H) -> Network:
        q = Psi.new_ones(1 + H, Psi.shape[1])
        hidden = {(1, 0): q, **({(2, 1): q.new_ones(1, 1 + H)} if H else {})}
        return Network((Psi.shape[1], 1 + H, *[1] * bool(H)), hidden, {1: q.new_ones(1 + H)}, ("relu",) * bool(H))

    monkeypatch.setattr(certificates.run, "trainer", trainer)
    monkeypatch.setattr(certificates.train, "rounds", rounds)
    monkeypatch.setattr(certificates.train, "certificate", stated)
    return tmp_path / "out" / "certificates.json"


def test_every_method_leaves_its_rows_once(quick, capsys):
    assert cli.main(["certificates", "--out", str(quick)]) == 0
    first = json.loads(quick.read_text())
    rows = {(row["method"], row["bound id"]): row for row in first["rows"]}
    assert rows["linear", "vote-certificate"]["bound"] == 0.25
    assert rows["linear", "vote-certificate"]["m"] == 357
    assert rows["hidden", "path-certificate"]["bound"] == 0.31
    assert rows["hidden", "path-certificate"]["n"] == [65, 2, 1]
    assert rows["hidden", "path-certificate"]["kept"] is False
    assert rows["hidden", "path-certificate"]["tried"] == 2
    assert rows["held-out", "held-out"]["m"] == 321
    assert rows["held-out", "held-out"]["held_out"] == 36
    random = rows["stochastic", "stochastic-certificate"]
    assert (random["m"], random["prior_points"]) == (178, 179)
    assert random["bound"] >= random["train_error"]
    assert rows["l1-linear", "theorem-1"]["applies"] is False
    picked = rows["pick", "pick-certificate"]
    assert (picked["bound"], picked["terms"]["picked"], picked["tried"]) == (0.0456, 3, 1)
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
        table, expected = tables.tables(result)
        assert list(expected.rows[0])[:2] == [table.rows[0][0], table.rows[0][1]]
        (line,) = table.rows
        return dict(zip(table.header, line, strict=True))

    cli.main(["certificates", "--out", str(quick)])
    result = json.loads(quick.read_text())
    assert (cells(result)["data"], cells(result)["m"]) == ("digits:3-8", "357")
    assert cells(result)["vote-certificate, linear"] == "0.25"
    assert cells(result)["path-certificate, hidden units"] == "0.310"
    (hidden,) = (row for row in result["rows"] if row["method"] == "hidden")
    hidden["bound id"] = "vote-certificate"
    assert cells(result)["path-certificate, hidden units"] == "no unit"


def test_xor_is_nearly_beyond_linear_networks():
    given = certificates.xor(0.5, 0)
    assert given.Psi.shape == (1000, 11)
    assert given.test is not None
    assert len(given.test[1]) == 2000
    assert abs(float((given.Psi.T @ given.y).abs().max())) / 1000 < 0.1
    assert bool((given.Psi[:, 0] * given.Psi[:, 1] * given.y > 0).all())
    cuts = given.Psi[:, :2].sum(1)[:, None] - torch.linspace(0, 2, 13, dtype=torch.float64)
    errors = (given.y[:, None] * cuts <= 0).double().mean(0)
    assert int(errors.argmin()) in (3, 4, 5)
    assert float(errors.min()) == pytest.approx(1 / 3, abs=0.04)
