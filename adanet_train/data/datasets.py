"""Samples by name or by file: breast-cancer, digits:3-8, mnist:0-1, cifar10:cat-dog, or a .csv, .parquet, .npy, .npz or
.pt file. A pattern such as part-*.parquet names the parts of one table.

Labels become -1/+1, or class indices for more than two classes. In a pair A-B the class A is -1 and B is +1.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import check, nearest
from adanet_train.core.by_class import ZERO_ONE
from adanet_train.core.files import data_folder
from adanet_train.core.points import Points
from adanet_train.data import classes as of_classes
from adanet_train.data import encoding, tables
from adanet_train.data import files as data_files
from adanet_train.data.disk import as_array, is_on_disk, on_disk, slices
from adanet_train.data.features import Array, FeatureMap, as_matrix, check_matrix, default_names

NAMES = (
    "breast-cancer, iris, wine, digits, mnist, fashion, cifar10, or two classes of the last four as in digits:A-B "
    "(digits and mnist: odd-even too)"
)
KNOWN = ("breast-cancer", "iris", "wine", "digits", "mnist", "fashion", "cifar10")
FASHION = ("tshirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot")
FOLDERS = {
    "mnist": ("mnist", "MNIST/raw"),
    "fashion": ("fashion", "fashion-mnist", "FashionMNIST/raw", "dataset-fashion-mnist"),
}


@dataclass(frozen=True, eq=False)
class TableReader:
    """X of a table with its own columns -> Ψ of a map that may have others, or the same in another order."""

    names: tuple[str, ...]
    features: FeatureMap

    @property
    def n_0(self) -> int:
        return self.features.n_0

    @property
    def is_plain(self) -> bool:
        """Whether the columns are those of the map, and no cell was empty."""
        return self.names == self.features.names and not any(name.endswith("=?") for name in self.names)

    def in_order(self, X: Array) -> Array | None:
        return encoding.in_order(np.asarray(X), self.names, self.features)

    def __call__(self, X: Array) -> Array:
        return self.features(self.in_order(X))


def points_of(values: Any, ours: tuple[str, ...], features: FeatureMap) -> Points:
    """Ψ of the rows of a table with columns of these names."""
    theirs = features.names
    if ours == default_names(len(ours)):  # without names a column too many is a mistake, not one to drop
        check(len(ours) == len(theirs), f"X must have {len(theirs)} columns, got {len(ours)}.")
    reader = TableReader(ours, features)
    if reader.in_order(values[:1]) is not None:
        return Points(values, features if reader.is_plain else reader)
    missing = [name for name in theirs if name not in ours]
    unnamed = ours == default_names(len(ours)) or theirs == default_names(len(theirs))
    check(unnamed, f"X has no column {missing[0]!r}, which the model reads.")
    return Points(values, features)


def table_points(table: Any, features: FeatureMap) -> Points:
    """Ψ of the rows of a table (a file or a data frame, labels not needed) for a model with this map."""
    is_file = isinstance(table, str | Path)
    content = (
        tables.read(Path(table), None, features.names) if is_file else tables.of_frame(table, None, features.names)
    )
    for note in encoding.unseen(content["names"], features):
        warnings.warn(note, stacklevel=4)
    return points_of(content["X"], content["names"], features)


@dataclass(frozen=True, eq=False)
class Dataset:
    """X, or Psi if the features are final, with labels -1/+1 or class indices; `notes` says what was mapped."""

    values: Array
    y: Array
    names: tuple[str, ...]
    is_psi: bool = False
    known_range: tuple[float, float] | None = None
    classes: tuple[str, ...] | None = None
    """The names of the classes -1 and +1, or 0..C-1, where they have any."""
    outputs: int | None = None
    """C, where y holds class indices."""
    notes: tuple[str, ...] = ()
    own_map: FeatureMap | None = None
    """X -> Ψ, if the features come with their own map."""
    shape: tuple[int, ...] | None = None
    """Of one point, where it is not a row of numbers in the file."""
    pair: tuple[str, str] | None = None
    """What -1 and +1 are called where labels stay -1 and +1."""
    label: str | None = None
    """The column of a table that holds the labels."""
    encoded: tuple[str, ...] = ()
    """The features made of words and empty cells of a table; they depend on the table itself."""

    @property
    def m(self) -> int:
        return len(self.y)

    @property
    def shown_classes(self) -> tuple[str, ...] | None:
        """The classes as the user calls them."""
        return self.classes or (("0", "1") if ZERO_ONE in self.notes else self.pair)

    def feature_map(self, *, bias: bool = True, center: bool = False) -> FeatureMap | None:
        """X -> Ψ by the range known in advance where there is one, else by this sample; None where this is Ψ.

        `center` takes a known range to [-1, 1]. It clips, so that |Ψ| <= 1 holds even for values outside the range.
        """
        check(not center or self.known_range is not None, "--center needs features whose range is known in advance.")
        if self.is_psi:
            return None
        if self.own_map is not None:
            return replace(self.own_map, bias=bias)
        if self.known_range is not None:
            return FeatureMap.known(self.names, *self.known_range, bias=bias, center=center)
        return FeatureMap.fitted(self.values, self.names, bias=bias)

    def points(self, features: FeatureMap | None) -> Points:
        """Ψ through the map of a model, computed when rows are asked for; named columns are put in the map's order."""
        if features is None or self.is_psi:
            return Points(self.values)
        return points_of(self.values, self.names, features)

    def Psi(self, features: FeatureMap | None) -> Array:
        """All of Ψ at once: in memory, or on the disk where X is."""
        points = self.points(features)
        if points.features is None:
            return np.asarray(as_array(self.values))
        if not is_on_disk(self.values):
            return np.asarray(points.features(self.values))
        Psi = on_disk((self.m, points.n_0))
        for rows in slices(*Psi.shape):
            Psi[rows] = points.features(self.values[rows])
        return np.asarray(Psi)

    def unseen(self, features: FeatureMap | None) -> tuple[str, ...]:
        """A sentence for each column of a model's map in which this table holds what training did not."""
        return () if features is None or self.is_psi else encoding.unseen(self.names, features)

    def require_trainable(self) -> None:
        check(self.m >= 2, f"m must be >= 2 to train, got m={self.m}.")
        present = np.unique(self.y).tolist()
        if self.outputs is not None:
            missing = [c for c in range(self.outputs) if c not in present]
            check(not missing, f"y must hold all {self.outputs} classes to train, got none of {missing[:3]}.")
            return
        check(len(present) == 2, f"y must hold both classes, got only {present[0]:+.0f}.")


