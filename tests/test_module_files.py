"""What verify-bounds reads beside model files: --module with its weights, ONNX files, exported programs."""

from __future__ import annotations

import io
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn

from adanet_train.app import factory
from tests.refusals import refused, refuses
from verify import cli, verify_bounds

FACTORY = """
import numpy as np
from torch import nn
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

def convolutional():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))

def normed():
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 2), nn.LayerNorm(2), nn.Linear(2, 2))

def forest():
    X = np.random.default_rng(5).uniform(-1, 1, size=(200, 16))
    return RandomForestClassifier(5, random_state=0).fit(X, (X[:, 0] > 0).astype(float))

def pipeline():
    X = np.random.default_rng(5).uniform(-1, 1, size=(200, 16))
    return make_pipeline(Normalizer(), LogisticRegression()).fit(X, (X[:, 0] > 0).astype(int))

def broken():
    raise RuntimeError("no such luck")

def nothing():
    return 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the user's, and data on which the networks below are right or wrong by chance."""
    (tmp_path / "users_nets.py").write_text(FACTORY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "users_nets", raising=False)
    X = np.random.default_rng(0).uniform(-1, 1, size=(80, 1, 4, 4)).astype(np.float32)
    y = (X[:, 0, 0, 0] > 0).astype(int)
    np.savez(tmp_path / "train.npz", X=X[:40], y=y[:40])
    np.savez(tmp_path / "test.npz", X=X[40:], y=y[40:])
    np.savez(tmp_path / "flat.npz", X=X[:40].reshape(40, 16), y=y[:40])
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> Any:
    assert cli.main([*map(str, arguments), "--json", "--no-estimates"]) == 0
    return json.loads(capsys.readouterr().out)


def made(name: str, folder: Path) -> nn.Module:
    """The module of a factory with weights of its own, which are saved."""
    make = factory.named(f"users_nets:{name}", "--module")
    torch.manual_seed(1)
    module: nn.Module = make()
    torch.save(module.state_dict(), folder / "net.pt")
    return module.eval()


def data(folder: Path, name: str) -> tuple[Any, Any]:
    with np.load(folder / f"{name}.npz") as file:
        return file["X"], file["y"]


