"""Tables 1 and 2 of the paper: AdaNet, LR, NN and NN-GP on pairs of CIFAR-10, ten folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adanet_theory.checks import check
from verify.experiments.gp import search
from verify.experiments.grids import Grid, Setting
from verify.experiments.runner import Runner
from verify.experiments.selection import Choice, best, row
from verify.experiments.significance import corrected_t_test, holm
from verify.experiments.trials import Trial, sizes

PAIRS = ("deer-truck", "deer-horse", "automobile-truck", "cat-dog", "dog-horse")
METHODS = ("adanet", "lr", "nn", "nn-gp")

Row = dict[str, Any]


class Protocol:
    """What all methods share: the runner, the grid, the folds and the seed."""

    def __init__(self, runner: Runner, grid: Grid, *, folds: Sequence[int], seed: int) -> None:
        self.runner, self.grid, self.folds, self.seed = runner, grid, folds, seed

    def evaluate(self, data: str, method: str, settings: Sequence[Setting]) -> list[list[dict[str, Any]]]:
        """The results of every setting on every fold; all of them are one wave of trials."""
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
    protocol: Protocol, pairs: Iterable[str], methods: Iterable[str], report: Callable[[list[Row]], None]
) -> list[Row]:
    """One row for each pair and method; `report` sees the rows after each."""
    rows: list[Row] = []
    for pair in pairs:
        for method in methods:
            choice = protocol.choose(data_of(pair), method)
            rows.append({"pair": pair, "method": method, **row(choice)})
            report(rows)
    return rows


def data_of(pair: str) -> str:
    """A pair of CIFAR-10's classes, or the name of other data (digits:3-8), for trying."""
    return pair if ":" in pair or pair == "breast-cancer" else f"cifar10:{pair}"


def comparisons(
    rows: Sequence[Mapping[str, Any]], data_dir: str | None, method: str = "adanet"
) -> list[dict[str, Any]]:
    """The method against every other on each pair, p-values by Nadeau and Bengio, and adjusted by Holm for all."""
    found: list[dict[str, Any]] = []
    for ours in (one for one in rows if one["method"] == method):
        train, test = sizes(data_of(ours["pair"]), data_dir)
        for theirs in (one for one in rows if one["pair"] == ours["pair"] and one["method"] != method):
            check(len(ours["tests"]) == len(theirs["tests"]), "methods compared must have run on the same folds.")
            if len(ours["tests"]) < 2 or theirs["top"] == 0:  # one fold, or f = 0 on all of them
                continue
            differences = [a - b for a, b in zip(ours["tests"], theirs["tests"], strict=True)]
            seen = corrected_t_test(differences, train=train, test=test)
            values = {"difference": seen.difference, "t": seen.t, "p": seen.p}
            found.append({"pair": ours["pair"], "against": theirs["method"], **values})
    for entry, adjusted in zip(found, holm([entry["p"] for entry in found]), strict=True):
        entry["p_holm"] = adjusted
    return found
