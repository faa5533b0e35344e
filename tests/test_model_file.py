"""model.pt: what is written is what is read, equal models give equal bytes, and nothing unsound gets in."""

import dataclasses
import io
import os
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adanet_theory.spec import NetworkSpec
from adanet_train.core.activations import apply_activation
from adanet_train.core.network import Network
from adanet_train.data.features import FeatureMap
from adanet_train.model import model_file
from adanet_train.model.model_file import ModelFile, ModelFileError, Sample, read, read_any, read_state_dict, write
from tests.refusals import refused, says


def tensor(generator: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(generator.normal(size=shape))


def model(seed: int = 0, n: tuple[int, ...] = (3, 4, 2), bias: bool = True) -> ModelFile:
    """A small layered ReLU network with everything a file may hold."""
    draw = np.random.default_rng(seed)
    hidden = {(k, k - 1): tensor(draw, n[k], n[k - 1]) for k in range(1, len(n))}
    output = {k: tensor(draw, n[k]) for k in range(1, len(n))}
    names = [f"feature {j}" for j in range(n[0] - bias)]
    return ModelFile(
        Network(n, hidden, output, ("relu",) * (len(n) - 2)),
        declared=NetworkSpec.layered((n[0], *(2 * n_k for n_k in n[1:]), 7), 9.5, p=2),
        declared_rho=0.25,
        features=FeatureMap.known(names, 0.0, 255.0, bias=bias),
        sample=Sample.of(draw.uniform(size=(5, n[0])), [1, -1, 1, 1, -1]),
        meta={"seed": seed, "history": [{"candidates": [{"depth": 1, "objective": 0.5}], "chosen": 0}]},
        extra={"note": "kept"},
    )


def same_network(a: Network, b: Network) -> bool:
    zero = {k: torch.zeros(n_k, dtype=torch.float64) for k, n_k in enumerate(a.n)}
    return (
        (a.n, a.activations) == (b.n, b.activations)
        and all(torch.equal(a.output.get(k, zero[k]), b.output.get(k, zero[k])) for k in range(1, len(a.n)))
        and a.hidden.keys() | {(1, 0)} == b.hidden.keys() | {(1, 0)}
        and all(torch.equal(a.hidden[pair], b.hidden[pair]) for pair in a.hidden)
    )


def payload(**changes: object) -> dict:
    """A valid file's dict, with keys replaced; None takes a key away."""
    values = torch.load(io.BytesIO(model_file.encode(model())), weights_only=True) | changes
    return {key: value for key, value in values.items() if value is not None}


def saved(value: object, **options: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    return buffer.getvalue()


def refusal(tmp_path, data: bytes) -> str:
    path = tmp_path / "model.pt"
    path.write_bytes(data)
    message = refused(lambda: read_any(path), f"{path}: ", error=ModelFileError)
    return message.removeprefix(f"{path}: ")


# Round trips


def test_every_field_comes_back(tmp_path):
    before = model()
    write(tmp_path / "model.pt", before)
    after = read(tmp_path / "model.pt")
    assert same_network(before.network, after.network)
    assert after.declared == before.declared
    assert after.declared_rho == 0.25
    assert (after.features.names, after.features.clip, after.features.bias) == (before.features.names, True, True)
    assert (after.features.low.tolist(), after.features.high.tolist()) == ([0, 0], [255, 255])
    assert (after.features.fitted_on_sample, after.features.r_sup) == (False, 1.0)
    assert torch.equal(after.sample.Psi, before.sample.Psi)
    assert torch.equal(after.sample.y, before.sample.y)
    assert after.meta == before.meta
    assert after.extra == {"note": "kept"}
    assert os.listdir(tmp_path) == ["model.pt"]


@st.composite
def networks(draw) -> Network:
    """Any depth up to 4, any set of pairs and outputs, layers without units among them."""
    depth = draw(st.integers(1, 4))
    n = (draw(st.integers(1, 3)), *draw(st.lists(st.integers(0, 3), min_size=depth, max_size=depth)))
    pairs = [(1, 0)] + [(k, s) for k in range(2, depth + 1) for s in range(1, k)]
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    hidden = {(k, s): tensor(generator, n[k], n[s]) for k, s in pairs if draw(st.booleans())}
    output = {k: tensor(generator, n[k]) for k in range(1, depth + 1) if draw(st.booleans())}
    names = st.sampled_from(["relu", "tanh", "leaky_relu:0.25", "sigmoid"])
    return Network(n, hidden, output, tuple(draw(st.lists(names, min_size=depth - 1, max_size=depth - 1))))


@given(networks(), st.booleans())
@settings(max_examples=60)
def test_any_network_comes_back_with_the_same_f(network, declare):
    declared = NetworkSpec(network.n, {}, p=np.inf, activations=network.activations) if declare else None
    before = ModelFile(network, declared)
    data = model_file.encode(before)
    after = model_file.decode(data, "bytes")
    assert same_network(network, after.network)
    assert after.declared == declared
    assert model_file.encode(after) == data
    Psi = torch.linspace(-1, 1, 4 * network.n[0], dtype=torch.float64).reshape(4, -1)
    assert torch.equal(network(Psi), after.network(Psi))


def test_the_bytes_depend_on_the_values_only(tmp_path):
    first, second = tmp_path / "a.pt", tmp_path / "another name.pt"
    history = [{"candidates": [{"depth": 1, "objective": 0.5}], "chosen": 0, "variant": "base"}] * 2
    write(first, dataclasses.replace(model(), meta={"seed": 0, "history": history}))
    # equal values in other objects: views, strings built at run time, tuples for lists, numpy numbers
    twin = model()
    U = {pair: torch.cat([weights, weights])[: len(weights)] for pair, weights in twin.network.hidden.items()}
    candidate = {"depth": np.int64(1), "objective": np.float64(0.5)}
    rounds = [{"candidates": (candidate,), "chosen": 0, "".join(["vari", "ant"]): "".join(["ba", "se"])} for _ in "12"]
    meta = {"".join(["se", "ed"]): 0, "history": tuple(rounds), "absent": None}
    write(second, dataclasses.replace(twin, network=dataclasses.replace(twin.network, hidden=U), meta=meta))
    assert first.read_bytes() == second.read_bytes()
    assert read(first).sha256 == read(second).sha256
    write(second, model(seed=1))
    assert first.read_bytes() != second.read_bytes()


def test_a_file_read_and_written_again_has_the_same_bytes(tmp_path):
    write(tmp_path / "a.pt", model())
    write(tmp_path / "b.pt", read(tmp_path / "a.pt"))
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "b.pt").read_bytes()


def test_other_float_types_become_float64_exactly(tmp_path):
    values = payload(output={"1": torch.tensor([0.1, 0, 0, 0]), "2": torch.ones(2, dtype=torch.bfloat16)})
    (tmp_path / "m.pt").write_bytes(saved(values))
    w = read(tmp_path / "m.pt").network.output
    assert w[1].dtype == w[2].dtype == torch.float64
    assert w[1][0] == float(np.float32(0.1))


def test_a_sample_without_its_data_is_recognised_to_the_last_bit(tmp_path):
    full = model()
    write(tmp_path / "m.pt", dataclasses.replace(full, sample=full.sample.without_data()))
    sample = read(tmp_path / "m.pt").sample
    assert (sample.m, sample.Psi, sample.y) == (5, None, None)
    assert sample.matches(full.sample.Psi, full.sample.y)
    assert not sample.matches(full.sample.Psi, -full.sample.y)
    assert not sample.matches(full.sample.Psi + 1e-15, full.sample.y)
    assert not sample.matches(full.sample.Psi.reshape(5, 3).T.reshape(5, 3), full.sample.y)


def test_psi_of_x_goes_through_the_feature_map():
    Psi = model().Psi([[51, 300]])
    assert Psi.tolist() == [[0.2, 1, 1]]
    with pytest.raises(ValueError, match=r"Psi .*\[m, 3\].* \[1, 2\]"):
        dataclasses.replace(model(), features=None).Psi([[0.5, 0.5]])


# Writing is atomic


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failure):
    path = tmp_path / "model.pt"
    write(path, model())
    before = path.read_bytes()

    def fail(descriptor):
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises((ModelFileError, KeyboardInterrupt)):
        write(path, model(seed=1))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.pt"]


