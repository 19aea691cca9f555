// What is said and drawn of the row. Everything is text: names that look like markup are shown, not run.

const model = JSON.parse(document.getElementById("model").textContent);
const SVG = "http://www.w3.org/2000/svg", DAY = 86400000;
const WIDTH = 320, HEIGHT = 170, LEFT = 60, BOTTOM = 24, TOP = 10, GRID = 36, CELL = 8, SAMPLES = 160, PARTS = 8;
const CURVES = 6, MOST_DOTS = 24, MOST_PIECES = 64, MOST_BARS = 12, MOST_CLASSES = 6;
const state = { cells: [], variant: model.variants.length - 1, map: [], wanted: null, shown: null, all: false, waiting: false };

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
  const text = Math.abs(short) >= 1e9 || Math.abs(short) < 1e-4 ? short.toExponential() : Math.abs(short) >= 1e4 ? short.toLocaleString("en") : String(short);
  return text.replaceAll("-", "−");
}

const said = (value) => (typeof value === "number" ? number(value) : String(value));
const toDate = (days) => new Date(Math.round(days * DAY)).toISOString().slice(0, 16);
const fromDate = (text) => Date.parse(text.length > 10 ? text + "Z" : text) / DAY;
const cellText = (column, cell) => (cell === null ? "missing" : column.kind === "date" ? toDate(cell).slice(0, 10) : said(cell));
const variant = () => model.variants[state.variant];
const byImportance = () => model.columns.map((c, k) => k).sort((p, q) => model.columns[q].importance - model.columns[p].importance);
const withCell = (k, cell) => state.cells.map((old, c) => (c === k ? cell : old));
const isSmall = (f) => f.terms.length === 1 && !f.terms[0].knots && Math.max(f.terms[0].plus.offsets.length, f.terms[0].minus.offsets.length) <= MOST_PIECES;

// ---- the prediction and its reasons

const target = () => (model.predicted ? [element("span", { class: "target" }, model.predicted + ": ")] : []);

function answer() {
  const found = predict(model, variant(), state.cells), about = variant().about;
  show("cost", about);
  document.getElementById("pieces").setAttribute("aria-valuetext", about);
  if (!found.values.every(Number.isFinite)) {
    show("prediction", element("strong", { id: "value" }, "–"), "This model knows no value for a missing cell: fill it.");
  } else if (model.classes) {
    const sizes = found.probabilities || found.values, order = sizes.map((s, k) => k).sort((p, q) => sizes[q] - sizes[p]).slice(0, MOST_CLASSES);
    const write = (v) => (found.probabilities ? (100 * v).toFixed(1) + " %" : number(v, 3)), top = found.probabilities ? 1 : Math.max(...sizes.map(Math.abs));
    show("prediction", element("strong", { id: "value", "data-label": found.label, "data-sizes": JSON.stringify(sizes) }, ...target(), found.label),
      found.probabilities ? "" : element("p", { class: "small" }, "scores, which are no probabilities"), bars(order.map((k) => [model.classes[k], sizes[k]]), top, write));
  } else if (model.levels) {
    show("prediction", element("div", { id: "value", "data-sizes": JSON.stringify(found.values) }, ...target(), ...found.values.map((v, k) => element("p", {}, `quantile ${model.levels[k]}: `, element("b", {}, number(v))))));
  } else {
    show("prediction", element("strong", { id: "value", "data-value": found.value, "data-low": found.low ?? null, "data-high": found.high ?? null }, ...target(), number(found.value, 5)),
      found.low === undefined ? "" : element("p", {}, `${number(found.low)} to ${number(found.high)} in ${Math.round(100 * model.coverage)} of 100 cases`),
      found.cut ? element("p", { class: "small" }, "Cut to the range of the training targets.") : "");
  }
  why(found);
}

function bars(pairs, most, write) {
  return element("div", { class: "bars" }, ...pairs.map(([name, value]) => {
    const width = Math.min(100, (100 * Math.abs(value)) / (most || 1));
    return element("div", { class: "bar" }, element("span", { class: "name", title: name }, name),
      element("span", { class: "track" }, element("span", { class: value < 0 ? "fill down" : "fill", style: `width:${width.toFixed(2)}%` })),
      element("span", { class: "number" }, write(value)));
  }));
}

