"""adanet-train DATA --subnetworks package:factory: rounds of AdaNet over builders of the user's own."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from adanet_theory.checks import check
from adanet_theory.rounding import upward
from adanet_train.app import console, factory, run
from adanet_train.app.progress import interrupted, picks
from adanet_train.core import by_class, files
from adanet_train.core.bar import Bar
from adanet_train.core.device import device
from adanet_train.core.world import World, joined, local_device
from adanet_train.data import images
from adanet_train.data.images import Pictures
from adanet_train.data.rows import doubt, qualified, repeats
from adanet_train.subnetworks import fitted
from adanet_train.subnetworks.fitted import Fitted
from adanet_train.subnetworks.protocol import takes_context
from adanet_train.subnetworks.train import Subnetworks

OPTION = "--subnetworks"
TAKEN = (
    *("data", "output", "rounds", "seed", "device", "test_data", "label", "drop", "data_dir", "resume", "json"),
    "processes",
)
PICKING = ("objective", "start", "picks", "discrete")
PLAN = {"start": "start", "picks": "K"}
OBJECTIVES = ("paper", "certificate")
ROUNDS, DELTA = 3, 0.05


def check_options(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse the options of the trainer of dense networks."""
    for name, value in vars(arguments).items():
        known = name in (*TAKEN, *PICKING, "subnetworks") or value == parser.get_default(name)
        check(known, f"--{name.replace('_', '-')} is not for {OPTION}, which takes its settings from Subnetworks(...).")
    asked = getattr(arguments, "objective", "paper")
    check(asked in OBJECTIVES, f"--objective with {OPTION} must be {' or '.join(OBJECTIVES)}, got {asked}.")
    several = arguments.processes > 1 or os.environ.get("WORLD_SIZE", "1") != "1"
    check(not several or asked == "paper", f"--processes is not for --objective certificate with {OPTION}.")
    for name in PICKING[1:]:
        check(not hasattr(arguments, name) or asked == "certificate", f"--{name} is for --objective certificate.")


def builders(text: str) -> Any:
    """The builders: the named object, or what it returns if it is a function without arguments that makes no module."""
    named = factory.named(text, OPTION)
    if isinstance(named, nn.Module) or not callable(named) or _is_builder(named):
        return named
    made = factory.called(text, OPTION, named)
    return named if isinstance(made, nn.Module) else made


def _is_builder(named: Any) -> bool:
    """Whether it cannot be called without arguments, or is an object that builds or proposes."""
    if not isinstance(named, type) and (hasattr(named, "build") or hasattr(named, "candidates")):
        return True
    return takes_context(named)


def train(arguments: argparse.Namespace) -> int:
    on = local_device(device(str(arguments.device)))
    with joined(on) as world:
        return train_in(world, on, arguments)


def train_in(world: World, on: str, arguments: argparse.Namespace) -> int:
    """Train; the first process writes a file after every round, and prints the closing table or one JSON document."""
    start, output = time.perf_counter(), arguments.output
    files.check_writable(output, (arguments.data, arguments.test_data, arguments.label))
    given = builders(arguments.subnetworks)
    where: dict[str, Any] = {"label": arguments.label, "data_dir": arguments.data_dir}
    coded = Subnetworks.of(given).categories
    sample, test = images.load(arguments.data, **where, drop=arguments.drop, coded=coded), None
    if arguments.test_data is not None:
        known: dict[str, Any] = {"classes": sample.classes, "outputs": sample.outputs, "known": sample.encoder}
        test = images.load(arguments.test_data, test=True, **where, **known)
    begun = fitted.read(output, given, on) if arguments.resume and Path(output).exists() else None
    rounds, seed = getattr(arguments, "rounds", ROUNDS), getattr(arguments, "seed", 0)
    done = 0 if begun is None else begun.rounds
    alike = float(world.max(torch.tensor([float(done)]))) == done  # also waits until all have read the file
    check(alike, "the processes found different files to resume: do all see the same folder?")
    certificate = getattr(arguments, "objective", "paper") == "certificate"
    with Bar("training", quiet=world.rank > 0) as bar, _told_by(bar):

        def after(ensemble: Fitted) -> None:
            nonlocal done
            if world.rank == 0:
                _tell(ensemble, bar)
                ensemble.write(output)
            done = ensemble.rounds

        for note in (*sample.notes, *(() if test is None else test.notes)) if world.rank == 0 else ():
            bar.say(note)
        made: dict[str, Any] = {"names_of_classes": _classes(sample), "callback": after, "progress": bar}
        made |= {"encoder": sample.encoder, "world": world}
        try:
            if certificate:
                asked: dict[str, Any] = {"rounds": rounds, "seed": seed, "on": on, "resume": begun}
                asked["callback"] = lambda one: after(_named(one, sample))
                ensemble = _by_picking(arguments, given, sample, bar, **asked)
            else:
                ensemble = fitted.fit(
                    sample.X, sample.y, given, rounds=rounds, seed=seed, device=on, resume=begun, **made
                )
        except KeyboardInterrupt as error:
            return console.refuse("adanet-train", interrupted(output, done), console.status_of(error))
    if world.rank > 0:
        return 0
    result = summary(arguments, ensemble, sample, test) | {"seconds": round(time.perf_counter() - start, 3)}
    print(json.dumps(result, allow_nan=False) if arguments.json else table(result, ensemble))
    return 0


