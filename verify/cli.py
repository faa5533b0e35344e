"""verify-bounds model.pt: What can be said about the error of a network: bounds, certificates, and what they assume."""

from __future__ import annotations

import argparse
import glob
import hashlib
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from adanet_train.app import console
from adanet_train.app.console import Parser
from adanet_train.core import files
from adanet_train.core.bar import Bar
from adanet_train.core.device import device

if TYPE_CHECKING:
    from fractions import Fraction

    from verify.records.question import Question
    from verify.records.results import BoundReport

TABLES = (".csv", ".parquet", ".npy", ".npz")
SUFFIXES = (*TABLES, ".pt")
EXAMPLES = """\
MODEL is one of
  model.pt of adanet-train        holds its sample
  .onnx, or .pt2 of torch.export  needs --data
  state_dict of a torch MLP       needs --data and --activation; with BatchNorm or convolutions use --module
  model.pt of --subnetworks       needs --data and --subnetworks PACKAGE:FACTORY; your builders are imported
  small.pt of --compress          needs --data
  any other module                --module PACKAGE:FACTORY --weights FILE --data FILE; your function is imported
FILE is a .csv (with a header), .parquet, .npy, .npz or .pt file with labels y and features X, or Psi (used as it is).

examples:
  verify-bounds model.pt
  verify-bounds model.pt --test-data held_out.npz --html report.html
  verify-bounds net.pt --activation relu --data train.npz --test-data test.npz
  verify-bounds ckpt_*.pt --data train.npz --activation relu           one row for each checkpoint
  verify-bounds --module mynet:make --weights ckpt_*.pt --data train.npz --test-data test.npz
  verify-bounds net.pt --activation relu --data train.npz --compress small.pt --budget 120

exit status: 0 no statement is violated and the network is in its declared family; 1 otherwise; 2 unusable input.
Whether a bound may be quoted, also by --cite ID, does not change it: see the Answer, or "cite" of --json (null: none).
"""


def main(argv: Sequence[str] | None = None) -> int:
    return console.run(parser(), verify, argv)


