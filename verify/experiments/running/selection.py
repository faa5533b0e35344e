"""From the results of all settings to one row: the setting with the best mean validation accuracy, and its test folds.

One setting is chosen for all folds, and a fold that validates here tests there, as in the paper. So every
accuracy is optimistic, a little more for methods with many settings (claim selection-leak).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Result = Mapping[str, Any]


@dataclass(frozen=True)
class Choice:
    """A setting, its results fold by fold, how many settings it was chosen from, and the seconds they all took."""

    setting: Mapping[str, Any]
    results: Sequence[Result]
    tried: int
    seconds: float

    @property
    def validation(self) -> float:
        return statistics.fmean(result["validation"] for result in self.results)

    @property
    def tests(self) -> list[float]:
        return [result["test"] for result in self.results]


def best(settings: Sequence[Mapping[str, Any]], results: Sequence[Sequence[Result]]) -> Choice:
    """results[j] are those of settings[j], one per fold; of equals the first is taken.

    >>> folds = [[{"validation": 0.5}, {"validation": 0.7}], [{"validation": 0.9}, {"validation": 0.4}]]
    >>> best([{"lam": 0}, {"lam": 1}], folds).setting
    {'lam': 1}
    """
    seconds = sum(result.get("seconds", 0.0) for scored in results for result in scored)
    choices = [
        Choice(setting, scored, len(settings), seconds) for setting, scored in zip(settings, results, strict=True)
    ]
    return max(choices, key=lambda choice: choice.validation)


@dataclass(frozen=True)
class Scores:
    """Mean and standard deviation over the test folds, and the architecture."""

    accuracy: float
    sd: float | None
    validation: float
    train: float
    units: Sequence[float]
    """Mean numbers of units of layers 1, 2, .. below the top one, whose units no activation follows."""
    top: float
    """Those of the top layer; a layer that a fold's network does not have counts as 0."""
    rounds: float
    setting: Mapping[str, Any]
    tried: int
    seconds: float


def scores(choice: Choice) -> Scores:
    tests = choice.tests
    return Scores(
        accuracy=statistics.fmean(tests),
        sd=statistics.stdev(tests) if len(tests) > 1 else None,
        validation=choice.validation,
        train=statistics.fmean(result["train"] for result in choice.results),
        units=mean_units([result["n"][1:-1] for result in choice.results]),
        top=statistics.fmean(result["n"][-1] for result in choice.results),
        rounds=statistics.fmean(result["rounds"] for result in choice.results),
        setting=dict(choice.setting),
        tried=choice.tried,
        seconds=round(choice.seconds, 1),
    )


@dataclass(frozen=True)
class PairRow:
    """A row of cifar-pairs or variants: what a method's best setting does on a pair, fold by fold."""

    pair: str
    method: str
    scores: Scores
    tests: Sequence[float]

    @classmethod
    def of(cls, pair: str, method: str, choice: Choice) -> PairRow:
        return cls(pair, method, scores(choice), choice.tests)

    @property
    def plain(self) -> dict[str, Any]:
        """The row as the file of results has it."""
        return {"pair": self.pair, "method": self.method, **vars(self.scores), "tests": self.tests}


def mean_units(units: Sequence[Sequence[int]]) -> list[float]:
    """
    >>> mean_units([[100], [100, 50]])
    [100.0, 25.0]
    """
    depth = max(map(len, units))
    padded = [[*sizes, *[0] * (depth - len(sizes))] for sizes in units]
    return [statistics.fmean(layer) for layer in zip(*padded, strict=True)]
