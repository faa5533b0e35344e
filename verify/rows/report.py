"""model, data -> BoundReport: what the theory says about this network. `show` prints it, nothing is computed later.

report = build(model_file.read("model.pt"), Question(delta=Fraction("0.05")))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import Array, Progress, check
from adanet_theory.rounding import Number, up
from adanet_theory.spec import NetworkSpec
from adanet_train.core import by_class
from verify.measure import evidence, layers
from verify.measure.effort import Purse
from verify.measure.evidence import Weights
from verify.measure.layers import Layers, Ranges, Sampling
from verify.measure.margins import blocks, margins
from verify.measure.repeats import among, repeated
from verify.question import Points, Question
from verify.reading.program import decided
from verify.results import (
    BoundReport,
    BoundRow,
    DeclaredFacts,
    ModelFacts,
    SampleFacts,
    TestFacts,
)
from verify.rows import black_box, bounds, checks, numeric, picked
from verify.rows.assumptions import Assessment, Learned, Setting, Source, assess, rows_held_out
from verify.rows.at_margin import Margins, tenth
from verify.rows.black_box import BlackBox
from verify.rows.certificates import certificate_rows, certificates, held_out_row
from verify.rows.certificates import row as certificate_row
from verify.rows.citation import HELD_OUT, cite, fixed_by_input, quotable
from verify.rows.context import context
from verify.rows.data_posterior import data_row
from verify.rows.hints import hint
from verify.rows.numeric import AtRho
from verify.rows.registered import registered

if TYPE_CHECKING:
    from adanet_train.model.model_file import ModelFile
    from adanet_train.reading.graph import Graph

EXACT_SHARE = 0.5  # of the budget, at most, for margins in ball arithmetic
MAX_DEPTH = 100  # the ball arithmetic of a family takes time of the third power of its depth


@dataclass(frozen=True, eq=False)
class GraphModel:
    """A network that is no stack of layers, with what a model file could say of it, which is nothing."""

    graph: Graph
    declared: None = None
    declared_rho: None = None
    features: None = None
    sample: None = None
    sha256: None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weights(self) -> Weights:
        return Weights.of_graph(self.graph)


def build(
    model: ModelFile | GraphModel | BlackBox,
    question: Question | None = None,
    *,
    sample: Points | None = None,
    test: Points | None = None,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> BoundReport:
    """The report on the model and its sample, or on the sample given instead."""
    question = question or Question()
    if isinstance(model, BlackBox):
        return black_box.build(model, question, sample=sample, test=test, notes=notes)
    with np.errstate(all="ignore"):  # what overflows is looked for, and refused or left out
        setting = make_setting(model, question, sample, test)
        question = picked.asked(question, setting)
        return of_setting(model, setting, question, test=test, notes=notes, progress=progress)


def of_setting(
    model: ModelFile | GraphModel,
    setting: Setting,
    question: Question,
    *,
    test: Points | None = None,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> BoundReport:
    """The report at a setting that is made."""
    B = path_norm(setting)
    declared_rho = model.declared_rho if question.rho is None else question.rho
    known_before = assess(setting, rho_chosen=declared_rho is None)
    # at the δ of a citation, so that one estimate of R_S serves the rows and it
    fixed = fixed_by_input(question, has_test=test is not None)
    share = setting.delta / (quotable(known_before) if fixed is None else 1)
    free = _free_rows(setting, B, known_before)
    chosen = choose_rho(setting, free) if declared_rho is None else Fraction(declared_rho)
    undecided = setting.margins.undecided()
    asked, low = None if question.rho is None else Fraction(question.rho), tenth(setting)
    # margins first: what they cost in exact arithmetic is taken from the budget of the search
    at, *_ = [AtRho.of(setting, rho) for rho in (chosen, low, asked) if rho is not None]
    known = _known(setting, _sampling(question, share, setting.margins.purse, progress))
    verdict = known_before.at_rho(setting.delta, bounds.follows_from_margin_bound(setting, at))
    rows = _rows(setting, at, known, free, verdict)
    rows = [numeric.with_m_needed(row, setting, at, known.upper, B) for row in rows]
    rows = list(map(Margins(setting, known.upper, B, low, asked), rows))
    certified = certificates(setting, question.seed)
    rows += certificate_rows(setting, certified, verdict)
    rows += picked.rows(setting, verdict)
    if setting.classes == "two":
        rows.append(data_row(setting, B, verdict, question))
    in_layers = setting.weights.graph is None
    own, told = registered(numeric.quantities(setting, at, known.upper, B), verdict, in_layers=in_layers)
    rows += own

    def row_at(bound: Bound, delta: Fraction) -> BoundRow:
        there = replace(setting, delta=delta)
        sure = known_before.at_rho(delta, bounds.follows_from_margin_bound(there, at))
        if not bound.quoted:
            return data_row(there, B, sure, question)
        if bound.id == picked.ID and setting.picking is not None:
            return picked.row(setting.picking, delta, sure)
        if bound.group == "certificate":
            return certificate_row(bound, there, certified, sure)
        if bound.scale == "rho":
            return bounds.fixed_rho(bound, there, at, known.upper, sure.why_not(bound))
        return bounds.for_all_rho(bound, there, B, sure.why_not(bound))

    on_held_out = Fraction(question.delta) / question.compared  # what was tried on the sample costs nothing there
    errors, tested = _held_out(model, test, on_held_out)
    found = checks.layer_checks(setting.spec, setting.m, setting.sizes, known)
    found += checks.bound_checks(rows, tested, errors, setting.delta)
    held_out = [] if tested is None else [held_out_row(tested, errors, verdict)]
    applying = [row.value for row in [*held_out, *rows] if row.value is not None]
    says_little = min(applying, default=1.0) >= setting.base_rate  # as a constant prediction would
    violated = verdict.holds("membership") is False or any(row.applies and row.verdict == "violated" for row in found)
    W = float(setting.W)
    return BoundReport(
        model=_model_facts(model, setting, B),
        declared=_declared_facts(setting) if setting.is_declared else None,
        sample=_sample_facts(setting, at),
        rho=float(chosen),
        delta=float(question.delta),
        rho_chosen=declared_rho is None,
        assumptions=verdict.rows,
        complexities=known.rows,
        bounds=(*held_out, *rows, *context(setting, at)),
        checks=tuple(found),
        test=tested,
        verdict="violated" if violated else "holds",
        cite=cite(
            [*held_out, *rows],
            verdict,
            fixed=fixed,
            delta=on_held_out if fixed == HELD_OUT else setting.delta,
            row_at=row_at,
        ),
        tried=_tried(model, question),
        compared=question.compared,
        quotes=fixed,
        classes=setting.weights.outputs or 2,
        notes=(*notes, *_left_out(setting), *told, *([known.note] if known.note else [])),
        base_rate=setting.base_rate,
        class_errors=setting.class_errors,
        advice=(hint(setting, [*held_out, *rows], verdict, certified, test=tested),) if says_little else (),
        undecided=undecided,
        margins=setting.margins.middle / W if W else setting.margins.middle,
        curves=numeric.rho_curves(setting, known.upper) if question.curves and in_layers else {},
    )


def _left_out(setting: Setting) -> list[str]:
    """Why a report on C classes has no row for the paper's statements."""
    if setting.classes == "two":
        return []
    why = "the paper's statements and those on y f(x) are about two classes and are left out"
    return [f"{why}; W and B are those of the weights less their median over the classes, which moves no margin."]


