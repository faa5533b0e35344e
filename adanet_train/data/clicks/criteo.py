"""The Criteo display-advertising data: train.txt of its seven days, or a sample of its rows, plain or gzipped.

A row is a label 0/1, 13 counts and 26 categories of up to 8 hexadecimal digits, separated by tabs, in the order of
time; missing is empty. The rules, where the paper leaves one to choose:
  split        the last floor(N/7) rows are the test part, as many before them the validation part, the rest trains;
               of 45,840,617 rows these are the paper's 32,743,299 + 6,548,659 + 6,548,659
  counts       x becomes sgn(x) ln(1 + |x|), which is 0 at 0 and defined at the few negative ones; missing becomes 0
  categories   a value seen fewer than `min_count` times in the training part becomes 0, as does a missing one; the
               others become 1..d in the order of their digits. Validation and test rows are never counted.

The file is read in blocks, so memory does not grow with the rows: once for the number of lines, once for the counts of
the training part (12 bytes for each distinct value, and as much again while they are merged), once to encode the rows,
into memory or, with `folder`, into arrays on the disk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import Progress, check
from adanet_train.data.clicks.criteo_rows import CATEGORIES, COUNTS, READ, blocks, tables
from adanet_train.data.tables import require_polars

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CriteoPart:
    """Rows of one part: the transformed counts [m, 13], the indices of the categories [m, 26], y = -1/+1."""

    counts: NDArray[np.float32]
    codes: Codes
    y: NDArray[np.float64]

    @property
    def m(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> CriteoPart:
        return CriteoPart(self.counts[rows], self.codes[rows], self.y[rows])


@dataclass(frozen=True, eq=False)
class Criteo:
    """The three parts, and for each category the sorted values whose indices are 1, 2, .., d."""

    train: CriteoPart
    validation: CriteoPart
    test: CriteoPart
    vocabulary: tuple[NDArray[np.uint32], ...]

    @property
    def d(self) -> tuple[int, ...]:
        """How many values each category has, without the zero of rare and missing ones."""
        return tuple(len(values) for values in self.vocabulary)


def embedding_size(d: int) -> int:
    """⌊6 d^(1/4)⌋ numbers for a category of d > 25 values, d numbers for a smaller one.

    >>> [embedding_size(d) for d in (0, 25, 26, 301, 10_000)]
    [0, 25, 13, 24, 60]
    """
    return d if d <= 25 else math.isqrt(math.isqrt(6**4 * d))


def split(N: int) -> tuple[int, int]:
    """The rows to train on, and those of the validation and of the test part each.

    >>> split(45_840_617)
    (32743299, 6548659)
    """
    return N - 2 * (N // 7), N // 7


def read(
    path: str | Path,
    *,
    min_count: int = 100,
    fit_rows: int | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> Criteo:
    """The data of a file, encoded and split. `progress(done, total)` counts rows, those counted and those encoded.

    `fit_rows`, by default all of the training part, is how many of its first rows the values are counted in: a sample
    that does not contain those rows meets features that were fixed before it. `folder` takes the encoded arrays.
    """
    path = Path(path)
    check(min_count >= 1, f"min_count must be >= 1, got min_count={min_count}.")
    require_polars(READ)
    N = sum(block.count(b"\n") for block in blocks(path))
    check(N >= 7, f"{path}: {N} rows, expected at least 7.")
    m, held_out = split(N)
    check(fit_rows is None or 1 <= fit_rows <= m, f"fit_rows must be in 1 to {m}, got fit_rows={fit_rows}.")
    steps = _Steps((fit_rows or m) + N, progress)
    vocabulary = _vocabulary(path, fit_rows or m, min_count, steps)
    rows = _encode(path, N, vocabulary, Path(folder) if folder is not None else None, steps)
    return Criteo(rows[:m], rows[m : m + held_out], rows[m + held_out :], vocabulary)


class _Steps:
    def __init__(self, total: int, progress: Progress | None) -> None:
        self.done, self.total, self.progress = 0, total, progress

    def add(self, rows: int) -> None:
        self.done += rows
        if self.progress is not None:
            self.progress(self.done, self.total)


# Categories


class Tally:
    """How often each value occurs. New values wait until there are as many of them as of merged ones, so that all
    merging together costs one sort of everything, and memory for at most twice the distinct values."""

    LEAST = 1 << 20

    def __init__(self) -> None:
        self.values = np.zeros(0, dtype=np.uint32)
        self.times = np.zeros(0, dtype=np.int64)
        self.waiting: list[tuple[NDArray[np.uint32], NDArray[np.int64]]] = []

    def add(self, codes: NDArray[np.int64]) -> None:
        values, times = np.unique(codes[codes >= 0], return_counts=True)
        self.waiting.append((values.astype(np.uint32), times))
        if sum(len(values) for values, _ in self.waiting) > max(len(self.values), self.LEAST):
            self.merge()

    def merge(self) -> None:
        all_values = np.concatenate([self.values, *(values for values, _ in self.waiting)])
        all_times = np.concatenate([self.times, *(times for _, times in self.waiting)])
        order = np.argsort(all_values, kind="stable")
        all_values, all_times = all_values[order], all_times[order]
        starts = np.flatnonzero(np.diff(all_values, prepend=np.int64(-1)))
        self.values = all_values[starts]
        self.times = np.add.reduceat(all_times, starts) if len(starts) else all_times
        self.waiting = []

    def frequent(self, least: int) -> NDArray[np.uint32]:
        self.merge()
        return self.values[self.times >= least]


def _vocabulary(path: Path, m: int, min_count: int, steps: _Steps) -> tuple[NDArray[np.uint32], ...]:
    """The values met at least `min_count` times in the first m rows."""
    tallies = [Tally() for _ in range(CATEGORIES)]
    left = m
    for label, _, codes in tables(path):
        for tally, column in zip(tallies, codes[:left].T, strict=True):
            tally.add(column)
        steps.add(min(left, len(label)))
        left -= len(label)
        if left <= 0:
            break
    return tuple(tally.frequent(min_count) for tally in tallies)


# Encoding


def _encode(
    path: Path, N: int, vocabulary: tuple[NDArray[np.uint32], ...], folder: Path | None, steps: _Steps
) -> CriteoPart:
    counts = _array(folder, "counts", np.float32, (N, COUNTS))
    codes = _array(folder, "codes", np.int32, (N, CATEGORIES))
    y = _array(folder, "y", np.float64, (N,))
    start = 0
    for label, numbers, digits in tables(path):
        rows = slice(start, start + len(label))
        y[rows] = 2 * label - 1
        counts[rows] = log_counts(numbers)
        for j, values in enumerate(vocabulary):
            codes[rows, j] = indices(digits[:, j], values)
        start += len(label)
        steps.add(len(label))
    return CriteoPart(counts, codes, y)


def _array(folder: Path | None, name: str, dtype: Any, shape: tuple[int, ...]) -> Any:
    if folder is None:
        return np.zeros(shape, dtype=dtype)
    folder.mkdir(parents=True, exist_ok=True)
    return np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=dtype, shape=shape)


def log_counts(x: Any) -> NDArray[np.float64]:
    """sgn(x) ln(1 + |x|), and 0 where x is missing.

    >>> log_counts(np.array([np.nan, 0, 1, -1])).round(4).tolist()
    [0.0, 0.0, 0.6931, -0.6931]
    """
    return np.nan_to_num(np.sign(x) * np.log1p(np.abs(x)), nan=0.0)


def indices(codes: Any, values: NDArray[np.uint32]) -> Codes:
    """1 + the place of each code among the sorted values, 0 for one that is not among them.

    >>> indices(np.array([7, 5, -1, 9]), np.array([5, 9], dtype=np.uint32)).tolist()
    [0, 1, 0, 2]
    """
    if not len(values):
        return np.zeros(len(codes), dtype=np.int32)
    place = np.searchsorted(values.astype(np.int64), codes)
    is_known = values[np.minimum(place, len(values) - 1)] == codes
    return np.where(is_known, place + 1, 0).astype(np.int32)
