"""pytest hooks of the property suite, in the repository and for `pytest --pyargs verify`.

The profile is HYPOTHESIS_PROFILE: `ci` (default, repeatable) or `thorough` (many examples, fresh randomness). After a
thorough run, or where the variable TIGHTNESS names a file, a table shows how close every statement came; the file holds
it as JSON. (A variable, because with --pyargs pytest reads these hooks after its options.)
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from verify.suite import tightness
from verify.suite.profiles import current, load

KEY = "tightness"

load()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "claim(id): the entry of paper_notes/claims.toml that this test settles")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    tightness.taken()
    try:
        return (yield)
    finally:
        item.user_properties.append((KEY, tightness.plain(tightness.taken())))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = [report for report in terminalreporter.getreports("passed") if report.when == "call"]
    records = [
        record for report in passed for key, value in report.user_properties if key == KEY
        for record in tightness.of_plain(value)
    ]  # fmt: skip
    file = os.environ.get("TIGHTNESS")
    if file:
        tightness.write(records, Path(file))
    if records and (file or current() == "thorough"):
        terminalreporter.section("how close each statement came")
        terminalreporter.write_line(tightness.table(records))