def _known(setting: Setting, sampling: Sampling | None) -> Layers:
    """R_S of the family; a graph stands in none."""
    if setting.weights.graph is not None:
        return Layers((), ())
    return layers.complexities(setting.spec, setting.margins.Psi, setting.sizes, sampling)


def _sampling(question: Question, delta: Fraction, purse: Purse, progress: Progress | None) -> Sampling | None:
    """The search may spend what exact margins have left of the budget."""
    if question.draws is None:
        return None
    left = question.budget * (1 - EXACT_SHARE) + purse.left
    return Sampling(float(delta), question.draws, question.seed, question.device, progress, left)


def status(report: BoundReport) -> int:
    """0: nothing that applies is violated and the network is in its declared family; 1: otherwise."""
    return int(report.verdict == "violated")


# What the statements read


def stored_sample(model: ModelFile | GraphModel) -> Points:
    sample = model.sample
    if sample is None or sample.Psi is None or sample.y is None:
        raise ValueError("the model file holds no sample: --data FILE must give it.")
    assert not isinstance(model, GraphModel)
    mapped, names = model.features is not None, model.class_names
    return Points(sample.Psi.numpy(), sample.y.numpy(), mapped=mapped, names=names)


def _source(
    model: ModelFile | GraphModel, question: Question, sample: Points, test: Points | None, r_inf: float
) -> Source:
    """What is known of the points."""
    features = model.features
    told = features is not None and math.isfinite(features.r_sup) and sample.mapped
    return Source(
        fitted_on_sample=features is not None and features.fitted_on_sample,
        told=told,
        clipped=told and features is not None and features.clip,
        r_seen=max(r_inf, float(np.abs(test.Psi).max(initial=0.0)) if test is not None else 0.0),
        repeats=repeated(sample.Psi, sample.y),
        discrete=question.discrete,
        held_out=None if test is None else rows_held_out(sample, test, question.discrete),
        learned=None if isinstance(model, GraphModel) else _learned(model, sample),
        chain=not isinstance(model, GraphModel) and model.is_converted,
        rounds_added=not isinstance(model, GraphModel) and bool(model.meta.get("rounds_added")),
    )


