"""certify(learner, X, y): any learner, trained by picking, with a certificate of its risk."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.checks import check, check_choice, check_delta, with_near_misses
from adanet_theory.rounding import probability, upward
from adanet_train.core.bar import Bar, is_quiet
from adanet_train.core.config import Config
from adanet_train.core.files import versions, write_file
from adanet_train.data import classes as of_classes
from adanet_train.data.encoding import numbered, warn_of_ids
from adanet_train.data.rows import doubt, qualified, repeats, require_finite
from adanet_train.methods.trainers import METHODS
from adanet_train.picking.core import Indices, Labelled, Learner, Picked, Plan, pick
from adanet_train.picking.networks import AdaNet, Mapped, Refit, Scaled
from adanet_train.picking.record import OTHER_PROCESSOR, Record, Status, compared, digest
from adanet_train.subnetworks.data import Inputs, is_stream, labels_in

SCHEMA = "certify/1"


@dataclass(frozen=True, eq=False)
class Certified:
    """A predictor with its certificate: with probability 1 - delta over the sample its risk is at most `bound`.

    This holds if the rows are independent draws, and if learner, settings and features were fixed before the sample:
    G runs that were looked at need delta/G (`at`). Where rows repeat (`repeats`), `bound` is a certificate only if
    identical rows are draws of their own, as `discrete=True` says.
    """

    predictor: Any
    delta: float
    picked: Picked
    points: Labelled
    learner: Learner
    discrete: bool = False

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of X, by its name in y."""
        if hasattr(self.predictor, "predict"):
            return np.asarray(self.predictor.predict(X))
        rows = _array(X)
        check(rows.shape[1:] == self.points.X.shape[1:], _other_rows(rows, self.points.X))
        points = Labelled(rows, np.zeros(len(rows), dtype=np.int64), self.points.classes)
        if hasattr(self.learner, "predict"):
            return self.points.classes[self.learner.predict(self.picked.predictor, points)]
        numbers = range(len(points.classes))
        as_class = (replace(points, y=np.full(len(rows), c, dtype=np.int64)) for c in numbers)
        margins = [self.learner.margins(self.picked.predictor, one) for one in as_class]
        return self.points.classes[np.argmax(margins, axis=0)]

    @property
    def repeats(self) -> int:
        """How many rows of the sample repeat an earlier one."""
        return repeats(self.points.keys)

    @property
    def bound(self) -> float:
        """The certificate at `delta`."""
        return self.at(self.delta)

    @property
    def k(self) -> int:
        """Picks and wrong rows that are left."""
        return self.picked.k

    @property
    def N(self) -> int:
        """Rows outside the start."""
        return self.picked.N

    @property
    def picks(self) -> Indices:
        """Row numbers of the picks, in order."""
        return self.picked.picks

    @property
    def start(self) -> Indices:
        """Row numbers of the start."""
        return self.picked.start

    @property
    def left(self) -> Indices:
        """Row numbers of the wrong rows outside start and picks."""
        return self.picked.left

    def at(self, delta: float) -> float:
        """The certificate at another delta in (0, 1)."""
        return self.picked.at(delta)

    @property
    def start_bound(self) -> float:
        """For information: Clopper-Pearson's bound at `delta` for the predictor of the start alone."""
        return clopper_pearson(self.picked.first, self.N, self.delta)

    @property
    def record(self) -> dict[str, Any]:
        """The run as plain values, schema "certify/1"; `replay` runs it again."""
        counted = {"N": self.N, "k": self.k, "left": self.left.tolist(), "delta": self.delta, "bound": self.bound}
        about = {"name": repr(self.learner)[:1000], **getattr(self.learner, "recipe", {})}
        run = Record.of(self.picked, about).as_dict()
        sample = {"m": len(self.points), "sha256": sample_digest(self.points)}
        margins = digest(self.learner, self.picked.predictor, self.points)
        more = {
            "repeats": self.repeats,
            "discrete": self.discrete,
            "sample": sample,
            "margins": margins,
            "versions": versions(("adanet-theory", "numpy", "torch")),
        }
        return {"schema": SCHEMA, **run, **counted, **more}

    def save(self, path: str | Path) -> None:
        """Write the record as JSON; of "adanet" and our other trainers a model.pt with the network and the sample."""
        if isinstance(self.picked.predictor, Mapped):
            from adanet_train.model import model_file

            model_file.write(path, self.predictor.model_)
        else:
            write_file(path, json.dumps(self.record, allow_nan=False))

    def __repr__(self) -> str:
        counted = f"{len(self.picks)} picks, {len(self.left)} left, N = {self.N}"
        counted += " (Clopper-Pearson)" * self.picked.is_start
        statement = f"risk <= {upward(self.bound)} with probability {probability(self.delta)}"
        said = qualified(statement, self.repeats, len(self.points), discrete=self.discrete)
        return f"Certified({said}: {counted}; assumes: iid draws, recipe and features fixed before the rows)"


