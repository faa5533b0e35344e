"""Ten classes and three: AdaNet and a network trained for its certificate, beside LR and MLP of scikit-learn.

    adanet-experiment classes --sets digits,iris,wine
    adanet-experiment classes --sets mnist --data-dir DIR --methods certificate

A set without a test part is split: three quarters for training, the rest for the held-out bound. Each part of a set is
written when it is done; a part that is in the file is not run again.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adanet_train.app import run
from adanet_train.core.config import Config
from adanet_train.core.training import Trained
from adanet_train.data import datasets
from adanet_train.data.features import FeatureMap
from adanet_train.model.trained import model_of
from verify.experiments.running import results
from verify.reading.points import GivenPoints
from verify.records.question import Question
from verify.rows.report import build

SETS = ("iris", "wine", "digits", "mnist", "fashion", "cifar10")


def parts(name: str, data_dir: str | None, seed: int, *, centred: bool) -> Any:
    """The training and the test part as (Psi, y), and the feature map."""
    train = datasets.load(name, data_dir=data_dir)
    if name in ("mnist", "fashion", "cifar10"):
        test = datasets.load(name, data_dir=data_dir, test=True)
    else:
        order = np.random.default_rng(seed).permutation(train.m)
        cut = (order[train.m // 4 :], order[: train.m // 4])
        train, test = (replace(train, values=train.values[rows], y=train.y[rows]) for rows in cut)
    if centred and train.known_range is None:  # the map is learned on a quarter, which is not trained on
        order = np.random.default_rng(seed).permutation(train.m)
        learned, kept = order[: train.m // 4], np.sort(order[train.m // 4 :])
        features: Any = FeatureMap.learned(train.values[learned], train.names, bias=True)
        train = replace(train, values=train.values[kept], y=train.y[kept])
    else:  # where no range is known, fitted on the training part: no bound covers it then
        features = train.feature_map(center=centred)
    return (train.Psi(features), train.y), (test.Psi(features), test.y), features


def adanet(train: Any, test: Any, features: Any, seed: int) -> dict[str, Any]:
    """AdaNet at its defaults, and the CPU seconds of the training alone."""
    start = time.process_time()
    trained = run.trainer("adanet")(*map(torch.from_numpy, train), Config(seed=seed))
    seconds = round(time.process_time() - start, 1)
    return {**said(trained, train, test, features), "fit_seconds": seconds}


def certificate(train: Any, test: Any, features: Any, seed: int) -> dict[str, Any]:
    """The linear network of least vote-certificate-multiclass; the features in [-1, 1]."""
    Psi, y = map(torch.from_numpy, train)
    return said(run.trainer("adanet")(Psi, y, Config(objective="vote", seed=seed)), train, test, features)


def said(trained: Trained, train: Any, test: Any, features: Any) -> dict[str, Any]:
    """What the statements say about the network at delta = .05."""
    model = model_of(trained, "adanet", features=features, sample=None)
    question = Question(draws=None, discrete=True)
    built = build(model, question, sample=GivenPoints(*train), test=GivenPoints(*test))
    assert built.test is not None
    every = {
        bound.id: {"value": bound.value, "raw": bound.raw, "why_not": list(bound.why_not)} for bound in built.bounds
    }
    facts = {"n": list(built.model.n), "train_error": built.sample.train_error, "test_error": built.test.error}
    return {**facts, "held_out": built.test.upper, "delta": built.delta, "bounds": every}


def lr(train: Any, test: Any, features: Any, seed: int) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression

    return _peer(LogisticRegression(), train, test)


def mlp(train: Any, test: Any, features: Any, seed: int) -> dict[str, Any]:
    """MLPClassifier at its defaults; with early stopping from 20,000 points on."""
    from sklearn.neural_network import MLPClassifier

    return _peer(MLPClassifier(random_state=seed, early_stopping=len(train[1]) >= 20_000), train, test)


def _peer(model: Any, train: Any, test: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"test_error": float(np.mean(model.fit(*train).predict(test[0]) != test[1]))}


PARTS = {"adanet": adanet, "certificate": certificate, "lr": lr, "mlp": mlp}


def done(name: str, part: str, data_dir: str | None, seed: int) -> dict[str, Any]:
    train, test, features = parts(name, data_dir, seed, centred=part == "certificate")
    start = time.process_time()
    results_of = PARTS[part](train, test, features, seed)
    label = {"data": name, "classes": int(train[1].max()) + 1, "m": len(train[1]), "method": part}
    return {**label, **results_of, "cpu_seconds": round(time.process_time() - start, 1)}


def measure(
    out: Path, names: Sequence[str], methods: Sequence[str], data_dir: str | None, seed: int, say: Callable[[str], None]
) -> None:
    """Run what is not in the file yet, and write every part of a set as it is done."""
    torch.set_num_threads(1)
    asked = itertools.product(names or SETS, methods or PARTS)
    for name, part in results.missing(out, asked, tuple, lambda row: (row["data"], row["method"])):
        row = done(name, part, data_dir, seed)
        rows = [*results.stored(out), row]
        say(f"{name}: {part}, test error {row['test_error']:.4f}, {row['cpu_seconds']} CPU seconds")
        total = sum(row["cpu_seconds"] for row in rows)
        results.write(out, "classes", "adanet-experiment classes --data-dir DIR", seed, total, rows)
