"""Runs trials that are not in the store yet, on the cores (joblib) or on a cluster (Dask), and stores the results.

A result is stored the moment it arrives: whatever ends the run, only the trials that were running are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adanet_theory.checks import check
from verify.experiments.running.progress import Trials
from verify.experiments.running.store import Store
from verify.experiments.running.trials import DataSource, Trial

Result = dict[str, Any]
Work = Callable[[Trial, DataSource], Result]
Backend = Callable[[Work, Sequence[Trial], DataSource], Iterator[tuple[Trial, Result]]]


class Runner:
    def __init__(
        self,
        store: Store,
        work: Work,
        backend: Backend,
        source: DataSource | None = None,
        progress: Trials | None = None,
    ) -> None:
        self.store, self.work, self.backend, self.source = store, work, backend, source or DataSource()
        self.progress = progress or Trials()

    def run(self, trials: Sequence[Trial]) -> list[Result]:
        """The results of the trials, in their order."""
        descriptions = [trial.description for trial in trials]
        kept = [self.store.get(description) for description in descriptions]
        missing = [trial for trial, result in zip(trials, kept, strict=True) if result is None]
        self.progress.skip([trial.method for trial, result in zip(trials, kept, strict=True) if result is not None])
        for trial, result in self.backend(self.work, missing, self.source) if missing else ():
            self.store.put(trial.description, result)
            self.progress.done(trial.method, result["seconds"])
        return [self._kept(description) for description in descriptions]

    def _kept(self, description: Result) -> Result:
        result = self.store.get(description)
        check(result is not None, f"{self.store.path(description)}: cannot be read back.")
        return result or {}


def on_cores(jobs: int) -> Backend:
    """Processes that run one trial at a time, so that a killed worker loses one trial."""

    def backend(work: Work, trials: Sequence[Trial], source: DataSource) -> Iterator[tuple[Trial, Result]]:
        if jobs == 1:
            yield from ((trial, work(trial, source)) for trial in trials)
            return
        from joblib import Parallel, delayed

        pool = Parallel(n_jobs=jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered")
        yield from pool(delayed(_labelled)(work, trial, source) for trial in trials)

    return backend


def on_cluster(address: str) -> Backend:
    """A Dask cluster by the address of its scheduler; its workers need this package, and the data at the same paths.

    The trials of a lost worker go to another one.
    """
    try:
        from distributed import Client, as_completed  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ValueError("--scheduler needs Dask: pip install 'adanet-theory[cluster]'.") from None

    def backend(work: Work, trials: Sequence[Trial], source: DataSource) -> Iterator[tuple[Trial, Result]]:
        with Client(address, timeout=30, set_as_default=False) as client:
            futures = [client.submit(_labelled, work, trial, source, pure=False) for trial in trials]
            for future in as_completed(futures, loop=client.loop):
                yield future.result()
                future.release()

    return backend


def _labelled(work: Work, trial: Trial, source: DataSource) -> tuple[Trial, Result]:
    """Results come back in the order in which they finish, so each brings its trial."""
    return trial, work(trial, source)
