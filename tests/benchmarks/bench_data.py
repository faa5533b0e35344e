"""The 154 features against scikit-image's hog in a loop; the Criteo reader against a plain loop with the same result.

CRITEO=FILE in the environment measures that file; without it, random rows in its format.
"""

from __future__ import annotations

import csv
import gzip
import math
import os
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from adanet_train.data.clicks import criteo
from adanet_train.data.clicks.criteo_rows import CATEGORIES, COLUMNS, COUNTS
from adanet_train.data.pictures.image_features import features
from tests.benchmarks.bench_estimates import interleaved

MIN_COUNT = 100


def run() -> list[dict]:
    if given := os.environ.get("CRITEO"):
        return [image_features(), criteo_rows(Path(given))]
    with tempfile.TemporaryDirectory() as folder:
        return [image_features(), criteo_rows(random_file(Path(folder) / "train.txt"))]


def image_features(m: int = 300) -> dict:
    """Ours has the hues too; theirs is normalised by cells, which costs it little."""
    from skimage.feature import hog

    images = np.random.default_rng(0).integers(0, 256, (m, 32, 32, 3), dtype=np.uint8)

    def loop() -> np.ndarray:
        cells = {"orientations": 9, "pixels_per_cell": (8, 8), "cells_per_block": (1, 1)}
        return np.array([hog(image, channel_axis=-1, **cells) for image in images])

    ours, theirs = interleaved(lambda: features(images), loop)
    return {
        "work": f"HOG and hue features of {m} images of 32x32x3",
        "against": "scikit-image's hog in a loop, without hues",
        "ratio": ours / theirs,
        "target": "<= 0.2",
        "ours": ours,
        "theirs": theirs,
        "images_per_second": m / ours,
        "images_per_second_of_the_loop": m / theirs,
    }


def criteo_rows(path: Path) -> dict:
    """Count, encode and split; the plain loop keeps all rows in memory, ours a block of them."""
    N, _, codes = plain(path)
    data = criteo.read(path, min_count=MIN_COUNT)
    together = np.concatenate([data.train.codes, data.validation.codes, data.test.codes])
    assert np.array_equal(together, codes)
    ours, theirs = interleaved(lambda: criteo.read(path, min_count=MIN_COUNT), lambda: plain(path))
    return {
        "work": f"Criteo, {N} rows {'gzipped' if path.suffix == '.gz' else 'of text'}, read twice and encoded",
        "against": "the csv module and a Counter per column",
        "ratio": ours / theirs,
        "target": "<= 0.5",
        "ours": ours,
        "theirs": theirs,
        "rows_per_second": N / ours,
        "rows_per_second_of_the_loop": N / theirs,
    }


def plain(path: Path) -> tuple[int, np.ndarray, np.ndarray]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        rows = list(csv.reader(file, delimiter="\t"))
    m, _ = criteo.split(len(rows))
    counts = [[math.copysign(math.log1p(abs(int(x))), int(x)) if x else 0.0 for x in row[1:14]] for row in rows]
    codes = []
    for column in list(zip(*rows, strict=True))[14:]:
        seen = Counter(column[:m])
        kept = sorted(value for value, times in seen.items() if value and times >= MIN_COUNT)
        index = {value: i for i, value in enumerate(kept, 1)}
        codes.append([index.get(value, 0) for value in column])
    return len(rows), np.array(counts, dtype=np.float32), np.array(codes, dtype=np.int32).T


def random_file(path: Path, N: int = 50_000) -> Path:
    rng = np.random.default_rng(0)
    counts = rng.geometric(0.02, (N, COUNTS)) - 1
    values = rng.zipf(1.3, (N, CATEGORIES)) % (1 << 32)
    missing = rng.random((N, COLUMNS - 1)) < 0.15
    with open(path, "w") as file:
        for label, row, digits, absent in zip(rng.random(N) < 0.25, counts, values, missing, strict=True):
            cells = [*map(str, row.tolist()), *(f"{value:08x}" for value in digits.tolist())]
            shown = ["" if gone else cell for cell, gone in zip(cells, absent.tolist(), strict=True)]
            print(int(label), *shown, sep="\t", file=file)
    return path
