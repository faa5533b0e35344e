"""What verify-bounds found, frozen: `report` builds it, `render` prints it, nothing is computed after it.

The fields are those of the JSON document (schema verify-bounds/1), plus what the pictures need.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from adanet_theory.catalogue import Group
from adanet_theory.checks import Array

Verdict = Literal["holds", "not refuted", "violated"]


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """The network as it is: `measured` is the largest row p-norm of each pair; no `path_norm` unless homogeneous."""

    activation: tuple[str, ...]
    sha256: str = ""
    depth: int = 0
    n: tuple[int, ...] = ()
    w_norms: Mapping[int, float] = field(default_factory=dict)
    W: float = math.nan
    measured: Mapping[tuple[int, int], float] = field(default_factory=dict)
    path_norm: float | None = None
    layered: bool = False
    graph: int | None = None
    """The nodes of a network that is not made of layers."""
    own_n: tuple[int, ...] = ()
    """n without the constant feature and units that carry biases: what a user would call the sizes of the layers."""


@dataclass(frozen=True)
class DeclaredFacts:
    """The family fixed before training, as the file declares it."""

    p: float
    q: float
    n: tuple[int, ...]
    Lambda: Mapping[tuple[int, int], float]


@dataclass(frozen=True, kw_only=True)
class SampleFacts:
    """Margin error and ramp are of f/W, exact, at the report's rho; the training error is the program's own count."""

    m: int
    train_error: float
    r_inf: float = math.nan
    r_rms: float = math.nan
    margin_error: float = math.nan
    ramp: float = math.nan


About = Literal["formula", "program"]
"""Whether a statement speaks of what the user runs, or of the real-valued network that was read from it."""
Status = Literal["holds", "assumed", "open", "fails"]


ASSUMED = {
    "iid": "the points are independent draws from one law",
    "untouched": "the held-out points played no part in training or choosing",
    "feature-map": "the features were fixed before the sample",
    "homogeneous": "the activation was chosen before the sample",
    "chain": "the layers are applied one after the other with the activation that was named",
    "arithmetic": "the program computes what its formula says",
    "r-sup": "the range of the features was known before the sample",
    "fixed-in-advance": "the family was declared before training",
    "picked": "training read only the recorded picks",
    "recipe": "the recipe was fixed before the sample",
    "unlabelled": "the unlabelled points are further draws from the same law",
    "declared": "the declared R_m and ranges of the builders are right and were fixed before the sample",
}
"""By assumption: what the reader of a citation must know to be true."""


@dataclass(frozen=True)
class Assumption:
    """One condition of the theory: what is known of it here, and who needs it.

    holds: checked here. assumed: nothing here can check it, so a citation names it. open: it could be known and is not,
    which stops the bounds that need it. fails: checked here, and it does not hold.
    """

    id: str
    status: Status
    detail: str
    statements: tuple[str, ...]
    only: tuple[str, ...] = ()
    """Where some are named: the status is that for these statements, and for all others the assumption fails."""
    words: str = ""
    """The words of a citation, if the usual ones do not fit what was checked here."""

    def status_for(self, statement: str) -> Status:
        return "fails" if self.only and statement not in self.only else self.status

    @property
    def holds(self) -> bool | None:
        """True, None or False, as in the first documents of schema verify-bounds/1."""
        return {"holds": True, "fails": False}.get(self.status)


@dataclass(frozen=True)
class Citation:
    """The statement that may be quoted, at the confidence that was paid for choosing it.

    `delta` is what is left of δ for this statement: divided by `tried`, the settings tried on the sample (not for
    held-out), by `compared`, the networks that pay for it each (1 where it holds for all networks at once), and by
    `among`, the statements that could have been quoted in its place (1 where the input fixes it). Of points without
    labels, whose certificate has two halves, only the half on these points is divided by `compared`.
    """

    id: str
    value: float
    delta: float
    assumes: tuple[str, ...]
    among: int
    about: About = "program"
    compared: int = 1


@dataclass(frozen=True)
class Complexity:
    """R_S(H_k) of the declared family: lower <= truth <= upper; a lemma is None where it is not about this family.

    The interval holds surely if `confidence` is 1, else with at least that probability over the drawn signs, and the
    intervals of all layers together with the least of their confidences.
    """

    k: int
    lower: float | None
    upper: float | None
    stderr: float | None
    draws: int | None
    method: str
    confidence: float
    lemma_1: float | None
    lemma_2: float | None
    lemma_1_corrected: float | None
    lemma_2_peeled: float | None


@dataclass(frozen=True)
class AtMargin:
    """A statement at another margin `rho` of f/W than its own: the value of its formula, no claim."""

    rho: float
    raw: float | None
    terms: Mapping[str, float | None]
    j: int | None = None


@dataclass(frozen=True)
class BoundRow:
    """One statement: `raw` outward-rounded, `value` = min(1, raw) or None if it does not apply (then see `why_not`)."""

    id: str
    raw: float | None
    value: float | None
    terms: Mapping[str, float | None]
    applies: bool
    why_not: tuple[str, ...]
    vacuous: bool
    rho: float | None
    j: int | None = None
    m_needed: int | None = None
    group: Group = "corrected"
    tenth: AtMargin | None = None
    """At the margin below which a tenth of the sample lies; `given` at the ρ that was asked for."""
    given: AtMargin | None = None
    shrink: float | None = None
    """How many times smaller the norms would have to be for a vacuous bound to fall to 1 at `tenth`."""
    about: About = "formula"
    delta: float | None = None
    """The δ it holds at: the given one, divided by the settings tried and the networks compared."""

    @property
    def context(self) -> bool:
        """Whether it is there for comparison only, no claim about the network."""
        return self.group == "context"


@dataclass(frozen=True)
class CheckRow:
    """lhs against rhs of one claim; `exact` says whether lhs is the true value or only a lower one."""

    claim: str
    k: int | None
    lhs: float
    rhs: float
    exact: bool
    applies: bool
    verdict: Verdict


@dataclass(frozen=True)
class TestFacts:
    """Held-out data: the error on it and its Clopper-Pearson upper bound, which is a claim about this network."""

    __test__ = False  # not a test of pytest's

    error: float
    n: int
    upper: float
    class_errors: Mapping[str, float] = field(default_factory=dict)
    errors: int = 0
    delta: Fraction = Fraction(1, 20)
    """The δ that `upper` holds at: the given one, divided by the networks compared."""


@dataclass(frozen=True, kw_only=True)
class BoundReport:
    """Everything verify-bounds says; `notes` are remarks for the reader (what was converted, mapped, chosen).

    `advice` is one hint where no bound is below the base rate: the cause, and what to do about it.
    """

    model: ModelFacts
    declared: DeclaredFacts | None = None
    sample: SampleFacts
    rho: float = math.nan
    delta: float
    rho_chosen: bool = False
    assumptions: tuple[Assumption, ...]
    complexities: tuple[Complexity, ...] = ()
    bounds: tuple[BoundRow, ...]
    checks: tuple[CheckRow, ...] = ()
    test: TestFacts | None
    verdict: Literal["holds", "violated"] = "holds"
    cite: Citation | None = None
    subject: Literal["network", "black box"] = "network"
    """A black box is known by its predictions alone: `model` has its kind as activation and nothing else."""
    whose: str = ""
    """Whose risk is meant, where it is not the network that was given: "the rounded one in FILE, not MODEL"."""
    command: bool = False
    """Whether the words are those of the command; else options are named as in Python."""
    tried: int = 1
    compared: int = 1
    """The networks compared, whose least bound may be quoted; statements on one run pay for each of them."""
    quotes: str | None = None
    """The statement that the input fixes to be quoted, whether it may be or not; None: the least of all."""
    among: int = 1
    """How many statements could be quoted: 1 where the input fixes it."""
    classes: int = 2
    base_rate: float | None = None
    """The error of the best constant prediction on the sample."""
    class_errors: Mapping[str, float] = field(default_factory=dict)
    """The error on the points of each class of the sample."""
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What the report is about: the names of model and data, the digest of the weights, the date."""
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    undecided: int = 0
    """Points of the sample whose exact margin was left open; the bounds that need it count them as errors."""
    margins: Array = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    curves: Mapping[str, tuple[Array, Array]] = field(default_factory=dict, repr=False, compare=False)

    def row(self, id: str) -> BoundRow | None:
        """The row of a statement; None where there is none: a picked network has one that others lack."""
        return next((row for row in self.bounds if row.id == id), None)
