"""from adanet_theory import ..: every statement by its name, p = inf in every spelling, numpy scalars; light."""

from __future__ import annotations

import inspect
import math
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import adanet_theory
import adanet_train
import verify
from adanet_theory import NetworkSpec, catalogue, statement
from adanet_theory.twins import certified
from adanet_theory.twins.symbolic import STATEMENTS
from tests.refusals import refused


@pytest.mark.parametrize("id", STATEMENTS)
def test_every_statement_has_its_name_at_the_top_and_a_twin(id: str) -> None:
    name = {"range": "ranges"}.get(id, id.replace("-", "_"))  # `range` is Python's
    assert callable(getattr(adanet_theory, name))
    assert name in dir(adanet_theory)
    assert statement(id) is STATEMENTS[id]
    assert "\\" in statement(id).latex()


@pytest.mark.parametrize("bound", catalogue.select(), ids=lambda bound: bound.id)
def test_every_bound_of_the_catalogue_has_its_name_at_the_top(bound: catalogue.Bound) -> None:
    named = getattr(adanet_theory, bound.id.replace("-", "_"))
    written = {
        bound.numeric,
        getattr(inspect.getmodule(bound.numeric), bound.numeric.__name__.removesuffix("_at"), None),
    }
    assert inspect.unwrap(named) in written


def test_a_certificate_has_its_twin_at_the_top() -> None:
    text = statement("vote-certificate").latex()
    assert r"\widehat q" in text
    assert not re.search(r"empiri|theta_|grid|threshold|operatorname{loggamma}", text.replace(r"\theta_", ""))
    assert "w_gauss" not in statement("stochastic-kl").latex()


def offered() -> list[tuple[str, Any]]:
    modules = (adanet_theory, adanet_train, verify)
    named = [(f"{module.__name__}.{name}", getattr(module, name)) for module in modules for name in module.__all__]
    return [(name, item) for name, item in named if callable(item) and not inspect.ismodule(item)]


@pytest.mark.parametrize(("name", "item"), offered(), ids=[name for name, _ in offered()])
def test_what_is_offered_says_what_each_parameter_means(name: str, item: Any) -> None:
    text = inspect.getdoc(item) or ""
    several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    parameters = inspect.signature(item).parameters.values()
    wanted = [parameter.name for parameter in parameters if parameter.kind not in several]
    free = {parameter.name for parameter in parameters if parameter.kind in several}
    _, _, section = text.partition("Parameters\n----------\n")
    lines = section.partition("\n\n")[0].splitlines()
    written = [part.strip() for line in lines if not line.startswith(" ") for part in line.partition(":")[0].split(",")]
    assert sorted(set(written) - free) == sorted(wanted)
    if inspect.isfunction(item):
        assert "Returns\n-------\n" in text


