"""python -m verify.experiments.tables FILE.json..: the tables of a protocol's results beside the paper's.

Writes FILE.md and FILE.tex; both are made of the same `Table`s, so they say the same. With --into PAGE the first
table of each file is put between the page's comments <!-- FILE --> and <!-- /FILE --> instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from adanet_theory.checks import check, check_choice
from adanet_theory.rounding import upward
from adanet_train.app import console
from adanet_train.app.console import Parser
from adanet_train.core.files import write_file
from paper_notes import tables as paper
from verify.experiments.protocols.picking import FIFTEEN, compared
from verify.experiments.running import results
from verify.show import markdown
from verify.show.tex import escaped

upwards = partial(upward, digits=3)
METHODS = {"adanet": "AdaNet", "lr": "LR", "nn": "NN", "nn-gp": "NN-GP"}

Result = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def tables(result: Result) -> list[Table]:
    """The tables of a results file, by its protocol."""
    protocol = result["protocol"]
    check_choice("protocol", protocol, PROTOCOLS)
    return PROTOCOLS[protocol](result)


# The protocols


def cifar_pairs(result: Result) -> list[Table]:
    pairs = list(dict.fromkeys(row["pair"] for row in result["rows"]))
    return [_accuracies(result, pairs), _units(result, pairs), _comparisons(result)]


def _accuracies(result: Result, pairs: Sequence[str]) -> Table:
    by_method = {(row["pair"], row["method"]): row for row in result["rows"]}
    rows = []
    for pair in pairs:
        ours = [measured(by_method.get((pair, method))) for method in METHODS]
        printed = paper.ACCURACY.get(pair, {})
        rows.append([pair, "ours", *ours])
        rows.append([pair, "paper", *[_printed(printed.get(name)) for name in METHODS.values()]])
    header = ["pair", "", *METHODS.values()]
    return Table("Accuracy on the test folds, ± standard deviation over the folds", header, rows)


def _units(result: Result, pairs: Sequence[str]) -> Table:
    """Mean units of each layer; the paper's beside them, in brackets."""
    by_method = {(row["pair"], row["method"]): row for row in result["rows"]}
    rows = []
    for pair in pairs:
        adanet, nn, gp = (by_method.get((pair, method)) for method in ("adanet", "nn", "nn-gp"))
        printed = paper.UNITS.get(pair)
        theirs = [f"{printed[0]}, {printed[1]}", str(printed[2]), str(printed[3])] if printed else ["-"] * 3
        rows.append([pair, *[f"{units(row)} ({known})" for row, known in zip((adanet, nn, gp), theirs, strict=True)]])
    note = (
        "Hidden units in layers 1, 2, ..; for AdaNet + the units of the top layer, which no activation follows and "
        "which the output reads. In brackets the paper's (AdaNet: first and second layer)."
    )
    return Table("Average number of units in each layer", ["pair", "AdaNet", "NN", "NN-GP"], rows, note)


def _comparisons(result: Result) -> Table:
    rows = [
        [one["pair"], METHODS[one["against"]], f"{one['difference']:+.4f}", number(one["p"]), number(one["p_holm"])]
        for one in result.get("comparisons", [])
    ]
    note = (
        "Two-sided, over the folds, corrected for their overlap (Nadeau and Bengio 2003); Holm over all rows. "
        f"Accuracies are optimistic, as the paper's are: {_selected(result)}."
    )
    return Table("AdaNet minus the other method", ["pair", "against", "difference", "p", "p, Holm"], rows, note)


VARIANTS = {
    "base": "AdaNet",
    **{variant: f"AdaNet.{variant}" for variant in ("R", "P", "D", "SD")},
    "units": "AdaNet, hidden units weighed one by one",
    "cvx": "AdaNet.CVX, closed-form step",
    "cvx-exact": "AdaNet.CVX, exact step",
    "bound": "AdaNet, bound objective",
}


