"""Which statements are about this network on this sample: one row for each assumption, and who fails by it.

Who needs what is in the catalogue (`Bound.needs`); here stands whether it holds. All bounds on a risk need Ψ to be
fixed before the sample was drawn: a class of functions of Ψ(x) is a class of functions of x only then. Lemmas 1-2 hold
for every sample, whatever was fitted to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adanet_theory import catalogue
from adanet_theory.activations import Activation
from adanet_theory.catalogue import Bound, Classes
from adanet_theory.checks import check
from adanet_theory.rounding import Number, up
from adanet_theory.spec import NetworkSpec
from verify.measure.arithmetic import Arithmetic
from verify.measure.evidence import FeatureSizes, Weights
from verify.measure.layers import Ranges
from verify.measure.margins import Margins
from verify.measure.membership import outside
from verify.measure.repeats import repeated, shared
from verify.question import Points
from verify.results import Assumption, Status

if TYPE_CHECKING:
    from adanet_theory.twins.exact_tree import ExactForest, ExactTree

RECIPE = "learner, settings, seed, number of picks and features were fixed before the sample: taken for granted"
LEMMAS = {
    "lipschitz": ("lemma-1", "lemma-2"),
    "phi-zero": ("lemma-1", "lemma-2", "lemma-2-peeled"),
    "layered": ("lemma-2",),
}
"""What the statements on R_S(H_k) need."""
ON_SAMPLE = ("iid", "membership", "linear", "tree", "normalised", "r-inf", "delta", "arithmetic")
"""What may come out either way with the sample: a bound that fails by these alone could have been quoted."""


@dataclass(frozen=True)
class HeldOut:
    """What was counted on the held-out rows: how many equal an earlier one, how many are rows of the sample."""

    n: int
    repeats: int
    shared: int


@dataclass(frozen=True)
class Learned:
    """The m points that the file's map was learned on: how many of them are rows of the sample, None if unknown."""

    m: int
    shared: int | None


@dataclass(frozen=True)
class Picking:
    """What was found of a recorded run of picking: its counts, and what a replay says of it."""

    picked: int
    left: int
    """Wrong rows outside start and picks, counted on the network of the file."""
    start: int
    N: int
    status: Status
    detail: str
    on_start: bool
    """Whether Ψ of the start has the range that a map fitted on the start gives it."""

    @property
    def k(self) -> int:
        return self.picked + self.left


