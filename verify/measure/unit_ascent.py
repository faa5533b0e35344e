"""The supremum over one unit of any layer, searched from below for many sign vectors and starts in one batch.

    T_s(σ) = sup_{h in H_s} Σ_i σ_i φ_s(h(x_i))

A candidate is one unit of layer s with a subnetwork of its own below, so every value is at most T_s(σ), whatever
the search missed. Layer r < s of the subnetwork has few distinct units, the t-th of which stands for a_t equal ones,
Σ_t a_t = n_r: with v_t = a_t^(1/q) u_t the constraint on the n_r weights is ||u||_p <= Λ on the few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from adanet_theory.spec import NetworkSpec
from adanet_train.convex.projection import nearest
from adanet_train.core.activations import apply_activation
from adanet_train.core.bar import inside
from adanet_train.core.network import Pair
from adanet_train.core.norms import dual_vectors, row_norms
from verify.measure.effort import DEEPEST, RACES

Weights = dict[Pair, Tensor]
"""weights[k, s] has shape (candidates, distinct units of layer k, distinct units of layer s)."""

_PROJECTED = (1, 2, math.inf)
_CACHED = 2**17  # numbers of a layer's outputs at a time that a processor's cache holds


@dataclass(frozen=True)
class UnitSearch:
    """Gradient ascent over one unit; `width` distinct units a layer, at most `restarts` starts for each sign vector.

    The step is u <- Π(u + γ g), g the gradient scaled to the size of the ball, Π the projection, where that is cheap:
    p = 1, 2 or inf. For other p it is u <- Π(u + γ Λ u*), u* the dual vector of g (the direction of steepest ascent in
    the p-norm) and Π the scaling back into the ball: here too a unit stays where it is iff it satisfies the
    first-order conditions.

    Only steps that raise the value are taken, so γ, which doubles after such a step and is halved after any other, is
    the candidate's own. The search runs in float32; the value that counts is that of the unit it found, in float64.
    """

    spec: NetworkSpec
    Psi: Tensor
    generator: torch.Generator
    restarts: int
    steps: int
    width: int

    def best(self, s: int, signs: Tensor, below: Weights) -> tuple[Tensor, Weights]:
        """(value, candidate) for each row of signs; `below` holds the candidates found for layer s - 1."""
        weights = {ks: w.to(self.dtype) for ks, w in self._starts(s, signs, below).items()}
        coarse = signs.to(self.dtype)
        steps = self.steps if s <= DEEPEST else 0
        value, slope = self._evaluate(s, weights, coarse) if steps else (coarse.new_zeros(0), {})
        rate = torch.ones_like(value)
        for step in range(steps):
            inside(step, steps)
            if step in RACES:
                kept = _better_half(value, len(signs))
                value, rate = value[kept], rate[kept]
                weights, slope = ({ks: w[kept] for ks, w in part.items()} for part in (weights, slope))
            trial = {ks: self._moved(ks, weights[ks], slope[ks], rate) for ks in weights}
            trial_value, trial_slope = self._evaluate(s, trial, coarse)
            better = trial_value > value
            value = torch.where(better, trial_value, value)
            rate = torch.where(better, (2 * rate).clamp_max(4), rate / 2)
            for ks in weights:
                weights[ks] = torch.where(better[:, None, None], trial[ks], weights[ks])
                slope[ks] = torch.where(better[:, None, None], trial_slope[ks], slope[ks])
            if rate.max() < 1e-3:
                break
        weights = {ks: self._inside(ks, w.double()) for ks, w in weights.items()}
        value = self._exact_values(s, weights, signs)
        value, start = value.reshape(-1, len(signs)).max(dim=0)
        chosen = start * len(signs) + torch.arange(len(signs), device=start.device)
        return value, {ks: w[chosen] for ks, w in weights.items()}

    @cached_property
    def dtype(self) -> torch.dtype:
        """float32 unless a number of the family or the sample is out of its reach."""
        sizes = [float(self.Psi.abs().max()), *(bound * self.spec.n[s] for (_, s), bound in self.spec.Lambda.items())]
        return torch.float32 if all(size < 1e6 for size in sizes) else torch.float64

    @cached_property
    def _coarse(self) -> Tensor:
        return self.Psi.to(self.dtype)

    # The candidates

    def units(self, r: int) -> int:
        """How many distinct units layer r has."""
        return min(self.width, self.spec.n[r])

    def _copies(self, r: int) -> Tensor:
        """a_t: each distinct unit of layer r stands for as many as any other, or for one more."""
        n_r, few = self.spec.n[r], self.units(r)
        return self.Psi.new_tensor([n_r // few + (t < n_r % few) for t in range(few)])

    def _starts(self, s: int, signs: Tensor, below: Weights) -> Weights:
        """Random units, and first the best guess: the maximiser of the linear part, or copies of the unit below."""
        spec, rows = self.spec, len(signs)
        # above layer 1 the copies are a good start already
        starts = 1 if s > DEEPEST else self.restarts if s == 1 else -(-self.restarts // 2)
        sizes = {0: spec.n[0]} | {r: self.units(r) for r in range(1, s)} | {s: 1}
        pairs = [(k, r) for (k, r), bound in spec.Lambda.items() if k <= s and bound > 0 and sizes[k] and sizes[r]]
        weights = {(k, r): self._random(starts * rows, sizes[k], sizes[r], (k, r)) for k, r in pairs}
        if s == 1 and (1, 0) in weights:
            weights[1, 0][:rows, 0] = spec.bound(1, 0) * dual_vectors(signs @ self.Psi, spec.p)
        for k, r in pairs if s > 1 else ():
            first = weights[k, r][:rows]
            if k < s:
                first[:] = below[k, r]  # the unit of layer s - 1 becomes all units of that layer
            elif r == s - 1:
                # equal weights on all n_r copies
                first[:] = spec.bound(k, r) * (self._copies(r) / spec.n[r]) ** (1 / spec.p)
            else:
                first[:] = 0
        return weights

    def _random(self, candidates: int, units: int, sources: int, ks: Pair) -> Tensor:
        """Normal rows brought into the ball; drawn on the CPU, so that every device starts from the same."""
        drawn = torch.randn(candidates * units, sources, generator=self.generator, dtype=self.Psi.dtype)
        p, bound = self.spec.p, self.spec.bound(*ks)
        inside = nearest(bound * drawn, bound, p) if p in _PROJECTED else bound * dual_vectors(drawn, p)
        return inside.reshape(candidates, units, sources).to(self.Psi.device)

    def _moved(self, ks: Pair, w: Tensor, slope: Tensor, rate: Tensor) -> Tensor:
        p, bound, n = self.spec.p, self.spec.bound(*ks), w.shape[2]
        rows, g = w.reshape(-1, n), slope.reshape(-1, n)
        step = (bound * rate).repeat_interleave(w.shape[1])[:, None]
        if p in _PROJECTED:
            length = n ** max(0.0, 0.5 - 1 / p) / torch.linalg.vector_norm(g, dim=1, keepdim=True).clamp_min(1e-30)
            return nearest(rows + step * length * g, bound, p).reshape(w.shape)
        moved = rows + step * dual_vectors(g, p)
        return (moved * (bound / row_norms(moved, p).clamp_min(bound))[:, None]).reshape(w.shape)

    def _inside(self, ks: Pair, w: Tensor) -> Tensor:
        """Scaled into the ball by more than the rounding of a norm, so that the real norm is at most Λ."""
        p, bound = self.spec.p, self.spec.bound(*ks) * (1 - (w.shape[2] + 16) * 2.0**-50)
        norms = row_norms(w.reshape(-1, w.shape[2]), p).reshape(w.shape[:2])
        return w * (bound / norms.clamp_min(bound))[:, :, None]

    # Their values

    def _values(self, s: int, weights: Weights, signs: Tensor, Psi: Tensor) -> Tensor:
        """Σ_i σ_i φ_s(h(x_i)) of each candidate."""
        candidates = len(self._candidates(weights, signs))
        outputs: dict[int, Tensor] = {}
        for k in range(1, s + 1):
            h = Psi.new_zeros(candidates, 1 if k == s else self.units(k), len(Psi))
            for r in [r for (layer, r) in weights if layer == k]:
                if r == 0:
                    h = weights[1, 0] @ Psi.T
                else:
                    copies = self._copies(r).to(Psi.dtype)
                    h = h + (weights[k, r] * copies ** (1 - 1 / self.spec.p)) @ outputs[r]
            outputs[k] = apply_activation(self.spec.phi(k).name, h)
        return (outputs[s][:, 0].reshape(-1, *signs.shape) * signs).sum(-1).flatten()

    def _evaluate(self, s: int, weights: Weights, signs: Tensor) -> tuple[Tensor, Weights]:
        """The values and their gradients; the candidates do not interact, so one backward pass gives all.

        Both are sums over the points: a few of them at a time stay in the cache, and need no memory.
        """
        leaves = {ks: w.detach().requires_grad_() for ks, w in weights.items()}
        value = self._coarse.new_zeros(len(self._candidates(weights, signs)))
        slopes: Sequence[Tensor] | None = None
        for points in self._parts(weights, signs):
            part = self._values(s, leaves, signs[:, points], self._coarse[points])
            value = value + part.detach()
            if part.requires_grad:  # else layer s is connected to nothing
                more = torch.autograd.grad(part.sum(), list(leaves.values()), materialize_grads=True)
                slopes = more if slopes is None else [a + b for a, b in zip(slopes, more, strict=True)]
        if slopes is None:
            return value, {ks: torch.zeros_like(w) for ks, w in weights.items()}
        return value, dict(zip(leaves, slopes, strict=True))

    @torch.no_grad()
    def _exact_values(self, s: int, weights: Weights, signs: Tensor) -> Tensor:
        """The values in float64, which count."""
        parts = self._parts(weights, signs)
        return torch.stack([self._values(s, weights, signs[:, part], self.Psi[part]) for part in parts]).sum(0)

    def _candidates(self, weights: Weights, signs: Tensor) -> Tensor:
        return next(iter(weights.values()), signs)  # without weights there is one candidate for each sign vector

    def _parts(self, weights: Weights, signs: Tensor) -> list[slice]:
        numbers = len(self._candidates(weights, signs)) * max(1, self.width)
        size = max(256, _CACHED // numbers) if self.Psi.device.type == "cpu" else len(self.Psi)
        return [slice(start, start + size) for start in range(0, len(self.Psi), size)]


def _better_half(value: Tensor, rows: int) -> Tensor:
    """The candidates, the starts of one sign vector `rows` apart, of which each sign vector keeps the better half."""
    by_start = value.reshape(-1, rows)
    kept = by_start.topk((len(by_start) + 1) // 2, dim=0).indices
    return (kept * rows + torch.arange(rows, device=value.device)).flatten()
