"""Tables as people have them, as numbers: one column for each category, and one that says that a cell was empty.

A column of words becomes "name=word", 1 where the cell is that word; empty cells have "name=?". A column of numbers
with empty cells keeps its name, at its least value there, beside "name=?". So the names of a model's features are its
encoding: a later table is encoded by them, and a word that training did not know is in none of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adanet_theory.checks import check
from adanet_train.data.features import Array, FeatureMap

EMPTY = ("", "?", "NA", "N/A", "null", "NULL", "None")
FLAGS = {"false": "0", "true": "1"}
CATEGORIES = 100


def encode(names: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[Array, tuple[str, ...]]:
    """The columns as numbers, and their names.

    >>> X, names = encode(["age", "colour"], [["3", "red"], ["", "blue"], ["5", "red"]])
    >>> names
    ('age', 'age=?', 'colour=blue', 'colour=red')
    >>> X.tolist()
    [[3.0, 0.0, 0.0, 1.0], [3.0, 1.0, 1.0, 0.0], [5.0, 0.0, 0.0, 1.0]]
    """
    encoder, columns = Encoder(names), [list(column) for column in zip(*rows, strict=True)]
    encoder.see(columns)
    return encoder(columns), encoder.names


Column = Array | list[str]
"""A part of a column: numbers, or cells as they are written."""


class Encoder:
    """An encoding read off a table part by part (`see`), and then applied to it part by part."""

    def __init__(self, names: Sequence[str]) -> None:
        self.columns, self.rows = [_Seen(name) for name in names], 0

    def see(self, columns: Sequence[Column]) -> None:
        for seen, column in zip(self.columns, columns, strict=True):
            seen.add(column, self.rows)
        self.rows += len(columns[0])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for seen in self.columns for name in seen.names())

    def __call__(self, columns: Sequence[Column]) -> Array:
        found = [values for seen, column in zip(self.columns, columns, strict=True) for values in seen.values(column)]
        return np.column_stack(found)


class _Seen:
    """What a column holds: numbers, of which the least stands where a cell is empty, or words."""

    def __init__(self, name: str) -> None:
        self.name, self.least, self.words = name, np.inf, dict[str, int]()
        self.has_numbers = self.has_empty = False

    def add(self, column: Column, before: int) -> None:
        """Cells that stand behind `before` rows of the table."""
        if not isinstance(column, list):
            self.has_numbers, self.least = True, min(self.least, float(column.min()))
            return
        for row, cell in enumerate(map(_cell, column), start=before):
            number = _number(cell)
            if cell in EMPTY:
                self.has_empty = True
            elif number is None:
                if self.words.setdefault(cell, row) == row:
                    self._check_words()
            else:
                self.has_numbers, self.least = True, min(self.least, number)

    def _check_words(self) -> None:
        many = f"column {self.name!r} holds more than {CATEGORIES} different words: drop it or group them."
        check(self.has_numbers or len(self.words) <= CATEGORIES, many)
        self._check_kind(not (self.has_numbers and self.words))

    def _check_kind(self, sound: bool) -> None:
        word, row = next(iter(self.words.items()), ("", 0))
        check(sound, f"row {row + 2}, column {self.name!r} must be a number, got {word[:40]!r}.")

    def names(self) -> list[str]:
        """Those of the numbers that stand for the column."""
        self._check_kind(bool(self.words) != self.has_numbers)
        kinds = [f"{self.name}={word}" for word in sorted(self.words)] or [self.name]
        return [*kinds, f"{self.name}=?"] if self.has_empty else kinds

    def values(self, column: Column) -> Iterator[Array]:
        """The same columns of these cells."""
        if not isinstance(column, list):
            yield column
            empty = np.zeros(len(column), dtype=bool)
        else:
            cells = np.array([_cell(cell) for cell in column])
            empty = np.isin(cells, EMPTY)
            for word in sorted(self.words):
                yield (cells == word).astype(np.float64)
            if not self.words:
                yield np.where(empty, str(self.least), cells).astype(np.float64)
        if self.has_empty:
            yield empty.astype(np.float64)


def _cell(text: str) -> str:
    text = text.strip()
    return FLAGS.get(text.lower(), text)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def in_order(values: Array, ours: Sequence[str], features: FeatureMap) -> Array | None:
    """The columns that a model's map reads, in its order; None where one is missing that no encoding explains."""
    columns = []
    for name, low in zip(features.names, features.low, strict=True):
        base = name.rpartition("=")[0]
        if name in ours:
            column = values[:, ours.index(name)]
            if f"{name}=?" in ours:  # an empty cell is where training put it, whatever this table's least value
                column = np.where(values[:, ours.index(f"{name}=?")] == 1, low, column)
            columns.append(column)
        elif base and any(other == base or other.startswith(f"{base}=") for other in ours):
            columns.append(np.zeros(len(values)))
        else:
            words = any(other.startswith(f"{name}=") for other in ours)
            check(not words, f"column {name!r} must be a number, as in training.")
            return None
    return np.column_stack(columns)
