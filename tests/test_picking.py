"""Picking: every learner conforms, and what would make the certificate false does not happen or is refused."""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from torch import nn

from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.certificates.pick import pick_certificate
from adanet_theory.rounding import upward
from adanet_train import certify
from adanet_train.core.bar import Bar
from adanet_train.core.config import Config
from adanet_train.model import model_file
from adanet_train.model.trained import model_of, trained_of
from adanet_train.picking.certify import labelled, replay
from adanet_train.picking.core import Labelled, Learner, Picked, Plan, pays, pick, wrong
from adanet_train.picking.estimators import Estimator
from adanet_train.picking.files import check_file
from adanet_train.picking.modules import Module, shifted
from adanet_train.picking.networks import AdaNet, Refit, Scaled
from adanet_train.picking.record import Record, checked
from adanet_train.picking.subnetworks import Ensembles
from adanet_train.search.context import Context
from tests.refusals import says


def digits(*classes: int) -> Labelled:
    data = load_digits()
    rows = np.isin(data.target, classes)
    return labelled(data.data[rows] / 16, data.target[rows])


def small(points: Labelled, m: int, seed: int = 0) -> Labelled:
    return points[np.random.default_rng(seed).permutation(len(points))[:m]]


PAIR = small(digits(1, 8), 160)
THREE = labelled(*load_iris(return_X_y=True))
CONFIG = Config(learner="committee", lam=None, rounds=2, width=5, members=2, epochs=10)


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))


def builder(context: Context) -> nn.Module:
    return nn.Sequential(nn.Linear(64, 8 + context.round), nn.ReLU(), nn.Linear(8 + context.round, 1))


LEARNERS: dict[str, tuple[Learner, Labelled]] = {
    "adanet": (Scaled(AdaNet(CONFIG, steps=20)), PAIR),
    "adanet, three classes": (Scaled(AdaNet(CONFIG, steps=20)), THREE),
    "adanet, gradient": (Scaled(AdaNet(Config(rounds=2, width=5, steps=100, max_depth=2), steps=20)), PAIR),
    "cvx": (Scaled(Refit("cvx", Config(rounds=5))), PAIR),
    "cvx-exact": (Scaled(Refit("cvx-exact", Config(rounds=3, step="exact", p=1.0))), PAIR),
    "nn": (Scaled(Refit("nn", Config(hidden=(5,), steps=100))), PAIR),
    "lr": (Scaled(Refit("lr", Config(steps=100))), PAIR),
    "svc": (Estimator(SVC()), PAIR),
    "pipeline": (Estimator(make_pipeline(StandardScaler(), LogisticRegression())), THREE),
    "module": (Module(network, epochs=3, steps=5), PAIR),
    "subnetworks": (Ensembles([builder], rounds=2), PAIR),
}


def same(a: Picked, b: Picked, learner: Learner, points: Labelled) -> bool:
    """The same picks by row number, and the same margins to the last bit."""
    picks = (a.picks.tolist(), a.rounds, a.left.tolist()) == (b.picks.tolist(), b.rounds, b.left.tolist())
    return picks and np.array_equal(learner.margins(a.predictor, points), learner.margins(b.predictor, points))


@dataclass(frozen=True)
class Reordered(Plan):
    """The split of another plan, after its rows were moved or left out: row i is now in place[i]."""

    place: tuple[int, ...] = ()
    of: int = 0

    def split(self, m: int) -> tuple[Any, Any]:
        place = np.array(self.place)
        return tuple(np.sort(place[rows][place[rows] >= 0]) for rows in super().split(self.of))


PLAN = Plan(r=2, K=6)


@pytest.fixture(autouse=True, scope="module")
def quarter() -> Iterator[None]:
    """Where no start is given a quarter, so that there is much to pick; the default leaves little."""
    share = Plan.share
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Plan, "share", lambda plan, m: 0.25 if plan.start is None else share(plan, m))
        yield


@functools.cache
def run_of(name: str) -> tuple[Picked, list[Picked]]:
    """The run of a learner, and all its states on the way."""
    states: list[Picked] = []
    return pick(*LEARNERS[name], PLAN, callback=states.append), states


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_deterministic(name: str) -> None:
    (first, _), (learner, points) = run_of(name), LEARNERS[name]
    state = torch.random.get_rng_state()
    assert same(first, pick(learner, points, PLAN), learner, points)
    assert torch.equal(state, torch.random.get_rng_state())
    assert len(first.picks) > 0, "nothing was picked: the test says nothing"


@pytest.mark.parametrize("name", LEARNERS)
def test_the_order_of_the_rows_of_S_changes_nothing(name: str) -> None:
    (found, _), (learner, points) = run_of(name), LEARNERS[name]
    _, S = PLAN.split(len(points))
    shuffled = np.arange(len(points))
    shuffled[S] = np.random.default_rng(1).permutation(S)  # the row that now stands in each place
    place = tuple(np.argsort(shuffled).tolist())
    moved = pick(learner, points[shuffled], Reordered(r=2, K=6, place=place, of=len(points)))
    back = replace(moved, picks=shuffled[moved.picks], left=shuffled[moved.left])
    assert same(found, back, learner, points)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_sample_between_picks_the_same(name: str) -> None:
    """Preference: c(V) = c(S) whenever c(S) <= V <= S."""
    (found, _), (learner, points) = run_of(name), LEARNERS[name]
    needed = np.concatenate([found.start, found.picks, found.left])
    draw = np.random.default_rng(2)
    for share in (0.0, 0.5):
        kept = np.union1d(needed, np.flatnonzero(draw.random(len(points)) < share))
        place = np.full(len(points), -1)
        place[kept] = np.arange(len(kept))
        within = pick(learner, points[kept], Reordered(r=2, K=6, place=tuple(place.tolist()), of=len(points)))
        assert same(found, replace(within, picks=kept[within.picks], left=kept[within.left]), learner, points)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_sees_the_start_and_the_picks_alone(name: str) -> None:
    """Fitted again from these rows alone, with no other row ever shown, it is the same predictor."""
    (found, _), (learner, points) = run_of(name), LEARNERS[name]
    predictor = learner.fit(points[found.start], points[[]], None)
    for end in found.rounds:
        predictor = learner.fit(points[found.start], points[found.picks[:end]], predictor)
    assert np.array_equal(learner.margins(predictor, points), learner.margins(found.predictor, points))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_that_was_interrupted_ends_with_the_same_bits(name: str) -> None:
    (found, states), (learner, points) = run_of(name), LEARNERS[name]
    for state in states[:-1]:
        assert not state.finished
        assert same(found, pick(learner, points, PLAN, resume=state), learner, points)


