"""Compression by stages: certificate and test error of a network as it is, rounded, fine-tuned and searched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import results
from figures.canvas import Data, is_single, panels, styled, width
from verify.experiments.tables import STAGES, best_of
from verify.show.plots import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY
from verify.show.wording import up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("certificates",)
DATA = "results"
COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, INK, "0.55")
MARKERS = "osD^vPX*"


def measured_rows(folder: Path | None = None) -> tuple[list[dict[str, Any]], bool]:
    """The compressed networks of the results, else a small one compressed now; and which of the two."""
    return results.rows("certificates", folder, lambda: [stand_in()], lambda row: row["method"] == "occam")


def stand_in() -> dict[str, Any]:
    """A linear function of 20 of the features of `usual_networks.table`, on 2,000 points."""
    import torch

    from adanet_train import compress
    from adanet_train.compression.weights import fill, prepared
    from verify.experiments.protocols.usual_networks import error, fit, table

    (X, y, _), (X_test, y_test, _) = table(2_000, 1), table(2_000, 2)
    torch.manual_seed(0)
    net = fit(torch.nn.Linear(X.shape[1], 1), X, y, 3, 100)
    small, own = compress(net, X, y, budget=1), prepared(net)
    stages = [stage.plain | {"test_error": error(fill(own, stage.coded), X_test, y_test)} for stage in small.stages]
    case = {"data": "table, linear", "m": small.m, "weights": 51, "network_test_error": error(net, X_test, y_test)}
    return {**case, "stages": stages}


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """By network: bits, certificate and test error of every stage."""
    rows, measured = measured_rows(data)
    networks = [
        {
            "name": row["data"],
            "m": row["m"],
            "weights": row["weights"],
            "stages": [{**best, "name": stage} for stage, best in best_of(row).items()],
        }
        for row in rows
    ]
    return {"networks": networks, "measured": measured}


@styled
def draw(data: Data) -> Figure:
    single = is_single(data, by_default=False)
    shape = (2, 1) if single else (1, 2)
    figure, axes = panels(*shape, width=width(data, single=False), height=5.6 if single else 3.2)
    for place, network in enumerate(data["networks"]):
        stages = network["stages"]
        x = [STAGES.index(stage["name"]) for stage in stages]
        look: dict[str, Any] = {
            "color": COLOURS[place % len(COLOURS)],
            "marker": MARKERS[place % len(MARKERS)],
            "markersize": 3.5,
        }
        axes[0].plot(x, [stage["bound"] for stage in stages], **look, label=network["name"])
        axes[0].plot(x, [stage["test_error"] for stage in stages], color=look["color"], linestyle=":", linewidth=0.8)
        axes[1].plot(x, [stage["bits"] for stage in stages], **look)
    for panel in axes:
        panel.set_yscale("log")
        panel.set_xticks(range(len(STAGES)), STAGES)
    axes[0].axhline(1, color=INK, linewidth=0.6)
    axes[0].set_ylabel("certificate (dotted: test error)")
    axes[1].set_ylabel("bits")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=1 if single else 3)
    return figure


def caption(data: Data) -> str:
    words = []
    for network in data["networks"]:
        last = min(network["stages"], key=lambda stage: stage["bound"])
        first = network["stages"][0]
        words.append(
            f"{network['name']} (m = {network['m']:,}) from {first['bits']:,} bits and {up(first['bound'], 3)} to "
            f"{last['bits']:,} bits and {up(last['bound'], 3)}, test error {last['test_error']:.4f}"
        )
    source = "adanet-experiment certificates" if data["measured"] else "a run on 2,000 points made for this figure"
    return (
        f"occam-certificate at δ = 0.05 and bits of networks trained on all m points, at each stage of compress, "
        f"by {source}: {'; '.join(words)}. Every point of a line is one network. The dotted line is its test error."
    )
