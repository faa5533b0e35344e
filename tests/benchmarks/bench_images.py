"""AdaNet over small CNNs on images, against the best single CNN and against the TensorFlow package.

Needs Fashion-MNIST and CIFAR-10 in ADANET_DATA; TENSORFLOW_PYTHON names the interpreter of the package's environment
(`make bench-tensorflow` builds it), without which those rows are left out. Every run is a process of its own with one
thread, so that CPU seconds and peak memory are its own.

AdaNet tries both widths in the first round. Later rounds go on with the one that was chosen, from its weights. Single
CNNs come in three ways: the best of six fresh ones, three of each width, and two of the larger width, trained as many
passes as AdaNet's chosen subnetwork and as AdaNet makes over both. The one with the best test accuracy is reported,
with its CPU time; on Fashion-MNIST `seeds` has the accuracies of AdaNet and of the long ones with three seeds. The
package trains both widths in every round, with the same rate and as many steps a round; a row of its own has AdaNet do
the same, which is also what two processes share.

Rate, batch and passes were chosen on training images 10,000 to 20,000 with images 35,000 (Fashion-MNIST: 40,000) and up
for comparison, none of which is in a row here; the way of the later rounds on those of Fashion-MNIST alone.
"""

from __future__ import annotations

import hashlib
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

from adanet_train.core.world import World, joined
from adanet_train.data import images
from adanet_train.subnetworks import fitted
from adanet_train.subnetworks.fitting import Fit
from adanet_train.subnetworks.protocol import Context, Report, continued
from adanet_train.subnetworks.train import Subnetworks

SCRIPT = Path(__file__).with_name("tensorflow_images.py")
NAMES = ("fashion", "cifar10")
M, SHARE, ROUNDS, EPOCHS, BATCH, RATE, WIDTHS, HIDDEN = 10_000, 0.1, 3, 6, 64, 6e-3, (8, 16), 64
LONG = (EPOCHS * ROUNDS, EPOCHS * (ROUNDS + 1))
SEEDS = 3
ARRAYS = ("X", "y", "X_valid", "y_valid", "X_test", "y_test")


@dataclass(frozen=True)
class CNN:
    """conv-pool-conv-pool-dense; from the second round on it begins with the weights of the round before."""

    width: int

    @property
    def name(self) -> str:
        return f"cnn-{self.width}"

    def build(self, context: Context) -> nn.Module:
        channels, height, width = context.shape
        flat = 2 * self.width * (height // 4) * (width // 4)
        # the largest of ReLUs is the ReLU of the largest, and pooling first leaves a quarter of them
        module = nn.Sequential(
            nn.Conv2d(channels, self.width, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(),
            nn.Conv2d(self.width, 2 * self.width, 3, padding=1), nn.MaxPool2d(2), nn.ReLU(),
            nn.Flatten(), nn.Linear(flat, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, context.outputs),
        )  # fmt: skip
        return continued(module.to(memory_format=torch.channels_last), context)


class Widths:
    """Both widths first, then the one that was chosen last."""

    def candidates(self, round: int, reports: Sequence[Report]) -> list[CNN]:
        kept = [one.name for one in reports if one.chosen]
        return [CNN(width) for width in WIDTHS if not kept or CNN(width).name == kept[-1]]


ALL = [CNN(width) for width in WIDTHS]
WAYS: dict[str, tuple[Any, str, int, int]] = {
    "adanet": (Widths(), "grow", ROUNDS, EPOCHS),
    "both": (ALL, "grow", ROUNDS, EPOCHS),
    "fresh": (ALL, "solo", ROUNDS, EPOCHS),
    **{f"{epochs} epochs": (ALL[-1:], "solo", 1, epochs) for epochs in LONG},
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
        ours, both, *single = (trained(data, way) for way in WAYS)
        best = max(single, key=lambda one: one["accuracy"])
        ways = f"six fresh single CNNs, one trained {LONG[0]} epochs and one trained {LONG[1]}"
        rows = [row(work, f"best of {ways} ({best['way']})", "accuracy not below", ours, best)]
        rows[0]["single"] = {one["way"]: {name: one[name] for name in ("accuracy", "cpu", "peak_mb")} for one in single}
        each = f"{work} in every round"
        if name == NAMES[0]:
            repeated = [one for one in (ours, *single) if one["way"] != "fresh"]
            rows[0]["seeds"] = {one["way"]: seeds_of(data, one) for one in repeated}
            rows.append(together(data, each, both))
        if python is not None:
            steps = EPOCHS * -(-(M - round(SHARE * M)) // BATCH)
            given = (ROUNDS, steps, RATE, ",".join(map(str, WIDTHS)))
            theirs = child([python, str(SCRIPT), str(data), *map(str, given)])
            package, target = f"{theirs['versions']}, both widths in every round", "<= 1/3, accuracy not below"
            rows += [row(work, package, target, ours, theirs), row(each, package, target, both, theirs)]
    return rows


def trained(data: Path, way: str, seed: int = 0) -> dict[str, Any]:
    return child([sys.executable, "-m", __name__, str(data), way, str(seed)])


def seeds_of(data: Path, first: dict[str, Any]) -> list[float]:
    """The accuracies of seeds 0, 1, .., of which the first is known."""
    return [first["accuracy"], *(trained(data, first["way"], seed)["accuracy"] for seed in range(1, SEEDS))]


def together(data: Path, work: str, one: dict[str, Any]) -> dict[str, Any]:
    """Two processes with torchrun, each of which fits one candidate of a round, against one."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m", __name__]
    two = child([*torchrun, str(data), "both", "0"])
    assert two["bits"] == one["bits"], "two processes must end with the bits of one"
    names = {"cpu_seconds": "cpu", "seconds_taken": "seconds"}
    costs = {name: two[key] for name, key in names.items()} | {f"their_{name}": one[key] for name, key in names.items()}
    against = "one process, by CPU seconds of the busier one"
    ratio = {"ratio": two["cpu"] / one["cpu"], "target": "<= .65, same bits"}
    return {"work": f"{work}: two processes", "against": against, **ratio, **costs}


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


def ours_on(data: str, way: str, seed: str, world: World) -> dict[str, Any]:
    builders, strategy, rounds, epochs = WAYS[way]
    torch.set_num_threads(1)
    with np.load(data) as arrays:
        X, y, X_valid, y_valid, X_test, y_test = (arrays[name] for name in ARRAYS)
    given = Subnetworks(
        builders, strategy=strategy, validation=(X_valid, y_valid),
        training=Fit(epochs=epochs, batch=BATCH, rate=RATE, patience=epochs),
    )  # fmt: skip
    start, cpu = time.perf_counter(), time.process_time()
    ensemble = fitted.fit(X, y, given, rounds=rounds, seed=int(seed), device="cpu", world=world)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_mb()
    f = ensemble.decision_function(X_test)
    return {
        "way": way, "accuracy": round(float((f.argmax(1) == y_test).mean()), 4), "seconds": round(seconds, 1),
        "cpu": round(float(world.max(torch.tensor([cpu]))), 1), "peak_mb": peak, "rounds": ensemble.rounds,
        "bits": hashlib.sha256(f.tobytes()).hexdigest(),
    }  # fmt: skip


def peak_mb() -> int:
    """Of this program alone: getrusage also counts what the one before it in this process took."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024)


if __name__ == "__main__":
    with joined("cpu") as processes:
        result = ours_on(*sys.argv[1:], processes)
        if processes.rank == 0:
            print(json.dumps(result))