# What makes the certificate false


class LastLabel:
    """Predicts the label of the last pick."""

    grid = 1.0

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> int:
        return int((P + T).y[-1])

    def margins(self, predictor: int, points: Labelled) -> Any:
        return np.where(points.y == predictor, 1.0, -1.0)


def test_copies_of_a_picked_row_stay_outside_T() -> None:
    """One x and coin labels: by value a single pick would do, and R = 1/2 would be certified at 0.2."""
    y = np.random.default_rng(0).integers(2, size=60)
    found = pick(LastLabel(), labelled(np.zeros((60, 1)), y), Plan(r=1, K=50))
    assert found.k >= 20
    assert found.at(0.5) >= 0.5


class Memorises:
    """Right on every row that `margins` was ever asked about."""

    grid = 1.0

    def __init__(self) -> None:
        self.seen: set[bytes] = set()

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> set[bytes]:
        return set(self.seen)

    def margins(self, predictor: set[bytes], points: Labelled) -> Any:
        self.seen |= {x.tobytes() for x in points.X}
        return np.array([1.0 if x.tobytes() in predictor else -1.0 for x in points.X])


def test_a_learner_that_looks_at_S_learns_nothing_from_it() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    found = pick(Memorises(), labelled(X, np.arange(40) % 2), Plan(r=1, K=4))
    assert found.k == found.N


class Constant:
    grid = 1e-3

    def __init__(self, margins: Any) -> None:
        self.values = np.asarray(margins)

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> None:
        return None

    def margins(self, predictor: None, points: Labelled) -> Any:
        return self.values[points.X[:, 0].astype(int)]


def rows(m: int) -> Labelled:
    return Labelled(np.arange(float(m))[:, None], np.arange(m) % 2, np.arange(2))


def test_what_is_left_counts() -> None:
    found = pick(Constant(-np.ones(80)), rows(80), Plan(K=4))
    assert (found.N, len(found.picks), len(found.left), found.k) == (60, 4, 56, 60)
    assert found.at(0.05) == 1
    found = pick(Constant(-np.ones(80)), rows(80), Plan(K=0))
    assert (len(found.picks), found.k, found.first) == (0, 60, 60)


def test_ties_and_nan_are_errors_and_the_worst_come_first() -> None:
    margins = np.ones(80)
    points, plan = rows(80), Plan(r=1, K=8)
    _, S = plan.split(80)
    margins[S[:6]] = [0.0, np.nan, -5.0, 4e-4, -np.inf, 6e-4]  # 4e-4 is 0 on the grid, 6e-4 is not
    found = pick(Constant(margins), points, plan)
    assert set(found.picks) == set(S[:5])
    assert set(found.picks[:2]) == {S[1], S[4]}
    assert found.picks[2] == S[2]
    nearest = pick(Constant(margins), points, replace(plan, order="nearest"))
    assert nearest.picks[2] == S[2]
    assert set(nearest.picks[3:]) == {S[1], S[4]}
    wide = wrong(Constant(margins), None, points, S, Plan(threshold=1.0), points.keys)
    assert len(wide) == len(S)


def test_margins_that_differ_by_rounding_pick_the_same() -> None:
    draw = np.random.default_rng(0)
    margins = np.round(draw.normal(size=80), 1)
    noisy = margins + draw.uniform(-4e-4, 4e-4, size=80)
    for order in ("worst", "nearest", "hash"):
        plan = Plan(K=80, r=3, order=order)
        assert pick(Constant(margins), rows(80), plan).picks.tolist() == (
            pick(Constant(noisy), rows(80), plan).picks.tolist()
        )


@pytest.mark.parametrize("order", ["worst", "nearest", "hash"])
def test_ties_go_by_the_value_of_the_rows(order: str) -> None:
    points, plan = rows(80), Plan(r=3, K=6, order=order)
    found = pick(Constant(-np.ones(80)), points, plan)
    _, S = plan.split(80)
    shuffled = np.arange(80)
    shuffled[S] = S[::-1]
    moved = pick(Constant(-np.ones(80)), points[shuffled], plan)
    assert shuffled[moved.picks].tolist() == found.picks.tolist()


