"""A report written by hand, with every kind of row, for the tests of what prints it."""

import math
from dataclasses import replace

import numpy as np

from verify.records.results import (
    Assumption,
    BoundReport,
    BoundRow,
    CheckRow,
    Citation,
    Complexity,
    DeclaredFacts,
    ModelFacts,
    SampleFacts,
    TestFacts,
)

_RHO = np.geomspace(0.01, 1.0, 40)

REPORT = BoundReport(
    model=ModelFacts(
        sha256="3f" * 32,
        depth=2,
        n=(154, 2000, 1),
        activation=("relu",),
        w_norms={1: 0.5, 2: 11.75},
        W=12.25,
        measured={(1, 0): 0.9990001, (2, 1): 1.0},
        path_norm=17.5,
        layered=True,
    ),
    declared=DeclaredFacts(p=1.0, q=math.inf, n=(154, 3000, 150), Lambda={(1, 0): 1.0, (2, 1): 1.01}),
    sample=SampleFacts(m=9600, r_inf=1.0, r_rms=0.75, margin_error=0.040625, ramp=0.0205, train_error=0.0125),
    rho=0.1,
    delta=0.05,
    rho_chosen=False,
    assumptions=(
        Assumption("lipschitz", "holds", "relu has L = 1", ("theorem-1", "margin-bound")),
        Assumption("phi-zero", "holds", "relu(0) = 0", ("lemma-1", "lemma-2")),
        Assumption("membership", "holds", "the largest row norm is 1 <= 1.01 (unit 17 of layer 2)", ("margin-bound",)),
        Assumption("range", "fails", "M_2 = 1.01 > 1: units of layer 2 may exceed 1", ("theorem-1", "corollary-1")),
        Assumption("r-sup", "open", "no bound on ||Psi||_inf over the whole support is known; --r-sup gives one", ()),
    ),
    complexities=(
        Complexity(1, 0.01234567, 0.01456789, 0.00023, 200, "drawn signs", 0.9625, None, 0.0234, None, 0.0234),
        Complexity(2, 0.01100001, 0.0218, 0.0004, 200, "ascent, 4 starts", 0.9625, 0.0294, 0.0473, 0.0221, 0.0252),
    ),
    bounds=(
        BoundRow(
            "theorem-1",
            44.9123,
            None,
            {"margin error": 0.040625, "complexity": 44.0, "depth": 0.8, "confidence": 0.071675},
            False,
            ("range", "r-sup"),
            True,
            0.1,
        ),
        BoundRow("corollary-1", None, None, {"margin error": 0.04, "confidence": None}, False, ("range",), True, 0.1),
        BoundRow(
            "margin-bound",
            2.34001,
            1.0,
            {"ramp": 0.0205, "complexity": 2.0, "depth": 0.3070, "confidence": 0.01251},
            True,
            (),
            True,
            0.1,
            m_needed=53_001,
        ),
        BoundRow(
            "a-posteriori",
            0.210936237151,
            0.210936237151,
            {"ramp": 0.0, "complexity": 0.19, "confidence": 0.020936237151},
            True,
            (),
            False,
            8.0,
            j=16,
        ),
        BoundRow(
            "a-posteriori-bounded",
            0.186695245844,
            0.186695245844,
            {"ramp": 0.0, "complexity": 0.17, "confidence": 0.016695245844},
            True,
            (),
            False,
            8.0,
            j=16,
        ),
        BoundRow(
            "vote-certificate",
            0.123456,
            0.123456,
            {"N": 20480, "k": 10347, "beta": 0.003, "empirical": 0.05, "KL": 197.07, "grid": 15.09, "b": 0.93349867},
            True,
            (),
            False,
            None,
            group="certificate",
        ),
        BoundRow("held-out", 0.0153, 0.0153, {"errors": 26, "points": 2400}, True, (), False, None, group="held-out"),
        BoundRow(
            "golowich-l1", 3.5, None, {"complexity": 3.4, "confidence": 0.1}, False, (), True, 0.1, group="context"
        ),
    ),
    checks=(
        CheckRow("lemma-1", 2, 0.01100001, 0.0294, False, True, "not refuted"),
        CheckRow("lemma-2", 2, 0.0218, 0.0473, True, True, "holds"),
    ),
    test=TestFacts(error=0.011, n=2400, upper=0.0153),
    verdict="holds",
    cite=Citation("a-posteriori-bounded", 0.19012345, 0.01, ("iid", "r-sup"), 5),
    notes=("labels 0/1 were mapped to -1/+1",),
    margins=np.concatenate([np.linspace(-0.1, 0.1, 39), np.linspace(0.11, 1.0, 921)]),  # 39/960 = 0.040625
    curves={"margin-bound": (_RHO, 0.25 / _RHO + 0.05), "a-posteriori": (_RHO, 0.01 / _RHO + 0.1)},
)

HOSTILE = "<script>alert(1)</script> & [red]x[/red] \\input{x} %_#"

SIGMOID = replace(
    REPORT,
    model=replace(REPORT.model, activation=("sigmoid",), path_norm=None),
    declared=None,
    bounds=tuple(row for row in REPORT.bounds if not row.applies),
    checks=(
        CheckRow("lemma-1", 2, 0.13672, 0.0, True, False, "violated"),
        CheckRow("lemma-1-corrected", 2, 0.13672, 0.13672, True, True, "holds"),
    ),
    test=None,
    cite=None,
    notes=(HOSTILE,),
    advice=(HOSTILE,),
)

OUTSIDE = replace(
    REPORT,
    assumptions=(Assumption("membership", "fails", "unit 17 of layer 2 has norm 1.02 > Lambda_{2,1} = 1.01", ()),),
    verdict="violated",
)
