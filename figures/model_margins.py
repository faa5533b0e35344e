"""The margins of a trained network on its sample, and the margin error at ρ: needs --model."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from figures.canvas import Data, styled
from figures.model import fitted, report
from figures.parameters import ONE
from verify.records.results import BoundReport
from verify.show.plots import draw_margins

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PARAMETERS = {"rho": ONE}


def compute(*, quick: bool, model: Path, data: Path | None = None, **parameters: Any) -> Data:
    """The margins y f(x)/W; they need no estimate, so quick changes nothing."""
    built = report(model, draws=None, data=data, parameters=parameters)
    return {
        "margins": np.sort(built.margins).tolist(),
        "rho": built.rho,
        "rho_chosen": built.rho_chosen,
        "margin_error": built.sample.margin_error,
        "train_error": built.sample.train_error,
        "sha256": built.model.sha256,
        "classes": built.classes,
    }


@styled
def draw(data: Data) -> Figure:
    sample = SimpleNamespace(margin_error=data["margin_error"])
    seen = SimpleNamespace(margins=np.array(data["margins"]), rho=data["rho"], sample=sample, classes=data["classes"])
    return fitted(draw_margins(cast(BoundReport, seen)), data)  # it reads nothing else of a report


def caption(data: Data) -> str:
    origin = "chosen after the fact" if data["rho_chosen"] else "declared before training"
    margin = "y f(x)/W" if data["classes"] == 2 else "[f(x, y) - max f(x, y')]/W"
    return (
        f"The share of the {len(data['margins'])} training points with margin {margin} at most rho, for every rho. At "
        f"rho = {data['rho']:.4g}, {origin}, it is the margin error {data['margin_error']:.4g}. The training error is "
        f"{data['train_error']:.4g}, the median margin {np.median(data['margins']):.4g}. Model {data['sha256'][:12]}."
    )
