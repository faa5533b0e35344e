"use strict";
// The controls: fields and sliders write the state, and take what it has become.

const SLIDER = 1000;
const GROUPS = {
  sample: ["m", "rho", "margin_error", "delta", "C"],
  family: ["l", "p", "n_0", "n_k", "Lambda"],
  features: ["r_inf"],
};
const EXTRA = {
  sample: [["ramp", "mean ramp loss", "at ρ"]],
  features: [["r_sup", "bound known beforehand", "r_sup"], ["r_rms", "largest feature in mean square", "r_rms"]],
  network: [["B", "path norm of f/W", "B"], ["d", "hidden layers of the network", "d"]],
};

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const field = (id, attributes) =>
  element("input", {id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", ...attributes});

// What a field says of a value; nothing where there is none.
function text(value) {
  if (value === Infinity) return "inf";
  return value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
}

function label(id, words, symbol) {
  return element("label", {for: id}, `${words} `, element("i", {}, symbol));
}

function variableControl(name) {
  const variable = VARIABLES[name], id = `f-${name}`, input = field(id, {"data-field": name});
  const [min, max] = variable.whole && variable.linear ? variable.linear : [0, SLIDER];
  const words = `${variable.label} ${variable.symbol}, slider`;
  const slider = element("input", {id: `s-${name}`, type: "range", "aria-label": words, "data-slider": name, min, max});
  input.addEventListener("input", () => enter(name, input.value));
  slider.addEventListener("input", () => {
    delete typed[name];
    const value = max === SLIDER ? valueAt(variable, slider.value / SLIDER) : Number(slider.value);
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
  input.addEventListener("input", () => {
    change({...copy(state), [name]: input.value.trim() === "" ? null : number(input.value)});
  });
  return element("div", {class: "control small"}, label(id, words, symbol), input);
}

function buildControls() {
  for (const [group, names] of Object.entries(GROUPS)) $(`g-${group}`).append(...names.map(variableControl));
  for (const [group, extras] of Object.entries(EXTRA)) $(`g-${group}`).append(...extras.map(extraControl));
  $("phi").append(element("option", {value: ""}, "–"), ...activations());
  $("phi").addEventListener("change", () => {
    if ($("phi").value) change({...copy(state), phi: state.phi.map(() => $("phi").value)});
  });
  $("skips").addEventListener("change", () => {
    const {checked} = $("skips"), own = (row) => row[row.length - 1];
    const filled = (row) => [...row.slice(0, -1).map(() => (checked ? own(row) : 0)), own(row)];
    change({...copy(state), Lambda: state.Lambda.map(filled)});
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
  for (const [name, {label, symbol}] of Object.entries(VARIABLES)) {
    $("x").append(element("option", {value: name}, `${symbol}, ${label}`));
  }
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

const activations = () => Object.keys(DATA.activations).map((name) => element("option", {}, name));

function activationCell(k) {
  const choice = element("select", {id: `f-phi_${k}`, "aria-label": `activation of layer ${k}`});
  choice.append(...activations());
  choice.addEventListener("change", () => {
    change({...copy(state), phi: state.phi.map((old, i) => (i === k - 1 ? choice.value : old))});
  });
  return element("td", {}, choice);
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
  state.Lambda.forEach((row, i) => row.forEach((bound, j) => {
    fill(`f-Lambda_${i + 1},${i === 0 ? 0 : j + 1}`, text(bound));
  }));
  state.phi.forEach((name, i) => fill(`f-phi_${i + 1}`, name));
  $("phi").value = same(state.phi) ?? "";
  $("phi").disabled = depth(state) < 2;
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
