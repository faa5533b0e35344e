"""compress: the certificate of every stage, the file, and the check of it from the file and the sample alone."""

import copy
import functools
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from adanet_theory.certificates.occam import occam_certificate
from adanet_train import compress
from adanet_train.compression import code, exact, file, plain_graph
from adanet_train.compression.problem import CodingProblem, labels, margins
from adanet_train.compression.search import settle, stages
from adanet_train.compression.tune import Prices, Schedule, _Held, prices
from adanet_train.compression.weights import Weights, fill, prepared
from adanet_train.core.bar import Bar
from adanet_train.data.archive import ModelFileError
from tests.refusals import says

M = 3000


def sample(m: int = M, seed: int = 0) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    X = (torch.randn(m, 6, generator=draw) * 64).round() / 64
    return X, (X[:, 0] - X[:, 1].abs() + 0.5 > 0).long()


def network(classes: int = 1) -> nn.Module:
    return copy.deepcopy(_trained(classes))


@functools.cache
def _trained(classes: int) -> nn.Module:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, classes))
    X, y = sample()
    optimiser = torch.optim.Adam(net.parameters(), 0.02)
    for _ in range(150):
        f = net(X)
        loss = (
            nn.functional.cross_entropy(f, y) if classes > 1 else nn.functional.soft_margin_loss(f[:, 0], 2.0 * y - 1)
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return net


@pytest.fixture(scope="module")
def small() -> object:
    return compress(network(), *sample(), budget=2)


def test_stages_are_certified_and_the_best_is_kept(small: object) -> None:
    names = [stage.name.split(",")[0] for stage in small.stages]
    assert names == ["as it is", "rounded", "fine-tuned", *3 * ["fine-tuned", "greedy"]]
    assert small.bound == min(stage.bound for stage in small.stages)
    for stage in small.stages:
        assert np.isclose(stage.bound, occam_certificate(stage.errors, M, stage.bits, 0.05), rtol=1e-9)
        assert stage.bound >= stage.errors / M
    assert small.stages[0].bits > 20 * 65
    assert small.bits < 300
    assert small.bound < small.stages[1].bound < small.stages[0].bound
    assert small.bound < 0.12
    shown = repr(small)
    assert float(shown.split("risk <= ")[1].split()[0]) >= small.bound
    assert f"{small.bits} bits, {small.errors} errors, m = {M:,}" in shown
    says(shown, ["assumes", "iid", "architecture", f"code {code.VERSION}", "features"])


def test_the_module_is_the_network_that_is_certified(small: object) -> None:
    X, y = sample()
    with torch.no_grad():
        f = small.module(X.double())[:, 0]
    assert int((~(margins(f, y) > 0)).sum()) == small.errors
    assert small.count.is_exact
    assert small.count.is_read
    steps = [np.ldexp(1.0, part.e) for part in small.coded]
    for tensor, step in zip(Weights.of(small.module).arrays(), steps, strict=True):
        assert np.array_equal(tensor / step, np.rint(tensor / step))
    assert small.bits == code.encode(small.coded)[1]


def test_the_file_is_verified_from_itself_and_the_sample(small: object, tmp_path: Path) -> None:
    X, y = sample()
    small.save(tmp_path / "small.pt")
    found = file.read(tmp_path / "small.pt")
    assert found.graph is not None
    assert (found.bits, found.count(X, y).errors) == (small.bits, small.errors)
    assert torch.equal(found.outputs(X), small.module(X.double())[:, 0])
    small.save(tmp_path / "again.pt")
    assert (tmp_path / "small.pt").read_bytes() == (tmp_path / "again.pt").read_bytes()


def test_equal_seeds_give_equal_bits(small: object) -> None:
    again = compress(network(), *sample(), budget=2)
    assert code.encode(again.coded) == code.encode(small.coded)
    assert again.stages == small.stages


def test_random_labels_are_never_below_chance() -> None:
    X, _ = sample()
    y = torch.randint(2, (M,), generator=torch.Generator().manual_seed(5))
    assert compress(network(), X, y, budget=1).bound >= 0.5


def test_many_classes_and_another_delta() -> None:
    X, y = sample()
    found = compress(network(classes=3), X, y, budget=0.5, delta=0.01)
    assert found.bound == found.at(0.01) > found.at(0.1)
    assert found.bound < 0.2


class Recurrent(nn.Module):
    """An LSTM, which no graph covers."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.out = nn.LSTM(1, 3, batch_first=True), nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.lstm(x[:, :, None])[0][:, -1])


def test_a_module_that_cannot_be_read(tmp_path: Path) -> None:
    torch.manual_seed(0)
    X, y = sample()
    found = compress(Recurrent(), X, y, budget=0.2)
    assert not found.count.is_read
    found.save(tmp_path / "small.pt")
    back = file.read(tmp_path / "small.pt")
    assert back.graph is None
    assert back.count(X, y, Recurrent()).errors == found.errors
    with pytest.raises(ValueError, match="--module"):
        back.count(X, y)


def test_batch_norm_is_folded_and_the_sigmoid_taken_off() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.BatchNorm1d(5), nn.Linear(5, 1), nn.Sigmoid())
    X, _ = sample()
    for _ in range(20):
        net(X + 1)
    own = prepared(net.eval())
    assert not any(isinstance(part, nn.BatchNorm1d) for part in own.modules())
    assert [tuple(t.shape) for t in Weights.of(own).tensors] == [(5, 6), (5,), (5,), (5,), (1, 5), (1,)]
    f = own(X.double())
    assert torch.allclose(torch.sigmoid(f), net.double()(X.double()), atol=1e-12)


class Centred(nn.Module):
    """x less a constant of the architecture, a convolution with BatchNorm, pools, a skip and a sigmoid at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.full((6,), 0.5), persistent=False)
        self.conv, self.norm = nn.Conv1d(1, 2, 3, padding=1), nn.BatchNorm1d(2)
        self.pool, self.out = nn.MaxPool1d(2), nn.Linear(8, 1)

    def forward(self, x: Tensor) -> Tensor:
        z = torch.relu(self.norm(self.conv((x - self.mean)[:, None])))
        return torch.sigmoid(self.out(torch.cat([self.pool(z + z.flip(2)).flatten(1), z.mean(2)], dim=1)))


