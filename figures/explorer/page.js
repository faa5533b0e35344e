"use strict";
// The page: fields and sliders write the state, every change shows all of it again.

const $ = (id) => document.getElementById(id);
const SLIDER = 1000;
const GROUPS = {sample: ["m", "rho", "margin_error", "delta"], family: ["l", "p", "n_0", "n_k", "Lambda"], features: ["r_inf"]};
const EXTRA = {
  sample: [["ramp", "ramp loss at ρ", "ψ"]],
  features: [["r_sup", "bound known beforehand", "r_sup"], ["r_rms", "largest feature in mean square", "r_rms"]],
  network: [["B", "path norm of f/W", "B"], ["d", "hidden layers of the network", "d"]],
};

let state = initial();
let x = "m";
let typed = {}; // faults of fields whose text is no state at all
let chart = null;
const hidden = new Set();

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const field = (id, attributes) =>
  element("input", {id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", ...attributes});
const text = (value) => (value === Infinity ? "inf" : value === null || value === undefined || Number.isNaN(value) ? "" : String(value));

// Controls

function label(id, words, symbol) {
  return element("label", {for: id}, `${words} `, element("i", {}, symbol));
}

function variableControl(name) {
  const variable = VARIABLES[name], id = `f-${name}`, input = field(id, {"data-field": name});
  const steps = variable.whole && variable.linear ? {min: variable.linear[0], max: variable.linear[1]} : {min: 0, max: SLIDER};
  const words = `${variable.label} ${variable.symbol}, slider`;
  const slider = element("input", {id: `s-${name}`, type: "range", "aria-label": words, "data-slider": name, ...steps});
  input.addEventListener("input", () => enter(name, input.value));
  slider.addEventListener("input", () => {
    const value = steps.max === SLIDER ? valueAt(variable, slider.value / SLIDER) : Number(slider.value);
    change(variable.set(state, value));
  });
  return element("div", {class: "control"}, label(id, variable.label, variable.symbol), input, slider);
}

function enter(name, value) {
  const variable = VARIABLES[name], entered = number(value);
  delete typed[name];
  if (name === "l" && !(Number.isInteger(entered) && entered >= 1 && entered <= DATA.depths)) {
    typed.l = `l must be an integer in [1, ${DATA.depths}], got ${value || "nothing"}.`;
    return show();
  }
  const follows = name === "margin_error" && DATA.margins !== null && value.trim() === "";
  change(variable.set(state, follows ? null : entered));
}

function extraControl([name, words, symbol]) {
  const id = `f-${name}`, input = field(id, {"data-field": name});
  input.addEventListener("input", () => change({...copy(state), [name]: input.value.trim() === "" ? null : number(input.value)}));
  return element("div", {class: "control small"}, label(id, words, symbol), input);
}

function buildControls() {
  for (const [group, names] of Object.entries(GROUPS)) $(`g-${group}`).append(...names.map(variableControl));
  for (const [group, extras] of Object.entries(EXTRA)) $(`g-${group}`).append(...extras.map(extraControl));
  $("phi").append(element("option", {value: ""}, "differ"), ...Object.keys(DATA.activations).map((name) => element("option", {}, name)));
  $("phi").addEventListener("change", () => {
    if ($("phi").value) change({...copy(state), phi: state.phi.map(() => $("phi").value)});
  });
  $("skips").addEventListener("change", () => {
    const fill = (row) => row.map((bound, i) => (i === row.length - 1 ? bound : $("skips").checked ? row[row.length - 1] : 0));
    change({...copy(state), Lambda: state.Lambda.map(fill)});
  });
  for (const [id] of DATA.promises) {
    $(`promise-${id}`).addEventListener("change", (event) => {
      const rest = state.unmet.filter((other) => other !== id);
      change({...copy(state), unmet: event.target.checked ? rest : [...rest, id]});
    });
  }
  $("reset").addEventListener("click", () => {
    typed = {};
    change(initial());
  });
  $("x").append(...Object.entries(VARIABLES).map(([name, {label, symbol}]) => element("option", {value: name}, `${symbol}, ${label}`)));
  $("x").addEventListener("change", () => {
    x = $("x").value;
    show();
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
}

// The table of the layers is built anew only where the depth changed, so that typing keeps its place.
function buildLayers() {
  const l = depth(state), cells = (k) => Array.from({length: l}, (_, s) => (k === 1) === (s === 0) && s < k);
  const entry = (key, words, set) => {
    const input = field(`f-${key}`, {"aria-label": words});
    input.addEventListener("input", () => change(set(number(input.value))));
    return element("td", {}, input);
  };
  const put = (list, i, value) => state[list].map((old, place) => (place === i ? value : old));
  const rows = Array.from({length: l}, (_, i) => i + 1).map((k) => element("tr", {},
    element("th", {scope: "row"}, String(k)),
    entry(`n_${k}`, `width n_${k}`, (value) => ({...copy(state), n: put("n", k, value)})),
    entry(`w_${k}`, `mixture weight, norm of w_${k}`, (value) => ({...copy(state), w: put("w", k - 1, value)})),
    k < l ? activationCell(k) : element("td", {}),
    ...cells(k).map((used, s) => (used ? entry(`Lambda_${k},${s}`, `Lambda ${k},${s}`, (value) => {
      const row = state.Lambda[k - 1].map((old, place) => (place === Math.max(s - 1, 0) ? value : old));
      return {...copy(state), Lambda: state.Lambda.map((old, place) => (place === k - 1 ? row : old))};
    }) : element("td", {}))),
  ));
  const heads = ["k", "nₖ", "‖wₖ‖₁", "φₖ", ...Array.from({length: l}, (_, s) => `Λₖ,${s}`)];
  $("layer-fields").replaceChildren(
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {scope: "col"}, head)))),
    element("tbody", {}, ...rows),
  );
}