def test_what_does_not_read_back_is_not_kept(tmp_path, monkeypatch):
    good = model_file.encode(model())
    results = iter([good, good[:-1] + b"x"])
    monkeypatch.setattr(model_file, "encode", lambda _: next(results))
    refused(lambda: write(tmp_path / "model.pt", model()), "does not read back", error=ModelFileError)
    assert os.listdir(tmp_path) == []


def test_a_model_that_cannot_be_read_is_not_written(tmp_path):
    network = dataclasses.replace(model().network, n=(3, 4, 5))
    for broken, message in [
        (dataclasses.replace(model(), network=network), "gives n_2=5, but hidden '2,1' gives n_2=2"),
        (dataclasses.replace(model(), meta={"f": print}), "the model 'meta' 'f' must hold plain values and tensors"),
        (dataclasses.replace(model(), declared=NetworkSpec.layered((3, 4), 1.0, 2)), "activation must be the declared"),
    ]:
        broken = dataclasses.replace(broken, network=dataclasses.replace(broken.network, output={}))
        with pytest.raises(ModelFileError, match=message):
            write(tmp_path / "model.pt", broken)
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.pt").symlink_to(tmp_path / "real.pt")
    write(tmp_path / "link.pt", model())
    assert (tmp_path / "link.pt").is_symlink()
    assert read(tmp_path / "real.pt").meta["seed"] == 0