@pytest.fixture(scope="module")
def centred() -> object:
    torch.manual_seed(0)
    return compress(Centred().eval(), *sample(200), budget=0)


def test_constants_of_the_architecture_are_neither_coded_nor_moved(centred: object) -> None:
    """torch.fx, which takes the sigmoid off and folds BatchNorm, makes persistent buffers of them."""
    assert [part.value.shape for part in centred.coded] == [(2, 1, 3), (2,), (1, 8), (1,)]
    plain = plain_graph.to_plain(copy.deepcopy(centred.module), centred.coded, (6,))
    shift = plain["nodes"][0]["operation"]["shift"]
    assert shift.tolist() == 6 * [-0.5]
    assert plain_graph.constants(plain) == 6 + 12  # the shift, and the places of flip
    found = file.decode(file.encoded(centred), "small.pt")
    assert found.constants == 18
    assert found.count(*sample(200)).errors == centred.errors


BROKEN = [
    ("coded.shapes", [[1 << 32, 1 << 32]], "at most 16,777,216 weights"),
    ("coded.shapes", [[1 << 30, 0]], "at most 16,777,216 weights"),
    ("coded.shapes", [[2.5]], "lists of at most 8 sizes"),
    ("graph.0.operation.shift", 2, "expected numbers or their places"),
    ("graph.0.operation.shift", torch.full((6,), float("nan")).double(), "numbers must be finite"),
    ("graph.2.operation.window.padding", [10**7, 10**7], "one point takes more than"),
    ("graph.2.operation.window.stride", [0], "a window does not fit"),
    ("graph.4.operation.places", torch.full((2, 6), 99), "a place must be a number"),
    ("graph.5.inputs", [3, 99], "reads what does not exist"),
    ("Total.axes", [-1], "over axes of a point"),
    ("Total.count", 3, "must count its numbers"),
    ("Total.weight", -1.0, "its weight above 0"),
    ("Cat.axis", -1, "along an axis of a point"),
    ("Dense.W.start", 1 << 40, "a weight that the code does not have"),
    ("Dense.kind", "Exec", "no operation 'Exec' is known"),
]