@dataclass(frozen=True)
class Source:
    """What is known of where the points came from: the word of the file on Ψ, and what was counted on the rows.

    `told` where the file says how Ψ was made; `clipped` where its map keeps |Ψ| <= r_sup everywhere; `r_seen` is the
    largest |Ψ| of all points seen, test points too; `repeats` the points of the sample that equal an earlier one.
    `held_out` is None without held-out points.
    """

    fitted_on_sample: bool
    told: bool
    clipped: bool
    r_seen: float
    repeats: int
    discrete: bool
    held_out: HeldOut | None = None
    learned: Learned | None = None
    """None unless the map was learned on points beside the sample."""
    chain: bool = False
    """Whether weights alone were read, as a chain of layers."""
    rounds_added: bool = False
    """Whether training went on for more rounds than its family was declared for."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What the bounds are evaluated at: the network, the family it stands in, the sample, and what is known of Ψ.

    `spec` is the declared family, or the measured one where nothing was declared. `r_sup` is None where nobody knows
    it; `r` is what stands in the formulas: r_sup, or r_inf for want of it.
    """

    weights: Weights
    spec: NetworkSpec
    is_declared: bool
    margins: Margins
    sizes: FeatureSizes
    w: list[Fraction]
    ranges: Ranges | None
    delta: Fraction
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
    picking: Picking | None = None
    """Of a network that was trained by picking, on its own sample."""
    compared: int = 1
    """The networks of which the least may be quoted: what is drawn or held out has to hold for all of them."""

    @property
    def m(self) -> int:
        return self.margins.m

    @property
    def classes(self) -> Classes:
        """Which statements are about this network: those on y f(x), or those on an output for each class."""
        return "two" if self.weights.outputs is None else "many"

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
        return self.weights.graph is None and all(phi.name == "identity" for phi in self.weights.phi)

    @cached_property
    def tree(self) -> ExactTree | None:
        """The network unrolled; None where it is linear, not homogeneous, 0, or has more nodes than are tried."""
        from adanet_theory.twins.exact_tree import exact_tree

        weights = self.weights
        if weights.outputs is not None or not self._unrolls:
            return None
        try:
            found = exact_tree(weights.hidden, weights.output, depth=weights.depth, slopes=self._slopes)
        except ValueError:
            return None
        return found if found.B > 0 else None

    @cached_property
    def forests(self) -> list[ExactForest]:
        """C classes unrolled: as they are, and less what they have in common, which moves no margin; or none."""
        from adanet_theory.twins.exact_tree import exact_forest

        weights = self.weights
        if weights.outputs is None or not self._unrolls:
            return []
        outputs = [{k: w[:, c] for k, w in weights.output.items()} for c in range(weights.outputs)]
        found: list[ExactForest] = []
        with suppress(ValueError):
            for centred in (False, True):
                found.append(
                    exact_forest(weights.hidden, outputs, depth=weights.depth, slopes=self._slopes, centred=centred)
                )
        if len(found) == 2 and found[0].nodes == found[1].nodes and found[0].B == found[1].B:
            found.pop()  # they have nothing in common
        return [forest for forest in found if forest.B > 0]

    @property
    def _unrolls(self) -> bool:
        weights = self.weights
        layered = weights.graph is None and (1, 0) in weights.hidden
        return layered and weights.is_homogeneous and not self.is_linear

    @property
    def _slopes(self) -> list[tuple[float, float]]:
        ends = np.array([1.0, -1.0])
        return [(float(right), -float(left)) for right, left in (phi(ends) for phi in self.weights.phi)]

    def radius(self, bound: Bound) -> Number:
        """The size of Ψ that the bound reads."""
        return {"r_inf": self.sizes.r_inf, "r_rms": self.sizes.r_rms}.get(bound.at or "", self.r)


@dataclass(frozen=True)
class Assessment:
    """The rows, and for each bound the assumptions that it fails by."""

    rows: tuple[Assumption, ...]
    is_declared: bool
    follows: tuple[str, ...] = ()
    classes: Classes = "two"
    is_double: bool = True
    is_tied: bool = False
    on_start: bool = False
    """Whether Ψ may have been fitted on the start of a run of picking, which its certificate allows."""

    def why_not(self, bound: Bound) -> tuple[str, ...]:
        """The ids of what the bound needs and is not known to hold."""
        broken = (row.id for row in self.rows if row.id in _needs(bound) and self._is_broken(row, bound))
        return tuple(id for id in broken if not self._is_excused(id, bound))

    def _is_broken(self, row: Assumption, bound: Bound) -> bool:
        """The shift of a program in less than float64 is proved for the bounds at a path norm only."""
        unshifted = row.id == "arithmetic" and not self.is_double and bound.scale != "B"
        return unshifted or row.status in ("open", "fails")

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
        if id == "feature-map":
            return self._maps_start(bound)
        return id == "normalised"  # f = 0 has the bound 1

    def assumed(self, bound: Bound) -> tuple[str, ...]:
        """What a citation of the bound takes for granted: what nothing here can check."""
        tied = ("r-sup",) if self.is_tied and bound.scale == "B" else ()  # the range on which the program is bounded
        needed = [row for row in self.rows if row.id in (*_needs(bound), *catalogue.ALWAYS, *tied)]
        return tuple(row.id for row in needed if row.status == "assumed" or self._is_taken(row, bound))

    def _is_taken(self, row: Assumption, bound: Bound) -> bool:
        """That held-out points are draws of their own is assumed whatever the sample is."""
        if row.id == "feature-map":
            return row.status == "fails" and self._maps_start(bound)
        return self._is_declaration(row) or (row.id == "iid" and bound.group == "held-out")

    def _maps_start(self, bound: Bound) -> bool:
        """Ψ fitted on the sample fails all bounds but that of picking, if it was fitted on the start."""
        return self.on_start and "picked" in bound.needs

    def _is_declaration(self, row: Assumption) -> bool:
        """A family that was declared, beside a ρ that was not: the bound needs the first only, and takes its word."""
        return row.id == "fixed-in-advance" and self.is_declared

    def could_apply(self, bound: Bound) -> bool:
        """Whether nothing that was fixed before the sample rules the bound out: then it might have been quoted."""
        return all(id in ON_SAMPLE for id in self.why_not(bound))

    def holds(self, id: str) -> bool | None:
        return next(row.holds for row in self.rows if row.id == id)

    def at_rho(self, delta: Fraction, follows: dict[str, bool]) -> Assessment:
        """With the one row that needs ρ: `follows` says which statements on Lemma 2 follow from margin-bound there."""
        if self.classes == "many":
            return self
        place = catalogue.ASSUMPTIONS.index("delta")
        rows = (*self.rows[:place], small_delta(delta, follows), *self.rows[place:])
        return replace(self, rows=rows, follows=tuple(id for id, proved in follows.items() if proved))


