"""What a training run is told and what it returns; one frozen Config for AdaNet, AdaNet.CVX and the baselines."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.activations import activation
from adanet_theory.checks import check, check_choice, check_delta, check_nonnegative, check_rho
from adanet_theory.spec import NetworkSpec
from adanet_train.core.history import Round
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.core.surrogates import surrogate
from adanet_train.core.world import ALONE, World

CERTIFIED = ("vote", "description")
"""Objectives that are a certificate: they count every point alike, and the features must be fixed beforehand."""
VARIANTS = ("base", "R", "P", "D", "SD")
LARGE = 50_000
"""Points from which on a further subnetwork must gain more."""
HELD_OUT = "chosen on held-out points"
COMPLEXITIES = ("lemma-2", "lemma-2-peeled", "sampled", "sd", "sqrt-depth")


@dataclass(frozen=True)
class Config:
    """Every knob with its default. The paper's own are T = 30, B in {100, 150, 250}, λ <= 1e-4 and 10,000 steps.

    >>> Config(rounds=5, width=10, max_depth=3).family(n_0=4).n
    (4, 50, 50, 50)
    """

    # The family, fixed before the sample is seen
    rounds: int = 10
    """T."""
    max_rounds: int | None = None
    """The T of the declared family, up to which a run can be taken up later with more rounds; None: T."""
    width: int | None = None
    """B, the units per layer of a candidate subnetwork. None: 100; of each member of a committee 50, and 100 from
    20,000 points on."""
    p: float = 2.0
    Lambda: float | tuple[float, ...] = 1.01
    """Λ_{k,k-1}: one number for all layers, or Λ_{1,0}, Λ_{2,1}, .. up to the maximal depth."""
    activation: str = "relu"
    max_depth: int | None = None
    """None: as deep as T rounds can build, but at most 5."""
    rho: float | None = None
    """The margin, if it is to be declared with the family; training does not use it."""
    enforce: bool = True
    """Project on ||u||_p <= Λ. The paper did not: with False the result declares no family."""

    # The objective (1/m) Σ Φ(1 - y f) + Σ_j Γ_j |w_j|,  Γ_j = λ r_j + β
    surrogate: str = "logistic"
    lam: float | None = 1e-5
    """λ. None: chosen with the first subnetwork, on a path from large to small, by the loss on the held-out points."""
    beta: float = 0.0
    complexity: str | Callable[..., float] = "lemma-2"
    """r: one of COMPLEXITIES, or a function (spec, k, Psi, H) -> r of units in H*_k whose outputs are H."""
    objective: str = "paper"
    """"paper": λ and β above. "bound": those with which F is a bound on the risk (theory: objective-bound).
    "vote": F is the network's certificate itself, vote-certificate or path-certificate. "certificate": trained by
    picking, for the certificate of the number of picks. "description": F is occam-certificate of a network whose every
    unit pays for its bits."""
    delta: float = 0.05
    """The certificate of the objectives "vote" and "certificate" holds with probability 1 - δ."""
    start: float = 0.25
    """Picking: the share of the rows that the start is fitted on."""
    picks: int | None = None
    """Picking: K, the most rows picked; None: a function of the number of rows and classes."""
    order: str = "worst"
    """Picking: which wrong rows come first, "worst", "nearest" (for noisy labels) or "hash"."""
    slack: float = 0.05
    """η of the bound objective, the step of its grid of margins."""
    largest_rho: bool = False
    """Divide λ and β of the bound objective by the largest ρ that the surrogate admits."""
    r_sup: float = 1.0
    """sup ||Ψ||_inf on the whole support; the bound objective needs it."""

    # The search
    variant: str = "base"
    candidates: tuple[tuple[int, int], ...] | None = None
    """(depth - l_{t-1}, units per layer) of each candidate; None: (0, B) and (1, B), as in the paper. Where held-out
    points choose λ (lam=None), the first round has (2, B) as well if they choose (1, B), and further rounds have
    (0, B) only."""
    outputs: str = "top"
    """Which layers of a subnetwork the output reads: "top" (Section 4 of the paper) or "all" (Section 2)."""
    least_decrease: float = 1e-3
    """AdaNet ends when a round lowers F by no more than this share of it; 0: when F does not fall."""
    corrective: bool = False
    """Minimise F over all of w again after every round."""
    learner: str | Callable[..., Any] = "gradient"
    """"committee" (several members, each stopped by a held-out part of the sample), "gradient", "units" (w weighs the
    hidden units one by one), "random" (the best of many random subnetworks), or a function (task, generator) ->
    weights."""
    members: int | None = None
    """Of a committee. None: 8, from 20,000 points on 4, and from 200,000 on 2."""
    validation_fraction: float = 0.125
    """The share of the sample that each member of a committee is held out from; 10,000 points are enough."""
    optimiser: str = "sgd"
    """Of the learners "gradient" and "units"; a committee takes Adam."""
    learning_rate: float | None = None
    """None: 0.1; of a committee 0.03 for linear members, 0.005 for others, falling to 0."""
    steps: int | None = None
    """None: 2,000; of a committee as many as its epochs take."""
    epochs: int | None = None
    """Of a committee: passes over the sample. None: while the held-out loss falls, by up to 8 runs of 80 passes, of C
    classes 50, but at most 2,000,000/m in all and 12 at least; runs of a third of that for a further subnetwork and for
    several hidden layers."""
    batch: int | None = None
    """Points per step. None: 100; of a committee 64 to 512, by the size of the sample."""
    check_every: int = 250
    """Steps between two looks at the candidate's objective."""
    patience: int = 4
    """Looks without a new best value before a candidate's training ends."""
    dropout: float = 0.5
    """Variant D: the probability to drop a connection to an earlier subnetwork."""
    networks: int = 100
    """How many random subnetworks the learner "random" draws."""
    tol: float = 1e-10
    """The duality gap at which the convex step ends."""

    # AdaNet.CVX
    step: str = "closed-form"
    """"closed-form", "exact" (the joint minimiser), or "printed" (no sign, no Γ in the layer choice; to compare)."""

    # The baselines
    hidden: tuple[int, ...] = (150,)
    """NN: units of each hidden layer."""
    norm: str = "l2"
    """LR and NN: the penalty λ ||.||² ("l2") or λ ||.||_1 ("l1") on all weights."""

    # The run
    seed: int = 0
    device: str = "cpu"
    dtype: str = "float32"
    """Of the gradient search only; the weights kept, their outputs and the convex step are float64."""
    jobs: int = 1
    """How many candidates are trained at the same time; the result does not depend on it."""

    def __post_init__(self) -> None:
        for name in ("rounds", "check_every", "patience", "networks", "jobs"):
            _check_integer(name, getattr(self, name), 1)
        for name in ("width", "max_rounds", "max_depth", "members", "steps", "epochs", "batch", "picks"):
            if getattr(self, name) is not None:
                _check_integer(name, getattr(self, name), 0 if name in ("steps", "picks") else 1)
        for field in dataclasses.fields(self):
            name, kind, value = field.name, str(field.type), getattr(self, field.name)
            if kind.startswith("float"):
                _check_numbers(name, value, optional="None" in kind)
            flag = kind != "bool" or isinstance(value, bool | np.bool_)
            check(flag, f"{name} must be True or False, got {name}={value!r}.")
            check(kind != "str" or isinstance(value, str), f"{name} must be a name, got {name}={value!r}.")
        check(isinstance(self.seed, int) and self.seed >= 0, f"seed must be an integer >= 0, got {self.seed!r}.")
        check(self.p >= 1, f"p must be in [1, inf], got p={self.p}.")
        for bound in self.Lambda if isinstance(self.Lambda, tuple) else (self.Lambda,):
            check(0 < bound < math.inf, f"Lambda must be finite and > 0, got Lambda={bound}.")
        activation(self.activation)
        surrogate(self.surrogate)
        if self.rho is not None:
            check_rho(self.rho)
        for name in ("lam", "beta", "r_sup", "least_decrease"):
            if name != "lam" or self.lam is not None:
                check_nonnegative(name, getattr(self, name))
        for name in ("slack", "learning_rate", "tol"):
            value = getattr(self, name)
            known = name == "learning_rate" and value is None
            check(known or 0 < value < math.inf, f"{name} must be finite and > 0, got {name}={value}.")
        held_out = 0 < self.validation_fraction <= 0.5
        check(held_out, f"validation_fraction must be in (0, 0.5], got {self.validation_fraction}.")
        declared = self.max_rounds is None or self.max_rounds >= self.rounds
        check(declared, f"max_rounds must be at least rounds={self.rounds}, got max_rounds={self.max_rounds}.")
        check(0 <= self.dropout < 1, f"dropout must be in [0, 1), got dropout={self.dropout}.")
        _check_choice("objective", self.objective, ("paper", "bound", "certificate", *CERTIFIED))
        check(0 < self.start < 1, f"start must be a share in (0, 1), got start={self.start}.")
        _check_choice("order", self.order, ("worst", "nearest", "hash"))
        check_delta(self.delta)
        _check_choice("variant", self.variant, VARIANTS)
        _check_choice("outputs", self.outputs, ("top", "all"))
        _check_choice("optimiser", self.optimiser, ("sgd", "adam"))
        _check_choice("step", self.step, ("closed-form", "exact", "printed"))
        _check_choice("norm", self.norm, ("l2", "l1"))
        _check_choice("dtype", self.dtype, ("float32", "float64"))
        if not callable(self.complexity):
            _check_choice("complexity", self.complexity, COMPLEXITIES)
        if not callable(self.learner):
            _check_choice("learner", self.learner, ("committee", "gradient", "units", "random"))
        needs_number = self.lam is None and self.learner != "committee"
        check(not needs_number, f"lam=None is chosen on the points that a committee holds out; got {self.learner!r}.")
        if self.objective == "bound":
            # The other complexities are not upper bounds on R_m(H_k) known before the sample is drawn.
            check(
                self.variant != "SD" and self.complexity in ("lemma-2", "lemma-2-peeled"),
                "objective='bound' needs r_k >= R_m(H_k): complexity must be lemma-2 or lemma-2-peeled, "
                f"got {self.complexity!r} and variant {self.variant!r}.",
            )
            check(self.enforce, "objective='bound' needs units inside their family, got enforce=False.")
        check(_are_integers(self.hidden), f"hidden must be a tuple of integers, got hidden={self.hidden!r}.")
        pairs = self.candidates is None or isinstance(self.candidates, tuple)
        pairs = pairs and all(_are_integers(pair) and len(pair) == 2 for pair in self.candidates or ())
        check(pairs, f"candidates must be a tuple of pairs of integers, got candidates={self.candidates!r}.")
        for offset, units in self.candidates or ():
            check(units >= 1, f"a candidate must have at least one unit per layer, got {units}.")
            check(offset <= 1 or self.max_depth is not None, "a candidate of depth > l_{t-1} + 1 needs max_depth.")

    @property
    def depth(self) -> int:
        """The maximal depth of the declared family."""
        return self.max_depth or min((self.max_rounds or self.rounds) + 1, 5)

    @property
    def fixed_lam(self) -> float:
        """λ where it must be a number."""
        check(self.lam is not None, "lam must be a number >= 0 here, got lam=None: only a committee can choose it.")
        return float(self.lam or 0.0)

    @property
    def tried(self) -> int:
        """Statements looked at: the objective "vote" has vote-certificate, and path-certificate if it may grow."""
        return 2 if self.objective == "vote" and self.depth > 1 and self.rounds > 1 else 1

    def sizes(self, m: int) -> tuple[tuple[int, int], ...]:
        """(depth - l_{t-1}, units per layer, of each member) of each candidate on m points."""
        width = self.width or (50 if self.learner == "committee" and m < 20_000 else 100)
        return self.candidates or ((0, width), (1, width))

    def members_for(self, m: int) -> int:
        """How many members a subnetwork has on m points; one where the learner knows of none."""
        if self.learner != "committee":
            return 1
        return min(self.members or (8 if m < 20_000 else 4 if m < 200_000 else 2), max(1, m // 2))

    def family(self, n_0: int, m: int = 2, tops: int = 1) -> NetworkSpec:
        """The declared family: every layer up to the maximal depth may hold all T subnetworks.

        On m points: how many members a committee has by default depends on it. Each of them has `tops` top units.
        """
        widest = max(units for _, units in self.sizes(m))
        if self.learner == "committee":
            widest = max(widest, tops) * self.members_for(m)
        n = (n_0, *[(self.max_rounds or self.rounds) * widest] * self.depth)
        return NetworkSpec.layered(n, self.Lambda, self.p, self.activation)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Config:
        """The settings of AdaNet that have a name, "default" or "paper", with changes.

        >>> paper, default = Config.preset("paper"), Config.preset("default")
        >>> (paper.learner, paper.rounds, paper.width, paper.lam), (default.learner, default.lam)
        (('gradient', 30, 150, 1e-05), ('committee', None))
        """
        check_choice("preset", name, PRESETS)
        return cls(**adaptive(PRESETS[name] | changes))

    def replace(self, **changes: Any) -> Config:
        return dataclasses.replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a file; a function is named, not stored."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["lam"] = HELD_OUT if self.lam is None else self.lam  # a file holds no None
        return {name: _plain(value) for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """The inverse of as_dict, except for functions."""
        given = {name: _frozen(value) for name, value in values.items()}
        return cls(**given | {"lam": None} if given.get("lam") == HELD_OUT else given)


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


def adaptive(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of AdaNet as given; a committee, which chooses λ, where learner ("auto") and lam leave it open.

    The variants R, P and D, outputs="all" and the corrective step belong to the paper's learner, with λ = 1e-5.
    """
    of_paper = given.get("variant", "base") in ("R", "P", "D") or given.get("outputs") == "all"
    of_paper = of_paper or given.get("objective") in CERTIFIED  # each with a search of its own
    learner = given.get("learner", "auto")
    if learner == "auto":
        learner = "gradient" if of_paper or given.get("corrective") else "committee"
    lam = given.get("lam")
    return {**given, "learner": learner, "lam": Config.lam if lam is None and learner != "committee" else lam}


def of_classes(config: Config) -> Config:
    """The config as C classes read it: "units" is the paper's learner there, "gradient" is one of two classes.

    A network trained for its vote certificate is linear, unless max_depth says that it may have hidden units.
    """
    if config.objective == "vote" and (config.max_depth or 1) == 1:
        config = config.replace(max_depth=1, rounds=1, max_rounds=None)
    return config.replace(learner="units") if config.learner == "gradient" else config


@dataclass(frozen=True)
class Trained:
    """A network, the family declared before training, the rounds, and the config.

    A candidate's Gamma holds Γ_k of its units by layer, so that F can be computed again from network and history.
    """

    network: Network
    declared: NetworkSpec | None
    history: list[Round]
    config: Config
    picked: Mapping[str, Any] | None = None
    """The record of a run of picking, as the file holds it."""


Callback = Callable[[Trained], None]


def check_sample(Psi: Tensor | Points, y: Tensor, config: Config, world: World = ALONE) -> tuple[Points, Tensor]:
    """Psi and y as float64 on the device; every trainer checks its sample here, once."""
    check_world(world, config, len(Psi))
    y = torch.as_tensor(y)
    if not isinstance(Psi, Points):
        Psi = torch.as_tensor(Psi)
        check(Psi.ndim == 2, f"Psi must be a matrix, got shape {tuple(Psi.shape)}.")
    points = Points.of(Psi, config.device, world)
    check(points.n_0 >= 1, "Psi must have at least one feature, got n_0=0.")
    check(y.shape == (len(points),), f"y must hold one label per row of Psi ({len(Psi)}), got {tuple(y.shape)}.")
    check(len(points) >= 2, f"m must be >= 2 to train, got m={len(Psi)}.")
    points.check_finite()
    if not y.is_floating_point() and not bool((y == -1).any()):
        return points, _class_indices(y).to(config.device)
    check(bool(((y == 1) | (y == -1)).all()), "y must be -1 or +1.")
    check(bool((y == 1).any() and (y == -1).any()), "y must hold both classes, got one.")
    return points, y.to(config.device, torch.float64).contiguous()


def check_classes(Psi: Tensor | Points, y: Tensor, config: Config) -> tuple[Tensor, Tensor, int]:
    """Psi whole, class indices y, and C, for the trainers that look at all of a sample of C classes."""
    check(not y.is_floating_point(), f"y must be class indices, got {y.dtype}.")
    points, y = check_sample(Psi, y, config)
    return points.whole(), y, int(y.max()) + 1


def check_class_config(config: Config) -> None:
    """What C classes do not have is refused, not passed over."""
    check(config.surrogate == "logistic", f"C classes have the multinomial loss, got surrogate={config.surrogate!r}.")
    plain = config.variant in ("base", "SD")
    check(plain, f"variant must be base or SD for more than two classes, got variant={config.variant!r}.")
    known = config.objective in ("paper", "bound", "certificate")
    check(known, f"objective must be paper, bound or certificate here, got {config.objective!r}.")


def _class_indices(y: Tensor) -> Tensor:
    """y as int64: every class 0..C-1 must occur."""
    found = y.unique().tolist()
    C = len(found)
    check(C >= 2, f"y must hold at least two classes, got {C}.")
    check(found == list(range(C)), f"y must hold every class 0..{C - 1}, got {found[:6]}.")
    return y.to(torch.int64)


def check_world(world: World, config: Config, m: int) -> None:
    """What several processes can do together."""
    if world.size == 1:
        return
    check(m >= 10 * world.size, f"m must be at least 10 for each of {world.size} processes, got m={m}.")
    known = config.learner == "committee"
    check(known, f"several processes train the learner committee only, got learner={config.learner!r}.")
    by_layer = config.variant == "base" and config.complexity in ("lemma-2", "lemma-2-peeled", "sqrt-depth")
    check(by_layer, "several processes need a complexity of the layers: lemma-2, lemma-2-peeled or sqrt-depth.")


def check_weights(weights: Tensor | None, y: Tensor) -> Tensor | None:
    """Sample weights s_i >= 0, scaled to mean 1, so that F stays a mean; None where all are equal."""
    if weights is None:
        return None
    s = torch.as_tensor(weights).to(y.device, torch.float64)
    check(s.shape == y.shape, f"sample_weight must hold one number per point ({len(y)}), got {tuple(s.shape)}.")
    valid = bool((s >= 0).all() and s.sum().isfinite()) and all(bool((s[y == c] > 0).any()) for c in y.unique())
    check(
        valid,
        "sample_weight must be finite and >= 0, also their sum, and not zero on all points of a class: weights of zero "
        "drop them.",
    )
    return None if bool((s == s[0]).all()) else s / s.mean()


def check_resume(resume: Trained | None, config: Config) -> None:
    """A run can only be taken up as it was begun: its family was fixed before the first round."""
    if resume is None:
        return
    before, now = resume.config.as_dict(), config.as_dict()
    declared = resume.config.max_rounds is not None and before["max_rounds"] == now["max_rounds"]
    free = ("jobs", "device", "rounds") if declared else ("jobs", "device")
    changed = [name for name in now if before[name] != now[name] and name not in free]
    if is_extended(resume, config) and changed == ["rounds"]:
        begin = f"begin with max_rounds >= {config.rounds}"
        told = f"objective {config.objective} with rounds={config.rounds} needs a family declared for them"
        check(config.objective == "paper", f"{told}: {begin}; this run declared rounds={resume.config.rounds}.")
        return
    check(not changed, f"resume needs the config of the run it takes up; changed: {', '.join(changed)}.")


def is_extended(resume: Trained | None, config: Config) -> bool:
    """Whether rounds are added for which no family was declared, now or before: then none was fixed in advance."""
    if resume is None or not config.enforce:
        return False
    return resume.declared is None or (config.max_rounds is None and config.rounds > resume.config.rounds)


def taken_up(resume: Trained, config: Config) -> Config:
    """The config with which a run goes on: its family is the one that was declared, and need not be named again."""
    if config.max_rounds is None:
        config = config.replace(max_rounds=resume.config.max_rounds)
    check_resume(resume, config)
    return config


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


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    check_choice(name, value, choices)


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
