"""Networks trained as usual for adanet-experiment certificates, with what occam and disagreement say about them.

A table of 50 features with a ReLU network of 16 units and with AdaNet's; LeNet and a network of 100 units on the
pixels of MNIST; and a small convolution on the planes of `strokes`, trained to be compressed. Pixels are on a grid of
1/256, features and planes on one of 1/64, so that sums of them can be exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from adanet_train.app import run
from adanet_train.compression.description import LayeredModule
from adanet_train.compression.disagreement import decisions, disagreement
from adanet_train.compression.problem import default_loss, one_or_many
from adanet_train.compression.search import compress
from adanet_train.compression.weights import fill, prepared
from adanet_train.core.config import Config
from adanet_train.data import datasets
from adanet_train.data.pictures import strokes
from adanet_train.picking.certify import Certified, certify
from adanet_train.picking.modules import Module, shifted
from verify.experiments.running.results import Row

FEATURES, DIRECTIONS, READ, SCALE = 50, 6, 8, 4.5
TEST_POINTS, UNLABELLED = 100_000, 5_000


@dataclass(frozen=True, eq=False)
class TrainedCase:
    """A trained network, its sample, and test points."""

    net: nn.Module
    X: Tensor
    y: Tensor
    X_test: Tensor
    y_test: Tensor

    def test_error(self, net: nn.Module) -> float:
        return error(net, self.X_test, self.y_test)


def error(net: Any, X: Tensor, y: Tensor) -> float:
    """The share of points that a module or an estimator of class indices gets wrong."""
    return float(np.mean(decisions(net, X) != y.numpy()))


# Data


def table(m: int, seed: int) -> tuple[Tensor, Tensor, float]:
    """A two-class table of 50 normal features on a grid of 1/64, and its Bayes error, about .066.

    Six directions read eight features each; the log-odds are linear in two of them and piecewise
    linear in four.
    """
    fixed, draw = np.random.default_rng(7), np.random.default_rng([20261118, seed])
    A = fixed.normal(size=(FEATURES, DIRECTIONS)) * (fixed.random((FEATURES, DIRECTIONS)).argsort(axis=0) < READ)
    A /= np.linalg.norm(A, axis=0)
    X = np.round(draw.normal(size=(m, FEATURES)).astype(np.float32) * 64) / 64
    z = (X @ A).T
    bent = 1.1 * np.abs(z[1]) - 0.9 * np.abs(z[2]) + 1.3 * np.maximum(z[3], 0) - 0.8 * np.maximum(z[4], 0)
    p = 1 / (1 + np.exp(-SCALE * (1.2 * z[0] + bent + 0.5 * z[5] - 0.25)))
    y = draw.random(m) < p
    return torch.from_numpy(X).float(), torch.from_numpy(y).long(), float(np.minimum(p, 1 - p).mean())


def images(name: str, data_dir: str | None, *, planes: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training and test points: pixels in [0, 1) on a grid of 1/256, or the planes of strokes, digits put upright."""
    parts: list[Tensor] = []
    for test in (False, True):
        data = datasets.load(name, data_dir=data_dir, test=test, many=True)
        pixels = np.asarray(data.values).reshape(-1, 28, 28)
        if planes:
            X = strokes.features(pixels.astype(np.uint8), upright=name == "mnist")
        else:
            X = torch.from_numpy(pixels[:, None].astype(np.float32)) / 256
        parts += [X, torch.from_numpy(data.y).long()]
    X, y, X_test, y_test = parts
    return X, y, X_test, y_test


# Networks


def lenet() -> nn.Module:
    first = (nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2))
    then = (nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    return nn.Sequential(*first, *then)


def units_100() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))


def units_16() -> nn.Module:
    return nn.Sequential(nn.Linear(FEATURES, 16), nn.ReLU(), nn.Linear(16, 1))


def convolution() -> nn.Module:
    """16 channels on the planes of `strokes`, then the ten classes."""
    layers = (nn.Conv2d(strokes.PLANES, 16, 3, padding=1), nn.ReLU(), nn.Flatten())
    return nn.Sequential(*layers, nn.Linear(16 * strokes.CELLS**2, 10))