# Refusals: values


WEIGHTS = {"1,0": torch.ones(4, 3), "2,1": torch.ones(2, 4)}
DECLARED = {"p": 2.0, "n": [3, 8, 4], "Lambda": {"1,0": 1.0, "2,1": 1.0}}
FEATURES = {"low": torch.zeros(2), "high": torch.ones(2), "clip": True, "bias": True, "fitted_on_sample": False}
FEATURES |= {"names": ["a", "b"], "r_sup": 1.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "format must be 'adanet-theory', got 'other'."),
        ({"version": 4}, "version must be <= 3, got 4."),
        ({"version": True}, "version must be <= 3, got True."),
        ({"hidden": None}, "hidden must be a dict, got None."),
        ({"hidden": WEIGHTS | {"2,0": torch.ones(2, 3)}}, "hidden has the key '2,0', expected 'k,s' with 1 <= s < k"),
        ({"hidden": WEIGHTS | {"1,1": torch.ones(4, 4)}}, "hidden has the key '1,1'"),
        ({"hidden": WEIGHTS | {"99999,1": torch.ones(1, 4)}}, "hidden has the key '99999,1'"),
        ({"hidden": WEIGHTS | {"2,1": torch.ones(2, 5)}}, "hidden '2,1' gives n_1=5, but hidden '1,0' gives n_1=4."),
        ({"hidden": WEIGHTS | {"1,0": torch.ones(4, 2)}}, "hidden '1,0' gives n_0=2, but declared n gives n_0=3."),
        ({"hidden": WEIGHTS | {"2,1": torch.ones(8)}}, "hidden '2,1' must have 2 dimensions, got shape [8]."),
        ({"hidden": WEIGHTS | {"2,1": 1.0}}, "hidden '2,1' must be a tensor, got 1.0."),
        (
            {"hidden": WEIGHTS | {"2,1": torch.ones(2, 4).long()}},
            "hidden '2,1' must be real floating, got torch.int64.",
        ),
        ({"hidden": WEIGHTS | {"2,1": torch.full((2, 4), torch.nan)}}, "hidden '2,1' must be finite, got nan or inf."),
        ({"hidden": WEIGHTS | {"2,1": torch.zeros(0, 10**12)}}, "hidden '2,1' gives n_1=1000000000000"),
        ({"output": {"0": torch.ones(3)}}, "output has the key '0', expected a layer k >= 1."),
        ({"output": {"2": torch.ones(3)}}, "output '2' gives n_2=3, but hidden '2,1' gives n_2=2."),
        ({"output": {"2": torch.full((2,), -torch.inf)}}, "output '2' must be finite, got nan or inf."),
        ({"hidden": {}, "output": {}}, "hidden and output are empty, expected at least layer 1."),
        ({"activation": "swish"}, "activation must be one of"),
        ({"activation": ["relu"]}, "activation must name 2 hidden layers, got 1."),
        ({"activation": 3}, "activation must be a name or a list of names, got 3."),
        (
            {"declared": DECLARED | {"n": [3, 3, 4]}},
            "layer 1 of the network has 4 units, expected at most the declared 3",
        ),
        ({"declared": DECLARED | {"n": [3, 9]}}, "the network has depth 2, expected at most the declared 1."),
        (
            {"declared": DECLARED | {"n": [3, -1, 4]}},
            "declared n must hold integers >= 0 (n_0 >= 1), got -1 at place 1.",
        ),
        ({"declared": DECLARED | {"n": [3, 8.0, 4]}}, "declared n must hold integers >= 0 (n_0 >= 1), got 8.0"),
        ({"declared": DECLARED | {"p": 0.5}}, "p must be in [1, inf], got p=0.5."),
        ({"declared": DECLARED | {"p": float("nan")}}, "p must be in [1, inf], got p=nan."),
        ({"declared": DECLARED | {"p": "2"}}, "declared p must be a number, got '2'."),
        ({"declared": DECLARED | {"Lambda": {"1,0": -1.0}}}, "Lambda_{1,0} must be finite and >= 0, got -1.0."),
        ({"declared": DECLARED | {"Lambda": {"3,2": 1.0}}}, "Lambda_{3,2} must connect layers"),
        ({"declared": DECLARED | {"rho": 0.0}}, "rho must be > 0 and finite, got rho=0.0."),
        ({"features": FEATURES | {"bias": False}}, "features gives n_0=2, but declared n gives n_0=3."),
        ({"features": FEATURES | {"high": -torch.ones(2)}}, "high - low must be finite and >= 0, got -1.0"),
        ({"features": FEATURES | {"low": torch.zeros(3)}}, "low must hold one number for each of the 2 features"),
        ({"features": FEATURES | {"clip": 1}}, "features clip must be a bool, got 1."),
        ({"features": FEATURES | {"r_sup": -1.0}}, "r_sup must be > 0, got r_sup=-1.0."),
        ({"features": FEATURES | {"names": ["a", 2]}}, "features names must be a list of str."),
        ({"sample": {"Psi": torch.ones(2, 3), "y": torch.ones(3)}}, "sample y must have shape [2], got [3]."),
        ({"sample": {"Psi": torch.ones(2, 4), "y": torch.ones(2)}}, "sample Psi gives n_0=4"),
        ({"sample": {"Psi": torch.ones(2, 3), "y": torch.zeros(2)}}, "sample y must hold -1 and +1 only."),
        ({"sample": {"Psi": torch.ones(2, 3)}}, "sample y must be a tensor, got None."),
        ({"sample": {"m": 0, "sha256": "0" * 64}}, "sample m must be an integer >= 1, got 0."),
        ({"sample": {"m": 5, "sha256": "xyz"}}, "sample sha256 must be 64 hexadecimal digits, got 'xyz'."),
        ({"meta": 3}, "meta must be a dict, got a int."),
    ],
)
def test_unsound_values_are_refused_in_one_line(tmp_path, change, message):
    assert message in refusal(tmp_path, saved(payload(**change)))


