"""The terminal report: the answer first, on one screen; with verbose every assumption, term and check."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adanet_theory.rounding import probability
from verify.records.results import Assumption, BoundReport, BoundRow
from verify.show import links, wording
from verify.show.wording import up

if TYPE_CHECKING:
    from rich.console import Console

_STYLE = {"cite": "bold green", "vacuous": "yellow", "not": "dim", "context": "dim italic"}
NAME = 24
_HOLDS = {"holds": "", "assumed": "cyan", "FAILS": "bold red", "open": "yellow"}


def show(report: BoundReport, *, verbose: bool, console: Console) -> None:
    """Print the report on the console."""
    page, report = _Page(console), wording.spoken(report)
    page.answer(report)
    page.facts(report, verbose)
    page.useful(report, verbose)
    if verbose:
        page.assumptions(report)
        page.bounds(report)
    page.layers(report, verbose)


class _Page:
    """Lines of at most 100 columns, whatever the terminal: a pipe and a screen show the same text."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = min(max(console.width, 80), 100)

    def line(self, content: str = "", style: str = "", indent: int = 0, id: str = "") -> None:
        """Content from the file is never read as markup; long lines continue under their beginning.

        The id of a statement leads to its page, on a terminal that follows links.
        """
        from rich.text import Text

        page = links.statement(id) if id else None
        parts = textwrap.wrap(content, self.width, subsequent_indent=" " * indent, break_on_hyphens=False)
        for number, part in enumerate(parts or [""]):
            text = Text(part, style=style)
            if page and number == 0:
                text.stylize(f"link {page}", part.index(id), part.index(id) + len(id))
            self.console.print(text, soft_wrap=True)

    def heading(self, content: str) -> None:
        self.line()
        self.line(content, "bold")

    def answer(self, report: BoundReport) -> None:
        """What may be quoted, or that nothing may, and the one change that would help most."""
        style = "bold red" if report.verdict == "violated" else "bold"
        self.line(f"Answer   {wording.sentence(report)}", style, 9)
        for line in report.advice:
            self.line(f"{'Helps' if line == report.advice[0] else '':9}{line}", indent=9)

    def facts(self, report: BoundReport, verbose: bool) -> None:
        self.line(f"Errors   {wording.errors(report)}", indent=9)
        if report.class_errors:
            self.line(f"Classes  {wording.by_class(report)}", indent=9)
        self.line(f"Network  {wording.network(report, verbose=verbose)}", indent=9)
        if verbose:
            self.line(f"Family   {wording.family(report)}", indent=9)
            self.line(f"Sample   {wording.sample(report)}", indent=9)
            if report.classes > 2 and report.subject != "black box":
                self.line(f"Note     {wording.MANY_CLASSES}", indent=9)
        for note in report.notes if verbose else wording.remarks(report):
            self.line(f"Note     {note}", indent=9)

    def useful(self, report: BoundReport, verbose: bool) -> None:
        """One line for each statement that says something, one for all the others."""
        rows = [row for row in report.bounds if wording.says(row, report)]
        if rows:
            self.heading(wording.GROUPS["cite"].format(probability(report.delta)))
        for row in rows:
            self.line(
                f"  {row.id:{NAME}}{up(row.value):>8}  {wording.remark(row, report)}".rstrip(),
                _STYLE["cite"],
                34,
                row.id,
            )
        others = wording.others(report, shown=verbose)
        if others:
            self.line()
            self.line(others, "dim")

    def assumptions(self, report: BoundReport) -> None:
        self.heading(f"Assumptions: {wording.tally(report)}")
        for row in report.assumptions:
            self.assumption(row, wording.needed_by(row, report))

    def assumption(self, row: Assumption, needed_by: Sequence[str]) -> None:
        word = wording.holds(row)
        self.line(f"  {word:7} {row.id:16} {row.detail}", _HOLDS[word], 27)
        if needed_by:
            self.line(f"{'':27}needed by {', '.join(needed_by)}", "dim", 27)

    def bounds(self, report: BoundReport) -> None:
        self.heading(f"Every statement, {wording.alone(report)}")
        longest = max((len(row.id) for row in report.bounds), default=0)
        self.name = 22 if longest <= 22 else min(longest + 1, 40)  # beyond 40 letters the numbers move on
        self.line(f"{'':{self.name + 4}}{'bound':>8}{'raw':>9}{'rho (f/W)':>10}{'rho (f)':>9}", "dim")
        for key, rows in wording.grouped(report):
            self.line(f"  {wording.GROUPS[key].format(probability(report.delta))}", _STYLE[key])
            for row in rows:
                self.bound(row, report, _STYLE[key])
                if row.terms:
                    self.line(f"{'':28}{wording.terms(row)}", "dim", 30)
        for line in wording.at_margins(report):
            self.line(f"  {line}", "dim", 4)

    def bound(self, row: BoundRow, report: BoundReport, style: str) -> None:
        value, raw, small, large = wording.cells(row, report)
        numbers = "" if wording.group(row) == "not" else f"{value:>8}{raw:>9}{small:>10}{large:>9}"
        line = f"    {row.id:{self.name}}{numbers}  {wording.remark(row, report)}"
        self.line(line.rstrip(), style, 28, row.id)

    def layers(self, report: BoundReport, verbose: bool) -> None:
        if verbose and report.complexities:
            self.heading("Rademacher complexity R_S(H_k) of the family, lower .. upper, against the lemmas")
            titles = ("lemma-1", "lemma-2", "1-corrected", "2-peeled")
            self.line(f"  k{'R_S(H_k)':>21}{'stderr':>8}" + "".join(f"{title:>12}" for title in titles), "dim")
            for row in report.complexities:
                values = "".join(f"{up(value):>12}" for value in wording.lemmas(row).values())
                self.line(f"{row.k:3}{wording.enclosure(row):>21}{up(row.stderr, 2):>8}{values}")
                self.line(f"{'':5}{wording.method(row)}", "dim", 5)
            self.line(f"  {wording.together(report)}", "dim", 2)
        elif verbose and report.checks:
            self.heading("Checks")
        for check in wording.violations(report):
            self.line(f"  {wording.violation(check)}", "bold red" if check.applies else "yellow", 4)
        for check in report.checks if verbose else ():
            self.line(f"  {wording.outcome(check)}", "dim", 4)