function activationCell(k) {
  const choice = element("select", {id: `f-phi_${k}`, "aria-label": `activation of layer ${k}`});
  choice.append(...Object.keys(DATA.activations).map((name) => element("option", {}, name)));
  choice.addEventListener("change", () => change({...copy(state), phi: state.phi.map((old, i) => (i === k - 1 ? choice.value : old))}));
  return element("td", {}, choice);
}

// Showing the state

function change(next) {
  state = next;
  show();
}

function fill(id, value) {
  const node = $(id);
  if (node && node !== document.activeElement) node.value = value;
}

function showControls(wrong) {
  if ($("layer-fields").rows.length !== depth(state) + 1) buildLayers();
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const value = variable.get(state), slider = $(`s-${name}`);
    if (!(name in typed)) fill(`f-${name}`, text(value));
    $(`f-${name}`).placeholder = name === "margin_error" ? "" : "differ";
    if (value === undefined) continue;
    const at = slider.max === String(SLIDER) ? Math.round(position(variable, value) * SLIDER) : value;
    if (slider !== document.activeElement || slider.max !== String(SLIDER)) slider.value = at;
    slider.setAttribute("aria-valuetext", near(value));
  }
  for (const name of OPTIONAL) fill(`f-${name}`, text(state[name]));
  state.n.forEach((n, k) => k && fill(`f-n_${k}`, text(n)));
  state.w.forEach((w, i) => fill(`f-w_${i + 1}`, text(w)));
  state.Lambda.forEach((row, i) => row.forEach((bound, j) => fill(`f-Lambda_${i + 1},${i === 0 ? 0 : j + 1}`, text(bound))));
  state.phi.forEach((name, i) => fill(`f-phi_${i + 1}`, name));
  $("phi").value = same(state.phi) ?? "";
  $("skips").checked = state.Lambda.some((row) => row.slice(0, -1).some((bound) => bound > 0));
  $("skips").disabled = depth(state) < 3;
  for (const [id] of DATA.promises) $(`promise-${id}`).checked = !state.unmet.includes(id);
  for (const input of document.querySelectorAll("#controls input[type=text]")) input.removeAttribute("aria-invalid");
  for (const [key] of wrong) for (const id of [`f-${key}`, `f-${key.replace(/_.*/, key[0] === "n" ? "_k" : "")}`]) {
    if (id !== "f-n_k" || key !== "n_0") $(id)?.setAttribute("aria-invalid", "true");
  }
  $("faults").textContent = wrong.map(([, sentence]) => sentence).join(" ");
}

