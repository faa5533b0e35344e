"""adanet-experiment picking: a learner trained by picking, beside the same with a tenth of the points held out.

    adanet-experiment picking --sets digits:3-8,iris --seeds 10
    adanet-experiment picking --learner cnn --sets mnist:3-8 --data-dir DIR

A row is one data set with one learner and one seed, that of the splits and of the learner: both certificates at
delta = .05, and both test errors. Data without a test part are trained on whole for the certificates; for the test
errors of seed s the learner is trained on four fifths and tested on fold s mod 5, of the shuffle s // 5. `compared`
has the means over the seeds. The file is written after every row, and the same command continues from it.

Labels with noise: each label, also of test points, is replaced with that probability by another one, drawn uniformly.
With probability 1 - 1/C the labels are random.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.checks import check
from adanet_theory.rounding import upward
from adanet_train.app.inputs import encoded
from adanet_train.core.config import Config
from adanet_train.core.device import one_thread
from adanet_train.data import datasets
from adanet_train.data.pictures import cifar10
from adanet_train.picking.core import Labelled, Learner, Picked, Plan, pick, wrong
from adanet_train.picking.modules import Module, shifted
from adanet_train.picking.networks import AdaNet, Scaled
from verify.experiments.protocols import learners, table_data
from verify.experiments.running import results
from verify.experiments.running.results import Row

DELTA = 0.05
HELD_OUT = 0.1
IMAGES = ("mnist", "fashion", "cifar10")


@dataclass(frozen=True)
class PickingData:
    """A data set, "hog" for histograms of gradients, the share of labels made wrong, and the column of labels."""

    name: str
    features: str | None = None
    noise: float = 0.0
    column: str | None = None

    @property
    def label(self) -> str:
        said = f"{self.name} {self.features}" if self.features else self.name
        return f"{said} noise {self.noise:g}" if self.noise else said

    @property
    def images(self) -> bool:
        return self.name.partition(":")[0] in IMAGES


PAIRS = ("0-1", "1-7", "3-8", "4-9")
TABLES = ("linear", "interactions", "moons", "circles", "classification", "hastie")
"""Those of the learner comparison that come with no other package, and whose labels no median of all rows has cut."""
SETS = (
    *map(PickingData, ("digits:3-8", "digits:odd-even", "digits", "breast-cancer", "iris", "wine")),
    *(PickingData(f"mnist:{pair}", features) for features in (None, "hog") for pair in PAIRS),
    *(
        PickingData(f"cifar10:{pair}")
        for pair in ("deer-truck", "deer-horse", "automobile-truck", "cat-dog", "dog-horse")
    ),
    *(PickingData(f"fashion:{pair}", "hog") for pair in ("coat-shirt", "pullover-coat", "sneaker-boot")),
    *(PickingData(f"table:{name}") for name in TABLES),
    *(PickingData("digits:3-8", noise=share) for share in (0.1, 0.3, 0.5)),
    *(PickingData("digits", noise=share) for share in (0.1, 0.3, 0.9)),
    *(PickingData("mnist:3-8", "hog", share) for share in (0.1, 0.3, 0.5)),
    *map(PickingData, IMAGES),
)


FIFTEEN = tuple(data.label for data in (*SETS[:14], PickingData("cifar10:deer-truck")))
"""Those on which picking is counted against a tenth held out."""


def read(data: PickingData, data_dir: str | None, *, pixels: bool) -> tuple[Labelled, Labelled | None, bool]:
    """The sample, the test part if there is one, and whether the map of the features was fixed beforehand."""
    load = of_pixels if pixels else of_table if data.name.startswith("table:") else of_features
    parts = [load(data, data_dir, test) for test in ((False, True) if data.images else (False,))]
    parts_read = [noisy(points, data.noise, place) for place, (points, _) in enumerate(parts)]
    return parts_read[0], parts_read[1] if data.images else None, parts[0][1]


def of_table(data: PickingData, data_dir: str | None, test: bool) -> tuple[Labelled, bool]:
    """A table of the learner comparison."""
    X, y = table_data.TABLES[data.name.removeprefix("table:")]()
    return Labelled(np.asarray(X, dtype=np.float64), *of_signs(y)), False


def of_features(data: PickingData, data_dir: str | None, test: bool) -> tuple[Labelled, bool]:
    """Psi if its map was known beforehand, else X; from a name or a file."""
    hog = data.features == "hog"
    given = datasets.load(data.name, label=data.column, data_dir=data_dir, many=True, hog=hog, test=test)
    check(not given.encoded, f"{data.name}: {encoded(given)}")
    known = given.is_psi or given.known_range is not None
    X = given.Psi(given.feature_map()) if known else given.values
    return Labelled(np.asarray(X), *of_signs(given.y)), known


def of_pixels(data: PickingData, data_dir: str | None, test: bool) -> tuple[Labelled, bool]:
    """The bytes of images [m, channels, height, width]."""
    name, _, pair = data.name.partition(":")
    if name != "cifar10":
        given = datasets.load(data.name, data_dir=data_dir, many=True, test=test)
        return Labelled(given.values.astype(np.uint8).reshape(-1, 1, 28, 28), *of_signs(given.y)), True
    part: Any = "test" if test else "train"
    a, _, b = pair.partition("-")
    images, y = cifar10.load_pair(a, b, data_dir, part) if pair else cifar10.load_all(data_dir, part)
    return Labelled(np.ascontiguousarray(images.transpose(0, 3, 1, 2)), *of_signs(y)), True


def of_signs(y: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The number of each label's class, and the classes."""
    classes, index = np.unique(np.asarray(y), return_inverse=True)
    return index.astype(np.int64), classes