@pytest.mark.parametrize(("place", "value", "words"), BROKEN, ids=[f"{p}-{w[:12]}" for p, _, w in BROKEN])
def test_a_hostile_file_is_refused_before_anything_is_allocated(
    centred: object, place: str, value: Any, words: str
) -> None:
    plain = torch.load(io.BytesIO(file.encoded(centred)), weights_only=True)
    nodes = plain["coded"]["graph"]["nodes"]
    kinds = {node["operation"]["kind"]: node["operation"] for node in nodes}
    first, *path, last = place.split(".")
    at = kinds.get(first) or {"coded": plain["coded"], "graph": nodes}[first]
    for name in path:
        at = at[int(name) if name.isdigit() else name]
    at[last] = value
    buffer = io.BytesIO()
    torch.save(plain, buffer)
    with pytest.raises(ModelFileError, match=f"^small.pt: .*{re.escape(words)}"):
        file.decode(buffer.getvalue(), "small.pt")


def test_tied_weights_and_integer_buffers_are_coded_once() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    net[1].weight = net[0].weight
    net.register_buffer("places", torch.arange(3))
    weights = Weights.of(prepared(net))
    assert list(weights.names) == [("places",), ("0.weight", "1.weight"), ("0.bias",), ("1.bias",)]


def test_points_within_the_rounding_error_are_errors() -> None:
    """0.1 is no dyadic number of few digits: the sum is not exact, and a margin of one ulp proves nothing."""
    net = nn.Linear(2, 1, bias=False).double()
    nn.init.constant_(net.weight, 1.0)
    y = torch.tensor([1, 1])
    found = exact.count(net, torch.tensor([[0.5, -0.5 + 2.0**-50], [0.5, 0.25]], dtype=torch.float64), y)
    assert (found.errors, found.open, found.is_exact) == (0, 0, True)
    found = exact.count(net, torch.tensor([[0.1, -0.1 + 2.0**-56], [0.1, 0.2]], dtype=torch.float64), y)
    assert (found.errors, found.open, found.is_exact) == (1, 1, False)


def test_exact_sums_do_not_depend_on_their_order() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(3, 4))
    own = prepared(net)
    arrays = Weights.of(own).arrays()
    fill(own, [code.integers(np.rint(w * 8), -3) for w in arrays])
    X = torch.randint(0, 256, (50, 1, 6, 6)).double() / 256
    y = torch.randint(0, 4, (50,))
    found = exact.count(own, X, y)
    assert found.is_read
    assert found.is_exact
    assert found.errors == int((~(margins(own(X), y) > 0)).sum())


def linear(rows: list[list[float]], bias: list[float] | None = None) -> nn.Module:
    layer = nn.Linear(len(rows[0]), len(rows), bias=bias is not None).double()
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(rows))
        if bias is not None:
            layer.bias.copy_(torch.tensor(bias))
    return layer


def counted(net: nn.Module, X: list[list[float]], y: list[int]) -> exact.Count:
    return exact.count(prepared(net), torch.tensor(X, dtype=torch.float64), torch.tensor(y))


@pytest.mark.parametrize(
    ("net", "x"),
    [
        (linear([[1.0, 1.0]]), [2.0**30, 2.0**-24]),  # the digits of the sum are more than a float64 has
        (nn.Sequential(linear([[1.0, 1.0]]), nn.Tanh()), [0.5, 0.25]),
        (linear([[1.0, 1.0]], [2.0**-60]), [0.5, 0.25]),
        (nn.Sequential(linear([[0.5, 0.25]], [0.25]), nn.Sigmoid(), linear([[1.0]], [-0.5])), [0.5, 0.25]),
    ],
    ids=["digits", "tanh", "bias", "sigmoid"],
)
def test_sums_that_a_float64_cannot_hold_are_not_exact(net: nn.Module, x: list[float]) -> None:
    assert not counted(net, [x], [1]).is_exact


def test_a_mean_of_three_is_not_exact() -> None:
    """A third has no last digit, although every number of the pool is whole."""
    for size, is_exact in ((3, False), (4, True)):
        net = nn.Sequential(nn.AvgPool2d((1, size)), nn.Flatten(), linear([[1.0]]))
        X = torch.ones(1, 1, 1, size, dtype=torch.float64)
        assert exact.count(prepared(net), X, torch.tensor([1])).is_exact == is_exact


