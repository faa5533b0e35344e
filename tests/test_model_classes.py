"""model.pt, version 2: C outputs over shared units, labels as class indices, and what is unsound is refused."""

import io

import numpy as np
import pytest
import torch

from adanet_train.core.network import Network
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, ModelFileError, Sample
from adanet_train.model.module import NetworkModule
from tests.refusals import refused
from tests.verify_models import class_model
from tests.verify_models import model as binary_model


def loaded(model: ModelFile) -> dict:
    return torch.load(io.BytesIO(model_file.encode(model)), weights_only=True)


def refusal(tmp_path, changes: dict) -> str:
    path = tmp_path / "model.pt"
    values = loaded(class_model()) | changes
    torch.save({key: value for key, value in values.items() if value is not None}, path)
    return refused(lambda: model_file.read(path), error=ModelFileError).removeprefix(f"{path}: ")


def test_f_has_a_column_for_each_class():
    model = class_model(C=4, skip=True, n=(3, 5, 4, 2))
    network, Psi = model.network, model.sample.Psi
    f = network(Psi)
    assert f.shape == (60, 4)
    for c in range(4):
        one = Network(network.n, network.hidden, {k: w[c] for k, w in network.output.items()}, network.activations)
        torch.testing.assert_close(f[:, c], one(Psi), rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(NetworkModule(model)(Psi), f)


def test_growing_adds_columns_of_weights():
    network = Network.empty(3, outputs=4)
    assert network(torch.ones(2, 3, dtype=torch.float64)).tolist() == [[0.0] * 4] * 2
    draw = np.random.default_rng(0)
    block = {k: torch.from_numpy(draw.normal(size=shape)) for k, shape in ((1, (2, 3)), (2, (5, 2)))}
    w = torch.from_numpy(draw.normal(size=(4, 5)))
    grown = network.extended(block, {2: w}, "relu")
    assert {k: tuple(v.shape) for k, v in grown.output.items()} == {1: (4, 2), 2: (4, 5)}
    twice = grown.extended({1: block[1]}, {1: w[:, :2]}, "relu")
    actual, output = twice.block({1: 2}, {1: 2})
    assert torch.equal(actual[1], block[1])
    assert torch.equal(output[1], w[:, :2])
    assert torch.equal(twice.output[2], w)


def test_what_is_written_is_what_is_read(tmp_path):
    model = class_model(C=3)
    written = model_file.write(tmp_path / "model.pt", model)
    stored = loaded(model)
    assert (stored["version"], stored["outputs"], stored["sample"]["y"].dtype) == (2, 3, torch.int64)
    assert written.network.outputs == 3
    assert written.meta["classes"] == ["a", "b", "c"]
    assert all(torch.equal(w, written.network.output[k]) for k, w in model.network.output.items())
    assert written.sample.sha256 == model.sample.sha256
    assert written.sample.matches(model.sample.Psi, model.sample.y, 3)
    assert "outputs" not in written.extra


def test_two_classes_are_still_written_as_version_1():
    stored = loaded(binary_model())
    assert stored["version"] == 1
    assert "outputs" not in stored


def test_version_1_keeps_a_key_that_it_does_not_know(tmp_path):
    path = tmp_path / "model.pt"
    torch.save(loaded(binary_model()) | {"outputs": 7}, path)
    model = model_file.read(path)
    assert model.network.outputs is None
    assert model.extra["outputs"] == 7


def test_version_2_of_one_function(tmp_path):
    path = tmp_path / "model.pt"
    torch.save(loaded(binary_model()) | {"version": 2, "tried": 3}, path)
    model = model_file.read(path)
    assert model.network.outputs is None
    assert model.extra["tried"] == 3


Y = torch.zeros(60, dtype=torch.int64)
WIDE = {"outputs": 10**6, "output": {}, "hidden": {"1,0": torch.ones(4, 3), "5,4": torch.ones(300, 0)}}
WIDE |= {"declared": None, "features": None, "activation": "relu"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 4}, "version must be <= 3, got 4."),
        ({"outputs": 1}, "outputs must be an integer in [2, 1000000], got 1."),
        ({"outputs": True}, "outputs must be an integer in [2, 1000000], got True."),
        ({"outputs": 3.0}, "outputs must be an integer in [2, 1000000], got 3.0."),
        ({"outputs": 10**12}, "outputs must be an integer in [2, 1000000], got 1000000000000."),
        ({"outputs": 4}, "output '1' must have 4 rows, one a class, got 3."),
        ({"output": {"2": torch.ones(2)}}, "output '2' must have 2 dimensions, got shape [2]."),
        ({"output": {"2": torch.ones(3, 5)}}, "output '2' gives n_2=5, but hidden '2,1' gives n_2=2."),
        ({"output": {"2": torch.ones(1, 2).expand(3, 2)}}, "expected one that fills its storage"),
        (WIDE, "1000000 outputs on 304 units, expected at most"),
        ({"sample": {"Psi": torch.ones(60, 3), "y": Y.double()}}, "sample y must be int64 class indices"),
        ({"sample": {"Psi": torch.ones(60, 3), "y": Y + 3}}, "sample y must hold class indices 0..2 only."),
        ({"sample": {"Psi": torch.ones(60, 3), "y": Y - 1}}, "sample y must hold class indices 0..2 only."),
        ({"sample": {"Psi": torch.ones(60, 3), "y": Y[:1].expand(60)}}, "expected one that fills its storage"),
        ({"sample": {"Psi": torch.ones(60, 3), "y": [0] * 60}}, "sample y must be a tensor, got [0, 0"),
    ],
)  # fmt: skip
def test_unsound_values_are_refused_in_one_line(tmp_path, change, message):
    assert message in refusal(tmp_path, change)


def test_labels_of_a_sample_are_checked():
    refused(lambda: Sample.of(np.ones((2, 1)), [0.0, 1.0], 3), "int64")
    refused(lambda: Sample.of(np.ones((2, 1)), [0, 3], 3), "0..2")
