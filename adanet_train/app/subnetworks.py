"""adanet-train DATA --subnetworks package:factory: rounds of AdaNet over builders of the user's own."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from adanet_theory.checks import check
from adanet_train.app import cli, console, factory, run
from adanet_train.app.console import Bar
from adanet_train.core import by_class, files
from adanet_train.core.device import device
from adanet_train.data import images
from adanet_train.data.images import Pictures
from adanet_train.subnetworks import fitted
from adanet_train.subnetworks.fitted import Fitted
from adanet_train.subnetworks.protocol import takes_context

OPTION = "--subnetworks"
TAKEN = ("data", "output", "rounds", "seed", "device", "test_data", "label", "data_dir", "resume", "json")
ROUNDS = 3


def check_options(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Options of the trainer of dense networks are refused, not ignored."""
    for name, value in vars(arguments).items():
        known = name in (*TAKEN, "subnetworks") or value == parser.get_default(name)
        check(known, f"--{name.replace('_', '-')} is not for {OPTION}, which takes its settings from Subnetworks(...).")


def builders(text: str) -> Any:
    """What the named object stands for: a function without arguments that returns no module is called for them."""
    found = factory.named(text, OPTION)
    if isinstance(found, nn.Module) or not callable(found) or _is_builder(found):
        return found
    made = factory.called(text, OPTION, found)
    return found if isinstance(made, nn.Module) else made


def _is_builder(found: Any) -> bool:
    """Whether it cannot be called without arguments, or is an object that builds or proposes."""
    if not isinstance(found, type) and (hasattr(found, "build") or hasattr(found, "candidates")):
        return True
    return takes_context(found)


def train(arguments: argparse.Namespace) -> int:
    """Train, write a file after every round, and print the closing table or one JSON document."""
    start, output = time.perf_counter(), arguments.output
    files.check_writable(output, (arguments.data, arguments.test_data, arguments.label))
    given = builders(arguments.subnetworks)
    where: dict[str, Any] = {"label": arguments.label, "data_dir": arguments.data_dir}
    sample, test = images.load(arguments.data, **where), None
    if arguments.test_data is not None:
        known: dict[str, Any] = {"classes": sample.classes, "outputs": sample.outputs}
        test = images.load(arguments.test_data, test=True, **where, **known)
    on = device(str(arguments.device))
    begun = fitted.read(output, given, on) if arguments.resume and Path(output).exists() else None
    rounds, seed = getattr(arguments, "rounds", ROUNDS), getattr(arguments, "seed", 0)
    done = 0 if begun is None else begun.rounds
    with Bar("pass") as bar:

        def after(found: Fitted) -> None:
            nonlocal done
            fitted.tell(found, bar.say)
            found.write(output)
            done = found.rounds

        for note in sample.notes:
            bar.say(note)
        made: dict[str, Any] = {"names_of_classes": sample.classes, "callback": after, "progress": bar}
        try:
            found = fitted.fit(sample.X, sample.y, given, rounds=rounds, seed=seed, device=on, resume=begun, **made)
        except KeyboardInterrupt as error:
            return cli.interrupted(arguments, done, console.status_of(error))
    result = summary(arguments, found, sample, test) | {"seconds": round(time.perf_counter() - start, 3)}
    print(json.dumps(result, allow_nan=False) if arguments.json else table(result, found, sample))
    return 0


def _wrong(found: Fitted, points: Pictures) -> Any:
    return run.wrong(torch.from_numpy(found.decision_function(points.X)), torch.from_numpy(points.y)).numpy()


def summary(arguments: argparse.Namespace, found: Fitted, sample: Pictures, test: Pictures | None) -> dict[str, Any]:
    wrong = _wrong(found, sample)
    return {
        "schema": "adanet-train/1",
        "method": "subnetworks",
        "rounds": found.rounds,
        "subnetworks": found.summary(sample.X).rows,
        "candidates": [report.plain for report in found.reports],
        "train_error": float(wrong.mean()),
        "test_error": None if test is None else float(_wrong(found, test).mean()),
        "base_rate": by_class.base_rate(sample.y),
        "class_errors": by_class.class_errors(wrong, sample.y, sample.classes),
        "model": str(arguments.output),
    }


def table(result: dict[str, Any], found: Fitted, sample: Pictures) -> str:
    test_error = result["test_error"]
    rows = {
        "rounds": result["rounds"],
        "train error": f"{result['train_error']:.4f}",
        "test error": "no test data" if test_error is None else f"{test_error:.4f}",
        "seconds": f"{result['seconds']:.1f}",
        "model": result["model"],
    }
    return "\n".join([str(found.summary(sample.X)), *(f"{name:14}{value}" for name, value in rows.items())])
