"""Several checkpoints of one run: a table, a list of documents, a page with bounds, norms and errors over them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from verify.records.results import BoundReport, BoundRow
from verify.show import page, plots, render, stylesheet, wording
from verify.show.wording import NOTHING, near, up

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import Console


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A file, named by the part that tells it from the others, and its report."""

    name: str
    report: BoundReport


def named(paths: Sequence[str], reports: Sequence[BoundReport]) -> list[Checkpoint]:
    """The checkpoints by their file names, without what all of them share at both ends, up to digits.

    >>> [checkpoint.name for checkpoint in named(["a/ckpt_01.pt", "a/ckpt_10.pt"], [None, None])]
    ['01', '10']
    """
    short = _short(list(paths)) if len(set(paths)) == len(paths) > 1 else list(paths)
    return [Checkpoint(name, report) for name, report in zip(short, reports, strict=True)]


def _short(paths: list[str]) -> list[str]:
    head = _common(paths)
    tail = _common([path[::-1] for path in paths])
    while head and (paths[0][head - 1].isdigit() or _in_word(paths, head - 1)):
        head -= 1
    backwards = [path[::-1] for path in paths]
    while tail and (paths[0][-tail].isdigit() or _in_word(backwards, tail - 1)):
        tail -= 1
    short = [path[head : len(path) - tail] for path in paths]
    return short if all(short) and len(set(short)) == len(short) else paths


def _in_word(paths: list[str], last: int) -> bool:
    """Whether a cut behind this place would leave a part of a word."""
    return any(path[last : last + 2].isalpha() and len(path) > last + 1 for path in paths)


def _common(texts: list[str]) -> int:
    """The length of the longest common beginning."""
    shortest = min(map(len, texts))
    return next((i for i in range(shortest) if len({text[i] for text in texts}) > 1), shortest)


# The table

HEAD = ("checkpoint", "train error", "test error", "W", "B")


def shown_bounds(series: Sequence[Checkpoint]) -> list[str]:
    """The bounds that apply to one of them; if none does, those that have a value."""
    rows = [row for checkpoint in series for row in checkpoint.report.bounds if not row.context and row.raw is not None]
    applying = list(dict.fromkeys(row.id for row in rows if row.applies))
    return applying or list(dict.fromkeys(row.id for row in rows))


def table(series: Sequence[Checkpoint], *, verbose: bool = True) -> tuple[list[str], list[list[str]]]:
    """(head, rows): the facts, then each bound's value; verbose: norms, and values at a tenth.

    Where a bound is below 1 for one of them, only such bounds are shown.
    """
    ids = shown_bounds(series)
    ids = [id for id in ids if any(_below_1(each.report.row(id)) for each in series)] or ids
    margins = [id for id in ids if verbose and any(_at_tenth(each.report.row(id)) is not None for each in series)]
    facts = len(HEAD) if verbose else len(HEAD) - 2
    head = [*HEAD[:facts], *(column for id in ids for column in (id, *["at a tenth"] * (id in margins)))]
    return head, [[*_facts(checkpoint)[:facts], *_values(checkpoint.report, ids, margins)] for checkpoint in series]


def _facts(checkpoint: Checkpoint) -> list[str]:
    report = checkpoint.report
    test = NOTHING if report.test is None else near(report.test.error)
    return [checkpoint.name, near(report.sample.train_error), test, near(report.model.W), near(report.model.path_norm)]


def _values(report: BoundReport, ids: Sequence[str], margins: Sequence[str]) -> list[str]:
    """The raw value where the bound applies, and beside it that at a tenth where the bound reads a margin."""
    values = []
    for id in ids:
        row = report.row(id)
        values.append(up(_raw(row)))
        if id in margins:
            values.append(up(_at_tenth(row) if _applies(row) else None))
    return values


def _below_1(row: BoundRow | None) -> bool:
    return (raw := _raw(row)) is not None and raw < 1


def _applies(row: BoundRow | None) -> bool:
    return row is not None and row.applies


def _raw(row: BoundRow | None) -> float | None:
    return row.raw if row is not None and row.applies else None


def _at_tenth(row: BoundRow | None) -> float | None:
    return None if row is None or row.tenth is None else row.tenth.raw


def _has_tenth(series: Sequence[Checkpoint]) -> bool:
    """Whether a bound that applies has a value below which a tenth of the sample lies."""
    rows = [row for checkpoint in series for row in checkpoint.report.bounds if row.applies]
    return any(_at_tenth(row) is not None for row in rows)


