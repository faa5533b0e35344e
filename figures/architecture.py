"""The general architecture (Figure 1 of the paper), drawn from a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import ensemble, graph, runs
from figures.canvas import Data, styled
from figures.parameters import ONE, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N = (4, 3, 2)
PARAMETERS = {"depth": ONE, "width": ONE}
DATA = "points"


def compute(*, quick: bool, model: Path | None = None, data: Path | None = None, **parameters: Any) -> Data:
    """The network of the model, or a small one with every connection that the paper allows."""
    if model is None:
        Psi, y = runs.points(data, runs.rings)
        depth = number(parameters, "depth", len(N))
        layers = [number(parameters, "width", N[k] if k < len(N) else N[-1]) for k in range(depth)]
        network = runs.general((Psi.shape[1], *layers), (Psi, y), steps=60 if quick else 600)
        return {**graph.outline(network), "points": len(y)}
    from adanet_train.model import model_file
    from adanet_train.subnetworks import file

    outline = file.outline(model)
    return {**(outline or graph.outline(model_file.read_any(model).network)), "model": model.name}


@styled
def draw(data: Data) -> Figure:
    """Draw what `compute` returns, or clf.summary().plain of an ensemble."""
    return ensemble.draw(data) if "rows" in data else graph.draw(data)


def caption(data: Data) -> str:
    if "rows" in data:
        return f"The ensemble in {data['model']}: {ensemble.described(data)}"
    if "model" in data:
        opening = f"The network in {data['model']}: features (blue), units h_k before activation, output f (green). "
    else:
        opening = (
            f"The general architecture of Section 2, trained on {data['points']} points. A unit may read all layers "
            "below it (orange: connections that skip a layer). The output (green) reads all units. The features (blue) "
            "reach the output only through linear units of layer 1, as in the formal family. "
        )
    return opening + graph.described(data)
