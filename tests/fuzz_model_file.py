"""python -m tests.fuzz_model_file [N]: N mutations of two good files, each given to verify-bounds.

One file is a model.pt of AdaNet, the other a compressed network; the latter is checked on a sample.

Never a traceback: status 0 or 1 with a report, or status 2 with one line. Half of the mutations are of the file, which
mostly breaks its checksums; the other half of what is inside, packed again with checksums that fit.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import nn

from adanet_train import compress
from adanet_train.compression import file
from adanet_train.model import model_file
from tests.verify_models import model
from verify.cli import main


def mutated(data: bytes, draw: np.random.Generator) -> bytes:
    """One to eight bytes changed, and sometimes a piece cut out, doubled or put elsewhere."""
    content = bytearray(data)
    for _ in range(int(draw.integers(1, 9))):
        content[int(draw.integers(len(content)))] = int(draw.choice([0, 1, 0x7F, 0x80, 0xFF, draw.integers(256)]))
    if draw.integers(8) == 0:
        start, stop = sorted(int(place) for place in draw.integers(len(content), size=2))
        piece = content[start : min(stop, start + 64)]
        place = int(draw.integers(len(content)))
        content[place : place + int(draw.integers(2)) * len(piece)] = piece
    return bytes(content)


def packed_again(data: bytes, draw: np.random.Generator) -> bytes:
    """One member of the archive mutated, the checksums made anew."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        names = old.namelist()
        pickles = [name for name in names if name.endswith(".pkl")]
        chosen = str(draw.choice(pickles if draw.integers(3) else names))
        for name in names:
            content = old.read(name)
            new.writestr(name, mutated(content, draw) if name == chosen and content else content)
    return buffer.getvalue()


def outcome(path: Path, *data: str) -> str:
    """What verify-bounds made of the file; an AssertionError if it broke its word."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(path), "--no-estimates", "--json", *data])
    line = err.getvalue()
    assert status in (0, 1, 2), f"status {status}"
    if status == 2:
        assert line.startswith("verify-bounds: "), line
        assert line.count("\n") == 1, line
        assert not out.getvalue()
        return "refused"
    assert not line, line
    return "reported"


def run(count: int, seed: int = 0) -> Counter[str]:
    draw = np.random.default_rng(seed)
    points = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    small = compress(nn.Sequential(nn.Linear(6, 3), nn.ReLU(), nn.Linear(3, 1)), points, points[:, 0] > 0, budget=0)
    goods = [(model_file.encode(model(m=6, n=(2, 3, 1))), []), (file.encoded(small), ["--data"])]
    actual: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path, sample = Path(folder) / "model.pt", Path(folder) / "sample.npz"
        np.savez(sample, X=points.numpy(), y=(points[:, 0] > 0).numpy().astype(int))
        for number in range(count):
            good, asked = goods[number // 2 % 2]
            path.write_bytes(mutated(good, draw) if number % 2 else packed_again(good, draw))
            try:
                actual[outcome(path, *asked, *[str(sample)] * len(asked))] += 1
            except BaseException:
                kept = Path(tempfile.gettempdir()) / f"fuzz-{number}.pt"
                kept.write_bytes(path.read_bytes())
                print(f"mutation {number} of seed {seed} broke verify-bounds; the file is {kept}", file=sys.stderr)
                raise
    return actual


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    counts = run(total)
    print(", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())))
