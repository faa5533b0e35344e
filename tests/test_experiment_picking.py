"""The protocol of picking beside held-out points: its two bounds, its test errors, noise, and a file to go on from."""

import json

import numpy as np
import pytest
import torch
from scipy.stats import beta

from adanet_theory.certificates.pick import pick_certificate
from adanet_train.picking.core import Labelled, Plan
from verify.experiments import cli, picking, tables
from verify.experiments.picking import Data, Spent


class Threshold:
    """The sign of x less a threshold: half-way between the classes of the start, then moved to fit the picks."""

    grid = 2.0**-30

    def fit(self, P, T, previous):
        points = P + T
        return (points.X[points.y == 0].max() + points.X[points.y == 1].min()) / 2

    def margins(self, predictor, points):
        return np.where(points.y == 1, 1, -1) * (points.X[:, 0] - predictor)


def line(m: int, flipped: int = 0) -> Labelled:
    x = np.random.default_rng(3).uniform(-1, 1, (m, 1))
    y = (x[:, 0] > 0).astype(np.int64)
    y[:flipped] = 1 - y[:flipped]
    return Labelled(x, y, np.arange(2))


def test_the_bounds_are_those_of_their_counts():
    points = line(400)
    picked = picking.by_picking(Threshold(), points, Plan(seed=1))
    counts = picked.counts
    assert counts["N"] == 300
    assert picked.bound == pytest.approx(pick_certificate(counts["picks"] + counts["left"], 300, 0.05), rel=1e-9)
    held = picking.by_holding_out(Threshold(), points, 0.25, seed=1)
    rest = np.sort(np.random.default_rng(1).permutation(400)[300:])
    errors = int(sum((points.X[i, 0] > held.predictor) != bool(points.y[i]) for i in rest))
    assert held.counts == {"N": 100, "errors": errors}
    assert held.bound == pytest.approx(beta.ppf(0.95, errors + 1, 100 - errors), rel=1e-9)


def test_test_errors_are_compared_pair_by_pair():
    test = line(50)
    better, worse = (Spent(at, 0.1, {}) for at in (0.0, 0.5))
    found = picking.on_test(Threshold(), (worse, better), test)
    missed = [0 < x <= 0.5 for x in test.X[:, 0]]
    p = sum(missed) / 50
    assert found["test_errors"] == [p, 0]
    assert found["compared"]["difference"] == p
    assert found["compared"]["difference_se"] == pytest.approx((p * (1 - p) / 49) ** 0.5)
    assert picking.is_wrong(Threshold(), test.X[0, 0], test)[0]  # a tie


@pytest.mark.parametrize("C", [2, 10])
def test_noise_changes_labels_as_often_as_it_says(C):
    clean = Labelled(np.zeros((20_000, 1)), np.arange(20_000) % C, np.arange(C))
    noisy = picking.noisy(clean, 0.3, 0)
    assert (noisy.y != clean.y).mean() == pytest.approx(0.3, abs=0.015)
    assert np.array_equal(noisy.y, picking.noisy(clean, 0.3, 0).y)
    assert not np.array_equal(noisy.y, picking.noisy(clean, 0.3, 1).y)
    assert np.array_equal(clean.y, picking.noisy(clean, 0, 0).y)
    drawn = picking.noisy(clean, 1 - 1 / C, 0)
    of_one_class = np.bincount(drawn.y[clean.y == 1], minlength=C) / (20_000 / C)
    assert of_one_class == pytest.approx(np.full(C, 1 / C), abs=0.04)


def test_a_row_per_data_set_and_learner_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(picking, "SETS", (Data("iris"), Data("digits:3-8", noise=0.5), Data("mnist")))
    out = str(tmp_path / "picking.json")
    assert cli.main(["picking", "--learner", "svc", "--out", out]) == 0
    first = json.loads((tmp_path / "picking.json").read_text())
    flowers, random = first["rows"]
    assert (flowers["data"], flowers["learner"], flowers["m"], flowers["classes"]) == ("iris", "svc", 150, 3)
    assert flowers["tested"] == "10 folds"
    assert len(flowers["fold_bounds"]) == 10
    assert flowers["difference"] == pytest.approx(flowers["picked"]["test_error"] - flowers["held_out"]["test_error"])
    assert random["data"] == "digits:3-8 noise 0.5"
    assert min(random["picked"]["bound"], random["held_out"]["bound"]) > 0.5  # chance
    assert capsys.readouterr().out.count("\n") == 2
    assert cli.main(["picking", "--learner", "svc", "--out", out]) == 0
    assert json.loads((tmp_path / "picking.json").read_text()) == first
    assert capsys.readouterr().out == ""