def _learned(model: ModelFile, sample: Points) -> Learned | None:
    """Whether the points that the map was learned on are rows of the sample; training took them out of its own."""
    told = model.meta.get("features_learned_on")
    if not isinstance(told, Mapping) or type(told.get("m")) is not int:
        return None
    rows = told.get("rows")
    if rows is not None:
        hashes = str(getattr(rows, "dtype", None)) == "torch.int64" and rows.ndim == 1
        check(hashes, "meta features_learned_on rows must be an int64 vector of hashes in the model file.")
        return Learned(told["m"], among(sample.Psi, sample.y, rows.numpy()))
    own = model.sample is not None and model.sample.matches(sample.Psi, sample.y, model.network.outputs)
    return Learned(told["m"], 0 if own else None)


def _tried(model: ModelFile | GraphModel, question: Question) -> int:
    """How many settings were tried on the sample: what is asked, else what the file says."""
    if question.tried is not None:
        return question.tried
    told = model.extra.get("tried", 1)
    check(isinstance(told, int) and told >= 1, f"tried must be an integer >= 1, got tried={told!r} in the model file.")
    return int(told)


def make_setting(
    model: ModelFile | GraphModel, question: Question, sample: Points | None = None, test: Points | None = None
) -> Setting:
    """Everything exact or rounded outward, on the model's own sample where no other is given.

    The family is the declared one, else the measured one.
    """
    sample, r_sup = sample or stored_sample(model), question.r_sup
    weights = model.weights if isinstance(model, GraphModel) else Weights.of(model.network)
    spec = model.declared if model.declared is not None else evidence.measured_family(weights)
    check(spec.depth <= MAX_DEPTH, f"the depth must be at most {MAX_DEPTH}, got l={spec.depth}.")
    if r_sup is None and model.features is not None and math.isfinite(model.features.r_sup):
        r_sup = model.features.r_sup
    if r_sup is not None:
        r_sup = _beside_constant(r_sup, model, [sample.Psi] if test is None else [sample.Psi, test.Psi])
    sizes = evidence.feature_sizes(sample.Psi, spec.q)
    if weights.graph is not None:
        sizes = evidence.with_constant(sizes, weights.graph.has_bias)
    source = _source(model, question, sample, test, sizes.r_inf)
    is_wrong = predictions(model, sample) != sample.y
    found = margins(weights, sample.Psi, sample.y, Purse(EXACT_SHARE * question.budget))
    return Setting(
        weights=weights,
        spec=spec,
        is_declared=model.declared is not None,
        margins=found.beside(is_wrong),
        sizes=sizes,
        w=evidence.w_norms(weights, spec.depth),
        ranges=_ranges(weights, spec, sizes.r_inf if r_sup is None else r_sup),
        delta=Fraction(question.delta) / _tried(model, question),
        r_sup=r_sup,
        source=source,
        errors=int(is_wrong.sum()),
        class_errors=by_class.class_errors(is_wrong, sample.y, sample.names),
        base_rate=by_class.base_rate(sample.y),
        disagreements=int(np.count_nonzero(is_wrong & (found.lower > 0))),
        arithmetic=sample.arithmetic,
        shift=sample.arithmetic.shift(r_sup) if r_sup is not None and source.r_seen <= r_sup else None,
        compared=question.compared,
        picking=picked.picking(model, sample, replay=question.replay),
    )


def _beside_constant(r_sup: Number, model: ModelFile | GraphModel, seen: Sequence[Array]) -> Number:
    """r_sup, or 1 if it is less, a bound on x that no point seen exceeds: the feature that carries the biases is 1."""
    if isinstance(model, GraphModel):
        has_constant, x = model.graph.has_bias, seen
    else:
        has_constant = model.features is not None and model.features.bias
        x = [Psi[:, :-1] for Psi in seen]
    if r_sup >= 1 or not has_constant:
        return r_sup
    largest = max(max(float(part.max(initial=0.0)), -float(part.min(initial=0.0))) for part in x)
    return 1 if largest <= r_sup else r_sup


