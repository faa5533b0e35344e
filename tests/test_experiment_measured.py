"""The comparisons of adanet-experiment that go on from their own file: tables, classes, structure."""

import json

import pytest

from verify.experiments import cli
from verify.experiments.protocols import learners, structure


def test_a_table_is_measured_and_the_other_learners_stay(tmp_path, capsys):
    out = tmp_path / "tables.json"
    assert cli.main(["tables", "--sets", "breast cancer", "--methods", "LR,MLP,AdaNet", "--out", str(out)]) == 0
    first = json.loads(out.read_text())
    assert [row["method"] for row in first["rows"]] == ["LR", "MLP", "AdaNet"]
    assert cli.main(["tables", "--sets", "breast cancer", "--methods", "HGB", "--out", str(out)]) == 0
    second = json.loads(out.read_text())
    assert [row["method"] for row in second["rows"]] == list(learners.METHODS)
    assert [row for row in second["rows"] if row["method"] != "HGB"] == first["rows"]


def test_classes_go_on_from_their_file(tmp_path, capsys):
    out = tmp_path / "classes.json"
    command = ["classes", "--sets", "iris", "--methods", "lr", "--out", str(out)]
    assert cli.main(command) == 0
    (row,) = json.loads(out.read_text())["rows"]
    assert row["data"] == "iris"
    assert 0 <= row["test_error"] < 0.2
    before = out.read_bytes()
    assert cli.main(command) == 0
    assert out.read_bytes() == before


def test_structure_runs_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(structure, "HIDDEN", ((), (2,)))
    monkeypatch.setattr(structure, "WIDTHS", ())
    monkeypatch.setattr(structure, "SEEDS", (0,))
    out = tmp_path / "structure.json"
    assert cli.main(["structure", "--sets", "linear", "--out", str(out)]) == 0
    assert {row["method"] for row in json.loads(out.read_text())["rows"]} == {"LR", "NN, 2"}


@pytest.mark.parametrize("name", ["tables", "classes"])
def test_an_unknown_method_is_refused(name, tmp_path, capsys):
    assert cli.main([name, "--methods", "forest", "--out", str(tmp_path / "x.json")]) == 2
    assert "forest" in capsys.readouterr().err
