"""verify-claims: runs the ledger of the paper's claims and shows the evidence behind each verdict."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paper_notes import Claim
    from verify.claims.run import Outcome

from adanet_train.app import console
from adanet_train.app.console import Parser
from adanet_train.core import files
from adanet_train.core.bar import Bar
from verify.show import markdown

EXAMPLES = """\
ID is the name of a claim (lemma-1) or its number in the first reading (C20). Without an ID all claims are run.

examples:
  verify-claims --quick                              all claims, in seconds
  verify-claims lemma-1 cvx-joint-minimiser -v       two claims with every number
  verify-claims --html claims.html

exit status: 0 every check supports its verdict; 1 one does not; 2 unknown claim or unusable option
"""

WIDTH = 100
LEGEND = """\
"ok lemma-1 false" means: lemma-1 is false as printed, and the check that just ran confirms it.
marks     ok: the check supports the verdict; FAIL: it does not; read: settled by reading
verdicts  holds+: holds with an added assumption; loose: true, but a stronger statement holds
numbers   they refute what is false; where a claim holds they are an example, and -v names the proof
"""


def parser() -> Parser:
    options = Parser(
        prog="verify-claims", description="Run the checks behind the ledger of the paper's claims.", epilog=EXAMPLES
    )
    add = options.add_argument
    add("ids", nargs="*", metavar="ID", help="claims to run (default: all)")
    add("--quick", action="store_true", help="run fewer random cases: seconds instead of minutes")
    add("--json", action="store_true", help="print one JSON document (schema verify-claims/1)")
    add("--html", metavar="FILE", help="write a page, in one file")
    add("--markdown", metavar="FILE", help="write the page paper_notes/claims.md")
    add("--readme", metavar="FILE", help="write the table of findings between the markers in FILE")
    add("--list", action="store_true", help="print the ids, one per line, and run nothing")
    add("-v", "--verbose", action="store_true", help="show statement, correction, derivation and every number")
    options.add_version()
    return options


def main(argv: Sequence[str] | None = None) -> int:
    return console.run(parser(), verify, argv)


def verify(arguments: argparse.Namespace) -> int:
    from verify.claims import run

    chosen = run.select(arguments.ids)
    if arguments.list:
        print("\n".join(claim.id for claim in chosen))
        return 0
    check_outputs(arguments)
    with Bar("claims", counts=True) as progress:
        running = run.run_all(chosen, quick=arguments.quick, progress=progress)
        outcomes = (
            list(running) if arguments.json else show(running, chosen, verbose=arguments.verbose, progress=progress)
        )
    write(outcomes, arguments)
    if arguments.json:
        print(json.dumps(run.document(outcomes), indent=1, ensure_ascii=False, allow_nan=False))
    return 0 if all(outcome.supported for outcome in outcomes) else 1


def check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse what could not be written before the work is done."""
    for path in (arguments.html, arguments.markdown):
        if path is not None:
            files.check_writable(path)
    if arguments.readme is not None:
        markdown.spliced(Path(arguments.readme).read_text(encoding="utf-8"), "", "findings")


def write(outcomes: Sequence[Outcome], arguments: argparse.Namespace) -> None:
    from verify.claims import pages

    for path, page in ((arguments.html, pages.html), (arguments.markdown, pages.markdown)):
        if path is not None:
            files.write_file(path, page(outcomes))
    if arguments.readme is not None:
        readme = Path(arguments.readme)
        text = markdown.spliced(readme.read_text(encoding="utf-8"), pages.findings(outcomes), "findings")
        files.write_file(readme, text)


# Text


def show(running: Iterable[Outcome], chosen: Sequence[Claim], *, verbose: bool, progress: Bar) -> list[Outcome]:
    """Print each outcome as it comes, under the heading of its section, and the tally."""
    from paper_notes import SECTIONS

    outcomes: list[Outcome] = []
    width = max(len(claim.id) for claim in chosen)
    print(LEGEND)
    for outcome in running:
        with progress.hidden():
            if not outcomes or outcomes[-1].claim.section != outcome.claim.section:
                print(("\n" if outcomes else "") + SECTIONS[outcome.claim.section])
            print("\n".join(_full(outcome) if verbose else _short(outcome, width)), flush=True)
        outcomes.append(outcome)
    print("\n" + _tally(outcomes))
    return outcomes


def _mark(outcome: Outcome) -> str:
    if outcome.claim.is_read_only:
        return "read"
    return "ok" if outcome.supported else "FAIL"


_VERDICTS = {"holds with an added assumption": "holds+"}


def _short(outcome: Outcome, width: int) -> list[str]:
    """id, verdict and place, and below them the evidence, within WIDTH columns."""
    claim = outcome.claim
    verdict = _VERDICTS.get(claim.verdict, claim.verdict)
    head = f"{_mark(outcome):>4}  {claim.id:<{width}}  {verdict:<11}  "
    lines = textwrap.wrap(claim.place, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
    return lines + _wrapped(outcome.evidence, " " * 8)


def _wrapped(text: str, first: str, rest: str | None = None) -> list[str]:
    indents = {"initial_indent": first, "subsequent_indent": first if rest is None else rest}
    return textwrap.wrap(text, WIDTH, break_on_hyphens=False, **indents)  # type: ignore[arg-type]


def _full(outcome: Outcome) -> list[str]:
    claim = outcome.claim
    lines = ["", f"{_mark(outcome):>4}  {claim.id}: {claim.verdict} ({claim.kind}, {outcome.seconds:.2f} s)"]
    rows = [("where", claim.place), ("number", ", ".join(claim.audit)), ("claim", claim.statement)]
    rows += [("true is", claim.correction), *(("fact", f"{'' if f.holds else 'NOT: '}{f}") for f in outcome.facts)]
    rows += [("note", claim.note), *(("step", step) for step in _steps(claim)), ("code", claim.code)]
    if claim.proof:
        rows.append(("proof", f"paper_notes/derivations.md#{claim.proof}"))
    if claim.checked:
        rows.append(("machine", f"checked in paper_notes/proofs: {', '.join(claim.checked)}"))
    for name, text in rows:
        if text:
            lines += _wrapped(text, f"      {name:<8}", " " * 14)
    return lines


def _steps(claim: Claim) -> list[str]:
    """The steps of the derivation that sympy decides, where the claim has one."""
    from verify.claims.run import steps_of

    return [f"{number}. {step.reason}" for number, step in enumerate(steps_of(claim), start=1)]


def _tally(outcomes: Sequence[Outcome]) -> str:
    from verify.claims import run

    supported, computed, read = run.tally(outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    text = f"{supported} of {computed} checks support the recorded verdict"
    text += f"; {read} settled by reading" if read else ""
    failed = [outcome.claim.id for outcome in outcomes if not outcome.supported]
    return f"{text} ({seconds:.0f} s)." + (f" Not supported: {', '.join(failed)}." if failed else "")


if __name__ == "__main__":
    sys.exit(main())