@with_near_misses
def certify(
    learner: Any,
    X: Any,
    y: Any,
    *,
    start: float | None = None,
    r: int | None = None,
    K: int | Sequence[int] | None = None,
    threshold: float = 0.0,
    order: str = "worst",
    delta: float = 0.05,
    seed: int = 0,
    discrete: bool = False,
    callback: Callable[[Picked], None] | None = None,
    verbose: bool | None = None,
) -> Certified:
    """Train a learner by picking, with a certificate of its risk.

    A share `start` of the rows is fitted first. Then rows are picked that the predictor gets wrong, and it is refitted,
    until none is wrong or K were picked. The certificate counts the picks and the wrong rows that are left. It takes
    as long as one training on the start and up to K/r short ones (a classifier is refitted each time), and up to as
    long again for the dry run: seconds for a small network on 700 rows, a minute or two for a CNN on some 1,000 images.

    Parameters
    ----------
    learner
        "adanet", "cvx", "cvx-exact", "lr" or "nn"; an unfitted scikit-learn classifier or pipeline; an
        `AdaNetClassifier(subnetworks=...)`, whose given modules must not have seen these rows; a function that returns
        an untrained nn.Module (see `picking.modules.Module` for its settings); or an object with `fit`, `margins` and
        `grid` (see `picking.core.Learner`).
    X
        The rows, before any scaling fitted on them: scalers and encoders belong inside the learner.
    y
        Labels of the rows, two classes or more.
    start
        Share of the rows in the start, in (0, 1). None: .65 of fewer than 1,000 rows, else .75.
    r
        Rows picked per round. None: set from N and the number of classes, see `picking.core.Plan`.
    K
        Largest number of picks. None: 24 (3 C^2 for C > 2 classes), but 0 if a dry run, which picks inside the start,
        says that picking does not pay, as with noisy labels. 0: the start alone, with Clopper-Pearson's bound. A rising
        list of G numbers: one run for each, all trained at once, of which the least certificate at delta/G is kept.
    threshold
        Rows with a margin <= threshold count as wrong.
    order
        Which wrong rows are picked first: "worst", "nearest" (for noisy labels) or "hash".
    delta
        Probability in (0, 1) with which the certificate may fail. Divide it by the number of runs on these rows.
    seed
        Seed of the split and of the learner.
    discrete
        Say that identical rows are different people or events. Without it repeated rows raise a warning, and the bound
        is not a certificate.
    callback
        Called with the state after every fit.
    verbose
        Whether stderr shows progress, the picks made and the time left. None: if stderr is a terminal.

    Returns
    -------
    Certified
        `.predict(X)` gives classes, `.predictor` is what was fitted, `.bound` its certificate.

    Raises
    ------
    ValueError
        If rows, labels or settings are outside their range, or the start lacks a class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> found = certify(LogisticRegression(), X, X[:, 0] > 0)
    >>> found.bound < 0.1
    True
    """
    check_delta(delta)
    if hasattr(X, "columns"):
        rows = np.asarray(X)
        warn_of_ids(numbered(rows, list(X.columns)) if rows.dtype.kind in "iuf" else [], stacklevel=4)
    points, own = labelled(X, y), as_learner(learner, seed)
    require_readable(points, own)
    plan = Plan(start, r, K, threshold, order, seed)
    repeated = repeats(points.keys)
    if repeated and not discrete:
        warnings.warn(doubt(repeated, len(points)), stacklevel=3)
    with Bar("certifying", quiet=is_quiet(verbose)) as bar:
        picked = pick(own, points, plan, callback=_shown(bar, callback)).kept(delta)
    return Certified(exposed(picked, points, own), delta, picked, points, own, discrete)


