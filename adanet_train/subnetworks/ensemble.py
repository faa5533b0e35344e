"""f = Σ_t w_t h_t as one torch module, and as a table to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from adanet_train.subnetworks.measure import depth
from adanet_train.subnetworks.protocol import Report


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
    """The architecture: number, round, depth, parameters, weight, share of f and inputs of each subnetwork.

    It prints as a table. `plain` is what `figures.architecture.draw` takes.
    """

    rows: list[dict[str, Any]]
    outputs: int
    shape: tuple[int, ...]

    @property
    def plain(self) -> dict[str, Any]:
        return {"rows": self.rows, "outputs": self.outputs, "shape": list(self.shape)}

    def __str__(self) -> str:
        columns = ("", "subnetwork", "round", "depth", "parameters", "weight", "share of f", "reads")
        return aligned(columns, [_cells(t, row) for t, row in enumerate(self.rows, start=1)], left=(1, 7))

    __repr__ = __str__


def _cells(t: int, row: dict[str, Any]) -> tuple[str, ...]:
    reads = ", ".join(["inputs", *map(str, row["reads"])])
    sizes = f"{row['depth']}", f"{row['parameters']:,}", f"{row['weight']:.3g}", f"{row['share']:.1%}"
    return f"{t}", row["name"], f"{row['round']}", *sizes, reads


@dataclass(frozen=True)
class Candidates:
    """All candidates of all rounds as they were reported; it prints as a table."""

    reports: tuple[Report, ...]

    def __str__(self) -> str:
        columns = ("round", "candidate", "train", "validation", "F", "complexity", "", "parameters", "seconds", "")
        return aligned(columns, [_report(report) for report in self.reports], left=(1, 6, 9))

    __repr__ = __str__


def _report(report: Report) -> tuple[str, ...]:
    losses = ("" if loss is None else f"{loss:.4f}" for loss in (report.train, report.validation, report.objective))
    seconds = "" if report.seconds is None else f"{report.seconds:.1f}"
    measured = f"{report.complexity:.4g}", report.measure, f"{report.parameters:,}"
    return f"{report.round}", report.name, *losses, *measured, seconds, "kept" if report.chosen else ""


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> str:
    """A table of texts, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = []
    for row in (columns, *rows):
        cells = [
            text.ljust(w) if j in left else text.rjust(w) for j, (text, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def summarised(chosen: Sequence[Any], outputs: int, shape: tuple[int, ...]) -> Summary:
    """A subnetwork's share of f is its share of the sum of the means |w_t h_t| on the sample."""
    total = sum(abs(one.weight) * one.size for one in chosen) or 1.0
    rows = []
    for part in chosen:
        earlier = enumerate(chosen, start=1)
        reads = [s for s, other in earlier if other is not part and _contains(part.module, other.module)]
        row = {"name": part.name, "round": part.round, "depth": depth(part.module), "parameters": part.parameters}
        rows.append(row | {"weight": part.weight, "share": abs(part.weight) * part.size / total, "reads": reads})
    return Summary(rows, outputs, shape)


def _contains(module: nn.Module, other: nn.Module) -> bool:
    return any(part is other for part in module.modules())
