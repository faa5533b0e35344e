"""A BoundReport as the JSON document of schema verify-bounds/1."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from verify.records.results import AtMargin, BoundReport, BoundRow
from verify.show import wording

SCHEMA = "verify-bounds/1"


def to_json(report: BoundReport) -> str:
    """The document of schema verify-bounds/1: no NaN or Infinity, null for what does not exist, p = inf as "inf"."""
    model, declared, test, cite = report.model, report.declared, report.test, report.cite
    document = {
        "schema": SCHEMA,
        "subject": report.subject,
        "model": None
        if report.subject == "black box"
        else {
            "sha256": model.sha256,
            "depth": model.depth,
            "n": list(model.n),
            "activation": _one_or_list(model.activation),
            "w_norms": {str(k): norm for k, norm in model.w_norms.items()},
            "W": model.W,
            "measured": _by_pair(model.measured),
            "path_norm": model.path_norm,
            "layered": model.layered,
            "graph": model.graph,
        },
        "declared": None
        if declared is None
        else {
            "p": _exponent(declared.p),
            "q": _exponent(declared.q),
            "n": list(declared.n),
            "Lambda": _by_pair(declared.Lambda),
        },
        "sample": {key: getattr(report.sample, key) for key in _SAMPLE},
        "undecided": report.undecided,
        "rho": report.rho,
        "delta": report.delta,
        "rho_chosen": report.rho_chosen,
        "assumptions": [
            {key: getattr(row, key) for key in ("id", "status", "holds", "detail")} for row in report.assumptions
        ],
        "complexities": [
            {key: getattr(row, key) for key in _COMPLEXITY} | wording.lemmas(row) for row in report.complexities
        ],
        "bounds": [_bound(row) for row in report.bounds],
        "checks": [{key: getattr(row, key) for key in _CHECK} for row in report.checks],
        "test": None if test is None else {key: getattr(test, key) for key in ("error", "n", "upper", "class_errors")},
        "cite": None if cite is None else {key: getattr(cite, key) for key in _CITE},
        "tried": report.tried,
        "compared": report.compared,
        "classes": report.classes,
        "base_rate": report.base_rate,
        "class_errors": dict(report.class_errors),
        "notes": list(report.notes),
        "advice": list(report.advice),
        "verdict": report.verdict,
    }
    return json.dumps(_plain(document), indent=1, allow_nan=False)


_CITE = ("id", "value", "delta", "among", "compared", "assumes", "about")
_SAMPLE = ("m", "r_inf", "r_rms", "margin_error", "ramp", "train_error")
_COMPLEXITY = ("k", "lower", "upper", "stderr", "draws", "method", "confidence")
_CHECK = ("claim", "k", "lhs", "rhs", "exact", "applies", "verdict")


def _bound(row: BoundRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "group": row.group,
        "about": row.about,
        "delta": row.delta,
        "raw": row.raw,
        "value": row.value,
        "terms": dict(row.terms) | ({} if row.j is None else {"j": row.j}),
        "applies": row.applies,
        "why_not": list(row.why_not),
        "vacuous": row.vacuous,
        "rho": row.rho,
        "m_needed": row.m_needed,
        "norms_needed": row.shrink,
        "at_tenth": _at_margin(row.tenth),
        "at_rho": _at_margin(row.given),
    }


def _at_margin(value: AtMargin | None) -> dict[str, Any] | None:
    """The margin is that of f/W."""
    return None if value is None else {"rho": value.rho, "raw": value.raw, "j": value.j}


def _one_or_list(names: Sequence[str]) -> str | list[str] | None:
    """As in the model file: one name for all hidden layers, or a list; None where there is no hidden layer."""
    if not names:
        return None
    return names[0] if len(set(names)) == 1 else list(names)


def _by_pair(values: Mapping[tuple[int, int], float]) -> dict[str, float]:
    return {wording.pair(ks): value for ks, value in values.items()}


def _exponent(p: float) -> float | str:
    return "inf" if p == math.inf else p


def _plain(value: Any) -> Any:
    """Only what JSON has: numpy scalars as numbers, a number that is not finite as null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
