"""A network that was trained by picking: its picks counted again, and its recipe run again."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from adanet_theory import catalogue
from adanet_theory.checks import Progress
from adanet_train.core.bar import stage
from verify.reading.points import GivenPoints
from verify.rows.setting import Counted, PickingFacts, RowValue

if TYPE_CHECKING:
    from adanet_train.model.model_file import ModelFile

PICK = "pick-certificate"


def picking(model: Any, sample: GivenPoints, *, replay: bool, progress: Progress | None = None) -> PickingFacts | None:
    """What is known about the run that the file records; None if it records none, or the sample is another one.

    Raises
    ------
    ValueError
        If the record is damaged.
    """
    recorded = getattr(model, "picked", None)
    if recorded is None:
        return None
    if replay:
        stage("training again, to compare")
    if isinstance(recorded, Mapping):
        from adanet_train.picking.files import check_file

        own = _is_own(model, sample)
        checked = check_file(model, sample.Psi, sample.y, replay=replay, progress=progress) if own else None
    else:
        checked = recorded.check(sample.y, replay=replay, progress=progress)
    if checked is None:
        return None
    run = checked.picked
    return PickingFacts(
        picked=len(run.picks),
        left=len(run.left),
        start=len(run.start),
        N=run.N,
        status=checked.status,
        detail=checked.detail,
        on_start=isinstance(recorded, Mapping) and _spans(sample.Psi[run.start]),
        runs=len(run.plan.ends),
        is_start=run.is_start,
    )


def _is_own(model: ModelFile, sample: GivenPoints) -> bool:
    return model.sample is not None and model.sample.matches(sample.Psi, sample.y, model.network.outputs)


def _spans(Psi: Any) -> bool:
    """Every feature goes from 0 to 1 or is constant, as after a map that was fitted on these rows."""
    low, high = Psi.min(axis=0), Psi.max(axis=0)
    return bool((((low == 0) & (high == 1)) | (low == high)).all())


def counted(run: PickingFacts | None) -> tuple[Counted, ...]:
    """The certificate of the run; a file that records picks asks for it."""
    return () if run is None else (Counted(catalogue.bound(PICK), partial(_value, run)),)


def _value(run: PickingFacts, delta: Fraction) -> RowValue:
    """At δ, with a list of G values of K at δ/G; rounded up. It is about the program, whose own errors were counted."""
    names = ("k", "N", "picked", "left", "start", *(("runs",) if run.runs > 1 else ()))
    terms: dict[str, float | None] = {name: getattr(run, name) for name in names}
    if run.is_start:  # fixed before the N rows: they are held-out points, and the bound is not that of k and N
        terms |= {"errors": run.left, "points": run.N}
    return RowValue(run.upper(delta), terms, about="program")