def assess(setting: Setting, *, rho_chosen: bool) -> Assessment:
    """Every assumption but `delta`, which is known only at a ρ, in the order of the catalogue."""
    rows = (
        iid(setting.source.repeats, setting.m, setting.source.discrete),
        lipschitz(setting),
        phi_zero(setting),
        homogeneous(setting.weights),
        membership(setting),
        layered(setting.spec) if setting.weights.graph is None else _row("layered", False, "the network is a graph"),
        linear(setting),
        tree(setting),
        range_one(setting),
        depth(setting.spec),
        normalised(setting.W),
        r_sup(setting),
        r_inf(setting),
        fixed_in_advance(setting.is_declared, rho_chosen, setting.source.rounds_added),
        feature_map(setting.source),
        arithmetic(setting),
        *([] if setting.source.held_out is None else [untouched(setting.source.held_out, setting.source.discrete)]),
        *([chain(setting)] if setting.source.chain else []),
    )
    found = Assessment(
        rows,
        setting.is_declared,
        is_double=setting.arithmetic.is_double,
        is_tied=setting.shift is not None,
        on_start=setting.picking is not None and setting.picking.on_start,
    )
    if setting.classes == "many":
        found = replace(found, rows=tuple(_of_many(rows)), classes="many")
    return replace(found, rows=(*found.rows, *_of_picking(setting.picking)))


def _of_picking(run: Picking | None) -> tuple[Assumption, ...]:
    """What a run of picking rests on."""
    return () if run is None else (_row("picked", run.status, run.detail), _row("recipe", "assumed", RECIPE))


def _needs(bound: Bound) -> tuple[str, ...]:
    """A bound of the user's own is one on the formula too."""
    return (*bound.needs, "arithmetic") if bound.group == "user" else bound.needs


def _of_many(rows: tuple[Assumption, ...]) -> Iterator[Assumption]:
    """What the statements on C classes need, and the lemmas."""
    for row in rows:
        needed_by = (*LEMMAS.get(row.id, ()), *catalogue.needing(row.id, "many"))
        if needed_by:
            yield replace(row, statements=needed_by)


def _row(id: str, status: Status | bool, detail: str) -> Assumption:
    """A row; True and False are what was checked here."""
    word: Status = status if isinstance(status, str) else "holds" if status else "fails"
    return Assumption(id, word, detail, (*LEMMAS.get(id, ()), *catalogue.needing(id)))


# The sample


def iid(repeats: int, m: int, discrete: bool) -> Assumption:
    """Points drawn independently from one law: nothing can show it, but rows that repeat speak against it."""
    if repeats == 0:
        return _row("iid", "assumed", "no row repeats; that the points were drawn independently is taken for granted")
    found = f"{repeats:,} of {m:,} rows repeat an earlier one"
    if discrete:
        return _row("iid", "assumed", f"{found}, taken as draws of their own (--discrete)")
    return _row("iid", "fails", f"{found}: copies are no new draws (if the law has atoms: --discrete)")


