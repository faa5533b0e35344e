"""AdaNet and AdaNet.CVX as scikit-learn classifiers, and any model.pt as a fitted one.

AdaNetClassifier(rounds=5, width=50).fit(X, y).predict(X_new)
load("model.pt").predict(X_new)
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from adanet_theory.checks import check
from adanet_train.app import run
from adanet_train.app.inputs import NEEDS_A_FIXED_MAP
from adanet_train.app.progress import round_line
from adanet_train.classifier import NetworkClassifier
from adanet_train.config import CERTIFIED, Config, Trained, adaptive
from adanet_train.core.device import device
from adanet_train.core.points import Points
from adanet_train.data.classes import REMEDY
from adanet_train.data.features import Array, FeatureMap, default_names
from adanet_train.data.rows import Rows
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, Sample
from adanet_train.picking.train import plan_of
from adanet_train.subnetworks import fitted
from adanet_train.subnetworks.ensemble import Summary

__all__ = ["AdaNetCVXClassifier", "AdaNetClassifier", "NetworkClassifier", "load"]


class _Trained(NetworkClassifier):
    """fit, for the methods; the parameters that Config knows are passed on to it."""

    bias: bool
    feature_range: tuple[float, float] | None
    objective: str
    seed: int
    random_state: Any
    class_weight: Any
    verbose: bool
    warm_start: bool

    def _method(self) -> str:
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y = self._validated(X, y)
        before = self.model_ if self.warm_start and hasattr(self, "model_") else None
        y = self._labels(y)
        weighted = sample_weight is not None or self.class_weight is not None
        check(not weighted or self.objective == "paper", run.unweighted(self.objective))
        rows = Rows.weighted(X, y, sample_weight)
        config = self.config(begun=None if before is None else before.meta["seed"])
        known = None if before is None else before.features
        features = self._feature_map(rows.X, config) if known is None else known
        sample = Sample.digest(Points(rows.X, features), self._signs(rows.y))
        if self.objective != "certificate":  # there numbers split the rows: they must not depend on values
            rows = rows.ordered(self._signs(rows.y))
        points, signs = Points(rows.X, features), torch.from_numpy(self._signs(rows.y))
        notes = {"classes": self.classes_.tolist()}
        if (s := self._weights(rows)) is not None:
            notes["weights"] = hashlib.sha256(s.astype("<f8").data).hexdigest()
        resume = None if before is None else _taken_up(before, sample, notes.get("weights"))
        config = run.config_for(signs, config.replace(r_sup=features.r_sup))
        trained = run.trainer(self._method())(points, signs, config, resume=resume, **self._more(s))
        model = run.model_of(trained, self._method(), features=features, sample=sample, notes=notes)
        # through the file's form, so that a saved model is the fitted one in every bit
        self.model_ = model_file.decode(model_file.encode(model), "the fitted model")
        return self

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        try:
            X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2)
        except ValueError as error:
            if not str(error).startswith("could not convert string"):
                raise
            remedy = "encode words first (OneHotEncoder), or train on the file by adanet-train, which does"
            raise ValueError(f"X must hold numbers, {error}: {remedy}.") from None
        return X, y

    def _labels(self, y: NDArray[Any]) -> NDArray[Any]:
        """y of numbers, flags or words, of which `classes_` are those that occur."""
        told = "Unknown label type: y must hold labels of one type, numbers or words, got"
        if y.dtype.kind == "O":
            kinds = sorted({type(label).__name__ for label in y})
            plain = len(kinds) == 1 and isinstance(y[0], str | np.bool_ | numbers.Real)
            check(plain, f"{told} {', '.join(kinds)}.")
            y = np.array(y.tolist())
        kind = type_of_target(y, input_name="y")
        if kind.startswith("continuous"):
            raise ValueError(f"Unknown label type: {kind}. {REMEDY}")
        check(y.dtype.kind in "biufU", f"{told} {y.dtype}.")
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        only = self.classes_.tolist()[0]
        check(len(self.classes_) >= 2, f"y must hold two classes or more, got one class, {only!r}.")
        return y

    def _weights(self, rows: Rows) -> Array | None:
        """Those of the rows times those of their classes, if there are any."""
        if self.class_weight is None:
            return rows.weights
        by_class = np.asarray(compute_sample_weight(self.class_weight, rows.y))
        positive = bool((by_class > 0).all() and (by_class < np.inf).all())
        check(positive, f"class_weight must be finite and > 0, got class_weight={self.class_weight}.")
        return by_class if rows.weights is None else rows.weights * by_class

    def _more(self, weights: Array | None) -> dict[str, Any]:
        """The weights of the points, and what prints the rounds."""
        more: dict[str, Any] = {} if weights is None else {"weights": torch.from_numpy(weights)}
        if self.verbose:
            more["callback"] = lambda t: print(f"round {len(t.history)}: {round_line(t.history[-1])}", flush=True)
        return more

    def config(self, begun: int | None = None) -> Config:
        """The Config of these parameters; `begun` is the seed of the rounds that there are already."""
        known = {field.name for field in fields(Config)}
        given = {name: _tuples(value) for name, value in self.get_params(deep=False).items() if name in known}
        given["seed"] = self._seed(begun)
        if self._method() == "adanet":
            given = adaptive(given)
        return Config(**given | {"device": device(given["device"])})

    def _seed(self, begun: int | None) -> int:
        """random_state if it is a number, else of a RandomState the one that was drawn, or a draw."""
        if self.random_state is None:
            return self.seed
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return begun if begun is not None else int(check_random_state(self.random_state).randint(2**31))

    def _feature_map(self, X: Array, config: Config) -> FeatureMap:
        names = tuple(getattr(self, "feature_names_in_", default_names(X.shape[1])))
        if self.objective in CERTIFIED:
            check(self.feature_range is not None, f"objective {self.objective} {NEEDS_A_FIXED_MAP} give feature_range.")
            low, high = self._known_range()
            return replace(FeatureMap.known(names, (low + high) / 2, high, bias=self.bias), floor=-1.0)
        if self.feature_range is None:
            rows = plan_of(config).split(len(X))[0] if self.objective == "certificate" else slice(None)
            return FeatureMap.fitted(X[rows], names, bias=self.bias)
        return FeatureMap.known(names, *self._known_range(), bias=self.bias)

    def _known_range(self) -> tuple[float, float]:
        """feature_range as two numbers."""
        limits = np.asarray(self.feature_range)
        two = limits.shape == (2,) and limits.dtype.kind in "biuf"
        check(two, f"feature_range must be two numbers, low and high, got feature_range={self.feature_range!r}.")
        low, high = limits.tolist()
        return low, high


def _taken_up(before: ModelFile, sample: Sample, weights: str | None) -> Trained:
    """warm_start: the rounds of the last fit, to which further ones are added; the sample must be the same."""
    same = before.sample is not None and before.sample.sha256 == sample.sha256
    check(same, "warm_start adds rounds to a fit on the same X and y, got others: set warm_start=False.")
    same = before.meta.get("weights") == weights
    check(same, "warm_start adds rounds to a fit with the same weights, got others: set warm_start=False.")
    return run.trained_of(before)


def _tuples(value: Any) -> Any:
    """Lists and arrays as tuples, numbers of numpy as plain ones."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_tuples(part) for part in value)
    return value.item() if isinstance(value, np.generic) else value


