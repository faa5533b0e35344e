"""Every setting of a training run, in frozen sections: one Config for AdaNet, AdaNet.CVX and the baselines.

`Config()` is what both front doors begin with. Settings that depend on the method and the sample are open in it (None
or "auto"); `resolve` is the one place that fills them in, and the file of a run holds the result.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from adanet_theory.activations import activation
from adanet_theory.checks import check, check_choice, check_delta, check_nonnegative, check_rho, unknown_choice
from adanet_theory.spec import NetworkSpec
from adanet_train.core.surrogates import surrogate

CHOICES: dict[str, tuple[str, ...]] = {
    "objective": ("paper", "bound", "certificate", "vote", "description"),
    "complexity": ("lemma-2", "lemma-2-peeled", "sampled", "sd", "sqrt-depth"),
    "variant": ("base", "R", "P", "D", "SD"),
    "learner": ("auto", "committee", "gradient", "units", "random"),
    "order": ("worst", "nearest", "hash"),
    "outputs": ("top", "all"),
    "optimiser": ("sgd", "adam"),
    "step": ("closed-form", "exact", "printed"),
    "norm": ("l2", "l1"),
    "dtype": ("float32", "float64"),
}
"""The names that a setting accepts; complexity and learner may also be functions."""
HELD_OUT = "chosen on held-out points"
WIDTH = 100
PAPERS_LAM = 1e-5
"""λ of every method that holds no points out to choose it on."""
MANY, LARGE, HUGE = 20_000, 50_000, 200_000
"""Numbers of points from which on: a committee has 4 wider members; a subnetwork must gain more; it has 2 members."""


@dataclass(frozen=True)
class Family:
    """The declared family, fixed before the sample is seen."""

    rounds: int = 10
    """T, the largest number of rounds."""
    max_rounds: int | None = None
    """The T of the declared family, up to which a run can be taken up later with more rounds. None: `rounds`."""
    width: int | None = None
    """B, units per layer of a subnetwork or committee member. None: 100, or 50 for a committee below 20,000 points."""
    p: float = 2.0
    """The norm of a unit's weights, in [1, inf]."""
    Lambda: float | tuple[float, ...] = 1.01
    """Λ_{k,k-1}: one number for all layers, or Λ_{1,0}, Λ_{2,1}, .. up to the maximal depth."""
    activation: str = "relu"
    """φ, a name such as "relu", "tanh" or "leaky_relu:0.1"."""
    max_depth: int | None = None
    """Maximal depth of the family. None: as deep as T rounds can build, but at most 5."""
    rho: float | None = None
    """A margin to declare with the family; training does not use it."""
    enforce: bool = True
    """Project on ||u||_p <= Λ. The paper did not; with False the result declares no family."""

    def __post_init__(self) -> None:
        _check_types(self, {"rounds": 1, "max_rounds": 1, "width": 1, "max_depth": 1})
        check(self.p >= 1, f"p must be in [1, inf], got p={self.p}.")
        for bound in self.Lambda if isinstance(self.Lambda, tuple) else (self.Lambda,):
            check(0 < bound < math.inf, f"Lambda must be finite and > 0, got Lambda={bound}.")
        activation(self.activation)
        if self.rho is not None:
            check_rho(self.rho)

    @property
    def declared_rounds(self) -> int:
        """The T of the declared family."""
        return self.max_rounds or self.rounds

    @property
    def depth(self) -> int:
        """The maximal depth of the declared family."""
        return self.max_depth or min(self.declared_rounds + 1, 5)


