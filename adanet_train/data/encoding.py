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
    found: list[tuple[str, Array]] = []
    for place, name in enumerate(names):
        cells = [row[place].strip() for row in rows]
        found += _column(name, [FLAGS.get(cell.lower(), cell) for cell in cells])
    return np.column_stack([values for _, values in found]), tuple(name for name, _ in found)


def _column(name: str, cells: list[str]) -> Iterator[tuple[str, Array]]:
    empty = np.array([cell in EMPTY for cell in cells])
    numbers = [_number(cell) for cell in cells]
    words = [number is None and not gone for number, gone in zip(numbers, empty, strict=True)]
    if not any(words) and not empty.all():
        values = np.array([np.inf if number is None else number for number in numbers])
        yield name, np.where(empty, values[~empty].min(), values) if empty.any() else values
    else:
        mixed = any(number is not None for number in numbers) or bool(empty.all())
        row = words.index(True) if any(words) else 0
        wrong = f"row {row + 2}, column {name!r} must be a number, got {cells[row][:40]!r}."
        check(not mixed, wrong)
        kinds = sorted({cell for cell in cells if cell not in EMPTY})
        many = (
            f"column {name!r} holds {len(kinds)} different words, expected at most {CATEGORIES}: drop it or group them."
        )
        check(len(kinds) <= CATEGORIES, many)
        for kind in kinds:
            yield f"{name}={kind}", np.array([cell == kind for cell in cells], dtype=np.float64)
    if empty.any():
        yield f"{name}=?", empty.astype(np.float64)


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
