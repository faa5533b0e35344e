"""The record of a run of picking, and its check: counted again, and replayed.

A record holds the plan, the learner with its settings, and the row numbers of the start and of the picks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from adanet_theory.checks import Progress, check
from adanet_train.data.fields import short
from adanet_train.picking.core import Indices, Labelled, Learner, Picked, Plan, pick, wrong

Status = Literal["holds", "assumed", "fails"]
OTHER_PROCESSOR = 1 / 16
"""Share of a tensor's norm by which weights may differ when a recipe runs on another processor (0.5 % was seen)."""


@dataclass(frozen=True, eq=False)
class Record:
    """A run of picking without its predictor."""

    plan: Plan
    """With start, r and K as numbers."""
    start: Indices
    picks: Indices
    rounds: tuple[int, ...]
    first: int
    learner: Mapping[str, Any] = field(default_factory=dict)
    """Its name and settings, plain values."""

    @classmethod
    def of(cls, picked: Picked, learner: Mapping[str, Any]) -> Record:
        return cls(picked.plan, picked.start, picked.picks, picked.rounds, picked.first, learner)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as a file holds them."""
        K = [*self.plan.K] if isinstance(self.plan.K, tuple) else self.plan.K
        recipe = {**asdict(self.plan), "K": K, "learner": dict(self.learner)}
        rows = {"start": self.start.tolist(), "picks": self.picks.tolist(), "rounds": [*self.rounds]}
        return {**rows, "first": self.first, "recipe": recipe}

    @classmethod
    def from_dict(cls, value: Any, m: int) -> Record:
        """The record of a sample of m rows, every value checked.

        Raises
        ------
        ValueError
            If the start is not the one of the plan, or picks repeat, lie in the start or outside the sample.
        """
        check(isinstance(value, Mapping), f"picked must be a dict, got {short(value)}.")
        recipe = value.get("recipe")
        check(isinstance(recipe, Mapping), f"picked recipe must be a dict, got {short(recipe)}.")
        names = {one.name for one in fields(Plan)}
        missing = sorted((names | {"learner"}) - {"dry", *recipe})  # older records have no dry run
        check(not missing, f"picked recipe must hold {', '.join(missing)}.")
        plan = Plan(**{name: recipe[name] for name in names if name in recipe})
        settled = None not in (plan.start, plan.r, plan.K)
        check(settled, "picked recipe must hold start, r and K as numbers.")
        check(isinstance(recipe["learner"], Mapping), "picked recipe learner must be a dict.")
        start, picks, rounds = (_integers(value.get(name), f"picked {name}") for name in ("start", "picks", "rounds"))
        P, S = plan.split(m)
        check(np.array_equal(start, P), f"picked start must be the {len(P)} rows of the seed {plan.seed}.")
        inside = len(np.unique(picks)) == len(picks) and bool(np.isin(picks, S).all())
        check(inside, "picked picks must be different rows outside the start.")
        ends = [0, *rounds.tolist()]
        rising = all(0 < b - a <= (plan.r or 0) for a, b in pairwise(ends)) and ends[-1] == len(picks) <= plan.ends[-1]
        check(rising, f"picked rounds must rise by at most r={plan.r} to the {len(picks)} picks, at most K={plan.K}.")
        first = value.get("first")
        check(
            type(first) is int and 0 <= first <= len(S), f"picked first must be in [0, {len(S)}], got {short(first)}."
        )
        return cls(plan, start, picks, tuple(ends[1:]), int(first), dict(recipe["learner"]))

    def picked(self, learner: Learner, predictor: Any, points: Labelled) -> Picked:
        """The run with this predictor; the wrong rows outside T are counted again."""
        S = np.setdiff1d(np.arange(len(points)), self.start)
        left = wrong(learner, predictor, points, np.setdiff1d(S, self.picks), self.plan, points.keys)
        return Picked(predictor, self.plan, self.start, self.picks, self.rounds, left, len(S), self.first)


@dataclass(frozen=True)
class Checked:
    """The result of checking a recorded run: its count, and what is known of the assumption `picked`."""

    picked: Picked
    status: Status
    """"holds": replayed, same picks and weights. "assumed": not replayed, or rounded apart. "fails": refuted."""
    detail: str


def checked(
    record: Record,
    learner: Learner,
    predictor: Any,
    points: Labelled,
    *,
    apart: Callable[[Any, Any], float],
    replay: bool = True,
    progress: Progress | None = None,
) -> Checked:
    """Count the wrong rows again, and run the recipe again.

    Parameters
    ----------
    record : of the run.
    learner : as the recipe has it.
    predictor : the network of the file.
    points : the sample of the run.
    apart : how far the weights of two predictors are from each other, 0 for equal ones; margins on the sample would
        not show a unit that is off there.
    replay : whether to run the recipe; it takes as long as the training did.
    progress : called with the picks made so far, and how many there will be.

    Returns
    -------
    Checked
        k counts every wrong row outside the picks, whatever the record says, of this network or of the replay's, which
        may differ from it by rounding: of either the one with more.
    """
    picked = record.picked(learner, predictor, points)
    if not picked.finished:
        at = f"{len(picked.picks)} of at most {picked.plan.K} picks, {len(picked.left)} wrong rows left"
        return Checked(picked, "fails", f"the run was interrupted ({at}): its end was not decided by the picks.")
    if not replay:
        return Checked(picked, "assumed", "the recorded picks were not replayed.")
    last = max(len(record.picks), 1)

    def after(run: Picked) -> None:
        if progress is not None:
            progress(min(len(run.picks), last), last)

    again = pick(learner, points, record.plan, callback=after).with_picks(len(record.picks))
    picked = replace(picked, left=max(picked.left, again.left, key=len))  # counting too many is safe
    return Checked(picked, *compared(record, again, apart=apart(predictor, again.predictor)))


def compared(record: Record, again: Picked, *, apart: float) -> tuple[Status, str]:
    """Compare a record with its replay; `apart` is the distance between their predictors."""
    if (again.rounds, again.picks.tolist()) != (record.rounds, record.picks.tolist()):
        return "fails", f"the recipe picks other rows: {_difference(record, again)}."
    if not apart <= OTHER_PROCESSOR:
        return "fails", "the recipe picks the same rows, but trains another network than this one."
    if apart:
        return (
            "assumed",
            "the recipe picks the same rows, but its predictor may not be equal to the bit, as on another processor.",
        )
    return "holds", f"replayed: the same {len(again.picks)} picks and the same bits."


def digest(learner: Learner, predictor: Any, points: Labelled) -> str:
    """SHA-256 of the margins of all rows, unrounded."""
    margins = np.asarray(learner.margins(predictor, points), dtype="<f8")
    return hashlib.sha256(np.ascontiguousarray(margins).data).hexdigest()


def _difference(a: Record, b: Picked) -> str:
    pairs = enumerate(zip(a.picks, b.picks, strict=False), start=1)
    at = next(((i, x, y) for i, (x, y) in pairs if x != y), None)
    if at is None:
        return f"{len(b.picks)} picks in place of {len(a.picks)}"
    return f"pick {at[0]} is row {at[2]}, the record says row {at[1]}"


def _integers(value: Any, name: str) -> Indices:
    sound = isinstance(value, list) and all(type(x) is int and 0 <= x < 2**53 for x in value)
    check(sound, f"{name} must be a list of integers >= 0, got {short(value)}.")
    return np.array(value, dtype=np.int64)