def noisy(points: Labelled, share: float, seed: int) -> Labelled:
    """Replace each label by another one with this probability."""
    draw, C = np.random.default_rng([seed, 25]), len(points.classes)
    moved = (draw.random(len(points)) < share) * draw.integers(1, C, len(points))
    return replace(points, y=(points.y + moved) % C)


# The learners


class CentredRows(nn.Module):
    """Bytes as numbers in [-1, 1]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / 127.5 - 1


def cnn(shape: tuple[int, ...], outputs: int) -> nn.Module:
    """Two convolutions with stride 2, and a hidden layer."""
    channels, height, width = shape
    convolutions = (nn.Conv2d(channels, 32, 5, 2, 2), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.Flatten())
    return nn.Sequential(
        CentredRows(),
        *convolutions,
        nn.Linear(64 * (height // 4) * (width // 4), 128),
        nn.ReLU(),
        nn.Linear(128, outputs),
    )


def of_cnn(points: Labelled, seed: int, known: bool) -> Learner:
    """A CNN, with fewer passes over many points."""
    C, epochs = len(points.classes), 30 if len(points) < 20_000 else 10
    return Module(partial(cnn, points.X.shape[1:], 1 if C == 2 else C), seed, epochs, augment=shifted)


def of_adanet(points: Labelled, seed: int, known: bool) -> Learner:
    """AdaNet at its defaults; the map is fitted on the start where no range is known."""
    learner = AdaNet(Config(objective="certificate", delta=DELTA, seed=seed))
    return learner if known else Scaled(learner)


def of_svc(points: Labelled, seed: int, known: bool) -> Learner:
    """A support vector machine with the rbf kernel."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC

    from adanet_train.picking.estimators import Estimator

    return Estimator(make_pipeline(MinMaxScaler(), SVC()), seed)


LEARNERS: dict[str, Callable[[Labelled, int, bool], Learner]] = {"adanet": of_adanet, "cnn": of_cnn, "svc": of_svc}