def variants(result: Result) -> list[Table]:
    pair = result["rows"][0]["pair"]
    printed = {**paper.VARIANTS, "AdaNet": paper.ACCURACY[pair]["AdaNet"]} if pair == "deer-truck" else {}
    p = {entry["against"]: entry for entry in result.get("comparisons", [])}
    rows = []
    for row in result["rows"]:
        name = VARIANTS[row["method"]]
        against = p.get(row["method"])
        difference = ["-", "-"] if against is None else [f"{-against['difference']:+.4f}", number(against["p_holm"])]
        rows.append([name, measured(row), _printed(printed.get(name)), *difference, layers(row)])
    note = (
        "Difference to AdaNet over the folds, p by Nadeau and Bengio (2003) and Holm. Units of layers 1, 2, .. "
        "f = 0: no network was worth its price."
    )
    header = ["variant", "ours", "paper", "minus AdaNet", "p, Holm", "units"]
    return [Table(f"Variants of AdaNet on {pair}", header, rows, note)]


def criteo(result: Result) -> list[Table]:
    rows = []
    for row in result["rows"]:
        name = METHODS[row["method"]]
        printed = paper.CRITEO_ACCURACY.get(name)
        ours = f"{row['accuracy']:.4f} ± {row['standard_error']:.4f}"
        theirs = "-" if printed is None else f"{printed:.4f}"
        rows.append([name, ours, theirs, f"{row['log_loss']:.4f}", layers(row)])
    size = result["rows"][0]["m_test"]
    note = f"Ours on {size} test rows of a sample, ± the binomial standard error; the paper's on 6,548,659 rows."
    return [Table("Criteo", ["method", "accuracy", "paper", "log loss", "units"], rows, note)]


def _selected(result: Result) -> str:
    """How a setting was chosen; the claim selection-leak says the same about the paper."""
    said = "a setting is chosen by its mean over validation folds that are the test folds of other runs"
    return f"{said}, and the grid was chosen on validation folds of deer-truck and cat-dog" if _tuned(result) else said


def _tuned(result: Result) -> bool:
    """Whether the run's grid, widths included, was itself chosen on these data: `grids.reduced` is."""
    return "--grid reduced" in result["command"]


BOUNDS = ("corollary-1", "margin-bound-uniform", "a-posteriori", "a-posteriori-bounded")


def bounds(result: Result) -> list[Table]:
    rows = []
    for row in result["rows"]:
        said = {} if _tuned(result) else {"margin-bound-uniform": row["bounds"].get("margin-bound-uniform")}
        said |= {name: row["bounds"].get(name) for name in BOUNDS if name != "margin-bound-uniform"}
        values = [bounded(said.get(name)) for name in BOUNDS]
        name = (METHODS | VARIANTS)[row["method"]]
        rows.append([row["pair"], name, f"{row['test_error']:.4f}", f"{row['W']:.3g}", *values])
    note = (
        "The value of each bound before it is cut at 1, rounded upwards; n/a: does not apply to the network. "
        "A bound of 1 or more says nothing."
    )
    if _tuned(result):
        note += (
            " margin-bound-uniform fixes the widths before the sample: those of the reduced grid were chosen on two of "
            "these pairs, so it is about none of these networks."
        )
    if any("feature-map" in row["bounds"].get("a-posteriori", {}).get("why_not", ()) for row in result["rows"]):
        note += " On criteo the features were learned on the sample: no bound on the risk covers that."
    return [Table("What the bounds say of the winners", ["pair", "method", "test error", "W", *BOUNDS], rows, note)]


CERTIFICATES = {
    ("linear", "corollary-1"): "Corollary 1",
    ("linear", "a-posteriori"): "a-posteriori",
    ("linear", "vote-certificate"): "vote-certificate, linear",
    ("hidden", "path-certificate"): "path-certificate, retired",
    ("stochastic", "stochastic-certificate"): "stochastic-certificate, 100 random units",
    ("held-out", "held-out"): "held-out, 10 %",
    ("pick", "pick-certificate"): "pick-certificate, AdaNet",
}


