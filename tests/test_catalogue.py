"""The catalogue: every record names what exists, says what its numeric form reads, and a user's record is shown."""

import contextlib
import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.complexity.rademacher import layered_complexity, peeled_complexity, peeled_complexity_offset
from adanet_theory.risk.margin import MarginBound
from adanet_theory.risk.quantities import Quantities, arguments, complexities, evaluate
from adanet_theory.spec import NetworkSpec
from adanet_theory.twins.symbolic import STATEMENTS
from figures import bounds_against, family, gallery, vacuity_map
from tests.refusals import refused, says
from tests.test_soundness import linear
from tests.verify_models import model
from verify.records.question import Question
from verify.rows import report
from verify.show import render, wording
from verify.show.plots import draw_terms

ROOT = Path(__file__).parents[1]
SPEC = NetworkSpec.layered((5, 4, 3), [0.5, 0.75], 2.0)
GIVEN = Quantities(
    SPEC, [0.25, 1.0], 1000, 0.05, 0.5, 0.25, 2.0, 0.3, 0.2, rho=0.1, j=3, R_S=[0.1, 0.2], M=[1.0, 3.0], B=2.0, d=1, C=3
)


def records():
    every = (*catalogue.theory(), *catalogue.theory("many"))
    return pytest.mark.parametrize("bound", every, ids=lambda bound: bound.id)


@records()
def test_a_record_names_its_function_and_its_twin(bound: Bound) -> None:
    value = evaluate(bound, GIVEN)
    assert isinstance(value, MarginBound)
    assert value.id == bound.id == STATEMENTS[bound.id].id
    assert list(value.terms) == list(STATEMENTS[bound.id].terms)
    assert bound.loss in value.terms
    assert value.terms[bound.loss] == {"margin_error": 0.3, "ramp": 0.2}[bound.loss]


@records()
def test_a_record_says_what_its_twin_reads(bound: Bound) -> None:
    """The letters of the statement against the record: complexity, range, size of the features, scale."""
    statement = STATEMENTS[bound.id]
    parts = [*statement.terms.values(), *(definition.rhs for definition in statement.definitions)]
    letters = {str(x) for part in parts for x in part.free_symbols} | {str(x.base) for x in statement.rhs.atoms()
               if hasattr(x, "base")}  # fmt: skip
    assert bool(letters & {"R_m", "R_S"}) == bool(bound.reads & {"R_m", "R_S"})
    assert ("R_S" in letters) == (bound.complexity == "R_S")
    assert bool(letters & {"M", "M_k"}) == (bound.range is not None)
    own = letters & {"r_inf", "r_rms", "r_sup"}
    assert own <= {bound.at}
    assert ("rho" in letters) == (bound.scale == "rho")


@records()
def test_its_proof_is_there(bound: Bound) -> None:
    assert set(bound.needs) <= set(catalogue.ASSUMPTIONS)
    assert "feature-map" in bound.needs
    path, _, anchor = bound.reference.partition("#")
    if bound.is_printed:
        assert "ICML 2017" in bound.reference
        return
    headings = [line[4:] for line in (ROOT / path).read_text(encoding="utf-8").splitlines() if line.startswith("### ")]
    assert anchor in {head.replace(",", "").replace(" ", "-") for head in headings}


def test_the_rule_of_each_complexity() -> None:
    by = {bound.id: complexities(bound, GIVEN) for bound in catalogue.theory() if bound.complexity}
    printed = {r: [layered_complexity(SPEC, k, m=1000, r_inf=r) for k in (1, 2)] for r in (0.5, 2.0)}
    peeled = [peeled_complexity(SPEC, k, m=1000, r_rms=2.0) for k in (1, 2)]
    assert by["theorem-1"] == by["corollary-1"] == printed[0.5]
    assert by["theorem-1-range"] == printed[2.0]
    assert by["margin-bound"] == by["margin-bound-uniform"] == by["margin-bound-unbounded"] == peeled
    assert by["margin-bound-empirical"] == by["unbounded-empirical"] == [0.1, 0.2]


def test_a_layer_without_weight_has_no_complexity_and_an_offset_is_seen() -> None:
    spec = NetworkSpec.layered((5, 4, 3), [0.5, 0.75], 2.0, "sigmoid")
    given = dataclasses.replace(GIVEN, spec=spec, w_norms=[0.0, 1.0])
    expected = [0.0, peeled_complexity_offset(spec, 2, m=1000, r_rms=2.0)]
    assert complexities(catalogue.bound("margin-bound"), given) == expected


def test_the_figures_and_the_report_have_one_rule() -> None:
    """theorem-1-range over Lemma 2: vacuous at the point where the figures' other panels stand."""
    value = family.value(catalogue.bound("theorem-1-range"), family.FamilySetting()).raw
    assert value == pytest.approx(1.94217228606081, rel=1e-12)
    assert family.value(catalogue.bound("theorem-1-range"), family.FamilySetting(depth=10)).raw > 200