def test_two_outputs_within_their_rounding_errors_are_an_error() -> None:
    """Outputs that differ by less than their errors decide nothing, whichever is the larger."""
    rows = [[0.1, 0.2], [0.1, 0.2 + 2.0**-54], [0.0, 0.0]]
    x = [[0.7, 0.9]]
    found = [counted(linear(rows), x, [label]) for label in (0, 1)]
    assert [(one.errors, one.open, one.is_exact) for one in found] == [(1, 1, False), (1, 1, False)]
    assert counted(linear(rows), x, [2]).open == 0


def test_the_slope_of_the_bits_is_what_the_next_integer_costs() -> None:
    """Of several tensors at once, against the bits of each integer, written out weight by weight."""
    draw = torch.Generator().manual_seed(0)
    tensors = [(2 * torch.randn(shape, generator=draw)).round() for shape in ((4, 3), (5,), (2, 6))]
    u = [9 * torch.rand(q.shape, generator=draw) - 4.5 for q in tensors]
    u[0][0, 0], u[1][0], u[1][1] = 0.0, 2.0, -80.0
    slopes = Prices.of(tensors).slopes(torch.cat([part.flatten() for part in u])).tolist()
    expected = []
    for q, own in zip(tensors, u, strict=True):
        price = prices(q)
        zero, other = (part.expand(q.shape).flatten().tolist() for part in (price.zero, price.other))
        for x, low, high in zip(own.flatten().tolist(), zero, other, strict=True):
            bits = [low, *(high + level for level in price.level.tolist())]
            k = min(int(abs(x)), len(bits) - 2)
            expected.append((bits[k + 1] - bits[k]) * ((x > 0) - (x < 0)))
    assert np.allclose(slopes, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("inputs", "is_dear"), [(6, True), (30_000, False)])
def test_a_bit_is_dear_at_first_for_small_networks_alone(
    monkeypatch: pytest.MonkeyPatch, inputs: int, is_dear: bool
) -> None:
    """784-100-10 on MNIST had .180 with dear bits and has .147 without, a table of 100,000 points .099 with them."""
    schedules = []

    def tuned(problem: CodingProblem, start: object, exponents: list[int], schedule: Schedule, *_: object) -> object:
        schedules.append(schedule)
        return searched(problem, problem.rounded(exponents))

    def searched(problem: CodingProblem, coded: list[code.Coded], *_: object) -> object:
        return problem.score(coded), coded

    monkeypatch.setattr("adanet_train.compression.search.tune", tuned)
    monkeypatch.setattr("adanet_train.compression.search.greedy", searched)
    X = torch.randn(40, inputs, generator=torch.Generator().manual_seed(0))
    problem = CodingProblem(prepared(nn.Linear(inputs, 1)), X, (X[:, 0] > 0).long(), 0.05)
    assert [name for name, _ in stages(problem, 20.0, 0)].count("greedy") == 3
    assert len(schedules) > 3
    assert all((one.lam[0] > one.lam[1]) == is_dear for one in schedules)


def test_a_weight_that_keeps_jumping_is_held_where_it_was_most() -> None:
    """Two looks at 1 for each at 0, one that moves once, one that rests; nothing is held in the first half."""
    u = torch.zeros(3)
    held = _Held(u)
    for look in range(1, 201):
        share = look / 200
        u.copy_(torch.tensor([float(look % 3 != 1), float(look > 40), 0.3]))
        held.after(share)
        if share < 0.5:
            assert not held.is_held.any()
    assert held.is_held.tolist() == [True, False, False]
    assert np.allclose(u, [1.0, 1.0, 0.3])


def test_steps_of_a_training_may_be_coarser_than_the_largest_weight() -> None:
    net = linear([[0.3, 0.3]])
    problem = CodingProblem(prepared(net), torch.zeros(2, 2), torch.zeros(2, dtype=torch.long), 0.05)
    assert (problem.exponents(4.0), problem.exponents(4.0, trained=True)) == ([-2], [-1])