def certificates(result: Result) -> list[Table]:
    """A line per data set: each bound with the test error of its network in brackets."""
    usual = [row for row in result["rows"] if row["method"] not in ("occam", "disagreement")]
    by_id = {(row["data"], row["method"], row["bound id"]): row for row in usual}
    rows = []
    for data in dict.fromkeys(row["data"] for row in usual):
        m = next((row["m"] for (name, method, _), row in by_id.items() if (name, method) == (data, "linear")), None)
        cells = [_certified(by_id.get((data, *key))) for key in CERTIFICATES]
        rows.append([data, "-" if m is None else f"{m:,}", *cells])
    note = (
        "Raw values at δ = 0.05, rounded upwards, in brackets the test error of the network where there are test "
        "points. Corollary 1 does not apply to these networks; its value is shown for comparison. It and a-posteriori "
        "are about the linear network trained for its certificate. path-certificate, for hidden units at δ/2, was "
        "measured by the last version that had it. stochastic-certificate is about the network whose weights are drawn "
        "anew for every prediction; its prior was trained on the other half of the points. held-out is about 100 ReLU "
        "units trained as usual. pick-certificate is about AdaNet trained by picking, from a start on a quarter of the "
        "points, at settings that were chosen on other digit pairs."
    )
    every = Table("Bounds on the risk", ["data", "m", *CERTIFICATES.values()], rows, note)
    return [every, _compressed(result), _untouched(result)]


STAGES = ("as it is", "rounded", "fine-tuned", "greedy")


def best_of(row: Result) -> dict[str, Result]:
    """The best network of every stage that there was."""
    by_stage = {stage: [one for one in row["stages"] if one["name"].startswith(stage)] for stage in STAGES}
    return {stage: min(own, key=lambda one: one["bound"]) for stage, own in by_stage.items() if own}


def _compressed(result: Result) -> Table:
    """A line per network: its certificate by stages, with the bits of the last."""
    rows = []
    for row in result["rows"]:
        if row["method"] == "occam":
            best = best_of(row)
            cells = [upwards(best[stage]["bound"]) if stage in best else "-" for stage in STAGES]
            sizes = [row["data"], f"{row['m']:,}", f"{row['weights']:,}", f"{row['network_test_error']:.4f}"]
            ours = [f"{row['terms']['bits']:,}", f"{row['test_error']:.4f}", f"{row['cpu_seconds']:.0f} s"]
            rows.append([*sizes, *cells, *ours])
    header = ["network", "m", "weights", "its test error", *STAGES, "bits", "test error, compressed", "CPU"]
    note = "occam-certificate at δ = 0.05 by the stages of compress, rounded upwards; bits and test error of the best."
    return Table("Networks compressed", header, rows, note)


def _untouched(result: Result) -> Table:
    rows = []
    for row in result["rows"]:
        if row["method"] == "disagreement":
            terms = row["terms"]
            differ = f"{terms['disagreements']} of {terms['n']:,}"
            cells = [upwards(row["bound"]), f"{row['test_error']:.4f}", upwards(terms["b"]), differ]
            rows.append([row["data"], f"{row['m']:,}", *cells])
    header = ["network", "m", "disagreement-certificate", "test error", "certificate of the surrogate", "disagreements"]
    return Table("Networks as they are", header, rows, "At δ = 0.05, half of it for the surrogate, which was picked.")


