"""The program: what the user deploys, seen through its predictions alone.

Errors on the sample and on held-out points are counts of these, as a user would count them. The formula read
from a module is separate: a statement about the formula is about the program only where the two are tied.

A decision is -1 or +1 of two classes (`GivenPoints.y` holds the same), the index of the class of more. NONE of two
classes is 0 and of more is -1: a tie, or a NaN, which is an error whatever the label is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from adanet_theory.checks import Array, check, first_line
from adanet_train.data.alone import FEWEST, require_of_x_alone
from adanet_train.data.classes import plain
from verify.reading import points

if TYPE_CHECKING:
    from adanet_train.reading.state_dict import Chain
    from verify.reading.formula import Formula
    from verify.reading.points import GivenPoints

BATCH_NUMBERS = 2**19  # numbers of X at a time, to bound the memory


class Program(Protocol):
    """Anything with predictions."""

    def predict(self, X: Array) -> Array:
        """A decision for every row of X, which has the shape that the user handed over."""
        ...


def decided(f: Array) -> Array:
    """The decisions of outputs: the sign of one, of two the sign of the second less the first, the largest of more.

    >>> decided(np.array([2.0, 0.0, np.nan])).tolist(), decided(np.array([[3.0, 1.0], [1.0, 1.0]])).tolist()
    ([1.0, 0.0, 0.0], [-1.0, 0.0])
    >>> decided(np.array([[0.0, 1.0, 2.0], [2.0, 2.0, 1.0], [np.nan, 0.0, 1.0]])).tolist()
    [2, -1, -1]
    """
    f = f.reshape(len(f), -1)
    if f.shape[1] <= 2:
        high, low = f[:, -1], (f[:, 0] if f.shape[1] == 2 else np.zeros(len(f)))
        return (high > low).astype(np.float64) - (high < low)
    best = np.where(np.isnan(f).any(axis=1), -1, f.argmax(axis=1))
    alone = np.count_nonzero(f == f.max(axis=1, keepdims=True), axis=1) == 1
    return np.where(alone, best, -1)


def of_formula(model: Formula, given: GivenPoints) -> Array:
    """The decisions of the program; of a model file those of its network in float64."""
    if given.predicted is not None:
        return given.predicted
    import torch

    from adanet_train.core.points import joined
    from adanet_train.reading.enclosure import blocks, plain

    graph = model.graph
    with torch.no_grad():
        (f,) = joined(((plain(graph, block),) for block in blocks(graph, given.Psi)), len(given.Psi))
    return decided(f.numpy())


def gaps(f: Array) -> Array:
    """How far the outputs are from another decision: |f|, or the largest less the second.

    >>> gaps(np.array([[1.0, 3.0, 2.5]])).tolist(), gaps(np.array([[-2.0]])).tolist()
    ([0.5], [2.0])
    """
    f = f.reshape(len(f), -1)
    if f.shape[1] == 1:
        return np.abs(f[:, 0])
    ordered = np.sort(f, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


WRAP = "Wrap the module in one that returns the scores alone."


class NotScores(ValueError):
    """What a module gives is not a tensor."""


@dataclass(frozen=True, eq=False)
class ModuleProgram:
    """A torch module as it is: its mode, its device and its own type of numbers, to which X is rounded first.

    One output decides by its side of `threshold`: 0 for a logit, 1/2 for a probability. Integers stay integers
    for a module that looks them up in an embedding.
    """

    module: Any
    threshold: float = 0.0

    @property
    def dtype(self) -> Any:
        return self._like.dtype

    @property
    def eps(self) -> float:
        import torch

        return torch.finfo(self.dtype).eps

    @property
    def _like(self) -> Any:
        """A number as the module has them; without any weights as torch makes them."""
        import torch

        weights = [*self.module.parameters(), *self.module.buffers()]
        return next((weight for weight in weights if weight.is_floating_point()), torch.zeros(()))

    def outputs(self, X: Array, times: float = 1.0) -> Array:
        """What forward gives at X times a number, one row for each, in float64, which holds every shorter type."""
        import torch

        rows = max(FEWEST, BATCH_NUMBERS // max(int(np.prod(X.shape[1:])), 1))
        with torch.no_grad():
            parts = (X[i : i + rows] for i in range(0, len(X), rows))
            return np.concatenate([self._run(self.input(x if times == 1 else times * x)) for x in parts])

    def input(self, X: Array) -> Any:
        """X as the module reads it."""
        import torch

        x, like = torch.tensor(self.tokens(X)), self._like
        return x.to(like.device) if self._looks_up and not x.is_floating_point() else x.to(like)

    @property
    def _looks_up(self) -> bool:
        from torch import nn

        return any(isinstance(part, nn.Embedding | nn.EmbeddingBag) for part in self.module.modules())

    def tokens(self, X: Array) -> Array:
        """Whole numbers that a file gave as floats as integers, if an embedding cannot look them up as they are."""
        import torch

        if not self._looks_up or X.dtype.kind != "f" or not (np.round(X) == X).all():
            return X
        try:
            with torch.no_grad():
                self.module(torch.tensor(X[:1]).to(self._like))
        except Exception:  # whatever forward does
            return X.astype(np.int64)
        return X

    def _run(self, x: Any) -> Array:
        import torch

        name = type(self.module).__name__
        try:
            f = self.module(x)
            if not isinstance(f, torch.Tensor):
                raise NotScores(f"{name}: forward gives a {type(f).__name__}, expected a tensor of scores. {WRAP}")
            flat = f.reshape(len(x), -1)
            if flat.shape[1] not in f.shape[1:] and flat.shape[1] != 1:
                raise ValueError(f"it gives the shape {tuple(f.shape)}, expected one row of outputs for each point")
            return np.asarray(flat.double().cpu().numpy())
        except NotScores:
            raise
        except Exception as error:  # whatever forward does
            raise ValueError(f"{name}: forward fails on {len(x)} points of {x.dtype} ({first_line(error)}).") from None

    def predict(self, X: Array) -> Array:
        f = self.outputs(X)
        return decided(f - self.threshold if f.shape[1] == 1 else f)


@dataclass(frozen=True, eq=False)
class ChainProgram:
    """W_k φ(..) + b_k of a state_dict, in the type of its weights; it reads Ψ, which is x with a constant behind it."""

    chain: Chain
    phi: str

    @property
    def dtype(self) -> Any:
        """The type of all weights; None where they have several."""
        kinds = {part.dtype for pair in self.chain for part in pair if part is not None}
        return kinds.pop() if len(kinds) == 1 else None

    def predict(self, Psi: Array) -> Array:
        import torch

        from adanet_train.core.points import joined

        rows = max(FEWEST, BATCH_NUMBERS // max(W.shape[i] for W, _ in self.chain for i in (0, 1)))
        with torch.no_grad():
            (f,) = joined(((self._run(Psi[i : i + rows]),) for i in range(0, len(Psi), rows)), len(Psi))
        return decided(f.numpy())

    def _run(self, Psi: Array) -> Any:
        import torch
        from torch.nn import functional

        from adanet_train.core.activations import apply_activation

        own = self.dtype or torch.float64
        x = torch.tensor(Psi[:, : self.chain[0][0].shape[1]]).to(own)
        for k, (W, b) in enumerate(self.chain):
            below = x if k == 0 else apply_activation(self.phi, x)
            x = functional.linear(below, W.to(own), None if b is None else b.to(own))
        return x.double()


@dataclass(frozen=True, eq=False)
class NamedProgram:
    """A function that predicts names: `classes` are those of -1 and +1, or of the indices 0, 1, .."""

    function: Callable[[Any], Any]
    classes: Sequence[Any]

    def predict(self, X: Any) -> Array:
        names = called(self.function, X).astype(object)
        is_one = np.stack([names == name for name in self.classes], axis=1)
        if len(self.classes) == 2:
            return is_one[:, 1].astype(np.float64) - is_one[:, 0]
        return np.where(is_one.any(axis=1), is_one.argmax(axis=1), -1)


@dataclass(frozen=True, eq=False)
class ScoreProgram:
    """A function that gives one score, whose sign decides, or one for each class, of which the largest does."""

    function: Callable[[Any], Any]

    def predict(self, X: Any) -> Array:
        return decided(called(self.function, X))


PROBABILITY = (
    "its one output lies in [0, 1] at every point, where a logit decides by its sign and a probability at 1/2: "
    "give the logit, or a function that predicts labels, as in lambda X: f(X) > 0.5."
)


def called(function: Callable[[Any], Any], X: Any) -> Array:
    """What the function gives for X as an array with a row for each point; one column is a vector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an estimator misses the names of columns that a matrix has not
        try:
            answers = points.numbers(function(X))
        except Exception as error:  # whatever it does
            raise ValueError(f"the predictor fails on X: {first_line(error)}") from None
    m = points.count(X, "X")
    rows = answers.ndim in (1, 2) and len(answers) == m
    check(rows, f"the predictor must give a label, or a row of scores, for each of {m} points, got {answers.shape}.")
    return answers[:, 0] if answers.ndim == 2 and answers.shape[1] == 1 else answers


