"""Matrices on the disk, read some rows at a time: memory-mapped, or some rows of one that is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
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


def is_on_disk(values: Any) -> bool:
    """Also of a plain view, as scikit-learn makes one of a memory-mapped array."""
    return isinstance(values, np.memmap | Some) or isinstance(getattr(values, "base", None), np.memmap)


def slices(m: int, width: int, numbers: int = 1 << 22) -> Iterator[slice]:
    """All rows in order, at most so many numbers at a time.

    >>> [(rows.start, rows.stop) for rows in slices(5, 3, numbers=6)]
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, numbers // max(1, width))
    return (slice(first, min(first + size, m)) for first in range(0, m, size))
