"use strict";
// The page: fields for every column, and what the model says of the row that they make. Everything is text: names that
// look like markup are shown, not run.

const model = JSON.parse(document.getElementById("model").textContent);
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 320, HEIGHT = 170, LEFT = 48, BOTTOM = 24, GRID = 36, SAMPLES = 160, MOST_PIECES = 64;
const state = { cells: model.columns.map((c) => c.typical), variant: 0, map: [], wanted: null };

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function drawn(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function show(id, ...children) { document.getElementById(id).replaceChildren(...children); }

function number(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (Math.abs(value) < 1e-12) return "0";
  const short = Number(value.toPrecision(digits));
  return (Math.abs(short) >= 1e7 || Math.abs(short) < 1e-4 ? short.toExponential() : String(short)).replace("-", "−");
}

const DAY = 86400000;
const toDate = (days) => new Date(days * DAY).toISOString().slice(0, 16);
const fromDate = (text) => Date.parse(text + "Z") / DAY;
const variant = () => model.variants[state.variant];
const numeric = () => model.columns.map((c, k) => k).filter((k) => model.columns[k].kind === "number");

// ---- fields

function field(column, k) {
  const id = "column" + k, label = element("label", { for: id }, column.name);
  const set = (value) => { state.cells[k] = value; update(); };
  const row = element("div", { class: "field" }, label);
  if (column.kind === "category") {
    const choose = element("select", { id, onchange: (e) => set(e.target.value === "" ? null : JSON.parse(e.target.value)) },
      element("option", { value: "" }, "(missing)"),
      ...column.levels.map((level) => element("option", { value: JSON.stringify(level) }, level)));
    choose.value = column.typical === null ? "" : JSON.stringify(column.typical);
    row.append(choose);
    return row;
  }
  if (column.kind === "date") {
    const when = element("input", { id, type: "datetime-local", value: toDate(column.typical) });
    when.addEventListener("input", () => set(when.value === "" ? null : fromDate(when.value)));
    row.append(when);
    return row;
  }
  const box = element("input", { id, type: "number", step: "any", value: column.typical });
  const slider = element("input", { type: "range", min: column.low, max: column.high, step: "any", value: column.typical, "aria-label": column.name + ", slider" });
  box.addEventListener("input", () => {
    const value = box.value === "" ? null : Number(box.value);
    if (value !== null) slider.value = value;
    set(value);
  });
  slider.addEventListener("input", () => { box.value = Number(Number(slider.value).toPrecision(6)); set(Number(box.value)); });
  row.append(slider, box);
  return row;
}

function build() {
  document.title = model.title;
  show("title", model.title);
  show("about", ...model.about.map((line) => element("p", {}, line)));
  show("fields", ...model.columns.map(field));
  const slider = document.getElementById("pieces");
  slider.max = model.variants.length - 1;
  slider.addEventListener("input", () => { state.variant = Number(slider.value); update(); });
  document.getElementById("simplify").hidden = model.variants.length < 2;
  state.map = numeric().slice().sort((p, q) => model.columns[q].importance - model.columns[p].importance).slice(0, 2);
  for (const [place, id] of [[0, "across"], [1, "up"]]) {
    const choose = document.getElementById(id);
    choose.replaceChildren(...numeric().map((k) => element("option", { value: k }, model.columns[k].name)));
    choose.value = String(state.map[place]);
    choose.addEventListener("change", () => { state.map[place] = Number(choose.value); update(); });
  }
  document.getElementById("plane").hidden = state.map.length < 2;
  const wanted = document.getElementById("wanted");
  wanted.addEventListener("input", () => { state.wanted = wanted.value === "" ? null : Number(wanted.value); change(); });
  document.getElementById("wish").hidden = Boolean(model.classes) || Boolean(model.levels);
  document.getElementById("reset").addEventListener("click", () => {
    state.cells = model.columns.map((c) => c.typical);
    show("fields", ...model.columns.map(field));
    update();
  });
  if (model.rows) {
    const choose = document.getElementById("row");
    choose.max = model.rows.length - 1;
    choose.addEventListener("input", () => {
      const row = model.rows[Number(choose.value)];
      if (!row) return;
      state.cells = row.slice();
      show("fields", ...model.columns.map((c, k) => field({ ...c, typical: row[k] }, k)));
      update();
    });
  }
  document.getElementById("rows").hidden = !model.rows;
  show("certificate", ...model.certificate.map((line) => element("p", {}, line)));
  update();
}

// ---- what is said of the row

let waiting = false;
function update() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; answer(); });
}

