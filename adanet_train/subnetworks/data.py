"""The points of subnetworks, of any shape: arrays, tensors, a Dataset or a DataLoader, read a batch at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, TensorDataset, default_collate

from adanet_theory.checks import check
from adanet_train.data import files
from adanet_train.data.disk import is_on_disk

BATCH, LEAST, NUMBERS = 512, 64, 1 << 16
"""Rows of a batch where nothing is trained, at most and at least; between them so many as have these many numbers, as
what a network makes of them then stays in the cache of a core."""


class UnreadablePoint(ValueError):
    """A point that cannot be read: no fault of the builder that asked for it."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """m inputs of one shape, in float32 on one device when a batch of them is asked for."""

    values: Any
    device: torch.device
    streamed: bool = False

    @classmethod
    def of(cls, X: Any, device: torch.device | str = "cpu") -> Inputs:
        """X as an array or tensor, memory-mapped rows, .npy files, or a map-style Dataset of points or pairs.

        For a DataLoader its Dataset is read.
        """
        device = torch.device(device)
        if is_stream(X):
            return cls(dataset_of(X), device, streamed=True)
        if is_rows_file(X):
            X = files.rows(Path(X))
        dense = not hasattr(X, "toarray") and not np.ma.is_masked(X)
        check(dense, "X must be a dense array without masked entries: pass X.toarray() of a sparse matrix.")
        kept = isinstance(X, Tensor) or is_on_disk(X)
        values = X if kept else _array(X)
        real = not (values.is_complex() if isinstance(values, Tensor) else values.dtype.kind == "c")
        check(real, f"X must hold real numbers, got dtype {values.dtype}.")
        check(len(values.shape) >= 2, f"X must have a row for each point, got shape {tuple(values.shape)}.")
        if isinstance(values, Tensor):
            return cls(values.detach(), device)
        return cls(values if kept else torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)), device)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self._point(0).shape if self.streamed else self.values.shape[1:])

    def __getitem__(self, rows: slice | Tensor) -> Tensor:
        if is_on_disk(self.values):
            found = self.values[rows if isinstance(rows, slice) else rows.cpu().numpy()]
            return torch.from_numpy(np.array(found, dtype=np.float32)).to(self.device)
        if not self.streamed:
            # of a slice a copy too: what a module does to its input must not reach the points
            return self.values[rows].to(self.device, torch.float32, copy=isinstance(rows, slice))
        numbers = range(*rows.indices(len(self))) if isinstance(rows, slice) else rows.tolist()
        x = torch.stack([self._checked(i) for i in numbers])
        return self._finite(x, numbers).to(self.device)

    def _checked(self, i: int) -> Tensor:
        x = self._point(i)
        if x.shape != self.shape:
            raise UnreadablePoint(
                f"X: point {i} of the Dataset has shape {tuple(x.shape)}, the first one {self.shape}."
            )
        return x

    def _point(self, i: int) -> Tensor:
        """Point i of a Dataset; what the Dataset does wrong is told with its number."""
        try:
            item = self.values[i]
        except Exception as error:  # whatever the user's code does
            raise UnreadablePoint(_told(i, error)) from error
        x = item[0] if isinstance(item, tuple | list) else item
        try:
            return torch.as_tensor(x).to(torch.float32)
        except (TypeError, ValueError, RuntimeError):
            kind = type(x).__name__
            needs = f"must be a tensor or an array, got a {kind}: transform it, as ToTensor does."
            raise UnreadablePoint(f"X: point {i} of the Dataset {needs}") from None

    def _finite(self, x: Tensor, numbers: Any) -> Tensor:
        if not bool(x.isfinite().all()):
            wrong = int(x.flatten(1).isfinite().all(1).logical_not().nonzero()[0, 0])
            raise UnreadablePoint(f"X must hold finite numbers, got nan or inf in row {numbers[wrong]}.")
        return x

    def check_finite(self, rows: Tensor) -> None:
        """Refuse numbers that are not finite, by their row."""
        for part in rows.split(BATCH):
            self._finite(self[part], part.tolist())

    def followed_by(self, other: Inputs) -> Inputs:
        """These inputs and then those."""
        same = self.shape == other.shape
        check(same, f"validation X must hold inputs of shape {self.shape}, as X does, got {other.shape}.")
        if isinstance(self.values, Tensor) and isinstance(other.values, Tensor):
            return Inputs(torch.cat([self.values, other.values]), self.device)
        return Inputs(ConcatDataset([self._dataset, other._dataset]), self.device, streamed=True)

    @property
    def _dataset(self) -> Dataset[Any]:
        return self.values if self.streamed else _Rows(self)

    def batches(self, rows: Tensor) -> Iterator[Tensor]:
        """The inputs of these rows in their order."""
        size = BATCH
        if self.device.type == "cpu" and not self.streamed:
            size = min(max(LEAST, NUMBERS // max(math.prod(self.values.shape[1:]), 1)), BATCH)
        for part in rows.split(size):
            yield self[part]


def _array(X: Any) -> Any:
    try:
        values = np.asarray(X)
    except ValueError:
        raise ValueError("X must hold inputs of one shape, got several: give the labels as y.") from None
    check(values.ndim > 0, f"X must have a row for each point, got a {type(X).__name__}.")
    return values


class _Rows(Dataset[Tensor]):
    """Inputs as a Dataset, a point at a time."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, i: int) -> Tensor:
        return self.inputs[slice(i, i + 1)][0].cpu()


def dataset_of(X: Any) -> Any:
    """The Dataset of a DataLoader, or the Dataset itself, if points of it can be held out."""
    if isinstance(X, DataLoader):
        plain = X.collate_fn is default_collate
        check(plain, "X is a DataLoader with a collate_fn, which is not called here: give a Dataset of pairs (x, y).")
        X = X.dataset
    sized = hasattr(X, "__len__") and not isinstance(X, IterableDataset)
    check(sized, "X must be a map-style Dataset with a length: no points of an IterableDataset can be held out.")
    return X


def labels_in(X: Any) -> Any:
    """The labels of a Dataset or DataLoader of pairs (x, y), read once."""
    data = dataset_of(X)
    for name in ("targets", "labels", "y") if getattr(data, "target_transform", None) is None else ():
        known: Any = getattr(data, name, None)
        if hasattr(known, "__len__") and len(known) == len(data):
            return np.asarray(known)
    if isinstance(data, TensorDataset) and len(data.tensors) == 2:
        return data.tensors[1].numpy()
    return np.asarray([_label(data, i) for i in range(len(data))])


def _label(data: Any, i: int) -> Any:
    try:
        item = data[i]
    except Exception as error:  # whatever the user's code does
        raise UnreadablePoint(_told(i, error)) from error
    check(isinstance(item, tuple | list) and len(item) == 2, "y is required: the Dataset holds no pairs (x, y).")
    return item[1].item() if isinstance(item[1], Tensor) and item[1].numel() == 1 else item[1]


def _told(i: int, error: Exception) -> str:
    return f"X: point {i} of the Dataset: {type(error).__name__}: {' '.join(str(error).split())}."


def is_stream(X: Any) -> bool:
    return isinstance(X, Dataset | DataLoader)


def is_rows_file(X: Any) -> bool:
    """Whether it names .npy files."""
    return isinstance(X, str | Path) and Path(X).suffix.lower() == ".npy"


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to validate on, fixed by the seed."""

    train: Tensor
    validation: Tensor

    @classmethod
    def of(cls, m: int, share: float, generator: torch.Generator) -> Split:
        order = torch.randperm(m, generator=generator)
        kept = round(share * m)
        return cls(order[kept:].sort().values, order[:kept].sort().values)
