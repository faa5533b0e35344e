"""The protocol of picking beside held-out points: its two bounds, its test errors, noise, and a file to go on from."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import beta

from adanet_theory.certificates.pick import pick_certificate
from adanet_train.picking.core import Labelled, Plan
from tests.refusals import says
from verify.experiments import cli, tables
from verify.experiments.protocols import picking
from verify.experiments.protocols.picking import PickingData, Spent

ROOT = Path(__file__).parents[1]


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
    picked = picking.by_picking(Threshold(), points, Plan(start=0.25, K=24, seed=1))
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
    missed = [i for i, x in enumerate(test.X[:, 0]) if 0 < x <= 0.5]
    p = len(missed) / 50
    assert found == {"test_errors": [p, 0], "tested": 50, "apart": [missed, []]}
    ways = {"picked": {"bound": 0.1, "test_error": p, "start_bound": 0}, "held_out": {"bound": 0.1, "test_error": 0}}
    means = picking.compared([{**found, **ways, "folds": False}])
    assert means["difference"] == p
    assert means["difference_se"] == pytest.approx((p * (1 - p) / 49) ** 0.5)
    assert means["picked"]["bound_se"] is None
    once = {"difference_se": 0.007, **ways, "folds": False}
    assert picking.compared([once])["difference_se"] == 0.007
    assert picking.is_wrong(Threshold(), test.X[0, 0], test)[0]  # a tie


def test_the_standard_error_is_that_of_seeds_and_points_drawn_anew():
    """d_si = a_s + b_i + e_si with known variances; the error of the points alone would be far too small."""
    draw, S, n = np.random.default_rng(0), 4, 60
    a, b, e = 0.5, 2.0, 1.5
    found, alone = [], []
    for _ in range(2000):
        values = a * draw.normal(size=(S, 1)) + b * draw.normal(size=n) + e * draw.normal(size=(S, n))
        found.append(picking.crossed_error(values) ** 2)
        alone.append(values.mean(0).var(ddof=1) / n)
    truth = a**2 / S + b**2 / n + e**2 / (S * n)
    assert np.mean(found) == pytest.approx(truth, rel=0.05)
    assert np.mean(alone) < 0.65 * truth


def test_the_seeds_of_a_set_without_a_test_part_are_tested_on_its_folds():
    points = line(103)
    folds = [picking.fold(points, seed) for seed in range(10)]
    for five in (folds[:5], folds[5:]):
        assert sorted(np.concatenate([held for _, held in five])) == list(range(103))
    assert all(not np.intersect1d(train, held).size for train, held in folds)
    assert not np.array_equal(folds[0][1], folds[5][1])


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
    monkeypatch.setattr(
        picking, "SETS", (PickingData("iris"), PickingData("digits:3-8", noise=0.5), PickingData("mnist"))
    )
    out = str(tmp_path / "picking.json")
    command = ["picking", "--learner", "svc", "--out", out, "--seeds"]
    assert cli.main([*command, "1"]) == 0
    flowers, random = first = json.loads((tmp_path / "picking.json").read_text())["rows"]
    assert (flowers["data"], flowers["learner"], flowers["seed"]) == ("iris", "svc", 0)
    assert (flowers["m"], flowers["classes"], flowers["tested"], flowers["folds"]) == (150, 3, 30, True)
    more, fewer = map(len, flowers["apart"])
    gap = flowers["picked"]["test_error"] - flowers["held_out"]["test_error"]
    assert gap == pytest.approx((more - fewer) / 30)
    assert random["data"] == "digits:3-8 noise 0.5"
    assert min(random["picked"]["bound"], random["held_out"]["bound"]) > 0.5  # chance
    assert capsys.readouterr().out.count("\n") == 2
    assert cli.main([*command, "2"]) == 0
    then = json.loads((tmp_path / "picking.json").read_text())["rows"]
    assert [(row["data"], row["seed"]) for row in then] == [(row["data"], seed) for row in first for seed in (0, 1)]
    assert [then[0], then[2]] == first
    assert then[1]["picked"] != then[0]["picked"]
    assert capsys.readouterr().out.count("\n") == 2


def test_unknown_names_are_refused(tmp_path, capsys):
    out = ["--out", str(tmp_path / "x.json")]
    assert cli.main(["picking", "--learner", "magic", *out]) == 2
    says(capsys.readouterr().err, ["learner", "adanet, cnn, svc", "learner='magic'"])
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
    assert torch.equal(picking.CentredRows()(torch.tensor([0.0, 255.0])), torch.tensor([-1.0, 1.0]))


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
    points, test, known = picking.read(PickingData("mnist:3-8"), str(tmp_path), pixels=True)
    assert known
    assert test is not None
    assert (points.X.shape, points.X.dtype, points.y.tolist()) == ((5, 1, 28, 28), np.uint8, [0, 1, 0, 1, 1])
    assert points.X[1].min() == 255
    flat, _, known = picking.read(PickingData("mnist:3-8"), str(tmp_path), pixels=False)
    assert known
    assert flat.X.max() <= 1
    assert not picking.read(PickingData("iris"), None, pixels=False)[2]
    table, test, known = picking.read(PickingData("table:moons"), None, pixels=False)
    assert (table.X.shape, test, known) == ((1000, 2), None, False)


def test_the_tables_say_when_picking_is_better(tmp_path):
    """The full table, and the README's with the least certificate before; both from files beside one another."""
    way = {"test_error": 0.01, "N": 900, "picks": 3, "left": 2, "start_bound": 0.01411}
    held = {"bound": 0.03, "test_error": 0.008, "N": 180, "errors": 1}
    of = {"m": 1797, "classes": 2, "held_out": held, "folds": False, "tested": 500, "apart": [[1, 2], [3]]}
    se = (3 / 500 - 0.002**2) ** 0.5 / 499**0.5  # the same points with both seeds

    def two(data, learner, bounds=(0.019, 0.02108), **other):
        row = {**of, "data": data, "learner": learner}
        return [{**row, "seed": seed, "picked": {**way, "bound": b, **other}} for seed, b in enumerate(bounds)]

    rows = two("wine", "svc", (0.031, 0.031)) + two("mnist:3-8 hog", "adanet")
    rows += two("digits:3-8", "adanet", test_error=0.008 + 1.01 * se)
    (tmp_path / "picking.json").write_text(json.dumps({"command": "c", "rows": rows}))
    before = [
        {"data": "mnist:3-8 hog", "bound id": name, "bound": bound, "test_error": 0.005}
        for name, bound in (("vote-certificate", 0.05), ("path-certificate", 0.04551), ("held-out", 0.001))
    ]
    (tmp_path / "certificates.json").write_text(json.dumps({"rows": before}))
    _, (every, expected, counted, aims, dry) = tables.read(tmp_path / "picking.json")
    assert [row[0] for row in every.rows] == ["mnist:3-8 hog", "digits:3-8", "wine"]
    assert [row[-1] for row in every.rows] == ["yes", "no", "no"]
    ways = ["0.0300 ± 0.0000 (0.0080)", "0.0201 ± 0.0010 (0.0100)"]
    shown = ["AdaNet", "1,797", "2", *ways, "0.0190", "5 of 900", "0.0142", f"+0.0020 ± {se:.4f}"]
    assert list(every.rows[0][1:-1]) == shown
    assert [row[0] for row in expected.rows] == ["digits:3-8, AdaNet", "mnist:3-8 hog, AdaNet"]
    assert list(expected.rows[1][1:]) == ["1,797", "2", *ways, "0.0456 (0.0050)"]
    assert expected.rows[0][-1] == "-"
    assert [list(row) for row in counted.rows] == [
        ["AdaNet", "2", "1", "mnist:3-8 hog", "-", "digits:3-8"],
        ["SVC", "1", "0", "-", "wine", "-"],
    ]
    assert [list(row) for row in dry.rows] == [
        ["AdaNet", "4", "4", "4"],
        ["SVC", "2", "2", "2"],
        ["all", "6", "6", "6"],
    ]
    means = {row[0]: (row[2], row[-1]) for row in aims.rows}
    assert means == {"mnist:3-8 hog, AdaNet": ("0.006 (0.003)", "no"), "digits:3-8, AdaNet": ("0.06", "yes")}


