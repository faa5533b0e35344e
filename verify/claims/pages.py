"""The ledger in words: the page claims.md, the README's tables of findings and of bounds, and an HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from adanet_theory import catalogue
from paper_notes import SECTIONS, VERDICTS, Claim
from verify.claims.run import Outcome
from verify.show import stylesheet

_MEANING = {
    "holds": "true as stated",
    "holds with an added assumption": "true once a missing condition is added",
    "loose": "true, needlessly weak",
    "misprint": "a slip of the print",
    "false": "refuted by an example, or contradicted by the paper's own numbers",
    "unsupported": "neither proved nor shown by what the paper offers",
    "open": "not settled; the best found is recorded",
}


_INTRODUCTION = """\
{total} statements of *AdaNet* (ICML 2017), each with a verdict: {counted} {ours} more are ours and take their place.
Every verdict but those marked *read* is backed by a check that computes both sides, and that comes out the other way
when its example or its formula is changed. `verify-claims` runs them all, `verify-claims ID -v` shows one in full.
Proofs are in [derivations.md](derivations.md), the letters in [notation.md](notation.md); lines are those of the
paper's LaTeX source."""


# Markdown


def markdown(outcomes: Sequence[Outcome]) -> str:
    """The page paper_notes/claims.md."""
    paper = [outcome for outcome in outcomes if not outcome.claim.is_ours]
    lines = [
        "<!-- generated from claims.toml by: verify-claims --quick --markdown paper_notes/claims.md -->",
        "",
        "# What the paper claims, and what is true",
        "",
        _INTRODUCTION.format(total=len(paper), counted=_counted(paper), ours=len(outcomes) - len(paper)),
        "",
        *_in_short(outcomes),
        "",
        "## All of them",
        "",
        "| verdict | meaning | claims |",
        "|---|---|---|",
    ]
    for verdict in VERDICTS:
        ids = [outcome.claim.id for outcome in outcomes if outcome.claim.verdict == verdict]
        if ids:
            links = ", ".join(f"[{id}](#{id})" for id in ids)
            lines.append(f"| **{verdict}** ({len(ids)}) | {_MEANING[verdict]} | {links} |")
    for section, title in SECTIONS.items():
        part = [outcome for outcome in outcomes if outcome.claim.section == section]
        if part:
            lines += ["", f"## {title}"]
            for outcome in part:
                lines += ["", *_entry(outcome)]
    return "\n".join(lines) + "\n"


