"""A training run and its model.pt: what the command and the estimators share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from adanet_theory.checks import check, check_choice
from adanet_train.core import by_class
from adanet_train.core.config import Config
from adanet_train.core.network import margins
from adanet_train.core.points import WHOLE, Points
from adanet_train.core.training import Trained
from adanet_train.methods.trainers import METHODS, Train, plain_trainer
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile


def trainer(method: str) -> Train:
    """train(Psi, y, config, *, callback, resume) -> Trained of a method, by picking where that is the objective.

    `say` prints a line: cvx-exact, whose rounds can take minutes, announces their time and reports their progress.
    """
    check_choice("method", method, METHODS)

    def train(Psi: Tensor | Points, y: Tensor, config: Config, **options: Any) -> Trained:
        config.goal.check_unweighted(options.get("weights"))
        say = options.pop("say", None)
        if not config.goal.by_picking:
            if say is not None and method == "cvx-exact":
                options["say"] = say
            return plain_trainer(method)(Psi, y, config, **options)
        from adanet_train.picking import train as picking

        options.pop("weights", None)
        return picking.train(Psi, y, config, method=method, **options)

    return train


def certificate(trained: Trained, m: int, repeated: int = 0) -> dict[str, Any] | None:
    """The certificate of a network trained by picking, and for information Clopper-Pearson's bound for the start.

    `repeated` of the m rows equal an earlier one; if there are any, a certificate needs the user's `discrete`.
    """
    picking = trained.history[-1].get("picking")
    if picking is None or trained.picked is None:
        return None
    from adanet_theory.certificates.binomial import clopper_pearson

    delta = trained.config.goal.delta
    rows = {"m": m, "repeats": repeated, "discrete": trained.config.goal.discrete}
    return {
        **picking,
        **rows,
        "delta": delta,
        "start_bound": clopper_pearson(trained.picked["first"], picking["N"], delta),
    }


def memory_needed(method: str, config: Config, m: int, n_0: int, outputs: int | None = None) -> float:
    """The approximate peak memory of a run in bytes, without the data.

    A committee keeps a float32 copy of Ψ, if it is not too large for that, and some numbers for each point and output.
    The others keep Ψ in float64 and in float32 and, at each point, the outputs of the units that a later one reads.

    >>> config = Config(learner="committee", width=100, members=2)
    >>> round(memory_needed("adanet", config, 1_000_000, 50) / 1e6)
    316
    """
    B = max(units for _, units in config.sizes)
    if method == "adanet" and config.search.learner == "committee":
        K = config.search.members or 1
        weights = 8.0 * config.family.rounds * K * B * (n_0 + K * B)
        return min(4 * m * n_0, 4 * WHOLE) + 8 * m * (8 + 3 * K) * (outputs or 1) + weights
    if method in ("lr", "nn"):
        units = 0 if method == "lr" else sum(config.baseline.hidden)
    else:
        units = config.family.rounds * (B * config.family.depth if method == "adanet" else 1)
    return 12.0 * m * (n_0 + units) + 8.0 * n_0 * units


def error_rate(network: Callable[[Tensor], Tensor], Psi: Tensor | Points, y: Tensor) -> float:
    """The share of points with y f(x) <= 0, as in R(f) of the paper; for C classes, with margin <= 0."""
    return int(is_wrong(network, Psi, y).sum()) / len(y)


def is_wrong(network: Callable[[Tensor], Tensor], Psi: Tensor | Points, y: Tensor) -> Tensor:
    """Whether each point is an error, as in `error_rate`."""
    points = Psi if isinstance(Psi, Points) else Points(Psi)
    width = max(getattr(network, "n", (0,)))
    return points.computed(lambda rows, part: wrong(network(part), y[rows]), width)


def wrong(f: Tensor, y: Tensor) -> Tensor:
    """Whether the margin of each point is <= 0."""
    return margins(f, y) <= 0


def class_weights(asked: str, y: Tensor, names: Sequence[str] | None) -> Tensor:
    """A weight for each point: "balanced", m/(C m_c) in a class of m_c points, or "NAME=W,NAME=W", 1 elsewhere.

    >>> class_weights("balanced", torch.tensor([1.0, 1.0, 1.0, -1.0]), None).tolist()[2:]
    [0.6666666666666666, 2.0]
    >>> class_weights("ill=3", torch.tensor([1.0, -1.0]), ("ill", "well")).tolist()
    [1.0, 3.0]
    """
    labels, place, counts = torch.unique(y, return_inverse=True, return_counts=True)
    if asked == "balanced":
        return (len(y) / (len(labels) * counts.double()))[place]
    weights = torch.ones(len(labels), dtype=torch.float64)
    known = [by_class.name(label, names) for label in labels.numpy()]
    for part in asked.split(","):
        name, equals, text = part.rpartition("=")
        if names is None and y.is_floating_point():
            name = {"0": "-1", "1": "+1"}.get(name, name)  # as a table may have them
        check(bool(equals) and name in known, f"class-weight must name {', '.join(known)} as NAME=W, got {part!r}.")
        weights[known.index(name)] = _positive(text, part)
    return weights[place]


def _positive(text: str, part: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    check(0 < value < float("inf"), f"class-weight must be balanced or NAME=W with W > 0 and finite, got {part!r}.")
    return value


class Saver:
    """Writes the model after every round; `flush` writes a round that was skipped.

    Quick rounds are skipped, so that writing takes at most about a tenth of the time.
    """

    def __init__(self, path: str | Path, build: Callable[[Trained], ModelFile]) -> None:
        self.path, self.build = path, build
        self.latest: Trained | None = None
        self.rounds_saved = 0
        self.next_save = 0.0

    def __call__(self, trained: Trained) -> None:
        self.latest = trained
        if time.monotonic() >= self.next_save:
            self.flush()

    def flush(self) -> None:
        if self.latest is None or len(self.latest.history) == self.rounds_saved:
            return
        start = time.monotonic()
        model_file.write(self.path, self.build(self.latest))
        self.rounds_saved = len(self.latest.history)
        now = time.monotonic()
        self.next_save = now + 9 * (now - start)
