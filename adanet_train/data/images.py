"""Points as builders of subnetworks read them: mnist, fashion, cifar10 and digits as images, a file as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import check
from adanet_train.data import datasets, tables
from adanet_train.data.datasets import Dataset
from adanet_train.data.disk import is_on_disk
from adanet_train.data.encoding import Encoder
from adanet_train.data.features import default_names
from adanet_train.data.pictures import cifar10

SIDES = {"mnist": 28, "fashion": 28, "digits": 8}


@dataclass(frozen=True, eq=False)
class Pictures:
    """X of any shape in float32, or on the disk as the file has it, with labels -1/+1 or class indices."""

    X: Any
    y: NDArray[Any]
    classes: tuple[str, ...] | None
    outputs: int | None
    notes: tuple[str, ...]
    encoder: Encoder | None = None
    """For a table: how its columns became those of X."""

    @property
    def dataset(self) -> Dataset:
        """A row of numbers for each point, and its shape."""
        m, shape = len(self.y), self.X.shape[1:]
        values = self.X.reshape(m, math.prod(shape))
        names = default_names(values.shape[1]) if self.encoder is None else self.encoder.names
        more: dict[str, Any] = {"classes": self.classes, "outputs": self.outputs, "notes": self.notes, "shape": shape}
        return Dataset(values, self.y, names, **more)


def load(
    source: str,
    *,
    data_dir: str | Path | None = None,
    test: bool = False,
    coded: bool = False,
    known: Encoder | None = None,
    **options: Any,
) -> Pictures:
    """The points of that name or file; pixels of images with a name lie in [0, 1], (channels, height, width) each.

    `options` are those of `datasets.load`: label, classes, outputs, drop. Of a table `coded` asks for codes of words,
    and `known` is the encoder of the table that was trained on.
    """
    name, _, pair = source.partition(":")
    if name == "cifar10":
        check(not options.get("drop"), f"--drop needs a .csv or .parquet file, got {source!r}.")
        return _cifar10(pair, data_dir, "test" if test else "train")
    if Path(source).suffix.lower() in (".csv", ".parquet"):
        return _table(Path(source), coded, known, test, **options)
    dataset = datasets.load(source, data_dir=data_dir, test=test, many=True, shaped=True, **options)
    if not test:
        dataset.require_trainable()
    values: Any = dataset.values
    shape = dataset.shape or values.shape[1:]
    if name in SIDES and dataset.known_range is not None:
        values, shape = _scaled(values, dataset.known_range[1]), (1, SIDES[name], SIDES[name])
    if not is_on_disk(values):
        values = np.asarray(values, dtype=np.float32)
    classes = dataset.classes or dataset.pair
    return Pictures(values.reshape(dataset.m, *shape), dataset.y, classes, dataset.outputs, dataset.notes)


def _scaled(values: Any, largest: float) -> NDArray[np.float32]:
    """values / largest, divided in float64, of which no more than a buffer is in memory."""
    scaled = np.empty(values.shape, dtype=np.float32)
    np.divide(values, largest, out=scaled, dtype=np.float64, casting="same_kind")
    return scaled


def _table(
    path: Path,
    coded: bool,
    known: Encoder | None,
    test: bool,
    label: str | None = None,
    drop: Sequence[str] = (),
    **classes: Any,
) -> Pictures:
    table = tables.read(path, "y" if label is None else label, drop=drop, coded=coded, known=known)
    dataset = datasets.dataset_of(table, path, many=True, **classes)
    if not test:
        dataset.require_trainable()
    X = dataset.values if is_on_disk(dataset.values) else dataset.values.astype(np.float32)
    notes = (*dataset.notes, *(f"{path}: {note}" for note in table["notes"]))
    return Pictures(X, dataset.y, dataset.classes, dataset.outputs, notes, table["encoder"])


def _cifar10(pair: str, data_dir: str | Path | None, part: cifar10.Part) -> Pictures:
    if not pair:
        images, labels = cifar10.load_all(data_dir, part)
        return Pictures(_channels_first(images), np.asarray(labels, dtype=np.int64), cifar10.CLASSES, 10, ())
    a, b = (cifar10.CLASSES[number] for number in datasets.pair_of("cifar10", pair, cifar10.CLASSES))
    images, y = cifar10.load_pair(a, b, data_dir, part)
    return Pictures(_channels_first(images), y, (a, b), None, (f"class {a} is -1 and class {b} is +1.",))


def _channels_first(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """[m, height, width, channels] of bytes as [m, channels, height, width] in [0, 1]."""
    X = np.ascontiguousarray(images.transpose(0, 3, 1, 2), dtype=np.float32)
    X /= 255
    return X
