"""The explorer: one HTML page that shows how the bounds change with their inputs, offline and without installation.

Its formulas are JavaScript, printed from the symbolic statements for every depth offered.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from adanet_train.app import console
from adanet_train.app.console import Parser
from adanet_train.core import files


def parser() -> Parser:
    options = Parser(prog="python -m figures explorer", description=__doc__)
    add = options.add_argument
    add("--model", type=Path, metavar="model.pt", help="open with this network's family, sample and margins")
    add("--out", type=Path, default=Path("out/figures/explorer.html"), metavar="FILE", help="default %(default)s")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    return console.run(parser(), write, argv)


def write(arguments: argparse.Namespace) -> int:
    from figures.explorer import network, page

    if arguments.model is None:
        text = page.document()
    else:
        state, margins, words = network.opening(arguments.model)
        text = page.document(state, margins=margins, words=words)
    files.write_file(arguments.out, text)
    print(arguments.out)
    return 0
