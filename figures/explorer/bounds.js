"use strict";
// state -> what every statement says. The statements are FORMULAS[id][depth], printed from the symbolic twins; here
// stands only what goes into them, and to whom they apply. No document: the tests run this file outside a page too.

const ETA = DATA.eta;

// What the statements read, all defaults filled in.
function values(state) {
  const l = depth(state), facts = state.phi.map((name) => DATA.activations[name]), W = sum(state.w);
  const by = (name) => Object.fromEntries(facts.map((fact, i) => [i + 1, fact[name] ?? Infinity]));
  const Lambda = Object.fromEntries(state.Lambda.flatMap((row, i) =>
    row.map((x, j) => [`${i + 1},${i === 0 ? 0 : j + 1}`, x])));
  const margin_error = state.margin_error ?? lossAt(state.rho).margin_error;
  const ramp = state.ramp ?? (state.margin_error === null ? lossAt(state.rho).ramp : margin_error);
  return {
    l, m: state.m, rho: state.rho, delta: state.delta, p: state.p, n: state.n, w: state.w, W, Lambda, eta: ETA,
    L: by("L"), c: by("c"), e: by("e"), phi0: by("phi0"), sup: by("sup"), margin_error, ramp, d: state.d ?? l - 1,
    r_inf: state.r_inf, r_sup: state.r_sup ?? state.r_inf, r_rms: state.r_rms ?? state.r_inf, C: state.C,
  };
}

const sum = (list) => list.reduce((a, b) => a + b, 0);

// Margin error and ramp of the model's own margins of f/W; a block of margins counts as its least.
function lossAt(rho) {
  const {u, count} = DATA.margins, m = sum(count);
  return {
    margin_error: sum(count.map((n, i) => (u[i] <= rho ? n : 0))) / m,
    ramp: sum(count.map((n, i) => n * Math.min(1, Math.max(0, 1 - u[i] / rho)))) / m,
  };
}

// Layer by layer: complexities as printed and peeled, the least upper value of R_S(H_k), and the range.
function layers(v) {
  const rows = [];
  for (let k = 1; k <= v.l; k++) {
    const at = (id, more = {}) => FORMULAS[id][k]({...v, ...more}).total;
    const centred = rows.every((row) => v.phi0[row.k] === 0);
    const peeled = centred ? "lemma-2-peeled" : "lemma-2-peeled-offset";
    const first = k === 1 ? at("h1-closed") : at("lemma-1-corrected", {R: rows.map((row) => row.R_S)});
    rows.push({
      k, "lemma-2": at("lemma-2"), "lemma-2 r_sup": at("lemma-2", {r_inf: v.r_sup}),
      peeled: at(peeled, {r_rms: v.r_sup}), R_S: Math.min(first, at(peeled)), M: at("range"),
    });
  }
  return rows;
}

// The largest path norm of a member of the family: the range of f/W at |Psi| <= 1, for activations with phi(0) = 0.
function largestPathNorm(v) {
  return sum(v.w.map((w, i) => (w / v.W) * FORMULAS.range[i + 1]({...v, r_sup: 1}).total));
}

// The least j with rho_j = scale/(1+eta)^j <= rho: the ramp at rho_j is then at most the ramp at rho. A rho that is a
// rho_j itself, up to rounding, keeps its j.
const indexOf = (scale, rho) => Math.ceil(Math.log(scale / rho) / Math.log1p(ETA) - 1e-9);

// The statements about y f(x), or those about f(x, y) - max f(x, y') of a network with an output for each class.
const statements = ({C}) => DATA.bounds.filter(({classes}) => classes === (C > 2 ? "many" : "two"));

// Every bound: {id, terms, raw, value, vacuous, whyNot, rho, j}. raw is null where the formula has no value.
function evaluate(state) {
  const v = values(state), rows = layers(v), R = (name) => rows.map((row) => row[name]);
  const M_k = R("M"), M = Math.max(...M_k), W_M = sum(v.w.map((w, i) => w * M_k[i])) / v.W;
  const B = state.B ?? (v.W > 0 ? largestPathNorm(v) : 0);
  const c = Math.max(1, ...state.phi.slice(0, v.d).map((name) => DATA.activations[name].e));
  // What a bound reads besides the setting, by its record in the catalogue: its scale of the margin, and its range.
  const scales = {rho: v.W, W_M, B}, at = {W_M: atIndex(state, v, W_M), B: {c, ...atIndex(state, v, B)}};
  const size = (bound) => (bound.scale === "rho" && bound.range ? M * v.W : scales[bound.scale]);
  const given = (bound) => ({R: R(column(bound)), M, M_k, ...at[bound.scale]});
  const holds = assumptions(state, v, rows, M);
  const bounds = statements(state).map((bound) => {
    const {id} = bound, values = given(bound);
    const computed = size(bound) > 0 ? FORMULAS[id][v.l]({...v, ...values}) : trivial(bound);
    const raw = Number.isFinite(computed.total) ? computed.total : null;
    return {
      id, terms: computed.terms, raw, value: raw === null ? 1 : Math.min(1, raw), vacuous: raw === null || raw >= 1,
      whyNot: DATA.needs.filter(([name, ids]) => ids.includes(id) && !holds[name].holds(bound)).map(([name]) => name),
      rho: values.rho_j ?? v.rho, j: values.j ?? null,
    };
  });
  // |f/W| <= W_M: at a larger rho every margin is an error
  return {bounds, layers: rows, assumptions: holds, B, v, W_M, impossible: v.margin_error < 1 && v.rho >= W_M};
}