# A bound of one's own


def mine(ramp: float, m: int, delta: float, W: float) -> dict[str, float]:
    return {"ramp": ramp, "mine": W / m + delta}


MINE = {"id": "mine", "title": "Mine", "group": "user", "function": mine}


@pytest.fixture
def registered():
    yield lambda **changes: catalogue.register(Bound(**MINE | changes))
    catalogue.forget("mine")


def the_row(file=None, **question):
    answer = report.build(file or model(), Question(draws=None, **question))
    (row,) = [row for row in answer.bounds if row.id == "mine"]
    return answer, row


def test_a_registered_bound_is_a_claim_where_its_assumptions_hold(registered) -> None:
    registered(needs=("feature-map",), assumes="the moon is full", reference="Me 2024")
    answer, row = the_row()
    assert (row.group, row.applies, row.why_not) == ("user", True, ())
    assert row.raw == pytest.approx(answer.sample.ramp + answer.model.W / answer.sample.m + 0.05, rel=1e-12)
    assert row.value == min(1.0, row.raw)
    assert "at no m" not in wording.remark(dataclasses.replace(row, vacuous=True), answer)
    assert any("the moon is full" in note and "Me 2024" in note for note in answer.notes)
    (said,) = [entry for entry in json.loads(render.to_json(answer))["bounds"] if entry["id"] == "mine"]
    assert (said["group"], said["raw"]) == ("user", row.raw)
    assert "mine" in {id for entry in answer.assumptions for id in entry.statements}


def test_a_bound_of_ones_own_is_quoted_only_if_it_is_named_and_not_at_a_rho_of_the_sample(registered) -> None:
    registered(function=lambda m, delta: delta, needs=("iid",), assumes="the moon is full")
    answer, row = the_row()
    assert (row.raw, row.delta) == (0.05, 0.05)
    says(wording.sentence(answer), ["mine, of your own", "below 1", "named"])
    answer, row = the_row(cite="mine", compared=5)
    assert (answer.cite.value, answer.cite.delta, answer.cite.compared) == (0.01, 0.01, 5)
    assert "the moon is full (its author's word)" in wording.sentence(answer)
    catalogue.forget("mine")
    registered(function=lambda ramp, m, delta: ramp + delta, needs=("iid",), scale="rho")
    answer, row = the_row(linear(), cite="mine")
    assert (row.applies, row.why_not, answer.rho_chosen) == (False, ("fixed-in-advance",), True)
    assert "rho was chosen on the sample" in next(
        entry.detail for entry in answer.assumptions if entry.id == "fixed-in-advance"
    )
    answer, row = the_row(linear(), cite="mine", rho=Fraction("0.001"))
    assert row.applies
    says(wording.sentence(answer), ["rho = 0.001", "fixed before the sample"])


def test_a_registered_bound_is_in_the_figures(registered) -> None:
    registered(function=lambda rho, m: 1 / (rho * m), scale="rho")
    assert [bound.id for bound in family.bounds()][-1] == "mine"
    assert family.value(catalogue.bound("mine"), family.FamilySetting()).raw == 1e-4
    answer = report.build(model(), Question(draws=None, curves=True))
    rho, raw = answer.curves["mine"]
    assert raw == pytest.approx(1 / (rho * answer.sample.m))
    assert "mine" in [text.get_text() for text in draw_terms(answer).axes[0].get_yticklabels()]


def test_a_registered_bound_is_drawn_like_no_other(registered) -> None:
    registered(function=lambda rho, m: 1e4 / (rho * m), group="context", title="What I would rather have proved")
    data = bounds_against.compute(quick=True)
    panels = bounds_against.draw(data).axes
    assert [1e4 / (0.1 * m) for m in data["m"]["values"]] in [list(line.get_ydata()) for line in panels[0].lines]
    key = [text.get_text() for text in panels[5].get_legend().get_texts()]
    assert "What I would … (context)" in key
    looks = [
        (line.get_color(), line.get_linestyle(), line.get_marker()) for line in panels[5].lines[: len(family.bounds())]
    ]
    assert len(set(looks)) == len(family.bounds()) >= 8
    assert "mine 1" in bounds_against.caption(data)


def test_a_registered_bound_is_never_taken_from_what_was_kept(registered, tmp_path: Path) -> None:
    given = {"cache": tmp_path, "quick": True, "parameters": {"depth": (2.0, 3.0)}}
    before = gallery.data("bounds-against", **given)["m"]["raw"]
    for value in (2.0, 3.0):
        with contextlib.suppress(ValueError):
            catalogue.forget("mine")
        registered(function=lambda m, value=value: value / m)
        assert gallery.data("bounds-against", **given)["m"]["raw"]["mine"][0] == value / 100
    assert "mine" not in before
    assert "mine" not in next(tmp_path.iterdir()).read_text()


