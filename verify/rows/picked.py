"""pick-certificate of a network that was trained by picking: its picks counted again, and its recipe run again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adanet_theory import catalogue
from verify.question import Points, Question
from verify.results import BoundRow
from verify.rows import bounds
from verify.rows.assumptions import Assessment, Picking, Setting

if TYPE_CHECKING:
    from adanet_train.model.model_file import ModelFile

ID = "pick-certificate"


def picking(model: Any, sample: Points, *, replay: bool) -> Picking | None:
    """What is found of the run that the file records; None where it records none, or the sample is another one.

    Raises
    ------
    ValueError
        If the record is damaged.
    """
    if getattr(model, "picked", None) is None or not _is_own(model, sample):
        return None
    from adanet_train.picking.files import check_file

    found = check_file(model, sample.Psi, sample.y, replay=replay)
    run = found.picked
    return Picking(
        picked=len(run.picks),
        left=len(run.left),
        start=len(run.start),
        N=run.N,
        status=found.status,
        detail=found.detail,
        on_start=_spans(sample.Psi[run.start]),
    )


def _is_own(model: ModelFile, sample: Points) -> bool:
    return model.sample is not None and model.sample.matches(sample.Psi, sample.y, model.network.outputs)


def _spans(Psi: Any) -> bool:
    """Every feature goes from 0 to 1 or is constant, as after a map that was fitted on these rows."""
    low, high = Psi.min(axis=0), Psi.max(axis=0)
    return bool((((low == 0) & (high == 1)) | (low == high)).all())


def asked(question: Question, setting: Setting) -> Question:
    """A file that tells of picks asks for their certificate, unless something else is asked for."""
    named = setting.picking is None or question.asked is not None
    return question if named else replace(question, asked=ID)


def rows(setting: Setting, verdict: Assessment) -> list[BoundRow]:
    """The row of a network that was trained by picking, and of no other."""
    return [] if setting.picking is None else [row(setting.picking, setting.delta, verdict)]


def row(found: Picking, delta: Fraction, verdict: Assessment) -> BoundRow:
    """The row at δ, rounded up. It is about the program, whose own errors were counted."""
    from adanet_theory.twins.counted import pick_upper

    bound = catalogue.bound(ID)
    terms: dict[str, float | None] = {name: getattr(found, name) for name in ("k", "N", "picked", "left", "start")}
    raw = pick_upper(found.k, found.N, delta)
    return replace(bounds.row(bound, terms, raw, verdict.why_not(bound), None), about="program")