def test_every_name_that_is_offered_is_there() -> None:
    for name in adanet_theory.__all__:
        assert getattr(adanet_theory, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'theorem_3'"):
        _ = adanet_theory.theorem_3
    refused(lambda: statement("equation"), "statement must be one of lemma-1,", "got statement='equation'")
    refused(lambda: statement("theorem1"), "'theorem1'", "'theorem-1'")


def test_names_are_imported_without_what_is_heavy() -> None:
    code = (
        "import sys, adanet_theory\n"
        "assert not {'numpy', 'sympy', 'torch'} & set(sys.modules)\n"
        "from adanet_theory import theorem_1, corollary_1, lemma_2, a_posteriori, NetworkSpec, statement\n"
        "assert not {'sympy', 'torch', 'scipy', 'flint'} & set(sys.modules)\n"
        "statement('theorem-1')\n"
        "assert 'sympy' in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("p", [math.inf, "inf", np.inf, np.float32("inf"), "Infinity"])
def test_p_may_be_infinite_in_every_spelling(p: Any) -> None:
    spec = NetworkSpec.layered((4, 3, 2), 1.5, p=p)
    assert (spec.p, spec.q) == (math.inf, 1.0)
    assert adanet_theory.dual_vector([1.0, -2.0], 1.0, p).tolist() == [1.0, -1.0]
    assert adanet_theory.layer_score([1.0, -2.0], 1.0, p, 1.0) == 3.0


@pytest.mark.parametrize("p", ["two", "", 0.5, "0.5", math.nan, None])
def test_p_that_is_none_is_refused_in_one_line(p: Any) -> None:
    refused(lambda: NetworkSpec.layered((4, 3, 2), 1.5, p=p), "p ", "[1, inf]", "p=")


# numpy scalars

PLAIN = {"m": 400, "delta": 0.125, "rho": 0.25, "r": 0.5, "k": 2, "Lambda": 2.0}


def called(kind: Any, whole: Any) -> dict[str, Any]:
    """Every statement on numbers of this kind."""
    t = adanet_theory
    m, k = whole(PLAIN["m"]), whole(PLAIN["k"])
    delta, rho, r, Lambda = (kind(PLAIN[name]) for name in ("delta", "rho", "r", "Lambda"))
    spec = NetworkSpec.layered(tuple(whole(n) for n in (4, 3, 2)), Lambda, p=kind(2.0))
    R, w = [kind(0.125), kind(0.5)], [kind(0.5), kind(0.25)]
    shared = {"rho": rho, "m": m, "delta": delta}
    margins = np.linspace(-0.25, 1, 64)
    return {
        "lemma-1": t.lemma_1(spec, k, R[:1]),
        "lemma-2": t.lemma_2(spec, k, m=m, r_inf=r),
        "lemma-1-corrected": t.lemma_1_corrected(spec, k, R[:1], m=m),
        "lemma-2-peeled": t.lemma_2_peeled(spec, k, m=m, r_rms=r),
        "lemma-2-peeled-offset": t.lemma_2_peeled_offset(spec, k, m=m, r_rms=r),
        "h1-closed": t.h1_closed(spec, m=m, r_rms=r),
        "range": t.ranges(spec, r_sup=r),
        "depth-lower": t.depth_lower(spec, k - whole(1), kind(0.5)),
        "confidence-C": t.confidence_C(rho, k, m, delta),
        "rho-uniform": t.rho_uniform(rho, m),
        "theorem-1": t.theorem_1(kind(0.125), w, R, literally=True, **shared).total,
        "corollary-1": t.corollary_1(spec, kind(0.125), w, r_inf=r, literally=True, **shared).total,
        "theorem-1-range": t.theorem_1_range(kind(0.125), w, R, M=kind(2.0), **shared).total,
        "margin-bound": t.margin_bound(kind(0.125), w, R, M=kind(2.0), **shared).total,
        "margin-bound-empirical": t.margin_bound_empirical(kind(0.125), w, R, M=[kind(1.0)] * 2, **shared).total,
        "margin-bound-uniform": t.margin_bound_uniform(margins, w, R, delta=delta, M=[kind(1.0)] * 2).total,
        "a-posteriori": t.a_posteriori(margins, kind(2.0), d=whole(1), n_0=whole(4), r_rms=r, delta=delta).total,
        "cvx-score": t.cvx_score([kind(3.0), kind(-4.0)], Lambda, kind(2.0), kind(0.5)),
        "cvx-decrease": t.cvx_decrease(kind(0.5), kind(0.25), tau=kind(0.25), mean_square=kind(1.0)),
        "golowich": t.clopper_pearson(whole(3), m, delta),
    }


@pytest.mark.parametrize(
    ("kind", "whole"), [(np.float64, np.int64), (np.float32, np.int32), (np.float16, np.uint8), (np.array, np.array)]
)
def test_numpy_scalars_are_numbers_everywhere(kind: Any, whole: Any) -> None:
    if whole is np.uint8:  # 400 is none
        whole = lambda value: np.uint16(value)  # noqa: E731
    expected, actual = called(float, int), called(kind, whole)
    for id, value in expected.items():
        np.testing.assert_allclose(actual[id], value, rtol=1e-12, err_msg=id)


def test_numpy_scalars_are_exact_in_certified_values() -> None:
    spec = NetworkSpec.layered((4, 3, 2), 2.0, p=2)
    values = certified.spec_values(spec) | {"k": 2, "m": 400, "r_inf": 0.5}
    scalars = values | {"k": np.int64(2), "m": np.int32(400), "r_inf": np.float32(0.5)}
    assert certified.upper("lemma-2", scalars) == certified.upper("lemma-2", values)