def test_a_registered_bound_that_no_sample_brings_below_1_has_a_map_without_lines(registered) -> None:
    registered(function=lambda rho: 2.0)
    panel = vacuity_map.draw(vacuity_map.compute(quick=True)).axes[len(family.bounds()) - 1]
    assert (panel.get_title(), len(panel.texts)) == ("Mine", 0)


@pytest.mark.parametrize("changes", [{"function": lambda R_S: 1.0}, {"at": "r_rms"}, {"complexity": "R_S"}])
def test_a_registered_bound_that_reads_the_sample_is_not_drawn_without_one(registered, changes: dict) -> None:
    registered(**changes)
    assert "mine" not in [bound.id for bound in family.bounds()]


def test_a_registered_bound_fails_by_what_it_needs(registered) -> None:
    registered(needs=("feature-map", "homogeneous"))
    _, row = the_row(model(activation="tanh", fitted=True))
    assert (row.applies, row.value) == (False, None)
    assert row.why_not == ("homogeneous", "feature-map")


def test_context_claims_nothing(registered) -> None:
    registered(group="context", function=lambda m: 1 / m)
    _, row = the_row()
    assert (row.context, row.applies, row.value) == (True, False, None)
    assert row.terms == {"value": 1 / model().sample.Psi.shape[0]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "margin-bound"}, "a bound 'margin-bound' exists already."),
        ({"id": "My Bound"}, "id must be like my-bound, got id='My Bound'."),
        ({"group": "paper"}, "group must be user or context, got group='paper'."),
        ({"group": "new"}, "group must be one of paper"),
        ({"needs": ("full-moon",)}, "got 'full-moon': say it in `assumes`."),
        ({"needs": "iid"}, "needs must be a list of ids, got the string 'iid'."),
        ({"classes": "three"}, "classes must be one of two, many, any, got classes='three'."),
        ({"scale": "f"}, "scale must be one of rho, W_M, B, got scale='f'."),
        ({"function": 3}, "function must be callable or 'module:name', got 3."),
        ({"function": "nowhere:f"}, "the function of 'mine' cannot be imported: No module named 'nowhere'."),
        ({"function": "math:nothing"}, "the function of 'mine' cannot be imported"),
    ],
)
def test_what_cannot_be_registered(changes: dict, message: str) -> None:
    before = catalogue.select()
    with pytest.raises(ValueError) as caught:
        catalogue.register(Bound(**MINE | changes))
    assert message in str(caught.value)
    assert catalogue.select() == before


def _fails(m: int) -> float:
    raise RuntimeError("no such moon")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_fails, "mine gave no value (RuntimeError: no such moon)."),
        (lambda m: math.nan, "mine gave nan, which cannot bound a risk."),
        (lambda m: {"a": 0.5, "b": math.nan}, "mine gave nan, which cannot bound a risk."),
        (lambda m: -0.5, "mine gave -0.5, which cannot bound a risk."),
        (lambda m: None, "mine gave no value (TypeError"),
        (lambda m: "0.3", "mine gave no value (ValueError: a number was expected, got '0.3')."),
        (lambda m: 1j, "mine gave no value (TypeError"),
        (lambda m: math.inf, "mine gave no value (OverflowError"),
        (lambda moon: 0.5, "mine gave no value (ValueError: mine reads 'moon'"),
    ],
)
def test_a_function_that_gives_no_bound_leaves_the_report_and_says_so(registered, function, message: str) -> None:
    registered(function=function, at="r_sup", scale="rho")
    answer, row = the_row(curves=True)
    assert (row.raw, row.value, row.vacuous, row.terms) == (None, 1.0, True, {})
    assert next(note for note in answer.notes if note.startswith("mine gave")).startswith(message)
    assert json.loads(render.to_json(answer), parse_constant=lambda text: pytest.fail(text))
    assert wording.remark(row, answer) == "no value for this network"
    assert "mine" not in answer.curves
    assert family.value(catalogue.bound("mine"), family.FamilySetting()).raw is None


def test_what_is_no_record_is_not_registered() -> None:
    with pytest.raises(ValueError, match=r"register takes a Bound\(..\), got a function"):
        catalogue.register(mine)  # type: ignore[arg-type]


def test_a_quantity_that_no_report_has_is_refused() -> None:
    bound = Bound("mine", "Mine", "user", lambda moon, m: 0.0)
    refused(lambda: arguments(bound, GIVEN), "mine", "'moon'")
    refused(lambda: catalogue.forget("mine"), "no bound 'mine' was registered")
