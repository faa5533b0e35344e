"""The ledger in words: claims.md with the table of bounds, the README's table of findings, and an HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape

from adanet_theory import catalogue
from paper_notes import SECTIONS, VERDICTS, Claim
from verify.claims.run import Outcome, tally
from verify.show import stylesheet
from verify.show.markdown import plain, table

_MEANING = {
    "holds": "true as stated",
    "holds with an added assumption": "true once a missing condition is added",
    "loose": "true, but a stronger statement holds",
    "misprint": "an obvious misprint",
    "false": "refuted by an example, or contradicted by the paper's own numbers",
    "unsupported": "neither proved nor shown by what the paper offers",
    "open": "not settled; the best found is recorded",
}


_INTRODUCTION = """\
{total} statements of *AdaNet* (ICML 2017), each with a verdict: {counted} {ours} more are not the paper's: corrections
of ours, results of others that replace a claim, and two drafts of ours that failed.
Every verdict but those marked *read* is backed by a check that computes both sides, and that comes out the other way
when its example or its formula is changed. `verify-claims` runs them all, `verify-claims ID -v` shows one in full.
Proofs are in [derivations.md](derivations.md), those that a machine checked in [proofs](proofs/README.md), the letters
in [notation.md](notation.md); pages and numbers are those of arXiv:1607.01097v3, lines those of its LaTeX source."""


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
        _by_verdict(outcomes).rstrip(),
    ]
    for section, title in SECTIONS.items():
        part = [outcome for outcome in outcomes if outcome.claim.section == section]
        if part:
            lines += ["", f"## {title}"]
            for outcome in part:
                lines += ["", *_entry(outcome)]
    lines += ["", "## What each bound reads and needs", "", bounds("").rstrip()]
    return "\n".join(lines) + "\n"


def _by_verdict(outcomes: Sequence[Outcome]) -> str:
    rows = []
    for verdict in VERDICTS:
        ids = [outcome.claim.id for outcome in outcomes if outcome.claim.verdict == verdict]
        if ids:
            links = ", ".join(f"[{id}](#{id})" for id in ids)
            rows.append([f"**{verdict}** ({len(ids)})", _MEANING[verdict], links])
    return table(["verdict", "meaning", "claims"], rows)


FINDINGS = 5
"""How many the README shows; claims.md has them all."""


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


_REST = ("false", "unsupported", "misprint", "open")


def _counted(outcomes: Sequence[Outcome]) -> str:
    counts = {verdict: sum(outcome.claim.verdict == verdict for outcome in outcomes) for verdict in VERDICTS}
    stand = counts["holds"] + counts["holds with an added assumption"] + counts["loose"]
    rest = ", ".join(f"{counts[verdict]} {'misprints' if verdict == 'misprint' else verdict}" for verdict in _REST)
    return f"{stand} stand (some with an added assumption, some are loose), {rest}."


def _entry(outcome: Outcome) -> list[str]:
    claim = outcome.claim
    lines = [f"### {claim.id}", "", f"**{claim.verdict}** · {claim.place}", "", f"> {_plain(claim.statement)}"]
    if claim.correction:
        lines += ["", f"{_plain(claim.correction)}"]
    if outcome.facts:
        lines += ["", "```text", *(str(fact) for fact in outcome.facts), "```"]
    links = [] if outcome.facts else ["*read*"]
    if claim.proof:
        links.append(f"[proof](derivations.md#{claim.proof})")
    links += [f"machine-checked: [{file}](proofs/{file})" for file in claim.proof_files]
    links.append(f"`{claim.code}`")
    lines += ["", " · ".join(links) + (f" · {_plain(claim.note)}" if claim.note else "")]
    return lines


_plain = partial(plain, marks="*_<")


def findings(outcomes: Iterable[Outcome]) -> str:
    """The README's table: the five most telling claims."""
    claims = [outcome.claim for outcome in _ranked(outcomes)[:FINDINGS]]
    rows = [
        [f"[{claim.id}](paper_notes/claims.md#{claim.id})", f"**{claim.verdict}**", _plain(claim.headline)]
        for claim in claims
    ]
    return table(["claim of the paper", "verdict", "what we found"], rows)


