"""The trainers by the names of their methods, each on all the rows that it is given."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor

from adanet_train.core.config import Config
from adanet_train.core.training import Trained

METHODS = ("adanet", "cvx", "cvx-exact", "lr", "nn")

Train = Callable[..., Trained]


def plain_trainer(method: str) -> Train:
    """The trainer of a method on all the rows that it is given."""
    if method == "adanet":
        return _adanet
    if method in ("lr", "nn"):
        from adanet_train.methods import baselines

        return baselines.train_lr if method == "lr" else baselines.train_nn
    from adanet_train.methods import adanet_cvx

    return functools.partial(adanet_cvx.train, method=method)


def _adanet(Psi: Tensor, y: Tensor, config: Config, **options: Any) -> Trained:
    """AdaNet on the objective of the config."""
    if not config.goal.is_certificate:
        from adanet_train.methods import adanet

        return adanet.train(Psi, y, config, **options)
    options.pop("weights", None)
    if config.goal.objective == "description":
        from adanet_train.compression import description

        return description.train(Psi, y, config, **options)
    from adanet_train.certificate import train as votes

    return votes.train(Psi, y, config, **options)
