"""What the figures show of networks, samples and measurements, against the runs and records they are drawn from."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.stats import t as student
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from adanet_theory.twins.counted import clopper_pearson_upper
from adanet_train.core.network import Network
from adanet_train.model.trained import model_of
from adanet_train.search import objective
from figures import (
    answer,
    architecture,
    bound_and_test_error,
    construction,
    failure_frequency,
    frontier,
    graph,
    paper_tables,
    results,
    runs,
    structure,
    tightness,
    training_rounds,
    training_time,
)
from figures.canvas import NotDrawn
from paper_notes import tables
from tests.figure_data import quick, trained
from tests.refusals import says
from verify.claims.checks.theorem_1 import deepboost_restated
from verify.suite import distributions as suite
from verify.suite.tightness import Closest, plain

# Networks and their training


def test_a_graph_holds_the_weights_of_its_network():
    network = trained().network
    data = graph.outline(network)
    assert data["n"] == list(network.n)
    weights = {(k, s): U.numpy() for (k, s), U in network.hidden.items()}
    weights |= {(network.depth + 1, k): w.numpy()[None] for k, w in network.output.items()}
    assert data["connections"] == sum(np.count_nonzero(U) for U in weights.values())
    drawn = {(k, i, s, j): u for k, i, s, j, u in data["edges"]}
    assert len(drawn) == len(data["edges"])
    for (k, s), U in weights.items():
        for i in data["shown"][k]:
            largest = max(np.abs(V[i]).max(initial=0) for (above, _), V in weights.items() if above == k)
            for j in data["shown"][s]:
                worth_it = U[i, j] != 0 and (k > network.depth or abs(U[i, j]) >= 0.3 * largest)
                assert drawn.get((k, i, s, j)) == (U[i, j] if worth_it else None)


def test_of_a_wide_layer_the_units_with_the_largest_weights_upward_are_shown():
    hidden = {(1, 0): torch.ones(12, 2, dtype=torch.float64)}
    w = torch.tensor([0.1, 3, 1, 1, 1, 0.2, 1, 1, 1, 1, -2, 0.3], dtype=torch.float64)
    data = graph.outline(Network((2, 12), hidden, {1: w}, ()))
    assert data["shown"][1] == [1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert "(+3)" in [text.get_text() for text in architecture.draw(data).axes[0].texts][1]


@pytest.mark.parametrize("network", [Network.empty(3), Network((2, 3), {(1, 0): torch.ones(3, 2)}, {}, ())])
def test_a_network_of_nothing_can_be_drawn(network):
    data = graph.outline(network)
    assert len(architecture.draw(data).axes[0].patches) == len(data["edges"]) + sum(network.n) + 1
    assert len(data["edges"]) == 2 * network.n[1]


def test_every_connection_and_unit_is_drawn():
    data = quick("architecture")
    patches = architecture.draw(data).axes[0].patches
    assert len(patches) == len(data["edges"]) + sum(data["n"]) + 1
    assert all(0 <= s < k <= 4 for k, _, s, _, _ in data["edges"])
    assert any(s < k - 1 <= 2 for k, _, s, _, _ in data["edges"])  # the point of the figure


def test_the_cvx_network_reads_only_the_layer_below_and_what_was_there():
    data = quick("cvx-network")
    assert sum(data["n"][1:]) == data["rounds"]
    assert all(s == k - 1 for k, _, s, _, _ in data["edges"] if k < len(data["n"]))
    assert {j for k, _, s, j, _ in data["edges"] if (k, s) == (len(data["n"]), 1)} == set(data["shown"][1])


def test_the_rounds_are_those_of_the_run():
    run, data = trained(), quick("model-rounds")["rounds"]
    assert [entry["objective"] for entry in data] == [entry["objective"] for entry in run.history]
    assert data[-1]["objective"] == pytest.approx(objective.recomputed(run, *runs.board()), rel=1e-12)
    assert data[-1]["depth"] == run.network.depth
    for before, entry in zip([{"depth": 1}, *data], data, strict=False):
        values = [candidate["objective"] for candidate in entry["candidates"]]
        assert [candidate["deeper"] for candidate in entry["candidates"]] == [False, True][: len(values)]
        assert [candidate["depth"] - before["depth"] for candidate in entry["candidates"]] == [0, 1][: len(values)]
        if entry["chosen"] >= 0:
            assert values[entry["chosen"]] == min(values) == pytest.approx(entry["objective"], rel=1e-9)
    axes = training_rounds.draw(quick("model-rounds")).axes
    assert list(axes[0].lines[0].get_ydata()) == [entry["objective"] for entry in data]
    assert list(axes[1].lines[0].get_ydata()) == [entry["depth"] for entry in data]


def test_the_construction_shows_the_blocks_of_the_network():
    run, data = trained(), quick("model-construction")
    t = data["round"]
    parts = [entry["candidates"][entry["chosen"]]["units"] for entry in run.history[: t - 1]]
    assert data["before"] == parts
    assert [candidate["objective"] for candidate in data["candidates"]] == [
        candidate["objective"] for candidate in run.history[t - 1]["candidates"]
    ]
    same, deeper = (len(candidate["units"]) for candidate in data["candidates"])
    assert (same, deeper) == (max(map(len, parts), default=1), same + 1)
    for panel, candidate in zip(construction.draw(data).axes, data["candidates"], strict=True):
        blocks = [text.get_text() for text in panel.texts]
        assert blocks.count("3") == sum(map(len, [*parts, candidate["units"]]))
        # Ψ to each first block; each block of layer k >= 2 to all of layer k-1 up to its round; each top block to f
        sizes = [*map(len, parts), len(candidate["units"])]
        above = sum(
            sum(k - 1 <= below for below in sizes[: row + 1])
            for row, top in enumerate(sizes)
            for k in range(2, top + 1)
        )
        assert len(panel.lines) == len(sizes) + above + len(sizes)


def test_a_construction_of_another_method_is_refused(tmp_path):
    from adanet_train.model import model_file

    path = tmp_path / "cvx.pt"
    sample = model_file.Sample.of(*runs.rings())
    model_file.write(path, model_of(runs.cvx(), "cvx-exact", features=None, sample=sample))
    with pytest.raises(NotDrawn, match="must be AdaNet's, got method cvx-exact"):
        construction.compute(quick=True, model=path)


def test_a_run_of_one_round_is_refused(tmp_path):
    from adanet_train.model import model_file

    path = tmp_path / "short.pt"
    short = replace(trained(), history=trained().history[:1])
    model_file.write(path, model_of(short, "adanet", features=None, sample=model_file.Sample.of(*runs.board())))
    with pytest.raises(NotDrawn, match="one round does not show the course of training"):
        training_rounds.compute(quick=True, model=path)


# How often bounds fail


@pytest.mark.parametrize("distribution", ["noise", "atoms"])
@pytest.mark.parametrize("statement", suite.STATEMENTS)
def test_the_statements_of_the_suite_fall_as_delta_grows(statement, distribution):
    case = next(suite.DISTRIBUTIONS[distribution](1))
    totals = [suite.STATEMENTS[statement](case, delta).total for delta in (0.01, suite.DELTA, 0.5)]
    assert totals[0] > totals[1] > totals[2]


def test_failures_are_counted_at_each_delta():
    data = quick("failure-frequency")
    cases = list(suite.DISTRIBUTIONS["noise"](data["trials"]))
    for place, delta in enumerate(data["delta"]):
        confidence = math.sqrt(math.log(1 / delta) / (2 * 400))
        unpaid = sum(np.mean(np.clip(1 - case.margins / 0.99, 0, 1)) + confidence < 0.5 for case in cases)
        assert data["failed"]["noise"]["without complexity"][place] == unpaid
        assert data["failed"]["noise"]["training error alone"][place] == sum(
            np.mean(c.margins <= 0) < 0.5 for c in cases
        )
    for distribution in ("noise", "atoms"):
        assert not any(any(data["failed"][distribution][name]) for name in suite.STATEMENTS)


def test_the_restated_theorem_fails_on_every_sample_at_every_delta():
    data = quick("failure-frequency")
    at = data["delta"].index(0.05)
    facts = list(deepboost_restated(trials=data["trials"]))
    assert data["failed"]["blocks"]["Theorem 1, printed"][at] == facts[1].left == data["trials"]
    assert not any(data["failed"]["blocks"]["margin-bound"] + data["failed"]["blocks"]["theorem-1-range"])


@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_the_held_out_bound_fails_with_this_probability(delta):
    """By going through every count of errors."""
    m, risk = 12, 0.3
    fails = [clopper_pearson_upper(k, m, Fraction(str(delta))) < risk for k in range(m + 1)]
    weights = [math.comb(m, k) * risk**k * (1 - risk) ** (m - k) for k in range(m + 1)]
    expected = sum(weight for weight, failed in zip(weights, fails, strict=True) if failed)
    assert failure_frequency._held_out(m, risk, delta) == pytest.approx(expected, rel=1e-12)


# Records


def test_tightness_is_shown_by_claim_the_closest_first(monkeypatch):
    kept = [Closest("lemma-1, k = 2", 0.5, "", 7), Closest("lemma-2", 0.25, "", 1), Closest("F convex", 1.0, "", 1)]
    kept += [Closest("lemma-1, k = 3", 0.4, "", 2), Closest("h1-closed", 0.9, "", 3)]
    monkeypatch.setattr(
        results, "read", lambda name, folder=None: {"statements": plain(kept)} if name == "tightness" else None
    )
    data = tightness.compute(quick=True)
    assert list(data["claims"]) == ["h1-closed", "lemma-1", "lemma-2"]
    assert [part["ratio"] for part in data["claims"]["lemma-1"]] == [0.5, 0.4]
    assert (data["others"], data["source"]) == (1, "a thorough run")
    axes = tightness.draw(data).axes[0]
    assert {0.9, 0.5, 0.4, 0.25} <= {float(x) for line in axes.lines for x in line.get_xdata()}
    says(tightness.caption(data), ["13 examples", "4 statements", "3 claims"])


def test_a_quick_run_of_the_suite_finds_no_claim_refuted():
    data = quick("tightness")
    assert {"lemma-1", "lemma-2-peeled", "margin-bound", "a-posteriori"} <= set(data["claims"])
    assert all(0 < part["ratio"] <= 1 + 1e-9 for parts in data["claims"].values() for part in parts)


ROWS = [
    {
        "benchmark": "mixture",
        "work": "convex step, m=9, B=150, Gamma=0.1, gap 1e-08",
        "against": "glum (tol=1)",
        "ratio": 0.2,
    },
    {
        "benchmark": "mixture",
        "work": "convex step, m=9, B=150, Gamma=1, gap 1e-08",
        "against": "glum (tol=2)",
        "ratio": 0.3,
    },
    {
        "benchmark": "mixture",
        "work": "convex step, m=9, B=500, Gamma=1, gap 1e-08",
        "against": "glum (tol=2)",
        "ratio": 0.1,
    },
    {"benchmark": "verify", "work": "verify-bounds", "against": "importing torch", "ratio": 3.0},
    {"benchmark": "training", "work": "AdaNet", "against": "another package", "ratio": 0.01},
]


def test_training_times_are_grouped_by_work_and_peer(monkeypatch):
    rows = [{**row, "machine": "one", "target": "<= 0.5"} for row in ROWS]
    monkeypatch.setattr(results, "read", lambda name, folder=None: {"rows": rows})
    data = training_time.compute(quick=True)
    assert [work["ratios"] for work in data["works"]] == [[0.2, 0.3], [0.1], [0.01]]
    assert {work["target"] for work in data["works"]} == {0.5}
    assert [text for text, _ in training_time.lines(data["works"])] == [
        "against glum: convex step, m=9",
        "B=150",
        "B=500",
        "against another package",
        "AdaNet",
    ]
    drawn = {float(x) for line in training_time.draw(data).axes[0].lines for x in line.get_xdata()}
    assert {0.2, 0.3, 0.1, 0.01} <= drawn
    assert "0.2 to 0.3" in training_time.caption(data)


def test_bounds_above_one_are_drawn_in_the_strip(monkeypatch):
    row = {"data": "a", "test_error": 0.01, "train_error": 0.005}
    rows = [
        {**row, "bound id": "vote-certificate", "bound": 0.04},
        {**row, "bound id": "vote-certificate", "bound": 0.04321},
        {**row, "bound id": "corollary-1", "bound": 50.0},
        {**row, "test_error": 0.02, "bound id": "a-posteriori", "bound": 1.1},
        {**row, "data": "b", "test_error": None, "bound id": "held-out", "bound": 0.03},
        {**row, "bound id": "theorem-1", "bound": 9.0},
    ]
    monkeypatch.setattr(results, "read", lambda name, folder=None: {"rows": rows})
    data = bound_and_test_error.compute(quick=True)
    lines = bound_and_test_error.draw(data).axes[0].lines
    drawn = {(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert {(0.01, 0.04), (0.01, bound_and_test_error.STRIP), (0.005, 0.03)} <= drawn
    assert (0.02, bound_and_test_error.STRIP) in drawn
    assert (0.01, 9.0) not in drawn
    assert "2 data sets" in bound_and_test_error.caption(data)
    assert "Corollary 1 as printed 50 to 50" in bound_and_test_error.caption(data)
    assert "vote-certificate, linear 0.0401 to 0.0433" in bound_and_test_error.caption(data)


def test_no_share_of_the_frontier_covers_another_or_a_point():
    """Where points of both ways stand close together, as on breast-cancer."""
    held = [(0.05, 0.0194, 0.136), (0.1, 0.0229, 0.0915), (0.25, 0.0246, 0.0634), (0.5, 0.0352, 0.0547)]
    starts = [(0.25, 0.0264, 0.0644), (0.5, 0.0282, 0.0661), (0.75, 0.0229, 0.0802)]
    rows = [
        {"way": way, "share": share, "error": error, "bound": bound}
        for way, points in (("held out", held), ("start", starts))
        for share, error, bound in points
    ]
    figure = frontier.draw({"rows": rows})
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == ["5%", "10%", "25%", "50%", "25%", "50%", "75%"]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    places = axes.transData.transform([(row["error"], row["bound"]) for row in rows])
    assert not any(box.contains(*place) for box, place in itertools.product(boxes, places))


def test_the_frontier_is_measured_on_the_points_that_are_given(tmp_path):
    """A split by hand: fold, permutation, support vector machine, and the errors on the half that is held out."""
    draw = np.random.default_rng(5)
    X = draw.normal(size=(100, 2))
    y = (X[:, 0] + 0.5 * draw.normal(size=100) > 0).astype(int)
    np.savez(tmp_path / "points.npz", X=X, y=y)
    data = frontier.compute(quick=True, data=tmp_path / "points.npz")
    bounds, errors = [], []
    for seed, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
        order = np.random.default_rng(seed).permutation(80)
        kept, held = train[np.sort(order[:40])], train[np.sort(order[40:])]
        fitted = make_pipeline(MinMaxScaler(), SVC()).fit(X[kept], y[kept])
        k = int((fitted.predict(X[held]) != y[held]).sum())
        bounds.append(clopper_pearson_upper(k, 40, 0.05))
        errors.append((fitted.predict(X[test]) != y[test]).mean())
    (half,) = (row for row in data["rows"] if (row["way"], row["share"]) == ("held out", 0.5))
    assert (half["bound"], half["error"]) == pytest.approx((np.mean(bounds), np.mean(errors)), rel=1e-6)
    assert (data["m"], data["tested"]) == (100, None)
    assert {row["way"] for row in data["rows"]} == {"held out", "start"}
    drawn = {tuple(xy) for line in frontier.draw(data).axes[0].lines for xy in line.get_xydata().tolist()}
    assert {(row["error"], row["bound"]) for row in data["rows"]} <= drawn
    np.savez(tmp_path / "few.npz", X=X[:40], y=y[:40])
    with pytest.raises(ValueError, match="at least 50 points, got m=40"):
        frontier.compute(quick=True, data=tmp_path / "few.npz")


def test_the_interval_is_nadeau_and_bengios():
    tests = [0.91, 0.94, 0.92, 0.93]
    interval = paper_tables.interval(np.mean(tests), np.std(tests, ddof=1), 4, share=1 / 3)
    scale = np.std(tests, ddof=1) * math.sqrt(1 / 4 + 1 / 3)
    assert (interval["low"], interval["high"]) == pytest.approx(
        student.interval(0.95, 3, np.mean(tests), scale), rel=1e-9
    )


def test_measured_pairs_stand_beside_the_papers(monkeypatch):
    row = {
        "pair": "cat-dog",
        "method": "adanet",
        "accuracy": 0.7,
        "sd": 0.01,
        "tests": [0.7] * 10,
        "units": [90.0],
        "top": 9.0,
    }
    pairs = {"rows": [row], "command": "the command"}
    variants = {"rows": [{"method": "R", "accuracy": 0.93, "sd": None, "tests": [0.93]}]}
    monkeypatch.setattr(results, "read", {"cifar-pairs": pairs, "variants": variants, "criteo": None}.get)
    data = paper_tables.compute(quick=True)
    assert data["stand-in"] is None
    cell = data["pairs"]["cat-dog"]["AdaNet"]
    assert (cell["paper"]["mean"], cell["ours"]["mean"]) == (tables.ACCURACY["cat-dog"]["AdaNet"][0], 0.7)
    assert data["pairs"]["cat-dog"]["LR"]["ours"] is None
    assert data["units"]["cat-dog"] == {"paper": 1825, "ours": 90.0}
    assert data["variants"]["AdaNet.R"]["ours"]["mean"] == 0.93
    shown = {float(x) for axes in paper_tables.draw(data).axes for line in axes.lines for x in line.get_xdata()}
    assert {0.7, 0.6924, 0.93, 0.9336, 1825.0, 90.0} <= shown
    caption = paper_tables.caption(data)
    assert "cat-dog 0.7000" in caption
    assert "Not measured by us: deer-truck," in caption
    assert " for Criteo, NN-GP, NN, LR." in caption


def test_without_results_a_quick_run_stands_in_and_the_caption_says_so(monkeypatch):
    monkeypatch.setattr(results, "read", lambda name, folder=None: None)
    data = paper_tables.compute(quick=True)
    assert set(data["stand-in"]) == {"AdaNet", "NN", "LR"}
    assert all(0.9 < cell["ours"]["mean"] <= 1 for cell in data["stand-in"].values())
    assert "a quick run on digits:3-8" in paper_tables.caption(data)
    data = training_time.compute(quick=True)
    assert "one quick timing made for this figure" in training_time.caption(data)


def test_the_answer_shows_what_is_proved_today_and_what_does_not_apply_hollow(monkeypatch):
    row = {"data": "mnist:3-8", "method": "linear", "m": 9, "delta": 0.05, "test_error": 0.0412, "train_error": 0.03}
    rows = [
        {**row, "bound id": "vote-certificate", "bound": 0.10301},
        {**row, "bound id": "theorem-1", "bound": 1.7, "applies": False},
        {**row, "data": "other", "bound id": "corollary-1", "bound": 3.0},
    ]
    way = {"N": 9, "cpu_seconds": 1.0, "start_bound": 0.02}
    ways = {
        "picked": {**way, "bound": 0.0101, "test_error": 0.005},
        "held_out": {**way, "bound": 0.02, "test_error": 0.0},
    }
    picked = {"data": "mnist:3-8", "learner": "cnn", "seed": 0, **ways}
    again = {**picked, "seed": 1, "picked": {**ways["picked"], "bound": 0.5}}  # a mean would be no certificate
    measured = {"certificates": rows, "picking": [picked, again, {**picked, "data": "other"}]}
    monkeypatch.setattr(results, "read", lambda name, folder=None: {"rows": measured[name]})
    data = answer.compute(quick=True)
    assert [row["bound"] for row in data["rows"]] == [0.0101, 0.02, 0.10301, 1.7]
    lines = answer.draw(data).axes[0].lines
    drawn = [line for line in lines if line.get_marker() == "D" and len(line.get_xdata())]
    assert [float(line.get_xdata()[0]) for line in drawn] == [0.0101, 0.02, 0.10301, 1.7]
    assert [line.get_fillstyle() for line in drawn] == ["full", "full", "full", "none"]
    errors = [float(line.get_xdata()[0]) for line in lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert errors == [0.005, answer.LEAST, 0.0412, 0.0412]
    caption = answer.caption(data)
    says(caption, ["0.0101", "picking", "test error", "0.0050"])
    assert "seed 0" in caption
    assert "assumptions of Theorem 1 as printed fail" in caption


def test_structure_draws_every_run_and_tells_where_the_widest_ends(monkeypatch):
    row = {"task": "linear", "seed": 0, "method": "AdaNet, B = 2"}
    rows = [
        {**row, "round": 1, "depth": 1, "units": 8, "multiply_adds": 100, "accuracy": 0.7},
        {**row, "round": 2, "depth": 2, "units": 30, "multiply_adds": 400, "accuracy": 0.9},
        {**row, "seed": 1, "round": 1, "depth": 1, "units": 10, "multiply_adds": 120, "accuracy": 0.8},
        {**row, "method": "NN, 8", "depth": 2, "units": 9, "multiply_adds": 50, "accuracy": 0.6},
        {**row, "method": "NN, 8", "seed": 1, "depth": 2, "units": 9, "multiply_adds": 50, "accuracy": 0.8},
    ]
    monkeypatch.setattr(results, "read", lambda name, folder=None: {"rows": rows})
    data = structure.compute(quick=True)
    lines = structure.draw(data).axes[0].lines
    drawn = {(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert drawn == {(50, 0.7), (100, 0.7), (400, 0.9), (120, 0.8)}
    assert "linear: depth 1.5, 20 units, accuracy 0.850" in structure.caption(data)
