"""The settings that a protocol tries: the paper's (full), what two cores finish in an hour or two (reduced), tiny.

A setting is a dict of fields of Config. The paper leaves open: p (here 2), and whether ||u||_p <= Λ held while training
(here it does: without it the bounds say nothing about the result).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adanet_theory.checks import check_choice

Setting = dict[str, Any]
GRIDS = ("full", "reduced", "tiny")


@dataclass(frozen=True)
class Space:
    """Ranges for the Gaussian-process search of a network, and how long it may search."""

    trials: int
    random: int
    """How many of them are random, before there is anything to model."""
    lam: tuple[float, float]
    learning_rate: tuple[float, float]
    layers: tuple[int, int]
    units: tuple[int, int]
    fixed: Setting


@dataclass(frozen=True)
class Grid:
    adanet: Sequence[Setting]
    lr: Sequence[Setting]
    nn: Sequence[Setting]
    nn_gp: Space


@dataclass(frozen=True)
class Variant:
    """A variant of Table 3: the method of the trainer, and the settings to choose from."""

    name: str
    method: str
    settings: Sequence[Setting]


def product(fixed: Setting, **values: Iterable[Any]) -> list[Setting]:
    """Every combination of the values, each with the fixed fields.

    >>> product({"batch": 100}, lam=(0.0, 1e-4), width=(100,))
    [{'batch': 100, 'lam': 0.0, 'width': 100}, {'batch': 100, 'lam': 0.0001, 'width': 100}]
    """
    combinations = itertools.product(*values.values())
    return [{**fixed, **dict(zip(values, combination, strict=True))} for combination in combinations]


def grid(name: str) -> Grid:
    check_choice("grid", name, GRIDS)
    return {"full": full, "reduced": reduced, "tiny": tiny}[name]()


def hidden(layers: Iterable[int], units: Iterable[int]) -> list[tuple[int, ...]]:
    return [(n,) * count for count, n in itertools.product(layers, units)]


def full() -> Grid:
    """Section 5.1 of the paper: 360 settings for AdaNet, 360 for NN, 24 for LR, 500 trials for NN-GP."""
    eta = (1e-4, 1e-3, 1e-2, 1e-1)
    lam = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
    sgd: Setting = {"steps": 10_000, "batch": 100, "optimiser": "sgd", "check_every": 1000}
    return Grid(
        adanet=product(
            {**sgd, "rounds": 30, "tol": 1e-6},
            lam=(0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4),
            width=(100, 150, 250),
            learning_rate=eta,
            Lambda=(1.0, 1.005, 1.01, 1.1, 1.2),
        ),
        lr=product(sgd, lam=lam, learning_rate=eta),
        nn=product(sgd, lam=lam, learning_rate=eta, hidden=hidden((1, 2, 3), (100, 150, 512, 1024, 2048))),
        nn_gp=Space(500, 10, (1e-5, 1.0), (1e-5, 1.0), (1, 3), (100, 2048), sgd),
    )


def reduced() -> Grid:
    """What two cores finish in about an hour: fewer values, and Adam, which needs fewer steps than the paper's SGD.

    Widths, rates and steps are those that did well on the validation folds 1, 4 and 7 of deer-truck and cat-dog.
    """
    adam: Setting = {"batch": 100, "optimiser": "adam", "check_every": 250}
    return Grid(
        adanet=product(
            {**adam, "steps": 2000, "rounds": 4, "max_depth": 2, "width": 250, "learner": "units", "tol": 1e-5},
            lam=(1e-5, 3e-5),
            learning_rate=(1e-3,),
            Lambda=(1.01,),
        ),
        lr=product({**adam, "steps": 3000}, lam=(0.0, 1e-5), learning_rate=(1e-2,)),
        nn=product({**adam, "learning_rate": 1e-3}, lam=(0.0,), hidden=hidden((1,), (512,)), steps=(2000, 4000)),
        nn_gp=Space(20, 8, (1e-5, 1.0), (1e-4, 1e-1), (1, 3), (100, 512), {**adam, "steps": 2000}),
    )


def tiny() -> Grid:
    """For a quick trial of the commands: seconds, and poor accuracies."""
    quick: Setting = {"steps": 60, "batch": 50, "optimiser": "adam", "check_every": 30}
    return Grid(
        adanet=product(
            {**quick, "rounds": 2, "max_depth": 2, "tol": 1e-4}, lam=(1e-5, 1e-4), width=(8,), learning_rate=(0.01,)
        ),
        lr=product(quick, lam=(0.0,), learning_rate=(0.1,)),
        nn=product(quick, lam=(0.0, 1e-4), learning_rate=(0.01,), hidden=hidden((1,), (16,))),
        nn_gp=Space(3, 2, (1e-5, 1.0), (1e-4, 1e-1), (1, 2), (8, 32), quick),
    )


VARIANTS = ("base", "R", "P", "D", "SD", "units", "cvx", "cvx-exact", "bound")


def variants(name: str) -> list[Variant]:
    """The settings of every variant: those of `searched`, with what the variant changes.

    SD measures complexity by the standard deviations of outputs, some hundred times smaller than Lemma 2's bound, so
    its λ is larger; there is no Λ in it. AdaNet.CVX adds one unit a round.
    """
    settings = searched(name)
    rounds = {"full": 1000, "reduced": 100, "tiny": 5}[name]
    sd = [{**setting, "variant": "SD", "lam": setting["lam"] * 100, "Lambda": 1.01} for setting in settings]
    cvx = product({"rounds": rounds, "max_depth": 2}, lam=sorted({setting["lam"] for setting in settings}))
    bound = {"objective": "bound", "complexity": "lemma-2-peeled", "largest_rho": True, "lam": 0.0}
    return [
        Variant("base", "adanet", settings),
        *(Variant(one, "adanet", [{**setting, "variant": one} for setting in settings]) for one in ("R", "P", "D")),
        Variant("SD", "adanet", _distinct(sd)),
        Variant("units", "adanet", [{**setting, "learner": "units"} for setting in grid(name).adanet]),
        Variant("cvx", "cvx", cvx),
        Variant("cvx-exact", "cvx-exact", cvx),
        Variant("bound", "adanet", _distinct([{**setting, **bound} for setting in settings])),
    ]


def searched(name: str) -> list[Setting]:
    """AdaNet by the paper's search over (w, u), which the variants R, P and D change."""
    if name != "reduced":
        return list(grid(name).adanet)
    adam: Setting = {"batch": 100, "optimiser": "adam", "learning_rate": 3e-3, "steps": 1000, "check_every": 250}
    return product({**adam, "rounds": 4, "max_depth": 2, "width": 150, "tol": 1e-4}, lam=(1e-4,), Lambda=(1.01,))


