"""A fitted classifier of scikit-learn -> the weights of a network: linear ones, the MLPClassifier, scalers before them.

A scaler was fitted on the sample, so its numbers are weights of the network like all others: it is multiplied into the
first layer, and X stays unscaled. This has a price, which a note names: a scaler fixed before the sample would be a
feature map, and its numbers would cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array, check

if TYPE_CHECKING:
    from adanet_train.reading.graph import Graph

PHI = {"relu": "relu", "tanh": "tanh", "logistic": "sigmoid", "identity": "identity"}
"""Activations of scikit-learn by their names here."""
NOT_FITTED = "the estimator is not fitted yet, expected a fitted one."


class NotRead(ValueError):
    """The weights of this estimator cannot be read; one line says which part, and why."""


@dataclass(frozen=True, eq=False)
class EstimatorLayers:
    """W_k and b_k in order, and the activation between them, as scikit-learn names it.

    `before` are the steps that learn nothing; `fitted` ones follow them and are multiplied into W_1 and b_1.
    """

    weights: tuple[tuple[Array, Array], ...]
    activation: str
    before: Callable[[Array], Array] | None = None
    fixed: tuple[str, ...] = ()
    fitted: tuple[str, ...] = ()
    inner: EstimatorLayers | None = None
    """The layers behind the fitted steps, on what these make of x."""
    scalings: tuple[tuple[Array, Array], ...] = ()
    link: str = ""
    """What stands behind the outputs and changes no decision."""

    def scaled(self, X: Array) -> Array:
        """x after the fitted steps."""
        for scale, shift in self.scalings:
            X = X * scale + shift
        return X

    @property
    def graph(self) -> Graph:
        """The same maps as a graph."""
        from adanet_train.reading.graph import chain

        return chain(self.weights, PHI[self.activation])

    @property
    def steps(self) -> Graph:
        """As scikit-learn takes them: scalers before the weights, the link behind them."""
        from adanet_train.reading.graph import chain

        own = self.weights if self.inner is None else self.inner.weights
        return chain(own, PHI[self.activation], before=self.scalings, link=self.link)


def predicts_numbers(network: Any) -> bool:
    """Whether it is a regressor, by what it says of itself or by its name."""
    from sklearn.base import BaseEstimator, is_regressor

    named = type(network).__name__.endswith("Regressor")
    return named or (isinstance(network, BaseEstimator) and bool(is_regressor(network)))


def layers_of(network: Any) -> EstimatorLayers:
    """The layers of a fitted classifier; NotRead where its kind is not known."""
    if hasattr(network, "steps"):
        return _of_pipeline([step for _, step in network.steps])
    kind = type(network).__name__
    if _is(network, "MLPClassifier"):
        check(hasattr(network, "coefs_"), NOT_FITTED)
        several = network.n_outputs_ > 1 and network.out_activation_ == "logistic"
        check(not several, "an MLPClassifier of several labels for each point decides more than one class.")
        pairs = zip(network.coefs_, network.intercepts_, strict=True)
        own = tuple((_float(W).T, _float(b)) for W, b in pairs)
        return EstimatorLayers(
            own, network.activation, link={"logistic": "sigmoid"}.get(network.out_activation_, "softmax")
        )
    if not _decides_linearly(network):
        best = "; its best_estimator_ may be, and each setting compared counts in tried" * hasattr(
            network, "cv_results_"
        )
        raise NotRead(f"the weights of a {kind} are not read{best}")
    check(hasattr(network, "coef_"), NOT_FITTED)
    W = np.atleast_2d(_float(network.coef_.toarray() if hasattr(network.coef_, "toarray") else network.coef_))
    b = np.broadcast_to(np.atleast_1d(_float(network.intercept_)), len(W))
    return EstimatorLayers(((W, np.array(b)),), "identity")


def _decides_linearly(network: Any) -> bool:
    """Whether it predicts as scikit-learn's linear classifiers do: by the sign of X @ coef_.T + b, or the largest."""
    from sklearn.linear_model._base import LinearClassifierMixin as Linear

    kind = type(network)
    own = isinstance(network, Linear) and _is_of_sklearn(network)
    return own and kind.predict is Linear.predict and kind.decision_function is Linear.decision_function


