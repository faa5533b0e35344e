"""The error of each class, and that of a constant prediction: what an error is worth where a class is rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adanet_theory.checks import Array

ZERO_ONE = "labels 0 and 1 mapped to -1 and +1."
"""The note on labels 0/1, which are read as -1/+1; the classes keep the names 0 and 1."""


def base_rate(y: Array) -> float:
    """The error of the best constant prediction: the share of the points outside the largest class.

    >>> base_rate(np.array([1.0, 1.0, -1.0, 1.0]))
    0.25
    """
    largest = int(np.unique(y, return_counts=True)[1].max())
    return (len(y) - largest) / len(y)


def class_errors(is_wrong: Array, y: Array, names: Sequence[Any] | None = None) -> dict[str, float]:
    """The share of errors among the points of each class that occurs; names are those of -1 and +1, or of 0, 1, ..

    >>> class_errors(np.array([True, False, False]), np.array([1.0, 1.0, -1.0]), ("bad", "good"))
    {'bad': 0.0, 'good': 0.5}
    """
    return {name(label, names): float(np.mean(is_wrong[y == label])) for label in np.unique(y)}


def name(label: Any, names: Sequence[Any] | None) -> str:
    """The name of a label -1 or +1 (a float), or of a class index."""
    if label.dtype.kind == "f":
        return f"{int(label):+d}" if names is None else str(names[int(label > 0)])
    return str(label if names is None else names[label])


def only_class(errors: Mapping[str, float]) -> str | None:
    """The one class that is always right where all others are always wrong: of two classes a constant prediction.

    >>> only_class({"a": 0.0, "b": 1.0, "c": 1.0}), only_class({"a": 0.0, "b": 0.9}), only_class({"a": 0.0})
    ('a', None, None)
    """
    right = [name for name, error in errors.items() if error == 0]
    constant = len(errors) > 1 and len(right) == 1 and sum(errors.values()) == len(errors) - 1
    return right[0] if constant else None