# Refusals: archives


class Evil:
    """Runs a command when it is unpickled, if anyone lets it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def repacked(data: bytes, change=lambda name, content: content, **options: object) -> bytes:
    """The archive with each member changed, or compressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", **options) as new:
        for info in old.infolist():
            new.writestr(info.filename, change(info.filename, old.read(info)))
    return buffer.getvalue()


def in_pickle(old: bytes, new: bytes):
    def change(name: str, content: bytes) -> bytes:
        assert not name.endswith("data.pkl") or content.count(old) == 1
        return content.replace(old, new) if name.endswith("data.pkl") else content

    return change


def test_nothing_of_the_file_is_executed(tmp_path):
    sentinel = tmp_path / "made by the file"
    for data in (saved(Evil(sentinel)), saved(payload(meta={"x": Evil(sentinel)}))):
        assert "holds a pickled posix.mkdir" in refusal(tmp_path, data) or os.name != "posix"
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Evil(sentinel)))
    refused(lambda: read(tmp_path / "plain.pt"), "not a zip archive", error=ModelFileError)
    assert not sentinel.exists()


def test_programs_and_other_files_are_refused(tmp_path):
    module = torch.nn.Linear(2, 1)
    assert "a pickled torch.nn.modules.linear.Linear" in refusal(tmp_path, saved(module))
    assert "not a zip archive" in refusal(tmp_path, b"x,y\n1,2\n")
    assert "not a zip archive" in refusal(tmp_path, saved({"a": 1}, _use_new_zipfile_serialization=False))
    says(refusal(tmp_path, b""), ["empty", "torch archive"])
    assert "no data.pkl in the archive" in refusal(
        tmp_path, repacked(saved({"a": 1}), lambda *_: b"").replace(b"data", b"atad")
    )
    for data, expected in [
        (("archive/constants.pkl", "archive/data.pkl", "archive/code/x.py"), "a TorchScript program"),
        (("m/archive_format", "m/models/model.json"), "an exported program"),
    ]:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as file:
            for name in data:
                file.writestr(name, b"")
        assert expected in refusal(tmp_path, buffer.getvalue())
    refused(lambda: read(tmp_path / "absent.pt"), "no such file", error=ModelFileError)
    refused(lambda: read(tmp_path), "not a regular file", error=ModelFileError)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (torch.zeros(1).expand(10**12), "a tensor of size [1000000000000] over a storage of 1"),
        (torch.zeros(10)[2:5], "a tensor of size [3] over a storage of 10"),
        (torch.zeros(2, dtype=torch.complex64), "a complex tensor"),
        (torch.zeros(2).to_sparse(), "a sparse tensor"),
        (torch.zeros(2, device="meta"), "a meta tensor"),
        (bytearray(3), "bytearray"),
        ({1, 2}, "set, expected plain values"),
        ((1, 2), "a value of type tuple"),
        ({1: 2}, "a dict with a key that is not a str"),
    ],
)
def test_other_tensors_and_objects_are_refused(tmp_path, value, message):
    assert message in refusal(tmp_path, saved(payload(meta={"value": value})))


