"use strict";
// The model, in the browser: encode a row, evaluate it, explain it. No drawing here; Node can run it, and tests do.
// A function is what PLDC.to_dict writes: terms of a plus and a minus part, perhaps with knots, perhaps around a centre.

const MONDAY = 3; // days from a Monday to 1 January 1970

const NOTHING = Number.NaN;

function featureValue(feature, cell) {
  const gone = cell === null || Number.isNaN(cell);
  switch (feature.kind) {
    case "number": return gone ? (feature.fill === null ? NOTHING : feature.fill) : cell;
    case "missing": return gone ? 1 : 0;
    case "level": return cell === feature.level ? 1 : 0;
    case "statistic": {
      if (gone) return feature.missing;
      if (!feature.known) feature.known = new Map(feature.table);
      const found = feature.known.get(cell);
      return found === undefined ? feature.default : found;
    }
    case "date": {
      if (gone) return feature.fill;
      if (feature.wave === "linear") return cell;
      const shifted = cell + (feature.period === 7 ? MONDAY : 0);
      const angle = (2 * Math.PI * (shifted - feature.period * Math.floor(shifted / feature.period))) / feature.period;
      return feature.wave === "sin" ? Math.sin(angle) : Math.cos(angle);
    }
    default: throw new Error("unknown kind of feature: " + feature.kind);
  }
}

// Cells of a row, one a column (null where missing), to the numbers that the functions see.
function encode(model, cells) {
  return model.features.map((feature) => featureValue(feature, cells[feature.column]));
}

function columnsOf(term, z) {
  if (!term.knots) return z;
  const phi = z.slice();
  term.knots.forEach((knots, j) => {
    for (let k = 0; k + 1 < knots.length; k++) {
      phi.push(Math.min(Math.max((z[j] - knots[k]) / (knots[k + 1] - knots[k]), 0), 1));
    }
  });
  return phi;
}

function pieceValues(part, phi) {
  return part.slopes.map((slope, k) => {
    let total = part.offsets[k];
    for (let j = 0; j < phi.length; j++) total += slope[j] * phi[j];
    return total;
  });
}

function largest(values) {
  let best = 0;
  for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
  return best;
}

function around(f, x) {
  return f.center ? x.map((v, j) => v - f.center[j]) : x;
}

function valueOf(f, x) {
  const z = around(f, x);
  let total = 0;
  for (const term of f.terms) {
    const phi = columnsOf(term, z);
    total += Math.max(...pieceValues(term.plus, phi)) - Math.max(...pieceValues(term.minus, phi));
  }
  return total;
}

// Pieces that rule at x, [plus, minus] of every term.
function activeAt(f, x) {
  const z = around(f, x);
  return f.terms.map((term) => {
    const phi = columnsOf(term, z);
    return [largest(pieceValues(term.plus, phi)), largest(pieceValues(term.minus, phi))];
  });
}

function gradientOf(f, x) {
  const z = around(f, x), out = new Array(x.length).fill(0);
  f.terms.forEach((term) => {
    const phi = columnsOf(term, z);
    for (const [part, sign] of [[term.plus, 1], [term.minus, -1]]) {
      const slope = part.slopes[largest(pieceValues(part, phi))];
      for (let j = 0; j < x.length; j++) out[j] += sign * slope[j];
      if (!term.knots) continue;
      let at = x.length;
      term.knots.forEach((knots, j) => {
        for (let k = 0; k + 1 < knots.length; k++, at++) {
          if (z[j] >= knots[k] && z[j] < knots[k + 1]) out[j] += (sign * slope[at]) / (knots[k + 1] - knots[k]);
        }
      });
    }
  });
  return out;
}

// Where the maximum of lines u + (v − u) s changes hands for 0 < s < 1.
function handovers(u, v) {
  const found = [];
  let s = 0, k = 0;
  for (let i = 1; i < u.length; i++) if (u[i] > u[k] || (u[i] === u[k] && v[i] - u[i] > v[k] - u[k])) k = i;
  for (let guard = 0; guard <= u.length; guard++) {
    let next = 1, who = -1;
    for (let i = 0; i < u.length; i++) {
      const steeper = v[i] - u[i] - (v[k] - u[k]);
      if (steeper <= 0) continue;
      const at = (u[k] - u[i]) / steeper;
      if (at > s && (at < next || (at === next && who >= 0 && v[i] - u[i] > v[who] - u[who]))) { next = at; who = i; }
    }
    if (who < 0) break;
    found.push(next);
    s = next;
    k = who;
  }
  return found;
}

// Values of t, 0 and 1 among them, between which f(a + t (b − a)) is linear.
function breakpoints(f, a, b) {
  const all = new Set([0, 1]), start = around(f, a), end = around(f, b);
  const at = (t) => start.map((v, j) => v + t * (end[j] - v));
  for (const term of f.terms) {
    const own = new Set([0, 1]);
    (term.knots || []).forEach((knots, j) => {
      if (end[j] !== start[j]) for (const k of knots) {
        const t = (k - start[j]) / (end[j] - start[j]);
        if (t > 0 && t < 1) own.add(t);
      }
    });
    const cuts = [...own].sort((p, q) => p - q);
    for (let i = 0; i + 1 < cuts.length; i++) {
      const low = columnsOf(term, at(cuts[i])), high = columnsOf(term, at(cuts[i + 1]));
      for (const part of [term.plus, term.minus]) {
        for (const s of handovers(pieceValues(part, low), pieceValues(part, high))) {
          all.add(cuts[i] + s * (cuts[i + 1] - cuts[i]));
        }
      }
    }
    cuts.forEach((t) => all.add(t));
  }
  return [...all].sort((p, q) => p - q);
}