def load(
    source: str | Path,
    *,
    label: str | None = None,
    data_dir: str | Path | None = None,
    test: bool = False,
    classes: tuple[str, ...] | None = None,
    outputs: int | None = None,
    hog: bool = False,
    many: bool = False,
    shaped: bool = False,
    only: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> Dataset:
    """The sample of that name or file. `test` asks for the test part of a name; `classes` are those of training.

    `hog` gives histograms of gradients for the images of mnist and fashion; those of cifar10 always are. `outputs` is
    the number of classes of a network with an output for each: the labels are then class indices. With `many` a sample
    may have more than two classes, and with `shaped` its points any shape, which the data set remembers. Of a table
    `drop` leaves columns out, and with `only`, the features of a model, no other columns are read.
    """
    path = Path(source)
    is_table = path.suffix.lower() in (".csv", ".parquet")
    check(is_table or not drop, f"--drop needs a .csv or .parquet file, got {str(source)!r}.")
    images = str(source).partition(":")[0] in ("mnist", "fashion", "cifar10")
    check(not hog or images, f"--features hog needs the images of mnist, fashion or cifar10, got {str(source)!r}.")
    match path.suffix.lower():
        case ".csv" | ".parquet":
            table = tables.read(path, "y" if label is None else label, only, drop)
            dataset = dataset_of(table, path, classes, outputs, many, shaped)
            return replace(dataset, notes=(*dataset.notes, *table["notes"]))
        case ".npy":
            return dataset_of(data_files.read_npy(path, label), path, classes, outputs, many, shaped)
        case ".npz":
            return dataset_of(data_files.read_npz(path), path, classes, outputs, many, shaped)
        case ".pt":
            return dataset_of(data_files.read_pt(path), path, classes, outputs, many, shaped)
    name, _, pair = str(source).partition(":")
    match name:
        case "breast-cancer" if not pair:
            return _breast_cancer(test)
        case "digits":
            return _digits(pair, test)
        case "iris" | "wine" if not pair:
            return _small(name, test)
        case "mnist" | "fashion":
            return _idx(name, pair, data_dir, test, hog)
        case "cifar10":
            return _cifar10(pair, data_dir, test)
    meant = nearest(name, KNOWN)
    if meant is not None and meant != name:
        raise ValueError(f"DATA {name!r} is not known: did you mean {meant!r}?")
    absent = "" if path.exists() else f"{source}: no such file. "
    raise ValueError(
        f"{absent}DATA must be one of {NAMES}, or a .csv, .parquet, .npy, .npz or .pt file, got {str(source)!r}."
    )


def dataset_of(
    arrays: dict[str, Any],
    path: Path,
    classes: tuple[str, ...] | None = None,
    outputs: int | None = None,
    many: bool = False,
    shaped: bool = False,
) -> Dataset:
    """The sample of arrays X (or Psi) and y that were read from that file."""
    is_psi = "Psi" in arrays
    symbol = "Psi" if is_psi else "X"
    try:
        values, shape = arrays[symbol], None
        if shaped and values.ndim > 2:
            values, shape = values.reshape(len(values), -1), values.shape[1:]
        if is_on_disk(values):
            check_matrix(values, symbol)
        else:
            values = as_matrix(values, symbol)
        check(len(values) >= 1, f"{symbol} must have at least one row, got m=0.")
        y, read = of_classes.plain(np.asarray(arrays["y"]), len(values))
        if outputs is None and many and classes is None:
            outputs, classes = of_classes.count(y)
        signs, named, mapped = labels(y, classes) if outputs is None else of_classes.indices(y, outputs, classes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    names = arrays.get("names", default_names(values.shape[1]))
    notes = tuple(note for note in (read, mapped) if note)
    more = {"outputs": outputs, "shape": shape, "encoded": arrays.get("encoded", ()), "label": arrays.get("label")}
    return Dataset(values, signs, names, is_psi, classes=named, notes=notes, **more)


def labels(y: Any, classes: tuple[str, ...] | None = None) -> tuple[Array, tuple[str, ...] | None, str]:
    """Labels -1/+1, the names of the classes if they are strings, and what was mapped.

    >>> labels(np.array(["no", "yes", "no"]))
    (array([-1.,  1., -1.]), ('no', 'yes'), "labels 'no' and 'yes' mapped to -1 and +1.")
    """
    y = of_classes.by_name(y, classes)
    if y.dtype.kind == "U":
        names = sorted(set(y.tolist()))
        shown = ", ".join(repr(name) for name in names[:4])
        if classes is None:
            check(len(names) == 2, f"y must hold two classes, got {len(names)}: {shown}.")
            classes = (names[0], names[1])
        check(set(names) <= set(classes), f"y must hold {classes[0]!r} and {classes[1]!r} as in training, got {shown}.")
        note = f"labels {classes[0]!r} and {classes[1]!r} mapped to -1 and +1."
        return np.where(y == classes[1], 1.0, -1.0), classes, note
    check(y.dtype.kind in "buif", f"y must hold numbers, got dtype {y.dtype}.")
    signs = y.astype(np.float64)
    if np.isin(signs, (-1, 1)).all():
        return signs, None, ""
    if np.isin(signs, (0, 1)).all():
        return 2 * signs - 1, None, ZERO_ONE
    shown = ", ".join(f"{value:g}" for value in np.unique(signs)[:4])
    raise ValueError(f"y must be -1/+1 or 0/1, or names of two classes, got {shown}.")


# Names


def pair_of(data: str, pair: str, known: tuple[str, ...]) -> tuple[int, int]:
    """A-B as the numbers of two classes, given by number or by name."""
    parts = pair.split("-")
    numbers = [known.index(part) if part in known else int(part) if part.isdecimal() else -1 for part in parts]
    sound = len(numbers) == 2 and numbers[0] != numbers[1] and all(0 <= number < 10 for number in numbers)
    choices = f" ({', '.join(known)})" if known else ""
    check(sound, f"{data}:A-B needs two different classes 0 to 9{choices}, got {data}:{pair}.")
    return numbers[0], numbers[1]


def _groups(data: str, pair: str, known: tuple[str, ...] = ()) -> tuple[Sequence[int], Sequence[int]]:
    """The classes that are -1 and those that are +1: of A-B one each, of the digits' odd-even five each.

    Without a pair all ten are classes of their own: none is -1.
    """
    if not pair:
        return (), range(10)
    if pair == "odd-even" and not known:
        return range(1, 10, 2), range(0, 10, 2)
    a, b = pair_of(data, pair, known)
    return (a,), (b,)


def _of_groups(
    X: Any,
    digit: Any,
    groups: tuple[Sequence[int], Sequence[int]],
    names: tuple[str, ...],
    high: float,
    classes: Sequence[str] = "0123456789",
) -> Dataset:
    a, b = groups
    if not a:
        return _of_classes(X.astype(np.float64), digit, names, tuple(classes), (0.0, high))
    chosen = np.isin(digit, (*a, *b))
    y = np.where(np.isin(digit[chosen], b), 1.0, -1.0)
    named = [f"class {classes[one[0]]}" if len(one) == 1 else ", ".join(classes[c] for c in one) for one in groups]
    note = f"{named[0]} is -1 and {named[1]} is +1."
    pair = ("/".join(classes[c] for c in a), "/".join(classes[c] for c in b))
    return Dataset(X[chosen].astype(np.float64), y, names, known_range=(0.0, high), notes=(note,), pair=pair)


def _of_classes(
    X: Array, y: Any, names: tuple[str, ...], classes: tuple[str, ...], known: tuple[float, float] | None
) -> Dataset:
    indices: Any = np.asarray(y, dtype=np.int64)
    return Dataset(X, indices, names, known_range=known, classes=classes, outputs=len(classes))


def _small(name: str, test: bool) -> Dataset:
    """iris or wine, three classes."""
    from sklearn import datasets as bundled

    _no_test_part(name, test)
    bunch = bundled.load_iris() if name == "iris" else bundled.load_wine()
    names, classes = (tuple(str(text) for text in texts) for texts in (bunch.feature_names, bunch.target_names))
    return _of_classes(bunch.data.astype(np.float64), bunch.target, names, classes, None)


def _no_test_part(name: str, test: bool) -> None:
    check(not test, f"{name} has no test part: give --test-data a file.")


def _breast_cancer(test: bool) -> Dataset:
    from sklearn.datasets import load_breast_cancer

    _no_test_part("breast-cancer", test)
    bunch = load_breast_cancer()
    names = tuple(str(name) for name in bunch.feature_names)
    note = "malignant is -1 and benign is +1."
    return Dataset(bunch.data.astype(np.float64), 2.0 * bunch.target - 1, names, notes=(note,))


def _digits(pair: str, test: bool) -> Dataset:
    from sklearn.datasets import load_digits

    _no_test_part("digits", test)
    groups = _groups("digits", pair)
    bunch = load_digits()
    return _of_groups(bunch.data, bunch.target, groups, tuple(bunch.feature_names), high=16.0)


def _idx(name: str, pair: str, data_dir: str | Path | None, test: bool, hog: bool) -> Dataset:
    known = FASHION if name == "fashion" else ()
    groups = _groups(name, pair, known)
    part = "t10k" if test else "train"
    folder = data_folder(data_dir)
    images = data_files.read_idx(_find(name, folder, f"{part}-images", "idx3-ubyte"))
    digit = data_files.read_idx(_find(name, folder, f"{part}-labels", "idx1-ubyte"))
    check(images.ndim == 3 and digit.shape == images.shape[:1], f"{name}: images and labels do not fit together.")
    chosen = np.isin(digit, (*groups[0], *groups[1]))
    images, digit = images[chosen], digit[chosen]
    if hog:
        from adanet_train.data.pictures import hog as histograms

        X, names, high = histograms.features(images), histograms.NAMES, 1.0
    else:
        X, high = images.reshape(len(images), -1), 255.0
        names = tuple(f"pixel{j}" for j in range(X.shape[1]))
    return _of_groups(X, digit, groups, names, high=high, classes=known or "0123456789")


def _cifar10(pair: str, data_dir: str | Path | None, test: bool) -> Dataset:
    from adanet_train.data.pictures import cifar10, image_features

    if not pair:
        X, digit = cifar10.load_all_features(data_dir, "test" if test else "train")
        return _of_classes(X, digit, image_features.NAMES, cifar10.CLASSES, (0.0, 1.0))
    a, b = (cifar10.CLASSES[number] for number in pair_of("cifar10", pair, cifar10.CLASSES))
    X, y = cifar10.load_features(a, b, data_dir, "test" if test else "train")
    note = f"class {a} is -1 and class {b} is +1."
    return Dataset(X, y, image_features.NAMES, known_range=(0.0, 1.0), notes=(note,), pair=(a, b))


def _find(name: str, folder: Path, stem: str, kind: str) -> Path:
    places = [folder / place for place in FOLDERS[name]]
    for place in places:
        for file in (f"{stem}-{kind}", f"{stem}-{kind}.gz", f"{stem}.{kind}", f"{stem}.{kind}.gz"):
            if (place / file).is_file():
                return place / file
    raise ValueError(
        f"{name}: no {stem}-{kind}[.gz] in {' or '.join(str(place) for place in places)}: put the four idx files of "
        "the data's home page there, and name the folder above them by --data-dir or ADANET_DATA."
    )
