"""One exact step of AdaNet.CVX for ten classes on the pixels of 10,000 digits, against what it is announced to take.

785 inputs with the bias make 7,850 weights. Needs MNIST in ADANET_DATA. CPU seconds of one thread; what the step does
beside the announced minimisation, a few passes over the sample, is counted too.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np
import torch

from adanet_train.convex import cvx_exact
from adanet_train.convex.newton import expected_seconds
from adanet_train.core.config import Config
from adanet_train.data import images
from adanet_train.methods import adanet_cvx

M = 10_000


def run() -> list[dict[str, Any]]:
    if "ADANET_DATA" not in os.environ:
        return []
    torch.set_num_threads(1)
    points = images.load("mnist", data_dir=os.environ["ADANET_DATA"])
    pixels = points.X[:M].reshape(M, -1).astype(np.float64)
    Psi, y = torch.from_numpy(np.hstack([pixels, np.ones((M, 1))])), torch.from_numpy(points.y[:M])
    steps: list[cvx_exact.JointStep] = []
    follow = cvx_exact.follow

    def followed(*given: Any) -> cvx_exact.JointStep:
        steps.append(follow(*given))
        return steps[-1]

    cvx_exact.follow = followed
    start, cpu = time.perf_counter(), time.process_time()
    try:
        adanet_cvx.train(Psi, y, Config(rounds=1), method="cvx-exact", say=lambda line: print(line, file=sys.stderr))
    finally:
        cvx_exact.follow = follow
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    (step,) = steps
    announced = expected_seconds(M, Psi.shape[1], 10)
    return [
        {
            "work": f"cvx-exact, one round, ten classes, m={M}, {Psi.shape[1]} inputs",
            "against": "the time that it announces",
            "ratio": cpu / announced,
            "target": "ends",
            "cpu_seconds": round(cpu, 1),
            "seconds_taken": round(seconds, 1),
            "announced_seconds": round(announced, 1),
            "objective": step.objective,
            "gap": step.gap,
            "iterations": step.iterations,
            "converged": step.converged,
        }
    ]
