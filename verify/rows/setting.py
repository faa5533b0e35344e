"""What the bounds are evaluated at: the network, its family, its sample, and what is known about them before any row.

Whatever several statements read stands on the Setting, computed once. A statement at another δ is the same call at
`replace(setting, delta=..)` (`row.at_delta`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound, Classes
from adanet_theory.checks import Array
from adanet_theory.rounding import Number, up
from adanet_theory.spec import NetworkSpec
from adanet_train.data.disk import Joined
from verify.measure.arithmetic import Arithmetic
from verify.measure.evidence import FeatureSizes
from verify.measure.layers import LayerComplexities, Ranges
from verify.measure.margins import Margins
from verify.records.results import About, Assumption, Status, TestFacts

if TYPE_CHECKING:
    from adanet_theory.twins.outward import Parts
    from adanet_train.core.network import Network
    from adanet_train.reading.graph import Graph

OCCAM = "occam-certificate"
ON_SAMPLE = ("iid", "membership", "linear", "normalised", "r-inf", "delta", "arithmetic")
"""What may come out either way with the sample: a bound that fails by these alone could have been quoted."""


AT_RHO = frozenset({"rho", "margin_error", "ramp"})
"""What a bound of the user's own reads at the report's ρ, which must then be fixed in advance."""


@dataclass(frozen=True)
class HeldOut:
    """Of rows beside the sample those that equal an earlier one, or are rows of the sample, or near it."""

    n: int
    repeats: int
    shared: int | None
    """Rows with the x of a row of the sample; None where there is no sample to compare with."""
    relabelled: int = 0
    """Of these, rows under another label."""
    near: int = 0
    """Rows within 1e-6 of a row of the sample without being one."""


@dataclass(frozen=True)
class Learned:
    """The m points that the file's map was learned on: how many of them are rows of the sample, None if unknown."""

    m: int
    shared: int | None


@dataclass(frozen=True)
class PickingFacts:
    """A recorded run of picking: its counts, and what a replay says about it."""

    picked: int
    left: int
    """Wrong rows outside start and picks, counted on the network of the file."""
    start: int
    N: int
    status: Status
    detail: str
    on_start: bool
    """Whether Ψ of the start has the range that a map fitted on the start gives it."""
    runs: int = 1
    """G, the length of the list of K: each of its runs has delta/G."""
    is_start: bool = False
    """Whether K = 0: the network was fixed before all N rows."""

    @property
    def k(self) -> int:
        return self.picked + self.left

    def upper(self, delta: Fraction) -> float:
        """The certificate at delta, rounded up; each of G runs has delta/G."""
        from adanet_theory.twins.counted import clopper_pearson_upper, pick_upper

        return (clopper_pearson_upper if self.is_start else pick_upper)(self.k, self.N, Fraction(delta) / self.runs)


@dataclass(frozen=True)
class Source:
    """What is known of where the points came from: what the file says about Ψ, and what was counted on the rows.

    `has_map` where the file says how Ψ was made; `clipped` where its map keeps |Ψ| <= r_sup everywhere; `r_seen` is the
    largest |Ψ| of all points seen, test points too; `repeats` the points of the sample that equal an earlier one.
    `held_out` is None without held-out points.
    """

    fitted_on_sample: bool
    """Whether Ψ was scaled by the ranges of the sample."""
    has_map: bool
    clipped: bool
    r_seen: float
    repeats: int
    discrete: bool
    held_out: HeldOut | None = None
    learned: Learned | None = None
    """None unless the map was learned on points beside the sample."""
    encoded: bool = False
    """Whether Ψ has features for words or empty cells, which the table itself listed."""
    chain: bool = False
    """Whether weights alone were read, as a chain of layers."""
    rounds_added: bool = False
    """Whether training went on for more rounds than its family was declared for."""


@dataclass(frozen=True)
class RowValue:
    """What a statement says at a setting; no raw value where it is undefined or beyond the largest float.

    `about` is the program where the statement is tied to it, or counts nothing but its predictions. `why_not` is for
    the statements whose assumptions are not those of the report; `note` is a line for the reader.
    """

    raw: float | None = None
    terms: Mapping[str, float | None] = field(default_factory=dict)
    rho: float | None = None
    j: int | None = None
    m_needed: int | None = None
    about: About = "formula"
    why_not: tuple[str, ...] | None = None
    note: str = ""

    @property
    def vacuous(self) -> bool:
        return self.raw is None or self.raw >= 1


@dataclass(frozen=True)
class CertificateParts:
    """A certificate at its best setting but for δ, and the m that would be enough where it is vacuous."""

    parts: Parts
    m_needed: int | None
    tied: bool = False
    """Whether the parts are those of the program."""


