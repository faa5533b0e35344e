"""model, data -> BoundReport: what the theory says about this network. `show` prints it, nothing is computed later.

report = build(model_file.read("model.pt"), Question(delta=Fraction("0.05")))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import Array, Progress, check
from adanet_theory.rounding import Number, up
from adanet_theory.spec import NetworkSpec
from adanet_train.core import by_class
from adanet_train.core.bar import stage
from adanet_train.data.disk import largest
from verify.measure import arithmetic, evidence, layers
from verify.measure.arithmetic import Arithmetic
from verify.measure.effort import Purse
from verify.measure.layers import Ranges
from verify.measure.margins import margins
from verify.measure.repeats import among, repeated
from verify.reading import program
from verify.reading.formula import BlackBox, Formula, ReadNetwork
from verify.reading.points import GivenPoints
from verify.records.question import Question
from verify.records.results import BoundReport, BoundRow, DeclaredFacts, ModelFacts, SampleFacts
from verify.rows import black_box, checks, numeric, others, picks
from verify.rows.assumptions import rows_held_out
from verify.rows.bounds import at_margins, tenth
from verify.rows.citation import cite, fixed_by_input, hint, of_held_out, unused_rho
from verify.rows.picks import picking
from verify.rows.row import EXACT_SHARE, of_network, prepared, row, saying, value
from verify.rows.setting import AtRho, Counted, Learned, Setting, Source

if TYPE_CHECKING:
    from adanet_train.core.network import Network

MAX_DEPTH = 100  # the ball arithmetic of a family takes time of the third power of its depth


def build(
    model: Formula | BlackBox,
    question: Question | None = None,
    *,
    sample: GivenPoints | None = None,
    test: GivenPoints | None = None,
    notes: Sequence[str] = (),
    counted: Sequence[Counted] = (),
    progress: Progress | None = None,
) -> BoundReport:
    """The report on the model and its sample, or on the sample given instead.

    `counted` are statements on what else is known: its description, declared families, points without labels.
    """
    question = question or Question()
    if isinstance(model, BlackBox):
        return black_box.build(
            model, question, sample=sample, test=test, notes=notes, counted=counted, progress=progress
        )
    with np.errstate(all="ignore"):  # what overflows is looked for, and refused or left out
        setting = make_setting(model, question, sample, test, progress)
        setting = replace(setting, counted=(*setting.counted, *counted))
        return of_setting(model, setting, question, test=test, notes=notes, progress=progress)


def of_setting(
    model: Formula,
    setting: Setting,
    question: Question,
    *,
    test: GivenPoints | None = None,
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> BoundReport:
    """The report at a setting that is made."""
    declared_rho = model.declared_rho if question.rho is None else question.rho
    fixed = fixed_by_input(question, setting.counted, has_test=test is not None)
    # where only a compressed file, families or points without labels ask, R_S serves the least of K all the same
    alone = fixed_by_input(question, picks.counted(setting.picking), has_test=test is not None)
    on_held_out = Fraction(question.delta) / question.compared  # what was tried on the sample costs nothing there
    if test is not None:
        tested = checks.held_out(program.of_formula(model, test), test, on_held_out)
        setting = replace(setting, tested=tested, counted=(*of_held_out(tested), *setting.counted))
    rho = None if declared_rho is None else Fraction(declared_rho)
    setting = prepared(setting, question, rho, alone=alone is not None, progress=progress)
    assert setting.at is not None
    undecided, verdict = setting.margins.undecided(), setting.verdict
    own = [(one.bound, row(one.bound, setting)) for one in setting.counted if one.bound.id != picks.PICK]
    held_out = [pair for pair in own if pair[0].group == "held-out"]
    network, remarks = _rows(setting, question)
    context = [bound for bound in catalogue.built_in() if (bound.group, bound.classes) == ("context", setting.classes)]
    rows = [*held_out, *network, *own[len(held_out) :], *((bound, row(bound, setting)) for bound in context)]
    quoted = {id: cite(rows, setting, id) for id in {alone, fixed}}
    checked = checks.layer_checks(setting.spec, setting.m, setting.sizes, setting.known)
    checked += checks.bound_checks([each for _, each in network], setting.tested, setting.delta)
    hinted = [each for _, each in (*held_out, *network)]
    said = [each.value for each in (*hinted, *quoted.values()) if each is not None and each.value is not None]
    says_little = min(said, default=1.0) >= setting.base_rate  # as a constant prediction would
    violated = verdict.holds("membership") is False or any(
        each.applies and each.verdict == "violated" for each in checked
    )
    W, spec = float(setting.W), setting.spec
    return BoundReport(
        model=_model_facts(model, setting),
        declared=DeclaredFacts(spec.p, spec.q, spec.n, dict(spec.Lambda)) if setting.is_declared else None,
        sample=_sample_facts(setting, setting.at),
        rho=float(setting.at.rho),
        delta=float(question.delta),
        rho_chosen=declared_rho is None,
        assumptions=verdict.rows,
        complexities=setting.known.rows,
        bounds=tuple(sorted((each for _, each in rows), key=lambda each: each.context)),
        checks=tuple(checked),
        test=setting.tested,
        verdict="violated" if violated else "holds",
        cite=quoted[fixed],
        tried=tried(model, question),
        compared=question.compared,
        quotes=fixed,
        among=setting.quotable if alone is None else 1,
        classes=setting.graph.classes or 2,
        notes=(
            *notes,
            *_retired(model),
            *unused_rho(question, alone),
            *remarks,
            *[setting.known.note] * bool(setting.known.note),
        ),
        base_rate=setting.base_rate,
        class_errors=setting.class_errors,
        advice=(hint(setting, hinted),) if says_little else (),
        undecided=undecided,
        margins=setting.margins.middle / W if W else setting.margins.middle,
        curves=numeric.rho_curves(setting) if question.curves and setting.layers is not None else {},
    )


def _rows(setting: Setting, question: Question) -> tuple[list[tuple[Bound, BoundRow]], list[str]]:
    """The claims on this network, and the notes on those that a user registered."""
    low, asked = tenth(setting), None if question.rho is None else Fraction(question.rho)
    rows, remarks = [], []
    for bound in of_network(setting):
        said = value(bound, setting)
        made = saying(bound, said, setting)
        rows.append((bound, at_margins(made, setting, low, asked) if bound.group in ("paper", "corrected") else made))
        remarks += [others.remark(bound)] * (not catalogue.is_built_in(bound)) + (
            [f"{said.note}."] if said.note else []
        )
    return rows, remarks


def trained_for(model: Formula) -> str | None:
    """The certificate that the file was trained for, if any."""
    history = model.meta.get("history")
    last = history[-1] if isinstance(history, list) and history else None
    stands = last.get("certificate") if isinstance(last, Mapping) else None
    id = stands.get("id") if isinstance(stands, Mapping) else None
    return id if isinstance(id, str) else None


def _retired(model: Formula) -> list[str]:
    """A note if the file was trained for a certificate that this version does not have."""
    id = trained_for(model)
    if id is None or id in catalogue.ids(catalogue.select()):
        return []
    return [f"trained for {id[:40]}, which is retired: --objective certificate trains hidden units with a bound."]


def status(report: BoundReport) -> int:
    """0: nothing that applies is violated and the network is in its declared family; 1: otherwise."""
    return int(report.verdict == "violated")


# What the statements read


def stored_sample(model: Formula) -> GivenPoints:
    sample = model.sample
    if sample is None or sample.Psi is None or sample.y is None:
        raise ValueError("the model file holds no training points: give them as X and y, or --data FILE.")
    mapped, names = model.features is not None, model.shown_classes
    return GivenPoints(sample.Psi.numpy(), sample.y.numpy(), mapped=mapped, names=names)


def _source(model: Formula, question: Question, sample: GivenPoints, test: GivenPoints | None, r_inf: float) -> Source:
    """What is known about the points."""
    features = model.features
    has_map = features is not None and math.isfinite(features.r_sup) and sample.mapped
    encoded = isinstance(model, ReadNetwork) and model.encoded
    return Source(
        fitted_on_sample=encoded or (features is not None and features.fitted_on_sample),
        encoded=encoded or (features is not None and any("=" in name for name in features.columns or ())),
        has_map=has_map,
        clipped=has_map and features is not None and features.clip,
        r_seen=max(r_inf, largest(test.Psi) if test is not None else 0.0),
        repeats=repeated(sample.compared, sample.y),
        discrete=question.discrete,
        held_out=None if test is None else rows_held_out(sample, test, question.discrete),
        learned=_learned(model, sample),
        chain=model.is_converted,
        rounds_added=bool(model.meta.get("rounds_added")),
    )


def _learned(model: Formula, sample: GivenPoints) -> Learned | None:
    """Whether the points that the map was learned on are rows of the sample; training took them out of its own."""
    record = model.meta.get("features_learned_on")
    if not isinstance(record, Mapping) or type(record.get("m")) is not int:
        return None
    rows = record.get("rows")
    if rows is not None:
        hashes = str(getattr(rows, "dtype", None)) == "torch.int64" and rows.ndim == 1
        check(hashes, "meta features_learned_on rows must be an int64 vector of hashes in the model file.")
        return Learned(record["m"], among(sample.Psi, sample.y, rows.numpy()))
    own = model.sample is not None and model.sample.matches(sample.Psi, sample.y, model.graph.classes)
    return Learned(record["m"], 0 if own else None)


def tried(model: Formula | BlackBox, question: Question) -> int:
    """How many settings were tried on the sample: what is asked, else what the file says."""
    if question.tried is not None:
        return question.tried
    said = 1 if isinstance(model, BlackBox) else model.extra.get("tried", 1)
    check(isinstance(said, int) and said >= 1, f"tried must be an integer >= 1, got tried={said!r} in the model file.")
    return int(said)


def make_setting(
    model: Formula,
    question: Question,
    sample: GivenPoints | None = None,
    test: GivenPoints | None = None,
    progress: Progress | None = None,
) -> Setting:
    """Everything exact or rounded outward, on the model's own sample where no other is given.

    The family is the declared one, else the measured one.
    """
    sample, r_sup = sample or stored_sample(model), question.r_sup
    graph = model.graph
    spec, w = _family(model)
    check(spec.depth <= MAX_DEPTH, f"the depth must be at most {MAX_DEPTH}, got l={spec.depth}.")
    if r_sup is None and model.features is not None and math.isfinite(model.features.r_sup):
        r_sup = model.features.r_sup
    if r_sup is not None:
        r_sup = _beside_constant(r_sup, model, [sample.Psi] if test is None else [sample.Psi, test.Psi])
    stage(f"margins of {len(sample.y):,} points")
    sizes = evidence.feature_sizes(sample.Psi, spec.q, biased=graph.has_bias)
    source = _source(model, question, sample, test, sizes.r_inf)
    own = _arithmetic(model, sample)
    enclosed = margins(graph, sample.Psi, sample.y, Purse(EXACT_SHARE * question.budget))
    # a model file's program is its network in float64, which decides by the sign of what was just computed
    is_wrong: Any = enclosed.middle <= 0 if sample.predicted is None else sample.is_wrong
    run = picking(model, sample, replay=question.replay, progress=progress)
    return Setting(
        graph=graph,
        layers=model.layers,
        spec=spec,
        is_declared=model.declared is not None,
        margins=enclosed.beside(is_wrong),
        sizes=sizes,
        w=w,
        ranges=_ranges(model.layers, spec, sizes.r_inf if r_sup is None else r_sup),
        delta=Fraction(question.delta) / tried(model, question),
        r_sup=r_sup,
        source=source,
        errors=int(is_wrong.sum()),
        class_errors=by_class.class_errors(is_wrong, sample.y, sample.names),
        base_rate=by_class.base_rate(sample.y),
        disagreements=int(np.count_nonzero(is_wrong & (enclosed.lower > 0))),
        arithmetic=own,
        shift=own.shift(r_sup) if r_sup is not None and source.r_seen <= r_sup else None,
        picking=run,
        counted=picks.counted(run),
        compared=question.compared,
        shared=question.shared,
        draws=question.draws,
        seed=question.seed,
    )


def _arithmetic(model: Formula, sample: GivenPoints) -> Arithmetic:
    """That of the program; of a model file its network in float64."""
    import torch

    return sample.arithmetic if sample.predicted is not None else arithmetic.of_steps(model.graph, torch.float64)


def _beside_constant(r_sup: Number, model: Formula, seen: Sequence[Array]) -> Number:
    """r_sup, or 1 if it is less, a bound on x that no point seen exceeds: the feature that carries the biases is 1."""
    in_Psi = model.features is not None and model.features.bias
    if r_sup >= 1 or not (in_Psi or model.graph.has_bias):
        return r_sup
    x = [Psi[:, :-1] if in_Psi else Psi for Psi in seen]
    return 1 if max(map(largest, x)) <= r_sup else r_sup


def _family(model: Formula) -> tuple[NetworkSpec, list[Fraction]]:
    """The declared family or the measured one, and ||w_1||_1, ..

    Without layers one activation of each level stands in it, which nothing reads, and f is the sum of its outputs.
    """
    if model.layers is not None:
        spec = model.declared if model.declared is not None else evidence.measured_family(model.layers)
        return spec, evidence.w_norms(model.layers, spec.depth)
    spec = NetworkSpec(model.graph.n, {}, 1.0, [level[0] for level in model.graph.levels])
    return spec, [*[Fraction(0)] * (spec.depth - 1), Fraction(model.graph.outputs)]


def _ranges(own: Network | None, spec: NetworkSpec, r: Number) -> Ranges | None:
    """None beyond the largest float, and for a network without layers."""
    try:
        return None if own is None else layers.ranges(spec, r)
    except OverflowError:
        return None


# The facts


def _model_facts(model: Formula, setting: Setting) -> ModelFacts:
    own, depth = setting.layers, len(setting.n) - 1
    facts = ModelFacts(
        sha256=model.sha256 or "",
        depth=depth,
        n=setting.n,
        activation=tuple(phi.name for phi in setting.graph.phi),
        w_norms={k: up(norm) for k, norm in enumerate(setting.w[:depth], start=1)},
        W=up(setting.W),
        path_norm=setting.B,
        graph=len(setting.graph.nodes),
        own_n=setting.graph.own_n,
    )
    if own is None:
        return facts
    return replace(
        facts,
        activation=own.activations,
        measured=evidence.largest_norms(own, setting.spec.p if setting.is_declared else 1.0),
        layered=setting.spec.is_layered,
        graph=None,
        own_n=evidence.own_n(own, setting.sizes.has_constant),
    )


def _sample_facts(setting: Setting, at: AtRho) -> SampleFacts:
    return SampleFacts(
        m=setting.m,
        r_inf=setting.sizes.r_inf,
        r_rms=setting.sizes.r_rms,
        margin_error=float(at.margin_error),
        ramp=at.ramp,
        train_error=setting.errors / setting.m,
    )
