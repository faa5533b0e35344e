"""Builders of one's own by picking: the ensemble with its record, written after every fit and taken up again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
import torch
from torch import nn

from adanet_theory.checks import Array, Progress, check
from adanet_train.picking.certify import Certified, as_learner, sample_digest
from adanet_train.picking.core import Labelled, Picked, Plan, pick
from adanet_train.picking.files import share
from adanet_train.picking.record import OTHER_PROCESSOR, Checked, Record, checked
from adanet_train.picking.subnetworks import Ensembles
from adanet_train.picking.train import taken_up
from adanet_train.subnetworks.fitted import Fitted
from adanet_train.subnetworks.protocol import Given


def train(
    learner: Ensembles,
    points: Labelled,
    plan: Plan,
    delta: float,
    *,
    discrete: bool = False,
    callback: Callable[[Fitted], None] | None = None,
    resume: Fitted | None = None,
) -> Fitted:
    """An ensemble by picking, with its record; `callback` sees what there is after every fit.

    `resume` is an interrupted run of the same plan on the same rows, which ends with the same bits.
    """

    def told(found: Picked) -> Fitted:
        return replace(found.predictor, picked=Certified(None, delta, found, points, learner, discrete).record)

    def after(found: Picked) -> None:
        if callback is not None:
            callback(told(found))

    before = None if resume is None else _begun(resume, points, plan)
    return told(pick(learner, points, plan, callback=after, resume=before).kept(delta))


def _begun(resume: Fitted, points: Labelled, plan: Plan) -> Picked:
    check(resume.picked is not None, "resume needs a run of objective certificate, got one of objective paper.")
    record = dict(resume.picked or {})
    same = dict(record.get("sample") or {}).get("sha256") == sample_digest(points)
    check(same, "resume needs the rows of the run before, got others.")
    begun = taken_up(record, len(points))
    settled = plan.settled(begun.N, len(points.classes))
    same = begun.plan == (replace(settled, K=begun.plan.K) if begun.plan.dry else settled)
    check(same, f"resume needs the plan of the run before, {begun.plan}, got {settled}.")
    return begun


@dataclass(frozen=True, eq=False)
class Recorded:
    """An `AdaNetClassifier` of builders that was trained by picking, and points as it reads them."""

    classifier: Any
    X: Array

    def check(self, y: Array, *, replay: bool, progress: Progress | None = None) -> Checked | None:
        """Wrong rows counted again, and the recipe run again; None if X and y are not the sample of the record.

        y is -1/+1 or class indices.
        """
        record, classes = self.classifier.picked_, self.classifier.classes_
        index = (y > 0).astype(np.int64) if len(classes) == 2 else y.astype(np.int64)
        numbers = np.arange(len(classes))  # as the command calls them
        known = [Labelled(self.X, index, names) for names in (classes, numbers)]
        own = [points for points in known if sample_digest(points) == record["sample"]["sha256"]]
        if not own:
            return None
        recorded, ensemble = Record.from_dict(record, len(y)), self.classifier.ensemble_
        learner = as_learner(self.classifier, int(record["recipe"]["seed"]))
        return checked(recorded, learner, ensemble, own[0], apart=_apart, replay=replay, progress=progress)


def _apart(a: Fitted, b: Fitted) -> float:
    """The largest distance between tensors of two ensembles, as a share of their norm; inf between other structures."""
    f, g = a.grown.chosen, b.grown.chosen
    if [(one.name, one.round, one.number) for one in f] != [(one.name, one.round, one.number) for one in g]:
        return math.inf
    weights = share((torch.tensor([one.weight for one in f]), torch.tensor([one.weight for one in g])))
    return max([weights, *(_of_modules(one.module, other.module) for one, other in zip(f, g, strict=True))])


def _of_modules(a: nn.Module, b: nn.Module) -> float:
    if isinstance(a, Given) and isinstance(b, Given):
        return 0.0 if joblib.hash(a.estimator) == joblib.hash(b.estimator) else OTHER_PROCESSOR
    f, g = a.state_dict(), b.state_dict()
    if {key: part.shape for key, part in f.items()} != {key: part.shape for key, part in g.items()}:
        return math.inf
    return max((share((part, g[key])) for key, part in f.items()), default=0.0)
