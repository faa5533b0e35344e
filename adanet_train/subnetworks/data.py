"""The points of subnetworks, of any shape: arrays, tensors, a Dataset or a DataLoader, read a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.data.disk import is_on_disk

BATCH = 512
"""Rows of a batch where nothing is trained."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """m inputs of one shape, in float32 on one device when a batch of them is asked for."""

    values: Any
    device: torch.device
    streamed: bool = False

    @classmethod
    def of(cls, X: Any, device: torch.device | str = "cpu") -> Inputs:
        """X as an array or tensor, memory-mapped rows, or a map-style Dataset of points (with or without labels)."""
        device = torch.device(device)
        if isinstance(X, torch.utils.data.DataLoader):
            X = X.dataset
        if isinstance(X, torch.utils.data.Dataset):
            _require_rows(X)
            return cls(X, device, streamed=True)
        read = isinstance(X, Tensor) or is_on_disk(X)
        values = X if read else torch.from_numpy(np.ascontiguousarray(X, dtype=np.float32))
        check(len(values.shape) >= 2, f"X must have a row for each point, got shape {tuple(values.shape)}.")
        return cls(values, device)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self[slice(0, 1)].shape[1:])

    def __getitem__(self, rows: slice | Tensor) -> Tensor:
        if is_on_disk(self.values):
            found = self.values[rows if isinstance(rows, slice) else rows.cpu().numpy()]
            return torch.from_numpy(np.array(found, dtype=np.float32)).to(self.device)
        if not self.streamed:
            return self.values[rows].to(self.device, torch.float32)
        numbers = range(*rows.indices(len(self))) if isinstance(rows, slice) else rows.tolist()
        return torch.stack([torch.as_tensor(_input(self.values[i])) for i in numbers]).to(self.device, torch.float32)

    def followed_by(self, other: Inputs) -> Inputs:
        """These inputs and then those, both in memory."""
        tensors = isinstance(self.values, Tensor) and isinstance(other.values, Tensor)
        check(tensors, "validation=(X, y) needs arrays in memory, got a Dataset or a file: give a share.")
        same = self.shape == other.shape
        check(same, f"validation X must hold inputs of shape {self.shape}, as X does, got {other.shape}.")
        return Inputs(torch.cat([self.values, other.values]), self.device)

    def batches(self, rows: Tensor, size: int = BATCH) -> Iterator[Tensor]:
        """The inputs of these rows in their order."""
        for part in rows.split(size):
            yield self[part]


def _require_rows(X: Any) -> None:
    sized = hasattr(X, "__len__") and not isinstance(X, torch.utils.data.IterableDataset)
    check(sized, "X must be a map-style Dataset with a length: an IterableDataset cannot be held out from.")


def _input(item: Any) -> Any:
    return item[0] if isinstance(item, tuple | list) else item


def labels_in(X: Any) -> Any:
    """The labels of a Dataset or DataLoader of pairs (x, y), read once."""
    data: Any = X.dataset if isinstance(X, torch.utils.data.DataLoader) else X
    _require_rows(data)
    for name in ("targets", "labels", "y"):
        if getattr(data, name, None) is not None:
            return np.asarray(getattr(data, name))
    if isinstance(data, torch.utils.data.TensorDataset) and len(data.tensors) == 2:
        return data.tensors[1].numpy()
    first = data[0]
    check(isinstance(first, tuple | list) and len(first) == 2, "y is required: the Dataset holds no pairs (x, y).")
    return np.asarray([int(data[i][1]) for i in range(len(data))])


def is_stream(X: Any) -> bool:
    return isinstance(X, torch.utils.data.Dataset | torch.utils.data.DataLoader)


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
