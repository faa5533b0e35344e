"""AdaNet with the user's subnetworks: what a round proposes, the convex step, the comparison, the reports.

f_t = Σ_s w_s h_s. After every round all weights together minimise the paper's F, with Γ_s = λ r(h_s) + β and a duality
gap. The loss in F is that of the validation points, where there are any: a subnetwork may have learned the training
points by heart, and then the first one would get nearly all the weight. Candidates are compared by the loss on
validation points, or by F where there are none.
"""

from __future__ import annotations

import contextlib
import copy
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, nn

from adanet_theory.checks import Progress, check, check_choice
from adanet_train.convex.labels import Labels, labels_of
from adanet_train.core.by_class import base_rate
from adanet_train.core.world import ALONE, ProcessEnded, World
from adanet_train.methods.adanet import grow
from adanet_train.search.objective import falls
from adanet_train.search.weak_learners import generator
from adanet_train.subnetworks import measure
from adanet_train.subnetworks.data import Inputs, Split, UnreadablePoint, is_stream
from adanet_train.subnetworks.ensemble import Ensemble, ShapedSubnetwork, Summary, summarised
from adanet_train.subnetworks.fitting import Data, Fit, predict
from adanet_train.subnetworks.protocol import (
    Context,
    Given,
    InstanceWarning,
    Report,
    build,
    described,
    is_given,
    name_of,
    proposed,
    require_function,
    seeded,
    with_seed,
)

STRATEGIES = ("grow", "all", "solo")
WEIGHTS = ("convex", "mean")
PRICE = 1e-3
"""If lam is None: the penalty of the most complex candidate of the first round at a weight of 1."""


@dataclass(frozen=True)
class Subnetworks:
    """What to build and how to combine it; a plain list of builders stands for Subnetworks(builders).

    Parameters
    ----------
    builders : a builder, a list of them, or an object with `candidates(round, reports)`.
    strategy : "grow" adds the best candidate to f; "all" adds every candidate of the round; "solo" keeps the best
        subnetwork alone.
    weights : "convex" minimises F over the weights of all subnetworks; "mean" gives every subnetwork the same weight.
    validation : share of the points kept for early stopping, for the weights and for comparing candidates (0: the
        training points weigh, and F compares), or points of their own for that: a pair (X, y), a Dataset or DataLoader.
    lam, beta : Γ = lam r + beta. lam=None: the most complex first candidate pays 0.001 for a weight of 1.
    training : the default training, `Fit(epochs=10, batch=64, rate=6e-3, patience=3)`.
    categories : whether a table's column of words becomes one column of codes 1, 2, .. (0: empty or unknown), for
        embeddings by `Context.categories`, instead of one column of 0 and 1 for each word.
    """

    builders: Any
    strategy: str = "grow"
    weights: str = "convex"
    validation: float | tuple[Any, Any] | Any = 0.1
    lam: float | None = None
    beta: float = 0.0
    training: Callable[[nn.Module, Data, Any], None] = field(default_factory=Fit)
    categories: bool = False

    def __post_init__(self) -> None:
        check_choice("strategy", self.strategy, STRATEGIES)
        check_choice("weights", self.weights, WEIGHTS)
        share = self.validation
        if isinstance(share, tuple):
            check(len(share) == 2, f"validation must be a share or a pair (X, y), got {len(share)} parts.")
        elif not is_stream(share):
            number = isinstance(share, float | int) and 0 <= share < 1
            expected = "a share in [0, 1), a pair (X, y), a Dataset or a DataLoader"
            check(number, f"validation must be {expected}, got validation={share!r}.")
        numbers = [self.beta, 0.0 if self.lam is None else self.lam]
        known = all(isinstance(one, float | int) and one >= 0 for one in numbers)
        check(known, f"lam and beta must be >= 0, got lam={self.lam}, beta={self.beta}.")
        expected = "training must be a Fit(..) or a function (module, data, loss)"
        check(callable(self.training), f"{expected}, got {self.training!r}.")

    @classmethod
    def of(cls, given: Any) -> Subnetworks:
        return given if isinstance(given, Subnetworks) else cls(given)