@contextlib.contextmanager
def _told_by(bar: Bar) -> Iterator[None]:
    """Warnings as lines of the command."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: bar.say(str(message))
        yield


def _by_picking(
    arguments: argparse.Namespace,
    given: Any,
    sample: Pictures,
    bar: Bar,
    *,
    rounds: int,
    seed: int,
    on: str,
    **run: Any,
) -> Fitted:
    from adanet_train.picking import builders as by_picking  # scikit-learn, which nothing else here needs
    from adanet_train.picking.core import Labelled, Plan
    from adanet_train.picking.subnetworks import Ensembles

    fitted.require_numbers(sample.encoder, arguments.data)
    points = Labelled.coded(np.asarray(sample.X), sample.y, sample.outputs)
    repeated = repeats(points.keys)
    if repeated and not hasattr(arguments, "discrete"):
        bar.say(doubt(repeated, len(points), "--discrete"))
    plan = {name: getattr(arguments, option) for option, name in PLAN.items() if hasattr(arguments, option)}
    learner, said = Ensembles(given, rounds, seed, on), hasattr(arguments, "discrete")
    ensemble = by_picking.train(learner, points, Plan(**plan, seed=seed), DELTA, discrete=said, **run)
    return _named(ensemble, sample)


def _named(ensemble: Fitted, sample: Pictures) -> Fitted:
    return replace(ensemble, classes=np.asarray(_classes(sample)))


def _classes(sample: Pictures) -> Sequence[Any]:
    """The names of the classes, by number where they have none."""
    unnamed = [-1, 1] if sample.outputs is None else range(sample.outputs)
    return unnamed if sample.classes is None else sample.classes


def _tell(ensemble: Fitted, bar: Bar) -> None:
    """The candidates of the last round, or how far picking is."""
    record = ensemble.picked
    if record is None:
        fitted.tell(ensemble, bar.say)
        return
    bar.say(f"picking: {picks({'picked': len(record['picks']), 'left': len(record['left']), 'N': record['N']})}")


def _wrong(ensemble: Fitted, points: Pictures) -> Any:
    return run.wrong(torch.from_numpy(ensemble.decision_function(points.X)), torch.from_numpy(points.y)).numpy()


def summary(arguments: argparse.Namespace, ensemble: Fitted, sample: Pictures, test: Pictures | None) -> dict[str, Any]:
    wrong = _wrong(ensemble, sample)
    return {
        "schema": "adanet-train/1",
        "method": "subnetworks",
        "rounds": ensemble.rounds,
        "subnetworks": ensemble.summary().rows,
        "certificate": None if ensemble.picked is None else ensemble.picked["bound"],
        "candidates": [report.plain for report in ensemble.reports],
        "train_error": float(wrong.mean()),
        "test_error": None if test is None else float(_wrong(ensemble, test).mean()),
        "base_rate": by_class.base_rate(sample.y),
        "class_errors": by_class.class_errors(wrong, sample.y, sample.classes),
        "model": str(arguments.output),
    }


def table(result: dict[str, Any], ensemble: Fitted) -> str:
    test_error = result["test_error"]
    rows = {
        "rounds": result["rounds"],
        "train error": f"{result['train_error']:.4f}",
        "test error": "no test data" if test_error is None else f"{test_error:.4f}",
        "seconds": f"{result['seconds']:.1f}",
        "model": result["model"],
    }
    if ensemble.picked is not None:
        statement = f"risk <= {upward(ensemble.picked['bound'])} with probability {1 - DELTA:g}"
        counted = ensemble.picked["repeats"], ensemble.picked["sample"]["m"]
        said = qualified(statement, *counted, discrete=ensemble.picked["discrete"], remedy="--discrete")
        rows = {"certificate": said, **rows}
    return "\n".join([str(ensemble.summary()), *(f"{name:14}{value}" for name, value in rows.items())])
