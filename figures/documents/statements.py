"""One page per statement (formula, assumptions, verdict, value, proof, function), their list, and the ledger."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins import certified, counted, latex
from adanet_theory.twins.certificate_twins import CERTIFICATES
from adanet_theory.twins.derivations import DERIVATIONS
from adanet_theory.twins.symbolic import STATEMENTS, Statement
from figures.documents.examples import ExampleNetwork, M
from figures.documents.proofs import Proof
from figures.explorer.mathml import math, sentence
from paper_notes import CERTIFYING, Claim
from verify.claims import pages as claims
from verify.claims.run import Outcome
from verify.show.markdown import plain, table

OF_ROW = frozenset({"arithmetic"})
"""What a row needs to be about the program."""
OF_COMPLEXITY: Mapping[str | None, frozenset[str]] = {
    "lemma-2": frozenset({"lipschitz", "phi-zero", "layered", "r-inf", "r-sup"}),
    "lemma-2-peeled": frozenset({"lipschitz", "phi-zero", "layered"}),
    "R_S": frozenset(),
}
"""What a row needs because an upper value stands for R_m(H_k): r_sup for the ranges is needed by the statement."""
_READS: Mapping[str | None, str] = {
    "lemma-2": "lemma-2 at the sample's r_inf for R_m(H_k), and is about the program",
    "lemma-2-peeled": "lemma-2-peeled at r_sup for R_m(H_k), and is about the program",
    "R_S": "the least known upper value of R_S(H_k), and is about the program",
}

PREMISES: Mapping[str, tuple[str, ...]] = {
    "lemma-1": ("lipschitz", "phi-zero"),
    "lemma-2": ("lipschitz", "phi-zero", "layered"),
    "confidence-C": ("None of its own: it is a term of theorem-1.",),
    "rho-uniform": ("None of its own: it is the paper's price for Theorem 1 at all ρ in (0, 1] at once.",),
    "cvx-closed-form": ("p > 1 (so q is finite), and ε ≠ 0.",),
    "lemma-1-exact": ("Every activation is bounded on bounded sets.",),
    "lemma-1-corrected": ("Every activation is Lipschitz. φ(0) may be anything.",),
    "h1-exact": ("None: it is about the linear units of the first layer.",),
    "h1-closed": ("None: it is about the linear units of the first layer.",),
    "lemma-2-peeled": ("Every activation is Lipschitz.", "phi-zero"),
    "lemma-2-peeled-data": ("Every activation is Lipschitz.", "phi-zero"),
    "lemma-2-peeled-offset": ("Every activation is Lipschitz. φ(0) may be anything.",),
    "depth-lower": ("layered", "Every activation is the ReLU. For k ≥ 2 it may also be |x|."),
    "range": ("r-sup", "Every activation is Lipschitz."),
    "objective-bound": ("iid", "membership", "r-sup", "fixed-in-advance", "feature-map", "Φ(1 - u) ≥ ψ(u) for all u."),
    "multiclass-objective-bound": ("iid", "membership", "r-sup", "fixed-in-advance", "feature-map"),
    "cvx-closed-form-corrected": ("None: any p in [1, ∞], any ε.",),
    "cvx-score": ("None: it defines g.",),
    "cvx-decrease": ("Φ'' ≤ τ. The logistic loss has τ = 1/4; the exponential loss has no finite τ.",),
    "pac-bayes-kl": ("iid", "The loss is in [0, 1].", "The prior was fixed before the sample was drawn."),
    "stochastic-certificate": (
        "iid",
        "The prior was fixed before the sample, or learned on points that are not in it.",
        "Weights are drawn anew for every prediction. It says nothing about the network with the mean weights.",
    ),
}
"""The assumptions of statements outside the catalogue, by their id or in words."""

GROUPS = {
    "paper": "printed in the paper",
    "corrected": "replaces a printed statement",
    "certificate": "certificate",
    "held-out": "from held-out points",
    "context": "a published bound, shown for comparison: no claim about the network",
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
"""Other values for a group of ids: two correlations with a finite q; c_φ of one activation, not of each layer."""


@dataclass(frozen=True)
class Page:
    """The sources of one page; a source is None if it does not exist."""

    id: str
    statement: Statement | None
    bound: Bound | None
    outcome: Outcome | None
    proof: Proof | None
    example: ExampleNetwork | None = None

    @property
    def claim(self) -> Claim | None:
        return self.outcome.claim if self.outcome else None

    @property
    def title(self) -> str:
        return self.bound.title if self.bound else self.statement.where if self.statement else self.id

    @property
    def is_certificate(self) -> bool:
        in_ledger = self.claim is not None and self.claim.section in CERTIFYING
        return in_ledger or (self.bound is not None and self.bound.group in ("certificate", "held-out"))

    @property
    def is_printed(self) -> bool:
        return self.statement is not None and self.statement.where != "theory"

    @property
    def is_ours(self) -> bool:
        context = self.bound is not None and self.bound.group in ("context", "user")
        return not (self.is_certificate or self.is_printed or context)

    @property
    def line(self) -> str:
        """The first paragraph of the docstring of its function, without its own name."""
        module, _, name = self.function.partition(":")
        words = inspect.getdoc(getattr(importlib.import_module(module), name)) if module else ""
        return (words or "").partition("\n\n")[0].replace("\n", " ").removeprefix(f"{self.id}: ")

    @property
    def function(self) -> str:
        """module:name of the numeric form."""
        if self.bound and isinstance(self.bound.function, str):
            return self.bound.function
        return _offered(self.id) or (self.claim.code if self.claim else "")


def _offered(id: str) -> str:
    """The module:name behind that id in adanet_theory; "" if there is none."""
    import adanet_theory

    name = id.replace("-", "_")
    offered = getattr(adanet_theory, name) if name in adanet_theory.__all__ else None
    return f"{offered.__module__}:{offered.__name__}" if offered else ""


def ids(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Every statement with a twin, every bound of the catalogue, every certificate of the ledger, each once."""
    certificates = [id for id, outcome in outcomes.items() if outcome.claim.section in CERTIFYING]
    return list(dict.fromkeys([*STATEMENTS, *catalogue.ids(catalogue.select()), *certificates]))


