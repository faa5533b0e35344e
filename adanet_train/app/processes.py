"""`adanet-train --processes N`: N processes of the same command, and one line if one of them ends early."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from adanet_train.app.console import Terminated, refuse, status_of

LAUNCHED = "ADANET_TRAIN_LAUNCHED"
"""Environment variable with the id of the process that started the others; it alone prints what ended them all."""
ENDED = 3
"""The status of a process that ends because another one did."""
GRACE = 10.0
"""Seconds that the other processes have to end by themselves."""


def without_option(argv: Sequence[str]) -> list[str]:
    """The arguments of each process: all but --processes.

    >>> without_option(["data.npy", "--processes", "2", "-o", "m.pt", "--processes=3"])
    ['data.npy', '-o', 'm.pt']
    """
    given = list(argv)
    while "--processes" in given:
        place = given.index("--processes")
        del given[place : place + 2]
    return [argument for argument in given if not argument.startswith("--processes=")]


def launch(argv: Sequence[str], count: int, output: str) -> int:
    """Run the processes and return the status; the first one prints the result and writes the file."""
    port = _port()
    with contextlib.ExitStack() as stack:
        errors = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(count)]
        running: list[subprocess.Popen[str]] = []
        try:
            for rank in range(count):
                running.append(_start(without_option(argv), rank, count, port, errors[rank]))
            return _watch(running, errors, output)
        except KeyboardInterrupt as error:
            if isinstance(error, Terminated):
                for process in running:
                    process.terminate()  # an interrupt of the keyboard reaches them by itself
            return _interrupted(running, status_of(error), output)
        finally:
            for process in running:
                process.kill()
                process.wait()


def _interrupted(running: Sequence[subprocess.Popen[str]], status: int, output: str) -> int:
    """The first process writes its last round and says so, if it can."""
    _wait(running)
    if running and running[0].returncode == status:
        return status
    return refuse("adanet-train", f"interrupted: {state(output)}.", status)


def end_with_the_launcher() -> None:
    """End this process when the one that started it ends, however that happens."""
    parent = os.environ.get(LAUNCHED)
    if parent is not None:
        threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(ENDED)


def _wait(running: Sequence[subprocess.Popen[str]]) -> None:
    """Until all have ended by themselves, or the time for that is over."""
    end = time.monotonic() + GRACE
    while any(process.poll() is None for process in running) and time.monotonic() < end:
        time.sleep(0.05)


def _start(argv: Sequence[str], rank: int, count: int, port: int, errors: IO[str]) -> subprocess.Popen[str]:
    threads = str(max(1, (os.cpu_count() or 1) // count))
    environment = {"OMP_NUM_THREADS": threads} | dict(os.environ)
    environment |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count), LAUNCHED: str(os.getpid())}
    environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    silent: dict[str, Any] = {} if rank == 0 else {"stdout": subprocess.DEVNULL, "stderr": errors}
    return subprocess.Popen([sys.executable, "-m", "adanet_train", *argv], env=environment, text=True, **silent)


def _port() -> int:
    """One that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _watch(running: Sequence[subprocess.Popen[str]], errors: Sequence[IO[str]], output: str) -> int:
    """0 if all end well; else what the first to fail had to say."""
    while all(process.poll() is None or process.returncode == 0 for process in running):
        if all(process.returncode == 0 for process in running):
            return 0
        time.sleep(0.05)
    _wait(running)
    failed = [rank for rank, process in enumerate(running) if process.returncode not in (None, 0, ENDED)]
    rank = failed[0] if failed else 0
    status = running[rank].returncode
    if rank == 0 and status is not None and status > 0 and status != ENDED:
        return status  # it said so itself
    errors[rank].seek(0)
    said = errors[rank].read().strip().splitlines()
    if said and status is not None and status > 0:
        print(said[-1], file=sys.stderr)
    else:
        print(f"adanet-train: process {rank} of {len(running)} {_end(status)}; {state(output)}.", file=sys.stderr)
    return 2


def _end(status: int | None) -> str:
    if status is not None and status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return "ended" if status is None else f"ended with status {status}"


def state(output: str) -> str:
    """The round that the output file holds, as the end of an error message."""
    from adanet_train.app.progress import kept
    from adanet_train.model import model_file

    try:
        done = len(model_file.read(output).meta["history"]) if Path(output).exists() else 0
    except (ValueError, KeyError):
        done = 0
    return kept(output, done)
