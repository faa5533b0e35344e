"""verify-bounds at m = 10^4, 10^5, 10^6 (50 features, 2 x 100 units), beside reading the data and one forward pass.

Each in a process of its own; processor seconds, which a busy machine does not change much, and the peak memory.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SIZES = (10**4, 10**5, 10**6)

DATA = """
import numpy as np, sys, torch
m, folder = int(sys.argv[1]), sys.argv[2]
X = np.random.default_rng(0).uniform(-1, 1, size=(m, 50))
torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Linear(50, 100), torch.nn.ReLU(), torch.nn.Linear(100, 100), torch.nn.ReLU(), torch.nn.Linear(100, 1)
)
with torch.no_grad():
    f = net(torch.from_numpy(X).float()).numpy()[:, 0]
np.savez(folder + "/data.npz", X=X, y=np.where(f > np.median(f), 1, -1))
torch.save(net.state_dict(), folder + "/net.pt")
"""
READ = "import numpy as np, sys, torch; data = np.load(sys.argv[1] + '/data.npz'); data['X'], data['y']"
FORWARD = (
    READ
    + """
state = torch.load(sys.argv[1] + '/net.pt', weights_only=True)
x = torch.from_numpy(data['X'])
with torch.no_grad():
    for k in (0, 2, 4):
        x = torch.nn.functional.linear(x, state[f'{k}.weight'].double(), state[f'{k}.bias'].double())
        x = x.relu() if k < 4 else x
"""
)


def run() -> list[dict]:
    return [measured(m) for m in SIZES]


def measured(m: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        _used(["-c", DATA, str(m), folder])
        verify = ["-m", "verify.cli", f"{folder}/net.pt", "--data", f"{folder}/data.npz"]
        ours, peak = _used([*verify, "--activation", "relu", "--r-sup", "1"])
        reading, _ = _used(["-c", READ, folder])
        forward, _ = _used(["-c", FORWARD, folder])
    return {
        "work": f"verify-bounds, m={m}, n=50-100-100-1, default budget",
        "against": "importing torch, reading the data and one forward pass",
        "ratio": ours / forward,
        "target": "under 120 s and 4 GB at m = 10^6",
        "ours": ours,
        "theirs": forward,
        "reading": reading,
        "peak_bytes": peak,
    }


def _used(arguments: list[str]) -> tuple[float, int]:
    """(processor seconds, peak bytes) of a process with one thread for each product."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    before = _processor_seconds()
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    completed = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    return _processor_seconds() - before, 1024 * int(completed.stdout)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
