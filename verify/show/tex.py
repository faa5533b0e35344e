"""A BoundReport as a table for a paper."""

from __future__ import annotations

from verify.records.results import BoundReport, BoundRow
from verify.show import wording
from verify.show.json import SCHEMA
from verify.show.wording import NOTHING, near, up


def to_tex(report: BoundReport) -> str:
    """The one-row table for a paper: errors, the bound that may be quoted, and what it is computed from."""
    cite = report.cite
    held_out = "--" if report.test is None else near(report.test.error)
    bound = ("none", "--", "--") if cite is None else (escaped(cite.id), up(cite.value), near(cite.delta))
    trained = near(report.sample.train_error) if report.sample.m else "--"
    cells = (f"{report.sample.m:,}", trained, held_out, *bound, *_counted(report))
    said = escaped(wording.sentence(report))
    return "\n".join(
        [
            f"% {_source(report)}",
            "% package booktabs",
            r"\begin{tabular}{@{}rrrlrrrr@{}}",
            r"\toprule",
            r"$m$ & training error & held-out error & statement & bound & $\delta$ & points & errors or picks \\",
            r"\midrule",
            " & ".join(cells) + r" \\",
            r"\bottomrule",
            rf"\multicolumn{{8}}{{@{{}}p{{\linewidth}}@{{}}}}{{\footnotesize {said}}} \\",
            r"\end{tabular}",
            "",
        ]
    )


_COUNTS = {
    "held-out": ("points", "errors"),
    "pick-certificate": ("N", "k"),
    "occam-certificate": ("points", "errors"),
    "disagreement-certificate": ("n", "disagreements"),
}
"""What a statement that counts is computed from: points, and errors, picks or disagreements on them."""


def _counted(report: BoundReport) -> tuple[str, str]:
    """Of other statements the points are the sample; the long table has their terms."""
    if report.cite is None:
        return "--", "--"
    if report.cite.id not in _COUNTS:
        return f"{report.sample.m:,}", "--"
    row = report.row(report.cite.id)
    own = {} if row is None else row.terms
    points, count = (f"{own[name]:,.0f}" for name in _COUNTS[report.cite.id])
    return points, count + (f" ({own['bits']:,.0f} bits)" if "bits" in own else "")


def to_tex_all(report: BoundReport) -> str:
    """A booktabs table of all bounds that fits a column: value, terms in total, margin, why one does not apply."""
    letters = 24 if report.classes == 2 else 31  # as many as our own names have: more would leave the remarks no room
    rows = [_tex_row(row, report, letters) for _, rows in wording.grouped(report) for row in rows]
    head = ["statement", "bound", "raw", r"$\rho$", "remark"]
    body = [" & ".join(entry if i == 0 else _tex_number(entry) for i, entry in enumerate(row)) for row in rows]
    return "\n".join(
        [
            f"% {_source(report)}",
            f"% {' '.join(wording.sentence(report).split())}",
            "% packages booktabs and tabularx; rho is that of f/W; as wide as the column, whatever the numbers are",
            r"{\scriptsize\setlength{\tabcolsep}{2.5pt}%",
            r"\begin{tabularx}{\columnwidth}{@{}lrrr>{\raggedright\arraybackslash}X@{}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *(line + r" \\" for line in body),
            r"\bottomrule",
            r"\end{tabularx}}",
            "",
        ]
    )


def _tex_row(row: BoundRow, report: BoundReport, letters: int) -> list[str]:
    value, raw, rho, _ = wording.cells(row, report)
    return [escaped(wording.shortened(row.id, letters)), value, raw, rho, escaped(_remark(row, report))]


def _remark(row: BoundRow, report: BoundReport) -> str:
    """What a reader needs to compute a certificate again; other bounds have their terms on the page."""
    if (key := wording.group(row)) in ("vacuous", "context"):
        return key
    if key == "not" or row.group == "held-out":
        return wording.remark(row, report)
    return wording.terms(row) if row.group == "certificate" else ""


def _tex_number(entry: str) -> str:
    if entry == NOTHING:
        return "--"
    mantissa, e, power = entry.partition("e")
    plain = e and power.lstrip("-").isdigit() and mantissa.replace(".", "").isdigit()
    return rf"${mantissa} \cdot 10^{{{power}}}$" if plain else entry


_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "…": r"\ldots{}"}
_LETTERS = {"δ": "delta", "ρ": "rho", "η": "eta", "λ": "lambda", "π": "pi", "φ": "phi",
            "Λ": "Lambda", "Γ": "Gamma", "Φ": "Phi", "Ψ": "Psi"}  # fmt: skip
_SIGNS = {"±": r"\pm", "≤": r"\leq", "≥": r"\geq", "×": r"\times", "<": "<", ">": ">"}
_TEX = _SPECIAL | {sign: f"${code}$" for sign, code in _SIGNS.items()}
_TEX |= {letter: rf"$\{name}$" for letter, name in _LETTERS.items()}


def escaped(text: str) -> str:
    r"""Text as TeX sets it.

    >>> print(escaped("δ = 5 % ± 1, R_S < 2"))
    $\delta$ = 5 \% $\pm$ 1, R\_S $<$ 2
    """
    return "".join(_TEX.get(c, "\\" + c if c in "&%$#_{}" else c) for c in text)


def _source(report: BoundReport) -> str:
    """The schema and the digest of the model file, where there is one."""
    return SCHEMA + (f", model sha256 {report.model.sha256}" if report.model.sha256 else "")