def test_a_run_picks_where_its_certificate_is_not_that_of_the_start():
    """K = 0 gives the start's bound but for its rounding; rows without "apart" are older than the dry run."""
    runs = [(0, 0.02, 0.02 * (1 + 1e-10)), (0, 0.02, 0.021), (4, 0.03, 0.02), (4, 0.02, 0.03)]
    rows = [
        {"learner": "svc", "apart": [], "picked": {"picks": picks, "start_bound": start, "bound": bound}}
        for picks, start, bound in runs
    ]
    old = {"learner": "svc", "picked": {"picks": 4, "start_bound": 0.1, "bound": 0.2}}
    table = tables._dry([*rows, old])
    assert [list(row) for row in table.rows] == [["SVC", "4", "3", "2"], ["all", "4", "3", "2"]]


def test_the_pages_say_what_the_record_holds():
    """The counts that sentences quote, beside the tables that are made of them."""
    _, (_, _, counted, _, dry) = tables.read(ROOT / "paper_notes/results/picking.json")
    better = {name: (measured, yes) for name, measured, yes, *_ in counted.rows}
    runs, picked, larger = map(int, dry.rows[-1][1:])
    readme, changes, page = (
        " ".join((ROOT / name).read_text().split())
        for name in ("README.md", "CHANGELOG.md", "paper_notes/site/results/certificates.md")
    )
    assert f"in {picked} of {runs} runs; in {larger} of these the start alone had the smaller certificate" in readme
    of = [f"{yes} of {measured}" for measured, yes in (better["AdaNet"], better["SVC"])]
    assert f"on {of[0]} data sets with AdaNet, on {of[1]} with a support vector machine" in readme
    assert f"in {runs - picked} of {runs} runs of the record" in changes
    assert f"It let the learner pick in {picked} of the {runs} runs" in page
    assert f"In {larger} of these {picked} the certificate is larger" in page
    assert f"the aim was 12 of 15; it reached {better['AdaNet'][1]}." in page


def test_the_fifteen_data_sets_are_the_pairs_of_mnist_the_small_ones_and_deer_truck():
    mnist = [label for label in picking.FIFTEEN if label.startswith("mnist:")]
    assert len({*picking.FIFTEEN}) == 15
    assert len(mnist) == 8
    assert {*picking.FIFTEEN} - {*mnist} == {
        *("digits:3-8", "digits:odd-even", "digits", "breast-cancer", "iris", "wine", "cifar10:deer-truck")
    }
