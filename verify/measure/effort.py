"""How much to search and compute within a budget of seconds: lower values of R_S, margins in ball arithmetic.

The seconds are nominal: what is done is counted in evaluations and products, at the rate of one core of an ordinary
machine. So equal questions have equal answers, whatever else the machine is doing.
"""

from __future__ import annotations

from dataclasses import dataclass

from adanet_theory.spec import NetworkSpec
from verify.records.question import BUDGET

PER_UNIT, PER_WEIGHT = 9e-9, 0.15e-9  # seconds for a point of one distinct unit, and for each of its weights
PER_PRODUCT = 0.5e-6  # seconds for a product of balls, with the conversion of its weight
FEWEST_DRAWS = 8
DEEPEST = 3
"""Above this layer only the copies of the best unit below are tried, without ascent."""
_LADDER = ((8, 25), (4, 25), (2, 25), (1, 25), (1, 12), (1, 6), (1, 3), (1, 1), (1, 0))
RACES = (3, 6, 10)  # before these steps the worse half of the starts of each sign vector is given up


@dataclass
class Purse:
    """What is left of a budget of nominal seconds.

    >>> purse = Purse(1.0)
    >>> purse.pays(0.75), purse.pays(0.5), purse.left
    (True, False, 0.25)
    """

    left: float = BUDGET

    def pays(self, seconds: float) -> bool:
        """Whether enough is left; if so, spend it."""
        enough = seconds <= self.left
        self.left -= seconds if enough else 0.0
        return enough


@dataclass(frozen=True)
class Effort:
    """Sign vectors, starts of the ascent for each of them, its steps, and the distinct units of a layer."""

    draws: int
    restarts: int = 8
    steps: int = 25
    width: int = 2

    @property
    def words(self) -> str:
        starts = f"{self.restarts} start{'s' * (self.restarts > 1)}"
        return f"{self.draws} draws, {starts} of {self.steps} steps"


def evaluations(restarts: int, steps: int) -> float:
    """Evaluations for one sign vector: every step evaluates the starts that are left, and each race drops half of them.

    >>> evaluations(1, 0), evaluations(8, 2)
    (2.0, 40.0)
    """
    left, total = float(restarts), 0.0
    for step in range(steps):
        if step in RACES:
            left = (left + 1) // 2
        total += left
    return total + (restarts if steps else 0) + 2 * left  # the first values, and the last ones in float64


def seconds(spec: NetworkSpec, m: int, effort: Effort) -> float:
    """About how long the search takes on one core."""
    per_point = PER_UNIT + PER_WEIGHT * spec.n[0]
    total = 0.0
    for s in range(1, spec.depth):
        restarts = effort.restarts if s == 1 else -(-effort.restarts // 2)
        steps = effort.steps if s <= DEEPEST else 0
        units = 1 if s == 1 else 1 + sum(min(effort.width, spec.n[r]) for r in range(1, s))
        total += units * evaluations(restarts, steps)
    return 2 * effort.draws * m * per_point * total


def affordable(spec: NetworkSpec, m: int, draws: int, budget: float) -> Effort | None:
    """The most that the budget pays for: first fewer starts and steps, then fewer draws; None if it pays for nothing.

    The draws come last, because the confidence of a lower value depends on their number.
    """
    tried = draws
    while True:
        for restarts, steps in _LADDER:
            effort = Effort(tried, restarts, steps)
            if seconds(spec, m, effort) <= budget:
                return effort
        if tried <= FEWEST_DRAWS:
            return None
        tried = max(FEWEST_DRAWS, tried // 2)
