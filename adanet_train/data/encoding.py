"""Tables of words and numbers as numbers: one column for each category, and one that says that a cell was empty.

A column of words becomes "name=word", 1 where the cell is that word; empty cells have "name=?". A column of numbers
with empty cells keeps its name, at its least value there, beside "name=?". Flags (true, false) are the numbers 1 and 0,
unless there are other words among them. So the names of a model's features are its encoding: a later table is encoded
by them, and a word that training did not know is in none of its columns.

Coded, for embeddings, a column of words stays one column: 1, 2, .. for its words in their order, 0 for an empty cell or
a word that training did not know. An `Encoder` is kept with a model then, and encodes later tables itself.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adanet_theory.checks import check
from adanet_train.data.features import Array, FeatureMap

EMPTY = ("", "?", "na", "n/a", "nan", "null", "none", "<na>", "nat")
FLAGS = {"false": 0.0, "true": 1.0}
CATEGORIES, CODES = 100, 1 << 20
"""Most different words in a column: encoded as 0/1 columns, and as codes."""
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")
DATE = re.compile(
    r"([0-9]{4}([-/.])[0-9]{1,2}\2[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\3[0-9]{4})([T ][0-9]{1,2}:[0-9]{2}.*)?"
)
WITH_COMMAS = re.compile(r"[+-]?[0-9][0-9.]*,[0-9.,]*")

Column = Array | list[str]
"""A part of a column: numbers, nan where a cell is empty, or cells as they are written."""


def numbers_or_cells(cells: list[str]) -> Column:
    """Numbers where every cell is one.

    >>> numbers_or_cells(["1", "2.5"]), numbers_or_cells(["1", "x"])
    (array([1. , 2.5]), ['1', 'x'])
    """
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError:
        return cells


def decimal_points(column: Column, between: str) -> Column:
    """Read decimal commas, in a table whose cells are not separated by commas.

    >>> decimal_points(["1,5", "2"], ";"), decimal_points(["1,5", "red"], ";"), decimal_points(["1,5"], ",")
    (array([1.5, 2. ]), ['1.5', 'red'], ['1,5'])
    """
    if between == "," or not isinstance(column, list):
        return column
    return numbers_or_cells(
        [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell.strip()) else cell for cell in column]
    )


def is_empty(cell: str) -> bool:
    return cell.strip().lower() in EMPTY


class Encoder:
    """An encoding read off a table part by part (`see`), and then applied to it part by part.

    >>> encoder = Encoder(["age", "colour"], coded=True)
    >>> encoder.see([["3", "4"], ["red", "blue"]])
    >>> encoder([["5", "6"], ["red", "green"]]).tolist(), encoder.categories
    ([[5.0, 2.0], [6.0, 0.0]], (0, 3))
    """

    def __init__(self, names: Sequence[str], *, coded: bool = False) -> None:
        self.columns, self.rows, self.coded = [_Seen(name, coded) for name in names], 0, coded
        self.label: str | None = None  # the column of the labels, which is none of these

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Encoder:
        """The encoder in a model file."""
        encoder = cls([name for name, *_ in plain["columns"]], coded=bool(plain["coded"]))
        for seen, (_, least, has_empty, words) in zip(encoder.columns, plain["columns"], strict=True):
            seen.least, seen.has_empty, seen.words = float(least), bool(has_empty), dict.fromkeys(words, 0)
        label = plain.get("label")
        encoder.label = label if isinstance(label, str) else None
        return encoder

    @property
    def plain(self) -> dict[str, Any]:
        columns = [[seen.name, seen.least, seen.has_empty, sorted(seen.words)] for seen in self.columns]
        return {"coded": self.coded, "columns": columns, "label": self.label}

    @property
    def ids(self) -> list[str]:
        """The columns with a different word in each row."""
        return [seen.name for seen in self.columns if len(seen.words) == self.rows >= FEWEST]

    @property
    def categories(self) -> tuple[int, ...]:
        """The number of codes of each column of X, 0 for a column of numbers."""
        return tuple(count for seen in self.columns for count in seen.categories)

    @property
    def lists_words(self) -> bool:
        """Whether the rows that were seen fix more than the order of the columns: words, or which cells are empty."""
        return self.names != tuple(seen.name for seen in self.columns) or any(self.categories)

    def unseen(self, later: Encoder) -> tuple[str, ...]:
        """A sentence for each column in which a later table holds what training did not."""
        pairs = zip(self.columns, later.columns, strict=True)
        return tuple(line for ours, theirs in pairs for line in ours.unseen(theirs))

    def see(self, columns: Sequence[Column]) -> None:
        for seen, column in zip(self.columns, columns, strict=True):
            seen.add(column, self.rows)
        self.rows += len(columns[0])

    @property
    def names(self) -> tuple[str, ...]:
        names = tuple(name for seen in self.columns for name in seen.names)
        (twice, count), *_ = Counter(names).most_common(1)
        check(count == 1, f"column {twice!r} has a name that the encoding of another column uses: rename it.")
        return names

    def __call__(self, columns: Sequence[Column]) -> Array:
        encoded = [values for seen, column in zip(self.columns, columns, strict=True) for values in seen.values(column)]
        return np.column_stack(encoded)


class _Seen:
    """What a column holds: numbers, of which the least stands where a cell is empty, or words."""

    def __init__(self, name: str, coded: bool = False) -> None:
        self.name, self.coded, self.least, self.has_empty = name, coded, np.inf, False
        self.words = dict[str, int]()
        """Flags among them, each with the row where it stood first."""

    def add(self, column: Column, before: int) -> None:
        """Cells that stand behind `before` rows of the table."""
        if isinstance(column, list):
            column = self._add_cells([cell.strip() for cell in column], before)
        else:
            self.has_empty = self.has_empty or bool(np.isnan(column).any())
        wrong = np.isinf(column)
        row, value = before + int(wrong.argmax()), column[wrong.argmax()]
        check(not wrong.any(), f"row {row + 2}, column {self.name!r} must be finite, got {value}.")
        self.least = float(np.nanmin(column, initial=self.least))
        self._check_words()

    def _add_cells(self, cells: list[str], before: int) -> Array:
        """The numbers among them."""
        distinct = {*cells}
        words = {cell for cell in distinct if _is_word(cell)}
        for row, cell in enumerate(cells, start=before):
            if cell in words:
                self.words.setdefault(cell, row)
        self.has_empty = self.has_empty or any(map(is_empty, distinct))
        return np.where([cell in words for cell in cells], np.nan, _numbers(cells))

    def _check_words(self) -> None:
        categories = self._categories()
        for word in [word for word in categories if self.least < np.inf or WITH_COMMAS.fullmatch(word)][:1]:
            why = "a column holds numbers or words, not both" if self.least < np.inf else "a number has no comma here"
            where = f"row {self.words[word] + 2}, column {self.name!r}"
            raise ValueError(f"{where} must be a number, got {word[:40]!r}: {why}.")
        for date in [word for word in self.words if DATE.fullmatch(word)][:1]:
            where = f"row {self.words[date] + 2}, column {self.name!r}"
            remedy = f"drop the column (--drop {self.name}), or give a number, such as the days since a fixed day"
            raise ValueError(f"{where} holds a date, {date!r}: {remedy}.")
        remedy = f"drop the column (--drop {self.name}) or group the words"
        most = CODES if self.coded else CATEGORIES
        check(len(categories) <= most, f"column {self.name!r} holds more than {most} different words: {remedy}.")

    def _categories(self) -> list[str]:
        return sorted(self.words) if any(word.lower() not in FLAGS for word in self.words) else []

    @property
    def names(self) -> list[str]:
        """Those of the numbers that stand for the column; of an empty column only that it is."""
        numbers = [self.name] if self.words or self.least < np.inf else []
        if self.coded and self._categories():
            return numbers
        kinds = [f"{self.name}={word}" for word in self._categories()] or numbers
        return [*kinds, f"{self.name}=?"] if self.has_empty else kinds

    def values(self, column: Column) -> Iterator[Array]:
        """The same columns of these cells."""
        categories, numbers = self._categories(), column if not isinstance(column, list) else _numbers(column)
        empty = np.isnan(numbers)
        if categories:
            cells = np.array([cell.strip() for cell in column] if isinstance(column, list) else [""] * len(column))
            if self.coded:
                yield _codes(cells, categories)
                return
            kinds = [cells == word for word in categories]
            empty = ~np.logical_or.reduce(kinds)
            yield from (kind.astype(np.float64) for kind in kinds)
        elif self.words or self.least < np.inf:
            yield np.where(empty, min([self.least, *map(_number, self.words)]), numbers)
        if self.has_empty:
            yield empty.astype(np.float64)

    @property
    def categories(self) -> list[int]:
        words = self._categories() if self.coded else []
        return [len(words) + 1] if words else [0] * len(self.names)

    def unseen(self, later: _Seen) -> Iterator[str]:
        words = self._categories()
        numbers = not words and (later._categories() or None)
        check(not numbers, f"column {self.name!r} must be a number, as in training, got {(numbers or [''])[0]!r}.")
        new = [word for word in later._categories() if word not in self.words]
        empty = ["?"] if later.has_empty and not self.has_empty else []
        low = None if words else min([self.least, *map(_number, self.words)], default=0.0)
        return _unseen(self.name, [*new, *empty], low)


def _codes(cells: Any, words: list[str]) -> Array:
    """1, 2, .. for the sorted words, 0 for anything else."""
    known = np.array(words)
    places = np.searchsorted(known, cells).clip(max=len(known) - 1)
    return np.where(known[places] == cells, places + 1.0, 0.0)


def _numbers(cells: list[str]) -> Array:
    known = {cell: _number(cell) for cell in {*cells}}
    return np.array([known[cell] for cell in cells])


def _number(cell: str) -> float:
    """That in a cell, 0 and 1 of flags, nan where there is none."""
    try:
        return float(cell)
    except ValueError:
        return FLAGS.get(cell.strip().lower(), np.nan)


def _is_word(cell: str) -> bool:
    return cell.lower() in FLAGS or (bool(np.isnan(_number(cell))) and not is_empty(cell))


# Columns that number the rows

FEWEST = 20
"""Least number of rows at which a column without repeated values counts as an id."""


def numbered(X: Array, names: Sequence[str]) -> list[str]:
    """The columns with a different whole number in each row, such as row numbers and ids.

    >>> numbered(np.column_stack([np.arange(30.0), np.arange(30) / 7, np.arange(30) % 10]), ["id", "x", "age"])
    ['id']
    """
    few = slice(None, 1000)
    return [name for j, name in enumerate(names) if _is_numbered(X[few, j]) and _is_numbered(X[:, j])]


def _is_numbered(column: Array) -> bool:
    if len(column) < FEWEST or not np.array_equal(column, np.round(column)):
        return False
    return len(np.unique(column)) == len(column)


def of_ids(names: Sequence[str], remedy: Callable[[str], str]) -> list[str]:
    """A sentence for each column that is an id, with the option that leaves it out.

    >>> of_ids(["id"], "--drop {}".format)
    ["column 'id' holds a new value in every row, as an id does, and is used as a feature: --drop id leaves it out."]
    """
    same = "holds a new value in every row, as an id does, and is used as a feature"
    return [f"column {name!r} {same}: {remedy(name)} leaves it out." for name in names]


def warn_of_ids(names: Sequence[str], *, stacklevel: int) -> None:
    """A warning for each column of a data frame that is an id."""
    for line in of_ids(names, lambda name: f"X.drop(columns={name!r})"):
        warnings.warn(line, stacklevel=stacklevel)


# Later tables


def columns_of(names: Sequence[str]) -> set[str]:
    """The columns of a table from which features of these names may be made.

    >>> sorted(columns_of(["age", "colour=red"]))
    ['age', 'colour', 'colour=red']
    """
    return {name[:i] for name in names for i in (*(at.start() for at in re.finditer("=", name)), len(name))}


def unseen(ours: Sequence[str], features: FeatureMap) -> tuple[str, ...]:
    """A sentence for each column of a model in which a later table holds what training did not.

    >>> ages = FeatureMap.known(["age", "colour=blue"], 3, 9)
    >>> for line in unseen(["age", "age=?", "colour=blue", "colour=green"], ages): print(line)
    column 'age' has empty cells, training had none: they count as 3.
    column 'colour' holds 'green', training did not: counted as none of the known words.
    """
    low, words = dict(zip(features.names, features.low.tolist(), strict=True)), dict[str, list[str]]()
    known = {name.rpartition("=")[0] or name for name in low}
    for name in ours:
        column, _, word = name.rpartition("=")
        if column in known and name not in low:
            words.setdefault(column, []).append(word)
    return tuple(line for column, new in words.items() for line in _unseen(column, new, low.get(column)))


def _unseen(column: str, words: Sequence[str], low: float | None) -> Iterator[str]:
    none = "none of the known words"
    if "?" in words:
        counted = none if low is None else f"{low:g}"
        yield f"column {column!r} has empty cells, training had none: they count as {counted}."
    if new := [word for word in words if word != "?"]:
        shown = ", ".join(map(repr, new[:3])) + (f" and {len(new) - 3} more" if len(new) > 3 else "")
        yield f"column {column!r} holds {shown}, training did not: counted as {none}."


def in_order(values: Array, ours: Sequence[str], features: FeatureMap) -> Array | None:
    """The columns that a model's map reads, in its order; None where one is missing that no encoding explains."""
    table, columns = {name: values[:, j] for j, name in enumerate(ours)}, columns_of(ours)
    ordered = [_feature(name, low, table, columns) for name, low in zip(features.names, features.low, strict=True)]
    known = [np.broadcast_to(column, len(values)) for column in ordered if column is not None]
    return np.column_stack(known) if len(known) == len(ordered) else None


def _feature(name: str, low: float, table: Mapping[str, Array], columns: set[str]) -> Array | float | None:
    """One feature of a model, of the encoded columns of a table that has `columns`."""
    base, _, word = name.rpartition("=")
    empty = table.get(f"{name}=?")
    if name in table:  # an empty cell is where training put it, whatever this table's least value
        return table[name] if empty is None else np.where(empty == 1, low, table[name])
    if base in table and word.lower() in FLAGS:  # flags alone are numbers here; in training there were other words
        return np.where(table.get(f"{base}=?", 0.0) == 1, 0.0, table[base] == FLAGS[word.lower()])
    if columns_of([name]) & columns - {name}:
        return 0.0
    words = name in columns and any(other.startswith(f"{name}=") for other in {*table} - {f"{name}=?"})
    check(not words, f"column {name!r} must be a number, as in training.")
    return None if empty is None else low
