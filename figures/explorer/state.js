"use strict";
// The state: what the reader chose. It is plain data; the link holds all of it.
//
//   m rho delta p r_inf margin_error C                    numbers, p may be Infinity
//   n = [n_0, .., n_l]   phi = [phi_1, .., phi_(l-1)]   w = [||w_1||_1, .., ||w_l||_1]
//   Lambda = rows: Lambda[0] = [Lambda_(1,0)], Lambda[k-1] = [Lambda_(k,1), .., Lambda_(k,k-1)]
//   r_sup r_rms ramp B d, and margin_error of a model      null: what follows from the rest stands for it
//   unmet                                                  ids of the promises that were not kept

const SCALARS = ["m", "rho", "delta", "p", "r_inf", "margin_error", "C"];
const OPTIONAL = ["ramp", "r_sup", "r_rms", "B", "d"];
const copy = (state) => structuredClone(state);
const depth = (state) => state.n.length - 1;
const initial = () => ({...copy(DATA.state), p: number(DATA.state.p)});

function number(text) {
  const trimmed = String(text).trim();
  if (/^(inf|infinity|∞)$/i.test(trimmed)) return Infinity;
  return trimmed === "" ? NaN : Number(trimmed);
}

// The same state at another depth: a new layer is like the one below it, and weight that was all on top stays on top.
function atDepth(state, l) {
  const next = copy(state), from = depth(state), W = state.w.reduce((a, b) => a + b, 0);
  const onTop = state.w.slice(0, -1).every((x) => x === 0);
  for (const list of ["n", "w", "Lambda", "phi"]) next[list] = next[list].slice(0, {n: l + 1, phi: l - 1}[list] ?? l);
  for (let k = from + 1; k <= l; k++) {
    const below = next.Lambda[k - 2];
    next.n.push(next.n[k - 1]);
    next.w.push(0);
    next.phi.push(next.phi[k - 3] ?? "relu");
    next.Lambda.push(Array.from({length: k - 1}, (_, i) => {
      if (i === k - 2) return below[below.length - 1];
      return k > 3 ? below[Math.max(i - 1, 0)] : 0;
    }));
  }
  if (onTop || next.w.every((x) => x === 0)) next.w = next.w.map((_, i) => (i === l - 1 ? W : 0));
  return next;
}

// Variables of the sliders and of the curves. `get` is undefined where the layers differ.
const same = (list) => (list.every((x) => x === list[0]) ? list[0] : undefined);
const pairs = (state) => state.Lambda.flat().filter((x) => x > 0);
const scalar = (name) => ({
  get: (state) => state[name] ?? undefined,
  set: (state, x) => ({...copy(state), [name]: x}),
});
const VARIABLES = {
  m: {...scalar("m"), label: "sample size", symbol: "m", log: [10, 1e9], whole: true},
  rho: {...scalar("rho"), label: "margin of f/W", symbol: "ρ", log: [1e-3, 10]},
  margin_error: {...scalar("margin_error"), label: "margin error at ρ", symbol: "R̂", linear: [0, 1]},
  delta: {...scalar("delta"), label: "failure probability", symbol: "δ", log: [1e-6, 0.5]},
  C: {...scalar("C"), label: "classes", symbol: "C", log: [2, 1000], whole: true},
  l: {get: depth, set: atDepth, label: "depth", symbol: "l", linear: [1, DATA.depths], whole: true},
  p: {...scalar("p"), label: "norm, 1 to inf", symbol: "p", conjugate: true},
  n_0: {
    get: (state) => state.n[0],
    set: (state, x) => ({...copy(state), n: [x, ...state.n.slice(1)]}),
    label: "features", symbol: "n₀", log: [1, 1e5], whole: true,
  },
  n_k: {
    get: (state) => same(state.n.slice(1)),
    set: (state, x) => ({...copy(state), n: state.n.map((n, k) => (k ? x : n))}),
    label: "width of all layers", symbol: "nₖ", log: [1, 1e5], whole: true,
  },
  Lambda: {
    get: (state) => same(pairs(state)),
    set: (state, x) => ({
      ...copy(state),
      // the diagonal always, a connection that skips a layer only where there is one
      Lambda: state.Lambda.map((row) => row.map((old, i) => (old > 0 || i === row.length - 1 ? x : 0))),
    }),
    label: "weight bound, all pairs", symbol: "Λ", log: [0.01, 10],
  },
  r_inf: {...scalar("r_inf"), label: "largest feature", symbol: "r∞", log: [0.01, 100]},
};

// Where a value lies on its slider, from 0 to 1, and back. p is spread by 1/q = 1 - 1/p.
function position(variable, x) {
  if (variable.conjugate) return 1 - 1 / x;
  const [low, high] = variable.log ? variable.log.map(Math.log) : variable.linear;
  return ((variable.log ? Math.log(x) : x) - low) / (high - low);
}

