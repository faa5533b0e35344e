"""Tables 1 to 3 of the paper on pairs of CIFAR-10, ten folds: AdaNet, LR, NN and NN-GP, and variants of AdaNet.

Table 3 varies how AdaNet finds its candidates, on one pair. To the paper's base, R, P, D and SD we add AdaNet.CVX with
its closed-form step and with the exact one, and AdaNet with the λ and β that make the objective a bound on the risk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from adanet_theory.checks import check
from verify.experiments.running.gp import search
from verify.experiments.running.grids import Grid, Setting, Variant
from verify.experiments.running.runner import Runner
from verify.experiments.running.selection import Choice, PairRow, best
from verify.experiments.running.significance import corrected_t_test, holm
from verify.experiments.running.trials import DataSource, Trial, sizes

METHODS = ("adanet", "lr", "nn", "nn-gp")


class Protocol:
    """What all methods share: the runner, the grid, the folds and the seed."""

    def __init__(self, runner: Runner, grid: Grid, *, folds: Sequence[int], seed: int) -> None:
        self.runner, self.grid, self.folds, self.seed = runner, grid, folds, seed

    def evaluate(self, data: str, method: str, settings: Sequence[Setting]) -> list[list[dict[str, Any]]]:
        """The results of every setting on every fold; all trials are started together."""
        trials = [Trial(data, method, fold, setting, self.seed) for setting in settings for fold in self.folds]
        results = self.runner.run(trials)
        size = len(self.folds)
        return [results[start : start + size] for start in range(0, len(results), size)]

    def choose(self, data: str, method: str) -> Choice:
        """The method's best setting by the mean validation accuracy over the folds."""
        if method == "nn-gp":

            def evaluate(setting: Setting) -> list[dict[str, Any]]:
                return self.evaluate(data, "nn", [setting])[0]

            label = {"data": data, "folds": list(self.folds)}
            return search(self.grid.nn_gp, evaluate, self.runner.store, label, self.seed)
        settings = getattr(self.grid, method)
        return best(settings, self.evaluate(data, method, settings))


def cifar_pairs(
    protocol: Protocol, pairs: Iterable[str], methods: Iterable[str], report: Callable[[list[PairRow]], None]
) -> list[PairRow]:
    """One row for each pair and method; `report` sees the rows after each."""
    rows: list[PairRow] = []
    for pair in pairs:
        for method in methods:
            rows.append(PairRow.of(pair, method, protocol.choose(data_of(pair), method)))
            report(rows)
    return rows


def variants(
    protocol: Protocol, pair: str, chosen: Iterable[Variant], report: Callable[[list[PairRow]], None]
) -> list[PairRow]:
    """One row for each variant, with the setting of the best mean validation accuracy."""
    rows: list[PairRow] = []
    for variant in chosen:
        results = protocol.evaluate(data_of(pair), variant.method, variant.settings)
        rows.append(PairRow.of(pair, variant.name, best(variant.settings, results)))
        report(rows)
    return rows


def data_of(pair: str) -> str:
    """A pair of CIFAR-10's classes, or the name of other data (digits:3-8), for trying."""
    return pair if ":" in pair or pair == "breast-cancer" else f"cifar10:{pair}"


@dataclass(frozen=True)
class PairedTest:
    """One method against another on a pair: p by Nadeau and Bengio, and adjusted by Holm for all of the table."""

    pair: str
    against: str
    difference: float
    t: float | None
    p: float
    p_holm: float


def comparisons(rows: Sequence[PairRow], source: DataSource, method: str = "adanet") -> list[PairedTest]:
    """The method against every other on each pair."""
    compared = [
        _compared(ours, theirs, source)
        for ours in rows
        if ours.method == method
        for theirs in rows
        if theirs.pair == ours.pair and theirs.method != method
        if len(ours.tests) > 1 and theirs.scores.top != 0  # with one fold, or f = 0 on all, there is nothing to compare
    ]
    return [replace(one, p_holm=p) for one, p in zip(compared, holm([one.p for one in compared]), strict=True)]


def _compared(ours: PairRow, theirs: PairRow, source: DataSource) -> PairedTest:
    check(len(ours.tests) == len(theirs.tests), "methods compared must have run on the same folds.")
    train, test = sizes(data_of(ours.pair), source)
    differences = [a - b for a, b in zip(ours.tests, theirs.tests, strict=True)]
    seen = corrected_t_test(differences, train=train, test=test)
    return PairedTest(ours.pair, theirs.method, seen.difference, seen.t, seen.p, p_holm=seen.p)
