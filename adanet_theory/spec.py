"""The family of networks that a statement covers: sizes, weight bounds, norm, activations (Section 2 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Never

from adanet_theory.activations import Activation, activation
from adanet_theory.checks import OutsideTheoryError, check, refuse_unknown
from adanet_theory.norms import conjugate
from adanet_theory.scalars import exponent, plain


@dataclass(frozen=True)
class NetworkSpec:
    """The declared family: n = (n_0, .., n_l), Lambda[k, s] >= 0, p in [1, inf], activations φ_1, .., φ_{l-1}.

    Parameters
    ----------
    n
        Sizes n_0, .., n_l: the number of features, then the number of units in each layer.
    Lambda
        Bounds Λ_{k,s} >= 0, by (k, s), on the p-norm of the weights from layer s to a unit of layer k. Layers of a
        missing pair are not connected.
    p
        Exponent of the norm, in [1, inf]; "inf" is accepted.
    activations
        φ_1, .., φ_{l-1} by name or record; one name stands for all layers.

    Raises
    ------
    ValueError
        If a size, a bound, p or a name is outside its range.

    Examples
    --------
    >>> spec = NetworkSpec(n=(4, 3, 2), Lambda={(1, 0): 1.0, (2, 1): 0.5}, p=2)
    >>> spec.depth, spec.q, spec.is_layered, spec.bound(2, 1)
    (2, 2.0, True, 0.5)
    """

    n: tuple[int, ...]
    Lambda: Mapping[tuple[int, int], float]
    p: float
    activations: tuple[Activation, ...] = ()

    def __init__(
        self,
        n: Sequence[int],
        Lambda: Mapping[tuple[int, int], float],
        p: float | str,
        activations: str | Activation | Iterable[str | Activation] = "relu",
        **unknown: Never,
    ) -> None:
        refuse_unknown("NetworkSpec", unknown, ("n", "Lambda", "p", "activations"))
        sizes = tuple(n)
        depth = len(sizes) - 1
        check(depth >= 1, f"n must hold n_0 and at least n_1, got n={list(sizes)}.")
        for k, n_k in enumerate(sizes):
            whole = isinstance(plain(n_k), int) and not isinstance(plain(n_k), bool)
            check(whole, f"n_{k} must be an integer, got n_{k}={n_k!r}.")
            check(n_k >= (1 if k == 0 else 0), f"n_{k} must be >= {int(k == 0)}, got n_{k}={n_k}.")
        exponent(p)
        for (k, s), bound in Lambda.items():
            allowed = 1 <= k <= depth and (1 <= s < k or (k, s) == (1, 0))
            check(allowed, f"Lambda_{{{k},{s}}} must connect layers 1 <= s < k <= {depth}, or be Lambda_{{1,0}}.")
            check(0 <= bound < math.inf, f"Lambda_{{{k},{s}}} must be finite and >= 0, got {bound}.")
        if isinstance(activations, str | Activation):
            phi = (activation(activations),) * (depth - 1)
        else:
            phi = tuple(activation(a) for a in activations)
        check(len(phi) == depth - 1, f"activations must name the {depth - 1} layers below the top, got {len(phi)}.")
        object.__setattr__(self, "n", tuple(int(n_k) for n_k in sizes))
        object.__setattr__(self, "Lambda", {pair: float(bound) for pair, bound in sorted(Lambda.items())})
        object.__setattr__(self, "p", exponent(p))
        object.__setattr__(self, "activations", phi)

    @classmethod
    def layered(
        cls,
        n: Sequence[int],
        Lambda: float | Sequence[float],
        p: float | str,
        activations: str | Activation | Iterable[str | Activation] = "relu",
        **unknown: Never,
    ) -> NetworkSpec:
        """Units that read only the layer below (H*_k). Lambda is one number, or Lambda_{1,0}, .., Lambda_{l,l-1}.

        >>> NetworkSpec.layered((4, 3, 2), 1.5, p=1).Lambda
        {(1, 0): 1.5, (2, 1): 1.5}
        """
        refuse_unknown("NetworkSpec.layered", unknown, ("n", "Lambda", "p", "activations"))
        depth = len(n) - 1
        one = plain(Lambda)
        bounds = [one] * depth if isinstance(one, int | float) else list(one)
        check(len(bounds) == depth, f"Lambda must hold one bound for each of the {depth} layers, got {len(bounds)}.")
        return cls(n, {(k, k - 1): bounds[k - 1] for k in range(1, depth + 1)}, p, activations)

    @property
    def depth(self) -> int:
        """l, the number of layers; only the output reads the units of layer l."""
        return len(self.n) - 1

    @property
    def q(self) -> float:
        """The conjugate of p: 1/p + 1/q = 1."""
        return conjugate(self.p)

    @property
    def is_layered(self) -> bool:
        """Whether every unit reads only the layer below, so that H_k = H*_k."""
        return all(s == k - 1 for (k, s), bound in self.Lambda.items() if bound > 0)

    def phi(self, s: int) -> Activation:
        """φ_s, the activation after the units of layer s, 1 <= s < l."""
        return self.activations[s - 1]

    def bound(self, k: int, s: int) -> float:
        """Lambda_{k,s}; 0 without a connection."""
        return self.Lambda.get((k, s), 0.0)

    def root(self, s: int) -> float:
        """n_s^(1/q); 1 at q = inf, and 0 for a layer without units."""
        n_s = self.n[s]
        return float(n_s) ** (1 - 1 / self.p) if n_s else 0.0

    def is_centred(self, k: int) -> bool:
        """Whether φ_s(0) = 0 at every layer s < k."""
        return all(phi.at_zero == 0 for phi in self.activations[: k - 1])

    def require_phi_zero(self, below: int) -> None:
        """Refuse if φ_s(0) != 0 for some layer s < below, because Lemmas 1-2 pass through it."""
        for s in range(1, below):
            phi = self.phi(s)
            if phi.at_zero != 0:
                raise OutsideTheoryError(
                    "phi-zero", f"phi(0) must be 0, got {phi.name}(0)={phi.at_zero:.6g} at layer {s}."
                )

    def require_lipschitz(self, below: int) -> None:
        """Refuse if φ_s is not 1-Lipschitz for some layer s < below."""
        for s in range(1, below):
            phi = self.phi(s)
            if phi.lipschitz > 1:
                raise OutsideTheoryError(
                    "lipschitz", f"phi must be 1-Lipschitz, got L={phi.lipschitz:.6g} for {phi.name} at layer {s}."
                )


def check_layer(spec: NetworkSpec, k: int, first: int = 1) -> None:
    check(first <= k <= spec.depth, f"k must be a layer in [{first}, {spec.depth}], got k={k}.")