def _require_one_pair(given: set[Any], own: set[Any]) -> None:
    """Refuse -1/+1 beside 0/1: read as three classes, the two would almost never agree."""
    two = ({-1, 1}, {0, 1})
    mixed = {-1, 0} <= given | own and any(given <= a and own <= b for a, b in (two, two[::-1]))
    what = "the predictor gives labels of -1/+1 and y holds 0/1" if -1 in given else "the predictor gives 0/1, y -1/+1"
    check(not mixed, f"{what}: expected the same two labels in both.")


def program_of(
    function: Callable[[Any], Any], X: Any, y: Any, classes: tuple[Any, ...] | None
) -> tuple[Program, int | None, tuple[Any, ...] | None]:
    """The program of a function, the number of classes if it is above two, and their names if it predicts names.

    Labels, whole numbers and truth values are names; real numbers are scores, unless all of them are labels of y.
    """
    answers = called(function, X)
    eps = float(np.finfo(answers.dtype).eps) if answers.dtype.kind == "f" else 0.0
    require_of_x_alone("the predictor", lambda rows: called(function, points.taken(X, rows)), answers, eps=eps)
    if answers.ndim == 2:
        return ScoreProgram(function), None if answers.shape[1] == 2 else answers.shape[1], classes
    own, _ = plain(points.numbers(y), len(answers))
    names = own if classes is None else np.array(classes)
    if answers.dtype.kind == "f" and not np.isin(answers, names).all():
        inside = bool(((answers >= 0) & (answers <= 1)).all())
        check(not inside, f"the predictor: {PROBABILITY}")
        return ScoreProgram(function), None, classes
    if classes is None:
        met = bool(np.isin(answers.astype(object), own.astype(object)).any())
        check(met, f"the predictor gives {answers.tolist()[0]!r} and no label of y, such as {own.tolist()[0]!r}.")
        _require_one_pair({*answers.tolist()}, {*own.tolist()})
        classes = tuple(sorted({*answers.tolist(), *own.tolist()}, key=lambda name: (isinstance(name, str), name)))
        check(len(classes) >= 2, f"y must hold two classes, got only {classes[0]!r}.")
    return NamedProgram(function, classes), None if len(classes) == 2 else len(classes), classes
