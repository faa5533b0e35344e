"""AdaNet for its description: every unit pays for its bits, the structure is in the code, the file proves it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from adanet_theory.certificates.occam import occam_certificate
from adanet_train.app import cli
from adanet_train.compression import code, description
from adanet_train.compression.exact import Count, count_graph
from adanet_train.core.config import Config
from adanet_train.core.network import Network
from adanet_train.core.training import Trained
from adanet_train.model import model_file
from adanet_train.reading.graph import of_network
from verify import verify_bounds

CONFIG = Config(objective="description", rounds=3, width=4, max_depth=2)


def sample(m: int = 1000) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    X = (torch.rand(m, 4, generator=draw, dtype=torch.float64) * 256).round() / 128 - 1
    y = torch.where(X[:, 0].abs() > X[:, 1].abs(), 1.0, -1.0).double()
    return torch.cat([X, torch.ones(m, 1, dtype=torch.float64)], 1), y


def count(network: Network, Psi: torch.Tensor, y: torch.Tensor) -> Count:
    """The errors, decided exactly or counted; y in -1/+1."""
    return count_graph(of_network(network), Psi, (y > 0).long())


@pytest.fixture(scope="module")
def trained() -> Trained:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(description, "SECONDS", 0.5)
        patch.setattr(description, "STEPS", 500)
        return description.train(*sample(), CONFIG)


def test_the_certificate_falls_round_by_round_and_is_what_the_file_proves(trained: Trained) -> None:
    Psi, y = sample()
    values = [entry["objective"] for entry in trained.history]
    assert all(
        after < before or entry["chosen"] < 0
        for before, after, entry in zip(values[:-1], values[1:], trained.history[1:], strict=True)
    )
    bits, _ = description.described(trained.network)
    errors = count(trained.network, Psi, y).errors
    assert errors == int((y * trained.network(Psi) <= 0).sum())
    assert values[-1] == occam_certificate(errors, len(y), bits, 0.05) < 0.35  # |x_0| > |x_1| needs hidden units
    assert trained.network.depth == 2


def test_dead_units_are_dropped_and_the_function_stays() -> None:
    torch.manual_seed(0)
    U, V = torch.randn(4, 3).double(), torch.randn(2, 4).double()
    U[1], V[:, 2], V[:, 1] = 0, 0, 5.0
    w = {1: torch.zeros(4).double(), 2: torch.tensor([1.0, 0.0]).double()}
    network = Network((3, 4, 2), {(1, 0): U, (2, 1): V}, w, ("relu",))
    smaller = description.pruned(network)
    Psi = torch.randn(20, 3).double()
    assert smaller.n == (3, 2, 1)
    assert torch.allclose(smaller(Psi), network(Psi))


def test_the_graph_of_a_network_is_the_network() -> None:
    torch.manual_seed(1)
    hidden = {
        (1, 0): torch.randn(3, 2).double(),
        (2, 1): torch.randn(2, 3).double(),
        (3, 1): torch.randn(2, 3).double(),
    }
    hidden[3, 2] = torch.randn(2, 2).double()
    output = {1: torch.randn(4, 3).double(), 3: torch.randn(4, 2).double()}
    network = Network((2, 3, 2, 2), hidden, output, ("relu", "relu"), 4)
    Psi, y = torch.randn(50, 2).double(), torch.randint(4, (50,))
    counted = count(network, Psi, y)
    assert counted.errors == int((network(Psi).argmax(dim=1) != y).sum())


def test_structure_is_paid() -> None:
    assert code.structure_bits((7, 1)) == 1 + 3
    assert code.structure_bits((7, 3, 1)) == 3 + 5 + 3


def test_weights_on_a_grid_are_integers_without_loss() -> None:
    draw = np.random.default_rng(0)
    for value in (draw.integers(-3, 4, (5, 6)) / 8, draw.normal(size=(5, 6)), np.zeros((2, 2)), np.array(2.0**-300)):
        assert np.array_equal(code.lossless(value).value, value)
    assert code.lossless(draw.integers(-3, 4, (5, 6)) / 8).q is not None


def test_the_command_trains_and_its_file_holds_few_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(description, "SECONDS", 0.5)
    path = tmp_path / "short.pt"
    assert cli.main(["digits:3-8", "-o", str(path), "--objective", "description", "--rounds", "1"]) == 0
    model = model_file.read(path)
    certificate = model.meta["history"][-1]["certificate"]
    bits, _ = description.described(model.network)
    assert bits == certificate["bits"] < 300
    assert model.sample is not None
    assert count(model.network, model.sample.Psi, model.sample.y).errors == certificate["errors"]
    report = verify_bounds(path, draws=None)
    assert report.cite is not None
    assert (report.cite.id, report.cite.delta, report.cite.among) == (certificate["id"], 0.05, 1)
    assert not any("retired" in note for note in report.notes)
    assert cli.main(["digits:3-8", "-o", str(path), "--objective", "description", "--method", "cvx"]) == 2
    assert "objective description is for method adanet" in capsys.readouterr().err