@dataclass(frozen=True)
class Assessment:
    """The rows, and for each bound the assumptions that it fails by."""

    rows: tuple[Assumption, ...]
    is_declared: bool
    follows: tuple[str, ...] = ()
    classes: Classes = "two"
    rho_chosen: bool = False
    """Whether ρ was chosen on the sample."""

    def why_not(self, bound: Bound) -> tuple[str, ...]:
        """The ids of what the bound needs and is not known to hold."""
        needed = (row for row in self.rows if row.id in _needs(bound))
        broken = (row.id for row in needed if row.status_for(bound.id) in ("open", "fails"))
        failed = tuple(id for id in broken if not self._is_excused(id, bound))
        at_rho = bound.group == "user" and bound.reads & AT_RHO and self.rho_chosen
        return (*failed, *("fixed-in-advance",) * bool(at_rho and "fixed-in-advance" not in failed))

    def _is_excused(self, id: str, bound: Bound) -> bool:
        """Some rows are about more than one thing, and a statement may need only one of them."""
        if id == "iid":  # the row is about the sample; of the held-out points `untouched` tells
            return bound.group == "held-out"
        if id == "fixed-in-advance":  # the family and the margin
            return self.is_declared and bound.scale == "W_M"
        if id == "membership":  # a family that was not declared fails by fixed-in-advance already
            return not self.is_declared
        if id == "delta":
            return bound.id in self.follows
        return id == "normalised"  # f = 0 has the bound 1

    def assumed(self, bound: Bound, about: About) -> tuple[str, ...]:
        """What a citation of the bound assumes: what nothing here can check."""
        # the range on which the program is near its formula
        tied = ("r-sup",) if about == "program" and "arithmetic" in bound.needs else ()
        needed = [row for row in self.rows if row.id in (*_needs(bound), *catalogue.ALWAYS, *tied)]
        return tuple(row.id for row in needed if row.status_for(bound.id) == "assumed" or self._is_taken(row, bound))

    def _is_taken(self, row: Assumption, bound: Bound) -> bool:
        """That held-out points are draws of their own is assumed whatever the sample is."""
        return self._is_declaration(row) or (row.id == "iid" and bound.group == "held-out")

    def _is_declaration(self, row: Assumption) -> bool:
        """A family that was declared, beside a ρ that was not: the bound needs the first only, and takes its word."""
        return row.id == "fixed-in-advance" and self.is_declared

    def could_apply(self, bound: Bound) -> bool:
        """Whether nothing that was fixed before the sample rules the bound out: then it might have been quoted."""
        return all(id in ON_SAMPLE for id in self.why_not(bound))

    @property
    def quotable(self) -> int:
        """K: the statements of the catalogue that could have been quoted; every network has a description."""
        claims = catalogue.of_group("paper", "corrected", "certificate")
        about_it = [bound for bound in claims if (bound.classes == self.classes or bound.id == OCCAM) and bound.quoted]
        return max(1, sum(self.could_apply(bound) for bound in about_it))

    def holds(self, id: str) -> bool | None:
        return next(row.holds for row in self.rows if row.id == id)


def _needs(bound: Bound) -> tuple[str, ...]:
    """A bound of the user's own is one on the formula too."""
    return (*bound.needs, "arithmetic") if bound.group == "user" else bound.needs


