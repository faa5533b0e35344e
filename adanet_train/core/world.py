"""The processes that train together: each works on its share of the rows, sums over the sample are added up.

Every process runs the same program on its own rows. All decisions depend on sums over the sample, which
`torch.distributed` gives to all processes with the same bits. So all end with the same network.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from adanet_theory.checks import check

if TYPE_CHECKING:
    from adanet_train.core.network import Network

BLOCK = 1 << 14
"""Rows of a block: of each block every process has its share, so that pieces of the sample are divided too."""


class ProcessEnded(RuntimeError):
    """Another process of the run has ended."""


@contextmanager
def _while_all_run() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise ProcessEnded("another process of the run ended.") from error


@dataclass(frozen=True)
class World:
    """`size` processes, of which this is number `rank`; a single one adds nothing up."""

    rank: int = 0
    size: int = 1

    def sum(self, values: Tensor) -> Tensor:
        """Σ over the processes, in place."""
        return self._reduced(values, "SUM")

    def max(self, values: Tensor) -> Tensor:
        return self._reduced(values, "MAX")

    def min(self, values: Tensor) -> Tensor:
        return self._reduced(values, "MIN")

    def _reduced(self, values: Tensor, operation: str) -> Tensor:
        if self.size > 1:
            import torch.distributed as processes

            with _while_all_run():
                processes.all_reduce(values, getattr(processes.ReduceOp, operation))
        return values

    def sent(self, value: Any, source: int) -> Any:
        """The value that process `source` has: plain values and CPU tensors, from our own processes only."""
        if self.size > 1:
            import torch.distributed as processes

            values = [value]
            with _while_all_run():
                processes.broadcast_object_list(values, src=source)
            return values[0]
        return value

    def check_same(self, network: Network) -> None:
        """Refuse networks that are not the same to the last bit."""
        tensors = [*network.hidden.values(), *network.output.values()]
        digest = hashlib.sha256(b"".join(tensor.cpu().contiguous().numpy().tobytes() for tensor in tensors))
        number = torch.tensor([int.from_bytes(digest.digest()[:7])], device=tensors[0].device)
        same = bool(self.max(number.clone()) == self.min(number))
        check(same, "the processes ended with different networks: do all run the same versions on the same data?")

    def share(self, m: int) -> Tensor | None:
        """The numbers of the rows that this process works on; None if all.

        >>> World(1, 2).share(5)
        tensor([2, 3, 4])
        """
        if self.size == 1:
            return None
        return torch.cat([torch.arange(*self.part(first, min(first + BLOCK, m))) for first in range(0, m, BLOCK)])

    def part(self, first: int, last: int) -> tuple[int, int]:
        """The share of the rows first, .., last - 1 of one block."""
        n = last - first
        return first + n * self.rank // self.size, first + n * (self.rank + 1) // self.size


ALONE = World()


@contextmanager
def joined(device: str) -> Iterator[World]:
    """The processes that torchrun or `--processes` started, by the environment they were given; alone without one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield ALONE
        return
    import torch.distributed as processes

    backend = "nccl" if device.startswith("cuda") else "gloo"
    processes.init_process_group(backend, timeout=datetime.timedelta(minutes=30))
    try:
        yield World(processes.get_rank(), size)
    finally:
        processes.destroy_process_group()


def local_device(device: str) -> str:
    """Each process of a machine has a GPU of its own."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" and "LOCAL_RANK" in os.environ else device
