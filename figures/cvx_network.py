"""A network made by AdaNet.CVX (Figure 3 of the paper), drawn from a trained one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures import graph, runs
from figures.canvas import Data, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def compute(*, quick: bool) -> Data:
    """A run of AdaNet.CVX takes less than a second, quick or not."""
    trained = runs.cvx()
    return {**graph.of(trained.network), "rounds": len(trained.history), "objective": trained.history[-1]["objective"]}


@styled
def draw(data: Data) -> Figure:
    return graph.draw(data)


def caption(data: Data) -> str:
    return (
        f"A network that AdaNet.CVX made in {data['rounds']} rounds, one unit a round, by the exact step, p = 2, on "
        f"{runs.M} points: F = {data['objective']:.4f}. A unit reads the units of the layer below that were there "
        f"before it; the output (green) reads all units. {graph.described(data)}"
    )