def _shown(bar: Bar, callback: Callable[[Picked], None] | None) -> Callable[[Picked], None]:
    """How far the run is on a bar."""

    def show(picked: Picked) -> None:
        if callback is not None:
            callback(picked)
        if not len(picked.picks):
            bar.paced()
        done, K = len(picked.picks), picked.plan.ends[-1]
        left = f"{len(picked.left)} of the other {picked.N - done} rows wrong"
        bar(done, K, f"{done} of at most {K} picks, {left}")

    return show


@dataclass(frozen=True)
class Replayed:
    """A record that was run again: `status` "holds" (same picks, same bits), "assumed" (same picks) or "fails"."""

    certified: Certified
    status: Status
    detail: str


def replay(record: Mapping[str, Any], learner: Any, X: Any, y: Any) -> Replayed:
    """Run a recorded recipe again and compare.

    Parameters
    ----------
    record
        `Certified.record`, or the loaded JSON that `Certified.save` wrote.
    learner
        The learner as given to `certify`; a record cannot hold a program.
    X, y
        The sample of the run.

    Returns
    -------
    Replayed

    Raises
    ------
    ValueError
        If the record is damaged, or X and y are not its sample.
    """
    check(isinstance(record, Mapping), f"record must be a dict, got a {type(record).__name__}.")
    points = labelled(X, y)
    check(record.get("schema") == SCHEMA, f"schema must be {SCHEMA!r}, got {str(record.get('schema'))[:40]!r}.")
    sample = record.get("sample")
    same = isinstance(sample, Mapping) and sample.get("sha256") == sample_digest(points)
    check(same, "X and y must be the sample of the record, got another one.")
    recorded, own = Record.from_dict(record, len(points)), as_learner(learner, record["recipe"]["seed"])
    delta = record.get("delta")
    check(isinstance(delta, int | float), f"record delta must be a number in (0, 1), got {delta!r}.")
    assert isinstance(delta, int | float)
    check_delta(delta)
    again = pick(own, points, recorded.plan).with_picks(len(recorded.picks))
    discrete = record.get("discrete") is True
    certified = Certified(exposed(again, points, own), float(delta), again, points, own, discrete)
    same = record.get("margins") == digest(own, again.predictor, points)
    # the predictor handed back is that of the replay, so other margins in the record are no harm to it
    status, detail = compared(recorded, again, apart=0.0 if same else OTHER_PROCESSOR)
    if status != "fails" and not _claims_no_less(record, certified):
        status, detail = (
            "fails",
            f"the record claims k={record.get('k')!r} and bound={record.get('bound')!r}, the run has ",
        )
        detail += f"k={certified.k} of N={certified.N} and the bound {upward(certified.bound, 6)}."
    return Replayed(certified, status, detail)


def _claims_no_less(record: Mapping[str, Any], certified: Certified) -> bool:
    """Whether a record claims no smaller count and bound than the run has; counting too many is safe."""
    k, N, bound = (record.get(name) for name in ("k", "N", "bound"))
    if type(k) is not int or not isinstance(bound, int | float) or N != certified.N:
        return False
    return k >= certified.k and bound >= certified.bound * (1 - 1e-9)


# What certify takes