def pages(
    outcomes: Mapping[str, Outcome], proofs: Mapping[str, Proof], examples: Mapping[str, ExampleNetwork] | None = None
) -> list[Page]:
    bounds = {bound.id: bound for bound in catalogue.select()}
    twins = {**CERTIFICATES, **STATEMENTS}
    return [
        Page(
            id,
            twins.get(id),
            bounds.get(id),
            outcomes.get(id),
            proofs.get(_proof_of(id, outcomes)),
            (examples or {}).get(id),
        )
        for id in ids(outcomes)
    ]


def _proof_of(id: str, outcomes: Mapping[str, Outcome]) -> str:
    """The heading of the proof: a claim names it, and any other statement has its own id."""
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
        words.append(_judged(page, page.claim))
    return " · ".join(filter(None, words)) or "A part of other statements."


def _judged(page: Page, claim: Claim) -> str:
    """The verdict; if the statement replaces a claim of the paper, the verdict is on that claim."""
    kind = "verdict on the claim it replaces" if page.is_ours and not claim.is_ours else "verdict"
    return f"{kind}: {_ledger(claim)}"


def _ledger(claim: Claim) -> str:
    """The verdict as a link to its place in the ledger, whose ids Sphinx does not see."""
    return f'<a href="../ledger.html#{claim.id}">{claim.verdict}</a>'


def _raw(html: str) -> str:
    return "```{raw} html\n" + html + "\n```"


