"""verify-claims: runs the ledger of the paper's claims and shows the evidence behind each verdict."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paper_notes import Claim
    from verify.claims.run import Outcome

from adanet_train import command_line
from adanet_train.command_line import Bar, Parser

EXAMPLES = """\
ID is the name of a claim (lemma-1) or its number in the first reading (C20); without one, all are run.

examples:
  verify-claims --quick
  verify-claims lemma-1 cvx-joint-minimiser -v
  verify-claims --json > claims.json
  verify-claims --html claims.html

status: 0 every check supports its recorded verdict, 1 one does not, 2 unknown claim or unusable option
"""


def parser() -> Parser:
    options = Parser(
        prog="verify-claims",
        description="Run the checks behind the ledger of the paper's claims.",
        epilog=EXAMPLES,
    )
    add = options.add_argument
    add("ids", nargs="*", metavar="ID", help="claims to run; default all")
    add("--quick", action="store_true", help="fewer random cases: seconds instead of minutes")
    add("--json", action="store_true", help="print one JSON document (schema verify-claims/1)")
    add("--html", metavar="FILE", help="write a self-contained page")
    add("--markdown", metavar="FILE", help="write the page paper_notes/claims.md")
    add("--readme", metavar="FILE", help="put the table of findings between the marker comments of that file")
    add("--list", action="store_true", help="print the ids, one a line, and run nothing")
    add("-v", "--verbose", action="store_true", help="statement, correction, derivation and every number")
    options.add_version()
    return options


def main(argv: Sequence[str] | None = None) -> int:
    return command_line.run(parser(), verify, argv)


def verify(arguments: argparse.Namespace) -> int:
    from verify.claims import run

    chosen = run.select(arguments.ids)
    if arguments.list:
        print("\n".join(claim.id for claim in chosen))
        return 0
    check_outputs(arguments)
    with Bar("claims") as progress:
        found = run.run_all(chosen, quick=arguments.quick, progress=progress)
        outcomes = list(found) if arguments.json else show(found, chosen, verbose=arguments.verbose, progress=progress)
    write(outcomes, arguments)
    if arguments.json:
        print(json.dumps(run.document(outcomes), indent=1, ensure_ascii=False, allow_nan=False))
    return 0 if all(outcome.supported for outcome in outcomes) else 1


def check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse what could not be written before the work is done."""
    for path in (arguments.html, arguments.markdown):
        if path is not None:
            command_line.check_writable(path)
    if arguments.readme is not None:
        from verify.claims import pages

        pages.spliced(Path(arguments.readme).read_text(encoding="utf-8"), "")


def write(outcomes: Sequence[Outcome], arguments: argparse.Namespace) -> None:
    from verify.claims import pages

    for path, page in ((arguments.html, pages.html), (arguments.markdown, pages.markdown)):
        if path is not None:
            command_line.write_file(path, page(outcomes))
    if arguments.readme is not None:
        readme = Path(arguments.readme)
        text = pages.spliced(readme.read_text(encoding="utf-8"), pages.findings(outcomes))
        if "<!-- bounds -->" in text:
            text = pages.spliced(text, pages.bounds(), "bounds")
        command_line.write_file(readme, text)


# Text


def show(found: Iterable[Outcome], chosen: Sequence[Claim], *, verbose: bool, progress: Bar) -> list[Outcome]:
    """Print each outcome as it comes, under the heading of its section, and the tally."""
    from paper_notes import SECTIONS

    outcomes: list[Outcome] = []
    width = max(len(claim.id) for claim in chosen)
    for outcome in found:
        with progress.hidden():
            if not outcomes or outcomes[-1].claim.section != outcome.claim.section:
                print(("\n" if outcomes else "") + SECTIONS[outcome.claim.section])
            print("\n".join(_full(outcome)) if verbose else _line(outcome, width), flush=True)
        outcomes.append(outcome)
    print("\n" + _tally(outcomes))
    return outcomes


def _mark(outcome: Outcome) -> str:
    if outcome.claim.is_read_only:
        return "read"
    return "ok" if outcome.supported else "FAIL"


_SHORT = {"holds with an added assumption": "holds+"}


def _line(outcome: Outcome, width: int) -> str:
    """id, verdict, place, evidence; cut at the edge of a terminal, whole in a pipe."""
    claim = outcome.claim
    verdict = _SHORT.get(claim.verdict, claim.verdict)
    line = f"{_mark(outcome):>4}  {claim.id:<{width}}  {verdict:<11}  {outcome.evidence}  [{claim.where}]"
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns
        line = line if len(line) <= room else line[: room - 1] + "…"
    return line


def _full(outcome: Outcome) -> list[str]:
    claim = outcome.claim
    lines = ["", f"{_mark(outcome):>4}  {claim.id}: {claim.verdict} ({claim.kind}, {outcome.seconds:.2f} s)"]
    rows = [("where", claim.where), ("number", ", ".join(claim.audit)), ("claim", claim.statement)]
    rows += [("true is", claim.correction), *(("fact", f"{'' if f.holds else 'NOT: '}{f}") for f in outcome.facts)]
    rows += [("note", claim.note), *(("step", step) for step in _steps(claim)), ("code", claim.code)]
    if claim.proof:
        rows.append(("proof", f"paper_notes/derivations.md#{claim.proof}"))
    for name, text in rows:
        if text:
            lines += textwrap.wrap(
                text,
                110,
                initial_indent=f"      {name:<8}",
                subsequent_indent=" " * 14,
                break_on_hyphens=False,
                break_long_words=False,
            )
    return lines


def _steps(claim: Claim) -> list[str]:
    """The steps of the derivation that sympy decides, where the claim has one."""
    from verify.claims.run import steps_of

    return [f"{number}. {step.reason}" for number, step in enumerate(steps_of(claim), start=1)]


def _tally(outcomes: Sequence[Outcome]) -> str:
    computed = [outcome for outcome in outcomes if not outcome.claim.is_read_only]
    supported = sum(outcome.supported for outcome in computed)
    read = len(outcomes) - len(computed)
    seconds = sum(outcome.seconds for outcome in outcomes)
    text = f"{supported} of {len(computed)} checks support the recorded verdict"
    text += f"; {read} could only be read" if read else ""
    failed = [outcome.claim.id for outcome in computed if not outcome.supported]
    return f"{text} ({seconds:.0f} s)." + (f" Not supported: {', '.join(failed)}." if failed else "")


if __name__ == "__main__":
    sys.exit(main())