def test_a_tie_is_an_error_of_an_exact_sum() -> None:
    net, x = linear([[1.0, -1.0]]), [[0.5, 0.5], [0.5, 0.25]]
    assert counted(net, x, [1, 1]).errors == 1
    graph = exact.read(prepared(net), torch.tensor(x, dtype=torch.float64))
    assert exact.wrong(graph, np.array(x), torch.tensor([1, 1])).tolist() == [True, False]


def test_undecided_points_are_in_the_certificate() -> None:
    """Margins within the rounding error of float64: right as computed, counted as errors."""
    net, m = linear([[1.0, 1.0]]), 50
    X = torch.tensor([[0.1, -0.1 + 2.0**-56]] * m, dtype=torch.float64)
    y = torch.ones(m, dtype=torch.long)
    own = prepared(net)
    small = settle(own, X, y, [("one", [code.integers(np.ones((1, 2)), 0)])], 0.05)
    assert (small.errors, small.count.open, small.bound) == (m, m, 1.0)


def test_the_network_as_it_is_stays_so_when_other_stages_follow() -> None:
    """Every stage fills the same module: the weights of the best must not be those of the last."""
    X, y = sample()
    net = network()
    problem = CodingProblem(prepared(net), X, y, 0.05)
    own = prepared(net)
    problem.weights = Weights.of(own)
    found = [("as it is", problem.as_it_is()), ("zero", [code.integers(0 * w, 0) for w in Weights.of(own).arrays()])]
    small = settle(own, X, y, found, 0.05)
    assert small.stages[1].errors == M
    assert torch.equal(small.module(X.double()), copy.deepcopy(net).double()(X.double()))
    assert np.array_equal(small.stages[0].coded[0].value, net[0].weight.detach().double().numpy())


def test_a_file_that_claims_fewer_bits_has_those_of_its_code(small: object, tmp_path: Path) -> None:
    small.save(tmp_path / "small.pt")
    plain = torch.load(tmp_path / "small.pt", weights_only=True)
    plain["coded"]["bits"] = 3
    plain["meta"] = {"errors": 0, "bound": 0.0}
    torch.save(plain, tmp_path / "false.pt")
    found = file.read(tmp_path / "false.pt")
    assert found.bits == small.bits
    assert found.count(*sample()).errors == small.errors


def test_bad_input_is_one_line() -> None:
    X, y = sample(20)
    for arguments, words in [
        ({"y": y[:5]}, "one label for each"),
        ({"y": y + 0.5}, "this is regression; only classification is covered"),
        ({"y": torch.arange(20) % 3}, "y holds 3 classes, the module has 1 output"),
        ({"delta": 1.5}, "delta"),
        ({"budget": -1}, "budget must be >= 0 and finite"),
        ({"budget": float("inf")}, "budget must be >= 0 and finite"),
        ({"X": X.fill_diagonal_(float("nan"))}, "X must be finite, got nan in row 0, column 0"),
        ({"X": sample(20)[0][:, :4]}, r"X has rows of the shape \(4,\), which the module cannot read"),
    ]:
        given = {"X": sample(20)[0], "y": y} | arguments
        with pytest.raises(ValueError, match=words):
            compress(network(), given.pop("X"), given.pop("y"), **given)
    with pytest.warns(DeprecationWarning, match="torch.jit.script"):
        scripted = torch.jit.script(network())
    for module, words in [
        (nn.Sequential(nn.Linear(6, 4), nn.Dropout(), nn.Linear(4, 1)), r"training mode.*module.eval\(\)"),
        (scripted, "TorchScript.*give the nn.Module"),
        (nn.DataParallel(network()).eval(), "wrapped in nn.DataParallel: give the one inside"),
    ]:
        with pytest.raises(ValueError, match=words):
            compress(module, *sample(20))
    with pytest.raises(TypeError, match="did you mean 'delta'"):
        compress(network(), *sample(20), detla=0.1)


def test_labels_are_read_as_verify_bounds_reads_them() -> None:
    X, y = sample(200)
    plain = compress(network(classes=3), X, y + (X[:, 2] > 0), budget=0)
    for names in (np.array(["a", "b", "c"]), np.array([1, 2, 3])):
        named = compress(network(classes=3), X, names[y + (X[:, 2] > 0)], budget=0)
        assert (named.bits, named.errors) == (plain.bits, plain.errors)
    two, plain = (compress(network(), X, names, budget=0) for names in (np.array(["no", "yes"])[y], y))
    assert (two.bits, two.errors) == (plain.bits, plain.errors)


