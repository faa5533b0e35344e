"""AdaNet and AdaNet.CVX as scikit-learn classifiers, and any model.pt as a fitted one.

AdaNetClassifier(rounds=5, width=50).fit(X, y).predict(X_new)
load("model.pt").predict(X_new)
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import numbers
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_random_state, compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from adanet_theory.checks import check, refuse_unknown
from adanet_train.app import run
from adanet_train.app.inputs import NEEDS_A_FIXED_MAP
from adanet_train.app.progress import round_line
from adanet_train.core.by_class import base_rate
from adanet_train.core.config import DEFAULTS, Config
from adanet_train.core.device import device
from adanet_train.core.points import Points
from adanet_train.core.training import Trained
from adanet_train.data.classes import REMEDY
from adanet_train.data.disk import is_on_disk
from adanet_train.data.encoding import numbered, warn_of_ids
from adanet_train.data.features import Array, FeatureMap, default_names
from adanet_train.data.rows import Rows, doubt, hashes, repeats
from adanet_train.model import model_file
from adanet_train.model.classifier import NetworkClassifier
from adanet_train.model.model_file import ModelFile, Sample
from adanet_train.model.trained import model_of, trained_of
from adanet_train.picking.train import plan_of
from adanet_train.subnetworks import fitted
from adanet_train.subnetworks.data import is_rows_file, is_stream, labels_in
from adanet_train.subnetworks.ensemble import Candidates, Summary

__all__ = ["AdaNetCVXClassifier", "AdaNetClassifier", "NetworkClassifier", "load"]


RENAMED = {"seed": "random_state", "jobs": "n_jobs"}
"""Settings of Config that have scikit-learn's names here."""


