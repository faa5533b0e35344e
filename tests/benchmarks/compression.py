"""compress on networks that were trained as usual: bits, errors, certificate and test error of every stage.

python tests/benchmarks/compression.py table 1e5 --budget 60
python tests/benchmarks/compression.py lenet --data-dir DATA --budget 600
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
import torch
from torch import Tensor, nn

from adanet_train import compress
from adanet_train.compression.disagreement import decisions
from adanet_train.data import datasets

FEATURES, DIRECTIONS, READ, SCALE = 50, 6, 8, 4.5


def table(m: int, seed: int) -> tuple[Tensor, Tensor, float]:
    """A two-class table of 50 normal features on a grid of 1/64, and its Bayes error, about .066.

    Six directions read eight features each; the log-odds are linear in two of them and piecewise linear in four.
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


def images(name: str, data_dir: str | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training and test points, pixels in [0, 1) on a grid of 1/256."""
    parts: list[Tensor] = []
    for test in (False, True):
        data = datasets.load(name, data_dir=data_dir, test=test, many=True)
        pixels = np.asarray(data.values, dtype=np.float32)
        pixels = pixels / (256 if pixels.max() > 1 else 256 / 255)
        parts += [torch.from_numpy(pixels.reshape(-1, 1, 28, 28)), torch.from_numpy(data.y).long()]
    X, y, X_test, y_test = parts
    return X, y, X_test, y_test


def lenet() -> nn.Module:
    first = (nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2))
    then = (nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    return nn.Sequential(*first, *then)


def mlp() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))


def fit(net: nn.Module, X: Tensor, y: Tensor, epochs: int, batch: int) -> nn.Module:
    """Adam, one cycle."""
    draw = torch.Generator().manual_seed(0)
    optimiser = torch.optim.Adam(net.parameters(), 1e-3)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=epochs * (len(X) // batch))
    for _ in range(epochs):
        order = torch.randperm(len(X), generator=draw)
        for i in range(len(X) // batch):
            rows = order[i * batch : (i + 1) * batch]
            f = net(X[rows])
            one = f.shape[1] == 1
            loss = (
                nn.functional.soft_margin_loss(f[:, 0], 2.0 * y[rows] - 1)
                if one
                else nn.functional.cross_entropy(f, y[rows])
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            cycle.step()
    return net.eval()


def error(net: nn.Module, X: Tensor, y: Tensor) -> float:
    return float(np.mean(decisions(net, X) != y.numpy()))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("network", choices=("table", "lenet", "mlp"))
    options.add_argument("m", nargs="?", type=float, default=1e5)
    options.add_argument("--budget", type=float, default=60.0)
    options.add_argument("--data-dir")
    given = options.parse_args()
    torch.manual_seed(0)
    if given.network == "table":
        X, y, _ = table(int(given.m), 1)
        X_test, y_test, _ = table(100_000, 2)
        layers = nn.Sequential(nn.Linear(FEATURES, 16), nn.ReLU(), nn.Linear(16, 1))
        net = fit(layers, X, y, max(3, round(3e6 / len(X))), 256)
    else:
        X, y, X_test, y_test = images("mnist", given.data_dir)
        net = fit(lenet() if given.network == "lenet" else mlp(), X, y, 6, 128)
    cpu = time.process_time()
    small = compress(net, X, y, budget=given.budget)
    found = {
        "network": given.network,
        "m": len(X),
        "test_error": error(net, X_test, y_test),
        "compressed_test_error": error(small.module, X_test, y_test),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "stages": [vars(stage) for stage in small.stages],
    }
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
