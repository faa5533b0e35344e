"""verify-bounds as a user meets it: the document, the status, and one line for whatever it cannot use."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from adanet_theory.spec import NetworkSpec
from adanet_train.model import model_file
from adanet_train.model.model_file import Sample
from tests.refusals import refuses, says
from tests.verify_models import model
from verify import cli as verify_cli
from verify.cli import main

ROOT = Path(__file__).parents[1]
QUICK = ["--no-estimates"]


def written(tmp_path: Path, name: str = "model.pt", **changes) -> str:
    path = tmp_path / name
    model_file.write(path, model(**changes))
    return str(path)


def document(capsys, *argv: str) -> tuple[int, dict]:
    status = main([*argv, "--json"])
    captured = capsys.readouterr()
    assert captured.err == ""
    return status, json.loads(captured.out, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))


def table(path: Path, m: int = 30, columns: int = 3, seed: int = 5, key: str = "X") -> str:
    draw = np.random.default_rng(seed)
    np.savez(path, **{key: draw.uniform(-1, 1, size=(m, columns)), "y": draw.choice([-1, 1], size=m)})
    return str(path)


# What it says


def test_the_document_has_the_keys_of_its_schema(tmp_path, capsys) -> None:
    status, result = document(capsys, written(tmp_path), "--draws", "5")
    assert status == 0
    keys = "schema subject model declared sample undecided rho delta rho_chosen assumptions complexities bounds checks"
    keys += " test cite tried compared classes base_rate class_errors notes advice verdict"
    assert set(result) == set(keys.split())
    assert (result["schema"], result["subject"]) == ("verify-bounds/1", "network")
    keys = "sha256 depth n activation w_norms W measured path_norm layered graph"
    assert set(result["model"]) == set(keys.split())
    assert result["model"]["sha256"] == model_file.read(tmp_path / "model.pt").sha256
    ids = [row["id"] for row in result["bounds"]]
    expected = "theorem-1 corollary-1 theorem-1-range margin-bound margin-bound-uniform margin-bound-empirical"
    more = "margin-bound-unbounded unbounded-empirical a-posteriori a-posteriori-bounded"
    assert ids[:10] == [*expected.split(), *more.split()]
    for row in result["bounds"]:
        keys = "id group about delta raw value terms applies why_not vacuous rho m_needed norms_needed at_tenth at_rho"
        assert set(row) == set(keys.split())
        assert (row["value"] is None) == (not row["applies"])
        assert ("j" in row["terms"]) == (row["id"].endswith("uniform") or row["id"].startswith("a-posteriori"))
    assert result["rho"] == 0.2
    assert result["delta"] == 0.05
    assert not result["rho_chosen"]


def test_p_inf_and_what_does_not_exist_are_plain_json(tmp_path, capsys) -> None:
    _, result = document(capsys, written(tmp_path, p=float("inf"), rho=0.001, activation="tanh"), *QUICK)
    assert result["declared"]["p"] == "inf"
    assert result["model"]["path_norm"] is None
    assert result["test"] is None
    assert result["bounds"][0]["raw"] is None
    assert result["complexities"][0]["lower"] is None


def test_the_same_seed_gives_the_same_bytes(tmp_path, capsys) -> None:
    path = written(tmp_path, m=40)
    for flags in (["--json"], ["-v"]):
        texts = []
        for seed in ("1", "1", "2"):
            main([path, "--draws", "8", "--seed", seed, *flags])
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1] != texts[2]
        if flags == ["--json"]:  # the signs of the complexities are drawn anew, not those of E Z_1 alone
            one, other = (json.loads(text)["complexities"] for text in texts[1:])
            assert one != other


def test_delta_is_the_decimal_that_was_typed(tmp_path, capsys) -> None:
    path = written(tmp_path)
    status, default = document(capsys, path, *QUICK)
    assert document(capsys, path, *QUICK, "--delta", "0.05") == (status, default)
    assert document(capsys, path, *QUICK, "--delta", "5e-2") == (status, default)


def test_a_unit_outside_its_family_is_named_with_status_1(tmp_path, capsys) -> None:
    file = model()
    file.network.hidden[1, 0][3] *= 2
    model_file.write(tmp_path / "model.pt", file)
    status = main([str(tmp_path / "model.pt"), *QUICK, "-v"])
    out = capsys.readouterr().out
    assert status == 1
    assert "unit 3 of layer 1" in " ".join(out.split())
    assert "a-posteriori" in out


def test_a_sigmoid_network_violates_the_printed_lemma_with_status_0(tmp_path, capsys) -> None:
    file = model(n=(1, 1, 1), activation="sigmoid", m=8, fill=0.1)
    family = NetworkSpec((1, 1, 1), {(1, 0): 0.1, (2, 1): 1.0}, 2.0, "sigmoid")
    sample = Sample.of(torch.ones(8, 1), file.sample.y)
    model_file.write(tmp_path / "model.pt", dataclasses.replace(file, declared=family, sample=sample))
    status, written = document(capsys, str(tmp_path / "model.pt"), "--draws", "4", "--discrete")
    assert status == 0
    violated = [row for row in written["checks"] if row["verdict"] == "violated"]
    assert {row["claim"] for row in violated} >= {"lemma-1"}
    assert not any(row["applies"] for row in violated)
    applies = {row["id"]: row["applies"] for row in written["bounds"]}
    assert applies["margin-bound"]
    assert not applies["theorem-1"]


def mlp(outputs: int = 1, bias: bool = True) -> torch.nn.Sequential:
    torch.manual_seed(0)
    layers = [torch.nn.Linear(3, 5, bias=bias), torch.nn.ReLU(), torch.nn.Linear(5, 4, bias=bias), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(4, outputs, bias=bias))


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_state_dict_with_biases_is_the_same_function(tmp_path, capsys, outputs: int) -> None:
    net = mlp(outputs)
    torch.save(net.state_dict(), tmp_path / "mlp.pt")
    data = table(tmp_path / "data.npz", m=200)
    relu = ("--activation", "relu")
    status, written = document(capsys, str(tmp_path / "mlp.pt"), "--data", data, *relu, *QUICK)
    assert status == 0
    with np.load(data) as file, torch.no_grad():
        logits = net(torch.from_numpy(file["X"]).float()).numpy()  # in its own type of numbers
        f = logits[:, 0] if outputs == 1 else logits[:, 1] - logits[:, 0]
        error = float(np.mean(file["y"] * f <= 0))
    assert written["sample"]["train_error"] == error
    assert written["declared"] is None
    assert written["model"]["n"] == [4, 6, 5, outputs]
    applies = {row["id"]: row["applies"] for row in written["bounds"]}
    assert not any(applies[id] for id in ("theorem-1", "margin-bound", "margin-bound-uniform", "a-posteriori-bounded"))
    assert not applies["a-posteriori"]  # float32, and no range on which it is near its formula
    _, written = document(capsys, str(tmp_path / "mlp.pt"), "--data", data, *relu, *QUICK, "--r-sup", "100")
    (row,) = (row for row in written["bounds"] if row["id"] == "a-posteriori")
    assert (row["applies"], row["about"]) == (True, "program")
    main([str(tmp_path / "mlp.pt"), "--data", data, *relu, *QUICK])
    out = " ".join(capsys.readouterr().out.split())
    says(out, ["state_dict of 3 Linear layers", "relu"])
    assert ("second logit minus the first" in out) == (outputs == 2)


def test_a_state_dict_without_its_activation_is_refused_with_the_way_on(tmp_path, capsys) -> None:
    """The weights of a tanh network read as ReLU are another network: nothing may be said about it."""
    torch.save(mlp(bias=False).state_dict(), tmp_path / "mlp.pt")
    data = table(tmp_path / "data.npz", m=50)
    line = refused(capsys, str(tmp_path / "mlp.pt"), "--data", data)
    assert "a state_dict does not name its activation" in line
    assert "--activation relu" in line
    errors = []
    for phi in ("relu", "tanh"):
        status, written = document(capsys, str(tmp_path / "mlp.pt"), "--data", data, "--activation", phi, *QUICK)
        assert (status, written["model"]["activation"]) == (0, phi)
        errors.append(written["sample"]["train_error"])
    with np.load(data) as file, torch.no_grad():
        linears = [layer.double() for layer in mlp(bias=False) if isinstance(layer, torch.nn.Linear)]
        h = linears[1](torch.tanh(linears[0](torch.from_numpy(file["X"]))))
        f = linears[2](torch.tanh(h)).numpy()[:, 0]
        assert errors[1] == float(np.mean(file["y"] * f <= 0)) != errors[0]


def test_the_difference_of_two_logits_is_not_rounded(tmp_path, capsys) -> None:
    """Second minus first logit is 2^-60 > 0 at (1, 1); the float of 2^-60 - 1 is -1, and f would be 0, an error."""
    W = torch.tensor([[1.0, -1.0], [2.0**-60, 0.0]], dtype=torch.float64)
    torch.save({"weight": W}, tmp_path / "linear.pt")
    np.savez(tmp_path / "data.npz", X=np.ones((20, 2)), y=np.ones(20))
    _, written = document(capsys, str(tmp_path / "linear.pt"), "--data", str(tmp_path / "data.npz"), *QUICK)
    assert written["sample"]["train_error"] == 0


def test_a_single_linear_layer_has_no_activation_to_name(tmp_path, capsys) -> None:
    torch.save(torch.nn.Linear(3, 1).state_dict(), tmp_path / "linear.pt")
    status, _ = document(capsys, str(tmp_path / "linear.pt"), "--data", table(tmp_path / "data.npz", m=50), *QUICK)
    assert status == 0


def test_test_data_give_the_error_and_its_bound(tmp_path, capsys) -> None:
    path = written(tmp_path)
    held_out = table(tmp_path / "test.npz", m=50)
    _, result = document(capsys, path, "--test-data", held_out, *QUICK)
    file = model_file.read(path)
    with np.load(held_out) as arrays:
        f = file.network(torch.from_numpy(file.features(arrays["X"]))).numpy()
        error = float(np.mean(arrays["y"] * f <= 0))
    assert result["test"]["error"] == error
    assert result["test"]["n"] == 50
    assert error < result["test"]["upper"] <= 1
    applying = {row["id"] for row in result["bounds"] if row["applies"]}
    assert {row["claim"] for row in result["checks"]} == applying - {"held-out", "occam-certificate"}
    assert result["bounds"][0]["id"] == "held-out"
    assert result["bounds"][0]["raw"] == result["test"]["upper"]


def test_data_in_every_format_and_with_psi(tmp_path, capsys) -> None:
    path = written(tmp_path, n=(3, 1))
    npz = table(tmp_path / "data.npz", key="Psi")
    with np.load(npz) as arrays:
        Psi, y = arrays["Psi"], arrays["y"]
    torch.save({"Psi": torch.from_numpy(Psi), "y": torch.from_numpy((y + 1) // 2)}, tmp_path / "data.pt")
    lines = [
        "x0,x1,class,x2",
        *(f"{a!r},{b!r},{'yes' if s > 0 else 'no'},{c!r}" for (a, b, c), s in zip(Psi.tolist(), y, strict=True)),
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))

    def read(*words: str) -> dict:
        result = document(capsys, path, "--data", *words, *QUICK)[1]
        result.pop("notes")  # how the labels were mapped
        return result

    first = read(npz)
    zero_one = read(str(tmp_path / "data.pt"))
    assert list(zero_one["class_errors"]) == ["0", "1"]
    assert list(zero_one.pop("class_errors").values()) == list(first["class_errors"].values())
    assert zero_one == {key: value for key, value in first.items() if key != "class_errors"}
    unsaid = read(str(tmp_path / "data.csv"), "--label", "class")  # X, which goes through the model's own map
    assert {row["id"]: row["status"] for row in unsaid.pop("assumptions")}["feature-map"] == "assumed"
    assert {row["id"]: row["status"] for row in first.pop("assumptions")}["feature-map"] == "assumed"
    assert unsaid.pop("cite")["value"] == first.pop("cite")["value"]  # what they assume differs
    assert list(unsaid.pop("class_errors").values()) == list(first.pop("class_errors").values())  # and the names
    assert unsaid == first
    main([path, "--data", str(tmp_path / "data.pt"), *QUICK, "-v"])
    out = " ".join(capsys.readouterr().out.split())
    assert "labels 0 and 1 mapped to -1 and +1" in out
    assert "not the sample that the file was trained on" in out


def test_a_file_without_its_sample_wants_the_data(tmp_path, capsys) -> None:
    file = model()
    model_file.write(tmp_path / "model.pt", dataclasses.replace(file, sample=file.sample.without_data()))
    refuses(main, [str(tmp_path / "model.pt")], capsys, "--data")
    np.savez(tmp_path / "data.npz", Psi=file.sample.Psi.numpy(), y=file.sample.y.numpy())
    main([str(tmp_path / "model.pt"), "--data", str(tmp_path / "data.npz"), *QUICK])
    assert "not the sample" not in capsys.readouterr().out


def test_held_out_points_alone_are_enough_and_a_chain_is_still_assumed(tmp_path, capsys) -> None:
    file = model()
    np.savez(tmp_path / "test.npz", Psi=file.sample.Psi.numpy(), y=file.sample.y.numpy())
    model_file.write(tmp_path / "model.pt", dataclasses.replace(file, sample=file.sample.without_data()))
    torch.save({"0.weight": torch.ones(1, file.network.n[0])}, tmp_path / "net.pt")
    for name, assumes in (("model.pt", ["iid", "untouched"]), ("net.pt", ["iid", "untouched", "chain"])):
        options = ["--activation", "relu"] if name == "net.pt" else []
        main([str(tmp_path / name), "--test-data", str(tmp_path / "test.npz"), "--discrete", "--json", *options])
        document = json.loads(capsys.readouterr().out)
        assert document["test"]["n"] == len(file.sample.y)
        assert [row["id"] for row in document["assumptions"] if row["status"] == "assumed"] == assumes


def test_html_and_tex_are_written(tmp_path, capsys) -> None:
    pytest.importorskip("verify.show.page")
    page, tex = tmp_path / "page.html", tmp_path / "table.tex"
    assert main([written(tmp_path), *QUICK, "--html", str(page), "--tex-all", str(tex)]) == 0
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")
    assert r"\begin{tabularx}{\columnwidth}" in tex.read_text(encoding="utf-8")


# What it refuses


def refused(capsys, *argv: str) -> str:
    return refuses(main, list(argv), capsys, "verify-bounds: ")


FLAGS = [  # the ranges are those of Question, in test_report
    (["--delta", "1.5"], "delta must be in (0, 1), got delta=1.5"),
    (["--delta", "1e999999999"], "delta must be in (0, 1)"),
    (["--delta", "1e-999999999"], "delta must be in (0, 1)"),
    (["--delta", "five"], "--delta"),
    (["--delta"], "--delta"),
    (["--rho", "inf"], "rho must be > 0 and finite, got rho=inf"),
    (["--rho", "x"], "--rho"),
    (["--r-sup", "-2"], "r_sup must be > 0"),
    (["--r-sup", "1e9e9"], "--r-sup"),
    (["--draws", "1"], "draws must be an integer in [2,"),
    (["--draws", "1e3"], "--draws"),
    (["--draws", "5", "--no-estimates"], "give one of them"),
    (["--seed", "-1"], "seed must be an integer >= 0"),
    (["--seed", "x"], "--seed"),
    (["--device", "tpu"], "device must be auto, cpu, cuda"),
    (["--device", "cuda:99"], "not available"),
    (["--activation", "relu"], "--activation is for a state_dict"),
    (["--data", "nowhere.npz"], "nowhere.npz: no such file"),
    (["--data", "table.xlsx"], "DATA must be"),
    (["--data", ""], "DATA must be"),
    (["--test-data", "nowhere.csv"], "nowhere.csv: no such file"),
    (["--html", "no/such/folder/page.html"], "cannot be written"),
    (["--tex", "/"], "cannot be written"),
    (["--unknown"], "--unknown"),
    (["another.pt"], "another.pt"),
    (["--cite", "occam"], "cite 'occam' is not known: did you mean 'occam-certificate'?"),
    (["--label", "foo"], "--label is about the points of a file: give --data FILE or --test-data FILE too."),
    (["--data", "points.npz", "--label", "foo"], "--label is for a .csv, .parquet or .npy file, got 'foo'; "),
    (["--drop", "foo", "--shape", "3,3"], "--drop and --shape are about the points of a file"),
]


def test_a_wrong_file_name_and_a_table_in_place_of_the_model_say_what_was_meant(tmp_path, capsys) -> None:
    own, points = written(tmp_path, "cust2.pt"), table(tmp_path / "cust2.npz")
    assert f"cust22.pt: no such file; did you mean {own}?" in refused(capsys, str(tmp_path / "cust22.pt"))
    assert "did you mean" not in refused(capsys, str(tmp_path / "another.pt"))
    assert f"cust2.npz holds points, not a network: type verify-bounds MODEL --data {points}." in refused(
        capsys, points
    )


@pytest.mark.parametrize(
    ("flags", "message"), FLAGS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_flag_out_of_range_is_one_line(tmp_path, capsys, flags: list[str], message: str) -> None:
    if torch.cuda.is_available() and "cuda:99" in flags:
        pytest.skip("this machine has GPUs")
    assert message in refused(capsys, written(tmp_path), *flags)


def test_no_model_is_one_line(capsys) -> None:
    assert "MODEL" in refused(capsys)


def saved(value: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def good() -> dict:
    return torch.load(io.BytesIO(model_file.encode(model())), weights_only=True)


def changed(**changes: object) -> bytes:
    values = good() | changes
    return saved({key: value for key, value in values.items() if value is not None})


def scripted() -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its own format deprecated
        torch.jit.save(torch.jit.trace(torch.nn.Linear(3, 1), torch.zeros(1, 3)), buffer)
    return buffer.getvalue()


FILES = {  # what may be wrong inside one is in test_model_file
    "empty": lambda: b"",
    "text": lambda: b"not a model\n",
    "truncated": lambda: model_file.encode(model())[:-200],
    "a plain pickle": lambda: pickle.dumps({"format": "adanet-theory"}),
    "torchscript": scripted,
    "a tensor": lambda: saved(torch.zeros(3)),
    "a later version": lambda: changed(version=4),
    "no hidden": lambda: changed(hidden={}, output={}),
    "a wrong shape": lambda: changed(hidden=good()["hidden"] | {"1,0": torch.ones(4, 2, dtype=torch.float64)}),
    "declared too deep": lambda: changed(declared=good()["declared"] | {"n": [3, 4, 2] + [1] * 500}),
    "no sample": lambda: changed(sample=None),
    "f overflows": lambda: changed(hidden=good()["hidden"] | {"1,0": torch.full((4, 3), 1e308, dtype=torch.float64)}),
    "a state_dict without data": lambda: saved(mlp().state_dict()),
    "a state_dict of a convolution": lambda: saved(torch.nn.Conv2d(1, 1, 3).state_dict()),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_model_is_one_line(tmp_path, capsys, name: str) -> None:
    path = tmp_path / "bad.pt"
    path.write_bytes(FILES[name]())
    if name == "f overflows":
        assert "overflow" in refused(capsys, str(path), "--data", big_points(tmp_path))
    else:
        assert ("depth must be" if name == "declared too deep" else str(path)) in refused(capsys, str(path))


def big_points(tmp_path: Path) -> str:
    np.savez(tmp_path / "big.npz", Psi=np.full((2, 3), 1e10), y=[1, -1])
    return str(tmp_path / "big.npz")


@pytest.mark.parametrize("name", ["folder", "nowhere.pt", "fifo"])
def test_a_path_that_is_no_file_is_one_line(tmp_path, capsys, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    if name == "fifo":
        os.mkfifo(path)
    assert "no such file" in (line := refused(capsys, str(path))) or "not a regular file" in line


TABLES = {  # more of them in test_data
    "labels.csv": ("x0,x1,x2,y\n1,2,3,1\n1,2,3,7\n", "y must be -1/+1 or 0/1"),
    "classes.csv": ("x0,x1,x2,y\n1,2,3,a\n1,2,3,b\n1,2,3,c\n", "two classes"),
    "columns.csv": ("x0,x1,y\n1,2,1\n", "X must have 3 columns"),
    "garbage.npz": ("not a zip", "garbage.npz"),
}


@pytest.mark.parametrize("flag", ["--data", "--test-data"])
@pytest.mark.parametrize("name", TABLES)
def test_data_that_cannot_be_used_are_one_line(tmp_path, capsys, name: str, flag: str) -> None:
    content, message = TABLES[name]
    (tmp_path / name).write_text(content)
    file = model()
    model_file.write(tmp_path / "model.pt", file)
    assert message in refused(capsys, str(tmp_path / "model.pt"), flag, str(tmp_path / name))


def test_arrays_that_cannot_be_used_are_one_line(tmp_path, capsys) -> None:
    path = written(tmp_path)
    bad = tmp_path / "bad.npz"
    for arrays in (
        {"y": np.ones(2)},
        {"X": np.ones((2, 4)), "y": np.ones(2)},
        {"Psi": np.ones((2, 4)), "y": np.ones(2)},
        {"X": np.array([[None] * 3] * 2), "y": np.ones(2)},
    ):
        np.savez(bad, **arrays)
        assert "bad.npz" in refused(capsys, path, "--data", str(bad))


def test_an_output_is_never_one_of_the_inputs(tmp_path, capsys) -> None:
    path = written(tmp_path)
    before = Path(path).read_bytes()
    assert "expected another file" in refused(capsys, path, "--html", path)
    same = str(tmp_path / "out")
    assert "expected another file" in refused(capsys, path, "--html", same, "--tex", same)
    assert Path(path).read_bytes() == before


def test_a_broken_pipe_leaves_no_traceback(tmp_path) -> None:
    path = written(tmp_path)
    command = f"{sys.executable} -m verify.cli {path} --no-estimates -v | head -c 1"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_an_option_that_was_cut_short_is_answered_with_the_whole(capsys) -> None:
    assert verify_cli.main(["model.pt", "--test", "t.npz"]) == 2
    assert "--test-data" in capsys.readouterr().err


def test_estimates_are_left_out_where_the_held_out_bound_is_all_that_the_screen_shows() -> None:
    def draws(*more: str) -> int | None:
        return verify_cli.ask(verify_cli.parser().parse_args(["model.pt", *more])).draws

    assert draws("--test-data", "t.npz") is None
    assert draws("--test-data", "t.npz", "-v") == draws() == draws("--test-data", "t.npz", "--json") == 64