function why(found) {
  if (model.levels) return;
  const sums = reasons(model, variant(), state.cells, found), order = sums.map((v, k) => k).sort((p, q) => Math.abs(sums[q]) - Math.abs(sums[p])).slice(0, MOST_BARS);
  const start = explained(model, variant(), found).reduce((sum, [f, sign]) => sum + sign * valueOf(f, model.reference), 0);
  show("reason", model.classes
    ? `What each column adds to the lead of ${found.label} over the second class, from ${number(start)} at the average row.`
    : `What each column adds to ${number(start)}, the value at the average row, on the straight way from there.`);
  show("contributions", bars(order.map((k) => [model.columns[k].name, sums[k]]), Math.max(...sums.map(Math.abs)), (v) => (v > 0 ? "+" : "") + number(v, 3)));
  document.getElementById("contributions").dataset.sums = JSON.stringify(sums);
}

// ---- pictures

function pictures() {
  const found = predict(model, variant(), state.cells);
  if (!found.values.every(Number.isFinite)) return;
  const shown = model.levels ? Math.floor(model.levels.length / 2) : state.shown ?? found.best ?? 0;
  show("curves", ...byImportance().slice(0, state.all ? undefined : CURVES).map((k) => curve(k, shown)));
  plane(shown);
  pieces(shown);
  change();
  certified();
}

function height(found, shown) {
  if (model.classes) return (found.probabilities || found.values)[shown];
  return model.levels ? found.values[shown] : found.value;
}

const what = (shown) => (model.classes ? `${variant().temperature === null ? "score" : "probability"} of ${model.classes[shown]}` : model.levels ? `quantile ${model.levels[shown]}` : model.predicted ?? "prediction");

// Cells along a column at which the curve may bend; between them it is straight, but for probabilities and sorted levels.
function along(k) {
  const column = model.columns[k];
  if (column.kind === "category") return column.levels;
  if (column.kind === "date") return Array.from({ length: SAMPLES }, (_, i) => between(model, k, i / (SAMPLES - 1)));
  const low = encode(model, withCell(k, column.low)), high = encode(model, withCell(k, column.high)), places = new Set();
  for (const f of variant().functions) {
    const cuts = breakpoints(f, low, high);
    if (!model.classes && !model.levels) cuts.push(...crossings(f, low, high, cuts, [variant().low, variant().high]));
    for (const t of cuts) places.add(between(model, k, t));
  }
  const out = [...places].sort((p, q) => p - q);
  if (!model.classes && !model.levels) return out;
  return out.flatMap((p, i) => (i + 1 < out.length ? Array.from({ length: PARTS }, (_, n) => p + ((out[i + 1] - p) * n) / PARTS) : [p]));
}

// Where f crosses given values between breakpoints.
function crossings(f, a, b, cuts, values) {
  const at = cuts.map((t) => valueOf(f, a.map((v, j) => v + t * (b[j] - v)))), out = [];
  for (const wanted of values) for (let i = 0; wanted !== null && i + 1 < cuts.length; i++) {
    if ((at[i] - wanted) * (at[i + 1] - wanted) < 0) out.push(cuts[i] + ((cuts[i + 1] - cuts[i]) * (wanted - at[i])) / (at[i + 1] - at[i]));
  }
  return out;
}

