"""adanet-experiment certificates: bounds on the risk of networks on real data, and their test errors.

For every data set: a linear network trained for its certificate; the paper's bounds, printed and corrected, on the
l1-linear network of AdaNet.CVX; 100 ReLU units trained as usual on nine tenths and bounded on the tenth held out;
100 ReLU units with random weights, whose prior is trained on one half of the points and whose certificate is from
the other; and AdaNet trained by picking. The networks of `usual_networks` are compressed (occam) or left as they are
(disagreement).
A row is one bound on one network. The file is written after each row, and the same command continues from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from torch import Tensor

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.rounding import upward
from adanet_train.app import run
from adanet_train.app.inputs import Asked, RunInputs, read_inputs
from adanet_train.certificate import randomised
from adanet_train.core.config import Config
from adanet_train.core.points import Points
from adanet_train.core.training import Trained
from adanet_train.data.fields import Sample
from adanet_train.model.trained import model_of
from adanet_train.picking.train import plan_of
from adanet_train.search.weak_learners import generator
from verify.experiments.protocols import usual_networks
from verify.experiments.running import results
from verify.experiments.running.results import Row

DELTA = 0.05


@dataclass(frozen=True)
class MappedData:
    """A data set and the feature map fixed for it."""

    name: str
    features: str | None = None
    has_test: bool = True
    only: tuple[str, ...] = ()
    """Methods that are for these data alone; none: all the others."""

    @property
    def label(self) -> str:
        return f"{self.name} {self.features}" if self.features else self.name

    def has(self, method: str) -> bool:
        return method in self.only if self.only else method not in OF_NETWORKS


SETS = (
    MappedData("digits:3-8", has_test=False),
    MappedData("digits:odd-even", has_test=False),
    MappedData("breast-cancer", "learned:0.1", has_test=False),
    *(MappedData(f"mnist:{pair}", features) for features in (None, "hog") for pair in ("0-1", "1-7", "3-8", "4-9")),
    *(
        MappedData(f"cifar10:{pair}")
        for pair in ("deer-truck", "deer-horse", "automobile-truck", "cat-dog", "dog-horse")
    ),
    *(MappedData(f"fashion:{pair}", "hog") for pair in ("coat-shirt", "pullover-coat", "sneaker-boot")),
    MappedData("xor"),
    *(
        MappedData(name, only=("occam", "disagreement") if name == "mnist LeNet" else ("occam",))
        for name in usual_networks.CASES
    ),
)
XOR_POINTS, XOR_COLUMNS = 2_000, 10


def inputs(
    data: MappedData,
    data_dir: str | None,
    seed: int,
    *,
    certificate: str | None,
    holdout: float | None = None,
    start: Any = None,
) -> RunInputs:
    if data.name == "xor":
        return xor(holdout, seed)
    test = data.name if data.has_test else None
    more: dict[str, Any] = {"features": data.features, "certificate": certificate, "holdout": holdout, "start": start}
    return read_inputs(data.name, Asked(test, data_dir=data_dir, seed=seed, **more))


def xor(holdout: float | None, seed: int) -> RunInputs:
    """x uniform on [-1, 1]^10 with a constant behind it, y = sgn(x_1 x_2).

    Halfspaces do badly: the best one along x_1 + x_2, with threshold 2/3, errs on a third.
    """
    draw = np.random.default_rng(seed)
    with TemporaryDirectory() as folder:
        for name in ("sample", "test"):
            X = draw.uniform(-1, 1, (XOR_POINTS, XOR_COLUMNS))
            Psi = np.hstack([X, np.ones((XOR_POINTS, 1))])
            np.savez(Path(folder) / f"{name}.npz", Psi=Psi, y=np.where(X[:, 0] * X[:, 1] > 0, 1, -1))
        asked = Asked(f"{folder}/test.npz", certificate="vote", holdout=holdout, seed=seed)
        return read_inputs(f"{folder}/sample.npz", asked)


# The methods: rows of one data set


def linear(data: MappedData, data_dir: str | None, seed: int) -> Iterator[Row]:
    """The linear network trained for vote-certificate."""
    given = inputs(data, data_dir, seed, certificate="vote")
    config = Config(objective="vote", delta=DELTA, seed=seed)
    trained = run.trainer("adanet")(given.Psi, given.y, config)
    yield _row(trained, given, trained.history[-1]["certificate"])
    yield from _todays(trained, given)


def todays(data: MappedData, data_dir: str | None, seed: int) -> Iterator[Row]:
    """The paper's bounds, printed and corrected, on an l1-linear network, Γ = .03."""
    given = inputs(data, data_dir, seed, certificate="vote")
    config = Config(p=1.0, Lambda=1.0, max_depth=1, rounds=2, lam=0.0, beta=0.03, step="exact", seed=seed)
    yield from _todays(run.trainer("cvx-exact")(given.Psi, given.y, config), given, "cvx-exact")


def held_out(data: MappedData, data_dir: str | None, seed: int) -> Iterator[Row]:
    """100 ReLU units trained as usual on nine tenths of the points, and Clopper-Pearson on the rest."""
    given, (Psi, y), trained = units(data, data_dir, seed, 0.1)
    bound = clopper_pearson(round(run.error_rate(trained.network, Psi, y) * len(y)), len(y), DELTA)
    yield _row(trained, given, {"id": "held-out", "raw": bound}, held_out=len(y))


