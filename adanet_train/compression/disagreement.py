"""disagreement: the user's own network, untouched, certified by a network with a certificate and points without labels.

An error of f is an error of g or a point where the two differ. R(g) <= b holds with probability >= 1 - δ/2, and the
points without labels bound how often they differ with probability >= 1 - δ/2.
"""

from __future__ import annotations

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
from adanet_train.data.row_hashes import alike

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


def disagreement(f: Any, g: Any, U: Any, *, X: Any = None, delta: float = 0.05) -> Disagreement:
    """The risk of f, whatever it is, by a network g with a certificate and points U without labels.

    Parameters
    ----------
    f
        A module (one logit, or one output for each class), an estimator with `predict` and `classes_`, or a function
        that returns class indices. It may have been trained on the sample of g.
    g
        What `compress` or `certify` returned, or anything with `at(delta)` and a `module` or `predictor`.
    U
        Points drawn from the same law, used neither to train nor to choose f or g; no labels are needed.
    X
        The sample of g: points of U that are among its rows are refused.
    delta
        Probability in (0, 1) with which the statement may fail; half of it for each part.

    Returns
    -------
    Disagreement
        b, the disagreements, n and the bound.

    Raises
    ------
    ValueError
        If U is empty, shares rows with X, or delta is not in (0, 1).

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
    if X is not None:
        require_fresh(unlabelled, points(X))
    own = getattr(g, "module", None)
    other = decisions(own if own is not None else getattr(g, "predictor", g), unlabelled)
    mine = decisions(f, unlabelled)
    differ = (mine != other) | (mine == NONE)
    b = min(1.0, float(g.at(delta / 2)) * (1 + 1e-9))  # `at` may be right to twelve digits only
    return Disagreement(b, int(np.count_nonzero(differ)), len(unlabelled), delta)


def require_fresh(U: Tensor, X: Tensor) -> None:
    """No point of U is a row of X: there both networks have seen the label."""
    wide = [np.ascontiguousarray(part.double().flatten(1).numpy() + 0.0) for part in (U, X)]
    check(wide[0].shape[1] == wide[1].shape[1], "U and X must have points of the same shape.")
    flat = alike(*wide)
    rows = [{row.tobytes() for row in part} for part in flat]
    shared = sum(row.tobytes() in rows[1] for row in flat[0])
    check(shared == 0, f"{shared:,} of the {len(U):,} points of U are rows of the sample: give points drawn anew.")


def decisions(f: Any, U: Tensor) -> Array:
    """Class indices, NONE for a tie or a NaN."""
    if isinstance(f, nn.Module):
        return _of_module(f, U)
    predicted = np.asarray(f.predict(U.numpy()) if hasattr(f, "predict") else f(U.numpy())).reshape(len(U))
    classes = getattr(f, "classes_", None)
    if classes is None:
        return predicted
    found = np.full(len(U), NONE)
    for index, name in enumerate(np.asarray(classes).tolist()):
        found[predicted == name] = index
    return found


@torch.no_grad()
def _of_module(module: nn.Module, U: Tensor) -> Array:
    """In the module's own type of numbers."""
    like = next((w for w in module.parameters() if w.is_floating_point()), torch.zeros(()))
    parts = []
    for i in range(0, len(U), ROWS):
        x = U[i : i + ROWS]
        f = one_or_many(module(x.to(like) if x.is_floating_point() else x.to(like.device)), len(x)).cpu()
        parts.append(_decided(f))
    return torch.cat(parts).numpy()


def _decided(f: Tensor) -> Tensor:
    if f.ndim == 1:
        f = torch.stack([torch.zeros_like(f), f], dim=1)
    top = f.topk(2, dim=1)
    clear = (top.values[:, 0] > top.values[:, 1]) & ~f.isnan().any(dim=1)
    return torch.where(clear, top.indices[:, 0], NONE)
