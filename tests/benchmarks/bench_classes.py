"""The convex step for C = 10 classes, B = 150 ReLU units, m = 10,000, to a certified gap of 1e-8.

Beside it scikit-learn's saga with l1 on the same objective (f = e_y takes the margin of 1 out of the loss), stopped
after SAGA_PASSES passes and judged by its objective, and ten one-vs-rest problems of our own: another objective.
"""

from __future__ import annotations

import time
import warnings

import torch

from adanet_train.convex import mixture
from adanet_train.convex.class_loss import ClassLoss
from adanet_train.surrogates import surrogate

M, UNITS, C = 10_000, 150, 10
SAGA_PASSES = 100


def problem(m: int = M, units: int = UNITS) -> tuple[torch.Tensor, torch.Tensor]:
    """ReLU units of Gaussian points, labels by a linear rule with noise."""
    draw = torch.Generator().manual_seed(0)
    X = torch.randn(m, 20, generator=draw, dtype=torch.float64)
    H = (X @ torch.randn(20, units, generator=draw, dtype=torch.float64)).clamp_min(0) / 20**0.5
    scores = X @ torch.randn(20, C, generator=draw, dtype=torch.float64)
    y = (scores + 2 * torch.randn(m, C, generator=draw, dtype=torch.float64)).argmax(1)
    return H, y


def run() -> None:
    torch.set_num_threads(1)
    H, y = problem()
    own = torch.nn.functional.one_hot(y, C).double()
    print(f"{'Gamma':>8} {'ours s':>8} {'gap':>9} {'one-vs-rest s':>14} {'saga s':>8} {'saga gap':>9}")
    for power in (-2, -3, -4):
        Gamma = torch.full((UNITS,), 10.0**power, dtype=torch.float64)
        start = time.perf_counter()
        found = mixture.minimise_classes(H, y, own, Gamma, tol=1e-8)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        for c in range(C):
            sign = torch.where(y == c, 1.0, -1.0).double()
            mixture.minimise(H, sign, sign, Gamma, surrogate("logistic"), tol=1e-8)
        rest = time.perf_counter() - start
        seconds, objective = saga(H, y, 10.0**power, own)
        line = f"{10.0**power:8.0e} {ours:8.1f} {found.gap:9.1e} {rest:14.1f} {seconds:8.1f}"
        print(f"{line} {objective - found.objective + found.gap:9.1e}", flush=True)


def saga(H: torch.Tensor, y: torch.Tensor, Gamma: float, own: torch.Tensor) -> tuple[float, float]:
    """Its seconds, and the value of F where it ends."""
    from sklearn.linear_model import LogisticRegression

    options = {"C": 1 / (len(y) * Gamma), "solver": "saga", "fit_intercept": False, "tol": 1e-10, "l1_ratio": 1.0}
    model = LogisticRegression(max_iter=SAGA_PASSES, random_state=0, **options)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(H.numpy(), y.numpy())
    seconds = time.perf_counter() - start
    w = torch.from_numpy(model.coef_)
    loss = ClassLoss(H, y, own)
    return seconds, float(loss.value(loss.argument(w.flatten())) + Gamma * w.abs().sum())


if __name__ == "__main__":
    run()