def labelled(X: Any, y: Any) -> Labelled:
    """X and y as arrays, y by the numbers of its classes; a Dataset or DataLoader of pairs is read once."""
    if is_stream(X):
        y = labels_in(X) if y is None else y
        X = Inputs.of(X)[slice(None)]
    X, y = _array(X), _array(y)
    check(X.ndim >= 2, f"X must hold one row a point, got shape {X.shape}.")
    y, _ = of_classes.plain(y, len(X))
    of_classes.count(y)  # refuses what is not a class
    classes, index = np.unique(y, return_inverse=True)
    check(len(classes) >= 2, f"y must hold two classes or more, got {len(classes)}.")
    return Labelled(X, index.reshape(-1).astype(np.int64), classes)


def require_readable(points: Labelled, learner: Learner) -> None:
    """Refuse rows that the learner cannot read, by their numbers in X; a learner of the user's own says so itself."""
    from adanet_train.picking.estimators import Estimator
    from adanet_train.picking.modules import Module
    from adanet_train.picking.subnetworks import Ensembles

    if isinstance(learner, Estimator) and (points.X.dtype.kind == "O" or learner.allows_nan):
        return
    if not isinstance(learner, Estimator | Module | Ensembles | Scaled):
        return
    numbers = points.X.dtype.kind in "biuf"
    check(numbers, f"X must hold real numbers, got dtype {points.X.dtype}: encode words inside a Pipeline.")
    require_finite(points.X)


def _other_rows(rows: NDArray[Any], known: NDArray[Any]) -> str:
    return f"X must hold rows of the shape {known.shape[1:]}, as in training, got {rows.shape[1:]}."


def _array(values: Any) -> NDArray[Any]:
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)


def as_learner(learner: Any, seed: int) -> Learner:
    """What `certify` was given as an object of the protocol."""
    if isinstance(learner, str):
        check_choice("learner", learner, METHODS)
        if learner == "adanet":
            return Scaled(AdaNet(Config(seed=seed)))
        return Scaled(Refit(learner, Config(seed=seed)))
    if all(hasattr(learner, name) for name in ("fit", "margins", "grid")):
        own: Learner = learner
        return own
    if getattr(learner, "subnetworks", None) is not None:
        from adanet_train.picking.subnetworks import Ensembles

        config = learner.settings()
        return Ensembles(learner.subnetworks, config.family.rounds, seed, config.run.device, estimator=learner)
    if hasattr(learner, "fit") and hasattr(learner, "get_params"):
        from sklearn.base import is_classifier

        from adanet_train.picking.estimators import Estimator

        covered = "only classification is covered"
        check(is_classifier(learner), f"learner must be a classifier, got {type(learner).__name__}: {covered}.")
        return Estimator(learner, seed)
    module = isinstance(learner, torch.nn.Module)
    made = "learner must be a function that returns an untrained nn.Module, got a module: give for example"
    check(not module, f"{made} lambda: Net(); to certify a trained network use compress.")
    check(callable(learner), f"learner must be a name, a classifier or a function, got a {type(learner).__name__}.")
    from adanet_train.picking.modules import Module

    return Module(learner, seed)


def exposed(picked: Picked, points: Labelled, learner: Learner) -> Any:
    """The predictor as a user wants it: one of our networks as a classifier with its model file."""
    from adanet_train.picking.subnetworks import Ensembles

    if isinstance(learner, Ensembles):
        return learner.classifier(picked.predictor)
    if not isinstance(picked.predictor, Mapped) or not isinstance(learner, Scaled):
        return picked.predictor
    from adanet_train.picking.files import classifier

    return classifier(picked, points, learner)


def sample_digest(points: Labelled) -> str:
    """SHA-256 of the shape, the values of the rows and the labels."""
    digest = hashlib.sha256(f"{points.X.shape}\n".encode())
    digest.update(np.ascontiguousarray(points.keys).data if points.keys.dtype.kind == "u" else points.keys.tobytes())
    digest.update(repr(points.classes.tolist()).encode())
    return digest.hexdigest()
