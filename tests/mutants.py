"""The close of make mutants: counts the mutants that no test killed, and fails below 95 %."""

import json
import sys
from collections import Counter
from pathlib import Path

REQUIRED = 0.95
KILLED = {
    1,
    3,
    36,
    24,
    152,
    255,
}  # a failed test, an internal error of the run, a time-out, a signal: all notice the mutant


def main() -> int:
    """mutmut leaves one .meta file per module, with the exit code of the tests under each mutant."""
    counts: Counter[str] = Counter()
    survivors = []
    for path in sorted(Path("mutants/adanet_theory").glob("*.py.meta")):
        for name, code in json.loads(path.read_text())["exit_code_by_key"].items():
            counts["all"] += 1
            if code in KILLED or (code is not None and code < 0):
                counts["killed"] += 1
            else:
                survivors.append(f"{name} ({code})")
    print(*survivors, sep="\n")
    share = counts["killed"] / max(counts["all"], 1)
    print(f"{counts['killed']} of {counts['all']} mutants killed: {share:.1%} (at least {REQUIRED:.0%} asked)")
    return int(share < REQUIRED)


if __name__ == "__main__":
    sys.exit(main())
