"""Does the structure adapt to the task? adanet-experiment structure [--data-dir DIR] [--sets TASK,..].

Test accuracy, units and multiply-adds of AdaNet after every round, and of
networks of several sizes (MLPClassifier, stopped early), on tasks that need no hidden layer, one, and two, and on the
paper's CIFAR-10 pairs. Every finished run is kept; the same command continues.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from paper_notes.tables import UNITS
from verify.experiments.running import results

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
    model = AdaNetClassifier(width=width, random_state=seed)
    rounds: list[Any] = []
    model._more = lambda *_: {"callback": rounds.append}
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
    """MLPClassifier, or logistic regression without a hidden layer."""
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
                yield name, seed, f"AdaNet, B = {width}", data, partial(adanet, width=width, seed=seed)
            for hidden in HIDDEN:
                shown = f"NN, {'-'.join(map(str, hidden))}" if hidden else "LR"
                yield name, seed, shown, data, partial(plain, hidden=hidden, seed=seed)


def _once(make: Callable[[int], Task], seed: int) -> Callable[[], Task]:
    tasks: list[Task] = []

    def data() -> Task:
        if not tasks:
            tasks.append(make(seed))
        return tasks[0]

    return data


def structure(out: Path, data_dir: str | None, tasks: Sequence[str], say: Callable[[str], None]) -> None:
    """Run what is not in the file yet, and write every run as it is done."""
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    asked = [one for one in runs(data_dir) if not tasks or one[0] in tasks]
    missing = results.missing(out, asked, lambda one: one[:3], lambda row: (row["task"], row["seed"], row["method"]))
    for task, seed, method, data, work in missing:
        measured = [{"task": task, "seed": seed, "method": method, **row} for row in work(data())]
        _write(out, results.stored(out) + measured)
        if measured:
            last = measured[-1]
            say(f"{task}, seed {seed}: {method}, accuracy {last['accuracy']:.4f}, {last['seconds']} s")


def _write(out: Path, rows: list[dict[str, Any]]) -> None:
    seconds = sum(row["seconds"] for row in rows if row.get("round", 1) == 1)
    units = {pair: list(units) for pair, units in UNITS.items()}
    more = {"m": M, "tested": TESTED, "paper_units": units}
    results.write(out, "structure", "adanet-experiment structure", 0, seconds, rows, **more)
