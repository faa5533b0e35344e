"""Arrays on the disk, read some rows at a time: memory-mapped, some rows of one that is, or several as one."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def on_disk(shape: tuple[int, int]) -> Any:
    """A float64 matrix in a file without a name, in the folder of temporary files: it goes with the process."""
    with tempfile.TemporaryFile() as file:
        file.truncate(max(1, 8 * shape[0] * shape[1]))
        return np.memmap(file, dtype=np.float64, mode="r+", shape=shape)


class Some:
    """Rows of a matrix on the disk, in the order of their numbers.

    >>> some = Some(np.arange(6.0).reshape(3, 2), np.array([0, 2]))
    >>> some.shape, some[1:2].tolist()
    ((2, 2), [[4.0, 5.0]])
    """

    def __init__(self, values: Any, rows: Any) -> None:
        self.values, self.rows, self.dtype = values, rows, values.dtype
        self.shape = (len(rows), values.shape[1])

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.values[self.rows[index]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self[:], dtype=dtype)


class Joined:
    """Arrays on the disk, one below the other, as one array; converted to `dtype` if it is given.

    `one` puts a column of 1 behind a matrix.

    >>> joined = Joined([np.zeros((2, 3)), np.ones((1, 3))])
    >>> joined.shape, joined[1:3].tolist(), joined[np.array([2, 0])].tolist()
    ((3, 3), [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    """

    def __init__(self, parts: Sequence[Any], dtype: Any = None, *, one: bool = False) -> None:
        self.parts, self.starts = parts, np.cumsum([0, *map(len, parts)])
        self.dtype = np.dtype(np.result_type(*(part.dtype for part in parts)) if dtype is None else dtype)
        self.shape = (int(self.starts[-1]), *parts[0].shape[1:-1], parts[0].shape[-1] + one)
        self.ndim, self.size = len(self.shape), math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        rows = np.arange(*index.indices(len(self))) if isinstance(index, slice) else np.asarray(index)
        values = np.ones((len(rows), *self.shape[1:]), self.dtype)
        places = np.searchsorted(self.starts, rows, side="right") - 1
        for i in np.unique(places):
            here = places == i
            own: Any = rows[here] - self.starts[i]
            if isinstance(index, slice) and index.step in (None, 1):
                own = slice(own[0], own[-1] + 1)
            values[here, ..., : self.parts[i].shape[-1]] = self.parts[i][own]
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self[:], dtype=dtype)

    def reshape(self, m: int, *shape: int) -> Joined:
        """The same rows, each in another shape."""
        return Joined([part.reshape(len(part), *shape) for part in self.parts], self.dtype)

    def doubles(self, *, one: bool = False) -> Joined:
        """The same rows in float64, with a column of 1 behind them where `one` asks for it."""
        return Joined(self.parts, np.float64, one=one)


def is_on_disk(values: Any) -> bool:
    """Whether the values are on the disk, also as a plain view, which scikit-learn makes of a memory-mapped array."""
    return isinstance(values, np.memmap | Some | Joined) or isinstance(getattr(values, "base", None), np.memmap)


def as_array(values: Any) -> Any:
    """One array: these values if they are one, else a copy of the rows on the disk."""
    if isinstance(values, np.ndarray):
        return values
    copied = on_disk(values.shape)
    for rows in slices(*values.shape):
        copied[rows] = values[rows]
    return copied


def joined(values: Any, dtype: Any = None) -> Joined:
    """Rows on the disk in any form, as numbers of that type."""
    return Joined(values.parts if isinstance(values, Joined) else [values], dtype)


def largest(values: Any) -> float:
    """The largest |x|, 0 if there are no rows; computed some rows at a time."""
    return max((float(size.max(initial=0.0)) for size in _sizes(values)), default=0.0)


def mean_size(values: Any) -> float:
    """The mean of |x|, some rows at a time."""
    return sum(float(size.sum()) for size in _sizes(values)) / values.size


def _sizes(values: Any) -> Iterator[Any]:
    parts = slices(len(values), math.prod(values.shape[1:]))
    return (np.abs(values[rows].astype(np.float64, copy=False)) for rows in parts)


def slices(m: int, width: int, numbers: int = 1 << 22) -> Iterator[slice]:
    """All rows in order, at most so many numbers at a time.

    >>> [(rows.start, rows.stop) for rows in slices(5, 3, numbers=6)]
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, numbers // max(1, width))
    return (slice(first, min(first + size, m)) for first in range(0, m, size))
