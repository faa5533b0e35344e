"""The report as one HTML page: no network, no script, light or dark as the reader's system is, wide or narrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from html import escape

from verify import plots, wording
from verify.results import BoundReport, BoundRow
from verify.wording import NOTHING, down, near, up

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fdfdfb; --soft: #6a6a70; --line: #dcdcd8; --tint: #f2f2ee;
        --good: #00694c; --bad: #a83c00; --warn: #7a5600; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e6; --paper: #17181a; --soft: #a0a0a6; --line: #36373b; --tint: #202124;
          --good: #4cc9a0; --bad: #ff8a50; --warn: #e6b450; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
       font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0 0 .75rem; } h2 { font-size: 1.05rem; margin: 2.25rem 0 .6rem; }
code, td.n, th.n { font-variant-numeric: tabular-nums; }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
.verdict { border-left: 4px solid var(--good); background: var(--tint); padding: .9rem 1.1rem; margin: 1rem 0; }
.verdict.violated { border-color: var(--bad); } .verdict p { margin: 0; font-size: 1.08rem; }
.verdict p + p, .soft { color: var(--soft); font-size: .9rem; } .verdict p + p { margin-top: .5rem; }
dl { display: grid; grid-template-columns: 6rem 1fr; gap: .3rem 1rem; margin: 0; } dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; } td.n, th.n { text-align: right; white-space: nowrap; }
tr.group td { padding-top: 1rem; font-weight: 600; } td.wide { min-width: 14rem; } td code { white-space: nowrap; }
.cite, .holds { color: var(--good); } .vacuous, .open { color: var(--warn); } .not, .context { color: var(--soft); }
.FAILS, .violated { color: var(--bad); }
summary { cursor: pointer; }
.plots { margin-top: 2rem; display: grid; gap: 1.5rem 2rem;
         grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
figure { margin: 0; } figure svg { width: 100%; height: auto; } figcaption { color: var(--soft); font-size: .88rem; }
@media (max-width: 36rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print { body { max-width: none; } .scroll { overflow: visible; } }
"""


def document(report: BoundReport) -> str:
    """The whole document. Everything that may come from the file passes through html.escape."""
    body = [
        "<h1>What the theory says about this network</h1>",
        _verdict(report),
        _facts(report),
        f"<h2>Assumptions: {escape(wording.tally(report))}</h2>",
        _assumptions(report),
        f"<h2>Bounds on the risk, each with probability at least {wording.probability(report.delta)}</h2>",
        _bounds(report),
        _plots(report),
        "<h2>Rademacher complexities of the family</h2>",
        _layers(report),
        _checks(report),
        f'<p class="soft">Model <code>{escape(report.model.sha256)}</code>; bounds rounded up, lower values down.</p>',
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>verify-bounds {escape(report.model.sha256[:12])}</title><style>{_STYLE}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(body) + "\n</body></html>\n"


def _verdict(report: BoundReport) -> str:
    caution = wording.caution(report)
    more = f"<p>{escape(caution)}</p>" if caution else ""
    kind = "verdict violated" if report.verdict == "violated" else "verdict"
    return f'<section class="{kind}"><p>{escape(wording.sentence(report))}</p>{more}</section>'


def _facts(report: BoundReport) -> str:
    facts = [("network", wording.network(report)), ("family", wording.family(report))]
    facts += [("sample", wording.sample(report)), *(("note", note) for note in report.notes)]
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts) + "</dl>"


def _assumptions(report: BoundReport) -> str:
    rows = [
        [_mark(wording.holds(row)), _code(row.id), escape(row.detail), _codes(row.statements)]
        for row in sorted(report.assumptions, key=lambda row: (row.holds is True, row.holds is None))
    ]
    return _table(["", "assumption", "here", "needed by"], rows, wide={2, 3})


def _bounds(report: BoundReport) -> str:
    rows: list[str] = []
    for key, found in wording.grouped(report):
        rows.append(f'<tr class="group {key}"><td colspan="7">{wording.GROUPS[key]}</td></tr>')
        rows += [_row(_bound(row, report.model.W), numbers={1, 2, 3, 4}, wide={5, 6}) for row in found]
    if report.test is not None:
        test = report.test
        remark = f"error {near(test.error)} on {test.n:,} points"
        rows.append('<tr class="group cite"><td colspan="7">Held out (Clopper-Pearson)</td></tr>')
        rows.append(_row([_code("held-out"), up(test.upper), "", "", "", remark, ""], numbers={1}, wide={5, 6}))
    head = ["statement", "bound", "raw", "rho of f/W", "rho of f", "remark", "terms"]
    return _framed(head, rows, numbers={1, 2, 3, 4})