// What each feature adds along the straight way from a to b: integrated gradients, exact. They add up to f(b) − f(a).
function contributions(f, a, b) {
  const out = new Array(a.length).fill(0), cuts = breakpoints(f, a, b);
  for (let i = 0; i + 1 < cuts.length; i++) {
    const middle = 0.5 * (cuts[i] + cuts[i + 1]);
    const slope = gradientOf(f, a.map((v, j) => v + middle * (b[j] - v)));
    for (let j = 0; j < a.length; j++) out[j] += slope[j] * (b[j] - a[j]) * (cuts[i + 1] - cuts[i]);
  }
  return out;
}

function softmax(scores, temperature) {
  const scaled = scores.map((s) => s * temperature), top = Math.max(...scaled);
  const powers = scaled.map((s) => Math.exp(s - top)), total = powers.reduce((p, q) => p + q, 0);
  return powers.map((p) => p / total);
}

// JSON knows no infinity: null is no limit.
function clip(value, low, high) {
  return Math.min(Math.max(value, low === null ? -Infinity : low), high === null ? Infinity : high);
}

// Everything that is said of a row: the value and its interval, or the classes and their probabilities, if there are any.
function predict(model, variant, cells) {
  const x = encode(model, cells);
  const values = variant.functions.map((f) => valueOf(f, x));
  if (model.classes) {
    const best = largest(values);
    const probabilities = variant.temperature === null ? null : softmax(values, variant.temperature);
    return { values, best, label: model.classes[best], probabilities };
  }
  const cut = values.map((v) => clip(v, variant.low, variant.high));
  if (model.levels) return { values: cut.sort((p, q) => p - q) };
  const out = { values: cut, value: cut[0], cut: cut[0] !== values[0] };
  if (variant.errors) {
    const scale = variant.errors.scale ? clip(valueOf(variant.errors.scale, x), ...variant.errors.limits) : 1;
    const width = variant.errors.quantile * scale;
    out.low = clip(out.value - width, variant.lowest, null);
    out.high = out.value + width;
  }
  return out;
}

// What explanations speak of: the function; of classes the margin of the best over the second.
function explained(model, variant, found) {
  if (!model.classes) return [[variant.functions[0], 1]];
  const order = found.values.map((v, k) => k).sort((p, q) => found.values[q] - found.values[p]);
  return [[variant.functions[order[0]], 1], [variant.functions[order[1]], -1]];
}

// What each column adds to the function that is explained, on the straight way from the reference.
function reasons(model, variant, cells, found) {
  const x = encode(model, cells), out = new Array(model.columns.length).fill(0);
  for (const [f, sign] of explained(model, variant, found)) {
    contributions(f, model.reference, x).forEach((v, j) => { out[model.features[j].column] += sign * v; });
  }
  return out;
}

// The part of a square [0, 1]² in which each piece of a maximum rules: `corners` are its pieces' values at (0, 0), (1, 0), (0, 1).
function territories(corners) {
  const [origin, across, up] = corners;
  return origin.map((_, k) => {
    let shape = [[0, 0], [1, 0], [1, 1], [0, 1]];
    for (let l = 0; l < origin.length && shape.length; l++) {
      if (l === k) continue;
      const a = origin[k] - origin[l], b = across[k] - across[l] - a, c = up[k] - up[l] - a;
      const lead = ([s, t]) => a + b * s + c * t;
      if (a === 0 && b === 0 && c === 0) { if (l < k) shape = []; continue; }
      const kept = [];
      shape.forEach((p, i) => {
        const q = shape[(i + 1) % shape.length], u = lead(p), v = lead(q);
        if (u >= 0) kept.push(p);
        if ((u > 0 && v < 0) || (u < 0 && v > 0)) {
          const at = u / (u - v);
          kept.push([p[0] + at * (q[0] - p[0]), p[1] + at * (q[1] - p[1])]);
        }
      });
      shape = kept;
    }
    return shape;
  });
}

// Lines between the pieces of a function of one term without knots, over two columns: [those of plus, those of minus].
function borders(model, f, cells, a, b) {
  const x = (s, t) => encode(model, cells.map((c, k) => (k === a ? between(model, a, s) : k === b ? between(model, b, t) : c)));
  const [term] = f.terms, points = [x(0, 0), x(1, 0), x(0, 1)].map((p) => around(f, p));
  return [term.plus, term.minus].map((part) => territories(points.map((p) => pieceValues(part, p))).filter((shape) => shape.length > 2));
}

function between(model, k, share) {
  const column = model.columns[k];
  return column.low + (column.high - column.low) * share;
}

if (typeof module !== "undefined") {
  module.exports = { activeAt, borders, breakpoints, contributions, encode, gradientOf, predict, reasons, territories, valueOf };
}
