"""verify-bounds on the networks that won: what the theory says of the networks that the paper reports."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adanet_theory.spec import check
from adanet_train.experiment import trials
from adanet_train.experiment.cifar_pairs import Row, data_of
from adanet_train.experiment.runner import Runner
from adanet_train.experiment.tools import run_module
from adanet_train.experiment.trials import Trial

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


def trial_of(winner: Mapping[str, Any], fold: int, seed: int) -> Trial:
    known = winner.get("method") in TRAINERS and isinstance(winner.get("setting"), dict) and "pair" in winner
    check(known, f"a winner needs pair, setting and one of the methods {', '.join(TRAINERS)}, got {winner!r:.100}.")
    method = TRAINERS[winner["method"]]
    return Trial(data_of(winner["pair"]), method, fold, winner["setting"], seed, kind="bounds")


def work(trial: Trial, data_dir: str | None) -> dict[str, Any]:
    """Train, write model.pt with its sample and the test fold beside it, run verify-bounds, and keep what it says."""
    import numpy as np

    from adanet_train import model_file, run

    start = time.perf_counter()
    fold = trials.fold_of(trial, data_dir)
    trained = trials.train(trial, fold)
    with tempfile.TemporaryDirectory() as folder:
        model, test = Path(folder) / "model.pt", Path(folder) / "test.npz"
        sample = model_file.Sample.of(*fold.train)
        model_file.write(model, run.model_of(trained, trial.method, features=fold.features, sample=sample))
        np.savez(test, Psi=fold.test[0].numpy(), y=fold.test[1].numpy())
        words = [str(model), "--test-data", str(test), "--no-estimates", "--json", "--device", "cpu"]
        said = json.loads(run_module("verify.cli", *words, statuses=(0, 1)))
    return {**summary(said), "seconds": round(time.perf_counter() - start, 3)}


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