def fit(net: nn.Module, X: Tensor, y: Tensor, epochs: int, batch: int, decay: float = 0.0) -> nn.Module:
    """Adam, one cycle; `decay` times the sum of |w| is added to the loss."""
    draw = torch.Generator().manual_seed(0)
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=epochs * (len(X) // batch))
    for _ in range(epochs):
        order = torch.randperm(len(X), generator=draw)
        for i in range(len(X) // batch):
            rows = order[i * batch : (i + 1) * batch]
            loss = default_loss(one_or_many(net(X[rows]), len(rows)), y[rows])
            if decay:
                loss = loss + decay * torch.stack([w.abs().sum() for w in net.parameters()]).sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            cycle.step()
    return net.eval()


def of_table(m: int, seed: int) -> TrainedCase:
    X, y, _ = table(m, 1)
    X_test, y_test, _ = table(TEST_POINTS, 2)
    torch.manual_seed(seed)
    return TrainedCase(fit(units_16(), X, y, max(3, round(3e6 / m)), 256), X, y, X_test, y_test)


def adanet_of_table(m: int, seed: int) -> TrainedCase:
    """The paper's learner on Ψ = (x/8, 1), a map that looks at no sample."""
    X, y, _ = table(m, 1)
    X_test, y_test, _ = table(TEST_POINTS, 2)
    Psi, Psi_test = (nn.functional.pad(x / 8, (0, 1), value=1.0) for x in (X, X_test))
    sizes: dict[str, Any] = {"rounds": 3, "width": 25, "max_depth": 2}
    config = Config(learner="gradient", Lambda=8.0, lam=1e-6, optimiser="adam", seed=seed, **sizes)
    trained = run.trainer("adanet")(Psi.double(), 2.0 * y.double() - 1, config)
    return TrainedCase(LayeredModule(trained.network), Psi, y, Psi_test, y_test)


def of_images(name: str, make: Callable[[], nn.Module], data_dir: str | None, seed: int) -> TrainedCase:
    X, y, X_test, y_test = images(name, data_dir)
    torch.manual_seed(seed)
    return TrainedCase(fit(make(), X, y, 4, 128), X, y, X_test, y_test)


def for_its_bits(name: str, data_dir: str | None, seed: int) -> TrainedCase:
    """A convolution for compression: two passes, its weights pulled to zero."""
    X, y, X_test, y_test = images(name, data_dir, planes=True)
    torch.manual_seed(seed)
    return TrainedCase(fit(convolution(), X, y, 2, 256, decay=1e-5), X, y, X_test, y_test)


@dataclass(frozen=True)
class CaseRecipe:
    """How a case is made, from the folder of the data and the seed, and the nominal seconds of its compression.

    `tried` counts the maps and architectures to choose from: the certificate is at δ/tried.
    """

    make: Callable[[str | None, int], TrainedCase]
    budget: float = 60.0
    tried: int = 1


TRIED = 2**15
"""Maps of the images and architectures that a prototype had chosen from, among them 8 maps."""


CASES: Mapping[str, CaseRecipe] = {
    "table:1e4 50-16-1": CaseRecipe(lambda _, seed: of_table(10_000, seed)),
    "table:1e5 50-16-1": CaseRecipe(lambda _, seed: of_table(100_000, seed)),
    "table:1e6 50-16-1": CaseRecipe(lambda _, seed: of_table(1_000_000, seed), 80.0),
    "table:1e5 AdaNet": CaseRecipe(lambda _, seed: adanet_of_table(100_000, seed)),
    "mnist 784-100-10": CaseRecipe(lambda folder, seed: of_images("mnist", units_100, folder, seed)),
    "mnist LeNet": CaseRecipe(lambda folder, seed: of_images("mnist", lenet, folder, seed), 100.0),
    "mnist strokes convolution": CaseRecipe(lambda folder, seed: for_its_bits("mnist", folder, seed), 260.0, TRIED),
    "fashion strokes convolution": CaseRecipe(lambda folder, seed: for_its_bits("fashion", folder, seed), 260.0, TRIED),
}


@lru_cache(maxsize=1)
def made(name: str, data_dir: str | None, seed: int) -> TrainedCase:
    """One network for both methods."""
    return CASES[name].make(data_dir, seed)


# The rows


def occam(name: str, data_dir: str | None, seed: int, delta: float) -> Row:
    """The network of that name compressed, every stage with its test error."""
    source, case = CASES[name], made(name, data_dir, seed)
    small = compress(case.net, case.X, case.y, delta=delta / source.tried, budget=source.budget, seed=seed)
    row = _row(case, small.bound, "occam-certificate", {"bits": small.bits, "errors": small.errors})
    own = prepared(case.net)
    tested = [case.test_error(fill(own, stage.coded)) for stage in small.stages]
    stages = [stage.plain | {"test_error": wrong} for stage, wrong in zip(small.stages, tested, strict=True)]
    return row | {
        "train_error": small.errors / small.m,
        "test_error": case.test_error(small.module),
        "budget": source.budget,
        "tried": source.tried,
        "stages": stages,
    }


def untouched(name: str, data_dir: str | None, seed: int, delta: float) -> Row:
    """LeNet as it is, certified by one picked on the same sample and by test points without their labels."""
    case = made(name, data_dir, seed)
    order = torch.randperm(len(case.y_test), generator=torch.Generator().manual_seed(seed))
    U, rest = case.X_test[order[:UNLABELLED]], order[UNLABELLED:]
    g = surrogate(case, seed)
    result = disagreement(case.net, g, U, X=case.X, delta=delta)
    counted = {"b": result.b, "disagreements": result.disagreements, "n": result.n}
    picked = {"picked": len(g.picks), "left": len(g.left), "N": g.N}
    X, y = case.X_test[rest], case.y_test[rest]
    own = _row(case, result.bound, "disagreement-certificate", counted | picked)
    return own | {
        "train_error": error(case.net, case.X, case.y),
        "test_error": error(case.net, X, y),
        "surrogate_test_error": error(g.predictor, X, y),
    }


def surrogate(case: TrainedCase, seed: int) -> Certified:
    """LeNet trained by picking on the same sample, with shifts, from a start on a quarter, else at the defaults."""
    return certify(Module(lenet, seed, augment=shifted), case.X, case.y, start=0.25, seed=seed)


def _row(case: TrainedCase, bound: float, id: str, terms: Row) -> Row:
    return {
        "m": len(case.y),
        "weights": sum(w.numel() for w in case.net.parameters()),
        "network_test_error": case.test_error(case.net),
        "bound id": id,
        "bound": bound,
        "tried": 1,
        "terms": terms,
    }