def _formula(page: Page) -> list[str]:
    """The twin in MathML and, folded, the LaTeX; without a twin, the words of the ledger."""
    if page.statement is None:
        return ["## Statement", "> " + plain(page.claim.statement)] if page.claim else []
    statement = page.statement
    relation = latex.RELATION[statement.relation]
    rows = [
        f"<tr><td>{left}</td><td>{math(sign)}</td><td>{math(latex.latex_of(term), display=True)}</td>"
        f'<td class="term">{escape(name.replace("_", " ")) if len(statement.terms) > 1 else ""}</td></tr>'
        for (name, term), left, sign in zip(
            statement.terms.items(),
            [math(latex.latex_of(statement.lhs), display=True), *[""] * len(statement.terms)],
            [relation, *["+"] * len(statement.terms)],
            strict=False,
        )
    ]
    formula = f'<div class="statement"><table>{"".join(rows)}</table></div>'
    clauses = [*map(latex.latex_definition, statement.definitions), *statement.given]
    listed = "".join(f"<li><div>{sentence(clause)}</div></li>" for clause in clauses)
    where = f'<p>where</p><ul class="where">{listed}</ul>' if clauses else ""
    folded = "<details><summary>LaTeX</summary>"
    source = f"```latex\n{statement.latex()}\n```"
    return ["## Statement", _raw(formula + where), _twin(page), folded, source, "</details>"]


def _twin(page: Page) -> str:
    twin = f'`adanet_theory.statement("{page.id}")`'
    return f"Printed from the symbolic twin {twin}, which was written independently of the function below."


def _assumptions(page: Page) -> list[str]:
    if page.bound is None:
        premises = PREMISES.get(page.id, ("As the statement says.",))
        lines = [
            f"- `{premise}`: {catalogue.ASSUMPTIONS[premise]}" if premise in catalogue.ASSUMPTIONS else f"- {premise}"
            for premise in premises
        ]
    else:
        needed = [id for id in catalogue.ASSUMPTIONS if id in page.bound.needs]
        of_row = [id for id in needed if page.bound.complexity and id in OF_ROW | OF_COMPLEXITY[page.bound.complexity]]
        lines = [f"- `{id}`: {catalogue.ASSUMPTIONS[id]}" for id in needed if id not in of_row]
        if page.bound.assumes:
            lines.append(f"- Not checked here: {plain(page.bound.assumes)}")
        if of_row:
            lines += [
                "",
                f"Its row in a report reads {_READS[page.bound.complexity]}. For that it needs, in addition:",
                "",
            ]
            lines += [f"- `{id}`: {catalogue.ASSUMPTIONS[id]}" for id in of_row]
    return ["## Assumptions", "\n".join(lines) or "None that a report checks."]


def _verdict(page: Page) -> list[str]:
    if page.outcome is None or page.claim is None:
        return []
    claim, outcome = page.claim, page.outcome
    lines = ["## Is it true?", f"{_judged(page, claim)} · {claim.place}"]
    if page.statement is not None:
        lines.append("> " + plain(claim.statement))
    if claim.correction:
        lines.append("What is true: " + plain(claim.correction))
    if outcome.facts:
        facts = "\n".join(f"- `{fact}`" for fact in outcome.facts)
        lines += ["Evidence, computed when this page was built:", facts]
    lines.append(_machine(claim))
    return lines


def _machine(claim: Claim) -> str:
    """The parts of the proof that a machine checked: theorems in Coq, steps by sympy, or none."""
    if claim.checked:
        theorems = ", ".join(f"`{theorem}`" for theorem in claim.checked)
        return f"Machine-checked: {theorems} (`paper_notes/proofs`)."
    steps = DERIVATIONS.get(claim.id) or DERIVATIONS.get(claim.proof) or []
    if steps:
        reasons = "\n".join(f"{number}. {plain(step.reason)}" for number, step in enumerate(steps, start=1))
        folded = f"<details><summary>the {len(steps)} steps</summary>\n\n{reasons}\n\n</details>"
        return f"Not machine-checked as a whole. Sympy checks {len(steps)} steps of its derivation.\n\n{folded}"
    return "Not machine-checked."


