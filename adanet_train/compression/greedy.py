"""Greedy search on the certificate: one weight, row or column at a time; a change stays if the certificate falls.

A change is tried on the points of least margin and on drawn ones that stand for the rest; after every sweep the whole
sample is counted, and a sweep that did not pay there is taken back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from adanet_train.compression import code
from adanet_train.compression.code import Array, Coded, Header
from adanet_train.compression.partial import NUMBERS, Moved, NodePlan, Watched, plan
from adanet_train.compression.problem import SECONDS_PER_CALL, CodingProblem, Score, margins

SWEEPS = 4
HARD = (4096, 131_072)
"""Fewest and most points of least margin, an eighth of the sample between them."""
DRAWN = 4096
SECONDS_PER_BIT = 2e-8
"""Nominal seconds a number of a tensor, to count its bits."""
FRESH = 400
"""Accepted changes after which the whole sample is counted."""


@dataclass(frozen=True)
class Change:
    """Entries of one tensor and their new integers."""

    tensor: int
    places: Array
    values: Array


class _State:
    """The integers of the moment, what each tensor costs, and the margins on the points that are watched."""

    def __init__(
        self, problem: CodingProblem, coded: Sequence[Coded], plan: NodePlan | None, generator: torch.Generator
    ) -> None:
        self.problem = problem
        self.e = [part.e for part in coded]
        self.q = [np.array(part.q) for part in coded]
        self.values = problem.values(coded)
        self.headers, self.fed, self.bits = list[Header](), list[Array](), list[float]()
        self._price()
        whole = problem.margins(self.values)
        self.errors = int((~(whole > 0)).sum())
        self.rows, self.weight = _watched(whole, generator, problem.m if plan is None else NUMBERS // plan.numbers)
        self.wrong = ~(whole[self.rows] > 0)
        self.y = problem.y[self.rows]
        self.watched = None if plan is None else Watched(plan, self.values, problem.X[self.rows])
        self.key = self._key(self.errors, self.total)
        self.seconds = [self._seconds(t) for t in range(len(self.q))]

    def _price(self) -> None:
        alive: list[Array] = []
        self.headers, self.fed, self.bits = [], [], []
        for q, e in zip(self.q, self.e, strict=True):
            bits, header = code.best(code.integers(q, e), alive) if q.any() else (1.0, Header())
            self.headers.append(header)
            self.fed.append(code.fed_by(alive, code.matrix_shape(q.shape)))
            self.bits.append(bits)
            alive.append((q != 0).reshape(code.matrix_shape(q.shape)).any(axis=1))
        self.total = code.length(self.coded)

    def _seconds(self, t: int) -> float:
        """Nominal seconds of a change of this tensor."""
        counting = SECONDS_PER_BIT * self.q[t].size + SECONDS_PER_CALL
        if self.watched is None:
            return self.problem.seconds(len(self.rows)) + counting
        return self.watched.seconds(t) + counting

    @property
    def coded(self) -> list[Coded]:
        return [code.integers(q, e) for q, e in zip(self.q, self.e, strict=True)]

    def _key(self, errors: float, total: float) -> float:
        m = self.problem.m
        return Score(math.ceil(total) + 2, min(max(round(errors), 0), m), m, self.problem.delta).key

    def attempt(self, change: Change) -> tuple[bool, float]:
        """Make the change if the certificate falls; and how many errors it adds."""
        t, old = change.tensor, self.q[change.tensor].flat[change.places].copy()
        if (old == change.values).all():
            return False, math.inf
        self.q[t].flat[change.places] = change.values
        bits = code.tensor_bits(self.q[t], self.headers[t], self.fed[t]) if self.q[t].any() else 1.0
        total = self.total + bits - self.bits[t]
        places = torch.from_numpy(change.places)
        before = self.values[t].view(-1)[places].clone()
        after = torch.from_numpy(np.ldexp(change.values.astype(np.float64), self.e[t])).to(before.dtype)
        self.values[t].view(-1)[places] = after
        moved = None if self.watched is None else self.watched.after(t, places, after - before)
        wrong = self._wrong(moved)
        more = float(((wrong.int() - self.wrong.int()) * self.weight).sum())
        key = self._key(self.errors + more, total)
        if key < self.key:
            self.errors, self.total, self.bits[t], self.wrong = round(self.errors + more), total, bits, wrong
            self.key = key
            if self.watched is not None and moved is not None:
                self.watched.keep(moved)
            return True, more
        self.q[t].flat[change.places] = old
        self.values[t].view(-1)[places] = before
        return False, more

    def _wrong(self, moved: Mapping[int, Moved] | None) -> Tensor:
        if self.watched is None or moved is None:
            return ~(self.problem.margins(self.values, self.rows) > 0)
        return ~(margins(self.watched.outputs(moved), self.y) > 0)


def _watched(margins: Tensor, generator: torch.Generator, most: int) -> tuple[Tensor, Tensor]:
    """Points of least margin, each for itself, and drawn ones for all the others."""
    m = len(margins)
    hard = min(m, max(HARD[0], min(m // 8, HARD[1], most - DRAWN)))
    order = margins.nan_to_num(0.0).abs().argsort(stable=True)
    rest = order[hard:]
    drawn = rest[torch.randperm(len(rest), generator=generator)[:DRAWN]]
    weight = torch.cat([torch.ones(hard), torch.full((len(drawn),), len(rest) / max(len(drawn), 1))])
    return torch.cat([order[:hard], drawn]), weight


def greedy(
    problem: CodingProblem,
    coded: Sequence[Coded],
    seconds: float,
    generator: torch.Generator,
    report: Callable[[Score], None] = lambda score: None,
) -> tuple[Score, list[Coded]]:
    """The network after at most SWEEPS sweeps, fewer if the nominal seconds run out."""
    best, path = (problem.score(coded), list(coded)), plan(problem)
    for _ in range(SWEEPS):
        state = _State(problem, best[1], path, generator)
        seconds = _sweep(state, seconds - 2 * problem.seconds(problem.m))
        after = state.coded
        score = problem.score(after)
        report(min(score, best[0], key=lambda one: one.key))
        if not score.key < best[0].key:
            break
        best = score, after
        if seconds <= 0:
            break
    return best


def _sweep(state: _State, seconds: float) -> float:
    """Try changes; what is left of the seconds."""
    accepted = 0
    tried: dict[tuple[int, int], float] = {}
    for changes in (_changes(state), _swaps(state, tried)):
        for change in changes:
            seconds -= state.seconds[change.tensor]
            state.problem.spend(state.seconds[change.tensor])
            stays, more = state.attempt(change)
            accepted += stays
            if len(change.places) == 1 and not stays:
                place, value = int(change.places[0]), int(change.values[0])
                if value == 0 or state.q[change.tensor].flat[place] == 0:
                    tried[change.tensor, place] = more
            if seconds <= 0 or accepted >= FRESH:
                return seconds
    return seconds


def _changes(state: _State) -> Iterator[Change]:
    """Rows and columns set to 0; then weights, those first that the slopes of the loss expect to pay most."""
    for t, q in enumerate(state.q):
        if state.problem.is_free[t]:
            yield from _stripes(t, q)
    slopes = _slopes(state)
    moves = [move for t in range(len(state.q)) if state.problem.is_free[t] for move in _moves(state, t, slopes[t])]
    for _, t, place, value in sorted(moves):
        yield Change(t, np.array([place]), np.array([value]))


SWAPPED = 40
"""Of every tensor the removals that add fewest errors, and the additions that take most, which are tried in pairs."""


def _swaps(state: _State, tried: Mapping[tuple[int, int], float]) -> Iterator[Change]:
    """A weight goes and another comes, in one tensor; each alone did not pay."""
    slopes = _slopes(state)
    for t, q in enumerate(state.q):
        known = sorted((more, place) for (tensor, place), more in tried.items() if tensor == t)
        gone = [pair for pair in known if q.flat[pair[1]] != 0][:SWAPPED]
        come = [pair for pair in known if q.flat[pair[1]] == 0][:SWAPPED]
        for _, old, new in sorted((a + b, i, j) for a, i in gone for b, j in come if a + b < LOST):
            if q.flat[old] != 0 and q.flat[new] == 0:
                yield Change(t, np.array([old, new]), np.array([0, -1 if slopes[t].flat[new] > 0 else 1]))


LOST = 8.0
"""Pairs that would add more errors than that, were they independent, are left out."""


def _stripes(t: int, q: Array) -> Iterator[Change]:
    rows, columns = code.matrix_shape(q.shape)
    if columns == 1:
        return
    places = np.arange(q.size).reshape(rows, columns)
    for stripes, lines in ((q.reshape(rows, columns), places), (q.reshape(rows, columns).T, places.T)):
        counts = (stripes != 0).sum(axis=1)
        for line in np.argsort(counts, kind="stable"):
            if counts[line]:
                yield Change(t, lines[line][stripes[line] != 0], np.zeros(counts[line], dtype=np.int64))


def _slopes(state: _State) -> list[Array]:
    """d loss / d q on the watched points, times m."""
    problem = state.problem
    values = [w.clone().requires_grad_(free) for w, free in zip(state.values, problem.is_free, strict=True)]
    free = [w for w in values if w.requires_grad]
    total = [torch.zeros_like(w) for w in free]
    for i in range(0, len(state.rows), 4096):
        rows = state.rows[i : i + 4096]
        loss = problem.loss(problem.f(values, problem.X[rows]), problem.y[rows]) * len(rows)
        for sum_, part in zip(total, torch.autograd.grad(loss, free, allow_unused=True), strict=True):
            if part is not None:
                sum_ += part
    slopes = iter(total)
    parts = [next(slopes) if is_free else torch.zeros(()) for is_free in problem.is_free]
    return [np.ldexp(part.double().numpy(), e) for part, e in zip(parts, state.e, strict=True)]


ADDED = 512
"""Zeros of a tensor that are tried at +-1, by their slopes."""


def _moves(state: _State, t: int, slope: Array) -> Iterator[tuple[float, int, int, int]]:
    """(expected change of loss and bits, tensor, place, value)."""
    q, slope = state.q[t].ravel(), slope.ravel()
    saved = state.bits[t] / max(int((q != 0).sum()), 1)
    for place in np.flatnonzero(q):
        value = int(q[place])
        for new in {0, value - 1, value + 1} - {value}:
            cheaper = saved if new == 0 else 0.5 * (abs(value) - abs(new))
            yield float(slope[place] * (new - value)) - cheaper, t, int(place), new
    zeros = np.flatnonzero(q == 0)
    for place in zeros[np.argsort(-np.abs(slope[zeros]), kind="stable")[:ADDED]]:
        new = -1 if slope[place] > 0 else 1
        yield -abs(float(slope[place])) + saved, t, int(place), new
