"""Other commands of the project, run as processes: nothing here imports what stands above the trainer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence


def run_module(module: str, *words: str, statuses: Sequence[int] = (0,)) -> str:
    """The output of `python -m module words`; any other status than those is an error with the command's own line."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words], capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode not in statuses:
        line = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ValueError(f"python -m {module} ended with status {done.returncode}: {line}")
    return done.stdout
