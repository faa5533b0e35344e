"""The explorer in a real browser, driven by links and by its fields: what it shows against the numeric modules."""

import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from adanet_theory import catalogue
from figures.explorer import content, page
from tests import chromium
from tests.chromium import Chromium
from tests.explorer_settings import Reference, State, random_state

pytestmark = pytest.mark.skipif(
    chromium.PROGRAM is None, reason="no chromium is installed: make browser-test installs it and runs this"
)

BY_LINK = [random_state(seed) for seed in range(1000, 1220)]
BY_FIELDS = [state for state in map(random_state, range(2000, 2120)) if len(state["n"]) <= 5][:30]

# What the page shows: the full numbers stand in the value of each <data> element.
SHOWN = """(() => {
  const number = ({value}) => (value === "" ? null : Number(value));
  const numbers = (root, key) => Object.fromEntries(
    [...root.querySelectorAll(`data[data-${key}]`)].map((node) => [node.dataset[key], number(node)]));
  const words = (root, place) => root.querySelector(place).textContent;
  const bound = (article) => [article.id.slice(2), {
    terms: numbers(article, "term"), whyNot: article.dataset.whyNot, j: article.dataset.j,
    value: article.querySelector(".value").value, shown: words(article, ".value"), mark: words(article, ".mark"),
  }];
  return {
    bounds: Object.fromEntries(
      [...document.querySelectorAll("article.bound")].filter((article) => article.checkVisibility()).map(bound)),
    layers: numbers(document.querySelector("#layers"), "layer"),
    faults: words(document, "#faults"), summary: words(document, "#summary"),
  };
})()"""

FOLLOW = """(async (hash) => {
  const arrived = new Promise((resolve) => addEventListener("hashchange", resolve, {once: true}));
  history.replaceState(null, "", "#"); // a page that was slow may stand at this address already: no change then
  location.hash = hash;
  await arrived;
})"""

TYPE = """((entries) => {
  for (const [id, value] of entries) {
    const node = document.getElementById(id);
    if (node.type === "checkbox") node.checked = value; else node.value = value;
    node.dispatchEvent(new Event(node.type === "text" ? "input" : "change", {bubbles: true}));
  }
})"""


MOVED = "s.dispatchEvent(new Event('input'));"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    path.write_text(page.document(), encoding="utf-8")
    try:
        opened = Chromium()
    except (OSError, EOFError, TimeoutError) as error:
        if "BROWSER_TEST" in os.environ:
            raise
        pytest.skip(f"{chromium.PROGRAM} does not start here ({error}): make browser-test asks for it")
    with opened:
        opened.open(path.as_uri())
        # A packaged browser may be kept from this folder; make browser-test does not take that for an answer.
        if not opened.run("typeof evaluate === 'function'") and "BROWSER_TEST" not in os.environ:
            pytest.skip(f"{chromium.PROGRAM} does not open {path}: make browser-test asks for it")
        yield opened


def number(x: float | None) -> str:
    return "" if x is None else "inf" if x == math.inf else repr(x)


def link(state: State) -> str:
    """The address of a setting, written here once more."""
    plain = {key: number(state[key]) for key in ("m", "rho", "delta", "p", "r_inf", "r_sup", "r_rms", "B", "d")}
    plain |= {key: number(state[key]) for key in ("margin_error", "ramp", "C")}
    lists = {key: "*".join(map(repr, state[key])) for key in ("n", "w")}
    rows = "_".join("*".join(map(repr, row)) for row in state["Lambda"])
    return urlencode(
        {**plain, **lists, "phi": "*".join(state["phi"]), "unmet": "*".join(state["unmet"]), "Lambda": rows}
    )


