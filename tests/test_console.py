"""What the commands share: one line and a status for every error, the bar, files written whole, versions."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest
import torch

from adanet_train.app import cli, console, run
from adanet_train.app.console import Parser
from adanet_train.core import bar as bars
from adanet_train.core.bar import Bar
from adanet_train.core.device import device
from adanet_train.core.files import check_writable, data_folder, versions, write_file
from tests.refusals import refused

ROOT = Path(__file__).parents[1]
OPTIONS = (
    "method variant rounds width p Lambda lam beta surrogate complexity objective seed device test-data bias no-bias"
)
HELP = {
    "adanet_train.app.cli": [
        "adanet-train breast-cancer -o model.pt",
        *(f"--{name}" for name in f"{OPTIONS} no-sample resume json version".split()),
    ],
    "verify.cli": ["model.pt of adanet-train", "--version"],
    "verify.claims.cli": ["verify-claims lemma-1", "status: 0", "--version"],
    "verify.experiments.cli": [
        "data cifar10",
        "cifar-pairs",
        "variants",
        "criteo",
        "bounds",
        "--scheduler",
        "--version",
    ],
    "figures.__main__": [],
    "figures.explorer": [],
}
"""What the help of each command shows."""
HEAVY = {"torch", "sympy", "sklearn", "scipy", "matplotlib", "rich", "optuna", "joblib"}


def raising(error: BaseException):
    def command(arguments):
        raise error

    return command


# Errors


def test_sigterm_is_an_interrupt_met_once():
    with console.terminable():
        with pytest.raises(console.Terminated) as caught:
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)  # what is being written meanwhile is not disturbed
        assert console.run(Parser("tool"), raising(caught.value), []) == 143
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("p must be in [1, inf],\n  got p=0.5."), "p must be in [1, inf], got p=0.5."),
        (OverflowError("Lemma 1 exceeds the largest float."), "Lemma 1 exceeds the largest float."),
        (FileNotFoundError(2, "No such file or directory", "a.pt"), "[Errno 2] No such file or directory: 'a.pt'"),
        (RuntimeError("the bases do not fit"), "the bases do not fit"),
        (RuntimeError(), "RuntimeError"),
        (MemoryError(), "out of memory."),
        (MemoryError("Unable to allocate 7.28 TiB for an array"), "out of memory: 7.28 TiB were asked for at once."),
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has"),
            "out of memory: 2.5 GiB",
        ),
    ],
)
def test_an_error_is_one_line_and_status_2(error, line, capsys):
    assert console.run(Parser("tool"), raising(error), []) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"tool: {line}")
    assert captured.err.count("\n") == 1


def test_what_memory_numpy_and_torch_wanted_is_told(capsys):
    """Their own messages, which a new version may word in another way; 256 PiB are beyond every machine."""
    for allocate in (lambda _: np.empty(2**55), lambda _: torch.empty(2**55, dtype=torch.float64)):
        assert console.run(Parser("tool"), allocate, []) == 2
        assert capsys.readouterr().err == "tool: out of memory: 256 PiB were asked for at once.\n"


def test_a_mistake_in_the_program_is_not_hidden():
    with pytest.raises(TypeError):
        console.run(Parser("tool"), raising(TypeError("unsupported operand")), [])


def test_an_interruption_is_status_130(capsys):
    assert console.run(Parser("tool"), raising(KeyboardInterrupt()), [], interrupted="all is kept.") == 130
    assert capsys.readouterr().err == "tool: all is kept.\n"


def test_adanet_train_shows_no_traceback_for_want_of_memory(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "trainer", lambda method, y=None: lambda *_, **__: torch.empty(2**55))
    assert cli.main(["breast-cancer", "-o", str(tmp_path / "model.pt"), "--rounds", "1"]) == 2
    assert re.fullmatch(
        r"adanet-train: out of memory: .* asked for at once; about .* needed .*\.\n", capsys.readouterr().err
    )


PRINTS = "console.run(console.Parser('tool'), lambda _: Console().print('bounds') or 0, [])"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("from adanet_train.app.cli import main; sys.exit(main(['--help']))", 0),  # argparse swallows it
        ("from verify.claims.cli import main; sys.exit(main(['--list']))", 2),
        (f"from adanet_train.app import console; from rich.console import Console; sys.exit({PRINTS})", 2),
    ],
)
def test_to_a_reader_that_left_nothing_is_said(code, status):
    """Status 1 would say that a bound is violated."""
    run = [sys.executable, "-c", f"import sys; {code}"]
    process = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    process.stdout.close()  # before it writes
    assert process.communicate()[1] == b""
    assert process.returncode == status


@pytest.mark.parametrize("command", HELP)
def test_every_command_helps_without_what_is_heavy(command):
    heavy = HEAVY | {"numpy"} if command.startswith("verify") else HEAVY
    flags = ["--help", "--version"] if "--version" in HELP[command] else ["--help"]
    code = (
        f"import sys; from {command} import main; status = max(main([flag]) for flag in {flags})\n"
        f"heavy = {heavy} & set(sys.modules)\n"
        "assert status == 0 and not heavy, heavy"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True)
    assert shown.stdout.startswith("usage: ")
    assert shown.stderr == ""
    assert [words for words in HELP[command] if not re.search(rf"{words}(?![\w-])", shown.stdout)] == []


# The bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch) -> Terminal:
    """stderr from here on; not in a fixture, as pytest sets stderr after those."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_a_quick_step_shows_no_bar(monkeypatch):
    terminal = open_terminal(monkeypatch)
    with Bar("work") as bar:
        bar(1, 2)
        bar(2, 2)
    assert terminal.getvalue() == ""


