"""A fitted network as a scikit-learn classifier: predictions, plain arrays, a torch module, a file."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import nn

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.core.surrogates import surrogate
from adanet_train.data.datasets import table_points
from adanet_train.data.features import Array
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, Sample
from adanet_train.model.module import NetworkModule
from adanet_train.search.objective import placed
from adanet_train.subnetworks.fitted import Fitted


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """A fitted network: `model_` is the content of its model.pt, `classes_` its labels: of -1 and +1, or by output."""

    model_: ModelFile
    classes_: NDArray[Any]
    ensemble_: Fitted
    """Takes the place of `model_` with subnetworks of your own."""
    picked_: dict[str, Any]
    """The record of `certify`, where these were trained by picking; `replay` runs it again."""

    def fit(self, X: Any, y: Any) -> NetworkClassifier:
        """Refuse: only AdaNetClassifier and AdaNetCVXClassifier train."""
        raise TypeError("NetworkClassifier can only predict: AdaNetClassifier and AdaNetCVXClassifier train.")

    def decision_function(self, X: Any) -> Array:
        """f on the rows of X; positive for classes_[1]. For more than two classes, a column for each.

        X is a matrix, or a table as it is, encoded as in training: the path of a .csv or .parquet file, or a data frame
        where the model is from a file.
        """
        check_is_fitted(self)
        if hasattr(self, "ensemble_"):
            return self.ensemble_.decision_function(X)
        points, network = self._points(X), self.model_.network
        f = np.empty(len(points)) if network.outputs is None else np.empty((len(points), network.outputs))
        with torch.no_grad():
            for rows, Psi in points.chunks(max(network.n)):
                f[rows] = network(Psi).numpy()
        return f

    def _points(self, X: Any) -> Points:
        features = self.model_.features
        named = features is not None and features.columns is not None
        is_frame = hasattr(X, "columns") and named and not hasattr(self, "feature_names_in_")
        if features is not None and (is_frame or isinstance(X, str | Path)):
            return table_points(X, features)
        return Points(validate_data(self, X, reset=False, dtype=[np.float64, np.float32]), features)

    def predict(self, X: Any) -> NDArray[Any]:
        f = self.decision_function(X)
        return np.asarray(self.classes_[(f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """P(y = +1 | x) = Φ'(1+f) / (Φ'(1+f) + Φ'(1-f)), the probability at which f(x) minimises E Φ(1 - y f).

        That is the link of the surrogate on margins 1 - yf, and not σ(f). A fit to finite data need not be calibrated.
        For C classes p_c ∝ q_c (e - (e-1) q_c), q = softmax(f): where E log Σ_c exp(f_c - f_y + 1{c != y}) is least.
        """
        f = torch.from_numpy(self.decision_function(X))
        if f.ndim == 2:
            q = f.softmax(1)
            p = q * (math.e - (math.e - 1) * q)
            return np.asarray((p / p.sum(1, keepdim=True)).numpy())
        meta = {} if hasattr(self, "ensemble_") else self.model_.meta
        Phi = surrogate(meta.get("config", {}).get("surrogate", "logistic"))
        odds = Phi.derivative(1 + f) / Phi.derivative(1 - f)
        return torch.stack([1 / (1 + odds), 1 / (1 + 1 / odds)], dim=1).numpy()

    @property
    def history_(self) -> list[Any]:
        """One dict per round: the candidates with their objective values, the chosen one (-1: none), the objective.

        With subnetworks of your own, only the candidates, each of which says whether it was chosen.
        """
        if hasattr(self, "ensemble_"):
            return self.ensemble_.history
        return list(self.model_.meta.get("history", []))

    @property
    def certificate_(self) -> float | None:
        """The certificate of the risk of a network that was trained by picking, at the delta of its training."""
        if hasattr(self, "picked_"):
            return float(self.picked_["bound"])
        if hasattr(self, "ensemble_"):
            return None
        picking = self.history_[-1].get("picking") if self.history_ else None
        return None if picking is None else float(picking["bound"])

    @property
    def _units(self) -> Network:
        if hasattr(self, "ensemble_"):
            raise AttributeError("modules of your own have no units of AdaNet: see summary() and to_torch().")
        return self.model_.network

    @property
    def hidden_(self) -> dict[tuple[int, int], Array]:
        """U_{k,s}, one row per unit of layer k."""
        return {pair: U.numpy() for pair, U in self._units.hidden.items()}

    @property
    def output_(self) -> dict[int, Array]:
        """w_k, the mixture weights on the units of layer k."""
        return {k: w.numpy() for k, w in self._units.output.items()}

    @property
    def declared_(self) -> NetworkSpec | None:
        """The family that was fixed before training."""
        return None if hasattr(self, "ensemble_") else self.model_.declared

    @property
    def subnetworks_(self) -> list[dict[str, dict[int, Array]]]:
        """The subnetworks in the order of their rounds: "hidden"[k] the rows of their units, "output"[k] their w."""
        network = self._units
        each = (network.block(before, own) for _, before, own in placed(self.history_))
        return [
            {name: {k: part.numpy() for k, part in parts.items()} for name, parts in (("hidden", U), ("output", w))}
            for U, w in each
        ]

    def to_torch(self) -> nn.Module:
        """A torch module with X -> f(X), in float64; its parameters are copies.

        With subnetworks of your own it is their weighted sum, in the dtype they were trained in.
        """
        check_is_fitted(self)
        if hasattr(self, "ensemble_"):
            return self.ensemble_.module()
        return NetworkModule(self.model_)

    def save(self, path: str | Path, X: Any = None, y: Any = None) -> None:
        """Write model.pt. With the training data X, y it holds the sample, without them only its digest."""
        check_is_fitted(self)
        if hasattr(self, "ensemble_"):
            return self.ensemble_.write(path)
        model = self.model_
        if X is not None:
            Psi = model.Psi(validate_data(self, X, reset=False, dtype=np.float64))
            sample = Sample.of(Psi, self._signs(y), model.network.outputs)
            same = model.sample is None or model.sample.sha256 == sample.sha256
            check(same, "X and y must be the training sample, got another one.")
            model = replace(model, sample=sample)
        model_file.write(path, model)

    def _signs(self, y: Any) -> Any:
        """-1/+1, or class indices of more than two classes."""
        if len(self.classes_) > 2:
            return np.searchsorted(self.classes_, np.asarray(y)).astype(np.int64)
        return np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)

    def __getstate__(self) -> dict[str, Any]:
        """A model is pickled as the bytes of its file, which hold nothing but plain values."""
        state = dict(super().__getstate__())
        return state | {"model_": model_file.encode(state["model_"])} if "model_" in state else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "model_" in state:
            state = state | {"model_": model_file.decode(state["model_"], "the pickled model")}
        super().__setstate__(state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_") or hasattr(self, "ensemble_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags
