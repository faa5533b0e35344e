"""Devices by name, and how many threads of torch a piece of work gets.

Small products are slower on several threads, far slower on busy cores. On one thread the bits do not depend on the
number of cores either. torch is imported late, as every command reads this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

LARGE = 5e8
"""Operations of a batch, some 20 ms of one core, from which on more threads pay."""


def device(name: str) -> str:
    """The device of that name, if it is available; "auto" is the GPU if there is one."""
    if name == "cpu":
        return name
    if not re.fullmatch(r"auto|cuda(:[0-9]{1,3})?", name):
        raise ValueError(f"device must be auto, cpu, cuda or cuda:N, got {name[:40]!r}.")
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return "cuda" if count else "cpu"
    if int(name.partition(":")[2] or 0) >= count:
        raise ValueError(f"device {name!r} is not available here: give auto or cpu.")
    return name


KEPT = 31 << 20
"""Bytes; glibc's malloc learns from blocks of up to 32 MB."""


def keep_freed_memory() -> None:
    """Make malloc keep what a step frees for the next one, up to 62 MB, instead of returning it to the system.

    Otherwise a step on images can have hundreds of page faults, which cost up to a quarter of its time. glibc keeps
    twice as much as the largest block that it has returned: one of this size is asked for and freed untouched.
    """
    import torch

    torch.empty(KEPT, dtype=torch.uint8)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in the block, and afterwards as many as before."""
    import torch

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
    """The outputs on a few points, and the products and sums that one of them takes; refuses rows it cannot read.

    >>> import torch
    >>> evaluated(torch.nn.Linear(3, 2), torch.zeros(4, 3))[1]
    12.0
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, torch.no_grad(), one_thread():
        try:
            f = module(x)
        except Exception as error:  # whatever forward does
            reason = " ".join(str(error).split()) or type(error).__name__
            flat = " X has no channel axis: pass X[:, None]." if x.ndim == 3 else ""
            unread = f"X has rows of the shape {tuple(x.shape[1:])}, which the module cannot read: {reason}.{flat}"
            raise ValueError(unread) from None
    return f, counter.get_total_flops() / len(x)
