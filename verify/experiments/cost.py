"""What the full grid would cost: python -m verify.experiments.cost [FILE] prints it and adds it to a results file.

An estimate, not a measurement: the time of one step is measured for every shape in the grid and multiplied by the
steps, folds and pairs. AdaNet is taken to run `ROUNDS` rounds, each training a candidate as deep as the network and
one deeper ("in most cases algorithm terminates after 10 rounds", the paper says), with the units of half of them in
place; its convex steps are left out. No GPU was measured: its figure is the number of floating-point operations over
the published peak, and beside it what launching the kernels of each step takes where nothing is batched.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adanet_train.app import console
from adanet_train.app.console import Parser
from paper_notes import tables as paper
from verify.experiments import grids, results

if TYPE_CHECKING:
    from adanet_train.search.descent import Search

N_0, BATCH, ROUNDS = 155, 100, 10
GPU, PEAK = "A100, float32 without tensor cores", 19.5e12  # published by its maker
TIMED_FLOPS, TIMED_STEPS, TIMES = 2e9, 50, 4  # a time is taken of so much work, of at most so many steps, so often
LAUNCH, KERNELS = 4e-6, 30  # seconds to launch a kernel, roughly; kernels of a step of one hidden layer


@dataclass(frozen=True)
class Shape:
    """A subnetwork in training: units of each layer, and for each the existing inputs that it reads."""

    units: tuple[int, ...]
    existing: tuple[int, ...]

    @property
    def flops(self) -> float:
        """Of one step: a product forward and one for the weights in each layer, one backward above the first.

        The top layer is read by one output, so its products are with vectors; they are counted as such.

        >>> Shape((512, 1), (155, 0)).flops / (2 * 100)  # 512 * 155 twice; the 512 of the top layer three times
        160256.0
        """
        total = 0.0
        for k, (units, existing) in enumerate(zip(self.units, self.existing, strict=True)):
            below = self.units[k - 1] if k else 0
            rows = 1 if k == len(self.units) - 1 else units
            total += 2 * BATCH * rows * (2 * (existing + below) + below)
        return total


def candidate(width: int, depth: int, rounds: int) -> Shape:
    """A candidate of that depth when half of the rounds are done."""
    there = width * rounds // 2
    return Shape((width,) * depth, (N_0, *[there] * (depth - 1)))


def network(hidden: Sequence[int]) -> Shape:
    return Shape((*hidden, 1), (N_0, *[0] * len(hidden)))


def work(rounds: int) -> dict[str, dict[Shape, float]]:
    """Steps of each shape in the full grid, for all pairs and folds, by method."""
    grid = grids.full()
    each = paper.STEPS * paper.FOLDS * len(paper.ACCURACY)
    steps: dict[str, dict[Shape, float]] = {method: {} for method in ("adanet", "lr", "nn", "nn-gp")}

    def add(method: str, shape: Shape, count: float) -> None:
        steps[method][shape] = steps[method].get(shape, 0.0) + count * each

    for setting in grid.adanet:
        for depth in (2, 3):
            add("adanet", candidate(setting["width"], depth, rounds), rounds)
    for _ in grid.lr:
        add("lr", network(()), 1)
    for setting in grid.nn:
        add("nn", network(setting["hidden"]), 1)
        add(
            "nn-gp", network(setting["hidden"]), grid.nn_gp.trials / len(grid.nn)
        )  # as if its trials were spread evenly
    return steps


def seconds_per_step(shape: Shape) -> float:
    """CPU time of the trainer's own step, the least of a few."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(0)
    search, steps = _search(shape), min(max(2, int(TIMED_FLOPS / shape.flops)), TIMED_STEPS)
    try:
        search.run(1, draw)
        times = []
        for _ in range(TIMES):
            start = time.process_time()
            search.run(steps, draw)
            times.append((time.process_time() - start) / steps)
        return min(times)
    finally:
        torch.set_num_threads(threads)


def _search(shape: Shape) -> Search:
    import torch

    from adanet_train.config import Config
    from adanet_train.search.descent import Problem, Search

    draw = torch.Generator().manual_seed(0)
    inputs = [torch.rand(paper.TRAIN_SIZE, n, generator=draw, dtype=torch.float64) for n in shape.existing]
    y = torch.where(torch.rand(paper.TRAIN_SIZE, generator=draw) < 0.5, -1.0, 1.0).double()
    below = [0, *shape.units[:-1]]
    U = [
        torch.randn(n, x.shape[1] + own, generator=draw, dtype=torch.float64) / 20
        for n, x, own in zip(shape.units, inputs, below, strict=True)
    ]
    problem = Problem(inputs, y, torch.zeros_like(y), (len(U),))
    return Search(problem, U, [torch.ones(shape.units[-1], dtype=torch.float64)], Config(batch=BATCH))


def estimate(rounds: int = ROUNDS) -> dict[str, Any]:
    """Core hours here and GPU hours by method, with what they were estimated from."""
    methods = {name: _estimated(shapes) for name, shapes in work(rounds).items()}
    total = {key: round(sum(found[key] for found in methods.values()), 1) for key in next(iter(methods.values()))}
    return {
        "what": "an estimate from measured times of single steps; the GPU was not measured",
        "rounds of AdaNet": rounds,
        "gpu": f"{GPU}: published peak {PEAK:.3g} flop/s; launches: {KERNELS} kernels a step at {LAUNCH:g} s",
        "methods": methods,
        "total": total,
    }


def _estimated(shapes: Mapping[Shape, float]) -> dict[str, float]:
    """Hours of one core here, of the GPU at its peak, and of the GPU if it launched every kernel by itself."""
    here = sum(count * seconds_per_step(shape) for shape, count in shapes.items())
    peak = sum(count * shape.flops for shape, count in shapes.items()) / PEAK
    launches = sum(count for count in shapes.values()) * KERNELS * LAUNCH
    hours = {"core hours here": here, "gpu hours at peak": peak, "gpu hours of launches": launches}
    return {name: round(value / 3600, 1) for name, value in hours.items()}


def parser() -> Parser:
    options = Parser(prog="python -m verify.experiments.cost", description=__doc__)
    options.add_argument("files", nargs="*", metavar="FILE", help="results to which the estimate is added")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    return console.run(parser(), add_estimate, argv)


def add_estimate(arguments: argparse.Namespace) -> int:
    known = {path: results.read(path) for path in arguments.files}
    found = estimate()
    print(json.dumps(found, indent=1))
    for path, result in known.items():
        results.write(path, {**result, "full_grid_cost": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
