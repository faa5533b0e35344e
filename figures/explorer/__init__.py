"""The explorer: one HTML page on which the bounds can be felt, with no network and nothing to install.

Its formulas are JavaScript printed from the symbolic statements for every depth offered; none is typed again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from adanet_train.command_line import Parser


def parser() -> Parser:
    options = Parser(prog="python -m figures explorer", description=__doc__, allow_abbrev=False)
    add = options.add_argument
    add("--model", type=Path, metavar="model.pt", help="open with this network's family, sample and margins")
    add("--out", type=Path, default=Path("out/figures/explorer.html"), metavar="FILE", help="default %(default)s")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    from figures.explorer import network, page

    try:
        if arguments.model is None:
            text = page.document()
        else:
            state, margins, words = network.opening(arguments.model)
            text = page.document(state, margins=margins, words=words)
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(text, encoding="utf-8")
    except (ValueError, OSError) as error:
        print(f"figures explorer: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    print(arguments.out)
    return 0