function answer() {
  const found = predict(model, variant(), state.cells);
  const about = variant().about;
  show("cost", about);
  document.getElementById("pieces").setAttribute("aria-valuetext", about);
  if (model.classes) {
    const order = model.classes.map((c, k) => k).sort((p, q) => found.probabilities[q] - found.probabilities[p]).slice(0, 8);
    show("prediction", element("strong", { id: "value" }, String(found.label)),
      bars(order.map((k) => [String(model.classes[k]), found.probabilities[k]]), 1, (v) => (100 * v).toFixed(1) + " %"));
  } else if (model.levels) {
    show("prediction", ...found.values.map((v, k) => element("p", {}, `quantile ${model.levels[k]}: `, element("strong", {}, number(v)))));
  } else {
    const words = found.low === undefined ? "" : ` between ${number(found.low)} and ${number(found.high)} in ${100 * model.coverage} of 100 cases`;
    show("prediction", element("strong", { id: "value", "data-value": found.value }, number(found.value, 5)), words,
      found.cut ? element("p", {}, "Cut to the range of the training targets.") : "");
  }
  reasons(found);
  show("curves", ...curves(found));
  plane();
  pieces();
  change();
}

function bars(pairs, largestValue, write) {
  const size = largestValue || 1;
  return element("div", { class: "bars" }, ...pairs.map(([name, value]) => {
    const width = Math.min(100, (100 * Math.abs(value)) / size);
    return element("div", { class: "bar" }, element("span", { class: "name" }, name),
      element("span", { class: "track" }, element("span", { class: value < 0 ? "fill down" : "fill", style: `width:${width.toFixed(2)}%` })),
      element("span", { class: "number" }, write(value)));
  }));
}

function reasons(found) {
  const x = encode(model, state.cells), origin = model.reference;
  if (model.levels) { document.getElementById("why").hidden = true; return; }
  let total = new Array(x.length).fill(0);
  for (const [f, sign] of explained(model, variant(), found)) {
    contributions(f, origin, x).forEach((v, j) => { total[j] += sign * v; });
  }
  const sums = grouped(model, total);
  const order = sums.map((v, k) => k).sort((p, q) => Math.abs(sums[q]) - Math.abs(sums[p])).slice(0, 12);
  const top = Math.max(...sums.map(Math.abs), 1e-300);
  show("contributions", bars(order.map((k) => [model.columns[k].name, sums[k]]), top, (v) => (v > 0 ? "+" : "") + number(v, 3)));
}

// ---- curves: exact along numbers, a dot for each level of a category, many points along a date

function along(k) {
  const column = model.columns[k];
  if (column.kind === "category") return column.levels.map((level, i) => [i, level]);
  if (column.kind === "date") return Array.from({ length: SAMPLES }, (_, i) => column.low + ((column.high - column.low) * i) / (SAMPLES - 1)).map((v) => [v, v]);
  const cut = (v) => state.cells.map((cell, c) => (c === k ? v : cell));
  const low = encode(model, cut(column.low)), high = encode(model, cut(column.high));
  const places = new Set();
  for (const f of variant().functions) for (const t of breakpoints(f, low, high)) places.add(column.low + t * (column.high - column.low));
  return [...places].sort((p, q) => p - q).map((v) => [v, v]);
}

function heightAt(k, cell, shown) {
  const found = predict(model, variant(), state.cells.map((old, c) => (c === k ? cell : old)));
  if (model.classes) return found.probabilities[shown];
  return model.levels ? found.values[Math.floor(found.values.length / 2)] : found.value;
}

function curves(found) {
  const order = model.columns.map((c, k) => k).sort((p, q) => model.columns[q].importance - model.columns[p].importance).slice(0, 6);
  return order.map((k) => curve(k, found));
}

