"""verify-bounds of several checkpoints: one table, a list of documents, one page; the data are read once."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from torch import nn

from adanet_train import AdaNetClassifier, Config
from adanet_train.data import datasets
from tests.refusals import refuses, says
from verify import cli
from verify.reading.case import read_file
from verify.records.question import Question
from verify.rows import report
from verify.show import series


@pytest.fixture
def run(tmp_path: Path) -> list[str]:
    """Three checkpoints of growing weights, then their data."""
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(150, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    np.savez(tmp_path / "train.npz", X=X[:100], y=y[:100])
    np.savez(tmp_path / "test.npz", X=X[100:], y=y[100:])
    paths = []
    for epoch in (1, 9, 10):
        weights = torch.tensor([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
        state = {"0.weight": epoch * weights, "1.weight": torch.tensor([[1.0, -1.0]])}
        paths.append(str(tmp_path / f"ckpt_{epoch:02d}.pt"))
        torch.save({"epoch": epoch, "state_dict": {k: v.double() for k, v in state.items()}}, paths[-1])
    data = ["--data", str(tmp_path / "train.npz"), "--activation", "relu", "--no-estimates"]
    return [*paths, *data]


def test_one_line_for_each_checkpoint(run: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*run, "--test-data", run[4].replace("train", "test")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("checkpoint" in line for line in lines[:4])  # a head may take several lines
    names = [line.split()[0] for line in lines if line[:2] in ("01", "09", "10")]
    assert names == ["01", "09", "10"] * (len(names) // 3)  # once in each part of a wide table
    assert names
    cited = " ".join(lines)
    says(cited, ["checkpoint 01", "at most"])
    assert "pays for 3 networks compared" in cited


def test_the_documents_are_those_of_each_by_itself(run: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*run, "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)
    for path, document in zip(run[:3], documents, strict=True):
        assert cli.main([path, *run[3:], "--json", "--compared", "3"]) == 0
        assert json.loads(capsys.readouterr().out) == document
    assert [document["model"]["path_norm"] for document in documents] == pytest.approx([2, 18, 20])


@pytest.mark.parametrize(
    ("second", "paid"),
    [
        ({"activation": "relu"}, 1),
        ({"activation": "leaky_relu:0.5"}, 2),
        ({"feature_range": (-2, 2)}, 2),
        ({"p": 2.0}, 2),
    ],
)
def test_networks_that_no_statement_holds_for_at_once_pay_for_each(
    second: dict[str, object], paid: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A code of layers does not tell the activation, and a class of networks has one of them, one map, one family."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(100, 2))
    y = (X[:, 0] > 0).astype(int)
    np.savez(tmp_path / "train.npz", X=X, y=y)
    for name, given in (("a", {}), ("b", second)):
        options = {"feature_range": (-1, 1), "activation": "relu", **given}
        config = Config(activation=options["activation"], p=options.get("p", 1.0), steps=5)
        learner = AdaNetClassifier(
            rounds=1, width=2, learner="gradient", feature_range=options["feature_range"], config=config
        )
        learner.fit(X, y).save(tmp_path / f"{name}.pt")
    files = [str(tmp_path / f"{name}.pt") for name in "ab"]
    assert cli.main([*files, "--data", str(tmp_path / "train.npz"), "--no-estimates", "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)
    delta = {row["id"]: row["delta"] for document in documents for row in document["bounds"]}
    assert delta["occam-certificate"] == delta["a-posteriori"] == delta["vote-certificate"] == 0.05 / paid
    assert any("the networks compared differ" in note for note in documents[0]["notes"]) == (paid == 2)


def test_the_data_are_read_once(run: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    load = datasets.load
    monkeypatch.setattr(datasets, "load", lambda *given, **more: reads.append(given) or load(*given, **more))
    assert cli.main([*run, "--json"]) == 0
    assert len(reads) == 1


def test_the_page_has_the_pictures(run: list[str], tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    assert cli.main([*run, "--html", str(page), "--test-data", run[4].replace("train", "test")]) == 0
    text = page.read_text()
    assert text.count("<svg") == 3
    assert "3 checkpoints" in text


def test_a_table_for_a_paper_is_of_one(run: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refuses(cli.main, [*run, "--tex", str(tmp_path / "a.tex")], capsys, "write the table of one network")
    assert cli.main([*run, "--html", run[1]]) == 2  # never over an input
    assert "is read by this command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/1.pt", "a/2.pt"], ["1", "2"]),
        (["run1/last.pt", "run2/last.pt"], ["1", "2"]),
        (["e9.pt", "e10.pt"], ["9", "10"]),
        (["best.pt", "best_2.pt"], ["best.pt", "best_2.pt"]),
        (["same.pt", "same.pt"], ["same.pt", "same.pt"]),
        (["x_110.pt", "x_120.pt"], ["110", "120"]),
        (["m1.pt", "m3.pt", "model.pt"], ["m1", "m3", "model"]),
        (["a/first_net.pt", "a/best_net.pt"], ["first", "best"]),
    ],
)
def test_a_checkpoint_is_named_by_what_tells_it_from_the_others(paths: list[str], names: list[str]) -> None:
    checkpoints = series.named(paths, [None] * len(paths))  # type: ignore[list-item]
    assert [checkpoint.name for checkpoint in checkpoints] == names


def test_a_module_of_torch_saves_such_checkpoints(tmp_path: Path, run: list[str]) -> None:
    module = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
    torch.save({"model": module.state_dict()}, tmp_path / "net.pt")
    assert cli.main([str(tmp_path / "net.pt"), *run[3:]]) == 0


def test_a_table_that_is_too_wide_goes_on_below_with_every_number_in_one_piece() -> None:
    head = ["checkpoint", "train error", "W", "a-posteriori-bounded", "at a tenth"]
    rows = [["01", "0.005333", "1", "1.074e10", "9.608"], ["02", "6.667e-4", "1", "1.073", "-"]]
    assert series._parts(head, rows, 80) == [[0, 1, 2, 3, 4]]
    narrow = series._parts(head, rows, 40)
    assert narrow == [[0, 1, 2, 3], [0, 4]]
    assert series._parts(head, rows, 1) == [[0, 1], [0, 2], [0, 3], [0, 4]]


def test_a_bound_is_drawn_where_it_applies_and_nowhere_else(run: list[str]) -> None:
    given = [read_file(path, data=run[4], activation="relu") for path in run[:3]]
    values = [report.build(one.model, Question(draws=None), sample=one.sample) for one in given]
    first = replace(values[0], bounds=tuple(replace(row, applies=False) for row in values[0].bounds))
    drawn = series.draw_bounds(series.named(run[:3], [first, *values[1:]]))
    lines = [line for line in drawn.axes[0].lines if line.get_marker() == "o"]
    assert lines
    assert all(min(line.get_xdata()) == 1 for line in lines)


def test_what_is_not_drawn_is_not_in_the_caption_and_numbers_of_one_power_of_ten_are_written_out(
    run: list[str],
) -> None:
    given = [read_file(path, data=run[4], activation="relu") for path in run[:3]]
    reports = [report.build(one.model, Question(draws=None), sample=one.sample) for one in given]
    checkpoints = series.named(run[:3], reports)
    assert "(dashed)" in series.to_html(checkpoints)
    bare = [
        replace(each, report=replace(each.report, bounds=tuple(replace(row, tenth=None) for row in each.report.bounds)))
        for each in checkpoints
    ]
    assert "tenth" not in series.to_html(bare)
    axes = series.draw_bounds(bare).axes[0]
    axes.figure.draw_without_rendering()
    assert axes.get_ylim()[1] < 10 * axes.get_ylim()[0]
    labels = [tick.label1.get_text() for tick in (*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks())]
    assert any(labels)
    assert not any("10" in label and "{" in label for label in labels)


def test_a_long_name_of_a_checkpoint_is_not_cut(run: list[str]) -> None:
    cases = [read_file(path, data=run[4], activation="relu") for path in run[:2]]
    values = [report.build(one.model, Question(draws=None), sample=one.sample) for one in cases]
    names = ["runs/" + "a" * 70 + "[best]_1.pt", "runs/" + "a" * 70 + "[best]_2.pt"]
    written = io.StringIO()
    screen = Console(width=60, file=written, highlight=False)
    series.text([series.Checkpoint(name, one) for name, one in zip(names, values, strict=True)], console=screen)
    first = "".join(line[:20].strip() for line in written.getvalue().splitlines())
    assert all(name in first for name in names)
    assert "…" not in written.getvalue()


def test_networks_with_different_statements_stand_in_one_table_of_what_says_something(run: list[str]) -> None:
    given = [read_file(path, data=run[4], activation="relu") for path in run[:2]]
    first, second = [report.build(one.model, Question(draws=None), sample=one.sample) for one in given]
    applying = [row for row in second.bounds if row.applies]
    kept, lone = applying[0], replace(applying[0], id="pick-certificate", raw=0.0312344, tenth=None)
    first = replace(first, bounds=(kept,))
    checkpoints = series.named(run[:2], [first, replace(second, bounds=(*second.bounds, lone))])
    head, rows = series.table(checkpoints)
    assert head[5:] == ["pick-certificate"]
    assert [row[-1] for row in rows] == ["-", "0.03124"]
    assert "pick-certificate" in series.to_html(checkpoints)
    assert series.draw_bounds(checkpoints).axes
