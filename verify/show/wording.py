"""How a report is put into words: numbers rounded to the safe side, rows sorted by what a reader may do with them.

The terminal, the page and the TeX table share these, so that the three never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN
from itertools import groupby

from adanet_theory import catalogue
from adanet_theory.rounding import probability, shown
from adanet_train.core.by_class import ZERO_ONE, only_class
from verify.records.question import in_python
from verify.records.results import ASSUMED, Assumption, BoundReport, BoundRow, CheckRow, Complexity

NOTHING = "-"


# Numbers


def up(x: float | None, digits: int = 4) -> str:
    """A bound, rounded upwards: what is shown is never below the number.

    >>> up(0.18669524), up(44.90001), up(1.0), up(1234567.0), up(None)
    ('0.1867', '44.91', '1', '1.235e6', '-')
    """
    return _shown(x, digits, ROUND_CEILING)


def down(x: float | None, digits: int = 4) -> str:
    """A lower value, rounded downwards.

    >>> down(0.18669524), down(0.0)
    ('0.1866', '0')
    """
    return _shown(x, digits, ROUND_FLOOR)


def shortened(name: str, most: int = 24) -> str:
    """A name cut to the room there is: one that a user registered may be of any length.

    >>> shortened("a-name-that-somebody-registered")
    'a-name-that-somebody-re…'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


def near(x: float | None, digits: int = 4) -> str:
    """A measured fact, rounded to nearest.

    >>> near(0.1), near(12.34567), near(float("inf"))
    ('0.1', '12.35', 'inf')
    """
    text = _shown(x, digits, ROUND_HALF_EVEN)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _shown(x: float | None, digits: int, rounding: str) -> str:
    return NOTHING if x is None or math.isnan(x) else shown(x, digits, rounding)


def listed(words: Sequence[str]) -> str:
    """
    >>> listed(["iid"]), listed(["iid", "recipe", "untouched"])
    ('iid', 'iid, recipe and untouched')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def assumed(id: str, words: str = "") -> str:
    """
    >>> assumed("iid"), assumed("depth"), assumed("picked", "nobody looked")
    ('the points are independent draws from one law (iid)', 'depth holds', 'nobody looked (picked)')
    """
    words = words or ASSUMED.get(id, "")
    return f"{words} ({id})" if words else f"{id} holds"


def spoken(report: BoundReport) -> BoundReport:
    """The report with its options named as its reader types them; the JSON document is the same for all."""
    if report.command:
        return report
    rows = tuple(replace(row, detail=in_python(row.detail)) for row in report.assumptions)
    notes, advice = (tuple(map(in_python, lines)) for lines in (report.notes, report.advice))
    return replace(report, assumptions=rows, notes=notes, advice=advice)


def remarks(report: BoundReport) -> list[str]:
    """The notes a reader needs beside the answer: labels 0/1 and the bits of a file are on its other lines."""
    return [note for note in report.notes if note != ZERO_ONE and not note.startswith("compressed: ")]


# The network, the family and the sample, in one line each


def network(report: BoundReport, *, verbose: bool = True) -> str:
    """Sizes and activations; verbose: the norms too."""
    model = report.model
    kinds = list(dict.fromkeys(model.activation))
    if report.subject == "black box":
        return f"black box ({kinds[0]}), {report.classes} classes: only its predictions are read"
    parts = [f"n = {sizes(model.own_n or model.n)}"]
    if verbose or model.graph is None:  # the graph of a maximum is made of |x|, which is not a unit of the user's
        parts.append(", ".join(kinds) or "no activation")
    if model.graph is not None:
        parts.append(f"a graph of {model.graph} nodes")
    else:
        parts.append("layered" if model.layered else "with skip connections")
    if report.classes > 2:
        parts.append(f"{report.classes} classes")
    if not verbose:
        return ", ".join(parts)
    parts.append(f"W = {near(model.W)}")
    if model.path_norm is not None:
        parts.append(f"path norm B = {near(model.path_norm)}")
    return ", ".join(parts)


def family(report: BoundReport) -> str:
    declared = report.declared
    if report.subject == "black box":
        return "none; the paper's families are of networks, and this predictor is a black box"
    if report.model.graph is not None:
        return "none declared; the paper's families are made of layers, and this network is a graph"
    if declared is None:
        return "none declared; families are the measured ones with p = 1, fixed after the fact"
    n_0, *units = declared.n
    width = f"at most {units[0]:,} units in each of {len(units)} layers" if len(set(units)) == 1 < len(units) else ""
    size = f"{n_0:,} features, {width}" if width else f"n <= {sizes(declared.n)}"
    return f"declared, p = {near(declared.p)}, {size}, Lambda <= {_weights(declared.Lambda)}"


def _weights(Lambda: Mapping[tuple[int, int], float]) -> str:
    if len(Lambda) > 1 and len(set(Lambda.values())) == 1:
        return near(next(iter(Lambda.values())))
    named = [f"{near(bound)} ({pair(ks)})" for ks, bound in Lambda.items()]
    return ", ".join(named[:4] + ["..."] * (len(named) > 4))


def sample(report: BoundReport) -> str:
    S = report.sample
    if report.subject == "black box":
        return f"m = {S.m:,}, training error {near(S.train_error)}" if S.m else "none was given"
    facts = f"m = {S.m:,}, r_inf = {near(S.r_inf)}, r_rms = {near(S.r_rms)}, training error {near(S.train_error)}"
    facts += _undecided(report)
    if report.rho_chosen and S.margin_error == 1:
        return f"{facts}; no margin helps: every bound that uses one is vacuous at every margin"
    chosen = "chosen from the sample" if report.rho_chosen else "taken as fixed in advance"
    margin = f"rho = {near(report.rho)} of f/W ({near(report.rho * report.model.W)} of f, {chosen})"
    return f"{facts}; at {margin}: margin error {near(S.margin_error)}, ramp {near(S.ramp)}"


def _undecided(report: BoundReport) -> str:
    """What the program's own count does not show: margins that the budget left open."""
    if not report.undecided:
        return ""
    open_ = f"{report.undecided:,} of {report.sample.m:,} margins undecided at this depth"
    return f" ({open_}, counted as errors by the bounds that need exact margins)"