def entries(state: State) -> list[tuple[str, Any]]:
    """What to type where; the depth first, which makes the fields of the layers."""
    l = len(state["n"]) - 1  # noqa: E741 - the paper's letter
    names = ("m", "rho", "delta", "p", "r_inf", "margin_error", "C", "ramp", "r_sup", "r_rms", "B", "d")
    typed: list[tuple[str, Any]] = [("f-l", str(l)), *((f"f-{name}", number(state[name])) for name in names)]
    typed += [(f"f-n_{k}", str(n)) for k, n in enumerate(state["n"])]
    typed += [(f"f-w_{k}", repr(w)) for k, w in enumerate(state["w"], start=1)]
    typed += [(f"f-phi_{k}", name) for k, name in enumerate(state["phi"], start=1)]
    for k, row in enumerate(state["Lambda"], start=1):
        typed += [(f"f-Lambda_{k},{s}", repr(bound)) for s, bound in enumerate(row, start=int(k > 1))]
    return [*typed, *((f"promise-{id}", id not in state["unmet"]) for id in content.PROMISES)]


def compare(shown: Any, state: State) -> None:
    assert shown["faults"] == "", state
    reference = Reference(state)
    assert set(shown["bounds"]) == set(reference.bounds()), state
    for id, bound in reference.bounds().items():
        row = shown["bounds"][id]
        expected = {**bound.terms, "total": bound.raw}
        for name, value in expected.items():
            # 1e-12 relative, as asked; a term of 0 has no relative error
            assert row["terms"][name] == (None if value is None else pytest.approx(value, rel=1e-12, abs=0)), (
                id,
                state,
            )
        assert row["terms"].keys() == expected.keys()
        assert row["whyNot"].split() == reference.why_not(id, content.NEEDS), (id, state)
        assert row["j"] == ("" if bound.j is None else str(bound.j))
        if row["whyNot"]:
            assert (row["value"], row["shown"], row["mark"]) == ("", "–", "does not apply")
        else:
            assert float(row["value"]) == pytest.approx(bound.value, rel=1e-12)
            assert bound.value <= float(row["shown"]) * (1 + 1e-12) <= bound.value * 1.0011
            assert row["mark"] == ("vacuous" if bound.is_vacuous else "")
    assert shown["layers"] == pytest.approx(reference.layers(), rel=1e-12, abs=0)


def test_the_page_shows_the_numbers_of_200_links(browser: Chromium) -> None:
    decided = [state for state in BY_LINK if not Reference(state).near_a_jump()]
    assert len(decided) >= 200
    for state in decided:
        browser.run(f"{FOLLOW}({json.dumps(link(state))})")
        compare(browser.run(SHOWN), state)
    assert browser.complaints() == []


def test_the_fields_do_what_a_link_does(browser: Chromium) -> None:
    decided = [state for state in BY_FIELDS if not Reference(state).near_a_jump()]
    assert len(decided) >= 25
    for state in decided:
        browser.run(f"{TYPE}({json.dumps(entries(state))})")
        compare(browser.run(SHOWN), state)
    assert browser.complaints() == []


def test_the_link_on_the_page_restores_it(browser: Chromium) -> None:
    for state in BY_FIELDS[:5]:
        browser.run(f"{TYPE}({json.dumps(entries(state))})")
        address, before = browser.run("[document.querySelector('#link').hash.slice(1), 0]")[0], browser.run(SHOWN)
        browser.run("document.querySelector('#reset').click()")
        assert browser.run(SHOWN) != before
        browser.run(f"{FOLLOW}({json.dumps(address)})")
        assert browser.run(SHOWN) == before


