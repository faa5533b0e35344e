"""How close each claim came to failing: the largest ratio of left to right side in the property suite."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import results
from figures.canvas import Data, is_single, panels, styled, width
from verify.show.plots import BLUE, INK, SKY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("tightness",)
DATA = "results"
_NO_INEQUALITY = ("cvx-joint-minimiser",)  # it keeps a gap, not a quotient of two sides


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """The records of the suite by claim, from the results of a thorough run, else from a run made now."""
    kept = results.read("tightness", data)
    records = run_suite(quick=quick) if kept is None else kept["statements"]
    claims: dict[str, list[Data]] = {}
    others = 0
    for record in records:
        claim, part = split(record["statement"])
        if claim is None:
            others += 1
        else:
            shown = {"part": part, **{key: record[key] for key in ("ratio", "examples", "where")}}
            claims.setdefault(claim, []).append(shown)
    order = sorted(claims, key=lambda claim: (-max(part["ratio"] for part in claims[claim]), claim))
    source = "a thorough run" if kept else "a quick run" if quick else "a run in the ci profile"
    return {"claims": {claim: claims[claim] for claim in order}, "others": others, "source": source}


def split(statement: str) -> tuple[str | None, str]:
    """The claim that a statement of the suite belongs to (None without one), and the part of the claim.

    >>> split("lemma-2, k = 3"), split("cvx-decrease: guaranteed <= gain"), split("lemma-2-peeled <= lemma-2")
    (('lemma-2', 'k = 3'), ('cvx-decrease', ''), (None, ''))
    """
    from paper_notes import claims

    claim, part = re.fullmatch(r"([\w-]+)(?:, (.*)|: .*)?|.*", statement).groups()  # type: ignore[union-attr]
    return (claim, part or "") if claim in claims() and claim not in _NO_INEQUALITY else (None, "")


def run_suite(*, quick: bool) -> list[dict[str, Any]]:
    """Run the suite in a process of its own, which records how close every statement came."""
    import json

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tightness.json"
        profile = {"HYPOTHESIS_PROFILE": "mutants" if quick else "ci", "TIGHTNESS": str(file)}
        root = str(Path(__file__).parents[1])  # a source tree need not be installed
        profile["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "verify.suite"]
        parts = ["-k", "(test_complexities or no_more_often) and not unaided"] if quick else []
        done = subprocess.run(
            [*command, *parts, "-c", os.devnull, "--rootdir", folder],
            env={**os.environ, **profile},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or not file.exists():
            raise ValueError(f"the property suite failed: {done.stdout.strip().splitlines()[-1:]}.")
        return list(json.loads(file.read_text(encoding="utf-8"))["statements"])


@styled
def draw(data: Data) -> Figure:
    """A dot for each part of a claim; the largest is filled and bounds how much the statement could be sharpened."""
    claims = data["claims"]
    single = is_single(data, by_default=False)
    figure, (axes,) = panels(1, 1, width=width(data, single=False), height=0.55 + 0.19 * len(claims))
    for y, parts in enumerate(claims.values()):
        largest = max(parts, key=lambda part: part["ratio"])
        axes.plot([0, largest["ratio"]], [y, y], color=SKY, linewidth=0.8, zorder=1)
        axes.plot([part["ratio"] for part in parts], [y] * len(parts), "o", color=BLUE, fillstyle="none", markersize=4)
        axes.plot(largest["ratio"], y, "o", color=BLUE, markersize=4)
        label = f"{largest['ratio']:.3f}" + (f" for {largest['part']}" if largest["part"] and not single else "")
        axes.text(1.04, y, label, va="center")
    axes.axvline(1, color=INK, linewidth=0.6)
    axes.set_yticks(range(len(claims)), list(claims))
    axes.set_ylim(len(claims) - 0.4, -0.6)
    end = 1.3 if single else 1.4
    axes.set_xlim(0, end)
    axes.spines["bottom"].set_bounds(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "1/4", "1/2", "3/4", "1"])
    axes.set_xlabel("largest left side / right side found", x=0.5 / end)
    return figure


def caption(data: Data) -> str:
    parts = [part for examples in data["claims"].values() for part in examples]
    attained = [
        claim for claim, examples in data["claims"].items() if max(part["ratio"] for part in examples) > 1 - 1e-6
    ]
    return (
        f"How close each claim came to failing in {data['source']} of the property suite, which steers its examples "
        f"towards large ratios: {sum(part['examples'] for part in parts)} examples of {len(parts)} statements of "
        f"{len(data['claims'])} claims. A circle is one part of a claim (a layer, an activation, a distribution). The "
        f"filled circle is its closest part. Attained to six digits: {', '.join(attained) or 'none'}. A claim "
        f"below 1 was not refuted, and a sharper constant can gain at most the gap on these examples. {data['others']} "
        "further statements of the suite belong to no claim of the ledger."
    )