def rows_held_out(sample: Points, test: Points, discrete: bool) -> HeldOut:
    """What repeats; held-out points that are points of the sample are refused, all of them even where rows may."""
    n, same = len(test.y), shared(test.Psi, test.y, sample.Psi, sample.y)
    found = f"{same:,} of the {n:,} test points are points of the sample"
    check(same < n, f"{found}: held-out points must not have been used in training, give points drawn anew.")
    remedy = "take them out, or where the law has atoms: --discrete"
    check(same == 0 or discrete, f"{found}: held-out points must not have been used in training ({remedy}).")
    return HeldOut(n, repeated(test.Psi, test.y), same)


def untouched(points: HeldOut, discrete: bool) -> Assumption:
    """Held-out points are new draws that nothing was fitted to; copies of one point, or of the sample, are not."""
    counted = [f"{points.repeats:,} of the {points.n:,} held-out rows repeat an earlier one"] * (points.repeats > 0)
    counted += [f"{points.shared:,} of the {points.n:,} are rows of the sample"] * (points.shared > 0)
    unused = f"that the {points.n:,} held-out points were used neither in training nor to choose is taken for granted"
    if not counted:
        return _row("untouched", "assumed", f"no held-out row repeats or is a row of the sample; {unused}")
    found = " and ".join(counted)
    if discrete:
        return _row("untouched", "assumed", f"{found}, taken as draws of their own (--discrete); {unused}")
    return _row("untouched", "fails", f"{found}: copies are no new draws (if the law has atoms: --discrete)")


# The activations


def _by_layer(setting: Setting) -> list[tuple[int, Activation]]:
    """(s, φ_s) of the family; of a graph all activations of each level, where several may stand side by side."""
    if setting.weights.graph is not None:
        return [(s, phi) for s, level in enumerate(setting.weights.levels, start=1) for phi in level]
    return [(s, setting.spec.phi(s)) for s in range(1, setting.spec.depth)]


def lipschitz(setting: Setting) -> Assumption:
    steep = [(s, phi) for s, phi in _by_layer(setting) if phi.lipschitz > 1]
    detail = "every activation is 1-Lipschitz"
    if steep:
        s, phi = steep[0]
        detail = f"{phi.name} at layer {s} has Lipschitz constant {phi.lipschitz:.6g}"
    return _row("lipschitz", not steep, detail)


def phi_zero(setting: Setting) -> Assumption:
    raised = [(s, phi) for s, phi in _by_layer(setting) if phi.at_zero != 0]
    detail = "phi(0) = 0 at every layer"
    if raised:
        s, phi = raised[0]
        detail = f"{phi.name}(0) = {phi.at_zero:.6g} at layer {s}: Lemmas 1-2 as printed fail for it"
    return _row("phi-zero", not raised, detail)


def homogeneous(weights: Weights) -> Assumption:
    names = list(dict.fromkeys(phi.name for phi in weights.phi if phi.name != "identity"))
    curved = [phi.name for phi in weights.phi if not phi.is_homogeneous]
    if curved:
        return _row("homogeneous", False, f"{curved[0]} is not positively homogeneous")
    if not names:
        return _row("homogeneous", True, "f has no activation but the identity")
    # The class is that of one activation: choosing it after the sample would need a union over the choices.
    chosen = f"that {' and '.join(names)} was chosen before the sample, slope included, is taken for granted"
    return _row("homogeneous", "assumed", f"every activation is positively homogeneous; {chosen}")


# The family


def membership(setting: Setting) -> Assumption:
    if not setting.is_declared:
        detail = "no family was declared; its statements are shown at the measured norms (p = 1)"
        if setting.weights.graph is not None:
            detail = "no family was declared; this network is a graph, which the paper's families of layers do not hold"
        return _row("membership", "open", detail)
    spec = setting.spec
    worst: tuple[float, str] | None = None
    for (k, s), i, norm in outside(setting.weights, spec):
        bound = spec.bound(k, s)
        excess = norm / bound if bound else float("inf")
        where = f"unit {i} of layer {k} (row {i} of hidden '{k},{s}', counted from 0)"
        line = f"{where} has norm {norm!r} > Lambda_{{{k},{s}}} = {bound!r}"
        worst = max(worst or (0.0, ""), (excess, line))
    detail = worst[1] if worst else f"every unit has ||u||_p <= Lambda, p = {spec.p:g}"
    return _row("membership", worst is None, detail)


