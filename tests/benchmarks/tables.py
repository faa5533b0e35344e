"""python -m tests.benchmarks.tables [--rows M] [--methods M,..] [NAME…]: the learners as they are, on tables.

Behind a StandardScaler, five folds, of tables of fewer than 1,100 rows twice. Writes paper_notes/results/tables.json,
one row per table and learner: the accuracies, their mean with its standard error, the CPU seconds of one fit, and the
memory that the fits took at their peak. The rows of AdaNet have the difference to the better of LR and MLP, fold by
fold, with its standard error. The training parts overlap: errors are corrected for that (Nadeau and Bengio, 2003), the
variance is

    (1/n + 1/(FOLDS - 1)) s²,      n the number of fits.

With --rows one large table, trained on once. With --methods the rows of the other learners stay as they are.
"""

from __future__ import annotations

import argparse
import itertools
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

from adanet_train.core.files import versions
from tests.benchmarks import table_data
from tests.benchmarks.__main__ import machine

RESULTS = Path(__file__).parents[2] / "paper_notes" / "results" / "tables.json"
FOLDS, TEST_ROWS = 5, 20_000
SMALL, LARGE = 1_100, 100_000
"""Below the one there are two times five folds, from the other on a table is trained on once."""


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
    repeats = range(2 if len(y) < SMALL else 1)
    return itertools.chain(*(StratifiedKFold(FOLDS, shuffle=True, random_state=r).split(X, y) for r in repeats))


def standard_error(values: Any) -> float | None:
    """Of the mean over the folds; None for one split."""
    if len(values) == 1:
        return None
    return float(np.std(values, ddof=1) * np.sqrt(1 / len(values) + 1 / (FOLDS - 1)))


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


def rows_of(
    name: str, make: Callable[[], table_data.Table], kept: bool, known: list[dict[str, Any]], methods: list[str] | None
) -> list[dict[str, Any]]:
    """A row for each learner, those that are known and not asked for as they are."""
    rows = {row["method"]: row for row in known}
    X, y = make()
    for method, learner in learners().items():
        if methods and method not in methods:
            continue
        found, seconds, peak = in_a_process(learner, X, y, len(y) > LARGE)
        row = {"data": name, "m": len(y), "n": X.shape[1], "kept_for_the_end": kept, "method": method}
        row |= {"accuracy": float(np.mean(found)), "se": standard_error(found), "scores": [round(x, 6) for x in found]}
        rows[method] = row | {"cpu_seconds": round(seconds, 3), "peak_bytes": peak}
        print({key: rows[method][key] for key in ("data", "method", "accuracy", "cpu_seconds")}, flush=True)
    better = max(("LR", "MLP"), key=lambda method: rows[method]["accuracy"])
    gap = np.array(rows["AdaNet"]["scores"]) - np.array(rows[better]["scores"])
    rows["AdaNet"] |= {"against": better, "difference": float(gap.mean()), "difference_se": standard_error(gap)}
    return [rows[method] for method in learners()]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="one generated table of so many rows to train on")
    parser.add_argument("--methods", type=lambda text: text.split(","), help="only these, separated by commas")
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
        known = [row for row in recorded()["rows"] if row["data"] == name]
        try:
            record(name, rows_of(name, make, kept, known, arguments.methods))
        except FileNotFoundError as missing:
            print(f"{name}: left out, no package {missing}.", file=sys.stderr)
    return 0


def recorded() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {"rows": []}  # type: ignore[no-any-return]


def record(name: str, rows: list[dict[str, Any]]) -> None:
    """Written after every table, so that an interrupted run keeps what it has; one that was there keeps its place."""
    found = recorded()
    place = next((i for i, row in enumerate(found["rows"]) if row["data"] == name), len(found["rows"]))
    others = [row for row in found["rows"] if row["data"] != name]
    found["rows"] = others[:place] + rows + others[place:]
    found |= {"command": "python -m tests.benchmarks.tables", "seed": 0, "machine": machine()}
    found["versions"] = versions(("adanet-theory", "numpy", "scikit-learn", "torch"))
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
