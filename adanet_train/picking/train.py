"""The objective "certificate": our trainers by picking, as adanet-train and the estimators call them."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from adanet_train.core.config import Config
from adanet_train.core.history import Round
from adanet_train.core.points import Points
from adanet_train.core.training import Callback, Trained, begin
from adanet_train.picking.core import Labelled, Picked, Plan, pick
from adanet_train.picking.files import settings
from adanet_train.picking.networks import AdaNet, Refit
from adanet_train.picking.record import Record


def plan_of(config: Config) -> Plan:
    """The picking plan of a config."""
    return Plan(start=config.picking.start, K=config.picking.picks, order=config.picking.order, seed=config.run.seed)


def train(
    Psi: Tensor | Points,
    y: Tensor,
    config: Config,
    *,
    method: str = "adanet",
    callback: Callback | None = None,
    resume: Trained | None = None,
) -> Trained:
    """Train a method by picking; the last rounds of the history hold the picks and the certificate after each of them.

    Ψ must have been fixed before the rows outside the start: known in advance, or fitted on the start.
    """
    plan = plan_of(config)
    checked, y, config = begin(method, Psi, y, config, resume=resume, rows=lambda m: len(plan.split(m)[0]))
    learner = AdaNet(config) if method == "adanet" else Refit(method, config)
    outputs = None if y.is_floating_point() else int(y.max()) + 1
    points = Labelled.coded(checked.whole().cpu().numpy(), y.cpu().numpy(), outputs)
    rounds = [] if resume is None else [entry for entry in resume.history if "picking" in entry][:-1]

    def trained(picked: Picked) -> Trained:
        record, fitted = Record.of(picked, settings(learner)).as_dict(), picked.predictor
        kept = rounds[: len(picked.rounds) + 1]
        return Trained(fitted.network, fitted.declared, [*fitted.history, *kept], config, record)

    def after(picked: Picked) -> None:
        rounds.append(_round(picked, config.goal.delta))
        if callback is not None:
            callback(trained(picked))

    before = None if resume is None else taken_up(resume.picked, len(points))
    return trained(pick(learner, points, plan, callback=after, resume=before).kept(config.goal.delta))


def taken_up(picked: Any, m: int) -> Picked:
    """The run of a record, to be resumed."""
    record = Record.from_dict(picked, m)
    nothing = np.zeros(0, dtype=np.int64)
    N = m - len(record.start)
    return Picked(None, record.plan, record.start, record.picks, record.rounds, nothing, N, record.first)


def _round(picked: Picked, delta: float) -> Round:
    """A round of picking in the history: it adds no candidate of its own."""
    bound = picked.at(delta)
    picking: dict[str, Any] = {"picked": len(picked.picks), "left": len(picked.left), "N": picked.N, "bound": bound}
    return {"candidates": [], "chosen": -1, "objective": bound, "picking": picking}
