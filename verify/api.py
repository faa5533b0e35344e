"""verify-bounds from Python: verify_bounds(module, X, y) gives a report that prints, shows itself and writes.

from verify import verify_bounds
report = verify_bounds(module, X, y, test=(X_test, y_test))
print(report)
report.bounds['a-posteriori'].value
"""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adanet_theory.checks import with_near_misses
from adanet_theory.spec import NetworkSpec
from verify.records.question import BUDGET, Question
from verify.records.results import BoundReport, BoundRow

if TYPE_CHECKING:
    from adanet_theory.rounding import Number


@with_near_misses
def verify_bounds(
    network: Any,
    X: Any = None,
    y: Any = None,
    *,
    test: Any = None,
    unlabelled: Any = None,
    surrogate: Any = None,
    classes: Any = None,
    delta: Number = 0.05,
    rho: Number | None = None,
    r_sup: Number | None = None,
    declared: NetworkSpec | Mapping[str, Any] | None = None,
    activation: str | None = None,
    draws: int | None = 64,
    seed: int = 0,
    device: str = "auto",
    cite: str | None = None,
    tried: int | None = None,
    compared: int = 1,
    discrete: bool = False,
    replay: bool = True,
    budget: float = BUDGET,
    verbose: bool | None = None,
) -> Report:
    """Report what the theory says about a predictor on the sample (X, y), as the command verify-bounds does.

    Parameters
    ----------
    network
        Anything that predicts. Read as a network: an nn.Module in eval mode, with one logit, two, or one for each
        class; a fitted AdaNetClassifier (also of subnetworks of your own), MLPClassifier, LogisticRegression, LinearSVC
        or SGDClassifier, also behind scalers in a Pipeline; a state_dict together with `activation`; the path of a
        model file, a state_dict, an ONNX file or a program of torch.export; what `certify` or `compress` returned,
        whose own certificate is then quoted (`certify` keeps its sample: X and y may be left out).
        Every other estimator, module, TorchScript program or function is a black box: `test` bounds its risk, and
        `notes` says why it was not read. A function gives labels, or one score for each class.
    X, y
        The sample: one row for each point, in the shape that the network reads, and its labels. y holds 0/1, -1/+1,
        names, or one-hot rows. The second class of two, or the positive logit, is +1; of more classes y holds the
        indices of their outputs, or names in that order. X may be a DataLoader or Dataset of pairs. Default: the
        sample in the model file.
    test
        Held-out points: a pair (X, y), a DataLoader or a Dataset.
    unlabelled
        Points without labels from the same law, used for no network: they certify the network as it is by how often it
        disagrees with `surrogate`.
    surrogate
        What compress or certify returned, the path of a compressed or picked network, or "pick" (default): AdaNet
        trained by picking on the sample.
    classes
        The names of the classes in the order of the outputs, for a network that does not know them. Default: sorted.
    delta
        Each bound holds with probability 1 - delta. Default 0.05. A float is taken as the decimal that it prints as.
    rho, r_sup, declared
        What was fixed before training: a margin of f/W, a bound on the features, the family. Of an ensemble of
        subnetworks `declared` is a dict with R_m(H) of the family of each builder, or a pair of R_m(H) and a bound M
        on |h| (default 1), by the name of the builder, for every builder that could have been proposed:
        `declared={"small": 0.02, "large": (0.03, 5)}`.
    activation
        The activation of a state_dict.
    draws, seed, budget, device
        Sign vectors for the Rademacher complexities (None estimates nothing), random seed, nominal seconds, device.
    cite, tried, compared, discrete
        The statement to quote; the settings tried on the sample for each network; the networks compared, on held-out
        points or by their certificates, which divide δ for statements on one of them (held-out, picks, points without
        labels, a bound of your own); and whether the law of the data has atoms.
    replay
        Whether the recipe of a network that was trained by picking is run again, which takes as long as its training.
    verbose
        True shows progress with the time left on stderr, False shows none. None: only where stderr is a terminal.

    Returns
    -------
    Report
        It prints, shows itself in a notebook, and writes JSON, HTML and TeX.

    Raises
    ------
    ValueError
        In one line, for input that cannot be used: y of a regression, several labels for a point, a wrong shape.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 20
    >>> report = verify_bounds(lambda X: X[:, 0] >= 19, X[::2], y[::2], test=(X[1::2], y[1::2]))
    >>> report.subject, report.test.error
    ('black box', 0.05)
    """
    from adanet_train.core import device as devices
    from adanet_train.core.bar import Bar, is_quiet
    from verify.compressing import complete
    from verify.reading import case

    question = Question.of(
        rho=rho,
        delta=delta,
        r_sup=r_sup,
        draws=draws,
        seed=seed,
        curves=True,
        cite=cite,
        tried=tried,
        compared=compared,
        discrete=discrete or getattr(network, "discrete", None) is True,
        replay=replay,
        budget=budget,
    )
    question = replace(question, device=devices.device(device))
    with Bar("verifying", quiet=is_quiet(verbose)) as progress:
        progress.stage("reading network and points")
        read = case.read(network, X, y, test=test, activation=activation, classes=classes, declared=declared)
        built = complete(read, question, case.unlabelled(network, unlabelled), surrogate, progress)
    name = str(network) if isinstance(network, str | Path) else type(network).__name__
    built = replace(built, sources={"model": name, "made on": time.strftime("%Y-%m-%d")})
    return Report(built)


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The report of `verify_bounds`. print(report) shows it; notebooks show the HTML page.

    Parameters
    ----------
    numbers
        The numbers behind it, a BoundReport. Its fields are attributes of the report too: `report.errors`.

    Attributes
    ----------
    bounds
        Rows by the id of their statement: `report.bounds["held-out"].value`.
    """

    numbers: BoundReport

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "numbers":
            raise AttributeError(name)
        return getattr(self.numbers, name)

    @property
    def bounds(self) -> dict[str, BoundRow]:
        return {row.id: row for row in self.numbers.bounds}

    def text(self, *, verbose: bool = False) -> str:
        """The report as the command prints it; verbose: every assumption, term and check."""
        from rich.console import Console

        from verify.show import render

        page = io.StringIO()
        # In a notebook rich would show the text in the cell and leave the page empty.
        console = Console(file=page, width=88, highlight=False, color_system=None, force_jupyter=False)
        render.text(self.numbers, verbose=verbose, console=console)
        return page.getvalue().rstrip("\n")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        from verify.show import wording

        return f"<verify_bounds: {wording.sentence(self.numbers)}>"

    def _repr_html_(self) -> str:
        """In a frame of its own, so that its stylesheet stays inside."""
        page = escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:48em;border:0" title="verify_bounds"></iframe>'

    def html(self) -> str:
        from verify.show import render

        return render.to_html(self.numbers)

    def to_json(self) -> str:
        """The document of the command, schema verify-bounds/1."""
        from verify.show import render

        return render.to_json(self.numbers)

    def to_html(self, path: str | Path) -> None:
        """Write the page, which needs nothing else."""
        from adanet_train.core import files

        files.write_file(path, self.html())

    def to_tex(self, path: str | Path, *, every: bool = False) -> None:
        """Write the one-row table for a paper; `every` writes the table of all statements."""
        from adanet_train.core import files
        from verify.show import render

        files.write_file(path, render.to_tex_all(self.numbers) if every else render.to_tex(self.numbers))

    def rows(self) -> list[dict[str, Any]]:
        """One dict for each bound, to make your own tables of."""
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
            for row in self.numbers.bounds
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
