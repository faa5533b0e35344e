"""AdaNet and AdaNet.CVX as scikit-learn classifiers, and any model.pt as a fitted one.

AdaNetClassifier(rounds=5, width=50).fit(X, y).predict(X_new)
load("model.pt").predict(X_new)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from adanet_theory.checks import check
from adanet_train import run
from adanet_train.classifier import NetworkClassifier
from adanet_train.command_line import device
from adanet_train.config import Config
from adanet_train.data.features import Array, FeatureMap, default_names
from adanet_train.inputs import NEEDS_A_FIXED_MAP
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, Sample

__all__ = ["AdaNetCVXClassifier", "AdaNetClassifier", "NetworkClassifier", "load"]


class _Trained(NetworkClassifier):
    """fit, for the methods; the parameters that Config knows are passed on to it."""

    bias: bool
    feature_range: tuple[float, float] | None
    objective: str

    def _method(self) -> str:
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Self:
        """Scale X to [0, 1], by `feature_range` if it was known in advance, and train."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        kind = type_of_target(y, input_name="y")
        if len(self.classes_) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        check(len(self.classes_) == 2, f"y must hold both classes, got one class, {self.classes_[0]!r}.")
        features = self._feature_map(X)
        Psi, signs = torch.from_numpy(features(X)), torch.from_numpy(self._signs(y))
        trained = run.trainer(self._method())(Psi, signs, self.config(features.r_sup))
        sample = Sample.of(Psi, signs).without_data()
        notes = {"classes": self.classes_.tolist()}
        model = run.model_of(trained, self._method(), features=features, sample=sample, notes=notes)
        # through the file's form, so that a saved model is the fitted one in every bit
        self.model_ = model_file.decode(model_file.encode(model), "the fitted model")
        return self

    def config(self, r_sup: float = 1.0) -> Config:
        """The Config of these parameters."""
        known = {field.name for field in fields(Config)}
        given = {name: value for name, value in self.get_params(deep=False).items() if name in known}
        return Config(**given | {"device": device(given["device"]), "r_sup": r_sup})

    def _feature_map(self, X: Array) -> FeatureMap:
        names = tuple(getattr(self, "feature_names_in_", default_names(X.shape[1])))
        if self.objective == "certificate":
            check(self.feature_range is not None, f"objective certificate {NEEDS_A_FIXED_MAP} give feature_range.")
            low, high = self.feature_range or (0.0, 1.0)
            return replace(FeatureMap.known(names, (low + high) / 2, high, bias=self.bias), floor=-1.0)
        if self.feature_range is None:
            return FeatureMap.fitted(X, names, bias=self.bias)
        return FeatureMap.known(names, *self.feature_range, bias=self.bias)


class AdaNetClassifier(_Trained):
    """AdaNet, with the parameters of `Config`; `feature_range` is the range of X if it is known in advance.

    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> model = AdaNetClassifier(rounds=1, width=20, steps=200).fit(X, ["same", "different", "different", "same"])
    >>> model.predict([[0.0, 1.0], [1.0, 1.0]]).tolist()
    ['different', 'same']
    """

    def __init__(
        self,
        rounds: int = Config.rounds,
        width: int = Config.width,
        *,
        p: float = Config.p,
        Lambda: float | tuple[float, ...] = Config.Lambda,
        activation: str = Config.activation,
        max_depth: int | None = Config.max_depth,
        rho: float | None = Config.rho,
        enforce: bool = Config.enforce,
        surrogate: str = Config.surrogate,
        lam: float | None = Config.lam,
        beta: float = Config.beta,
        complexity: str | Callable[..., float] = Config.complexity,
        objective: str = Config.objective,
        variant: str = Config.variant,
        candidates: tuple[tuple[int, int], ...] | None = Config.candidates,
        outputs: str = Config.outputs,
        corrective: bool = Config.corrective,
        learner: str | Callable[..., Any] = Config.learner,
        optimiser: str = Config.optimiser,
        learning_rate: float | None = Config.learning_rate,
        steps: int | None = Config.steps,
        batch: int | None = Config.batch,
        tol: float = Config.tol,
        seed: int = Config.seed,
        device: str = Config.device,
        jobs: int = Config.jobs,
        bias: bool = True,
        feature_range: tuple[float, float] | None = None,
    ) -> None:
        self.rounds = rounds
        self.width = width
        self.p = p
        self.Lambda = Lambda
        self.activation = activation
        self.max_depth = max_depth
        self.rho = rho
        self.enforce = enforce
        self.surrogate = surrogate
        self.lam = lam
        self.beta = beta
        self.complexity = complexity
        self.objective = objective
        self.variant = variant
        self.candidates = candidates
        self.outputs = outputs
        self.corrective = corrective
        self.learner = learner
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.steps = steps
        self.batch = batch
        self.tol = tol
        self.seed = seed
        self.device = device
        self.jobs = jobs
        self.bias = bias
        self.feature_range = feature_range

    def _method(self) -> str:
        return "adanet"


