"""Which statements apply: each assumption broken alone, and who falls by it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from adanet_train.data.features import FeatureMap
from adanet_train.model.model_file import Sample
from tests.verify_models import built, model
from verify.rows import bounds, report

FAMILY = {
    "theorem-1",
    "corollary-1",
    "theorem-1-range",
    "margin-bound",
    "margin-bound-uniform",
    "margin-bound-empirical",
    "margin-bound-unbounded",
    "unbounded-empirical",
}
UNBOUNDED = {"unbounded-empirical"}  # of Psi it reads the sample alone
PRINTED = {"theorem-1", "corollary-1"}
POSTERIOR = {"a-posteriori", "a-posteriori-bounded"}
EVERY = FAMILY | POSTERIOR


def inside(**changes):
    """A network inside every assumption: |h| <= 1 as p = 1, and r_inf = r_sup as one feature is constantly 1."""
    file = model(**{"n": (3, 4, 2), "p": 1.0, "m": 40} | changes)
    Psi = file.sample.Psi.clone()
    Psi[:, 0] = 1
    return dataclasses.replace(file, sample=Sample.of(Psi, file.sample.y))


def failing(report) -> dict[str, tuple[str, ...]]:
    """Of the paper's statements and those in their place; certificates have tests of their own."""
    return {row.id: row.why_not for row in report.bounds if row.id in EVERY and row.why_not}


def holds(report, id: str):
    (row,) = [row for row in report.assumptions if row.id == id]
    return row.holds


def test_a_network_inside_every_assumption() -> None:
    answer = built(inside())
    assert failing(answer) == {}
    status = {row.id: row.status for row in answer.assumptions}
    assumed = {"iid", "homogeneous", "r-sup", "fixed-in-advance", "feature-map"}
    assert {id for id, word in status.items() if word != "holds"} == {"linear", *assumed}
    assert {status[id] for id in assumed} == {"assumed"}
    assert all(row.value == min(1.0, row.raw) for row in answer.bounds if row.applies)


def fails_alone(report, id: str, statements: set[str]) -> None:
    assert failing(report) == dict.fromkeys(statements, (id,))


def test_an_activation_that_is_not_1_lipschitz() -> None:
    answer = built(inside(activation="leaky_relu:-1.5"))
    assert holds(answer, "lipschitz") is False
    affected = {id for id, ids in failing(answer).items() if "lipschitz" in ids}
    assert affected == {*PRINTED, "theorem-1-range", *POSTERIOR}
    assert {"margin-bound", "margin-bound-uniform"}.isdisjoint(failing(answer))


def test_an_activation_that_is_not_0_at_0() -> None:
    answer = built(inside(activation="sigmoid"))
    assert failing(answer) == {
        "theorem-1": ("phi-zero",),
        "corollary-1": ("phi-zero",),
        "theorem-1-range": ("phi-zero",),
        "a-posteriori": ("homogeneous",),
        "a-posteriori-bounded": ("homogeneous",),
    }


def test_an_activation_that_is_not_homogeneous() -> None:
    fails_alone(built(inside(activation="tanh")), "homogeneous", POSTERIOR)


def test_a_deeper_declared_family_does_not_spoil_the_after_the_fact_bound() -> None:
    """The network is linear; only the declared layers above it are curved."""
    file = inside(n=(3, 4), more=(2,), activation="tanh")
    answer = built(file)
    assert failing(answer) == {}
    assert file.network.depth == 1
    assert file.declared.depth == 2


def test_a_unit_outside_its_ball_by_one_ulp() -> None:
    file = inside(fill=0.5)
    file.network.hidden[1, 0][2] = 0
    file.network.hidden[1, 0][2, 1] = math.nextafter(1, 2)
    answer = built(file)
    fails_alone(answer, "membership", FAMILY)
    (row,) = [row for row in answer.assumptions if row.id == "membership"]
    assert row.detail.startswith("unit 2 of layer 1 ")
    assert report.status(answer) == 1
    file.network.hidden[1, 0][2, 1] = 1
    assert failing(built(file)) == {}


def test_weights_on_a_pair_that_was_not_declared() -> None:
    file = inside(n=(3, 2, 2, 1), skip=True)
    family = {pair: bound for pair, bound in file.declared.Lambda.items() if pair != (3, 1)}
    layered = dataclasses.replace(file, declared=type(file.declared)(file.declared.n, family, 1.0, "relu"))
    answer = built(layered)
    assert holds(answer, "membership") is False
    assert "hidden '3,1'" in next(row.detail for row in answer.assumptions if row.id == "membership")


def test_a_declared_pair_without_weights_is_a_member() -> None:
    file = inside(n=(3, 2, 2))
    hidden = {pair: U for pair, U in file.network.hidden.items() if pair != (2, 1)}
    network = dataclasses.replace(file.network, hidden=hidden)
    assert holds(built(dataclasses.replace(file, network=network)), "membership") is True


def test_skip_connections() -> None:
    answer = built(inside(n=(3, 2, 2, 1), skip=True, Lambda=0.5))
    fails_alone(answer, "layered", {*PRINTED, "theorem-1-range"})
    assert all(row.lemma_2 is None for row in answer.complexities)


def test_a_range_above_1() -> None:
    answer = built(inside(p=2.0))
    fails_alone(answer, "range", PRINTED)


def test_one_layer() -> None:
    fails_alone(built(inside(n=(3, 2))), "depth", PRINTED)


