"""python -m figures: draw the figures, each with its caption, into a folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """One line on stderr and status 2, no usage dump."""

    def error(self, message: str) -> NoReturn:
        print(f"figures: {message}", file=sys.stderr)
        raise SystemExit(2)


def parser() -> Parser:
    options = Parser(prog="python -m figures", description=__doc__, allow_abbrev=False)
    add = options.add_argument
    add("names", nargs="*", metavar="NAME", help="the figures to draw; default all, those of a model with --model")
    add("--list", action="store_true", help="print the names, one a line")
    add("--out", type=Path, default=Path("out/figures"), metavar="DIR", help="default out/figures")
    add("--format", default="pdf", metavar="pdf,png,svg", help="default pdf")
    add("--model", type=Path, metavar="model.pt", help="the network of the figures model-*")
    add("--quick", action="store_true", help="fewer points, for a first look")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    from figures.canvas import FORMATS
    from figures.gallery import FIGURES, OF_A_MODEL, data, write

    arguments = parser().parse_args(argv)
    if arguments.list:
        print("\n".join([*FIGURES, *OF_A_MODEL]))
        return 0
    formats = arguments.format.split(",")
    names = arguments.names or [*FIGURES, *(OF_A_MODEL if arguments.model else ())]
    try:
        for kind in formats:
            if kind not in FORMATS:
                raise ValueError(f"--format must list {', '.join(FORMATS)}, got {kind!r}.")
        for name in names:
            if name not in {**FIGURES, **OF_A_MODEL}:
                raise ValueError(f"NAME must be one of {', '.join([*FIGURES, *OF_A_MODEL])}, got {name!r}.")
            if name in OF_A_MODEL and arguments.model is None:
                raise ValueError(f"{name} needs --model model.pt.")
        for place, name in enumerate(names, start=1):
            print(f"[{place}/{len(names)}] {name}", file=sys.stderr, flush=True)
            found = data(name, cache=arguments.out / "cache", quick=arguments.quick, model=arguments.model)
            for path in write(name, found, out=arguments.out, formats=formats):
                print(path)
    except (ValueError, OSError) as error:
        print(f"figures: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
