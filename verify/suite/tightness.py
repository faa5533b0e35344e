"""How close each statement came to failing: the largest lhs/rhs that the property suite has seen, and where.

A property calls `below` for every inequality it tries. That asserts it, steers hypothesis towards examples with a
larger ratio, and keeps the largest. The hooks of `verify.conftest` collect what each test kept and print the table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hypothesis import currently_in_test_context, target

from adanet_train.core.files import write_file

SCHEMA = "tightness/1"


@dataclass(frozen=True)
class Closest:
    """The largest lhs/rhs seen for a statement, the example it came from, and the number of examples tried."""

    statement: str
    ratio: float
    where: str
    examples: int

    def joined(self, other: Closest) -> Closest:
        """Both records of the same statement as one."""
        larger = self if self.ratio >= other.ratio else other
        return Closest(self.statement, larger.ratio, larger.where, self.examples + other.examples)


_kept: dict[str, Closest] = {}


def below(statement: str, lhs: float, rhs: float, where: str = "", *, rounding: float = 1e-12) -> None:
    """Assert lhs <= rhs and keep lhs/rhs; `rounding` is the relative error of the float that stands for rhs.

    A left side known as an interval comes with its lower end. 0 <= 0 holds and is no example of anything.

    >>> below("a-statement", 1.0, 2.0, "m = 3")
    >>> taken()
    [Closest(statement='a-statement', ratio=0.5, where='m = 3', examples=1)]
    >>> below("a-statement", 2.0, 1.0, "m = 4")
    Traceback (most recent call last):
    AssertionError: a-statement: 2.0 > 1.0 (m = 4)
    """
    assert lhs <= rhs + rounding * abs(rhs), f"{statement}: {lhs} > {rhs} ({where})"
    if rhs > 0 and math.isfinite(rhs):
        keep(statement, lhs / rhs, where)


def keep(statement: str, ratio: float, where: str = "") -> None:
    """Keep the ratio if it is the largest so far, and tell hypothesis to look for a larger one."""
    record = Closest(statement, float(ratio), where, 1)
    _kept[statement] = _kept[statement].joined(record) if statement in _kept else record
    if currently_in_test_context():
        target(float(ratio), label=statement)


def taken() -> list[Closest]:
    """What has been kept since the last call."""
    records = list(_kept.values())
    _kept.clear()
    return records


def merged(records: Iterable[Closest]) -> list[Closest]:
    """One record for each statement, the closest first.

    >>> [c.statement for c in merged([Closest("a", 0.1, "", 1), Closest("b", 0.5, "", 1), Closest("a", 0.7, "", 1)])]
    ['a', 'b']
    """
    closest: dict[str, Closest] = {}
    for record in records:
        known = closest.get(record.statement)
        closest[record.statement] = record if known is None else known.joined(record)
    return sorted(closest.values(), key=lambda record: (-record.ratio, record.statement))


def plain(records: Iterable[Closest]) -> list[dict[str, Any]]:
    """The records as plain dicts, which pytest's reports can carry from one process to another."""
    return [asdict(record) for record in records]


def of_plain(records: Iterable[Mapping[str, Any]]) -> list[Closest]:
    return [Closest(**record) for record in records]


def table(records: Iterable[Closest]) -> str:
    """The records as text, the closest first.

    >>> print(table([Closest("lemma-1", 0.5, "m = 3, p = 1", 200)]))
    statement  largest lhs/rhs  examples  where
    lemma-1             0.5000       200  m = 3, p = 1
    """
    rows = [(c.statement, f"{c.ratio:.4f}", str(c.examples), c.where) for c in merged(records)]
    head = ("statement", "largest lhs/rhs", "examples", "where")
    width = [max(len(row[i]) for row in [head, *rows]) for i in range(3)]
    lines = [f"{a:<{width[0]}}  {b:>{width[1]}}  {c:>{width[2]}}  {d}".rstrip() for a, b, c, d in [head, *rows]]
    return "\n".join(lines)


def write(records: Iterable[Closest], path: Path) -> None:
    """The records as JSON, schema tightness/1."""
    document = {"schema": SCHEMA, "statements": plain(merged(records))}
    write_file(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
