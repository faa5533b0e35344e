"""The canvas of the figures: the style of verify.show.plots, panels in a row, and reproducible files."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.show.plots import COLUMN, INK, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FULL = 6.75  # inches: both columns of the paper and the gap between them
FORMATS = ("pdf", "png", "svg")
Data = dict[str, Any]
# The fonts of a paper, letters and formulas alike; both come with matplotlib. A page keeps its reader's own, and leaves
# text as text; a file that stands alone carries its glyphs with it.
_PRINT: dict[Any, Any] = {"font.family": "STIXGeneral", "mathtext.fontset": "stix", "svg.fonttype": "path"}

# No date, so that equal figures are equal files.
_METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


P_NAMES = {"1": "$p = 1$", "2": "$p = 2$", "inf": r"$p = \infty$"}


class NotDrawn(ValueError):
    """The given data do not contain what the figure shows."""


@contextmanager
def style() -> Iterator[None]:
    """The shared style, whatever the user's own settings are, because formulas use the fonts set at that moment."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**STYLE, **_PRINT})
        yield


def styled(draw: Callable[[Data], Figure]) -> Callable[[Data], Figure]:
    """Draw in the shared style; in a notebook the figure shows itself."""

    @functools.wraps(draw)
    def drawn(data: Data) -> Figure:
        with style():
            figure = draw(data)
        vars(figure)["_repr_png_"] = functools.partial(_png, figure)
        return figure

    return drawn


def _png(figure: Figure) -> bytes:
    picture = io.BytesIO()
    with style():
        figure.savefig(picture, format="png", dpi=200)
    return picture.getvalue()


def is_single(data: Data, *, by_default: bool) -> bool:
    """Whether the figure must fit one column: by --column if given, else by its default."""
    return bool(by_default) if data.get("column") is None else data["column"] == "single"


def width(data: Data, *, single: bool) -> float:
    """The width in inches: one column or both, by --column if given, else by the figure's default."""
    return COLUMN if is_single(data, by_default=single) else FULL


def ends(data: Data) -> tuple[str, str]:
    """The words for the first and the last panel: left and right, or above and below in a single column."""
    return ("Above", "Below") if is_single(data, by_default=False) else ("Left", "Right")


def panels(
    rows: int, columns: int, *, height: float, width: float = COLUMN, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of that size in inches and its axes, row by row; call it from a styled function."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **shared).flat)


def shade_vacuous(axes: Axes, top: float) -> None:
    """Shade from 1 to the top, where a bound on a risk says nothing."""
    axes.axhspan(1, top, color=INK, alpha=0.07, linewidth=0)
    axes.axhline(1, color=INK, linewidth=0.6)


def settle(figure: Figure) -> Figure:
    """Lay the figure out once, because a new layout for every format would differ slightly."""
    with style():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure at its own size, in the format of the path's suffix, with all fonts embedded."""
    kind = path.suffix[1:]
    with style():
        figure.savefig(path, format=kind, dpi=300, metadata=_METADATA[kind])