def test_a_slider_moves_its_field_and_the_bounds(browser: Chromium) -> None:
    browser.run("document.querySelector('#reset').click()")
    for name, low, high in (("m", "10", "1000000000"), ("p", "1", "inf"), ("l", "1", str(content.DEPTHS))):
        for end, value in (("min", low), ("max", high)):
            before = browser.run(SHOWN)
            browser.run(f"(() => {{ const s = document.querySelector('#s-{name}'); s.value = s.{end}; {MOVED} }})()")
            assert browser.run(f"document.querySelector('#f-{name}').value") == value
            assert browser.run(SHOWN)["bounds"] != before["bounds"]
        browser.run("document.querySelector('#reset').click()")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("delta", "1.5", "delta must be in (0, 1), got 1.5."),
        ("m", "many", "m must be an integer in [1, 1e15], got no number."),
        ("l", "0", f"l must be an integer in [1, {content.DEPTHS}], got 0."),
        ("rho", "-1", "rho must be > 0 and finite, got -1."),
    ],
)
def test_a_bad_value_is_named_and_no_bound_is_shown_for_it(
    browser: Chromium, field: str, value: str, said: str
) -> None:
    browser.run("document.querySelector('#reset').click()")
    browser.run(f"{TYPE}({json.dumps([(f'f-{field}', value)])})")
    shown = browser.run(SHOWN)
    assert shown["faults"] == said
    assert shown["summary"] == f"No bound applies: {said}"
    assert browser.run(f"document.querySelector('#f-{field}').getAttribute('aria-invalid')") == "true"
    assert all(row["value"] == "" and row["mark"] == "does not apply" for row in shown["bounds"].values())
    assert all(value is None for row in shown["bounds"].values() for value in row["terms"].values())
    assert shown["layers"] == {}
    assert browser.run("document.querySelectorAll('#chart path').length") == 0
    assert set(browser.run("[...document.querySelectorAll('.key .n')].map((node) => node.textContent)")) == {"–"}
    browser.run("document.querySelector('#reset').click()")
    assert browser.run(SHOWN)["faults"] == ""


def test_a_slider_mends_what_was_typed(browser: Chromium) -> None:
    browser.run("document.querySelector('#reset').click()")
    browser.run(f"{TYPE}({json.dumps([('f-l', '99')])})")
    assert browser.run(SHOWN)["faults"] != ""
    browser.run(f"(() => {{ const s = document.querySelector('#s-l'); s.value = 4; {MOVED} }})()")
    assert browser.run(SHOWN)["faults"] == ""
    assert browser.run("document.querySelector('#f-l').value") == "4"


def test_depth_one_is_outside_the_print(browser: Chromium) -> None:
    browser.run("document.querySelector('#reset').click()")
    browser.run(f"{TYPE}({json.dumps([('f-l', '1')])})")
    shown = browser.run(SHOWN)["bounds"]
    for bound in catalogue.theory():
        assert ("depth" in shown[bound.id]["whyNot"]) == bound.is_printed


def test_margins_that_no_member_has_are_no_good_news(browser: Chromium) -> None:
    browser.run("document.querySelector('#reset').click()")
    assert browser.run(SHOWN)["summary"].startswith("Risk ≤ 0.1")
    browser.run(f"{TYPE}({json.dumps([('f-rho', '2')])})")
    assert browser.run(SHOWN)["summary"].startswith("No such network: in the family |f/W| ≤ 1 ≤ ρ")


CURVES = """new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
  chart.points.map(({x: at, bounds}) => (
    {x: at === Infinity ? "inf" : at, state: VARIABLES[x].set(state, at), bounds}))))))"""


