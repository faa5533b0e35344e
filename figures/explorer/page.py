"""The explorer as one HTML page: every statement term by term with its formulas, and the scripts that fill it in."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Any

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.twins import latex
from adanet_theory.twins.symbolic import STATEMENTS
from figures.explorer.content import BOUNDS, DEPTHS, LEMMAS, PROMISES, STATE, data, formulas
from figures.explorer.mathml import math, sentence
from verify.show import stylesheet

_SCRIPTS = ("state.js", "bounds.js", "chart.js", "controls.js", "results.js", "page.js")
_COMPLEXITIES = {
    "lemma-2": "ℜ(ℋₖ) is bounded by lemma-2",
    "lemma-2-peeled": "ℜ(ℋₖ) is bounded by lemma-2-peeled",
    "R_S": "R̂(ℋₖ) is the least of h1-closed or lemma-1-corrected and lemma-2-peeled,",
}
_SIZES = {"r_inf": "r∞", "r_sup": "r_sup", "r_rms": "r_rms"}
_CURVES = (
    ("#c26a00", "#f0a030", "7 3"),
    ("#c03a00", "#ff7d45", "2 3"),
    ("#a8457d", "#e08fbd", "8 3 2 3"),
    ("#1a6fb0", "#5ab0f0", "none"),
    ("#3d94c9", "#93d0f5", "12 3"),
    ("#5a5a60", "#b4b4ba", "4 2"),
    ("#6a51a3", "#b9a7e8", "6 2 2 2 2 2"),
    ("#8a6d1f", "#d8bd6a", "3 2"),
    ("#2f9a72", "#8fdcbf", "10 2 2 2"),
    ("#00694c", "#35b58a", "none"),
)
_COLUMNS = ("lemma-2, printed", "lemma-2-peeled", "least upper value of R̂(ℋₖ)", "range Mₖ")


def document(
    state: Mapping[str, Any] | None = None, *, margins: Mapping[str, Any] | None = None, words: str = ""
) -> str:
    """The whole page; it opens with the given state."""
    opening = dict(state or STATE)
    depths = max(DEPTHS, len(opening["n"]) - 1)
    script = "\n".join([data(opening, margins=margins, depths=depths), formulas(depths), *map(_asset, _SCRIPTS)])
    return stylesheet.document("AdaNet's bounds", _body(words), style=_asset("explorer.css") + _lines(), script=script)


def _lines() -> str:
    """The colour on white, the colour on black and the dashes of each bound's curve, in their order."""
    styles = {id: _CURVES[place % len(_CURVES)] for place, id in enumerate(catalogue.ids(BOUNDS))}
    where = {id: f".c-{id}, .is-{id} .swatch path" for id in styles}
    light = [f"{where[id]} {{ stroke: {style[0]}; stroke-dasharray: {style[2]}; }}" for id, style in styles.items()]
    dark = [f"{where[id]} {{ stroke: {style[1]}; }}" for id, style in styles.items()]
    return "\n".join([*light, "@media (prefers-color-scheme: dark) {", *dark, "}", ""])


def _asset(name: str) -> str:
    return resources.files("figures.explorer").joinpath(name).read_text(encoding="utf-8")


def _body(words: str) -> str:
    return Template(_asset("page.html")).substitute(
        words=f'<p class="soft">It opens with a trained network: {escape(words)}</p>' if words else "",
        promises=_promises(),
        key=_key(),
        printed="".join(_bound(bound) for bound in BOUNDS if bound.is_printed),
        corrected="".join(_bound(bound) for bound in BOUNDS if not bound.is_printed),
        heads="".join(f'<th scope="col" class="n">{escape(head)}</th>' for head in _COLUMNS),
        lemmas="".join(map(_lemma, LEMMAS)),
    )


def _promises() -> str:
    return "".join(
        f'<label class="tick"><input type="checkbox" id="promise-{id}"> {escape(text)}</label>'
        for id, text in PROMISES.items()
    )


def _key() -> str:
    return "".join(
        f'<label class="is-{id}"><input type="checkbox" id="show-{id}" checked>{_SWATCH}<code>{id}</code>'
        f'<span id="k-{id}" class="n"></span></label>'
        for id in catalogue.ids(BOUNDS)
    )


_SWATCH = '<svg class="swatch" viewBox="0 0 28 8" aria-hidden="true"><path d="M0 4H28"></path></svg>'


def _reads(bound: Bound) -> str:
    """The complexity in a bound, the size of Ψ, and the margin of a grid at which it is shown."""
    parts = []
    if bound.complexity is not None and bound.reads & {"R_m", "R_S"}:
        largest = ", M = max Mₖ" if bound.range == "M" else ""
        parts.append(f"{_COMPLEXITIES[bound.complexity]} at {_SIZES[bound.at or 'r_inf']}{largest}")
    elif bound.at == "r_inf":
        parts.append("The sample's r∞ replaces its expectation")
    if bound.scale != "rho":
        parts.append("j is the least with ρⱼ ≤ ρ")
    if bound.scale == "B":
        parts.append("B is the largest path norm in the family unless one is given")
    return "; ".join(parts) + "."


def _bound(bound: Bound) -> str:
    """One statement: its value, a bar of its terms, and each term's formula with its number."""
    id, statement = bound.id, STATEMENTS[bound.id]
    rows = "".join(
        f'<tr><th scope="row" class="t-{_kind(name)}">{escape(name.replace("_", " "))}</th>'
        f'<td class="formula"><div>{math(latex.latex_of(term), display=True)}</div></td>'
        f'<td class="n"><data data-term="{name}"></data></td></tr>'
        for name, term in statement.terms.items()
    )
    total = '<tr class="total"><th scope="row">sum</th><td class="formula"></td>'
    total += '<td class="n"><data data-term="total"></data></td></tr>'
    bar = "".join(f'<span class="t-{_kind(name)}"></span>' for name in statement.terms)
    return f"""<article class="bound is-{id}" id="b-{id}">
<h3>{_SWATCH}<code>{id}</code><span class="mark"></span><data class="value"></data></h3>
<div class="bar" aria-hidden="true">{bar}</div>
<div class="scroll"><table class="terms"><tbody>{rows}{total}</tbody></table></div>
<p class="why soft"></p><details><summary>where</summary>{_where(id, _reads(bound))}</details>
</article>
"""


def _kind(term: str) -> str:
    return term if term in ("complexity", "depth", "confidence") else "loss"


def _where(id: str, *more: str) -> str:
    """The definitions that a statement uses, and further remarks, one a line."""
    statement = STATEMENTS[id]
    clauses = [*map(latex.latex_definition, statement.definitions), *statement.given]
    lines = [*map(sentence, clauses), *map(escape, more)]
    return f'<ul class="where">{"".join(f"<li>{line}</li>" for line in lines)}</ul>'


def _lemma(id: str) -> str:
    statement = STATEMENTS[id]
    (term,) = statement.terms.values()
    formula = f"{latex.latex_of(statement.lhs)} {latex.RELATION[statement.relation]} {latex.latex_of(term)}"
    return f'<h3><code>{id}</code></h3><p class="lemma">{math(formula, display=True)}</p>{_where(id)}'