def parser() -> Parser:
    options = Parser(prog="verify-bounds", description=__doc__.partition(": ")[2] if __doc__ else None, epilog=EXAMPLES)
    add = options.add_argument
    add("model", metavar="MODEL", nargs="*", help="network, see below; several print a table (with --json a list)")
    add("--module", metavar="PACKAGE:FACTORY", help="function of yours that makes the network, instead of MODEL")
    own = "function of yours that returns the builders of the subnetworks in MODEL, as adanet-train took it"
    add("--subnetworks", metavar="PACKAGE:FACTORY", help=own)
    families = "R_m(H) of the family of each builder, and a bound on |h| (default 1), fixed before the sample"
    add("--declared", metavar="BUILDER=R[:M],..", help=f"with --subnetworks: {families}")
    weights = "state_dicts to load into --module, one row for each; only tensors are read"
    add("--weights", metavar="FILE", nargs="+", action="extend", default=[], help=weights)
    add("--shape", metavar="C,H,W", help="shape of one point of --data for the network (default: as in the file)")
    add("--compress", metavar="FILE", help="round the network to few bits, write it to FILE, and report on that one")
    fresh = "points without labels (.npz with X, or .npy) to certify the network as it is"
    add("--unlabelled", metavar="FILE", help=fresh)
    certified = "with --unlabelled: a compressed or picked network, or pick (default pick)"
    add("--surrogate", metavar="FILE|pick", help=certified)
    add("--data", metavar="FILE", help="training points (default: those in the model file)")
    add("--data-dir", metavar="DIR", help="folder of mnist, fashion and cifar10 (default $ADANET_DATA)")
    add("--test-data", metavar="FILE", help="held-out points: their error, and a bound on the risk from them")
    add("--rho", type=_number, metavar="R", help="margin of f/W that you fixed in advance (default: the declared one)")
    add("--delta", type=_number, metavar="D", help="each bound holds with probability 1 - D (default 0.05)")
    add("--r-sup", type=_number, metavar="R", help="largest |Psi|, known in advance (default: the feature map's)")
    add("--draws", type=int, metavar="N", help="sign vectors drawn for the Rademacher complexities (default 64)")
    nominal = "nominal seconds of one core, so that the result does not depend on the clock"
    budget = f"time to search for R_S (default 20); for --compress (default 60) {nominal}"
    add("--budget", type=float, metavar="SECONDS", help=budget)
    bare = "draw nothing: upper values from the lemmas alone (default with --test-data on the short screen)"
    add("--no-estimates", action="store_true", help=bare)
    add("--seed", type=int, default=0, metavar="S", help="random seed (default 0); count every seed you try in --tried")
    add("--device", default="auto", metavar="auto|cpu|cuda", help="default auto: the GPU if there is one")
    add("-v", "--verbose", action="store_true", help="show every assumption, term and check")
    add("--json", action="store_true", help="print one JSON document (schema verify-bounds/1)")
    add("--html", metavar="FILE", help="write a page with plots, in one file")
    add("--tex", metavar="FILE", help="write the one-row table for a paper")
    add("--tex-all", metavar="FILE", help="write the table of all statements")
    phi = "activation of a state_dict, which does not store it: relu, tanh, leaky_relu:0.1"
    add("--activation", metavar="A", help=phi)
    label = (
        "where the labels are: a column of a table (default: as in training, else y); "
        "for .npy a column number (default last) or a file"
    )
    add("--label", metavar="COLUMN", help=label)
    add("--drop", action="append", default=[], metavar="COLUMN", help="leave out a column of the table; repeatable")
    cite = "quote statement ID at D; default: the held-out bound at D if there is one, else the least of K at D/K"
    add("--cite", metavar="ID", help=cite)
    tried = "settings you tried on this sample for each network: all but held-out stand at D/N (default: the file's)"
    add("--tried", type=int, metavar="N", help=tried)
    more = (
        "networks you compared: held-out bounds and certificates of one run (picks) stand at D/N; "
        "statements on all networks of one activation and feature map need not pay (default: number of files)"
    )
    add("--compared", type=int, metavar="N", help=more)
    add("--no-replay", action="store_true", help="count the picks of a picked network, but do not train it again")
    discrete = "identical rows are separate draws (different people or events), not copies"
    add("--discrete", action="store_true", help=discrete)
    options.add_version()
    return options


def _number(text: str) -> Fraction | float:
    """The decimal that was typed, exactly."""
    from verify.records.question import exact

    return exact(text)


# The run


def verify(arguments: argparse.Namespace) -> int:
    question = ask(arguments)
    _check_inputs(arguments)
    from verify import compressing
    from verify.reading import case
    from verify.rows import report

    question = replace(question, device=device(arguments.device))
    named = case.Named(
        models=arguments.model,
        data=arguments.data,
        test=arguments.test_data,
        activation=arguments.activation,
        label=arguments.label,
        module=arguments.module,
        weights=tuple(arguments.weights),
        shape=_shape(arguments.shape),
        subnetworks=arguments.subnetworks,
        declared=_declared(arguments.declared),
        data_dir=arguments.data_dir,
        drop=arguments.drop,
    )
    _check_outputs(arguments)
    notes: list[str] = []
    if arguments.compress is not None:
        budget = compressing.BUDGET if arguments.budget is None else arguments.budget
        named, notes = compressing.compress_named(named, arguments.compress, question, budget)
    question = replace(question, alike=case.alike(named))
    notes += [case.UNLIKE] * (not question.alike)
    read = case.read_files(named)
    number, reports = _number_of(arguments), []
    with Bar("verifying" if number == 1 else "checkpoints", counts=number > 1) as progress:
        progress.stage("reading network and points")
        first = next(read)
        first = replace(first, notes=(*first.notes, *notes))
        U = None if arguments.unlabelled is None else compressing.unlabelled_file(arguments.unlabelled, named.shape)
        for i, one in enumerate((first, *read)):
            if number > 1:
                progress(i, number, f"{i + 1} of {number}")
            reports.append(
                compressing.complete(one, question, U, arguments.surrogate, progress if number == 1 else None)
            )
    if arguments.compress is not None:
        given = arguments.module or arguments.model[0]
        reports[0] = replace(reports[0], whose=f"the rounded one in {arguments.compress}, not {given}")
    if arguments.html is not None:
        reports = [replace(one, sources=_sources(arguments, i)) for i, one in enumerate(reports)]
    if number == 1:
        show(reports[0], arguments)
    else:
        show_series(reports, arguments)
    return max(map(report.status, reports))


