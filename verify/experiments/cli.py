"""adanet-experiment NAME: Run the paper's experiments and ours, on this machine or (the paper's) on a cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from adanet_train.app import console
from adanet_train.app.console import Parser
from paper_notes import tables as paper

EXAMPLES = """\
examples:
  adanet-experiment data cifar10 --data-dir data
  adanet-experiment cifar-pairs --data-dir data --pairs cat-dog --methods adanet,lr --grid tiny
  adanet-experiment cifar-pairs --data-dir /shared/data --grid full --scheduler tcp://head:8786
  adanet-experiment tables --sets iris,wine --out out/tables.json

Every finished trial is stored at once: stop the command at any time, the same command continues.
On a cluster every worker needs this package, and the data at the same --data-dir.
adanet-experiment NAME --help lists the options of one experiment.
"""


SEED = "random seed (default 0)"


def main(argv: Sequence[str] | None = None) -> int:
    interrupted = "interrupted: finished trials are stored, the same command continues."
    return console.run(parser(), experiment, argv, interrupted=interrupted)


def experiment(arguments: argparse.Namespace) -> int:
    from verify.experiments import commands

    return commands.COMMANDS[arguments.name](arguments)


def parser() -> Parser:
    options = Parser(
        prog="adanet-experiment", description=__doc__.partition(": ")[2] if __doc__ else None, epilog=EXAMPLES
    )
    options.add_version()
    names = options.add_subparsers(dest="name", metavar="NAME", required=True, parser_class=Parser)
    data = names.add_parser("data", help="fetch a data set")
    data.add_argument("set", choices=("cifar10",), help="data set to fetch")
    data.add_argument("--data-dir", metavar="DIR", help="folder to put it in (default $ADANET_DATA)")
    _add_pairs(names.add_parser("cifar-pairs", help="Tables 1 and 2: five pairs of CIFAR-10"))
    _add_variants(names.add_parser("variants", help="Table 3: variants of AdaNet"))
    _add_criteo(names.add_parser("criteo", help="Table 4: click prediction"))
    _add_bounds(
        names.add_parser("bounds", help="verify-bounds on the best network of each method (default: of fold 0)")
    )
    beside = "how small a bound on the risk can be: certificates beside held-out points"
    _add_measured(names.add_parser("certificates", help=beside), "sets methods data-dir", SEED)
    picking = names.add_parser("picking", help="a learner trained by picking beside the same with a tenth held out")
    _add_measured(picking, "data-dir", SEED)
    own = "data sets (default: all that the learner is meant for)"
    picking.add_argument("--sets", type=_names, default=[], metavar="NAME,..", help=own)
    picking.add_argument("--seeds", type=_positive, default=5, metavar="N", help="seeds, from --seed on (default 5)")
    picking.add_argument("--learner", default="adanet", metavar="L", help="adanet (default), cnn (on pixels) or svc")
    _add_measured(
        names.add_parser("tables", help="AdaNet beside LR, MLP and boosting on 27 tables"), "sets methods rows"
    )
    _add_measured(
        names.add_parser("classes", help="AdaNet beside other methods on three and ten classes"),
        "sets methods data-dir",
        SEED,
    )
    _add_measured(names.add_parser("structure", help="whether the structure adapts to the task"), "sets data-dir")
    _add_measured(names.add_parser("mnist-bound", help="bounds below 1 on pairs of MNIST"), "data-dir")
    return options


def _add_measured(protocol: Parser, options: str, seed: str = "no effect: the seeds are fixed") -> None:
    """Options of a comparison that continues from its own file."""
    add = protocol.add_argument
    known: dict[str, dict[str, Any]] = {
        "sets": {"type": _names, "default": [], "metavar": "NAME,..", "help": "data sets (default: all)"},
        "methods": {"type": _names, "default": [], "metavar": "M,..", "help": "methods (default: all)"},
        "rows": {"type": _positive, "metavar": "M", "help": "use one generated table with M training rows instead"},
        "data-dir": {"metavar": "DIR", "help": "folder of the data (default $ADANET_DATA)"},
    }
    for name in options.split():
        add(f"--{name}", **known[name])
    add("--out", metavar="FILE", help="file of results (default out/NAME.json); a run continues from it")
    add("--seed", type=_natural, default=0, metavar="S", help=seed)


def _add_pairs(protocol: Parser) -> None:
    _add_run(protocol)
    add = protocol.add_argument
    add(
        "--pairs",
        type=_names,
        default=list(paper.ACCURACY),
        metavar="A-B,..",
        help=f"pairs of classes (default {','.join(paper.ACCURACY)})",
    )
    add(
        "--methods",
        type=_names,
        default=_names("adanet,lr,nn,nn-gp"),
        metavar="M,..",
        help="methods (default: all four)",
    )


def _add_variants(protocol: Parser) -> None:
    _add_run(protocol)
    protocol.add_argument(
        "--pairs", type=_names, default=["deer-truck"], metavar="A-B", help="pair of classes (default deer-truck)"
    )
    protocol.add_argument("--methods", type=_names, default=[], metavar="V,..", help="variants (default: all)")


def _add_criteo(protocol: Parser) -> None:
    _add_run(protocol)
    protocol.add_argument("--criteo", metavar="FILE", help="train.txt of Criteo or a part of it, plain or .gz")
    protocol.add_argument("--methods", type=_names, default=[], metavar="M,..", help="methods (default adanet,nn,lr)")


def _add_bounds(protocol: Parser) -> None:
    _add_run(protocol, folds="fold 0")
    winners = "results of cifar-pairs, variants or criteo (default: cifar-pairs.json beside --out)"
    protocol.add_argument("--winners", type=_names, default=[], metavar="FILE,..", help=winners)
    protocol.add_argument("--criteo", metavar="FILE", help="file that the networks of criteo were trained on")
    protocol.set_defaults(folds=(0,))


def _add_run(protocol: Parser, folds: str = "all 10") -> None:
    """Options that all protocols share."""
    add = protocol.add_argument
    add(
        "--grid",
        default="reduced",
        choices=("full", "reduced", "tiny"),
        help="hyperparameters to try (default reduced); full is the paper's grid",
    )
    add(
        "--folds",
        type=_folds,
        default=tuple(range(paper.FOLDS)),
        metavar="N|I,J,..",
        help=f"the first N folds, or folds I,J,.. (default {folds})",
    )
    add("--jobs", type=_positive, default=1, metavar="N", help="trials to run at once on this machine (default 1)")
    add("--scheduler", metavar="ADDRESS", help="address of a Dask cluster to run the trials on")
    add("--store", default="out/store", metavar="DIR", help="folder of finished trials (default out/store)")
    add("--out", metavar="FILE", help="file of results, with tables beside it (default out/NAME.json)")
    add("--seed", type=_natural, default=0, metavar="S", help="random seed of folds and training (default 0)")
    add("--data-dir", metavar="DIR", help="folder of the data (default $ADANET_DATA)")
    add("--quiet", action="store_true", help="show no progress")


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _folds(text: str) -> tuple[int, ...]:
    """
    >>> _folds("3"), _folds("0,4"), _folds("7,")
    ((0, 1, 2), (0, 4), (7,))
    """
    numbers = [int(part) for part in text.split(",") if part.strip()]
    folds = range(numbers[0]) if numbers and "," not in text else numbers
    if not folds or len(set(folds)) < len(folds) or not all(0 <= fold < paper.FOLDS for fold in folds):
        raise argparse.ArgumentTypeError(f"folds must be 1 to 10 of the folds 0 to 9, got {text!r}")
    return tuple(folds)


def _natural(text: str, least: int = 0) -> int:
    value = int(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"must be an integer >= {least}, got {text}")
    return value


def _positive(text: str) -> int:
    return _natural(text, 1)


if __name__ == "__main__":
    sys.exit(main())
