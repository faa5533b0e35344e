"""AdaNet whose every unit pays for its bits: a subnetwork is added if the certificate of the description falls.

The code describes the whole network, its depth and widths included, so nothing about it is assumed but the features
and the activation. In every round the network so far is extended by a subnetwork of its depth and by one that is
deeper; each is trained, rounded and searched as `compress` does, units that nothing reads are dropped, and the one of
least certificate stays if that is below the certificate before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from adanet_theory.activations import activation
from adanet_train.compression import code, search
from adanet_train.compression.code import Coded
from adanet_train.compression.exact import count_graph
from adanet_train.compression.problem import CodingProblem, Score, outputs
from adanet_train.core.activations import apply_activation
from adanet_train.core.bar import inside, stage
from adanet_train.core.config import Config
from adanet_train.core.history import CandidateRecord, Round
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.core.training import Callback, Trained, begin
from adanet_train.data.features import FeatureMap
from adanet_train.reading.graph import of_network
from adanet_train.reading.state_dict import Chain
from adanet_train.search.weak_learners import generator

WIDTH = 16
"""Units per layer of a subnetwork if the config leaves them open."""
SECONDS = 30.0
"""Nominal seconds for each candidate."""
STEPS, RATE, BATCH = 2000, 0.01, 256
ID = "occam-certificate"


class LayeredModule(nn.Module):
    """A network as a module: `hidden` are U_{k,s}, `output` w_k, in order. With a feature map it reads X, else Ψ.

    The map is fixed before the sample: it is not in the state_dict and not coded.
    """

    low: Tensor
    scale: Tensor

    def __init__(self, network: Network, features: FeatureMap | None = None) -> None:
        super().__init__()
        self.pairs, self.n = sorted(network.hidden), network.n
        self.hidden = nn.ParameterList([nn.Parameter(network.hidden[pair].detach().clone()) for pair in self.pairs])
        depths = range(1, network.depth + 1)
        own = [network.output.get(k, network.no_weights(network.n[k])) for k in depths]
        self.output = nn.ParameterList([nn.Parameter(w.detach().clone()) for w in own])
        self.activations, self.outputs = network.activations, network.outputs
        self.map = None if features is None else (features.clip, float(features.floor), features.bias)
        if features is not None:
            width = torch.from_numpy(features.high - features.low)
            self.register_buffer("low", torch.from_numpy(features.low).clone(), persistent=False)
            self.register_buffer("scale", torch.where(width > 0, width, 1.0), persistent=False)
            self.is_identity = bool((self.low == 0).all() and (self.scale == 1).all())

    def forward(self, x: Tensor) -> Tensor:
        phi = [x if self.map is None else self._mapped(x, *self.map)]
        f: Tensor | None = None
        for k, w in enumerate(self.output, start=1):
            read = [functional.linear(phi[s], U) for (to, s), U in zip(self.pairs, self.hidden, strict=True) if to == k]
            h = sum(read[1:], start=read[0])
            own = functional.linear(h, w if self.outputs else w[None])
            f = own if f is None else f + own
            phi.append(apply_activation(self.activations[k - 1], h) if k <= len(self.activations) else h)
        assert f is not None
        return f

    def _mapped(self, x: Tensor, clip: bool, floor: float, bias: bool) -> Tensor:
        Psi = x if self.is_identity else (x - self.low) / self.scale
        Psi = Psi.clamp(floor, 1.0) if clip else Psi
        return functional.pad(Psi, (0, 1), value=1.0) if bias else Psi

    def network(self) -> Network:
        hidden = {pair: U.detach().double() for pair, U in zip(self.pairs, self.hidden, strict=True)}
        output = {k: w.detach().double() for k, w in enumerate(self.output, start=1)}
        return Network(self.n, hidden, output, self.activations, self.outputs)


class ChainModule(nn.Module):
    """W_k φ(..) + b_k as a module that reads x: biases are biases, not weights on a constant."""

    def __init__(self, chain: Chain, phi: str) -> None:
        super().__init__()
        self.layers, self.phi = nn.ModuleList(), phi
        for W, b in chain:
            layer = nn.Linear(W.shape[1], W.shape[0], bias=b is not None)
            for own, given in ((layer.weight, W), (layer.bias, b)):
                if given is not None:
                    own.data = given.detach().clone()
            self.layers.append(layer)

    def forward(self, x: Tensor) -> Tensor:
        for k, layer in enumerate(self.layers):
            x = layer(apply_activation(self.phi, x) if k else x)
        return x


def tensors(network: Network) -> list[Tensor]:
    """The weights in the order in which they are coded: all U_{k,s}, then all w_k; what is missing is not coded."""
    return [
        *(network.hidden[pair] for pair in sorted(network.hidden)),
        *(network.output[k] for k in sorted(network.output)),
    ]


def described(network: Network) -> tuple[int, list[Coded]]:
    """Bits of a layered network as it is, depth and widths included, and its code."""
    coded = [code.lossless(w.detach().cpu().double().numpy()) for w in tensors(network)]
    pairs = network.depth * (network.depth + 1) // 2 + network.depth  # a bit for each matrix that may be there
    return code.structure_bits(network.n) + pairs + code.bits_of(coded), coded


# Training


def train(
    Psi: Tensor | Points, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """At most T rounds; F of the history is the certificate. Every round begins from what the file holds."""
    points, y, config = begin("adanet", Psi, y, config, resume=resume)
    sample = _Sample.of(points.whole().cpu(), y.cpu(), config)
    nothing = Trained(Network.empty(points.n_0, outputs=sample.outputs), None, [], config)
    trained = replace(resume or nothing, config=config)
    for t in range(len(trained.history) + 1, config.family.rounds + 1):
        if trained.history and trained.history[-1]["chosen"] < 0:
            break
        found, sizes = [], [*_sizes(trained, config)]
        for number, (depth, units) in enumerate(sizes, start=1):
            stage(f"round {t}: candidate {number} of {len(sizes)}, depth {depth}", anew=False)
            found.append(sample.candidate(trained.network, depth, units, t))
        trained = _judged(trained, found)
        if callback is not None:
            callback(trained)
    return trained


def _sizes(trained: Trained, config: Config) -> Iterator[tuple[int, int]]:
    """(depth, units) of each candidate: as deep as the network, and one deeper."""
    width = config.family.width or WIDTH
    depth = trained.network.depth
    for offset, units in config.search.candidates or ((0, width), (1, width)):
        if 1 <= depth + offset <= config.family.depth:
            yield depth + offset, units


@dataclass(frozen=True)
class _Candidate:
    network: Network
    score: Score

    @property
    def record(self) -> CandidateRecord:
        return {
            "depth": self.network.depth,
            "units": list(self.network.n[1:]),
            "objective": self.score.bound,
            "Gamma": {},
        }


def _judged(trained: Trained, found: Sequence[_Candidate]) -> Trained:
    """The best candidate if its certificate is the least so far, and the round in the history."""
    best = min(range(len(found)), key=lambda i: found[i].score.key)
    score = found[best].score
    before = trained.history[-1]["objective"] if trained.history else 1.0
    fell = score.bound < before or not trained.history
    entry: Round = {
        "candidates": [one.record for one in found],
        "chosen": best if fell else -1,
        "objective": score.bound if fell else before,
    }
    kept = {"id": ID, "bits": score.bits, "errors": score.errors, "raw": score.bound}
    entry["certificate"] = kept if fell else trained.history[-1]["certificate"]
    return replace(trained, network=found[best].network if fell else trained.network, history=[*trained.history, entry])


@dataclass(frozen=True, eq=False)
class _Sample:
    Psi: Tensor
    y: Tensor
    """Class indices."""
    outputs: int | None
    config: Config

    @classmethod
    def of(cls, Psi: Tensor, y: Tensor, config: Config) -> _Sample:
        if y.is_floating_point():
            return cls(Psi, (y > 0).long(), None, config)
        return cls(Psi, y, int(y.max()) + 1, config)

    def candidate(self, before: Network, depth: int, units: int, t: int) -> _Candidate:
        """The network with one more subnetwork, of least certificate; units that nothing reads are dropped."""
        draw = generator(self.config.run.seed, t, depth)
        module = LayeredModule(_extended(before, depth, units, self.config.family.activation, draw))
        problem = CodingProblem(module, self.Psi, self.y, self.config.goal.delta)
        _fit(problem, module, draw)
        spent = [0.0]

        def spend(seconds: float) -> None:
            spent[0] += seconds
            inside(min(int(1e3 * spent[0]), int(1e3 * SECONDS)), int(1e3 * SECONDS))

        problem = CodingProblem(module.double(), self.Psi, self.y, self.config.goal.delta, spend=spend)
        found: list[tuple[Score, Network]] = []
        for _, coded in search.stages(problem, SECONDS, self.config.run.seed):
            if all(part.q is not None for part in coded):
                network = pruned(_filled(module, coded))
                found.append((self.score(network), network))
        score, network = min(found, key=lambda pair: pair[0].key)
        return _Candidate(network, score)

    def score(self, network: Network) -> Score:
        errors = count_graph(of_network(network), self.Psi, self.y).errors
        return Score(described(network)[0], errors, len(self.y), self.config.goal.delta)


def _filled(module: LayeredModule, coded: Sequence[Coded]) -> Network:
    own = LayeredModule(module.network())
    with torch.no_grad():
        for parameter, part in zip(own.parameters(), coded, strict=True):
            parameter.copy_(torch.from_numpy(part.value))
    return own.network()


def _extended(before: Network, depth: int, units: int, name: str, draw: torch.Generator) -> Network:
    """A subnetwork of drawn weights: `units` in the layers below its top, and a top unit for each output."""
    tops = before.outputs or 1
    old = [*before.n, *[0] * (depth - before.depth)]
    block, below = {}, 0
    for k in range(1, depth + 1):
        rows = tops if k == depth else units
        columns = old[k - 1] + below
        U = torch.randn(rows, columns, generator=draw, dtype=torch.float64)
        block[k], below = U / max(columns, 1) ** 0.5, rows
    w = torch.eye(tops, dtype=torch.float64)
    return before.extended(block, {depth: w if before.outputs else w[0]}, name)


def _fit(problem: CodingProblem, module: LayeredModule, draw: torch.Generator) -> None:
    """Adam on the loss alone, in float32."""
    own = module.float()
    optimiser = torch.optim.Adam(own.parameters(), lr=RATE)
    for number in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1 - number / STEPS)
        rows = torch.randint(problem.m, (min(BATCH, problem.m),), generator=draw)
        optimiser.zero_grad()
        problem.loss(outputs(own, problem.X[rows]), problem.y[rows]).backward()
        optimiser.step()


def pruned(network: Network) -> Network:
    """Without units that are 0 everywhere or that nothing reads: the same function, fewer numbers to code.

    A unit of zero weights is φ(0) = 0 for the homogeneous activations; others keep such units.
    """
    homogeneous = all(activation(name).is_homogeneous for name in network.activations)
    hidden, output = dict(network.hidden), dict(network.output)
    for k in [*range(network.depth, 0, -1), *range(1, network.depth + 1)]:
        used = (output[k] != 0).reshape(-1, len(hidden[k, k - 1])).any(dim=0)
        if (k + 1, k) in hidden:
            used = used | (hidden[k + 1, k] != 0).any(dim=0)
        if homogeneous:
            used = used & (hidden[k, k - 1] != 0).any(dim=1)
        if not bool(used.any()):
            used[0] = True  # a layer has a unit
        hidden[k, k - 1], output[k] = hidden[k, k - 1][used], output[k][..., used]
        if (k + 1, k) in hidden:
            hidden[k + 1, k] = hidden[k + 1, k][:, used]
    n = (network.n[0], *(len(hidden[k, k - 1]) for k in range(1, network.depth + 1)))
    return Network(n, hidden, output, network.activations, network.outputs)