def _ranked(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return sorted((outcome for outcome in outcomes if outcome.claim.rank), key=lambda outcome: outcome.claim.rank or 0)


def _in_short(outcomes: Sequence[Outcome]) -> list[str]:
    lines = ["## In short", ""]
    for outcome in _ranked(outcomes):
        claim = outcome.claim
        lines.append(
            f"- [{claim.id}](#{claim.id}), **{claim.verdict}**: {_plain(claim.headline)}. `{outcome.evidence}`"
        )
    return lines


def _counted(outcomes: Sequence[Outcome]) -> str:
    counts = {verdict: sum(outcome.claim.verdict == verdict for outcome in outcomes) for verdict in VERDICTS}
    stand = counts["holds"] + counts["holds with an added assumption"] + counts["loose"]
    fall = counts["false"] + counts["unsupported"]
    return f"{stand} stand, {fall} fall, {counts['misprint']} are misprints, {counts['open']} are open."


def _entry(outcome: Outcome) -> list[str]:
    claim = outcome.claim
    numbers = f" · {', '.join(claim.audit)}" if claim.audit else ""
    lines = [f"### {claim.id}", "", f"**{claim.verdict}** · {claim.where}{numbers}", "", f"> {_plain(claim.statement)}"]
    if claim.correction:
        lines += ["", f"{_plain(claim.correction)}"]
    if outcome.facts:
        lines += ["", "```text", *(str(fact) for fact in outcome.facts), "```"]
    links = [] if outcome.facts else ["*read*"]
    if claim.proof:
        links.append(f"[proof](derivations.md#{claim.proof})")
    links.append(f"`{claim.code}`")
    lines += ["", " · ".join(links) + (f" · {_plain(claim.note)}" if claim.note else "")]
    return lines


def _plain(text: str) -> str:
    """Text that Markdown does not take for markup."""
    for mark in ("*", "_", "<"):
        text = text.replace(mark, "\\" + mark)
    return text


def findings(outcomes: Iterable[Outcome]) -> str:
    """The README's table: the most telling claims, with one number each."""
    lines = ["| claim of the paper | verdict | what we found | smallest evidence |", "|---|---|---|---|"]
    for outcome in _ranked(outcomes):
        claim = outcome.claim
        cells = (
            f"[{claim.id}](paper_notes/claims.md#{claim.id})",
            f"**{claim.verdict}**",
            _cell(_plain(claim.headline)),
            f"`{_cell(outcome.evidence)}`",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


_MARGINS = {"rho": "ρ of f/W, fixed", "W_M": "any, of f", "B": "any, of f"}


def bounds() -> str:
    """The README's table of the bounds: what each reads, what it needs, and where its proof is."""
    lines = ["| bound | loss | complexity | margin | needs | from |", "|---|---|---|---|---|---|"]
    for bound in catalogue.theory():
        complexity = " at ".join(part for part in (bound.complexity, bound.at) if part)
        link = f"[proof]({bound.reference})" if "#" in bound.reference else bound.reference
        needs = ", ".join(id for id in catalogue.ASSUMPTIONS if id in bound.needs)
        cells = (f"`{bound.id}`", bound.loss.replace("_", " "), complexity, _MARGINS[bound.scale or "rho"], needs, link)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def spliced(readme: str, table: str, name: str = "findings") -> str:
    """The README with the table between its two marker comments.

    >>> spliced("a\\n<!-- findings -->\\nold\\n<!-- /findings -->\\nb\\n", "new\\n")
    'a\\n<!-- findings -->\\nnew\\n<!-- /findings -->\\nb\\n'
    """
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    if readme.count(begin) != 1 or readme.count(end) != 1:
        raise ValueError(f"the README must hold the comments <!-- {name} --> and <!-- /{name} --> once each.")
    before, _, rest = readme.partition(begin)
    return before + begin + table + end + rest.partition(end)[2]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# HTML


def html(outcomes: Sequence[Outcome]) -> str:
    """One self-contained page: no script, no network."""
    computed = [outcome for outcome in outcomes if not outcome.claim.is_read_only]
    supported = sum(outcome.supported for outcome in computed)
    read = len(outcomes) - len(computed)
    paper = [outcome for outcome in outcomes if not outcome.claim.is_ours]
    body = [
        "<h1>What the paper claims, and what is true</h1>",
        f"<p>Of the paper's statements {escape(_counted(paper))}</p>",
        (
            f"<p>{supported} of {len(computed)} computed verdicts, ours included, are supported by this run; "
            f"{read} could only be read.</p>"
        ),
    ]
    for section, title in SECTIONS.items():
        part = [outcome for outcome in outcomes if outcome.claim.section == section]
        if part:
            body += [f"<h2>{escape(title)}</h2>", *map(_article, part)]
    return stylesheet.document("verify-claims", "\n".join(body))


def _article(outcome: Outcome) -> str:
    claim = outcome.claim
    failed = "" if outcome.supported else ' <span class="bad">NOT SUPPORTED by this run</span>'
    parts = [
        f'<h3 id="{claim.id}">{claim.id} <span class="{_colour(claim)}">{claim.verdict}</span>{failed}</h3>',
        f'<p class="soft">{escape(claim.where)} · {escape(", ".join(claim.audit) or "ours")} · {claim.kind}</p>',
        f"<blockquote>{escape(claim.statement)}</blockquote>",
    ]
    if claim.correction:
        parts.append(f"<p>{escape(claim.correction)}</p>")
    if outcome.facts:
        parts.append("<pre>" + escape("\n".join(map(str, outcome.facts))) + "</pre>")
    if claim.note:
        parts.append(f'<p class="soft">{escape(claim.note)}</p>')
    return f"<article>{''.join(parts)}</article>"


def _colour(claim: Claim) -> str:
    if claim.verdict in ("holds", "holds with an added assumption", "loose"):
        return "good"
    return "warn" if claim.verdict in ("misprint", "open") else "bad"