_SHOWN_CLASSES = 10


MANY_CLASSES = (
    "the paper's statements are about two classes and are left out. W and B are those of the output weights minus "
    "their median over the classes: subtracting it changes no margin."
)


def by_class(report: BoundReport) -> str:
    """The error on each class, in the order of the classes; of many classes the worst."""
    where, errors = ("sample", report.class_errors)
    if report.test is not None and report.test.class_errors:
        where, errors = ("held-out points", report.test.class_errors)
    if not any(errors.values()):
        return f"no error on the {where} in any class"
    ranked = sorted(errors, key=lambda name: -errors[name])
    worst, others = ranked[:_SHOWN_CLASSES], ranked[_SHOWN_CLASSES:]
    marked = ranked[0] if len(errors) > 2 and errors[ranked[0]] > errors[ranked[1]] else None
    named = [
        f"class {shortened(name)}: {near(error)}{' (worst)' * (name == marked)}"
        for name, error in errors.items()
        if name in worst
    ]
    if not others:
        return f"error on the {where}: {', '.join(named)}"
    rest = f"at most {near(errors[others[0]])} on each of the other {len(others)}"
    return f"error on the {where}, the {len(worst)} worst classes: {', '.join(named)}; {rest}"


def sizes(n: tuple[int, ...]) -> str:
    """n_0-n_1-..-n_l; a run of three or more equal layers is written once.

    >>> sizes((154, 2000, 1)), sizes((30, 4500, 4500, 4500, 1))
    ('154-2000-1', '30-4500(x3)-1')
    """
    runs = [(size, len(list(same))) for size, same in groupby(n)]
    return "-".join(f"{size}(x{length})" if length > 2 else "-".join([str(size)] * length) for size, length in runs)


def pair(ks: tuple[int, int]) -> str:
    return f"{ks[0]},{ks[1]}"


# Assumptions