LEARNERS = {"adanet": "AdaNet", "cnn": "CNN, pixels", "svc": "SVC"}
EXPECT = (
    *(("digits:3-8", "adanet"), ("mnist:3-8", "cnn"), ("mnist:3-8 hog", "adanet")),
    *(("mnist:4-9 hog", "adanet"), ("cifar10:deer-truck", "adanet"), ("mnist", "cnn")),
)
"""The rows of the README's table."""
AIMS = {
    ("mnist:3-8 hog", "adanet"): (0.006, 0.003),
    ("mnist:3-8", "cnn"): (0.006, 0.003),
    ("mnist:4-9 hog", "adanet"): (0.009, None),
    ("mnist", "cnn"): (0.016, 0.012),
    ("digits:3-8", "adanet"): (0.06, None),
    ("digits:odd-even", "adanet"): (0.045, None),
    ("breast-cancer", "adanet"): (0.085, None),
    ("digits:3-8", "svc"): (0.035, None),
    ("digits:odd-even", "svc"): (0.02, None),
    ("breast-cancer", "svc"): (0.05, None),
}
"""The certificate and the test error that were aimed at before anything was measured."""


def picking(result: Result) -> list[Table]:
    """A line per data set and learner: a tenth held out, and by picking; and the README's, with the best before."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for row in sorted(result["rows"], key=lambda row: [*LEARNERS].index(row["learner"])):
        groups.setdefault((row["data"], row["learner"]), []).append(row)
    ways = ["held-out, 10 %", "picked"]
    of_one = ["picked, seed 0", "k of N", "start alone"]
    header = ["data", "learner", "m", "seeds", *ways, *of_one, "test error, picked - held-out", "better"]
    note = (
        "Certificates at δ = 0.05: means over the seeds ± one standard error, test errors in brackets: on the test "
        "part, or else of networks that were trained on four fifths. Picked, seed 0: the certificate of that network, "
        "rounded upwards. The difference of the test errors is paired, ± one standard error. Better: the mean "
        "certificate is smaller, and the mean test error is not above the other by more than one standard error. Start "
        "alone: for information, the mean bound of the network before any pick, from the rows outside the start."
    )
    every = Table("Picking beside held-out points", header, [_compared(rows) for rows in groups.values()], note)
    kept = [(key, groups[key]) for key in EXPECT if key in groups]
    expected = [
        [f"{data}, {LEARNERS[learner]}", *_sizes(rows), *_two_ways(rows), result["before"].get(data, "-")]
        for (data, learner), rows in kept
    ]
    expect = Table("What to expect", ["data, learner", "m", "seeds", *ways, "before"], expected)
    return [every, expect, _counted(groups), _aimed(groups), _dry(result["rows"])]


def _counted(groups: Mapping[tuple[str, str], Sequence[Result]]) -> Table:
    """A line per learner: on how many of the fifteen data sets picking is better, and why it is not on the others."""
    rows = []
    for learner, name in LEARNERS.items():
        means = {data: compared(groups[data, learner]) for data in FIFTEEN if (data, learner) in groups}
        smaller = [data for data, mean in means.items() if mean["picked"]["bound"] < mean["held_out"]["bound"]]
        better = [data for data, mean in means.items() if mean["better"]]
        worse = [data for data in means if data not in smaller]
        erring = [data for data in smaller if data not in better]
        named = (", ".join(datas) or "-" for datas in (better, worse, erring))
        if means:
            rows.append([name, str(len(means)), str(len(better)), *named])
    header = ["learner", "measured", "better", "better on", "larger certificate", "larger test error"]
    return Table("On how many of fifteen data sets picking is better", header, rows)


def _aimed(groups: Mapping[tuple[str, str], Sequence[Result]]) -> Table:
    """A line per aim: the mean over the seeds beside it."""
    rows = []
    for (data, learner), (bound, error) in AIMS.items():
        if (data, learner) in groups:
            mean = compared(groups[data, learner])["picked"]
            reached = mean["bound"] <= bound and (error is None or mean["test_error"] <= error)
            aim = f"{bound:g}" if error is None else f"{bound:g} ({error:g})"
            cells = [aim, _mean_certified(mean), "yes" if reached else "no"]
            rows.append([f"{data}, {LEARNERS[learner]}", str(len(groups[data, learner])), *cells])
    return Table("Aims", ["data, learner", "seeds", "aim", "picked", "reached"], rows)


def _dry(rows: Sequence[Result]) -> Table:
    """A line per learner and one for all: where the dry run let the learner pick, and where that cost something.

    Where it did not, the certificate is that of the start but for its rounding. Rows that are older than the dry run
    have no "apart".
    """
    cells = []
    for learners, name in [*(((key,), name) for key, name in LEARNERS.items()), (tuple(LEARNERS), "all")]:
        runs = [row["picked"] for row in rows if row["learner"] in learners and "apart" in row]
        larger = [run for run in runs if run["bound"] > run["start_bound"] * (1 + 1e-8)]
        picked = [run for run in runs if run["picks"] or run in larger]
        if runs:
            cells.append([name, *(str(len(some)) for some in (runs, picked, larger))])
    header = ["learner", "runs", "let pick", "certificate larger than that of the start alone"]
    return Table("Where the dry run let the learner pick", header, cells)


def _sizes(rows: Sequence[Result]) -> list[str]:
    return [f"{rows[0]['m']:,}", str(len(rows))]


def _two_ways(rows: Sequence[Result]) -> list[str]:
    means = compared(rows)
    return [_mean_certified(means[way]) for way in ("held_out", "picked")]


def _mean_certified(way: Result) -> str:
    """
    >>> _mean_certified({"bound": 0.02004, "bound_se": 0.00119, "test_error": 0.01})
    '0.0201 ± 0.0012 (0.0100)'
    """
    spread = "" if way["bound_se"] is None else f" ± {way['bound_se']:.4f}"
    return f"{upwards(way['bound'])}{spread} ({way['test_error']:.4f})"


def _compared(rows: Sequence[Result]) -> list[str]:
    means = compared(rows)
    first = next((row["picked"] for row in rows if row["seed"] == 0), None)
    counted = ["-", "-"]
    if first is not None:
        counted = [upwards(first["bound"]), f"{first['picks'] + first['left']:,} of {first['N']:,}"]
    return [
        rows[0]["data"],
        LEARNERS[rows[0]["learner"]],
        *_sizes(rows),
        *_two_ways(rows),
        *counted,
        upwards(means["start_bound"]),
        f"{means['difference']:+.4f} ± {means['difference_se']:.4f}",
        "yes" if means["better"] else "no",
    ]


def _before(folder: Path) -> dict[str, str]:
    """By data set the least certificate of a linear or small network trained on all points, as before picking."""
    before: dict[str, list[Result]] = {}
    for row in results.stored(folder / "certificates.json"):
        if row["bound id"] in ("vote-certificate", "path-certificate"):
            before.setdefault(row["data"].removesuffix(" learned:0.1"), []).append(row)
    for row in results.stored(folder / "classes.json"):
        if row["method"] == "certificate":
            bound = row["bounds"]["vote-certificate-multiclass"]["raw"]
            before.setdefault(row["data"], []).append({"bound": bound, "test_error": row["test_error"]})
    return {data: _certified(min(rows, key=lambda row: row["bound"])) for data, rows in before.items()}


def _certified(row: Result | None) -> str:
    if row is None:
        return "-"
    value = upwards(row["bound"])
    return value if row["test_error"] is None else f"{value} ({row['test_error']:.4f})"


def classes(result: Result) -> list[Table]:
    """A line per data set: test errors beside scikit-learn's, the certificate, the bound of held-out points."""
    ours_of = ("held-out", "certificate (test error)", "least other bound")
    header = ["data", "classes", "m", "AdaNet", "LR", "MLP", *ours_of]
    rows = []
    for name, rows_of in _by_data(result).items():
        tested = [rows_of.get(method) for method in ("adanet", "lr", "mlp")]
        errors = ["-" if row is None else f"{row['test_error']:.3f}" for row in tested]
        ours, certified = tested[0], rows_of.get("certificate")
        held_out, least = ("-", "-") if ours is None else (upwards(ours["held_out"]), _least(ours["bounds"]))
        sizes = [str(next(iter(rows_of.values()))["classes"]), f"{max(row['m'] for row in rows_of.values()):,}"]
        rows.append([name, *sizes, *errors, held_out, _of_classes(certified), least])
    note = (
        "Test errors on points kept aside, one split; scikit-learn's LR and MLP at their defaults (MLP stops early "
        "from 20,000 points on). held-out and the least other bound are about AdaNet, the certificate about a "
        "linear network trained for it on the same points. If no range of the features is known beforehand, a quarter "
        "of the points gave the map and was not trained on. δ = 0.05."
    )
    return [Table("More than two classes", header, rows, note)]