def test_sizes_that_the_archive_does_not_hold_are_refused(tmp_path):
    data = saved({"a": torch.arange(100.0)})
    larger_storage = repacked(data, in_pickle(b"cpuq\x06Kd", b"cpuq\x06M\x00\xff"))
    says(refusal(tmp_path, larger_storage), ["65280 elements", "400 bytes"])
    larger_tensor = repacked(data, in_pickle(b"K\x00Kd", b"K\x00J\x00\x00\x00\x7f"))
    says(refusal(tmp_path, larger_tensor), ["[2130706432]", "100"])
    wider_steps = repacked(data, in_pickle(b"K\x01\x85", b"K\x02\x85"))
    says(refusal(tmp_path, wider_steps), ["[100]", "100"])
    assert "compressed" in refusal(tmp_path, repacked(data, compression=zipfile.ZIP_DEFLATED))


def test_deep_cyclic_and_unfolding_values_are_refused(tmp_path):
    deep: list = []
    for _ in range(50):
        deep = [deep]
    cyclic: list = []
    cyclic.append(cyclic)
    shared: list = []
    for _ in range(30):
        shared = [shared, shared]
    for value in (deep, cyclic, shared):
        assert "nested deeper than" in refusal(tmp_path, saved(payload(meta={"value": value})))


SOUND = model_file.encode(model())


def refused_or_read(data: bytes) -> None:
    message = ""
    try:
        model_file.decode(data, "damaged")
    except ModelFileError as error:
        message = str(error)
    assert "\n" not in message


@given(st.integers(0, len(SOUND) - 1), st.integers(0, 255))
def test_a_damaged_file_is_refused_or_read_but_never_fails_otherwise(place, byte):
    refused_or_read(SOUND[:place] + bytes([byte]) + SOUND[place + 1 :])
    refused_or_read(SOUND[:place])


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=3))
@settings(max_examples=200)
def test_a_damaged_pickle_in_a_sound_archive_never_fails_otherwise(changes):
    def damage(name: str, content: bytes) -> bytes:
        if name.endswith("data.pkl"):
            for place, byte in changes:
                place %= len(content)
                content = content[:place] + bytes([byte]) + content[place + 1 :]
        return content

    refused_or_read(repacked(SOUND, damage))


def test_reading_files_imports_no_trainer():
    command = (
        "import adanet_train.model.model_file, sys; print(*[n for n in sys.modules if n.startswith('adanet_train.')])"
    )
    shown = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
    rooms = {name.split(".")[1] for name in shown.split()}
    assert rooms == {"core", "data", "model", "reading"}


# A state_dict of a torch MLP


ACTIVATIONS = ["relu", "leaky_relu:0.25", "abs", "identity", "elu"]


