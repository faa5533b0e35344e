"""Any scikit-learn classifier or pipeline as a learner for picking: refitted on the start and the picks.

Scalers and encoders belong inside the pipeline: there they see the start and the picks alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from adanet_theory.checks import Array
from adanet_train.picking.core import Labelled
from adanet_train.picking.networks import EXACT, weighted
from adanet_train.subnetworks.protocol import with_seed


@dataclass(frozen=True)
class Estimator:
    """A scikit-learn classifier.

    Parameters
    ----------
    estimator : unfitted; a clone of it is fitted.
    seed : for each random_state that is None.
    weight : copies of each pick. One was better than four for support vector machines on tables with and without
        noise and on digit pairs, of which no result is reported.
    """

    estimator: Any
    seed: int = 0
    weight: int = 1

    grid = EXACT

    @property
    def allows_nan(self) -> bool:
        """Whether the estimator, or the first step of a pipeline, reads nan; one without tags is asked by its fit."""
        from sklearn.utils import get_tags

        try:
            return bool(get_tags(self.estimator).input_tags.allow_nan)
        except Exception:  # an estimator of another kind
            return True

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> Any:
        fresh = with_seed(clone(self.estimator), self.seed)
        points = weighted(P, T, self.weight)
        return fresh.fit(points.X, points.classes[points.y])

    def margins(self, predictor: Any, points: Labelled) -> Array:
        if not len(points):
            return np.zeros(0)
        right = np.asarray(predictor.predict(points.X)) == points.classes[points.y]
        scores = _scores(predictor, points)
        if scores is None:
            return np.where(right, 1.0, -1.0)
        # predict decides: scikit-learn's votes may differ from its scores
        return np.where(right, np.where(scores < 0, self.grid, scores), np.minimum(scores, 0.0))


def _scores(predictor: Any, points: Labelled) -> Array | None:
    """The score of the own class less the largest other one; None where the estimator gives no score a class."""
    name = next((name for name in ("decision_function", "predict_proba") if hasattr(predictor, name)), None)
    if name is None:
        return None
    scores: NDArray[Any] = np.asarray(getattr(predictor, name)(points.X), dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    if scores.shape != (len(points), len(points.classes)):
        return None
    own = np.arange(len(points.classes)) == points.y[:, None]
    return np.asarray(scores[own] - np.where(own, -np.inf, scores).max(axis=1))