def holds(row: Assumption) -> str:
    """One word for what is known of an assumption."""
    return "FAILS" if row.status == "fails" else row.status


def needed_by(row: Assumption, report: BoundReport) -> list[str]:
    """The statements of this report that need it, and the lemmas."""
    absent = set(catalogue.ids(catalogue.select())) - {bound.id for bound in report.bounds}
    return [id for id in row.statements if id not in absent]


def tally(report: BoundReport) -> str:
    """How many hold (checked here), are assumed (nothing here can check them), fail, and are open."""
    statuses = [row.status for row in report.assumptions]
    parts = [f"{statuses.count('holds')} hold", f"{statuses.count('assumed')} assumed"]
    if "fails" in statuses:
        number = statuses.count("fails")
        parts.append(f"{number} fail{'s' * (number == 1)}")
    if "open" in statuses:
        parts.append(f"{statuses.count('open')} open")
    return ", ".join(parts)


# Bounds


GROUPS: Mapping[str, str] = {
    "cite": "Non-vacuous (each holds with probability {})",
    "vacuous": "Vacuous: they apply and say nothing at this m",
    "not": "Do not apply to this network",
    "context": "Context: others' bounds at this network's norms, no claim about it",
}


def group(row: BoundRow) -> str:
    """Which of GROUPS a bound belongs to."""
    if row.context:
        return "context"
    if not row.applies:
        return "not"
    return "vacuous" if row.vacuous else "cite"


def grouped(report: BoundReport) -> list[tuple[str, list[BoundRow]]]:
    """The bounds by group, in the report's order inside each; empty groups are left out."""
    rows = {key: [row for row in report.bounds if group(row) == key] for key in GROUPS}
    return [(key, members) for key, members in rows.items() if members]


def cells(row: BoundRow, report: BoundReport) -> tuple[str, str, str, str]:
    """The bound, its raw value and `margins`; no number for a network that the statement does not cover."""
    if group(row) == "not":
        return NOTHING, NOTHING, NOTHING, NOTHING
    return NOTHING if row.context else up(row.value), up(row.raw), *margins(row, report)


def margins(row: BoundRow, report: BoundReport) -> tuple[str, str]:
    """`scales` as text; nothing where the margin was chosen for a bound that is 1 or more at every margin."""
    small, large = (None, None) if report.rho_chosen and row.vacuous else scales(row, report.model.W)
    return near(small), near(large)


def scales(row: BoundRow, W: float) -> tuple[float | None, float | None]:
    """(rho on the scale of f/W, rho on the scale of f): a bound with an index j has its rho_j on the scale of f."""
    if row.rho is None:
        return None, None
    if row.j is not None:
        return (row.rho / W if W > 0 else None), row.rho
    return row.rho, row.rho * W


def stopped(row: BoundRow, report: BoundReport) -> str:
    """Which assumptions fail, and which are open: checked and false, or not known."""
    failing = {each.id for each in report.assumptions if each.status_for(row.id) == "fails"}
    fails = [id for id in row.why_not if id in failing]
    unknown = [id for id in row.why_not if id not in failing]
    parts = [f"{word}: {', '.join(ids)}" for word, ids in (("fails", fails), ("open", unknown)) if ids]
    return "; ".join(parts)


def remark(row: BoundRow, report: BoundReport) -> str:
    """Why a bound does not apply, or what would make a vacuous one say something."""
    if not row.applies:
        return "" if row.context else stopped(row, report)
    if {"errors", "points"} <= set(row.terms):
        counted = f"{_errors(row.terms['errors'])} on {row.terms['points']:,.0f} points"
        if "bits" in row.terms:
            return f"{row.terms['bits']:,.0f} bits, {counted}"
        runs = f" at delta/{row.terms['runs']:.0f}" if "runs" in row.terms else ""
        return f"{'no row picked: ' * ('picked' in row.terms)}{counted} (Clopper-Pearson{runs})"
    if "disagreements" in row.terms:
        d, n = row.terms["disagreements"], row.terms["n"]
        return f"{up(row.terms['surrogate'])} of the surrogate, from which it differs at {d:,.0f} of {n:,.0f} points"
    if row.vacuous:
        return _needed(row)
    if row.group == "certificate":
        return ", ".join(f"{name} = {term(name, row.terms[name])}" for name in _DECIDES if name in row.terms)
    return "" if row.j is None else f"j = {row.j}"


