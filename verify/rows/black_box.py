"""The report on a predictor that cannot be read: its errors are counted, and held-out points bound its risk.

Only its predictions are known, so no statement on weights, margins or families covers it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from adanet_theory.checks import Progress
from adanet_train.core import by_class
from verify.measure.repeats import repeated
from verify.reading.formula import BlackBox
from verify.reading.points import GivenPoints
from verify.records.question import Question
from verify.records.results import BoundReport, ModelFacts, SampleFacts
from verify.rows import checks, picks
from verify.rows.assumptions import (
    chain,
    fitted_map,
    iid,
    new_draws,
    of_picking,
    rows_held_out,
    unknown_map,
    with_counted,
)
from verify.rows.citation import cite, fixed_by_input, held_out_hint, of_held_out, unused_rho
from verify.rows.picks import picking
from verify.rows.row import row
from verify.rows.setting import Assessment, Counted, PickingFacts, Predictions


def build(
    box: BlackBox,
    question: Question,
    *,
    sample: GivenPoints | None,
    test: GivenPoints | None,
    notes: Sequence[str],
    counted: Sequence[Counted] = (),
    progress: Progress | None = None,
) -> BoundReport:
    """The report on the predictions at the points of the sample, at held-out ones, or at both."""
    points = sample or test
    if points is None:
        raise ValueError(f"X and y are required for a {box.kind}, which holds no sample.")
    run = None if sample is None else picking(box, sample, replay=question.replay, progress=progress)
    delta = Fraction(question.delta) / question.compared
    tested = None if test is None else checks.held_out(np.asarray(test.predicted), test, delta)
    counted = (*of_held_out(tested), *picks.counted(run), *counted)
    setting = Predictions(
        delta=Fraction(question.delta) / (question.tried or 1),
        compared=question.compared,
        shared=question.shared,
        counted=counted,
        verdict=_verdict(box, question, sample, test, run, counted),
    )
    rows = [(one.bound, row(one.bound, setting)) for one in counted]
    fixed = fixed_by_input(question, counted, has_test=test is not None)
    quoted = cite(rows, setting, fixed)
    base_rate = by_class.base_rate(points.y)
    helped = tested is not None or (quoted is not None and quoted.value < base_rate)
    m = 0 if sample is None else len(sample.y)
    return BoundReport(
        subject="black box",
        model=ModelFacts(activation=(box.kind,)),
        sample=SampleFacts(m=m, train_error=math.nan if sample is None else int(sample.is_wrong.sum()) / m),
        delta=float(question.delta),
        assumptions=setting.verdict.rows,
        bounds=tuple(each for _, each in rows),
        test=tested,
        cite=quoted,
        tried=question.tried or 1,
        compared=question.compared,
        quotes=fixed,
        classes=box.outputs or 2,
        base_rate=base_rate,
        class_errors={} if sample is None else by_class.class_errors(sample.is_wrong, sample.y, sample.names),
        notes=(*notes, *unused_rho(question, fixed)),
        advice=() if helped else (held_out_hint(len(points.y), base_rate, float(delta)),),
    )


def _verdict(
    box: BlackBox,
    question: Question,
    sample: GivenPoints | None,
    test: GivenPoints | None,
    run: PickingFacts | None,
    counted: Sequence[Counted],
) -> Assessment:
    repeats, m = (0, 0) if sample is None else (repeated(sample.compared, sample.y), len(sample.y))
    rows = [iid(repeats, m, question.discrete)]
    if test is not None:
        rows.append(new_draws("untouched", rows_held_out(sample, test, question.discrete), question.discrete))
    if box.encoded and sample is not None:
        rows.append(fitted_map())
    if run is not None:
        rows += [unknown_map(), *of_picking(run)]
    rows += [chain(None)] * box.is_converted
    return Assessment(with_counted(rows, counted), is_declared=False, classes="two" if box.outputs is None else "many")
