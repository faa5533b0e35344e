"""A BoundReport as text, JSON, TeX and HTML. Nothing is computed here: numbers are only rounded to the safe side."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verify.network.results import AtMargin, BoundReport, BoundRow
from verify.show import wording
from verify.show.wording import NOTHING, near, up

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA = "verify-bounds/1"


# JSON


def to_json(report: BoundReport) -> str:
    """The document of schema verify-bounds/1: no NaN or Infinity, null for what does not exist, p = inf as "inf"."""
    model, declared, test, cite = report.model, report.declared, report.test, report.cite
    document = {
        "schema": SCHEMA,
        "model": {
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
        "test": None if test is None else {"error": test.error, "n": test.n, "upper": test.upper},
        "cite": None
        if cite is None
        else {key: getattr(cite, key) for key in ("id", "value", "delta", "among", "assumes")},
        "tried": report.tried,
        "notes": list(report.notes),
        "verdict": report.verdict,
    }
    return json.dumps(_plain(document), indent=1, allow_nan=False)


_SAMPLE = ("m", "r_inf", "r_rms", "margin_error", "ramp", "train_error")
_COMPLEXITY = ("k", "lower", "upper", "stderr", "draws", "method", "confidence")
_CHECK = ("claim", "k", "lhs", "rhs", "exact", "applies", "verdict")


def _bound(row: BoundRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "group": row.group,
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


def _at_margin(found: AtMargin | None) -> dict[str, Any] | None:
    """The margin is that of f/W."""
    return None if found is None else {"rho": found.rho, "raw": found.raw, "j": found.j}


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


# Text


def text(report: BoundReport, *, verbose: bool, console: Console) -> None:
    """Print the report on the console: one screen, or with verbose every assumption, term and check."""
    from verify.show import screen

    screen.show(report, verbose=verbose, console=console)


# TeX


def to_tex(report: BoundReport) -> str:
    """A booktabs table of the bounds: value, terms in total, margin, and why one does not apply."""
    rows = [_tex_row(row, report.model.W) for _, rows in wording.grouped(report) for row in rows]
    if report.test is not None:
        rows.append(["held-out", up(report.test.upper), up(report.test.upper), NOTHING, "Clopper--Pearson"])
    head = ["statement", "bound", "raw", r"$\rho$ of $f/W$", "remark"]
    body = [" & ".join(entry if i == 0 else _tex_number(entry) for i, entry in enumerate(row)) for row in rows]
    return "\n".join(
        [
            f"% {SCHEMA}, model sha256 {report.model.sha256}",
            f"% {_tex_comment(wording.sentence(report))}",
            r"\begin{tabular}{@{}lrrrl@{}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *(line + r" \\" for line in body),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _tex_row(row: BoundRow, W: float) -> list[str]:
    key = wording.group(row)
    if key == "not":
        return [_tex_escape(row.id), NOTHING, NOTHING, NOTHING, _tex_escape(wording.remark(row))]
    remark = {"cite": "", "vacuous": "vacuous", "context": "context"}[key]
    value = NOTHING if key == "context" else up(row.value)
    return [_tex_escape(row.id), value, up(row.raw), near(wording.scales(row, W)[0]), remark]


def _tex_number(entry: str) -> str:
    if entry == NOTHING:
        return "--"
    mantissa, e, power = entry.partition("e")
    plain = e and power.lstrip("-").isdigit() and mantissa.replace(".", "").isdigit()
    return rf"${mantissa} \cdot 10^{{{power}}}$" if plain else entry


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _tex_escape(content: str) -> str:
    return "".join(_TEX.get(c, "\\" + c if c in "&%$#_{}" else c) for c in content)


def _tex_comment(content: str) -> str:
    return " ".join(content.split())


# HTML


def to_html(report: BoundReport) -> str:
    """One page that needs nothing else, with the same content and four pictures."""
    from verify.show import page

    return page.document(report)