def text(series: Sequence[Checkpoint], *, verbose: bool = False, console: Console) -> None:
    """One line for each checkpoint, what was found violated, and the sentence to cite."""
    from rich.table import Table
    from rich.text import Text

    head, rows = table(series, verbose=verbose)
    for part in _parts(head, rows, console.width):
        drawn = Table(box=None, pad_edge=False, header_style="dim")
        drawn.add_column(_title(head[0]), overflow="fold", max_width=_widest_name(console.width))
        for i in part[1:]:
            drawn.add_column(_title(head[i]), justify="right", no_wrap=True)
        for row in rows:
            drawn.add_row(*(Text(row[i]) for i in part))
        console.print(drawn)
    for checkpoint in series:
        if checkpoint.report.verdict == "violated":
            console.print(f"{checkpoint.name}: {wording.sentence(checkpoint.report)}", style="bold red", markup=False)
    if verbose:
        console.print(legend(series), style="dim", markup=False)
    console.print()
    for line in textwrap.wrap(answer(series), min(console.width, 100), break_on_hyphens=False):
        console.print(line, style="bold", markup=False, soft_wrap=True)


def _title(name: str) -> str:
    """In two lines where it has two words or more, so that the numbers below decide how wide a column is.

    >>> _title("a-posteriori-bounded"), _title("train error")
    ('a-posteriori-\\nbounded', 'train\\nerror')
    """
    if " " in name:
        return name.replace(" ", "\n", 1) if name != "at a tenth" else "at a\ntenth"
    head, dash, tail = name.rpartition("-")
    return f"{head}{dash}\n{tail}" if len(name) > 12 and head else name