def layered(spec: NetworkSpec) -> Assumption:
    skips = [f"{k},{s}" for (k, s), bound in spec.Lambda.items() if bound > 0 and s != k - 1]
    detail = f"layer {skips[0][0]} reads layer {skips[0].partition(',')[2]}" if skips else "units read the layer below"
    return _row("layered", not skips, detail)


def linear(setting: Setting) -> Assumption:
    if setting.weights.graph is not None and not setting.weights.phi:
        return _row(
            "linear", "open", "f is linear in Psi, but made of several maps; written as one Linear it is read so"
        )
    if setting.weights.graph is not None:
        return _row("linear", False, f"{setting.weights.phi[0].name} stands between Psi and f")
    curved = next((phi.name for phi in setting.weights.phi if phi.name != "identity"), None)
    detail = "f is linear in Psi" if curved is None else f"{curved} stands between Psi and f"
    return _row("linear", curved is None, detail)


def tree(setting: Setting) -> Assumption:
    """A hidden unit that several others read is copied: a network of few units may unroll into many."""
    from adanet_theory.twins.exact_tree import MAX_NODES

    if setting.weights.graph is not None:
        return _row("tree", False, "the network is a graph, which is not unrolled")
    if setting.is_linear:
        return _row("tree", False, "f is linear in Psi: there is nothing to unroll")
    if not setting.weights.is_homogeneous:
        return _row("tree", False, "only a positively homogeneous network unrolls into a tree")
    if setting.tree is None and not setting.forests:
        return _row("tree", False, f"unrolled, the network has no weight or more than {MAX_NODES} nodes")
    if setting.tree is None:
        nodes = min(forest.nodes for forest in setting.forests)
        return _row("tree", True, f"unrolled, a tree for each class, the network has {nodes} nodes")
    return _row("tree", True, f"unrolled, the network has {len(setting.tree.parent)} nodes")


def range_one(setting: Setting) -> Assumption:
    """|h| <= 1, which Theorem 1 needs and does not say. r_inf <= r_sup, so a range above 1 at r_inf settles it."""
    if setting.weights.graph is not None:
        return _row("range", "open", "Theorem 1 takes |h| <= 1 for granted; this network is a graph, in no family")
    if setting.ranges is None:
        return _row("range", False, "the ranges exceed the largest float")
    M = setting.ranges.M
    at = "r_sup" if setting.r_sup is not None else "r_inf, for want of r_sup"
    status: Status | bool = "open" if M <= 1 and setting.r_sup is None else M <= 1
    return _row("range", status, f"|h| <= M = {_upward(M)} at {at}; Theorem 1 takes |h| <= 1 for granted")


def _upward(x: float) -> str:
    """Six digits, or all of them where six would hide that x is above 1."""
    return repr(x) if x > 1 and f"{x:.6g}" == "1" else f"{x:.6g}"


def depth(spec: NetworkSpec) -> Assumption:
    return _row("depth", spec.depth >= 2, f"l = {spec.depth}; the print divides by log l")


def normalised(W: Fraction) -> Assumption:
    shown = f"W = {up(W):.6g}: margins are those of f/W, which errs where f does" if W else "f = 0: every bound is 1"
    return _row("normalised", W > 0, shown)


def fixed_in_advance(is_declared: bool, rho_chosen: bool, rounds_added: bool = False) -> Assumption:
    if rounds_added and not is_declared:
        detail = "rounds were added after the declared ones (--resume without --max-rounds): the family was not fixed"
    elif not is_declared:
        detail = "no family was declared before training: depth, widths and norms are those found after it"
    elif rho_chosen:
        detail = "depth, widths, Lambda and p are declared, rho was chosen on the sample"
    else:
        detail = "depth, widths, Lambda, p and rho are declared; that this came before the sample is the file's word"
        return _row("fixed-in-advance", "assumed", detail)
    return _row("fixed-in-advance", False, detail)


# The features and the confidence