_OWN = {"subnetworks", "rounds", "seed", "random_state", "class_weight", "warm_start", "verbose", "device"} | {
    *("objective", "delta", "start", "picks", "order")
}
"""Parameters that are also for subnetworks of one's own."""


class AdaNetClassifier(_Trained):
    """AdaNet as a classifier of any number of classes.

    By default every subnetwork is a committee: 8 small networks, each trained without an eighth of the sample (fewer,
    and with less held out, from 20,000 points on), which says when it stops. The held-out points also choose λ, the
    depth and the number of rounds; there is no refit, as every point is in the training of most members. What was
    chosen stands in `history_` and in the file; the declared family is the one of the parameters, fixed before.

    Parameters
    ----------
    rounds : T, the number of subnetworks at most; training ends when a further one would not help.
    width : B, the units per layer of a subnetwork, or of each member. None: 100, of a committee 50 below 20,000 points.
    max_rounds : the T of the declared family, up to which `warm_start` can add rounds. None: `rounds`.
    p : the norm of a unit's weights, in [1, inf].
    Lambda : its bound Λ, one number, or one for each layer up to the maximal depth.
    activation : φ, a name such as "relu", "tanh" or "leaky_relu:0.1".
    max_depth : the maximal depth of the family. None: as deep as T rounds can build, at most 5.
    rho : a margin to declare with the family; training does not use it.
    enforce : keep ||u||_p <= Λ. With False no family is declared.
    surrogate : Φ: "logistic", "logistic2" or "exponential"; of more than two classes the multinomial logistic loss.
    lam : λ, the weight of the complexity r in Γ = λ r + β. None: chosen on the held-out points, with the depth.
    beta : β.
    complexity : r: "lemma-2", "lemma-2-peeled", "sampled", "sd", "sqrt-depth", or a function (spec, k, Psi, H) -> r.
    objective : "paper", "bound" (the λ and β with which F bounds the risk), "certificate" (trained by picking, with the
        certificate `certificate_`), "vote" (F is a certificate) or "description" (every unit pays for its bits; F is
        occam-certificate).
    delta : of the certificate, which holds with probability 1 - delta.
    start : of picking, the share of the rows that the start is fitted on.
    picks : of picking, the most rows picked. None: a function of the number of rows and classes.
    order : of picking, which wrong rows come first: "worst", "nearest" (for noisy labels) or "hash".
    variant : "base", "R", "P", "D" or "SD", as in the paper's Table 3.
    candidates : (depth - l_{t-1}, units per layer) of each candidate of a round. None: (0, B) and (1, B); if λ is
        chosen, in the first round also (2, B) where the held-out points choose (1, B), and then (0, B).
    outputs : which layers of a subnetwork the output reads: "top" or "all".
    corrective : minimise F over all of w again after every round.
    learner : "auto", "committee", "gradient" (the paper's), "units", "random", or a function (task, generator) ->
        weights. "auto" is a committee, and "gradient" for what only that has: variants R, P, D, outputs="all",
        corrective=True. Of more than two classes "gradient" is "units", and there are no variants R, P, D.
    members : of a committee. None: 8, from 20,000 points on 4, from 200,000 on 2.
    validation_fraction : the share of the sample that each member is held out from; 10,000 points at most.
    patience : looks at the held-out points (or at F) without a new best value before a search ends.
    optimiser : of the learners "gradient" and "units": "sgd" or "adam".
    learning_rate : of the search. None: 0.1; of a committee 0.005, and 0.03 for linear members.
    steps : of the search at most. None: 2,000; of a committee as many as its epochs take.
    epochs : of a committee, passes over the sample. None: while the held-out loss falls, by up to 8 runs of 80 passes,
        of more than two classes 50, but at most 2,000,000/m in all and 12 at least; runs of a third of that for a
        further subnetwork and for several hidden layers.
    batch : points per step. None: 100; of a committee 64 to 512, by the size of the sample.
    tol : the duality gap at which the convex step ends.
    seed : of all randomness: the same seed gives the same bits on the same machine.
    random_state : scikit-learn's name for it: an integer is the seed, a RandomState draws one. None: `seed`.
    class_weight : "balanced", or a dict of the weights of the classes, as in scikit-learn.
    warm_start : a further `fit` on the same data adds rounds up to `rounds`; see `max_rounds`.
    verbose : print a line after every round.
    device : "auto", "cpu", "cuda", ..
    jobs : candidates trained at the same time; the result does not depend on it.
    bias : append a constant feature.
    feature_range : the range of X, if it was known before the sample: then the feature map was fixed in advance.
    subnetworks : builders of your own (`adanet_train.subnetworks`): functions that return an nn.Module, trained modules
        or estimators, in a list, or `Subnetworks(...)`. X may then be images, a Dataset or a DataLoader.

    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> model = AdaNetClassifier(rounds=1, width=20, learner="gradient", steps=200)
    >>> model.fit(X, ["same", "different", "different", "same"]).predict([[0.0, 1.0], [1.0, 1.0]]).tolist()
    ['different', 'same']
    """

    def __init__(
        self,
        rounds: int = Config.rounds,
        width: int | None = Config.width,
        *,
        max_rounds: int | None = Config.max_rounds,
        p: float = Config.p,
        Lambda: float | tuple[float, ...] = Config.Lambda,
        activation: str = Config.activation,
        max_depth: int | None = Config.max_depth,
        rho: float | None = Config.rho,
        enforce: bool = Config.enforce,
        surrogate: str = Config.surrogate,
        lam: float | None = None,
        beta: float = Config.beta,
        complexity: str | Callable[..., float] = Config.complexity,
        objective: str = Config.objective,
        delta: float = Config.delta,
        start: float = Config.start,
        picks: int | None = Config.picks,
        order: str = Config.order,
        variant: str = Config.variant,
        candidates: tuple[tuple[int, int], ...] | None = Config.candidates,
        outputs: str = Config.outputs,
        corrective: bool = Config.corrective,
        learner: str | Callable[..., Any] = "auto",
        members: int | None = Config.members,
        validation_fraction: float = Config.validation_fraction,
        patience: int = Config.patience,
        optimiser: str = Config.optimiser,
        learning_rate: float | None = Config.learning_rate,
        steps: int | None = Config.steps,
        epochs: int | None = Config.epochs,
        batch: int | None = Config.batch,
        tol: float = Config.tol,
        seed: int = Config.seed,
        random_state: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
        device: str = Config.device,
        jobs: int = Config.jobs,
        bias: bool = True,
        feature_range: tuple[float, float] | None = None,
        subnetworks: Any = None,
    ) -> None:
        self.rounds = rounds
        self.width = width
        self.subnetworks = subnetworks
        self.max_rounds = max_rounds
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
        self.delta = delta
        self.start = start
        self.picks = picks
        self.order = order
        self.variant = variant
        self.candidates = candidates
        self.outputs = outputs
        self.corrective = corrective
        self.learner = learner
        self.members = members
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.steps = steps
        self.epochs = epochs
        self.batch = batch
        self.tol = tol
        self.seed = seed
        self.random_state = random_state
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose
        self.device = device
        self.jobs = jobs
        self.bias = bias
        self.feature_range = feature_range

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Scale X to [0, 1], by `feature_range` if it was known in advance, and train.

        With `subnetworks` X goes to the modules as it is, and y may be left out for a Dataset of pairs.

        `sample_weight`: integers are counts, k for k copies of a row, each a point of its own that may be held out, 0
        for none; they are what to give for a table that was counted. An importance must be a float: of copies some
        would be held out from the others, and the fit would go by heart. Floats multiply the loss of each row, scaled
        to mean 1, as `class_weight` does. Rows of weight 0 are left out.
        """
        if self.subnetworks is not None:
            return self._fit_subnetworks(X, y, sample_weight)
        return self._fit(X, y, sample_weight)

    def _fit_subnetworks(self, X: Any, y: Any, sample_weight: Any) -> Self:
        weighted = sample_weight is not None or self.class_weight is not None
        check(not weighted, "subnetworks take no sample_weight and no class_weight: weight the loss in your `fit`.")
        self._check_own()
        if self.objective == "certificate":
            return self._fit_picking(X, y)
        begun = getattr(self, "ensemble_", None) if self.warm_start else None
        made: dict[str, Any] = {
            "rounds": self.rounds,
            "seed": self._seed(None if begun is None else begun.run.seed),
            "device": device(self.device),
            "callback": fitted.tell if self.verbose else None,
        }
        self.ensemble_ = fitted.fit(X, y, self.subnetworks, resume=begun, **made)
        self.classes_ = self.ensemble_.classes
        return self

    def _check_own(self) -> None:
        """Parameters of dense networks are refused, not ignored."""
        mine, default = self.get_params(deep=False), AdaNetClassifier().get_params(deep=False)
        other = [name for name in mine if name not in _OWN and mine[name] is not default[name]]
        other = [name for name in other if mine[name] != default[name]]
        check(not other, f"{'/'.join(other)} is not for subnetworks, which take their settings from Subnetworks(...).")
        known = self.objective in ("paper", "certificate")
        check(known, f"objective of subnetworks must be paper or certificate, got objective={self.objective!r}.")

    def _fit_picking(self, X: Any, y: Any) -> Self:
        from adanet_train.picking.certify import certify

        check(not self.warm_start, "objective certificate trains from its start: set warm_start=False.")
        plan: dict[str, Any] = {"start": self.start, "K": self.picks, "order": self.order, "delta": self.delta}
        found = certify(self, X, y, seed=self._seed(None), **plan)
        self.ensemble_, self.picked_ = found.predictor.ensemble_, found.record
        self.classes_ = self.ensemble_.classes
        return self

    def summary(self, X: Any) -> Summary:
        """The architecture as a table: depth, parameters, weight and share of f of every subnetwork, on points X."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.summary(X)

    def _method(self) -> str:
        return "adanet"