_MARGINS = {"rho": "ρ of f/W, fixed", "W_M": "any, of f", "B": "any, of f"}


def bounds(notes: str) -> str:
    """The table of the bounds: what each reads, what it needs, and its proof, below the folder `notes`."""
    rows = []
    for bound in catalogue.theory():
        complexity = " at ".join(part for part in (bound.complexity, bound.at) if part)
        place = bound.reference.replace("paper_notes/", notes)
        link = f"[proof]({place})" if "#" in place else place
        needs = ", ".join(id for id in catalogue.ASSUMPTIONS if id in bound.needs)
        rows.append(
            [f"`{bound.id}`", bound.loss.replace("_", " "), complexity, _MARGINS[bound.scale or "rho"], needs, link]
        )
    return table(["bound", "loss", "complexity", "margin", "needs", "from"], rows)


# HTML

_LOOK = """
.ledger article { border-top: 1px solid var(--line); padding: .5rem 0; }
.ledger summary { display: flex; flex-wrap: wrap; gap: .1rem .7rem; align-items: baseline; }
.ledger summary::before { content: "\\25b8"; } .ledger [open] > summary::before { content: "\\25be"; }
.ledger summary .said { flex-basis: 100%; } .ledger [hidden] { display: none; }
.ledger form { display: flex; flex-wrap: wrap; gap: .4rem .9rem; align-items: center; margin: 1rem 0; }
.ledger input[type="search"] { font: inherit; padding: .3rem .5rem; flex: 1 1 14rem; color: inherit;
  background: var(--tint); border: 1px solid var(--line); border-radius: .3rem; }
.ledger label { white-space: nowrap; } .ledger .detail { padding: .2rem 0 .6rem 1rem; }
"""

_SCRIPT = r"""
(() => {
  "use strict";
  const root = document.querySelector(".ledger");
  const articles = [...root.querySelectorAll("article")];
  const search = root.querySelector("input[type=search]");
  const boxes = [...root.querySelectorAll("input[type=checkbox]")];
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    let count = 0;
    for (const article of articles) {
      const text = article.textContent.toLowerCase();
      const wanted = verdicts.has(article.dataset.verdict) && words.every((word) => text.includes(word));
      article.hidden = !wanted;
      count += wanted;
    }
    for (const part of root.querySelectorAll("section.part"))
      part.hidden = !part.querySelector("article:not([hidden])");
    root.querySelector("output").textContent = `${count} of ${articles.length} shown`;
  };
  const unfold = () => {
    const article = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (article?.matches(".ledger article")) {
      article.hidden = article.closest("section").hidden = false;
      article.querySelector("details").open = true;
      article.scrollIntoView();
    }
  };
  root.querySelector("form").hidden = false;
  root.querySelector("form").addEventListener("input", show);
  root.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", unfold);
  show();
  unfold();
})();
"""


def html(outcomes: Sequence[Outcome]) -> str:
    """One self-contained page that works offline; without its script it shows everything."""
    title = "<h1>What the paper claims, and what is true</h1>"
    return stylesheet.document("verify-claims", title + ledger(outcomes), style=_LOOK, script=_SCRIPT)


def part(outcomes: Sequence[Outcome], links: Callable[[Claim], str]) -> str:
    """The ledger for a page that brings its own frame; `links` makes the text at the end of a claim."""
    return f"<style>{_LOOK}</style>\n{ledger(outcomes, links)}\n<script>{_SCRIPT}</script>"