class _Trained(NetworkClassifier):
    """fit, for the methods; the parameters that Config knows are passed on to it."""

    bias: bool
    feature_range: tuple[float, float] | None
    random_state: Any
    n_jobs: int | None = None
    class_weight: Any
    verbose: bool
    warm_start: bool
    config: Config | str | None

    def _method(self, config: Config) -> str:
        raise NotImplementedError

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn; a setting that belongs in `config` is refused by name."""
        for name in params.keys() - set(self._get_param_names()):
            if (moved := _moved(type(self).__name__, name)) is not None:
                raise ValueError(moved)
        return super().set_params(**params)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y = self._validated(X, y)
        before = self.model_ if self.warm_start and hasattr(self, "model_") else None
        y = self._labels(y)
        config = self.settings(begun=None if before is None else before.meta["seed"])
        config.goal.check_unweighted(sample_weight, self.class_weight)
        rows, method = Rows.weighted(X, y, sample_weight), self._method(config)
        known = None if before is None else before.features
        features = self._feature_map(rows.X, config) if known is None else known
        sample = Sample.digest(Points(rows.X, features), self._signs(rows.y))
        if not config.goal.by_picking:  # there numbers split the rows: they must not depend on values
            rows = rows.ordered(self._signs(rows.y))
        points, signs = Points(rows.X, features), torch.from_numpy(self._signs(rows.y))
        if config.goal.certifies and not is_on_disk(rows.X):
            repeated = repeats(hashes(rows.X, self._signs(rows.y)))
            if repeated and not config.goal.discrete:
                warnings.warn(doubt(repeated, len(rows.y), "config=Config(discrete=True)"), stacklevel=3)
        notes = {"classes": self.classes_.tolist()}
        if (s := self._weights(rows)) is not None:
            notes["weights"] = hashlib.sha256(s.astype("<f8").data).hexdigest()
        resume = None if before is None else _taken_up(before, sample, notes.get("weights"))
        config = config.replace(r_sup=features.r_sup)
        trained = run.trainer(method)(points, signs, config, resume=resume, **self._more(s))
        model = model_of(trained, method, features=features, sample=sample, notes=notes)
        # through the file's form, so that a saved model is the fitted one in every bit
        self.model_ = model_file.decode(model_file.encode(model), "the fitted model")
        self._hold_only("model_")
        return self

    def _hold_only(self, *names: str) -> None:
        """Of what `fit` may leave only this: what an earlier fit of another kind left would answer for this one."""
        for name in {"model_", "ensemble_", "picked_"}.difference(names):
            self.__dict__.pop(name, None)

    def _warned(self, X: Any, y: Any) -> Self:
        """With a warning where every point of the sample is put into one class."""
        predicted = np.unique(self.predict(X))
        if len(predicted) == 1:
            constant = f"a constant prediction errs on {base_rate(np.asarray(y)):.4f} of the sample"
            remedy = "weight the loss in your `fit`" if hasattr(self, "ensemble_") else "class_weight='balanced'"
            warning = f"the network predicts one class, {predicted.tolist()[0]!r}; {constant} ({remedy})."
            warnings.warn(warning, stacklevel=3)
        return self

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        frame = X
        try:
            X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2)
        except ValueError as error:
            if not str(error).startswith("could not convert string"):
                raise
            remedy = "encode words first (OneHotEncoder), or train on the file by adanet-train, which does"
            raise ValueError(f"X must hold numbers, {_column_of_words(frame)}{error}: {remedy}.") from None
        warn_of_ids(numbered(X, getattr(self, "feature_names_in_", ())), stacklevel=5)
        return X, y

    def _labels(self, y: NDArray[Any]) -> NDArray[Any]:
        """y of numbers, flags or words, of which `classes_` are those that occur."""
        expected = "Unknown label type: y must hold labels of one type, numbers or words, got"
        if y.dtype.kind == "O":
            kinds = sorted({type(label).__name__ for label in y})
            plain = len(kinds) == 1 and isinstance(y[0], str | np.bool_ | numbers.Real)
            check(plain, f"{expected} {', '.join(kinds)}.")
            y = np.array(y.tolist())
        kind = type_of_target(y, input_name="y")
        if kind.startswith("continuous"):
            raise ValueError(f"Unknown label type: {kind}; {REMEDY}")
        check(y.dtype.kind in "biufU", f"{expected} {y.dtype}.")
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
            more["say"] = functools.partial(print, flush=True)
        return more

    def settings(self, begun: int | None = None) -> Config:
        """The Config of these parameters: `config`, but for what they name; `begun` is the seed of earlier rounds."""
        config = self.config if isinstance(self.config, Config) else self._preset(self.config)
        given = {name: _tuples(value) for name, value in self.get_params(deep=False).items() if name in DEFAULTS}
        given = {name: value for name, value in given.items() if value is not None}
        if self.n_jobs is not None:
            given["jobs"] = effective_n_jobs(self.n_jobs)
        given["device"] = device(given.get("device", config.run.device))
        return config.replace(seed=self._seed(config.run.seed, begun), **given)

    def _preset(self, name: Any) -> Config:
        known = name is None or isinstance(name, str)
        check(known, f"config must be a Config or the name of a preset, got a {type(name).__name__}.")
        return Config.preset(name or "default")

    def _seed(self, seed: int, begun: int | None) -> int:
        """random_state if it is a number, else of a RandomState the one that was drawn, or a draw."""
        if self.random_state is None:
            return seed
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return begun if begun is not None else int(check_random_state(self.random_state).randint(2**31))

    def _feature_map(self, X: Array, config: Config) -> FeatureMap:
        names = tuple(getattr(self, "feature_names_in_", default_names(X.shape[1])))
        if self.feature_range is None:
            needs = f"objective {config.goal.objective} {NEEDS_A_FIXED_MAP} give feature_range."
            check(not config.goal.is_certificate, needs)
            rows = plan_of(config).split(len(X))[0] if config.goal.by_picking else slice(None)
            return FeatureMap.fitted(X[rows], names, bias=self.bias)
        return FeatureMap.known(names, *self._known_range(), bias=self.bias, center=config.goal.is_certificate)

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
    return trained_of(before)


def _tuples(value: Any) -> Any:
    """Lists and arrays as tuples, numbers of numpy as plain ones."""
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_tuples(part) for part in value)
    return value.item() if isinstance(value, np.generic) else value


def _moved(kind: str, name: str) -> str | None:
    """Where a setting is given now, if it is one."""
    if name in RENAMED:
        return f"{name} is called {RENAMED[name]} here: {kind}({RENAMED[name]}=..)."
    return f"{name} belongs in config: {kind}(config=Config({name}=..))." if name in DEFAULTS else None


def _keeps(init: Callable[..., None]) -> Callable[..., None]:
    """The constructor, which keeps every parameter by its name; of a setting that has moved it says where to."""
    kind, parameters = init.__qualname__.partition(".")[0], inspect.signature(init)
    known = [name for name in parameters.parameters if name != "self"]

    @functools.wraps(init)
    def kept(self: Any, *given: Any, **named: Any) -> None:
        for name in named:
            if name not in known and (moved := _moved(kind, name)) is not None:
                raise TypeError(moved)
        refuse_unknown(kind, (name for name in named if name not in known), known)
        bound = parameters.bind(self, *given, **named)
        bound.apply_defaults()
        vars(self).update({name: bound.arguments[name] for name in known})

    return kept


_OWN_SETTINGS = {"rounds", "seed", "device", "objective", "delta", "discrete", "start", "picks", "order"}
"""Settings that are also for subnetworks of one's own."""