class AdaNetCVXClassifier(_Trained):
    """AdaNet.CVX as a classifier: one unit a round, or one for each of C classes, on the whole sample.

    Parameters
    ----------
    rounds : T, the number of units at most.
    step : "closed-form" (the paper's, mended), "exact" (the joint minimiser of each round) or, of two classes,
        "printed".
    max_rounds : the T of the declared family, up to which `warm_start` can add rounds. None: `rounds`.
    p : the norm of a unit's weights, in [1, inf].
    Lambda : its bound Λ, one number, or one for each layer up to the maximal depth.
    activation : φ, a name such as "relu", "tanh" or "leaky_relu:0.1".
    max_depth : the maximal depth of the family. None: as deep as T rounds can build, at most 5.
    rho : a margin to declare with the family; training does not use it.
    surrogate : Φ: "logistic", "logistic2" or "exponential".
    lam : λ, the weight of the complexity r in Γ = λ r + β; a number, as nothing is held out to choose it on.
    beta : β.
    complexity : r: "lemma-2", "lemma-2-peeled", "sampled", "sd", "sqrt-depth", or a function (spec, k, Psi, H) -> r.
    objective : "paper" or "bound" (the λ and β with which F bounds the risk).
    tol : the duality gap at which the convex step ends.
    seed : kept in the file; nothing is drawn at random, but for the complexity "sampled".
    random_state : scikit-learn's name for it: an integer is the seed, a RandomState draws one. None: `seed`.
    warm_start : a further `fit` on the same data adds rounds up to `rounds`; see `max_rounds`.
    verbose : print a line after every round.
    device : "auto", "cpu", "cuda", ..
    bias : append a constant feature.
    feature_range : the range of X, if it was known before the sample: then the feature map was fixed in advance.
    """

    def __init__(
        self,
        rounds: int = Config.rounds,
        *,
        max_rounds: int | None = Config.max_rounds,
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
        random_state: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
        device: str = Config.device,
        bias: bool = True,
        feature_range: tuple[float, float] | None = None,
    ) -> None:
        self.rounds = rounds
        self.max_rounds = max_rounds
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
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.device = device
        self.bias = bias
        self.feature_range = feature_range

    class_weight = None

    def fit(self, X: Any, y: Any) -> Self:
        """Scale X to [0, 1], by `feature_range` if it was known in advance, and train."""
        return self._fit(X, y)

    def _method(self) -> str:
        return "cvx-exact" if self.step == "exact" else "cvx"


