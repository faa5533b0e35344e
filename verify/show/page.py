"""The report as one HTML page: it works offline and without scripts, light or dark, wide or narrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from html import escape
from typing import TYPE_CHECKING

from adanet_theory.rounding import probability
from verify.records.results import BoundReport, BoundRow
from verify.show import links, plots, stylesheet, wording
from verify.show.wording import down, up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ORDER: Mapping[str, int] = {"fails": 0, "open": 1, "assumed": 2, "holds": 3}


def document(report: BoundReport) -> str:
    """The whole document. Everything that may come from the file passes through html.escape."""
    report = wording.spoken(report)
    body = [
        "<h1>What the theory says about this network</h1>",
        _verdict(report),
        _facts(report),
        _useful(report),
        _plots(report),
        _folded("Every assumption, statement and check", _everything(report), shown=bool(wording.violations(report))),
        f'<p class="soft">{escape(wording.sources(report))} Bounds are rounded up, lower values down.</p>',
    ]
    named = report.sources.get("model", report.model.sha256[:12])
    return stylesheet.document(f"verify-bounds {named}", "\n".join(body))


def _verdict(report: BoundReport) -> str:
    kind = "verdict violated" if report.verdict == "violated" else "verdict"
    items = "".join(f"<li>{escape(line)}</li>" for line in report.advice)
    more = f"<ul>{items}</ul>" if items else ""
    return f'<section class="{kind}"><p>{escape(wording.sentence(report))}</p>{more}</section>'


def _facts(report: BoundReport) -> str:
    facts = [("errors", wording.errors(report))]
    facts += [("classes", wording.by_class(report))] * bool(report.class_errors)
    facts.append(("network", wording.network(report, verbose=False)))
    facts += [("note", note) for note in wording.remarks(report)]
    return _listed(facts)


def _listed(facts: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts) + "</dl>"


def _useful(report: BoundReport) -> str:
    """One line for each statement that says something."""
    rows = [row for row in report.bounds if wording.says(row, report)]
    if not rows:
        return ""
    head = ["statement", "bound", "from"]
    cells = [[_statement(row.id), up(row.value), escape(wording.remark(row, report))] for row in rows]
    return f"<h2>{escape(_title('cite', report))}</h2>{table(head, cells, numbers={1}, wide={2})}"


def _everything(report: BoundReport) -> str:
    """What -v shows on the terminal."""
    many = report.classes > 2 and report.subject != "black box"
    facts = [("network", wording.network(report)), ("family", wording.family(report))]
    facts += [("sample", wording.sample(report)), *[("note", wording.MANY_CLASSES)] * many]
    parts = [
        _listed(facts),
        f"<h2>Assumptions: {escape(wording.tally(report))}</h2>",
        _assumptions(report),
        f"<h2>Every statement, {escape(wording.alone(report))}</h2>",
        _bounds(report),
        "<h2>Rademacher complexities of the family</h2>",
        _layers(report),
        _checks(report),
    ]
    return "\n".join(parts)


def _folded(title: str, body: str, *, shown: bool = False) -> str:
    return f"<details{' open' * shown}><summary>{escape(title)}</summary>{body}</details>"


def _assumptions(report: BoundReport) -> str:
    rows = [
        [_mark(wording.holds(row)), _code(row.id), escape(row.detail), _codes(wording.needed_by(row, report))]
        for row in sorted(report.assumptions, key=lambda row: _ORDER[row.status])
    ]
    return table(["", "assumption", "here", "needed by"], rows, wide={2, 3})


def _bounds(report: BoundReport) -> str:
    head = ["statement", "bound", "raw", "rho of f/W", "rho of f", "remark", "terms"]
    rows: list[str] = []
    for key, members in wording.grouped(report):
        rows.append(f'<tr class="group {key}"><td colspan="7">{_title(key, report)}</td></tr>')
        rows += [_row(head, _bound(row, report), numbers={1, 2, 3, 4}, wide={5, 6}) for row in members]
    margins = "".join(f'<p class="soft">{escape(line)}</p>' for line in wording.at_margins(report))
    return _framed(head, rows, numbers={1, 2, 3, 4}) + margins


def _title(key: str, report: BoundReport) -> str:
    return wording.GROUPS[key].format(probability(report.delta))


def _bound(row: BoundRow, report: BoundReport) -> list[str]:
    """A statement that does not apply shows no bound; its terms are marked as a formula only."""
    terms = f'<span class="soft">{escape(wording.terms(row))}</span>'
    return [_statement(row.id), *wording.cells(row, report), escape(wording.remark(row, report)), terms]


def _layers(report: BoundReport) -> str:
    if not report.complexities:
        return '<p class="soft">None were estimated.</p>'
    head = ["k", "lower", "upper", "stderr", "lemma-1", "lemma-2", "lemma-1-corrected", "lemma-2-peeled", "method"]
    rows = []
    for row in report.complexities:
        values = [down(row.lower), up(row.upper), up(row.stderr, 2), *map(up, wording.lemmas(row).values())]
        rows.append([str(row.k), *values, escape(wording.method(row))])
    shown = table(head, rows, numbers=set(range(8)), wide={8})
    return f'{shown}<p class="soft">{escape(wording.together(report))}</p>'


def _checks(report: BoundReport) -> str:
    if not report.checks:
        return ""
    rows = []
    for row in report.checks:
        kind, reach = "exact" if row.exact else "lower value", "" if row.applies else "does not apply here"
        rows.append([_code(row.claim), str(row.k or ""), down(row.lhs), kind, up(row.rhs), _mark(row.verdict), reach])
    head = ["claim", "k", "left side", "which is", "right side", "verdict", ""]
    broken = len(wording.violations(report))
    title = f"{len(rows)} checks, {broken or 'none'} violated"
    return f"<h2>Checks</h2>{_folded(title, table(head, rows, numbers={1, 2, 4}, wide={6}), shown=broken > 0)}"


def _plots(report: BoundReport) -> str:
    cited = "and the bound that may be cited, at the δ left for it"
    caption = f"The terms of each bound and their sum, {cited}; n/a: a formula only, no bound here."
    pictures = [("terms", plots.draw_terms(report), caption)]
    if report.complexities:
        caption = "R_S(H_k) by layer: what is known of it, and what each lemma says."
        pictures.append(("complexities", plots.draw_complexities(report), caption))
    if len(report.margins):
        caption = "Margins of f/W: the curve at rho is the margin error."
        pictures.append(("margins", plots.draw_margins(report), caption))
    if report.curves:
        caption = "Bounds against rho; dashed where one does not apply, shaded where it would be vacuous."
        pictures.append(("against-rho", plots.draw_bound_against_rho(report), caption))
    return figures(pictures)


def figures(pictures: Iterable[tuple[str, Figure, str]]) -> str:
    """Each picture with its name and its caption."""
    shown = (
        f"<figure>{plots.svg(picture, name)}<figcaption>{escape(caption)}</figcaption></figure>"
        for name, picture, caption in pictures
    )
    return f'<div class="plots">{"".join(shown)}</div>'


# Pieces; the cells they take are already HTML


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Set[int] = frozenset(), wide: Set[int] = frozenset()
) -> str:
    return _framed(head, [_row(head, row, numbers=numbers, wide=wide) for row in rows], numbers)


def _framed(head: Sequence[str], rows: Iterable[str], numbers: Set[int]) -> str:
    titles = "".join(f'<th{_class(i, numbers)} scope="col">{title}</th>' for i, title in enumerate(head))
    parts = f"<thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll"><table class="stack">{parts}</table></div>'


def _row(head: Sequence[str], cells: Sequence[str], *, numbers: Set[int], wide: Set[int] = frozenset()) -> str:
    """Each cell carries its column's title, which a narrow screen shows beside it."""
    marked = (
        f'<td{_class(i, numbers, wide)} data-label="{title}">{cell}</td>'
        for i, (title, cell) in enumerate(zip(head, cells, strict=True))
    )
    return f"<tr>{''.join(marked)}</tr>"


def _class(i: int, numbers: Set[int], wide: Set[int] = frozenset()) -> str:
    return ' class="n"' if i in numbers else ' class="wide"' if i in wide else ""


def _mark(word: str) -> str:
    return f'<span class="{word.replace(" ", "-")}">{word}</span>'


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _statement(id: str) -> str:
    """The id, leading to its page where there is one."""
    page = links.statement(id, to_keep=True)
    return f'<a href="{escape(page)}">{_code(id)}</a>' if page else _code(id)


def _codes(names: Iterable[str]) -> str:
    return " ".join(map(_code, names))