@pytest.mark.parametrize(("name", "subject"), [("convolutional", "network"), ("normed", "black box")])
def test_a_module_of_the_users_with_its_weights(
    name: str, subject: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = made(name, folder)
    options = ("--weights", folder / "net.pt", "--data", folder / "train.npz", "--test-data", folder / "test.npz")
    document = run(capsys, "--module", f"users_nets:{name}", *options)
    expected = verify_bounds(module, *data(folder, "train"), test=data(folder, "test"), draws=None)
    assert document["subject"] == expected.subject == subject
    assert document["test"]["error"] == expected.test.error
    assert document["sample"]["train_error"] == expected.sample.train_error
    assert document["cite"]["value"] == expected.cite.value
    shaped = ("--data", folder / "flat.npz", "--shape", "1,4,4", "--weights", folder / "net.pt")
    assert run(capsys, "--module", f"users_nets:{name}", *shaped)["sample"] == document["sample"]


def test_an_estimator_of_the_users(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run(capsys, "--module", "users_nets:forest", "--data", folder / "flat.npz")
    assert document["subject"] == "black box"
    assert document["advice"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected a MODEL, or --module"),
        (["a.pt", "b.pt", "--module", "users_nets:convolutional"], "users_nets:convolutional --weights a.pt b.pt."),
        (["model.pt", "--weights", "net.pt"], "--weights are those of --module"),
        (["--module", "users_nets"], "--module must be PACKAGE:FACTORY"),
        (["--module", "users_nets:absent"], "users_nets has no 'absent'; it has "),
        (["--module", "users_nets:convolutionl"], "did you mean 'convolutional'?"),
        (["--module", "no_such_package:f"], "this folder has no no_such_package.py"),
        (["--module", "users_nets.py:convolutional"], "named without .py: users_nets:convolutional."),
        (["--module", "users_net:convolutional"], "did you mean users_nets?"),
        (["--module", "users_nets:convolutional", "--weights", "absent.pt"], "absent.pt: no such file."),
        (["--module", "users_nets:broken"], "RuntimeError: no such luck"),
        (["--module", "users_nets:nothing"], "must make an nn.Module or a fitted classifier, got a int"),
        (["--module", "users_nets:convolutional", "--weights", "other.pt"], "does not fit the module"),
        (["--module", "users_nets:convolutional", "--weights", "code.pt"], "code.pt: "),
        (["--module", "users_nets:convolutional", "--shape", "1,x"], "--shape must be whole numbers"),
        (["--module", "users_nets:convolutional", "--shape", "3,3"], "--shape must have 16 numbers"),
        (["--module", "users_nets:convolutional", "--weights", "arrays.pt"], "arrays.pt: a dict of 'a'"),
    ],
)
def test_what_cannot_be_made_is_one_line(
    arguments: list[str],
    message: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    torch.save({"0.weight": torch.ones(1, 2)}, "other.pt")
    torch.save({"0.weight": Touch()}, "code.pt")
    torch.save({"a": {"b": 1}}, "arrays.pt")
    assert cli.main([*arguments, "--data", "train.npz"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not Path("touched").exists()


def test_rows_of_numbers_are_answered_with_the_shape(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = ["--module", "users_nets:convolutional", "--data", "flat.npz"]
    refuses(cli.main, own, capsys, "type --shape 1,4,4; in Python X.reshape(-1, 1, 4, 4).")


def test_several_weights_of_one_module_are_a_table_and_none_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = made("convolutional", folder)
    torch.save({key: 0 * value for key, value in module.state_dict().items()}, "zero.pt")
    own = ("--module", "users_nets:convolutional", "--data", "train.npz", "--test-data", "test.npz")
    both = run(capsys, *own, "--weights", "net.pt", "zero.pt")
    assert both == run(capsys, *own, "--weights", "net.pt", "--weights", "zero.pt")
    assert both[0] == run(capsys, *own, "--weights", "net.pt", "--compared", "2")
    assert [one["sample"]["train_error"] for one in both][1] == 1.0  # a tie is an error
    assert not any("no --weights" in note for note in both[0]["notes"])
    fresh = run(capsys, *own)
    assert any(note.startswith("no --weights: the weights are as users_nets:conv") for note in fresh["notes"])


def test_held_out_points_on_another_scale_are_told(folder: Path) -> None:
    module, (X, y), (U, v) = made("convolutional", folder), data(folder, "train"), data(folder, "test")
    asked = "were both scaled alike?"
    assert any(asked in note for note in verify_bounds(module, X, y, test=(255 * U, v), draws=None).notes)
    assert not any(asked in note for note in verify_bounds(module, X, y, test=(10 * U, v), draws=None).notes)


class Touch:
    """Unpickled it would write a file."""

    def __reduce__(self) -> Any:
        return Path.touch, (Path("touched"),)


def test_an_onnx_file_and_an_exported_program_are_reported_as_their_module(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = made("convolutional", folder)
    options = ("--data", folder / "train.npz", "--test-data", folder / "test.npz")
    written(module, folder)
    expected = verify_bounds(module, *data(folder, "train"), test=data(folder, "test"), draws=None)
    for name in ("net.onnx", "net.pt2"):
        document = run(capsys, folder / name, *options)
        assert document["subject"] == "network"
        assert document["test"]["error"] == expected.test.error
        assert document["model"]["path_norm"] == pytest.approx(expected.model.path_norm)
        report = verify_bounds(folder / name, *data(folder, "train"), draws=None)
        assert report.sample.train_error == expected.sample.train_error
        refused(lambda name=name: verify_bounds(folder / name), "holds no training points")
        refuses(cli.main, [str(folder / name)], capsys, "Add --data FILE")
        alone = run(capsys, folder / name, "--test-data", folder / "test.npz")
        assert alone["test"]["error"] == expected.test.error
        assert alone["cite"]["id"] == "held-out"


def written(module: Any, folder: Path) -> None:
    """As an ONNX file, by hand, and as an exported program."""
    weights = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    nodes = [
        helper.make_node("Conv", ["x", "0.weight", "0.bias"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Flatten", ["b"], ["c"]),
        helper.make_node("Gemm", ["c", "3.weight", "3.bias"], ["out"], transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["m", 1, 4, 4])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["m", 2])],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), folder / "net.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shapes = ({0: torch.export.Dim.DYNAMIC},)
        program = torch.export.export(module, (torch.randn(3, 1, 4, 4),), dynamic_shapes=shapes)
        saved = io.BytesIO()
        torch.export.save(program, saved)
    (folder / "net.pt2").write_bytes(saved.getvalue())


def test_points_of_a_file_go_through_the_fixed_steps_of_a_pipeline(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "--module", "users_nets:pipeline", "--data", folder / "flat.npz")
    expected = verify_bounds(factory.named("users_nets:pipeline", "--module")(), *data(folder, "flat"), draws=None)
    assert shown["sample"]["r_inf"] == expected.sample.r_inf == 1  # a constant feature beside points of norm 1
    raw = {row["id"]: row["raw"] for row in shown["bounds"] if row["raw"] is not None}
    same = {id: row.raw for id, row in expected.bounds.items() if row.raw is not None}
    assert raw == pytest.approx(same, rel=1e-6)  # the array is normalised in float32
