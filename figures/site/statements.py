"""One page per statement: formula, assumptions, verdict, certified value, proof and function, from where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified, latex
from adanet_theory.twins.derivations import DERIVATIONS
from adanet_theory.twins.symbolic import STATEMENTS, Statement
from figures.explorer.mathml import math, sentence
from figures.site.proofs import Proof
from paper_notes import Claim
from verify.claims.run import Outcome

NEEDS = {
    "iid": "The m points were drawn independently from one law, that of the risk.",
    "lipschitz": "Every activation is 1-Lipschitz.",
    "phi-zero": "Every activation is 0 at 0.",
    "homogeneous": "Every activation is positively homogeneous: φ(cx) = cφ(x) for c ≥ 0, as ReLU.",
    "membership": "The network is in the declared family: every unit has ‖u‖ₚ ≤ Λ.",
    "layered": "A unit reads the layer directly below it and no other.",
    "range": "|h| ≤ 1 on every layer of the family.",
    "depth": "l ≥ 2: the print divides by log l.",
    "normalised": "The margin is that of f/W, so W > 0.",
    "r-sup": "A bound on ‖Ψ‖∞ on the whole support was known before the sample.",
    "r-inf": "r∞ of the sample stands for E[r∞] of the print, which is certain only where r∞ = r_sup.",
    "linear": "f is linear in Ψ.",
    "tree": "The network unrolls into a tree: two classes, layers, positively homogeneous, not linear, not too large.",
    "delta": "δ is large enough for it to follow from margin-bound: its own proof does not reach its constants.",
    "fixed-in-advance": "Depth, widths, Λ, p (and ρ, where it is fixed) were chosen before the sample was seen.",
    "feature-map": "Ψ was fixed before the sample was drawn.",
}
"""What each assumption of the catalogue says."""

GROUPS = {
    "paper": "printed in the paper",
    "corrected": "takes the place of what is printed",
    "certificate": "certificate",
    "held-out": "read off held-out points",
    "context": "others' bound, shown for context: no claim about the network",
    "user": "registered by a user",
}

FAMILY = NetworkSpec.layered((154, 100, 100), 1.0, 1)
EXAMPLE: Mapping[str, Any] = {
    **certified.spec_values(FAMILY),
    "k": 2, "m": 9600, "rho": "0.1", "delta": "0.05", "eta": "0.05", "j": 10, "d": 1, "C": 10, "B": 1,
    "r_inf": 1, "r_rms": 1, "r_sup": 1, "margin_error": "0.02", "ramp": "0.02", "ramp_j": "0.02", "loss": "0.02",
    "w": ["0.5", "0.5"], "R": ["0.02", "0.04"], "M": 1, "M_k": [1, 1], "E_sup": [192, 384], "E_norm": 192,
    "sum_sq": 9600, "s": 1, "i": 1, "eps": ["0.3", "-0.1"], "S": 4800, "g_s": "0.2", "Gamma": "0.1", "tau": "0.25",
    "h_ms": 1,
}  # fmt: skip
"""The values at which every page shows its statement: the family of the README, m = 9600, δ = .05."""
OWN: Mapping[str, Mapping[str, Any]] = {"cvx": {"n": [2], "p": 2}, "posteriori": {"c": "1.5"}}
"""What a group of ids reads otherwise: two correlations with a finite q; c_φ of one activation, not of each layer."""


@dataclass(frozen=True)
class Page:
    """What is known of one id; what is None does not exist."""

    id: str
    statement: Statement | None
    bound: Bound | None
    outcome: Outcome | None
    proof: Proof | None

    @property
    def claim(self) -> Claim | None:
        return self.outcome.claim if self.outcome else None

    @property
    def title(self) -> str:
        return self.bound.title if self.bound else self.statement.where if self.statement else self.id

    @property
    def function(self) -> str:
        """module:name of the numeric form."""
        if self.bound and isinstance(self.bound.function, str):
            return self.bound.function
        return _offered(self.id) or (self.claim.code if self.claim else "")


def _offered(id: str) -> str:
    """Where the door of adanet_theory finds the function of that name."""
    import adanet_theory

    name = id.replace("-", "_")
    found = getattr(adanet_theory, name) if name in adanet_theory.__all__ else None
    return f"{found.__module__}:{found.__name__}" if found else ""


def ids(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Every statement with a twin, every bound of the catalogue, every certificate of the ledger, each once."""
    certificates = [id for id, outcome in outcomes.items() if outcome.claim.section == "certificates"]
    return list(dict.fromkeys([*STATEMENTS, *catalogue.ids(catalogue.select()), *certificates]))


