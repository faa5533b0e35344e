"""Certificate against test error, for held-out points and for picking: how to spend labelled points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import check
from figures.canvas import Data, is_single, panels, styled, width
from verify.show.plots import BLUE, GREEN, INK
from verify.show.wording import up

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from adanet_train.picking.core import Learner

DATA = "sample"
STAND_IN = Path("digits:odd-even")
HELD_OUT = (0.05, 0.1, 0.25, 0.5, 0.75)
STARTS = (0.1, 0.25, 0.5, 0.75)
FOLDS = 5
WAYS = {
    "held out": ("held-out points, and their share", GREEN, "s"),
    "start": ("picking, and the share of the start", BLUE, "o"),
}
"""The name, colour and marker of each way."""
SIDES = ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1), (1, -1), (-1, 1))
WORDS = {"adanet": "AdaNet", "svc": "A support vector machine (rbf kernel)"}


def compute(*, quick: bool, data: Path | None = None, label: str | None = None) -> Data:
    """Each way with its certificate and test error, on the test part if there is one, else as means over five folds.

    The learner is AdaNet; in a quick figure it is a support vector machine.
    """
    from verify.experiments.protocols import picking

    source = str(data or STAND_IN)
    points, test, known = picking.read(picking.PickingData(source, column=label), None, pixels=False)
    check(len(points) >= 50, f"the frontier needs at least 50 points, got m={len(points)} in {source}.")
    folds = [picking.fold(points, seed) for seed in range(FOLDS)] if test is None else []
    parts = [(points[train], points[held]) for train, held in folds] if test is None else [(points, test)]
    shares = [("held out", share) for share in HELD_OUT] + [("start", share) for share in STARTS[quick:]]
    name = "svc" if quick else "adanet"
    rows = [_row(way, share, parts, lambda seed: picking.LEARNERS[name](points, seed, known)) for way, share in shares]
    tested = len(test) if test is not None else None
    return {"source": source, "learner": name, "m": len(points), "rows": rows, "tested": tested}


def _row(way: str, share: float, parts: Sequence[Any], make: Callable[[int], Learner]) -> Data:
    """The mean certificate and the mean test error."""
    from adanet_train.picking.core import Plan
    from verify.experiments.protocols import picking

    certified = []
    for seed, (points, test) in enumerate(parts):
        learner = make(seed)
        if way == "start":
            plan = Plan(start=share, seed=seed).settled(len(points), len(points.classes))
            spent = picking.by_picking(learner, points, replace(plan, dry=False))  # it picks, whether that pays or not
        else:
            spent = picking.by_holding_out(learner, points, share, seed)
        certified.append((spent.bound, float(picking.is_wrong(learner, spent.predictor, test).mean())))
    bound, error = np.mean(certified, axis=0).tolist()
    return {"way": way, "share": share, "bound": bound, "error": error}


@styled
def draw(data: Data) -> Figure:
    single = is_single(data, by_default=True)
    figure, (axes,) = panels(1, 1, width=width(data, single=True), height=3.0 if single else 3.4)
    for way, (label, colour, marker) in WAYS.items():
        rows = [row for row in data["rows"] if row["way"] == way]
        x, y = [row["error"] for row in rows], [row["bound"] for row in rows]
        axes.plot(x, y, color=colour, linewidth=0.7, zorder=1)
        axes.plot(x, y, marker, color=colour, label=label, zorder=3)
    errors = [row["error"] for row in data["rows"]]
    low, high = 0.8 * min(errors), 1.1 * max(errors) or 0.01
    axes.plot([low, high], [low, high], color=INK, linewidth=0.6)
    axes.set_xlim(low - 0.05 * (high - low), high)
    axes.set_ylim(low)
    axes.set_xlabel("test error")
    axes.set_ylabel("certificate")
    figure.legend(loc="outside upper left", ncols=1 if single else 2)
    figure.draw_without_rendering()  # before that nothing has its place on the paper
    _label(axes, data["rows"])
    return figure


def _label(axes: Axes, rows: Sequence[Data]) -> None:
    """The share beside each point, at the side where it covers the fewest points and other shares."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    points = [(row["error"], row["bound"]) for row in rows]
    taken = [Bbox([place - 6, place + 6]) for place in axes.transData.transform(points)]
    for row, at in zip(rows, points, strict=True):
        share = axes.annotate(f"{row['share']:.0%}", at, (0, 0), textcoords="offset points", zorder=2)
        share.set(color=WAYS[row["way"]][1], path_effects=[withStroke(linewidth=2, foreground="white")])
        covered = {}
        for side in SIDES:
            _put(share, side)
            box = share.get_window_extent()
            covered[side] = sum(box.overlaps(other) for other in taken)
        _put(share, min(SIDES, key=lambda side: covered[side]))
        taken.append(share.get_window_extent())


def _put(share: Text, side: tuple[int, int]) -> None:
    (x, y), across, along = side, ("right", "center", "left"), ("top", "center", "bottom")
    share.set(position=(5 * x, 5 * y), ha=across[x + 1], va=along[y + 1])


def caption(data: Data) -> str:
    held, picked = ([row for row in data["rows"] if row["way"] == way] for way in WAYS)
    least = [min(rows, key=lambda row: row["bound"]) for rows in (held, picked)]
    said = " and ".join(
        f"{up(row['bound'], 3)} (test error {row['error']:.4f}) with {row['share']:.0%} {words}"
        for row, words in zip(least, ("held out", "in the start"), strict=True)
    )
    where = (
        f"on {data['tested']:,} test points"
        if data["tested"]
        else f"means over {FOLDS} folds, each trained on four fifths and tested on the rest"
    )
    return (
        f"{WORDS[data['learner']]} on {data['source']}, m = {data['m']:,}: certificates at δ = 0.05 against the test "
        f"error, {where}. The least certificates are {said}. Down and left is better. On the line a certificate "
        f"equals the error. {_beaten(held, picked)}"
    )


def _beaten(held: Sequence[Data], picked: Sequence[Data]) -> str:
    """How many starts lose to a held-out share in both numbers, and how many shares to a start."""

    def lose(ours: Sequence[Data], theirs: Sequence[Data]) -> int:
        return sum(any(a["bound"] <= b["bound"] and a["error"] <= b["error"] for a in theirs) for b in ours)

    return (
        f"In both numbers, {lose(picked, held)} of the {len(picked)} starts are no better than some held-out share, "
        f"and {lose(held, picked)} of the {len(held)} held-out shares are no better than some start."
    )
