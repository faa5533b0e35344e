"""adanet-train: files, resumption, messages, JSON."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from adanet_train.app import cli, run
from adanet_train.core import config, surrogates
from adanet_train.core.config import Config
from adanet_train.data import datasets
from adanet_train.methods import trainers
from adanet_train.model import model_file
from adanet_train.model.trained import trained_of
from adanet_train.search import objective
from tests.refusals import refused, refuses, says
from verify.records.question import Question
from verify.rows import report

KEYS = [
    *("schema", "method", "rounds", "depth", "n", "bias", "objective", "train_error", "test_error", "base_rate"),
    *("class_errors", "seconds", "model"),
]
QUICK = ["--set", "steps=30", "--width", "4", "--rounds", "3", "--lam", "1e-4"]


@pytest.fixture
def table(tmp_path):
    """A small table with 0/1 labels, and a second one to test on."""
    draw = np.random.default_rng(0)
    for name, m in (("train.csv", 60), ("test.csv", 20)):
        X = draw.uniform(-1, 3, size=(m, 3))
        y = (X[:, 0] + X[:, 1] > X[:, 2] ** 2).astype(int)
        lines = [",".join([*(repr(float(x)) for x in row), str(label)]) for row, label in zip(X, y, strict=True)]
        (tmp_path / name).write_text("\n".join(["a,b,c,class", *lines]))
    return [str(tmp_path / "train.csv"), "--label", "class", *QUICK]


@pytest.fixture
def output(tmp_path):
    return str(tmp_path / "model.pt")


# What is written


@pytest.mark.parametrize("method", trainers.METHODS)
def test_every_method_writes_what_it_says(method, table, output, tmp_path, capsys):
    test_data = ["--test-data", str(tmp_path / "test.csv")]
    assert cli.main([*table, "-o", output, "--method", method, "--json", *test_data]) == 0
    shown = json.loads(capsys.readouterr().out)
    model = model_file.read(output)
    assert list(shown) == KEYS
    assert (shown["schema"], shown["method"], shown["model"]) == ("adanet-train/1", method, output)
    assert (shown["n"], shown["depth"]) == (list(model.network.n), model.network.depth)
    assert shown["rounds"] == len(model.meta["history"])
    assert shown["objective"] == model.meta["history"][-1]["objective"]
    for key, name in (("train_error", "train.csv"), ("test_error", "test.csv")):
        sample = datasets.load(tmp_path / name, label="class")
        f = model.network(torch.from_numpy(sample.Psi(model.features))).numpy()
        assert shown[key] == np.mean(sample.y * f <= 0)
    assert shown["train_error"] < 0.35
    assert (model.meta["method"], model.meta["seed"]) == (method, 0)
    stored = model.meta["config"]
    assert (stored["step"], stored["r_sup"]) == ("exact" if method == "cvx-exact" else "closed-form", 1.0)
    assert model.features.names == ("a", "b", "c")
    assert model.features.fitted_on_sample
    assert model.sample.m == 60


@pytest.mark.parametrize("method", ["adanet", "cvx", "cvx-exact"])
def test_the_objective_follows_from_the_file_alone(method, table, output):
    assert cli.main([*table, "-o", output, "--method", method]) == 0
    model = model_file.read(output)
    F = objective.recomputed(trained_of(model), model.sample.Psi, model.sample.y)
    assert abs(F - model.meta["history"][-1]["objective"]) <= 1e-9
    values = [entry["objective"] for entry in model.meta["history"]]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("method", ["adanet", "cvx", "cvx-exact"])
def test_the_declared_family_holds_the_network(method, table, output):
    options = ["--method", method, "--p", "1", "--Lambda", "0.5", "--rho", "0.25"]
    assert cli.main([*table, "-o", output, *options]) == 0
    model = model_file.read(output)
    assert (model.declared.p, model.declared_rho, set(model.declared.Lambda.values())) == (1, 0.25, {0.5})
    for (k, s), U in model.network.hidden.items():
        assert (np.abs(U.numpy()).sum(axis=1) <= model.declared.bound(k, s)).all()


def test_the_same_seed_gives_the_same_bytes(table, output, tmp_path):
    others = {"another name.pt": [], "jobs.pt": ["--set", "jobs=2"], "seed.pt": ["--seed", "1"]}
    assert cli.main([*table, "-o", output]) == 0
    for name, options in others.items():
        assert cli.main([*table, "-o", str(tmp_path / name), *options]) == 0
    first = (tmp_path / "model.pt").read_bytes()
    same = {name: (tmp_path / name).read_bytes() == first for name in others}
    assert same == {"another name.pt": True, "jobs.pt": True, "seed.pt": False}


def test_without_the_sample_the_file_holds_its_digest(table, output):
    assert cli.main([*table, "-o", output, "--no-sample"]) == 0
    model = model_file.read(output)
    assert model.sample.Psi is None
    sample = datasets.load(table[0], label="class")
    assert model.sample.matches(sample.Psi(model.features), sample.y)


def test_options_reach_the_config(table, output):
    options = ["--no-bias", "--variant", "SD", "--p", "inf", "--Lambda", "2,1,1,1", "--surrogate", "exponential"]
    settings = ["--set", "outputs=all", "--set", "max_depth=2", "--set", "learning_rate=0.125", "--set", "Lambda=2.,1."]
    assert cli.main([*table, "-o", output, *options, *settings]) == 0
    model = model_file.read(output)
    stored = Config.from_dict(model.meta["config"])
    assert (stored["variant"], stored["p"], stored["surrogate"]) == ("SD", np.inf, "exponential")
    assert (stored["outputs"], stored["max_depth"], stored["learning_rate"]) == ("all", 2, 0.125)
    assert stored["Lambda"] == (2.0, 1.0)
    assert not model.features.bias
    assert model.network.n[0] == 3


def test_psi_is_taken_as_it_is(tmp_path, output, capsys):
    Psi = np.random.default_rng(0).uniform(-4, 4, size=(30, 2))
    np.savez(tmp_path / "psi.npz", Psi=Psi, y=np.sign(Psi[:, 0]))
    source = [str(tmp_path / "psi.npz"), "-o", output, *QUICK]
    assert cli.main(source) == 0
    model = model_file.read(output)
    assert model.features is None
    assert torch.equal(model.sample.Psi, torch.from_numpy(Psi))
    capsys.readouterr()
    for options, message in [
        (["--bias"], "--bias needs X: Psi is taken as it is."),
        (["--objective", "bound"], "objective bound on Psi needs its range: --set r_sup=R."),
        (["--objective", "bound", "--set", "r_sup=1"], "r_sup must be >= max |Psi|"),
    ]:
        refuses(cli.main, [*source, *options], capsys, message)
    assert cli.main([*source, "--objective", "bound", "--set", "r_sup=4"]) == 0


# Interruption


class Interrupt:
    """Ctrl-C after so many finished rounds."""

    def __init__(self, monkeypatch, rounds: int) -> None:
        plain = run.trainer

        def trainer(method):
            def train(Psi, y, config, *, callback, resume, **more):
                def stop(trained):
                    callback(trained)
                    if len(trained.history) == rounds:
                        raise KeyboardInterrupt

                if rounds == 0:
                    raise KeyboardInterrupt
                return plain(method)(Psi, y, config, callback=stop, resume=resume, **more)

            return train

        monkeypatch.setattr(run, "trainer", trainer)


@pytest.mark.parametrize("method", ["adanet", "cvx", "cvx-exact"])
def test_an_interrupted_run_goes_on_to_the_same_bytes(method, table, output, tmp_path, monkeypatch, capsys):
    whole = str(tmp_path / "whole.pt")
    arguments = [*table, "--method", method, "--no-sample"]
    assert cli.main([*arguments, "-o", whole]) == 0
    assert len(model_file.read(whole).meta["history"]) >= 2
    with monkeypatch.context() as patch:
        Interrupt(patch, rounds=1)
        capsys.readouterr()
        assert cli.main([*arguments, "-o", output]) == 130
    assert "model.pt holds round 1; --resume" in capsys.readouterr().err
    assert len(model_file.read(output).meta["history"]) == 1
    with monkeypatch.context() as patch:
        Interrupt(patch, rounds=0)
        assert cli.main([*arguments, "-o", output, "--resume"]) == 130
    assert "model.pt holds round 1; --resume" in capsys.readouterr().err
    assert cli.main([*arguments, "-o", output, "--resume"]) == 0
    assert (tmp_path / "model.pt").read_bytes() == (tmp_path / "whole.pt").read_bytes()
    assert cli.main([*arguments, "-o", output, "--resume"]) == 0
    assert (tmp_path / "model.pt").read_bytes() == (tmp_path / "whole.pt").read_bytes()


def test_an_interruption_before_the_first_round_leaves_no_file(table, output, monkeypatch, capsys):
    Interrupt(monkeypatch, rounds=0)
    assert cli.main([*table, "-o", output]) == 130
    assert "no round was finished" in capsys.readouterr().err
    assert not os.path.exists(output)


def test_more_rounds_later_when_the_family_was_declared_for_them(table, output, tmp_path, capsys):
    arguments = [*table, "--set", "learner=gradient", "--no-sample"]
    declared = [*arguments, "--max-rounds", "3"]
    assert cli.main([*declared, "-o", str(tmp_path / "whole.pt")]) == 0
    assert cli.main([*declared, "--rounds", "1", "-o", output]) == 0
    assert len(model_file.read(output).meta["history"]) == 1
    assert (
        cli.main([*arguments, "--rounds", "3", "-o", output, "--resume"]) == 0
    )  # what was declared stands in the file
    assert (tmp_path / "model.pt").read_bytes() == (tmp_path / "whole.pt").read_bytes()
    capsys.readouterr()
    undeclared = [*table, "--set", "learner=gradient", "-o", str(tmp_path / "short.pt"), "--rounds"]
    assert cli.main([*undeclared, "1"]) == 0
    capsys.readouterr()
    assert model_file.read(str(tmp_path / "short.pt")).declared is not None
    for _ in range(2):  # a second time nothing is left to do, and the file still says it
        assert cli.main([*undeclared, "3", "--resume"]) == 0
        added = model_file.read(str(tmp_path / "short.pt"))
        assert (len(added.meta["history"]), added.declared, added.meta["rounds_added"]) == (3, None, True)
    row = next(row for row in report.build(added, Question(draws=None)).assumptions if row.id == "fixed-in-advance")
    assert (row.status, "--max-rounds" in row.detail) == ("fails", True)
    bound = [*undeclared, "1", "--objective", "bound"]
    assert cli.main(bound) == 0
    refuses(cli.main, [*bound, "--rounds", "3", "--resume"], capsys, "begin with max_rounds >= 3")


def test_what_the_sample_chose_is_told(table, output):
    """λ and the held-out losses stand in the history, and the config says that λ was left open."""
    arguments = [item for item in table if item not in ("--lam", "1e-4")]
    assert cli.main([*arguments, "-o", output]) == 0
    model = model_file.read(output)
    assert (model.meta["config"]["lam"], model.meta["config"]["learner"]) == (config.HELD_OUT, "committee")
    assert trained_of(model).config.goal.lam is None
    assert model.meta["history"][0]["lam"] > 0
    assert all("held_out" in entry for entry in model.meta["history"])


def test_resume_without_a_file_begins(table, output):
    assert cli.main([*table, "-o", output, "--resume"]) == 0


def test_resume_refuses_another_run(table, output, tmp_path, capsys):
    assert cli.main([*table, "-o", output]) == 0
    before = (tmp_path / "model.pt").read_bytes()
    capsys.readouterr()
    other = [str(tmp_path / "test.csv"), *table[1:]]
    for arguments, message in [
        ([*table, "--seed", "5"], "resume needs the config of the run it takes up; changed: seed (was 0, got 5)."),
        ([*table, "--method", "cvx"], "trained by method 'adanet', got 'cvx'"),
        (other, "trained on another sample"),
        ([*table, "--no-bias"], "trained on another sample or other features"),
    ]:
        refuses(cli.main, [*arguments, "-o", output, "--resume"], capsys, message)
    assert (tmp_path / "model.pt").read_bytes() == before
    (tmp_path / "model.pt").write_bytes(b"not a model")
    refuses(cli.main, [*table, "-o", output, "--resume"], capsys, "not a zip archive")


def test_quick_rounds_are_not_all_written_but_the_last_one_is(monkeypatch):
    written = []
    clock = itertools.count()
    monkeypatch.setattr(run.time, "monotonic", lambda: next(clock))  # one second from look to look
    monkeypatch.setattr(model_file, "write", lambda path, model: written.append(len(model)))
    saver = run.Saver("model.pt", lambda trained: trained.history)
    for rounds in range(1, 31):
        saver(SimpleNamespace(history=[{}] * rounds))
    assert written[0] == 1
    assert len(written) < 6
    saver.flush()
    assert written[-1] == 30
    saver.flush()
    assert written.count(30) == 1


# Refusals


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,y\n1,1\n", "m must be >= 2 to train, got m=1."),
        ("a,y\n1,1\n2,1\n", "y must hold both classes, got only +1."),
        ("a,y\n1,1\ninf,0\n", "row 3, column 'a' must be finite, got inf."),
        ("a,y\n1,1.5\n2,2.5\n3,3.5\n", "only classification is covered. Cut the target at a value that matters"),
        (
            "a,y\n" + "".join(f"{i},{i}\n" for i in range(30)),
            "y holds 30 classes in 30 rows: is it a number to predict",
        ),
        ("a,y\n1,1\n2\n", "row 3 has 1 cells, expected 2"),
    ],
)
def test_bad_data_is_refused_in_one_line(content, message, output, tmp_path, capsys):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    refuses(cli.main, [str(path), "-o", output, *QUICK], capsys, message)
    assert sorted(os.listdir(tmp_path)) == ["bad.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--p", "0.5"], "p must be in [1, inf], got p=0.5."),
        (["--rounds", "0"], "rounds must be an integer >= 1"),
        (["--rounds", "many"], "argument --rounds: invalid int value: 'many'"),
        (["--Lambda", "-1"], "Lambda must be finite and > 0, got Lambda=-1.0."),
        (["--lam", "nan"], "lam must be finite and >= 0, got lam=nan."),
        (["--method", "svm"], "argument --method: invalid choice: 'svm'"),
        (["--device", "cuda:7"], "device 'cuda:7' is not available here: give auto or cpu."),
        (["--device", "abacus"], "device must be auto, cpu, cuda or cuda:N, got 'abacus'."),
        (["--set", "tol=tiny"], "tol must be a number, got tol='tiny'."),
        (["--set", "activation=3"], "activation must be a name, got activation=3."),
        (["--set", "enforce=no"], "enforce must be True or False, got enforce='no'."),
        (["--set", "colour=3"], "--set needs NAME=VALUE of a field of Config, got 'colour=3'."),
        (["--set", "memberz=3"], "got 'memberz=3'; did you mean 'members'?"),
        (["--picks", "3"], "--picks is for --objective certificate."),
        (["--start", "0.5"], "--start is for --objective certificate."),
        (["--set", "steps=2.5"], "steps must be an integer >= 0, got 2.5."),
        (["--test-data", "absent.csv"], "absent.csv: no such file."),
        (["--label", "colour"], "no column 'colour' for the labels"),
        (["--Lambda", "1,x"], "argument --Lambda: must be a number, or L1,L2,.. by layer, got '1,x'"),
        (["--method", "nn", "--set", "hidden=3"], "hidden must be a tuple of integers, got hidden=3"),
        (
            ["--set", "candidates=((0, 5), 3)"],
            "candidates must be a tuple of pairs of integers, got candidates=((0, 5), 3)",
        ),
        (["--log", __file__], "--log must be a folder, got the file"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, message, table, output, tmp_path, capsys):
    before = sorted(os.listdir(tmp_path))
    refuses(cli.main, [*table, "-o", output, *options], capsys, message)
    assert sorted(os.listdir(tmp_path)) == before


def test_an_output_that_cannot_be_written_is_refused_before_training(table, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(run, "trainer", lambda method, y=None: pytest.fail("it trained"))
    for path in (tmp_path, tmp_path / "no folder" / "model.pt"):
        refuses(cli.main, [*table, "-o", str(path)], capsys, "cannot be written")


@pytest.mark.parametrize("text", ["false", "False"])
def test_false_is_false(text, table, output):
    assert cli.main([*table, "-o", output, "--set", f"enforce={text}"]) == 0
    assert model_file.read(output).declared is None


def test_the_data_are_not_written_over(table, tmp_path, capsys):
    data, link = Path(table[0]), tmp_path / "link.pt"
    link.symlink_to(data)
    before = data.read_bytes()
    for options in ([*table, "-o", str(link)], ["iris", "--test-data", str(data), "-o", str(data)]):
        refuses(cli.main, options, capsys, "is read by this command")
    assert data.read_bytes() == before


def test_test_data_must_fit(table, output, tmp_path, capsys):
    (tmp_path / "other.csv").write_text("a,b,z,class\n1,2,3,1\n")
    asked = [*table, "-o", output, "--test-data", str(tmp_path / "other.csv")]
    refuses(cli.main, asked, capsys, "adanet-train: ", "column 'c'")


# What is shown


def test_a_piped_run_shows_plain_lines_and_the_table(table, output, capsys):
    assert cli.main([*table, "-o", output]) == 0
    captured = capsys.readouterr()
    history = model_file.read(output).meta["history"]
    notes, *rounds = captured.err.splitlines()
    assert notes == "labels 0 and 1 mapped to -1 and +1."
    assert len(rounds) == len(history)
    for number, (line, entry) in enumerate(zip(rounds, history, strict=True), start=1):
        assert line.startswith(f"round {number}: F = {entry['objective']:.6g}")
        assert all(f"depth {c['depth']}: {c['objective']:.6g}" in line for c in entry["candidates"])
    names = [line[:14].strip() for line in captured.out.splitlines()]
    assert names == [
        "method",
        "rounds",
        "architecture",
        "objective",
        "train error",
        "test error",
        "by class",
        "seconds",
        "model",
    ]
    assert captured.out.endswith(f"model         {output}\n")


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert re.fullmatch(r"adanet-train \S+\n", capsys.readouterr().out)


def test_the_help_tells_the_defaults_and_choices_of_the_config():
    defaults = config.DEFAULTS | {"device": "auto"}
    options = {option.dest: option for option in cli.parser()._actions}
    told = set()
    for name, option in options.items():
        match = re.search(r"default ([^\s:;,)]+)", option.help or "")
        if name in defaults and match:
            told.add(name)
            default = defaults[name]
            assert match[1] == default if isinstance(default, str) else float(match[1]) == default, name
    assert told == options.keys() & defaults.keys() - {
        "rho",
        "width",
        "lam",
        "max_rounds",
        "picks",
        "start",
        "discrete",
    }
    for name in ("variant", "complexity", "objective"):
        assert options[name].choices == config.CHOICES[name]
    assert options["method"].choices == trainers.METHODS
    for name in options["surrogate"].choices:
        assert surrogates.surrogate(name).name == name


def test_the_presets():
    """`paper` is one word for what the paper says; an option beside it wins, and `default` is no option at all."""

    def made(*options: str) -> Config:
        return cli.make_config(cli.parser().parse_args(["data.csv", "-o", "model.pt", "--device", "cpu", *options]))

    paper = made("--preset", "paper")
    assert (paper["learner"], paper["optimiser"], paper["rounds"], paper["width"]) == ("gradient", "sgd", 30, 150)
    assert (paper["lam"], paper["steps"], paper["batch"], paper["least_decrease"]) == (1e-5, 10_000, 100, 0.0)
    assert paper == Config.preset("paper")
    assert paper.changes() == {n: v for n, v in config.PRESETS["paper"].items() if v != config.DEFAULTS[n]}
    assert made("--preset", "paper", "--rounds", "5", "--set", "steps=7") == paper.replace(rounds=5, steps=7)
    assert made() == made("--preset", "default") == Config.preset("default") == Config()
    assert tuple(config.PRESETS) == ("default", "paper")
    refused(lambda: Config.preset("papier"), "'papier'", "'paper'")


def test_a_margin_of_zero_is_an_error():
    f = torch.tensor([0.0, 2.0, -1.0, 3.0])
    assert run.error_rate(lambda Psi: Psi[:, 0], f[:, None], torch.tensor([1.0, 1.0, 1.0, -1.0])) == 0.75


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process without that of its parent is in /proc")
def test_errors_of_many_rows_take_the_memory_of_a_chunk():
    """The chunks leave no holes behind: 200 to 440 MB where every chunk's errors were a tensor of their own."""
    code = """
import re, torch
from pathlib import Path
from adanet_train.app.run import is_wrong
from adanet_train.core.network import Network
from adanet_train.core.points import Points
torch.set_num_threads(1)
U = torch.ones(200, 2, dtype=torch.float64)
network = Network.empty(2).extended({1: U}, {1: U[:, 0]}, "relu")
Psi, y = torch.ones(400_000, 2, dtype=torch.float64).numpy(), torch.ones(400_000, dtype=torch.float64)
is_wrong(network, Points(Psi[:20_000]), y[:20_000])
def peak():
    return int(re.search("VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
before = peak()
assert not is_wrong(network, Points(Psi), y).any()
print(peak() - before)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 100_000  # kB


def test_a_run_that_stops_says_what_no_candidate_did(table, output, capsys):
    """A candidate that is lower, but not by half of F, is not called no lower."""
    assert cli.main([*table, "-o", output, "--set", "least_decrease=0.5"]) == 0
    (stopped,) = [line for line in capsys.readouterr().err.splitlines() if "stopped" in line]
    F, *candidates = map(float, re.findall(r"(?:F = |depth [0-9]+: )([0-9.]+)", stopped))
    assert min(candidates) < F
    assert "by more than 0.5 of it (least_decrease)" in stopped


def test_want_of_memory_is_one_line_with_what_would_be_needed(tmp_path, capsys):
    options = ["--width", "2000000000000", "--set", "learner=gradient", "--rounds", "1", "--lam", "1e-5"]
    assert cli.main(["breast-cancer", "-o", str(tmp_path / "m.pt"), *options]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert re.match(r"adanet-train: out of memory: [\d.]+ [KMGTPE]iB were asked for at once; about ", line)
    says(line, ["m=569, n_0=31", "--method adanet"])


# Classes that are rare


def test_balanced_class_weights_are_those_of_scikit_learn():
    from sklearn.utils import compute_sample_weight

    y = torch.tensor([0, 0, 1, 2, 2, 2, 2])
    found = run.class_weights("balanced", y, None)
    assert found.tolist() == pytest.approx(compute_sample_weight("balanced", y.numpy()).tolist())


def test_class_weights_reach_the_loss_and_the_file(table, output, tmp_path, capsys):
    assert cli.main([*table, "-o", output, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    y = datasets.load(tmp_path / "train.csv", label="class").y
    assert plain["base_rate"] == min((y > 0).mean(), (y < 0).mean())
    shares = {"0": (y < 0).mean(), "1": (y > 0).mean()}
    assert sum(shares[name] * error for name, error in plain["class_errors"].items()) == pytest.approx(
        plain["train_error"]
    )
    errors = []
    for weight in ("0=1000", "1=1000"):
        path = str(tmp_path / f"{weight[0]}.pt")
        assert cli.main([*table, "-o", path, "--json", "--class-weight", weight]) == 0
        errors.append(json.loads(capsys.readouterr().out)["class_errors"])
        assert model_file.read(path).meta["class_weight"] == weight
    assert errors[0]["0"] < errors[1]["0"]
    assert errors[1]["1"] < errors[0]["1"]
    refuses(cli.main, [*table, "-o", path, "--resume", "--class-weight", "balanced"], capsys, "class-weight")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class-weight", "2=3"], "class-weight must name -1, +1 as NAME=W, got '2=3'"),
        (["--class-weight", "heavy"], "class-weight must name -1, +1 as NAME=W, got 'heavy'"),
        (["--class-weight", "1=0"], "class-weight must be balanced or NAME=W with W > 0"),
        (["--class-weight", "1=x"], "class-weight must be balanced or NAME=W with W > 0"),
        (["--class-weight", "balanced", "--method", "lr"], "class-weight is for method adanet, got method='lr'"),
        (["--class-weight", "balanced", "--objective", "bound"], "objective bound counts every point alike"),
    ],
)
def test_class_weights_that_mean_nothing_are_refused(options, message, table, output, capsys):
    refuses(cli.main, [*table, "-o", output, *options], capsys, message)


def test_a_network_that_predicts_one_class_is_told_of_at_training(capsys):
    from adanet_train.app.progress import closing_table

    result = dict.fromkeys(KEYS, 0) | {"n": [2, 1], "test_error": None, "base_rate": 0.05}
    told = closing_table(result | {"class_errors": {"ill": 1.0, "well": 0.0}})
    assert "predicts one class, well" in told
    assert "0.0500" in told
    assert "--class-weight balanced" in told
    assert "one class" not in closing_table(result | {"class_errors": {"ill": 0.9, "well": 0.0}})
    certified = {"left": 0, "N": 9, "picked": 1, "bound": 0.5, "start_bound": 0.6, "delta": 0.05, "repeats": 0, "m": 12}
    told = closing_table(result | {"class_errors": {"ill": 1.0}, "certificate": certified | {"discrete": False}})
    assert "--class-weight" not in told  # a certificate counts every point alike
    assert "held out" not in told
    told = closing_table(result | {"class_errors": {"ill": 0.0}, "holdout": 60, "model": "m.pt"})
    assert "60 points, in the file: verify-bounds m.pt" in told
    assert "f = 0" not in told
    assert "f = 0" in closing_table(result | {"class_errors": {"ill": 1.0, "well": 1.0}, "n": [3, 0]})


def test_a_report_calls_the_classes_as_training_does(table, output, capsys):
    from verify import cli as verifying

    assert cli.main([*table, "-o", output, "--json"]) == 0
    errors = json.loads(capsys.readouterr().out)["class_errors"]
    assert errors.keys() == {"0", "1"}
    assert verifying.main([output, "--no-estimates", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["class_errors"] == errors


def test_a_column_of_labels_needs_a_file_with_columns(table, output, capsys):
    refuses(cli.main, ["iris", *table[1:], "-o", output], capsys, "--label is for a .csv, .parquet or .npy file")
    assert cli.main([*table, "-o", output, "--test-data", "iris"]) == 2  # the label is that of the table
    assert "--label" not in capsys.readouterr().err