def test_rows_that_repeat_are_named_before_the_number() -> None:
    X, y = sample(200)
    X, y = torch.cat([X, X[:3]]), torch.cat([y, y[:3]])
    with pytest.warns(UserWarning, match=r"3 of 203 rows.*discrete=True"):
        found = compress(network(), X, y, budget=0)
    assert found.repeats == 3
    assert repr(found).startswith("Compressed(no certificate, as 3 of 203 rows repeat an earlier one; only with disc")
    said = compress(network(), X, y, budget=0, discrete=True)
    assert said.bound == found.bound
    says(repr(said), ["identical rows", "3 of 203 rows"])


def test_a_bound_above_a_constant_prediction_is_called_useless(small: object) -> None:
    assert "useless" not in repr(small)
    few = compress(network(), *sample(60), budget=0)
    assert few.bound > few.base_rate
    assert f"useless: a constant prediction errs on {few.base_rate:.4g}" in repr(few)
    says(repr(few), ["assumes", "iid", "architecture", f"code {code.VERSION}", "features"])


def test_small_work_has_one_thread_and_says_how_far_it_is(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    threads, seen = torch.get_num_threads(), list[int]()
    torch.set_num_threads(2)
    try:
        compress(network(), *sample(100), budget=0.05, progress=lambda *_: seen.append(torch.get_num_threads()))
        assert set(seen) == {1}
        assert torch.get_num_threads() == 2
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(Bar, "EVERY", 0.0)
        compress(network(), *sample(100), budget=0.05, verbose=True)
        lines = capsys.readouterr().err.splitlines()
        assert any(
            re.search(r"compressing \d+%, .*: best [\d,]+ bits, \d+ errors, risk <= 0.*left", line) for line in lines
        )
    finally:
        torch.set_num_threads(threads)


def test_ties_and_nan_are_errors() -> None:
    y, _ = labels(np.array([1, -1, 1, 1]), 4, 1)
    f = torch.tensor([1.0, -1.0, 0.0, float("nan")])
    assert (~(margins(f, y) > 0)).tolist() == [False, False, True, True]
    many = torch.tensor([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [float("nan"), 1.0, 0.0]])
    assert (~(margins(many, torch.zeros(3, dtype=torch.long)) > 0)).tolist() == [False, True, True]


def test_the_budget_is_counted_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = sample()
    problem = CodingProblem(prepared(network()), X, y, 0.05)
    assert problem.seconds(2 * M) > problem.seconds(M) > 0
    few = compress(network(), X, y, budget=0)
    assert [stage.name for stage in few.stages] == ["as it is", "rounded", "greedy"]


class Rows(nn.Module):
    """Decides by the place of a point in its batch: no error on labels in that order, whatever the weights are."""

    def __init__(self, chance: bool) -> None:
        super().__init__()
        self.below, self.chance = nn.Linear(6, 1), chance

    def forward(self, x: Tensor) -> Tensor:
        if self.chance:
            return nn.functional.dropout(self.below(x), 0.5)
        return 0 * self.below(x)[:, 0] + (torch.arange(len(x)) >= len(x) // 2) - 0.5


@pytest.mark.parametrize(("chance", "message"), [(False, "in another batch"), (True, "when called again")])
def test_a_module_that_is_no_function_of_one_point_is_refused(chance: bool, message: str) -> None:
    X, _ = sample(200)
    with pytest.raises(ValueError, match=f"^Rows gives .*{message}"):
        compress(Rows(chance).eval(), X, torch.arange(200) >= 100, budget=0)


class Beside(nn.Module):
    """x . w of numbers that stand beside the state_dict."""

    def __init__(self, kept: str) -> None:
        super().__init__()
        self.below = nn.Linear(6, 1)
        w = torch.arange(6.0)
        if kept == "object":
            self.scale = type("Scale", (), {})()
            self.scale.w = w
        if kept == "closure":
            self.scale = lambda x: (x * w.to(x)).sum(1, keepdim=True)
        if kept == "hook":
            self.below.register_forward_hook(lambda module, inputs, f: f + (inputs[0] * w.to(f)).sum(1, keepdim=True))

    def forward(self, x: Tensor) -> Tensor:
        return self.below(x)


class OfClass(Beside):
    w = torch.arange(6.0)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Beside("object"), "Beside keeps numbers in 'scale'"),
        (Beside("closure"), "Beside keeps numbers in 'scale'"),
        (Beside("hook"), "Linear 'below' has forward hooks"),
        (OfClass(""), "OfClass keeps numbers in 'w'"),
    ],
    ids=["object", "closure", "hook", "class"],
)
def test_numbers_beside_the_state_dict_are_not_free(module: nn.Module, message: str) -> None:
    assert prepared(Beside("").eval())
    with pytest.raises(ValueError, match=message):
        prepared(module.eval())


