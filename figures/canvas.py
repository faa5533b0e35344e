"""The sheet of the figures: the style of verify.show.plots, panels in a row, and files with the same bytes."""

from __future__ import annotations

import functools
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


class NotDrawn(ValueError):
    """What was given does not hold what the figure shows."""


@contextmanager
def style() -> Iterator[None]:
    """The shared style, whatever the reader's own settings are: formulas are set in the fonts of the moment."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**STYLE, **_PRINT})
        yield


def styled(draw: Callable[[Data], Figure]) -> Callable[[Data], Figure]:
    """Draw in the shared style."""

    @functools.wraps(draw)
    def drawn(data: Data) -> Figure:
        with style():
            return draw(data)

    return drawn


def is_single(data: Data, *, by_default: bool) -> bool:
    """Whether the figure is to fit one column: what --column asks for, else what suits it."""
    return bool(by_default) if data.get("column") is None else data["column"] == "single"


def width(data: Data, *, single: bool) -> float:
    """Inches: one column or both, as asked for, else as it suits the figure."""
    return COLUMN if is_single(data, by_default=single) else FULL


def ends(data: Data) -> tuple[str, str]:
    """Where a caption finds the first and the last panel of a row, which stand in a column where there is one only."""
    return ("Above", "Below") if is_single(data, by_default=False) else ("Left", "Right")


def panels(
    rows: int, columns: int, *, height: float, width: float = COLUMN, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of that size in inches and its axes, row by row; to be called from a styled function."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **shared).flat)


def shade_vacuous(axes: Axes, top: float) -> None:
    """Grey from 1 to the top: a bound there says nothing of a risk."""
    axes.axhspan(1, top, color=INK, alpha=0.07, linewidth=0)
    axes.axhline(1, color=INK, linewidth=0.6)


def settle(figure: Figure) -> Figure:
    """Lay the figure out once: a layout done again for every format would come out a little different."""
    with style():
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure at its own size in the format of the path's ending; a page embeds it with no font missing."""
    kind = path.suffix[1:]
    with style():
        figure.savefig(path, format=kind, dpi=300, metadata=_METADATA[kind])
