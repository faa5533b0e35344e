"""The paper's tables and ours: accuracies with intervals for their means, and the numbers of units."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from figures import results
from figures.canvas import Data, is_single, styled, width
from paper_notes import tables
from verify.show.plots import BLUE, INK, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RESULTS = ("cifar-pairs", "variants", "criteo")
DATA = "results"
METHODS = {"adanet": "AdaNet", "nn-gp": "NN-GP", "nn": "NN", "lr": "LR"}
_OWN = {"base": "AdaNet", "units": "unit by unit", "cvx": "CVX", "cvx-exact": "CVX, exact", "bound": "bound objective"}
STAND_IN = "digits:3-8"

Cell = dict[str, Any]  # "mean", "low", "high" of an accuracy


# Intervals


def interval(mean: float, sd: float | None, folds: int, share: float = 1 / 8) -> Cell:
    """95% for the mean over J folds: the t interval with Nadeau and Bengio's 1/J + n_test/n_train for 1/J.

    Folds share most of their training points, so the plain standard error would be too small. In the protocol eight
    folds of ten train and one tests.

    >>> {name: round(value, 4) for name, value in interval(0.9372, 0.0082, 10).items()}
    {'mean': 0.9372, 'low': 0.9284, 'high': 0.946}
    """
    if sd is None or folds < 2:
        return {"mean": mean, "low": mean, "high": mean}
    from scipy.special import stdtrit

    half = float(stdtrit(folds - 1, 0.975)) * sd * math.sqrt(1 / folds + share)
    return {"mean": mean, "low": mean - half, "high": min(1.0, mean + half)}


def binomial(mean: float, size: int) -> Cell:
    """A 95% interval for an accuracy on that many test points, by the normal approximation."""
    half = 1.96 * math.sqrt(mean * (1 - mean) / size)
    return {"mean": mean, "low": mean - half, "high": mean + half}


def _paper(known: tuple[float, float] | None) -> Cell | None:
    return None if known is None else interval(*known, tables.FOLDS)


def _ours(row: dict[str, Any] | None) -> Cell | None:
    return None if row is None else interval(row["accuracy"], row.get("sd"), len(row.get("tests", [])))


# Data


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """The paper's cells and ours; if no pair was measured, a quick run on handwritten digits replaces ours."""
    measured = {name: results.read(name, data) for name in RESULTS}
    rows = measured["cifar-pairs"]["rows"] if measured["cifar-pairs"] else []
    pairs = {pair: _pair(pair, rows) for pair in tables.ACCURACY}
    cells: Data = {"pairs": pairs, "variants": _variants(measured["variants"], rows), "units": _units(rows)}
    cells["criteo"] = _criteo(measured["criteo"])
    cells["own_variants"] = measured["variants"] is not None
    cells["zero"] = [variant_name(row) for row in (measured["variants"] or {"rows": []})["rows"] if row.get("top") == 0]
    cells["criteo_rows"] = measured["criteo"]["rows"][0]["m_test"] if measured["criteo"] else None
    cells["stand-in"] = None if rows else stand_in(folds=3 if quick else tables.FOLDS)
    cells["grid"] = measured["cifar-pairs"].get("command") if measured["cifar-pairs"] else None
    return cells


def _pair(pair: str, rows: list[dict[str, Any]]) -> Data:
    own = {row["method"]: row for row in rows if row["pair"] == pair}
    return {
        name: {"paper": _paper(tables.ACCURACY[pair].get(name)), "ours": _ours(own.get(method))}
        for method, name in METHODS.items()
    }


def _variants(measured: dict[str, Any] | None, rows: list[dict[str, Any]]) -> Data:
    """Table 3, on deer-truck, and the base to compare it with."""
    base = next((row for row in rows if (row["pair"], row["method"]) == ("deer-truck", "adanet")), None)
    own = {variant_name(row): row for row in measured["rows"] if row.get("top") != 0} if measured else {}
    cells = {
        "AdaNet": {"paper": _paper(tables.ACCURACY["deer-truck"]["AdaNet"]), "ours": _ours(own.get("AdaNet", base))}
    }
    names = dict.fromkeys([*tables.VARIANTS, *own])
    for name in names:
        if name != "AdaNet":
            cells[name] = {"paper": _paper(tables.VARIANTS.get(name)), "ours": _ours(own.get(name))}
    return cells


