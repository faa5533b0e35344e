"""What the commands share: errors of one line with status 2, and the version they tell. Imports nothing heavy."""

from __future__ import annotations

import argparse
from importlib.metadata import PackageNotFoundError, version
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, no usage dump."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())}\n")


def project_version() -> str:
    try:
        return version("adanet-theory")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"
