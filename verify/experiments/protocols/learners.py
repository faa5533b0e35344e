"""The learners at their defaults, on tables: adanet-experiment tables [--rows M] [--methods M,..] [--sets NAME,..].

Each follows a StandardScaler; five folds, twice for tables of fewer than 1,100 rows. One row per table and learner: the
accuracies, their mean with its standard error, the CPU seconds of one fit, and the peak memory of the fits. The rows
of AdaNet have the difference to the better of LR and MLP, fold by fold, with its standard error. The training parts
overlap, so errors are corrected (Nadeau and Bengio, 2003); the variance is

    (1/n + 1/(FOLDS - 1)) s²,      n the number of fits.

--rows trains once on one large table. With --methods the rows of the other learners stay as they are.
"""

from __future__ import annotations

import itertools
import multiprocessing
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adanet_theory.checks import check_choice
from adanet_train.core.bar import counted
from verify.experiments.protocols import table_data
from verify.experiments.running import results

METHODS = ("LR", "MLP", "HGB", "AdaNet")
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
    accuracies, seconds = [], 0.0
    for train, test in splits(X, y, large):
        start = time.process_time()
        fitted = make_pipeline(StandardScaler(), make()).fit(X[train], y[train])
        seconds += time.process_time() - start
        accuracies.append(fitted.score(X[test], y[test]))
    send.send((accuracies, seconds / len(accuracies), resident("VmHWM") - before))


def resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def in_a_process(*arguments: Any) -> tuple[list[float], float, int]:
    """Each learner in its own process, one after the other, so that its memory can be measured."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(*arguments, send))
    process.start()
    send.close()
    try:
        return receive.recv()
    finally:
        process.join()


def rows_of(
    name: str,
    make: Callable[[], table_data.Table],
    kept: bool,
    known: list[dict[str, Any]],
    methods: Sequence[str],
    say: Callable[[str], None],
) -> list[dict[str, Any]]:
    """A row for each learner; known rows that were not asked for stay as they are."""
    rows = {row["method"]: row for row in known}
    X, y = make()
    for method, learner in learners().items():
        if methods and method not in methods:
            continue
        accuracies, seconds, peak = in_a_process(learner, X, y, len(y) > LARGE)
        row = {"data": name, "m": len(y), "n": X.shape[1], "kept_for_the_end": kept, "method": method}
        row |= {
            "accuracy": float(np.mean(accuracies)),
            "se": standard_error(accuracies),
            "scores": [round(x, 6) for x in accuracies],
        }
        rows[method] = row | {"cpu_seconds": round(seconds, 3), "peak_bytes": peak}
        say(f"{name}: {method} {rows[method]['accuracy']:.4f}, {seconds:.2f} CPU seconds a fit")
    if {"LR", "MLP", "AdaNet"} <= rows.keys():
        better = max(("LR", "MLP"), key=lambda method: rows[method]["accuracy"])
        gap = np.array(rows["AdaNet"]["scores"]) - np.array(rows[better]["scores"])
        rows["AdaNet"] |= {"against": better, "difference": float(gap.mean()), "difference_se": standard_error(gap)}
    return [rows[method] for method in METHODS if method in rows]


def tables(rows: int | None) -> dict[str, tuple[Callable[[], table_data.Table], bool]]:
    """For each name, how its table is made and whether it was kept for the end; `rows` asks for one generated table."""
    if rows:
        return {f"clusters, {rows:,} rows": (lambda: table_data.clusters(rows + TEST_ROWS), False)}
    made = {name: (make, False) for name, make in table_data.TABLES.items()}
    return made | {name: (make, True) for name, make in table_data.KEPT.items()}


def measure_all(
    out: Path, names: Sequence[str], methods: Sequence[str], rows: int | None, say: Callable[[str], None]
) -> None:
    """Measure the tables and write each as it is done; a table that was in the file keeps its place.

    A name may be the part before the comma: it selects all tables that begin with it.
    """
    known = tables(rows)
    short = {name: name.partition(",")[0] for name in known}
    for name in names:
        check_choice("sets", name, [*known, *short.values()])
    for name in counted([name for name in known if not names or {name, short[name]} & {*names}]):
        make, kept = known[name]
        before = [row for row in results.stored(out) if row["data"] == name]
        try:
            record(out, name, rows_of(name, make, kept, before, methods, say))
        except FileNotFoundError as missing:
            say(f"{name}: left out, no package {missing}.")


def record(out: Path, name: str, rows: list[dict[str, Any]]) -> None:
    before = results.stored(out)
    place = next((i for i, row in enumerate(before) if row["data"] == name), len(before))
    others = [row for row in before if row["data"] != name]
    kept = others[:place] + rows + others[place:]
    seconds = sum(row["cpu_seconds"] * len(row["scores"]) for row in kept)
    results.write(out, "tables", "adanet-experiment tables", 0, seconds, kept)
