"""The objective "certificate": our trainers by picking, as adanet-train and the estimators call them."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from adanet_train.config import Callback, Config, Trained, check_resume, check_sample
from adanet_train.core.history import Round
from adanet_train.core.points import Points
from adanet_train.picking.core import Labelled, Picked, Plan, pick
from adanet_train.picking.files import settings
from adanet_train.picking.networks import AdaNet, Refit
from adanet_train.picking.record import Record


def plan_of(config: Config) -> Plan:
    """How a config picks."""
    return Plan(start=config.start, K=config.picks, order=config.order, seed=config.seed)


def train(
    Psi: Tensor | Points,
    y: Tensor,
    config: Config,
    *,
    method: str = "adanet",
    callback: Callback | None = None,
    resume: Trained | None = None,
) -> Trained:
    """A method by picking; the last rounds of the history tell the picks and the certificate after each of them.

    Ψ must have been fixed before the rows outside the start: known in advance, or fitted on the start.
    """
    checked, y = check_sample(Psi, y, config)
    check_resume(resume, config)
    learner = AdaNet(config) if method == "adanet" else Refit(method, config)
    index = (y > 0).long() if y.is_floating_point() else y
    classes = np.arange(2 if y.is_floating_point() else int(y.max()) + 1)
    points = Labelled(checked.whole().cpu().numpy(), index.cpu().numpy(), classes)
    told = [] if resume is None else [entry for entry in resume.history if "picking" in entry][:-1]

    def trained(found: Picked) -> Trained:
        record, fitted = Record.of(found, settings(learner)).as_dict(), found.predictor
        return Trained(fitted.network, fitted.declared, [*fitted.history, *told], config, record)

    def after(found: Picked) -> None:
        told.append(_round(found, config.delta))
        if callback is not None:
            callback(trained(found))

    before = None if resume is None else _taken_up(resume, len(points))
    return trained(pick(learner, points, plan_of(config), callback=after, resume=before))


def _taken_up(resume: Trained, m: int) -> Picked:
    record = Record.from_dict(resume.picked, m)
    nothing = np.zeros(0, dtype=np.int64)
    N = m - len(record.start)
    return Picked(None, record.plan, record.start, record.picks, record.rounds, nothing, N, record.first)


def _round(found: Picked, delta: float) -> Round:
    """A round of picking in the history: it adds no candidate of its own."""
    bound = found.at(delta)
    picking: dict[str, Any] = {"picked": len(found.picks), "left": len(found.left), "N": found.N, "bound": bound}
    return {"candidates": [], "chosen": -1, "objective": bound, "picking": picking}
