"""verify-bounds on the winning networks: what the theory says about the networks that the paper reports."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adanet_theory.checks import check
from verify.experiments.protocols import criteo_ads
from verify.experiments.protocols.cifar_pairs import data_of
from verify.experiments.running import trials
from verify.experiments.running.runner import Runner
from verify.experiments.running.trials import DataSource, Trial

if TYPE_CHECKING:
    from torch import Tensor

    from adanet_train.model.model_file import ModelFile
    from verify.records.results import BoundReport

TRAINERS = {
    **{method: method for method in ("adanet", "lr", "nn", "cvx", "cvx-exact")},
    "nn-gp": "nn",
    **dict.fromkeys(("base", "R", "P", "D", "SD", "units", "bound"), "adanet"),
}
"""Who trains what a row of cifar-pairs or variants names."""


@dataclass(frozen=True)
class NetworkRow:
    """A row of the table: what verify-bounds says about a network; no fold if the data have none."""

    pair: str
    method: str
    fold: int | None
    said: Mapping[str, Any]

    @property
    def plain(self) -> dict[str, Any]:
        """The row as the file of results has it."""
        fold = {} if self.fold is None else {"fold": self.fold}
        return {"pair": self.pair, "method": self.method, **fold, **self.said}


def bounds(
    runner: Runner, winners: Sequence[Mapping[str, Any]], *, folds: Sequence[int], seed: int
) -> list[NetworkRow]:
    """Train the winners again on the folds, to the same bits, and verify them; one row per network."""
    todo = [(winner, trial_of(winner, fold, seed)) for winner in winners for fold in folds]
    results = runner.run([trial for _, trial in todo])
    return [
        NetworkRow(winner["pair"], winner["method"], trial.fold, result)
        for (winner, trial), result in zip(todo, results, strict=True)
    ]


def criteo_bounds(runner: Runner, winners: Sequence[Mapping[str, Any]], *, seed: int) -> list[NetworkRow]:
    """The same for the winners of `criteo`, which have no folds."""
    todo = [criteo_trial_of(winner, runner.source, seed) for winner in winners]
    results = runner.run(todo)
    return [NetworkRow("criteo", trial.method, None, result) for trial, result in zip(todo, results, strict=True)]


def trial_of(winner: Mapping[str, Any], fold: int, seed: int) -> Trial:
    known = winner.get("method") in TRAINERS and isinstance(winner.get("setting"), dict) and "pair" in winner
    check(known, f"a winner needs pair, setting and one of the methods {', '.join(TRAINERS)}, got {winner!r:.100}.")
    method = TRAINERS[winner["method"]]
    return Trial(data_of(winner["pair"]), method, fold, winner["setting"], seed, kind="bounds")


def criteo_trial_of(winner: Mapping[str, Any], source: DataSource, seed: int) -> Trial:
    methods = criteo_ads.METHODS
    known = winner.get("method") in methods and isinstance(winner.get("setting"), dict)
    check(known, f"a winner of criteo needs setting and one of {', '.join(methods)}, got {winner!r:.100}.")
    return dataclasses.replace(criteo_ads.trial_of(source, winner["method"], winner["setting"], seed), kind="bounds")


def work(trial: Trial, source: DataSource) -> dict[str, Any]:
    """Train the network and verify it."""
    start = time.perf_counter()
    trained = criteo_ads.model_of if trial.data.startswith("criteo:") else _model_of
    said = asked(*trained(trial, source))
    return {**said, "seconds": round(time.perf_counter() - start, 3)}


def _model_of(trial: Trial, source: DataSource) -> tuple[ModelFile, tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The trial's network as a model.pt without its sample, the training part and the test part, as (Psi, y)."""
    from adanet_train.model.trained import model_of

    fold = trials.fold_of(trial, source)
    trained = trials.train(trial, fold)
    return model_of(trained, trial.method, features=fold.features, sample=None), fold.train, fold.test


def asked(model: ModelFile, train: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """What verify-bounds --no-estimates --discrete says about the network.

    The parts are different rows of the data: a row that repeats was drawn twice, and no test row was trained on.
    """
    from verify.reading.points import GivenPoints
    from verify.records.question import Question
    from verify.rows.report import build

    sample, held_out = (GivenPoints(Psi.numpy(), y.numpy()) for Psi, y in (train, test))
    return summary(build(model, Question(draws=None, discrete=True), sample=sample, test=held_out))


def summary(said: BoundReport) -> dict[str, Any]:
    """From the report: the network, its errors, and each bound, with the reason if it does not apply."""
    return {
        "n": list(said.model.n),
        "W": said.model.W,
        "path_norm": said.model.path_norm,
        "m": said.sample.m,
        "train_error": said.sample.train_error,
        "test_error": None if said.test is None else said.test.error,
        "verdict": said.verdict,
        "bounds": {
            row.id: {"value": row.value, "raw": row.raw, "applies": row.applies, "why_not": list(row.why_not)}
            for row in said.bounds
        },
    }