@pytest.mark.parametrize("name", ["m", "rho", "margin_error", "delta", "C", "l", "p", "n_0", "n_k", "Lambda", "r_inf"])
def test_the_curves_are_those_of_the_bounds(browser: Chromium, name: str) -> None:
    browser.run("document.querySelector('#reset').click()")
    browser.run(f"{TYPE}({json.dumps([('x', name)])})")
    points = browser.run(CURVES)
    assert len(points) >= 10
    for point in points[:: max(1, len(points) // 10)]:
        state = {**point["state"], "p": 2.0 if name != "p" else math.inf if point["x"] == "inf" else point["x"]}
        reference = Reference(state)
        if reference.near_a_jump():
            continue
        for row in point["bounds"]:
            raw = reference.bounds()[row["id"]].raw
            assert row["raw"] == (None if raw is None else pytest.approx(raw, rel=1e-12))
    drawn = browser.run("[...document.querySelectorAll('#chart path.curve')].map((path) => path.getAttribute('d'))")
    assert len(drawn) >= len(catalogue.theory())
    assert not any("NaN" in path or "Infinity" in path for path in drawn)
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [360, 390, 768, 1280, 1920])
def test_nothing_sticks_out_at_any_width(browser: Chromium, width: int) -> None:
    browser.run("document.querySelector('#reset').click()")
    browser.run("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    browser.send("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 700)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    browser.send("Emulation.clearDeviceMetricsOverride")


def test_every_control_has_a_name_of_its_own(browser: Chromium) -> None:
    browser.send("Accessibility.enable")
    nodes = browser.send("Accessibility.getFullAXTree")["nodes"]
    roles = {"textbox", "slider", "combobox", "checkbox", "button", "link"}
    controls = [node for node in nodes if not node.get("ignored") and node["role"]["value"] in roles]
    assert len(controls) > 40
    assert [node for node in controls if not node["name"]["value"].strip()] == []
    names = [node["name"]["value"] for node in controls if node["role"]["value"] == "slider"]
    assert len(names) == len(set(names))


def press(browser: Chromium, key: str, code: int) -> None:
    for kind in ("keyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def test_the_keyboard_alone_moves_every_slider(browser: Chromium) -> None:
    browser.run("document.querySelector('#reset').click()")
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    moved = set()
    for _ in range(120):
        press(browser, "Tab", 9)
        name = browser.run("document.activeElement.dataset.slider ?? document.activeElement.id")
        if name in ("m", "rho", "margin_error", "delta", "l", "p", "n_0", "n_k", "Lambda", "r_inf"):
            before, numbers = browser.run(f"document.querySelector('#f-{name}').value"), browser.run(SHOWN)["bounds"]
            value = f"document.querySelector('#f-{name}').value"
            for _ in range(40 if name in ("n_0", "n_k") else 1):  # a small whole number takes more than one step
                press(browser, "ArrowRight", 39)
                if browser.run(value) != before:
                    break
            assert browser.run(value) != before
            assert browser.run(SHOWN)["bounds"] != numbers, name
            moved.add(name)
    assert len(moved) == 10


def test_the_page_asks_the_network_for_nothing(browser: Chromium) -> None:
    assert [url for url in browser.requests() if not url.startswith("file:")] == []
    said = browser.run("fetch('data:text/plain,x').then(() => 'fetched', () => 'refused')")
    assert said == "refused"


def test_a_root_has_brackets_where_it_would_not_stretch(browser: Chromium, tmp_path: Path) -> None:
    """Without a mathematical font the sign stays small, and sqrt(a/b) would look like sqrt(a)/b."""
    shown = "getComputedStyle(document.querySelector('msqrt .bracket')).display !== 'none'"
    fonts = re.search(r"math \{ font-family: ([^;]*), math;", page.document())
    assert fonts is not None
    for name, list in (("none.html", '"No Such Font", "Nor This"'), ("some.html", '"No Such Font", serif')):
        path = tmp_path / name
        path.write_text(page.document().replace(fonts[1], list), encoding="utf-8")
        with Chromium() as other:
            other.open(path.as_uri())
            assert other.run(shown) == (name == "none.html")


def test_dark_and_light_are_told_apart_and_readable(browser: Chromium) -> None:
    colours = "['color', 'backgroundColor'].map((x) => getComputedStyle(document.body)[x].match(/\\d+/g).map(Number))"
    for scheme, dark in (("light", False), ("dark", True)):
        browser.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        ink, paper = browser.run(colours)
        assert (sum(paper) < sum(ink)) == dark
        assert contrast(ink, paper) > 7
    browser.send("Emulation.setEmulatedMedia", features=[])


def contrast(a: list[int], b: list[int]) -> float:
    """The contrast ratio of two colours, by relative luminance."""

    def luminance(colour: list[int]) -> float:
        parts = [x / 255 for x in colour[:3]]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)
