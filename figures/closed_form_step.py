"""AdaNet.CVX's closed-form step against the exact joint step: its share of the possible decrease."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array
from adanet_theory.duality import layer_score
from figures.canvas import P_NAMES, Data, ends, is_single, panels, styled, width
from figures.parameters import ONE, P, number
from verify.show.plots import BLUE, GREEN, INK, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

M, N = 20, 5  # points and units below of a random problem
SHARE = 0.3  # of the Γ from which no step descends
GAMMA = 1e-3  # in the family of cvx-closed-form-optimal
PARAMETERS = {"m": ONE, "width": ONE, "trials": ONE}
_LINES: dict[str, dict[str, Any]] = {
    "1": {"color": BLUE, "linestyle": "-", "marker": "o"},
    "2": {"color": ORANGE, "linestyle": "--", "marker": "s"},
    "inf": {"color": GREEN, "linestyle": "-.", "marker": "^"},
}


def decreases(Z: Tensor, y: Tensor, Gamma: float, p: float) -> tuple[float, float]:
    """F(0) - F of the closed-form unit with its best weight, and of the joint minimiser; f = 0, Λ = 1, logistic Φ."""
    from adanet_train.search.objective import loss
    from verify.claims.checks.cvx import LOGISTIC, closed_form

    start = loss(LOGISTIC, y, 0 * y)
    closed, joint = closed_form(Z, y, Gamma, p)
    return start - closed, start - joint


def threshold(Z: Array, y: Array, p: float) -> float:
    """g: for Γ >= g the step is w = 0."""
    return layer_score(Z.T @ y / len(y), 1.0, p, 1 / (1 + math.exp(-1)))  # Φ'(1), as f = 0


def compute(*, quick: bool, **parameters: Any) -> Data:
    """The share of the exact decrease, for each p: over random problems, sorted, and along `coordinates`."""
    import torch

    from verify.claims.checks.objective import coordinates

    problems = number(parameters, "trials", 12 if quick else 200)
    m, units = number(parameters, "m", M), number(parameters, "width", N)
    K = np.logspace(0.5, 4, 5 if quick else 15).tolist()
    data: Data = {"problems": problems, "m": m, "units": units, "K": K, "random": {}, "family": {}}
    for name, p in P.items():
        rng = np.random.default_rng(66)
        shares = []
        for _ in range(problems):
            Z, y = rng.normal(size=(m, units)), rng.choice([-1.0, 1.0], size=m)
            closed, exact = decreases(torch.from_numpy(Z), torch.from_numpy(y), SHARE * threshold(Z, y, p), p)
            shares.append(closed / exact)
        data["random"][name] = sorted(shares)
        pairs = [decreases(*coordinates(k), GAMMA, p) for k in K]
        data["family"][name] = [closed / exact for closed, exact in pairs]
    return data


@styled
def draw(data: Data) -> Figure:
    """Left: the distribution of the share over random problems. Right: in a family where it tends to 0."""
    single = is_single(data, by_default=False)
    rows, columns, height = (2, 1, 4.4) if single else (1, 2, 2.3)
    figure, (left, right) = panels(rows, columns, width=width(data, single=False), height=height)
    for name, shares in data["random"].items():
        y = np.arange(1, len(shares) + 1) / len(shares)
        style = {**_LINES[name], "markevery": max(1, len(shares) // 6), "drawstyle": "steps-post"}
        left.plot([shares[0], *shares], [0, *y], **style)
        right.plot(data["K"], data["family"][name], **{**_LINES[name], "markevery": 2})
        x, side = (_at(shares, 0.25) - 0.02, "right") if name != "2" else (_at(shares, 0.4) + 0.02, "left")
        left.text(x, 0.26, P_NAMES[name], color=_LINES[name]["color"], ha=side)
    left.axvline(1, color=INK, linewidth=0.6)
    left.set_xlim(0, 1.02)
    left.set_ylim(0, 1.02)
    left.set_xlabel("decrease of the closed-form step / exact step")
    left.set_ylabel("share of problems below")
    left.set_title(f"{data['problems']} random problems")
    right.axhline(1, color=INK, linewidth=0.6)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xlabel("$K$")
    right.set_ylabel("closed-form / exact")
    right.set_title("two points, units $(K+1, 1-K)$ and $(0.9, 0.9)$")
    at = len(data["K"]) // 2
    K, one, two = data["K"][at], data["family"]["1"][at], data["family"]["2"][at]
    right.text(K / 1.6, one / 4, "$p = 1$", color=BLUE, ha="right", va="top")
    right.text(K * 1.6, two * 4, r"$p = 2$ and $\infty$", color=GREEN)
    return figure


def _at(shares: list[float], level: float) -> float:
    """Where the curve of the sorted shares reaches the level."""
    return shares[math.ceil(level * len(shares)) - 1]


def caption(data: Data) -> str:
    first, last_panel = ends(data)
    medians = ", ".join(f"{np.median(shares):.3f} (p = {name})" for name, shares in data["random"].items())
    worst = ", ".join(f"{shares[0]:.3f}" for shares in data["random"].values())
    last = ", ".join(f"{values[-1]:.2g} (p = {name})" for name, values in data["family"].items())
    return (
        "The closed form is the steepest direction, not the joint minimiser, and no constant bounds the difference. "
        "Shown is the decrease of the objective by AdaNet.CVX's closed-form step (with the sign corrected and its best "
        "weight) as a share of the decrease by the exact joint step over all units of the layer, for the "
        f"logistic Phi, f = 0 and Lambda = 1. {first}: {data['problems']} random problems for each p, m = {data['m']} "
        f"points with random labels, {data['units']} standard normal units, Gamma = {SHARE:g} of the score g at which "
        f"no step descends; median share {medians}; least {worst}. {last_panel}: two points with y = 1, units with "
        f"values (K+1, -(K-1)) and (0.9, 0.9), Gamma = {GAMMA:g}; the share at K = {data['K'][-1]:.3g} is {last}."
    )