def default_sets(learner: str) -> list[str]:
    """AdaNet: all but the ten classes of images; the CNN: images as pixels; the SVC: all data without images."""
    if learner == "cnn":
        return [data.label for data in SETS if data.images and data.features is None]
    chosen = [data for data in SETS if data.name not in IMAGES]
    return [data.label for data in chosen if learner == "adanet" or not data.images]


# Two ways to spend labelled points


@dataclass(frozen=True, eq=False)
class Spent:
    """A predictor with its certificate, and the counts behind it."""

    predictor: Any
    bound: float
    counts: dict[str, Any]


def by_picking(learner: Learner, points: Labelled, plan: Plan) -> Spent:
    """The learner trained by picking, with pick-certificate."""
    run: Picked = pick(learner, points, plan)
    counts = {"N": run.N, "picks": len(run.picks), "left": len(run.left)}
    return Spent(run.predictor, run.at(DELTA), counts | {"start_bound": clopper_pearson(run.first, run.N, DELTA)})


def by_holding_out(learner: Learner, points: Labelled, share: float, seed: int) -> Spent:
    """The learner trained on all but this share of the points, with Clopper-Pearson's bound on that share."""
    plan = Plan(start=1 - share, seed=seed)
    P, S = plan.split(len(points))
    predictor = learner.fit(points[P], points[[]], None)
    errors = len(wrong(learner, predictor, points, S, plan, points.keys))
    return Spent(predictor, clopper_pearson(errors, len(S), DELTA), {"N": len(S), "errors": errors})


def is_wrong(learner: Learner, predictor: Any, points: Labelled) -> NDArray[np.bool_]:
    """Whether the predictor errs, point by point; a tie is an error."""
    return ~(np.asarray(learner.margins(predictor, points)) > 0)


def spent(
    data: PickingData, points: Labelled, make: Callable[[], Learner], seed: int
) -> tuple[Spent, Spent, list[float]]:
    """By picking, by holding out, and the CPU seconds of each; noisy labels are picked nearest miss first."""
    clock = [time.process_time()]
    picked = by_picking(make(), points, Plan(order="nearest" if data.noise else "worst", seed=seed))
    clock.append(time.process_time())
    held = by_holding_out(make(), points, HELD_OUT, seed)
    clock.append(time.process_time())
    return picked, held, np.round(np.diff(clock), 1).tolist()


def measured(data: PickingData, learner: str, data_dir: str | None, seed: int) -> Row:
    """Both certificates from all points, both test errors, and the test points that only one of the two gets wrong."""
    points, test, known = read(data, data_dir, pixels=learner == "cnn")
    make = partial(LEARNERS[learner], points, seed, known)
    with one_thread():
        *ways, seconds = spent(data, points, make, seed)
        if test is None:
            train, held = fold(points, seed)
            tested = on_test(make(), spent(data, points[train], make, seed)[:2], points[held])
        else:
            tested = on_test(make(), ways, test)
    each = zip(ways, tested.pop("test_errors"), seconds, strict=True)
    said = [{"bound": way.bound, "test_error": error, **way.counts, "cpu_seconds": s} for way, error, s in each]
    label = {"data": data.label, "learner": learner, "seed": seed, "m": len(points), "classes": len(points.classes)}
    return {**label, "delta": DELTA, "picked": said[0], "held_out": said[1], "folds": test is None, **tested}