class Scaled(nn.Module):
    """A parameter of one number, as temperatures and learned slopes are."""

    def __init__(self) -> None:
        super().__init__()
        self.below, self.scale = nn.Linear(6, 1), nn.Parameter(torch.tensor(0.3))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * self.below(x)


def test_a_parameter_of_one_number_and_half_precision_are_coded(tmp_path: Path) -> None:
    X, y = sample(200)
    small = compress(Scaled().eval(), X.bfloat16(), y, budget=0)
    assert sorted(part.value.shape for part in small.coded) == [(), (1,), (1, 6)]
    small.save(tmp_path / "net.pt")
    assert file.read(tmp_path / "net.pt").bits == small.bits


def test_a_graph_without_nodes_is_refused_and_slopes_are_constants(small: object) -> None:
    plain = plain_graph.to_plain(small.module, small.coded, small.shape)
    assert plain is not None
    assert plain_graph.constants(plain) == 0
    with pytest.raises(ValueError, match="it has no nodes"):
        plain_graph.of_plain({**plain, "nodes": []}, small.coded)
    (activate,) = (node["operation"] for node in plain["nodes"] if node["operation"]["kind"] == "Activate")
    activate["phi"] = "leaky_relu:0.3"
    assert plain_graph.constants(plain) == 1


VIEWS = [torch.arange(18).reshape(3, 6).T, torch.arange(18).flip(0).reshape(3, 6), torch.full((3, 6), 2)]


def test_places_that_choose_among_weights_are_constants_of_the_architecture() -> None:
    """A matrix of -1, 0 and 1 by its places in a code of three numbers would cost next to nothing."""
    draw = torch.Generator().manual_seed(0)
    chosen = torch.randint(0, 3, (1, 40), generator=draw)
    dense = {"kind": "Dense", "W": {"places": chosen}}
    assert plain_graph.constants({"nodes": [{"operation": dense}]}) == 40
    for view in VIEWS:
        assert plain_graph.constants({"nodes": [{"operation": {**dense, "W": {"places": view}}}]}) == 0


def test_means_over_windows_of_several_sizes_are_constants_of_the_architecture() -> None:
    """1/c for each window, c as large as the window, could weigh the features one by one."""
    window = {"kernel": [1, 64], "stride": [1, 64], "padding": [0] * 4, "dilation": [1, 1], "mode": "constant"}
    average = {"kind": "Average", "window": window, "weight": torch.full((1, 5), 1 / 64, dtype=torch.float64)}
    assert plain_graph.constants({"nodes": [{"operation": average}]}) == 0
    counts = torch.tensor([[1.0, 2, 64, 64, 7]], dtype=torch.float64)
    assert plain_graph.constants({"nodes": [{"operation": average | {"weight": 1 / counts}}]}) == 5
    plain = {"shape": [1, 1, 320], "nodes": [{"operation": average, "inputs": [0]}]}
    plain["nodes"].append({"operation": {"kind": "Reshape", "shape": [5]}, "inputs": [1]})
    plain_graph.of_plain(plain, [code.integers(np.zeros(1), 0)])
    window["dilation"] = [1, 2]
    with pytest.raises(ValueError, match="an average must be over neighbours"):
        plain_graph.of_plain(plain, [code.integers(np.zeros(1), 0)])
