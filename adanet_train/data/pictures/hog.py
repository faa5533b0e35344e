"""288 features of a 28x28 grey image: histograms of its gradients in overlapping cells, all in [0, 1].

Gradients: central differences of the pixels 0..255, 0 at the border. Cells of 8x8 pixels, 4 apart, 6x6 of them; in each
v = the mean over the cell of |g| times the share of g in one of 8 orientations of the whole circle, 45 degrees apart: a
gradient between two of them is split by its angle. The feature is min(1, 3 sqrt(v / (255 √2))).

Nothing here is fitted to a sample: v <= 255 √2 for every image there can be. Cells, orientations and stretch were
chosen among thirteen on the digits 2, 5 and 6 of MNIST, of which no result is reported with these features.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from adanet_theory.checks import Array, check

SIDE, CELL, STRIDE, ORIENTATIONS = 28, 8, 4, 8
CELLS = (SIDE - CELL) // STRIDE + 1
NAMES = tuple(
    f"hog_{row}_{column}_{bin}" for row in range(CELLS) for column in range(CELLS) for bin in range(ORIENTATIONS)
)
CHUNK = 500
"""Images at a time; their planes are some 30 MB."""


def features(images: Any) -> Array:
    """The features [m, 288] of images [m, 28, 28] of bytes."""
    images = np.asarray(images)
    sound = images.dtype == np.uint8 and images.shape[1:] == (SIDE, SIDE)
    check(sound, f"images must be uint8 of shape (m, 28, 28), got {images.dtype} of shape {images.shape}.")
    chunks = [gradient_histograms(images[start : start + CHUNK]) for start in range(0, len(images), CHUNK)]
    v = np.concatenate(chunks) if chunks else np.zeros((0, len(NAMES)))
    return np.asarray(np.minimum(3 * np.sqrt(v / (255 * np.sqrt(2))), 1))


def gradient_histograms(images: Any) -> Array:
    """v of every cell and orientation, [m, 288]: cells row by row, in each the orientations 0, 45, .., 315 degrees."""
    grey = images.astype(np.int32)
    dx, dy = np.zeros((2, *grey.shape), dtype=np.int32)
    dx[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    dy[:, 1:-1, :] = grey[:, 2:, :] - grey[:, :-2, :]
    sums = np.zeros((len(images), SIDE + 1, SIDE + 1, ORIENTATIONS))
    sums[:, 1:, 1:] = shares()[511 * (dx + 255) + dy + 255].cumsum(1).cumsum(2)
    first = STRIDE * np.arange(CELLS)
    below, above = first + CELL, first
    cells = sums[:, below][:, :, below] - sums[:, above][:, :, below]
    cells += sums[:, above][:, :, above] - sums[:, below][:, :, above]
    return np.asarray(cells.clip(0).reshape(len(images), -1) / CELL**2)


@cache
def shares() -> Array:
    """|g| in each orientation for each of the 511² gradients, at 511 (dx + 255) + dy + 255; they sum to |g|."""
    dx, dy = (d.ravel() for d in np.meshgrid(np.arange(-255, 256), np.arange(-255, 256), indexing="ij"))
    place = np.arctan2(dy, dx)[:, None] * (ORIENTATIONS / (2 * np.pi)) - np.arange(ORIENTATIONS)
    half = ORIENTATIONS / 2
    away = np.abs((place + half) % ORIENTATIONS - half)
    return np.asarray(np.hypot(dx, dy)[:, None] * np.maximum(0, 1 - away))
