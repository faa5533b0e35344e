"""Check what was trained by picking in Python, on its sample: count its picks again, and run its recipe again.

A model file has its own check (`picking.files`); an object of `certify`, or a fitted classifier, is checked here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
import torch
from torch import nn

from adanet_theory.checks import Array, Progress
from adanet_train.picking.certify import Certified, as_learner, sample_digest
from adanet_train.picking.core import Labelled
from adanet_train.picking.files import share
from adanet_train.picking.record import OTHER_PROCESSOR, Checked, Record, checked
from adanet_train.picking.subnetworks import Ensembles
from adanet_train.subnetworks.fitted import Fitted
from adanet_train.subnetworks.protocol import Given


@dataclass(frozen=True, eq=False)
class OwnRun:
    """What `certify` returned, on its own sample."""

    certified: Certified

    def check(self, y: Array, *, replay: bool, progress: Progress | None = None) -> Checked:
        """Wrong rows counted again, and the recipe run again; y is that of the sample."""
        own = self.certified
        # what is handed back, and may have been fitted again since
        predictor = own.predictor.ensemble_ if isinstance(own.learner, Ensembles) else own.predictor
        record = Record.of(own.picked, {})
        return checked(record, own.learner, predictor, own.points, apart=self._apart, replay=replay, progress=progress)

    def _apart(self, a: Any, b: Any) -> float:
        """0 for equal predictors, little for equal margins on the sample, else inf."""
        known = _bits(a)
        if known is not None and known == _bits(b):
            return 0.0
        learner, points = self.certified.learner, self.certified.points
        f, g = (np.round(np.asarray(learner.margins(one, points)) / learner.grid) for one in (a, b))
        return OTHER_PROCESSOR if np.array_equal(f, g, equal_nan=True) else math.inf


def _bits(predictor: Any) -> str | None:
    """A digest of a predictor; None of what cannot be pickled."""
    known = (
        [part.numpy(force=True) for part in predictor.state_dict().values()]
        if isinstance(predictor, nn.Module)
        else predictor
    )
    try:
        return str(joblib.hash(known))
    except Exception:  # whatever pickling an object of the user's provokes
        return None


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
        numbered = Labelled.coded(self.X, y, None if len(classes) == 2 else len(classes))  # as the command calls them
        known = [replace(numbered, classes=classes), numbered]
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
