"""row(bound, setting) -> BoundRow, for every statement of the catalogue, at the setting's δ.

`prepared` finds what all of them read: what holds, the margin ρ, R_S of the family, and the certificates but for δ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.checks import Progress
from adanet_train.core.bar import stage
from verify.measure import layers
from verify.measure.layers import Sampling
from verify.records.question import Question
from verify.records.results import BoundRow
from verify.rows import bounds, numeric, others, picks, votes
from verify.rows.assumptions import assess, at_rho
from verify.rows.setting import AtRho, Predictions, RowValue, Setting

P = TypeVar("P", bound=Predictions)
EXACT_SHARE = 0.5  # of the budget, at most, for margins in ball arithmetic


def row(bound: Bound, setting: Predictions) -> BoundRow:
    """The row of a statement; it says whether it is about the formula or about the program."""
    return saying(bound, value(bound, setting), setting)


def saying(bound: Bound, said: RowValue, setting: Predictions) -> BoundRow:
    """The row of a statement that says this: the one place where a row is made."""
    why_not = setting.verdict.why_not(bound) if said.why_not is None else said.why_not
    # in less than float64 a statement on the formula alone says nothing of the program
    loose = said.about == "formula" and said.terms and bound.is_claim and not setting.is_double
    why_not = (*why_not, *("arithmetic",) * bool(loose and "arithmetic" not in why_not))
    applies = bound.is_claim and not why_not
    return BoundRow(
        id=bound.id,
        raw=said.raw,
        value=(1.0 if said.raw is None else min(1.0, said.raw)) if applies else None,
        terms=said.terms,
        applies=applies,
        why_not=why_not,
        vacuous=said.vacuous,
        rho=said.rho,
        j=said.j,
        m_needed=said.m_needed,
        group=bound.group,
        about=said.about,
        delta=float(paid(bound, setting)),
    )


def paid(bound: Bound, setting: Predictions) -> Fraction:
    """What is left of δ: a statement on one network is paid for by each that was compared, one on all networks at
    once where these are not of one activation, map and family.

    What was tried on the sample costs nothing on held-out points, which are tested at their own δ.
    """
    counted = setting.counts(bound)
    if counted is not None and counted.delta is not None:
        return counted.delta
    return setting.delta / (setting.compared if bound.is_paid_by_each else setting.shared)


# What a statement says


def value(bound: Bound, setting: Predictions) -> RowValue:
    """By what the statement reads: predictions alone, the certificates, the margins, or what its owner wants."""
    delta, counted = paid(bound, setting), setting.counts(bound)
    if counted is not None:
        return counted.at(delta)
    assert isinstance(setting, Setting)
    return _evaluator(bound)(bound, setting if delta == setting.delta else replace(setting, delta=delta))


def _evaluator(bound: Bound) -> Callable[[Bound, Setting], RowValue]:
    if not catalogue.is_built_in(bound):
        return others.registered
    if bound.id == "a-posteriori-data":
        return bounds.from_data
    return {"certificate": votes.certificate, "context": others.context}.get(bound.group, _at_margin)


def _at_margin(bound: Bound, setting: Setting) -> RowValue:
    """A statement of the theory at its own margin, or at the report's."""
    if bound.scale == "rho":
        said = bounds.fixed_rho(bound, setting, setting.tied)
    else:
        said = bounds.for_all_rho(bound, setting)
    return replace(said, m_needed=numeric.m_needed(bound, said, setting)) if setting.at is not None else said


def of_network(setting: Setting) -> list[Bound]:
    """The claims that a report on this network has a row for, in the order of its table."""
    counted = {one.bound.id for one in setting.counted}
    theory = [bound for bound in catalogue.theory(setting.classes) if bound.id not in counted]
    certified = [bound for bound in catalogue.of_group("certificate") if bound.classes == setting.classes]
    picked = [catalogue.bound(picks.PICK)] * (picks.PICK in counted)
    own = [bound for bound in catalogue.registered() if bound.classes == setting.classes]
    quoted = [bound for bound in certified if bound.quoted]
    return [*theory, *quoted, *picked, *(bound for bound in certified if not bound.quoted), *own]


# What they read


def prepared(
    setting: Setting, question: Question, rho: Fraction | None, *, alone: bool, progress: Progress | None = None
) -> Setting:
    """With all that the rows read; ρ is chosen by the statements that need none, unless it is given.

    R_S is estimated at the δ of a citation, so that one estimate serves the rows and it: δ where the statement to be
    quoted stands `alone`, else δ/K.
    """
    setting = replace(setting, verdict=assess(setting, rho))
    rho = _chosen(setting) if rho is None else rho
    asked = None if question.rho is None else Fraction(question.rho)
    # margins first: what they cost in exact arithmetic is taken from the budget of the search
    at, *_ = [AtRho.of(setting, each) for each in (rho, bounds.tenth(setting), asked) if each is not None]
    setting = replace(setting, at=at)
    share = setting.delta if alone else setting.delta / setting.verdict.quotable
    sampling = _sampling(setting, question, share, progress)
    stage("estimating R_S")
    known = layers.complexities(setting.spec, setting.Psi, setting.sizes, sampling) if setting.layers else setting.known
    stage("certificates and bounds")
    setting = replace(setting, known=known, certified=votes.certificates(setting))
    return at_delta(setting, setting.delta)


def at_delta(setting: P, delta: Fraction) -> P:
    """The same setting at another δ."""
    there = replace(setting, delta=delta)
    if not isinstance(there, Setting):
        return there
    return replace(there, verdict=at_rho(there.verdict, delta, bounds.follows_from_margin_bound(there)))


def _chosen(setting: Setting) -> Fraction:
    """ρ on the scale of f/W at which the best of the free bounds stands, one that applies before one that does not."""
    free = [row(bound, setting) for bound in catalogue.theory(setting.classes) if bound.scale in ("W_M", "B")]
    usable = [each for each in free if each.raw is not None and each.rho]
    if not usable or setting.W == 0:
        return Fraction(1)
    best = min(usable, key=lambda each: (not each.applies, each.raw))
    return Fraction(float(Fraction(best.rho or 1.0) / setting.W) or 2.0**-1074)


def _sampling(setting: Setting, question: Question, delta: Fraction, progress: Progress | None) -> Sampling | None:
    """The search may spend what exact margins have left of the budget."""
    if question.draws is None:
        return None
    left = question.budget * (1 - EXACT_SHARE) + setting.margins.purse.left
    return Sampling(float(delta), question.draws, question.seed, question.device, progress, left)
