"""A BoundReport as JSON, text, TeX and HTML: the entry to `json`, `screen`, `tex` and `page`.

Nothing is computed there: numbers are only rounded to the safe side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.records.results import BoundReport
from verify.show.json import to_json
from verify.show.tex import to_tex, to_tex_all

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["text", "to_html", "to_json", "to_tex", "to_tex_all"]


def text(report: BoundReport, *, verbose: bool, console: Console) -> None:
    """Print the report on the console: one screen, or with verbose every assumption, term and check."""
    from verify.show import screen

    screen.show(report, verbose=verbose, console=console)


def to_html(report: BoundReport) -> str:
    """One page that needs nothing else, with the same content and four pictures."""
    from verify.show import page

    return page.document(report)