class AdaNetCVXClassifier(_Trained):
    """AdaNet.CVX, with the parameters of `Config`; step="exact" is the joint minimiser of each round."""

    def __init__(
        self,
        rounds: int = Config.rounds,
        *,
        step: str = Config.step,
        p: float = Config.p,
        Lambda: float | tuple[float, ...] = Config.Lambda,
        activation: str = Config.activation,
        max_depth: int | None = Config.max_depth,
        rho: float | None = Config.rho,
        surrogate: str = Config.surrogate,
        lam: float | None = Config.lam,
        beta: float = Config.beta,
        complexity: str | Callable[..., float] = Config.complexity,
        objective: str = Config.objective,
        tol: float = Config.tol,
        seed: int = Config.seed,
        device: str = Config.device,
        bias: bool = True,
        feature_range: tuple[float, float] | None = None,
    ) -> None:
        self.rounds = rounds
        self.step = step
        self.p = p
        self.Lambda = Lambda
        self.activation = activation
        self.max_depth = max_depth
        self.rho = rho
        self.surrogate = surrogate
        self.lam = lam
        self.beta = beta
        self.complexity = complexity
        self.objective = objective
        self.tol = tol
        self.seed = seed
        self.device = device
        self.bias = bias
        self.feature_range = feature_range

    def _method(self) -> str:
        return "cvx-exact" if self.step == "exact" else "cvx"


def load(path: str | Path) -> NetworkClassifier:
    """A fitted classifier from a model.pt: one of the two above if they trained it, else one that can only predict."""
    model = model_file.read(path)
    loaded = _untrained(model)
    loaded.model_ = model
    loaded.classes_ = np.array(model.meta.get("classes", [-1, 1]))
    loaded.n_features_in_ = model.network.n[0] if model.features is None else len(model.features.names)
    return loaded


def _untrained(model: ModelFile) -> NetworkClassifier:
    """The estimator with the parameters that the file tells of."""
    kinds: dict[Any, type[_Trained]] = {"adanet": AdaNetClassifier}
    kinds |= {"cvx": AdaNetCVXClassifier, "cvx-exact": AdaNetCVXClassifier}
    kind = kinds.get(model.meta.get("method"))
    try:
        config = run.trained_of(model).config if kind else None
    except ValueError:  # a user's own function, which the file only names
        config = None
    if kind is None or config is None:
        return NetworkClassifier()
    given = {name: getattr(config, name) for name in kind().get_params(deep=False) if hasattr(config, name)}
    features = model.features
    return kind(**given, bias=features is not None and features.bias, feature_range=_known_range(features))


def _known_range(features: FeatureMap | None) -> tuple[float, float] | None:
    if features is None or features.fitted_on_sample or len({*zip(features.low, features.high, strict=True)}) > 1:
        return None
    return float(features.low[0]), float(features.high[0])
