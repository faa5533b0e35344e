"""AdaNet over small CNNs on images, against the best single CNN and against the TensorFlow package.

Needs Fashion-MNIST and CIFAR-10 in ADANET_DATA; TENSORFLOW_PYTHON names the interpreter of the package's environment
(`make bench-tensorflow` builds it), without which those rows are left out. Every run is a process of its own with one
thread, so that CPU seconds and peak memory are its own. Single CNNs get the same CPU time in two ways: the best of as
many fresh ones as AdaNet trains, and one of each width trained as many passes in all. The better on the validation
points is the one that is reported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from adanet_train.data.pictures import images
from adanet_train.subnetworks import fitted
from adanet_train.subnetworks.fitting import Fit
from adanet_train.subnetworks.protocol import Context, Report
from adanet_train.subnetworks.train import Subnetworks

SCRIPT = Path(__file__).with_name("tensorflow_images.py")
NAMES = ("fashion", "cifar10")
M, SHARE, ROUNDS, EPOCHS, BATCH, WIDTHS, HIDDEN = 10_000, 0.1, 3, 6, 64, (8, 16), 64
ARRAYS = ("X", "y", "X_valid", "y_valid", "X_test", "y_test")


@dataclass(frozen=True)
class CNN:
    """conv-pool-conv-pool-dense."""

    width: int

    @property
    def name(self) -> str:
        return f"cnn-{self.width}"

    def build(self, context: Context) -> nn.Module:
        channels, height, width = context.shape
        flat = 2 * self.width * (height // 4) * (width // 4)
        return nn.Sequential(
            nn.Conv2d(channels, self.width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(self.width, 2 * self.width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(flat, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, context.outputs),
        ).to(memory_format=torch.channels_last)  # fmt: skip


WAYS = {
    "adanet": ("grow", ROUNDS, EPOCHS),
    "fresh": ("solo", ROUNDS, EPOCHS),
    "long": ("solo", 1, ROUNDS * EPOCHS),
}


def run() -> list[dict[str, Any]]:
    if "ADANET_DATA" not in os.environ:
        return []
    return [row for name in NAMES for row in rows_of(name)]


def rows_of(name: str) -> list[dict[str, Any]]:
    python = os.environ.get("TENSORFLOW_PYTHON")
    work = f"AdaNet over CNNs on {name} images, m={M}, {ROUNDS} rounds of {EPOCHS} epochs, widths {WIDTHS}"
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.npz")
        np.savez(data, **points(name))
        ours, *single = (child([sys.executable, "-m", __name__, str(data), way]) for way in WAYS)
        best = min(single, key=lambda one: one["validation"])
        rows = [row(work, f"best single CNN at equal CPU time ({best['way']})", "accuracy not below", ours, best)]
        together = f"{work}: two processes, each with one candidate of a round"
        one = "one process, by the CPU time of the candidates, as on two free cores"
        cost = {"ratio": ours["two_processes"], "target": "<= .65, same bits"}
        rows.append({"work": together, "against": one, **cost, "cpu_seconds": ours["cpu"]})
        if python is not None:
            steps = EPOCHS * -(-(M - round(SHARE * M)) // BATCH)
            theirs = child([python, str(SCRIPT), str(data), str(ROUNDS), str(steps), ",".join(map(str, WIDTHS))])
            rows.append(row(work, theirs["versions"], "<= 1/3, accuracy not below", ours, theirs))
    return rows


def row(work: str, against: str, target: str, ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    names = {"accuracy": "accuracy", "cpu_seconds": "cpu", "seconds_taken": "seconds", "peak_mb": "peak_mb"}
    own = {name: ours[key] for name, key in names.items()}
    other = {f"their_{name.removesuffix('_taken')}": theirs[key] for name, key in names.items()}
    return {"work": work, "against": against, "ratio": ours["cpu"] / theirs["cpu"], "target": target, **own, **other}


def child(command: list[str]) -> dict[str, Any]:
    """The last line of its output, a JSON document."""
    one = os.environ | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=one)
    print(done.stdout.splitlines()[-1], file=sys.stderr, flush=True)
    return json.loads(done.stdout.splitlines()[-1])


def points(name: str) -> dict[str, Any]:
    """The first M training images, which are in no order of their classes, split in two, and all test images."""
    folder = os.environ["ADANET_DATA"]
    train, test = (images.load(name, data_dir=folder, test=part) for part in (False, True))
    valid = np.random.default_rng(0).permutation(M) < round(SHARE * M)
    parts = {"": (train.X[:M][~valid], train.y[:M][~valid]), "_valid": (train.X[:M][valid], train.y[:M][valid])}
    parts["_test"] = test.X, test.y
    return {f"{symbol}{end}": part for end, pair in parts.items() for symbol, part in zip("Xy", pair, strict=True)}


def ours_on(data: str, way: str) -> dict[str, Any]:
    strategy, rounds, epochs = WAYS[way]
    torch.set_num_threads(1)
    with np.load(data) as arrays:
        X, y, X_valid, y_valid, X_test, y_test = (arrays[name] for name in ARRAYS)
    given = Subnetworks(
        [CNN(width) for width in WIDTHS], strategy=strategy, validation=(X_valid, y_valid),
        training=Fit(epochs=epochs, batch=BATCH, patience=epochs),
    )  # fmt: skip
    start, cpu = time.perf_counter(), time.process_time()
    found = fitted.fit(X, y, given, rounds=rounds, seed=0, device="cpu")
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_mb()
    accuracy = float((found.decision_function(X_test).argmax(1) == y_test).mean())
    validation = min(one.validation for one in found.reports if one.validation is not None)
    return {
        "way": way, "accuracy": round(accuracy, 4), "seconds": round(seconds, 1), "cpu": round(cpu, 1),
        "peak_mb": peak, "validation": round(validation, 4), "rounds": found.rounds,
        "two_processes": round(of_two(found.reports, cpu), 3),
    }  # fmt: skip


def of_two(reports: Sequence[Report], cpu: float) -> float:
    """The share of the CPU time that the longer of two processes takes, if each fits its candidates of a round."""
    saved = 0.0
    for t in {report.round for report in reports}:
        seconds = [report.seconds or 0.0 for report in reports if report.round == t]
        saved += min(sum(seconds[::2]), sum(seconds[1::2]))
    return (cpu - saved) / cpu


def peak_mb() -> int:
    """Of this program alone: getrusage also counts what the one before it in this process took."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024)


if __name__ == "__main__":
    print(json.dumps(ours_on(*sys.argv[1:])))
