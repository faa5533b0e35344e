"""disagreement: the user's own network, untouched, certified by a network with a certificate and points without labels.

An error of f is an error of g or a point where the two differ. R(g) <= b holds with probability >= 1 - δ/2, and the
points without labels bound how often they differ with probability >= 1 - δ/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from adanet_theory.checks import check, check_delta
from adanet_theory.twins.counted import disagreement_upper
from adanet_train.compression.code import Array
from adanet_train.compression.problem import ROWS, one_or_many, points
from adanet_train.data.classes import names_of
from adanet_train.data.row_hashes import met
from adanet_train.data.rows import copies, hashes, repeats

NONE = -1
"""The decision of a tie or a NaN; it differs from every decision, of another tie too."""


@dataclass(frozen=True)
class Disagreement:
    """R(f) <= bound with probability >= 1 - delta; g has R(g) <= b, and the two differ at d of n points."""

    b: float
    disagreements: int
    n: int
    delta: float

    @property
    def bound(self) -> float:
        """b and the Clopper-Pearson bound on the share of points where they differ, each at δ/2, rounded up."""
        return disagreement_upper(self.b, self.disagreements, self.n, Fraction(self.delta) / 2)


def disagreement(f: Any, g: Any, U: Any, *, X: Any = None, delta: float = 0.05, discrete: bool = False) -> Disagreement:
    """Bound the risk of any f by a network g with a certificate and points U without labels.

    Parameters
    ----------
    f
        A module (one logit, or one output for each class), an estimator with `predict` and `classes_`, or a function
        that returns class indices. It may have been trained on the sample of g. Classes are compared by their names
        where both know them.
    g
        What `compress` or `certify` returned, or anything with `at(delta)` and a `module` or `predictor`.
    U
        Points drawn from the same law, used neither to train nor to choose f or g; no labels are needed.
    X
        The sample of f or g: points of U that are among its rows, or among those that g holds, are refused.
    delta
        Probability in (0, 1) with which the statement may fail; half of it for each part.
    discrete
        Say that identical rows, of U and of the sample of g, are different people or events. Else they are refused.

    Returns
    -------
    Disagreement
        b, the disagreements, n and the bound.

    Raises
    ------
    ValueError
        If U is empty, repeats rows or shares some with X, f has other classes than g, or delta is not in (0, 1).

    Examples
    --------
    >>> import torch
    >>> from adanet_train import compress
    >>> X = torch.randn(2000, 3, generator=torch.Generator().manual_seed(0))
    >>> net = torch.nn.Linear(3, 1)
    >>> g = compress(net, X, (net(X)[:, 0] > 0).long(), budget=0)
    >>> found = disagreement(net, g, torch.randn(500, 3, generator=torch.Generator().manual_seed(1)), X=X)
    >>> found.n, found.b < found.bound < 0.2
    (500, True)
    """
    check_delta(delta)
    unlabelled = points(U)
    for sample in (X, getattr(getattr(g, "points", None), "X", None)):
        if sample is not None:
            require_fresh(unlabelled, points(sample))
    require_draws(unlabelled, g, discrete=discrete)
    own = getattr(g, "module", None)
    other = decisions(own if own is not None else getattr(g, "predictor", g), unlabelled)
    mine = decisions(f, unlabelled, _classes_of(g, unlabelled))
    differ = (mine != other) | (mine == NONE)
    b = min(1.0, float(g.at(delta / 2)) * (1 + 1e-9))  # `at` may be right to twelve digits only
    return Disagreement(b, int(np.count_nonzero(differ)), len(unlabelled), delta)


def require_fresh(U: Tensor, X: Tensor) -> None:
    """Refuse points of U that are rows of X, where networks trained on X agree more often than elsewhere."""
    first, second = (part.double().flatten(1).numpy() for part in (U, X))
    check(first.shape[1] == second.shape[1], "U and X must have points of the same shape.")
    shared = int(met(first, second).sum())
    check(shared == 0, f"{shared:,} of the {len(U):,} points of U are rows of the sample: give points drawn anew.")


def require_draws(U: Tensor, g: Any, *, discrete: bool) -> None:
    """Refuse repeated rows in U and in the sample that certified g: copies are not new draws."""
    copied, known = repeats(hashes(U.double().flatten(1).numpy(), np.zeros(len(U)))), uncertified(g)
    remedy = "if identical rows can be different people or events: discrete=True"
    check(discrete or not copied, f"{copied:,} of the {len(U):,} points of U repeat an earlier one ({remedy}).")
    check(discrete or not known, f"g has no certificate: {known} ({remedy}).")


def uncertified(g: Any) -> str:
    """Why g, from `compress` or `certify`, has no certificate; "" if it has one."""
    copied = getattr(g, "repeats", 0)
    if not copied or getattr(g, "discrete", False):
        return ""
    return copies(copied, len(g.points) if hasattr(g, "points") else g.m)


def _classes_of(g: Any, U: Tensor) -> Sequence[Any]:
    """The classes of g by their indices; numbers where it knows no names."""
    known = getattr(g, "points", None) if hasattr(g, "predictor") else None
    known = getattr(getattr(g, "predictor", None), "classes_", None) if known is None else known.classes
    if known is not None:
        return list(np.asarray(known).tolist())
    own = getattr(g, "module", None)
    return range(2 if own is None else _outputs(own, U[:1]).shape[1])


def places(own: Sequence[Any], others: Sequence[Any]) -> list[int]:
    """The place of each class among the others: by name, or in order where one side has numbers for names.

    >>> places(["b", "a"], ["a", "b"]), places([0, 1], ["a", "b"]), places(["b", "c"], ["a", "b", "c"])
    ([1, 0], [0, 1], [1, 2])
    """
    names, known = (names_of(np.array(list(classes))).tolist() for classes in (own, others))
    if {*names} <= {*known}:
        return [known.index(name) for name in names]
    numbers = any({*part} in ({"-1", "1"}, {*map(str, range(len(part)))}) for part in (names, known))
    shown = [", ".join(map(repr, part[:4])) + ", .." * (len(part) > 4) for part in (names, known)]
    check(numbers and len(names) == len(known), f"f and g must have the same classes, got {shown[0]} and {shown[1]}.")
    return list(range(len(names)))


def decisions(f: Any, U: Tensor, classes: Sequence[Any] | None = None) -> Array:
    """Class indices, NONE for a tie or a NaN; those of an estimator are places of its classes among `classes`."""
    if isinstance(f, nn.Module):
        return _of_module(f, U)
    predicted = np.asarray(f.predict(U.numpy()) if hasattr(f, "predict") else f(U.numpy())).reshape(len(U))
    own = getattr(f, "classes_", None)
    if own is None:
        return predicted
    names = np.asarray(own).tolist()
    indices = np.full(len(U), NONE)
    for index, name in zip(places(names, names if classes is None else classes), names, strict=True):
        indices[predicted == name] = index
    return indices


@torch.no_grad()
def _of_module(module: nn.Module, U: Tensor) -> Array:
    """In the module's own type of numbers."""
    return torch.cat([_decided(_outputs(module, U[i : i + ROWS])) for i in range(0, len(U), ROWS)]).numpy()


@torch.no_grad()
def _outputs(module: nn.Module, x: Tensor) -> Tensor:
    """(rows, C) of C classes; of one logit those of 0 and the logit."""
    like = next((w for w in module.parameters() if w.is_floating_point()), torch.zeros(()))
    f = one_or_many(module(x.to(like) if x.is_floating_point() else x.to(like.device)), len(x)).cpu()
    return torch.stack([torch.zeros_like(f), f], dim=1) if f.ndim == 1 else f


def _decided(f: Tensor) -> Tensor:
    top = f.topk(2, dim=1)
    clear = (top.values[:, 0] > top.values[:, 1]) & ~f.isnan().any(dim=1)
    return torch.where(clear, top.indices[:, 0], NONE)
