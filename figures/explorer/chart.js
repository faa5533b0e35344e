"use strict";
// The curves: every bound against one variable, on a logarithmic scale, drawn into the page's one <svg>.

const POINTS = 120;
const MARGIN = {left: 46, right: 12, top: 10, bottom: 42};

// [x, the bounds there] along the slider of a variable; states that are no states are left out.
function sweep(state, name) {
  const variable = VARIABLES[name], [low, high] = variable.linear ?? [0, 1];
  const steps = variable.whole && variable.linear ? high - low : POINTS;
  const xs = Array.from({length: steps + 1}, (_, i) => valueAt(variable, i / steps));
  const here = variable.get(state);
  if (here !== undefined && position(variable, here) > 0 && position(variable, here) < 1) xs.push(here);
  return [...new Set(xs)].sort((a, b) => a - b).flatMap((x) => {
    const next = variable.set(state, x);
    return faults(next).length ? [] : [{x, bounds: evaluate(next).bounds}];
  });
}

function limits(points) {
  const seen = points.flatMap(({bounds}) => bounds.map((bound) => bound.raw)).filter((y) => y > 0);
  const low = Math.floor(Math.log10(Math.min(0.5, ...seen))), high = Math.ceil(Math.log10(Math.max(2, ...seen)));
  return [Math.max(low, -6), Math.min(high, 3)];
}

// Round values of a variable to write under its axis.
function ticks(variable, width) {
  if (variable.conjugate) return [1, 1.25, 1.5, 2, 3, 5, Infinity];
  if (variable.linear) {
    const [low, high] = variable.linear;
    return variable.whole ? Array.from({length: high}, (_, i) => low + i) : [0, 0.2, 0.4, 0.6, 0.8, 1];
  }
  const [low, high] = variable.log.map((x) => Math.log10(x)), every = Math.ceil((high - low) / Math.max(2, width / 70));
  const ticks = [];
  for (let e = Math.ceil(low - 1e-9); e <= high + 1e-9; e += every) ticks.push(Number(`1e${e}`));
  return ticks;
}

class Chart {
  constructor(svg, pick) {
    this.svg = svg;
    this.points = [];
    this.width = 640;
    svg.addEventListener("pointermove", (event) => this.follow(event));
    svg.addEventListener("pointerleave", () => this.read(null));
    svg.addEventListener("click", (event) => {
      const point = this.nearest(event);
      if (point) pick(point.x);
    });
  }

  make(tag, attributes, text) {
    const node = document.createElementNS(this.svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    this.svg.append(node);
    return node;
  }

  clear() {
    this.points = [];
    this.svg.replaceChildren();
  }

  draw(state, name, hidden, read) {
    this.variable = VARIABLES[name];
    this.points = sweep(state, name);
    this.read = (point) => {
      this.cursor?.setAttribute("visibility", point ? "visible" : "hidden");
      if (point) for (const end of ["x1", "x2"]) this.cursor?.setAttribute(end, this.px(point.x));
      read(point);
    };
    this.height = Math.round(Math.min(400, Math.max(260, this.width * 0.55)));
    [this.low, this.high] = limits(this.points);
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.frame(name);
    const here = this.variable.get(state);
    if (here !== undefined && Math.abs(position(this.variable, here) - 0.5) <= 0.5) {
      this.make("line", {...this.upright(here), class: "here"});
    }
    for (const {id} of DATA.bounds) if (!hidden.has(id)) this.curve(id);
    const corner = {x: this.width - MARGIN.right - 6, y: MARGIN.top + 16};
    this.make("text", {...corner, class: "area", "text-anchor": "end"}, "vacuous");
    const ends = {y1: MARGIN.top, y2: this.height - MARGIN.bottom};
    this.cursor = this.make("line", {...ends, class: "cursor", visibility: "hidden"});
    this.read(null);
  }

  px(x) {
    return MARGIN.left + position(this.variable, x) * (this.width - MARGIN.left - MARGIN.right);
  }

  py(y) {
    const t = (Math.log10(y) - this.low) / (this.high - this.low);
    return this.height - MARGIN.bottom - t * (this.height - MARGIN.top - MARGIN.bottom);
  }

  upright(x) {
    const at = this.px(x);
    return {x1: at, x2: at, y1: MARGIN.top, y2: this.height - MARGIN.bottom};
  }

  frame(name) {
    const right = this.width - MARGIN.right, bottom = this.height - MARGIN.bottom, top = this.py(10 ** this.high);
    const span = {x: MARGIN.left, width: right - MARGIN.left};
    const clip = this.make("clipPath", {id: "inside"});
    clip.append(this.make("rect", {...span, y: top - 1, height: bottom - top + 2}));
    this.make("rect", {...span, y: top, height: this.py(1) - top, class: "vacuous-area"});
    for (let e = this.low; e <= this.high; e++) {
      const y = this.py(10 ** e), label = e < -3 ? `1e${e}` : String(Number(`1e${e}`));
      this.make("line", {x1: MARGIN.left, x2: right, y1: y, y2: y, class: e === 0 ? "one" : "grid"});
      this.make("text", {x: MARGIN.left - 7, y: y + 4, "text-anchor": "end"}, label);
    }
    for (const x of ticks(this.variable, this.width)) {
      this.make("line", {x1: this.px(x), x2: this.px(x), y1: bottom, y2: bottom + 4, class: "tick"});
      this.make("text", {x: this.px(x), y: bottom + 17, "text-anchor": "middle"}, near(x));
    }
    const title = `${this.variable.label}, ${this.variable.symbol}`;
    this.make("text", {x: (MARGIN.left + right) / 2, y: this.height - 5, "text-anchor": "middle"}, title);
    this.svg.setAttribute("aria-label", `Every bound on the risk against ${title}; the table below holds the numbers.`);
  }

  // A line is pale where the statement does not apply, and broken where it has no value.
  curve(id) {
    const paths = {full: "", pale: ""};
    let last = null, pen = "";
    for (const {x, bounds} of this.points) {
      const {raw, whyNot} = bounds.find((bound) => bound.id === id) ?? {raw: null};
      if (raw === null || raw <= 0) {
        last = null;
        continue;
      }
      const at = `${this.px(x).toFixed(1)} ${this.py(raw).toFixed(1)}`, kind = whyNot.length ? "pale" : "full";
      if (last === null) paths[kind] += `M${at}`;
      else paths[kind] += kind === pen ? `L${at}` : `M${last}L${at}`;
      last = at;
      pen = kind;
    }
    for (const kind of ["pale", "full"]) {
      const d = paths[kind];
      if (d) this.make("path", {d, class: `curve ${kind} c-${id}`, "clip-path": "url(#inside)"});
    }
  }

  nearest(event) {
    const box = this.svg.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * this.width;
    const far = (point) => Math.abs(this.px(point.x) - x);
    return this.points.reduce((best, point) => (best === null || far(point) < far(best) ? point : best), null);
  }

  follow(event) {
    this.read(this.nearest(event));
  }
}
