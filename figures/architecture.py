"""The general architecture (Figure 1 of the paper), drawn from a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from figures import graph, runs
from figures.canvas import Data, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N = (3, 4, 3, 2)


def compute(*, quick: bool, model: Path | None = None) -> Data:
    """The network of the model, or a small one with every connection that the paper allows."""
    if model is None:
        return graph.of(runs.general(N, steps=60 if quick else 600))
    from adanet_train.model import model_file

    return {**graph.of(model_file.read_any(model).network), "model": model.name}


@styled
def draw(data: Data) -> Figure:
    return graph.draw(data)


def caption(data: Data) -> str:
    if "model" in data:
        opening = f"The network in {data['model']}: features (blue), units h_k before activation, output f (green). "
    else:
        opening = (
            f"The general architecture of Section 2, trained on {runs.M} points: a unit may read all layers below it "
            "(orange: those that skip one), the output (green) reads all units. The features (blue) reach the output "
            "through linear units of layer 1: the formal family has no other way. "
        )
    return opening + graph.described(data)
