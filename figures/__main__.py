"""python -m figures: draw the figures, each with its caption, into a folder; or make the explorer, a page of bounds."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from adanet_train import command_line
from adanet_train.command_line import Bar, Parser

EXAMPLES = """\
examples:
  python -m figures --list
  python -m figures bounds-against vacuity-map --format pdf,png
  python -m figures bounds-against --depth 2:20 --n0 784 --width 100 --p 1:inf --delta 0.01 --column single
  python -m figures --model model.pt --out pictures
  python -m figures explorer --model model.pt      one page on which the bounds can be tried; has its own --help
"""


PARAMETERS = {"--depth": "depth", "--rho": "rho", "--m": "m", "--p": "p", "--width": "width"} | {
    "--n0": "n_0",
    "--delta": "delta",
}
WORDS = {
    "depth": "the depth l",
    "rho": "the margin",
    "m": "the sample size",
    "p": "the norm, inf too",
    "width": "the units of a layer",
    "n_0": "the number of features",
    "delta": "the confidence",
}
_LEAST = {"depth": 2.0, "m": 2.0, "p": 1.0, "width": 1.0, "n_0": 1.0}


def _span(text: str) -> tuple[float, float]:
    """A number, or A:B with A < B.

    >>> _span("2:20"), _span("inf")
    ((2.0, 20.0), (inf, inf))
    """
    low, colon, high = text.partition(":")
    found = float(low), float(high if colon else low)
    if not 0 < found[0] <= found[1]:
        raise ValueError(text)
    return found


def parser() -> Parser:
    options = Parser(
        prog="python -m figures",
        description=__doc__.partition(": ")[2] if __doc__ else None,
        epilog=EXAMPLES,
    )
    add = options.add_argument
    add("names", nargs="*", metavar="NAME", help="the figures to draw; default all, those of a model with --model")
    add("--list", action="store_true", help="print the names, one a line, and what each shows")
    add("--out", type=Path, default=Path("out/figures"), metavar="DIR", help="default out/figures")
    add("--format", default="pdf", metavar="pdf,png,svg", help="default pdf")
    add("--model", type=Path, metavar="model.pt", help="the network of the figures model-*")
    add(
        "--data", type=Path, metavar="FILE", help="the sample of the figures model-*; default the one in the model file"
    )
    add("--column", choices=("single", "double"), help="one column of a paper or both; default as each was drawn")
    for flag, name in PARAMETERS.items():
        help = f"{WORDS[name]}, a number or a span A:B; for figures that take it"
        add(flag, dest=name, type=_span, metavar="A[:B]", help=help)
    add("--quick", action="store_true", help="fewer points and shorter runs, for a first look")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["explorer"]:
        from figures import explorer

        return explorer.main(given[1:])
    interrupted = "interrupted; what was computed is kept."
    return command_line.run(parser(), draw_all, given, interrupted=interrupted)


def draw_all(arguments: argparse.Namespace) -> int:
    from figures.gallery import FIGURES, OF_A_MODEL, shows

    if arguments.list:
        names = [*FIGURES, *OF_A_MODEL]
        width = max(map(len, names))
        print("\n".join(f"{name:{width}}  {shows(name)}" for name in names))
        return 0
    names = chosen(arguments)
    with Bar("figures") as bar:
        for place, name in enumerate(names, start=1):
            bar.say(f"[{place}/{len(names)}] {name}")
            bar(place - 1, len(names), name)
            draw(name, arguments, bar)
    return 0


def chosen(arguments: argparse.Namespace) -> list[str]:
    """The names to draw, after checking what was given."""
    from figures.canvas import FORMATS
    from figures.gallery import FIGURES, OF_A_MODEL

    for kind in arguments.format.split(","):
        if kind not in FORMATS:
            raise ValueError(f"--format must list {', '.join(FORMATS)}, got {kind!r}.")
    for name in arguments.names:
        if name not in {**FIGURES, **OF_A_MODEL}:
            raise ValueError(f"NAME must be one of {', '.join([*FIGURES, *OF_A_MODEL])}, got {name!r}.")
        if name in OF_A_MODEL and arguments.model is None:
            raise ValueError(f"{name} needs --model model.pt.")
    _check_parameters(arguments)
    return arguments.names or [*FIGURES, *(OF_A_MODEL if arguments.model else ())]


def _given(arguments: argparse.Namespace) -> dict[str, tuple[float, float]]:
    return {name: getattr(arguments, name) for name in WORDS if getattr(arguments, name) is not None}


def _check_span(name: str, span: tuple[float, float]) -> None:
    low, high = span
    if low < _LEAST.get(name, 0.0) or (name == "delta" and high >= 1) or (name != "p" and high == math.inf):
        raise ValueError(f"{name} must be a number that the bounds allow, got {low:g}:{high:g}.")
    if low < high and name in ("n_0", "delta"):
        raise ValueError(f"{name} is one number, got the span {low:g}:{high:g}.")


def _check_parameters(arguments: argparse.Namespace) -> None:
    """A parameter that a named figure does not take is refused, and so is one without a name."""
    from figures.gallery import FIGURES, takes

    flags = {name: flag for flag, name in PARAMETERS.items()}
    for parameter in _given(arguments):
        able = [name for name in FIGURES if parameter in takes(name)]
        _check_span(parameter, getattr(arguments, parameter))
        wrong = [name for name in arguments.names if parameter not in takes(name)]
        if wrong or not arguments.names:
            what = f"{wrong[0]} does not take it" if wrong else "name the figure"
            raise ValueError(f"{flags[parameter]} is for {', '.join(able)}: {what}.")
    if arguments.column and not all(takes(name) for name in arguments.names or ["architecture"]):
        able = [name for name in FIGURES if takes(name)]
        raise ValueError(f"--column is for {', '.join(able)}: the others have one size.")
    if arguments.data is not None and arguments.model is None:
        raise ValueError("--data is the sample of --model, which is not given.")


def draw(name: str, arguments: argparse.Namespace, bar: Bar) -> None:
    """Write one figure and print its files. One of all that the model has nothing to show for is only named."""
    from figures.canvas import NotDrawn
    from figures.gallery import data, write

    try:
        found = data(
            name,
            cache=arguments.out / "cache",
            quick=arguments.quick,
            model=arguments.model,
            sample=arguments.data,
            parameters=_given(arguments),
        )
    except NotDrawn as reason:
        if name in arguments.names:
            raise
        bar.say(f"  not drawn: {reason}")
        return
    if arguments.column:
        found["column"] = arguments.column
    paths = write(name, found, out=arguments.out, formats=arguments.format.split(","))
    with bar.hidden():
        print(*paths, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