def test_the_scaler_is_fitted_on_the_start() -> None:
    """A row far away from the start is clipped there: it did not move the map."""
    X, y = PAIR.X.copy(), PAIR.y
    _, S = Plan().split(len(X))
    before = certify("lr", X, y, K=0).predictor.model_.features
    X[S] *= 1000
    after = certify("lr", X, y, K=0).predictor.model_.features
    assert np.array_equal(before.high, after.high)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"start": 0.0}, r"start must be a share in \(0, 1\), got start=0.0."),
        ({"start": 0.001}, "start=0.001 must leave rows on both sides, got 0 of m=160 rows."),
        ({"r": 0}, "r must be an integer >= 1, got r=0."),
        ({"K": -1}, "K must be an integer >= 0 or a rising list of them, got K=-1."),
        ({"threshold": -1.0}, "threshold must be finite and >= 0"),
        ({"order": "best"}, "order must be one of worst, nearest, hash, got order='best'."),
        ({"delta": 1.0}, r"delta must be in \(0, 1\), got delta=1.0."),
        ({"seed": -1}, "seed must be an integer >= 0, got seed=-1."),
    ],
)
def test_settings_out_of_range(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certify(SVC(), PAIR.X, PAIR.y, **given)


def test_learners_and_samples_that_cannot_be() -> None:
    from sklearn.svm import SVR

    with pytest.raises(ValueError, match=r"'adanett'.*did you mean 'adanet'"):
        certify("adanett", PAIR.X, PAIR.y)
    with pytest.raises(ValueError, match="learner must be one of adanet"):
        certify("mlp", PAIR.X, PAIR.y)
    with pytest.raises(ValueError, match=r"^learner .*classifier.* SVR"):
        certify(SVR(), PAIR.X, PAIR.y)
    with pytest.raises(ValueError, match=r"got a module.*lambda: Net\(\)"):
        certify(network(), PAIR.X, PAIR.y)
    with pytest.raises(ValueError, match=r"^learner .*name.*classifier.*function.* int"):
        certify(3, PAIR.X, PAIR.y)
    with pytest.raises(ValueError, match=r"^learner .*nn\.Module.* int"):
        certify(lambda: 3, PAIR.X, PAIR.y)
    with pytest.raises(ValueError, match=r"^y .*two classes.* 1\."):
        certify(SVC(), PAIR.X, np.zeros(160))
    rare = np.array([1, *[0] * 159])
    with pytest.raises(ValueError, match=r"start .*every class.*class 1 .*40 rows"):
        certify(SVC(), PAIR.X, rare)


def test_rows_and_labels_that_cannot_be() -> None:
    X, y = PAIR.X.copy(), PAIR.y
    with pytest.raises(ValueError, match="this is regression; only classification is covered"):
        certify(network, X, np.linspace(-3.48, 2, len(X)))
    with pytest.raises(ValueError, match=r"160 classes.*160 rows.*regression"):
        certify(SVC(), X, np.arange(len(X)))
    X[130, 7] = np.nan
    for learner in (network, "lr", SVC(), Module(network)):
        with pytest.raises(ValueError, match=r"^X .*finite.*nan.*row 130, column 7"):
            certify(learner, X, y)
    assert certify(HistGradientBoostingClassifier(max_iter=2), X, y, K=0).N == 120
    with pytest.raises(ValueError, match=r"^X .*\(63,\).*module"):
        certify(network, PAIR.X[:, 1:], y)
    with pytest.raises(ValueError, match=r"module .*3 outputs.* got.*\(2, 2\)"):
        certify(lambda: nn.Linear(4, 2), THREE.X, THREE.y, discrete=True)
    with pytest.raises(TypeError, match=r"'detla'.*did you mean 'delta'"):
        certify("lr", PAIR.X, y, detla=0.1)


@pytest.mark.parametrize("name", ["lr", "svc", "module", "two logits", "own"])
def test_what_is_certified_predicts_names(name: str) -> None:
    names = np.array(["one", "eight"])[PAIR.y]
    two = Module(lambda: nn.Linear(64, 2), epochs=3, steps=5)
    learner = {"lr": "lr", "svc": SVC(), "module": LEARNERS["module"][0], "two logits": two, "own": Own()}[name]
    certified = certify(learner, PAIR.X, names, K=2)
    outside = np.setdiff1d(np.arange(160), np.concatenate([certified.start, certified.picks]))
    wrong = outside[certified.predict(PAIR.X[outside]) != names[outside]]
    assert np.array_equal(np.sort(certified.left), wrong)
    assert certified.predict(PAIR.X[:3]).tolist() == certified.predict(PAIR.X)[:3].tolist()


class Own:
    """A learner of the protocol: the nearest mean."""

    grid = 2.0**-20

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> Any:
        points = P + T
        return np.stack([points.X[points.y == c].mean(0) for c in (0, 1)])

    def margins(self, predictor: Any, points: Labelled) -> Any:
        apart = ((points.X[:, None] - predictor) ** 2).sum(-1)
        rows = np.arange(len(points))
        return apart[rows, 1 - points.y] - apart[rows, points.y]


def test_rows_that_repeat_are_named_before_the_number() -> None:
    grid = np.array(list(itertools.product(range(3), repeat=4)), dtype=float)
    X = grid[np.random.default_rng(0).integers(0, 81, 400)]
    y = (X.sum(1) > 4).astype(int)
    distinct = len(np.unique(np.column_stack([X, y]), axis=0))
    counted = f"{400 - distinct} of 400 rows repeat an earlier one"
    with pytest.warns(UserWarning, match=rf"{counted}.*different people or events.*discrete=True"):
        found = certify("lr", X, y, K=0)
    assert found.repeats == 400 - distinct
    assert repr(found).startswith(f"Certified(no certificate, as {counted}; only with discrete=True: risk <= ")
    said = certify("lr", X, y, K=0, discrete=True)
    assert said.bound == found.bound
    says(repr(said), ["identical rows", counted])
    assert replay(said.record, "lr", X, y).certified.discrete
    assert re.fullmatch(
        r"Certified\(risk <= 0\..*; assumes: iid draws, recipe and features fixed before the rows\)",
        repr(certify(SVC(), PAIR.X, PAIR.y, K=2)),
    )


def test_small_work_has_one_thread_and_says_how_far_it_is(capsys: Any, monkeypatch: Any) -> None:
    threads, seen = torch.get_num_threads(), list[int]()

    class Watched(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append(torch.get_num_threads())
            return super().forward(x)

    torch.set_num_threads(2)
    try:
        certify(lambda: Watched(64, 1), PAIR.X, PAIR.y, K=2)
        assert set(seen) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(Bar, "EVERY", 0.0)
    certify(SVC(), PAIR.X, np.roll(PAIR.y, 1), K=3, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"certifying 33%, 1 of at most 3 picks, \d+ of the other 119 rows wrong, .* left", lines[2])


# A list of K


class Switch:
    """Two networks with fixed errors: h_0 errs where x is 1 or 3, and after a pick where x is 2 or 3."""

    grid = 1.0

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> tuple[int, int]:
        return (1, 3) if previous is None else (2, 3)

    def margins(self, predictor: tuple[int, int], points: Labelled) -> Any:
        return np.where(np.isin(points.X[:, 0], predictor), -1.0, 1.0)


class LastRow(Plan):
    """The start is the first two rows."""

    def split(self, m: int) -> tuple[Any, Any]:
        return np.arange(2), np.arange(2, m)


def test_the_best_of_a_list_is_paid_for() -> None:
    """All samples of a law with four atoms, exactly: the kept certificate fails at most delta often, unpaid more."""
    N, delta = 5, 0.5
    R = [1.001 * (1 - delta ** (1 / N)), 1.001 * pick_certificate(1, N, delta)]  # just above what no error certifies
    atoms = [p * q for q in (1 - R[1], R[1]) for p in (1 - R[0], R[0])]
    failed = {"paid": 0.0, "unpaid": 0.0}
    for counts in itertools.product(range(N + 1), repeat=4):
        if sum(counts) == N:
            ways = math.factorial(N) / math.prod(map(math.factorial, counts))
            probability = ways * math.prod(p**n for p, n in zip(atoms, counts, strict=True))
            x = np.array([0.0, 0.0, *np.repeat(np.arange(4), counts)])
            points = Labelled(x[:, None], np.array([0, 1, *[0] * N]), np.arange(2))
            run = pick(Switch(), points, LastRow(r=1, K=(0, 1)))
            for name, level in (("paid", delta), ("unpaid", 2 * delta - 1e-12)):
                kept = run.kept(level)
                failed[name] += probability * (R[len(kept.picks)] > kept.at(level))
    assert failed["paid"] <= delta < failed["unpaid"]


@pytest.mark.parametrize("name", ["adanet", "svc", "module"])
def test_the_runs_of_a_list_are_those_with_each_K(name: str) -> None:
    learner, points = LEARNERS[name]
    plan = Plan(r=2, K=(0, 1, 3))
    states: list[Picked] = []
    found = pick(learner, points, plan, callback=states.append)
    for run, K in zip((*found.shorter, found), (0, 1, 3), strict=True):
        alone = pick(learner, points, replace(plan, K=plan.ends[: 1 + plan.ends.index(K)]))
        assert same(run, alone, learner, points)
        assert len(run.picks) == K
    assert found.rounds == (1, 3)
    start, *others = found.shorter
    assert start.at(0.05) == pytest.approx(clopper_pearson(start.k, start.N, 0.05 / 3))
    assert all(run.at(0.05) == pytest.approx(pick_certificate(run.k, run.N, 0.05 / 3)) for run in (*others, found))
    assert found.kept(0.05).at(0.05) == min(run.at(0.05) for run in (*found.shorter, found))
    for state in states[:-1]:
        again = pick(learner, points, plan, resume=state)
        runs = zip((*found.shorter, found), (*again.shorter, again), strict=True)
        assert all(same(a, b, learner, points) for a, b in runs)


def test_a_list_whose_rows_run_out() -> None:
    margins = np.ones(80)
    _, S = Plan().split(80)
    margins[S[:3]] = -1
    found = pick(Constant(margins), rows(80), Plan(r=2, K=(0, 2, 8, 16)))
    assert [len(run.picks) for run in (*found.shorter, found)] == [0, 2, 3]
    assert found.finished
    assert found.kept(0.05).is_start  # as many wrong rows, and Clopper-Pearson is smaller
    alone = pick(Constant(margins), rows(80), Plan(K=0))
    assert alone.at(0.05) == pytest.approx(clopper_pearson(3, 60, 0.05))


def test_the_record_of_a_list_is_replayed() -> None:
    found = certify(SVC(), PAIR.X, PAIR.y, r=2, K=[0, 1, 6])
    record = json.loads(json.dumps(found.record))
    assert record["recipe"]["K"] == [0, 1, 6]
    assert replay(record, SVC(), PAIR.X, PAIR.y).status == "holds"
    fewer = dict(record, picks=record["picks"][:1], rounds=record["rounds"][:1])
    assert replay(fewer, SVC(C=1e-4), PAIR.X, PAIR.y).status != "holds"
    with pytest.raises(ValueError, match=r"^K .*integer >= 0.*rising.* K=\[8, 0\]\."):
        certify(SVC(), PAIR.X, PAIR.y, K=[8, 0])
    with pytest.raises(ValueError, match=r"^picks .*rising.* picks=\(3, 3\)\."):
        Config(picks=(3, 3))


# A dry run inside the start


def flipped(points: Labelled, share: float, seed: int = 0) -> Labelled:
    moved = np.random.default_rng(seed).random(len(points)) < share
    return replace(points, y=np.where(moved, 1 - points.y, points.y))


HALVES = labelled(load_digits().data / 16, load_digits().target < 5)
"""Digits below 5 against the others: from a start of 80 rows, picking often has the smaller certificate."""


def test_wrong_labels_are_not_picked() -> None:
    """Fitting them breaks more than it mends."""
    points = small(HALVES, 400)
    clean, noisy = (
        [pick(Estimator(SVC()), flipped(points, share), Plan(start=0.2, seed=i)) for i in (1, 4)]
        for share in (0.0, 0.3)
    )
    assert [run.plan.K for run in clean] == [24, 0]
    assert all(run.is_start for run in noisy)
    assert noisy[0].at(0.05) == pytest.approx(clopper_pearson(noisy[0].first, noisy[0].N, 0.05))


@pytest.mark.parametrize("name", ["adanet", "svc"])
def test_the_dry_run_sees_the_start_alone(name: str) -> None:
    """Other rows outside the start, other copies of a learner: the same K. What it chooses is what K alone would do."""
    learner, points = LEARNERS[name]
    points = points if name == "adanet" else small(HALVES, 400)  # K is 0, and 24
    plan = Plan(start=0.2, seed=1, r=3)
    _, S = plan.split(len(points))
    other = replace(points, X=points.X.copy(), y=points.y.copy())
    other.X[S] = np.random.default_rng(0).random(other.X[S].shape)
    other.y[S] = 1 - other.y[S]
    found = pick(learner, points, plan)
    assert pick(learner, other, plan).plan == found.plan
    assert same(found, pick(learner, points, replace(plan, K=found.plan.K)), learner, points)


class Scripted:
    """Wrong rows by the number of picks: h_0 errs on x < errs[0], after a pick on x < errs[1], and so on."""

    grid = 1.0

    def __init__(self, *errs: int) -> None:
        self.errs = errs

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> int:
        return self.errs[min(len(T), len(self.errs) - 1)]

    def margins(self, predictor: int, points: Labelled) -> Any:
        return np.where(points.X[:, 0] < predictor, -1.0, 1.0)


@pytest.mark.parametrize(
    ("errs", "K"),
    [
        ((20,), 0),  # every pick is one error less
        ((20, 20, 20, 40), 0),
        ((20, 20, 20, 5), 24),
        ((20, 20, 20, 18), 0),  # fewer picks and errors in all, but a larger certificate
        ((0,), 0),
    ],
)
def test_picking_pays_if_it_ends_with_a_smaller_certificate(errs: tuple[int, ...], K: int) -> None:
    points = Labelled(np.repeat(np.arange(50.0), 12)[:, None], np.arange(600) % 2, np.arange(2))
    for rows in (slice(None), slice(None, None, 5)):
        P = points[np.arange(600)[rows]]
        assert pays(Scripted(*errs), P, Plan(r=1).settled(600, 2)) == (K > 0)
    assert pick(Scripted(*errs), points, Plan(r=1)).plan.K == K
    assert pick(Scripted(*errs), points, Plan(r=1, K=24)).plan.K == 24


def test_a_half_that_is_too_small_says_nothing() -> None:
    assert pick(Estimator(KNeighborsClassifier(30)), PAIR, Plan()).plan.K == 0
    alone = Labelled(np.arange(8.0)[:, None], np.array([1, *[0] * 7]), np.arange(2))
    assert not pays(Estimator(SVC()), alone, Plan(r=1).settled(40, 2))


def test_the_record_of_a_dry_run_is_replayed() -> None:
    points = small(HALVES, 400)
    for y, K in ((points.y, 24), (flipped(points, 0.3).y, 0)):
        found = certify(SVC(), points.X, y, start=0.2, seed=1)
        record = json.loads(json.dumps(found.record))
        assert (record["recipe"]["K"], record["recipe"]["dry"]) == (K, True)
        assert replay(record, SVC(), points.X, y).status == "holds"
        before = {name: value for name, value in record["recipe"].items() if name != "dry"}
        assert not Record.from_dict(record | {"recipe": before}, 400).plan.dry
    forged = certify(SVC(), points.X, points.y, start=0.2, K=0, seed=1).record
    forged["recipe"]["dry"] = True
    assert replay(forged, SVC(), points.X, points.y).status == "fails"
    with pytest.raises(ValueError, match=r"^dry .*true or false.* dry=1\."):
        Record.from_dict(record | {"recipe": record["recipe"] | {"dry": 1}}, 400)


# The certificate and its record


def test_a_printed_bound_is_never_below_the_bound() -> None:
    for delta in (0.01, 0.02, 0.03, 0.05, 0.07, 0.1):
        certified = certify(SVC(), PAIR.X, PAIR.y, K=2, delta=delta)
        printed = float(repr(certified).partition("risk <= ")[2].split()[0])
        assert certified.bound <= printed < 1.01 * certified.bound


def test_a_certificate_counts() -> None:
    points = digits(3, 8)
    found = certify(SVC(C=10), points.X[:300], points.classes[points.y[:300]], r=1, K=24)
    assert found.k == len(found.picks) + len(found.left)
    assert found.N + len(found.start) == 300
    assert found.bound == pytest.approx(pick_certificate(found.k, found.N, 0.05))
    assert found.at(0.5) < found.bound < found.at(1e-6)
    assert 0 < found.start_bound < 1
    assert set(found.predictor.classes_) == {3, 8}
    assert "risk <= " in repr(found)


class Stump:
    """x > the middle between the classes, of rows on [0, 1]."""

    grid = 1e-9

    def fit(self, P: Labelled, T: Labelled, previous: Any) -> float:
        both = P + T
        return float(both.X[both.y == 0].mean() + both.X[both.y == 1].mean()) / 2

    def margins(self, predictor: float, points: Labelled) -> Any:
        return np.where(points.y == 1, 1, -1) * (points.X[:, 0] - predictor)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("order", ["worst", "nearest", "hash"])
def test_the_certificate_fails_no_more_often_than_delta(noise: float, order: str) -> None:
    """y = 1{x > 1/2}, flipped with probability `noise`: R(t) = noise + (1 - 2 noise)|t - 1/2| exactly."""
    failed, uncounted, trials = 0, 0, 200
    for trial in range(trials):
        draw = np.random.default_rng(trial)
        X = draw.random((54, 1))
        y = ((X[:, 0] > 0.5) ^ (draw.random(54) < noise)).astype(np.int64)
        found = pick(Stump(), Labelled(X, y, np.arange(2)), Plan(r=1, K=3, order=order, seed=trial))
        risk = noise + (1 - 2 * noise) * abs(found.predictor - 0.5)
        failed += risk > found.at(0.5)
        uncounted += risk > pick_certificate(len(found.picks), found.N, 0.5)
    assert failed <= 0.5 * trials
    assert noise == 0 or uncounted > 0.9 * trials  # the picks alone, without the errors that are left, say too little


def test_random_labels_are_not_certified_below_chance() -> None:
    y = np.random.default_rng(0).integers(2, size=80)
    for learner, K in ((SVC(C=1000), None), ("lr", 10)):
        assert certify(learner, PAIR.X[:80], y, K=K).bound >= 0.5


def test_a_record_is_replayed(tmp_path: Any) -> None:
    X, y = PAIR.X, PAIR.classes[PAIR.y]
    found = certify(SVC(), X, y, K=24)
    found.save(tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    assert (record["schema"], record["k"], record["N"]) == ("certify/1", found.k, found.N)
    again = replay(record, SVC(), X, y)
    assert (again.status, again.certified.bound) == ("holds", found.bound)
    assert replay(record | {"margins": "0" * 64}, SVC(), X, y).status == "assumed"
    for claim in ({"k": record["k"] - 1}, {"bound": 0.9 * record["bound"]}, {"N": record["N"] + 1}, {"k": None}):
        assert replay(record | claim, SVC(), X, y).status == "fails"
    assert replay(record | {"k": record["k"] + 1, "bound": 1.0}, SVC(), X, y).status == "holds"
    assert len(found.picks) >= 2
    swapped = record | {"picks": [record["picks"][1], record["picks"][0], *record["picks"][2:]]}
    other = replay(swapped, SVC(), X, y)
    assert other.status == "fails"
    assert f"pick 1 is row {record['picks'][0]}, the record says row {record['picks'][1]}" in other.detail
    with pytest.raises(ValueError, match=r"^X and y .*record"):
        replay(record, SVC(), X + 1, y)


RECIPE = {"start": 0.25, "r": 2, "K": 4, "order": "worst", "seed": 0, "dry": False, "learner": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"picks": [1.5]}, "picked picks must be a list of integers >= 0"),
        ({"start": [0]}, "picked start must be the 40 rows of the seed 0."),
        ({"picks": [10**9]}, "picked picks must be different rows outside the start."),
        ({"rounds": [1]}, "picked rounds must rise by at most r=2"),
        ({"first": -1}, r"picked first must be in \[0, 120\], got -1."),
        ({"recipe": 3}, "picked recipe must be a dict, got 3."),
        ({"recipe": RECIPE | {"threshold": "0"}}, "threshold must be a number >= 0, got threshold='0'"),
        ({"recipe": {}}, "picked recipe must hold K, learner, order, r, seed, start, threshold."),
    ],
)
def test_a_damaged_record_is_refused(change: dict[str, Any], message: str) -> None:
    record = Record.of(pick(Estimator(SVC()), PAIR, PLAN), {}).as_dict()
    Record.from_dict(record, 160)
    with pytest.raises(ValueError, match=message):
        Record.from_dict(record | change, 160)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (None, "record must be a dict, got a NoneType."),
        ({"delta": None}, r"record delta must be a number in \(0, 1\), got None."),
        ({"delta": 2}, "delta must be in"),
    ],
)
def test_a_damaged_record_is_not_replayed(record: Any, message: str) -> None:
    known = certify(SVC(), PAIR.X, PAIR.y, K=0).record
    with pytest.raises(ValueError, match=message):
        replay(record if record is None else known | record, SVC(), PAIR.X, PAIR.y)


