"""Which statements are about this network on this sample: one row for each assumption, and who fails by it.

theorem-1, corollary-1, theorem-1-range and the three forms of margin-bound are about the declared family; a-posteriori
and a-posteriori-bounded about the network alone. All of them need Ψ to be fixed before the sample was drawn: a class of
functions of Ψ(x) is a class of functions of x only then. Lemmas 1-2 hold for every sample, whatever was fitted to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from adanet_theory.spec import NetworkSpec
from verify.network.evidence import FeatureSizes, Number, Weights, up
from verify.network.layers import Ranges
from verify.network.margins import Margins
from verify.network.membership import outside
from verify.network.results import Assumption

PRINTED = ("theorem-1", "corollary-1")
FIXED_RHO = (*PRINTED, "theorem-1-range", "margin-bound", "margin-bound-empirical")
FAMILY = (*PRINTED, "theorem-1-range", "margin-bound", "margin-bound-uniform", "margin-bound-empirical")
POSTERIOR = ("a-posteriori", "a-posteriori-bounded")
BOUNDS = (*FAMILY, *POSTERIOR)
ON_LEMMA_2 = (*PRINTED, "theorem-1-range")
"""Their complexity term is Lemma 2 (Corollary 1 has it built in), so they need what it needs."""


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
    fitted_on_sample: bool

    @property
    def m(self) -> int:
        return self.margins.m

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


@dataclass(frozen=True)
class Assessment:
    """The rows, and for each bound the assumptions that it fails by."""

    rows: tuple[Assumption, ...]
    failing: dict[str, tuple[str, ...]]

    def why_not(self, statement: str) -> tuple[str, ...]:
        return self.failing[statement]

    def holds(self, id: str) -> bool | None:
        return next(row.holds for row in self.rows if row.id == id)


def assess(setting: Setting, *, rho_chosen: bool, follows: dict[str, bool]) -> Assessment:
    """Every assumption. `follows` says which of ON_LEMMA_2 follow from margin-bound at this δ and ρ."""
    rows = [
        lipschitz(setting.spec),
        phi_zero(setting.spec),
        homogeneous(setting.weights),
        membership(setting),
        layered(setting.spec),
        range_one(setting),
        depth(setting.spec),
        normalised(setting.W),
        r_sup(setting),
        r_inf(setting),
        small_delta(setting.delta, follows),
        fixed_in_advance(setting.is_declared, rho_chosen),
        feature_map(setting.fitted_on_sample),
    ]
    failing: dict[str, list[str]] = {statement: [] for statement in BOUNDS}
    for row in rows:
        for statement in row.statements:
            if statement in failing and row.holds is not True:
                failing[statement].append(row.id)
    # Some rows are about more than one thing, and a statement may need only one of them.
    if setting.is_declared:
        _excuse(failing, "fixed-in-advance", ("margin-bound-uniform",))
    else:
        _excuse(failing, "membership", FAMILY)
    _excuse(failing, "delta", [statement for statement in ON_LEMMA_2 if follows[statement]])
    _excuse(failing, "normalised", FIXED_RHO)  # f = 0 has the bound 1
    return Assessment(tuple(rows), {statement: tuple(ids) for statement, ids in failing.items()})


def _excuse(failing: dict[str, list[str]], id: str, statements: Sequence[str]) -> None:
    for statement in statements:
        failing[statement] = [other for other in failing[statement] if other != id]


# The activations


def lipschitz(spec: NetworkSpec) -> Assumption:
    steep = [(s, spec.phi(s)) for s in range(1, spec.depth) if spec.phi(s).lipschitz > 1]
    detail = "every activation is 1-Lipschitz"
    if steep:
        s, phi = steep[0]
        detail = f"{phi.name} at layer {s} has Lipschitz constant {phi.lipschitz:.6g}"
    return Assumption("lipschitz", not steep, detail, ("lemma-1", "lemma-2", *ON_LEMMA_2, *POSTERIOR))


def phi_zero(spec: NetworkSpec) -> Assumption:
    raised = [(s, spec.phi(s)) for s in range(1, spec.depth) if spec.phi(s).at_zero != 0]
    detail = "phi(0) = 0 at every layer"
    if raised:
        s, phi = raised[0]
        detail = f"{phi.name}(0) = {phi.at_zero:.6g} at layer {s}: Lemmas 1-2 as printed fail for it"
    return Assumption("phi-zero", not raised, detail, ("lemma-1", "lemma-2", "lemma-2-peeled", *ON_LEMMA_2))


def homogeneous(weights: Weights) -> Assumption:
    curved = [phi.name for phi in weights.phi if not phi.is_homogeneous]
    # The class is that of one activation: choosing it after the sample would need a union over the choices.
    good = "every activation is positively homogeneous (and taken as chosen before the sample)"
    detail = f"{curved[0]} is not positively homogeneous" if curved else good
    return Assumption("homogeneous", not curved, detail, POSTERIOR)


# The family


def membership(setting: Setting) -> Assumption:
    if not setting.is_declared:
        detail = "no family was declared; its statements are shown at the measured norms (p = 1)"
        return Assumption("membership", None, detail, FAMILY)
    spec = setting.spec
    worst: tuple[float, str] | None = None
    for (k, s), i, norm in outside(setting.weights, spec):
        bound = spec.bound(k, s)
        excess = norm / bound if bound else float("inf")
        where = f"unit {i} of layer {k} (row {i} of hidden '{k},{s}', counted from 0)"
        line = f"{where} has norm {norm!r} > Lambda_{{{k},{s}}} = {bound!r}"
        worst = max(worst or (0.0, ""), (excess, line))
    detail = worst[1] if worst else f"every unit has ||u||_p <= Lambda, p = {spec.p:g}"
    return Assumption("membership", worst is None, detail, FAMILY)


def layered(spec: NetworkSpec) -> Assumption:
    skips = [f"{k},{s}" for (k, s), bound in spec.Lambda.items() if bound > 0 and s != k - 1]
    detail = f"layer {skips[0][0]} reads layer {skips[0].partition(',')[2]}" if skips else "units read the layer below"
    return Assumption("layered", not skips, detail, ("lemma-2", *ON_LEMMA_2))


def range_one(setting: Setting) -> Assumption:
    """|h| <= 1, which Theorem 1 needs and does not say. r_inf <= r_sup, so a range above 1 at r_inf settles it."""
    if setting.ranges is None:
        return Assumption("range", False, "the ranges exceed the largest float", PRINTED)
    M = setting.ranges.M
    at = "r_sup" if setting.r_sup is not None else "r_inf, for want of r_sup"
    holds = None if M <= 1 and setting.r_sup is None else M <= 1
    return Assumption("range", holds, f"|h| <= M = {M:.6g} at {at}; Theorem 1 takes |h| <= 1 for granted", PRINTED)


def depth(spec: NetworkSpec) -> Assumption:
    return Assumption("depth", spec.depth >= 2, f"l = {spec.depth}; the print divides by log l", PRINTED)


def normalised(W: Fraction) -> Assumption:
    shown = f"W = {up(W):.6g}: margins are those of f/W, which errs where f does" if W else "f = 0: every bound is 1"
    return Assumption("normalised", W > 0, shown, FIXED_RHO)


def fixed_in_advance(is_declared: bool, rho_chosen: bool) -> Assumption:
    if not is_declared:
        detail = "no family was declared before training: depth, widths and norms are those found after it"
    elif rho_chosen:
        detail = "depth, widths, Lambda and p are declared, rho was chosen on the sample"
    else:
        detail = "depth, widths, Lambda, p and rho are declared"
    return Assumption("fixed-in-advance", is_declared and not rho_chosen, detail, FAMILY)


# The features and the confidence


def r_sup(setting: Setting) -> Assumption:
    statements = (*FAMILY, "a-posteriori-bounded")
    r = f"r_inf = {setting.sizes.r_inf:.6g}"
    if setting.r_sup is None:
        detail = f"no bound on |Psi| beyond the sample is known (--r-sup); {r} stands for it"
        return Assumption("r-sup", None, detail, statements)
    holds = setting.sizes.r_inf <= setting.r_sup
    detail = f"{r} {'<=' if holds else '>'} r_sup = {float(setting.r_sup):.6g}"
    return Assumption("r-sup", holds, detail, statements)


def r_inf(setting: Setting) -> Assumption:
    """The print has E[r_inf]. The sample's r_inf may be below it, by any factor, unless it is the greatest possible."""
    greatest = setting.r_sup is not None and setting.sizes.r_inf >= setting.r_sup
    detail = "the sample's r_inf stands for E[r_inf] of the print"
    detail += (
        ", which is at most r_sup = r_inf" if greatest else ", which may be larger: only r_inf = r_sup excludes it"
    )
    return Assumption("r-inf", greatest or None, detail, PRINTED)


def small_delta(delta: Fraction, follows: dict[str, bool]) -> Assumption:
    """The proof of the print does not reach its constants; it follows from margin-bound, if delta is not tiny."""
    missing = [statement for statement in ON_LEMMA_2 if not follows[statement]]
    detail = f"delta = {float(delta):g} is large enough for Theorem 1 to follow from margin-bound"
    if missing:
        detail = f"delta = {float(delta):g} is too small for {' and '.join(missing)} to follow from margin-bound"
    return Assumption("delta", not missing, detail, ON_LEMMA_2)


def feature_map(fitted_on_sample: bool) -> Assumption:
    detail = "Psi was fixed before the sample"
    if fitted_on_sample:
        detail = "Psi was fitted on the sample: no bound on the risk covers it"
    return Assumption("feature-map", not fitted_on_sample, detail, BOUNDS)