def _sources(arguments: argparse.Namespace, i: int) -> dict[str, str]:
    """What the i-th report is about, for its page."""
    files = [*arguments.model, *arguments.weights]
    path = arguments.compress or (files[i] if files else None)
    names = {"model": " with weights ".join(part for part in (arguments.module, path) if part)}
    names |= {} if path is None else {"sha256": _digest(path)}
    names |= {"data": arguments.data} if arguments.data else {}
    names |= {"held-out points": arguments.test_data} if arguments.test_data else {}
    return names | {"made on": time.strftime("%Y-%m-%d")}


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) >= 1 for part in parts):
        raise ValueError(f"--shape must be whole numbers >= 1, as in 1,28,28, got {text!r}.")
    return tuple(map(int, parts))


def _declared(text: str | None) -> dict[str, tuple[Fraction | float, Fraction | float]] | None:
    if text is None:
        return None
    families = {}
    for part in text.split(","):
        name, _, numbers = part.rpartition("=")
        R, _, M = numbers.partition(":")
        if not name:
            raise ValueError(f"--declared must be BUILDER=R or BUILDER=R:M, with commas between, got {part!r}.")
        families[name] = (_number(R), _number(M or "1"))
    return families


def show_series(reports: Sequence[BoundReport], arguments: argparse.Namespace) -> None:
    from verify.show import series

    checkpoints = series.named(arguments.model or arguments.weights, reports)
    if arguments.html is not None:
        files.write_file(arguments.html, series.to_html(checkpoints))
    if arguments.json:
        print(series.to_json(checkpoints), flush=True)
        return
    from rich.console import Console

    series.text(checkpoints, verbose=arguments.verbose, console=Console(highlight=False))


def show(built: BoundReport, arguments: argparse.Namespace) -> None:
    from verify.show import render

    writers = {"html": render.to_html, "tex": render.to_tex, "tex_all": render.to_tex_all}
    for path, write in ((getattr(arguments, name), write) for name, write in writers.items()):
        if path is not None:
            files.write_file(path, write(built))
    if arguments.json:
        print(render.to_json(built), flush=True)
        return
    from rich.console import Console

    render.text(built, verbose=arguments.verbose, console=Console(highlight=False))


