"""Pictures of a report, in one style: colour-blind safe, for a column of 3.25 inches, the same bytes for equal reports.

draw_terms, draw_complexities, draw_margins and draw_bound_against_rho give a Figure; `svg` makes it part of a page.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from verify.records.results import BoundReport, BoundRow
from verify.show import wording

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN = 3.25  # inches
# Okabe and Ito's colours, told apart by the colour-blind, the blue a little lighter: it must show on black too.
BLUE, ORANGE, GREEN, PURPLE, RED, SKY = "#1a80bb", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9"
INK = "#1a1a1b"  # a grey that nothing else has: `svg` turns it into the page's text colour
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "legend.frameon": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "verify-bounds",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}

# a marker of its own for each term, so that grey print tells them apart too
_TERMS = {
    "margin error": ("^", GREEN),
    "ramp": ("o", BLUE),
    "complexity": ("s", ORANGE),
    "depth": ("D", PURPLE),
    "confidence": ("v", SKY),
}
_OTHER_TERM = ("P", RED)  # the loss of the objective
_REACH = (1e-4, 1e4)  # of the axis of draw_terms
MARGINS = (r"y\,f(x)", r"[f(x, y) - \max f(x, y')]")  # of two classes, and of more
_LEMMAS = {
    "lemma-1": ("s", RED),
    "lemma-2": ("D", PURPLE),
    "lemma-1-corrected": ("o", ORANGE),
    "lemma-2-peeled": ("^", GREEN),
}
_MOST = 1e100  # what exceeds it stands in the tables; an axis up to the largest float has no room for its ticks
CURVES = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY)


def figure(height: float) -> tuple[Figure, Axes]:
    """An empty figure in the style of this module, tied to no window."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        drawn = Figure(figsize=(COLUMN, height), layout="constrained")
        return drawn, drawn.add_subplot()


Drawn = TypeVar("Drawn")


def styled(draw: Callable[[Drawn], Figure]) -> Callable[[Drawn], Figure]:
    """Draw under STYLE whatever the reader's own settings are."""

    def drawn(report: Drawn) -> Figure:
        import matplotlib

        with matplotlib.rc_context(STYLE):
            return draw(report)

    drawn.__doc__, drawn.__name__ = draw.__doc__, draw.__name__
    return drawn


def svg(picture: Figure, name: str) -> str:
    """The figure as an <svg> element: ids prefixed by name, ink in the colour of the text around it, no date."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE):
        picture.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    # in inches a narrow page could not shrink it
    return re.sub(r'<svg (.*?)width="[^"]*"', r"<svg \1", re.sub(r'height="[^"]*pt" ', "", text, count=1), count=1)


# Terms


@styled
def draw_terms(report: BoundReport) -> Figure:
    """Every term of every bound on one logarithmic axis; the bar is their sum, the raw value. On top what is cited."""
    rows, cite = [row for row in report.bounds if has_terms(row)], report.cite
    names = [_label(row) for row in reversed(rows)]
    names += [f"{wording.shortened(_plain(cite.id))} (cited)"] if cite is not None else []
    picture, axes = figure(0.9 + 0.24 * max(1, len(names)))
    known: dict[str, tuple[str, str]] = {}
    for y, row in enumerate(reversed(rows)):
        for name, term in row.terms.items():
            if term is not None and term > 0 and name != "j":
                marker, colour = known.setdefault(name, _TERMS.get(name.replace("_", " "), _OTHER_TERM))
                _mark(axes, term, y, marker, color=colour)
        if row.raw:
            _mark(axes, row.raw, y, "|", color=INK, markersize=11, markeredgewidth=1.6)
    if cite is not None and cite.value:
        _mark(axes, cite.value, len(rows), "|", color=BLUE, markersize=11, markeredgewidth=2.4)
    axes.axvline(1, color=INK, linewidth=0.6, linestyle="--")
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, max(0.6, len(names) - 0.4))
    axes.set_xlabel("size (vacuous beyond 1)")
    for name, (marker, colour) in known.items():
        axes.plot([], [], marker, color=colour, label=name.replace("_", " "))
    axes.plot([], [], "|", color=INK, markersize=8, markeredgewidth=1.6, label="sum")
    picture.legend(loc="outside upper center", ncols=3, handletextpad=0.2, columnspacing=1.0)
    return picture


def has_terms(row: BoundRow) -> bool:
    """Whether it is drawn: those of a certificate and of held-out points do not add up."""
    return row.group not in ("certificate", "held-out") and any(term for term in row.terms.values())


def _mark(axes: Axes, value: float, y: float, marker: str, **style: Any) -> None:
    """The value where the eye can compare it with 1; beyond that an arrow at the edge."""
    least, most = _REACH
    if value > most:
        axes.plot(most, y, ">", color=style["color"])
    else:
        axes.plot(max(value, least), y, marker if value >= least else "<", **style)


def _label(row: BoundRow) -> str:
    return wording.shortened(_plain(row.id)) + {"not": " (n/a)", "context": " (context)"}.get(wording.group(row), "")


def _plain(id: str) -> str:
    """The id of a statement of C classes without the word that all of them begin with."""
    return id.removeprefix("multiclass-")


# Complexities


@styled
def draw_complexities(report: BoundReport) -> Figure:
    """R_S(H_k) between its lower and upper value, and what each lemma says of it, on a logarithmic axis."""
    from matplotlib.ticker import MaxNLocator

    picture, axes = figure(2.2)
    used = set()
    for row in report.complexities:
        if row.upper and row.upper <= _MOST:
            low = row.lower or row.upper / 100
            axes.plot([row.k, row.k], [low, row.upper], color=INK, linewidth=5, alpha=0.35, solid_capstyle="butt")
        shown = [(name, value) for name, value in wording.lemmas(row).items() if value and value <= _MOST]
        for place, (name, value) in enumerate(shown):
            marker, colour = _LEMMAS[name]
            offset = 0.12 * (place - (len(shown) - 1) / 2)
            axes.plot(row.k + offset, value, marker, color=colour, label=None if name in used else name)
            used.add(name)
    axes.plot([], [], color=INK, linewidth=5, alpha=0.35, label="lower to upper value")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(0.5, max([row.k for row in report.complexities], default=1) + 0.5)
    axes.set_xlabel("layer $k$")
    axes.set_ylabel(r"$\mathfrak{R}_S(H_k)$")
    picture.legend(loc="outside upper center", ncols=2)
    return picture


# Margins


@styled
def draw_margins(report: BoundReport) -> Figure:
    """The share of points with margin of f/W <= ρ, for every ρ: its value at the report's ρ is the margin error."""
    picture, axes = figure(2.0)
    margins = np.sort(report.margins)
    if len(margins):
        share = np.arange(1, len(margins) + 1) / len(margins)
        # a few hundred points show any sample; the picture must not grow with m
        shown = np.unique(np.linspace(0, len(margins) - 1, 400).astype(int))
        axes.step(margins[shown], share[shown], where="post", color=BLUE)
    axes.axvline(0, color=INK, linewidth=0.6)
    if report.rho <= 2 * (np.abs(margins).max() if len(margins) else 1):  # else it would press the curve into a line
        axes.axvline(report.rho, color=RED, linewidth=0.9, linestyle="--")
        axes.plot(report.rho, report.sample.margin_error, "o", color=RED)
        _name_margin(axes, report.rho, report.sample.margin_error)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel(rf"margin ${MARGINS[report.classes > 2]}/W$")
    axes.set_ylabel("share of points below")
    return picture


