"""The terminal report: one screen, or with verbose every assumption, term and check."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from adanet_theory import links
from verify.results import Assumption, BoundReport, BoundRow
from verify.show import wording
from verify.show.wording import NOTHING, near, up

if TYPE_CHECKING:
    from rich.console import Console

_STYLE = {"cite": "bold green", "vacuous": "yellow", "not": "dim", "context": "dim italic"}
_LAYERS = 6  # of a deeper family the first ones and the last are shown, unless verbose
_HOLDS = {"holds": "", "assumed": "cyan", "FAILS": "bold red", "open": "yellow"}


def show(report: BoundReport, *, verbose: bool, console: Console) -> None:
    """Print the report on the console."""
    page = _Page(console)
    page.facts(report)
    page.assumptions(report, verbose)
    page.bounds(report, verbose)
    page.layers(report, verbose)
    page.verdict(report)


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

    def facts(self, report: BoundReport) -> None:
        self.line(f"Network  {wording.network(report)}", "bold", 9)
        self.line(f"Family   {wording.family(report)}", indent=9)
        self.line(f"Sample   {wording.sample(report)}", indent=9)
        if report.class_errors:
            self.line(f"Classes  {wording.by_class(report)}", indent=9)
        for note in report.notes:
            self.line(f"Note     {note}", indent=9)

    def assumptions(self, report: BoundReport, verbose: bool) -> None:
        self.heading(f"Assumptions: {wording.tally(report)}")
        for row in report.assumptions:
            if verbose or row.status != "holds":
                self.assumption(row, verbose)

    def assumption(self, row: Assumption, verbose: bool) -> None:
        word = wording.holds(row)
        self.line(f"  {word:7} {row.id:16} {row.detail}", _HOLDS[word], 27)
        if verbose and row.statements:
            self.line(f"{'':27}needed by {', '.join(row.statements)}", "dim", 27)

    def bounds(self, report: BoundReport, verbose: bool) -> None:
        self.heading(f"Risk, {wording.alone(report)}")
        longest = max((len(row.id) for row in report.bounds), default=0)
        self.name = 22 if longest <= 22 else min(longest + 1, 40)  # beyond 40 letters the numbers move on
        self.line(f"{'':{self.name + 4}}{'bound':>8}{'raw':>9}{'rho (f/W)':>10}{'rho (f)':>9}", "dim")
        for key, rows in wording.grouped(report):
            self.line(f"  {wording.GROUPS[key]}", _STYLE[key])
            for row in rows:
                self.bound(row, report.model.W, _STYLE[key])
                if verbose and row.terms:
                    self.line(f"{'':28}{wording.terms(row)}", "dim", 30)
        for line in wording.at_margins(report):
            self.line(f"  {line}", "dim", 4)

    def bound(self, row: BoundRow, W: float, style: str) -> None:
        # A number is not shown for a network it does not cover: only -v spells the formula out.
        silent = not row.applies and not row.context
        value, raw = (NOTHING, NOTHING) if silent else (NOTHING if row.context else up(row.value), up(row.raw))
        small, large = (NOTHING, NOTHING) if silent else map(near, wording.scales(row, W))
        remark = wording.remark(row)
        if silent:
            self.line(f"    {row.id:{self.name}}  {remark}", style, 28, row.id)
        else:
            self.line(
                f"    {row.id:{self.name}}{value:>8}{raw:>9}{small:>10}{large:>9}  {remark}".rstrip(), style, 28, row.id
            )

    def layers(self, report: BoundReport, verbose: bool) -> None:
        if not report.complexities:
            return
        self.heading("Rademacher complexity R_S(H_k) of the family, lower .. upper, against the lemmas")
        titles = ("lemma-1", "lemma-2", "1-corrected", "2-peeled")
        self.line(f"  k{'R_S(H_k)':>21}{'stderr':>8}" + "".join(f"{title:>12}" for title in titles), "dim")
        rows = report.complexities
        shown = rows if verbose or len(rows) <= _LAYERS else [*rows[: _LAYERS - 1], rows[-1]]
        for row in shown:
            if row is rows[-1] and len(shown) < len(rows):
                self.line(f"  .. {len(rows) - len(shown)} layers more, -v shows them", "dim")
            values = "".join(f"{up(value):>12}" for value in wording.lemmas(row).values())
            self.line(f"{row.k:3}{wording.enclosure(row):>21}{up(row.stderr, 2):>8}{values}")
            if verbose:
                self.line(f"{'':5}{wording.method(row)}", "dim", 5)
        self.line(f"  {wording.together(report)}", "dim", 2)
        for check in wording.violations(report):
            self.line(f"  {wording.violation(check)}", "bold red" if check.applies else "yellow", 4)
        for check in report.checks if verbose else ():
            self.line(f"  {wording.outcome(check)}", "dim", 4)

    def verdict(self, report: BoundReport) -> None:
        self.line()
        style = "bold red" if report.verdict == "violated" else "bold"
        self.line(f"Verdict  {wording.sentence(report)}", style, 9)
        for line in report.advice:
            self.line(f"{'':9}- {line}", "dim", 11)