// What stands for a field that is left empty.
function showDefaults({v, B}) {
  $("f-margin_error").placeholder = near(v.margin_error);
  if (state.margin_error === null) $("s-margin_error").value = Math.round(v.margin_error * SLIDER);
  for (const [name, value] of Object.entries({ramp: v.ramp, r_sup: v.r_sup, r_rms: v.r_rms, B, d: v.d})) {
    $(`f-${name}`).placeholder = near(value);
  }
}

function put(node, value, shown) {
  node.value = value === null ? "" : String(value); // a <data> element: the full number beside the rounded one
  node.textContent = shown;
}

function showBound(bound, notes) {
  const article = $(`b-${bound.id}`), applies = bound.whyNot.length === 0;
  const kind = !applies ? "not" : bound.vacuous ? "vacuous" : "cite";
  article.className = `bound ${kind} is-${bound.id}`;
  put(article.querySelector(".value"), applies ? bound.value : null, applies ? up(bound.value) : "–");
  article.querySelector(".mark").textContent = {not: "does not apply", vacuous: "vacuous", cite: ""}[kind];
  for (const [name, term] of Object.entries(bound.terms)) {
    put(article.querySelector(`[data-term="${name}"]`), Number.isFinite(term) ? term : null, up(term));
  }
  put(article.querySelector('[data-term="total"]'), bound.raw, bound.raw === null ? "undefined" : up(bound.raw));
  article.dataset.whyNot = bound.whyNot.join(" ");
  article.dataset.j = bound.j ?? "";
  const at = bound.j === null ? "" : `At j = ${bound.j}, ρⱼ = ${near(bound.rho)} of f/W. `;
  const because = bound.whyNot.map((id) => `${id} (${notes[id].detail})`).join(", ");
  const formula = bound.value === null ? "" : "A formula only, no bound here: ";
  article.querySelector(".why").textContent = at + (applies ? "" : `${formula}fails ${because}.`);
  showBar(article.querySelector(".bar"), bound);
}

function showBar(bar, {terms, raw}) {
  const scale = Math.max(1, raw ?? 1);
  [...bar.children].forEach((part, i) => {
    const term = Object.values(terms)[i];
    part.style.width = `${100 * Math.min(1, Math.max(0, (Number.isFinite(term) ? term : 0) / scale))}%`;
  });
  bar.classList.toggle("over", raw === null || raw > 1);
}

function showLayers(rows) {
  $("layers").replaceChildren(...rows.map((row) => element("tr", {},
    element("th", {scope: "row"}, String(row.k)),
    ...["lemma-2", "peeled", "R_S", "M"].map((name) => {
      const cell = element("data", {"data-layer": `${name} ${row.k}`});
      put(cell, Number.isFinite(row[name]) ? row[name] : null, up(row[name]));
      return element("td", {class: "n"}, cell);
    }))));
}

