"""a-posteriori-data: the after-the-fact bound with the complexity of the sample's own features, as a row.

E Z_1 is drawn with a tenth of δ, an upper value that is false with at most that probability; without draws it is
r_rms sqrt(2 m log(2 n_0)), and the whole of δ is left. A row that is shown beside a-posteriori and quoted only by name,
so that it makes no other statement dearer.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.checks import Array
from adanet_theory.risk.margin import MarginBound, best_margin
from adanet_theory.risk.posterior import a_posteriori_data_at
from adanet_theory.rounding import up
from adanet_theory.spec import NetworkSpec
from verify.measure.layers import FACTORS, lemma
from verify.question import Question
from verify.results import BoundRow
from verify.rows import bounds
from verify.rows.assumptions import Assessment, Setting
from verify.rows.numeric import LARGEST_M, quantities

SAMPLED = Fraction(1, 10)
"""The share of δ that the draws take."""
DRAWS = 256


def data_row(setting: Setting, B: float | None, verdict: Assessment, question: Question) -> BoundRow:
    """The row at the setting's δ."""
    bound = catalogue.bound("a-posteriori-data")
    why_not = verdict.why_not(bound)
    if B is None:
        return bounds.row(bound, {}, None, why_not, None)
    if B == 0 or setting.W == 0:
        return bounds.trivial(bound, why_not, None)
    drawn = question.draws is not None
    delta = setting.delta * (1 - SAMPLED) if drawn else setting.delta
    E_Z = _drawn(setting, question.seed) if drawn else _closed(setting)
    if E_Z is None:
        return bounds.row(bound, {}, None, why_not, None)
    try:
        best, m_needed = _best(setting, B, E_Z, float(delta))
    except OverflowError:
        return bounds.row(bound, {}, None, why_not, None)
    if best.j is None:
        return bounds.trivial(bound, why_not, None)
    rho = up(Fraction(B) / (1 + bounds.EXACT_ETA) ** best.j)
    values = {"m": setting.m, "delta": delta, "eta": bounds.EXACT_ETA, "r_rms": setting.sizes.r_rms, "E_Z": E_Z}
    values |= bounds.at_path_norm(setting, B) | {"j": best.j, "ramp": setting.margins.ramp(rho)}
    terms, raw = _certified(values)
    terms |= {"E_Z": E_Z, "draws": DRAWS} if drawn else {"E_Z": E_Z}
    return bounds.row(bound, terms, raw, why_not, rho, best.j, m_needed if raw is None or raw >= 1 else None)


def _certified(values: dict[str, Any]) -> tuple[bounds.Terms, float | None]:
    """The terms rounded up, and their sum; nothing beyond the largest float."""
    from adanet_theory.twins import certified
    from adanet_theory.twins.certificates import CERTIFICATES

    try:
        rounded = certified.terms_upper(CERTIFICATES["a-posteriori-data"], values)
    except (certified.Undefined, OverflowError):
        return {}, None
    total = rounded.pop("total")
    return dict(rounded), total


def _spec(setting: Setting) -> NetworkSpec:
    """H_1 at p = 1, Λ = 1: its supremum is Z_1/m."""
    return NetworkSpec.layered((setting.weights.n[0], 1), 1.0, p=1.0)


def _features(setting: Setting) -> Array:
    """Ψ as the proof reads it: of a graph with biases a feature that is constantly 1 stands behind x."""
    Psi, graph = setting.margins.Psi, setting.weights.graph
    return Psi if graph is None or not graph.has_bias else np.column_stack([Psi, np.ones(len(Psi))])


def _drawn(setting: Setting, seed: int) -> float | None:
    """An upper value of E Z_1, false with probability at most δ/10 over the signs."""
    from adanet_theory.complexity.estimates import sampled_linear_complexity

    # the interval has two sides, of which either takes half of what it may miss
    confidence = math.nextafter(float(1 - 2 * SAMPLED * setting.delta), 1.0)
    if confidence == 1:
        return None
    rng = np.random.default_rng([seed, 3])
    found = sampled_linear_complexity(
        _features(setting), _spec(setting), draws=DRAWS, rng=rng, confidence=confidence
    ).upper
    return math.nextafter(found * (1 + FACTORS) * setting.m, math.inf) if math.isfinite(found) else None


def _closed(setting: Setting) -> float | None:
    found = lemma("h1-closed", _spec(setting), 1, m=setting.m, r_rms=setting.sizes.r_rms)
    return None if found is None else math.nextafter(found * setting.m, math.inf)


def _best(setting: Setting, B: float, E_Z: float, delta: float) -> tuple[MarginBound, int | None]:
    """The bound at its best j, and about the m at which one of them is 1: all but the ramp falls like 1/sqrt(m)."""
    given = quantities(setting, B=B)
    shared: dict[str, Any] = {"d": given.d, "c": given.c, "E_Z": E_Z, "r_rms": setting.sizes.r_rms, "m": setting.m}
    needed = [math.inf]

    def at(j: int, ramp: float) -> MarginBound:
        found = a_posteriori_data_at(j, ramp, B, delta=delta, **shared)
        if ramp < 1:
            needed.append(setting.m * ((found.total - ramp) / (1 - ramp)) ** 2)
        return found

    best = best_margin("a-posteriori-data", setting.margins.lower, B, at)
    return best, math.floor(min(needed)) + 1 if min(needed) < LARGEST_M else None
