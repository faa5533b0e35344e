"""The frequency with which each bound on the risk fails, against δ, on finite distributions with known risks.

The samples, the functions chosen on them and the statements are those of the property suite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.risk import generalization
from adanet_theory.risk.margin import MarginBound, ramp_loss
from figures.canvas import Data, NotDrawn, ends, is_single, panels, styled, width
from figures.family import spread
from figures.parameters import ONE, SPAN, number
from verify.show.plots import BLUE, GREEN, INK, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from verify.suite.distributions import DrawnCase

DELTAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
PARAMETERS = {"delta": SPAN, "trials": ONE}
LEVEL = Fraction(1, 40)  # on either side of an interval: 95% in all
_TITLES = {
    "noise": "the best of 30 features, noise",
    "atoms": "two layers, three atoms",
    "blocks": "wide range, $l = 3072$",
}
_HELD_OUT = {"noise": (400, 0.5), "atoms": (200, 0.4775)}  # m and the risk of f = Ψ_1, fixed beforehand
_TOP = 2.5  # of the axis: room for a label above 1

Bound = Callable[[Any, float], float]  # of a case and δ


# What is not a bound, so that a failure can be seen


def error_alone(case: DrawnCase, delta: float) -> float:
    return float(np.mean(case.margins <= 0))


def unpaid(case: DrawnCase, delta: float) -> float:
    """margin-bound without the terms that pay for choosing f after the sample."""
    return ramp_loss(case.margins, case.rho) + math.sqrt(math.log(1 / delta) / (2 * case.m))


NO_BOUNDS: dict[str, Bound] = {"training error alone": error_alone, "without complexity": unpaid}


# The family of deepboost-restated: singletons of range M


def _blocks(trials: int, deltas: Sequence[float]) -> dict[str, list[int]]:
    """X has 96 points; f is right on the sample and wrong elsewhere, whatever the labels; M = 1e6, R_m = 0."""
    blocks, width, M = 12, 8, 1e6
    size, m, depth = blocks * width, blocks * width // 2, blocks * 2**width
    w = [1 / blocks] * blocks + [0.0] * (depth - blocks)
    rng = np.random.default_rng(0)
    risks = np.array([1 - len(np.unique(rng.integers(size, size=m))) / size for _ in range(trials)])

    def failed(statement: Callable[..., Any], **range_: Any) -> list[int]:
        given = {"rho": M / (blocks + 1), "m": m, **range_}
        values = [statement(0.0, w, [0.0] * depth, delta=delta, **given).total for delta in deltas]
        return [int(np.sum(risks > value)) for value in values]

    return {
        "Theorem 1, printed": failed(generalization.theorem_1, literally=True),
        "theorem-1-range": failed(generalization.theorem_1_range, M=M),
        "margin-bound": failed(generalization.margin_bound, M=M),
    }


def compute(*, quick: bool, **parameters: Any) -> Data:
    """For each distribution, statement and δ, the number of samples on which R(f) exceeds the bound."""
    from verify.suite.distributions import DISTRIBUTIONS, STATEMENTS

    trials = number(parameters, "trials", 100 if quick else 2000)
    deltas = list(DELTAS) if "delta" not in parameters else spread("delta", parameters["delta"], len(DELTAS))
    if deltas[0] == deltas[-1]:
        raise NotDrawn("the axis is delta: it needs a span, such as --delta 0.01:0.5.")
    data: Data = {"trials": trials, "delta": deltas, "failed": {}}
    for name, cases in DISTRIBUTIONS.items():
        # the same samples for each statement: one that draws signs goes on with the generator of its own
        data["failed"][name] = {
            **{statement: _counts(cases(trials), _total(bound), deltas) for statement, bound in STATEMENTS.items()},
            **{name: _counts(cases(trials), value, deltas) for name, value in NO_BOUNDS.items()},
        }
    data["failed"]["blocks"] = _blocks(trials, deltas)
    data["held_out"] = {name: [_held_out(*given, delta) for delta in deltas] for name, given in _HELD_OUT.items()}
    return data


def _total(bound: Callable[..., MarginBound]) -> Bound:
    return lambda case, delta: bound(case, delta).total


def _counts(cases: Iterator[DrawnCase], bound: Bound, deltas: Sequence[float]) -> list[int]:
    failed = [0] * len(deltas)
    for case in cases:
        for place in reversed(range(len(deltas))):  # a bound falls as δ grows: what holds at δ holds below
            if case.risk <= bound(case, deltas[place]):
                break
            failed[place] += 1
    return failed


def _held_out(m: int, risk: float, delta: float) -> float:
    """The probability that the Clopper-Pearson bound of one fixed function fails: the largest P[X <= k] below δ."""
    from scipy.special import bdtr

    tails = bdtr(np.arange(m + 1, dtype=float), m, risk)
    return float(tails[tails < delta].max(initial=0.0))


@styled
def draw(data: Data) -> Figure:
    """Above the diagonal a statement fails more often than it may. An arrow is the limit of one that never failed."""
    single = is_single(data, by_default=False)
    rows, columns, height = (3, 1, 6.4) if single else (1, 3, 2.5)
    figure, axes = panels(rows, columns, width=width(data, single=False), height=height, sharey=True)
    for panel, (name, failed) in zip(axes, data["failed"].items(), strict=True):
        _panel(panel, data, name, failed)
    for panel in axes if single else axes[:1]:
        panel.set_ylabel(r"share of samples with $R(f) >$ bound")
    return figure


def _panel(axes: Axes, data: Data, distribution: str, failed: dict[str, list[int]]) -> None:
    delta, trials = np.array(data["delta"]), data["trials"]
    axes_left, axes_right = delta[0] / 1.3, min(1.4 * delta[-1], 1.0)
    axes.fill_between([delta[0] / 1.5, 1], [delta[0] / 1.5, 1], _TOP, color=INK, alpha=0.07, linewidth=0)
    axes.plot([delta[0] / 1.5, 1], [delta[0] / 1.5, 1], color=INK, linewidth=0.6)
    if distribution in data["held_out"]:
        axes.plot(delta, data["held_out"][distribution], color=GREEN, linestyle="--", marker=".")
        if distribution == "noise":
            axes.text(0.95 * axes_right, 0.06 * axes_right, "held out, $f$ fixed", color=GREEN, ha="right")
    for colour, (name, counts) in zip((RED, ORANGE), _failing(failed), strict=False):
        limits = [_interval(count, trials) for count in counts]
        share = np.array(counts) / trials
        spread = [share - [low for low, _ in limits], [high for _, high in limits] - share]
        axes.errorbar(delta, share, spread, color=colour, marker="o" if colour == RED else "s", markersize=3, capsize=2)
        if name == "without complexity":
            if distribution == "noise":  # above the middle of its curve
                axes.text(delta[0] / 1.14, min(1.6 * share[len(share) // 2 - 1], 0.72), name, color=colour)
        else:
            axes.text(delta[0] / 1.14, 1.25 * share[0], name, color=colour)
    quiet = [name for name, counts in failed.items() if not any(counts)]
    never = _interval(0, trials)[1]
    axes.errorbar(delta, [never] * len(delta), never / 2, uplims=True, color=BLUE, linestyle="none", capsize=2)
    axes.text(0.97, 0.03, f"{len(quiet)} bounds: 0 of {trials}", color=BLUE, transform=axes.transAxes, ha="right")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(axes_left, axes_right)
    axes.set_ylim(never / 6, _TOP)
    axes.set_xlabel(r"$\delta$")
    axes.set_title(_TITLES[distribution], fontsize=8)


def _failing(failed: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    return [(name, counts) for name, counts in failed.items() if any(counts)]


def _interval(count: int, trials: int) -> tuple[float, float]:
    """Clopper-Pearson, 95%."""
    from adanet_theory.twins.counted import clopper_pearson_lower, clopper_pearson_upper

    return clopper_pearson_lower(count, trials, LEVEL), clopper_pearson_upper(count, trials, LEVEL)


def caption(data: Data) -> str:
    trials, failed = data["trials"], data["failed"]
    first, last = ends(data)
    at = int(np.argmin(np.abs(np.log(np.array(data["delta"]) / 0.05))))
    quiet = ", ".join(name for name, counts in failed["noise"].items() if not any(counts))
    loud = "; ".join(
        f"{distribution}: " + ", ".join(f"{name} {counts[at]}" for name, counts in _failing(statements))
        for distribution, statements in failed.items()
    )
    never = _interval(0, trials)[1]
    return (
        f"The frequency with which each bound fails over {trials} samples, against its delta (diagonal; in the grey "
        "area it would be refuted). The distributions have known risks, and f is chosen after seeing the sample. Bars "
        f"and arrows are 95% Clopper-Pearson limits. {first}: {quiet} failed on no sample at any delta up to "
        f'{data["delta"][-1]:g}, so at most {never:.2g} of the time. "without complexity" is the ramp plus the '
        f"confidence term of margin-bound. Failures at delta = {data['delta'][at]:.3g}, of {trials}: {loud}. "
        "Dashed: the exact frequency of the held-out Clopper-Pearson bound for one function fixed beforehand, which "
        f"uses nearly all of its delta. {last}: the ensemble theorem as restated in the paper, without the condition "
        "|h| <= 1, fails on every sample of a family of range 1e6. With its range corrected it is vacuous there."
    )