function curve(k, found) {
  const column = model.columns[k], shown = model.classes ? found.best : 0;
  const points = along(k).map(([place, cell]) => [place, heightAt(k, cell, shown), cell]);
  const low = model.classes ? 0 : Math.min(...points.map((p) => p[1])), high = model.classes ? 1 : Math.max(...points.map((p) => p[1]));
  const last = points[points.length - 1][0], first = points[0][0];
  const across = (v) => LEFT + ((WIDTH - LEFT - 8) * (v - first)) / (last - first || 1);
  const down = (v) => 8 + (HEIGHT - BOTTOM - 16) * (1 - (v - low) / (high - low || 1));
  const words = model.classes ? `probability of ${model.classes[shown]}` : "prediction";
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${words} along ${column.name}: from ${number(points[0][1])} to ${number(points[points.length - 1][1])}` });
  picture.append(drawn("line", { x1: LEFT, y1: HEIGHT - BOTTOM, x2: WIDTH - 8, y2: HEIGHT - BOTTOM, class: "axis" }));
  for (const v of [low, high]) picture.append(drawn("text", { x: LEFT - 4, y: down(v) + 4, class: "tick end" }, number(v, 3)));
  if (column.kind === "category") {
    points.forEach(([place, v]) => picture.append(drawn("circle", { cx: across(place), cy: down(v), r: 4, class: "line-dot" })));
    points.slice(0, 12).forEach(([place, , level]) => picture.append(drawn("text", { x: across(place), y: HEIGHT - 8, class: "tick" }, String(level).slice(0, 6))));
  } else {
    picture.append(drawn("path", { d: "M" + points.map(([place, v]) => `${across(place).toFixed(2)},${down(v).toFixed(2)}`).join("L"), class: "line" }));
    for (const v of [first, last]) {
      picture.append(drawn("text", { x: across(v), y: HEIGHT - 8, class: v === last ? "tick end" : "tick start" }, column.kind === "date" ? toDate(v).slice(0, 10) : number(v, 3)));
    }
  }
  const here = column.kind === "category" ? column.levels.indexOf(state.cells[k]) : state.cells[k];
  if (here !== null && here >= first && here <= last) {
    picture.append(drawn("circle", { cx: across(here), cy: down(heightAt(k, state.cells[k], shown)), r: 5, class: "here" }));
  }
  return element("figure", {}, element("figcaption", {}, column.name), picture);
}

// ---- two features

function plane() {
  if (state.map.length < 2 || state.map[0] === state.map[1]) { show("map"); return; }
  const [a, b] = state.map, columns = [model.columns[a], model.columns[b]];
  const f = variant().functions, regions = !model.classes && f.length === 1 && f[0].terms.length === 1 && variant().pieces <= MOST_PIECES;
  const best = model.classes ? predict(model, variant(), state.cells).best : 0, cells = [];
  for (let i = 0; i < GRID; i++) for (let j = 0; j < GRID; j++) {
    const row = state.cells.slice();
    [row[a], row[b]] = [columns[0], columns[1]].map((c, k) => c.low + ((c.high - c.low) * ((k ? j : i) + 0.5)) / GRID);
    const found = predict(model, variant(), row);
    const value = model.classes ? found.probabilities[best] : model.levels ? found.values[0] : found.value;
    cells.push({ i, j, value, key: regions ? String(activeAt(f[0], encode(model, row))) : "" });
  }
  const values = cells.map((c) => c.value), low = model.classes ? 0 : Math.min(...values), high = model.classes ? 1 : Math.max(...values);
  const size = 8, picture = drawn("svg", { viewBox: `-4 -4 ${GRID * size + 8} ${GRID * size + 8}`, role: "img", "aria-label": `prediction over ${columns[0].name} and ${columns[1].name}: from ${number(low)} to ${number(high)}` });
  const key = new Map(cells.map((c) => [c.i * GRID + c.j, c.key]));
  for (const { i, j, value } of cells) {
    const share = (value - low) / (high - low || 1), y = (GRID - 1 - j) * size;
    picture.append(drawn("rect", { x: i * size, y, width: size + 0.3, height: size + 0.3, fill: colour(share) }));
  }
  for (const { i, j } of cells) {
    const own = key.get(i * GRID + j), y = (GRID - 1 - j) * size;
    if (i + 1 < GRID && own !== key.get((i + 1) * GRID + j)) picture.append(drawn("line", { x1: (i + 1) * size, y1: y, x2: (i + 1) * size, y2: y + size, class: "border" }));
    if (j + 1 < GRID && own !== key.get(i * GRID + j + 1)) picture.append(drawn("line", { x1: i * size, y1: y, x2: (i + 1) * size, y2: y, class: "border" }));
  }
  const place = [a, b].map((k, n) => (state.cells[k] - columns[n].low) / (columns[n].high - columns[n].low || 1));
  if (place.every((p) => p >= 0 && p <= 1)) picture.append(drawn("circle", { cx: place[0] * GRID * size, cy: (1 - place[1]) * GRID * size, r: 5, class: "here" }));
  show("map", picture, element("p", { class: "small" }, `dark ${number(low, 3)} – light ${number(high, 3)}` + (regions ? "; lines part the regions of one linear function each" : "")));
}

function colour(share) {
  const mix = (p, q) => Math.round(p + (q - p) * share);
  return `rgb(${mix(38, 250)},${mix(46, 224)},${mix(110, 120)})`;
}

// ---- pieces

function pieces() {
  const f = variant().functions, small = f.length === 1 && f[0].terms.length === 1 && !f[0].terms[0].knots && variant().pieces <= MOST_PIECES;
  if (!small) { show("table", element("p", {}, "A mean of several functions of many pieces: move the slider “pieces” to one that can be read, where there is one.")); return; }
  const names = model.features, term = f[0].terms[0], [plus, minus] = activeAt(f[0], encode(model, state.cells))[0];
  const z = f[0].center ? model.reference.map((v, j) => v - f[0].center[j]) : model.reference;
  const line = (part, k, sign, active) => element("tr", { class: k === active ? "active" : null },
    element("td", {}, `${sign}${k + 1}` + (k === active ? " ◀" : "")),
    element("td", {}, number(part.offsets[k] + part.slopes[k].reduce((sum, s, j) => sum + s * z[j], 0))),
    ...part.slopes[k].map((s) => element("td", {}, number(s, 3))));
  show("table", element("p", {}, "The prediction is the largest of the pieces “+” less the largest of the pieces “−”. ◀ marks those that rule at this row. Values are at the typical row, then the slope of each feature."),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "pieces" }, element("table", {},
      element("thead", {}, element("tr", {}, element("th", {}, "piece"), element("th", {}, "value"), ...names.map((name) => element("th", {}, name)))),
      element("tbody", {}, ...term.plus.offsets.map((_, k) => line(term.plus, k, "+", plus)), ...term.minus.offsets.map((_, k) => line(term.minus, k, "−", minus))))));
}

// ---- what would change this: the nearest value of one column alone, exact between kinks

function change() {
  const found = predict(model, variant(), state.cells), wanted = state.wanted, answers = [];
  if (model.levels) { show("changes"); return; }
  if (!model.classes && wanted === null) { show("changes", element("p", { class: "small" }, "Type a value that the prediction shall reach.")); return; }
  for (const k of numeric()) {
    const here = state.cells[k];
    if (here === null) continue;
    const points = along(k).map(([, cell]) => [cell, lead(k, cell, found)]);
    let nearest = null;
    for (let i = 0; i + 1 < points.length; i++) {
      const [[p, u], [q, v]] = [points[i], points[i + 1]];
      if (u === v || (u - 0) * (v - 0) > 0) continue;
      const at = p + ((q - p) * (0 - u)) / (v - u);
      if (nearest === null || Math.abs(at - here) < Math.abs(nearest - here)) nearest = at;
    }
    if (nearest !== null) answers.push([Math.abs(nearest - here) / (model.columns[k].spread || 1), k, nearest]);
  }
  answers.sort((p, q) => p[0] - q[0]);
  const goal = model.classes ? "another class" : number(wanted);
  show("changes", answers.length
    ? element("ul", {}, ...answers.slice(0, 6).map(([far, k, at]) => element("li", {}, `${model.columns[k].name} = ${number(at)} instead of ${number(state.cells[k])} (${number(far, 2)} standard deviations) gives ${goal}`)))
    : element("p", {}, `No single column reaches ${goal} within its range.`));
}

// How far a row is beyond the wanted value, or how far the class is ahead of all others: zero where it changes.
function lead(k, cell, found) {
  const x = encode(model, state.cells.map((old, c) => (c === k ? cell : old)));
  const values = variant().functions.map((f) => valueOf(f, x));
  if (!model.classes) return values[0] - state.wanted;
  return values[found.best] - Math.max(...values.filter((_, c) => c !== found.best));
}

build();