function valueAt(variable, t) {
  if (variable.conjugate) return t >= 1 ? Infinity : Number((1 / (1 - t)).toPrecision(4));
  const [low, high] = variable.log ? variable.log.map(Math.log) : variable.linear;
  const x = low + t * (high - low), plain = variable.log ? Math.exp(x) : x;
  const short = Number(plain.toPrecision(3));
  return variable.whole ? Math.max(1, Math.round(short)) : short;
}

// What is wrong with a state: [key of the field, sentence] for each fault.
function faults(state) {
  const wrong = [];
  const check = (holds, key, condition, value) => {
    if (!holds) wrong.push([key, `${key} must be ${condition}, got ${Number.isNaN(value) ? "no number" : value}.`]);
  };
  const whole = (x) => Number.isInteger(x) && x >= 1 && x <= 1e15;
  const size = (x) => x >= 0 && x < Infinity;
  const unset = (key) => state[key] === null;
  check(whole(state.m), "m", "an integer in [1, 1e15]", state.m);
  check(state.rho > 0 && state.rho < Infinity, "rho", "> 0 and finite", state.rho);
  check(state.delta > 0 && state.delta < 1, "delta", "in (0, 1)", state.delta);
  check(whole(state.C) && state.C >= 2, "C", "an integer in [2, 1e15]", state.C);
  check(state.p >= 1, "p", "in [1, inf]", state.p);
  check(size(state.r_inf), "r_inf", "finite and ≥ 0", state.r_inf);
  check(unset("r_sup") || (state.r_sup >= state.r_inf && state.r_sup < Infinity), "r_sup", "≥ r_inf", state.r_sup);
  check(unset("r_rms") || (state.r_rms >= 0 && state.r_rms <= state.r_inf), "r_rms", "in [0, r_inf]", state.r_rms);
  const free = unset("margin_error") && DATA.margins !== null;
  check(free || (state.margin_error !== null && state.margin_error >= 0 && state.margin_error <= 1),
    "margin_error", "in [0, 1]", state.margin_error ?? NaN);
  const most = state.margin_error ?? 1;
  check(unset("ramp") || (state.ramp >= 0 && state.ramp <= most), "ramp", "in [0, margin error]", state.ramp);
  check(unset("B") || size(state.B), "B", "finite and ≥ 0", state.B);
  const hidden = Number.isInteger(state.d) && state.d >= 0 && state.d < depth(state);
  check(unset("d") || hidden, "d", "in [0, l - 1]", state.d);
  state.n.forEach((n, k) => check(whole(n), `n_${k}`, "an integer in [1, 1e15]", n));
  state.w.forEach((w, i) => check(size(w), `w_${i + 1}`, "finite and ≥ 0", w));
  state.Lambda.forEach((row, i) => row.forEach((x, j) => {
    check(size(x), `Lambda_${i + 1},${i === 0 ? 0 : j + 1}`, "finite and ≥ 0", x);
  }));
  return wrong;
}

// The link. Every value is written, so that a link means the same whatever the defaults are.
function write(state, extra = {}) {
  const entries = [...SCALARS, ...OPTIONAL].map((key) => [key, state[key] === null ? "" : state[key]]);
  const lists = ["n", "w", "phi", "unmet"].map((key) => [key, state[key].join("*")]);
  const Lambda = [["Lambda", state.Lambda.map((row) => row.join("*")).join("_")]];
  return new URLSearchParams([...entries, ...lists, ...Lambda, ...Object.entries(extra)]).toString();
}

// The state of a link, or null if it is none of ours.
function read(text) {
  const given = new URLSearchParams(text), state = {...initial(), C: 2}; // links of before had two classes
  const list = (key) => (given.get(key) ? given.get(key).split("*") : []);
  if (!["n", "w", "Lambda"].every((key) => given.has(key))) return null;
  for (const key of [...SCALARS, ...OPTIONAL]) {
    if (!given.has(key)) continue;
    const optional = OPTIONAL.includes(key) || (key === "margin_error" && DATA.margins !== null);
    state[key] = given.get(key) === "" && optional ? null : number(given.get(key));
  }
  state.n = list("n").map(number);
  state.w = list("w").map(number);
  state.phi = list("phi");
  state.Lambda = given.get("Lambda").split("_").map((row) => row.split("*").map(number));
  state.unmet = DATA.promises.map(([id]) => id).filter((id) => list("unmet").includes(id));
  const l = depth(state);
  const fits = l >= 1 && l <= DATA.depths && state.w.length === l && state.phi.length === l - 1
    && state.Lambda.length === l && state.Lambda.every((row, i) => row.length === Math.max(i, 1))
    && state.phi.every((name) => Object.hasOwn(DATA.activations, name));
  return fits ? state : null;
}
