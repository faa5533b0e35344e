"""python -m figures: Draw the figures, each with its caption, into a folder, or make the explorer of bounds."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from adanet_theory.checks import check_choice
from adanet_train.app import console
from adanet_train.app.console import Parser
from adanet_train.core.bar import Bar
from figures import parameters

EXAMPLES = """\
examples:
  python -m figures --list
  python -m figures bounds-against --depth 2:20 --n0 784 --width 100 --p 1:inf --column single --format pdf,png
  python -m figures --model model.pt --out pictures
  python -m figures frontier --data table.csv --label class      how to spend your labelled points
  python -m figures explorer --model model.pt      a page to try the bounds on; see explorer --help
"""


def parser() -> Parser:
    options = Parser(
        prog="python -m figures", description=__doc__.partition(": ")[2] if __doc__ else None, epilog=EXAMPLES
    )
    add = options.add_argument
    add("names", nargs="*", metavar="NAME", help="figures to draw (default: all; those named model-* need --model)")
    add("--list", action="store_true", help="print each figure's name, what it shows and its options")
    add("--out", type=Path, default=Path("out/figures"), metavar="DIR", help="folder to write to (default out/figures)")
    add("--format", default="pdf", metavar="pdf,png,svg", help="file formats, separated by commas (default pdf)")
    add("--model", type=Path, metavar="model.pt", help="network that the figures model-* show")
    add(
        "--data",
        type=Path,
        metavar="PATH",
        help="data of a figure: a file of points, a data set or a folder of results; --list says which",
    )
    add("--label", metavar="COLUMN", help="column of the labels in the table that frontier reads by --data (default y)")
    add("--column", choices=("single", "double"), help="width in a paper: one column or both (default: by figure)")
    parameters.add_to(options)
    add("--quick", action="store_true", help="use fewer points and shorter runs, for a first look")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else list(argv)
    if given[:1] == ["explorer"]:
        from figures import explorer

        return explorer.main(given[1:])
    interrupted = "interrupted; what was computed is kept."
    return console.run(parser(), draw_all, given, interrupted=interrupted)


def draw_all(arguments: argparse.Namespace) -> int:
    from figures.gallery import FIGURES, OF_A_MODEL, options_of, shows

    if arguments.list:
        names = [*FIGURES, *OF_A_MODEL]
        width = max(map(len, names))
        print("\n".join(f"{name:{width}}  {shows(name)} [{options_of(name)}]" for name in names))
        return 0
    names = chosen(arguments)
    with Bar("figures", counts=True) as bar:
        for place, name in enumerate(names, start=1):
            bar.say(f"[{place}/{len(names)}] {name}")
            bar(place - 1, len(names), name)
            draw(name, arguments, bar)
    return 0


def chosen(arguments: argparse.Namespace) -> list[str]:
    """The names of the figures to draw, after checking the options."""
    from figures.canvas import FORMATS
    from figures.gallery import FIGURES, OF_A_MODEL

    for kind in arguments.format.split(","):
        if kind not in FORMATS:
            raise ValueError(f"--format must list {', '.join(FORMATS)}, got {kind!r}.")
    for name in arguments.names:
        check_choice("NAME", name, [*FIGURES, *OF_A_MODEL])
        if name in OF_A_MODEL and arguments.model is None:
            raise ValueError(f"{name} needs --model model.pt.")
    _check_parameters(arguments)
    return arguments.names or [*FIGURES, *_of_model(arguments.model)]


def _of_model(model: Path | None) -> list[str]:
    """The figures of a model. A model of the user's own subnetworks has one picture; the others need the builders."""
    from adanet_train.subnetworks import file
    from figures.gallery import OF_A_MODEL

    if model is None:
        return []
    return [*OF_A_MODEL] if file.outline(model) is None else ["model-network"]


def _check_parameters(arguments: argparse.Namespace) -> None:
    from adanet_train.data.datasets import KNOWN
    from figures.gallery import FIGURES, OF_A_MODEL, reads, takes

    names = arguments.names
    parameters.check_taken(names, parameters.given(arguments), {name: takes(name) for name in (*FIGURES, *OF_A_MODEL)})
    if arguments.label is not None and (names != ["frontier"] or arguments.data is None):
        raise ValueError("--label is for frontier with --data FILE.")
    if arguments.data is not None:
        able = [name for name in (*FIGURES, *OF_A_MODEL) if reads(name)]
        wrong = [name for name in names if name not in able]
        if wrong or (not names and arguments.model is None):
            what = f"{wrong[0]} does not take it" if wrong else "name the figure"
            raise ValueError(f"--data is for {', '.join(able)}: {what}.")
        named = all(reads(name) == "sample" for name in names) and str(arguments.data).partition(":")[0] in KNOWN
        if not named and not arguments.data.exists():
            raise ValueError(f"{arguments.data}: no such file or folder.")


def draw(name: str, arguments: argparse.Namespace, bar: Bar) -> None:
    """Write one figure and print its files. When drawing all, a figure that the model has no data for is only named."""
    from figures.canvas import NotDrawn
    from figures.gallery import data, write

    try:
        values = data(
            name,
            cache=arguments.out / "cache",
            quick=arguments.quick,
            model=arguments.model,
            sample=arguments.data,
            label=arguments.label,
            parameters=parameters.given(arguments),
        )
    except NotDrawn as reason:
        if name in arguments.names:
            raise
        bar.say(f"  not drawn: {reason}")
        return
    if arguments.column:
        values["column"] = arguments.column
    paths = write(name, values, out=arguments.out, formats=arguments.format.split(","))
    with bar.hidden():
        print(*paths, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