def units(data: MappedData, data_dir: str | None, seed: int, share: float) -> tuple[RunInputs, Any, Trained]:
    """What was read, the share of the points that was kept aside, and 100 ReLU units trained as usual on the rest."""
    given = inputs(data, data_dir, seed, certificate="vote", holdout=share)
    config = Config(hidden=(100,), lam=1e-5, steps=2_000, seed=seed)
    return given, given.holdout, run.trainer("nn")(given.Psi, given.y, config)


def stochastic(data: MappedData, data_dir: str | None, seed: int) -> Iterator[Row]:
    """100 ReLU units with random weights; m counts the half of the points that the statement is from."""
    given, (rest, y_rest), trained = units(data, data_dir, seed, 0.5)
    judged = randomised.train(trained.network, (given.Psi, given.y), (rest.whole(), y_rest), DELTA, seed)
    terms = {"KL": judged.KL, "s": judged.s, "empirical": judged.error}
    bound = {"id": "stochastic-certificate", "raw": judged.raw, **terms}
    row = _row(replace(trained, network=judged.network), given, bound, prior_points=len(given.y))
    draw = generator(seed, 2, 0)
    if given.test is not None:
        Psi, y = given.test[0].whole(), given.test[1]
        row["test_error"] = randomised.errors(judged.network, Psi, y, judged.s, 1, draw) / len(y)
    yield row | {"m": len(y_rest), "train_error": judged.error}


def picked(data: MappedData, data_dir: str | None, seed: int) -> Iterator[Row]:
    """AdaNet trained by picking, from a start on a quarter; a map that has to be learned is fitted on the start."""
    config = Config(objective="certificate", delta=DELTA, seed=seed, start=0.25)
    features = None if (data.features or "").startswith("learned") else data.features
    given = inputs(replace(data, features=features), data_dir, seed, certificate=None, start=plan_of(config).split)
    trained = run.trainer("adanet")(given.Psi, given.y, config)
    bound = run.certificate(trained, len(given.y))
    assert bound is not None
    counts = {name: bound[name] for name in ("N", "picked", "left", "start_bound")}
    yield _row(trained, given, {"id": "pick-certificate", "raw": bound["bound"], **counts})


def occam(data: MappedData, data_dir: str | None, seed: int) -> Iterator[Row]:
    """A network trained as usual, then compressed."""
    yield {**usual_networks.occam(data.name, data_dir, seed, DELTA), "delta": DELTA}


def disagreement(data: MappedData, data_dir: str | None, seed: int) -> Iterator[Row]:
    """A network as it is, certified by a picked one and 5,000 points without labels."""
    yield {**usual_networks.untouched(data.name, data_dir, seed, DELTA), "delta": DELTA}


METHODS: Mapping[str, Callable[[MappedData, str | None, int], Iterator[Row]]] = {
    "linear": linear,
    "held-out": held_out,
    "l1-linear": todays,
    "stochastic": stochastic,
    "pick": picked,
    "occam": occam,
    "disagreement": disagreement,
}
OF_NETWORKS = ("occam", "disagreement")
"""Methods for the data that name them."""


def _row(trained: Trained, given: RunInputs, bound: Mapping[str, Any], **more: Any) -> Row:
    terms = {name: value for name, value in bound.items() if name not in ("id", "raw")}
    return {
        "m": len(given.y),
        "n": list(trained.network.n),
        "train_error": run.error_rate(trained.network, given.Psi, given.y),
        "test_error": _test_error(trained, given.test),
        "bound id": bound["id"],
        "bound": bound["raw"],
        "delta": DELTA,
        "terms": terms,
        **more,
    }


def _test_error(trained: Trained, test: tuple[Points, Tensor] | None) -> float | None:
    return None if test is None else run.error_rate(trained.network, *test)


def _todays(trained: Trained, given: RunInputs, method: str = "adanet") -> Iterator[Row]:
    """What verify-bounds says about the network without sampling, with the raw values of the paper's bounds."""
    from verify.records.question import Question
    from verify.rows import report

    sample = Sample.of(given.Psi, given.y)
    model = model_of(trained, method, features=given.features, sample=sample)
    built = report.build(model, Question(delta=Fraction(1, 20), draws=None))
    for bound in built.bounds:
        if bound.raw is not None and bound.id in TODAYS:
            yield _row(trained, given, {"id": bound.id, "raw": bound.raw}, applies=bound.applies)


TODAYS = ("theorem-1", "corollary-1", "margin-bound-uniform", "a-posteriori", "a-posteriori-bounded")


# The protocol


def certificates(
    out: str | Path,
    data_dir: str | None,
    seed: int,
    methods: Sequence[str],
    chosen: Sequence[str],
    report: Callable[[str], None],
) -> None:
    """Every method on every chosen data set that the file does not hold yet."""
    command = f"adanet-experiment certificates --data-dir DIR --seed {seed}"
    asked = [(data, method) for method in methods for data in SETS if data.label in chosen and data.has(method)]
    for data, method in results.missing(
        out, asked, lambda work: (work[0].label, work[1]), lambda row: (row["data"], row["method"])
    ):
        start = time.process_time()
        rows = list(METHODS[method](data, data_dir, seed))
        seconds = round(time.process_time() - start, 1)
        done = [
            *results.stored(out),
            *({"data": data.label, "method": method, **row, "cpu_seconds": seconds} for row in rows),
        ]
        spent = {(row["data"], row["method"]): row["cpu_seconds"] for row in done}
        results.write(out, "certificates", command, seed, sum(spent.values()), done)
        report(f"{data.label}, {method}: " + ", ".join(f"{row['bound id']} {upward(row['bound'])}" for row in rows))
