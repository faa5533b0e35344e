"""The paper's ten folds: fold i to test, fold i+1 (mod 10) to validate, the other eight to train."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import check
from paper_notes.tables import FOLDS

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FoldParts:
    train: Index
    validation: Index
    test: Index


def split(m: int, i: int, seed: int) -> FoldParts:
    """The i-th split of m points, shuffled by the seed alone, so that all methods meet the same folds.

    >>> parts = split(12_000, 9, seed=0)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (9600, 1200, 1200)
    >>> bool((parts.validation == split(12_000, 0, seed=0).test).all())
    True
    """
    check(0 <= i < FOLDS, f"a fold must be in 0..{FOLDS - 1}, got fold={i}.")
    check(m >= FOLDS, f"m must be >= {FOLDS} for {FOLDS} folds, got m={m}.")
    folds = np.array_split(np.random.default_rng(seed).permutation(m), FOLDS)
    test, validation = i, (i + 1) % FOLDS
    train = np.concatenate([fold for j, fold in enumerate(folds) if j not in (test, validation)])
    return FoldParts(train, folds[validation], folds[test])