def _ranges(weights: Weights, spec: NetworkSpec, r: Number) -> Ranges | None:
    """None beyond the largest float, and for a graph."""
    try:
        return layers.ranges(spec, r) if weights.graph is None else None
    except OverflowError:
        return None


def path_norm(setting: Setting) -> float | None:
    """B, rounded up; None unless every activation is homogeneous and B is a float."""
    if not setting.weights.is_homogeneous:
        return None
    try:
        return evidence.path_norm(setting.weights)
    except OverflowError:
        return None


# The bounds


def _free_rows(setting: Setting, B: float | None, verdict: Assessment) -> dict[str, BoundRow]:
    """The bounds that hold for all margins at once; they need no ρ, and may choose it for the others."""
    free = [bound for bound in catalogue.theory(setting.classes) if bound.scale in ("W_M", "B")]
    return {bound.id: bounds.for_all_rho(bound, setting, B, verdict.why_not(bound)) for bound in free}


def choose_rho(setting: Setting, free: Mapping[str, BoundRow]) -> Fraction:
    """ρ on the scale of f/W at which the best of the free bounds stands, one that applies before one that does not."""
    usable = [row for row in free.values() if row.raw is not None and row.rho]
    if not usable or setting.W == 0:
        return Fraction(1)
    best = min(usable, key=lambda row: (not row.applies, row.raw))
    return Fraction(float(Fraction(best.rho or 1.0) / setting.W) or 2.0**-1074)


def _rows(
    setting: Setting, at: AtRho, known: Layers, free: Mapping[str, BoundRow], verdict: Assessment
) -> list[BoundRow]:
    """In the order of the catalogue: first what the paper prints, last what needs no declared family."""
    fixed = [bound for bound in catalogue.theory(setting.classes) if bound.scale == "rho"]
    rows = {bound.id: bounds.fixed_rho(bound, setting, at, known.upper, verdict.why_not(bound)) for bound in fixed}
    return [(rows | dict(free))[bound.id] for bound in catalogue.theory(setting.classes)]


def _held_out(model: ModelFile | GraphModel, test: Points | None, delta: Fraction) -> tuple[int, TestFacts | None]:
    if test is None:
        return 0, None
    is_wrong = predictions(model, test) != test.y
    facts = checks.held_out(int(is_wrong.sum()), len(test.y), delta)
    return int(is_wrong.sum()), replace(facts, class_errors=by_class.class_errors(is_wrong, test.y, test.names))


# The program


def predictions(model: ModelFile | GraphModel, points: Points) -> Array:
    """The decisions of the program; of a model file those of its network in float64."""
    if points.predicted is not None:
        return points.predicted
    if isinstance(model, GraphModel):
        from adanet_train.reading import graph

        return decided(graph.values(model.graph, points.Psi)[0])
    import torch

    with torch.no_grad():
        parts = [model.network(torch.from_numpy(Psi)) for Psi in blocks(points.Psi)]
    return decided(torch.cat(parts).numpy())


# The facts


def _model_facts(model: ModelFile | GraphModel, setting: Setting, B: float | None) -> ModelFacts:
    p = setting.spec.p if setting.is_declared else 1.0
    weights = setting.weights
    return ModelFacts(
        sha256=model.sha256 or "",
        depth=weights.depth,
        n=weights.n,
        activation=tuple(phi.name for phi in weights.phi),
        w_norms={k: up(norm) for k, norm in enumerate(setting.w[: weights.depth], start=1)},
        W=up(setting.W),
        measured=evidence.largest_norms(setting.weights, p),
        path_norm=B,
        layered=weights.graph is None and setting.spec.is_layered,
        graph=None if weights.graph is None else len(weights.graph.nodes),
        own_n=weights.n if weights.graph is not None else weights.own_n(setting.sizes.has_constant),
    )


def _declared_facts(setting: Setting) -> DeclaredFacts:
    spec = setting.spec
    return DeclaredFacts(spec.p, spec.q, spec.n, dict(spec.Lambda))


def _sample_facts(setting: Setting, at: AtRho) -> SampleFacts:
    return SampleFacts(
        m=setting.m,
        r_inf=setting.sizes.r_inf,
        r_rms=setting.sizes.r_rms,
        margin_error=float(at.margin_error),
        ramp=at.ramp,
        train_error=setting.errors / setting.m,
    )