def ask(arguments: argparse.Namespace) -> Question:
    """The question, checked before torch is imported; its device is found later."""
    from verify.records.question import BUDGET, DRAWS, Question

    number = _number_of(arguments)
    if number > 1 and (arguments.tex is not None or arguments.tex_all is not None):
        one = f"run each network by itself with --compared {number}, which pays for all, or use --json or --html"
        raise ValueError(f"--tex and --tex-all write the table of one network, got {number}: {one}.")
    draws = arguments.draws
    if draws is not None and arguments.no_estimates:
        raise ValueError("--draws has no effect with --no-estimates: give one of them.")
    if not arguments.model and arguments.module is None:
        raise ValueError("expected a MODEL, or --module PACKAGE:FACTORY in its place.")
    if arguments.model and arguments.module is not None:
        typed = f"--module {arguments.module} --weights {' '.join(arguments.model)}"
        raise ValueError(f"--module takes its weights from --weights: type {typed}.")
    if arguments.subnetworks is not None and (not arguments.model or arguments.compress is not None):
        raise ValueError("--subnetworks names the builders of a MODEL; it is not for --module or --compress.")
    if arguments.declared is not None and arguments.subnetworks is None:
        raise ValueError("--declared is about the builders of subnetworks: give --subnetworks PACKAGE:FACTORY too.")
    if arguments.compress is not None and number > 1:
        raise ValueError("--compress is for one network, got several.")
    if arguments.surrogate is not None and arguments.unlabelled is None:
        raise ValueError("--surrogate is for points without labels: give --unlabelled FILE too.")
    if arguments.weights and arguments.module is None:
        raise ValueError("--weights are those of --module; a state_dict of Linear layers is a MODEL of its own.")
    if arguments.data is None and arguments.test_data is None and arguments.unlabelled is None:
        unread = [option for option in ("label", "drop", "shape") if getattr(arguments, option)]
        if unread:
            given = " and ".join(f"--{option}" for option in unread)
            about = "is about" if len(unread) == 1 else "are about"
            raise ValueError(f"{given} {about} the points of a file: give --data FILE or --test-data FILE too.")
    else:
        files.check_label(arguments.label, (arguments.data, arguments.test_data))
    compared = number if arguments.compared is None else arguments.compared
    if compared < number:
        raise ValueError(f"compared must be at least the number of files, {number}, got compared={compared}.")
    budget = BUDGET if arguments.budget is None else arguments.budget
    return Question.of(
        budget=budget / number,  # shared by the checkpoints
        rho=arguments.rho,
        delta=arguments.delta,
        r_sup=arguments.r_sup,
        draws=None if _is_bare(arguments) else DRAWS if draws is None else draws,
        seed=arguments.seed,
        curves=arguments.html is not None,
        cite=arguments.cite,
        tried=arguments.tried,
        discrete=arguments.discrete,
        replay=not arguments.no_replay,
        compared=compared,
        command=True,
    )


def _is_bare(arguments: argparse.Namespace) -> bool:
    """Whether R_S is left out: asked for, or nothing on the screen beside the held-out bound would show it."""
    asked = ("draws", "budget", "cite", "verbose", "json", "html", "tex", "tex_all")
    short = arguments.test_data is not None and not any(getattr(arguments, name) for name in asked)
    return arguments.no_estimates or (short and _number_of(arguments) == 1)


def _number_of(arguments: argparse.Namespace) -> int:
    """How many networks are compared."""
    return max(len(arguments.model), len(arguments.weights), 1)


def _check_inputs(arguments: argparse.Namespace) -> None:
    """Refuse a file or a package that is not there before torch is imported."""
    from adanet_train.app import factory

    data = [path for path in (arguments.data, arguments.test_data) if path is not None and path.endswith(SUFFIXES)]
    for path in (*arguments.model, *arguments.weights, *data, *_of_disagreement(arguments)):
        if not glob.has_magic(path) and not os.path.exists(path):
            raise ValueError(f"{path}: no such file{_meant(path) or '.'}")
    for path in arguments.model:
        if path.lower().endswith(TABLES):
            raise ValueError(f"{path} holds points, not a network: type verify-bounds MODEL --data {path}.")
    for option, named in (("--module", arguments.module), ("--subnetworks", arguments.subnetworks)):
        if named is not None:
            factory.require_package(named, option)


def _of_disagreement(arguments: argparse.Namespace) -> list[str]:
    """The files of disagreement-certificate."""
    return [path for path in (arguments.unlabelled, arguments.surrogate) if path not in (None, "pick")]


def _meant(path: str) -> str:
    """The file of the same folder whose name is nearest, as a question; nothing if none is near."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    try:
        beside = [
            other for other in os.listdir(folder or ".") if os.path.splitext(other)[1] == os.path.splitext(name)[1]
        ]
    except OSError:
        return ""
    near = get_close_matches(name, sorted(beside), n=1, cutoff=0.8)
    return f"; did you mean {os.path.join(folder, near[0])}?" if near else ""


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse an output that could not be written, or that is one of the inputs, before the work."""
    written = (arguments.html, arguments.tex, arguments.tex_all, arguments.compress)
    outputs = [path for path in written if path is not None]
    taken = [*arguments.model, *arguments.weights, arguments.data, arguments.test_data, *_of_disagreement(arguments)]
    for path in outputs:
        files.check_writable(path, taken)
        taken.append(path)


if __name__ == "__main__":
    sys.exit(main())
