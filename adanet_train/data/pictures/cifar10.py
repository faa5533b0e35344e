"""CIFAR-10: two of its classes as images or as their 154 features, and the fetching of its files.

    images, y = load_pair("deer", "truck", data_dir)    # uint8 [12000, 32, 32, 3], -1 and +1
    X, y = load_features("deer", "truck", data_dir)     # float64 [12000, 154] in [0, 1]
    fetch(data_dir, progress)                           # once; into data_dir/cifar10

The paper's ten folds are of the 6,000 images of each class, of the training batches and the test batch together.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Literal

import numpy as np

from adanet_theory.checks import Array, check, check_choice
from adanet_train.core.files import data_folder, replacing
from adanet_train.data.pictures import cifar10_files, image_features
from adanet_train.data.pictures.cifar10_fetch import fetch
from adanet_train.data.pictures.cifar10_files import BATCHES, Bytes

__all__ = ["CLASSES", "fetch", "load_all", "load_all_features", "load_features", "load_pair"]

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

Part = Literal["all", "train", "test"]
_BATCHES: dict[str, tuple[str, ...]] = {"all": BATCHES, "train": BATCHES[:5], "test": BATCHES[5:]}


def load_pair(a: str, b: str, data_dir: str | Path | None = None, part: Part = "all") -> tuple[Bytes, Array]:
    """The images [m, 32, 32, 3] of class a, which is -1, and of class b, +1, in the order of the batches.

    `data_dir`, by default ADANET_DATA, or its subfolder cifar10, holds an official archive or its unpacked folder.
    """
    for name in (a, b):
        check_choice("class", name, CLASSES)
    check(a != b, f"a pair needs two different classes, got {a}-{b}.")
    images, labels = cifar10_files.read(cifar10_files.find(data_folder(data_dir)), _BATCHES[part])
    chosen = np.isin(labels, (CLASSES.index(a), CLASSES.index(b)))
    return images[chosen], np.where(labels[chosen] == CLASSES.index(b), 1.0, -1.0)


def load_features(a: str, b: str, data_dir: str | Path | None = None, part: Part = "all") -> tuple[Array, Array]:
    """The 154 features of the pair, computed once and then kept in data_dir/cifar10; Psi but for the bias."""
    images, y = load_pair(a, b, data_dir, part)
    return _cached(images, data_folder(data_dir) / "cifar10"), y


def load_all(data_dir: str | Path | None = None, part: Part = "all") -> tuple[Bytes, Bytes]:
    """The images [m, 32, 32, 3] of all ten classes and the class of each."""
    return cifar10_files.read(cifar10_files.find(data_folder(data_dir)), _BATCHES[part])


def load_all_features(data_dir: str | Path | None = None, part: Part = "all") -> tuple[Array, Bytes]:
    """The 154 features of all ten classes and the class of each image, computed once and then kept."""
    images, labels = load_all(data_dir, part)
    return _cached(images, data_folder(data_dir) / "cifar10"), labels


def _cached(images: Bytes, folder: Path) -> Array:
    """The features under a name that holds a digest of the images and of the code that makes features of them."""
    digest = hashlib.sha256(image_features.CODE.encode())
    digest.update(images.tobytes())
    path = folder / f"features-{digest.hexdigest()[:24]}.npz"
    kept = _read_cache(path, len(images))
    if kept is not None:
        return kept
    X = image_features.features(images)
    _write_cache(path, X)
    return X


def _read_cache(path: Path, m: int) -> Array | None:
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            X = np.asarray(file["X"], dtype=np.float64)
    except Exception:  # absent, or damaged in any of many ways: it is made anew
        return None
    return X if X.shape == (m, len(image_features.NAMES)) else None


def _write_cache(path: Path, X: Array) -> None:
    """A folder that cannot be written is no reason to fail."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, X=X)
