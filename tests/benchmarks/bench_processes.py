"""What several processes cost: a step of the committee's search, the sum of its gradients over two processes, a run.

On a machine whose cores are busy the two processes wait for each other; the processor seconds say what is computed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from adanet_train.convex.labels import labels_of
from adanet_train.core.config import Config
from adanet_train.core.points import Points
from adanet_train.search.committee import CommitteeDescent, Member, MemberSearch, RateSchedule, SplitSample, start
from adanet_train.search.feed import Feed
from adanet_train.search.growth import Growth
from tests.benchmarks.bench_growth import _used

ROOT = Path(__file__).parents[2]
M, N_0, B, K, BATCH, STEPS = 200_000, 50, 100, 2, 512, 200

REDUCE = """
import sys, time, torch, torch.distributed as processes
processes.init_process_group("gloo")
values = torch.zeros(int(sys.argv[1]))
best = float("inf")
for _ in range(20):
    begin = time.perf_counter()
    for _ in range(20):
        processes.all_reduce(values)
    best = min(best, (time.perf_counter() - begin) / 20)
if processes.get_rank() == 0:
    print(best)
processes.destroy_process_group()
"""


def run() -> list[dict]:
    torch.set_num_threads(1)
    step, weights = step_seconds()
    reduce = reduce_seconds(weights)
    row = {
        "work": f"the sum of {weights} slopes over two processes, gloo",
        "against": f"a step of {BATCH} points, K={K}, B={B}, n_0={N_0}",
        "ratio": reduce / step,
        "target": "none",
        "step_seconds": step,
        "reduce_seconds": reduce,
        "step_points": BATCH,
    }
    return [row, whole_run()]


def step_seconds() -> tuple[float, int]:
    """The least time of a step over some rounds of them, with the reading of its batch."""
    draw = torch.Generator().manual_seed(0)
    Psi = torch.rand(M, N_0 + 1, generator=draw, dtype=torch.float64)
    y = torch.where(Psi[:, 0] > 0.5, 1.0, -1.0).double()
    config, points = Config(learner="committee", lam=None, members=K), Points(Psi)
    labels = labels_of(y, config.goal.surrogate)
    sample = SplitSample.split(points, labels, y, None, config, draw)
    growth = Growth(points, "relu")
    existing = Member.of(growth, K).to(torch.float32)
    search = MemberSearch(start(existing, 2, B, N_0 + 1, K, draw), existing, labels, config)
    feed = Feed(sample, torch.zeros(K, M), BATCH, centred=True, dtype=torch.float32)
    run = CommitteeDescent(search, feed, RateSchedule(STEPS, BATCH, 1e-3), None, draw)
    least = float("inf")
    for _ in range(10):
        begin = time.perf_counter()
        for number in range(1, STEPS // 10 + 1):
            run.step(number)
        least = min(least, (time.perf_counter() - begin) / (STEPS // 10))
    return least, len(search.theta)


def reduce_seconds(count: int) -> float:
    from adanet_train.app.processes import _port

    common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_port()), "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", REDUCE, str(count)],
            env=os.environ | common | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate()[0] for process in started]
    return float(said[0])


def whole_run() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        draw = np.random.default_rng(0)
        X = draw.uniform(-1, 1, size=(M, N_0))
        np.save(f"{folder}/rows.npy", np.column_stack([X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] > 0]))
        command = ["-m", "adanet_train", f"{folder}/rows.npy", "-o", f"{folder}/m.pt", "--rounds", "1", "--no-sample"]
        command += ["--set", "epochs=2"]
        begin = time.perf_counter()
        alone, peak = _used(command)
        middle = time.perf_counter()
        two, peak_two = _used([*command, "--processes", "2"])
        end = time.perf_counter()
    return {
        "work": f"adanet-train --processes 2, m={M}, n_0={N_0}, one round of two epochs, processor seconds of both",
        "against": "one process",
        "ratio": two / alone,
        "target": "none",
        "ours": two,
        "theirs": alone,
        "elapsed": end - middle,
        "elapsed_of_one": middle - begin,
        "peak_bytes_of_the_largest": peak_two,
        "peak_bytes_of_one": peak,
    }
