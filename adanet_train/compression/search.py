"""compress: the user's module -> one of few bits with a certificate, by rounding, fine-tuning and greedy search.

The statement holds for all networks at once, whatever the search does, so choosing the best stage costs nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from adanet_theory.checks import check, check_delta, with_near_misses
from adanet_theory.rounding import probability, upward
from adanet_theory.twins.counted import occam_upper
from adanet_train.compression import code
from adanet_train.compression.code import Coded
from adanet_train.compression.exact import Count, count
from adanet_train.compression.greedy import greedy
from adanet_train.compression.problem import (
    CodingProblem,
    Loss,
    Score,
    count_of_outputs,
    labels,
    points,
    require_function,
)
from adanet_train.compression.tune import Schedule, tune
from adanet_train.compression.weights import Weights, fill, prepared
from adanet_train.core.bar import Bar, is_quiet
from adanet_train.core.by_class import base_rate
from adanet_train.core.device import threads_for
from adanet_train.data.rows import doubt, hashes, qualified, repeats
from adanet_train.reading.trace import require_eval_mode

if TYPE_CHECKING:
    from torch import Tensor

BUDGET = 60.0
STEPS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
"""Steps of the rounding, in root mean squares."""
FIRST = 0.15
"""Share of the steps for the first run from each rounding; the search continues from the best one."""
SHARES = ((0.4, 0.5), (0.15, 0.25), (0.15, 0.25))
"""Of fine-tuning and of greedy search for each cycle, from the best network so far."""
RATE = {True: 2.0, False: 1.0}
"""Times the learning rate, for small networks and for large ones."""
DEAR, DEAREST, CHEAP = 8.0, 3e-4, 0.5
"""The first price of a bit: times the last, or times m if that is more, so that a step can feel it; and times the last
for large networks, which lose more than they gain where a bit is dear at first."""
COARSE = {True: (0.25, 0.5, 1.0), False: (1.0, 2.0)}
"""Steps of the rounding in root mean squares to begin with, for small networks and for large ones."""
FEWEST, MOST = 100, 60_000
LEAST_PRICE = 4.0
"""Of a bit in the loss at the end of a run, times m; at less, the certificate of large networks rises again."""
SMALL = 2e4
"""Operations a point below which a network has finer steps and larger batches."""


@dataclass(frozen=True)
class Stage:
    """The best network of a stage of the search: its name, bits, errors and certificate."""

    name: str
    bits: int
    errors: int
    bound: float
    coded: tuple[Coded, ...] = field(compare=False, repr=False)

    @property
    def plain(self) -> dict[str, Any]:
        """All but the network."""
        return {"name": self.name, "bits": self.bits, "errors": self.errors, "bound": self.bound}


@dataclass(frozen=True, eq=False)
class Compressed:
    """A network of few bits with its certificate.

    Attributes
    ----------
    module
        The network that is certified, in float64 and in eval mode; BatchNorm is folded.
    bits
        Length of its codeword, or a proved upper value of it where weights are kept as floats.
    errors
        Errors on the sample, ties and undecided points among them.
    bound
        R(module) <= bound with probability >= 1 - delta, rounded up.
    stages
        The best network of every stage, in order.
    delta, m
        The probability of failure and the number of points.
    count
        The errors in detail: whether every sum was exact, and whether the module could be read.
    coded
        The integers themselves.
    repeats, discrete
        How many rows of the sample repeat an earlier one, and whether these were said to be draws of their own. Where
        rows repeat and they were not, `bound` is not a certificate.
    base_rate
        The error of the best constant prediction on the sample: a bound above it is useless.
    """

    module: nn.Module
    bits: int
    errors: int
    bound: float
    stages: tuple[Stage, ...]
    delta: float
    m: int
    count: Count
    coded: tuple[Coded, ...]
    shape: tuple[int, ...]
    base_rate: float = 1.0
    repeats: int = 0
    discrete: bool = False

    def at(self, delta: float) -> float:
        """The bound at another δ."""
        self.require_unchanged()
        return occam_upper(self.errors, self.m, self.bits, delta)

    def require_unchanged(self) -> None:
        """Refuse a module that was trained on: the certificate is about the weights that are coded."""
        own = Weights.of(self.module).arrays()
        same = len(own) == len(self.coded) and all(map(np.array_equal, own, (part.value for part in self.coded)))
        check(same, "the weights of the compressed module are not those of its code any more: compress it again.")

    def save(self, path: str | Path) -> None:
        """Write the file that `verify-bounds` checks: the codeword and, where the module can be read, its graph."""
        from adanet_train.compression.file import write

        write(path, self)

    def __repr__(self) -> str:
        counted = f"{self.bits:,} bits, {self.errors:,} errors, m = {self.m:,}"
        statement = f"risk <= {upward(self.bound)} with probability {probability(self.delta)}"
        said = qualified(statement, self.repeats, self.m, discrete=self.discrete)
        useless = f"; useless: a constant prediction errs on {self.base_rate:.4g}" * (self.bound >= self.base_rate)
        assumes = f"assumes: iid draws, architecture, code {code.VERSION} and features fixed before the rows"
        return f"Compressed({said}: {counted}{useless}; {assumes})"


@with_near_misses
def compress(
    module: nn.Module,
    X: Any,
    y: Any,
    *,
    loss: Loss | None = None,
    delta: float = 0.05,
    budget: float = BUDGET,
    seed: int = 0,
    discrete: bool = False,
    progress: Callable[[str, Score], None] | None = None,
    verbose: bool | None = None,
) -> Compressed:
    """A network of few bits close to this one, with a certificate of its risk that uses all of the sample.

    Parameters
    ----------
    module
        A trained module of one logit (two classes) or of one output for each class, in eval mode. Its architecture must
        have been fixed before the sample; every tensor of its state_dict is coded.
    X
        The sample, a row for each point, in the shape that the module reads.
    y
        Labels as verify_bounds reads them: class indices, 0/1, -1/+1, one-hot rows, or names, which stand for the
        outputs in their sorted order.
    loss
        loss(outputs, y), the mean over a batch; default logistic or cross-entropy.
    delta
        Probability in (0, 1) with which the certificate may fail.
    budget
        How long to search, in nominal seconds of one core: operations are counted, so the result does not depend on
        the clock. The default takes up to a minute of CPU time, longer on a busy machine; `budget=5` is a first look.
    seed
        Seed of the search. Every seed is covered by the same certificate.
    discrete
        Say that identical rows are different people or events. Without it rows that repeat raise a warning, and the
        bound is not a certificate.
    progress
        Called with the stage and the best score of it so far.
    verbose
        Whether stderr shows progress, the certificate so far and the time left. None: if stderr is a terminal.

    Returns
    -------
    Compressed
        The best network of all stages.

    Raises
    ------
    ValueError
        If the module, X, y, delta or budget is not usable, or the module is not a function of one point.

    Examples
    --------
    >>> import torch
    >>> from adanet_train import compress
    >>> g = torch.Generator().manual_seed(0)
    >>> X = torch.randn(4000, 4, generator=g)
    >>> net = torch.nn.Linear(4, 1)
    >>> _ = torch.nn.init.ones_(net.weight), torch.nn.init.zeros_(net.bias)
    >>> small = compress(net, X, (X.sum(dim=1) > 0).long(), budget=1)
    >>> small.errors, small.bits < 40, small.bound < 0.02
    (0, True, True)
    """
    check_delta(delta)
    check(0 <= budget < math.inf, f"budget must be >= 0 and finite, in nominal seconds, got budget={budget}.")
    check(isinstance(module, nn.Module), f"module must be a torch nn.Module, got a {type(module).__name__}.")
    require_eval_mode(module)
    own, X = prepared(module), points(X)
    y, mapped = labels(y, len(X), count_of_outputs(own, X))
    require_function(own, X, type(module).__name__)
    repeated = repeats(hashes(X.double().numpy().reshape(len(X), -1), y.numpy()))
    if repeated and not discrete:
        warnings.warn(doubt(repeated, len(X)), stacklevel=3)
    with Bar("compressing", quiet=is_quiet(verbose)) as bar:
        if mapped and not bar.quiet:
            bar.say(mapped)
        shown = _Shown(bar, float(budget), progress)
        problem = CodingProblem(own, X, y, delta, loss, shown.spend)
        with threads_for(problem.flops * min(problem.m, 1024)):
            networks = list(stages(problem, float(budget), seed, shown.best))
            bar(0, 0, "counting exactly")
            settled = settle(own, X, y, networks, delta)
    return replace(settled, base_rate=base_rate(y.numpy()), repeats=repeated, discrete=discrete)


class _Shown:
    """The best network of all stages so far on a bar, and how much of the budget is spent."""

    def __init__(self, bar: Bar, budget: float, progress: Callable[[str, Score], None] | None) -> None:
        self.bar, self.budget, self.progress = bar, budget, progress
        self.spent, self.shown_at, self.words = 0.0, 0.0, "rounding"
        self.lowest: Score | None = None

    def spend(self, seconds: float) -> None:
        self.spent += seconds
        if self.spent - self.shown_at > 0.01 * self.budget:
            self._show()

    def best(self, stage: str, score: Score) -> None:
        if self.progress is not None:
            self.progress(stage, score)
        self.lowest = min((one for one in (self.lowest, score) if one is not None), key=lambda one: one.key)
        best = self.lowest
        self.words = f"{stage}: best {best.bits:,} bits, {best.errors:,} errors, risk <= {upward(best.bound)}"
        self._show()

    def _show(self) -> None:
        self.shown_at = self.spent
        self.bar(min(int(1e3 * self.spent), int(1e3 * self.budget)), int(1e3 * self.budget), self.words)


def settle(
    own: nn.Module, X: Tensor, y: Tensor, networks: Sequence[tuple[str, list[Coded]]], delta: float
) -> Compressed:
    """Every stage with its exact errors and its true length; the best of them."""
    stages, best, before = list[Stage](), None, None
    for name, coded in networks:
        same = before is not None and all(a is b for a, b in zip(stages[-1].coded, coded, strict=True))
        counted = before if same and before is not None else count(fill(own, coded), X, y)
        before = counted
        is_raw = any(part.q is None for part in coded)
        bits = code.bits_of(coded) if is_raw else code.encode(coded)[1]
        bound = occam_upper(counted.errors, len(y), bits, delta)
        stages.append(Stage(name, bits, counted.errors, bound, tuple(coded)))
        key = Score(bits, counted.errors, len(y), delta).key
        if best is None or key < best[0]:
            best = key, counted, stages[-1]
    assert best is not None
    _, counted, stage = best
    module = fill(own, stage.coded)
    parts = stage.bits, stage.errors, stage.bound
    return Compressed(module, *parts, tuple(stages), delta, len(y), counted, stage.coded, tuple(X.shape[1:]))


def stages(
    problem: CodingProblem, budget: float, seed: int, progress: Callable[[str, Score], None] = lambda *_: None
) -> Iterator[tuple[str, list[Coded]]]:
    """(name, network) of every stage, as far as the budget goes."""
    yield "as it is", problem.as_it_is()
    scored = [(problem.score(coded), coded) for coded in (problem.rounded(problem.exponents(c)) for c in STEPS)]
    best = min(scored, key=lambda pair: pair[0].key)
    progress("rounded", best[0])
    yield "rounded", best[1]
    left = budget - (len(STEPS) + 1) * problem.seconds(problem.m)
    effort = _effort(problem, left)
    tuner = _Tuner(problem, effort, seed, _reporter("fine-tuned", progress))
    begun = [tuner.first(c) for c in effort.c if FIRST * effort.steps >= FEWEST]
    if begun:
        best = min(best, *begun, key=lambda pair: pair[0].key)
        yield "fine-tuned", best[1]
    for number, (tuning, searching) in enumerate(SHARES):
        current = best
        if tuning * effort.steps >= FEWEST:
            current = tuner.again(best, tuning)
            yield "fine-tuned", current[1]
        generator = torch.Generator().manual_seed(len(SHARES) * seed + number)
        seconds = searching * effort.greedy
        if number > 0 and seconds <= 0:
            break
        searched = greedy(problem, current[1], seconds, generator, _reporter("greedy", progress))
        yield "greedy", searched[1]
        best = min(best, searched, key=lambda pair: pair[0].key)


def _reporter(name: str, progress: Callable[[str, Score], None]) -> Callable[[Score], None]:
    return lambda score: progress(name, score)


@dataclass(frozen=True)
class _Effort:
    """Batch and steps of fine-tuning in all, the roundings to begin with, and seconds of the search."""

    is_small: bool
    batch: int
    steps: int
    c: tuple[float, ...]
    greedy: float


def _effort(problem: CodingProblem, seconds: float) -> _Effort:
    """A function of the sizes and the budget alone."""
    is_small = problem.flops < SMALL
    batch = min(problem.m, 1024 if is_small else 128)
    search = seconds / 2
    steps = min(int((seconds - search) / problem.seconds(batch, backward=True)), MOST)
    return _Effort(is_small, batch, steps, COARSE[is_small], search)


@dataclass
class _Tuner:
    """Runs of fine-tuning, each with draws of its own."""

    problem: CodingProblem
    effort: _Effort
    seed: int
    report: Callable[[Score], None]
    runs: int = 0

    def first(self, c: float) -> tuple[Score, list[Coded]]:
        """From the network itself, rounded at c."""
        start = [w.float() if free else w for w, free in zip(self._weights, self.problem.is_free, strict=True)]
        return self._run(start, self.problem.exponents(c, trained=True), LEAST_PRICE, FIRST)

    def again(self, best: tuple[Score, list[Coded]], share: float) -> tuple[Score, list[Coded]]:
        """From the best network so far."""
        lam = max(_lam(self.problem, best), LEAST_PRICE)
        return self._run(self.problem.values(best[1]), [part.e for part in best[1]], lam, share)

    def _run(
        self, start: Sequence[Tensor], exponents: Sequence[int], lam: float, share: float
    ) -> tuple[Score, list[Coded]]:
        small = self.effort.is_small
        first = max(DEAR * lam, DEAREST * self.problem.m) if small else CHEAP * lam
        schedule = Schedule((first, lam), int(share * self.effort.steps), self.effort.batch, RATE[small])
        self.runs += 1
        generator = torch.Generator().manual_seed(1000 * self.seed + self.runs)
        return tune(self.problem, start, exponents, schedule, generator, self.report)

    @property
    def _weights(self) -> Sequence[Tensor]:
        return self.problem.weights.tensors


def _lam(problem: CodingProblem, best: tuple[Score, list[Coded]]) -> float:
    """What a bit is worth in the loss: errors a bit is worth times the loss of an error."""
    score, coded = best
    return score.errors_per_bit * problem.mean_loss(coded) * problem.m / max(score.errors, 1)
