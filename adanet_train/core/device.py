"""The device of a name: one argument decides it for everything."""

from __future__ import annotations

import re


def device(name: str) -> str:
    """The device of that name, if it is here; "auto" is the GPU when there is one."""
    if name == "cpu":
        return name
    if not re.fullmatch(r"auto|cuda(:[0-9]{1,3})?", name):
        raise ValueError(f"device must be auto, cpu, cuda or cuda:N, got {name[:40]!r}.")
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return "cuda" if count else "cpu"
    if int(name.partition(":")[2] or 0) >= count:
        raise ValueError(f"device {name!r} is not available here.")
    return name
