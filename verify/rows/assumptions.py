"""Which statements are about this network on this sample: one row for each assumption, and who fails by it.

Who needs what is in the catalogue (`Bound.needs`); here stands whether it holds. All bounds on a risk need Ψ to be
fixed before the sample was drawn: a class of functions of Ψ(x) is a class of functions of x only then. Lemmas 1-2 hold
for every sample, whatever was fitted to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from adanet_theory import catalogue
from adanet_theory.activations import Activation
from adanet_theory.checks import check
from adanet_theory.rounding import up, upward
from adanet_theory.spec import NetworkSpec
from verify.measure.membership import outside
from verify.measure.near import REMEDY, apart
from verify.measure.repeats import repeated, shared
from verify.reading.points import GivenPoints
from verify.records.results import ASSUMED, Assumption, Status
from verify.rows.setting import Assessment, Counted, HeldOut, Learned, PickingFacts, Setting, Source

if TYPE_CHECKING:
    from adanet_train.core.network import Network
    from adanet_train.reading.graph import Graph

RECIPE = "learner, settings, seed, numbers of picks and features were fixed before the sample"
LEMMAS = {
    "lipschitz": ("lemma-1", "lemma-2"),
    "phi-zero": ("lemma-1", "lemma-2", "lemma-2-peeled"),
    "layered": ("lemma-2",),
}
"""What the statements on R_S(H_k) need."""
GRAPH = "this network is a graph"


def at_rho(verdict: Assessment, delta: Fraction, follows: dict[str, bool]) -> Assessment:
    """With the one row that needs ρ: `follows` says which statements on Lemma 2 follow from margin-bound there."""
    if verdict.classes == "many":
        return verdict
    others = [row for row in verdict.rows if row.id != "delta"]
    others.insert([*catalogue.ASSUMPTIONS].index("delta"), small_delta(delta, follows))
    return replace(verdict, rows=tuple(others), follows=tuple(id for id, proved in follows.items() if proved))


def assess(setting: Setting, rho: Fraction | None) -> Assessment:
    """Every assumption but `delta`, which is known only at a ρ, in the order of the catalogue.

    `rho` is that fixed beforehand, None where it is chosen on the sample.
    """
    rows = (
        iid(setting.source.repeats, setting.m, setting.source.discrete),
        lipschitz(setting),
        phi_zero(setting),
        homogeneous(setting.graph),
        *_of_layers(setting),
        depth(setting.spec),
        normalised(setting.W),
        r_sup(setting),
        r_inf(setting),
        fixed_in_advance(setting.is_declared, rho, setting.source.rounds_added),
        feature_map(setting.source, on_start=setting.picking is not None and setting.picking.on_start),
        arithmetic(setting),
        *(
            []
            if setting.source.held_out is None
            else [new_draws("untouched", setting.source.held_out, setting.source.discrete)]
        ),
        *([chain(next((phi.name for phi in setting.graph.phi), None))] if setting.source.chain else []),
    )
    assessment = Assessment(rows, setting.is_declared, rho_chosen=rho is None)
    if setting.classes == "many":
        assessment = replace(assessment, rows=tuple(_of_many(rows)), classes="many")
    return replace(assessment, rows=with_counted((*assessment.rows, *of_picking(setting.picking)), setting.counted))


def of_picking(run: PickingFacts | None) -> tuple[Assumption, ...]:
    """What a certificate from picks assumes."""
    return (
        () if run is None else (assumption("picked", run.status, run.detail), assumption("recipe", "assumed", RECIPE))
    )


def with_counted(rows: Sequence[Assumption], counted: Sequence[Counted]) -> tuple[Assumption, ...]:
    """The rows, and those that the counted statements have beside them."""
    known = {row.id: row for row in rows}
    for one in counted:
        features = [assumption("feature-map", "assumed", ASSUMED["feature-map"])] * ("feature-map" in one.bound.needs)
        for row in (*one.assumptions, *features):
            known.setdefault(row.id, row)
    return tuple(known.values())


def _of_many(rows: tuple[Assumption, ...]) -> Iterator[Assumption]:
    """What the statements on C classes need, and the lemmas."""
    for row in rows:
        needed_by = (*LEMMAS.get(row.id, ()), *catalogue.needing(row.id, "many"))
        if needed_by:
            yield replace(row, statements=needed_by)


def assumption(id: str, status: Status | bool, detail: str, words: str = "") -> Assumption:
    """A row; True and False are what was checked here."""
    word: Status = status if isinstance(status, str) else "holds" if status else "fails"
    return Assumption(id, word, detail, (*LEMMAS.get(id, ()), *catalogue.needing(id)), words=words)


# The sample


def iid(repeats: int, m: int, discrete: bool) -> Assumption:
    """Points drawn independently from one law: nothing can show it, but rows that repeat speak against it."""
    if repeats == 0:
        return assumption("iid", "assumed", "no row repeats; assumed: the points were drawn independently")
    copies = f"{repeats:,} of {m:,} rows repeat an earlier row"
    if discrete:
        words = f"the points are independent draws from one law, though {copies}"
        return assumption("iid", "assumed", f"{copies}, taken as draws of their own (--discrete)", words)
    return assumption("iid", "fails", copies)


def rows_held_out(sample: GivenPoints | None, test: GivenPoints, discrete: bool) -> HeldOut:
    """What repeats; held-out points that are points of the sample are refused, all of them even where rows may."""
    n = len(test.y)
    if sample is None:
        return HeldOut(n, repeated(test.compared, test.y), None)
    rows, others = test.compared, sample.compared
    same, none = shared(rows, test.y, others, sample.y), np.zeros(n)
    at_x = shared(rows, none, others, np.zeros(len(sample.y)))
    counted = f"{at_x:,} of the {n:,} test points are points of the sample{_relabelled(at_x - same)}"
    check(same < n, f"{counted}: held-out points must not have been used in training, give points drawn anew.")
    check(at_x == 0 or discrete, f"{counted}: held-out points must not have been used in training ({REMEDY}).")
    close = apart(rows, others, "test points", same=at_x, discrete=discrete)
    return HeldOut(n, repeated(rows, test.y), at_x, at_x - same, close)


def _relabelled(count: int) -> str:
    return f" ({count:,} under another label)" if count else ""


_DRAWS = {
    "untouched": ("held-out rows", "held-out points were used neither in training nor to choose"),
    "unlabelled": ("points without labels", "points without labels were used for neither network"),
}
"""By assumption: the points, and what is assumed of them."""


def new_draws(id: str, points: HeldOut, discrete: bool) -> Assumption:
    """Points beside the sample are new draws; copies of one of them, or of rows of the sample, are not."""
    what, unused = _DRAWS[id]
    words = ASSUMED[id]
    counted = [f"{points.repeats:,} of the {points.n:,} {what} repeat an earlier one"] * (points.repeats > 0)
    if points.shared:
        counted.append(f"{points.shared:,} of the {points.n:,} are rows of the sample{_relabelled(points.relabelled)}")
    beside = f"{points.near:,} of the {points.n:,} lie within 1e-6 of rows of the sample" if points.near else ""
    assumed = f"assumed: the {points.n:,} {unused}"
    if not counted and points.shared is None:
        unknown = "no sample was given, so nothing checks that none of them is a training point"
        return assumption(id, "assumed", f"none of the {what} repeats; {unknown}; {assumed}", f"{words}: {unknown}")
    if not counted:
        new = f"none of the {what} repeats or is a row of the sample{beside and f', but {beside}'}"
        return assumption(id, "assumed", f"{new}; {assumed}", beside and f"{words}, though {beside}")
    copies = " and ".join([*counted, *[beside] * bool(beside)])
    if not discrete:
        return assumption(id, "fails", copies)
    detail = f"{copies}, taken as draws of their own (--discrete); {assumed}"
    return assumption(id, "assumed", detail, f"{words}, though {copies}")


# The activations


def _by_layer(setting: Setting) -> list[tuple[int, Activation]]:
    """(s, φ_s) of the family; of a graph all activations of each level, where several may stand side by side."""
    if setting.layers is None:
        return [(s, phi) for s, level in enumerate(setting.graph.levels, start=1) for phi in level]
    return [(s, setting.spec.phi(s)) for s in range(1, setting.spec.depth)]


def lipschitz(setting: Setting) -> Assumption:
    steep = [(s, phi) for s, phi in _by_layer(setting) if phi.lipschitz > 1]
    detail = "every activation is 1-Lipschitz"
    if steep:
        s, phi = steep[0]
        detail = f"{phi.name} at layer {s} has Lipschitz constant {phi.lipschitz:.6g}"
    return assumption("lipschitz", not steep, detail)


def phi_zero(setting: Setting) -> Assumption:
    raised = [(s, phi) for s, phi in _by_layer(setting) if phi.at_zero != 0]
    detail = "phi(0) = 0 at every layer"
    if raised:
        s, phi = raised[0]
        detail = f"{phi.name}(0) = {phi.at_zero:.6g} at layer {s}: Lemmas 1-2 as printed fail for it"
    return assumption("phi-zero", not raised, detail)


_NAMES = {"abs": "abs (of which a maximum is made)"}


def homogeneous(graph: Graph) -> Assumption:
    names = [_NAMES.get(phi.name, phi.name) for phi in graph.phi if phi.name != "identity"]
    curved = [phi.name for phi in graph.phi if not phi.is_homogeneous]
    if curved:
        return assumption("homogeneous", False, f"{curved[0]} is not positively homogeneous")
    if not names:
        return assumption("homogeneous", True, "f has no activation but the identity")
    # The class is that of one activation: choosing it after the sample would need a union over the choices.
    were = "were" if len(names) > 1 else "was"
    chosen = f"assumed: {' and '.join(names)} {were} chosen before the sample, slopes included"
    return assumption("homogeneous", "assumed", f"every activation is positively homogeneous; {chosen}")


# The family


def _of_layers(setting: Setting) -> tuple[Assumption, ...]:
    """What the statements on families need; a graph without layers is in no family."""
    if setting.layers is not None:
        return membership(setting, setting.layers), layered(setting.spec), linear(setting), range_one(setting)
    return (
        assumption(
            "membership", "open", f"no family was declared; {GRAPH}, and the paper's families are made of layers"
        ),
        assumption("layered", False, "the network is a graph"),
        linear(setting),
        assumption(
            "range", "open", f"Theorem 1 assumes |h| <= 1 without saying so; {GRAPH}, in no family of the paper"
        ),
    )


def membership(setting: Setting, layers: Network) -> Assumption:
    if not setting.is_declared:
        detail = "no family was declared; statements about families are shown at the measured norms (p = 1)"
        return assumption("membership", "open", detail)
    spec = setting.spec
    worst: tuple[float, str] | None = None
    for (k, s), i, norm in outside(layers, spec):
        bound = spec.bound(k, s)
        excess = norm / bound if bound else float("inf")
        where = f"unit {i} of layer {k} (row {i} of hidden '{k},{s}', counted from 0)"
        line = f"{where} has norm {norm!r} > Lambda_{{{k},{s}}} = {bound!r}"
        worst = max(worst or (0.0, ""), (excess, line))
    detail = worst[1] if worst else f"every unit has ||u||_p <= Lambda, p = {spec.p:g}"
    return assumption("membership", worst is None, detail)


def layered(spec: NetworkSpec) -> Assumption:
    skips = [f"{k},{s}" for (k, s), bound in spec.Lambda.items() if bound > 0 and s != k - 1]
    detail = f"layer {skips[0][0]} reads layer {skips[0].partition(',')[2]}" if skips else "units read the layer below"
    return assumption("layered", not skips, detail)


def linear(setting: Setting) -> Assumption:
    curved = next((phi.name for phi in setting.graph.phi if phi.name != "identity"), None)
    if curved is not None:
        return assumption("linear", False, f"{curved} is applied between Psi and f")
    several = "f is linear in Psi, but made of several maps: it is read as linear if you write it as one Linear"
    return (
        assumption("linear", True, "f is linear in Psi") if setting.is_linear else assumption("linear", "open", several)
    )


def range_one(setting: Setting) -> Assumption:
    """|h| <= 1, which Theorem 1 needs and does not say. r_inf <= r_sup, so a range above 1 at r_inf settles it."""
    if setting.ranges is None:
        return assumption("range", False, "the ranges exceed the largest float")
    M = setting.ranges.M
    at = "r_sup" if setting.r_sup is not None else "r_inf, as r_sup is not known"
    status: Status | bool = "open" if M <= 1 and setting.r_sup is None else M <= 1
    reach = f"units of the family reach at most |h| = {upward(M)} at {at}"
    return assumption("range", status, f"{reach}; Theorem 1 assumes |h| <= 1 without saying so")


def depth(spec: NetworkSpec) -> Assumption:
    return assumption("depth", spec.depth >= 2, f"l = {spec.depth} (the paper divides by log l)")


def normalised(W: Fraction) -> Assumption:
    shown = f"W = {up(W):.6g}: margins are those of f/W, which errs where f does" if W else "f = 0: every bound is 1"
    return assumption("normalised", W > 0, shown)


def fixed_in_advance(is_declared: bool, rho: Fraction | None, rounds_added: bool = False) -> Assumption:
    if rounds_added and not is_declared:
        detail = "rounds were added after the declared ones (--resume without --max-rounds): the family was not fixed"
    elif not is_declared:
        detail = "no family was declared before training: depth, widths and norms were measured after it"
        detail += ", and rho was chosen on the sample" * (rho is None)
    elif rho is None:
        detail = "depth, widths, Lambda and p are declared, rho was chosen on the sample"
    else:
        detail = "depth, widths, Lambda, p and rho are declared; the file says that this came before the sample"
        words = f"the family and rho = {float(rho):.15g} were declared before training"
        return assumption("fixed-in-advance", "assumed", detail, words)
    return assumption("fixed-in-advance", False, detail)


# The features and the confidence


def r_sup(setting: Setting) -> Assumption:
    if setting.r_sup is None:
        r = f"r_inf = {setting.sizes.r_inf:.6g}"
        return assumption("r-sup", "open", f"no bound on |Psi| beyond the sample is known (--r-sup); {r} replaces it")
    source, bound = setting.source, f"r_sup = {float(setting.r_sup):.6g}"
    if source.r_seen > setting.r_sup:
        return assumption("r-sup", False, f"|Psi| = {source.r_seen:.6g} > {bound} at a point that was seen")
    if source.clipped and setting.r_sup >= 1:
        return assumption("r-sup", True, f"the feature map clips: |Psi| <= 1 <= {bound} everywhere")
    detail = f"|Psi| <= {source.r_seen:.6g} <= {bound} at all points seen; beyond them it is assumed"
    words = f"the features were known before the sample to be at most {float(setting.r_sup):.15g} in size"
    return assumption("r-sup", "assumed", detail, words)


def r_inf(setting: Setting) -> Assumption:
    """The paper has E[r_inf]. The sample's r_inf may be smaller by any factor, unless it is the largest possible."""
    greatest = setting.r_sup is not None and setting.sizes.r_inf >= setting.r_sup
    detail = "the sample's r_inf replaces the paper's E[r_inf]"
    detail += (
        ", which is at most r_sup = r_inf" if greatest else ", which may be larger: only r_inf = r_sup rules that out"
    )
    return assumption("r-inf", greatest or "open", detail)


