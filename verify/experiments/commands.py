"""What each NAME of adanet-experiment does with its options: build the runner, run the protocol, write the results."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from adanet_theory.checks import check, check_choice
from adanet_train.core.bar import Bar
from adanet_train.core.files import data_folder
from paper_notes.tables import FOLDS
from verify.experiments import tables
from verify.experiments.protocols import (
    bounds,
    certified,
    cifar_pairs,
    classes,
    criteo_ads,
    learners,
    mnist_bound,
    picking,
    structure,
)
from verify.experiments.protocols.bounds import NetworkRow
from verify.experiments.protocols.cifar_pairs import Protocol
from verify.experiments.protocols.criteo_ads import ClickRow
from verify.experiments.running import grids, results, trials
from verify.experiments.running.progress import Trials
from verify.experiments.running.runner import Runner, Work, on_cluster, on_cores
from verify.experiments.running.selection import PairRow
from verify.experiments.running.store import Store
from verify.experiments.running.trials import DataSource


def fetch_data(arguments: argparse.Namespace) -> int:
    from adanet_train.data.pictures import cifar10

    with Bar(f"fetching {arguments.set}") as progress:
        folder = cifar10.fetch(data_folder(arguments.data_dir), progress)
    print(f"{arguments.set} is in {folder}.")
    return 0


def run_pairs(arguments: argparse.Namespace) -> int:
    methods = _among("methods", arguments.methods, cifar_pairs.METHODS)
    grid = grids.grid(arguments.grid)
    planned = {method: n * len(arguments.pairs) for method, n in grids.count(grid, methods, arguments.folds).items()}
    run = partial(cifar_pairs.cifar_pairs, pairs=arguments.pairs, methods=methods)
    return _on_folds(arguments, run, planned, "adanet", grid=grids.described(grid))


def run_variants(arguments: argparse.Namespace) -> int:
    names = _among("methods", arguments.methods, grids.VARIANTS)
    check(len(arguments.pairs) == 1, f"variants takes one pair, got {len(arguments.pairs)}.")
    chosen = [variant for variant in grids.variants(arguments.grid) if variant.name in names]
    planned: dict[str, int] = {}
    for variant in chosen:
        planned[variant.method] = planned.get(variant.method, 0) + len(variant.settings) * len(arguments.folds)
    return _on_folds(arguments, partial(cifar_pairs.variants, pair=arguments.pairs[0], chosen=chosen), planned, "base")


def _on_folds(
    arguments: argparse.Namespace,
    run: Callable[..., list[PairRow]],
    planned: Mapping[str, int],
    method: str,
    **more: Any,
) -> int:
    """Run, save and print a comparison on the ten folds: `method` is compared with every other."""
    grid = grids.grid(arguments.grid)

    def report(rows: Sequence[PairRow]) -> None:
        compared = cifar_pairs.comparisons(rows, _source(arguments), method)
        save(arguments, rows, comparisons=[vars(one) for one in compared], **more)

    with _bar(arguments) as bar:
        protocol = Protocol(_runner(arguments, Trials(planned, bar)), grid, folds=arguments.folds, seed=arguments.seed)
        rows = run(protocol, report=report)
    for row in rows:
        scores = row.scores
        sd = "" if scores.sd is None else f" ± {scores.sd:.4f}"
        units = ", ".join(f"{n:g}" for n in [*scores.units, scores.top])
        print(f"{row.pair:18}{row.method:10}{scores.accuracy:.4f}{sd}   units {units}")
    print(f"written: {out_path(arguments)}", file=sys.stderr)
    return 0


def run_criteo(arguments: argparse.Namespace) -> int:
    methods = _among("methods", arguments.methods, criteo_ads.METHODS)
    settings = {
        method: settings_of for method, settings_of in grids.criteo(arguments.grid).items() if method in methods
    }
    planned = {method: len(settings_of) for method, settings_of in settings.items()}
    with _bar(arguments) as bar:
        runner = _runner(arguments, Trials(planned, bar), criteo_ads.work)
        rows = criteo_ads.criteo(
            runner, settings, seed=arguments.seed, report=lambda rows: save(arguments, rows, data=_file(arguments))
        )
    for row in rows:
        units = ", ".join(f"{n:g}" for n in row.scores.units)
        print(f"{row.method:10}accuracy {row.scores.accuracy:.4f}, log loss {row.log_loss:.4f}   units {units}")
    return 0


def _file(arguments: argparse.Namespace) -> str:
    return Path(arguments.criteo).name


def run_bounds(arguments: argparse.Namespace) -> int:
    paths = arguments.winners or [str(out_path(arguments).with_name("cifar-pairs.json"))]
    measured = [results.read(path) for path in paths]
    ads = [row for one in measured if one.get("protocol") == "criteo" for row in _of_this_file(one, arguments)]
    winners = [row for one in measured if one.get("protocol") != "criteo" for row in one["rows"]]
    planned = dict.fromkeys(bounds.TRAINERS.values(), 0)
    for winner in winners:
        planned[bounds.trial_of(winner, 0, 0).method] += len(arguments.folds)
    for winner in ads:
        planned[bounds.criteo_trial_of(winner, _source(arguments), 0).method] += 1
    with _bar(arguments) as bar:
        runner = _runner(arguments, Trials(planned, bar), bounds.work)
        rows = bounds.bounds(runner, winners, folds=arguments.folds, seed=arguments.seed)
        rows += bounds.criteo_bounds(runner, ads, seed=arguments.seed)
    save(arguments, rows, winners=[result["command"] for result in measured])
    for row in rows:
        best = min((b["value"] for b in row.said["bounds"].values() if b["applies"]), default=None)
        words = "no bound applies" if best is None else f"the least bound that applies is {best:.4g}"
        print(f"{row.pair:18}{row.method:10}test error {row.said['test_error']:.4f}, {words}")
    return 0


def _of_this_file(result: Mapping[str, Any], arguments: argparse.Namespace) -> Sequence[Mapping[str, Any]]:
    """The winners of `criteo`, if it read the file that is given now."""
    check(arguments.criteo is not None, "the winners of criteo need --criteo FILE, the file they were trained on.")
    known = result.get("data") == _file(arguments)
    check(known, f"the winners were trained on {result.get('data')}, got --criteo {_file(arguments)}.")
    rows: Sequence[Mapping[str, Any]] = result["rows"]
    return rows


# What the protocols share


def _bar(arguments: argparse.Namespace) -> Bar:
    return Bar(arguments.name, quiet=arguments.quiet, counts=True)


def _runner(arguments: argparse.Namespace, progress: Trials, work: Work = trials.run) -> Runner:
    backend = on_cluster(arguments.scheduler) if arguments.scheduler else on_cores(arguments.jobs)
    return Runner(Store(arguments.store), work, backend, _source(arguments), progress)


def _source(arguments: argparse.Namespace) -> DataSource:
    """Absolute paths: a worker may run in another folder."""
    given = (arguments.data_dir, getattr(arguments, "criteo", None))
    return DataSource(*(None if path is None else str(Path(path).resolve()) for path in given))


def _among(name: str, chosen: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    chosen = chosen or known
    for one in chosen:
        check_choice(name, one, known)
    return chosen


def save(arguments: argparse.Namespace, entries: Iterable[PairRow | ClickRow | NetworkRow], **more: Any) -> None:
    """Write the results so far, and their tables."""
    rows = [row.plain for row in entries]
    seconds = sum(row["seconds"] for row in rows)
    path = out_path(arguments)
    results.write(path, arguments.name, command_of(arguments), arguments.seed, seconds, rows, **more)
    tables.write(path)


def out_path(arguments: argparse.Namespace) -> Path:
    return Path(arguments.out or Path("out") / f"{arguments.name}.json")


def command_of(arguments: argparse.Namespace) -> str:
    """The command that gives the same rows, without paths and without the number of parallel trials."""
    words = ["adanet-experiment", arguments.name, "--grid", arguments.grid]
    for name in ("pairs", "methods"):
        if getattr(arguments, name, None):
            words += [f"--{name}", ",".join(getattr(arguments, name))]
    if len(arguments.folds) < FOLDS:
        words += ["--folds", ",".join(map(str, arguments.folds)) + ("," if len(arguments.folds) == 1 else "")]
    return " ".join([*words, "--seed", str(arguments.seed)])


def run_certificates(arguments: argparse.Namespace) -> int:
    methods = _among("methods", arguments.methods, tuple(certified.METHODS))
    chosen = _among("sets", arguments.sets, tuple(data.label for data in certified.SETS))
    with _lines(arguments) as say:
        certified.certificates(out_path(arguments), arguments.data_dir, arguments.seed, methods, chosen, say)
    return 0


def run_picking(arguments: argparse.Namespace) -> int:
    check_choice("learner", arguments.learner, picking.LEARNERS)
    chosen = arguments.sets or picking.default_sets(arguments.learner)
    _among("sets", chosen, tuple(data.label for data in picking.SETS))
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    with _lines(arguments) as say:
        picking.picking(out_path(arguments), arguments.data_dir, seeds, arguments.learner, chosen, say)
    return 0


def run_tables(arguments: argparse.Namespace) -> int:
    methods = _among("methods", arguments.methods, learners.METHODS)
    with _lines(arguments) as say:
        learners.measure_all(out_path(arguments), arguments.sets, methods, arguments.rows, say)
    return 0


def run_classes(arguments: argparse.Namespace) -> int:
    methods = _among("methods", arguments.methods, tuple(classes.PARTS))
    with _lines(arguments) as say:
        classes.measure(out_path(arguments), arguments.sets, methods, arguments.data_dir, arguments.seed, say)
    return 0


def run_structure(arguments: argparse.Namespace) -> int:
    with _lines(arguments) as say:
        structure.structure(out_path(arguments), arguments.data_dir, arguments.sets, say)
    return 0


def run_mnist_bound(arguments: argparse.Namespace) -> int:
    mnist_bound.mnist_bound(out_path(arguments), arguments.data_dir, partial(print, flush=True))
    return 0


@contextlib.contextmanager
def _lines(arguments: argparse.Namespace) -> Iterator[Callable[[str], None]]:
    """A bar that counts works, and a function that prints a line above it."""
    with Bar(arguments.name, counts=True) as bar:

        def say(line: str) -> None:
            with bar.hidden():
                print(line, flush=True)

        yield say


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "data": fetch_data,
    "cifar-pairs": run_pairs,
    "variants": run_variants,
    "criteo": run_criteo,
    "bounds": run_bounds,
    "certificates": run_certificates,
    "picking": run_picking,
    "tables": run_tables,
    "classes": run_classes,
    "structure": run_structure,
    "mnist-bound": run_mnist_bound,
}
