"""Training time against peers, from the benchmark results: ours as a multiple of theirs."""

from __future__ import annotations

import re
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import results
from figures.canvas import Data, is_single, panels, styled, width
from verify.show.plots import BLUE, INK, ORANGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("benchmarks",)
DATA = "results"
TRAINING = ("training", "mixture", "experiment")  # the benchmarks that train


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """The ratios, grouped by kind of work, each with its target, from the results, else from a timing made now."""
    rows, measured = results.rows("benchmarks", data, timed, lambda row: row["benchmark"] in TRAINING)
    machines = "; ".join(sorted({row["machine"] for row in rows})) if measured else None
    return {"works": grouped(rows), "machine": machines}


def grouped(rows: list[dict[str, Any]]) -> list[Data]:
    """One entry for each kind of work and peer; works that differ only in Γ or in a remark in brackets share one."""
    groups: dict[tuple[str, str], Data] = {}
    for row in rows:
        key = re.sub(r", Gamma=[^,]*|, gap [^,]*", "", row["work"]), re.sub(r" \(.*\)", "", row["against"])
        entry = groups.setdefault(key, {"work": key[0], "against": key[1], "ratios": [], "target": target(row)})
        entry["ratios"].append(row["ratio"])
    return list(groups.values())


def target(row: dict[str, Any]) -> float | None:
    """The number in a target such as "<= 0.5" or "<= 1/50, accuracy >= 0.947".

    >>> target({"target": "<= 1/50, accuracy >= 0.947"}), target({"target": "converges"})
    (0.02, None)
    """
    number = re.match(r"<= (\d+(?:\.\d+)?)(?:/(\d+))?", row["target"])
    return float(number[1]) / float(number[2] or 1) if number else None


def timed() -> list[dict[str, Any]]:
    """Without recorded results: three rounds of AdaNet on breast cancer against scikit-learn's network."""
    import torch
    from sklearn.datasets import load_breast_cancer
    from sklearn.neural_network import MLPClassifier

    from adanet_train.core.config import Config
    from adanet_train.methods import adanet

    X, labels = load_breast_cancer(return_X_y=True)
    X = (X - X.min(0)) / (X.max(0) - X.min(0))
    Psi, y = torch.from_numpy(X), torch.from_numpy(2.0 * labels - 1)
    ours = _seconds(lambda: adanet.train(Psi, y, Config(learner="gradient", rounds=3, width=20, steps=1000, lam=1e-3)))
    theirs = _seconds(lambda: MLPClassifier((60,), max_iter=1000, random_state=0).fit(X, labels))
    work = "AdaNet on breast cancer, three rounds"
    return [{"work": work, "against": "scikit-learn's MLPClassifier", "ratio": ours / theirs, "target": "none"}]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def lines(works: list[Data]) -> list[tuple[str, Data | None]]:
    """The lines from top to bottom: for each peer a heading with the words that its works share, then each work."""
    rows: list[tuple[str, Data | None]] = []
    for peer in dict.fromkeys(work["against"] for work in works):
        own = [work for work in works if work["against"] == peer]
        words = [work["work"].split(", ") for work in own]
        shared = [word for word in words[0] if all(word in others for others in words)] if len(own) > 1 else []
        rows.append((f"against {peer}" + (f": {', '.join(shared)}" if shared else ""), None))
        for work, parts in zip(own, words, strict=True):
            rows.append((", ".join(part for part in parts if part not in shared), work))
    return rows


def _stacked(works: list[Data]) -> list[tuple[str, Data | None]]:
    """The same lines for one column: each work below its words, long lines split in two with the same indent."""
    rows: list[tuple[str, Data | None]] = []
    for text, work in lines(works):
        rows += [(line, None) for line in textwrap.wrap(text, 56, subsequent_indent="  ")]
        rows += [] if work is None else [("", work)]
    return rows


@styled
def draw(data: Data) -> Figure:
    """A row for each work under its peer; left of 1 ours is faster."""
    single = is_single(data, by_default=False)
    # beside the axis of one column the words would leave no room for it: each stands above its line
    rows = _stacked(data["works"]) if single else lines(data["works"])
    tall = (0.135 if single else 0.165) * len(rows)
    figure, (axes,) = panels(1, 1, width=width(data, single=False), height=0.8 + tall)
    for y, (text, work) in enumerate(rows):
        if work is None:
            side: Any = {"x": 0.0, "ha": "left"} if single else {"x": -0.02, "ha": "right"}
            where = axes.get_yaxis_transform()
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
            style = "normal" if single and not text.startswith(("against", "  ")) else "italic"
            axes.text(y=y, s=text.strip(), va="center", style=style, transform=where, bbox=box, **side)
            continue
        axes.axhline(y, color=INK, linewidth=0.3, alpha=0.3, zorder=0)
        axes.plot(work["ratios"], [y] * len(work["ratios"]), "o", color=BLUE, markersize=4, zorder=3)
        if work["target"] is not None:
            axes.plot(work["target"], y, "|", color=ORANGE, markersize=9, markeredgewidth=1.8)
    axes.axvline(1, color=INK, linewidth=0.6)
    axes.set_xscale("log")
    named = {y: text for y, (text, work) in enumerate(rows) if work is not None}
    axes.set_yticks(list(named), list(named.values()))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("our time / theirs")
    axes.plot([], [], "o", color=BLUE, markersize=4, label="measured")
    axes.plot([], [], "|", color=ORANGE, markersize=8, markeredgewidth=1.8, label="target, at most")
    figure.legend(loc="outside upper right", ncols=2, handletextpad=0.2)
    return figure


def caption(data: Data) -> str:
    origin = (
        f"measured side by side unless marked as recorded ({data['machine']})"
        if data["machine"]
        else "from one quick timing made for this figure"
    )
    numbers = "; ".join(
        text if work is None else f"{text}: {_span(work['ratios'])}" for text, work in lines(data["works"])
    )
    return (
        f"Training time as a multiple of a peer's, {origin}. Left of 1 ours is faster. Several dots in a row are "
        f"several penalties Gamma. By peer: {numbers}."
    )


def _span(ratios: list[float]) -> str:
    least, most = min(ratios), max(ratios)
    return f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
