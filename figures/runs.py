"""Small training runs for figures that show a network or a history, if no model is given."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array
from figures.canvas import NotDrawn

if TYPE_CHECKING:
    from torch import Tensor

    from adanet_train.core.network import Network
    from adanet_train.core.training import Trained

M = 400


def points(data: Path | None, otherwise: Callable[[], tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Ψ and y of two classes from a file, or the default points of the figure."""
    if data is None:
        return otherwise()
    import torch

    from adanet_train.data import datasets

    dataset = datasets.load(data)
    Psi = dataset.Psi(dataset.feature_map())
    return torch.from_numpy(Psi).double(), torch.from_numpy(dataset.y).double()


def rings() -> tuple[Tensor, Tensor]:
    """Points in the square; y is the sign of cos(2π |x|)."""
    return _square(lambda x: np.cos(2 * np.pi * np.hypot(*x.T)))


def board() -> tuple[Tensor, Tensor]:
    """Points in the square; y is the sign of sin(3π x_1/2) sin(3π x_2/2)."""
    return _square(lambda x: np.sin(1.5 * np.pi * x).prod(axis=1))


def _square(score: Callable[[Array], Array]) -> tuple[Tensor, Tensor]:
    """Ψ = (x_1, x_2, 1) for points x of [-1, 1]², and the sign of the score."""
    import torch

    x = np.random.default_rng(7).uniform(-1, 1, size=(M, 2))
    y = np.where(score(x) > 0, 1.0, -1.0)
    return torch.from_numpy(np.column_stack([x, np.ones(M)])), torch.from_numpy(y)


@cache
def adanet(
    *, quick: bool, data: Path | None = None, rounds: int | None = None, width: int = 4, depth: int = 4
) -> Trained:
    """AdaNet on a chequered board or on a file. It goes deeper if that lowers F more. Two figures show the run."""
    from adanet_train.core.config import Config
    from adanet_train.methods.adanet import train

    usual, steps = (5, 250) if quick else (10, 1000)
    sizes = {"rounds": rounds or usual, "width": width, "max_depth": depth, "steps": steps}
    config = Config(learner="gradient", Lambda=2.0, lam=1e-4, **sizes)
    return train(*points(data, board), config)


def cvx(*, data: Path | None = None, rounds: int = 14, depth: int = 4, p: float = 2.0) -> Trained:
    """AdaNet.CVX with the exact step on two rings, or on a file: one unit a round."""
    from adanet_train.core.config import Config
    from adanet_train.methods.adanet_cvx import train

    return train(*points(data, rings), Config(rounds=rounds, Lambda=1.0, lam=1e-4, max_depth=depth, step="exact", p=p))


def general(n: tuple[int, ...], sample: tuple[Tensor, Tensor], *, steps: int) -> Network:
    """A network with every connection of Section 2 (each unit and the output read all layers), trained by Adam."""
    import torch

    from adanet_train.core.network import Network
    from adanet_train.core.surrogates import surrogate

    Psi, y = sample
    generator = torch.Generator().manual_seed(1)

    def start(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    depth, Phi = len(n) - 1, surrogate("logistic")
    pairs = [(k, s) for k in range(1, depth + 1) for s in range(min(k - 1, 1), k)]
    hidden = {(k, s): start(n[k], n[s]) for k, s in pairs}
    output = {k: start(n[k]) for k in range(1, depth + 1)}
    network = Network(n, hidden, output, ("relu",) * (depth - 1))
    optimiser = torch.optim.Adam([*hidden.values(), *output.values()], lr=0.03)
    for _ in range(steps):
        optimiser.zero_grad()
        Phi.value(1 - y * network(Psi)).mean().backward()
        optimiser.step()
    return Network(
        n,
        {pair: U.detach() for pair, U in hidden.items()},
        {k: w.detach() for k, w in output.items()},
        network.activations,
    )


def history(model: Path) -> tuple[list[Any], dict[str, Any]]:
    """The rounds that a model.pt records, and the config of its run."""
    from adanet_train.model import model_file
    from adanet_train.model.trained import trained_of

    file = model_file.read(model)
    if not file.meta.get("history"):
        raise NotDrawn(f"{model} records no training rounds.")
    trained = trained_of(file)
    return trained.history, trained.config.as_dict() | {"n_0": trained.network.n[0], "method": file.meta["method"]}
