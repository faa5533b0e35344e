"""adanet_train.reading.trace: modules read by torch.fx, checked against themselves, refused by name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils import parametrizations

from adanet_train.reading import enclosure
from adanet_train.reading.operations import Affine, Convolution
from adanet_train.reading.path_norm import path_norm, unit_paths
from adanet_train.reading.recorder import UnreadableModule
from adanet_train.reading.trace import require_equal, trace
from tests.refusals import refused


def settled(module: nn.Module, seed: int = 0) -> nn.Module:
    """In eval mode, every number of it drawn anew, the running statistics too."""
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if tensor.is_floating_point():
            drawn = torch.randn(tensor.shape, generator=generator)
            tensor.data = drawn.abs() + 0.5 if name.endswith("running_var") else drawn
    return module.eval()


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, stride=2, padding=1)
        self.body = nn.Sequential(
            nn.Conv2d(4, 4, 3, padding="same", bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Dropout2d()
        )
        self.norm = nn.BatchNorm2d(4)
        self.read = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.stem(x))
        x = functional.relu(x + self.body(self.norm(x)))
        return self.read(x.mean((2, 3)))


class Dressed(nn.Module):
    """Sizes computed in forward, a skip to the output, constants around the input."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = nn.Buffer(torch.tensor([0.5, -1.0, 2.0]))
        self.first, self.second = nn.Linear(3, 4), nn.Linear(7, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = (x - self.mean) / 2 + 1
        h = functional.leaky_relu(self.first(x), 0.2).view(x.size(0), -1)
        return -self.second(torch.cat([h, abs(x)], dim=1)).squeeze(1)


class Choosing(nn.Module):
    """Two parts of x, and the first of three outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.out = nn.Linear(2, 4), nn.Linear(3, 4), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.left(x[:, 0, :2]) + self.right(x[:, -1, 2:]))
        return self.out(hidden)[:, 0]


class Assembled(nn.Module):
    """Parts cut off, stacked, summed and averaged; weights that are multiplied by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.W, self.v = nn.Parameter(torch.zeros(4, 6)), nn.Parameter(torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        a, b = (x @ self.W).chunk(2, dim=-1)
        c = torch.stack([a.clamp(min=0), abs(b)], dim=1).sum(2)
        d, e = c.split([1, 2], dim=-1)
        mean = a.mean((1, 2), keepdim=True).sum(1, keepdim=True)
        return torch.cat([d, e.mean(-1, keepdim=True) / 3, d + torch.cat([mean, mean], 1)], 2).sum(1) @ self.v


class Capped(nn.Linear):
    """Made from a Linear, and no Linear."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).clamp(max=0.1)


class Of(nn.Module):
    """forward as a function of the weights W (4, 3), b (4) and of x."""

    def __init__(self, function: Callable[[Of, Tensor], Any]) -> None:
        super().__init__()
        self.function = function
        self.W, self.b = nn.Parameter(torch.zeros(4, 3)), nn.Parameter(torch.zeros(4))

    def forward(self, x: Tensor) -> Any:
        return self.function(self, x)


READ: list[tuple[nn.Module, tuple[int, ...]]] = [
    (Residual(), (2, 8, 8)),
    (Dressed(), (3,)),
    (Choosing(), (2, 5)),
    (Assembled(), (5, 4)),
    (Capped(3, 2), (3,)),
    (nn.Sequential(nn.Flatten(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 1)), (2, 3)),
    (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ELU(), nn.Linear(4, 2)), (3,)),
    (
        nn.Sequential(
            nn.Conv1d(2, 4, 3, dilation=2, padding=2, groups=2, padding_mode="circular"),
            nn.GELU(),
            nn.AvgPool1d(2, padding=1),
            nn.BatchNorm1d(4),
            nn.Softplus(),
            nn.MaxPool1d(2, stride=1),
            nn.SiLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Sigmoid(),
            nn.Linear(4, 1),
        ),
        (2, 8),
    ),
    (
        nn.Sequential(
            nn.Conv2d(1, 3, (2, 3), stride=(1, 2), padding=(1, 0)),
            nn.LeakyReLU(0.3),
            nn.MaxPool2d(3, stride=2, padding=1),
            nn.AvgPool2d(2, divisor_override=3),
            nn.Flatten(),
            nn.Identity(),
            nn.LazyLinear(2),
        ),
        (1, 9, 9),
    ),
    (
        nn.Sequential(
            nn.Conv3d(1, 2, 2, stride=(1, 2, 1), padding=1),
            nn.BatchNorm3d(2),
            nn.PReLU(2),
            nn.MaxPool3d(2, stride=2, padding=1, ceil_mode=True),
            nn.AvgPool3d(2, stride=1),
            nn.Hardtanh(-0.5, 2.0),
            nn.Flatten(),
            nn.LazyLinear(3),
        ),
        (1, 3, 4, 5),
    ),
    (
        nn.Sequential(
            nn.ConvTranspose2d(2, 4, 3, stride=2, padding=2, output_padding=1, groups=2, dilation=2),
            nn.BatchNorm2d(4),
            nn.ReLU6(),
            nn.MaxPool2d(3, stride=2, dilation=2, ceil_mode=True),
            nn.AvgPool2d(2, padding=1, ceil_mode=True, count_include_pad=False),
            nn.AdaptiveAvgPool2d((2, None)),
            nn.Flatten(),
            nn.LazyLinear(1),
        ),
        (2, 6, 5),
    ),
    (Of(lambda m, x: functional.linear(input=x, weight=m.W, bias=m.b)[..., None, ::3].flatten(1)), (3,)),
    (Of(lambda m, x: torch.addmm(m.b, x, m.W.T, beta=0.5, alpha=-2)), (3,)),
    (Of(lambda m, x: torch.mm(x, m.W.t()).clamp_min(0.5) - (x @ m.W.t()).clamp(max=-0.5)), (3,)),
    (Of(lambda m, x: x - x.mean(axis=1, keepdim=True) + torch.hstack([x[:, [2, 0]], -x[:, -1:]])), (3,)),
    (Of(lambda m, x: torch.maximum(x @ m.W.T, -m.b) + torch.minimum(x @ m.W.T, torch.relu(x @ m.W.T - 1))), (3,)),
    (
        Of(lambda m, x: x.max(2).values - x.amax((1, 2), keepdim=True)[..., 0] + torch.max(x[:, :, 1], x[:, :, 0])),
        (4, 3),
    ),
    (Of(lambda m, x: functional.prelu(x, m.b) + x.to(m.W.device).type_as(m.W)), (4,)),
    (Of(lambda m, x: functional.batch_norm(x, m.b, m.b.abs(), weight=m.b, training=m.training).sum(2)), (4, 3)),
    (Of(lambda m, x: functional.pad(x, (1, 2), value=-3.0).permute(0, 2, 1).unbind(2)[1]), (4, 3)),
    (Of(lambda m, x: torch.max_pool1d(x, 2, ceil_mode=True).flip(1, 2).roll(1, 2).repeat(1, 1, 2).sum(1)), (4, 3)),
    (Of(lambda m, x: functional.conv_transpose1d(x, m.W[..., None], bias=m.b[:3], stride=2).mean(2)), (4, 3)),
    (Of(lambda m, x: functional.adaptive_max_pool1d(x, 1).expand_as(x).tile(1, 1, 2)[:, 0]), (4, 3)),
]


@pytest.mark.parametrize(("module", "shape"), READ)
def test_what_is_read_is_the_module_on_every_point(module: nn.Module, shape: tuple[int, ...]) -> None:
    with torch.no_grad():
        module(torch.zeros(2, *shape))
    module = settled(module)
    graph = trace(module, shape)
    X = np.random.default_rng(0).normal(size=(40, *shape)).astype(np.float32)
    assert require_equal(graph, module, X) < 1e-8
    f, _ = enclosure.values(graph, X)
    with torch.no_grad():
        own = module(torch.from_numpy(X)).reshape(len(X), -1).double().numpy()
    np.testing.assert_allclose(f, own, rtol=2e-4, atol=2e-4)


LINEAR: list[tuple[nn.Module, tuple[int, ...]]] = [
    (nn.ConvTranspose1d(2, 3, 3, stride=3, output_padding=2), (2, 4)),
    (nn.ConvTranspose2d(2, 4, (2, 3), stride=(1, 2), padding=(1, 0), groups=2, bias=False), (2, 3, 3)),
    (nn.ConvTranspose2d(1, 2, 2, padding=1), (1, 3, 4)),
    (nn.ConvTranspose3d(1, 2, 2, stride=2, dilation=2), (1, 2, 1, 2)),
    (nn.Conv3d(2, 2, (1, 2, 3), padding=(0, 1, 1), dilation=(1, 1, 2), groups=2), (2, 2, 3, 4)),
    (nn.AvgPool1d(3, stride=2, ceil_mode=True), (2, 6)),
    (nn.AvgPool1d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), (1, 6)),
    (nn.AvgPool2d((2, 4), stride=(2, 3), padding=(1, 2), ceil_mode=True), (2, 4, 5)),
    (nn.AvgPool2d(2, stride=2, ceil_mode=True, divisor_override=3), (1, 3, 5)),
    (nn.AvgPool3d(2, stride=1, padding=1, count_include_pad=False), (1, 2, 2, 3)),
    (nn.AdaptiveAvgPool1d(3), (2, 7)),
    (nn.AdaptiveAvgPool2d((2, 3)), (2, 3, 5)),
    (nn.AdaptiveAvgPool3d((1, 2, 3)), (1, 2, 3, 4)),
    (nn.ReflectionPad2d((1, 2, 0, 1)), (1, 3, 4)),
    (nn.ZeroPad2d((1, -1, 2, 0)), (1, 3, 4)),
    (nn.ConstantPad1d(1, 2.5), (2, 3)),
    (nn.Upsample(scale_factor=2), (2, 3)),
    (nn.PixelShuffle(2), (4, 2, 3)),
    (nn.PixelUnshuffle(2), (1, 4, 2)),
]


@pytest.mark.parametrize(("module", "shape"), LINEAR)
def test_a_linear_module_is_the_matrix_that_it_does_to_the_basis(module: nn.Module, shape: tuple[int, ...]) -> None:
    """Its values and balls are A x + b, and in its path norms each row counts |A| and |b|."""
    module = settled(nn.Sequential(module, nn.Flatten())).double()
    graph = trace(module, shape)
    n = int(np.prod(shape))
    with torch.no_grad():
        b = module(torch.zeros(1, *shape, dtype=torch.float64))[0]
        A = module(torch.eye(n, dtype=torch.float64).reshape(n, *shape)).T - b[:, None]
    x = np.random.default_rng(0).normal(size=(2, n))
    f, error = enclosure.values(graph, x)
    right = x @ A.numpy().T + b.numpy()
    assert (np.abs(f - right) <= 1e3 * error + 1e-15).all()
    np.testing.assert_allclose(
        [float(ball.mid()) for ball in enclosure.balls(graph, x[0])], right[0], rtol=1e-12, atol=1e-13
    )
    sizes = unit_paths(graph)[len(graph.nodes)]
    np.testing.assert_allclose(sizes, A.abs().sum(dim=1) + b.abs(), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "n_0", "B", "d"),
    [
        (lambda m, x: functional.prelu(x, torch.tensor([-0.25], dtype=x.dtype)), 1, 1.25, 1),
        (lambda m, x: functional.hardtanh(x), 1, 1 + 2 + 2, 1),
        (lambda m, x: functional.relu6(3 * x), 1, 3 + 9, 1),
        (lambda m, x: x.clamp(max=-2), 1, 1 + 3, 1),  # x is read beside an activation, by none above it
        (lambda m, x: torch.maximum(x[:, 0], 3 * x[:, 1]), 2, 4, 1),
        (lambda m, x: torch.minimum(x[:, 0], 3 * x[:, 1]), 2, 4, 1),
        (lambda m, x: x.amax(1), 3, 3, 3),  # two levels, the second of which reads x again
    ],
)
def test_what_is_written_with_other_activations_counts_as_these(function: Any, n_0: int, B: float, d: int) -> None:
    graph = trace(Of(function), (n_0,))
    assert path_norm(graph) == pytest.approx(B, rel=1e-12)
    assert graph.d == d


def test_batch_norm_is_folded_only_into_what_nobody_else_reads() -> None:
    graph = trace(settled(Residual()), (2, 8, 8))
    names = [(type(node.operation), node.name) for node in graph.nodes]
    assert (Convolution, "module 'body.0' (Conv2d), module 'body.1' (BatchNorm2d)") in names
    assert (Affine, "module 'norm' (BatchNorm2d)") in names


def test_a_graph_that_differs_from_the_module_is_an_error() -> None:
    module = settled(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))).double()
    graph = trace(module, (2,))
    with torch.no_grad():
        module[0].weight.mul_(1 + 1e-12)
    with pytest.raises(UnreadableModule, match=r"where the module gives .* not read"):
        require_equal(graph, module, np.ones((3, 2)))


class Changing(nn.Module):
    """body, written as a function of h = Linear(x) and of this module."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body, self.first, self.relu = body, nn.Linear(2, 4), nn.ReLU(inplace=True)
        self.register_buffer("offset", torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        return self.body(self, self.first(x))


def _other_name(module: Any, h: Tensor) -> Tensor:
    g = h
    g += functional.relu(-h - 5)  # beyond -5 only: no point of a small sample shows it
    return h + g


def _and(first: Any, second: Any) -> Tensor:
    return second


READ_AGAIN: list[tuple[Any, str]] = [
    (lambda m, h: h + functional.relu(h, inplace=True), "function 'relu' writes over"),
    (lambda m, h: h + torch.relu_(h), "function 'relu_' writes over"),
    (lambda m, h: h + m.relu(h), "module 'relu' writes over"),
    (lambda m, h: h + h.relu_(), "method 'relu_' writes over"),
    (lambda m, h: _and(h.add_(1.0), h * 2), "method 'add_' writes over"),
    (lambda m, h: h.mul_(2.0) + h, "method 'mul_' writes over"),
    (lambda m, h: _and(h.flatten(1).relu_(), h.sum(1)), "method 'relu_' writes over what method 'sum'"),
    (lambda m, h: h[:, :2].add_(1.0) + h[:, 2:], "method 'add_' writes over"),
    (lambda m, h: _and(h.detach().mul_(0.0), h * 1.0), "method 'mul_' writes over"),
    (lambda m, h: functional.leaky_relu(h, 0.1, inplace=True) - h, "function 'leaky_relu' writes over"),
    (lambda m, h: h.add_(h.flatten(1)[:, :1]), "reads itself|forward fails"),
    (lambda m, h: m.offset.add_(1.0) + h, "changes the weights|writes over"),
    (_other_name, "function 'iadd' writes over what function 'add' reads again"),
]


@pytest.mark.parametrize(("body", "message"), READ_AGAIN)
def test_an_in_place_change_of_what_is_read_again_is_refused_by_name(body: Any, message: str) -> None:
    with pytest.raises(UnreadableModule, match=message):
        trace(Changing(body), (2,))


def _plus(h: Tensor, other: Tensor) -> Tensor:
    h += other
    h -= 0.5
    h *= 2.0
    h /= 3.0
    return h


PURE: list[Any] = [
    lambda m, h: m.relu(h),
    lambda m, h: functional.relu(h, inplace=True).mul_(2.0),
    lambda m, h: _plus(h * 1.0, h),
    lambda m, h: _plus(h, m.first.weight.sum(1)),
    lambda m, h: h.clone().relu_() - h,
    lambda m, h: m.relu(h.add_(h)),
    lambda m, h: (h * 1.0).view(-1, 2, 2).relu_().flatten(1),
]


@pytest.mark.parametrize("body", PURE)
def test_an_in_place_change_of_what_nobody_reads_again_is_read(body: Any) -> None:
    module = settled(Changing(body))
    X = np.random.default_rng(0).standard_normal((9, 2))
    graph = trace(module, (2,))
    assert require_equal(graph, module, X) < 1e-12
    with torch.no_grad():
        own = module.double()(torch.from_numpy(X)).numpy()
    assert np.allclose(enclosure.values(graph, X)[0], own, atol=1e-12)


def test_a_module_that_is_another_one_in_eval_mode_is_an_error() -> None:
    class Warming(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 0.5 if self.training else x

    X = np.ones((2, 1))
    with pytest.raises(UnreadableModule, match="in eval mode, where the module gives"):
        require_equal(trace(Warming(), (1,)), Warming(), X)
    assert require_equal(trace(Warming().eval(), (1,)), Warming().eval(), X) == 0


def test_points_are_left_as_they_are_by_a_forward_that_writes_over_them() -> None:
    class Doubling(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.mul_(2)

    X = np.array([[-1.0], [1.0]])
    require_equal(trace(Doubling(), (1,)), Doubling(), X)
    assert X.tolist() == [[-1.0], [1.0]]


def test_values_beyond_the_largest_float_are_refused_as_that() -> None:
    module = settled(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(1e160)
    with pytest.raises(UnreadableModule, match="exceeds the largest float"):
        require_equal(trace(module, (2,)), module, np.ones((1, 2)))


class Branching(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x if x.sum() > 0 else -x


class Squared(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * x


class Mixing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.reshape(-1)


class Half(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[::2]


class TwoInputs(nn.Module):
    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        return x + z


class Averaged(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x - x.mean()


class Turned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(5)


def quantised() -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(2, 1)), dtype=torch.qint8)


def patched() -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 1))
    module[0].forward = lambda x: x[:, :1]  # type: ignore[method-assign]
    return module


def hooked() -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    module[1].register_forward_hook(lambda _, __, output: output.clamp(max=1e9))
    return module


REFUSED: list[tuple[nn.Module, tuple[int, ...], str]] = [
    (nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)), (2,), r"module '1' \(LayerNorm\) cannot be read: it divides"),
    (nn.Sequential(nn.Linear(2, 2), nn.LogSoftmax(0)), (2,), r"module '1' .* must be the logits themselves"),
    (nn.Sequential(nn.Linear(2, 1), nn.Softmax(1)), (2,), "softmax of one output is 1 for every point"),
    (nn.Sequential(nn.Linear(2, 2), nn.Sigmoid(), nn.ReflectionPad1d(1)), (2,), "must be the logits themselves"),
    (nn.Sequential(nn.Linear(2, 2), nn.Hardswish()), (2,), r"module '1' \(Hardswish\) .* no statement here covers it"),
    (nn.Sequential(nn.Linear(2, 2), nn.RMSNorm(2)), (2,), r"module '1' \(RMSNorm\) cannot be read: it divides"),
    (nn.Sequential(nn.GRUCell(2, 2)), (2,), "no statement here covers them"),
    (nn.Sequential(nn.Flatten(5)), (2,), r"module '0' \(Flatten\) cannot be read: its arguments"),
    (quantised(), (2,), r"module '0' \(torch\.ao\.nn\.quantized\.dynamic\.modules\.linear\.Linear\)"),
    (Averaged(), (2,), "method 'mean' cannot be read: it mixes the points"),
    (Turned(), (2,), "method 'flatten' cannot be read: its arguments are not understood"),
    (nn.Sequential(nn.AdaptiveMaxPool2d(2)), (1, 3, 3), r"\(3, 3\) is not a multiple of \(2, 2\)"),
    (nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear")), (1, 2, 2), "read for mode='nearest'"),
    (Of(lambda m, x: x.flip(0)), (2,), "method 'flip' cannot be read: it mixes the points"),
    (Of(lambda m, x: x.T), (3,), "the attribute 'T' of a tensor is not a feature"),
    (Of(lambda m, x: x.float()), (2,), "method 'float' cannot be read: it rounds"),
    (Of(lambda m, x: x.to(torch.float32)), (2,), "method 'to' cannot be read: it rounds"),
    (Of(lambda m, x: x.max()), (2,), "method 'max' cannot be read: it mixes the points"),
    (Of(lambda m, x: x + x.sum(1)), (3,), r"the shapes \(3,\) and \(\) differ"),
    (Of(lambda m, x: x / torch.zeros(3)), (3,), "must be finite"),
    (Of(lambda m, x: functional.batch_norm(x, m.b, m.b.abs(), training=True)), (4,), "batch_norm in training mode"),
    (nn.Sequential(nn.GELU(approximate="tanh")), (2,), "another function"),
    (nn.Sequential(nn.Linear(3, 1)), (2,), r"module '0' \(Linear\) cannot be read: does not fit what it reads"),
    (Branching(), (2,), "forward cannot be traced by torch.fx"),
    (Squared(), (2,), "function 'mul' cannot be read: a product of two parts"),
    (Mixing(), (2,), "mixes the points of a batch"),
    (nn.LSTM(2, 2), (2, 2), r"LSTM"),
    (Half(), (2,), "or takes some of them"),
    (TwoInputs(), (2,), "forward must read one tensor x, it reads x and z"),
    (patched(), (2,), r"module '0' \(Linear\) has a forward of its own"),
    (hooked(), (2,), r"module '1' \(ReLU\) has forward hooks"),
    (nn.Sequential(nn.LazyLinear(1)), (2,), r"module '0' \(LazyLinear\) has no weights yet"),
    (nn.Sequential(nn.Linear(2, 1, dtype=torch.complex64)), (2,), "has complex weights"),
]


@pytest.mark.parametrize(("module", "shape", "message"), REFUSED)
def test_what_cannot_be_read_is_refused_by_its_name_in_one_line(
    module: nn.Module, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(UnreadableModule, match=message) as caught:
        trace(module.eval(), shape)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("part", [nn.BatchNorm1d(2), nn.Dropout(), parametrizations.spectral_norm(nn.Linear(2, 2))])
def test_training_mode_is_refused(part: Any) -> None:
    module = nn.Sequential(nn.Linear(2, 2), part)
    with pytest.raises(UnreadableModule, match=re.escape("training mode, where")):
        trace(module, (2,))


def test_a_function_that_asks_for_the_mode_is_read_in_the_mode_it_is_in() -> None:
    class Dropping(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return functional.dropout(x, training=self.training)

    assert trace(Dropping().eval(), (1,)).outputs == 1
    refused(lambda: trace(Dropping(), (1,)), "dropout in training mode", error=UnreadableModule)


def test_alpha_counts_whichever_of_the_two_is_fixed() -> None:
    class Less(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.sub(torch.ones(1, dtype=torch.float64), functional.relu(-x - 5), alpha=3.0)

    f, _ = enclosure.values(trace(Less(), (1,)), np.array([[-7.0]]))
    assert f.tolist() == [[-5.0]]


def test_the_module_itself_is_left_alone() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    before = [p.clone() for p in module.parameters()]
    trace(module, (2,))
    assert module.training
    assert all(
        p.dtype == torch.float32 and bool((p == q).all()) for p, q in zip(module.parameters(), before, strict=True)
    )
