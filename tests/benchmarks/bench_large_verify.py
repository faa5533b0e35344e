"""verify-bounds on the rows and the network of bench_large, which must have run: apart from it, as it takes long."""

from __future__ import annotations

from tests.benchmarks.bench_large import verified


def run() -> list[dict]:
    return verified()