STREAMED: Setting = {"learner": "committee", "lam": "chosen on held-out points"}
"""AdaNet's own defaults: the one learner that reads rows some at a time, of a sample of any size."""


def criteo(name: str) -> dict[str, list[Setting]]:
    """Table 4: the paper's ranges as a grid (the paper searched them with 2,000 trials), a small one, a tiny one.

    The embeddings of "nn" and "lr" are learned with them; a passage is `steps` batches of 512 rows.
    """
    if name == "full":
        steps: Setting = {"steps": 100_000, "batch": 512}
        adanet: Setting = {**steps, "rounds": 30, "learner": "units", "check_every": 5000, "tol": 1e-5}
        eta = (1e-4, 1e-3, 1e-2, 1e-1)
        widths = hidden((1, 2, 3, 4, 5, 6), (250, 512, 1024, 2048))
        return {
            "adanet": [
                *product(
                    adanet,
                    width=(125, 256, 512),
                    Lambda=(1.0, 1.25, 1.5),
                    learning_rate=eta,
                    lam=(1e-12, 1e-8, 1e-6, 1e-4),
                ),
                STREAMED,
            ],
            "nn": product(steps, hidden=widths, learning_rate=(1e-5, *eta), lam=(1e-6, 1e-4, 1e-2, 1e-1)),
            "lr": product({**steps, "hidden": ()}, learning_rate=eta, lam=(1e-6, 1e-4)),
        }
    quick = name == "tiny"
    adam: Setting = {"batch": 512, "optimiser": "adam", "learning_rate": 1e-3, "learner": "units", "tol": 1e-4}
    size: Setting = {"rounds": 2, "max_depth": 2, "width": 8 if quick else 125, "steps": 20 if quick else 500}
    return {
        "adanet": product({**adam, **size, "check_every": 100}, lam=(1e-5,) if quick else (1e-6, 1e-5, 1e-4, 1e-3))
        + ([] if quick else [STREAMED]),
        "nn": product({"lam": 0.0}, hidden=((8,),) if quick else ((512,), (512, 512))),
        "lr": [{"hidden": ()}],
    }


def _distinct(settings: Iterable[Setting]) -> list[Setting]:
    return list({tuple(setting.items()): setting for setting in settings}.values())


def count(grid: Grid, methods: Iterable[str], folds: Sequence[int]) -> dict[str, int]:
    """How many trials of each of the trainer's methods a data set takes; those of NN-GP train networks too."""
    settings = {"adanet": len(grid.adanet), "lr": len(grid.lr), "nn": len(grid.nn), "nn-gp": grid.nn_gp.trials}
    trials: dict[str, int] = {}
    for method in methods:
        trainer = method.removesuffix("-gp")
        trials[trainer] = trials.get(trainer, 0) + settings[method] * len(folds)
    return trials


def described(grid: Grid) -> dict[str, Any]:
    """The grid as it stands in the results: what is fixed, and the values tried of the rest."""
    lists = {"adanet": grid.adanet, "lr": grid.lr, "nn": grid.nn}
    return {**{name: _varied(settings) for name, settings in lists.items()}, "nn-gp": dataclasses.asdict(grid.nn_gp)}


def _varied(settings: Sequence[Setting]) -> dict[str, Any]:
    """
    >>> _varied([{"batch": 100, "lam": 0.0}, {"batch": 100, "lam": 0.1}])
    {'settings': 2, 'batch': 100, 'lam': [0.0, 0.1]}
    """
    fields = list(dict.fromkeys(name for setting in settings for name in setting))
    values = {name: list(dict.fromkeys(setting.get(name) for setting in settings)) for name in fields}
    return {"settings": len(settings), **{name: v[0] if len(v) == 1 else v for name, v in values.items()}}