def _errors(errors: float | None) -> str:
    return f"{errors:,.0f} error{'s' * (errors != 1)}"


def _needed(row: BoundRow) -> str:
    """What would bring a vacuous bound below 1; empty for a user's bound, which is known at one m only."""
    if row.raw is None and not row.terms:
        return "no value for this network"
    if row.group == "user":
        return ""
    ways = [f"m = {count(row.m_needed)}"] * bool(row.m_needed)
    ways += [f"norms {up(row.shrink, 2)} times smaller"] * bool(row.shrink)
    return f"needs {', or '.join(ways)}" if ways else "no m is known to be enough"


_DECIDES = ("N", "picked", "left", "runs", "KL", "b")
_WHOLE = ("N", "k", "draws", "errors", "points", "picked", "left", "start", "runs")


def term(name: str, value: float | None) -> str:
    """One term, rounded to the side on which the bound grows: b divides, settings are exact."""
    if value is not None and name in _WHOLE:
        return f"{value:,.0f}"
    return down(value) if name == "b" else near(value) if name == "beta" else up(value)


def at_margins(report: BoundReport) -> list[str]:
    """The formulas at a tenth, and at the ρ that was asked for: how far a vacuous bound is off."""
    lines = []
    for name, why in (("tenth", ", below which a tenth of the sample lies"), ("given", ", the rho asked for")):
        rows = [row for row in report.bounds if row.applies and not row.context and getattr(row, name) is not None]
        if rows:
            margin = getattr(rows[0], name).rho
            values = ", ".join(f"{row.id} {up(getattr(row, name).raw)}" for row in rows)
            lines.append(f"At margin {near(margin)} of f/W{why}: {values}.")
    return lines


def terms(row: BoundRow) -> str:
    """The sum spelt out; where the statement does not apply, marked as a formula and nothing more."""
    parts = ", ".join(f"{name.replace('_', ' ')} {term(name, value)}" for name, value in row.terms.items())
    if group(row) != "not" or not parts:
        return parts
    return f"formula only, no bound here: {'undefined' if row.raw is None else up(row.raw)} from {parts}"


def count(m: int | None) -> str:
    """A number of points; a large one rounded upwards.

    >>> count(53000), count(12_345_678_901)
    ('53,000', '1.235e10')
    """
    if m is None:
        return NOTHING
    return f"{m:,}" if m < 10**7 else up(float(m))


# Layers and checks


def enclosure(row: Complexity) -> str:
    """lower .. upper, rounded outward."""
    return f"{down(row.lower)} .. {up(row.upper)}"


def method(row: Complexity) -> str:
    return row.method + (f", {row.draws:,} draws" if row.draws else "")


def together(report: BoundReport) -> str:
    """The confidence with which the intervals of R_S hold."""
    least = min(row.confidence for row in report.complexities)
    if least == 1:
        return "Every interval holds surely: no sign was drawn at random."
    return f"All intervals hold together with probability >= {down(least)} over the drawn signs."


def lemmas(row: Complexity) -> dict[str, float | None]:
    return {
        "lemma-1": row.lemma_1,
        "lemma-2": row.lemma_2,
        "lemma-1-corrected": row.lemma_1_corrected,
        "lemma-2-peeled": row.lemma_2_peeled,
    }


def violations(report: BoundReport) -> list[CheckRow]:
    return [row for row in report.checks if row.verdict == "violated"]


def violation(row: CheckRow) -> str:
    where = "" if row.k is None else f" at k = {row.k}"
    value = "exact value" if row.exact else "lower value"
    reach = "it applies here" if row.applies else "it does not apply here"
    return f"{row.claim} is violated{where}: {value} {down(row.lhs)} > {up(row.rhs)}; {reach}"


