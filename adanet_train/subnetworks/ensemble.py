"""f = Σ_t w_t h_t as one torch module, and as a table that people can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from adanet_train.subnetworks.measure import depth


class ShapedSubnetwork(nn.Module):
    """A subnetwork with the shape of its outputs settled: (rows, 1) for two classes, else (rows, C)."""

    def __init__(self, module: nn.Module, outputs: int, sample: Tensor) -> None:
        super().__init__()
        self.module = module.eval()
        with torch.no_grad():
            f = module(sample)
        self.kind = "vector" if f.ndim == 1 else "difference" if outputs == 1 and f.shape[1] == 2 else "plain"

    def forward(self, x: Tensor) -> Tensor:
        f: Tensor = self.module(x)
        if self.kind == "vector":
            return f[:, None]
        return f[:, 1:] - f[:, :1] if self.kind == "difference" else f


class Ensemble(nn.Module):
    """The sum of the weighted subnetworks: one number per point for two classes, else one per class."""

    w: Tensor

    def __init__(self, parts: Sequence[ShapedSubnetwork], w: Sequence[float], outputs: int) -> None:
        super().__init__()
        self.parts, self.outputs = nn.ModuleList(parts), outputs
        self.register_buffer("w", torch.tensor(list(w), dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        f = self.w[0] * self.parts[0](x)
        for t, part in enumerate(list(self.parts)[1:], start=1):
            f = f + self.w[t] * part(x)
        return f[:, 0] if self.outputs == 1 else f


@dataclass(frozen=True)
class Summary:
    """One line per subnetwork: what it is, how deep and large, its share of f, and what it reads."""

    rows: list[dict[str, Any]]

    def __str__(self) -> str:
        lines = [f"{'subnetwork':24} {'depth':>5} {'parameters':>11} {'weight':>9} {'share of f':>10}  reads"]
        for row in self.rows:
            head = f"{row['name'][:24]:24} {row['depth']:5d} {row['parameters']:11,d} {row['weight']:9.3g}"
            lines.append(f"{head} {row['share']:10.1%}  {row['reads']}")
        return "\n".join(lines)


def summarised(chosen: Sequence[Any]) -> Summary:
    """The share of f that a subnetwork makes is by the mean |w_t h_t| on the sample."""
    total = sum(abs(one.weight) * one.size for one in chosen) or 1.0
    rows = []
    for part in chosen:
        earlier = [other.name for other in chosen if other is not part and _contains(part.module, other.module)]
        row = {"name": part.name, "depth": depth(part.module), "parameters": part.parameters, "weight": part.weight}
        row |= {"share": abs(part.weight) * part.size / total, "reads": ", ".join(["inputs", *earlier])}
        rows.append(row)
    return Summary(rows)


def _contains(module: nn.Module, other: nn.Module) -> bool:
    return any(part is other for part in module.modules())