def test_unknown_names_are_refused(tmp_path, capsys):
    out = ["--out", str(tmp_path / "x.json")]
    assert cli.main(["picking", "--learner", "magic", *out]) == 2
    assert "learner must be one of adanet, cnn, svc, got learner='magic'" in capsys.readouterr().err
    assert cli.main(["picking", "--sets", "mnist:2-3", *out]) == 2
    assert "sets must be one of digits:3-8" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


def test_each_learner_has_its_own_sets():
    assert "mnist" not in picking.default_sets("adanet")
    assert "mnist:3-8 hog" in picking.default_sets("adanet")
    assert set(picking.default_sets("cnn")) >= {"mnist", "cifar10", "mnist:3-8"}
    assert "mnist:3-8 hog" not in picking.default_sets("cnn")
    assert all(not name.startswith(("mnist", "cifar10", "fashion")) for name in picking.default_sets("svc"))


@pytest.mark.parametrize(("shape", "C"), [((1, 28, 28), 2), ((3, 32, 32), 10)])
def test_the_cnn_reads_bytes_of_images(shape, C):
    points = Labelled(np.full((4, *shape), 255, dtype=np.uint8), np.arange(4) % 2, np.arange(C))
    learner = picking.of_cnn(points, 0, True)
    module = learner.factory()
    assert module(torch.zeros(4, *shape)).shape == (4, 1 if C == 2 else C)
    assert learner.margins(module, points).shape == (4,)
    assert torch.equal(picking.Centred()(torch.tensor([0.0, 255.0])), torch.tensor([-1.0, 1.0]))


def test_pixels_and_features_of_a_pair(tmp_path):
    """Bytes for the CNN, and features in the range that was known before; y by the order of the pair."""
    folder = tmp_path / "mnist"
    folder.mkdir()
    images, labels = np.zeros((6, 28, 28), np.uint8), np.array([3, 8, 5, 3, 8, 8], np.uint8)
    images[1] = 255
    for part in ("train", "t10k"):
        header = bytes([0, 0, 8, 3]) + b"".join(n.to_bytes(4, "big") for n in images.shape)
        (folder / f"{part}-images-idx3-ubyte").write_bytes(header + images.tobytes())
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(
            bytes([0, 0, 8, 1]) + (6).to_bytes(4, "big") + labels.tobytes()
        )
    points, test, known = picking.read(Data("mnist:3-8"), str(tmp_path), 0, pixels=True)
    assert known
    assert test is not None
    assert (points.X.shape, points.X.dtype, points.y.tolist()) == ((5, 1, 28, 28), np.uint8, [0, 1, 0, 1, 1])
    assert points.X[1].min() == 255
    flat, _, known = picking.read(Data("mnist:3-8"), str(tmp_path), 0, pixels=False)
    assert known
    assert flat.X.max() <= 1
    assert not picking.read(Data("iris"), None, 0, pixels=False)[2]
    table, test, known = picking.read(Data("table:moons"), None, 0, pixels=False)
    assert (table.X.shape, test, known) == ((1000, 2), None, False)


def test_the_tables_say_when_picking_is_better(tmp_path):
    """The full table, and the README's with the least certificate before; both from files beside one another."""
    way = {"bound": 0.02004, "test_error": 0.01, "N": 900, "picks": 3, "left": 2, "start_bound": 0.01411}
    held = {"bound": 0.03, "test_error": 0.008, "N": 180, "errors": 1}
    of = {"m": 1797, "classes": 2, "picked": way, "held_out": held, "difference": 0.002, "difference_se": 0.0021}
    loser = {**of, "data": "digits:3-8", "learner": "adanet", "difference_se": 0.0019}
    wider = {**of, "data": "wine", "learner": "svc", "picked": {**way, "bound": 0.031}}
    rows = [wider, {**of, "data": "mnist:3-8 hog", "learner": "adanet"}, loser]
    (tmp_path / "picking.json").write_text(json.dumps({"command": "c", "rows": rows}))
    before = [
        {"data": "mnist:3-8 hog", "bound id": name, "bound": bound, "test_error": 0.005}
        for name, bound in (("vote-certificate", 0.05), ("path-certificate", 0.04551), ("held-out", 0.001))
    ]
    (tmp_path / "certificates.json").write_text(json.dumps({"rows": before}))
    _, (every, expected) = tables.read(tmp_path / "picking.json")
    assert [row[0] for row in every.rows] == ["mnist:3-8 hog", "digits:3-8", "wine"]
    assert [row[-1] for row in every.rows] == ["yes", "no", "no"]
    shown = ["AdaNet", "1,797", "0.0300 (0.0080)", "0.0201 (0.0100)", "5 of 900", "0.0142", "+0.0020 ± 0.0021"]
    assert list(every.rows[0][1:-1]) == shown
    assert [row[0] for row in expected.rows] == ["digits:3-8, AdaNet", "mnist:3-8 hog, AdaNet"]
    assert [row[-1] for row in expected.rows] == ["-", "0.0456 (0.0050)"]
