"""compress: a step of fine-tuning against one of plain training, and the exact count; whole runs are experiments."""

import copy
import time
from collections.abc import Callable

import torch
from torch import nn

from adanet_train.compression.exact import count
from adanet_train.compression.problem import CodingProblem
from adanet_train.compression.tune import Schedule, tune
from adanet_train.compression.weights import fill, prepared
from verify.experiments.protocols.usual_networks import fit, lenet

STEPS, BATCH = 60, 256


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """CPU seconds, the least of so many."""

    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(once() for _ in range(times))


def run() -> list[dict[str, object]]:
    draw = torch.Generator().manual_seed(0)
    X = torch.randint(0, 256, (STEPS * BATCH, 1, 28, 28), generator=draw) / 256
    y = torch.randint(0, 10, (len(X),), generator=draw)
    own = prepared(lenet())
    problem = CodingProblem(own, X, y, 0.05)
    exponents, start = problem.exponents(1.0), [w.float() for w in problem.weights.tensors]
    many, few = (
        seconds(lambda n=n: tune(problem, start, exponents, Schedule((2.0, 4.0), n, BATCH), draw), 2)
        for n in (STEPS, STEPS // 4)
    )
    tuned = (many - few) * 4 / 3  # both look at the certificate twice
    plain = seconds(lambda: fit(copy.deepcopy(problem.module).requires_grad_(True), X, y, 1, BATCH), 2)
    exact = seconds(lambda: count(fill(own, problem.rounded(exponents)), X, y), 2)
    outputs = seconds(lambda: _outputs(own, X), 2)
    rows = [
        (f"fine-tuning LeNet with its bits, {STEPS} steps of {BATCH}", tuned, plain, "plain Adam", "<= 1.5"),
        (f"errors of a rounded LeNet, exact, {len(X)} images", exact, outputs, "its outputs in float64", "<= 3"),
    ]
    return [
        {
            "work": work,
            "ours": round(ours, 3),
            "against": against,
            "theirs": round(theirs, 3),
            "ratio": round(ours / theirs, 3),
            "target": target,
        }
        for work, ours, theirs, against, target in rows
    ]


@torch.no_grad()
def _outputs(module: nn.Module, X: torch.Tensor) -> list[torch.Tensor]:
    return [module(X[i : i + BATCH].double()) for i in range(0, len(X), BATCH)]
