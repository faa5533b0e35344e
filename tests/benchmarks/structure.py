"""python -m tests.benchmarks.structure [--data-dir DIR] [TASK…]: does the structure adapt to the task?

Writes paper_notes/results/structure.json: test accuracy, units and multiply-adds of AdaNet after every round, and of
networks of several sizes (MLPClassifier, stopped early), on tasks that need no hidden layer, one, and two, and on the
paper's CIFAR-10 pairs. Every finished run is kept; the same command goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adanet_train.core.files import versions, write_file
from paper_notes.tables import UNITS
from tests.benchmarks.__main__ import machine

RESULTS = Path(__file__).parents[2] / "paper_notes" / "results" / "structure.json"
M, TESTED, N_0, SEEDS = 4000, 10_000, 15, (0, 1, 2)
HIDDEN: tuple[tuple[int, ...], ...] = ((), (2,), (8,), (50,), (400,), (8, 8), (50, 50))
WIDTHS = (8, 50)
"""B, the units a layer of each of eight members; the pairs with the last, which is the default, alone."""

Task = tuple[Any, Any, Any, Any]


def generated(layers: int) -> Callable[[int], Task]:
    """P(y = 1 | x) = σ(6 f(x)), f a linear function or a ReLU network with hidden layers of 8 and then 6 units, of mean
    0 and variance 1: then no model says more than f itself. (Labels flipped at random would ask for an output that
    saturates, and so for hidden units, where f is linear.)"""

    def make(seed: int) -> Task:
        draw = np.random.default_rng([layers, seed])
        X = draw.normal(size=(M + TESTED, N_0))
        h = X
        for units in (8, 6)[:layers]:
            h = h @ draw.normal(size=(h.shape[1], units))
            h = np.maximum(h - h.mean(0), 0)
        f = h @ draw.normal(size=h.shape[1])
        f = (f - f.mean()) / f.std()
        y = draw.random(len(f)) < 1 / (1 + np.exp(-6 * f))
        return X[:M], y[:M], X[M:], y[M:]

    return make


def cifar(pair: str, data_dir: str | None) -> Callable[[int], Task]:
    def make(seed: int) -> Task:
        from adanet_train.data import datasets

        train, test = (datasets.load(f"cifar10:{pair}", data_dir=data_dir, test=part) for part in (False, True))
        return train.values, train.y > 0, test.values, test.y > 0

    return make


def adanet(task: Task, width: int, seed: int) -> Iterator[dict[str, Any]]:
    """A row for every round: the network as it then was. Multiply-adds count the weights that are not 0."""
    import torch

    from adanet_train import AdaNetClassifier
    from adanet_train.app import run
    from adanet_train.core.points import Points

    X, y, X_test, y_test = task
    model = AdaNetClassifier(width=width, seed=seed)
    rounds: list[Any] = []
    model._more = lambda *_: {"callback": rounds.append}  # type: ignore[method-assign]
    begin = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - begin
    points = Points(X_test, model.model_.features)
    signs = torch.from_numpy(model._signs(y_test))
    for t, trained in enumerate(rounds, start=1):
        if trained.history[-1]["chosen"] < 0:
            continue
        network = trained.network
        weights = [*network.hidden.values(), *network.output.values()]
        yield {
            "round": t,
            "rounds": len(rounds),
            "depth": network.depth,
            "n": list(network.n),
            "units": sum(network.n[1:]),
            "multiply_adds": sum(int((part != 0).sum()) for part in weights),
            "accuracy": 1 - run.error_rate(network, points, signs),
            "seconds": round(seconds, 2),
        }


def plain(task: Task, hidden: tuple[int, ...], seed: int) -> Iterator[dict[str, Any]]:
    """MLPClassifier, and logistic regression for no hidden layer."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, X_test, y_test = task
    learner: Any = LogisticRegression(max_iter=1000)
    if hidden:
        learner = MLPClassifier(hidden, early_stopping=True, max_iter=400, random_state=seed)
    begin = time.process_time()
    fitted = make_pipeline(StandardScaler(), learner).fit(X, y)
    sizes = (X.shape[1], *hidden, 1)
    yield {
        "depth": len(sizes) - 1,
        "n": list(sizes),
        "units": sum(sizes[1:]),
        "multiply_adds": sum(a * b for a, b in itertools.pairwise(sizes)),
        "accuracy": float(fitted.score(X_test, y_test)),
        "seconds": round(time.process_time() - begin, 2),
    }


def runs(data_dir: str | None) -> Iterator[tuple[str, int, str, Callable[[], Task], Callable[[Task], Any]]]:
    """(task, seed, method, the data, the work)."""
    tasks = {name: generated(layers) for layers, name in enumerate(("linear", "one hidden layer", "two hidden layers"))}
    pairs = {pair: cifar(pair, data_dir) for pair in UNITS}
    for seed in SEEDS:  # the pairs, which have one split, before the further seeds
        for name, make in (tasks | (pairs if seed == SEEDS[0] else {})).items():
            data = _once(make, seed)
            for width in WIDTHS if name in tasks else WIDTHS[-1:]:
                yield name, seed, f"AdaNet, B = {width}", data, lambda task, B=width, s=seed: adanet(task, B, s)
            for hidden in HIDDEN:
                shown = f"NN, {'-'.join(map(str, hidden))}" if hidden else "LR"
                yield name, seed, shown, data, lambda task, h=hidden, s=seed: plain(task, h, s)


def _once(make: Callable[[int], Task], seed: int) -> Callable[[], Task]:
    found: list[Task] = []

    def data() -> Task:
        if not found:
            found.append(make(seed))
        return found[0]

    return data


def main(argv: list[str] | None = None) -> int:
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    parser.add_argument("--minutes", type=float, default=1e9, help="end after so many, to go on later")
    parser.add_argument("tasks", nargs="*")
    arguments = parser.parse_args(argv)
    end = time.monotonic() + 60 * arguments.minutes
    for task, seed, method, data, work in runs(arguments.data_dir):
        record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}
        done = {(row["task"], row["seed"], row["method"]) for row in record["rows"]}
        if (task, seed, method) in done or (arguments.tasks and task not in arguments.tasks):
            continue
        if time.monotonic() > end:
            return 1
        found = [{"task": task, "seed": seed, "method": method, **row} for row in work(data())]
        record["rows"] += found
        record |= {
            "command": "python -m tests.benchmarks.structure",
            "seed": 0,
            "machine": machine(),
            "versions": versions(("adanet-theory", "numpy", "scikit-learn", "torch")),
            "seconds": round(sum(row["seconds"] for row in record["rows"] if row.get("round", 1) == 1), 1),
            "m": M,
            "tested": TESTED,
            "paper_units": {pair: list(units) for pair, units in UNITS.items()},
        }
        write_file(RESULTS, json.dumps(record, indent=1) + "\n")
        if found:
            print({key: found[-1][key] for key in ("task", "seed", "method", "n", "accuracy", "seconds")}, flush=True)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
