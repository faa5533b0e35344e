"""python -m tests.benchmarks.tables [--rows M] [NAME…]: the learners as they are, behind a StandardScaler, five folds.

Writes paper_notes/results/tables.json, one row per table and learner: accuracy with its standard error over the folds,
the CPU seconds of one fit, and the memory that the fits took at their peak. The rows of AdaNet have the difference to
the better of LR and MLP, fold by fold, with its standard error. With --rows one large table, trained on once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from adanet_train.command_line import versions
from tests.benchmarks import table_data
from tests.benchmarks.__main__ import machine

RESULTS = Path(__file__).parents[2] / "paper_notes" / "results" / "tables.json"
FOLDS, TEST_ROWS = 5, 20_000


def learners() -> dict[str, Callable[[], Any]]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    from adanet_train import AdaNetClassifier

    return {
        "LR": lambda: LogisticRegression(max_iter=1000),
        "MLP": lambda: MLPClassifier(random_state=0),
        "HGB": lambda: HistGradientBoostingClassifier(random_state=0),
        "AdaNet": AdaNetClassifier,
    }


def splits(X: Any, y: Any, large: bool) -> Any:
    from sklearn.model_selection import StratifiedKFold

    if large:
        rows = np.arange(len(y))
        return [(slice(0, len(y) - TEST_ROWS), rows[-TEST_ROWS:])]
    return StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)


def measure(make: Callable[[], Any], X: Any, y: Any, large: bool, send: Any) -> None:
    """The accuracies, the CPU seconds of a fit and the peak of memory above that at the start, sent to the parent."""
    import torch
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    found, seconds = [], 0.0
    for train, test in splits(X, y, large):
        start = time.process_time()
        fitted = make_pipeline(StandardScaler(), make()).fit(X[train], y[train])
        seconds += time.process_time() - start
        found.append(fitted.score(X[test], y[test]))
    send.send((found, seconds / len(found), resident("VmHWM") - before))


def resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def in_a_process(*arguments: Any) -> tuple[list[float], float, int]:
    """Each learner in a process of its own, one after the other: the memory is then its own too."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(*arguments, send))
    process.start()
    send.close()
    try:
        return receive.recv()  # type: ignore[no-any-return]
    finally:
        process.join()


def rows_of(name: str, make: Callable[[], table_data.Table], kept: bool, large: bool = False) -> list[dict[str, Any]]:
    X, y = make()
    rows, scores = [], {}
    for method, learner in learners().items():
        found, seconds, peak = in_a_process(learner, X, y, large)
        scores[method] = np.array(found)
        error = None if large else float(scores[method].std(ddof=1) / np.sqrt(FOLDS))
        row = {"data": name, "m": len(y), "n": X.shape[1], "kept_for_the_end": kept, "method": method}
        row |= {"accuracy": float(np.mean(found)), "se": error, "cpu_seconds": round(seconds, 3), "peak_bytes": peak}
        rows.append(row)
        print({key: row[key] for key in ("data", "method", "accuracy", "cpu_seconds", "peak_bytes")}, flush=True)
    better = max(("LR", "MLP"), key=lambda method: scores[method].mean())
    gap = scores["AdaNet"] - scores[better]
    rows[-1] |= {"against": better, "difference": float(gap.mean())}
    rows[-1]["difference_se"] = None if large else float(gap.std(ddof=1) / np.sqrt(FOLDS))
    return rows


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="one generated table of so many rows to train on")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args(argv)
    tables = {name: (make, False) for name, make in table_data.TABLES.items()}
    tables |= {name: (make, True) for name, make in table_data.KEPT.items()}
    if arguments.rows:
        m = arguments.rows
        tables = {f"clusters, {m:,} rows": (lambda: table_data.clusters(m + TEST_ROWS), False)}
    for name, (make, kept) in tables.items():
        if arguments.names and name not in arguments.names:
            continue
        try:
            record(name, rows_of(name, make, kept, bool(arguments.rows)))
        except FileNotFoundError as missing:
            print(f"{name}: left out, no package {missing}.", file=sys.stderr)
    return 0


def record(name: str, rows: list[dict[str, Any]]) -> None:
    """Written after every table, so that an interrupted run keeps what it has."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}
    found["rows"] = [row for row in found["rows"] if row["data"] != name] + rows
    found |= {"command": "python -m tests.benchmarks.tables", "seed": 0, "machine": machine()}
    found["versions"] = versions(("adanet-theory", "numpy", "scikit-learn", "torch"))
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