@dataclass(frozen=True)
class Goal:
    """What is minimised: (1/m) Σ Φ(1 - y f) + Σ_j Γ_j |w_j| with Γ_j = λ r_j + β, or a certificate."""

    objective: str = "paper"
    """"paper": λ and β below. "bound": those with which F is a bound on the risk (theory: objective-bound).
    "certificate": trained by picking, for the certificate of the number of picks. "vote": F is
    vote-certificate itself, of a linear network. "description": F is occam-certificate of a network whose every unit
    pays for its bits."""
    surrogate: str = "logistic"
    """Φ: "logistic", "logistic2" or "exponential"; for more than two classes the multinomial logistic loss."""
    lam: float | None = None
    """λ. None: a committee chooses it with the first subnetwork, by the loss on held-out points; 1e-5 elsewhere."""
    beta: float = 0.0
    """β."""
    complexity: str | Callable[..., float] = "lemma-2"
    """r: one of CHOICES["complexity"], or a function (spec, k, Psi, H) -> r of units in H*_k whose outputs are H."""
    delta: float = 0.05
    """δ: a certificate, for objectives that end with one, holds with probability at least 1 - δ."""
    discrete: bool = False
    """Identical rows are different people or events: without this, rows that repeat have no certificate."""
    slack: float = 0.05
    """η of the bound objective, the step of its grid of margins."""
    largest_rho: bool = False
    """Divide λ and β of the bound objective by the largest ρ that the surrogate admits."""
    r_sup: float = 1.0
    """sup ||Ψ||_inf on the whole support, for the bound objective; a feature map knows it."""

    def __post_init__(self) -> None:
        _check_types(self)
        surrogate(self.surrogate)
        for name in ("beta", "r_sup", *(() if self.lam is None else ("lam",))):
            check_nonnegative(name, getattr(self, name))
        check(0 < self.slack < math.inf, f"slack must be finite and > 0, got slack={self.slack}.")
        check_delta(self.delta)

    @property
    def by_picking(self) -> bool:
        """Whether training picks rows, for the certificate of their number."""
        return self.objective == "certificate"

    @property
    def is_certificate(self) -> bool:
        """Whether F itself is a certificate, with features fixed beforehand and a search of its own."""
        return self.objective in ("vote", "description")

    @property
    def certifies(self) -> bool:
        """Whether training ends with a certificate, of either kind."""
        return self.by_picking or self.is_certificate

    @property
    def is_by_layer(self) -> bool:
        """Whether r depends on the layer of a unit alone, and not on its outputs."""
        return self.complexity in ("lemma-2", "lemma-2-peeled", "sampled", "sqrt-depth")

    @property
    def number(self) -> float:
        """λ where it must be a number."""
        check(self.lam is not None, "lam must be a number >= 0 here, got lam=None: only a committee can choose it.")
        return float(self.lam or 0.0)

    def check_unweighted(self, *weights: Any) -> None:
        """Refuse weights unless the objective is "paper": F of a weighted sample would not bound the risk."""
        plain = self.objective == "paper" or all(given is None for given in weights)
        check(plain, f"objective {self.objective} counts every point alike: no sample_weight, no class_weight.")


@dataclass(frozen=True)
class Picking:
    """How rows are picked, for the objective "certificate"."""

    start: float | None = None
    """The share of the rows that the start is fitted on. None: .65 of fewer than 1,000 rows, else .75."""
    picks: int | tuple[int, ...] | None = None
    """K, the most rows picked; 0 certifies the start. None: 24, or 3 C^2 for C > 2 classes, but 0 if a dry run finds
    that picking does not pay. A rising tuple of G numbers: a run for each; the least certificate at delta/G is kept."""
    order: str = "worst"
    """Which wrong rows come first: "worst", "nearest" (for noisy labels) or "hash"."""

    def __post_init__(self) -> None:
        _check_types(self)
        several = self.picks if isinstance(self.picks, tuple) else () if self.picks is None else (self.picks,)
        for K in several:
            _check_integer("picks", K, 0)
        rising = all(a < b for a, b in itertools.pairwise(several)) and self.picks != ()
        check(rising, f"picks must be an integer or a rising tuple of them, got picks={self.picks!r}.")
        check(self.start is None or 0 < self.start < 1, f"start must be a share in (0, 1), got start={self.start}.")


