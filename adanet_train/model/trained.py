"""A training run as a model.pt, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adanet_theory.checks import check
from adanet_train.core.config import Config
from adanet_train.core.files import versions
from adanet_train.core.training import Trained
from adanet_train.data.features import FeatureMap
from adanet_train.model.model_file import ModelFile, Sample


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
        "seed": trained.config.run.seed,
        "config": config,
        "history": trained.history,
        "versions": versions(),
        **(notes or {}),
    }
    if trained.declared is None and _declares(method, trained.config):
        meta["rounds_added"] = True  # by a resumed run, beyond those of its family
    rho = trained.config.family.rho if trained.declared is not None else None
    more: dict[str, Any] = {"holdout": holdout, "picked": trained.picked}
    return ModelFile(trained.network, trained.declared, rho, features, sample, meta, **more)


def _declares(method: str, config: Config) -> bool:
    """Whether a run of this method declares a family, unless rounds are added to it."""
    return method in ("adanet", "cvx", "cvx-exact") and config.family.enforce and config.goal.objective == "paper"


def trained_of(model: ModelFile) -> Trained:
    """The run recorded in a model.pt, to be resumed."""
    config, history = model.meta.get("config"), model.meta.get("history")
    known = isinstance(config, Mapping) and isinstance(history, list)
    check(known, "meta must hold the config and the history of a training run.")
    grows = "the run may add hidden units for path-certificate, which is retired: train again"
    check("tried" not in model.extra, f"{grows} with objective certificate.")
    config = dict(config or {})
    if model.picked is None and config.get("objective") == "certificate":
        config["objective"] = "vote"  # as it was called before version 3
    try:
        return Trained(model.network, model.declared, list(history or []), Config.from_dict(config), model.picked)
    except TypeError as error:
        raise ValueError(f"meta config is not one of this version: {error}.") from None
