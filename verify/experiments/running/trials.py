"""A trial: one method with one setting, trained on one fold. It is data, so that any process can run it.

The paper has ten folds: fold i to test, fold i+1 (mod 10) to validate, the other eight to train.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import check
from paper_notes.tables import FOLDS

if TYPE_CHECKING:
    from torch import Tensor

    from adanet_train.core.config import Config
    from adanet_train.core.training import Trained
    from adanet_train.data.datasets import Dataset
    from adanet_train.data.features import FeatureMap


Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FoldParts:
    train: Index
    validation: Index
    test: Index


def split(m: int, i: int, seed: int) -> FoldParts:
    """The i-th split of m points, shuffled by the seed alone, so that all methods meet the same folds.

    >>> parts = split(12_000, 9, seed=0)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (9600, 1200, 1200)
    >>> bool((parts.validation == split(12_000, 0, seed=0).test).all())
    True
    """
    check(0 <= i < FOLDS, f"a fold must be in 0..{FOLDS - 1}, got fold={i}.")
    check(m >= FOLDS, f"m must be >= {FOLDS} for {FOLDS} folds, got m={m}.")
    folds = np.array_split(np.random.default_rng(seed).permutation(m), FOLDS)
    test, validation = i, (i + 1) % FOLDS
    train = np.concatenate([fold for j, fold in enumerate(folds) if j not in (test, validation)])
    return FoldParts(train, folds[validation], folds[test])


@dataclass(frozen=True)
class DataSource:
    """Where a process finds the data that trials name: the folder of the data sets, and the file of Criteo's rows."""

    folder: str | None = None
    """None: $ADANET_DATA, or the current folder."""
    criteo: str | None = None


@dataclass(frozen=True)
class Trial:
    data: str
    """A name that `sample` knows, cifar10:deer-truck for one."""
    method: str
    """One of adanet_train.methods.trainers.METHODS."""
    fold: int
    setting: Mapping[str, Any] = field(default_factory=dict)
    """Settings of Config; what is not named is at its default, and the learner is the paper's."""
    seed: int = 0
    kind: str = "train"
    """What is done with it: "train", or "bounds" (train, and ask verify-bounds about the network)."""

    @property
    def description(self) -> dict[str, Any]:
        """What determines the result."""
        return {
            "kind": self.kind,
            "data": self.data,
            "method": self.method,
            "setting": {name: list(v) if isinstance(v, tuple) else v for name, v in sorted(self.setting.items())},
            "fold": self.fold,
            "seed": self.seed,
        }

    @property
    def config(self) -> Config:
        """The paper's learner if the setting names none; each fold has its own seed."""
        from adanet_train.core.config import Config

        seed = self.seed * FOLDS + self.fold
        return Config.from_dict({"learner": "gradient", **self.description["setting"], "seed": seed})


@dataclass(frozen=True, eq=False)
class Fold:
    """The three parts of a fold as the trainer sees them: (Psi, y) each."""

    features: FeatureMap | None
    train: tuple[Tensor, Tensor]
    validation: tuple[Tensor, Tensor]
    test: tuple[Tensor, Tensor]


@functools.lru_cache(maxsize=2)
def sample(name: str, source: DataSource) -> Dataset:
    """All points of a name; of CIFAR-10 those of the test batch too, as the paper's folds have 12,000 points."""
    from adanet_train.data import datasets
    from adanet_train.data.pictures import cifar10, image_features

    kind, _, pair = name.partition(":")
    if kind != "cifar10":
        return datasets.load(name, data_dir=source.folder)
    check(pair.count("-") == 1, f"a pair must be A-B, got {pair!r}.")
    a, b = pair.split("-")
    X, y = cifar10.load_features(a, b, source.folder)
    return datasets.Dataset(X, y, image_features.NAMES, known_range=(0.0, 1.0))


def fold_of(trial: Trial, source: DataSource) -> Fold:
    import torch

    dataset = sample(trial.data, source)
    features = dataset.feature_map()
    Psi, y = torch.from_numpy(dataset.Psi(features)), torch.from_numpy(dataset.y)
    parts = split(dataset.m, trial.fold, trial.seed)
    train, validation, test = ((Psi[rows], y[rows]) for rows in (parts.train, parts.validation, parts.test))
    return Fold(features, train, validation, test)


def train(trial: Trial, fold: Fold) -> Trained:
    """In one thread: trials run side by side, and the bits then do not depend on the number of cores."""
    from adanet_train.app.run import trainer
    from adanet_train.core.device import one_thread

    with one_thread():
        return trainer(trial.method)(*fold.train, trial.config)


def run(trial: Trial, source: DataSource) -> dict[str, Any]:
    """Accuracy on the three parts, the architecture, and the seconds of the training.

    Seconds of this process's CPU time: what else runs on the machine does not count.
    """
    from adanet_train.app.run import error_rate

    fold = fold_of(trial, source)
    start = time.process_time()
    trained = train(trial, fold)
    seconds = time.process_time() - start
    parts = {"train": fold.train, "validation": fold.validation, "test": fold.test}
    accuracies = {name: 1 - error_rate(trained.network, *part) for name, part in parts.items()}
    return {
        **accuracies,
        "n": list(trained.network.n),
        "rounds": len(trained.history),
        "objective": trained.history[-1]["objective"],
        "seconds": round(seconds, 3),
    }


def sizes(name: str, source: DataSource) -> tuple[int, int]:
    """How many points a fold trains on, and tests on."""
    m = sample(name, source).m
    parts = split(m, 0, 0)
    return len(parts.train), len(parts.test)
