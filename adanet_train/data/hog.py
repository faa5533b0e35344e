"""576 features of a 28x28 grey image: histograms of its gradients in overlapping cells, all in [0, 1].

Gradients: central differences of the pixels 0..255, 0 at the border. Cells of 7x7 pixels, 3 apart, 8x8 of them; in each
v = the mean over the cell of the magnitudes |g| whose orientation falls into one of 9 bins of 20 degrees, the sign of g
ignored. The feature is min(1, 3 sqrt(v / (255 √2))).

Nothing here is fitted to a sample: v <= 255 √2 for every image there can be. Cells and stretch were chosen among nine
on the digits 5 and 8 of MNIST, a pair for which no result is reported.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adanet_theory.checks import check
from adanet_train.data.features import Array
from adanet_train.data.image_features import ORIENTATIONS, gradient_tables

SIDE, CELL, STRIDE = 28, 7, 3
CELLS = (SIDE - CELL) // STRIDE + 1
NAMES = tuple(
    f"hog_{row}_{column}_{bin}" for row in range(CELLS) for column in range(CELLS) for bin in range(ORIENTATIONS)
)
CHUNK = 500
"""Images at a time; their planes are some 30 MB."""


def features(images: Any) -> Array:
    """The features [m, 576] of images [m, 28, 28] of bytes."""
    images = np.asarray(images)
    sound = images.dtype == np.uint8 and images.shape[1:] == (SIDE, SIDE)
    check(sound, f"images must be uint8 of shape (m, 28, 28), got {images.dtype} of shape {images.shape}.")
    chunks = [gradient_histograms(images[start : start + CHUNK]) for start in range(0, len(images), CHUNK)]
    v = np.concatenate(chunks) if chunks else np.zeros((0, len(NAMES)))
    return np.asarray(np.minimum(3 * np.sqrt(v / (255 * np.sqrt(2))), 1))


def gradient_histograms(images: Any) -> Array:
    """v of every cell and bin, [m, 576]: cells row by row, and in each its bins from 0 to 180 degrees."""
    grey = images.astype(np.int32)
    dx, dy = np.zeros((2, *grey.shape), dtype=np.int32)
    dx[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    dy[:, 1:-1, :] = grey[:, 2:, :] - grey[:, :-2, :]
    magnitude, orientation = gradient_tables()
    place = 511 * (dx + 255) + dy + 255
    planes = magnitude[place][..., None] * (orientation[place][..., None] == np.arange(ORIENTATIONS))
    sums = np.zeros((len(images), SIDE + 1, SIDE + 1, ORIENTATIONS))
    sums[:, 1:, 1:] = planes.cumsum(1).cumsum(2)
    first = STRIDE * np.arange(CELLS)
    below, above = first + CELL, first
    cells = sums[:, below][:, :, below] - sums[:, above][:, :, below]
    cells += sums[:, above][:, :, above] - sums[:, below][:, :, above]
    return np.asarray(cells.clip(0).reshape(len(images), -1) / CELL**2)