def pages(outcomes: Mapping[str, Outcome], proofs: Mapping[str, Proof]) -> list[Page]:
    known = {bound.id: bound for bound in catalogue.select()}
    return [
        Page(id, STATEMENTS.get(id), known.get(id), outcomes.get(id), proofs.get(_proof_of(id, outcomes)))
        for id in ids(outcomes)
    ]


def _proof_of(id: str, outcomes: Mapping[str, Outcome]) -> str:
    """A claim names the heading of its proof; what is no claim is found under its own id."""
    return (id in outcomes and outcomes[id].claim.proof) or id


# The page


def markdown(page: Page) -> str:
    parts = [
        f"# {page.id}",
        _head(page),
        *_formula(page),
        *_assumptions(page),
        *_verdict(page),
        *_value(page),
        *_proof(page),
        *_function(page),
    ]
    return "\n\n".join(parts) + "\n"


def _head(page: Page) -> str:
    words = [f"**{page.title}**"] if page.title not in (page.id, "theory") else []
    words.append(GROUPS[page.bound.group] if page.bound else "ours" if page.claim and page.claim.is_ours else "")
    if page.claim:
        words.append(f"verdict: {_ledger(page.claim)}")
    return " · ".join(filter(None, words)) or "A part of other statements."


def _ledger(claim: Claim) -> str:
    """The verdict as a link to its place in the ledger, whose ids Sphinx does not see."""
    return f'<a href="../ledger.html#{claim.id}">{claim.verdict}</a>'


def _raw(html: str) -> str:
    return "```{raw} html\n" + html + "\n```"


def _formula(page: Page) -> list[str]:
    """The twin in MathML and, folded, the LaTeX; where there is no twin, the words of the ledger or the docstring."""
    if page.statement is None:
        return ["## Statement", "> " + plain(page.claim.statement)] if page.claim else []
    statement = page.statement
    relation = latex.RELATION[statement.relation]
    rows = [
        f"<tr><td>{left}</td><td>{math(sign)}</td><td>{math(latex.latex_of(term), display=True)}</td>"
        f'<td class="term">{escape(name.replace("_", " "))}</td></tr>'
        for (name, term), left, sign in zip(
            statement.terms.items(),
            [math(latex.latex_of(statement.lhs), display=True), *[""] * len(statement.terms)],
            [relation, *["+"] * len(statement.terms)],
            strict=False,
        )
    ]
    table = f'<div class="statement"><table>{"".join(rows)}</table></div>'
    clauses = [*map(latex.latex_definition, statement.definitions), *statement.given]
    where = f"<p>where</p><ul>{''.join(f'<li>{sentence(clause)}</li>' for clause in clauses)}</ul>" if clauses else ""
    folded = "<details><summary>LaTeX</summary>"
    source = f"```latex\n{statement.latex()}\n```"
    return ["## Statement", _raw(table + where), folded, source, "</details>"]


def _assumptions(page: Page) -> list[str]:
    if page.bound is None:
        return []
    lines = [f"- `{id}`: {NEEDS[id]}" for id in catalogue.ASSUMPTIONS if id in page.bound.needs]
    if page.bound.assumes:
        lines.append(f"- In words, which nothing here checks: {plain(page.bound.assumes)}")
    return ["## Assumptions", "\n".join(lines) or "None that a report checks."]


