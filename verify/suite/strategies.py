"""Hypothesis strategies for what the statements are about: exponents, vectors, samples, families, problems.

Small whole numbers come up often, because degenerate positions (zeros, ties, parallel or repeated points) do then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from adanet_theory.activations import ACTIVATIONS
from adanet_theory.checks import Array
from adanet_theory.spec import NetworkSpec
from adanet_train.core.network import Network, Pair
from adanet_train.core.surrogates import SURROGATES

SMOOTH = ("sigmoid", "softplus", "tanh")
HOMOGENEOUS = ("relu", "leaky_relu:0.1", "abs", "identity")
NAMES = tuple(name for name in ACTIVATIONS if ":" not in name)


def exponents() -> st.SearchStrategy[float]:
    """p in [1, inf], its ends and their neighbourhoods included."""
    return st.one_of(st.sampled_from([1.0, 2.0, math.inf, 1.001, 1.5, 3.0, 1e4]), st.floats(1, 50))


def vectors(largest: int = 6) -> st.SearchStrategy[Array]:
    """ε: small whole numbers with ties and zeros, or any floats from denormals to ±1e300."""
    whole = st.integers(-4, 4).map(float)
    wide = st.floats(-1e300, 1e300, allow_subnormal=True)
    size = st.integers(1, largest)
    return st.one_of(arrays(np.float64, size, elements=whole), arrays(np.float64, size, elements=wide))


def points(n_0: int, most: int, least: int = 1) -> st.SearchStrategy[Array]:
    """A sample of `least` to `most` points with n_0 features in [-2, 2]: quarters of whole numbers, or floats."""
    rows = st.integers(least, most)
    quarters = st.integers(-8, 8).map(lambda i: i / 4)
    # nothing that is tiny beside the rest: R_S would be lost in the rounding of the other terms
    generic = st.floats(-2, 2).map(lambda x: round(x, 3))
    return rows.flatmap(
        lambda m: st.one_of(
            arrays(np.float64, (m, n_0), elements=quarters), arrays(np.float64, (m, n_0), elements=generic)
        )
    )


def bounds() -> st.SearchStrategy[float]:
    """Λ_{k,s} in {0} or [1/8, 4]."""
    return st.one_of(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.floats(0.125, 4))


@st.composite
def families(
    draw: st.DrawFn, *, n_0: int, depth: int, activations: tuple[str, ...] = NAMES, layered: bool = False
) -> NetworkSpec:
    """A declared family over n_0 features with that many layers, with or without connections that skip layers."""
    n = (n_0, *draw(st.lists(st.integers(1, 5), min_size=depth, max_size=depth)))
    pairs = [(k, s) for k in range(1, depth + 1) for s in range(k) if (s > 0 or k == 1) and (s == k - 1 or not layered)]
    Lambda = {pair: draw(bounds()) for pair in pairs}
    phi = draw(st.lists(st.sampled_from(activations), min_size=depth - 1, max_size=depth - 1))
    return NetworkSpec(n, Lambda, draw(exponents()), phi)


@dataclass(frozen=True)
class CvxStep:
    """What one step of AdaNet.CVX sees: inputs z(x_i) of a layer, labels, f_{t-1}, Γ, Λ = 1, p and the name of Φ."""

    Z: Tensor
    y: Tensor
    f: Tensor
    Gamma: float
    p: float
    Phi: str

    def __str__(self) -> str:
        m, n = self.Z.shape
        return f"m = {m}, n = {n}, p = {self.p:g}, Γ = {self.Gamma:g}, {self.Phi}"


def columns(m: int, n: int, reach: float = 3.0) -> st.SearchStrategy[Tensor]:
    """An m x n matrix of hundredths in [-reach, reach]."""
    hundredths = st.integers(-round(100 * reach), round(100 * reach)).map(lambda i: i / 100)
    return arrays(np.float64, (m, n), elements=hundredths).map(torch.from_numpy)


def labels(m: int) -> st.SearchStrategy[Tensor]:
    return arrays(np.float64, m, elements=st.sampled_from([1.0, -1.0])).map(torch.from_numpy)


@st.composite
def steps(draw: st.DrawFn, *, names: tuple[str, ...] = tuple(SURROGATES)) -> CvxStep:
    """A step problem of 2 to 6 points and 1 to 3 inputs; Γ > 0, so that it has a minimiser."""
    m, n = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    Gamma = draw(st.one_of(st.sampled_from([0.1, 0.01, 0.5]), st.floats(0.01, 1)))
    p = draw(st.sampled_from([1.0, 1.5, 2.0, 3.0, math.inf]))
    f = draw(columns(m, 1, reach=1.0))[:, 0].contiguous()
    return CvxStep(draw(columns(m, n)), draw(labels(m)), f, Gamma, p, draw(st.sampled_from(names)))


# Floats at their edges, for what is printed as exact or outward


def edges(largest: int = 300) -> st.SearchStrategy[float]:
    """Denormals, huge ones up to 2^largest, whole numbers, and numbers an ulp or two from one another or apart."""
    denormal = st.integers(1, 2**12).map(lambda k: k * 2.0**-1074)
    power = st.tuples(st.integers(2**52, 2**53 - 1), st.integers(-1074, largest - 53))
    near = st.integers(-3, 3).map(lambda k: 1.0 + k * 2.0**-52)
    size = st.one_of(st.integers(0, 3).map(float), near, denormal, power.map(lambda x: math.ldexp(*x)))
    return st.tuples(size, st.sampled_from([1.0, -1.0])).map(lambda x: x[0] * x[1])


def edge_arrays(*shape: int, largest: int = 300) -> st.SearchStrategy[Array]:
    return arrays(np.float64, shape, elements=edges(largest), fill=st.nothing())


def in_layers(n: tuple[int, ...], hidden: dict[Pair, Array], output: dict[int, Array], phi: str) -> Network:
    """A network of one activation."""
    U = {pair: torch.from_numpy(x) for pair, x in hidden.items()}
    return Network(n, U, {k: torch.from_numpy(w) for k, w in output.items()}, (phi,) * (len(n) - 2))


@st.composite
def edge_networks(draw: st.DrawFn) -> Network:
    """A network of one to three layers, skips included, a piecewise linear activation, weights at the edges."""
    n = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=4)))
    depth = len(n) - 1
    pairs = [(k, s) for k in range(1, depth + 1) for s in range(k) if s > 0 or k == 1]
    hidden = {(k, s): draw(edge_arrays(n[k], n[s], largest=150)) for k, s in pairs if s == k - 1 or draw(st.booleans())}
    output = {k: draw(edge_arrays(n[k], largest=150)) for k in range(1, depth + 1) if k == depth or draw(st.booleans())}
    return in_layers(n, hidden, output, draw(st.sampled_from(HOMOGENEOUS)))