def load(path: str | Path, subnetworks: Any = None) -> NetworkClassifier:
    """A fitted classifier from a model.pt: one of the two above if they trained it, else one that can only predict.

    A file of subnetworks of one's own needs the builders that made them: `load(path, subnetworks=[my_cnn])`.
    """
    if subnetworks is not None:
        return of_ensemble(fitted.read(path, subnetworks), subnetworks)
    model = model_file.read(path)
    loaded = _untrained(model)
    loaded.model_ = model
    loaded.classes_ = np.array(model.meta.get("classes", [-1, 1]))
    loaded.n_features_in_ = model.network.n[0] if model.features is None else len(model.features.names)
    return loaded


def of_ensemble(found: fitted.Fitted, subnetworks: Any) -> AdaNetClassifier:
    """A fitted ensemble as a classifier that knows its builders."""
    ours = AdaNetClassifier(rounds=found.rounds, subnetworks=subnetworks, seed=found.run.seed)
    ours.ensemble_, ours.classes_ = found, found.classes
    return ours


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
    if kind is AdaNetClassifier and adaptive(given | {"learner": "auto"})["learner"] == given["learner"]:
        given["learner"] = "auto"
    features = model.features
    return kind(**given, bias=features is not None and features.bias, feature_range=_known_range(features))


def _known_range(features: FeatureMap | None) -> tuple[float, float] | None:
    if features is None or features.fitted_on_sample or len({*zip(features.low, features.high, strict=True)}) > 1:
        return None
    return float(features.low[0]), float(features.high[0])