// The column of `layers` in which the complexity of a bound stands.
function column({complexity, at}) {
  if (complexity === "lemma-2") return at === "r_sup" ? "lemma-2 r_sup" : "lemma-2";
  return complexity === "R_S" ? "R_S" : "peeled";
}

// The zero function: its bound is 1.
const trivial = ({terms}) => ({terms: Object.fromEntries(terms.map((name, i) => [name, i ? 0 : 1])), total: 1});

function atIndex(state, v, scale) {
  if (!(scale > 0)) return {j: null};
  const j = indexOf(scale, v.rho), rho_j = scale / (1 + ETA) ** j;
  const own = state.ramp === null && state.margin_error === null;
  return {j, rho_j, ramp: own ? lossAt(rho_j).ramp : v.ramp};
}

// Each assumption: whether it holds for a statement that needs it, and in words. Ids and who needs them: verify-bounds.
function assumptions(state, v, rows, M) {
  const facts = state.phi.map((name) => ({name, ...DATA.activations[name]}));
  const kept = (id) => !state.unmet.includes(id);
  const yes = (holds, detail) => ({holds: () => holds, detail});
  const steep = facts.find((fact) => fact.L > 1), raised = facts.find((fact) => fact.phi0 > 0);
  const curved = facts.slice(0, v.d).find((fact) => !fact.homogeneous);
  const skips = state.Lambda.flatMap((row, i) => row.slice(0, -1).map((x, j) => x > 0 && `${i + 1} reads ${j + 1}`));
  const skip = skips.find(Boolean);
  const printed = follows(v, 1, rows.map((row) => row["lemma-2"]));
  const mended = follows(v, M, rows.map((row) => row["lemma-2 r_sup"]));
  return {
    iid: yes(kept("iid"), "the points were not drawn independently from one law"),
    lipschitz: yes(!steep, steep && `${steep.name} has Lipschitz constant ${near(steep.L)} > 1`),
    "phi-zero": yes(!raised, raised && `${raised.name}(0) = ${near(raised.phi0)}, not 0`),
    homogeneous: yes(!curved, curved && `${curved.name} is not positively homogeneous`),
    layered: yes(!skip, `layer ${skip}, not only the layer below`),
    range: yes(M <= 1, `|h| can reach M = ${near(M)}; Theorem 1 takes |h| ≤ 1 for granted`),
    depth: yes(v.l >= 2, `l = ${v.l}: the print divides by log l`),
    "r-inf": yes(v.r_inf >= v.r_sup, "the print has E[r∞], which may exceed the sample's unless r∞ = r_sup"),
    delta: {
      holds: (bound) => (bound.range ? mended : printed),
      detail: `δ = ${v.delta} is too small: the print's proof does not reach it, nor does margin-bound`,
    },
    membership: yes(kept("membership"), "the network is not in the family"),
    "r-sup": yes(kept("r-sup"), "no bound on |Ψ| beyond the sample is known"),
    "fixed-in-advance": {
      holds: (bound) => kept("family") && (kept("rho") || bound.scale === "W_M"),
      detail: `${kept("family") ? "ρ was" : "the family was"} chosen after the sample was seen`,
    },
    "feature-map": yes(kept("feature-map"), "Ψ was fitted on the sample"),
  };
}

// Whether Theorem 1 at range M is no smaller than margin-bound there, or says nothing: then it is proved.
function follows(v, M, R) {
  if (!(v.W > 0 && M > 0)) return true;
  const range = FORMULAS["theorem-1-range"][v.l]({...v, M, R}).total;
  const proved = FORMULAS["margin-bound"][v.l]({...v, M, R, ramp: v.margin_error}).total;
  return !Number.isFinite(range ?? NaN) || range >= 1 || v.rho >= M || range >= proved;
}

// Numbers for the eye: a bound is rounded up, other numbers to the nearest.
function up(x, digits = 4) {
  if (x === null || !Number.isFinite(x)) return "–";
  const step = 10 ** (Math.floor(Math.log10(Math.abs(x) || 1)) - digits + 1), rounded = Number(x.toPrecision(digits));
  return plain(rounded < x ? Number((rounded + step).toPrecision(digits)) : rounded);
}

function near(x, digits = 4) {
  return x === Infinity ? "∞" : plain(Number(x.toPrecision(digits)));
}

function plain(x) {
  const size = Math.abs(x);
  if (x === 0 || (size >= 1e-3 && size < 1e6)) return String(x);
  return x.toExponential().replace("e+", "e");
}