@dataclass(frozen=True, eq=False)
class Counted:
    """A statement that reads counts of a program's predictions: what it says at a δ, and what that assumes.

    `bound` is the record of the catalogue as this network needs it.
    """

    bound: Bound
    at: Callable[[Fraction], RowValue]
    assumptions: tuple[Assumption, ...] = ()
    asked: bool = True
    """Whether it is to be quoted where the input names no other."""
    delta: Fraction | None = None
    """Its own δ, where tries on the sample or networks compared do not divide that of the setting."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Predictions:
    """What the statements are evaluated at that read nothing but predictions: all that there is of a black box."""

    delta: Fraction
    """What the settings tried on the sample leave of δ."""
    compared: int = 1
    """The networks that were compared: a statement on one of them pays for each."""
    shared: int = 1
    """Those that a statement on all networks at once pays for."""
    counted: tuple[Counted, ...] = ()
    """In the order of their rows; the last one that is asked for is quoted."""
    verdict: Assessment = field(default_factory=lambda: Assessment((), is_declared=False))

    def counts(self, bound: Bound) -> Counted | None:
        return next((one for one in self.counted if one.bound == bound), None)

    @property
    def is_double(self) -> bool:
        """Whether the program computes in float64 at least; a black box has no formula to differ from."""
        return True

    @property
    def quotable(self) -> int:
        """K: of a black box only its description can be quoted without being named."""
        return 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting(Predictions):
    """What the bounds are evaluated at: the network, the family it stands in, the sample, and what is known of Ψ.

    `layers` are those of the graph that the families are about, None where it has none. `spec` is the declared family,
    or the measured one where nothing was declared. `r_sup` is None if it is not known; `r` is what stands in the
    formulas: r_sup, or r_inf if r_sup is not known.
    """

    graph: Graph
    layers: Network | None
    spec: NetworkSpec
    is_declared: bool
    margins: Margins
    sizes: FeatureSizes
    w: list[Fraction]
    ranges: Ranges | None
    r_sup: Number | None
    source: Source
    errors: int
    """Of the program on the sample."""
    class_errors: Mapping[str, float]
    base_rate: float
    disagreements: int
    """Points of the sample where the program errs and the formula surely does not."""
    arithmetic: Arithmetic
    shift: float | None
    """A proved bound on how far the margins of the program are from those of the formula, on the range r_sup."""
    picking: PickingFacts | None = None
    """Of a network that was trained by picking, on its own sample."""
    draws: int | None = None
    seed: int = 0
    tested: TestFacts | None = None

    # What `row.prepared` finds beside the verdict, in this order

    at: AtRho | None = None
    """At the report's ρ, about the formula."""
    known: LayerComplexities = field(default_factory=lambda: LayerComplexities((), ()))
    certified: Mapping[str, CertificateParts] = field(default_factory=dict)
    searched: dict[tuple[str, Fraction], int | None] = field(default_factory=dict)
    """The best j of each statement at a δ, where it was searched."""

    @property
    def is_double(self) -> bool:
        return self.arithmetic.is_double

    @property
    def quotable(self) -> int:
        return self.verdict.quotable

    @property
    def m(self) -> int:
        return self.margins.m

    @cached_property
    def B(self) -> float | None:
        """The path norm, rounded up; None unless every activation is homogeneous and it is a float."""
        from adanet_train.reading.path_norm import path_norm

        if not self.graph.is_homogeneous:
            return None
        try:
            return path_norm(self.graph)
        except OverflowError:
            return None

    @property
    def tied(self) -> AtRho:
        """At the report's ρ, about the program where it is near enough to the formula."""
        assert self.at is not None
        return self.at.tied(self)

    @property
    def classes(self) -> Classes:
        """Which statements are about this network: those on y f(x), or those on an output for each class."""
        return "two" if self.graph.classes is None else "many"

    @property
    def n(self) -> tuple[int, ...]:
        """Features and units, layer by layer, or level by level of a graph."""
        return self.graph.n if self.layers is None else self.layers.n

    @cached_property
    def Psi(self) -> Array:
        """Ψ as the families read it: a bias is a weight on one more feature, which is constantly 1."""
        x: Any = self.margins.Psi
        if isinstance(x, Joined):
            return x.doubles(one=self.graph.has_bias)  # type: ignore[return-value]
        return np.column_stack([x, np.ones(len(x))]) if self.graph.has_bias else x

    @property
    def W(self) -> Fraction:
        return sum(self.w, Fraction(0))

    @property
    def float_delta(self) -> float:
        """δ for what is only searched: from 1e-300 on 1/δ is a float."""
        return max(float(self.delta), 1e-300)

    @property
    def r(self) -> Number:
        return self.sizes.r_inf if self.r_sup is None else self.r_sup

    @property
    def is_linear(self) -> bool:
        """Whether f is linear in Ψ: no activation, or the identity alone."""
        return self.layers is not None and all(phi.name == "identity" for phi in self.graph.phi)

    def eta_at(self, threshold: Fraction) -> float:
        """η where the margins of the program are within η times this threshold of f's; 0 where nothing proves it."""
        eta = self.arithmetic.eta
        return eta if self.shift is not None and self.shift <= Fraction(eta) * threshold else 0.0

    def radius(self, bound: Bound) -> Number:
        """The size of Ψ that the bound reads."""
        return {"r_inf": self.sizes.r_inf, "r_rms": self.sizes.r_rms}.get(bound.at or "", self.r)


@dataclass(frozen=True, eq=False)
class AtRho:
    """What the statements that fix ρ read of the sample: the margin error, exact, and an upper value of the ramp.

    `eta` is that of a program which is tied to the formula at ρ (`tied`): then the ramp falls from ηρ on.
    """

    rho: Fraction
    margin_error: Fraction
    ramp: float
    eta: float = 0.0

    @property
    def width(self) -> Fraction:
        """1/slope of the ramp, which stands for ρ in the formulas."""
        return self.rho * (1 - Fraction(self.eta))

    @classmethod
    def of(cls, setting: Setting, rho: Fraction) -> AtRho:
        if setting.W == 0:
            return cls(rho, Fraction(1), 1.0)
        threshold = rho * setting.W  # y f/W <= rho, without dividing
        return cls(rho, Fraction(setting.margins.count(threshold), setting.m), setting.margins.ramp(up(threshold)))

    def tied(self, setting: Setting) -> AtRho:
        """About the program, where its margins are near enough to those of the formula; else as it is."""
        threshold = self.rho * setting.W
        eta = setting.eta_at(threshold)
        return replace(self, ramp=setting.margins.ramp(up(threshold), eta), eta=eta) if eta else self
