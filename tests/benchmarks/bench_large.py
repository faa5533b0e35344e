"""Data larger than one would keep: 10^7 x 20 in a .npy file, made on the spot; an epoch of training, and verify-bounds.

Peak memory is that of the process's own (RssAnon, looked at twenty times a second); what is mapped from the file the
system may drop at any time. It is given beside the size of the data.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
M, N_0 = 10**7, 20
KEPT = Path(tempfile.gettempdir()) / "adanet-large"
"""The rows and the network, for `bench_large_verify` after this."""


def run() -> list[dict]:
    KEPT.mkdir(exist_ok=True)
    data = make(KEPT / "rows.npy")
    used = measured(["-m", "adanet_train", str(data), "-o", str(KEPT / "m.pt"), "--rounds", "1", "--set", "epochs=1"])
    return [row(f"adanet-train, m={M:.0e}, n_0={N_0}, one round of one epoch", data, used)]


def verified() -> list[dict]:
    data = make(KEPT / "rows.npy")
    used = measured(["-m", "verify.cli", str(KEPT / "m.pt"), "--data", str(data), "--no-estimates"])
    return [row(f"verify-bounds --no-estimates, m={M:.0e}, n_0={N_0}", data, used)]


def make(path: Path) -> Path:
    """Uniform features; the label is the sign of two products, with noise."""
    if path.exists():
        return path
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(M, N_0 + 1))
    draw = np.random.default_rng(0)
    for first in range(0, M, 10**6):
        X = draw.uniform(-1, 1, size=(10**6, N_0))
        f = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.1 * draw.normal(size=10**6)
        rows[first : first + 10**6] = np.column_stack([X, f > 0])
    return path


def measured(arguments: Sequence[str]) -> tuple[float, int, int]:
    """(processor seconds, peak bytes of its own, peak bytes with what is mapped)."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    begin = os.times()
    process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    own = with_mapped = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        by_name = {line.split()[0]: int(line.split()[1]) * 1024 for line in status.splitlines() if line.endswith(" kB")}
        own, with_mapped = max(own, by_name.get("RssAnon:", 0)), max(with_mapped, by_name.get("VmHWM:", 0))
        time.sleep(0.05)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with status {process.returncode}")
    end = os.times()
    used = end.children_user - begin.children_user + end.children_system - begin.children_system
    return used, own, with_mapped


def row(work: str, data: Path, used: tuple[float, int, int]) -> dict:
    seconds, own, with_mapped = used
    size = data.stat().st_size
    return {
        "work": work,
        "against": "the size of the data, in memory",
        "ratio": own / size,
        "target": "<= 1",
        "processor_seconds": seconds,
        "peak_bytes": own,
        "peak_bytes_with_mapped": with_mapped,
        "data_bytes": size,
    }
