"""Certificates of four small networks, as verify-bounds computes them: every number rounded outward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from adanet_train import compress
from verify import verify_bounds

M, HELD_OUT, FEATURES = 2_000, 200, 4


@dataclass(frozen=True)
class ExampleNetwork:
    """A certificate and the network it is for."""

    network: str
    terms: Mapping[str, float | None]
    value: float | None


def examples() -> Mapping[str, ExampleNetwork]:
    """The examples by the id of the certificate, all with the same points, drawn in [-1, 1]^4."""
    X = 2 * torch.rand(M + HELD_OUT, FEATURES, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 1
    y = torch.where(X[:, 0] < 0, -1.0, 1.0)
    X[:, 0] = y * (1 + X[:, 0].abs()) / 2
    linear = nn.Sequential(_layer([[1.0, 0, 0, 0]]))
    hidden = nn.Sequential(_layer([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]]), nn.ReLU(), _layer([[1.0, -1.0]]))
    classes = nn.Sequential(_layer([[1.0, 0, 0, 0], [-1.0, 0, 0, 0], [0, 0, 0, 0]]))
    return {
        **_of("f = Ψ_1", linear, X, y, ("vote-certificate", "a-posteriori-data", "held-out", "occam-certificate")),
        **_disagreement(linear, hidden, X, y),
        **_of("f = (Ψ_1, -Ψ_1, 0), three classes", classes, X, (y < 0).long(), ("vote-certificate-multiclass",)),
    }


def _of(network: str, module: nn.Module, X: Tensor, y: Tensor, ids: tuple[str, ...]) -> dict[str, ExampleNetwork]:
    report = verify_bounds(module.double(), X[:M], y[:M], test=(X[M:], y[M:]), r_sup=1, draws=None)
    rows = {id: report.bounds[id] for id in ids if id in report.bounds}
    return {id: ExampleNetwork(network, row.terms, row.raw) for id, row in rows.items()}


def _disagreement(g: nn.Module, f: nn.Module, X: Tensor, y: Tensor) -> dict[str, ExampleNetwork]:
    """The network with a hidden layer, by the linear one as it is, on held-out points without their labels."""
    id, labels = "disagreement-certificate", (y > 0).long()
    small = compress(g, X[:M], labels[:M], budget=0)
    report = verify_bounds(f.double(), X[:M], y[:M], unlabelled=X[M:], surrogate=small, r_sup=1, draws=None)
    return {id: ExampleNetwork("f = relu(Ψ_1) - relu(-Ψ_1), g = Ψ_1", report.bounds[id].terms, report.bounds[id].raw)}


def _layer(weights: list[list[float]]) -> nn.Linear:
    layer = nn.Linear(len(weights[0]), len(weights), bias=False)
    layer.weight = nn.Parameter(torch.tensor(weights, dtype=torch.float64))
    return layer