def fold(points: Labelled, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Four fifths of the rows and the fifth that is the fold of this seed."""
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(learners.FOLDS, shuffle=True, random_state=seed // learners.FOLDS)
    train, held = [*folds.split(points.X, points.y)][seed % learners.FOLDS]
    return train, held


def on_test(learner: Learner, ways: Sequence[Spent], test: Labelled) -> Row:
    """The errors, and the indices of the points that only picking, or only holding out, gets wrong."""
    picked, held = (is_wrong(learner, way.predictor, test) for way in ways)
    apart = [np.flatnonzero(a & ~b).tolist() for a, b in ((picked, held), (held, picked))]
    return {"test_errors": [float(way.mean()) for way in (picked, held)], "tested": len(test), "apart": apart}


def compared(rows: Sequence[Mapping[str, Any]]) -> Row:
    """The rows of one data set and learner: means over the seeds, and the difference of the test errors.

    "difference" is picked less held out; its standard error allows for the draw of the test points and of the seeds,
    on folds for their overlap. A row alone may hold "difference_se" in place of "apart", as rows of one seed once did.
    """
    gaps = [row["picked"]["test_error"] - row["held_out"]["test_error"] for row in rows]
    if "apart" not in rows[0]:
        se = float(rows[0]["difference_se"])
    elif rows[0]["folds"] and len(rows) > 1:
        se = float(learners.standard_error(gaps) or 0.0)
    else:
        se = crossed_error(np.array([_apart(row) for row in rows]))
    ways = {way: _means([row[way] for row in rows]) for way in ("picked", "held_out")}
    difference, start = float(np.mean(gaps)), float(np.mean([row["picked"]["start_bound"] for row in rows]))
    better = ways["picked"]["bound"] < ways["held_out"]["bound"] and difference <= se
    return {**ways, "start_bound": start, "difference": difference, "difference_se": se, "better": better}


def _means(ways: Sequence[Mapping[str, Any]]) -> Row:
    bounds, errors = ([way[name] for way in ways] for name in ("bound", "test_error"))
    se = None if len(ways) == 1 else float(np.std(bounds, ddof=1) / np.sqrt(len(ways)))
    return {"bound": float(np.mean(bounds)), "bound_se": se, "test_error": float(np.mean(errors))}


def _apart(row: Mapping[str, Any]) -> NDArray[np.float64]:
    """Each test point: 1 where picking alone errs, -1 where holding out alone does."""
    values = np.zeros(row["tested"])
    for points, value in zip(row["apart"], (1.0, -1.0), strict=True):
        values[points] = value
    return values


def crossed_error(values: NDArray[np.float64]) -> float:
    """The standard error of the mean of [seeds, points], if both were drawn: their variances add.

    The variances of the means of the points and of the seeds both contain the residual variance, which counts once.
    With one seed only the points vary.
    """
    S, n = values.shape
    of_points, of_seeds = values.mean(0), values.mean(1)
    points = of_points.var(ddof=1) / n
    if S == 1:
        return float(np.sqrt(points))
    left = values - of_points - of_seeds[:, None] + values.mean()
    both = (left**2).sum() / ((S - 1) * (n - 1)) / (S * n)
    return float(np.sqrt(max(points, points + of_seeds.var(ddof=1) / S - both)))


# The protocol


def picking(
    out: str | Path,
    data_dir: str | None,
    seeds: Sequence[int],
    learner: str,
    chosen: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """The learner on every chosen data set with every seed that the file does not hold yet, seed by seed."""
    asked = [(seed, data) for seed, data in itertools.product(seeds, SETS) if data.label in chosen]
    for seed, data in results.missing(out, asked, lambda work: (work[1].label, learner, work[0]), _key):
        row = measured(data, learner, data_dir, seed)
        rows = sorted([*results.stored(out), row], key=_place)
        seconds = sum(row[way]["cpu_seconds"] for row in rows for way in ("picked", "held_out"))
        command = "adanet-experiment picking --learner LEARNER --seeds N --data-dir DIR"
        results.write(out, "picking", command, 0, seconds, rows)
        ways = [f"{upward(row[way]['bound'])} ({row[way]['test_error']:.4f})" for way in ("picked", "held_out")]
        say(f"{data.label}, {learner}, seed {seed}: picked {ways[0]}, a tenth held out {ways[1]}")


def _key(row: Row) -> tuple[str, str, int]:
    return row["data"], row["learner"], row["seed"]


def _place(row: Row) -> tuple[int, int, int]:
    data, learner, seed = _key(row)
    return [*LEARNERS].index(learner), [one.label for one in SETS].index(data), seed