def _by_data(result: Result) -> dict[str, dict[str, Result]]:
    """The rows by data set and method."""
    by_data: dict[str, dict[str, Result]] = {}
    for row in result["rows"]:
        by_data.setdefault(row["data"], {})[row["method"]] = row
    return by_data


def _of_classes(row: Result | None) -> str:
    if row is None:
        return "-"
    said = row["bounds"]["vote-certificate-multiclass"]
    return _certified({"bound": said["raw"], "test_error": row["test_error"]})


def _least(said: Result) -> str:
    """The least of the bounds that apply but for held-out, by name; or why none does."""
    theory = {id: row for id, row in said.items() if id not in ("held-out", "kuznetsov-mohri-syed")}
    applying = {id: row["raw"] for id, row in theory.items() if not row["why_not"] and row["raw"] is not None}
    if not applying:
        reasons = set.intersection(*(set(row["why_not"]) for id, row in theory.items() if not id.startswith("vote")))
        return f"none applies: {', '.join(sorted(reasons))} fails"
    id = min(applying, key=lambda name: applying[name])
    return f"{upwards(applying[id])} ({id})" + ("" if applying[id] < 1 else ", vacuous")


def learner(result: Result) -> list[Table]:
    """A line per table: accuracies over the folds, the paired difference to the better of LR and MLP, CPU time."""
    header = ["table", "m", "AdaNet", "MLP", "LR", "HGB", "AdaNet - better of MLP, LR", "CPU time / MLP's"]
    rows = []
    for name, rows_of in _by_data(result).items():
        ours = rows_of["AdaNet"]
        accuracies = [f"{rows_of[method]['accuracy']:.3f}" for method in ("AdaNet", "MLP", "LR", "HGB")]
        # of one split of many rows there is no spread
        spread = "" if ours["difference_se"] is None else f" ± {ours['difference_se']:.3f}"
        difference = f"{ours['difference']:+.3f}{spread}"
        mark = " (kept for the end)" if ours["kept_for_the_end"] else ""
        ratio = f"{ours['cpu_seconds'] / rows_of['MLP']['cpu_seconds']:.1f}"
        rows.append([name + mark, f"{ours['m']:,}", *accuracies, difference, ratio])
    return [Table("AdaNet by default, beside scikit-learn's defaults", header, rows)]


