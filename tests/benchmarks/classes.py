"""Ten classes and three: AdaNet beside LR and MLP of scikit-learn, and what the bounds say at delta = .05.

    python -m tests.benchmarks.classes digits iris wine -o paper_notes/results/classes.json
    python -m tests.benchmarks.classes mnist fashion cifar10 --data-dir DIR

A set without a test part is split, three quarters to train on. The held-out bound is on the rest.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from adanet_train import class_adanet, run
from adanet_train.config import Config
from adanet_train.data import datasets
from verify.experiments import results
from verify.network.question import Points, Question
from verify.network.report import build

CONFIG = Config(rounds=3, width=50, lam=1e-4, learner="units", steps=2000)


def parts(name: str, data_dir: str | None, seed: int) -> Any:
    """The training and the test part as (Psi, y), and the feature map."""
    train = datasets.load(name, data_dir=data_dir)
    if name in ("mnist", "fashion", "cifar10"):
        test = datasets.load(name, data_dir=data_dir, test=True)
    else:
        order = np.random.default_rng(seed).permutation(train.m)
        cut = (order[train.m // 4 :], order[: train.m // 4])
        train, test = (replace(train, values=train.values[rows], y=train.y[rows]) for rows in cut)
    features = train.feature_map()  # where no range is known, fitted on the training part: no bound covers it then
    return (train.Psi(features), train.y), (test.Psi(features), test.y), features


def peers(train: Any, test: Any, seed: int) -> dict[str, float]:
    """Test errors of scikit-learn's LR and MLP at their defaults, on the same features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    found = {}
    for name, model in (("lr", LogisticRegression(max_iter=1000)), ("mlp", MLPClassifier(random_state=seed))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[f"sklearn_{name}_test_error"] = float(np.mean(model.fit(*train).predict(test[0]) != test[1]))
    return found


def row(name: str, data_dir: str | None, seed: int) -> dict[str, Any]:
    train, test, features = parts(name, data_dir, seed)
    start = time.perf_counter()
    trained = class_adanet.train(*map(torch.from_numpy, train), CONFIG.replace(seed=seed))
    seconds = time.perf_counter() - start
    model = run.model_of(trained, "adanet", features=features, sample=None)
    said = build(model, Question(draws=None, discrete=True), sample=Points(*train), test=Points(*test))
    assert said.test is not None
    return {
        "data": name,
        "classes": said.classes,
        "m": said.sample.m,
        "n": list(said.model.n),
        "train_error": said.sample.train_error,
        "test_error": said.test.error,
        **peers(train, test, seed),
        "held_out": said.test.upper,
        "bounds": {
            bound.id: {"value": bound.value, "raw": bound.raw, "why_not": list(bound.why_not)} for bound in said.bounds
        },
        "delta": said.delta,
        "seconds": round(seconds, 1),
    }


def main(argv: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("names", nargs="+")
    options.add_argument("-o", "--output")
    options.add_argument("--data-dir")
    options.add_argument("--seed", type=int, default=0)
    arguments = options.parse_args(argv)
    torch.set_num_threads(1)
    rows = []
    for name in arguments.names:
        rows.append(row(name, arguments.data_dir, arguments.seed))
        print({key: value for key, value in rows[-1].items() if key != "bounds"}, flush=True)
    if arguments.output:
        command = shlex.join(["python", "-m", "tests.benchmarks.classes", *(argv or sys.argv[1:])])
        total = sum(found["seconds"] for found in rows)
        results.write(arguments.output, results.document("classes", command, arguments.seed, total, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
