"""A network made by AdaNet.CVX (Figure 3 of the paper), drawn from a trained one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import graph, runs
from figures.canvas import Data, styled
from figures.parameters import ONE, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PARAMETERS = {"rounds": ONE, "depth": ONE, "p": ONE}
DATA = "points"


def compute(*, quick: bool, data: Path | None = None, **parameters: Any) -> Data:
    """A run of AdaNet.CVX takes less than a second, quick or not."""
    asked = {name: number(parameters, name, None) for name in parameters}
    trained = runs.cvx(data=data, **asked)
    return {
        **graph.outline(trained.network),
        "rounds": len(trained.history),
        "objective": trained.history[-1]["objective"],
        "p": str(trained.config.family.p).removesuffix(".0"),
        "points": len(runs.points(data, runs.rings)[1]),
    }


@styled
def draw(data: Data) -> Figure:
    return graph.draw(data)


def caption(data: Data) -> str:
    return (
        f"A network made by AdaNet.CVX in {data['rounds']} rounds, one unit a round, with the exact step, "
        f"p = {data['p']}, on {data['points']} points: F = {data['objective']:.4f}. A unit reads the earlier units "
        f"of the layer below. The output (green) reads all units. {graph.described(data)}"
    )