def _name_margin(axes: Axes, rho: float, margin_error: float) -> None:
    """ρ and the margin error beside the line: above the curve where it is still low, below it where it is high."""
    low, high = axes.get_xlim()
    right, top = rho < (low + high) / 2, margin_error < 0.5
    text = rf"$\rho = {wording.near(rho)}$" + f"\nmargin error {wording.near(margin_error)}"
    place = (4 if right else -4, -2 if top else 4)
    axes.annotate(
        text,
        (rho, 1.0 if top else 0.0),
        place,
        textcoords="offset points",
        ha="left" if right else "right",
        va="top" if top else "bottom",
        color=RED,
        linespacing=1.4,
    )


# Against rho


@styled
def draw_bound_against_rho(report: BoundReport) -> Figure:
    """Each bound that fixes ρ, as a function of it; dashed where it does not apply, shaded where it is vacuous."""
    picture, axes = figure(2.8)
    applies = {row.id: row.applies for row in report.bounds}
    top = 3.0
    for colour, (id, (rho, value)) in zip(CURVES * len(report.curves), report.curves.items(), strict=False):
        shown = _plain(id) if np.nanmin(np.array(value, dtype=float)) < top else None  # a curve outside needs no name
        axes.plot(rho, value, color=colour, linestyle="-" if applies.get(id) else "--", label=shown)
    free = [row for row in report.bounds if row.j is not None and row.raw is not None]
    for marker, row in zip("ov^s" * len(free), free, strict=False):
        place = wording.scales(row, report.model.W)[0]
        if place is not None and row.raw is not None and row.raw < top:
            fill = "full" if row.applies else "none"
            axes.plot(place, row.raw, marker, color=INK, fillstyle=fill, label=_plain(row.id))
    axes.axhspan(1, top, color=INK, alpha=0.08, linewidth=0)
    axes.axvline(report.rho, color=RED, linewidth=0.9, linestyle="--")
    axes.set_ylim(0, top)
    axes.set_xscale("log")
    axes.set_xlabel(r"$\rho$, on the scale of $f/W$")
    axes.set_ylabel("bound on the risk")
    if axes.get_legend_handles_labels()[0]:
        picture.legend(loc="outside upper center", ncols=2, fontsize=6.5, handlelength=1.4, columnspacing=0.8)
    return picture
