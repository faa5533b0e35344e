"""The user's builders trained by picking: the ensemble with its record, written after every fit and resumable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

from adanet_theory.checks import check
from adanet_train.picking.certify import Certified, sample_digest
from adanet_train.picking.core import Labelled, Picked, Plan, pick
from adanet_train.picking.subnetworks import Ensembles
from adanet_train.picking.train import taken_up
from adanet_train.subnetworks.fitted import Fitted


def train(
    learner: Ensembles,
    points: Labelled,
    plan: Plan,
    delta: float,
    *,
    discrete: bool = False,
    callback: Callable[[Fitted], None] | None = None,
    resume: Fitted | None = None,
) -> Fitted:
    """An ensemble by picking, with its record; `callback` sees what there is after every fit.

    `resume` is an interrupted run of the same plan on the same rows, which ends with the same bits.
    """

    def recorded(run: Picked) -> Fitted:
        return replace(run.predictor, picked=Certified(None, delta, run, points, learner, discrete).record)

    def after(run: Picked) -> None:
        if callback is not None:
            callback(recorded(run))

    before = None if resume is None else _begun(resume, points, plan)
    return recorded(pick(learner, points, plan, callback=after, resume=before).kept(delta))


def _begun(resume: Fitted, points: Labelled, plan: Plan) -> Picked:
    check(resume.picked is not None, "resume needs a run of objective certificate, got one of objective paper.")
    record = dict(resume.picked or {})
    same = dict(record.get("sample") or {}).get("sha256") == sample_digest(points)
    check(same, "resume needs the rows of the run before, got others.")
    begun = taken_up(record, len(points))
    settled = plan.settled(len(points), len(points.classes))
    now = replace(settled, K=begun.plan.K) if begun.plan.dry and settled.dry else settled
    pairs = ((field.name, getattr(begun.plan, field.name), getattr(now, field.name)) for field in fields(Plan))
    changed = [f"{name} (was {was!r}, got {got!r})" for name, was, got in pairs if was != got]
    check(not changed, f"resume needs the plan of the run before; changed: {', '.join(changed)}.")
    return begun
