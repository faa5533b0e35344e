"""Labels of C classes as indices 0..C-1: understood or refused, never guessed.

Names and numbers are told apart by what the file holds: a label 3 and a label "3" are the same class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import check

Names = tuple[str, ...]

REMEDY = (
    "this is regression; only classification is covered. Cut the target at a value that matters, as in y > t, to learn "
    "on which side it is."
)
MANY = 20
"""Beyond this many different labels, they are refused if most points have a label of their own."""


def plain(y: Any, m: int) -> tuple[Any, str]:
    """One label for each of m points, and what was read: a column as a vector, one-hot rows as class indices.

    >>> plain(np.eye(3)[[2, 0]], 2)
    (array([2, 0]), 'y is one-hot: column c is class c, counted from 0.')
    """
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    note = ""
    if y.ndim == 2 and len(y) == m and y.dtype.kind in "buif":
        one_hot = bool(np.isin(y, (0, 1)).all() and (np.count_nonzero(y, axis=1) == 1).all())
        several = "expected one label for each point, or one-hot rows with a single 1, not several labels"
        check(one_hot, f"y must have the shape ({m},), got {y.shape} and rows that are not one-hot; {several}.")
        y, note = y.argmax(axis=1), "y is one-hot: column c is class c, counted from 0."
    check(y.shape == (m,), f"y must have the shape ({m},), one label for each point, got {y.shape}.")
    if y.dtype.kind == "f" and np.isfinite(y).all():
        odd = y[y != np.floor(y)]
        check(len(odd) == 0, f"y is continuous, got {odd[0] if len(odd) else 0:g}: {REMEDY}")
    return y, note


def names_of(y: Any, remedy: str = "") -> NDArray[np.str_]:
    """Each label as the name of its class: a string as it is, a whole number without its point.

    >>> names_of(np.array([3.0, 8.0, 3.0])).tolist()
    ['3', '8', '3']
    """
    if y.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in y.tolist()})
        check(len(kinds) == 1, f"y must hold labels of one type, got {' and '.join(kinds[:3])}.")
        y = np.array(y.tolist())
    if y.dtype.kind == "U":
        return np.asarray(y)
    check(y.dtype.kind in "buif", f"y must hold class labels, got dtype {y.dtype}.")
    whole = y.dtype.kind != "f" or bool((np.isfinite(y) & (y == np.floor(y))).all())
    if not whole:
        odd = y[~(np.isfinite(y) & (y == np.floor(y)))][0]
        raise ValueError(f"y must hold class labels, whole numbers or names, got {odd:g}.{remedy}")
    return np.asarray(y.astype(np.int64).astype(str))


def by_name(y: Any, classes: Names | None) -> Any:
    """Numbers as names where the classes of training are such numbers; else as they are.

    >>> by_name(np.array([2.0, 1.0]), ("1", "2")).tolist(), by_name(np.array([1, -1]), ("1", "2")).tolist()
    (['2', '1'], [1, -1])
    """
    if classes is None or y.dtype.kind not in "buif" or not np.isfinite(y).all() or (y != np.floor(y)).any():
        return y
    names = names_of(y)
    return names if {*names.tolist()} <= {*classes} else y


def sorted_names(names: NDArray[np.str_], *, numeric: bool) -> Names:
    """The classes that occur, numbers by their value and names by the alphabet."""
    return tuple(sorted(set(names.tolist()), key=int if numeric else None))


def count(y: Any) -> tuple[int | None, Names | None]:
    """(C, names) of more than two classes; of two (None, names if they are numbers other than 0/1 and -1/+1).

    >>> count(np.array([3.0, 8.0, 8.0])), count(np.array([0, 1])), count(np.array(["a", "b", "c"]))
    ((None, ('3', '8')), (None, None), (3, ('a', 'b', 'c')))
    """
    numeric = y.dtype.kind in "buif"
    if numeric and (np.isin(y, (-1, 1)).all() or np.isin(y, (0, 1)).all()):
        return None, None
    names = sorted_names(names_of(y, f" {REMEDY}"), numeric=numeric)
    if len(names) <= 2:
        return None, names if numeric and len(names) == 2 else None
    doubt = f"y holds {len(names)} classes in {len(y)} rows: is it a number to predict, or a name of each row? {REMEDY}"
    check(len(names) <= max(MANY, len(y) // 2), doubt)
    return len(names), names


def indices(y: Any, C: int, classes: Names | None) -> tuple[Any, Names | None, str]:
    """Class indices (int64) of a network with C outputs, the names where they are known, and what was mapped.

    The classes of training decide, if known; else numbers are indices 0..C-1, and C names or other numbers go in order.

    >>> indices(np.array(["b", "a", "c", "a"]), 3, None)
    (array([1, 0, 2, 0]), ('a', 'b', 'c'), "labels 'a', 'b', 'c' mapped to the outputs in this order.")
    """
    names = names_of(y)
    numeric = y.dtype.kind in "buif"
    if classes is None and numeric and all(0 <= int(name) < C for name in set(names.tolist())):
        return names.astype(np.int64), None, ""
    known = classes
    if known is None:
        known = sorted_names(names, numeric=numeric)
        expected = f"expected the {C} classes of the network, or their indices 0..{C - 1}"
        check(len(known) == C, f"y holds {len(known)} classes ({_shown(known)}), {expected}.")
    place = {name: c for c, name in enumerate(known)}
    strange = tuple(sorted({name for name in names.tolist() if name not in place}))
    check(not strange, f"y must hold the classes of training ({_shown(known)}), got {_shown(strange)}.")
    places = np.array([place[name] for name in names.tolist()], dtype=np.int64)
    return places, known, "" if classes is not None else mapped(known)


def mapped(names: Names) -> str:
    """The note on the order in which names were mapped."""
    return f"labels {_shown(names)} mapped to the outputs in this order."


def _shown(names: Names) -> str:
    return ", ".join(repr(name) for name in names[:4]) + (", .." if len(names) > 4 else "")
