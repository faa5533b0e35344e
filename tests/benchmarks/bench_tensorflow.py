"""Our AdaNet against the TensorFlow package's: same data, rounds, width, steps and batch, one after the other.

That package needs an environment of its own (`make bench-tensorflow` builds it): TENSORFLOW_PYTHON names its
interpreter. Without it breast cancer is held to a recorded run. Deer against truck needs CIFAR-10 in ADANET_DATA.
Both sides count the CPU seconds of all their threads next to those on the clock: a busy machine stretches the latter.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from adanet_train.app.run import error_rate
from adanet_train.core.config import Config
from adanet_train.data.pictures.cifar10 import load_features
from adanet_train.methods import adanet
from verify.experiments.running.trials import split

SCRIPT = Path(__file__).with_name("tensorflow_adanet.py")
Split = dict[str, np.ndarray]  # X, y, X_test, y_test; labels 0 and 1

# Two cores, same split; what it took of the CPU was not kept.
RECORDED = {"accuracy": 0.947, "seconds": 84.0, "cpu": 84.0, "versions": "adanet 0.9.0, TensorFlow 2.12, recorded"}


def run() -> list[dict[str, Any]]:
    python = os.environ.get("TENSORFLOW_PYTHON")
    rows = [
        compare(
            "breast cancer",
            breast_cancer(),
            Config(learner="gradient", rounds=3, width=20, steps=1000, lam=1e-3),
            python,
        )
    ]
    if python is not None and "ADANET_DATA" in os.environ:
        config = Config(
            learner="gradient", rounds=3, width=150, steps=2000, optimiser="adam", learning_rate=1e-3, lam=1e-5
        )
        rows.append(compare("CIFAR-10 deer-truck", deer_truck(os.environ["ADANET_DATA"]), config, python))
    return rows


def breast_cancer() -> Split:
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    X, X_test, y, y_test = train_test_split(*load_breast_cancer(return_X_y=True), test_size=0.2, random_state=0)
    low, high = X.min(0), X.max(0)
    X, X_test = (np.clip((Z - low) / (high - low), 0, 1) for Z in (X, X_test))
    return {"X": X, "y": y, "X_test": X_test, "y_test": y_test}


def deer_truck(data_dir: str) -> Split:
    X, y = load_features("deer", "truck", data_dir)
    parts = split(len(X), 0, seed=0)
    labels = (y > 0).astype(int)
    train, test = parts.train, parts.test
    return {"X": X[train], "y": labels[train], "X_test": X[test], "y_test": labels[test]}


def compare(name: str, data: Split, config: Config, python: str | None) -> dict[str, Any]:
    ours, theirs = ours_on(data, config), RECORDED if python is None else theirs_on(data, config, python)
    sizes = f"T={config.family.rounds}, B={config.family.width}, {config.search.steps} steps"
    return {
        "work": f"AdaNet on {name}, m={len(data['X'])}, {sizes}",
        "against": theirs["versions"],
        "ratio": ours["cpu"] / theirs["cpu"],
        "target": "<= 1/50, accuracy not below" if name == "breast cancer" else "none",
        "accuracy": ours["accuracy"],
        "their_accuracy": theirs["accuracy"],
        "cpu_seconds": round(ours["cpu"], 2),
        "their_cpu_seconds": round(theirs["cpu"], 2),
        "seconds_taken": round(ours["seconds"], 2),
        "their_seconds": round(theirs["seconds"], 2),
    }


def ours_on(data: Split, config: Config) -> dict[str, float]:
    Psi, Psi_test = (torch.from_numpy(np.hstack([Z, np.ones((len(Z), 1))])) for Z in (data["X"], data["X_test"]))
    y, y_test = (torch.from_numpy(2.0 * labels - 1) for labels in (data["y"], data["y_test"]))
    start, cpu = time.perf_counter(), time.process_time()
    trained = adanet.train(Psi, y, config)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"accuracy": round(1 - error_rate(trained.network, Psi_test, y_test), 4), "seconds": seconds, "cpu": cpu}


def theirs_on(data: Split, config: Config, python: str) -> dict[str, Any]:
    """Without the time of importing TensorFlow and of evaluating the test data: what is printed is training alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.npz")
        np.savez(path, **data)
        numbers = [str(number) for number in (config.family.rounds, config.family.width, config.search.steps)]
        done = subprocess.run([python, SCRIPT, path, *numbers], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