def _value(page: Page) -> list[str]:
    """An upper value of every term at the example; nothing without a twin, or if it has no value there."""
    if page.example is not None:
        return ["## Certified value", *_of_network(page.example)]
    if page.bound is not None and page.id in counted.UPPER:
        return ["## Certified value", *_of_counts(page.bound)]
    if page.id not in STATEMENTS:
        return []
    values = dict(EXAMPLE)
    for part, own in OWN.items():
        values |= own if part in page.id else {}
    try:
        terms = certified.terms_upper(page.id, values)
    except (certified.Undefined, ValueError) as reason:
        return ["## Certified value", f"No value at the example of these pages: {plain(str(reason))}"]
    shown = [name for name in terms if name != "total" or len(terms) > 2]  # of one term the total is that term
    rows = [[name.replace("_", " "), repr(terms[name])] for name in shown]
    return ["## Certified value", _AT, table(["term", "never below the true value"], rows)]


def _of_network(example: ExampleNetwork) -> list[str]:
    """The certificate of a small example, a network with its sample."""
    rows = [[name, repr(value)] for name, value in [*example.terms.items(), ("**bound**", example.value)]]
    words = f"This is the certificate of {plain(example.network)} with {M:,} points drawn in [-1, 1]⁴, at δ = .05"
    return [f"{words}, as in verify-bounds, rounded outward:", table(["term", "value"], rows)]


def _of_counts(bound: Bound) -> list[str]:
    """The examples of the catalogue."""
    rows = []
    for example in bound.examples:
        arguments = ", ".join(f"{plain(name)} = {value}" for name, value in example.arguments.items())
        rows.append([plain(example.words), arguments, repr(counted.UPPER[bound.id](**example.arguments))])
    return [table(["example", "arguments", "never below the true value"], rows)]


_AT = "Computed in [ball arithmetic](../api/twins.md) at the [example](index.md#the-example) of these pages."


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


# The list of them


_PARTS = {
    "Printed in the paper": lambda page: page.is_printed,
    "Corrected and new": lambda page: page.is_ours,
    "Certificates": lambda page: page.is_certificate,
    "Published bounds, for comparison": lambda page: page.bound is not None and page.bound.group == "context",
}


def index(listed: list[Page]) -> str:
    parts = [f"## {title}\n\n{_table(list(filter(chosen, listed)))}" for title, chosen in _PARTS.items()]
    names = "\n".join(page.id for chosen in _PARTS.values() for page in filter(chosen, listed))
    return f"""# Statements

These pages list every statement that the code computes, as printed in the paper and as corrected. Each page has the
formula (from its symbolic twin), the assumptions, the verdict, a certified value, the proof, and the function.

{chr(10).join(parts)}

## The example

Certified values are those of a layered family with n = (154, 100, 100), Λ = 1, p = 1, ReLU, m = 9600, ρ = .1, δ = .05,
r = 1, half of ‖w‖₁ on each layer, and an empirical loss of .02. If complexities are given and not computed, they are
R(H₁) = .02 and R(H₂) = .04. The pages of AdaNet.CVX have p = 2 and two correlations,
.3 and -.1. These values show the size of the terms and make no claim about a network. The pages of certificates name
the small networks that they use.

```{{toctree}}
:hidden:

{names}
```
"""


def _table(listed: list[Page]) -> str:
    judged = [_judged(page, page.claim).removeprefix("verdict: ") if page.claim else "not a claim" for page in listed]
    rows = [[f"[{page.id}]({page.id}.md)", plain(page.line), said] for page, said in zip(listed, judged, strict=True)]
    return table(["statement", "in one line", "verdict"], rows)


def ledger(outcomes: Sequence[Outcome], statements: Collection[str]) -> str:
    """The ledger as verify-claims --html has it, with links to the proofs and to `statements`, which have pages."""

    def links(claim: Claim) -> str:
        places = {"statement": f"statements/{claim.id}.html"} if claim.id in statements else {}
        if claim.proof:
            places["proof"] = f"derivations.html#{claim.proof}"
        joined = " · ".join(f'<a href="{place}">{name}</a>' for name, place in places.items())
        return f"<p>{joined}</p>" if joined else ""

    body = claims.part(outcomes, links)
    return f"# The paper, claim by claim\n\n```{{raw}} html\n{body}\n```\n"
