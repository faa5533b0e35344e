"""A trained network's values as the initial setting of the explorer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import Array, check
from adanet_theory.spec import NetworkSpec
from figures.explorer.content import MAX_DEPTHS
from verify.records.results import BoundReport
from verify.rows.setting import Setting

EXACT_MARGINS = 2000
"""Up to this many margins are kept one by one; more are put into blocks of equal size."""


def opening(model: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    """(state, margins, a line of words) from a model file and the sample in it."""
    from verify.reading.case import read_file
    from verify.reading.formula import BlackBox
    from verify.records.question import Question
    from verify.rows.report import make_setting, of_setting
    from verify.show import wording

    given, question = read_file(str(model)), Question(draws=None)
    assert not isinstance(given.model, BlackBox)  # which no model file is
    setting = make_setting(given.model, question, given.sample)
    report = of_setting(given.model, setting, question)
    depth = setting.spec.depth
    check(depth <= MAX_DEPTHS, f"{model}: the explorer offers l <= {MAX_DEPTHS}, got l={depth}.")
    W = float(setting.W) or 1.0
    words = (
        f"{wording.network(report)}. Family: {wording.family(report)}. Sample: m = {setting.m:,}, its margins inside."
    )
    return state(setting, report, W), blocks(setting.margins.lower / W), words


def state(setting: Setting, report: BoundReport, W: float) -> dict[str, Any]:
    """Depth, widths, Λ and p of the family, the network's own path norm and hidden layers, ρ, and the assumptions."""
    spec, hidden = setting.spec, len(setting.n) - 2
    return {
        "m": setting.m,
        "rho": _margin(setting, report, W),
        "delta": report.delta,
        "p": spec.p,
        "n": list(spec.n),
        "Lambda": _rows(spec),
        "w": [float(w) for w in setting.w],
        "phi": [phi.name for phi in spec.activations],
        "r_inf": setting.sizes.r_inf,
        "r_sup": float(setting.r_sup) if setting.r_sup is not None and setting.r_sup >= setting.sizes.r_inf else None,
        "r_rms": min(setting.sizes.r_rms, setting.sizes.r_inf),
        "margin_error": None,
        "ramp": None,
        "B": None if report.model.path_norm is None else report.model.path_norm / W,
        "d": hidden,
        "C": setting.graph.classes or 2,
        "unmet": _unmet(setting, report),
    }


def _margin(setting: Setting, report: BoundReport, W: float) -> float:
    """The report's ρ. If no bound is below 1, that may be far from every margin, so the median margin is used."""
    middle = float(np.median(setting.margins.middle / W))
    says_something = any(row.applies and not row.vacuous for row in report.bounds)
    return report.rho if says_something or not report.rho_chosen or middle <= 0 else float(f"{middle:.3g}")


def _rows(spec: NetworkSpec) -> list[list[float]]:
    below = [[spec.bound(k, s) for s in range(1, k)] for k in range(2, spec.depth + 1)]
    return [[spec.bound(1, 0)], *below]


def _unmet(setting: Setting, report: BoundReport) -> list[str]:
    broken = {row.id for row in report.assumptions if row.status in ("open", "fails")}
    unmet = {
        "iid": "iid" in broken,
        "family": not setting.is_declared,
        "rho": report.rho_chosen,
        "feature-map": "feature-map" in broken,
        "r-sup": "r-sup" in broken,
        "membership": "membership" in broken and setting.is_declared,
    }
    return [id for id, missed in unmet.items() if missed]


def blocks(margins: Array, most: int = EXACT_MARGINS) -> dict[str, Any]:
    """The sorted margins with their counts; many margins are put into blocks that count as their least.

    So the margin error and the ramp of the blocks are never below those of the margins.

    >>> blocks(np.array([3.0, 1.0, 2.0, 4.0, 5.0]), most=2)
    {'u': [1.0, 4.0], 'count': [3, 2]}
    """
    parts = np.array_split(np.sort(margins), min(most, len(margins)))
    return {"u": [float(part[0]) for part in parts], "count": [len(part) for part in parts]}