function showSummary({bounds, impossible, W_M}) {
  const [first, second] = $("summary").children, sure = near(1 - state.delta, 6);
  const usable = impossible ? [] : bounds.filter((bound) => !bound.whyNot.length && !bound.vacuous);
  const best = usable.reduce((a, b) => (a === null || b.value < a.value ? b : a), null);
  first.textContent = best
    ? `Risk ≤ ${up(best.value)} with probability ≥ ${sure}, by ${best.id}.`
    : bounds.some((bound) => !bound.whyNot.length) ? "No bound that applies is below 1." : "No bound applies.";
  if (impossible) first.textContent = `No such network: in the family |f/W| ≤ ${near(W_M)} ≤ ρ, so every margin is an error at ρ.`;
  const said = (bound) => (bound.whyNot.length ? "does not apply" : bound.raw === null ? "undefined" : `${up(bound.raw)}${bound.vacuous ? ", vacuous" : ""}`);
  second.textContent = `As printed: ${bounds.slice(0, 2).map((bound) => `${bound.id} ${said(bound)}`).join("; ")}.`;
  $("summary").className = best ? "verdict" : "verdict none";
}

function showKey(point, bounds) {
  for (const bound of point?.bounds ?? bounds) {
    const pale = bound.whyNot.length > 0;
    $(`k-${bound.id}`).textContent = bound.raw === null ? "–" : up(bound.raw, 3);
    $(`k-${bound.id}`).parentElement.classList.toggle("pale", pale);
  }
  const variable = VARIABLES[x], here = point ? point.x : variable.get(state);
  $("key-at").textContent = here === undefined ? "the layers differ" : `${variable.symbol} = ${near(here)}`;
}

// The curves' numbers, for those who do not see them.
function showTable() {
  const step = Math.max(1, Math.floor(chart.points.length / 12)), kept = chart.points.filter((_, i) => i % step === 0);
  $("table-head").replaceChildren(...[VARIABLES[x].symbol, ...DATA.bounds].map((name) => element("th", {scope: "col", class: "n"}, name)));
  $("table-body").replaceChildren(...kept.map((point) => element("tr", {},
    element("th", {scope: "row", class: "n"}, near(point.x)),
    ...point.bounds.map((bound) => element("td", {class: bound.whyNot.length ? "n not" : "n"}, bound.raw === null ? "–" : up(bound.raw, 3))))));
}

// No numbers at all: what stands in the fields is no setting.
function showNothing(reason) {
  cancelAnimationFrame(show.frame);
  clearTimeout(show.later);
  const [first, second] = $("summary").children;
  first.textContent = `No bound applies: ${reason}`;
  second.textContent = "";
  $("summary").className = "verdict none";
  for (const id of DATA.bounds) {
    const terms = Object.fromEntries(DATA.terms[id].map((name) => [name, null]));
    showBound({id, terms, raw: null, value: null, whyNot: ["input"], j: null}, {input: {detail: reason.replace(/\.$/, "")}});
  }
  $("layers").replaceChildren();
}

function show() {
  const wrong = [...Object.entries(typed), ...faults(state)];
  showControls(wrong);
  document.body.classList.toggle("wrong", wrong.length > 0);
  if (wrong.length) return showNothing(wrong[0][1]);
  const found = evaluate(state);
  showDefaults(found);
  showSummary(found);
  for (const bound of found.bounds) showBound(bound, found.assumptions);
  showLayers(found.layers);
  $("x").value = x;
  cancelAnimationFrame(show.frame); // the numbers at once, the curves once a frame
  show.frame = requestAnimationFrame(() => showCurves(found.bounds));
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
  const found = read(hash.slice(1)), variable = new URLSearchParams(hash.slice(1)).get("x");
  typed = {};
  if (Object.hasOwn(VARIABLES, variable ?? "")) x = variable;
  $("stranger").hidden = found !== null;
  if (found) state = found;
}

// Without a mathematical font a bracket beside something tall is no taller than one beside something small.
function stretches() {
  const [small, tall] = document.querySelectorAll("#probe mo");
  return tall.getBoundingClientRect().height > 2 * small.getBoundingClientRect().height;
}

document.body.classList.toggle("plain-roots", !stretches());
buildControls();
chart = new Chart($("chart"), (value) => change(VARIABLES[x].set(state, value)));
for (const id of DATA.bounds) {
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