def outcome(row: CheckRow) -> str:
    """Both sides of a check and its verdict."""
    where = "" if row.k is None else f" at k = {row.k}"
    kind = "exact" if row.exact else "lower"
    reach = "" if row.applies else ", does not apply"
    return f"{row.claim}{where}: {down(row.lhs)} ({kind}) against {up(row.rhs)}: {row.verdict}{reach}"


# The verdict


def sentence(report: BoundReport) -> str:
    """The verdict, as a reviewer may quote it."""
    broken = [row for row in violations(report) if row.applies]
    if broken:
        return "Violated: " + "; ".join(map(violation, broken)) + "."
    if report.verdict == "violated":
        outside = [row.detail for row in report.assumptions if row.id == "membership" and row.holds is False]
        detail = f": {outside[0].rstrip('.')}" if outside else ""
        return f"The network is not in its declared family{detail}. {_strongest(report)}"
    return _strongest(report)


def _strongest(report: BoundReport) -> str:
    """The statement that may be quoted with what it assumes, or that there is none; beside it paper and test."""
    parts = [citation(report) or _nothing(report), useless(report), _one_class(report), _beside(report)]
    return " ".join(part for part in parts if part)


def useless(report: BoundReport) -> str:
    """The sentence about a bound that a constant prediction meets."""
    cite, base = report.cite, report.base_rate
    if cite is None or base is None or cite.value < base:
        return ""
    points = "sample" if report.sample.m else "held-out points"
    return f"This bound is useless: a constant prediction errs on {near(base)} of the {points}."


def _one_class(report: BoundReport) -> str:
    """The sentence about a network that is right on one class only, on the held-out points if there are any."""
    errors = report.class_errors if report.test is None else report.test.class_errors
    name = only_class(errors)
    return "" if name is None else f"The network is right on class {name} only: it predicts one class."


def _beside(report: BoundReport) -> str:
    """The bound of the held-out points, where it applies and another statement is quoted."""
    row = report.row("held-out")
    if report.test is None or report.quotes == "held-out" or row is None or not row.applies:
        return ""
    return f"The {report.test.n:,} held-out points alone bound it by {up(report.test.upper)}."


def errors(report: BoundReport) -> str:
    """The program's own error on the sample and on held-out points, beside that of a constant prediction."""
    training = f"training {near(report.sample.train_error)} ({report.sample.m:,} points){_undecided(report)}"
    parts = [training if report.sample.m else "no sample"]
    if report.test is not None:
        parts.append(f"held-out {near(report.test.error)} ({report.test.n:,} points)")
    if report.base_rate is not None:
        parts.append(f"a constant prediction {near(report.base_rate)}")
    return ", ".join(parts)


def says(row: BoundRow, report: BoundReport) -> bool:
    """Whether a statement says something of use: it applies, and is below the error of a constant prediction."""
    least = 1.0 if report.base_rate is None else report.base_rate
    return group(row) == "cite" and row.value is not None and row.value < least


def others(report: BoundReport, *, shown: bool = False) -> str:
    """How many statements say nothing of use, the paper's own among them; `shown`: they stand below."""
    silent = [row for row in report.bounds if not row.context and not says(row, report)]
    if not silent:
        return ""
    paper = " and ".join(row.id for row in silent if row.group == "paper")
    among = f" (the paper's {paper} among them)" if paper else ""
    one = len(silent) == 1
    say = "1 statement says nothing or does" if one else f"{len(silent)} statements say nothing or do"
    more = "-v" if report.command else "report.text(verbose=True)"
    where = "" if shown else f": {more} shows {'it' if one else 'them'}"
    return f"{say} not apply{among}{where}."


_DRAWN = {"held-out": "held-out points", "disagreement-certificate": "sample and the unlabelled points"}


