"""Trials on the cores and on a cluster: the same results, and none lost when a process is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verify.experiments import cli
from verify.experiments.running import trials
from verify.experiments.running.progress import Trials
from verify.experiments.running.runner import Runner, on_cluster, on_cores
from verify.experiments.running.store import Store
from verify.experiments.running.trials import DataSource, Trial

QUICK = {"steps": 20, "check_every": 20, "rounds": 1, "width": 4, "max_depth": 2, "tol": 1e-3, "hidden": (4,)}
RUN = ["cifar-pairs", "--pairs", "digits:3-8", "--grid", "tiny", "--folds", "2", "--methods", "adanet,lr,nn,nn-gp"]
COMMAND = [sys.executable, "-m", "verify.experiments.cli"]


def echo(trial: Trial, source: DataSource) -> dict:
    """A trial that leaves a mark whenever it is run."""
    if source.folder is not None:
        with open(Path(source.folder) / f"{trial.method}-{trial.fold}", "a") as file:
            file.write("x")
    return {"validation": trial.fold / 10, "seconds": 0.0}


def lasting(trial: Trial, source: DataSource) -> dict:
    """Half a second, so that a worker can be killed while it runs."""
    result = echo(trial, source)
    time.sleep(0.5)
    return {**result, "pid": os.getpid()}


def rows_of(path: Path) -> list:
    """The rows without what no run repeats."""
    return [{**row, "seconds": None} for row in json.loads(path.read_text())["rows"]]


# One trial


@pytest.mark.parametrize("method", ["adanet", "lr", "nn", "cvx", "cvx-exact"])
def test_a_trial_repeats_to_the_bit(method):
    trial = Trial("digits:3-8", method, 4, QUICK)
    first, second = (trials.run(trial, DataSource()) | {"seconds": 0} for _ in range(2))
    assert first == second
    assert set(first) == {"train", "validation", "test", "n", "rounds", "objective", "seconds"}
    assert first != trials.run(Trial("digits:3-8", method, 5, QUICK), DataSource()) | {"seconds": 0}


# The cores


def test_what_is_in_the_store_is_not_run_again(tmp_path):
    todo = [Trial("digits:3-8", "nn", fold) for fold in range(4)]
    runner = Runner(Store(tmp_path / "store"), echo, on_cores(1), DataSource(str(tmp_path)))
    runner.run(todo[:2])
    results = runner.run(todo[::-1])
    assert [result["validation"] for result in results] == [0.3, 0.2, 0.1, 0.0]
    assert [(tmp_path / f"nn-{fold}").read_text() for fold in range(4)] == ["x"] * 4


def test_results_are_kept_though_a_later_trial_fails(tmp_path):
    def fails_at_2(trial, source):
        if trial.fold == 2:
            raise ValueError("no such thing")
        return echo(trial, source)

    todo = [Trial("digits:3-8", "nn", fold) for fold in range(4)]
    store = Store(tmp_path)
    with pytest.raises(ValueError, match="no such thing"):
        Runner(store, fails_at_2, on_cores(1)).run(todo)
    assert [store.get(trial.description) is not None for trial in todo] == [True, True, False, False]


def test_the_estimate_weighs_methods_by_their_cost():
    progress = Trials({"adanet": 10, "lr": 100})
    assert progress.seconds_left(1.0) is None
    progress.done("adanet", 9.0)
    progress.skip(["lr"] * 50)
    assert progress.seconds_left(9.0) == pytest.approx((9 + 50) * 9.0)  # of lr nothing is known yet
    progress.done("lr", 1.0)
    assert progress.seconds_left(5.0) == pytest.approx((9 * 9 + 49 * 1) * 5 / 10)
    assert progress.line().startswith("52 of 110 trials")


def test_killed_and_run_again_the_table_is_the_same(tmp_path, capsys):
    """kill -9 on a run with worker processes; what was stored is sound, is not run again, and nothing differs."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert cli.main([*RUN, "--store", str(whole), "--out", str(tmp_path / "whole.json"), "--quiet"]) == 0
    resumed = [*RUN, "--store", str(broken), "--out", str(tmp_path / "broken.json"), "--quiet", "--jobs", "2"]
    process = subprocess.Popen([*COMMAND, *resumed], start_new_session=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        wait_for(lambda: len(list(broken.rglob("*.json"))) >= 2 or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # its workers
    stored = {path: path.stat().st_mtime_ns for path in broken.rglob("*.json")}
    assert 2 <= len(stored) < len(list(whole.rglob("*.json")))
    assert all(set(json.loads(path.read_text())) == {"trial", "result"} for path in stored)
    assert cli.main(resumed) == 0
    assert all(path.stat().st_mtime_ns == before for path, before in stored.items())
    assert rows_of(tmp_path / "broken.json") == rows_of(tmp_path / "whole.json")
    assert {path.name for path in broken.rglob("*.json")} == {path.name for path in whole.rglob("*.json")}
    capsys.readouterr()


def wait_for(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


# A cluster


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes on this machine."""
    distributed = pytest.importorskip("distributed", reason="Dask is the extra adanet-theory[cluster]")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
    ) as local:
        yield local


@pytest.mark.filterwarnings("default")
def test_a_cluster_gives_what_the_cores_give(cluster, tmp_path):
    outs = []
    for name, where in (("cores", []), ("cluster", ["--scheduler", cluster.scheduler_address])):
        out = tmp_path / f"{name}.json"
        options = ["--store", str(tmp_path / name), "--out", str(out), "--quiet", "--methods", "adanet,lr"]
        assert cli.main([*RUN, *options, *where]) == 0
        outs.append(rows_of(out))
    assert outs[0] == outs[1]


@pytest.mark.filterwarnings("default")
def test_a_lost_worker_loses_no_result(cluster, tmp_path):
    """A worker process is killed while it runs a trial; another does it again, and every result arrives once."""
    todo = [Trial("digits:3-8", "nn", fold) for fold in range(10)]
    store = Store(tmp_path / "store")
    backend = on_cluster(cluster.scheduler_address)
    results, killed = {}, None
    for trial, result in backend(lasting, todo, DataSource(str(tmp_path))):
        store.put(trial.description, result)
        results[trial.fold] = result
        if killed is None:
            killed = result["pid"]
            os.kill(killed, signal.SIGKILL)
    assert sorted(results) == list(range(10))
    assert len({result["pid"] for result in results.values()} - {killed}) >= 1
    assert all(store.get(trial.description) == results[trial.fold] for trial in todo)
    assert sum(len((tmp_path / f"nn-{fold}").read_text()) for fold in range(10)) > 10  # one was run twice


def test_without_dask_the_message_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert cli.main([*RUN, "--scheduler", "tcp://127.0.0.1:1", "--store", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "adanet-experiment: --scheduler needs Dask: pip install 'adanet-theory[cluster]'.\n"
    )