@dataclass(frozen=True)
class Search:
    """The search for a subnetwork."""

    learner: str | Callable[..., Any] = "auto"
    """"committee" (several members, each stopped by a held-out part of the sample), "gradient" (the paper's), "units"
    (w weighs the hidden units one by one), "random" (the best of many random subnetworks), or a function (task,
    generator) -> weights. "auto": "committee", but "gradient" for what only that has: the variants R, P and D,
    outputs="all" and corrective=True. For more than two classes "gradient" is "units"."""
    variant: str = "base"
    """"base", "R", "P", "D" or "SD", as in the paper's Table 3."""
    candidates: tuple[tuple[int, int], ...] | None = None
    """(depth - l_{t-1}, units per layer) of each candidate. None: (0, B) and (1, B), as in the paper. Where held-out
    points choose λ, the first round has (2, B) as well if they choose (1, B), and further rounds have (0, B) only."""
    outputs: str = "top"
    """Which layers of a subnetwork the output reads: "top" (Section 4 of the paper) or "all" (Section 2)."""
    least_decrease: float = 1e-3
    """AdaNet ends when a round lowers F by no more than this share of it; 0: when F does not fall."""
    corrective: bool = False
    """Minimise F over all of w again after every round."""
    members: int | None = None
    """Members of a committee. None: 8, from 20,000 points on 4, and from 200,000 on 2."""
    validation_fraction: float = 0.125
    """The share of the sample held out from each member of a committee; at most 1/members of it, and 10,000 points."""
    optimiser: str = "sgd"
    """For the learners "gradient" and "units": "sgd" or "adam". A committee uses Adam."""
    learning_rate: float | None = None
    """None: 0.1; in a committee 0.03 for linear members and 0.005 for others, falling to 0."""
    steps: int | None = None
    """None: 2,000; in a committee as many as its epochs take."""
    epochs: int | None = None
    """Passes of a committee over the sample. None: up to 4 runs of 80 passes (50 for more than two classes), while the
    held-out loss falls; at most 2,000,000/m in all, at least 12, a third for later rounds or 2+ hidden layers."""
    batch: int | None = None
    """Points per step. None: 100; in a committee 64 to 512, by the size of the sample."""
    check_every: int = 250
    """Steps between two evaluations of the candidate's objective."""
    patience: int = 4
    """Evaluations without a new best value before a candidate's training ends."""
    dropout: float = 0.5
    """Variant D: the probability to drop a connection to an earlier subnetwork."""
    networks: int = 100
    """How many random subnetworks the learner "random" draws."""

    def __post_init__(self) -> None:
        least = dict.fromkeys(("members", "epochs", "batch", "check_every", "patience", "networks"), 1)
        _check_types(self, least | {"steps": 0})
        check_nonnegative("least_decrease", self.least_decrease)
        rate = self.learning_rate
        check(rate is None or 0 < rate < math.inf, f"learning_rate must be finite and > 0, got learning_rate={rate}.")
        held_out = 0 < self.validation_fraction <= 0.5
        check(held_out, f"validation_fraction must be in (0, 0.5], got {self.validation_fraction}.")
        check(0 <= self.dropout < 1, f"dropout must be in [0, 1), got dropout={self.dropout}.")
        pairs = self.candidates is None or isinstance(self.candidates, tuple)
        pairs = pairs and all(_are_integers(pair) and len(pair) == 2 for pair in self.candidates or ())
        check(pairs, f"candidates must be a tuple of pairs of integers, got candidates={self.candidates!r}.")
        for _, units in self.candidates or ():
            check(units >= 1, f"a candidate must have at least one unit per layer, got {units}.")

    @property
    def is_papers(self) -> bool:
        """Whether a setting needs the paper's learner."""
        return self.variant in ("R", "P", "D") or self.outputs == "all" or self.corrective


@dataclass(frozen=True)
class Convex:
    """The convex step, and AdaNet.CVX."""

    tol: float = 1e-10
    """The duality gap at which the convex step ends."""
    step: str = "closed-form"
    """AdaNet.CVX: "closed-form", "exact" (the joint minimiser), or "printed" (no sign, no Γ in the layer choice)."""

    def __post_init__(self) -> None:
        _check_types(self)
        check(0 < self.tol < math.inf, f"tol must be finite and > 0, got tol={self.tol}.")


@dataclass(frozen=True)
class Baseline:
    """Settings of LR and NN."""

    hidden: tuple[int, ...] = (150,)
    """NN: units of each hidden layer."""
    norm: str = "l2"
    """The penalty λ ||.||² ("l2") or λ ||.||_1 ("l1") on all weights."""

    def __post_init__(self) -> None:
        _check_types(self)
        check(_are_integers(self.hidden), f"hidden must be a tuple of integers, got hidden={self.hidden!r}.")


@dataclass(frozen=True)
class Run:
    """Seed, device, number type and parallel jobs."""

    seed: int = 0
    """The same seed gives the same bits on the same machine."""
    device: str = "cpu"
    """"cpu", "cuda" or "cuda:N"."""
    dtype: str = "float32"
    """Type of numbers in the gradient search; stored weights, their outputs and the convex step are float64."""
    jobs: int = 1
    """How many candidates are trained at the same time; the result does not depend on it."""

    def __post_init__(self) -> None:
        _check_types(self, {"jobs": 1})
        check(isinstance(self.seed, int) and self.seed >= 0, f"seed must be an integer >= 0, got {self.seed!r}.")


