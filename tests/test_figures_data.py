"""What the figures show, against the theory called on its own, and against the runs and records they are drawn from."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.stats import t as student

from adanet_theory import rademacher
from adanet_theory.estimates import hidden_complexity, linear_complexity
from adanet_theory.spec import NetworkSpec
from adanet_train import objective
from adanet_train.network import Network
from figures import (
    architecture,
    bounds_against,
    closed_form_step,
    complexities,
    construction,
    failure_frequency,
    family,
    gallery,
    graph,
    paper_tables,
    results,
    runs,
    sigmoid_counterexample,
    tightness,
    training_rounds,
    training_time,
)
from figures.canvas import NotDrawn
from paper_notes import tables
from tests.figure_data import NAMES, quick, trained
from verify.checks import clopper_pearson_upper
from verify.claim_checks.lemma_1 import one_feature
from verify.claim_checks.theorem_1 import deepboost_restated
from verify.properties import test_theorems as suite
from verify.tightness import Closest, plain

# The theory


def test_the_base_family_has_range_one():
    for depth in range(2, 11):
        setting = family.Setting(depth=depth)
        assert setting.ranges == [1.0] * depth
        assert family.is_in_range(setting)
    assert not family.is_in_range(family.Setting(p=2.1))
    assert not family.is_in_range(family.Setting(width=17))
    assert family.is_possible(family.Setting(width=2))
    assert not family.is_possible(family.Setting(width=1))
    assert not family.is_possible(family.Setting(rho=1.0))  # a margin equal to rho counts as an error
    assert all(family.is_possible(family.Setting(rho=rho)) for rho in family.margins(5))


def by_hand(m, depth, rho):
    """The bounds on the base family, where every product of Λ n^(1/q) is 1, written out."""
    log_n, root = math.log(2 * 144), math.sqrt
    deep, tail = 2 / rho * root(math.log(depth) / m), math.log(2 / 0.05) / (2 * m)
    C = root(math.ceil(4 / rho**2 * math.log(rho**2 * m / math.log(depth))) * math.log(depth) / m + tail)
    peeled = root(2 * (log_n + (depth - 1) * math.log(1.5)) / m)
    j = math.ceil(math.log(1 / rho) / math.log(1.05))
    scale, prior = 1.05**j, math.log((math.pi**2 / 3 - 1) / 0.05) + 2 * math.log(j + 1)
    A = 1 + 1.5 * 2.5 ** (depth - 2)
    return {
        "corollary-1": 2 / rho * 4**depth * root(2 * log_n / m) + deep + C,
        "theorem-1": 4 / rho * 2**depth * root(log_n / (2 * m)) + deep + C,
        "theorem-1-range": 4 / rho * peeled + deep + C,
        "margin-bound": 2 / rho * peeled + 2 / rho * root(2 * math.log(depth) / m) + root(math.log(20) / (2 * m)),
        "margin-bound-uniform": 2 * scale * (peeled + root(2 * math.log(depth) / m)) + root(prior / (2 * m)),
        "a-posteriori-bounded": 2 * scale * root(2 * math.log(2 * 144 * A) / m)
        + root((prior + math.log(depth * (depth + 1))) / (2 * m)),
    }


@pytest.mark.parametrize("variable", ["m", "depth", "rho"])
def test_bounds_against_shows_each_bound_at_each_value(variable):
    data = quick("bounds-against")
    for i, value in enumerate(data[variable]["values"]):
        at = {"m": 100_000, "depth": 3, "rho": 0.1, variable: value}
        if at["m"] * at["rho"] ** 2 <= 4 * math.log(at["depth"]):
            continue
        expected = by_hand(at["m"], at["depth"], at["rho"])
        assert {name: raw[i] for name, raw in data[variable]["raw"].items()} == pytest.approx(expected, rel=1e-12)


def test_bounds_against_p_and_width_scale_the_complexity():
    data = quick("bounds-against")
    for variable in ("p", "width"):
        for i, value in enumerate(data[variable]["values"]):
            p, n = (value, 16) if variable == "p" else (2.0, value)
            M = (144 * n**2) ** (1 - 1 / p) / (12 * 16)
            rest = by_hand(100_000, 3, 0.1)["corollary-1"] - 20 * 64 * math.sqrt(2 * math.log(288) / 100_000)
            complexity = data[variable]["raw"]["corollary-1"][i] - rest
            assert complexity == pytest.approx(20 * 64 * M * math.sqrt(2 * math.log(288) / 100_000), rel=1e-9)
            assert M > 0.1
            assert data[variable]["in_range"][i] == (value <= (2 if variable == "p" else 16))


def test_the_vacuity_map_holds_the_first_m_below_one():
    data = quick("vacuity-map")
    for name, cells in data["m_needed"].items():
        for i, rho in enumerate(data["rho"]):
            for j, depth in enumerate(data["depth"]):
                m = cells[i][j]
                assert by_hand(m, depth, rho)[name] < 1
                assert m * rho**2 < 8 or by_hand(m - 1, depth, rho)[name] >= 1


def test_the_sigmoid_curve_passes_through_the_audits_points():
    data = quick("sigmoid-counterexample")
    at = {round(x, 12): i for i, x in enumerate(data["Lambda"])}
    assert [round(data["exact"][at[x]], 5) for x in (0.0, 0.1)] == [0.13672, 0.14052]
    assert [round(data["lemma-1"][at[x]], 5) for x in (0.0, 0.1)] == [0.0, 0.03046]
    assert [round(data["lemma-1-corrected"][at[x]], 5) for x in (0.0, 0.1)] == [0.13672, 0.14053]
    assert data["lemma-2"][0] == 0
    crossing = sigmoid_counterexample.crossing(data)
    spec = NetworkSpec.layered((1, 1, 1), [crossing, 1.0], 2.0, "sigmoid")
    Psi = one_feature()
    printed = 2 * linear_complexity(Psi, spec).mean
    assert printed == pytest.approx(hidden_complexity(Psi, spec).mean, abs=1e-5)
    assert f"{crossing:.3f}" in sigmoid_counterexample.caption(data)


def test_the_closed_form_step_against_the_audits_decreases():
    two_points = np.array([[3.0, 1.0], [-1.0, 1.0]])
    start = math.log1p(math.e)
    closed, exact = closed_form_step.decreases(two_points, np.ones(2), 0.1, 2.0)
    assert (round(start - closed, 4), round(start - exact, 4)) == (0.8197, 0.412)
    for K, expected in ((10, "0.0132"), (100, "0.00014"), (1000, "1.4e-06")):
        closed, exact = closed_form_step.decreases(*closed_form_step.diverging(K), 1e-3, 1.0)
        assert f"{closed:.{3 if K == 10 else 2}g}" == expected
        assert round(exact, 4) == 1.3035


def test_no_step_gains_more_than_the_exact_one_and_none_beyond_the_threshold():
    data = quick("closed-form-step")
    for shares in (*data["random"].values(), *data["family"].values()):
        assert all(0 < share <= 1 + 1e-9 for share in shares)
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(9, 3)), rng.choice([-1.0, 1.0], size=9)
    for p in closed_form_step.P.values():
        g = closed_form_step.threshold(Z, y, p)
        assert closed_form_step.decreases(Z, y, 1.001 * g, p) == pytest.approx((0, 0), abs=1e-12)
        assert min(closed_form_step.decreases(Z, y, 0.99 * g, p)) > 0


def test_complexities_are_those_of_the_sample():
    data = quick("complexities")
    Psi = complexities.sample(data["m"])
    for name, p in complexities.P.items():
        spec, rows = complexities.family(p), data["rows"][name]
        R = [linear_complexity(Psi, spec).mean, hidden_complexity(Psi, spec).mean]
        assert [row["exact"] for row in rows] == [True, True, False, False]
        assert [row["upper"] for row in rows[:2]] == pytest.approx(R, rel=1e-9)
        assert rows[1]["lemma-1"] == pytest.approx(2 * R[0], rel=1e-9)
        assert rows[1]["lemma-1-corrected"] == pytest.approx(1.5 * R[0], rel=1e-9)
        for row in rows:
            assert row["lower"] <= row["upper"]
            r_inf = float(np.abs(Psi).max())
            printed = rademacher.layered_complexity(spec, row["k"], m=data["m"], r_inf=r_inf)
            assert row["lemma-2"] == pytest.approx(printed, rel=1e-9)


def test_the_family_of_the_complexities_has_unit_steps():
    for p in (1.0, 2.0, math.inf):
        spec = complexities.family(p)
        assert isinstance(spec, NetworkSpec)
        assert [spec.bound(k, k - 1) * spec.root(k - 1) for k in range(1, 5)] == pytest.approx([1] * 4, rel=1e-12)


def test_captions_state_the_numbers():
    caption = bounds_against.caption(quick("bounds-against"))
    for name, value in by_hand(100_000, 3, 0.1).items():
        assert f"{name} {value:.3g}" in caption
    for name in NAMES:
        assert gallery.module(name).caption(quick(name)).endswith(".")


# Networks and their training


def test_a_graph_holds_the_weights_of_its_network():
    network = trained().network
    found = graph.of(network)
    assert found["n"] == list(network.n)
    weights = {(k, s): U.numpy() for (k, s), U in network.hidden.items()}
    weights |= {(network.depth + 1, k): w.numpy()[None] for k, w in network.output.items()}
    assert found["connections"] == sum(np.count_nonzero(U) for U in weights.values())
    drawn = {(k, i, s, j): u for k, i, s, j, u in found["edges"]}
    assert len(drawn) == len(found["edges"])
    for (k, s), U in weights.items():
        for i in found["shown"][k]:
            largest = max(np.abs(V[i]).max(initial=0) for (above, _), V in weights.items() if above == k)
            for j in found["shown"][s]:
                worth_it = U[i, j] != 0 and (k > network.depth or abs(U[i, j]) >= 0.3 * largest)
                assert drawn.get((k, i, s, j)) == (U[i, j] if worth_it else None)


def test_of_a_wide_layer_the_units_with_the_largest_weights_upward_are_shown():
    hidden = {(1, 0): torch.ones(12, 2, dtype=torch.float64)}
    w = torch.tensor([0.1, 3, 1, 1, 1, 0.2, 1, 1, 1, 1, -2, 0.3], dtype=torch.float64)
    found = graph.of(Network((2, 12), hidden, {1: w}, ()))
    assert found["shown"][1] == [1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert "(+3)" in [text.get_text() for text in architecture.draw(found).axes[0].texts][1]


def test_every_connection_and_unit_is_drawn():
    found = quick("architecture")
    patches = architecture.draw(found).axes[0].patches
    assert len(patches) == len(found["edges"]) + sum(found["n"]) + 1
    assert all(0 <= s < k <= 4 for k, _, s, _, _ in found["edges"])
    assert any(s < k - 1 <= 2 for k, _, s, _, _ in found["edges"])  # the point of the figure


def test_the_cvx_network_reads_only_the_layer_below_and_what_was_there():
    found = quick("cvx-network")
    assert sum(found["n"][1:]) == found["rounds"]
    assert all(s == k - 1 for k, _, s, _, _ in found["edges"] if k < len(found["n"]))
    assert {j for k, _, s, j, _ in found["edges"] if (k, s) == (len(found["n"]), 1)} == set(found["shown"][1])


def test_the_rounds_are_those_of_the_run():
    run, found = trained(), quick("model-rounds")["rounds"]
    assert [entry["objective"] for entry in found] == [entry["objective"] for entry in run.history]
    assert found[-1]["objective"] == pytest.approx(objective.recomputed(run, *runs.board()), rel=1e-12)
    assert found[-1]["depth"] == run.network.depth
    for before, entry in zip([{"depth": 1}, *found], found, strict=False):
        values = [candidate["objective"] for candidate in entry["candidates"]]
        assert [candidate["deeper"] for candidate in entry["candidates"]] == [False, True][: len(values)]
        assert [candidate["depth"] - before["depth"] for candidate in entry["candidates"]] == [0, 1][: len(values)]
        if entry["chosen"] >= 0:
            assert values[entry["chosen"]] == min(values) == pytest.approx(entry["objective"], rel=1e-9)
    axes = training_rounds.draw(quick("model-rounds")).axes
    assert list(axes[0].lines[0].get_ydata()) == [entry["objective"] for entry in found]
    assert list(axes[1].lines[0].get_ydata()) == [entry["depth"] for entry in found]


def test_the_construction_shows_the_blocks_of_the_network():
    run, found = trained(), quick("model-construction")
    t = found["round"]
    parts = [entry["candidates"][entry["chosen"]]["units"] for entry in run.history[: t - 1]]
    assert found["before"] == parts
    assert [candidate["objective"] for candidate in found["candidates"]] == [
        candidate["objective"] for candidate in run.history[t - 1]["candidates"]
    ]
    same, deeper = (len(candidate["units"]) for candidate in found["candidates"])
    assert (same, deeper) == (max(map(len, parts), default=1), same + 1)
    for panel, candidate in zip(construction.draw(found).axes, found["candidates"], strict=True):
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
    from adanet_train import model_file, run

    path = tmp_path / "cvx.pt"
    sample = model_file.Sample.of(*runs.rings())
    model_file.write(path, run.model_of(runs.cvx(), "cvx-exact", features=None, sample=sample))
    with pytest.raises(NotDrawn, match="must be AdaNet's, got method cvx-exact"):
        construction.compute(quick=True, model=path)


# How often bounds fail


@pytest.mark.parametrize("distribution", ["noise", "atoms"])
def test_the_statements_with_delta_free_are_the_suites(distribution):
    for name, bound in failure_frequency.BOUNDS.items():
        ours = [bound(case, suite.DELTA) for case in suite.DISTRIBUTIONS[distribution](3)]
        theirs = [suite.STATEMENTS[name](case).total for case in suite.DISTRIBUTIONS[distribution](3)]
        assert ours == pytest.approx(theirs, rel=1e-12), name


def test_failures_are_counted_at_each_delta():
    found = quick("failure-frequency")
    cases = list(suite.DISTRIBUTIONS["noise"](found["trials"]))
    for place, delta in enumerate(found["delta"]):
        confidence = math.sqrt(math.log(1 / delta) / (2 * 400))
        unpaid = sum(np.mean(np.clip(1 - case.margins / 0.99, 0, 1)) + confidence < 0.5 for case in cases)
        assert found["failed"]["noise"]["without complexity"][place] == unpaid
        assert found["failed"]["noise"]["training error alone"][place] == sum(
            np.mean(c.margins <= 0) < 0.5 for c in cases
        )
    for distribution in ("noise", "atoms"):
        assert not any(any(found["failed"][distribution][name]) for name in failure_frequency.BOUNDS)


def test_the_restated_theorem_fails_on_every_sample_at_every_delta():
    found = quick("failure-frequency")
    at = found["delta"].index(0.05)
    facts = list(deepboost_restated(trials=found["trials"]))
    assert found["failed"]["blocks"]["Theorem 1, printed"][at] == facts[1].left == found["trials"]
    assert not any(found["failed"]["blocks"]["margin-bound"] + found["failed"]["blocks"]["theorem-1-range"])


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
    monkeypatch.setattr(results, "read", lambda name: {"statements": plain(kept)} if name == "tightness" else None)
    found = tightness.compute(quick=True)
    assert list(found["claims"]) == ["h1-closed", "lemma-1", "lemma-2"]
    assert [part["ratio"] for part in found["claims"]["lemma-1"]] == [0.5, 0.4]
    assert (found["others"], found["source"]) == (1, "a thorough run")
    axes = tightness.draw(found).axes[0]
    assert {0.9, 0.5, 0.4, 0.25} <= {float(x) for line in axes.lines for x in line.get_xdata()}
    assert "13 examples of 4 statements of 3 claims" in tightness.caption(found)


def test_a_quick_run_of_the_suite_finds_no_claim_refuted():
    found = quick("tightness")
    assert {"lemma-1", "lemma-2-peeled", "margin-bound", "a-posteriori"} <= set(found["claims"])
    assert all(0 < part["ratio"] <= 1 + 1e-9 for parts in found["claims"].values() for part in parts)


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
    monkeypatch.setattr(results, "read", lambda name: {"rows": rows})
    found = training_time.compute(quick=True)
    assert [work["ratios"] for work in found["works"]] == [[0.2, 0.3], [0.1], [0.01]]
    assert {work["target"] for work in found["works"]} == {0.5}
    assert [text for text, _ in training_time.lines(found["works"])] == [
        "against glum: convex step, m=9",
        "B=150",
        "B=500",
        "against another package",
        "AdaNet",
    ]
    drawn = {float(x) for line in training_time.draw(found).axes[0].lines for x in line.get_xdata()}
    assert {0.2, 0.3, 0.1, 0.01} <= drawn
    assert "0.2 to 0.3" in training_time.caption(found)


def test_the_interval_is_nadeau_and_bengios():
    tests = [0.91, 0.94, 0.92, 0.93]
    found = paper_tables.interval(np.mean(tests), np.std(tests, ddof=1), 4, share=1 / 3)
    scale = np.std(tests, ddof=1) * math.sqrt(1 / 4 + 1 / 3)
    assert (found["low"], found["high"]) == pytest.approx(student.interval(0.95, 3, np.mean(tests), scale), rel=1e-9)


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
    found = paper_tables.compute(quick=True)
    assert found["stand-in"] is None
    cell = found["pairs"]["cat-dog"]["AdaNet"]
    assert (cell["paper"]["mean"], cell["ours"]["mean"]) == (tables.ACCURACY["cat-dog"]["AdaNet"][0], 0.7)
    assert found["pairs"]["cat-dog"]["LR"]["ours"] is None
    assert found["units"]["cat-dog"] == {"paper": 1825, "ours": 90.0}
    assert found["variants"]["AdaNet.R"]["ours"]["mean"] == 0.93
    shown = {float(x) for axes in paper_tables.draw(found).axes for line in axes.lines for x in line.get_xdata()}
    assert {0.7, 0.6924, 0.93, 0.9336, 1825.0, 90.0} <= shown
    caption = paper_tables.caption(found)
    assert "cat-dog 0.7000" in caption
    assert "Not measured by us: deer-truck," in caption


def test_without_results_a_quick_run_stands_in_and_the_caption_says_so(monkeypatch):
    monkeypatch.setattr(results, "read", lambda name: None)
    found = paper_tables.compute(quick=True)
    assert set(found["stand-in"]) == {"AdaNet", "NN", "LR"}
    assert all(0.9 < cell["ours"]["mean"] <= 1 for cell in found["stand-in"].values())
    assert "a quick run on digits:3-8, which is not in the paper" in paper_tables.caption(found)
    found = training_time.compute(quick=True)
    assert "one quick timing made for this figure" in training_time.caption(found)