class AdaNetClassifier(_Trained):
    """AdaNet as a classifier of any number of classes.

    By default every subnetwork is a committee: 8 small networks (fewer from 20,000 points on), each trained without a
    part of the sample, at most an eighth, which says when to stop. The held-out points also choose λ, the depth and the
    number of rounds. There is no refit, since most members train on each point. What was chosen is in `history_` and in
    the file. The declared family is that of the parameters. None takes the value of `config`, its default in brackets.

    Parameters
    ----------
    rounds
        T, the largest number of subnetworks (10); training ends when a further one would not help.
    width
        B, the units per layer of a subnetwork, or of each member of a committee (100; 50 for a committee on fewer than
        20,000 points).
    max_depth
        Maximal depth of the family (as deep as T rounds can build, at most 5).
    lam
        λ, the weight of the complexity r in Γ = λ r + β (a committee chooses it on held-out points, else 1e-5).
    objective
        "paper" (the default), "bound" (the λ and β with which F bounds the risk), "certificate" (train by picking, with
        the certificate `certificate_`), "vote" (F is vote-certificate of a linear network) or "description" (every unit
        pays for its bits; F is occam-certificate).
    learner
        "auto", "committee", "gradient" (the paper's), "units", "random", or a function (task, generator) -> weights
        ("auto": a committee, but "gradient" for what only that has: variants R, P, D, outputs="all", corrective=True).
        With more than two classes "gradient" is "units".
    subnetworks
        Your own builders (`adanet_train.subnetworks`): functions or objects that make an nn.Module, in a list, or
        `Subnetworks(...)`; `Committee()` is the default learner as a builder. A module instance or a fitted estimator
        is used as it is and not trained. X may then be images, a Dataset, a DataLoader or .npy files.
    config
        All other settings: a `Config`, or the name of a preset, "default" or "paper" (AdaNet as published).
    class_weight
        "balanced", or a dict of the weights of the classes, as in scikit-learn.
    feature_range
        (low, high) of every feature, if known before the sample: then the feature map was fixed in advance.
    bias
        Whether to append a constant feature.
    random_state
        Seed of all randomness, an integer, or a RandomState that draws one (0). The same seed gives the same bits on
        the same machine.
    n_jobs
        How many candidates are trained at the same time, -1 for one on each core (1); it does not change the result.
    warm_start
        Whether a further `fit` on the same data adds rounds up to `rounds`; see `max_rounds` of `Config`.
    verbose
        Whether to print a line after every round.
    device
        "auto", "cpu" or "cuda" ("cpu").

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> model = AdaNetClassifier(rounds=1, width=20, learner="gradient", config=Config(steps=200))
    >>> model.fit(X, ["same", "different", "different", "same"]).predict([[0.0, 1.0], [1.0, 1.0]]).tolist()
    ['different', 'same']
    """

    @_keeps
    def __init__(
        self,
        rounds: int | None = None,
        width: int | None = None,
        *,
        max_depth: int | None = None,
        lam: float | None = None,
        objective: str | None = None,
        learner: str | Callable[..., Any] | None = None,
        subnetworks: Any = None,
        config: Config | str | None = None,
        class_weight: Any = None,
        feature_range: tuple[float, float] | None = None,
        bias: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: bool = False,
        device: str | None = None,
    ) -> None: ...

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Scale X to [0, 1], by `feature_range` if it is given, and train.

        If a round fails or is interrupted, the rounds before it are kept; with warm_start=True a further `fit` goes on.

        Parameters
        ----------
        X
            Matrix with one row per point. With `subnetworks` the modules read it as it is, and it may be the path of
            a .csv or .parquet file, or a pattern such as part-*.parquet.
        y
            Labels; for a path or a data frame also the name of their column. It may be left out for a Dataset of pairs.
        sample_weight
            Integers count copies of a row: each copy is a point of its own, which may be held out from the others. Give
            importances as floats: they multiply the loss of each row, scaled to mean 1. Rows of weight 0 are left out.
        """
        if self.subnetworks is not None:
            return self._fit_subnetworks(X, y, sample_weight)
        return self._fit(X, y, sample_weight)._warned(X, y)

    def _fit_subnetworks(self, X: Any, y: Any, sample_weight: Any) -> Self:
        weighted = sample_weight is not None or self.class_weight is not None
        check(not weighted, "subnetworks take no sample_weight and no class_weight: weight the loss in your `fit`.")
        begun = getattr(self, "ensemble_", None) if self.warm_start else None
        config = self.settings(None if begun is None else begun.run.seed)
        self._check_own(config)
        if config.goal.by_picking:
            return self._fit_picking(X, y, config)

        def hold(ensemble: fitted.Fitted) -> None:
            self.ensemble_, self.classes_ = ensemble, ensemble.classes
            self._hold_only("ensemble_")

        def after(ensemble: fitted.Fitted) -> None:
            hold(ensemble)  # what follows may fail: this round is kept
            if self.verbose:
                fitted.tell(ensemble)

        made: dict[str, Any] = {"rounds": config.family.rounds, "seed": config.run.seed, "device": config.run.device}
        hold(fitted.fit(X, y, self.subnetworks, resume=begun, callback=after, **made))
        return self if y is None or isinstance(y, str) else self._warned(X, y)

    def _check_own(self, config: Config) -> None:
        """Parameters of dense networks are refused, not ignored."""
        unread = [name for name in config.changes() if name not in _OWN_SETTINGS]
        unread += [name for name, given in (("bias", not self.bias), ("feature_range", self.feature_range)) if given]
        check(
            not unread, f"{'/'.join(unread)} is not for subnetworks, which take their settings from Subnetworks(...)."
        )
        objective = config.goal.objective
        known = objective in ("paper", "certificate")
        check(known, f"objective of subnetworks must be paper or certificate, got objective={objective!r}.")

    def _fit_picking(self, X: Any, y: Any, config: Config) -> Self:
        from adanet_train.picking.certify import certify

        check(not self.warm_start, "objective certificate trains from its start: set warm_start=False.")
        plan: dict[str, Any] = {"start": config.picking.start, "K": config.picking.picks}
        plan |= {"order": config.picking.order, "delta": config.goal.delta, "discrete": config.goal.discrete}
        encoder = None
        if fitted.is_table(X) or is_rows_file(X):
            where = X if isinstance(X, str | Path) else "X"
            X, y, encoder, _ = fitted.read_labelled(X, y)
            fitted.require_numbers(encoder, where)
            X = np.array(X)  # of picking every row is in memory
        certified = certify(self, X, y, seed=config.run.seed, verbose=self.verbose or None, **plan)
        self.ensemble_ = replace(certified.predictor.ensemble_, picked=certified.record, encoder=encoder)
        self.picked_ = certified.record
        self._hold_only("ensemble_", "picked_")
        self.classes_ = self.ensemble_.classes
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of points whose class is predicted. X and y are as in `fit`."""
        if self.subnetworks is not None:
            X, y = self._own_subnetworks.read(X, labels_in(X) if y is None and is_stream(X) else y)
        check(y is not None, "y is required: one label per point.")
        return super().score(X, y, sample_weight)

    def summary(self) -> Summary:
        """The architecture as a table: depth, parameters, weight and share of f of every subnetwork of your own."""
        return self._own_subnetworks.summary()

    def candidates(self) -> Candidates:
        """All candidates of all rounds as a table: losses, complexity, parameters, CPU seconds, which were kept."""
        return self._own_subnetworks.candidates()

    @property
    def _own_subnetworks(self) -> fitted.Fitted:
        check_is_fitted(self)
        if not hasattr(self, "ensemble_"):
            raise AttributeError("units of AdaNet's own have no table of modules: see history_ and subnetworks_")
        return self.ensemble_

    def _method(self, config: Config) -> str:
        return "adanet"


