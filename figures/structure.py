"""Does the structure adapt? Test accuracy against multiply-adds, for AdaNet by rounds and networks of several sizes."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import results
from figures.canvas import Data, is_single, panels, styled, width
from verify.show.plots import BLUE, GREEN, INK, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("structure",)
DATA = "results"
COLOURS = {"AdaNet, B = 2": GREEN, "AdaNet, B = 8": PURPLE, "AdaNet, B = 50": BLUE}


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """By task: the runs of AdaNet and the other networks, as (multiply-adds, accuracy), and the units."""
    measured = results.read("structure", data)
    rows = measured["rows"] if measured else stand_in()
    tasks: dict[str, Data] = {}
    for task in dict.fromkeys(row["task"] for row in rows):
        own = [row for row in rows if row["task"] == task]
        methods = list(dict.fromkeys(row["method"] for row in own))
        tasks[task] = {
            "adanet": {method: curves(own, method) for method in methods if method.startswith("AdaNet")},
            "nn": [mean_point(own, method) for method in methods if not method.startswith("AdaNet")],
            "units": {method: final_units(own, method) for method in methods if method.startswith("AdaNet")},
            "paper": ((measured or {}).get("paper_units") or {}).get(task),
        }
    return {"tasks": tasks, "measured": measured is not None}


def curves(rows: list[dict[str, Any]], method: str) -> list[Data]:
    """The rounds of every seed."""
    seeds = dict.fromkeys(row["seed"] for row in rows if row["method"] == method)
    points = []
    for seed in seeds:
        run = [row for row in rows if row["method"] == method and row["seed"] == seed]
        points.append({"x": [row["multiply_adds"] for row in run], "y": [row["accuracy"] for row in run]})
    return points


def mean_point(rows: list[dict[str, Any]], method: str) -> Data:
    own = [row for row in rows if row["method"] == method]
    accuracy = statistics.fmean(row["accuracy"] for row in own)
    return {"method": method, "x": own[0]["multiply_adds"], "y": accuracy}


def final_units(rows: list[dict[str, Any]], method: str) -> Data:
    """The units after the last round, on average over the seeds."""
    own = [row for row in rows if row["method"] == method]
    last = [max((row for row in own if row["seed"] == seed), key=lambda row: row["round"]) for seed in _seeds(own)]
    names = ("depth", "units", "multiply_adds", "accuracy")
    return {name: statistics.fmean(row[name] for row in last) for name in names}


def _seeds(rows: list[dict[str, Any]]) -> list[int]:
    return list(dict.fromkeys(row["seed"] for row in rows))


def stand_in() -> list[dict[str, Any]]:
    """Without recorded results: AdaNet and a linear model on half of digits 3 and 8, tested on the other half."""
    from sklearn.linear_model import LogisticRegression

    from adanet_train import AdaNetClassifier, Config
    from adanet_train.data import datasets

    data = datasets.load("digits:3-8")
    X, y = data.values / 16, data.y
    train, test = slice(0, None, 2), slice(1, None, 2)
    rows = []
    for B in (2, 8):
        model = AdaNetClassifier(rounds=1, width=B, config=Config(steps=100)).fit(X[train], y[train])
        n = model.model_.network.n
        weights = [*model.hidden_.values(), *model.output_.values()]
        sizes = {"depth": len(n) - 1, "units": sum(n[1:]), "multiply_adds": sum(int((w != 0).sum()) for w in weights)}
        row = {"task": "digits:3-8", "seed": 0, "method": f"AdaNet, B = {B}", "round": 1, **sizes}
        rows.append({**row, "accuracy": float(model.score(X[test], y[test]))})
    linear = float(LogisticRegression().fit(X[train], y[train]).score(X[test], y[test]))
    sizes = {"depth": 1, "units": 1, "multiply_adds": X.shape[1]}
    return [*rows, {"task": "digits:3-8", "seed": 0, "method": "LR", **sizes, "accuracy": linear}]


@styled
def draw(data: Data) -> Figure:
    tasks = data["tasks"]
    columns = min(2 if is_single(data, by_default=False) else 4, len(tasks))
    rows = -(-len(tasks) // columns)
    figure, axes = panels(rows, columns, width=width(data, single=False), height=1.9 * rows + 0.5)
    for panel in axes[len(tasks) :]:
        panel.set_axis_off()
    for panel, (task, lines) in zip(axes, tasks.items(), strict=False):
        panel.plot(
            [p["x"] for p in lines["nn"]],
            [p["y"] for p in lines["nn"]],
            "s",
            color=ORANGE,
            markersize=3.5,
            label="LR and NN",
        )
        for method, runs in lines["adanet"].items():
            for number, run in enumerate(runs):
                label = method if number == 0 else None
                panel.plot(
                    run["x"], run["y"], "o-", color=COLOURS.get(method, INK), markersize=2.5, linewidth=0.8, label=label
                )
        panel.set_xscale("log")
        panel.set_title(task)
    for panel in axes[::columns]:
        panel.set_ylabel("test accuracy")
    for panel in axes[max(0, len(tasks) - columns) : len(tasks)]:  # the lowest of each column
        panel.set_xlabel("multiply-adds")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2 if columns < 3 else 4)
    return figure


def caption(data: Data) -> str:
    tasks = data["tasks"]
    last = {task: list(curves["units"].items())[-1] for task, curves in tasks.items()}
    ends = "; ".join(
        f"{task}: depth {units['depth']:.3g}, {units['units']:.0f} units, accuracy {units['accuracy']:.3f}"
        for task, (_, units) in last.items()
    )
    widest = next(iter(last.values()))[0]
    source = "adanet-experiment structure" if data["measured"] else "a run on digits:3-8 made for this figure"
    return (
        f"Test accuracy against multiply-adds, by {source}. A curve is one run of AdaNet, whose members have B units "
        "a layer, and a dot is a round. Squares are logistic regression and networks with one and two hidden layers of "
        f"several sizes. The runs of {widest} end at: {ends}."
    )
