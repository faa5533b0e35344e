"""The inputs of a training run: the sample as the trainer sees it, and the points to test on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.checks import Array, check
from adanet_train.core.config import Config
from adanet_train.core.points import Points
from adanet_train.data import datasets
from adanet_train.data.datasets import Dataset
from adanet_train.data.disk import Some, is_on_disk
from adanet_train.data.features import FeatureMap
from adanet_train.data.row_hashes import row_hashes
from adanet_train.data.rows import hashes, repeats

NEEDS_A_FIXED_MAP = "needs a feature map that was fixed before the sample was drawn:"
FIXED = "--features learned:F, or --feature-range LO,HI if you knew the range"


@dataclass(frozen=True, eq=False)
class RunInputs:
    dataset: Dataset
    features: FeatureMap | None
    points: Points
    """Ψ of the sample, computed when rows are asked for where X is on the disk."""
    y: Tensor
    test: tuple[Points, Tensor] | None
    holdout: tuple[Points, Tensor] | None = None
    """Points kept aside from training, for the bound that needs such points."""
    learned_on: tuple[Points, Tensor] | None = None
    """X and y of the points that the feature map was learned on, which are not of the sample."""

    def learned_rows(self) -> Tensor:
        """Hashes of the points (Psi, y) that the map was learned on, by which a verifier recognises them."""
        assert self.learned_on is not None
        assert self.features is not None
        points, y = self.learned_on
        features = self.features

        def hashed(rows: slice, X: Tensor) -> Tensor:
            return torch.from_numpy(row_hashes(features(X.numpy()), y[rows].numpy()).view(np.int64))

        return points.computed(hashed)

    def repeats(self) -> int:
        """How many points (Psi, y) of the sample repeat an earlier one."""
        return repeats(_hashed(self.points, self.y))

    @property
    def Psi(self) -> Tensor:
        """All of Ψ at once, for a sample that fits in memory."""
        return self.points.whole()


@dataclass(frozen=True)
class Asked:
    """Options for reading the data; `bias` None adds a constant feature to X and none to Psi."""

    test: str | None = None
    label: str | None = None
    data_dir: str | None = None
    bias: bool | None = None
    center: bool = False
    certificate: str | None = None
    """The objective, if it is a certificate: its map is fixed before the sample, and centred where it can be."""
    start: Callable[[int], tuple[Any, Any]] | None = None
    """For picking: m -> (the rows that the start is fitted on, the others)."""
    features: str | None = None
    """"hog", or "learned:F": centred and scaled by a share F of the points, which are then not trained on."""
    holdout: float | None = None
    """The share of the points to keep aside."""
    feature_range: tuple[float, float] | None = None
    """The least and the largest value of every feature, known before the sample."""
    drop: tuple[str, ...] = ()
    """Columns of the table to leave out."""
    seed: int = 0


def read_inputs(source: str, asked: Asked) -> RunInputs:
    """Read and check all inputs before training begins."""
    hog, share = _features(asked.features)
    dataset = datasets.load(source, label=asked.label, data_dir=asked.data_dir, hog=hog, many=True, drop=asked.drop)
    check(not (dataset.is_psi and asked.bias), "--bias needs X: Psi is taken as it is.")
    check(not (dataset.is_psi and share), "--features learned needs X: Psi is taken as it is.")
    if asked.feature_range is not None:
        dataset = _ranged(dataset, asked.feature_range, source, asked.features)
    fixes = share is not None or asked.start is not None or asked.feature_range is not None
    check(not (fixes and dataset.encoded), f"{source}: {encoded(dataset)}")
    draw = np.random.default_rng(asked.seed)
    dataset, kept = _split(dataset, asked.holdout, draw, "holdout")
    dataset, learned_on = _split(dataset, share, draw, "features learned")
    dataset.require_trainable()
    if learned_on is not None:
        features: FeatureMap | None = FeatureMap.learned(learned_on.values, dataset.names, bias=asked.bias is not False)
    elif asked.start is not None and dataset.known_range is None and not dataset.is_psi:
        rows = asked.start(dataset.m)[0]
        features = FeatureMap.fitted(dataset.values[rows], dataset.names, bias=asked.bias is not False)
    else:
        known = asked.certificate is not None and dataset.known_range is not None
        features = dataset.feature_map(bias=asked.bias is not False, center=asked.center or known)
    fitted = features is not None and features.fitted_on_sample
    fixed = asked.certificate is None or not fitted
    check(fixed, f"{source}: objective {asked.certificate} {NEEDS_A_FIXED_MAP} {FIXED}.")
    points, y = _points(dataset, features)
    test, told = _test(asked, dataset, features, hog, points.n_0) if asked.test is not None else (None, [])
    if test is not None and not is_on_disk(dataset.values) and np.isin(_hashed(*test), _hashed(points, y)).all():
        told.append(
            f"{asked.test}: all {len(test[1]):,} test points are points of the sample: their error is a training error."
        )
    dataset = replace(dataset, notes=(*dataset.notes, *told))
    holdout = _points(kept, features) if kept is not None else None
    raw = _points(learned_on, None) if learned_on is not None else None
    return RunInputs(dataset, features, points, y, test, holdout, raw)


def _hashed(points: Points, y: Tensor) -> Array:
    """A hash of every point (Psi, y)."""

    def hashed(rows: slice, Psi: Tensor) -> Tensor:
        return torch.from_numpy(hashes(Psi.numpy(), y[rows].numpy()).view(np.int64))

    return points.computed(hashed).numpy().view(np.uint64)


def _ranged(dataset: Dataset, limits: tuple[float, float], source: str, features: str | None) -> Dataset:
    """The data with a range that was known before the sample."""
    low, high = limits
    given = f"got --feature-range {low:g},{high:g}"
    check(-np.inf < low < high < np.inf, f"feature-range LO,HI must be two finite numbers with LO < HI, {given}.")
    check(not dataset.is_psi, f"--feature-range needs X: Psi is taken as it is, {given}.")
    check(features is None, f"--feature-range and --features {features} both fix the feature map: give one of them.")
    own = dataset.known_range
    check(own is None, f"{source}: its features have the range {own and f'{own[0]:g},{own[1]:g}'} already, {given}.")
    return replace(dataset, known_range=limits)


def encoded(dataset: Dataset) -> str:
    """The reason why the feature map of this table cannot be fixed before the sample."""
    holds: dict[str, str] = {}
    for column, _, word in (name.rpartition("=") for name in dataset.encoded):
        holds[column] = "empty cells" if word == "?" and column not in holds else "words"
    columns = ", ".join(f"{column!r} ({what})" for column, what in holds.items())
    fixed = "a certificate from the training rows needs features that were fixed before these rows were seen"
    drop = " ".join(f"--drop {column}" for column in holds)
    ways = f"drop them ({drop}), make numbers of them yourself by a fixed rule"
    third = "or give --holdout 0.2 in place of --objective, for a held-out bound, which any encoding may use"
    return f"the codes of {columns} are read off all rows, and {fixed}: {ways}, {third}."


def _features(asked: str | None) -> tuple[bool, float | None]:
    """(whether hog, the share of the points to learn the map on)."""
    if asked in (None, "hog"):
        return asked == "hog", None
    name, _, share = str(asked).partition(":")
    try:
        check(name == "learned", "")
        return False, float(share)
    except ValueError:
        raise ValueError(f"features must be hog or learned:F with a share F of the points, got {asked!r}.") from None


def _points(dataset: Dataset, features: FeatureMap | None) -> tuple[Points, Tensor]:
    points = dataset.points(features)
    if not is_on_disk(dataset.values):
        points = Points(torch.from_numpy(np.ascontiguousarray(dataset.Psi(features))))
    return points, torch.from_numpy(dataset.y)


def _split(
    dataset: Dataset, share: float | None, draw: np.random.Generator, name: str
) -> tuple[Dataset, Dataset | None]:
    """The rest and a part of about that share, drawn without looking at the labels."""
    if share is None:
        return dataset, None
    check(0 < share < 1, f"{name} must be a share in (0, 1), got {share:g}.")
    count = max(1, round(share * dataset.m))
    check(count < dataset.m, f"{name} must leave points to train on, got {count} of {dataset.m}.")
    order = draw.permutation(dataset.m)
    parts = (np.sort(order[count:]), np.sort(order[:count]))
    rest, part = (replace(dataset, values=_rows(dataset.values, rows), y=dataset.y[rows]) for rows in parts)
    return rest, part


def _rows(values: Any, rows: Any) -> Any:
    return Some(values, rows) if is_on_disk(values) else values[rows]


def _test(
    asked: Asked, dataset: Dataset, features: FeatureMap | None, hog: bool, n_0: int
) -> tuple[tuple[Points, Tensor], list[str]]:
    """The points to test on, and what they hold that training did not."""
    path = str(asked.test)
    tested = datasets.load(
        path,
        label=asked.label,
        data_dir=asked.data_dir,
        test=True,
        classes=dataset.classes,
        outputs=dataset.outputs,
        hog=hog,
        many=True,
        only=None if features is None else features.columns,
    )
    check(tested.outputs == dataset.outputs, f"{path}: has other classes than the training data.")
    check(tested.is_psi == dataset.is_psi, f"{path}: expected {'Psi' if dataset.is_psi else 'X'} as in training.")
    points, y = _points(tested, features)
    check(points.n_0 == n_0, f"{path}: Psi must have {n_0} columns, got {points.n_0}.")
    return (points, y), [f"{path}: {note}" for note in tested.unseen(features)]


def range_of(inputs: RunInputs, config: Config, *, known: bool) -> float:
    """r_sup for the bound objective: from the feature map, or from the user if Psi is given."""
    if inputs.features is not None:
        return inputs.features.r_sup
    check(known or config.goal.objective != "bound", "objective bound on Psi needs its range: --set r_sup=R.")
    largest = inputs.points.largest
    r_sup = config.goal.r_sup
    check(not known or largest <= r_sup, f"r_sup must be >= max |Psi| = {largest}, got r_sup={r_sup}.")
    return r_sup