class AdaNetCVXClassifier(_Trained):
    """AdaNet.CVX as a classifier: one unit a round, or up to one for each of C classes, on the whole sample.

    None takes the value of `config`, whose default is given in brackets.

    Parameters
    ----------
    rounds
        T, the largest number of rounds (10).
    step
        "closed-form" (the default: the paper's, corrected), "exact" (the joint minimiser of each round) or, for two
        classes, "printed".
    p
        Norm of a unit's weights, in [1, inf] (2).
    Lambda
        Λ, the largest norm of a unit's weights: one number, or one for each layer up to the maximal depth (1.01).
    max_depth
        Maximal depth of the family (as deep as T rounds can build, at most 5).
    lam
        λ, the weight of the complexity r in Γ = λ r + β (1e-5).
    objective
        "paper" (the default), "bound" (the λ and β with which F bounds the risk) or "certificate" (train by picking).
    config
        All other settings: a `Config`, or the name of a preset, "default" or "paper".
    feature_range
        (low, high) of every feature, if known before the sample: then the feature map was fixed in advance.
    bias
        Whether to append a constant feature.
    random_state
        Seed, kept in the file (0); only the complexity "sampled" and picking draw at random.
    warm_start
        Whether a further `fit` on the same data adds rounds up to `rounds`; see `max_rounds` of `Config`.
    verbose
        Whether to print a line after every round.
    device
        "auto", "cpu" or "cuda" ("cpu").
    """

    @_keeps
    def __init__(
        self,
        rounds: int | None = None,
        *,
        step: str | None = None,
        p: float | None = None,
        Lambda: float | tuple[float, ...] | None = None,
        max_depth: int | None = None,
        lam: float | None = None,
        objective: str | None = None,
        config: Config | str | None = None,
        feature_range: tuple[float, float] | None = None,
        bias: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
        device: str | None = None,
    ) -> None: ...

    class_weight = None

    def fit(self, X: Any, y: Any) -> Self:
        """Scale X to [0, 1], by `feature_range` if it is given, and train."""
        return self._fit(X, y)._warned(X, y)

    def _method(self, config: Config) -> str:
        return "cvx-exact" if config.convex.step == "exact" else "cvx"


