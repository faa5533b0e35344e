"""verify-bounds on the networks that won: what the theory says of the networks that the paper reports."""

from __future__ import annotations

import dataclasses
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adanet_theory.checks import check
from verify.experiments import criteo_ads, trials
from verify.experiments.cifar_pairs import Row, data_of
from verify.experiments.runner import Runner
from verify.experiments.tools import run_module
from verify.experiments.trials import Trial

if TYPE_CHECKING:
    from torch import Tensor

    from adanet_train.model.file import ModelFile

TRAINERS = {
    **{method: method for method in ("adanet", "lr", "nn", "cvx", "cvx-exact")},
    "nn-gp": "nn",
    **dict.fromkeys(("base", "R", "P", "D", "SD", "units", "bound"), "adanet"),
}
"""Who trains what a row of cifar-pairs or variants names."""


def bounds(runner: Runner, winners: Sequence[Mapping[str, Any]], *, folds: Sequence[int], seed: int) -> list[Row]:
    """The winners trained again on the folds, to the same bits, and asked about; one row per network."""
    todo = [(winner, trial_of(winner, fold, seed)) for winner in winners for fold in folds]
    results = runner.run([trial for _, trial in todo])
    return [
        {"pair": winner["pair"], "method": winner["method"], "fold": trial.fold, **result}
        for (winner, trial), result in zip(todo, results, strict=True)
    ]


def criteo_bounds(runner: Runner, winners: Sequence[Mapping[str, Any]], *, seed: int) -> list[Row]:
    """The same for the winners of `criteo`, where `runner.data_dir` is the file and there are no folds."""
    todo = [criteo_trial_of(winner, runner.data_dir, seed) for winner in winners]
    results = runner.run(todo)
    return [{"pair": "criteo", "method": trial.method, **result} for trial, result in zip(todo, results, strict=True)]


def trial_of(winner: Mapping[str, Any], fold: int, seed: int) -> Trial:
    known = winner.get("method") in TRAINERS and isinstance(winner.get("setting"), dict) and "pair" in winner
    check(known, f"a winner needs pair, setting and one of the methods {', '.join(TRAINERS)}, got {winner!r:.100}.")
    method = TRAINERS[winner["method"]]
    return Trial(data_of(winner["pair"]), method, fold, winner["setting"], seed, kind="bounds")


def criteo_trial_of(winner: Mapping[str, Any], path: str | None, seed: int) -> Trial:
    methods = criteo_ads.METHODS
    known = winner.get("method") in methods and isinstance(winner.get("setting"), dict)
    check(known, f"a winner of criteo needs setting and one of {', '.join(methods)}, got {winner!r:.100}.")
    return dataclasses.replace(criteo_ads.trial_of(path, winner["method"], winner["setting"], seed), kind="bounds")


def work(trial: Trial, data_dir: str | None) -> dict[str, Any]:
    """Train and ask."""
    from adanet_train import run

    start = time.perf_counter()
    fold = trials.fold_of(trial, data_dir)
    trained = trials.train(trial, fold)
    model = run.model_of(trained, trial.method, features=fold.features, sample=None)
    return {**asked(model, fold.train, fold.test), "seconds": round(time.perf_counter() - start, 3)}


def criteo_work(trial: Trial, path: str | None) -> dict[str, Any]:
    """Train and ask; `path` is that of the data."""
    start = time.perf_counter()
    model, train, test = criteo_ads.model_of(trial, path)
    return {**asked(model, train, test), "seconds": round(time.perf_counter() - start, 3)}


def asked(model: ModelFile, train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """What verify-bounds says of the network; the files that it reads are gone afterwards."""
    import numpy as np

    from adanet_train.model import file as model_file

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        model_file.write(place / "model.pt", model)
        for name, (Psi, y) in (("train", train), ("test", test)):
            np.savez(place / f"{name}.npz", Psi=Psi.numpy(), y=y.numpy())
        data = ["--data", str(place / "train.npz"), "--test-data", str(place / "test.npz")]
        words = [str(place / "model.pt"), *data, "--no-estimates", "--json", "--device", "cpu"]
        return summary(json.loads(run_module("verify.network.cli", *words, statuses=(0, 1))))


def summary(said: Mapping[str, Any]) -> dict[str, Any]:
    """Of the report: the network, its errors, and each bound with the reason where it does not apply."""
    model, sample, test = said["model"], said["sample"], said["test"]
    return {
        "n": model["n"],
        "W": model["W"],
        "path_norm": model["path_norm"],
        "m": sample["m"],
        "train_error": sample["train_error"],
        "test_error": test["error"],
        "verdict": said["verdict"],
        "bounds": {
            bound["id"]: {name: bound[name] for name in ("value", "raw", "applies", "why_not")}
            for bound in said["bounds"]
        },
    }