def variant_name(row: dict[str, Any]) -> str:
    """The paper's name of a variant, or a short one of ours.

    >>> variant_name({"method": "base"}), variant_name({"method": "SD"}), variant_name({"method": "cvx-exact"})
    ('AdaNet', 'AdaNet.SD', 'CVX, exact')
    """
    name = str(row["method"])
    return f"AdaNet.{name}" if f"AdaNet.{name}" in tables.VARIANTS else _OWN.get(name, name)


def _criteo(measured: dict[str, Any] | None) -> Data:
    """Table 4, with one test sample each, so the intervals are binomial."""
    own = {METHODS[row["method"]]: row for row in measured["rows"]} if measured else {}
    printed = {name: binomial(accuracy, tables.CRITEO_HELD_OUT) for name, accuracy in tables.CRITEO_ACCURACY.items()}
    return {
        name: {
            "paper": printed.get(name),
            "ours": binomial(own[name]["accuracy"], own[name]["m_test"]) if name in own else None,
        }
        for name in dict.fromkeys([*printed, *own])
    }


def _units(rows: list[dict[str, Any]]) -> Data:
    """AdaNet's hidden units in all layers, without our units in the top layer, which no activation follows."""
    own = {row["pair"]: sum(row["units"]) for row in rows if row["method"] == "adanet"}
    return {pair: {"paper": sum(units[:2]), "ours": own.get(pair)} for pair, units in tables.UNITS.items()}


def stand_in(folds: int) -> Data:
    """AdaNet, a network and logistic regression on digits with small untuned settings; not the paper's data."""
    from sklearn.model_selection import StratifiedKFold

    from adanet_train.app import run
    from adanet_train.app.inputs import Asked, read_inputs
    from adanet_train.core.config import Config

    inputs = read_inputs(STAND_IN, Asked())
    Psi, y = inputs.Psi, inputs.y
    parts = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(Psi.numpy(), y.numpy()))
    config = Config(learner="gradient", rounds=3, width=20, steps=300, hidden=(20,), lam=1e-4)
    cells: Data = {}
    for method in ("adanet", "nn", "lr"):
        tests = []
        for train, test in parts:
            network = run.trainer(method)(Psi[train], y[train], config).network
            tests.append(1 - run.error_rate(network, Psi[test], y[test]))
        ours = interval(float(np.mean(tests)), float(np.std(tests, ddof=1)), folds, 1 / (folds - 1))
        cells[METHODS[method]] = {"paper": None, "ours": ours}
    return cells


# Drawing


@styled
def draw(data: Data) -> Figure:
    """The five pairs above; the variants, Criteo, the units, and any replacement for missing results below."""
    from matplotlib.figure import Figure

    single = is_single(data, by_default=False)
    figure = Figure(figsize=(width(data, single=False), 8.4 if single else 3.9), layout="constrained")
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[1, 1.15] if single else [1.06, 1]).flat
    panels = list(above.subplots(*((3, 2) if single else (1, 5)), sharey=True).flat)
    for panel, (pair, cells) in zip(panels, data["pairs"].items(), strict=False):
        _accuracies(panel, cells, pair)
    for panel in panels[len(data["pairs"]) :]:
        panel.set_axis_off()
    more = {"variants, deer-truck": data["variants"], "Criteo": data["criteo"]}
    if data["stand-in"] is not None:
        more[f"{STAND_IN.replace(':', ' ')}, quick run"] = data["stand-in"]
    if single:
        sizes = [*map(len, more.values()), len(data["units"])]
        axes = below.subplots(len(sizes), 1, height_ratios=[2 + size for size in sizes])
    else:
        axes = below.subplots(1, len(more) + 1)
    for panel, (title, cells) in zip(axes, more.items(), strict=False):
        _accuracies(panel, cells, title)
        panel.set_xlabel("accuracy, 95% interval")
    _draw_units(axes[-1], data["units"])
    above.supxlabel("accuracy, 95% interval", fontsize=8)
    handles, labels = axes[-1].get_legend_handles_labels()
    above.legend(handles, labels, loc="outside upper right", ncols=2, handletextpad=0.2)
    return figure


