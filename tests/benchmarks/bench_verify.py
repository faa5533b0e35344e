"""verify-bounds on 10,000 points of 154 features and 2,000 units, against importing torch, each in its own process."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 3
ROOT = Path(__file__).parents[2]


def run() -> list[dict]:
    return [measured((154, 2000, 1)), measured((154, 1000, 1000))]


def measured(n: tuple[int, ...]) -> dict:
    """At the default draws, from the command to the printed report."""
    from adanet_train.model import model_file
    from tests.verify_models import model

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt"
        model_file.write(path, model(n=n, m=10_000))
        commands = {
            "torch": ["-c", "import torch"],
            "verify": ["-m", "verify.cli", str(path)],
            "without estimates": ["-m", "verify.cli", str(path), "--no-estimates"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        processor: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(REPEATS):  # in turn, so that all meet the same machine
            for name, arguments in commands.items():
                start, used = time.perf_counter(), _processor_seconds()
                subprocess.run([sys.executable, *arguments], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
                seconds[name].append(time.perf_counter() - start)
                processor[name].append(_processor_seconds() - used)
    least = {name: min(times) for name, times in seconds.items()}
    return {
        "work": f"verify-bounds, m=10000, n={'-'.join(map(str, n))}, default draws",
        "against": "importing torch",
        "ratio": least["verify"] / least["torch"],
        "target": "<= 5",
        "ours": least["verify"],
        "theirs": least["torch"],
        "without_estimates": least["without estimates"] / least["torch"],
        "processor_ratio": min(processor["verify"]) / min(processor["torch"]),
    }


def _processor_seconds() -> float:
    """Of all child processes so far: what a busy machine does not change much."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