def test_a_rho_chosen_on_the_sample() -> None:
    file = dataclasses.replace(inside(), declared_rho=None)
    fails_alone(built(file), "fixed-in-advance", FAMILY - {"margin-bound-uniform"})
    assert failing(built(file, rho=0.5)) == {}


def test_a_citation_names_the_range_and_the_margin_that_were_fixed() -> None:
    """Without them nobody could compute its number again."""
    answer = built(inside(), rho=0.5, r_sup=1.25)
    words = {row.id: row.words for row in answer.assumptions if row.status == "assumed"}
    assert words["r-sup"] == "the features were known before the sample to be at most 1.25 in size"
    assert words["fixed-in-advance"] == "the family and rho = 0.5 were declared before training"


def test_no_declared_family() -> None:
    answer = built(inside(declared=False), rho=0.5)
    assert set(failing(answer)) == FAMILY
    assert all("fixed-in-advance" in ids for ids in failing(answer).values())
    assert holds(answer, "membership") is None


def test_features_fitted_on_the_sample_spoil_every_bound() -> None:
    fails_alone(built(inside(fitted=True)), "feature-map", EVERY)


def test_an_unknown_r_sup() -> None:
    answer = built(inside(r_sup=math.inf))
    assert holds(answer, "r-sup") is None
    assert set(failing(answer)) == FAMILY - UNBOUNDED | {"a-posteriori-bounded"}
    assert failing(answer)["margin-bound"] == ("r-sup",)
    assert "r-sup" in failing(answer)["theorem-1"]
    assert failing(built(inside(r_sup=math.inf), r_sup=1.0)) == {}


def test_an_r_sup_that_the_sample_contradicts() -> None:
    answer = built(inside(), r_sup=0.5)
    assert holds(answer, "r-sup") is False
    assert "r-sup" in failing(answer)["a-posteriori-bounded"]
    assert "a-posteriori" not in failing(answer)


def test_the_sample_s_r_inf_may_be_below_its_expectation() -> None:
    """The printed statements have E[r_inf]: only where the sample reaches r_sup is it not below."""
    answer = built(inside(), r_sup=1.5)
    assert failing(answer)["theorem-1"][-1] == "r-inf"
    assert "r-inf" in failing(answer)["corollary-1"]
    assert "r-inf" not in failing(answer).get("theorem-1-range", ())


def test_a_printed_statement_that_does_not_follow_from_margin_bound(monkeypatch) -> None:
    """With Lemma 2 in it, it follows at every delta that a float holds; if it did not, it would not be claimed."""
    follows = {"theorem-1": False, "corollary-1": True, "theorem-1-range": True}
    monkeypatch.setattr(bounds, "follows_from_margin_bound", lambda setting: follows)
    fails_alone(built(inside()), "delta", {"theorem-1"})


def test_the_printed_statements_follow_from_margin_bound() -> None:
    for delta in (0.5, 1e-6, 1e-300):
        answer = built(dataclasses.replace(inside(m=2000, flips=0.0), declared_rho=0.2), delta=delta)
        bound = {row.id: row for row in answer.bounds}
        assert holds(answer, "delta") is True
        assert bound["theorem-1"].vacuous or bound["theorem-1"].raw >= bound["margin-bound"].raw


def test_every_row_says_who_needs_it() -> None:
    answer = built(inside())
    ids = [row.id for row in answer.assumptions]
    assert len(ids) == len(set(ids))
    design = "lipschitz phi-zero homogeneous membership range depth normalised r-sup fixed-in-advance feature-map"
    assert set(design.split()) <= set(ids)
    for row in answer.assumptions:
        assert row.statements
        assert row.detail


def test_no_bound_applies_where_an_assumption_that_it_needs_fails() -> None:
    """Over many random settings: applies is exactly that every needed assumption holds, but for the excused ones."""
    draw = np.random.default_rng(0)
    for seed in range(25):
        changes = {
            "n": [(2, 1), (3, 2, 1), (2, 2, 2, 1)][draw.integers(3)],
            "activation": ["relu", "tanh", "sigmoid", "gelu", "abs"][draw.integers(5)],
            "p": [1.0, 2.0, math.inf][draw.integers(3)],
            "skip": bool(draw.integers(2)),
            "declared": bool(draw.integers(3)),
            "fitted": bool(draw.integers(2)),
            "r_sup": [1.0, math.inf][draw.integers(2)],
            "m": 20,
            "seed": seed,
        }
        answer = built(inside(**changes))
        for bound in answer.bounds:
            if bound.context:
                assert not bound.applies
                continue
            needed = {row.id: row.status for row in answer.assumptions if bound.id in row.statements}
            broken = {id for id, word in needed.items() if word in ("open", "fails")}
            assert set(bound.why_not) <= broken
            assert broken - set(bound.why_not) <= {"membership", "fixed-in-advance", "delta"}
            assert bound.applies == (not bound.why_not)
            assert (bound.value is None) == (not bound.applies)


@pytest.mark.parametrize("name", ["relu", "abs", "identity", "leaky_relu:0.3"])
def test_the_after_the_fact_bound_covers_the_homogeneous_activations(name: str) -> None:
    answer = built(inside(activation=name, declared=False))
    assert POSTERIOR.isdisjoint(failing(answer))


def test_a_feature_map_that_is_clipped_knows_its_r_sup() -> None:
    file = inside()
    known = FeatureMap.known(["a", "b", "c"], 0.0, 1.0, bias=False)
    assert holds(built(dataclasses.replace(file, features=known)), "r-sup") is True
    assert holds(built(dataclasses.replace(file, features=None)), "r-sup") is None