@pytest.mark.parametrize(("delta", "said"), [(1e-7, "0.9999999"), (1e-300, "1 - 1e-300")])
def test_a_certificate_promises_no_more_than_it_holds(delta: float, said: str) -> None:
    assert f"with probability {said}: " in repr(certify(SVC(), PAIR.X, PAIR.y, K=0, delta=delta))


def test_a_file_is_counted_again_and_replayed(tmp_path: Any) -> None:
    learner, points = Scaled(AdaNet(CONFIG, steps=20)), PAIR
    found = certify(learner, points.X, points.y, r=2, K=4)
    found.save(tmp_path / "model.pt")
    model = model_file.read(tmp_path / "model.pt")
    assert model.version == 3
    assert model.picked is not None
    assert model.sample is not None
    Psi, y = model.sample.Psi, model.sample.y
    holds = check_file(model, Psi, y)
    assert (holds.status, holds.picked.k, holds.picked.N) == ("holds", found.k, found.N)
    assert check_file(model, Psi, y, replay=False).status == "assumed"
    fewer = {**model.picked, "picks": model.picked["picks"][:2], "rounds": [2]}
    forged = check_file(replace(model, picked=fewer), Psi, y)
    assert forged.status == "fails"
    assert model.network.output.keys()
    worse = replace(model.network, output={k: -w for k, w in model.network.output.items()})
    turned = check_file(replace(model, network=worse), Psi, y, replay=False)
    assert turned.picked.k > found.N - 20  # every row that it now gets wrong counts