def _accuracies(axes: Axes, cells: Data, title: str) -> None:
    from matplotlib.ticker import MaxNLocator

    for y, cell in enumerate(cells.values()):
        for whose, shift, colour, fill in (("paper", -0.14, ORANGE, "none"), ("ours", 0.14, BLUE, "full")):
            numbers = cell[whose]
            if numbers is not None:
                axes.plot([numbers["low"], numbers["high"]], [y + shift] * 2, color=colour, linewidth=1)
                marker = "s" if whose == "paper" else "o"
                axes.plot(numbers["mean"], y + shift, marker, color=colour, fillstyle=fill, markersize=3.6)
    axes.set_yticks(range(len(cells)), list(cells))
    axes.set_ylim(len(cells) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(2))
    axes.margins(x=0.15)
    axes.set_title(title, fontsize=8)


def _draw_units(axes: Axes, units: Data) -> None:
    paper = [cell["paper"] for cell in units.values()]
    ours = [np.nan if cell["ours"] is None else cell["ours"] for cell in units.values()]
    y = np.arange(len(units))
    axes.plot(paper, y - 0.14, "s", color=ORANGE, fillstyle="none", markersize=3.6, label="paper")
    axes.plot(ours, y + 0.14, "o", color=BLUE, markersize=3.6, label="ours")
    axes.set_yticks(y, list(units))
    axes.set_ylim(len(units) - 0.5, -0.5)
    axes.set_xlim(0, 1.15 * np.nanmax([*paper, *ours]))
    axes.set_title("hidden units", fontsize=8)
    axes.set_xlabel("units of all layers")
    axes.axvline(0, color=INK, linewidth=0.6)


def caption(data: Data) -> str:
    pairs = {pair: cells["AdaNet"]["ours"] for pair, cells in data["pairs"].items()}
    known = [f"{pair} {cell['mean']:.4f}" for pair, cell in pairs.items() if cell]
    missing = [pair for pair, cell in pairs.items() if cell is None]
    text = (
        "The paper's tables (squares) and ours (dots): accuracy on CIFAR-10 pairs, AdaNet's variants on deer-truck, "
        "Criteo, and the average number of AdaNet's hidden units. All intervals are 95%: for the mean over ten folds, "
        "corrected for their overlap (Nadeau and Bengio), and binomial for Criteo. "
    )
    if known:
        text += f"AdaNet, ours: {', '.join(known)}. Made by: {data['grid']}. "
    absent = [
        name for name, there in (("the variants", data["own_variants"]), ("Criteo", data["criteo_rows"])) if not there
    ]
    absent += [name for name in METHODS.values() if known and not any(c[name]["ours"] for c in data["pairs"].values())]
    if absent:
        text += f"We have no results for {', '.join(absent)}. "
    if known and not data["own_variants"]:
        text += "Among the variants, our AdaNet is that of the pairs. "
    if data["zero"]:
        text += f"Not drawn: {', '.join(data['zero'])}, where f = 0 was chosen. "
    if data["criteo_rows"]:
        text += (
            f"Criteo: ours on {data['criteo_rows']} test rows of a sample, the paper's on {tables.CRITEO_HELD_OUT}. "
        )
    if missing:
        text += f"Not measured by us: {', '.join(missing)}. "
    if data["stand-in"] is not None:
        values = ", ".join(f"{name} {cell['ours']['mean']:.4f}" for name, cell in data["stand-in"].items())
        text += f"In their place there is a quick run on {STAND_IN}, which is not in the paper: {values}. "
    return text.strip()
