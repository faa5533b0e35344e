"""Several processes on one sample: the network of one up to rounding, all with the same bits; and one that is killed.

Real processes, over gloo: torchrun's, and those of --processes.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from adanet_train.app import cli, processes
from adanet_train.convex.labels import Signs
from adanet_train.core.config import Config
from adanet_train.core.points import Points
from adanet_train.core.surrogates import surrogate
from adanet_train.core.world import World
from adanet_train.model import model_file
from adanet_train.search.committee import SplitSample
from adanet_train.search.feed import Feed
from tests.refusals import says

ROOT = Path(__file__).parents[1]
M = 700
WAIT = 600
"""Seconds that processes have on a machine that is busy with others."""
OPTIONS = ["--rounds", "3", "--width", "6", "--set", "members=3", "--set", "steps=60", "--set", "dtype=float64"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("processes") / "rows.npy"
    draw = np.random.default_rng(0)
    X = draw.uniform(-1, 1, size=(M, 5))
    np.save(path, np.column_stack([X, X[:, 0] * X[:, 1] + 0.1 * draw.normal(size=M) > 0]))
    return path


def run(command, **more):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-m", *command], env=environment, cwd=ROOT, text=True, **more)


@pytest.fixture(scope="module")
def together(data):
    """Two processes that torchrun started."""
    output = data.with_name("together.pt")
    command = ["torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(processes._port())]
    training = ["-m", "adanet_train", str(data), "-o", str(output), *OPTIONS]
    started = run([*command, *training], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    shown, errors = started.communicate(timeout=WAIT)
    assert started.returncode == 0, errors
    assert errors.count("round 1:") == shown.count("train error") == 1
    return output


def test_the_network_of_one_process_up_to_rounding(data, together):
    """The sums are added up in another order: float64, 60 steps of Adam, three rounds, and 1e-9 of every weight."""
    assert cli.main([str(data), "-o", str(data.with_name("alone.pt")), *OPTIONS]) == 0
    alone, table = model_file.read(data.with_name("alone.pt")), model_file.read(together)
    assert table.network.n == alone.network.n
    assert table.sample.sha256 == alone.sample.sha256
    for pair, U in alone.network.hidden.items():
        torch.testing.assert_close(table.network.hidden[pair], U, rtol=1e-9, atol=1e-10)
    for k, w in alone.network.output.items():
        torch.testing.assert_close(table.network.output[k], w, rtol=1e-9, atol=1e-10)
    for ours, theirs in zip(table.meta["history"], alone.meta["history"], strict=True):
        assert ours["chosen"] == theirs["chosen"]
        assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-10)
        assert ours["held_out"] == pytest.approx(theirs["held_out"], rel=1e-10)


def test_of_three_classes_too(data):
    """Two processes and one, as above."""
    draw = np.random.default_rng(1)
    X = draw.uniform(-1, 1, size=(300, 3))
    classes = data.with_name("classes.npy")
    np.save(classes, np.column_stack([X, 1 * (X[:, 0] * X[:, 1] > 0) + (X[:, 2] > 0.5)]))
    options = [*OPTIONS, "--rounds", "1", "--set", "steps=30", "--set", "max_depth=2"]
    pair = classes.with_name("pair.pt")
    started = run(["adanet_train", str(classes), "-o", str(pair), "--processes", "2", *options], stderr=subprocess.PIPE)
    assert cli.main([str(classes), "-o", str(classes.with_name("one.pt")), *options]) == 0
    _, errors = started.communicate(timeout=WAIT)
    assert started.returncode == 0, errors
    alone, table = model_file.read(classes.with_name("one.pt")), model_file.read(pair)
    assert table.network.outputs == alone.network.outputs == 3
    for places, U in alone.network.hidden.items():
        torch.testing.assert_close(table.network.hidden[places], U, rtol=1e-9, atol=1e-10)
    for k, w in alone.network.output.items():
        torch.testing.assert_close(table.network.output[k], w, rtol=1e-9, atol=1e-10)


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes in /proc")
def test_a_process_that_is_killed_ends_the_run_and_resume_goes_on(data, together):
    output = data.with_name("killed.pt")
    command = ["adanet_train", str(data), "-o", str(output), "--processes", "2", *OPTIONS]
    started = run(command, stderr=subprocess.PIPE)
    end = time.monotonic() + WAIT
    while not output.exists() and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(children(started.pid)[1], signal.SIGKILL)
    _, errors = started.communicate(timeout=WAIT)
    assert started.returncode == 2
    last = errors.strip().splitlines()[-1]
    says(last, ["adanet-train: process 1 of 2", "SIGKILL"])
    assert re.search(r"killed\.pt .*round [12]; --resume", last)
    assert "Traceback" not in errors
    resumed = run([*command, "--resume"], stderr=subprocess.PIPE)
    _, errors = resumed.communicate(timeout=WAIT)
    assert resumed.returncode == 0, errors
    assert output.read_bytes() == together.read_bytes()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes in /proc")
def test_under_torchrun_the_one_that_is_left_says_what_there_is(data):
    output = data.with_name("left.pt")
    command = ["torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(processes._port())]
    # Three rounds, and seconds after the first of them; with fewer steps the first round adds nothing and is the last.
    options = ["-o", str(output), *OPTIONS, "--lam", "1e-9", "--set", "steps=300", "--set", "patience=60"]
    started = run([*command, "-m", "adanet_train", str(data), *options], stderr=subprocess.PIPE)
    end = time.monotonic() + WAIT
    while not output.exists() and time.monotonic() < end:
        time.sleep(0.01)
    workers = children(started.pid)
    os.kill(workers[1], signal.SIGKILL)
    _, errors = started.communicate(timeout=WAIT)
    assert started.returncode == 1
    (line,) = [line for line in errors.splitlines() if line.startswith("adanet-train: ")]
    history = model_file.read(output).meta["history"]
    done = len(history)
    assert 1 <= done < 3
    assert history[0]["chosen"] >= 0
    assert line.endswith(f"left.pt holds round {done}; --resume continues from there.")
    assert not any(is_running(pid) for pid in workers)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_one_that_started_it(data, number):
    output = data.with_name(f"ended-{number}.pt")
    command = ["adanet_train", str(data), "-o", str(output), "--processes", "2", *OPTIONS, "--set", "steps=100000"]
    started = run([*command, "--set", "patience=100"], stderr=subprocess.PIPE)
    end = time.monotonic() + WAIT
    while len(workers := children(started.pid)) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    os.kill(started.pid, number)
    _, errors = started.communicate(timeout=WAIT)
    while any(is_running(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in workers)
    if number == signal.SIGTERM:
        assert started.returncode == 128 + number
        assert "Traceback" not in errors
        said = [line for line in errors.splitlines() if line.startswith("adanet-train: ")]
        assert said == ["adanet-train: interrupted: no round was finished."]


@pytest.mark.parametrize("options", [["--method", "lr"], ["--objective", "vote"], ["--objective", "certificate"]])
def test_what_several_processes_cannot_do_is_said_before_they_start(data, options, capsys, monkeypatch):
    monkeypatch.setattr(processes, "launch", lambda *_: pytest.fail("processes were started"))
    assert cli.main([str(data), "-o", str(data.with_name("refused.pt")), "--processes", "2", *options]) == 2
    says(capsys.readouterr().err, ["adanet-train: several processes", "adanet", "objective paper or bound"])


def test_all_processes_draw_the_same_batches_and_share_their_points(monkeypatch):
    """Pieces of blocks: each point of a batch is read by exactly one process, and a pass meets every point once."""
    from adanet_train.core import world
    from adanet_train.search import feed

    monkeypatch.setattr(world, "BLOCK", 16)
    monkeypatch.setattr(feed, "BLOCK", 16)
    monkeypatch.setattr(feed, "WHOLE", 100)
    monkeypatch.setattr(feed, "PIECE", 160)
    Psi = torch.arange(333.0, dtype=torch.float64)[:, None].expand(333, 2).contiguous()
    y = torch.where(torch.arange(333) % 3 == 0, 1.0, -1.0).double()
    config = Config(learner="committee", lam=None, members=2)

    def batches(points, count):
        split = SplitSample.split(
            points, Signs(surrogate("logistic")), y, None, config, torch.Generator().manual_seed(0)
        )
        fed = Feed(split, torch.zeros(2, points.here), 20, centred=False, dtype=torch.float64)
        drawn = fed(torch.Generator().manual_seed(1))
        return split, [next(drawn) for _ in range(count)]

    split, alone = batches(Points(Psi), 12)
    for size in (2, 3):
        shares = [batches(Points(Psi, world=_Counted(rank, size)), 12)[1] for rank in range(size)]
        for number, batch in enumerate(alone):
            for j in range(2):
                parts = [share[number] for share in shares]
                rows = torch.cat([part.x[j, :, 0][part.weights[j] > 0] for part in parts])
                assert sorted(rows.tolist()) == sorted(batch.x[j, :, 0].tolist())
                assert all(part.size == batch.size for part in parts)
    seen = torch.cat([batch.x[0, :, 0] for batch in alone]).long()
    assert len(seen.unique()) == len(seen)
    assert not bool((split.part[seen] == 0).any())


class _Counted(World):
    """Sums that are not added up: the shares of the processes are looked at one by one."""

    def sum(self, values):
        return values


# Subnetworks of one's own

BUILDERS = """
import sys
from torch import nn
from adanet_train.subnetworks.fitting import Fit
from adanet_train.subnetworks.train import Subnetworks

