"""verify-bounds from Python: verify_bounds(module, X, y) gives a report that prints, shows itself and writes.

from verify import verify_bounds
report = verify_bounds(module, X, y, test=(X_test, y_test))
print(report)
report.bounds['a-posteriori'].value
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adanet_theory.checks import check
from adanet_theory.spec import NetworkSpec
from verify.measure.effort import BUDGET
from verify.question import Question
from verify.results import BoundReport, BoundRow

if TYPE_CHECKING:
    from adanet_theory.rounding import Number


def verify_bounds(
    network: Any,
    X: Any = None,
    y: Any = None,
    *,
    test: tuple[Any, Any] | None = None,
    delta: Number = 0.05,
    rho: Number | None = None,
    r_sup: Number | None = None,
    declared: NetworkSpec | None = None,
    activation: str | None = None,
    draws: int | None = 64,
    seed: int = 0,
    device: str = "auto",
    cite: str | None = None,
    tried: int | None = None,
    compared: int = 1,
    discrete: bool = False,
    budget: float = BUDGET,
) -> Report:
    """What the theory says of this network on the sample (X, y): the report of the command verify-bounds.

    network: an nn.Module in eval mode, of one logit, of two, or of one for each of many classes; a fitted estimator; a
    state_dict together with `activation`; or the path of a model file or state_dict. X has a row for each point, in the
    shape that the module reads. y holds 0/1, -1/+1 or two names; a module's +1 is the positive logit, or the second of
    two; of more classes y holds the indices of their logits, or names in the order of the logits. Without X and y
    the sample in the model file is meant. `test` are held-out points (X, y). `declared` is the family that was fixed
    before training, `rho` a margin of f/W fixed in advance, `r_sup` a bound on |Psi| known in advance; draws=None
    estimates nothing, `budget` are the seconds for the lower values of R_S. A float is taken as the decimal that it
    prints as. Wrong input is a ValueError of one line.
    """
    from adanet_train.core import device as devices
    from verify.reading import subject
    from verify.rows import report

    question = Question(
        rho=_decimal(rho, "rho"),
        delta=_decimal(delta, "delta") or Fraction(0),
        r_sup=_decimal(r_sup, "r_sup"),
        draws=draws,
        seed=seed,
        curves=True,
        cite=cite,
        tried=tried,
        compared=compared,
        discrete=discrete,
        budget=budget,
    )
    question = replace(
        question,
        draws=None if draws is None else int(draws),  # numpy's too
        seed=int(seed),
        tried=None if tried is None else int(tried),
        compared=int(compared),
        device=devices.device(device),
    )
    check((X is None) == (y is None), "X and y are given together, or neither.")
    values = None if X is None else subject.array(X, "X")
    of = subject.declare(subject.subject(network, values, activation), declared)
    notes, sample, held_out = list(of.notes), None, None
    if values is not None:
        sample, classes, mapped = subject.points(of, values, y)
        of, notes = replace(of, classes=classes), notes + mapped
    if test is not None:
        check(isinstance(test, tuple | list) and len(test) == 2, "test must be a pair (X, y).")
        held_out, named, mapped = subject.points(of, subject.array(test[0], "test X"), test[1], "test ")
        check(sample is None or of.classes == named, "test y must hold numbers, as y does, got names of classes.")
        notes += [note for note in mapped if note not in notes]
    found = report.build(of.model, question, sample=sample, test=held_out, notes=notes)
    doubt = _doubt(found, None if sample is None else sample.y)
    return Report(found if doubt is None else replace(found, notes=(*found.notes, doubt)))


def _doubt(found: BoundReport, y: Any) -> str | None:
    """What is defined, and probably not meant."""
    if found.classes > 2:
        return None
    if y is not None and bool((y * found.margins > 0).all()) and len(set(y.tolist())) == 2:
        return "f is positive at every point of the sample: f must be a logit, whose sign decides, and no probability."
    if found.sample.train_error > 0.5:
        return "more than half of the sample is wrong by this network: are the classes of y the other way round?"
    return None


def _decimal(value: Any, name: str) -> Fraction | float | None:
    """The decimal that a float prints as, exactly; what is no finite number stays, for the check of its range."""
    if value is None or isinstance(value, Fraction):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {name}={value!r}.") from None
    try:
        return Fraction(repr(number))
    except ValueError:
        return number


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What verify_bounds found. The fields of `found` (a BoundReport) are read through it; `bounds` is by id."""

    found: BoundReport

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "found":
            raise AttributeError(name)
        return getattr(self.found, name)

    @property
    def bounds(self) -> dict[str, BoundRow]:
        return {row.id: row for row in self.found.bounds}

    def text(self, *, verbose: bool = False) -> str:
        """The report as the command prints it; verbose: every assumption, term and check."""
        from rich.console import Console

        from verify.show import render

        page = io.StringIO()
        # In a notebook rich would show the text in the cell and leave the page empty.
        console = Console(file=page, width=88, highlight=False, color_system=None, force_jupyter=False)
        render.text(self.found, verbose=verbose, console=console)
        return page.getvalue().rstrip("\n")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        from verify.show import wording

        return f"<verify_bounds: {wording.sentence(self.found)}>"

    def _repr_html_(self) -> str:
        """In a frame of its own, so that its stylesheet stays inside."""
        page = escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:48em;border:0" title="verify_bounds"></iframe>'

    def html(self) -> str:
        from verify.show import render

        return render.to_html(self.found)

    def to_json(self) -> str:
        """The document of the command, schema verify-bounds/1."""
        from verify.show import render

        return render.to_json(self.found)

    def to_html(self, path: str | Path) -> None:
        """Write the page, which needs nothing else."""
        from adanet_train.core import files

        files.write_file(path, self.html())

    def to_tex(self, path: str | Path) -> None:
        """Write the table for a paper."""
        from adanet_train.core import files
        from verify.show import render

        files.write_file(path, render.to_tex(self.found))

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each bound, for tables of one's own."""
        return [
            {
                "id": row.id,
                "group": row.group,
                "value": row.value,
                "raw": row.raw,
                "applies": row.applies,
                "vacuous": row.vacuous,
                "why_not": ", ".join(row.why_not),
                "rho": row.rho,
                **row.terms,
            }
            for row in self.found.bounds
        ]

    def to_frame(self) -> Any:
        """The bounds as a pandas DataFrame, one row each, indexed by id."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise ImportError(
                "to_frame needs pandas, which is not installed; report.rows() has the same rows."
            ) from None
        return pandas.DataFrame(self.rows()).set_index("id")