def small_delta(delta: Fraction, follows: dict[str, bool]) -> Assumption:
    """The paper's proof does not give its constants; the statement follows from margin-bound, if delta is not tiny."""
    missing = [id for id, proved in follows.items() if not proved]
    detail = f"delta = {float(delta):g} is large enough for Theorem 1 to follow from margin-bound"
    if missing:
        detail = f"delta = {float(delta):g} is too small for {' and '.join(missing)} to follow from margin-bound"
    return assumption("delta", not missing, detail)


def feature_map(source: Source, *, on_start: bool = False) -> Assumption:
    """`on_start`: Ψ looks as if fitted on the start of a run of picking, which its certificate allows."""
    if source.fitted_on_sample and on_start:
        fitted = "Psi was fitted on the recorded start, as its ranges there show: only pick-certificate allows that"
        row = assumption("feature-map", "assumed", f"{fitted}; every other statement that needs feature-map fails")
        return replace(row, only=("pick-certificate",), words="the features were fitted on the recorded start alone")
    if source.fitted_on_sample:
        return fitted_map()
    if source.learned is not None:
        return _learned(source.learned)
    if source.has_map:
        return assumption(
            "feature-map", "assumed", "the file says that its map scales by ranges known before the sample"
        )
    return unknown_map()


def fitted_map() -> Assumption:
    return assumption("feature-map", False, "Psi was fitted on the sample: no bound from the sample covers it")