def test_a_bar_comes_after_a_second_though_no_step_was_done(monkeypatch):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(Bar, "AFTER", 0.05)
    with Bar("work") as bar:
        end = time.monotonic() + 20
        while bar.shown is None and time.monotonic() < end:
            time.sleep(0.01)
        assert bar.shown is not None
    assert bar.shown is None
    assert "work" in terminal.getvalue()


def test_a_bar_gives_way_to_lines_and_leaves_nothing(monkeypatch, capsys):
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(Bar, "AFTER", 0.0)
    with Bar("work") as bar:
        bar(1, 4, "first part")
        assert "first part" in terminal.getvalue()
        assert "25%" in terminal.getvalue()
        bar.say("a line")
        assert terminal.getvalue().endswith("a line\n")
        bar(2, 4)
        with bar.hidden():
            print("a result")
    written = terminal.getvalue()
    bar(3, 4)
    bar._show()
    assert terminal.getvalue() == written
    assert capsys.readouterr().out == "a result\n"  # stdout is not redirected to the console of the bar


def test_without_a_terminal_there_is_a_line_every_ten_seconds(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(bars.time, "monotonic", lambda: now[0])
    with Bar("trials") as bar:
        for done in range(31):
            now[0] = float(done)
            bar(done, 30, f"{done} done")
    assert capsys.readouterr().err == (
        "trials 33%, 10 done, about 20 s left\ntrials 67%, 20 done, about 10 s left\ntrials 100%, 30 done\n"
    )
    with Bar("trials", quiet=True) as bar:
        now[0] = 1000.0
        bar(1, 2)
    assert capsys.readouterr().err == ""


def test_a_long_step_says_how_far_it_is_and_what_is_done(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(bars.time, "monotonic", lambda: now[0])
    bars.stage("nobody listens")
    bars.inside(1, 2)
    with Bar("outer"), Bar("training") as inner:
        for step in range(1, 41):
            now[0] = float(step)
            bars.inside(step, 40)
        inner(1, 4, "1 of 4 rounds")  # the time left is that of all rounds from here on
        for step in range(1, 11):
            now[0] = 40.0 + step
            bars.inside(step, 40)
        bars.stage("counting")
        now[0] = 70.0
        bars.inside(1, 40)
    with Bar("figures", counts=True) as outer:
        outer(1, 4, "frontier")
        now[0] = 80.0
        bars.stage("fitting the start")
        outer(2, 4)
        now[0] = 100.0
        bars.stage("fitting the rest")
    said = capsys.readouterr().err.splitlines()
    assert said[6] == "figures 25%, frontier: fitting the start, about 30 s left"
    assert said[7] == "figures 50%, frontier: fitting the rest, about 30 s left"
    assert said[0] == "training, 25% of this step, about 27 s left in it"  # it is counted from the first call
    assert said[4] == "training 25%, 1 of 4 rounds, 25% of this step, about 2 min left"
    assert said[5] == "training, counting, 2% of this step"


# Files


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_file(path, "old ±")
    write_file(path, "Λ\n")
    assert path.read_bytes() == "Λ\n".encode()

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    refused(lambda: write_file(path, b"new"), "disk full", error=OSError)
    assert path.read_bytes() == "Λ\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_link_stays_a_link_and_folders_are_made(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_file(tmp_path / "link", b"1")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"1"
    write_file(tmp_path / "deep" / "deeper" / "file", b"1")
    assert (tmp_path / "deep" / "deeper" / "file").read_bytes() == b"1"


def test_an_output_that_cannot_be_written_is_known_beforehand(tmp_path):
    check_writable(tmp_path / "model.pt")
    assert os.listdir(tmp_path) == []
    for path in (tmp_path, tmp_path / "no folder" / "model.pt", "/dev/null"):
        refused(lambda path=path: check_writable(path), "cannot be written")


# Where things are


def test_devices(monkeypatch):
    assert device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device("auto") == "cpu"
    refused(lambda: device("cuda"), "device 'cuda'", "auto or cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert (device("auto"), device("cuda"), device("cuda:1")) == ("cuda", "cuda", "cuda:1")
    for name, message in (("cuda:2", "not available"), ("meta", "device must be"), ("cuda:", "device must be")):
        with pytest.raises(ValueError, match=message):
            device(name)


def test_the_data_folder_is_the_named_one_or_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("ADANET_DATA", "/shared")
    assert (data_folder("here"), data_folder(None)) == (Path("here"), Path("/shared"))
    monkeypatch.delenv("ADANET_DATA")
    assert data_folder(None) == Path(".")


def test_versions_are_those_of_the_packages(monkeypatch):
    assert versions(["numpy", "no-such-package"])["numpy"] == np.__version__
    assert versions(["no-such-package"])["no-such-package"] == "absent"

    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    assert versions()["adanet-theory"] == "unknown"
    assert list(versions()) == ["python", "adanet-theory", "numpy", "torch"]


def test_a_misspelt_choice_is_answered(capsys):
    parser = console.Parser("try")
    parser.add_argument("--objective", choices=("paper", "certificate"))
    assert console.run(parser, lambda _: 0, ["--objective", "certficate"]) == 2
    assert "did you mean certificate?" in capsys.readouterr().err
    assert console.run(parser, lambda _: 0, ["--objective", "xyz"]) == 2
    assert "did you mean" not in capsys.readouterr().err