assert "sklearn" not in sys.modules or "pytest" in sys.modules, "training alone needs no scikit-learn"

class Wide:
    def __init__(self, width): self.width, self.name = width, f"wide-{width}"
    def build(self, context):
        layers = nn.Linear(*context.shape, self.width), nn.BatchNorm1d(self.width), nn.ReLU()
        return nn.Sequential(*layers, nn.Dropout(0.1), nn.Linear(self.width, context.outputs))

class Plan:
    def candidates(self, round, reports):  # the third round fails
        return [Wide(4), Wide(6), Wide(8)] if round < 3 else [Wide(4), lambda context: nn.Linear(1, 1)]

def plan(): return Subnetworks(Plan(), training=Fit(epochs=3, batch=50))
"""


def test_processes_fit_candidates_each_and_end_with_the_bits_of_one(data, monkeypatch, capsys):
    folder = data.parent
    (folder / "own_builders.py").write_text(BUILDERS)
    options = ["--subnetworks", "own_builders:plan", "--rounds", "3"]
    done = run_in(folder, ["adanet_train", str(data), "-o", str(folder / "two.pt"), *options, "--processes", "2"])
    monkeypatch.syspath_prepend(str(folder))
    assert cli.main([str(data), "-o", str(folder / "one.pt"), *options]) == done.returncode == 2, done.stderr
    del sys.modules["own_builders"]  # other tests have one of that name
    for err in (done.stderr, capsys.readouterr().err):
        assert err.count("round 1: wide-6") == 1
        assert "builder '<lambda>' failed in round 3" in err
    assert (folder / "one.pt").read_bytes() == (folder / "two.pt").read_bytes()


def run_in(folder, command):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    given = {"env": environment, "cwd": folder, "text": True, "capture_output": True, "timeout": WAIT}
    return subprocess.run([sys.executable, "-m", *command], check=False, **given)