def _is(network: Any, *names: str) -> bool:
    return type(network).__name__ in names and _is_of_sklearn(network)


def _is_of_sklearn(network: Any) -> bool:
    """A class of scikit-learn itself, not a subclass, which may do something else."""
    return type(network).__module__.startswith("sklearn.")


def _float(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


# The steps before it


def _of_pipeline(steps: Sequence[Any]) -> EstimatorLayers:
    kept = [step for step in steps if not (step is None or step == "passthrough" or _is_identity(step))]
    check(len(kept) > 0, "the Pipeline has no classifier at its end, expected one that predicts.")
    fixed = _leading(kept[:-1])
    affine = kept[len(fixed) : -1]
    scalings = [_affine(step) for step in affine]
    inner = layers_of(kept[-1])
    first, *rest = inner.weights
    for scale, shift in reversed(scalings):
        first = _absorbed(*first, scale, shift)
    return replace(
        inner,
        weights=(first, *rest),
        before=(lambda X: _through(fixed, X)) if fixed else None,
        fixed=tuple(type(step).__name__ for step in fixed),
        fitted=tuple(type(step).__name__ for step in affine),
        inner=inner,
        scalings=tuple(scalings),
    )


def _is_identity(step: Any) -> bool:
    return _is(step, "FunctionTransformer") and step.func is None


def _leading(steps: Sequence[Any]) -> list[Any]:
    """The first steps that learn nothing: they are a feature map that was fixed before the sample."""
    kept = []
    for step in steps:
        if not _is(step, "Normalizer", "Binarizer"):
            break
        kept.append(step)
    return kept


def _through(steps: Sequence[Any], X: Array) -> Array:
    for step in steps:
        X = step.transform(X)
    return _float(X)


def _affine(step: Any) -> tuple[Array, Array]:
    """scale and shift of a fitted step x -> scale x + shift; NotRead for every other."""
    kind = type(step).__name__
    if not _is(step, "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler") or getattr(step, "clip", False):
        raise NotRead(
            f"the step {kind} of the Pipeline is not known here; a step fitted on the sample is a part of the "
            "predictor, and its last step alone would be certified as if the features had been fixed before the sample"
        )
    check(hasattr(step, "scale_"), NOT_FITTED)
    n = step.n_features_in_
    one = np.ones(n)
    if kind == "MinMaxScaler":
        return _float(step.scale_), _float(step.min_)
    scale = one if step.scale_ is None else 1 / _float(step.scale_)
    centre = getattr(step, "mean_" if kind == "StandardScaler" else "center_", None)
    if kind == "StandardScaler" and not step.with_mean:
        centre = None
    return scale, np.zeros(n) if centre is None else -_float(centre) * scale


def _absorbed(W: Array, b: Array, scale: Array, shift: Array) -> tuple[Array, Array]:
    """W (scale x + shift) + b as one map of x."""
    return W * scale, b + W @ shift


# What is said about it


def remarks(layers: EstimatorLayers, kind: str, X: Array) -> tuple[str, ...]:
    """How it was read, and what its fitted steps cost on this sample."""
    notes = [f"read from the {kind}'s weights."]
    if layers.fixed:
        notes.append(f"Psi is x after {' and '.join(layers.fixed)}, which learns nothing from the sample.")
    if layers.fitted and layers.inner is not None:
        steps = f"{' and '.join(layers.fitted)} {'was' if len(layers.fitted) == 1 else 'were'}"
        paid, free = _size(layers, X), _size(layers.inner, layers.scaled(X))
        price = ""
        if paid is not None and free:
            price = f" B r_inf is {paid:.3g}; with scalers fixed before the sample it would be {free:.3g}."
        notes.append(f"{steps} fitted on the sample: the numbers are counted as weights, and x is unscaled.{price}")
    return tuple(notes)


def _size(layers: EstimatorLayers, X: Array) -> float | None:
    """The path norm times the largest feature, to which the complexity of a homogeneous network is proportional."""
    from adanet_train.reading.path_norm import path_norm

    graph = layers.graph
    return path_norm(graph) * max(1.0, float(np.abs(X).max(initial=0.0))) if graph.is_homogeneous else None
