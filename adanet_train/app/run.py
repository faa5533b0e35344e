"""A training run and its model.pt: what the command and the estimators share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from adanet_theory.checks import check, check_choice
from adanet_train.config import CERTIFIED, Config, Trained, of_classes
from adanet_train.core import by_class
from adanet_train.core.files import versions
from adanet_train.core.points import WHOLE, Points
from adanet_train.data.features import FeatureMap
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, Sample

METHODS = ("adanet", "cvx", "cvx-exact", "lr", "nn")

Train = Callable[..., Trained]


def trainer(method: str) -> Train:
    """train(Psi, y, config, *, callback, resume) -> Trained of a method, by picking where that is the objective."""
    check_choice("method", method, METHODS)

    def train(Psi: Tensor | Points, y: Tensor, config: Config, **options: Any) -> Trained:
        if config.objective != "certificate":
            return plain_trainer(method)(Psi, y, config, **options)
        from adanet_train.picking import train as picking

        check(options.pop("weights", None) is None, unweighted(config.objective))
        return picking.train(Psi, y, config, method=method, **options)

    return train


def plain_trainer(method: str) -> Train:
    """The trainer of a method on all the rows that it is given."""
    if method == "adanet":
        return _adanet
    if method in ("lr", "nn"):
        from adanet_train import baselines

        return baselines.train_lr if method == "lr" else baselines.train_nn
    from adanet_train import adanet_cvx

    return adanet_cvx.train


def unweighted(objective: str) -> str:
    """Why F of a weighted sample would say nothing of the risk."""
    return f"objective {objective} counts every point alike: no sample_weight, no class_weight."


def config_for(y: Tensor, config: Config) -> Config:
    """The config as the trainer for these labels reads it."""
    return config if y.is_floating_point() else of_classes(config)


def _adanet(Psi: Tensor, y: Tensor, config: Config, **options: Any) -> Trained:
    """AdaNet on the objective of the config."""
    if config.objective == "vote":
        from adanet_train.certificate import classes
        from adanet_train.certificate import train as signs

        check(options.pop("weights", None) is None, unweighted(config.objective))
        return (signs if y.is_floating_point() else classes).train(Psi, y, config, **options)
    if config.objective == "description":
        from adanet_train.compression import description

        check(options.pop("weights", None) is None, unweighted(config.objective))
        return description.train(Psi, y, config, **options)
    from adanet_train import adanet

    return adanet.train(Psi, y, config, **options)


def method_config(method: str, config: Config) -> Config:
    """cvx-exact is AdaNet.CVX with the exact step; vote and description are objectives of adanet alone."""
    known = config.objective not in CERTIFIED or method == "adanet"
    check(known, f"objective {config.objective} is for method adanet, got method={method!r}.")
    return config.replace(step="exact") if method == "cvx-exact" else config


def certificate(trained: Trained) -> dict[str, Any] | None:
    """Of a network trained by picking: its certificate, and for information Clopper-Pearson's bound for the start."""
    picking = trained.history[-1].get("picking")
    if picking is None or trained.picked is None:
        return None
    from adanet_theory.certificates.binomial import clopper_pearson

    delta = trained.config.delta
    return {**picking, "delta": delta, "start_bound": clopper_pearson(trained.picked["first"], picking["N"], delta)}


def memory_needed(method: str, config: Config, m: int, n_0: int, outputs: int | None = None) -> float:
    """Bytes, roughly, that a run keeps at its largest, beside the data themselves.

    A committee keeps a float32 copy of Ψ, if it is not too large for that, and some numbers for each point and output.
    The others keep Ψ in float64 and in float32 and, at each point, the outputs of the units that a later one reads.

    >>> round(memory_needed("adanet", Config(learner="committee", lam=None), 1_000_000, 50) / 1e6)
    316
    """
    if method == "adanet" and config.learner == "committee":
        K, B = config.members_for(m), max(units for _, units in config.sizes(m))
        weights = 8.0 * config.rounds * K * B * (n_0 + K * B)
        return min(4 * m * n_0, 4 * WHOLE) + 8 * m * (8 + 3 * K) * (outputs or 1) + weights
    if method in ("lr", "nn"):
        units = 0 if method == "lr" else sum(config.hidden)
    else:
        units = config.rounds * (1 if method != "adanet" else max(units for _, units in config.sizes(m)) * config.depth)
    return 12.0 * m * (n_0 + units) + 8.0 * n_0 * units


def error_rate(network: Callable[[Tensor], Tensor], Psi: Tensor | Points, y: Tensor) -> float:
    """The share of points with y f(x) <= 0, as in R(f) of the paper; of C classes those whose margin is <= 0."""
    return int(is_wrong(network, Psi, y).sum()) / len(y)


def is_wrong(network: Callable[[Tensor], Tensor], Psi: Tensor | Points, y: Tensor) -> Tensor:
    """Whether y f(x) <= 0, point by point."""
    points = Psi if isinstance(Psi, Points) else Points(Psi)
    width = max(getattr(network, "n", (0,)))
    return torch.cat([wrong(network(part), y[rows]) for rows, part in points.chunks(width)])


def wrong(f: Tensor, y: Tensor) -> Tensor:
    """Whether y f <= 0, or of C classes whether the margin is <= 0."""
    if y.is_floating_point():
        return y * f <= 0
    own = torch.nn.functional.one_hot(y, f.shape[1]).bool()
    return f[own] - f.masked_fill(own, -torch.inf).amax(1) <= 0


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


# The file


def model_of(
    trained: Trained,
    method: str,
    *,
    features: FeatureMap | None,
    sample: Sample | None,
    notes: Mapping[str, Any] | None = None,
    holdout: Sample | None = None,
) -> ModelFile:
    """The model.pt of a run. It holds no timings, paths or number of jobs, so that equal runs give equal files."""
    config = {name: value for name, value in trained.config.as_dict().items() if name != "jobs"}
    meta = {
        "method": method,
        "seed": trained.config.seed,
        "config": config,
        "history": trained.history,
        "versions": versions(),
        **(notes or {}),
    }
    if trained.declared is None and _declares(method, trained.config):
        meta["rounds_added"] = True  # by a resumed run, beyond those of its family
    rho = trained.config.rho if trained.declared is not None else None
    extra = {"tried": trained.config.tried} if trained.config.tried > 1 else {}
    more: dict[str, Any] = {"holdout": holdout, "picked": trained.picked}
    return ModelFile(trained.network, trained.declared, rho, features, sample, meta, extra, **more)


def _declares(method: str, config: Config) -> bool:
    """Whether a run of this method declares a family, unless rounds are added to it."""
    return method in ("adanet", "cvx", "cvx-exact") and config.enforce and config.objective == "paper"


def trained_of(model: ModelFile) -> Trained:
    """The run that a model.pt tells of, to be taken up again."""
    config, history = model.meta.get("config"), model.meta.get("history")
    known = isinstance(config, Mapping) and isinstance(history, list)
    check(known, "meta must hold the config and the history of a training run.")
    config = dict(config or {})
    if model.picked is None and config.get("objective") == "certificate":
        config["objective"] = "vote"  # as it was called before version 3
    try:
        return Trained(model.network, model.declared, list(history or []), Config.from_dict(config), model.picked)
    except TypeError as error:
        raise ValueError(f"meta config is not one of this version: {error}.") from None


class Saver:
    """Writes the model after every round; `flush` writes a round that was skipped.

    Rounds that are quicker than the writing are skipped until it has cost at most a tenth of the time.
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