def unknown_map() -> Assumption:
    return assumption(
        "feature-map", "assumed", "nothing says how Psi was made: it must have been fixed before the sample"
    )


def _learned(points: Learned) -> Assumption:
    """A map learned on some points is fixed before the others: those points must not be in the sample."""
    learned = f"Psi was learned on {points.m:,} points"
    if points.shared is None:
        unknown = "it may share points with them: verify on the sample that the file was trained on"
        return assumption("feature-map", "open", f"{learned}, and this is not the file's own sample; {unknown}")
    if points.shared:
        return assumption("feature-map", False, f"{learned}, {points.shared:,} of which are rows of this sample")
    return assumption("feature-map", True, f"{learned}, none of which is a row of this sample")


def chain(activation: str | None) -> Assumption:
    """A state_dict holds weights alone: how the network uses them is what the user says."""
    between = f" with {activation} between them" if activation else ""
    read = f"weights alone were read; assumed: they are a chain of Linear layers{between} and nothing else"
    return assumption("chain", "assumed", read)


def arithmetic(setting: Setting) -> Assumption:
    """Whether what is proved of the formula is true of the program, which rounds."""
    own, kind = setting.disagreements, setting.arithmetic
    if own:
        errors = f"the program errs at {own:,} of {setting.m:,} points where its formula is right"
        return assumption("arithmetic", False, f"{errors}: statements about the formula are not about the program")
    if setting.shift is not None:
        rounded = f"if {kind.dtype} rounds every product and sum once"
        detail = (
            f"outputs of the program are within {up(setting.shift):.3g} of the formula where |x| <= r_sup, {rounded}"
        )
        return assumption("arithmetic", "holds" if kind.is_double else "assumed", detail)
    why = kind.why or "no range of inputs is declared, see --r-sup"
    if kind.is_double:
        known = f"the statements are about the formula ({why})"
        detail = f"{known}; assumed: the program, in float64, decides as the formula does"
        return assumption("arithmetic", "assumed", detail)
    return assumption(
        "arithmetic", "open", f"nothing bounds how far the program, in {kind.dtype}, is from its formula: {why}"
    )