@dataclass(frozen=True, init=False, repr=False)
class Config:
    """All settings of a run, in sections; each setting is given by its name, which is unique.

    Parameters
    ----------
    settings
        Fields of the sections, by name; the others keep their defaults.

    Raises
    ------
    TypeError
        If no section has a setting of that name.
    ValueError
        If a value is outside its range.

    Examples
    --------
    >>> config = Config(rounds=5, width=10, max_depth=3)
    >>> config.family.rounds, config.search.learner
    (5, 'auto')
    >>> config.declared(n_0=4).n
    (4, 50, 50, 50)
    >>> config
    Config(rounds=5, width=10, max_depth=3)
    """

    family: Family
    goal: Goal
    picking: Picking
    search: Search
    convex: Convex
    baseline: Baseline
    run: Run

    def __init__(self, **settings: Any) -> None:
        for name in settings:
            if name not in HOMES:
                raise TypeError(str(unknown_choice("setting", name, HOMES)))
        for section, kind in SECTIONS.items():
            own = {name: value for name, value in settings.items() if HOMES[name] == section}
            object.__setattr__(self, section, kind(**own))
        self._check()

    def _check(self) -> None:
        """What sections ask of each other."""
        for offset, _ in self.search.candidates or ():
            free = offset <= 1 or self.family.max_depth is not None
            check(free, "a candidate of depth > l_{t-1} + 1 needs max_depth.")
        depth, hidden = self.family.max_depth, "objective='certificate' certifies hidden units"
        linear = self.goal.objective != "vote" or depth in (None, 1)
        check(linear, f"objective='vote' is for a linear network: max_depth must be 1, got {depth}; {hidden}.")
        if self.goal.objective == "bound":
            # The other complexities are not upper bounds on R_m(H_k) known before the sample is drawn.
            variant, complexity = self.search.variant, self.goal.complexity
            check(
                variant != "SD" and complexity in ("lemma-2", "lemma-2-peeled"),
                "objective='bound' needs r_k >= R_m(H_k): complexity must be lemma-2 or lemma-2-peeled, "
                f"got {complexity!r} and variant {variant!r}.",
            )
            check(self.family.enforce, "objective='bound' needs units inside their family, got enforce=False.")

    def __repr__(self) -> str:
        changed = self.changes().items()
        return f"Config({', '.join(f'{name}={value!r}' for name, value in changed)})"

    def __getitem__(self, name: str) -> Any:
        """The setting of that name, whatever its section."""
        return getattr(getattr(self, HOMES[name]), name)

    def settings(self) -> dict[str, Any]:
        """Every setting by its name."""
        return {name: self[name] for name in HOMES}

    def changes(self) -> dict[str, Any]:
        """The settings that are not at their defaults."""
        return {name: value for name, value in self.settings().items() if value != DEFAULTS[name]}

    def replace(self, **changes: Any) -> Config:
        return Config(**self.settings() | changes)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Config:
        """The settings that have a name, "default" or "paper", with changes.

        >>> Config.preset("default")
        Config()
        >>> Config.preset("paper", width=100).changes()["width"]
        100
        """
        check_choice("preset", name, PRESETS)
        return cls(**PRESETS[name] | changes)

    # What it leaves open

    def resolve(self, method: str, y: Tensor, m: int) -> Config:
        """Fill in the open settings, for a method and a sample. Resolving twice changes nothing.

        Parameters
        ----------
        method
            "adanet", "cvx", "cvx-exact", "lr" or "nn".
        y
            Labels, -1/+1 as floats or class indices.
        m
            Number of points that training begins with.

        Raises
        ------
        ValueError
            If the method does not have the objective, or max_rounds is below rounds.

        Examples
        --------
        >>> import torch
        >>> Config(rounds=3).resolve("adanet", torch.tensor([1.0, -1.0]), m=100)
        Config(rounds=3, width=50, learner='committee', members=8)
        >>> Config(rounds=3).resolve("cvx", torch.tensor([1.0, -1.0]), m=100)
        Config(rounds=3, lam=1e-05, learner='gradient')
        """
        known, T = method == "adanet" or not self.goal.is_certificate, self.family.rounds
        check(known, f"objective {self.goal.objective} is for method adanet, got method={method!r}.")
        declared = self.family.declared_rounds
        check(declared >= T, f"max_rounds must be at least rounds={T}, got max_rounds={declared}.")
        learner = self._learner(method, is_signed=y.is_floating_point())
        filled_in: dict[str, Any] = {}
        if self.goal.lam is None and learner != "committee":
            filled_in["lam"] = PAPERS_LAM
        if method == "cvx-exact":
            filled_in["step"] = "exact"
        if method == "adanet" and not self.goal.is_certificate:
            filled_in |= self._sizes_for(m, is_committee=learner == "committee")
        if self.goal.objective == "vote":  # linear, in one round
            filled_in |= {"max_depth": 1, "rounds": 1, "max_rounds": None}
        return self.replace(learner=learner, **filled_in)

    def _learner(self, method: str, *, is_signed: bool) -> Any:
        """Who searches; of C classes "units" is the paper's learner, "gradient" is one of two."""
        learner = self.search.learner
        if learner == "auto":
            adaptive = method == "adanet" and not self.search.is_papers and not self.goal.is_certificate
            learner = "committee" if adaptive else "gradient"
        return "units" if learner == "gradient" and not is_signed else learner

    def _sizes_for(self, m: int, *, is_committee: bool) -> dict[str, Any]:
        """Units per layer and members on m points."""
        width = self.family.width or (50 if is_committee and m < MANY else WIDTH)
        sizes = {"width": max((units for _, units in self.search.candidates or ()), default=width)}
        members = self.search.members or (8 if m < MANY else 4 if m < HUGE else 2)
        return sizes | ({"members": min(members, max(1, m // 2))} if is_committee else {})

    def opened(self, method: str, y: Tensor, m: int) -> Config:
        """The config with settings left open again where `resolve` fills in the value that they have."""
        config = self
        for name in ("learner", "lam", "width", "members"):
            wider = config.replace(**{name: DEFAULTS[name]})
            config = wider if wider.resolve(method, y, m) == self.resolve(method, y, m) else config
        return config

    # What is resolved

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """(depth - l_{t-1}, units per layer, of each member) of each candidate."""
        width = self.family.width or WIDTH
        return self.search.candidates or ((0, width), (1, width))

    def declared(self, n_0: int, tops: int = 1) -> NetworkSpec:
        """The declared family: every layer up to the maximal depth may hold all T subnetworks.

        Each member of a committee has `tops` top units.
        """
        family, widest = self.family, max(units for _, units in self.sizes)
        if self.search.learner == "committee":
            widest = max(widest, tops) * (self.search.members or 1)
        n = (n_0, *[family.declared_rounds * widest] * family.depth)
        return NetworkSpec.layered(n, family.Lambda, family.p, family.activation)

    # In a file

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a file, by name; a function is named, not stored."""
        values = self.settings() | {"lam": HELD_OUT if self.goal.lam is None else self.goal.lam}  # a file holds no None
        return {name: _plain(value) for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """The inverse of as_dict, except for functions."""
        given = {name: _frozen(value) for name, value in values.items()}
        return cls(**given | {"lam": None} if given.get("lam") == HELD_OUT else given)


SECTIONS: dict[str, Any] = {
    "family": Family,
    "goal": Goal,
    "picking": Picking,
    "search": Search,
    "convex": Convex,
    "baseline": Baseline,
    "run": Run,
}
HOMES = {field.name: section for section, kind in SECTIONS.items() for field in dataclasses.fields(kind)}
"""The section of every setting."""
DEFAULTS = {field.name: field.default for kind in SECTIONS.values() for field in dataclasses.fields(kind)}
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "learner": "gradient",
        "optimiser": "sgd",
        "rounds": 30,
        "width": 150,
        "lam": 1e-5,
        "steps": 10_000,
        "batch": 100,
        "least_decrease": 0.0,
    },
}
"""AdaNet as it is here: a committee, which chooses λ and the number of rounds on held-out points; and as in the paper:
Section 4 with its comparison mended, gradient search, T = 30, and of its grids B = 150, λ = 1e-5 and a rate of 0.1."""


def _check_types(section: Any, least: Mapping[str, int] | None = None) -> None:
    """Integers of a least value, numbers, flags and names, as the fields say."""
    for field in dataclasses.fields(section):
        name, kind, value = field.name, str(field.type), getattr(section, field.name)
        if least and name in least and not (value is None and "None" in kind):
            _check_integer(name, value, least[name])
        if kind.startswith("float"):
            _check_numbers(name, value, optional="None" in kind)
        flag = kind != "bool" or isinstance(value, bool | np.bool_)
        check(flag, f"{name} must be True or False, got {name}={value!r}.")
        check(kind != "str" or isinstance(value, str), f"{name} must be a name, got {name}={value!r}.")
        if name in CHOICES and not ("Callable" in kind and callable(value)):
            check_choice(name, value, CHOICES[name])


def _check_integer(name: str, value: Any, least: int) -> None:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    check(whole and value >= least, f"{name} must be an integer >= {least}, got {value!r}.")


def _check_numbers(name: str, value: Any, *, optional: bool) -> None:
    """One number, or several of a field that takes them."""
    parts = value if isinstance(value, tuple) and name == "Lambda" else (value,)
    known = all(isinstance(part, numbers.Real) and not isinstance(part, bool) for part in parts)
    check(known or (optional and value is None), f"{name} must be a number, got {name}={value!r}.")


def _are_integers(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(part, numbers.Integral) for part in value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if callable(value):
        return f"{value.__module__}:{value.__qualname__}"
    return value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value