def _verdict(page: Page) -> list[str]:
    if page.outcome is None or page.claim is None:
        return []
    claim, outcome = page.claim, page.outcome
    lines = ["## Is it true", f"**{claim.verdict}** ({claim.place})."]
    if page.statement is not None:
        lines.append("> " + plain(claim.statement))
    if claim.correction:
        lines.append("What is true: " + plain(claim.correction))
    if outcome.facts:
        facts = "\n".join(map(str, outcome.facts))
        lines += ["Evidence, computed when this page was made:", f"```text\n{facts}\n```"]
    lines.append(_machine(claim))
    return lines


def _machine(claim: Claim) -> str:
    """What a machine has decided of the proof: a file of a proof assistant, steps by sympy, or neither."""
    if claim.checked:
        theorems = ", ".join(f"`{theorem}`" for theorem in claim.checked)
        return f"Machine-checked: {theorems} (`paper_notes/proofs`)."
    steps = DERIVATIONS.get(claim.id) or DERIVATIONS.get(claim.proof) or []
    if steps:
        reasons = "\n".join(f"{number}. {plain(step.reason)}" for number, step in enumerate(steps, start=1))
        return f"Not machine-checked as a whole; sympy decides {len(steps)} steps of its derivation:\n\n{reasons}"
    return "Not machine-checked."


def _value(page: Page) -> list[str]:
    """The enclosure of every term at the example; nothing where the twin does not exist or has no value there."""
    if page.statement is None:
        return []
    values = dict(EXAMPLE)
    for part, own in OWN.items():
        values |= own if part in page.id else {}
    try:
        terms = certified.terms_upper(page.id, values)
    except (certified.Undefined, ValueError) as reason:
        return ["## Certified value", f"No value at the example of these pages: {plain(str(reason))}"]
    lines = ["| term | never below the true value |", "|---|---|"]
    shown = [name for name in terms if name != "total" or len(terms) > 2]  # of one term the total is that term
    lines += [f"| {name.replace('_', ' ')} | {terms[name]!r} |" for name in shown]
    return ["## Certified value", _AT, "\n".join(lines)]


_AT = "In [ball arithmetic](../api/twins.md) at the [example](index.md#the-example) of these pages."


def _proof(page: Page) -> list[str]:
    if page.proof is None:
        reference = page.bound.reference if page.bound else ""
        return ["## Proof", f"In the source: {plain(reference)}."] if reference and "#" not in reference else []
    return ["## Proof", f"From [Derivations](../derivations.md#{page.proof.anchor}).", page.proof.text]


def _function(page: Page) -> list[str]:
    if not page.function:
        return []
    path = page.function.replace(":", ".")
    kind = "autoclass" if path.rpartition(".")[2][:1].isupper() else "autofunction"
    return ["## Function", f"```{{eval-rst}}\n.. {kind}:: {path}\n   :no-index:\n```"]


def plain(text: str) -> str:
    """Text that Markdown does not take for markup."""
    for mark in ("\\", "*", "_", "<", "[", "|", "`", "$"):
        text = text.replace(mark, "\\" + mark)
    return text


# The list of them


def index(listed: list[Page]) -> str:
    rows = ["| statement | | verdict |", "|---|---|---|"]
    for page in listed:
        verdict = _ledger(page.claim) if page.claim else ""
        group = GROUPS[page.bound.group] if page.bound else page.statement.where if page.statement else "certificate"
        rows.append(f"| [{page.id}]({page.id}.md) | {'' if group == 'theory' else group} | {verdict} |")
    names = "\n".join(page.id for page in listed)
    return f"""# Statements

Every statement that the code computes: as the paper prints it, and what takes its place. Each page has the formula
(from its symbolic twin), what it needs, whether it is true, its value enclosed in balls, the proof, and the function.

{chr(10).join(rows)}

## The example

Certified values are those of a layered family with n = (154, 100, 100), Λ = 1, p = 1, ReLU, m = 9600, ρ = .1, δ = .05,
r = 1, half of ‖w‖₁ on either layer, an empirical loss of .02 and, where complexities are given and not computed,
R(H₁) = .02 and R(H₂) = .04. The pages of AdaNet.CVX have p = 2 and two correlations,
.3 and -.1. They show the size of the terms; they are no claim about a network.

```{{toctree}}
:hidden:

{names}
```
"""