def r_sup(setting: Setting) -> Assumption:
    if setting.r_sup is None:
        r = f"r_inf = {setting.sizes.r_inf:.6g}"
        return _row("r-sup", "open", f"no bound on |Psi| beyond the sample is known (--r-sup); {r} stands for it")
    source, bound = setting.source, f"r_sup = {float(setting.r_sup):.6g}"
    if source.r_seen > setting.r_sup:
        return _row("r-sup", False, f"|Psi| = {source.r_seen:.6g} > {bound} at a point that was seen")
    if source.clipped and setting.r_sup >= 1:
        return _row("r-sup", True, f"the feature map clips: |Psi| <= 1 <= {bound} everywhere")
    detail = f"|Psi| <= {source.r_seen:.6g} <= {bound} at all points seen; beyond them it is told"
    return _row("r-sup", "assumed", detail)


def r_inf(setting: Setting) -> Assumption:
    """The print has E[r_inf]. The sample's r_inf may be below it, by any factor, unless it is the greatest possible."""
    greatest = setting.r_sup is not None and setting.sizes.r_inf >= setting.r_sup
    detail = "the sample's r_inf stands for E[r_inf] of the print"
    detail += (
        ", which is at most r_sup = r_inf" if greatest else ", which may be larger: only r_inf = r_sup excludes it"
    )
    return _row("r-inf", greatest or "open", detail)


def small_delta(delta: Fraction, follows: dict[str, bool]) -> Assumption:
    """The proof of the print does not reach its constants; it follows from margin-bound, if delta is not tiny."""
    missing = [id for id, proved in follows.items() if not proved]
    detail = f"delta = {float(delta):g} is large enough for Theorem 1 to follow from margin-bound"
    if missing:
        detail = f"delta = {float(delta):g} is too small for {' and '.join(missing)} to follow from margin-bound"
    return _row("delta", not missing, detail)


def feature_map(source: Source) -> Assumption:
    if source.fitted_on_sample:
        return _row("feature-map", False, "Psi was fitted on the sample: no bound on the risk covers it")
    if source.learned is not None:
        return _learned(source.learned)
    if source.told:
        return _row("feature-map", "assumed", "the file says that its map scales by ranges known before the sample")
    return _row("feature-map", "assumed", "nothing says how Psi was made: it must have been fixed before the sample")


def _learned(points: Learned) -> Assumption:
    """A map learned on some points is fixed before the others: those points must not be in the sample."""
    learned = f"Psi was learned on {points.m:,} points"
    if points.shared is None:
        unknown = "whether they are among these is not known: verify on the sample that the file was trained on"
        return _row("feature-map", "open", f"{learned}, and this is not the file's own sample; {unknown}")
    if points.shared:
        return _row("feature-map", False, f"{learned}, {points.shared:,} of which are rows of this sample")
    return _row("feature-map", True, f"{learned}, none of which is a row of this sample")


def chain(setting: Setting) -> Assumption:
    """A state_dict holds weights alone: what is done with them is the user's word."""
    phi = setting.weights.phi
    between = f" with {phi[0].name} between them" if phi else ""
    read = f"weights alone were read: that they are a chain of Linear layers{between} and nothing else"
    return _row("chain", "assumed", f"{read} is taken for granted")


def arithmetic(setting: Setting) -> Assumption:
    """Whether what is proved of the formula is true of the program, which rounds."""
    own, kind = setting.disagreements, setting.arithmetic
    if own:
        found = f"the program errs at {own:,} of {setting.m:,} points where its formula is right"
        return _row("arithmetic", False, f"{found}: no statement on the formula is one on it")
    if setting.shift is not None:
        rounded = f"if {kind.dtype} rounds every product and sum once"
        detail = (
            f"outputs of the program are within {up(setting.shift):.3g} of the formula where |x| <= r_sup, {rounded}"
        )
        return _row("arithmetic", "assumed", detail)
    if kind.is_double:
        detail = "the program, in float64, is taken to decide as its formula does; on the sample it errs no more often"
        return _row("arithmetic", "assumed", detail)
    why = kind.why or "no range of inputs is declared (--r-sup)"
    return _row(
        "arithmetic", "open", f"nothing bounds how far the program, in {kind.dtype}, is from its formula: {why}"
    )
