"""adanet-experiment from its options to its tables, on small data."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from adanet_theory.spec import NetworkSpec
from adanet_train.core.network import Network
from adanet_train.data.pictures import cifar10
from adanet_train.model import model_file
from paper_notes import tables as paper
from verify import cli as network_cli
from verify.experiments import cli, tables
from verify.experiments.protocols import bounds, cifar_pairs, criteo_ads
from verify.experiments.running import gp, grids
from verify.experiments.running.selection import PairRow, Scores
from verify.experiments.running.store import Store
from verify.experiments.running.trials import DataSource

SMALL = ["--pairs", "digits:3-8", "--grid", "tiny", "--folds", "2", "--quiet"]


@pytest.fixture
def places(tmp_path):
    return ["--store", str(tmp_path / "store"), "--out", str(tmp_path / "out" / "result.json")]


def result_of(tmp_path):
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    assert list(document)[:6] == ["protocol", "command", "versions", "seed", "machine", "seconds"]
    return document


# Options


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: NAME"),
        (["cifar"], "invalid choice"),
        (["cifar-pairs", "--folds", "11"], "folds must be 1 to 10 of the folds 0 to 9, got '11'"),
        (["cifar-pairs", "--folds", "1,1"], "folds must be"),
        (["cifar-pairs", "--jobs", "0"], "must be an integer >= 1"),
        (["cifar-pairs", "--methods", "svm"], "methods must be one of adanet, lr, nn, nn-gp, got methods='svm'."),
        (["cifar-pairs", "--pairs", "deer-lorry", "--grid", "tiny"], "class must be one of"),
        (["cifar-pairs", "--pairs", "deer", "--grid", "tiny"], "a pair must be A-B, got 'deer'."),
        (["variants", "--pairs", "a-b,c-d"], "variants takes one pair, got 2."),
        (["criteo"], "criteo needs --criteo FILE"),
        (["bounds", "--winners", "absent.json"], "absent.json"),
    ],
)
def test_refusals_are_one_line(words, message, places, capsys):
    known = words[:1] in (["cifar-pairs"], ["variants"], ["criteo"], ["bounds"])
    assert cli.main([*words, *(places if known else [])]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("adanet-experiment")
    assert message in captured.err


def test_data_calls_the_fetcher(monkeypatch, tmp_path, capsys):
    seen = []
    monkeypatch.setattr(cifar10, "fetch", lambda folder, progress: seen.append(folder) or tmp_path)
    assert cli.main(["data", "cifar10", "--data-dir", str(tmp_path)]) == 0
    assert seen == [tmp_path]
    assert str(tmp_path) in capsys.readouterr().out


# Protocols


def test_pairs_from_options_to_tables(places, tmp_path, capsys):
    assert cli.main(["cifar-pairs", *SMALL, *places, "--methods", "adanet,lr,nn"]) == 0
    document = result_of(tmp_path)
    assert document["command"] == (
        "adanet-experiment cifar-pairs --grid tiny --pairs digits:3-8 --methods adanet,lr,nn --folds 0,1 --seed 0"
    )
    assert [row["method"] for row in document["rows"]] == ["adanet", "lr", "nn"]
    assert all(0.8 < row["accuracy"] <= 1 and len(row["tests"]) == 2 for row in document["rows"])
    assert [entry["against"] for entry in document["comparisons"]] == ["lr", "nn"]
    assert document["grid"]["adanet"]["lam"] == [1e-5, 1e-4]
    assert "digits:3-8" in capsys.readouterr().out
    assert "| digits:3-8 | ours |" in (tmp_path / "out" / "result.md").read_text()
    # what was not run before is added, what was is kept
    files = len(list((tmp_path / "store").rglob("*.json")))
    assert cli.main(["cifar-pairs", *SMALL, *places, "--methods", "adanet,lr"]) == 0
    assert len(list((tmp_path / "store").rglob("*.json"))) == files
    assert [{**row} for row in result_of(tmp_path)["rows"]] == document["rows"][:2]


def test_variants_and_bounds(places, tmp_path, capsys):
    assert cli.main(["variants", *SMALL, *places]) == 0
    document = result_of(tmp_path)
    assert [row["method"] for row in document["rows"]] == list(grids.VARIANTS)
    nothing = {row["method"] for row in document["rows"] if row["top"] == 0}  # f = 0 is no method to compare with
    assert nothing <= {"bound"}
    assert {entry["against"] for entry in document["comparisons"]} == set(grids.VARIANTS) - {"base"} - nothing
    methods = {row["method"]: row["setting"] for row in document["rows"]}
    assert methods["SD"]["variant"] == "SD"
    assert methods["bound"]["objective"] == "bound"
    assert cli.main(["cifar-pairs", *SMALL, *places, "--methods", "adanet,nn"]) == 0
    winners = str(tmp_path / "winners.json")
    (tmp_path / "out" / "result.json").rename(winners)
    small = ["--folds", "1", "--quiet"]
    assert cli.main(["bounds", *small, *places, "--winners", winners]) == 0
    rows = result_of(tmp_path)["rows"]
    assert [row["method"] for row in rows] == ["adanet", "nn"]
    pairs = json.loads(Path(winners).read_text())["rows"]
    for row, winner in zip(rows, pairs, strict=True):
        assert bounds.trial_of(winner, 1, 3).description["setting"] == winner["setting"]
        assert row["verdict"] == "holds"
        assert row["test_error"] == pytest.approx(1 - winner["tests"][0])  # the same network, trained again
    assert rows[0]["bounds"]["margin-bound-uniform"]["applies"]
    assert not rows[1]["bounds"]["corollary-1"]["applies"]  # NN declares no family
    assert "test error" in capsys.readouterr().out
    table = (tmp_path / "out" / "result.md").read_text()
    assert "| digits:3-8 | NN |" in table
    assert "criteo" not in table


def test_a_network_outside_its_family_is_a_finding_not_an_error():
    one = torch.ones(1, 1, dtype=torch.float64)
    network = Network((2, 1, 1), {(1, 0): one.expand(1, 2), (2, 1): 3 * one}, {2: one[0]}, ("relu",))
    model = model_file.ModelFile(network, NetworkSpec.layered((2, 1, 1), 2.0, 1), 0.5)
    part = torch.ones(4, 2).double(), torch.tensor([1.0, 1.0, 1.0, -1.0]).double()
    fresh = 0.5 * part[0] + torch.arange(4).double()[:, None] / 16, part[1]
    said = bounds.asked(model, part, fresh)
    json.dumps(said, allow_nan=False)
    assert said["verdict"] == "violated"
    assert (said["m"], said["train_error"], said["test_error"]) == (4, 0.25, 0.25)


def test_what_is_asked_is_what_the_command_says(tmp_path, capsys):
    rng = np.random.default_rng(0)
    weights = {(1, 0): torch.from_numpy(rng.normal(size=(3, 2))), (2, 1): torch.from_numpy(rng.normal(size=(1, 3)))}
    network = Network((2, 3, 1), weights, {2: torch.ones(1, dtype=torch.float64)}, ("relu",))
    model = model_file.ModelFile(network, NetworkSpec.layered((2, 3, 1), 9.0, 2))
    parts = [(rng.uniform(-1, 1, size=(m, 2)), rng.choice([-1.0, 1.0], m)) for m in (40, 30)]
    model_file.write(tmp_path / "model.pt", model)
    for name, (Psi, y) in zip(("train", "test"), parts, strict=True):
        np.savez(tmp_path / f"{name}.npz", Psi=Psi, y=y)
    words = ["--data", str(tmp_path / "train.npz"), "--test-data", str(tmp_path / "test.npz"), "--no-estimates"]
    network_cli.main([str(tmp_path / "model.pt"), *words, "--discrete", "--json"])
    said = json.loads(capsys.readouterr().out)
    asked = bounds.asked(model, *((torch.from_numpy(Psi), torch.from_numpy(y)) for Psi, y in parts))
    assert [asked["n"], asked["W"], asked["path_norm"]] == [said["model"][key] for key in ("n", "W", "path_norm")]
    assert (asked["m"], asked["train_error"]) == (said["sample"]["m"], said["sample"]["train_error"])
    assert (asked["test_error"], asked["verdict"]) == (said["test"]["error"], said["verdict"])
    kept = ("value", "raw", "applies", "why_not")
    assert asked["bounds"] == {
        row["id"]: {key: row[key] for key in kept} for row in said["bounds"] if row["id"] in asked["bounds"]
    }


def test_adanet_stands_on_the_left_of_a_comparison():
    scores = Scores(0.9, 0.01, 0.9, 0.9, [8.0], 1.0, 1.0, {}, 1, 1.0)
    tests = {"lr": [0.8, 0.85], "adanet": [0.9, 0.92]}
    rows = [PairRow("digits:3-8", method, scores, each) for method, each in tests.items()]
    (entry,) = cifar_pairs.comparisons(rows, DataSource())
    assert (entry.against, entry.difference) == ("lr", pytest.approx(0.085))
    assert entry.t is not None
    assert entry.t > 0


def test_criteo_keeps_no_row(places, tmp_path, capsys):
    pytest.importorskip("polars", reason="Criteo is read with polars")
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(2100):
        counts = rng.geometric(0.2, 13) * 7919
        digits = [f"{value * 0x1F2E3D4:08x}" for value in rng.integers(1, 4, 26)]
        lines.append("\t".join([str(int(counts[0] > 5 * 7919)), *map(str, counts), *digits]))
    data = tmp_path / "rows.txt"
    data.write_text("\n".join(lines) + "\n")
    assert cli.main(["criteo", "--grid", "tiny", "--criteo", str(data), "--quiet", *places]) == 0
    rows = result_of(tmp_path)["rows"]
    assert [row["method"] for row in rows] == ["adanet", "nn", "lr"]
    assert all(row["m_test"] == 300 and (300 * row["accuracy"]) % 1 == pytest.approx(0, abs=1e-9) for row in rows)
    assert len({row["log_loss"] for row in rows}) == 3
    assert "log loss" in capsys.readouterr().out
    source = DataSource(criteo=str(data))
    nothing = {**grids.criteo("tiny")["adanet"][0], "lam": 1e6}  # f = 0, and y f = 0 is an error
    table = criteo_ads.work(criteo_ads.trial_of(source, "adanet", nothing, 0), source)
    assert (table["n"][-1], table["test"], table["train"]) == (0, 0.0, 0.0)
    winners = tmp_path / "winners.json"
    (tmp_path / "out" / "result.json").rename(winners)
    ask = ["bounds", "--quiet", *places, "--winners", str(winners)]
    assert cli.main(ask) == 2
    assert cli.main([*ask, "--criteo", "other.txt"]) == 2
    assert "the file they were trained on" in (said := capsys.readouterr().err)
    assert "trained on rows.txt, got --criteo other.txt" in said
    assert cli.main([*ask, "--criteo", str(data)]) == 0
    table = result_of(tmp_path)["rows"]
    assert [(row["pair"], row["method"]) for row in table] == [("criteo", row["method"]) for row in rows]
    for row, winner in zip(table, rows, strict=True):
        assert row["test_error"] == pytest.approx(1 - winner["accuracy"])  # the same network, trained again
        assert row["m"] == 1500
        # the embedding was learned on the same rows: no statement on the sample covers that, only held-out points do
        assert [id for id, bound in row["bounds"].items() if bound["applies"]] == ["held-out"]
        assert row["bounds"]["a-posteriori"]["why_not"] == ["feature-map"]
    assert capsys.readouterr().out.count("the least bound that applies is") == 3  # that of the held-out points
    assert "On criteo the features " in (tmp_path / "out" / "result.md").read_text()
    kept = "".join(path.read_text() for path in [*tmp_path.rglob("*.json"), *tmp_path.rglob("*.md")])
    assert "1f2e3d4" not in kept
    assert "7919" not in kept


# The search


def test_the_search_does_not_depend_on_when_it_was_broken_off(tmp_path):
    space = grids.Space(6, 3, (1e-5, 1.0), (1e-4, 1e-1), (1, 3), (8, 64), {"steps": 1})

    def evaluate(setting):
        score = -abs(np.log10(setting["lam"]) + 3) - abs(len(setting["hidden"]) - 2)
        return [{"validation": float(score), "test": 0.0, "seconds": 0.0}]

    def break_off(after):
        left = iter(range(after))

        def evaluate_some(setting):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return evaluate(setting)

        return evaluate_some

    whole = gp.search(space, evaluate, Store(tmp_path / "a"), {"data": "x"}, seed=1)
    for after in (1, 4):
        with pytest.raises(KeyboardInterrupt):
            gp.search(space, break_off(after), Store(tmp_path / "b"), {"data": "x"}, seed=1)
    again = gp.search(space, evaluate, Store(tmp_path / "b"), {"data": "x"}, seed=1)
    assert again.setting == whole.setting
    files = [{path.name: path.read_text() for path in (tmp_path / name).rglob("*.json")} for name in "ab"]
    assert files[0] == files[1]
    assert len(files[0]) == 6
    other = gp.search(space, evaluate, Store(tmp_path / "c"), {"data": "x"}, seed=2)
    assert other.setting != whole.setting
    assert whole.tried == 6
    assert 1 <= len(whole.setting["hidden"]) <= 3


# The tables


def test_the_paper_stands_beside_ours(tmp_path):
    row = {"accuracy": 0.95, "sd": 0.01, "units": [500.0], "top": 400.0}
    result = {
        "protocol": "cifar-pairs",
        "command": "c",
        "rows": [{"pair": "cat-dog", "method": method, **row} for method in ("adanet", "lr", "nn", "nn-gp")],
        "comparisons": [{"pair": "cat-dog", "against": "lr", "difference": 0.02, "p": 0.01, "p_holm": 0.03}],
    }
    path = tmp_path / "cifar-pairs.json"
    path.write_text(json.dumps(result))
    assert tables.main([str(path)]) == 0
    text, tex = path.with_suffix(".md").read_text(), path.with_suffix(".tex").read_text()
    assert "| cat-dog | paper | 0.6924 ± 0.0129 |" in text
    assert "500 + 400 (1800, 25)" in text
    assert "| cat-dog | LR | +0.0200 | 0.01 | 0.03 |" in text
    assert r"0.6924 $\pm$ 0.0129" in tex
    for name in ("AdaNet", "LR", "NN", "NN-GP"):
        assert f"{paper.ACCURACY['cat-dog'][name][0]:.4f}" in text
    # as many cells in every line of a LaTeX table
    for block in tex.split(r"\begin{tabular}")[1:]:
        lines = [line for line in block.splitlines() if line.endswith(r"\\")]
        assert len({line.count(" & ") for line in lines}) == 1


def test_a_file_of_another_kind_is_refused(tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text('{"protocol": "other", "rows": []}')
    assert tables.main([str(path)]) == 2
    assert "protocol must be one of" in capsys.readouterr().err
