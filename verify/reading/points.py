"""X and y from arrays, tensors, frames, a DataLoader or a Dataset -> numbers and labels, checked once.

Labels are understood or refused, never guessed: 0/1, -1/+1, two names (in the order of the alphabet, of `classes`, or
of the estimator's classes_), one-hot rows, of a predictor of more classes their indices or names; a note says what was
mapped. A continuous y is refused: only classification is covered.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adanet_theory.checks import Array, check
from adanet_train.data.disk import Joined, is_on_disk, joined, slices
from adanet_train.data.rows import require_finite
from verify.measure.arithmetic import DOUBLE, Arithmetic

if TYPE_CHECKING:
    from adanet_train.data.datasets import Dataset

Classes = tuple[Any, ...] | None
MOST_DENSE = 1 << 27  # numbers of a sparse matrix that is made dense to compare its rows


@dataclass(frozen=True, eq=False)
class GivenPoints:
    """Ψ and labels -1/+1, or class indices (int64) of a network with an output for each.

    `mapped` where Ψ was made by the model's own feature map. `predicted` are the decisions of the program at these
    points (`reading.program`), None where the program is the network of the model file; `arithmetic` is its own.
    `names` are the classes -1 and +1, or 0, 1, ..; None where y held numbers. `rows` are the points as they came where
    Ψ is made of them by steps that may make two points one.
    """

    Psi: Array
    y: Array
    mapped: bool = True
    predicted: Array | None = None
    names: tuple[Any, ...] | None = None
    arithmetic: Arithmetic = DOUBLE
    rows: Array | None = None

    @property
    def is_wrong(self) -> Any:
        """Where the program errs; its decisions are known."""
        return np.asarray(self.predicted != self.y)

    @property
    def compared(self) -> Array:
        """What decides whether two points are equal."""
        return self.Psi if self.rows is None else self.rows


def indices(y: Array) -> Array:
    """The indices of the classes, of labels -1/+1 too.

    >>> indices(np.array([-1.0, 1.0])).tolist(), indices(np.array([2, 0])).tolist()
    ([0, 1], [2, 0])
    """
    return (y > 0).astype(np.int64) if y.dtype.kind == "f" else y


class Pairs(NamedTuple):
    """X as it came, for the program to read, y as it came, and the notes about them.

    `file` is the data set they are from, whose columns have names and whose labels are mapped already.
    """

    X: Any
    y: Any
    notes: tuple[str, ...] = ()
    file: Dataset | None = None
    name: str = ""
    """What an error calls them: "test ", or the path of the file."""


def pairs(X: Any, y: Any, name: str = "") -> Pairs:
    """X and y, where X may be a DataLoader or a Dataset of both."""
    if is_of_data(X):
        check(y is None, f"{name}X is a {type(X).__name__} and holds the labels already: give no {name}y beside it.")
        return _gathered(X, name)
    missing = f"{name}{'y' if y is None else 'X'}"
    check((X is None) == (y is None), f"{missing} is missing: X and y are given together, or neither.")
    return Pairs(X, y, name=name)


def is_of_data(X: Any) -> bool:
    """Whether it is a DataLoader or Dataset of torch, without importing torch for one that is not."""
    data = sys.modules.get("torch.utils.data")
    return data is not None and isinstance(X, data.DataLoader | data.Dataset)


def _gathered(source: Any, name: str) -> Pairs:
    """All points, in the order in which they come."""
    from torch.utils.data import DataLoader

    kind = type(source).__name__
    check(hasattr(source, "__len__"), f"{name}X is a {kind} without an end: gather its points into arrays X and y.")
    left_out = isinstance(source, DataLoader) and source.drop_last
    check(not left_out, f"{name}X is a DataLoader with drop_last=True, which leaves points out: expected all of them.")
    batches = list(source if isinstance(source, DataLoader) else _one_by_one(source))
    both = all(isinstance(batch, tuple | list) and len(batch) == 2 for batch in batches) and len(batches) > 0
    check(both, f"{name}X is a {kind} that gives no pairs (x, y): gather its points into arrays X and y.")
    X, y = (np.concatenate([np.atleast_1d(numbers(batch[i])) for batch in batches]) for i in (0, 1))
    note = f"{len(y):,} {name}points read once through the {kind}; a random transform in it would draw other points."
    return Pairs(X, y, (note,), name=name)


def _one_by_one(source: Any) -> Iterator[Any]:
    for i in range(len(source)):
        pair = source[i]
        yield (numbers(pair[0])[None], pair[1]) if isinstance(pair, tuple | list) and len(pair) == 2 else pair


# X


def array(values: Any, name: str) -> Array:
    """A numpy array of real numbers from an array, a tensor or a frame."""
    missing = bool(np.ma.is_masked(values))
    check(not missing, f"{name} must have no masked entries: a masked value is not a measurement.")
    rows = numbers(values)
    check(rows.dtype.kind != "O", f"{name} must hold real numbers in rows of one length, got {_kind(values)}.")
    check(rows.dtype.kind in "buif", f"{name} must hold real numbers, got dtype {rows.dtype}.")
    check(rows.ndim >= 2 and len(rows) >= 1, f"{name} must have the shape (m, ..) with m >= 1, got {rows.shape}.")
    require_finite(rows, name)
    return np.ascontiguousarray(rows, dtype=_native(rows.dtype))


def _native(dtype: Any) -> Any:
    """In a form that torch takes: no negative strides, native byte order, no float128."""
    return dtype.newbyteorder("=") if dtype.itemsize <= 8 else np.dtype(np.float64)


def rows(values: Any, name: str) -> Array:
    """The same, but rows on the disk stay there, to be read some at a time."""
    streams = is_on_disk(values) and not np.ma.isMaskedArray(values) and len(values.shape) >= 2 and len(values) > 0
    if not streams or values.dtype.kind not in "buif" or not _is_finite(values):
        return array(values, name)  # which says what is wrong
    streamed: Any = joined(values, _native(values.dtype))
    return streamed


def _is_finite(values: Any) -> bool:
    return all(bool(np.isfinite(values[part]).all()) for part in slices(len(values), math.prod(values.shape[1:])))


def doubles(X: Any) -> Array:
    """In float64; rows on the disk when they are asked for."""
    wide: Any = X.doubles() if isinstance(X, Joined) else np.ascontiguousarray(X, dtype=np.float64)
    return wide


def numbers(values: Any) -> Array:
    """As numpy has them; a tensor of any floating dtype, and a frame of nullable numbers, in float64."""
    if hasattr(values, "detach"):
        return _of_tensor(values)
    if hasattr(values, "convert_dtypes") and all(kind.kind in "buif" for kind in np.atleast_1d(values.dtypes)):
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    try:
        return np.asarray(values)
    except ValueError:  # rows of several lengths
        return np.empty(0, dtype=object)


def _of_tensor(values: Any) -> Array:
    dense = values.detach().cpu().to_dense()
    return np.asarray((dense.double() if dense.is_floating_point() else dense).numpy())


def _kind(values: Any) -> str:
    if hasattr(values, "toarray"):
        return f"a {type(values).__name__}; its toarray() is dense"
    return f"a {type(values).__name__} of objects"


def count(X: Any, name: str) -> int:
    """How many points X has, whatever it is."""
    shape = getattr(X, "shape", None)
    sized = bool(shape) or hasattr(X, "__len__")
    check(sized, f"{name} must have a row for each point, got a {type(X).__name__}.")
    m = int(shape[0]) if shape else len(X)
    check(m >= 1, f"{name} must have at least one row, got m=0.")
    return m


def taken(X: Any, rows: Any) -> Any:
    """The rows of X with these indices, in this order, whatever X is."""
    X = X.tocsr() if hasattr(X, "tocsr") else X  # of sparse matrices not all are cut by rows
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def comparable(X: Any, name: str, columns: list[Any] | None = None) -> Array:
    """A matrix whose rows are equal where those of X are: X itself, or the digest of what has no numbers for it.

    A frame is read in the order of `columns`, where those are its own.
    """
    if columns is not None and sorted(map(str, columns)) == sorted(map(str, X.columns)):
        X = X[columns]
    if hasattr(X, "toarray") and math.prod(X.shape) <= MOST_DENSE:
        X = X.toarray()
    try:
        numeric = rows(X, name)
        return doubles(numeric.reshape(len(numeric), math.prod(numeric.shape[1:])))
    except ValueError:
        digests = [hashlib.sha256(row).digest()[:12] for row in _rows(X)]
        return np.array([[int.from_bytes(d[:6], "big"), int.from_bytes(d[6:], "big")] for d in digests], dtype=float)


def columns_of(X: Any) -> list[Any] | None:
    """The names of the columns of a frame, None where they have none or repeat."""
    names = list(getattr(X, "columns", ()))
    return names if names and len(set(names)) == len(names) else None


def _rows(X: Any) -> Iterator[bytes]:
    """Each row as bytes: of a frame its cells, of a sparse matrix the row made dense, of a list what stands in it."""
    if hasattr(X, "itertuples"):
        yield from (repr([_cell(value) for value in row]).encode() for row in X.itertuples(index=False))
    elif hasattr(X, "toarray"):
        yield from (_short(X[[i]].toarray()).tobytes() for i in range(X.shape[0]))
    else:
        yield from (_bytes(row) for row in X)


def _bytes(row: Any) -> bytes:
    kind = row.dtype.kind if isinstance(row, np.ndarray) else "O"
    return _short(row).tobytes() if kind in "buif" else row.tobytes() if kind in "US" else repr(row).encode()


def _cell(value: Any) -> Any:
    return float(_short(value)) if isinstance(value, Real) else value


def _short(values: Any) -> Array:
    """Numbers that are not whole as float32 has them, for they may have been stored so."""
    wide = np.asarray(values, dtype=np.float64) + 0.0
    return np.where(wide == np.round(wide), wide, wide.astype(np.float32))


# y


def labels(y: Any, classes: Classes, m: int, name: str, outputs: int | None = None) -> tuple[Array, Classes, list[str]]:
    """-1/+1 from y, of many classes their indices; the names of the classes, None where y holds numbers for them."""
    check(not np.ma.is_masked(y), f"{name} must have no masked entries.")
    try:
        return _understood(y, classes, m, outputs)
    except ValueError as error:
        raise ValueError(str(error).replace("y ", f"{name} ", 1)) from None


def _understood(y: Any, classes: Classes, m: int, outputs: int | None) -> tuple[Array, Classes, list[str]]:
    from adanet_train.data import classes as of_classes
    from adanet_train.data import datasets

    labels, read = of_classes.plain(numbers(y), m)
    if labels.dtype.kind == "O" and all(isinstance(value, str) for value in labels):
        labels = labels.astype(str)
    if read:  # one-hot: its columns are the classes, in their order
        wide = np.asarray(y).shape[1] if not hasattr(y, "shape") else y.shape[1]
        check(wide == (outputs or 2), f"y has {wide} columns, expected {outputs or 2}, one for each class.")
        return (labels if outputs is not None else 2.0 * labels - 1), classes, [read]
    ordered = classes or _in_order(y, outputs or 2)
    if outputs is not None:
        names = None if ordered is None else tuple(of_classes.names_of(np.array(ordered)).tolist())
        places, named, note = of_classes.indices(labels, outputs, names)
        if classes is None and names is not None:
            note = of_classes.mapped(names)
        return places, classes or named, [note] if note else []
    if classes is not None:
        _require_known(labels, classes)
        return np.where(labels == classes[1], 1.0, -1.0), classes, []
    signs, named, note = datasets.labels(labels, ordered)
    return signs, named, [note] if note else []


def _in_order(y: Any, count: int) -> Classes:
    """The names in the order that a pandas Categorical gives them, where they are as many as the classes."""
    names = tuple(getattr(getattr(y, "cat", y), "categories", ()))
    return names if len(names) == count and all(isinstance(name, str) for name in names) else None


def _require_known(labels: Array, classes: Sequence[Any]) -> None:
    known = np.isin(labels, classes)
    shown = ", ".join(sorted({repr(value) for value in labels[~known].tolist()})[:3])
    check(bool(known.all()), f"y must hold {classes[0]!r} and {classes[1]!r} as in training, got {shown}.")


def in_order(classes: Any, outputs: int | None) -> tuple[Any, ...]:
    """The names of the classes that the user gave, in the order of the outputs."""
    listed = isinstance(classes, Sequence | np.ndarray) and not isinstance(classes, str)
    check(listed, f"classes must be the names in the order of the outputs, got a {type(classes).__name__}.")
    names = tuple(np.asarray(classes).tolist())
    wanted, own = outputs or 2, len(set(names))
    fits = len(names) == own == wanted
    check(fits, f"classes must be {wanted} different names, one for each class of the network, got {names!r}.")
    return names