def _bound(row: BoundRow, W: float) -> list[str]:
    """A statement that does not apply shows no bound; its terms are marked as a formula only."""
    words = [escape(wording.remark(row)), _soft(wording.terms(row))]
    if wording.group(row) == "not":
        return [_code(row.id), *[NOTHING] * 4, *words]
    value = NOTHING if row.context else up(row.value)
    return [_code(row.id), value, up(row.raw), *map(near, wording.scales(row, W)), *words]


def _layers(report: BoundReport) -> str:
    if not report.complexities:
        return '<p class="soft">None were estimated.</p>'
    head = ["k", "lower", "upper", "stderr", "lemma-1", "lemma-2", "lemma-1-corrected", "lemma-2-peeled", "method"]
    rows = [
        [
            str(row.k),
            down(row.lower),
            up(row.upper),
            up(row.stderr, 2),
            *map(up, wording.lemmas(row).values()),
            escape(wording.method(row)),
        ]
        for row in report.complexities
    ]
    return _table(head, rows, numbers=set(range(8)), wide={8})


def _checks(report: BoundReport) -> str:
    if not report.checks:
        return ""
    rows = [
        [
            _code(row.claim),
            str(row.k or ""),
            down(row.lhs),
            "exact" if row.exact else "lower value",
            up(row.rhs),
            _mark(row.verdict),
            "" if row.applies else "does not apply here",
        ]
        for row in report.checks
    ]
    head = ["claim", "k", "left side", "which is", "right side", "verdict", ""]
    broken = len(wording.violations(report))
    title = f"<summary>{len(rows)} checks, {broken or 'none'} violated</summary>"
    shown = " open" if broken else ""
    return f"<h2>Checks</h2><details{shown}>{title}{_table(head, rows, numbers={1, 2, 4}, wide={6})}</details>"


def _plots(report: BoundReport) -> str:
    pictures = [
        (
            "terms",
            plots.draw_terms(report),
            "The terms of each bound and their sum; n/a: a formula only, no bound here.",
        )
    ]
    if report.complexities:
        caption = "R_S(H_k) by layer: what is known of it, and what each lemma says."
        pictures.append(("complexities", plots.draw_complexities(report), caption))
    if len(report.margins):
        caption = "Margins of f/W: the curve at rho is the margin error."
        pictures.append(("margins", plots.draw_margins(report), caption))
    if report.curves:
        caption = "Bounds against rho; dashed where one does not apply, shaded where it would be vacuous."
        pictures.append(("against-rho", plots.draw_bound_against_rho(report), caption))
    shown = [
        f"<figure>{plots.svg(picture, name)}<figcaption>{escape(caption)}</figcaption></figure>"
        for name, picture, caption in pictures
    ]
    return f'<div class="plots">{"".join(shown)}</div>'


# Pieces; the cells they take are already HTML


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Set[int] = frozenset(), wide: Set[int] = frozenset()
) -> str:
    return _framed(head, [_row(row, numbers=numbers, wide=wide) for row in rows], numbers)


def _framed(head: Sequence[str], rows: Iterable[str], numbers: Set[int]) -> str:
    titles = "".join(f'<th{_class(i, numbers)} scope="col">{title}</th>' for i, title in enumerate(head))
    return f'<div class="scroll"><table><thead><tr>{titles}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _row(cells: Sequence[str], *, numbers: Set[int], wide: Set[int] = frozenset()) -> str:
    return "<tr>" + "".join(f"<td{_class(i, numbers, wide)}>{cell}</td>" for i, cell in enumerate(cells)) + "</tr>"


def _class(i: int, numbers: Set[int], wide: Set[int] = frozenset()) -> str:
    return ' class="n"' if i in numbers else ' class="wide"' if i in wide else ""


def _mark(word: str) -> str:
    return f'<span class="{word.replace(" ", "-")}">{word}</span>'


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _codes(names: Iterable[str]) -> str:
    return " ".join(map(_code, names))


def _soft(text: str) -> str:
    return f'<span class="soft">{escape(text)}</span>'