@dataclass(frozen=True, eq=False)
class Chosen:
    """A subnetwork of the ensemble with its weight, and where it came from: round and place among the candidates."""

    name: str
    module: nn.Module
    weight: float
    complexity: float
    parameters: int
    round: int
    number: int
    size: float
    """The mean |h| on the sample: |w| size measures its share of f."""
    origin: Any = None
    """The module or estimator that it is a copy of, where it was given as it is."""


@dataclass(frozen=True, eq=False)
class GrownEnsemble:
    """The ensemble so far and the reports of all candidates."""

    chosen: tuple[Chosen, ...]
    reports: tuple[Report, ...]
    lam: float
    outputs: int
    shape: tuple[int, ...]
    ended: bool = False
    categories: tuple[int, ...] = ()
    given: bool = False
    """Whether nothing was proposed but modules and estimators as they are."""

    @property
    def rounds(self) -> int:
        """Rounds that were run."""
        return max((report.round for report in self.reports), default=0)

    def module(self) -> Ensemble:
        """f as one module, for prediction, export and verify_bounds."""
        check(bool(self.chosen), self._nothing())
        device = next((p.device for one in self.chosen for p in one.module.parameters()), torch.device("cpu"))
        sample = torch.zeros(1, *self.shape, device=device)
        parts = [ShapedSubnetwork(one.module, self.outputs, sample) for one in self.chosen]
        return Ensemble(parts, [one.weight for one in self.chosen], self.outputs).to(device).eval()

    def _nothing(self) -> str:
        """Why no subnetwork was kept, and what to change."""
        check(bool(self.reports), "nothing was proposed in round 1: subnetworks must hold a builder.")
        names = ", ".join(dict.fromkeys(report.name for report in self.reports))
        if self.given:
            untrained = "an instance is used as it is, with the weights that it has"
            return (
                f"{names}: {untrained}, and does not lower the loss. Give the class or a function to have it trained."
            )
        why = "; ".join(f"{report.name}: {report.why}" for report in self.reports[-3:])
        change = (
            "train longer (Subnetworks([..], training=Fit(epochs=30))) or slower (Fit(rate=1e-3)), or give more points"
        )
        return f"no subnetwork lowers the loss, so there is nothing to predict with ({why}): {change}."

    def summary(self) -> Summary:
        """One line per subnetwork."""
        return summarised(self.chosen, self.outputs, self.shape)


Callback = Callable[[GrownEnsemble], None]


def train(
    X: Any,
    y: Tensor,
    subnetworks: Any,
    *,
    rounds: int = 3,
    seed: int = 0,
    device: str = "cpu",
    callback: Callback | None = None,
    resume: GrownEnsemble | None = None,
    progress: Progress | None = None,
    categories: tuple[int, ...] = (),
    world: World = ALONE,
) -> GrownEnsemble:
    """Rounds of AdaNet on points X of any shape and labels y: -1/+1 in floats, or class indices.

    `callback` sees the result after every round, so that nothing is lost; `resume` takes one up and ends with the same
    bits as an uninterrupted run. Each of several processes fits some candidates; all end with the bits of one alone.
    """
    problem = EnsembleProblem.of(X, y, Subnetworks.of(subnetworks), seed, device, progress, world)
    nothing = GrownEnsemble((), (), 0.0, problem.labels.tops, problem.inputs.shape, categories=categories)
    after = None if callback is None else lambda here: callback(here.grown)
    return grow(problem, problem.begin(resume or nothing), rounds, after).grown


