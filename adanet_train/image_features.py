"""The 154 features of a 32x32 colour image: histograms of its gradients (144) and of its hues (10), all in [0, 1].

Gradients: central differences of the pixels 0..255, 0 at the border, of the channel where they are largest; in each of
the 4x4 cells of 8x8 pixels, v = the mean over the cell of the magnitudes |g| whose orientation falls into one of 9 bins
of 20 degrees, the sign of g ignored. The feature is min(1, 2 sqrt(v / (255 √2))).
Hues: c = the share of the pixels whose hue falls into one of 10 bins of 36 degrees; grey pixels have none and fall into
no bin. The feature is sqrt(c).

Nothing here is fitted to a sample. A difference of pixels is at most 255 in either direction, so v <= 255 √2 for every
image there can be and the root lies in [0, 1]; it is stretched by 2 and clipped because natural cells stay below a
half (a bin takes part of a cell's pixels only). Roots, because the spread of a count grows with its size: linear
classifiers on the roots are better than on v and c themselves.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.spec import check
from adanet_train.features import Array

SIDE, CELL, ORIENTATIONS, HUES = 32, 8, 9, 10
CELLS = SIDE // CELL
NAMES = (
    *(f"hog_{row}_{column}_{bin}" for row in range(CELLS) for column in range(CELLS) for bin in range(ORIENTATIONS)),
    *(f"hue_{bin}" for bin in range(HUES)),
)
CHUNK = 500
"""Images at a time, so that what one step leaves is in the cache for the next."""

Integers = NDArray[np.int32]


def features(images: Any) -> Array:
    """The features [m, 154] of images [m, 32, 32, 3] of bytes."""
    images = np.asarray(images)
    sound = images.dtype == np.uint8 and images.shape[1:] == (SIDE, SIDE, 3)
    check(sound, f"images must be uint8 of shape (m, 32, 32, 3), got {images.dtype} of shape {images.shape}.")
    X = np.empty((len(images), len(NAMES)))
    for start in range(0, len(images), CHUNK):
        chunk = images[start : start + CHUNK].astype(np.int32)
        rows = X[start : start + CHUNK]
        largest = 255 * np.sqrt(2)
        rows[:, :-HUES] = np.minimum(2 * np.sqrt(gradient_histograms(chunk) / largest), 1)
        rows[:, -HUES:] = np.sqrt(hue_histograms(chunk))
    return X


def gradient_histograms(images: Integers) -> Array:
    """v of every cell and bin, [m, 144]: cells row by row, and in each its bins from 0 to 180 degrees."""
    dx, dy = _gradient(images)
    magnitude, orientation = _tables()
    place = (dx + 255) * 511 + (dy + 255)
    histogram = _image_numbers(len(images)) * CELLS**2 + _cell_numbers()
    counts = np.bincount(
        (histogram * ORIENTATIONS + orientation[place]).ravel(),
        weights=magnitude[place].ravel(),
        minlength=len(images) * CELLS**2 * ORIENTATIONS,
    )
    return counts.reshape(len(images), -1) / CELL**2


def _gradient(images: Integers) -> tuple[Integers, Integers]:
    """(dx, dy) of the channel with the largest |g|, the first of them at ties; [m, 32, 32] each."""
    d = np.zeros((2, *images.shape), dtype=np.int32)
    np.subtract(images[:, :, 2:], images[:, :, :-2], out=d[0, :, :, 1:-1])
    np.subtract(images[:, 2:], images[:, :-2], out=d[1, :, 1:-1])
    squares = d[0] ** 2 + d[1] ** 2
    dx, dy, best = d[0, ..., 0], d[1, ..., 0], squares[..., 0]
    for channel in (1, 2):
        larger = squares[..., channel] > best
        dx, dy = np.where(larger, d[0, ..., channel], dx), np.where(larger, d[1, ..., channel], dy)
        best = np.maximum(best, squares[..., channel])
    return dx, dy


@cache
def _tables() -> tuple[Array, Integers]:
    """|g| and the orientation's bin for each of the 511² gradients there are, at (dx + 255) 511 + dy + 255."""
    dx, dy = (d.ravel() for d in np.meshgrid(np.arange(-255, 256), np.arange(-255, 256), indexing="ij"))
    degrees = np.rad2deg(np.arctan2(dy, dx)) % 180
    return np.hypot(dx, dy), np.floor(degrees * ORIENTATIONS / 180).astype(np.int32) % ORIENTATIONS


def hue_histograms(images: Integers) -> Array:
    """c of every bin, [m, 10], from red over green and blue back to red.

    The hue in sixths of the circle is (k C + difference)/C with whole numbers, C the largest minus the smallest channel
    and k = 0, 2, 4 where red, green, blue is the largest; so its bin needs no rounding.
    """
    red, green, blue = np.moveaxis(images, -1, 0)
    top = np.maximum(np.maximum(red, green), blue)
    C = top - np.minimum(np.minimum(red, green), blue)
    sixths = np.where(
        top == red,
        (green - blue) % np.maximum(6 * C, 1),
        np.where(top == green, 2 * C + blue - red, 4 * C + red - green),
    )
    bins = HUES * sixths // np.maximum(6 * C, 1)
    place = _image_numbers(len(images)) * (HUES + 1) + np.where(C > 0, bins, HUES)
    counts = np.bincount(place.ravel(), minlength=len(images) * (HUES + 1)).reshape(-1, HUES + 1)
    return counts[:, :HUES] / SIDE**2


def _image_numbers(count: int) -> Integers:
    return np.arange(count, dtype=np.int32)[:, None, None]


def _cell_numbers() -> Integers:
    cell = np.arange(SIDE, dtype=np.int32) // CELL
    return cell[:, None] * CELLS + cell
