"use strict";
// What is shown of a setting: the bounds term by term, the layers, the summary, the key and the table of the curves.

function put(node, value, shown) {
  node.value = value === null ? "" : String(value); // a <data> element: the full number beside the rounded one
  node.textContent = shown;
}

// Only the statements about so many classes are there to be read.
function showStatements() {
  const shown = statements(state);
  for (const bound of DATA.bounds) $(`b-${bound.id}`).hidden = !shown.includes(bound);
  $("printed-two").hidden = state.C > 2;
  $("printed-many").hidden = state.C <= 2;
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
  const why = applies ? "" : `A formula only, no bound here: fails ${because}.`;
  article.querySelector(".why").textContent = at + why;
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
    ? `Risk ≤ ${up(best.value)} with probability ≥ ${sure} by ${best.id}, if it was named before the sample and the ticked promises hold.`
    : bounds.some((bound) => !bound.whyNot.length) ? "No bound that applies is below 1." : "No bound applies.";
  if (impossible) {
    const reach = `in the family |f/W| ≤ ${near(W_M)} ≤ ρ`;
    first.textContent = `No such network: ${reach}, so every margin is an error at ρ.`;
  }
  const said = ({whyNot, raw, vacuous}) => {
    if (whyNot.length) return "does not apply";
    return raw === null ? "undefined" : `${up(raw)}${vacuous ? ", vacuous" : ""}`;
  };
  const printed = statements(state).flatMap((bound, i) => (bound.printed ? `${bound.id} ${said(bounds[i])}` : []));
  second.textContent = printed.length ? `As printed: ${printed.join("; ")}.` : "As printed: two classes only.";
  $("summary").className = best ? "verdict" : "verdict none";
}

function showKey(point, bounds) {
  const drawn = new Set([{bounds}, ...chart.points].flatMap((each) => each.bounds.map(({id}) => id)));
  for (const {id} of DATA.bounds) $(`k-${id}`).parentElement.hidden = !drawn.has(id);
  for (const {id} of DATA.bounds) $(`k-${id}`).textContent = "–";
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
  const shown = statements(state).map(({id}) => id), heads = [VARIABLES[x].symbol, ...shown];
  $("table-head").replaceChildren(...heads.map((head) => element("th", {scope: "col", class: "n"}, head)));
  $("table-body").replaceChildren(...kept.map((point) => element("tr", {},
    element("th", {scope: "row", class: "n"}, near(point.x)),
    ...shown.map((id) => {
      const {raw, whyNot} = point.bounds.find((bound) => bound.id === id) ?? {raw: null, whyNot: []};
      return element("td", {class: whyNot.length ? "n not" : "n"}, up(raw, 3));
    }))));
}