def ledger(outcomes: Sequence[Outcome], links: Callable[[Claim], str] = lambda claim: "") -> str:
    """How to read it, a form that filters, and every claim folded under its verdict."""
    supported, computed, read = tally(outcomes)
    paper = [outcome for outcome in outcomes if not outcome.claim.is_ours]
    lines = [
        '<div class="ledger">',
        f"<p>The {len(paper)} statements of the paper: {escape(_counted(paper))}</p>",
        (
            "<p>The coloured word is the verdict on the statement: <q>lemma-1, false</q> means that Lemma 1 is false. "
            f"A check confirms it, here by computing the counterexample again. In this run {supported} of "
            f"{computed} checks confirm their verdict; {read} statements need no computation, because reading "
            "settles them. Unfold a line for the statement, what is true, and the numbers. Pages and equation numbers "
            "are those of arXiv:1607.01097v3, lines those of its LaTeX source.</p>"
        ),
        _form(outcomes),
    ]
    for section, title in SECTIONS.items():
        own = [outcome for outcome in outcomes if outcome.claim.section == section]
        if own:
            articles = "\n".join(_article(outcome, links) for outcome in own)
            lines.append(f'<section class="part"><h2>{escape(title)}</h2>\n{articles}</section>')
    return "\n".join([*lines, "</div>"])


def _form(outcomes: Sequence[Outcome]) -> str:
    """Hidden until the script that it needs has run."""
    boxes = ""
    for verdict in VERDICTS:
        count = sum(outcome.claim.verdict == verdict for outcome in outcomes)
        if count:
            box = f'<input type="checkbox" value="{verdict}" checked>'
            boxes += f'<label title="{_MEANING[verdict]}">{box} {verdict} ({count})</label>'
    return f'<form hidden><input type="search" aria-label="search" placeholder="search">{boxes}<output></output></form>'


def _article(outcome: Outcome, links: Callable[[Claim], str]) -> str:
    claim = outcome.claim
    failed = "" if outcome.supported else ' <span class="bad">NOT SUPPORTED by this run</span>'
    verdict = f'<strong class="{_colour(claim)}" title="{_MEANING[claim.verdict]}">{claim.verdict}</strong>{failed}'
    said = claim.headline or claim.statement
    detail = [f"<blockquote>{escape(claim.statement)}</blockquote>", f"<p>{_read(outcome)}</p>"]
    if claim.correction:
        detail.append(f"<p><b>What is true:</b> {escape(claim.correction)}</p>")
    if outcome.facts:
        detail.append("<pre>" + escape("\n".join(map(str, outcome.facts))) + "</pre>")
    if claim.checked:
        detail.append(f'<p class="good">machine-checked: paper_notes/proofs/{escape(", ".join(claim.checked))}</p>')
    detail += [f'<p class="soft">{escape(text)}</p>' for text in (claim.note, claim.code) if text]
    detail.append(links(claim))
    head = f'<code>{claim.id}</code> {verdict} <span class="soft">{escape(claim.place)}</span>'
    return (
        f'<article id="{claim.id}" data-verdict="{claim.verdict}"><details><summary>{head}'
        f'<span class="said">{escape(said)}</span></summary>'
        f'<div class="detail">{"".join(detail)}</div></details></article>'
    )


_HOW = {
    "symbolic": "an identity, decided by algebra",
    "exact": "computed exactly on an example",
    "property": "searched over many examples",
    "statistical": "tested on samples",
    "counterexample": "a counterexample, computed",
    "reading": "seen by reading, nothing to compute",
}


def _read(outcome: Outcome) -> str:
    """The verdict in a sentence: what it means, how it was checked, and what the check said."""
    claim = outcome.claim
    sentence = f"{claim.verdict[0].upper()}{claim.verdict[1:]}: {_MEANING[claim.verdict]}. Checked: {_HOW[claim.kind]}"
    if claim.is_read_only:
        return sentence + "."
    return sentence + ("; this run confirms it." if outcome.supported else "; this run does NOT confirm it.")


def _colour(claim: Claim) -> str:
    if claim.verdict in ("holds", "holds with an added assumption", "loose"):
        return "good"
    return "warn" if claim.verdict in ("misprint", "open") else "bad"