def load(path: str | Path, subnetworks: Any = None) -> NetworkClassifier:
    """Load a fitted classifier from a model.pt.

    Parameters
    ----------
    path
        File that `save` or `adanet-train` wrote. It is read as data; nothing in it is run.
    subnetworks
        The builders that made the subnetworks of the file, in the same order; None for a file of AdaNet's own units.

    Returns
    -------
    NetworkClassifier
        The class that trained the file, or one that can only predict.

    Raises
    ------
    ValueError
        If the file is not a model file, or its subnetworks need builders that were not given.
    """
    if subnetworks is not None:
        return of_ensemble(fitted.read(path, subnetworks), subnetworks)
    model = model_file.read(path)
    loaded = _untrained(model)
    loaded.model_ = model
    loaded.classes_ = np.array(model.meta.get("classes", [-1, 1]))
    loaded.n_features_in_ = model.network.n[0] if model.features is None else len(model.features.names)
    return loaded


def of_ensemble(ensemble: fitted.Fitted, subnetworks: Any) -> AdaNetClassifier:
    """A fitted ensemble, with its builders, as a classifier."""
    recipe = (ensemble.picked or {}).get("recipe", {})
    rounds = recipe.get("learner", {}).get("rounds", ensemble.rounds)  # the last of its fits may have ended earlier
    seed = recipe.get("seed", ensemble.run.seed)
    ours = AdaNetClassifier(rounds=rounds, subnetworks=subnetworks, random_state=seed)
    ours.ensemble_, ours.classes_ = ensemble, ensemble.classes
    if ensemble.picked is not None:
        ours.picked_ = ensemble.picked
    return ours


def _untrained(model: ModelFile) -> NetworkClassifier:
    """The estimator with the parameters that the file tells of."""
    kinds: dict[Any, type[_Trained]] = {"adanet": AdaNetClassifier}
    kinds |= {"cvx": AdaNetCVXClassifier, "cvx-exact": AdaNetCVXClassifier}
    kind = kinds.get(model.meta.get("method"))
    try:
        config = trained_of(model).config if kind else None
    except ValueError:  # a user's own function, which the file only names
        config = None
    if kind is None or config is None:
        return NetworkClassifier()
    m = 2 if model.sample is None else model.sample.m
    y = torch.zeros(0) if model.network.outputs is None else torch.zeros(0, dtype=torch.int64)
    asked = config.opened(model.meta["method"], y, m).changes()
    asked = {name: value for name, value in asked.items() if name not in ("r_sup", "device", "jobs")}
    own = {name: asked.pop(name) for name in kind._get_param_names() if name in asked}
    if "seed" in asked:
        own["random_state"] = asked.pop("seed")
    features = model.features
    own |= {"bias": features is not None and features.bias, "feature_range": _known_range(features)}
    return kind(**own, config=Config(**asked) if asked else None)


def _known_range(features: FeatureMap | None) -> tuple[float, float] | None:
    if features is None or features.fitted_on_sample or len({*zip(features.low, features.high, strict=True)}) > 1:
        return None
    return float(features.low[0]), float(features.high[0])


def _column_of_words(X: Any) -> str:
    """Which column of a data frame holds no numbers; nothing for what has no columns."""
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            return f"column {str(name)!r}: "
    return ""
