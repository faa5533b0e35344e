"""How many threads of torch a piece of work gets: small products are slower on several, far slower on busy cores.

On one thread the bits do not depend on the number of cores either.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

LARGE = 5e8
"""Operations of a batch, some 20 ms of one core, from which on more threads pay."""


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in the block, and afterwards as many as before."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def threads_for(operations: float) -> Iterator[None]:
    """One thread for batches of fewer operations than LARGE; otherwise the threads that torch has."""
    if operations >= LARGE:
        yield
        return
    with one_thread():
        yield


def evaluated(module: nn.Module, x: Tensor) -> tuple[Any, float]:
    """The outputs on a few points, and the products and sums that one of them takes.

    >>> evaluated(nn.Linear(3, 2), torch.zeros(4, 3))[1]
    12.0
    """
    with FlopCounterMode(display=False) as counter, torch.no_grad(), one_thread():
        f = module(x)
    return f, counter.get_total_flops() / len(x)
