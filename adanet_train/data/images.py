"""Points as builders of subnetworks read them: mnist, fashion, cifar10 and digits as images, a file as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_train.data import cifar10, datasets

SIDES = {"mnist": 28, "fashion": 28, "digits": 8}


@dataclass(frozen=True, eq=False)
class Pictures:
    """X of any shape in float32, with labels -1/+1 or class indices."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    classes: tuple[str, ...] | None
    outputs: int | None
    notes: tuple[str, ...]


def load(source: str, *, data_dir: str | Path | None = None, test: bool = False, **options: Any) -> Pictures:
    """The points of that name or file; pixels of images with a name lie in [0, 1], (channels, height, width) each.

    `options` are those of `datasets.load`: label, classes, outputs.
    """
    name, _, pair = source.partition(":")
    if name == "cifar10":
        return _cifar10(pair, data_dir, "test" if test else "train")
    found = datasets.load(source, data_dir=data_dir, test=test, many=True, shaped=True, **options)
    if not test:
        found.require_trainable()
    values: Any = found.values
    shape = found.shape or values.shape[1:]
    if name in SIDES and found.known_range is not None:
        values, shape = values / found.known_range[1], (1, SIDES[name], SIDES[name])
    X = np.asarray(values, dtype=np.float32).reshape(found.m, *shape)
    return Pictures(X, found.y, found.classes, found.outputs, found.notes)


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