def bounded(bound: Result | None) -> str:
    """A bound with three digits, never below its value; no number where it does not apply.

    >>> bounded({"raw": 12.31, "applies": True}), bounded({"raw": 0.5, "applies": False}), bounded(None)
    ('12.4', 'n/a', 'n/a')
    """
    if bound is None or bound["raw"] is None or not bound["applies"]:
        return "n/a"
    return upwards(bound["raw"])


PROTOCOLS: dict[str, Callable[[Result], list[Table]]] = {
    "cifar-pairs": cifar_pairs,
    "variants": variants,
    "criteo": criteo,
    "bounds": bounds,
    "certificates": certificates,
    "picking": picking,
    "classes": classes,
    "tables": learner,
}


# Cells


def measured(row: Result | None) -> str:
    """
    >>> measured({"accuracy": 0.93, "sd": 0.0123}), measured(None), measured({"accuracy": 0.0, "sd": 0.0, "top": 0.0})
    ('0.9300 ± 0.0123', '-', 'f = 0')
    """
    if row is None:
        return "-"
    if row.get("top") == 0:  # no network was worth its price, and y f(x) = 0 counts as an error
        return "f = 0"
    return f"{row['accuracy']:.4f}" + ("" if row["sd"] is None else f" ± {row['sd']:.4f}")


