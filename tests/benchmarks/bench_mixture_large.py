"""The convex step against glum at B = 500 and 1000, where glum takes minutes: each solved once."""

from typing import Any

from tests.benchmarks.bench_mixture import rows


def run() -> list[dict[str, Any]]:
    return rows(500) + rows(1000)
