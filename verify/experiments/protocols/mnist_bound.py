"""Bounds below 1 on MNIST pairs, by the two commands: adanet-experiment mnist-bound --data-dir DIR.

DIR holds mnist/ with the four idx files. Each row is one adanet-train and one verify-bounds call, both given in the
row. The features are pixels scaled to [0, 1] or to [-1, 1] (--center). Both maps are fixed by the range of a pixel,
but four maps were looked at before the second was chosen (a constant of 1/2, and pixels with their complements, were
the others): the rows are at δ = .05 and at .0125, which pays for that choice."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from adanet_theory.checks import check
from adanet_theory.rounding import upward
from adanet_train.app import cli as train
from adanet_train.core.files import data_folder
from verify import cli as verify
from verify.experiments.running import results

PAIRS = ("0-1", "1-7", "3-8", "4-9")
TRAINED = "--method cvx-exact --p 1 --Lambda 1 --set max_depth=1 --rounds 2"
PENALTIES = ("0.01", "0.03", "0.1", "0.3")  # Γ of the l1 problem; the bound holds for all weights, so the best counts


def run(command: list[str], main: Callable[[list[str]], int]) -> Any:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main([*command, "--json"])
    check(status == 0, f"{command} ended with status {status}.")
    return json.loads(out.getvalue())


def row(pair: str, data: str, options: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model.pt")
        options_of = [*TRAINED.split(), *options]
        trained = run(
            [f"mnist:{pair}", "-o", model, "--data-dir", data, "--test-data", f"mnist:{pair}", *options_of], train.main
        )
        bounds = {}
        for delta in ("0.05", "0.0125"):
            report = run([model, "--no-estimates", "--delta", delta], verify.main)
            bounds[delta] = {b["id"]: b["value"] for b in report["bounds"] if b["applies"] and b["value"] is not None}
    return {
        "pair": pair,
        "train": f"adanet-train mnist:{pair} -o model.pt {' '.join(options_of)}",
        "verify": "verify-bounds model.pt --no-estimates",
        "m": report["sample"]["m"],
        "train_error": trained["train_error"],
        "test_error": trained["test_error"],
        "bounds": bounds["0.05"],
        "bounds at delta 0.0125": bounds["0.0125"],
    }


def mnist_bound(out: Path, data_dir: str | None, say: Callable[[str], None]) -> None:
    """For every pair and map the network of the bound objective, and the best of several l1 penalties."""
    start, rows = time.perf_counter(), []
    for pair in PAIRS:
        settings = [["--objective", "bound", "--complexity", "lemma-2-peeled", "--set", "largest_rho=true"]]
        settings += [["--lam", "0", "--beta", beta] for beta in PENALTIES]
        for center in ([], ["--center"]):
            tried = [row(pair, str(data_folder(data_dir)), [*options, *center]) for options in settings]
            for kept in (tried[0], min(tried[1:], key=lambda one: one["bounds"]["a-posteriori"])):
                say(f"{pair}: a-posteriori {upward(kept['bounds']['a-posteriori'])}, test {kept['test_error']:.4f}")
                rows.append(kept)
    command = "adanet-experiment mnist-bound --data-dir DIR"
    results.write(out, "mnist-bound", command, 0, time.perf_counter() - start, rows)
