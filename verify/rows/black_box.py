"""The report on a predictor that cannot be read: its errors are counted, and held-out points bound its risk.

Only its predictions are known, so no statement on weights, margins or families covers it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from adanet_theory import catalogue
from adanet_theory.checks import Progress
from adanet_train.core import by_class
from verify.measure.repeats import repeated
from verify.reading.formula import BlackBox
from verify.reading.points import GivenPoints
from verify.reading.program import errors
from verify.records.question import Question
from verify.records.results import BoundReport, ModelFacts, SampleFacts
from verify.rows import checks
from verify.rows.assumptions import chain, iid, of_picking, rows_held_out, unknown_map, untouched
from verify.rows.citation import cite, fixed_by_input, held_out_hint, unused_rho
from verify.rows.picks import PICK, asked_for, picked_value, picking
from verify.rows.row import held_out, made
from verify.rows.setting import Assessment, PickingFacts


def build(
    box: BlackBox,
    question: Question,
    *,
    sample: GivenPoints | None,
    test: GivenPoints | None,
    notes: Sequence[str],
    progress: Progress | None = None,
) -> BoundReport:
    """The report on the predictions at the points of the sample, at held-out ones, or at both."""
    points = sample or test
    if points is None:
        raise ValueError(f"X and y are required for a {box.kind}, which holds no sample.")
    run = None if sample is None else picking(box, sample, replay=question.replay, progress=progress)
    verdict = _verdict(box, question, sample, test, run)
    delta = Fraction(question.delta) / question.compared
    tested = None if test is None else checks.held_out(np.asarray(test.predicted), test, delta)
    bound = catalogue.bound("held-out")
    rows = [] if tested is None else [made(bound, held_out(tested), verdict.why_not(bound), delta)]
    if run is not None:
        bound, own = catalogue.bound(PICK), delta / (question.tried or 1)
        rows.append(made(bound, picked_value(run, own), verdict.why_not(bound), own))
        question = asked_for(question, run)
    fixed = fixed_by_input(question, has_test=test is not None)
    quoted = cite(rows, verdict, fixed=fixed or "held-out", delta=delta, compared=question.compared)
    base_rate = by_class.base_rate(points.y)
    helped = tested is not None or (quoted is not None and quoted.value < base_rate)
    return BoundReport(
        subject="black box",
        model=ModelFacts("", 0, (), (box.kind,), {}, math.nan, {}, None, False),
        declared=None,
        sample=_facts(sample),
        rho=math.nan,
        delta=float(question.delta),
        rho_chosen=False,
        assumptions=verdict.rows,
        complexities=(),
        bounds=tuple(rows),
        checks=(),
        test=tested,
        verdict="holds",
        cite=quoted,
        tried=question.tried or 1,
        compared=question.compared,
        quotes=fixed,
        classes=box.outputs or 2,
        base_rate=base_rate,
        class_errors={} if sample is None else _by_class(sample),
        notes=(*notes, *unused_rho(question, fixed)),
        advice=() if helped else _advice(points, delta),
    )


def _facts(sample: GivenPoints | None) -> SampleFacts:
    m = 0 if sample is None else len(sample.y)
    error = math.nan if sample is None else _errors(sample) / m
    return SampleFacts(m, math.nan, math.nan, math.nan, math.nan, error)


def _verdict(
    box: BlackBox,
    question: Question,
    sample: GivenPoints | None,
    test: GivenPoints | None,
    run: PickingFacts | None,
) -> Assessment:
    repeats, m = (0, 0) if sample is None else (repeated(sample.compared, sample.y), len(sample.y))
    rows = [iid(repeats, m, question.discrete)]
    if test is not None:
        rows.append(untouched(rows_held_out(sample, test, question.discrete), question.discrete))
    if run is not None:
        rows += [unknown_map(), *of_picking(run)]
    rows += [chain(None)] * box.is_converted
    return Assessment(tuple(rows), is_declared=False, classes="two" if box.outputs is None else "many")


def _errors(points: GivenPoints) -> int:
    assert points.predicted is not None
    return errors(points.predicted, points.y)


def _by_class(points: GivenPoints) -> dict[str, float]:
    return by_class.class_errors(np.asarray(points.predicted != points.y), points.y, points.names)


def _advice(sample: GivenPoints, delta: Fraction) -> tuple[str, ...]:
    """What would bound the risk of a predictor that cannot be read."""
    return (held_out_hint(len(sample.y), by_class.base_rate(sample.y), float(delta)),)