@dataclass(frozen=True, eq=False)
class Here:
    """The ensemble so far with the outputs of its subnetworks on all rows, which no file holds."""

    grown: GrownEnsemble
    H: tuple[Tensor, ...]

    @property
    def rounds(self) -> int:
        return self.grown.rounds

    @property
    def ended(self) -> bool:
        return self.grown.ended


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted module with its outputs on all rows, its complexity and the CPU seconds it took."""

    name: str
    module: nn.Module
    h: Tensor
    complexity: float
    measure: str
    parameters: int
    number: int
    seconds: float
    origin: Any

    @property
    def parts(self) -> dict[str, Any]:
        """The plain values."""
        names = ("name", "complexity", "measure", "parameters", "number", "seconds")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Weighed:
    """A candidate ensemble: its subnetworks and their outputs on all rows, F, and the losses that are compared."""

    chosen: tuple[Chosen, ...]
    H: tuple[Tensor, ...]
    objective: float
    train: float
    validation: float | None

    @property
    def judged(self) -> float:
        return self.objective if self.validation is None else self.validation

    def helps_beside(self, before: Weighed) -> bool:
        """Whether the loss falls, and not by the rounding of weights of old subnetworks alone."""
        new = self.chosen[len(before.chosen) :] or self.chosen[-1:]
        return falls(self.judged, before.judged) and any(one.weight for one in new)


@dataclass(frozen=True, eq=False)
class ComparedEnsembles:
    """The candidates of a round, λ, the ensemble before it and with each of them, and what the strategy keeps."""

    candidates: Sequence[Candidate]
    lam: float
    before: Weighed
    weighed: Sequence[Weighed]
    after: Weighed | None
    kept: set[int]


@dataclass(frozen=True, eq=False)
class EnsembleProblem:
    """What stays the same from round to round."""

    inputs: Inputs
    labels: Labels
    y: Tensor
    split: Split
    settings: Subnetworks
    seed: int
    progress: Progress | None
    world: World = ALONE
    made: WeakSet[nn.Module] = field(default_factory=WeakSet)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Tensor,
        settings: Subnetworks,
        seed: int,
        device: str,
        progress: Progress | None,
        world: World = ALONE,
    ) -> EnsembleProblem:
        inputs, labels = Inputs.of(X, device), labels_of(y, "logistic")
        check(len(inputs) == len(y), f"X and y must have the same length, got {len(inputs)} and {len(y)}.")
        if isinstance(settings.validation, tuple):
            m, more = len(y), settings.validation
            inputs, y = inputs.followed_by(Inputs.of(more[0], device)), torch.cat([y, more[1]])
            split = Split(torch.arange(m), torch.arange(m, len(y)))
        else:
            split = Split.of(len(y), settings.validation, generator(seed, 0, 0))
        return cls(inputs, labels, y.to(inputs.device), split, settings, seed, progress, world)

    # One round

    def begin(self, grown: GrownEnsemble) -> Here:
        """Nothing yet, or a run that is taken up, whose subnetworks are evaluated again."""
        rows = torch.arange(len(self.y))
        H = [predict(one.module, self.inputs, rows, self.labels.tops, one.name) for one in grown.chosen]
        return Here(grown, tuple(map(self.labels.of, H)))

    def propose(self, here: Here, t: int) -> list[Candidate]:
        """The builders of the round, built and fitted."""
        grown = here.grown
        builders = proposed(self.settings.builders, t, grown.reports)
        fresh = [(i, b) for i, b in enumerate(builders) if not any(b is one.origin for one in grown.chosen)]
        return self.candidates(fresh, grown, t)

    def compare(self, here: Here, candidates: Sequence[Candidate], t: int) -> ComparedEnsembles:
        """The ensemble with each candidate, and the one that the strategy keeps."""
        lam = here.grown.lam if here.grown.reports else self._lam(candidates)
        before = self.weighed(here.grown.chosen, here.H, lam)
        weighed = [self.added(candidate, before, lam, t) for candidate in candidates]
        if not weighed:
            return ComparedEnsembles(candidates, lam, before, weighed, None, set())
        if self.settings.strategy == "all":
            after = before
            for candidate in candidates:
                after = self.added(candidate, after, lam, t)
            return ComparedEnsembles(candidates, lam, before, weighed, after, {one.number for one in candidates})
        best = min(range(len(weighed)), key=lambda i: weighed[i].judged)
        return ComparedEnsembles(candidates, lam, before, weighed, weighed[best], {candidates[best].number})

    def extended(self, here: Here, compared: ComparedEnsembles, t: int) -> Here:
        """With what is kept, if the loss that is compared falls."""
        before, after, grown = compared.before, compared.after, here.grown
        better = after is not None and after.helps_beside(before)
        kept = compared.kept if better else set()
        pairs = zip(compared.candidates, compared.weighed, strict=True)
        reports = [self.report(one, weighed, before, t, one.number in kept) for one, weighed in pairs]
        now = after if after is not None and better else before
        given = bool(reports) and all(one.origin is not None for one in compared.candidates)
        grown = replace(grown, chosen=now.chosen, lam=compared.lam, reports=(*grown.reports, *reports), given=given)
        return Here(replace(grown, ended=not better), now.H)

    def _lam(self, candidates: Sequence[Candidate]) -> float:
        if self.settings.lam is not None:
            return self.settings.lam
        largest = max((candidate.complexity for candidate in candidates), default=1.0)
        return PRICE / largest if largest > 0 else 0.0

    # A candidate

    def candidates(self, fresh: Sequence[tuple[int, Any]], grown: GrownEnsemble, t: int) -> list[Candidate]:
        """All candidates of the round, each fitted by one of the processes; what is given is taken by all of them."""
        if self.world.size == 1:
            return [self.named(builder, grown, t, number) for number, builder in fresh]
        own: dict[int, Candidate | str] = {}
        for place, (number, builder) in enumerate(fresh):
            if is_given(builder):
                own[number] = self.named(builder, grown, t, number)
            elif place % self.world.size == self.world.rank:
                try:
                    own[number] = self.named(builder, grown, t, number)
                except ValueError as error:
                    own[number] = str(error)
        pairs = enumerate(fresh)
        return [self.shared(own.get(n), place, builder, grown, t, n) for place, (n, builder) in pairs]

    def shared(
        self, own: Candidate | str | None, place: int, builder: Any, grown: GrownEnsemble, t: int, number: int
    ) -> Candidate:
        """The candidate that another process fitted: built here too, with the weights and outputs from there."""
        if is_given(builder):
            assert isinstance(own, Candidate)
            return own
        kept = own if not isinstance(own, Candidate) else (own.parts, own.module.state_dict(), own.h)
        found = self.world.sent(_moved(kept, "cpu"), place % self.world.size)
        check(not isinstance(found, str), str(found))
        if isinstance(own, Candidate):
            return own
        parts, state, h = _moved(found, self.inputs.device)
        module = self.built(builder, self.previous(grown), grown, t, generator(self.seed, t, number))
        module.load_state_dict(state)
        module.eval().requires_grad_(False)
        return Candidate(module=module, h=h, origin=None, **parts)

    def named(self, builder: Any, grown: GrownEnsemble, t: int, number: int) -> Candidate:
        """The candidate; an error of its own says which builder it is, and in which round."""
        try:
            return self.candidate(builder, grown, t, number)
        except (ProcessEnded, UnreadablePoint, Warning):
            raise
        except Exception as error:
            flat = channels_wrong(self.inputs.shape)
            if isinstance(error, ValueError) and repr(name_of(builder)) in str(error):
                raise ValueError(with_hint(f"round {t}: {error}", flat)) from error
            said = f"builder {name_of(builder)!r} failed in round {t}: {described(error)}"
            raise ValueError(with_hint(said, flat)) from error

    def candidate(self, builder: Any, grown: GrownEnsemble, t: int, number: int) -> Candidate:
        """Build and fit a candidate; an error names the builder."""
        start, draw, name = time.process_time(), generator(self.seed, t, number), name_of(builder)
        previous = self.previous(grown)
        module = self.built(builder, previous, grown, t, draw)
        require_function(module, self.inputs[slice(0, 2)], self.labels.tops, name)
        count = measure.parameters(module)
        if not is_given(builder):
            fit = getattr(builder, "fit", None) or getattr(builder, "training", None) or self.settings.training
            data = Data(self.inputs, self.y, self.split, self.labels.tops, draw, name, self.progress, previous)
            with _unchanged(previous, name), seeded(draw):
                other = fit(module, data, self.loss)
            in_place = other is module or not isinstance(other, nn.Module)
            check(in_place, f"builder {name!r}: fit must train the module that it is given, got another one back.")
        module.eval().requires_grad_(False)
        h = predict(module, self.inputs, torch.arange(len(self.y)), self.labels.tops, name)
        if isinstance(builder, nn.Module) and not any(report.name == name for report in grown.reports):
            self.warn_of_instance(builder, name, h)
        r, how = measure.complexity(module, builder, self.inputs.shape)
        check(0 <= r < math.inf, f"builder {name!r}: complexity must be a finite number >= 0, got {r}.")
        origin, seconds = builder if is_given(builder) else None, time.process_time() - start
        return Candidate(name, module, self.labels.of(h), r, how, count, number, seconds, origin)

    def warn_of_instance(self, module: nn.Module, name: str, h: Tensor) -> None:
        """Warn that an instance is used as it is, if it errs like a constant or is not in eval mode."""
        wrong = self.y * h[:, 0] <= 0 if self.labels.outputs is None else h.argmax(1) != self.y
        error, base = float(wrong.double().mean()), base_rate(self.y.cpu().numpy())
        what = f"subnetwork {name!r} is an instance, which is taken as it is and not trained"
        remedy = f"to have it trained give what makes it, subnetworks=[lambda context: {type(module).__name__}(..)]"
        if error >= base:
            compared = f"it errs on {error:.4f} of the sample, a constant prediction on {base:.4f}"
            warnings.warn(f"{what}: {compared}; {remedy}.", InstanceWarning, stacklevel=2)
        elif module.training:
            told = f"{what}; {remedy}, or call its eval() if it is trained already."
            warnings.warn(told, InstanceWarning, stacklevel=2)

    def previous(self, grown: GrownEnsemble) -> tuple[nn.Module, ...]:
        """The subnetworks that a new one may read; one that shall stand alone reads none."""
        return () if self.settings.strategy == "solo" else tuple(one.module for one in grown.chosen)

    def built(
        self, builder: Any, previous: tuple[nn.Module, ...], grown: GrownEnsemble, t: int, draw: torch.Generator
    ) -> nn.Module:
        if isinstance(builder, nn.Module):
            return copy.deepcopy(builder).to(self.inputs.device)
        if is_given(builder):
            return self.fitted(builder, draw)
        known = grown.shape, grown.outputs, previous, t, len(self.split.train), draw, grown.categories
        module = build(builder, Context(*known)).to(self.inputs.device)
        fresh = module not in self.made
        check(fresh, f"builder {name_of(builder)!r} must make a new module each time, got one that it made before.")
        self.made.add(module)
        return module

    def fitted(self, estimator: Any, draw: torch.Generator) -> Given:
        """An estimator as it is, or a copy of it fitted on the training rows if it is not fitted yet."""
        from sklearn.base import clone
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        try:
            check_is_fitted(estimator)
        except NotFittedError:
            X = self.inputs[self.split.train].cpu().numpy().reshape(len(self.split.train), -1)
            seed = int(torch.randint(2**31, (1,), generator=draw))
            estimator = with_seed(clone(estimator), seed).fit(X, self.y[self.split.train].cpu().numpy())
        return Given(estimator, self.labels.tops)

    def loss(self, f: Tensor, y: Tensor) -> Tensor:
        """The logistic loss of a subnetwork by itself."""
        if self.labels.outputs is None:
            return nn.functional.softplus(-y * f[:, 0]).mean()
        return nn.functional.cross_entropy(f, y)

    # The ensemble

    def weighed(self, chosen: tuple[Chosen, ...], H: tuple[Tensor, ...], lam: float) -> Weighed:
        """F and the losses of Σ_s w_s h_s, summed in the order of the subnetworks."""
        f = self.labels.none(len(self.y), like=torch.zeros(1, dtype=torch.float64, device=self.inputs.device))
        for one, h in zip(chosen, H, strict=True):
            f = f + one.weight * h
        train = self.mean_loss(f, self.split.train)
        validation = self.mean_loss(f, self.split.validation) if len(self.split.validation) else None
        penalty = sum(self.Gamma(one, lam) * abs(one.weight) for one in chosen)
        return Weighed(chosen, H, (train if validation is None else validation) + penalty, train, validation)

    def mean_loss(self, f: Tensor, rows: Tensor) -> float:
        rows = rows.to(f.device)
        return float(self.labels.values(self.y[rows], f[rows]).mean())

    def Gamma(self, one: Chosen, lam: float) -> float:
        return lam * one.complexity + self.settings.beta

    def added(self, candidate: Candidate, before: Weighed, lam: float, t: int) -> Weighed:
        """The ensemble with this candidate, by the strategy and the weights that are asked for."""
        alone = self.settings.strategy == "solo"
        new = Chosen(
            candidate.name, candidate.module, 1.0, candidate.complexity, candidate.parameters, t, candidate.number,
            float(candidate.h.abs().mean()), candidate.origin,
        )  # fmt: skip
        chosen = (new,) if alone else (*before.chosen, new)
        H = (candidate.h,) if alone else (*before.H, candidate.h)
        mean = self.settings.weights == "mean"
        w = [1 / len(chosen)] * len(chosen) if mean else self.minimise(chosen, H, lam)
        pairs = zip(chosen, w, strict=True)
        return self.weighed(tuple(replace(one, weight=weight) for one, weight in pairs), H, lam)

    def minimise(self, chosen: Sequence[Chosen], H: Sequence[Tensor], lam: float) -> list[float]:
        """argmin_w F over the weights of all subnetworks, with its certificate."""
        validation = self.split.validation
        rows = (validation if len(validation) else self.split.train).to(self.inputs.device)
        Z = torch.stack([h[rows] for h in H])
        Gamma = Z.new_tensor([self.Gamma(one, lam) for one in chosen])
        return self.labels.minimise_along(Z, self.y[rows], torch.zeros_like(Z[0]), Gamma, tol=1e-9).w.tolist()

    def report(self, candidate: Candidate, weighed: Weighed, before: Weighed, t: int, chosen: bool) -> Report:
        what = "F" if weighed.validation is None else "validation loss"
        why = f"{what} {before.judged:.4f} -> {weighed.judged:.4f}: "
        why += ("least of the round" if self.settings.strategy != "all" else "all are kept") if chosen else ""
        why += "" if chosen else "another candidate is better" if weighed.helps_beside(before) else "does not fall"
        return Report(
            t, candidate.name, weighed.train, weighed.validation, weighed.objective, candidate.complexity,
            candidate.measure, candidate.parameters, measure.depth(candidate.module), weighed.chosen[-1].weight,
            chosen, why, round(candidate.seconds, 3),
        )  # fmt: skip


def with_hint(message: str, hint: str) -> str:
    """
    >>> with_hint("expected 4D input", " Pass X."), with_hint("expected 4D input", "")
    ('expected 4D input. Pass X.', 'expected 4D input')
    """
    return f"{message.rstrip('.')}.{hint}" if hint else message


def channels_wrong(shape: tuple[int, ...]) -> str:
    """What to do where the inputs may be images whose channels do not stand first; else nothing."""
    if len(shape) == 2:
        return " X has no channel axis: pass X[:, None]."
    few = (1, 3, 4)
    last = len(shape) == 3 and shape[-1] in few and shape[0] not in few
    return f" X has inputs of shape {shape}, torch reads channels first: pass X.transpose(0, 3, 1, 2)." if last else ""


def _moved(value: Any, device: torch.device | str) -> Any:
    """The tensors in it on that device."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, tuple):
        return tuple(_moved(one, device) for one in value)
    return {key: _moved(one, device) for key, one in value.items()} if isinstance(value, dict) else value


@contextlib.contextmanager
def _unchanged(previous: Sequence[nn.Module], name: str) -> Iterator[None]:
    """The subnetworks of earlier rounds after the block as before it: they are part of f."""
    before = [{key: value.clone() for key, value in module.state_dict().items()} for module in previous]
    yield
    for module, state in zip(previous, before, strict=True):
        same = all(torch.equal(value, state[key]) for key, value in module.state_dict().items())
        check(same, f"builder {name!r}: its fit changes an earlier subnetwork: keep data.previous in eval mode.")