def citation(report: BoundReport) -> str | None:
    """The bound, its probability, its statement and its assumptions; None if nothing may be quoted."""
    cite = report.cite
    if cite is None:
        return None
    noun = "predictor" if report.subject == "black box" else "network"
    noun = f"{noun}'s formula" if cite.about == "formula" else noun
    noun += f" ({report.whose})" if report.whose else ""
    drawn = _DRAWN.get(cite.id, "sample")
    sure = f"with probability at least {probability(report.delta)} over the {drawn}"
    of_formula = cite.about == "formula"
    own = {row.id: row.words for row in report.assumptions}
    needed = [assumed(id, own.get(id, "")) for id in cite.assumes if not (of_formula and id == "arithmetic")]
    needed += _own_word(report, cite.id)
    known = f" It assumes that {listed(needed)}." if needed else ""
    known += f" For the program it holds only if {assumed('arithmetic')}." if of_formula else ""
    return f"The risk of this {noun} is at most {up(cite.value)} {sure}, by {cite.id}{_paid(report)}.{known}"


def _own_word(report: BoundReport, id: str) -> list[str]:
    """The assumptions of a user's own bound."""
    bound = next((bound for bound in catalogue.registered() if bound.id == id), None)
    if bound is None:
        return []
    row = report.row(id)
    fixed = [f"rho = {near(row.rho)} was fixed before the sample"] if row is not None and row.rho is not None else []
    return [*fixed, *[f"{bound.assumes} (its author's word)"] * bool(bound.assumes)]


def _paid(report: BoundReport) -> str:
    """What the choice cost."""
    cite = report.cite
    assert cite is not None
    paid = [f"the least of {cite.among} that could have been quoted"] * (cite.among > 1)
    where = " on the held-out points" if cite.id == "held-out" else ""
    paid += [f"{cite.compared} networks compared{where}"] * (cite.compared > 1)
    paid += [f"{report.tried} settings tried on the sample"] * (report.tried > 1 and cite.id != "held-out")
    row = report.row(cite.id)
    runs = (row and row.terms.get("runs")) or 1
    paid += [f"the best of {runs:.0f} numbers of picks"] * (runs > 1)
    return f" (at delta = {near(cite.delta / runs)}, which pays for {' and '.join(paid)})" if paid else ""


def _nothing(report: BoundReport) -> str:
    """Why nothing is quoted."""
    if report.quotes is not None:
        return _not_quoted(report, report.quotes)
    applying = [row for row in report.bounds if row.applies and row.group not in ("context", "user")]
    own = [row.id for row in report.bounds if row.group == "user" and row.value is not None and row.value < 1]
    nothing = "Nothing can be certified from the training points alone"
    if report.subject == "black box":
        return f"{nothing}: this predictor is a black box."
    if own:
        named = f"No bound is quoted: {listed(own)}, of your own, is below 1, and quoted only if named beforehand"
        return f"{named} ({'--cite ID' if report.command else 'cite=ID'})."
    if not applying:
        return f"{nothing}: no bound applies to this network."
    if all(row.vacuous for row in applying):
        return f"{nothing}: every bound that applies is 1 or more."
    share = f"delta = {near(report.delta / report.tried / report.among)}"
    return f"{nothing}: at {share}, which pays for choosing among {report.among} statements, none is below 1."


def _not_quoted(report: BoundReport, id: str) -> str:
    """Why the one statement that the input fixes is not quoted."""
    row = report.row(id)
    if row is None:
        remedy = "it needs held-out points" if id == "held-out" else "it is not about this network"
        return f"No bound is quoted: {id} was asked for, and {remedy}."
    if not row.applies:
        why = [
            f" {each.detail[:1].upper()}{each.detail[1:].rstrip('.')}."
            for each in report.assumptions
            if each.id in row.why_not
        ]
        return f"No bound is quoted: {id} does not apply ({stopped(row, report)}).{''.join(why)}"
    return f"No bound is quoted: {id} is not below 1."


def sources(report: BoundReport) -> str:
    """The model, the confidence and the date."""
    known = {"model": report.model.sha256[:12]} if report.model.sha256 else {}
    facts = {**known, **report.sources, "delta": near(report.delta)}
    return "; ".join(f"{name} {value}" for name, value in facts.items()) + "."


def alone(report: BoundReport) -> str:
    """What the probability of the rows means."""
    tried = f", {report.tried} settings tried" if report.tried > 1 else ""
    return f"each bound by itself with probability >= {probability(report.delta)}{tried}"