def torch_mlp(sizes: list[int], biases: list[bool], seed: int) -> list[torch.nn.Linear]:
    generator = torch.Generator().manual_seed(seed)
    layers = []
    for fan_in, fan_out, bias in zip(sizes, sizes[1:], biases, strict=False):
        layer = torch.nn.Linear(fan_in, fan_out, bias=bias, dtype=torch.float64)
        for parameter in layer.parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        layers.append(layer)
    return layers


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.integers(1, 2),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.sampled_from(ACTIVATIONS),
    st.integers(0, 2**32),
)
def test_a_state_dict_gives_the_same_f(widths, logits, biases, phi, seed):
    sizes = [*widths, logits]
    layers = torch_mlp(sizes, biases, seed)
    state = torch.nn.Sequential(*layers).state_dict()
    network = read_state_dict(state, phi)
    x = torch.randn(6, sizes[0], generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    h, terms = x, x.abs()
    for k, layer in enumerate(layers):
        h = layer(h if k == 0 else apply_activation(phi, h)).detach()
        # |φ(h)| <= |h| for these, so this adds up the size of every term of the sums
        terms = terms @ layer.weight.detach().abs().T + (layer.bias.detach().abs() if biases[k] else 0)
    expected = h[:, 0] if logits == 1 else h[:, 1] - h[:, 0]
    constant = network.n[0] == sizes[0] + 1
    assert constant == any(biases[: len(layers)])
    f = network(torch.hstack([x, torch.ones(6, 1, dtype=torch.float64)]) if constant else x)
    assert bool(((f - expected).abs() <= 1e-14 * terms.sum(dim=1)).all())
    assert network.output.keys() == {network.depth}
    assert network.depth == len(layers)


def test_a_relu_mlp_saved_to_a_file_is_read_with_its_biases(tmp_path):
    layers = torch_mlp([3, 5, 4, 1], [True] * 3, seed=0)
    module = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    torch.save(module.state_dict(), tmp_path / "mlp.pt")
    refused(lambda: read_any(tmp_path / "mlp.pt"), "--activation relu", error=ModelFileError)
    file = read_any(tmp_path / "mlp.pt", "relu")
    assert file.network.n == (4, 6, 5, 1)
    assert (file.declared, file.sample, file.features.r_sup) == (None, None, float("inf"))
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert torch.allclose(file.network(file.Psi(X)), module(torch.from_numpy(X))[:, 0], rtol=1e-13, atol=1e-13)


def test_a_bias_below_an_activation_without_a_constant_unit():
    first_only = torch.nn.Sequential(*torch_mlp([2, 3, 1], [True, False], seed=0))
    assert read_state_dict(first_only.state_dict(), "tanh").n == (3, 3, 1)
    both = torch.nn.Sequential(*torch_mlp([2, 3, 1], [True, True], seed=0))
    with pytest.raises(ModelFileError, match=r"bias of layer 2.*phi\(1\) = 1.*tanh.*--module"):
        read_state_dict(both.state_dict(), "tanh")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({}, "not a dict of tensors"),
        ({"0.weight": torch.ones(1, 2), "1.running_mean": torch.ones(1)}, "'1.running_mean' of shape"),
        ({"0.weight": torch.ones(3)}, r"'0.weight' of shape \[3\] is not a weight"),
        ({"0.weight": torch.ones(3, 1, 2, 2)}, "is not a weight or bias of a Linear"),
        ({"0.bias": torch.ones(3)}, "'0.bias' has no weight beside it"),
        ({"0.weight": torch.ones(3, 2), "0.bias": torch.ones(2)}, "'0.bias' does not fit the 3 rows"),
        ({"a.weight": torch.ones(3, 2), "b.weight": torch.ones(1, 4)}, "'b' reads 4 units, but 'a' before it has 3"),
        ({"0.weight": torch.ones(10001, 2)}, "has 10001 outputs, expected at most 10000."),
        ({"0.weight": torch.full((1, 2), torch.nan)}, "'0.weight' must be finite"),
        ({"0.weight": torch.ones(1, 2).int()}, "'0.weight' must be real floating"),
        ({"0.weight": "text"}, r"a dict of '0.weight'.. with 0 state_dicts"),
    ],
)
def test_anything_but_a_stack_of_linears_is_refused(state, message):
    with pytest.raises(ModelFileError, match=message):
        read_state_dict(state)
