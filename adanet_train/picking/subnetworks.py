"""AdaNet over the user's subnetworks as a learner for picking: trained anew on the start and on copies of the picks.

What is given as it is, a trained module or a fitted estimator, is part of the learner, which must be fixed before the
sample: it must not have seen these rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from adanet_theory.checks import Array
from adanet_train.core.device import one_thread
from adanet_train.picking.core import Labelled
from adanet_train.picking.modules import Module, padded_margins
from adanet_train.picking.networks import weighted
from adanet_train.subnetworks import fitted
from adanet_train.subnetworks.fitted import Fitted
from adanet_train.subnetworks.protocol import InstanceWarning


@dataclass(frozen=True)
class Ensembles:
    """Rounds of AdaNet over builders.

    Parameters
    ----------
    subnetworks : the builders, or `Subnetworks(...)`.
    rounds : at most so many.
    seed : of the validation rows, the weights and the batches.
    device : "cpu", "cuda", ..
    weight : copies of each pick.
    estimator : the `AdaNetClassifier` that was given, of whose kind the predictor is.
    """

    subnetworks: Any
    rounds: int
    seed: int = 0
    device: str = "cpu"
    weight: int = 4
    estimator: Any = field(default=None, repr=False)

    grid = Module.grid

    @property
    def recipe(self) -> dict[str, int]:
        """What a record must hold of it besides the builders."""
        return {"rounds": self.rounds}

    def fit(self, P: Labelled, T: Labelled, previous: Fitted | None) -> Fitted:
        points = weighted(P, T, self.weight)
        with one_thread(), warnings.catch_warnings():
            if previous is not None:
                warnings.simplefilter("ignore", InstanceWarning)  # said in the first fit
            ensemble = fitted.fit(
                points.X, points.y, self.subnetworks, rounds=self.rounds, seed=self.seed, device=self.device
            )
        return replace(ensemble, classes=points.classes)

    def classifier(self, predictor: Fitted) -> Any:
        """What was fitted as a classifier that knows its builders."""
        ours = type(self.estimator)(**self.estimator.get_params(deep=False) | {"random_state": self.seed})
        ours.ensemble_, ours.classes_ = predictor, predictor.classes
        return ours

    def margins(self, predictor: Fitted, points: Labelled) -> Array:
        x = torch.from_numpy(points.X).to(self.device, torch.float32)
        with one_thread():
            return padded_margins(predictor.module(), x, torch.from_numpy(points.y).to(self.device))
