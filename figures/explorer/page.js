"use strict";
// The page: one state; every change shows all of it again.

const $ = (id) => document.getElementById(id);
let state = initial();
let x = "m";
let typed = {}; // faults of fields whose text is no state at all
let chart = null;
const hidden = new Set();

function change(next) {
  state = next;
  show();
}

// No numbers at all: what stands in the fields is no setting.
function showNothing(reason) {
  cancelAnimationFrame(show.frame);
  clearTimeout(show.later);
  const [first, second] = $("summary").children;
  first.textContent = `No bound applies: ${reason}`;
  second.textContent = "";
  $("summary").className = "verdict none";
  for (const {id, terms: names} of statements(state)) {
    const terms = Object.fromEntries(names.map((name) => [name, null]));
    showBound({id, terms, raw: null, value: null, whyNot: ["input"], j: null}, {input: {}});
    $(`b-${id}`).querySelector(".why").textContent = reason;
    $(`k-${id}`).textContent = "–";
  }
  chart.clear();
  for (const id of ["layers", "table-body"]) $(id).replaceChildren();
}

function show() {
  const wrong = [...Object.entries(typed), ...faults(state)];
  showControls(wrong);
  if (wrong.length) return showNothing(wrong[0][1]);
  const answer = evaluate(state);
  showDefaults(answer);
  showSummary(answer);
  showStatements();
  for (const bound of answer.bounds) showBound(bound, answer.assumptions);
  showLayers(answer.layers);
  $("x").value = x;
  cancelAnimationFrame(show.frame); // the numbers at once, the curves once a frame
  show.frame = requestAnimationFrame(() => showCurves(answer.bounds));
  $("link").href = `#${write(state, {x})}`;
  clearTimeout(show.later); // browsers limit how often a page may write its address
  show.later = setTimeout(() => history.replaceState(null, "", $("link").href), 300);
}

function showCurves(bounds) {
  chart.draw(state, x, hidden, (point) => showKey(point, bounds));
  if ($("numbers").open) showTable();
}

function restore(hash) {
  if (hash.length < 2) return;
  const restored = read(hash.slice(1)), variable = new URLSearchParams(hash.slice(1)).get("x");
  typed = {};
  if (Object.hasOwn(VARIABLES, variable ?? "")) x = variable;
  $("stranger").hidden = restored !== null;
  if (restored) state = restored;
}

// Whether a font of the stylesheet's list for formulas is there: a text set in it is not as wide as in the fallback.
function hasMathFont() {
  const pen = document.createElement("canvas").getContext("2d");
  const width = (font) => {
    pen.font = `64px ${font}`;
    return pen.measureText("mW√∑Λρ").width;
  };
  const listed = getComputedStyle(document.querySelector("math")).fontFamily.split(",").slice(0, -1);
  return listed.some((font) => width(`${font}, monospace`) !== width("monospace"));
}

document.body.classList.toggle("plain-roots", !hasMathFont());
buildControls();
chart = new Chart($("chart"), (value) => change(VARIABLES[x].set(state, value)));
for (const {id} of DATA.bounds) {
  $(`show-${id}`).addEventListener("change", (event) => {
    hidden[event.target.checked ? "delete" : "add"](id);
    show();
  });
}
$("numbers").addEventListener("toggle", () => $("numbers").open && chart.points.length && showTable());
addEventListener("hashchange", (event) => {
  document.activeElement?.blur(); // so that every field takes the value of the link
  restore(new URL(event.newURL).hash); // not location's, which a change of a moment ago may just have overwritten
  show();
});
new ResizeObserver(([entry]) => {
  const width = Math.max(280, entry.contentRect.width);
  if (chart.width === width) return; // only the height changed, by the drawing itself
  chart.width = width;
  show();
}).observe($("chart").parentElement);
restore(location.hash);
show();