def _widest_name(width: int) -> int:
    """A longer name of a checkpoint goes on in the next line; none is cut."""
    return max(12, width // 3)


def _parts(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The columns in tables that fit the screen, each with the checkpoints' names in front."""
    needed = [
        max(len(line) for line in [*_title(name).split("\n"), *column])
        for name, column in zip(head, zip(*rows, strict=True), strict=True)
    ]
    needed[0] = min(needed[0], _widest_name(width))
    parts: list[list[int]] = [[0]]
    for i in range(1, len(head)):
        if sum(needed[j] + 2 for j in [*parts[-1], i]) > width + 2 and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(i)
    return parts


def legend(series: Sequence[Checkpoint]) -> str:
    """How to read the columns."""
    tenth = f" At a tenth: {_TENTH}." if _has_tenth(series) else ""
    return f"Each bound holds by itself; values above 1 are shown as they are.{tenth}"


def answer(series: Sequence[Checkpoint]) -> str:
    """The one sentence to cite, if the choice among the networks is paid for; else what would pay for it."""
    least = min(
        (one for one in series if one.report.cite is not None),
        key=lambda one: one.report.cite.value if one.report.cite else 1.0,
        default=None,
    )
    if least is None:
        return "Nothing can be cited for any of them."
    reports = [one.report for one in series]
    if len({(report.quotes, report.among) for report in reports}) > 1:
        ways = "these networks quote different statements; to choose among them, name one by --cite ID"
        return f"Each bound holds by itself{_paid(reports)}: {ways}."
    said = f"Cite checkpoint {least.name}: {wording.citation(least.report)}"
    families = len({str(report.declared) for report in reports})
    quoted = least.report.cite and least.report.row(least.report.cite.id)
    if families > least.report.tried and quoted and quoted.group in ("paper", "corrected") and quoted.rho:
        return f"They declare {families} families: add --tried {families} to cite the least of them."
    return said


def _paid(reports: Sequence[BoundReport]) -> str:
    """The statements that stand at less than δ already, for all networks compared."""
    less: dict[float, dict[str, None]] = {}
    for row in (row for report in reports for row in report.bounds if _below_1(row)):
        if row.delta is not None and row.delta < reports[0].delta:
            less.setdefault(row.delta, {})[row.id] = None
    said = "; ".join(f"{wording.listed(list(ids))} at delta = {near(at)}" for at, ids in less.items())
    return f" ({said})" if less else ""


_TENTH = "at the margin below which a tenth of the sample lies"


def to_json(series: Sequence[Checkpoint]) -> str:
    """A list of the documents of verify-bounds/1, in the order in which the files were named."""
    documents: list[Any] = [json.loads(render.to_json(checkpoint.report)) for checkpoint in series]
    return json.dumps(documents, indent=1, allow_nan=False)


# The page


def to_html(series: Sequence[Checkpoint]) -> str:
    """One page: the table, three pictures, and the verdict of each."""
    head, rows = table(series)
    pictures = [
        ("bounds", draw_bounds(series), _bounds_caption(series)),
        ("norms", draw_norms(series), "W and the path norm B."),
        ("errors", draw_errors(series), "The error on the sample, and on held-out points where there are any."),
    ]
    verdicts = [
        f"<dt>{escape(checkpoint.name)}</dt><dd>{escape(wording.sentence(checkpoint.report))}</dd>"
        for checkpoint in series
    ]
    cells = [[escape(cell) for cell in row] for row in rows]
    body = [
        f"<h1>What the theory says about {len(series)} checkpoints</h1>",
        page.table(head, cells, numbers=set(range(1, len(head)))),
        f'<section class="verdict"><p>{escape(answer(series))}</p></section>',
        f'<p class="soft">{escape(legend(series))}</p>',
        page.figures(pictures),
        f"<h2>Verdicts</h2><dl>{''.join(verdicts)}</dl>",
    ]
    return stylesheet.document(f"verify-bounds, {len(series)} checkpoints", "\n".join(body))


def _drawn(series: Sequence[Checkpoint], title: str) -> tuple[Figure, Any]:
    picture, axes = plots.figure(2.4)
    places = range(len(series))
    step = max(1, len(series) // 8)
    axes.set_xticks(list(places)[::step], [checkpoint.name for checkpoint in series][::step])
    axes.set_xlabel("checkpoint")
    axes.set_ylabel(title)
    return picture, axes


def _line(axes: Any, values: Sequence[float | None], **style: Any) -> None:
    known = [(i, value) for i, value in enumerate(values) if value is not None]
    if known:
        axes.plot(*zip(*known, strict=True), marker="o", markersize=2.4, **style)


def _key(picture: Figure, axes: Any) -> None:
    """Above the axes, where it hides no curve."""
    if axes.get_legend_handles_labels()[0]:
        picture.legend(loc="outside upper center", ncols=2, handlelength=1.4, columnspacing=1.0)


def _bounds_caption(series: Sequence[Checkpoint]) -> str:
    dashed = ", and at a tenth (dashed)" if _has_tenth(series) else ""
    return f"The bounds that apply: at their best margin (line){dashed}."


@plots.styled
def draw_bounds(series: Sequence[Checkpoint]) -> Figure:
    picture, axes = _drawn(series, "bound, unclipped")
    for id, colour in zip(shown_bounds(series), [*plots.CURVES] * 4, strict=False):
        rows = [checkpoint.report.row(id) for checkpoint in series]
        _line(axes, [_raw(row) for row in rows], color=colour, label=id)
        _line(axes, [_at_tenth(row if _applies(row) else None) for row in rows], color=colour, linestyle="--")
    axes.axhline(1, color=plots.INK, linewidth=0.6)
    _logarithmic(axes)
    _key(picture, axes)
    return picture


def _logarithmic(axes: Axes) -> None:
    """Within one power of ten the numbers are written out."""
    from matplotlib.ticker import FuncFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high < 10 * low:
        plain = FuncFormatter(lambda y, _: f"{y:g}")
        axes.yaxis.set_major_formatter(plain)
        axes.yaxis.set_minor_formatter(plain)


@plots.styled
def draw_norms(series: Sequence[Checkpoint]) -> Figure:
    picture, axes = _drawn(series, "norm")
    models = [checkpoint.report.model for checkpoint in series]
    _line(axes, [model.W for model in models], color=plots.BLUE, label="W")
    _line(axes, [model.path_norm for model in models], color=plots.ORANGE, label="path norm B")
    _logarithmic(axes)
    _key(picture, axes)
    return picture


@plots.styled
def draw_errors(series: Sequence[Checkpoint]) -> Figure:
    picture, axes = _drawn(series, "error")
    reports = [checkpoint.report for checkpoint in series]
    _line(axes, [report.sample.train_error for report in reports], color=plots.BLUE, label="sample")
    tests = [None if report.test is None else report.test for report in reports]
    _line(axes, [None if test is None else test.error for test in tests], color=plots.ORANGE, label="held out")
    _line(
        axes,
        [None if test is None else test.upper for test in tests],
        color=plots.ORANGE,
        linestyle="--",
        label="held out, upper bound",
    )
    axes.set_ylim(bottom=0)
    _key(picture, axes)
    return picture
