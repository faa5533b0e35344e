"""One hint where nothing says much: the cause, what to do about it, and the number that would bring."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from adanet_theory.certificates.binomial import clopper_pearson
from verify.results import BoundRow, TestFacts
from verify.rows.assumptions import Assessment, Setting
from verify.rows.certificates import Found

HOLDOUT = Fraction(1, 10)
REMEDIES = {
    "iid": "take the copies out, or say --discrete if the law has atoms",
    "untouched": "take the copies out, or say --discrete if the law has atoms",
    "feature-map": "give the range of the features if it is known beforehand (feature_range=), "
    "or learn the map on other points (adanet-train --features learned:F)",
    "r-sup": "give a bound on |Psi| that is known beforehand (--r-sup R)",
}
"""By assumption: what its failure asks for."""

Hint = tuple[float, str]
"""The bound that would result, and the line."""


def hint(
    setting: Setting,
    rows: Sequence[BoundRow],
    verdict: Assessment,
    certified: Mapping[str, Found],
    *,
    test: TestFacts | None,
) -> str:
    """The hint that helps most."""
    base_rate = setting.base_rate
    if setting.errors / setting.m >= base_rate > 0:
        error = f"the network errs on {setting.errors / setting.m:.3g} of the sample"
        return f"{error}, a constant prediction on {base_rate:.3g}: a bound cannot mend that, better training can"
    blocked = [found for row in rows if (found := _unblocked(row, verdict)) is not None and found[0] < base_rate]
    others = _more_points(test) if test is not None else [*_held_out(setting), *_trained_for_it(setting)]
    line = min(blocked or others, default=(math.inf, "more points"))[1]
    return line if blocked or test is not None else f"{_too_large(setting, certified)}: {line}"


def _unblocked(row: BoundRow, verdict: Assessment) -> Hint | None:
    """What a row would say if nothing but remediable assumptions stopped it; 0 where its value is not known."""
    if row.applies or row.context or not row.why_not or not set(row.why_not) <= set(REMEDIES):
        return None
    details = {assumption.id: assumption.detail for assumption in verdict.rows}
    causes = "; ".join(f"{details[id]}: {REMEDIES[id]}" for id in row.why_not)
    then = "" if row.raw is None else f"; {row.id} would then be {row.raw:.3g}"
    return row.raw or 0.0, f"{causes}{then}"


def _too_large(setting: Setting, certified: Mapping[str, Found]) -> str:
    """Why the certificates say little: the size of the network beside that of the sample."""
    KL = [entry.parts.KL for entry in certified.values() if entry.parts.id != "gauss-certificate"]
    if KL:
        return f"too many units or features for m = {setting.m:,} (KL = {min(KL):.3g})"
    return f"too many units for a certificate after the fact ({sum(setting.weights.n[1:]):,}, before any is copied)"


def _held_out(setting: Setting) -> list[Hint]:
    """What points kept aside would bring, and what it costs to quote the better of two reports."""
    points = int(HOLDOUT * setting.m)
    if points < 1:
        return []
    errors = min(round(points * setting.errors / setting.m), points)
    upper = clopper_pearson(errors, points, setting.float_delta)
    kept = f"adanet-train --holdout {float(HOLDOUT):g} keeps {points:,} points, or give some as --test-data"
    cost = "whoever quotes the better of this report and that one needs delta/2 for both"
    return [(upper, f"{kept}: at the training error they would bound the risk by {upper:.3g} ({cost})")]


def _more_points(test: TestFacts) -> list[Hint]:
    """What four times as many held-out points would bring at the same error."""
    n, errors = 4 * test.n, 4 * round(test.error * test.n)
    upper = clopper_pearson(errors, n, 0.05)
    return [(upper, f"too few held-out points: {n:,} with the same error would bound the risk by {upper:.3g}")]


FEW, FEW_VOTES = 5, 10_240
"""A network that is trained for its certificate ends with a few features; N as the grid has it."""


def _trained_for_it(setting: Setting) -> list[Hint]:
    """What a network of few features would be certified at if it had this training error, at best."""
    from adanet_theory.certificates.derandomise import certificate
    from adanet_theory.certificates.grids import BETAS, vote_grid
    from adanet_theory.certificates.vote import vote_kl_polya

    n_0 = setting.weights.n[0]
    if setting.classes == "many" or n_0 < FEW:
        return []
    KL = min(vote_kl_polya([1 / FEW] * FEW, FEW_VOTES, n=2 * n_0, beta=beta) for beta in BETAS)
    error, grid, delta = setting.errors / setting.m, vote_grid(FEW_VOTES), setting.float_delta
    raw = certificate("vote-certificate", error, KL=KL, grid=grid, b=1.0, m=setting.m, delta=delta).raw
    few = f"{FEW} features of equal weight have KL = {KL:.3g}, with this training error that is {raw:.3g} at best"
    return [(raw, f"adanet-train --objective vote trains for a small certificate: {few}")]