def test_a_network_that_is_near_the_replay_counts_no_fewer_rows_than_that() -> None:
    """Weights within the distance of another processor could be moved until fewer rows are wrong."""
    noise = replace(PAIR, y=np.random.default_rng(0).integers(2, size=len(PAIR)))
    learner = Estimator(SVC(C=1000))
    honest = pick(learner, noise, replace(PLAN, K=2))
    assert len(honest.left) > 10
    fitted = learner.fit(noise, noise[[]], None)
    found = checked(Record.of(honest, {}), learner, fitted, noise, apart=lambda a, b: 0.01)
    assert (found.status, found.picked.k) == ("assumed", honest.k)


def test_an_interrupted_run_has_no_certificate() -> None:
    states: list[Picked] = []
    learner = Estimator(SVC())
    pick(learner, PAIR, PLAN, callback=states.append)
    early = states[0]
    assert not early.finished
    found = checked(Record.of(early, {}), learner, early.predictor, PAIR, apart=lambda a, b: 0.0, replay=False)
    assert found.status == "fails"
    assert "interrupted" in found.detail


class Beside(nn.Module):
    """A linear map, and a function of all of a batch."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.below, self.function = nn.Linear(64, 1), function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self.below(x))


def centred(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (lambda: Beside(lambda z: z - z.mean()), "different values in another batch"),
        (lambda: Beside(lambda z: z.cumsum(0)), "different values in another batch"),
        (lambda: Beside(lambda z: nn.functional.dropout(z, 0.5)), "different values when called again"),
        (make_pipeline(FunctionTransformer(centred), LogisticRegression()), "different values in another batch"),
    ],
    ids=["mean", "order", "chance", "estimator"],
)
def test_a_predictor_that_is_no_function_of_one_point_is_refused(learner: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^the predictor gives .*{message}"):
        certify(learner, PAIR.X.astype(np.float32), PAIR.y, K=1)


def test_shifts_move_images_by_a_pixel() -> None:
    x = torch.zeros(50, 1, 5, 5)
    x[:, :, 2, 2] = 1
    moved = shifted(x, torch.Generator().manual_seed(0))
    assert bool((moved.sum((1, 2, 3)) == 1).all())
    assert bool((moved[:, :, 1:4, 1:4].sum((1, 2, 3)) == 1).all())
    assert len({tuple(image.flatten().tolist()) for image in moved}) == 9


def test_a_subnetwork_is_added_only_where_the_picks_are_not_fitted() -> None:
    learner = AdaNet(CONFIG.replace(rounds=3), steps=1, rate=1e-9)
    P, S = PLAN.split(len(PAIR))
    start = learner.fit(PAIR[P], PAIR[[]], None)
    margins = learner.margins(start, PAIR[S])
    right, missed = S[margins > 0], S[margins <= 0]
    assert learner.fit(PAIR[P], PAIR[right[:4]], start).network.n == start.network.n
    grown = learner.fit(PAIR[P], PAIR[missed], start).network
    assert sum(grown.n) >= sum(start.network.n)


# The doors


def test_adanet_train_picks_and_can_be_taken_up(tmp_path: Any, capsys: Any, monkeypatch: Any) -> None:
    from adanet_train.app import cli
    from adanet_train.picking import train as picking

    quick = ["--width", "5", "--rounds", "2", "--set", "members=2", "--set", "epochs=10"]
    arguments = ["digits:3-8", "--objective", "certificate", "--picks", "4", "--start", "0.2", *quick]
    whole, part = tmp_path / "whole.pt", tmp_path / "part.pt"
    assert cli.main([*arguments, "-o", str(whole), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["certificate"]
    model = model_file.read(whole)
    assert model.version == 3
    assert (model.picked["recipe"]["K"], model.picked["recipe"]["start"]) == (4, 0.2)  # type: ignore[index]
    found = check_file(model, model.sample.Psi, model.sample.y)  # type: ignore[union-attr]
    assert found.status == "holds"
    assert (told["picked"], told["left"], told["N"]) == (len(found.picked.picks), len(found.picked.left), 286)
    assert told["bound"] == found.picked.at(0.05)

    def interrupted(*given: Any, **more: Any) -> Any:
        seen = []

        def stop(state: Picked) -> None:
            more["callback"](state)
            seen.append(state)
            if len(seen) == 2:
                raise KeyboardInterrupt

        return pick(*given, **{**more, "callback": stop})

    with monkeypatch.context() as patch:
        patch.setattr(picking, "pick", interrupted)
        assert cli.main([*arguments, "-o", str(part)]) == 130
    early = model_file.read(part)
    assert check_file(early, early.sample.Psi, early.sample.y).status == "fails"  # type: ignore[union-attr]
    assert cli.main([*arguments, "-o", str(part), "--resume"]) == 0
    assert part.read_bytes() == whole.read_bytes()
    assert "risk <= " in capsys.readouterr().out


def test_adanet_train_names_copies_and_tells_little(tmp_path: Any, capsys: Any) -> None:
    from adanet_train.app import cli

    X = np.random.default_rng(0).normal(size=(120, 3)).round(6)
    X[117:] = X[:3]
    rows = [f"{a},{b},{c},{int(a + 0.3 * np.sin(9 * b) > 0)}" for a, b, c in X]
    (tmp_path / "num.csv").write_text("\n".join(["a,b,c,y", *rows]))
    quick = ["--width", "4", "--rounds", "1", "--set", "members=2", "--set", "epochs=2", "--start", "0.5"]
    given = [str(tmp_path / "num.csv"), "-o", str(tmp_path / "m.pt"), "--objective", "certificate", "--picks", "12"]
    assert cli.main([*given, *quick]) == 0
    out, err = capsys.readouterr()
    counted = "3 of 120 rows repeat an earlier one"
    assert f"{counted}: no certificate applies to copies." in err
    assert "if they are, say so (--discrete)" in err
    assert f"certificate   no certificate, as {counted}; only with --discrete: risk <= 0." in out
    assert "n_0 = 3, " in out
    picking = [line for line in err.splitlines() if line.startswith("picking: ")]
    assert picking[0].startswith("picking: no rows picked, ")
    assert 2 <= len(picking) <= 5
    assert cli.main([*given, *quick, "--discrete", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "repeat" not in err
    told = json.loads(out)["certificate"]
    assert (told["repeats"], told["m"], told["discrete"]) == (3, 120, True)


def test_the_estimator_picks(tmp_path: Any) -> None:
    from adanet_train import AdaNetClassifier, load

    X, y = load_iris(return_X_y=True)
    _, once = np.unique(np.c_[X, y], axis=0, return_index=True)  # a flower is there twice
    X, y = X[np.sort(once)], y[np.sort(once)]
    given: dict[str, Any] = {"rounds": 2, "width": 5, "config": Config(members=2, epochs=10, picks=6)}
    model = AdaNetClassifier(objective="certificate", **given).fit(X, y)
    assert model.certificate_ is not None
    assert 0.05 < model.certificate_ < 0.5
    rows = Plan().split(len(X))[0]
    assert np.array_equal(model.model_.features.high, X[rows].max(axis=0))  # type: ignore[union-attr]
    model.save(tmp_path / "iris.pt", X, y)
    again = load(tmp_path / "iris.pt")
    assert (again.certificate_, again.objective) == (model.certificate_, "certificate")  # type: ignore[attr-defined]
    stored = again.model_
    assert check_file(stored, stored.sample.Psi, stored.sample.y).status == "holds"  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="objective certificate counts every point alike"):
        AdaNetClassifier(objective="certificate", **given).fit(X, y, sample_weight=np.ones(150))
    assert AdaNetClassifier(**given).fit(X, y).certificate_ is None


def test_the_other_methods_pick(tmp_path: Any) -> None:
    from adanet_train.app import cli

    output = str(tmp_path / "model.pt")
    quick = ["--set", "steps=50", "--picks", "4"]
    assert cli.main(["iris", "--method", "lr", "--objective", "certificate", "-o", output, *quick]) == 0
    model = model_file.read(output)
    assert check_file(model, model.sample.Psi, model.sample.y).status == "holds"  # type: ignore[union-attr]


def test_an_old_file_of_the_objective_certificate_is_one_of_votes() -> None:
    from adanet_train.core.network import Network
    from adanet_train.core.training import Trained

    trained = Trained(Network.empty(3), None, [], Config(objective="vote"))
    model = model_of(trained, "adanet", features=None, sample=None)
    old = replace(model, meta={**model.meta, "config": {**model.meta["config"], "objective": "certificate"}})
    assert trained_of(old).config.goal.objective == "vote"


# The report


@pytest.fixture(scope="module")
def picked_file(tmp_path_factory: Any) -> str:
    path = str(tmp_path_factory.mktemp("picked") / "model.pt")
    certify(Scaled(AdaNet(CONFIG, steps=20)), PAIR.X, PAIR.y, r=2, K=6).save(path)
    return path


def test_a_replay_says_how_far_it_is(picked_file: str) -> None:
    from verify.reading.case import read_file
    from verify.records.question import Question
    from verify.rows import report

    given, counts = read_file(picked_file), []
    for again in (True, False):
        steps: list[tuple[int, ...]] = []
        question = Question(draws=None, replay=again)
        report.build(given.model, question, sample=given.sample, progress=partial(_keep, steps))
        assert steps == sorted(steps)
        counts.append(len(steps))
    assert counts[0] > counts[1]


def _keep(steps: list[tuple[int, ...]], *step: int) -> None:
    steps.append(step)


def test_a_report_replays_the_picks_and_quotes_their_certificate(picked_file: str) -> None:
    from adanet_theory.twins.counted import pick_upper
    from verify import verify_bounds

    report = verify_bounds(picked_file, draws=None)
    row = report.bounds["pick-certificate"]
    assert row.terms["k"] == row.terms["picked"] + row.terms["left"]
    assert row.terms["N"] == 120
    assert row.value == pick_upper(int(row.terms["k"]), 120, "0.05")
    document = json.loads(report.to_json())
    status = {entry["id"]: entry["status"] for entry in document["assumptions"]}
    assert (status["picked"], status["recipe"], status["feature-map"]) == ("holds", "assumed", "assumed")
    cited = document["cite"]
    assert (cited["id"], cited["value"], cited["delta"]) == ("pick-certificate", row.value, 0.05)
    assert set(cited["assumes"]) == {"iid", "feature-map", "recipe"}
    for id in (
        "margin-bound-uniform",
        "a-posteriori",
        "occam-certificate",
    ):  # the map was fitted on points of the sample
        assert "feature-map" in report.bounds[id].why_not
    text = " ".join(report.text(verbose=True).split())
    assert "fitted on the recorded start alone (feature-map)" in text
    assert "FAILS feature-map" not in text
    for id in ("iid", "feature-map", "picked", "recipe"):
        assert "pick-certificate" in next(row.statements for row in report.assumptions if row.id == id)


def test_a_report_on_a_start_alone_names_the_bound_that_gives_its_number() -> None:
    from scipy.stats import beta

    from verify import verify_bounds

    alone, run = (certify(SVC(), PAIR.X, PAIR.y, K=K) for K in (0, (0, 1)))
    errors, N = len(alone.left), alone.N
    text = " ".join(str(verify_bounds(alone, draws=None)).split())
    value = verify_bounds(alone, draws=None).bounds["pick-certificate"].value
    assert value == pytest.approx(beta.ppf(0.95, errors + 1, N - errors))
    assert f"no row picked: {errors} error{'s' * (errors != 1)} on {N} points (Clopper-Pearson)" in text
    assert "(Clopper-Pearson)" in repr(alone)
    report = verify_bounds(run, draws=None)
    assert ("Clopper-Pearson at delta/2" in str(report)) == (report.bounds["pick-certificate"].terms["picked"] == 0)


def test_a_report_pays_for_the_best_of_a_list(tmp_path: Any, capsys: Any) -> None:
    from adanet_theory.twins.counted import clopper_pearson_upper, pick_upper
    from adanet_train.app import cli as training
    from verify import cli, verify_bounds

    quick = ["--width", "5", "--rounds", "2", "--set", "members=2", "--set", "epochs=10", "-o"]
    path = str(tmp_path / "model.pt")
    assert training.main(["digits:3-8", "--objective", "certificate", "--picks", "0,1,3", *quick, path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["certificate"]
    row = verify_bounds(path, draws=None).bounds["pick-certificate"]
    upper = clopper_pearson_upper if row.terms["picked"] == 0 else pick_upper
    assert row.value == upper(int(row.terms["k"]), 268, Fraction("0.05") / 3)
    assert row.terms["runs"] == 3
    assert row.value == pytest.approx(told["bound"], rel=1e-9)
    assert cli.main([path, "--no-estimates"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    says(said, ["delta = 0.01667", "best of 3"])
    assert training.main(["iris", "--objective", "certificate", "--picks", "3,x", *quick, path]) == 2
    says(capsys.readouterr().err, ["integer", "K1,K2,..", "'3,x'"])


def test_a_picked_network_pays_for_those_it_was_compared_with(picked_file: str, tmp_path: Any, capsys: Any) -> None:
    from adanet_theory.twins.counted import pick_upper
    from verify import cli, verify_bounds

    alone, paid = (verify_bounds(picked_file, draws=None, replay=False, compared=n, tried=2) for n in (1, 25))
    (row, k) = paid.bounds["pick-certificate"], int(alone.bounds["pick-certificate"].terms["k"])
    assert row.value == pick_upper(k, 120, Fraction(1, 20) / 50)
    cited = json.loads(paid.to_json())["cite"]
    assert (cited["value"], cited["delta"], cited["compared"]) == (row.value, 0.001, 25)
    says(" ".join(str(paid).split()), ["delta = 0.001", "25 networks", "2 settings"])
    for id in ("a-posteriori", "vote-certificate", "occam-certificate", "margin-bound"):  # on all networks at once
        assert paid.bounds[id] == alone.bounds[id]
        assert paid.bounds[id].delta == 0.025
    shutil.copy(picked_file, tmp_path / "other.pt")
    models = [picked_file, str(tmp_path / "other.pt")]
    assert cli.main([*models, "--no-estimates", "--no-replay", "--json"]) == 0
    values = [one["cite"]["value"] for one in json.loads(capsys.readouterr().out)]
    assert values == [pick_upper(k, 120, "0.025")] * 2
    assert cli.main([*models, "--no-estimates", "--no-replay"]) == 0
    says(" ".join(capsys.readouterr().out.split()), ["delta = 0.025", "2 networks"])
    plain = model_file.read(picked_file)
    model_file.write(models[1], replace(plain, meta={}, picked=None))
    assert cli.main([*models, "--no-estimates", "--no-replay"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    says(said, [upward(pick_upper(k, 120, "0.025")), "(pick-certificate at delta = 0.025)", "different statements"])


def test_a_report_without_a_replay_assumes_the_picks(picked_file: str, capsys: Any) -> None:
    from verify import cli

    assert cli.main([picked_file, "--no-estimates", "--no-replay", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "picked" in document["cite"]["assumes"]


def test_other_picks_are_not_confirmed(picked_file: str, tmp_path: Any) -> None:
    from verify import verify_bounds

    model = model_file.read(picked_file)
    assert model.picked is not None
    first, second, *others = model.picked["picks"]
    swapped = tmp_path / "swapped.pt"
    model_file.write(swapped, replace(model, picked={**model.picked, "picks": [second, first, *others]}))
    report = verify_bounds(str(swapped), draws=None)
    row = report.bounds["pick-certificate"]
    assert (row.applies, row.why_not) == (False, ("picked",))
    assert json.loads(report.to_json())["cite"] is None


@pytest.mark.parametrize("change", ["a unit that is off on the sample", "noise", "rounding"])
def test_another_network_under_the_same_picks_is_not_confirmed(picked_file: str, tmp_path: Any, change: str) -> None:
    """Margins on the sample do not tell: a weight on a feature that is 0 there is seen on new points alone."""
    from verify import verify_bounds

    model = model_file.read(picked_file)
    assert model.sample is not None
    assert model.sample.Psi is not None
    U = model.network.hidden[1, 0].clone()
    blank = int(torch.nonzero(~model.sample.Psi.any(dim=0))[0])
    if change == "noise":
        U *= 1 + 0.2 * torch.randn(U.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    else:
        U[:, blank] += 1e6 if "unit" in change else 2.0**-60
    hidden = {**model.network.hidden, (1, 0): U}
    forged = tmp_path / "forged.pt"
    model_file.write(forged, replace(model, network=replace(model.network, hidden=hidden)))
    report = verify_bounds(str(forged), draws=None)
    if change == "rounding":
        assert "picked" in report.cite.assumes
    else:
        assert report.cite is None
        assert "picked" in report.bounds["pick-certificate"].why_not


def test_a_map_fitted_on_more_than_the_start_stops_the_certificate(picked_file: str, tmp_path: Any) -> None:
    from verify import verify_bounds

    model = model_file.read(picked_file)
    assert model.sample is not None
    assert model.sample.Psi is not None
    wider = model_file.Sample.of(model.sample.Psi * 0.9, model.sample.y)
    shrunk = tmp_path / "wider.pt"
    model_file.write(shrunk, replace(model, sample=wider))
    row = verify_bounds(str(shrunk), draws=None, replay=False).bounds["pick-certificate"]
    assert "feature-map" in row.why_not


def test_another_sample_has_no_row(picked_file: str) -> None:
    from verify import verify_bounds

    assert (
        "pick-certificate" not in verify_bounds(picked_file, PAIR.X[:100], PAIR.y[:100].astype(str), draws=None).bounds
    )
