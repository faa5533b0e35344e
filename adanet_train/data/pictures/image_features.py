"""The 154 features of a 32x32 colour image: histograms of its gradients (144) and of its hues (10), all in [0, 1].

Gradients: central differences of the pixels 0..255, 0 at the border, of the channel where they are largest; in each of
the 4x4 cells of 8x8 pixels, v = the mean over the cell of the magnitudes |g| whose orientation falls into one of 9 bins
of 20 degrees, the sign of g ignored. The feature is min(1, 2 sqrt(v / (255 √2))).
Hues: c = the share of the pixels whose hue falls into one of 10 bins of 36 degrees; grey pixels have none and fall into
no bin. The feature is sqrt(c).

Nothing here is fitted to a sample. A difference of pixels is at most 255 in either direction, so v <= 255 √2 for every
image there can be and the root lies in [0, 1]; it is stretched by 2 and clipped because natural cells stay below a
half (a bin takes part of a cell's pixels only). Roots, because the spread of a count grows with its size: linear
classifiers on the roots are better than on v and c themselves, as seen on the four classes that the paper leaves out.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adanet_theory.checks import Array, check

SIDE, CELL, ORIENTATIONS, HUES = 32, 8, 9, 10
CELLS = SIDE // CELL
NAMES = (
    *(f"hog_{row}_{column}_{bin}" for row in range(CELLS) for column in range(CELLS) for bin in range(ORIENTATIONS)),
    *(f"hue_{bin}" for bin in range(HUES)),
)
CODE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
"""Version of everything that the features depend on besides the images, for caches."""
CHUNK = 20
"""Images at a time, so that what one step leaves is in the cache for the next."""

Integers = NDArray[np.int32]


def features(images: Any) -> Array:
    """The features [m, 154] of images [m, 32, 32, 3] of bytes."""
    images = np.asarray(images)
    sound = images.dtype == np.uint8 and images.shape[1:] == (SIDE, SIDE, 3)
    check(sound, f"images must be uint8 of shape (m, 32, 32, 3), got {images.dtype} of shape {images.shape}.")
    largest = 255 * np.sqrt(2)
    X = np.empty((len(images), len(NAMES)))
    for start in range(0, len(images), CHUNK):
        chunk, rows = planes(images[start : start + CHUNK]), X[start : start + CHUNK]
        rows[:, :-HUES] = np.minimum(2 * np.sqrt(gradient_histograms(chunk) / largest), 1)
        rows[:, -HUES:] = np.sqrt(hue_histograms(chunk))
    return X


def planes(images: Any) -> Integers:
    """Red, green and blue, [3, m, 32, 32], each in one piece: the sums below run along it."""
    return np.ascontiguousarray(np.moveaxis(images, -1, 0), dtype=np.int32)


def gradient_histograms(colours: Integers) -> Array:
    """v of every cell and bin, [m, 144]: cells row by row, and in each its bins from 0 to 180 degrees."""
    m = colours.shape[1]
    gradient = _gradient(colours)
    magnitude, orientation = gradient_tables()
    side = np.arange(SIDE) // CELL
    cell = np.arange(m)[:, None, None] * CELLS**2 + side[:, None] * CELLS + side
    counts = np.bincount(
        (cell * ORIENTATIONS + orientation[gradient]).ravel(),
        weights=magnitude[gradient].ravel(),
        minlength=m * CELLS**2 * ORIENTATIONS,
    )
    return counts.reshape(m, -1) / CELL**2


def _gradient(colours: Integers) -> Integers:
    """The gradient of the channel with the largest |g|, the first at ties, as its place in gradient_tables()."""
    dx, dy = np.zeros((2, *colours.shape), dtype=np.int32)
    dx.reshape(3, -1)[:, 1:-1] = colours.reshape(3, -1)[:, 2:] - colours.reshape(3, -1)[:, :-2]
    dx[..., (0, -1)] = 0  # in one run over all pixels, so that first and last columns met another row
    dy[..., 1:-1, :] = colours[..., 2:, :] - colours[..., :-2, :]
    squares, places = dx * dx + dy * dy, 511 * dx + dy + 511 * 255 + 255
    gradient, best = places[0], squares[0]
    for place, square in zip(places[1:], squares[1:], strict=True):
        gradient = np.where(square > best, place, gradient)
        best = np.maximum(best, square)
    return gradient


@cache
def gradient_tables() -> tuple[Array, NDArray[np.intp]]:
    """|g| and the orientation's bin for each of the 511² gradients there are, at 511 (dx + 255) + dy + 255."""
    dx, dy = (d.ravel() for d in np.meshgrid(np.arange(-255, 256), np.arange(-255, 256), indexing="ij"))
    degrees = np.rad2deg(np.arctan2(dy, dx)) % 180
    return np.hypot(dx, dy), np.floor(degrees * ORIENTATIONS / 180).astype(np.intp)


def hue_histograms(colours: Integers) -> Array:
    """c of every bin, [m, 10], from red over green and blue back to red.

    The hue in sixths of the circle is (k C + difference)/C with whole numbers, C the largest minus the smallest channel
    and k = 0, 2, 4 where red, green, blue is the largest. Numerator and denominator are below 2^14, so that the rounded
    quotient of two of them never reaches a whole number from below: every pixel is in its true bin.
    """
    red, green, blue = colours
    m = len(red)
    top = np.maximum(np.maximum(red, green), blue)
    C = top - np.minimum(np.minimum(red, green), blue)
    kC = np.where(top == red, green - blue, np.where(top == green, 2 * C + blue - red, 4 * C + red - green))
    kC += np.where(kC < 0, 6 * C, 0)
    bins = (HUES * kC).astype(np.float32) / np.maximum(6 * C, 1).astype(np.float32)
    place = np.arange(m)[:, None, None] * (HUES + 1) + np.where(C > 0, bins.astype(np.int32), HUES)
    return np.bincount(place.ravel(), minlength=m * (HUES + 1)).reshape(m, -1)[:, :HUES] / SIDE**2
