"""python -m tests.benchmarks [NAME…]: runs the side-by-side timings and records them in paper_notes/results.

Each module tests/benchmarks/bench_*.py has run() -> list of rows; a row is a dict with at least "work", "against",
"ratio" (ours over theirs, measured in one run) and "target". Timings are of this machine; the ratios are what counts.
"""

import importlib
import json
import os
import platform
import sys
import time
from pathlib import Path

from adanet_train.core.files import versions

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "paper_notes" / "results" / "benchmarks.json"


def machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}"


def main(argv: list[str]) -> int:
    names = argv or sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    for name in names:
        start = time.perf_counter()
        rows = importlib.import_module(f"tests.benchmarks.bench_{name}").run()
        for row in rows:
            print(f"{row['work']:60} against {row['against']:30} ratio {row['ratio']:.3g} (target {row['target']})")
        # Read only now: another run may have recorded its rows meanwhile.
        record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}
        kept = [row for row in record["rows"] if row["benchmark"] != name]
        seconds = round(time.perf_counter() - start, 1)
        record["rows"] = kept + [{"benchmark": name, "seconds": seconds, "machine": machine(), **row} for row in rows]
        record |= {
            "command": "python -m tests.benchmarks",
            "versions": versions(("numpy", "scipy", "torch")),
            "seed": 0,
            "machine": machine(),
            "seconds": round(sum({row["benchmark"]: row["seconds"] for row in record["rows"]}.values()), 1),
        }
        RESULTS.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