function curve(k, shown) {
  const column = model.columns[k], category = column.kind === "category", cells = along(k);
  const points = cells.map((cell, i) => [category ? i : cell, height(predict(model, variant(), withCell(k, cell)), shown)]);
  if (!points.length) return element("figure", {}, element("figcaption", {}, column.name));
  const sizes = points.map((p) => p[1]), share = model.classes && variant().temperature !== null;
  const low = share ? 0 : Math.min(...sizes), high = share ? 1 : Math.max(...sizes), first = points[0][0], last = points[points.length - 1][0];
  const room = (WIDTH - LEFT) / points.length; // of a level
  const x = (v) => (category ? LEFT + room * (v + 0.5) : last > first ? LEFT + ((WIDTH - LEFT - 10) * (v - first)) / (last - first) : (LEFT + WIDTH) / 2);
  const y = (v) => (high > low ? TOP + (HEIGHT - BOTTOM - 2 * TOP) * (1 - (v - low) / (high - low)) : (HEIGHT - BOTTOM) / 2);
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${what(shown)} along ${column.name}: ${number(sizes[0])} at ${cellText(column, cells[0])}, ${number(sizes[sizes.length - 1])} at ${cellText(column, cells[cells.length - 1])}, between ${number(low)} and ${number(high)}` });
  picture.append(drawn("line", { x1: LEFT, y1: HEIGHT - BOTTOM, x2: WIDTH - 8, y2: HEIGHT - BOTTOM, class: "axis" }));
  const digits = [3, 4, 5, 6].find((d) => number(low, d) !== number(high, d)) ?? 6; // so that the ends differ
  for (const v of high > low ? [low, high] : [low]) picture.append(drawn("text", { x: LEFT - 5, y: y(v) + 4, class: "tick end" }, number(v, digits)));
  if (category) {
    for (const [place, v] of points) picture.append(drawn("circle", { cx: x(place), cy: y(v), r: 4, class: "dot" }));
    if (room > 26) points.forEach(([place], i) => picture.append(drawn("text", { x: x(place), y: HEIGHT - 8, class: "tick" }, short(cells[i], Math.floor(room / 6)))));
  } else {
    picture.append(drawn("path", { d: "M" + points.map(([place, v]) => `${x(place).toFixed(2)},${y(v).toFixed(2)}`).join("L"), class: "line" }));
    if (!share && column.kind === "number" && points.length <= MOST_DOTS + 2) points.slice(1, -1).forEach(([place, v]) => picture.append(drawn("circle", { cx: x(place), cy: y(v), r: 2.5, class: "dot" })));
    for (const v of [first, last]) picture.append(drawn("text", { x: x(v), y: HEIGHT - 8, class: v === last ? "tick end" : "tick start" }, cellText(column, v)));
  }
  const here = category ? column.levels.indexOf(state.cells[k]) : state.cells[k];
  if (here !== null && here >= first && here <= last) {
    picture.append(drawn("circle", { cx: x(here), cy: y(height(predict(model, variant(), state.cells), shown)), r: 5, class: "here" }));
  }
  return element("figure", {}, element("figcaption", {}, column.name + waves(k)), picture);
}

// What a curve along dates is made of.
function waves(k) {
  const parts = model.features.filter((f) => f.column === k && f.kind === "date");
  if (!parts.length) return "";
  const known = [[366, "yearly"], [7, "weekly"], [1, "daily"]].filter(([days]) => parts.some((f) => f.wave !== "linear" && Math.ceil(f.period) === days));
  return ` (dates go in as a trend${known.length ? ` and ${known.map(([, word]) => word).join(", ")} waves` : ""})`;
}

const short = (text, most) => (text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text);

function plane(shown) {
  const [a, b] = state.map;
  if (state.map.length < 2 || a === b) { show("map", element("p", { class: "small" }, "Choose two different columns.")); return; }
  const size = GRID * CELL, columns = [model.columns[a], model.columns[b]], f = variant().functions, values = [];
  for (let i = 0; i < GRID; i++) for (let j = 0; j < GRID; j++) {
    const row = state.cells.slice();
    row[a] = between(model, a, (i + 0.5) / GRID);
    row[b] = between(model, b, (j + 0.5) / GRID);
    const found = predict(model, variant(), row);
    values.push({ i, j, value: height(found, shown), best: found.best, scores: found.values });
  }
  const all = values.map((v) => v.value), share = model.classes && variant().temperature !== null;
  const low = share ? 0 : Math.min(...all), high = share ? 1 : Math.max(...all);
  const picture = drawn("svg", { viewBox: `-46 -6 ${size + 54} ${size + 40}`, role: "img", "aria-label": `${what(shown)} over ${columns[0].name} and ${columns[1].name}: between ${number(low)} and ${number(high)}` });
  for (const { i, j, value } of values) {
    picture.append(drawn("rect", { x: i * CELL, y: (GRID - 1 - j) * CELL, width: CELL, height: CELL, "shape-rendering": "crispEdges", fill: colour((value - low) / (high - low || 1)) }));
  }
  const lines = !model.classes && !model.levels && isSmall(f[0]);
  if (lines) borders(model, f[0], state.cells, a, b).forEach((shapes, part) => shapes.forEach((shape) => picture.append(
    drawn("path", { d: "M" + shape.map(([s, t]) => `${(s * size).toFixed(2)},${((1 - t) * size).toFixed(2)}`).join("L") + "Z", class: part ? "border minus" : "border" }))));
  if (model.classes) for (const [p, q] of partings(values)) {
    picture.append(drawn("line", { x1: p[0] * CELL, y1: size - p[1] * CELL, x2: q[0] * CELL, y2: size - q[1] * CELL, class: "border" }));
  }
  const tick = (x, y, kind, text) => picture.append(drawn("text", { x, y, class: "tick " + kind }, text));
  tick(0, size + 14, "start", number(columns[0].low, 3)); tick(size, size + 14, "end", number(columns[0].high, 3)); tick(size / 2, size + 28, "", short(columns[0].name, 40));
  tick(-5, size, "end", number(columns[1].low, 3)); tick(-5, 8, "end", number(columns[1].high, 3));
  picture.append(drawn("text", { x: -size / 2, y: -32, class: "tick", transform: "rotate(-90)" }, short(columns[1].name, 40)));
  const place = [a, b].map((k, n) => (state.cells[k] === null ? -1 : (state.cells[k] - columns[n].low) / (columns[n].high - columns[n].low)));
  if (place.every((p) => p >= 0 && p <= 1)) picture.append(drawn("circle", { cx: place[0] * size, cy: (1 - place[1]) * size, r: 5, class: "here" }));
  show("map", picture, element("div", { class: "legend small" }, number(low, 3), element("span", { class: "scale", style: `background:linear-gradient(90deg,${[0, 0.5, 1].map(colour).join(",")})` }), number(high, 3), " " + what(shown)),
    element("p", { class: "small" }, lines ? "Within the lines the function is linear: those of its “+” pieces are solid, of “−” dashed." : model.classes ? "Lines part the classes that are predicted." : `Too many linear regions to draw${model.variants.length > 1 ? ": simpler models show theirs" : ""}.`));
}

// Lines between classes on the grid: where two tie on the sides of a square of four neighbours, scores being nearly linear there.
function partings(values) {
  const out = [], at = (i, j) => values[i * GRID + j];
  for (let i = 0; i + 1 < GRID; i++) for (let j = 0; j + 1 < GRID; j++) {
    const corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], ties = [];
    corners.forEach((p, n) => {
      const q = corners[(n + 1) % 4];
      if (p.best === q.best) return;
      const u = p.scores[p.best] - p.scores[q.best], v = q.scores[q.best] - q.scores[p.best], t = u + v > 0 ? u / (u + v) : 0.5;
      ties.push([p.i + 0.5 + t * (q.i - p.i), p.j + 0.5 + t * (q.j - p.j)]);
    });
    if (ties.length === 2) out.push(ties);
    else if (ties.length) {
      const middle = [0, 1].map((c) => ties.reduce((sum, tie) => sum + tie[c], 0) / ties.length);
      ties.forEach((tie) => out.push([tie, middle]));
    }
  }
  return out;
}

function colour(share) {
  const mix = (p, q) => Math.round(p + (q - p) * share);
  return `rgb(${mix(38, 250)},${mix(58, 214)},${mix(110, 110)})`;
}

// ---- pieces

function pieces(shown) {
  const f = variant().functions[shown], x = encode(model, state.cells), head = (...names) => element("thead", {}, element("tr", {}, ...names.map((n) => element("th", { scope: "col" }, n))));
  const framed = (table) => element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "pieces" }, table);
  const of = model.classes ? `the score of ${model.classes[shown]}` : `the ${what(shown)}`;
  if (!isSmall(f)) {
    const slope = gradientOf(f, x), order = slope.map((s, j) => j).sort((p, q) => Math.abs(slope[q]) * model.spread[q] - Math.abs(slope[p]) * model.spread[p]).slice(0, MOST_BARS);
    show("table", element("p", { class: "small" }, `Too many pieces to list${model.variants.length > 1 ? ": simpler models show theirs" : ""}. At this row ${of} changes by so much a unit of each feature:`),
      framed(element("table", {}, head("feature", "slope"), element("tbody", {}, ...order.map((j) => element("tr", {}, element("td", {}, model.names[j]), element("td", {}, number(slope[j], 3))))))));
    return;
  }
  const [term] = f.terms, [plus, minus] = activeAt(f, x)[0], z = around(f, model.reference);
  const line = (part, k, sign, active) => element("tr", { class: k === active ? "active" : null },
    element("td", {}, `${sign}${k + 1}` + (k === active ? " ◀" : "")), element("td", {}, number(pieceValues(part, z)[k])), ...part.slopes[k].map((s) => element("td", {}, number(s, 3))));
  show("table", element("p", { class: "small" }, `${of[0].toUpperCase() + of.slice(1)} is the largest of the pieces “+” less the largest of the pieces “−”; ◀ marks those that rule at this row. Each has a value at the average row and a slope for each feature.`),
    framed(element("table", {}, head("piece", "value", ...model.names), element("tbody", {}, ...term.plus.offsets.map((_, k) => line(term.plus, k, "+", plus)), ...term.minus.offsets.map((_, k) => line(term.minus, k, "−", minus))))));
}

// ---- what would change this: the nearest value of one column alone, exact between kinks

function change() {
  if (model.levels) return;
  const found = predict(model, variant(), state.cells), { low, high } = variant(), wanted = state.wanted, answers = [];
  if (!model.classes && (wanted === null || Number.isNaN(wanted))) { show("changes", element("p", { class: "small" }, "Type a value that the prediction shall reach.")); return; }
  if (!model.classes && clip(wanted, low, high) !== wanted) { show("changes", element("p", {}, `Predictions are cut to the range from ${number(low)} to ${number(high)}.`)); return; }
  const lead = (k, cell) => {
    const x = encode(model, withCell(k, cell)), values = variant().functions.map((f) => valueOf(f, x));
    return model.classes ? values[found.best] - Math.max(...values.filter((_, c) => c !== found.best)) : values[0] - wanted;
  };
  const side = Math.sign(lead(0, state.cells[0]));
  model.columns.forEach((column, k) => {
    const here = state.cells[k], cells = along(k), leads = cells.map((cell) => lead(k, cell));
    if (column.kind === "category") {
      cells.forEach((cell, i) => { if (side * leads[i] <= 0 && cell !== here) answers.push([1, k, cell, cell]); });
      return;
    }
    let nearest = null;
    for (let i = 0; here !== null && i + 1 < cells.length; i++) {
      if (leads[i] === leads[i + 1] || leads[i] * leads[i + 1] > 0) continue;
      const at = cells[i] - ((cells[i + 1] - cells[i]) * leads[i]) / (leads[i + 1] - leads[i]);
      if (nearest === null || Math.abs(at - here) < Math.abs(nearest - here)) nearest = at;
    }
    if (nearest !== null) answers.push([Math.abs(nearest - here) / (column.spread || 1), k, nearest, nearest + 1e-6 * Math.sign(nearest - here) * (column.high - column.low)]);
  });
  answers.sort((p, q) => p[0] - q[0]);
  const goal = model.classes ? "another class" : number(wanted), names = (k, beyond) => (model.classes ? predict(model, variant(), withCell(k, beyond)).label : `${goal}${model.columns[k].kind === "category" ? " or beyond" : ""}`);
  const line = ([far, k, at, beyond]) => {
    const column = model.columns[k], apart = column.kind === "number" ? `, ${number(far, 2)} standard deviations away` : "";
    return element("li", { "data-column": k, "data-cell": JSON.stringify(at) }, element("b", {}, `${column.name} ${cellText(column, at)}`), ` instead of ${cellText(column, state.cells[k])}${apart}: ${names(k, beyond)}`);
  };
  show("changes", answers.length ? element("ul", {}, ...answers.slice(0, 8).map(line)) : element("p", {}, `No column alone leads to ${goal} within its range.`));
}

// ---- what is proved

function certified() {
  const { lines, lower, upper } = variant().certificate, out = lines.map((line) => element("p", {}, line));
  if (upper !== null) out.push(bars([["this model", upper], ["no less than", lower]], upper, (v) => number(v, 6)));
  show("certificate", ...out);
}