def _printed(known: tuple[float, float] | None) -> str:
    return "-" if known is None else f"{known[0]:.4f} ± {known[1]:.4f}"


def units(row: Result | None) -> str:
    """
    >>> units({"method": "nn", "units": [512.0], "top": 1.0}), units({"method": "adanet", "units": [90.5], "top": 60.0})
    ('512', '90.5 + 60')
    """
    if row is None:
        return "-"
    hidden = ", ".join(f"{n:.4g}" for n in row["units"]) or "0"
    return f"{hidden} + {row['top']:.4g}" if row["method"] == "adanet" else hidden


def layers(row: Result) -> str:
    """All layers, the top one too."""
    return ", ".join(f"{n:.4g}" for n in [*row["units"], row["top"]])


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


# The two forms


def section(table: Table) -> str:
    return "\n".join([f"### {table.title}", "", grid(table), *([table.note, ""] if table.note else [])])


def grid(table: Table) -> str:
    """The table alone."""
    return markdown.table(table.header, table.rows)


def latex(table: Table) -> str:
    body = [" & ".join(escaped(cell) for cell in row) + r" \\" for row in (table.header, *table.rows)]
    lines = [
        r"\begin{table}",
        rf"\caption{{{escaped(table.title)}. {escaped(table.note)}}}",
        rf"\begin{{tabular}}{{{'l' * len(table.header)}}}",
        r"\hline",
        body[0],
        r"\hline",
        *body[1:],
        r"\hline",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def read(path: Path) -> tuple[Result, list[Table]]:
    result = results.read(path)
    result = {"protocol": path.stem, **result, "before": _before(path.parent)}
    try:
        return result, tables(result)
    except KeyError as missing:
        raise ValueError(f"{path}: a row has no {missing}.") from None


def write(path: Path) -> None:
    """NAME.md and NAME.tex beside NAME.json."""
    result, document = read(path)
    source = f"Made from {path.name} by `python -m verify.experiments.tables`; the run: `{result['command']}`."
    write_file(path.with_suffix(".md"), "\n".join([*map(section, document), source, ""]))
    write_file(path.with_suffix(".tex"), "\n".join(map(latex, document)))


def parser() -> Parser:
    options = Parser(prog="python -m verify.experiments.tables", description=__doc__)
    options.add_argument("files", nargs="+", type=Path, metavar="FILE.json", help="the results of a protocol")
    options.add_argument("--into", type=Path, metavar="PAGE", help="put the first table of each into this page instead")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    return console.run(parser(), write_all, argv)


def write_all(arguments: argparse.Namespace) -> int:
    if arguments.into is not None:
        text = arguments.into.read_text(encoding="utf-8")
        write_file(arguments.into, with_tables(text, arguments.files))
        return 0
    for path in arguments.files:
        write(path)
    return 0


def with_tables(page: str, files: Sequence[Path]) -> str:
    """The page with the first table of each file between the comments of its name, others at names of their own."""
    for path in files:
        others = {"certificates": ("compressed", "untouched")}.get(path.stem, ("expect", "counted", "aims", "dry"))
        named = zip((path.stem, *others), read(path)[1], strict=False)
        kept = [(name, table) for name, table in named if f"<!-- {name} -->" in page]
        check(bool(kept), f"the page must hold the comments <!-- {path.stem} --> and <!-- /{path.stem} -->.")
        for name, table in kept:
            page = markdown.spliced(page, grid(table), name)
    return page


if __name__ == "__main__":
    sys.exit(main())
